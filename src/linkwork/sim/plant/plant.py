"""A robot and everything that acts on it, as programs for the time loop.

The state x has, in this order: positions q; velocities v of all joints; the memory of the controller; the work done on
the robot, if it is recorded; memory, outputs and countdowns of functions with a sample time; of robots with loops the
closeness to a singular position and its time; with contacts, those of the previous step and their places. A Rosenbrock
step solves for the first four, in this order. All programs take the rows of ``codegen.timeloop``: x, t, dt, inputs held
over a step, constants of a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from ...codegen.optimised import optimised
from ...codegen.schemes import OwnStep, Rosenbrock, Scheme
from ...codegen.timeloop import Sample, TimeLoop
from ...constraints import RegularSaddle
from ...constraints.equations import place_sizes
from ...derive import jvp, vjp
from ...formulations import Method
from ...model import Model
from ...notes import Note
from ...program import Port, Program, interpret, trace
from ...program.replay import assembled, input_nodes, replayed, split
from ...scalar import Scalar
from ...workspace import Cache
from ..schemes import rosenbrock
from ..trajectory.outputs import entries, units
from .constrained import BEFORE, CONTACTS, ConstrainedInstant, SwitchedInstant, places_at
from .instant import GAIN, MEMORY, SAMPLED, Instant
from .sampled import Sampled, acting, state_ports

CORRECTIONS = 2  # projections of a state of semi-implicit Euler before it is recorded

T = TypeVar("T")


@dataclass(frozen=True)
class Plant:
    """A robot, its inputs and the functions that act on it.

    Inputs are called "tau", "commands", "contacts", "reference" (rows q, v, a), a name that ``is_varied``, "gain NAME"
    or "wrench FRAME".

    Attributes:
        model: The robot.
        method: Method of forward dynamics, or of constrained dynamics if the robot has loops or contacts.
        held: Shapes of the inputs that are held over each step, by name.
        constants: Shapes of the inputs that are constant for a sample, by name.
        controller: Program that computes tau; without one tau is an input, or zero. See ``user_functions``.
        wrenches: Program of the wrench on each frame; None where the wrench is an input.
        commands: Program of the commands; they are added to those that are an input.
        payload: Frame that carries the payload.
        records_work: Whether work is part of the state.
        own_outputs: Program of the outputs of the user's own.
        own_entries: Names of the entries of their arrays, none of those that are one number.
        programs: What is kept for this plant, and for the same with other outputs of the user's own.
        sampled: Functions with a sample time; the first may be a controller.
        reference: Program of the reference of sampled functions; None where it is an input.
    """

    model: Model
    method: Method
    held: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    controller: Program | None = None
    wrenches: Mapping[str, Program | None] = field(default_factory=dict)
    commands: Program | None = None
    payload: str = ""
    records_work: bool = False
    own_outputs: Program | None = None
    own_entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    programs: Cache[Hashable, Any] = field(default_factory=Cache, repr=False, compare=False)
    sampled: tuple[Sampled, ...] = ()
    reference: Program | None = None

    # -- the state -------------------------------------------------------------------------------------------------

    @cached_property
    def state(self) -> list[Port]:
        """Parts of the state."""
        model = self.model
        ports = [Port("q", (model.nq,)), Port("v", (model.coordinates.nv,))]
        ports += [Port(MEMORY + name, shape) for name, shape in self._continuous_memory.items()]
        if self.records_work:
            ports.append(Port("work", ()))
        ports += state_ports(self.sampled)
        if model.constrained:
            ports.append(Port("closeness", (2,)))
        if self.has_contacts:
            ports += [Port(BEFORE, (len(model.switched),)), Port("stand", (sum(place_sizes(model)),))]
        return ports

    @property
    def has_contacts(self) -> bool:
        """Whether contacts with the ground are an input."""
        return CONTACTS in self.held or CONTACTS in self.constants

    @property
    def has_constraints(self) -> bool:
        """Whether loops or contacts constrain the motion."""
        return self.model.constrained or self.has_contacts

    @cached_property
    def memory(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the controller's states, and of memory and outputs of sampled functions, by name."""
        return {
            **self._continuous_memory,
            **{name: shape for each in self.sampled for name, shape in each.shapes.items()},
        }

    def part_of(self, name: str) -> str:
        """Name in the state of an entry of ``memory``."""
        return (MEMORY if name in self._continuous_memory else SAMPLED) + name

    def held_action(self, values: Mapping[str, Any], action: str) -> list[Scalar] | None:
        """Tau or commands that a sampled controller holds; None without one."""
        return acting(self.sampled, self.model, values, action)

    def sampled_start(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """Initial memory of sampled functions, from q and v of all joints (samples, n)."""
        v = v[:, list(self.model.mobility.independent)]
        given = {name.removeprefix(GAIN) for name in (*self.held, *self.constants) if name.startswith(GAIN)}
        return {name: values for each in self.sampled for name, values in each.start(q, v, given).items()}

    @cached_property
    def _continuous_memory(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the states that are integrated with the motion, by name."""
        ports = self.controller.inputs if self.controller is not None else ()
        return {port.name.removeprefix(MEMORY): port.shape for port in ports if port.name.startswith(MEMORY)}

    @property
    def controller_commands(self) -> bool:
        """Whether the controller returns commands."""
        held = any(each.acts and "commands" in each.function.outputs for each in self.sampled)
        return held or (self.controller is not None and any(x.name == "commands" for x in self.controller.outputs))

    @property
    def ports(self) -> list[Port]:
        """Inputs of all programs."""
        inputs = [Port(name, shape) for name, shape in (*self.held.items(), *self.constants.items())]
        return [*self.state, Port("t", ()), Port("dt", ()), *inputs]

    @cached_property
    def state_size(self) -> int:
        """Number of entries of the state."""
        return sum(port.size for port in self.state)

    def initial_state(
        self, q: np.ndarray, v: np.ndarray, memory: Mapping[str, np.ndarray], geometry: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """Return x (samples, state_size) from q and v of all joints (samples, n).

        Memory may be shared by samples. ``geometry``: see ``varied_geometry``.
        """
        x = np.zeros((len(q), self.state_size))
        parts = self.parts(x)
        parts["q"][:], parts["v"][:] = q, v
        for name, values in memory.items():
            parts[self.part_of(name)][:] = values
        if self.model.constrained:
            parts["closeness"][:, 0] = 1.0  # as far from singular as home
        self.place_contacts(parts, geometry)
        return x

    def place_contacts(self, parts: Mapping[str, np.ndarray], geometry: Mapping[str, np.ndarray]) -> None:
        """Set the places of the contacts to where q has them."""
        if self.has_contacts:
            parts["stand"][:] = places_at(self.model, parts["q"], geometry)

    def parts(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return views of the parts of the state (..., state_size), by name."""
        cuts = np.cumsum([port.size for port in self.state])[:-1]
        split = np.split(x, cuts, axis=-1)
        return {
            port.name: part.reshape(x.shape[:-1] + port.shape) for part, port in zip(split, self.state, strict=True)
        }

    def positions_and_velocities(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v as they are recorded: v of the independent joints."""
        parts = self.parts(x)
        return parts["q"], parts["v"][..., list(self.model.mobility.independent)]

    # -- programs --------------------------------------------------------------------------------------------------

    @property
    def rates(self) -> Program:
        """Program of dx/dt."""
        return self.cached("rates", lambda: self._trace("rates", self.state_rates))

    def state_rates(self, instant: Instant) -> dict[str, Any]:
        """Return dx/dt by parts of the state."""
        instant, model = instant.after_impact, self.model
        rates = {"q": model.coordinates.rates(instant.q, instant.rates), "v": instant.accelerations}
        rates |= {port.name: np.zeros(port.shape, int).tolist() for port in state_ports(self.sampled)}
        rates |= {"closeness": [0, 0], "stand": [0] * sum(place_sizes(model)), BEFORE: [0] * len(model.switched)}
        return self._state({**rates, **instant.memory_rates}, lambda: instant.power(instant.tau))

    @property
    def step(self) -> Program:
        """Program of a step of semi-implicit Euler: first the velocities, then with them the positions.

        Friction, which may be stiff, acts at the new velocities. The memory advances by its rates at the beginning.
        """

        def run(at: Instant) -> Mapping[str, Any]:
            parts = {**at.next_state, **at.next_memory, **self._sampled_end(at)}
            return self._state(parts, lambda: at.work + at.dt * at.power(at.tau) + at.step_work)

        return self.cached("step", lambda: self._trace("step", run))

    def step_program(self, scheme: OwnStep | Rosenbrock) -> Program:
        """Return the program of a whole step; ``projection`` follows a step of a Rosenbrock method."""
        if isinstance(scheme, OwnStep):
            return self.step
        step = partial(rosenbrock.next_state, self, scheme=scheme)
        return self.cached(("step", scheme), lambda: self._trace("rosenbrock", step))

    @property
    def projection(self) -> Program | None:
        """Program that projects x to unit quaternions and satisfied constraints, and advances the memory of sampled
        functions; None where there is nothing of this kind."""
        if not (self.model.coordinates.quaternions or self.has_constraints or self.sampled):
            return None

        def run(at: Instant) -> Mapping[str, Any]:
            parts = {**at.values, **at.projected, **self._sampled_end(at)}
            return self._state(parts, lambda: at.work + at.projection_work)

        return self.cached("finish", lambda: self._trace("finish", run))

    def _sampled_end(self, at: Instant) -> dict[str, Any]:
        """Parts of sampled functions at the end of a step."""
        parts = {port.name: at.values[port.name] for port in state_ports(self.sampled)}
        return parts | {name: part for each in self.sampled for name, part in each.advanced(at.values, at.dt).items()}

    def _samples(self, project: bool) -> tuple[Sample, ...]:
        """Outputs and next memory of each sampled function, as programs; they see the state that is recorded."""
        names = [port.name for port in self.state]
        first = np.cumsum([0, *(port.size for port in self.state)]).tolist()
        return tuple(
            Sample(
                self._trace(f"sample {each.name}", partial(self._sampled, each, project)),
                first[names.index(each.held_ports[0].name)],
                first[names.index(each.countdown)],
            )
            for each in self.sampled
        )

    def after_samples(self, scheme: Scheme, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the rows of all programs by name, as flat lists, after the sampled functions that are due."""
        values = dict(values)
        for each in self.time_loop(scheme, ()).samples:
            values |= replayed(each.program, values)
        return values

    def _sampled(self, each: Sampled, project: bool, at: Instant) -> dict[str, Any]:
        return each.sampled(self._corrected(at) if project else at)

    @cached_property
    def contact_terms(self) -> Program:
        """Program of the terms that ``events`` needs."""
        return self._trace("ground", lambda at: SwitchedInstant(self, at.values).contact_terms)

    def tangent(self, program: Program) -> Program:
        """Return the derivative of a program's results along a direction of x: the same inputs, then dx."""
        names = [port.name for port in self.state]
        return self.cached(("tangent", program.name), lambda: jvp(program, names, names))

    def _state(self, parts: Mapping[str, Any], work: Callable[[], Scalar]) -> dict[str, Any]:
        """Return the parts that this plant has, in their order."""
        return {port.name: work() if port.name == "work" else parts[port.name] for port in self.state}

    def record(self, outputs: tuple[str, ...], project: bool = False) -> Program:
        """Return the program that computes outputs from x.

        With ``project``, x is projected first, under the contacts of the previous step: so a record does not depend on
        what follows.
        """

        def run(at: Instant) -> Mapping[str, Any]:
            at = self._corrected(at) if project else at
            return {name: at.output(name) for name in outputs}

        return self._trace("record", run)

    def _corrected(self, at: Instant) -> Instant:
        """The same instant, projected."""
        for _ in range(CORRECTIONS):
            before = at.under_previous_contacts
            at = self.instant({**at.values, **before.projected, "work": at.work + before.projection_work})
        return at

    def time_loop(self, scheme: Scheme, outputs: tuple[str, ...], dtype: str = "float64") -> TimeLoop:
        """Return the time loop of a scheme that records these outputs."""
        key = ("loop", scheme, outputs, self.own_outputs and self.own_outputs.digest)
        loop = self.cached(key, lambda: self._time_loop(scheme, outputs))
        return loop if dtype == loop.dtype else self.cached((*key, dtype), lambda: replace(loop, dtype=dtype))

    def record_vjp(self, scheme: Scheme, recorded: tuple[str, ...], outputs: tuple[str, ...]) -> Program:
        """Return the vector-Jacobian product of some recorded outputs, with respect to x before the sampled functions
        that are due, held inputs and constants."""

        def make() -> Program:
            names = [port.name for port in self.ports if port.name not in ("t", "dt")]
            record = self.time_loop(scheme, recorded).record
            if self.sampled:
                results = replayed(record, self.after_samples(scheme, split(input_nodes(self.ports), self.ports)))
                record = assembled("record", self.ports, {port: results[port.name] for port in record.outputs})
            return optimised(vjp(record, names, outputs))

        own = self.own_outputs and self.own_outputs.digest
        return self.cached(("record vjp", scheme, recorded, outputs, own), make)

    def _time_loop(self, scheme: Scheme, outputs: tuple[str, ...]) -> TimeLoop:
        unprojected = isinstance(scheme, OwnStep)  # only what is recorded is projected
        project = unprojected and self.has_constraints
        if isinstance(scheme, OwnStep | Rosenbrock):
            loop_scheme, advance = OwnStep(), self.step_program(scheme)
        else:
            loop_scheme, advance = scheme, self.rates
        return TimeLoop(
            loop_scheme,
            advance,
            None if unprojected else self.projection,
            self.record(outputs, project=project),
            self.state_size,
            tuple(math.prod(shape) for shape in self.held.values()),
            sum(math.prod(shape) for shape in self.constants.values()),
            samples=self._samples(project),
        )

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` returned for this key at its first use; programs and functions of a plant are kept."""
        if key not in self.programs:
            self.programs[key] = make()
        return self.programs[key]

    @cached_property
    def entries(self) -> dict[str, tuple[str, ...]]:
        """Names of the entries of outputs."""
        return {**entries(self.model, self.memory), **self.own_entries}

    @cached_property
    def own_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the user's own outputs, by name."""
        return {port.name: port.shape for port in self.own_outputs.outputs} if self.own_outputs is not None else {}

    @cached_property
    def units(self) -> dict[str, tuple[str, ...]]:
        """Units of the entries of outputs."""
        return units(self.model)

    @property
    def step_warnings(self) -> Cache[Any, Note | None]:
        """Warning, or None, about a step length by (method, dt, gains and parameters); see ``stability.warning``."""
        return self.cached("warnings", Cache)

    @cached_property
    def home_pivots(self) -> list[float]:
        """Pivots of the constraint equations at home, with which closeness to a singular position is compared."""
        return self._evaluated_system(self.model, np.array(self.model.home), lambda system: system.pivots).tolist()

    def distance_from_singular(self, model: Model, q: np.ndarray) -> float:
        """Return the distance from singular positions of the loops relative to home; NaN at a singular position.

        ``model``: the robot with the parameters of a sample.
        """
        with np.errstate(all="ignore"):
            closeness = self._evaluated_system(model, q, lambda system: system.closeness(self.home_pivots))
            return 1 / np.sqrt(closeness.max())

    def _evaluated_system(
        self, model: Model, q: np.ndarray, values: Callable[[RegularSaddle], list[Scalar]]
    ) -> np.ndarray:
        """Values of the saddle-point system at q."""

        def run(q: list[Scalar]) -> Mapping[str, Any]:
            return {"numbers": values(self.method.function.system(model, model.expand(q)))}

        return interpret(trace("loops", run, [Port("q", (model.nq,))]), [q])[0]

    def instant(self, values: Mapping[str, Any]) -> Instant:
        """Return the plant at one instant: state and inputs by name."""
        if self.has_contacts:
            return SwitchedInstant(self, values)
        return ConstrainedInstant(self, values) if self.model.constrained else Instant(self, values)

    def _trace(self, name: str, run: Callable[[Instant], Mapping[str, Any]]) -> Program:
        ports = self.ports
        names = [port.name for port in ports]
        return optimised(trace(name, lambda *values: run(self.instant(dict(zip(names, values, strict=True)))), ports))
