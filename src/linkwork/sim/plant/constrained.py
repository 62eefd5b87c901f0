"""A plant with constraints at one instant: all joints of the tree move, and constraint forces hold them together.

The state has the velocities of all joints, not only of the independent ones. Independent coordinates are singular at
positions where the mechanism itself is not, and motions pass through these positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .instant import Instant
from .randomisation import varied

CONTACTS = "contacts"
BEFORE = "contacts_before"  # contacts of the step that led to a state; none at the start
OFF = 1e-6  # metres: contacts that begin farther above or below the ground get a note


def places(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """Return where all contacts with a switch are at tree positions, laid out as ``place_sizes``."""
    numbers: list[Scalar] = []
    frames = [contact.second for contact in model.switched]
    for size, pose in zip(place_sizes(model), frame_poses(model, frames, q), strict=True):
        numbers += [*pose.origin, *(x for row in pose.rotation.rows for x in row)][:size]
    return numbers


def places_program(model: Model, inputs: Mapping[str, tuple[int, ...]] = {}) -> Program:
    """Return the program of ``places`` at positions q; ``inputs``: shapes of the numbers of the robot that vary."""

    def run(q: list[Scalar], *values: Any) -> dict[str, Any]:
        sample = varied(model, dict(zip(inputs, values, strict=True)))
        return {"stand": places(sample, sample.expand(q))}

    return trace("places", run, [Port("q", (model.nq,)), *(Port(name, shape) for name, shape in inputs.items())])


def places_at(model: Model, q: np.ndarray, inputs: Mapping[str, np.ndarray] = {}) -> np.ndarray:
    """Return the places of contacts at positions q (samples, nq), with ``inputs`` (samples or 1, ...) that vary."""
    shapes = {name: values.shape[1:] for name, values in inputs.items()}
    return interpret(places_program(model, shapes), [q, *inputs.values()])[0]


def off_the_ground(model: Model, stand: np.ndarray, contacts: np.ndarray) -> list[Note]:
    """Return a note if contacts (samples, contacts) begin above or below the ground."""
    heights = stand[:, np.cumsum([0, *place_sizes(model)])[:-1] + 2]  # z of the origins
    worst = (column[np.abs(column).argmax()] for column in np.where(contacts > 0, heights, 0.0).T)
    off = [
        f"{contact.name} {abs(h):.3g} m {'above' if h > 0 else 'below'} it"
        for contact, h in zip(model.switched, worst, strict=True)
        if abs(h) > OFF
    ]
    text = f"contacts are held where they are, not on the ground: {', '.join(off)}"
    return [Note("contacts-off-ground", text)] if off else []


class ConstrainedInstant(Instant):
    """An instant of a robot with loops, by the method of multipliers."""

    @property
    def method(self) -> ByMultipliers:
        """Method of constrained dynamics."""
        function = self.plant.method.function
        assert isinstance(function, ByMultipliers)  # ``prepare`` chooses a method of constrained dynamics
        return function

    def _system(self, model: Model) -> SaddlePoint:
        """Inertia matrix and constraint Jacobian of a variant of the robot, factored."""
        return self.method.system(self.prepared(model), self.tree[0])

    @cached_property
    def system(self) -> SaddlePoint:
        """Inertia matrix and constraint Jacobian, factored."""
        return self._system(self.model)

    @cached_property
    def implicit_system(self) -> SaddlePoint:
        """``system`` with friction at the end of the step."""
        return self._system(with_implicit_friction(self.model, self.tree[1], self.dt))

    @cached_property
    def equations(self) -> ConstraintEquations:
        """Independent constraint equations."""
        return ConstraintEquations.independent(self.model, self.tree[0])

    @cached_property
    def net(self) -> list[Scalar]:
        """Joint forces less the bias forces."""
        forces = joint_forces(self.model, *self.tree, self.tau)
        return self.method.net(self.prepared(self.model), *self.tree, forces, self.body_forces)

    @property
    def accelerations(self) -> list[Scalar]:
        return self._motion[0]

    @property
    def multipliers(self) -> list[Scalar]:
        return self._motion[1]

    @cached_property
    def _motion(self) -> tuple[list[Scalar], list[Scalar]]:
        return self.system.accelerations(self.net, self.equations.drift(self.tree[1]))

    def balance(self, a: Sequence[Scalar], multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Return the balance of the tree with constraint forces, then the constraints on accelerations."""
        return self.system.residual(super().balance(a, ()), a, multipliers, self.equations.drift(self.tree[1]))

    @cached_property
    def balance_matrix(self) -> list[list[Scalar]]:
        return self.system.matrix(super().balance_matrix)

    @cached_property
    def next_state(self) -> dict[str, Any]:
        return self._advanced(self._implicit_motion[0]) | self._closeness(self.implicit_system)

    @cached_property
    def _implicit_motion(self) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations and multipliers of a semi-implicit Euler step at whose end the loops are closed.

        They are closed to second order in dt: r + dt J v' + dt^2 / 2 Jd v = 0 determines J a. Constraints on
        velocities alone satisfy J v' + dt Jd v = 0.
        """
        dt, loops = self.dt, self.equations
        gamma, r, system = loops.drift(self.tree[1]), loops.residual, self.implicit_system
        share = [0.5 if holds else 1 for holds in loops.holds]
        errors = zip(r, loops.rates(self.rates), gamma, share, strict=True)
        drift = [(gap / dt + rate) / dt + s * g for gap, rate, g, s in errors]
        return system.accelerations(self.net, drift)

    @cached_property
    def projected(self) -> dict[str, Any]:
        """State with unit quaternions and closed loops, by the correction with the least kinetic energy.

        Positions are corrected first, then velocities at the corrected positions.
        """
        unit = type(self)(self.plant, {**self.values, "q": self.model.coordinates.normalised(self.q)})
        loops, system = unit.equations, unit.system
        q = closer(loops, unit.q, lambda loops: system.correction(loops.residual))
        corrected = type(self)(self.plant, {**self.values, "q": q})
        correction = corrected.system.correction(corrected.equations.rates(self.rates))
        v = [x - y for x, y in zip(self.rates, correction, strict=True)]
        return {"q": q, "v": v} | self._closeness(system)

    def _closeness(self, system: SaddlePoint) -> dict[str, Any]:
        """Largest closeness to a singular position so far, and its time."""
        assert isinstance(system, RegularSaddle)  # only equations that are always on can be compared with home
        worst, at = self.values["closeness"]
        for value in system.closeness(self.plant.home_pivots):
            above = value - worst
            at = at + (self.t - at) * positive_part(sign(above))
            worst = worst + positive_part(above)
        return {"closeness": [worst, at]}

    def output(self, name: str) -> Any:
        functions = {"kinetic_energy": kinetic_energy, "momentum": momentum}
        if name == "loop_rates":
            return ConstraintEquations(self.model, self.tree[0]).rates(self.rates)
        if name == "constraint_forces":
            return forces_at_cuts(self.model, self.tree[0], self.multipliers)
        return functions[name](self.model, *self.tree) if name in functions else super().output(name)


class SwitchedInstant(ConstrainedInstant):
    """An instant with contacts on the ground, in addition to constraints that are always on.

    Which contacts are on is an input. The state has the place of each contact: a contact that is off is followed, and
    one that is switched on stays where it is. Its velocity is lost in that step, by the change of all velocities with
    the least kinetic energy: an impact without a bounce. The state also has the contacts of the step that led to it. A
    recorded state is projected under these, since those of the next step may not be known yet.
    """

    @property
    def contacts(self) -> Sequence[Scalar]:
        """1 for each contact on the ground, 0 for others."""
        return self.values[CONTACTS]

    @cached_property
    def equations(self) -> SwitchedEquations:
        return SwitchedEquations(self.model, self.tree[0], self.contacts, self.values["stand"])

    def _system(self, model: Model) -> RedundantSaddle:
        return self.method.supports(self.prepared(model), self.tree[0], self.equations)

    @cached_property
    def after_impact(self) -> SwitchedInstant:
        correction = self.system.correction(self.equations.rates(self.rates))
        v = [x - y for x, y in zip(self.rates, correction, strict=True)]
        return type(self)(self.plant, {**self.values, "v": v})

    @property
    def under_previous_contacts(self) -> SwitchedInstant:
        return type(self)(self.plant, {**self.values, CONTACTS: self.values[BEFORE]})

    @cached_property
    def next_state(self) -> dict[str, Any]:
        return self._with_places(super().next_state)

    @cached_property
    def projected(self) -> dict[str, Any]:
        return self._with_places(super().projected)

    def _with_places(self, state: dict[str, Any]) -> dict[str, Any]:
        """Add the places of contacts: those that are off follow the robot."""
        current, stand, at = places(self.model, self.model.expand(state["q"])), list(self.values["stand"]), 0
        for size, c in zip(place_sizes(self.model), self.contacts, strict=True):
            on = sign(c) * sign(c)
            for k in range(at, at + size):
                stand[k] = current[k] + on * (stand[k] - current[k])
                at += 1
        return {**state, "stand": stand, BEFORE: list(self.contacts)}

    def _closeness(self, system: Any) -> dict[str, Any]:
        """Unchanged: with contacts that come and go there is no pivot at home to compare with."""
        return {"closeness": self.values["closeness"]} if self.model.constrained else {}

    @cached_property
    def projection_work(self) -> Scalar:
        r = self.equations.rates(self.rates)
        return -0.5 * dot(r, self.system.impulses(r))

    @cached_property
    def step_work(self) -> Scalar:
        """Work of the contact forces, at the mean of the velocities before and after the step."""
        before, after = (self.equations.rates(v) for v in (self.rates, self.next_state["v"]))
        return -0.5 * self.dt * dot(self._implicit_motion[1], [x + y for x, y in zip(before, after, strict=True)])

    @property
    def contact_terms(self) -> dict[str, Any]:
        """Terms of the equations of motion from which ``events`` chooses contacts."""
        rows, model = self.equations, self.model
        return {
            "M": self.method.tree_inertia(self.prepared(model), self.tree[0]),
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
        """Return a recorded output; accelerations and forces are those after the impact of contacts that begin."""
        if name == CONTACTS:
            return list(self.contacts)
        if name == "contact_forces":
            return [x for row in self.equations.forces(self.after_impact.multipliers) for x in row]
        return super(SwitchedInstant, self.after_impact if name in ("a", "constraint_forces") else self).output(name)
