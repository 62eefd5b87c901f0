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

REFERENCE = "reference"  # the input with samples of the reference: rows q, v, a
MEMORY = "memory_"  # prefix of parts of the state that belong to the controller
SAMPLED = "sampled_"  # prefix of parts of the state that belong to functions with a sample time
GAIN = "gain "  # prefix of inputs that are gains of the controller
COMPUTED = ("a", "tau", "commands", "work", "constraint_forces", "contact_forces")  # outputs that others may take
WRENCH = "wrench "  # prefix of inputs that are wrenches, before the frame


class Instant:
    """State and inputs of a plant at one instant, and everything that follows from them.

    Attributes:
        q: Positions.
        rates: Velocities of all joints that are not mimic joints.
        v: Independent velocities, which are recorded and which a controller receives.
    """

    def __init__(self, plant: Plant, values: Mapping[str, Any]):
        self.plant, self.values = plant, values
        self.q, self.rates, self.t, self.dt = (values[name] for name in ("q", "v", "t", "dt"))
        self.v = [self.rates[k] for k in plant.model.mobility.independent]
        self.work = values.get("work", 0)

    @cached_property
    def model(self) -> Model:
        """Robot with the parameters of this sample."""
        return varied(self.plant.model, self.values, self.plant.payload)

    @cached_property
    def tree(self) -> tuple[list[Scalar], list[Scalar]]:
        """Positions and velocities of all joints of the tree."""
        return self.model.expand(self.q), self.model.expand_rates(self.rates)

    @cached_property
    def body_forces(self) -> dict[int, Force]:
        """External forces on bodies, by body."""
        return self._body_forces()

    def _body_forces(self, springs: bool = True) -> dict[int, Force]:
        frames = [self.model.frame(name) for name in self.plant.wrenches]
        return body_wrenches(self.commanded(self.model), *self.tree, frames, self.wrench_rows, springs)

    @property
    def tau(self) -> list[Scalar]:
        """Joint forces of inputs and controller together."""
        return self._actions[0]

    @property
    def commands(self) -> list[Scalar]:
        """Commands of the force laws from inputs, a function of time and the controller together."""
        return self._actions[1]

    def commanded(self, model: Model) -> Model:
        """Return a variant of the robot whose force laws receive the commands."""
        return commanded(model, self.commands) if model.commands.size else model

    @cached_property
    def _actions(self) -> tuple[list[Scalar], list[Scalar], dict[str, Any]]:
        """Joint forces, commands, and the rates of the controller's memory by their names in the state."""
        plant, size = self.plant, sizes(self.model)
        tau, commands = (self.values.get(name, [0] * size[name]) for name in ("tau", "commands"))
        if plant.commands is not None:
            commands = _sum(self._evaluated(plant.commands)["commands"], commands)
        held = [plant.held_action(self.values, name) for name in ("tau", "commands")]
        tau, commands = (x if y is None else _sum(y, x) for x, y in zip((tau, commands), held, strict=True))
        if plant.controller is None:
            return tau, commands, {}
        results = self._evaluated(plant.controller)
        tau = _sum(results.pop("tau"), tau)
        return tau, _sum(results.pop("commands"), commands) if plant.controller_commands else commands, results

    def _evaluated(self, program: Program, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Results of a user function's program at this instant, from its values and others."""
        nodes = replay(program, flattened({**self.values, "v": self.v, **(more or {})}, program.inputs))
        return nested([nodes[k] for k in program.results], program.outputs)

    @property
    def memory_rates(self) -> dict[str, Any]:
        """Rates of the controller's memory by their names in the state."""
        return self._actions[2]

    @property
    def next_memory(self) -> dict[str, Any]:
        """Controller's memory after an explicit Euler step."""
        rates = {name: np.array(rate, dtype=object) for name, rate in self.memory_rates.items()}
        return {name: np.array(self.values[name], dtype=object) + self.dt * rate for name, rate in rates.items()}

    @property
    def reference_rows(self) -> Any:
        """Rows q, v, a of the reference."""
        law = self.plant.reference
        return self.values[REFERENCE] if law is None else self._evaluated(law)[REFERENCE]

    @cached_property
    def wrench_rows(self) -> list[Sequence[Scalar]]:
        """Wrenches, one row per loaded frame."""
        laws = self.plant.wrenches.items()
        return [self.values[WRENCH + frame] if law is None else self._evaluated(law)["wrench"] for frame, law in laws]

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """Accelerations of all joints."""
        return self._accelerations_of(self.model)

    def _accelerations_of(self, model: Model) -> list[Scalar]:
        """Accelerations of a variant of the robot."""
        wrenches, model = tuple(self.plant.wrenches), self.commanded(model)
        problem = Problem(model, "forward_dynamics", self.plant.method, wrenches=wrenches)
        return problem.evaluate(self.q, self.v, self.tau, *[self.wrench_rows] * bool(wrenches))["a"]

    # -- for linearly implicit steps

    @property
    def multipliers(self) -> list[Scalar]:
        """Constraint forces: there are none in a tree."""
        return []

    def balance(self, a: Sequence[Scalar], multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Return the forces that accelerations ``a`` of all joints require, less those that act.

        The result is zero for ``accelerations``.
        """
        del multipliers  # a tree has no constraints
        model, (q, v), tree_a = self.model, self.tree, self.model.expand_rates(a)
        method = find_method("inverse_dynamics", "shared-axes", model)
        prepared = Problem(model, method.quantity, method).prepared
        required = total_inverse_dynamics(method.function, prepared, q, v, tree_a, self.body_forces)
        acting = joint_forces(model, q, v, self.tau)
        return [x - y for x, y in zip(model.collect(required), acting, strict=True)]

    @cached_property
    def balance_matrix(self) -> list[list[Scalar]]:
        """Jacobian of ``balance`` with respect to a and multipliers: the inertia matrix."""
        method = find_method("inertia_matrix", "crba", self.model)
        prepared = Problem(self.model, method.quantity, method).prepared
        return self.model.collect_matrix(total_inertia_matrix(method.function, prepared, self.tree[0]))

    def prepared(self, model: Model) -> Model:
        """Return a variant of the robot as the plant's method of dynamics expects it."""
        return Problem(model, self.plant.method.quantity, self.plant.method).prepared

    @cached_property
    def next_state(self) -> dict[str, Any]:
        """State after a step of semi-implicit Euler."""
        return self._advanced(self._accelerations_of(with_implicit_friction(self.model, self.tree[1], self.dt)))

    def _advanced(self, a: Sequence[Scalar]) -> dict[str, Any]:
        v = [x + self.dt * y for x, y in zip(self.rates, a, strict=True)]
        return {"q": self.model.coordinates.advanced(self.q, v, self.dt), "v": v}

    @cached_property
    def projected(self) -> dict[str, Any]:
        """State with unit quaternions and, of robots with constraints, satisfied constraints."""
        return {"q": self.model.coordinates.normalised(self.q), "v": self.rates}

    @property
    def after_impact(self) -> Instant:
        """Same instant after the impacts of contacts that begin now."""
        return self

    @property
    def under_previous_contacts(self) -> Instant:
        """Same instant under the contacts of the previous step."""
        return self

    projection_work: Scalar = 0  # energy in J that ``projected`` adds, negative where it takes some
    step_work: Scalar = 0  # the same of contacts in ``next_state``

    def power(self, tau: Sequence[Scalar]) -> Scalar:
        """Return the power of all forces but weight and springs, which have a potential energy."""
        model, (q, v) = self.model, self.tree
        dissipative = passive_forces(model, q, v, springs=False)
        forces = self.body_forces
        if any(hasattr(law, "energy") for _, law in model.forces):
            forces = self._body_forces(springs=False)
        velocities = body_velocities(model, q, v) if forces else {}
        total: Scalar = 0
        for x, k in zip(tau, model.mobility.forced, strict=True):
            total = total + x * self.rates[k]
        for x, y in zip(dissipative, v, strict=True):
            total = total - x * y
        for body, force in forces.items():
            total = total + velocities[body].dot(force)
        return total

    def output(self, name: str) -> Any:
        """Return the value of a recorded output."""
        if name in ("q", "v", "tau", "commands", "work"):
            return getattr(self, name)
        if name in self.plant.own_shapes:
            return self._own_outputs[name]
        if name == "a":
            return [self.accelerations[k] for k in self.model.mobility.independent]
        if name in self.plant.memory:
            value = np.array(self.values[self.plant.part_of(name)], dtype=object)
            return value.ravel().tolist() if value.ndim else value.item()
        problem = Problem(self.model, name, parameters="standard")
        (value,) = problem.evaluate(*(getattr(self, vector) for vector in problem.inputs)).values()
        return value

    @cached_property
    def _own_outputs(self) -> dict[str, Any]:
        """Outputs of the user's own, by name."""
        program = self.plant.own_outputs
        assert program is not None  # there are names
        names = [port.name for port in program.inputs]
        more = {name: self.output(name) for name in names if name in COMPUTED} | {"v_joints": self.rates}
        return self._evaluated(program, more | ({"wrenches": self.wrench_rows} if "wrenches" in names else {}))


def _sum(xs: Sequence[Scalar], ys: Sequence[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(xs, ys, strict=True)]
