"""A plant with closed loops at one instant: all joints of the tree move, and forces at the cuts hold them together.

Coordinates of independent joints are singular in places where the mechanism is not, and motions go through them; the
velocities of all joints know no such places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..formulations import ByMultipliers, Multipliers, dot, drift, joint_forces, kinetic_energy, momentum
from ..model import closure
from ..scalar import Scalar, positive_part, sign
from .now import Now


class ClosedNow(Now):
    @property
    def method(self) -> ByMultipliers:
        function = self.plant.method.function
        assert isinstance(function, ByMultipliers)  # so a plant with loops is made
        return function

    @cached_property
    def system(self) -> Multipliers:
        return self.method.system(self.for_method(self.model), self.tree[0])

    @cached_property
    def net(self) -> list[Scalar]:
        """All forces of the joints, less the bias."""
        forces = joint_forces(self.model, *self.tree, self.tau)
        return self.method.net(self.for_method(self.model), *self.tree, forces, self.applied)

    @cached_property
    def accelerations(self) -> list[Scalar]:
        return self.system.accelerations(self.net, drift(self.model, *self.tree))[0]

    @cached_property
    def ahead(self) -> Multipliers:
        """The same with friction ahead."""
        return self.method.system(self.for_method(self.with_friction_ahead), self.tree[0])

    @cached_property
    def stepped(self) -> dict[str, Any]:
        """Semi-implicit Euler with loops that are closed, to second order of dt, where the step ends:
        r + dt J v' + dt^2 / 2 Jd v = 0 tells what J a must be."""
        dt, gamma = self.dt, drift(self.model, *self.tree)
        open_by = zip(self._residual(self.tree[0]), self._rates_of(self.ahead, self.rates), gamma, strict=True)
        wanted = [(r / dt + rate) / dt + 0.5 * g for r, rate, g in open_by]
        return self._moved(self.ahead.accelerations(self.net, wanted)[0]) | self._closeness(self.ahead)

    @cached_property
    def finished(self) -> dict[str, Any]:
        """The lightest correction that closes the loops, of a state with unit quaternions."""
        upright = ClosedNow(self.plant, {**self.values, "q": self.model.coordinates.normalised(self.q)})
        back = upright.system.correction(self._residual(upright.tree[0]))
        slower = upright.system.correction(self._rates_of(upright.system, self.rates))
        q = self.model.moved(upright.q, [-x for x in back])
        v = [x - y for x, y in zip(self.rates, slower, strict=True)]
        return {"q": q, "v": v} | self._closeness(upright.system)

    def _residual(self, q: Sequence[Scalar]) -> list[Scalar]:
        rows = closure.residual(self.model, q)
        return [rows[r] for r in self.model.mobility.rows]

    @staticmethod
    def _rates_of(system: Multipliers, v: Sequence[Scalar]) -> list[Scalar]:
        return [dot(row, v) for row in system.J]

    def _closeness(self, system: Multipliers) -> dict[str, Any]:
        """The largest so far of what grows towards singular positions, and its time."""
        worst, at = self.values["closeness"]
        for value in system.closeness(self.plant.pivots):
            above = value - worst
            at = at + (self.t - at) * positive_part(sign(above))
            worst = worst + positive_part(above)
        return {"closeness": [worst, at]}

    def output(self, name: str) -> Any:
        of_motion = {"kinetic_energy": kinetic_energy, "momentum": momentum}
        return of_motion[name](self.model, *self.tree) if name in of_motion else super().output(name)
