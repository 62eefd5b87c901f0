"""Station: a place along a flexible link, where frames, bodies and loops may be, as at its tip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..element import Rule, declare, number
from .beam import Beam
from .material import Material, Nested
from .modal import Modal
from .modes import ElasticModes, matrices, of_rows, vectors


@dataclass(frozen=True, eq=False)
class Station(Material):
    """A place along a flexible link, moved by its modes: the joint to it follows the joint of the tip.

    Args:
        material: of the link.
        along: name of the joint to the tip of the link.
        at: on a beam, the place x / length, above 0 and at most 1.
        tip: for modal data, the origin of the place without deformation (3,), m.
        shifts: for modal data, displacement of the place by each mode (n, 3).
        turns: for modal data, rotation of the place by each mode (n, 3).

    Raises:
        ModelError: if values do not fit the material.

    Example:
        >>> beam = linkwork.model.Beam(0.5, 2710, 1e-4, 7.1e10, moments={"z": 8.3e-10}, modes=2)
        >>> linkwork.model.Station(beam, "bend", at=0.5).tip_placement.translation.tolist()
        [0.25, 0.0, 0.0]
    """

    material: Beam | Modal
    along: str = declare(Rule())
    at: float = number(0.0)
    tip: Any = declare(Nested(), ())
    shifts: Any = declare(Nested(), ())
    turns: Any = declare(Nested(), ())

    def __post_init__(self):
        self.convert()
        self.material.require_place(self)

    @property
    def length(self) -> float:
        """Length of the link, m."""
        return self.material.length

    def undamped(self) -> Station:
        """Return the same place on the link without damping.

        Returns:
            The place.
        """
        return replace(self, material=self.material.undamped())

    def line(self, s: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return points of the deformed axis from the root to the place.

        Args:
            s: places between them, from 0 to 1 (points,).
            d: coordinates of the modes (modes,), m or rad.

        Returns:
            Points in the frame of the root (points, 3), m.
        """
        return self.material.line(s * (self.at or 1.0), d)

    @cached_property
    def elastic(self) -> ElasticModes:
        """The modes without mass and stiffness, which belong to the joint of the tip."""
        modes = self.material.elastic
        n, amplitudes = modes.size, len(modes.S)
        tip, shifts, turns = self.material.motion_at(self)
        zero = of_rows(np.zeros((n, n)))
        return replace(
            modes,
            tip=vectors(tip[None])[0],
            shifts=vectors(shifts),
            turns=vectors(turns),
            S=vectors(np.zeros((amplitudes, 3))),
            B=matrices(np.zeros((amplitudes, 3, 3))),
            C=tuple(matrices(np.zeros((amplitudes, 3, 3))) for _ in range(amplitudes)),
            spins=vectors(np.zeros((n, 3))),
            section=zero,
            stiffness=zero,
            damping=zero,
        )
