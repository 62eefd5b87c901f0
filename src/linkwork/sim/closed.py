"""A plant with closed loops at one instant: all joints of the tree move, and forces at the cuts hold them together.

Coordinates of independent joints are singular in places where the mechanism is not, and motions go through them; the
velocities of all joints know no such places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..constraints import LoopEquations, RegularSaddle, SaddlePoint, forces_at_cuts
from ..constraints.projection import closer
from ..formulations import ByMultipliers, joint_forces, kinetic_energy, momentum, with_friction_ahead
from ..scalar import Scalar, positive_part, sign
from .plant.instant import Now


class ClosedNow(Now):
    @property
    def method(self) -> ByMultipliers:
        function = self.plant.method.function
        assert isinstance(function, ByMultipliers)  # so a plant with loops is made
        return function

    @cached_property
    def system(self) -> SaddlePoint:
        return self.method.system(self.for_method(self.model), self.tree[0])

    @cached_property
    def equations(self) -> LoopEquations:
        return LoopEquations.independent(self.model, self.tree[0])

    @cached_property
    def net(self) -> list[Scalar]:
        """All forces of the joints, less the bias."""
        forces = joint_forces(self.model, *self.tree, self.tau)
        return self.method.net(self.for_method(self.model), *self.tree, forces, self.applied)

    @property
    def accelerations(self) -> list[Scalar]:
        return self._motion[0]

    @property
    def held(self) -> list[Scalar]:
        return self._motion[1]

    @cached_property
    def _motion(self) -> tuple[list[Scalar], list[Scalar]]:
        return self.system.accelerations(self.net, self.equations.drift(self.tree[1]))

    def balance(self, a: Sequence[Scalar], held: Sequence[Scalar]) -> list[Scalar]:
        """Then those of the loops, which ``a`` must keep closed."""
        return self.system.residual(super().balance(a, ()), a, held, self.equations.drift(self.tree[1]))

    @cached_property
    def by_motion(self) -> list[list[Scalar]]:
        return self.system.matrix(super().by_motion)

    @cached_property
    def ahead(self) -> SaddlePoint:
        """The same with friction ahead."""
        return self.method.system(self.for_method(with_friction_ahead(self.model, self.tree[1], self.dt)), self.tree[0])

    @cached_property
    def stepped(self) -> dict[str, Any]:
        return self._moved(self._ahead[0]) | self._closeness(self.ahead)

    @property
    def forces_ahead(self) -> list[Scalar]:
        """lambda in a step of semi-implicit Euler."""
        return self._ahead[1]

    @cached_property
    def _ahead(self) -> tuple[list[Scalar], list[Scalar]]:
        """Semi-implicit Euler with loops that are closed, to second order of dt, where the step ends:
        r + dt J v' + dt^2 / 2 Jd v = 0 tells what J a must be; where velocities alone are held, J v' + dt Jd v = 0."""
        dt, loops = self.dt, self.equations
        gamma, r, system = loops.drift(self.tree[1]), loops.residual, self.ahead
        share = [0.5 if holds else 1 for holds in loops.holds]
        open_by = zip(r, loops.rates(self.rates), gamma, share, strict=True)
        wanted = [(gap / dt + rate) / dt + s * g for gap, rate, g, s in open_by]
        return system.accelerations(self.net, wanted)

    @cached_property
    def finished(self) -> dict[str, Any]:
        """The lightest correction that closes the loops, of a state with unit quaternions: of the positions, then of
        the velocities where these have come to lie."""
        upright = type(self)(self.plant, {**self.values, "q": self.model.coordinates.normalised(self.q)})
        loops, system = upright.equations, upright.system
        q = closer(loops, upright.q, lambda loops: system.correction(loops.residual))
        there = type(self)(self.plant, {**self.values, "q": q})
        lost = there.system.correction(there.equations.rates(self.rates))
        v = [x - y for x, y in zip(self.rates, lost, strict=True)]
        return {"q": q, "v": v} | self._closeness(system)

    def _closeness(self, system: SaddlePoint) -> dict[str, Any]:
        """The largest so far of what grows towards singular positions, and its time."""
        assert isinstance(system, RegularSaddle)  # rows that come and go have nothing to compare with
        worst, at = self.values["closeness"]
        for value in system.closeness(self.plant.pivots):
            above = value - worst
            at = at + (self.t - at) * positive_part(sign(above))
            worst = worst + positive_part(above)
        return {"closeness": [worst, at]}

    def output(self, name: str) -> Any:
        of_motion = {"kinetic_energy": kinetic_energy, "momentum": momentum}
        if name == "loop_rates":
            return LoopEquations(self.model, self.tree[0]).rates(self.rates)
        if name == "constraint_forces":
            return forces_at_cuts(self.model, self.tree[0], self.held)
        return of_motion[name](self.model, *self.tree) if name in of_motion else super().output(name)
