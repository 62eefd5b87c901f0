"""A plant on its feet at one instant: those in contact are held where they stand, beside the loops.

Which are in contact is an input. The state tells where each foot stands: those that are off are followed, and one that
comes into contact stays where it is then. What it has of velocity is lost in that step, as the lightest change of all
velocities has it that stops the foot: an impact without a bounce. The state also has the contacts of the step that led
to it: it is put on the manifold of these where it is recorded, since those of the next step may not be known yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..constraints import RedundantSaddle, Standing
from ..constraints.feet import NORMAL, numbers_of
from ..formulations import frame_poses, with_friction_ahead
from ..model import Model
from ..program import Port, Program, interpret, trace
from ..scalar import Scalar, sign
from ..scalar.orthogonal import dot
from .closed import ClosedNow

CONTACTS = "contacts"
BEFORE = "contacts_before"  # in the step that led to a state; none at first
OFF = 1e-6  # metres: feet this far from the ground stand on something else


def places(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """Where all feet are at tree positions: origins, and of soles the rows of the rotation."""
    numbers: list[Scalar] = []
    for foot, pose in zip(
        model.feet, frame_poses(model, [model.frame(foot.frame) for foot in model.feet], q), strict=True
    ):
        numbers += [*pose.origin, *(x for row in pose.rotation.rows for x in row if foot.sole)]
    return numbers


def places_program(model: Model) -> Program:
    """Of the user's positions."""
    return trace("places", lambda q: {"stand": places(model, model.expand(q))}, [Port("q", (model.nq,))])


def places_at(model: Model, q: np.ndarray) -> np.ndarray:
    """Of the user's positions (samples, nq)."""
    return interpret(places_program(model), [q])[0]


def off_the_ground(model: Model, stand: np.ndarray, contacts: np.ndarray) -> list[str]:
    """What to say of feet in contact (samples, feet) that are above the ground, or below, where they begin."""
    heights = stand[:, np.cumsum([0, *numbers_of(model)])[:-1] + NORMAL]
    worst = (column[np.abs(column).argmax()] for column in np.where(contacts > 0, heights, 0.0).T)
    found = [
        f"{foot.name} {abs(h):.3g} m {'above' if h > 0 else 'below'} it"
        for foot, h in zip(model.feet, worst, strict=True)
        if abs(h) > OFF
    ]
    return [f"feet are held where they are, not on the ground: {', '.join(found)}"] if found else []


class SupportedNow(ClosedNow):
    @property
    def contacts(self) -> Sequence[Scalar]:
        return self.values[CONTACTS]

    @cached_property
    def equations(self) -> Standing:
        return Standing(self.model, self.tree[0], self.contacts, self.values["stand"])

    @cached_property
    def system(self) -> RedundantSaddle:
        return self.method.supports(self.for_method(self.model), self.tree[0], self.equations)

    @cached_property
    def ahead(self) -> RedundantSaddle:
        model = with_friction_ahead(self.model, self.tree[1], self.dt)
        return self.method.supports(self.for_method(model), self.tree[0], self.equations)

    @cached_property
    def flowing(self) -> SupportedNow:
        """With the velocities that the feet leave, so that one that comes into contact does not go on for a step."""
        lost = self.system.correction(self.equations.rates(self.rates))
        return type(self)(self.plant, {**self.values, "v": [x - y for x, y in zip(self.rates, lost, strict=True)]})

    @property
    def arrived(self) -> SupportedNow:
        """Under the contacts of the step before."""
        return type(self)(self.plant, {**self.values, CONTACTS: self.values[BEFORE]})

    @cached_property
    def stepped(self) -> dict[str, Any]:
        return self._standing(super().stepped)

    @cached_property
    def finished(self) -> dict[str, Any]:
        return self._standing(super().finished)

    def _standing(self, state: dict[str, Any]) -> dict[str, Any]:
        """With the feet that are off where they are now, and the contacts."""
        now, stand, at = places(self.model, self.model.expand(state["q"])), list(self.values["stand"]), 0
        for foot, c in zip(self.model.feet, self.contacts, strict=True):
            on = sign(c) * sign(c)
            for k in range(at, at + (12 if foot.sole else 3)):
                stand[k] = now[k] + on * (stand[k] - now[k])
                at += 1
        return {**state, "stand": stand, BEFORE: list(self.contacts)}

    def _closeness(self, system: Any) -> dict[str, Any]:
        """Feet come and go, so there is nothing to compare with."""
        return {"closeness": self.values["closeness"]} if self.model.loops else {}

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
        standing, model = self.equations, self.model
        return {
            "M": self.method.tree_inertia(self.for_method(model), self.tree[0]),
            "f": self.net,
            "J": [*standing.loops.J, *standing.feet.J],
            "gamma": [*standing.loops.drift(self.tree[1]), *standing.feet.drift(self.tree[1])],
            "residual": standing.loops.residual,
            "p": places(model, self.tree[0]),
            "dq": model.coordinates.rates(self.q, self.rates),
            "power": self.power(self.tau),
            **self.memory_rates,
        }

    def output(self, name: str) -> Any:
        """Accelerations and forces are those that follow the impact of feet that come into contact now."""
        if name == CONTACTS:
            return list(self.contacts)
        if name == "contact_forces":
            return [x for row in self.equations.forces(self.flowing.held) for x in row]
        return super(SupportedNow, self.flowing if name in ("a", "constraint_forces") else self).output(name)
