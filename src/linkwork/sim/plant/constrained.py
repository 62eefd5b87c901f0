"""A plant with constraints at one instant: all joints of the tree move, and constraint forces hold them together.

Coordinates of independent joints are singular in places where the mechanism is not, and motions go through them; the
velocities of all joints know no such places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...constraints import (
    ConstraintEquations,
    RedundantSaddle,
    RegularSaddle,
    SaddlePoint,
    SwitchedEquations,
    forces_at_cuts,
)
from ...constraints.equations import place_sizes
from ...constraints.projection import closer
from ...formulations import ByMultipliers, frame_poses, joint_forces, kinetic_energy, momentum, with_implicit_friction
from ...model import Model
from ...notes import Note
from ...program import Port, Program, interpret, trace
from ...scalar import Scalar, positive_part, sign
from ...scalar.orthogonal import dot
from .instant import Now

CONTACTS = "contacts"
BEFORE = "contacts_before"  # in the step that led to a state; none at first
OFF = 1e-6  # metres: contacts this far from the ground stand on something else


def places(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """Where all contacts with a switch are at tree positions, as ``place_sizes`` has them."""
    numbers: list[Scalar] = []
    frames = [contact.second for contact in model.switched]
    for size, pose in zip(place_sizes(model), frame_poses(model, frames, q), strict=True):
        numbers += [*pose.origin, *(x for row in pose.rotation.rows for x in row)][:size]
    return numbers


def places_program(model: Model) -> Program:
    """Of the user's positions."""
    return trace("places", lambda q: {"stand": places(model, model.expand(q))}, [Port("q", (model.nq,))])


def places_at(model: Model, q: np.ndarray) -> np.ndarray:
    """Of the user's positions (samples, nq)."""
    return interpret(places_program(model), [q])[0]


def off_the_ground(model: Model, stand: np.ndarray, contacts: np.ndarray) -> list[Note]:
    """What to say of contacts (samples, contacts) that are above the ground, or below, where they begin."""
    heights = stand[:, np.cumsum([0, *place_sizes(model)])[:-1] + 2]  # z of the origins
    worst = (column[np.abs(column).argmax()] for column in np.where(contacts > 0, heights, 0.0).T)
    found = [
        f"{contact.name} {abs(h):.3g} m {'above' if h > 0 else 'below'} it"
        for contact, h in zip(model.switched, worst, strict=True)
        if abs(h) > OFF
    ]
    text = f"contacts are held where they are, not on the ground: {', '.join(found)}"
    return [Note("contacts-off-ground", text)] if found else []


class ConstrainedNow(Now):
    @property
    def method(self) -> ByMultipliers:
        function = self.plant.method.function
        assert isinstance(function, ByMultipliers)  # so a plant with loops is made
        return function

    @cached_property
    def system(self) -> SaddlePoint:
        return self.method.system(self.for_method(self.model), self.tree[0])

    @cached_property
    def equations(self) -> ConstraintEquations:
        return ConstraintEquations.independent(self.model, self.tree[0])

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
        return self.method.system(
            self.for_method(with_implicit_friction(self.model, self.tree[1], self.dt)), self.tree[0]
        )

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
            return ConstraintEquations(self.model, self.tree[0]).rates(self.rates)
        if name == "constraint_forces":
            return forces_at_cuts(self.model, self.tree[0], self.held)
        return of_motion[name](self.model, *self.tree) if name in of_motion else super().output(name)


class SwitchedNow(ConstrainedNow):
    """Constraints with a switch hold what is in contact where it stands, beside those that are always on.

    Which are in contact is an input. The state says where each contact stands: those that are off are followed, and one
    that comes into contact stays where it is then. What it has of velocity is lost in that step, as the lightest change
    of all velocities has it that stops it: an impact without a bounce. The state also has the contacts of the step that
    led to it: it is put on the manifold of these where it is recorded, since those of the next step may not be known.
    """

    @property
    def contacts(self) -> Sequence[Scalar]:
        return self.values[CONTACTS]

    @cached_property
    def equations(self) -> SwitchedEquations:
        return SwitchedEquations(self.model, self.tree[0], self.contacts, self.values["stand"])

    @cached_property
    def system(self) -> RedundantSaddle:
        return self.method.supports(self.for_method(self.model), self.tree[0], self.equations)

    @cached_property
    def ahead(self) -> RedundantSaddle:
        model = with_implicit_friction(self.model, self.tree[1], self.dt)
        return self.method.supports(self.for_method(model), self.tree[0], self.equations)

    @cached_property
    def flowing(self) -> SwitchedNow:
        """With the velocities that the contacts leave, so that one that begins does not go on for a step."""
        lost = self.system.correction(self.equations.rates(self.rates))
        return type(self)(self.plant, {**self.values, "v": [x - y for x, y in zip(self.rates, lost, strict=True)]})

    @property
    def arrived(self) -> SwitchedNow:
        """Under the contacts of the step before."""
        return type(self)(self.plant, {**self.values, CONTACTS: self.values[BEFORE]})

    @cached_property
    def stepped(self) -> dict[str, Any]:
        return self._standing(super().stepped)

    @cached_property
    def finished(self) -> dict[str, Any]:
        return self._standing(super().finished)

    def _standing(self, state: dict[str, Any]) -> dict[str, Any]:
        """With contacts that are off where they are now."""
        now, stand, at = places(self.model, self.model.expand(state["q"])), list(self.values["stand"]), 0
        for size, c in zip(place_sizes(self.model), self.contacts, strict=True):
            on = sign(c) * sign(c)
            for k in range(at, at + size):
                stand[k] = now[k] + on * (stand[k] - now[k])
                at += 1
        return {**state, "stand": stand, BEFORE: list(self.contacts)}

    def _closeness(self, system: Any) -> dict[str, Any]:
        """Contacts come and go, so there is nothing to compare with."""
        return {"closeness": self.values["closeness"]} if self.model.constrained else {}

    @cached_property
    def lost(self) -> Scalar:
        r = self.equations.rates(self.rates)
        return -0.5 * dot(r, self.system.impulses(r))

    @cached_property
    def lost_ahead(self) -> Scalar:
        """By the forces of the step, at the mean of the velocities before and after it."""
        before, after = (self.equations.rates(v) for v in (self.rates, self.stepped["v"]))
        return -0.5 * self.dt * dot(self.forces_ahead, [x + y for x, y in zip(before, after, strict=True)])

    @property
    def ground(self) -> dict[str, Any]:
        """What the ground meets: see ``events``."""
        rows, model = self.equations, self.model
        return {
            "M": self.method.tree_inertia(self.for_method(model), self.tree[0]),
            "f": self.net,
            "J": [*rows.permanent.J, *rows.switched.J],
            "gamma": [*rows.permanent.drift(self.tree[1]), *rows.switched.drift(self.tree[1])],
            "residual": rows.permanent.residual,
            "p": places(model, self.tree[0]),
            "dq": model.coordinates.rates(self.q, self.rates),
            "power": self.power(self.tau),
            **self.memory_rates,
        }

    def output(self, name: str) -> Any:
        """Accelerations and forces are those that follow the impact of contacts that begin now."""
        if name == CONTACTS:
            return list(self.contacts)
        if name == "contact_forces":
            return [x for row in self.equations.forces(self.flowing.held) for x in row]
        return super(SwitchedNow, self.flowing if name in ("a", "constraint_forces") else self).output(name)
