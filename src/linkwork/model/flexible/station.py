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
from .modes import ElasticModes, matrices, of_rows, require_numbers, vectors


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
        n = self.material.elastic.size
        if isinstance(self.material, Beam):
            if any(np.asarray(each, object).size for each in (self.tip, self.shifts, self.turns)):
                self._fail("at", "a place along a beam is given by `at` alone", None, "no tip, shifts and turns")
            if not 0 < self.at <= 1:
                self._fail("at", "not a place on the beam", self.at, "a fraction of the length, above 0, at most 1")
            return
        if self.at:
            self._fail("at", "a place along modal data is given by `tip`, `shifts` and `turns`", self.at, "no `at`")
        for name, size in (("tip", (3,)), ("shifts", (n, 3)), ("turns", (n, 3))):
            require_numbers(getattr(self, name), size, f"Station.{name}")

    @property
    def length(self) -> float:
        """Length of the link, m."""
        return self.material.length

    @property
    def inertia(self) -> None:
        """None: the inertia is that of the link."""

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
        if isinstance(self.material, Beam):
            tip, (shifts, turns) = [self.at * self.material.length, 0.0, 0.0], self.material.shapes_at(self.at)
        else:
            tip, shifts, turns = (np.asarray(each, float) for each in (self.tip, self.shifts, self.turns))
        zero = of_rows(np.zeros((n, n)))
        return replace(
            modes,
            tip=vectors(np.array([tip], float))[0],
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
