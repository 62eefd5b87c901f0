"""A step of a plant with its slopes: how the state after it changes with the state before it and with tau.

A part of a step (the rates of a stage, the closing of loops) is run on dual numbers with slopes of one along its own
arguments, and its slopes are multiplied with those that arrive there: carrying all directions through every part would
take many more products. The accelerations of a tree have their slopes by a published form.

Gradients go another way: ``adjoint`` takes one product with weights, the ``vjp`` of ``transition``, and never has the
Jacobian. Neither way can serve for both. Microseconds for the Jacobian of a step, in batches of 256 on one core:

                                           here   jacobian(transition)   vjp(transition) for each row
    Panda, rk4                             0.97   1.94                    4.7
    ANYmal, floating, semi-implicit Euler  1.4    2.5                    11.8
    four-bar, rk4                          0.14   0.25                    0.77

And for one product with weights, the Panda's vjp has 7.6 thousand instructions, its Jacobian here 17.9 thousand. The
rows of the vjp serve where slopes by varied parameters and gains are asked for (``forward_sensitivity``), which the
published form has not. The Jacobian inside a Rosenbrock step is that of the balance of forces, not of a step.
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
from ..plant.constrained import ConstrainedNow, SwitchedNow, places
from ..plant.instant import MEMORY, Now
from ..plant.plant import CORRECTIONS, Plant
from ..plant.randomisation import INERTIAL
from ..schemes import rosenbrock
from .transition import Flat, stages

OneStep = OwnStep | RungeKutta | Rosenbrock  # schemes that do not look back


def linear_step(plant: Plant, scheme: Scheme, method: str, backend: str = "native") -> Function:
    """A and B of a step, as in ``LinearSystem``. Inputs: q, v of the independent joints, memory, then t, dt and those
    of the plant, with ``acting`` among them: they act beside a controller, if there is one."""
    if isinstance(scheme, AdamsBashforth):
        raise UnsupportedError(
            "a step of this method depends on the steps before it, not on the state alone", where=f"method {method!r}",
            fix="a method of single steps, such as 'rk4' or 'semi-implicit-euler'",
        )  # fmt: skip
    if (scheme, backend) not in plant.linear_steps:
        own, joint_vectors = plant.model, layouts(plant.model)
        told = {name: joint_vectors[name] for name in ("q", "v", *acting(own))}
        label = Label(own.name, "linear_step", method, layouts=told)
        plant.linear_steps[scheme, backend] = Function(_program(plant, scheme), label, backend=backend)
    return plant.linear_steps[scheme, backend]


def acting(model: Model) -> list[str]:
    """Inputs of a step that B is about."""
    return ["tau", *["commands"] * bool(model.commands.size)]


def _program(plant: Plant, scheme: OneStep) -> Program:
    own = OnDuals.of(plant)
    model, state = own.model, own.state
    memory = [port for port in state if port.name.startswith(MEMORY)]
    standing = [port for port in state if port.name == "stand"]
    ports = [state[0], Port("v", (model.nv,)), *memory, *standing, *own.ports[len(state) :]]
    before = model.n_configuration + model.nv
    n = before + sum(port.size for port in memory)

    def run(*values: Any) -> Mapping[str, Any]:
        given = dict(zip((port.name for port in ports), values, strict=True))
        q, v = seeded(model, given["q"], given["v"])
        if model.constrained:
            (v,) = Problem(model, "joint_velocities").evaluate(q, v).values()
        more = [dual(x, {before + k: 1}) for k, x in enumerate(flattened(given, memory))]
        u = [dual(x, {n + k: 1}) for k, x in enumerate(x for name in acting(model) for x in given[name])]
        x = [*q, *v, *more]
        moved = places(model, model.expand(q)) if standing else []  # contacts stand where q has them
        stand = [x + change_of(y) for x, y in zip(flattened(given, standing), moved, strict=True)]
        after = split(_stepped(own, scheme, given, [*x, *[0] * (own.x - len(x) - len(stand)), *stand], u), state)
        moving, mobility = _shift(model, after["q"]), model.mobility
        independent = [*(moving[k] for k in mobility.configuration), *(after["v"][k] for k in mobility.independent)]
        more = [x for port in memory for x in after[port.name]]
        rows = [[slope_of(x, k) for k in range(n + len(u))] for x in (*independent, *more)]
        return {"A": [row[:n] for row in rows], "B": [row[n:] for row in rows]}

    return optimised(trace("linear_step", run, ports))


def _stepped(plant: OnDuals, scheme: OneStep, given: Mapping[str, Any], x: Flat, u: Flat) -> Flat:
    """x after a step, as dual numbers."""
    shapes = {port.name: port for port in plant.ports}
    pushing = [shapes[name] for name in acting(plant.model)]

    def part(run: Callable[[Now], Mapping[str, Any]], x: Flat, t: Scalar) -> Flat:
        def act(arguments: Flat) -> Flat:
            x, u = arguments[: plant.x], arguments[plant.x :]
            now = plant.now({**given, **nested(x, plant.state), **nested(u, pushing), "t": t})
            return flattened(run(now), plant.state)

        return chained(act, [*x, *u])

    t, corrections = given["t"], int(plant.finish is not None)
    match scheme:
        case OwnStep():  # beside the manifold of its loops, as it is recorded then
            x = part(lambda now: {**now.values, **now.stepped, **now.memory_ahead}, x, t)
            corrections = CORRECTIONS if plant.held_together else 0
        case Rosenbrock():
            x = part(lambda now: rosenbrock.stepped(plant, now, scheme), x, t)
        case RungeKutta():
            x, _ = stages(scheme, lambda x, t: part(plant.flow, x, t), x, t, given["dt"])
    for _ in range(corrections):
        x = part(lambda now: {**now.values, **now.finished}, x, t)
    return x


def chained(run: Callable[[Flat], Flat], x: Flat) -> Flat:
    """run(x) by the chain rule, with slopes of ``run`` along each of its arguments."""
    results = run([dual(value_of(each), {k: 1}) for k, each in enumerate(x)])
    changes = [change_of(each) for each in x]
    return [value_of(y) + dot([slope_of(y, k) for k in range(len(x))], changes) for y in results]


def _shift(model: Model, q: Flat) -> Flat:
    """The slopes of unit positions along their tangent, of value zero."""
    return model.coordinates.velocities_of([value_of(x) for x in q], [change_of(x) for x in q])


class OnDuals(Plant):
    """A plant that is looked at on dual numbers."""

    @classmethod
    def of(cls, plant: Plant) -> OnDuals:
        """Without its work; with tau, and commands if there are some, among its inputs."""
        own: dict[str, Any] = {field.name: getattr(plant, field.name) for field in fields(plant)} | {"works": False}
        given = {**plant.held, **plant.constants}
        more = {name: (sizes(plant.model)[name],) for name in acting(plant.model) if name not in given}
        own["constants"] = {**plant.constants, **more}
        return cls(**own)

    @cached_property
    def method_of_slopes(self) -> Method:
        varied = any(name in {**self.held, **self.constants} for name in INERTIAL)
        wrenches = tuple(self.wrenches)
        return choose(self.model, "forward_dynamics_derivatives", wrenches=wrenches, varied=varied)

    def now(self, values: Mapping[str, Any]) -> Now:
        if self.stands:
            return SupportedDuals(self, values)
        return ClosedDuals(self, values) if self.model.constrained else TreeDuals(self, values)


class Duals(Now):
    plant: OnDuals


class ClosedDuals(Duals, ConstrainedNow):
    pass


class SupportedDuals(Duals, SwitchedNow):
    pass


class TreeDuals(Duals):
    def _accelerated(self, model: Model) -> list[Scalar]:
        """Slopes are those of a published form. Where inertia depends on velocities, as friction ahead has it, its
        change takes force."""
        wrenches = tuple(self.plant.wrenches)
        constant = changed_drives(model, lambda drive: replace(drive, rotor_inertia=value_of(drive.rotor_inertia)))
        if model.commands.size:
            constant = commanded(constant, [value_of(x) for x in self.commands])
        problem = Problem(constant, "forward_dynamics_derivatives", self.plant.method_of_slopes, wrenches=wrenches)
        q, v, tau = ([value_of(x) for x in vector] for vector in (self.q, self.v, self.tau))
        a, *slopes = problem.evaluate(q, v, tau, *[self.rows] * bool(wrenches)).values()
        tree = model.expand_rates(a)
        rotors = {k: model.joint(i).rotor_inertia for i, _ in model.outward() for k in model.freedoms(i)}
        taken = model.collect(with_rotor_forces(model, [rotors[k] * x for k, x in enumerate(tree)], tree))
        forces = [x - y for x, y in zip(self.tau, taken, strict=True)]
        if model.commands.size:
            forces = [x - y for x, y in zip(forces, self._against(model, q, v), strict=True)]
        unit = model.coordinates.normalised(self.q)  # that of a stage is not
        changes = [*_shift(model, unit), *(change_of(x) for x in (*self.v, *forces))]
        return [x + dot([y for row in rows for y in row], changes) for x, *rows in zip(a, *slopes, strict=True)]

    def _against(self, model: Model, q: Flat, v: Flat) -> Flat:
        """Forces that hold against what changes of the commands change: nothing at the state and the commands now."""
        tree = model.expand(q)
        applied = body_wrenches(self.commanded(model), tree, model.expand_rates(v), (), ())
        return model.collect(forces_against(model, tree, changes_of(applied)))
