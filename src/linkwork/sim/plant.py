"""A robot and all that acts on it, as programs for the time loop.

The state is x = (q, v), and the work done on the robot if it is asked for. All programs take the rows of
``codegen.timeloop``: x, t, dt, what is held over a step, what is constant for a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..assembly import newton_step
from ..codegen.optimised import optimised
from ..codegen.timeloop import TimeLoop
from ..control import Law, Point
from ..control.law import TRACED, unchanging
from ..errors import ShapeError, UnsupportedError
from ..formulations import (
    QUANTITIES,
    ClosedLoops,
    Method,
    Request,
    body_velocities,
    body_wrenches,
    friction_slopes,
    passive_forces,
    sizes,
)
from ..model import Model, grouped, quaternion_product
from ..pipeline import carrying
from ..program import Port, Program, trace
from ..scalar import Scalar, cos, is_zero, sin, sqrt
from ..spatial import Inertia, Vector
from .names import entries, units

TINY = 1e-300  # beside a squared angle: nothing in the value, and sin(x) / x is 1 at rest
CLOSING = 2  # of Newton's steps that close the loops after each time step
VARIED = ("mass", "parameters", "payload", "viscous", "coulomb", "gravity")
REFERENCE = "reference"  # samples of the reference: a Point in rows


@dataclass(frozen=True)
class Plant:
    """``held`` and ``constants``: shapes of the inputs by name. They are "tau", "reference" (samples q, v, a), one of
    VARIED, "gain NAME" of the controller, "wrench FRAME"."""

    model: Model
    method: Method  # of forward dynamics
    held: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    law: Law | None = None  # gives the torque; without it tau is an input, or zero
    reference: Callable[[Scalar], Point] | None = None  # of the law, unless it is an input
    # frame -> wrench(t), or None: an input
    wrenches: Mapping[str, Callable[[Scalar], Any] | None] = field(default_factory=dict)
    payload: str = ""  # the frame that carries it
    works: bool = False

    @property
    def ports(self) -> list[Port]:
        model = self.model
        x = [Port("q", (model.nq,)), Port("v", (model.nv,))] + [Port("work", ())] * self.works
        inputs = [Port(name, shape) for name, shape in (*self.held.items(), *self.constants.items())]
        return [*x, Port("t", ()), Port("dt", ()), *inputs]

    @property
    def x(self) -> int:
        """Numbers of the state."""
        return self.model.nq + self.model.nv + self.works

    # -- programs --------------------------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Program:
        """x -> dx/dt."""

        def run(now: Now) -> Mapping[str, Any]:
            a, tau = now.acceleration, now.tau
            leading = now.loops.leading(now.v)
            rates = {"q": self.model.position_rates(now.q, leading), "v": a}
            return rates | ({"work": now.power(tau)} if self.works else {})

        return self._trace("rates", run)

    @cached_property
    def step(self) -> Program:
        """x -> x after dt, by semi-implicit Euler: first the velocities, then with them the positions. Friction, which
        may be stiff, acts at the new velocities."""

        def run(now: Now) -> Mapping[str, Any]:
            a = now.accelerated(now.with_friction_ahead)
            v = [x + now.dt * y for x, y in zip(now.v, a, strict=True)]
            q = self._closed(_advanced(self.model, now.q, now.loops.leading(v), now.dt))
            return {"q": q, "v": v} | ({"work": now.work + now.dt * now.power(now.tau)} if self.works else {})

        return self._trace("step", run)

    @cached_property
    def finish(self) -> Program | None:
        """x -> x with unit quaternions and closed loops; none where a step in straight lines cannot leave them."""
        if not (self.model.floating or self.model.loops):
            return None

        def run(now: Now) -> Mapping[str, Any]:
            x = {"q": self._closed(self.model.normalised(now.q)), "v": now.v}
            return x | ({"work": now.work} if self.works else {})

        return self._trace("finish", run)

    def record(self, outputs: tuple[str, ...]) -> Program:
        """What is recorded of x."""
        return self._trace("record", lambda now: {name: now.output(name) for name in outputs})

    def time_loop(self, scheme: str, outputs: tuple[str, ...]) -> TimeLoop:
        if (scheme, outputs) not in self._loops:
            stepping = scheme == "step"
            self._loops[scheme, outputs] = TimeLoop(
                scheme,
                self.step if stepping else self.rates,
                None if stepping else self.finish,
                self.record(outputs),
                self.x,
                tuple(math.prod(shape) for shape in self.held.values()),
                sum(math.prod(shape) for shape in self.constants.values()),
            )
        return self._loops[scheme, outputs]

    @cached_property
    def _loops(self) -> dict[tuple[str, tuple[str, ...]], TimeLoop]:
        return {}

    @cached_property
    def entries(self) -> dict[str, tuple[str, ...]]:
        return entries(self.model)

    @cached_property
    def units(self) -> dict[str, tuple[str, ...]]:
        return units(self.model)

    @cached_property
    def checked(self) -> dict[Any, str]:
        """(method, dt, gains and parameters) -> what was found wrong with it."""
        return {}

    def _closed(self, q: list[Scalar]) -> list[Scalar]:
        for _ in range(CLOSING if self.model.loops else 0):
            q = newton_step(self.model, self.model.mobility.independent, q)
        return q

    def _trace(self, name: str, run: Callable[[Now], Mapping[str, Any]]) -> Program:
        ports = self.ports
        names = [port.name for port in ports]
        return optimised(trace(name, lambda *values: run(Now(self, dict(zip(names, values, strict=True)))), ports))


class Now:
    """A plant at one instant, on traced numbers."""

    def __init__(self, plant: Plant, values: Mapping[str, Any]):
        self.plant, self.values = plant, values
        self.q, self.v, self.t, self.dt = (values[name] for name in ("q", "v", "t", "dt"))
        self.work = values.get("work")

    @cached_property
    def model(self) -> Model:
        """With the parameters of this sample."""
        model, values = self.plant.model, self.values
        if "parameters" in values:
            model = model.with_parameters(values["parameters"])
        if "mass" in values:
            own = zip(model.bodies, values["mass"], strict=True)
            model = model.with_inertias([_with_mass(body.inertia, mass) for body, mass in own])
        if "payload" in values:
            model = carrying(model, self.plant.payload, values["payload"])
        if "gravity" in values:
            model = replace(model, gravity=Vector(*values["gravity"]))
        for name in ("viscous", "coulomb"):
            if name in values:
                own = dict(zip(model.position_names, values[name], strict=True))
                bodies = [
                    replace(b, joint=replace(b.joint, **{name: own[b.joint.name]})) if b.joint.name in own else b
                    for b in model.bodies
                ]
                model = replace(model, bodies=tuple(bodies))
        return model

    @cached_property
    def loops(self) -> ClosedLoops:
        return ClosedLoops(self.model, self.model.expand(self.q))

    @cached_property
    def point(self) -> Point | None:
        if REFERENCE in self.values:
            return Point(*(np.array(row, dtype=object) for row in self.values[REFERENCE]))
        return _over_time("reference", self.plant.reference, self.t) if self.plant.reference is not None else None

    @cached_property
    def tau(self) -> list[Scalar]:
        law = self.plant.law
        if law is not None:
            gains = {name.removeprefix("gain "): x for name, x in self.values.items() if name.startswith("gain ")}
            return law(self.t, self.q, self.v, self.point, gains)
        return self.values.get("tau", [0] * sizes(self.model)["tau"])

    @cached_property
    def rows(self) -> list[Sequence[Scalar]]:
        """Wrenches, frame by frame."""
        rows = []
        for frame, law in self.plant.wrenches.items():
            what = f"wrench on {frame!r}"
            row = self.values[f"wrench {frame}"] if law is None else np.array(_over_time(what, law, self.t)).tolist()
            if np.shape(row) != (6,):
                raise ShapeError("wrong shape", where=what, got=np.shape(row), expected="(6,): force, moment")
            rows.append(row)
        return rows

    @cached_property
    def with_friction_ahead(self) -> Model:
        """The robot whose acceleration a leads to a velocity v + dt a at which its friction was taken, to first order:
        (M + dt D) a = f, where D is the slope of friction. That is as if each rotor had dt D more inertia."""
        model = self.model
        slopes = friction_slopes(model, self.loops.rates(self.v))
        bodies = []
        for i, body in enumerate(model.bodies, 1):
            joint = body.joint
            if not joint.floating:
                more = self.dt * slopes[model.freedoms(i).start]
                joint = replace(joint, rotor_inertia=joint.rotor_inertia + more)
            bodies.append(replace(body, joint=joint))
        return replace(model, bodies=tuple(bodies))

    @cached_property
    def acceleration(self) -> list[Scalar]:
        return self.accelerated(self.model)

    def accelerated(self, model: Model) -> list[Scalar]:
        """Accelerations of a variant of the robot."""
        method = self.plant.method
        model = grouped(model) if method.grouped else model
        loaded = tuple(model.frame(name) for name in self.plant.wrenches)
        request = Request(method=method.function, loaded=loaded, closed=method.closed)
        return QUANTITIES["forward_dynamics"].function(model, request, self.q, self.v, self.tau, self.rows)

    def power(self, tau: Sequence[Scalar]) -> Scalar:
        """Of all forces but weight and springs, which have their potential energy."""
        model, loops = self.model, self.loops
        q, v = loops.q, loops.rates(self.v)
        slack = [replace(b, joint=replace(b.joint, stiffness=0.0)) for b in model.bodies]
        lost = passive_forces(replace(model, bodies=tuple(slack)), q, v)
        forces = body_wrenches(model, q, v, [model.frame(name) for name in self.plant.wrenches], self.rows)
        velocities = body_velocities(model, q, v) if forces else {}
        total: Scalar = 0
        for x, y in zip(loops.of_motors(tau), self.v, strict=True):
            total = total + x * y
        for x, y in zip(lost, v, strict=True):
            total = total - x * y
        for body, force in forces.items():
            total = total + velocities[body].dot(force)
        return total

    def output(self, name: str) -> Any:
        if name in ("q", "v", "tau", "work"):
            return getattr(self, name)
        if name == "a":
            return self.acceleration
        asked = QUANTITIES[name]
        return asked.function(self.model, Request(), *(self.values[vector] for vector in asked.inputs))


def _over_time(what: str, function: Callable[[Scalar], Any], t: Scalar) -> Any:
    try:
        return unchanging(lambda: function(t), what)
    except (TypeError, AttributeError) as error:
        raise UnsupportedError("this cannot be traced over time", where=what, got=str(error), fix=TRACED) from error


def _with_mass(inertia: Inertia, mass: Scalar) -> Inertia:
    """Of a body of the same shape and another density; one without mass stays so."""
    if is_zero(inertia.mass):
        return inertia
    share = mass / inertia.mass
    return Inertia.of(share * value for value in inertia)


def _advanced(model: Model, q: Sequence[Scalar], rates: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
    """q after dt at constant velocities of the leading joints; a floating body turns about a fixed axis."""
    joints = [
        x + dt * y for x, y in zip(q[7 if model.floating else 0 :], rates[6 if model.floating else 0 :], strict=True)
    ]
    if not model.floating:
        return joints
    origin = Vector(*q[:3]) + model.transform(1, q).outward(Vector(*rates[:3])) * dt
    half = [0.5 * dt * value for value in rates[3:6]]
    angle = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2] + TINY)
    share = sin(angle) / angle
    turned = quaternion_product(q[3:7], [*(share * value for value in half), cos(angle)])
    return model.normalised([*origin, *turned, *joints])
