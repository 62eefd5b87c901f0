"""A plant at one instant, on traced numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...formulations import (
    Problem,
    body_velocities,
    body_wrenches,
    find_method,
    joint_forces,
    passive_forces,
    sizes,
    total_inertia_matrix,
    total_inverse_dynamics,
    with_implicit_friction,
)
from ...model import Model, commanded
from ...program import Program
from ...program.replay import flattened, nested, replay
from ...scalar import Scalar
from ...spatial import Force
from .randomisation import varied

if TYPE_CHECKING:
    from .plant import Plant

REFERENCE = "reference"  # samples of the reference: a Point in rows
MEMORY = "memory_"  # how the parts of the state begin that are the controller's own
GAIN = "gain "  # how inputs begin that are gains of the controller


class Now:
    """``q``, and ``rates``: the velocities of all joints that have one of their own; ``v`` are those that are reported
    and that a controller sees."""

    def __init__(self, plant: Plant, values: Mapping[str, Any]):
        self.plant, self.values = plant, values
        self.q, self.rates, self.t, self.dt = (values[name] for name in ("q", "v", "t", "dt"))
        self.v = [self.rates[k] for k in plant.model.mobility.independent]
        self.work = values.get("work", 0)

    @cached_property
    def model(self) -> Model:
        """With the parameters of this sample."""
        return varied(self.plant.model, self.values, self.plant.payload)

    @cached_property
    def tree(self) -> tuple[list[Scalar], list[Scalar]]:
        """Positions and velocities of the tree."""
        return self.model.expand(self.q), self.model.expand_rates(self.rates)

    @cached_property
    def applied(self) -> dict[int, Force]:
        """Forces on bodies."""
        return self._wrenches()

    def _wrenches(self, springs: bool = True) -> dict[int, Force]:
        loaded = [self.model.frame(name) for name in self.plant.wrenches]
        return body_wrenches(self.commanded(self.model), *self.tree, loaded, self.rows, springs)

    @property
    def tau(self) -> list[Scalar]:
        return self._acting[0]

    @property
    def commands(self) -> list[Scalar]:
        return self._acting[1]

    def commanded(self, model: Model) -> Model:
        """A variant of the robot under its commands."""
        return commanded(model, self.commands) if model.commands.size else model

    @cached_property
    def _acting(self) -> tuple[list[Scalar], list[Scalar], dict[str, Any]]:
        """tau, commands, and the rates of the controller's memory by their names in the state."""
        plant, own = self.plant, sizes(self.model)
        tau, commands = (self.values.get(name, [0] * own[name]) for name in ("tau", "commands"))
        if plant.commands is not None:
            commands = _sum(self._result(plant.commands)["commands"], commands)
        if plant.controller is None:
            return tau, commands, {}
        rates = self._result(plant.controller)
        tau = _sum(rates.pop("tau"), tau)
        return tau, _sum(rates.pop("commands"), commands) if plant.commanding else commands, rates

    def _result(self, program: Program) -> dict[str, Any]:
        """What a program of functions that act makes of this instant."""
        numbers = replay(program, flattened({**self.values, "v": self.v}, program.inputs))
        return nested([numbers[k] for k in program.results], program.outputs)

    @property
    def memory_rates(self) -> dict[str, Any]:
        """By their names in the state."""
        return self._acting[2]

    @property
    def memory_ahead(self) -> dict[str, Any]:
        """The memory after dt at these rates."""
        rates = {name: np.array(rate, dtype=object) for name, rate in self.memory_rates.items()}
        return {name: np.array(self.values[name], dtype=object) + self.dt * rate for name, rate in rates.items()}

    @cached_property
    def rows(self) -> list[Sequence[Scalar]]:
        """Wrenches, frame by frame."""
        laws = self.plant.wrenches.items()
        return [self.values[f"wrench {frame}"] if law is None else self._result(law)["wrench"] for frame, law in laws]

    @cached_property
    def accelerations(self) -> list[Scalar]:
        return self._accelerated(self.model)

    def _accelerated(self, model: Model) -> list[Scalar]:
        """Accelerations of a variant of the robot."""
        wrenches, model = tuple(self.plant.wrenches), self.commanded(model)
        problem = Problem(model, "forward_dynamics", self.plant.method, wrenches=wrenches)
        return problem.evaluate(self.q, self.v, self.tau, *[self.rows] * bool(wrenches))["a"]

    # -- for linearly implicit steps

    @property
    def held(self) -> list[Scalar]:
        """Forces at the cuts of loops."""
        return []

    def balance(self, a: Sequence[Scalar], held: Sequence[Scalar]) -> list[Scalar]:
        """Forces that accelerations ``a`` of all joints take, less those that act; zero for ``accelerations``."""
        del held  # there are no loops
        model, (q, v), tree = self.model, self.tree, self.model.expand_rates(a)
        method = find_method("inverse_dynamics", "shared-axes", model)
        own = Problem(model, method.quantity, method).prepared
        taken = total_inverse_dynamics(method.function, own, q, v, tree, self.applied)
        acting = joint_forces(model, q, v, self.tau)
        return [x - y for x, y in zip(model.collect(taken), acting, strict=True)]

    @cached_property
    def by_motion(self) -> list[list[Scalar]]:
        """The slope of ``balance`` by a and held: the inertia matrix."""
        method = find_method("inertia_matrix", "crba", self.model)
        own = Problem(self.model, method.quantity, method).prepared
        return self.model.collect_matrix(total_inertia_matrix(method.function, own, self.tree[0]))

    def for_method(self, model: Model) -> Model:
        return Problem(model, self.plant.method.quantity, self.plant.method).prepared

    @cached_property
    def stepped(self) -> dict[str, Any]:
        """The state after dt, by semi-implicit Euler."""
        return self._moved(self._accelerated(with_implicit_friction(self.model, self.tree[1], self.dt)))

    def _moved(self, a: Sequence[Scalar]) -> dict[str, Any]:
        v = [x + self.dt * y for x, y in zip(self.rates, a, strict=True)]
        return {"q": self.model.coordinates.advanced(self.q, v, self.dt), "v": v}

    @cached_property
    def finished(self) -> dict[str, Any]:
        """The state with unit quaternions."""
        return {"q": self.model.coordinates.normalised(self.q), "v": self.rates}

    @property
    def flowing(self) -> Now:
        """Whose rates are those of this state."""
        return self

    @property
    def arrived(self) -> Now:
        """Under what held the robot in the step before."""
        return self

    lost: Scalar = 0  # of energy, by ``finished``
    lost_ahead: Scalar = 0  # by ``stepped``

    def power(self, tau: Sequence[Scalar]) -> Scalar:
        """Of all forces but weight and springs, which have their potential energy."""
        model, (q, v) = self.model, self.tree
        lost = passive_forces(model, q, v, springs=False)
        applied = self.applied
        if any(hasattr(law, "energy") for _, law in model.forces):
            applied = self._wrenches(springs=False)
        velocities = body_velocities(model, q, v) if applied else {}
        total: Scalar = 0
        for x, k in zip(tau, model.mobility.forced, strict=True):
            total = total + x * self.rates[k]
        for x, y in zip(lost, v, strict=True):
            total = total - x * y
        for body, force in applied.items():
            total = total + velocities[body].dot(force)
        return total

    def output(self, name: str) -> Any:
        if name in ("q", "v", "tau", "commands", "work"):
            return getattr(self, name)
        if name == "a":
            return [self.accelerations[k] for k in self.model.mobility.independent]
        if name in self.plant.memory:
            value = np.array(self.values[MEMORY + name], dtype=object)
            return value.ravel().tolist() if value.ndim else value.item()
        problem = Problem(self.model, name, parameters="standard")
        (value,) = problem.evaluate(*(getattr(self, vector) for vector in problem.inputs)).values()
        return value


def _sum(xs: Sequence[Scalar], ys: Sequence[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(xs, ys, strict=True)]
