"""The Jacobian of a step: derivatives of the state after it with respect to the state before it and to tau.

Each part of a step (the rates of a stage, a projection) runs on dual numbers with one direction per argument of its
own, and the chain rule multiplies its Jacobian with that of the arguments. Carrying all directions through every part
would take many more products. The accelerations of a tree have their derivatives from a published formulation.

Gradients are computed differently: ``adjoint`` takes one product with weights, the ``vjp`` of ``transition``, and never
forms the Jacobian. Each way is slow for the other task. Microseconds for the Jacobian of a step, in batches of 256 on
one core:

                                           here   jacobian(transition)   vjp(transition) for each row
    Panda, rk4                             0.97   1.94                    4.7
    ANYmal, floating, semi-implicit Euler  1.4    2.5                    11.8
    four-bar, rk4                          0.14   0.25                    0.77

For one product with weights, the Panda's vjp has 7.6 thousand instructions and its Jacobian here 17.9 thousand. Rows of
the vjp are used for derivatives with respect to varied parameters and gains (``forward_sensitivity``), which the
published formulation does not have. The Jacobian in a Rosenbrock step is that of the balance of forces, not of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

from ...codegen.optimised import optimised
from ...codegen.schemes import AdamsBashforth, OwnStep, Rosenbrock, RungeKutta, Scheme
from ...errors import UnsupportedError
from ...formulations import (
    Method,
    Problem,
    body_wrenches,
    changes_of,
    forces_against,
    layouts,
    seeded,
    sizes,
    with_rotor_forces,
)
from ...function import Function
from ...metadata import Label
from ...model import Model, changed_drives, commanded
from ...pipeline import choose
from ...program import Port, Program, trace
from ...program.replay import flattened, nested, split
from ...scalar import Scalar
from ...scalar.dual import change_of, dual, slope_of, value_of
from ...scalar.orthogonal import dot
from ...workspace import Cache
from ..plant.constrained import places
from ..plant.instant import MEMORY, Instant
from ..plant.plant import CORRECTIONS, Plant
from ..plant.randomisation import varied, varied_numbers
from ..schemes import rosenbrock
from .transition import Flat, stages

SingleStep = OwnStep | RungeKutta | Rosenbrock


def linear_step(plant: Plant, scheme: Scheme, method: str, backend: str = "native") -> Function:
    """Return the function of A and B of a step, as in ``LinearSystem``.

    Its inputs are q, independent velocities v, the memory, t, dt and the inputs of the plant, tau and commands among
    them. These are added to what a controller computes.
    """
    if isinstance(scheme, AdamsBashforth):
        raise UnsupportedError(
            "a step of this method depends on earlier steps, not on the state alone", where=f"method {method!r}",
            fix="use a single-step method, such as 'rk4' or 'semi-implicit-euler'",
        )  # fmt: skip

    def make() -> Function:
        model, joint_vectors = plant.model, layouts(plant.model)
        vectors = {name: joint_vectors[name] for name in ("q", "v", *actions(model))}
        label = Label(model.name, "linear_step", method, layouts=vectors)
        return Function(_program(plant, scheme), label, backend=backend)

    return plant.cached(("linear step", scheme, backend), make)


def actions(model: Model) -> list[str]:
    """Return the inputs that are u of the linear system."""
    return ["tau", *["commands"] * bool(model.commands.size)]


def _program(plant: Plant, scheme: SingleStep) -> Program:
    dual_plant = DualPlant.of(plant)
    model, state = dual_plant.model, dual_plant.state
    memory = [port for port in state if port.name.startswith(MEMORY)]
    standing = [port for port in state if port.name == "stand"]
    ports = [state[0], Port("v", (model.nv,)), *memory, *standing, *dual_plant.ports[len(state) :]]
    before = model.n_configuration + model.nv
    n = before + sum(port.size for port in memory)

    def run(*values: Any) -> Mapping[str, Any]:
        inputs = dict(zip((port.name for port in ports), values, strict=True))
        sample = varied(model, inputs, dual_plant.payload)
        q, v = seeded(sample, inputs["q"], inputs["v"])
        if model.constrained:
            (v,) = Problem(sample, "joint_velocities").evaluate(q, v).values()
        more = [dual(x, {before + k: 1}) for k, x in enumerate(flattened(inputs, memory))]
        u = [dual(x, {n + k: 1}) for k, x in enumerate(x for name in actions(model) for x in inputs[name])]
        x = [*q, *v, *more]
        current = places(sample, sample.expand(q)) if standing else []  # places of contacts follow q
        stand = [x + change_of(y) for x, y in zip(flattened(inputs, standing), current, strict=True)]
        x += [*[0] * (dual_plant.state_size - len(x) - len(stand)), *stand]
        after = split(_next_state(dual_plant, scheme, inputs, x, u), state)
        shift, mobility = _shift(model, after["q"]), model.mobility
        independent = [*(shift[k] for k in mobility.configuration), *(after["v"][k] for k in mobility.independent)]
        more = [x for port in memory for x in after[port.name]]
        rows = [[slope_of(x, k) for k in range(n + len(u))] for x in (*independent, *more)]
        return {"A": [row[:n] for row in rows], "B": [row[n:] for row in rows]}

    return optimised(trace("linear_step", run, ports))


def _next_state(plant: DualPlant, scheme: SingleStep, inputs: Mapping[str, Any], x: Flat, u: Flat) -> Flat:
    """x after a step, as dual numbers."""
    by_name = {port.name: port for port in plant.ports}
    action_ports, size = [by_name[name] for name in actions(plant.model)], plant.state_size

    def part(run: Callable[[Instant], Mapping[str, Any]], x: Flat, t: Scalar) -> Flat:
        def evaluate(arguments: Flat) -> Flat:
            x, u = arguments[:size], arguments[size:]
            at = plant.instant({**inputs, **nested(x, plant.state), **nested(u, action_ports), "t": t})
            return flattened(run(at), plant.state)

        return chained(evaluate, [*x, *u])

    t, projections = inputs["t"], int(plant.projection is not None)
    match scheme:
        case OwnStep():  # only recorded states are projected, and the Jacobian is that of recorded states
            x = part(lambda at: {**at.values, **at.next_state, **at.next_memory}, x, t)
            projections = CORRECTIONS if plant.has_constraints else 0
        case Rosenbrock():
            x = part(lambda at: rosenbrock.next_state(plant, at, scheme), x, t)
        case RungeKutta():
            x, _ = stages(scheme, lambda x, t: part(plant.state_rates, x, t), x, t, inputs["dt"])
    for _ in range(projections):
        x = part(lambda at: {**at.values, **at.projected}, x, t)
    return x


def chained(run: Callable[[Flat], Flat], x: Flat) -> Flat:
    """Return run(x) by the chain rule, from the derivatives of ``run`` along each of its arguments."""
    results = run([dual(value_of(each), {k: 1}) for k, each in enumerate(x)])
    changes = [change_of(each) for each in x]
    return [value_of(y) + dot([slope_of(y, k) for k in range(len(x))], changes) for y in results]


def _shift(model: Model, q: Flat) -> Flat:
    """Derivatives of unit positions along their tangent."""
    return model.coordinates.velocities_of([value_of(x) for x in q], [change_of(x) for x in q])


class DualPlant(Plant):
    """A plant on dual numbers."""

    @classmethod
    def of(cls, plant: Plant) -> DualPlant:
        """Return the dual plant: without work, and with tau and commands among its inputs."""
        arguments: dict[str, Any] = {field.name: getattr(plant, field.name) for field in fields(plant)}
        present = {**plant.held, **plant.constants}
        more = {name: (sizes(plant.model)[name],) for name in actions(plant.model) if name not in present}
        changed = {"records_work": False, "constants": {**plant.constants, **more}, "programs": Cache()}
        return cls(**arguments | changed)

    @cached_property
    def derivatives_method(self) -> Method:
        """Method of the derivatives of forward dynamics."""
        numbers = varied_numbers(self.model, (*self.held, *self.constants), self.payload)
        varied = any(each.inertial for each in numbers.values())
        placed = any(each.placed for each in numbers.values())
        wrenches = tuple(self.wrenches)
        return choose(self.model, "forward_dynamics_derivatives", wrenches=wrenches, varied=varied, placed=placed)

    def instant(self, values: Mapping[str, Any]) -> Instant:
        return super().instant(values) if self.has_constraints else DualInstant(self, values)


class DualInstant(Instant):
    """An instant of a tree on dual numbers."""

    plant: DualPlant

    def _accelerations_of(self, model: Model) -> list[Scalar]:
        """Accelerations with derivatives of a published formulation.

        Implicit friction adds inertia that depends on velocities, and its change requires force.
        """
        wrenches = tuple(self.plant.wrenches)
        constant = changed_drives(model, lambda drive: replace(drive, rotor_inertia=value_of(drive.rotor_inertia)))
        if model.commands.size:
            constant = commanded(constant, [value_of(x) for x in self.commands])
        problem = Problem(constant, "forward_dynamics_derivatives", self.plant.derivatives_method, wrenches=wrenches)
        q, v, tau = ([value_of(x) for x in vector] for vector in (self.q, self.v, self.tau))
        a, *slopes = problem.evaluate(q, v, tau, *[self.wrench_rows] * bool(wrenches)).values()
        tree = model.expand_rates(a)
        rotors = {k: model.joint(i).rotor_inertia for i, _ in model.outward() for k in model.freedoms(i)}
        rotor_forces = model.collect(with_rotor_forces(model, [rotors[k] * x for k, x in enumerate(tree)], tree))
        forces = [x - y for x, y in zip(self.tau, rotor_forces, strict=True)]
        if model.commands.size:
            forces = [x - y for x, y in zip(forces, self._command_forces(model, q, v), strict=True)]
        unit = model.coordinates.normalised(self.q)  # quaternions of a stage are not unit
        changes = [*_shift(model, unit), *(change_of(x) for x in (*self.v, *forces))]
        return [x + dot([y for row in rows for y in row], changes) for x, *rows in zip(a, *slopes, strict=True)]

    def _command_forces(self, model: Model, q: Flat, v: Flat) -> Flat:
        """Forces that balance changes of the commands: zero in value, with derivatives along the commands."""
        tree = model.expand(q)
        wrenches = body_wrenches(self.commanded(model), tree, model.expand_rates(v), (), ())
        return model.collect(forces_against(model, tree, changes_of(wrenches)))
