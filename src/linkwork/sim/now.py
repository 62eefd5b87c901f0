"""A plant at one instant, on traced numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..control import Point
from ..control.law import TRACED, entries, unchanging
from ..errors import ShapeError, UnsupportedError
from ..formulations import (
    Problem,
    body_velocities,
    body_wrenches,
    find,
    joint_forces,
    passive_forces,
    sizes,
    whole_inertia,
    whole_inverse,
    with_friction_ahead,
)
from ..model import Model, command_vector, commanded
from ..scalar import Scalar
from ..spatial import Force
from .varied import varied

if TYPE_CHECKING:
    from .plant import Plant

REFERENCE = "reference"  # samples of the reference: a Point in rows
MEMORY = "memory_"  # how the parts of the state begin that are the controller's own


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
        loaded = [self.model.frame(name) for name in self.plant.wrenches]
        return body_wrenches(self.commanded(self.model), *self.tree, loaded, self.rows)

    @cached_property
    def point(self) -> Point | None:
        if REFERENCE in self.values:
            return Point(*(np.array(row, dtype=object) for row in self.values[REFERENCE]))
        return _over_time("reference", self.plant.reference, self.t) if self.plant.reference is not None else None

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
        """tau, commands, and the rates of the controller's memory by name."""
        law, own = self.plant.law, sizes(self.model)
        tau, commands = (self.values.get(name, [0] * own[name]) for name in ("tau", "commands"))
        if self.plant.commands is not None:
            row = command_vector(self.model.commands, _over_time("commands", self.plant.commands, self.t), "commands")
            commands = [x + y for x, y in zip(entries("a command", row, "commands"), commands, strict=True)]
        if law is None:
            return tau, commands, {}
        gains = {name.removeprefix("gain "): x for name, x in self.values.items() if name.startswith("gain ")}
        memory = {name: self.values[MEMORY + name] for name in law.memory}
        *own, rates = law.evaluate(self.t, self.q, self.v, self.point, gains, memory)
        both = zip(own, (tau, commands), strict=True)
        tau, commands = ([x + y for x, y in zip(*each, strict=True)] for each in both)
        return tau, commands, rates

    @property
    def memory_rates(self) -> dict[str, Any]:
        """By their names in the state."""
        return {MEMORY + name: rates for name, rates in self._acting[2].items()}

    @property
    def memory_ahead(self) -> dict[str, Any]:
        """The memory after dt at these rates."""
        rates = {name: np.array(rate, dtype=object) for name, rate in self.memory_rates.items()}
        return {name: np.array(self.values[name], dtype=object) + self.dt * rate for name, rate in rates.items()}

    @cached_property
    def rows(self) -> list[Sequence[Scalar]]:
        """Wrenches, frame by frame."""
        rows = []
        for frame, law in self.plant.wrenches.items():
            what = f"wrench on {frame!r}"
            rows.append(self.values[f"wrench {frame}"] if law is None else self._wrench(what, law))
        return rows

    def _wrench(self, what: str, function: Callable[[Scalar], Any]) -> list[Scalar]:
        row = np.array(_over_time(what, function, self.t), dtype=object)
        if row.shape != (6,):
            raise ShapeError("wrong shape", where=what, got=row.shape, expected="(6,)")
        return entries("a force", row, what)

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
        method = find("inverse_dynamics", "shared-axes", model)
        own = Problem(model, method.quantity, method).prepared
        taken = whole_inverse(method.function, own, q, v, tree, self.applied)
        acting = joint_forces(model, q, v, self.tau)
        return [x - y for x, y in zip(model.collect(taken), acting, strict=True)]

    @cached_property
    def by_motion(self) -> list[list[Scalar]]:
        """The slope of ``balance`` by a and held: the inertia matrix."""
        method = find("inertia_matrix", "crba", self.model)
        own = Problem(self.model, method.quantity, method).prepared
        return self.model.collect_matrix(whole_inertia(method.function, own, self.tree[0]))

    def for_method(self, model: Model) -> Model:
        return Problem(model, self.plant.method.quantity, self.plant.method).prepared

    @cached_property
    def stepped(self) -> dict[str, Any]:
        """The state after dt, by semi-implicit Euler."""
        return self._moved(self._accelerated(with_friction_ahead(self.model, self.tree[1], self.dt)))

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

    lost: Scalar = 0  # of energy, by ``finished``
    lost_ahead: Scalar = 0  # by ``stepped``

    def power(self, tau: Sequence[Scalar]) -> Scalar:
        """Of all forces but weight and springs, which have their potential energy."""
        model, (q, v) = self.model, self.tree
        lost = passive_forces(model, q, v, springs=False)
        velocities = body_velocities(model, q, v) if self.applied else {}
        total: Scalar = 0
        for x, k in zip(tau, model.mobility.forced, strict=True):
            total = total + x * self.rates[k]
        for x, y in zip(lost, v, strict=True):
            total = total - x * y
        for body, force in self.applied.items():
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


def _over_time(what: str, function: Callable[[Scalar], Any], t: Scalar) -> Any:
    try:
        return unchanging(lambda: function(t), what)
    except (TypeError, AttributeError) as error:
        raise UnsupportedError("this cannot be traced over time", where=what, got=str(error), fix=TRACED) from error
