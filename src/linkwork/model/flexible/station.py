"""Station: a place along a link that bends, where frames, bodies and loops may be, as at its tip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .beam import Beam
from .material import Material
from .modal import Modal
from .modes import ElasticModes, matrices, of_rows, require_numbers, vectors


@dataclass(frozen=True, eq=False)
class Station(Material):
    """Moved by the modes of ``material``, as they move the tip: the joint to it follows the joint ``along``.

    Of a beam it is ``at`` a share of the length. Of modal data ``tip``, ``shifts`` and ``turns`` tell where it is and
    what each mode does to it, as they do of the tip.
    """

    material: Beam | Modal
    along: str
    at: float = 0.0
    tip: Any = ()
    shifts: Any = ()
    turns: Any = ()

    def __post_init__(self):
        n = self.material.elastic.size
        if isinstance(self.material, Beam):
            if any(np.asarray(each, object).size for each in (self.tip, self.shifts, self.turns)):
                self._fail("at", "a place along a beam is told by `at` alone", None, "no tip, shifts and turns")
            if not 0 < self.at <= 1:
                self._fail("at", "no place on the beam", self.at, "a share of the length, above 0, at most 1")
            return
        if self.at:
            self._fail("at", "a place along modal data is told by `tip`, `shifts` and `turns`", self.at, "no `at`")
        for name, size in (("tip", (3,)), ("shifts", (n, 3)), ("turns", (n, 3))):
            require_numbers(getattr(self, name), size, f"station.{name}")

    @property
    def length(self) -> float:
        return self.material.length

    @property
    def inertia(self) -> None:
        """None: that of the link is at its root."""

    def undamped(self) -> Station:
        return replace(self, material=self.material.undamped())

    def line(self, s: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Points from the root to it."""
        return self.material.line(s * (self.at or 1.0), d)

    @cached_property
    def elastic(self) -> ElasticModes:
        """The modes without mass and stiffness, which they have at the tip's joint."""
        own = self.material.elastic
        n, whole = own.size, len(own.S)
        if isinstance(self.material, Beam):
            tip, (shifts, turns) = [self.at * self.material.length, 0.0, 0.0], self.material.shapes_at(self.at)
        else:
            tip, shifts, turns = (np.asarray(each, float) for each in (self.tip, self.shifts, self.turns))
        none = of_rows(np.zeros((n, n)))
        return replace(
            own,
            tip=vectors(np.array([tip], float))[0],
            shifts=vectors(shifts),
            turns=vectors(turns),
            S=vectors(np.zeros((whole, 3))),
            B=matrices(np.zeros((whole, 3, 3))),
            C=tuple(matrices(np.zeros((whole, 3, 3))) for _ in range(whole)),
            spins=vectors(np.zeros((n, 3))),
            section=none,
            stiffness=none,
            damping=none,
        )
