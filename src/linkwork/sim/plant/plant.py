"""A robot and all that acts on it, as programs for the time loop.

The state is x = (q, v) with the velocities of all joints, then the memory of the controller, the work done on the robot
if it is asked for and, where loops are closed, how close they came to a singular position, and when; with contacts,
those of the step before, and where they stand. All programs take the rows of ``codegen.timeloop``: x, t, dt, what is
held over a step, what is constant for a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...codegen.optimised import optimised
from ...codegen.schemes import OwnStep, Rosenbrock, Scheme
from ...codegen.timeloop import TimeLoop
from ...constraints import RegularSaddle
from ...constraints.equations import place_sizes
from ...derive import jvp
from ...formulations import Method
from ...model import Model
from ...notes import Note
from ...program import Port, Program, interpret, trace
from ...scalar import Scalar
from ...workspace import Cache
from ..schemes import rosenbrock
from ..trajectory.outputs import entries, units
from .constrained import BEFORE, CONTACTS, ConstrainedNow, SwitchedNow, places_at
from .instant import MEMORY, Now

CORRECTIONS = 2  # of what semi-implicit Euler leaves open, where it is recorded


@dataclass(frozen=True)
class Plant:
    """``held`` and ``constants``: shapes of the inputs by name. They are "tau", "commands", "reference" (samples q, v,
    a), one of VARIED, "gain NAME" of the controller, "wrench FRAME"."""

    model: Model
    method: Method  # of forward dynamics, or of constrained dynamics where loops are closed
    held: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # Programs of functions, see ``acting``.
    controller: Program | None = None  # gives the torque; without it tau is an input, or zero
    wrenches: Mapping[str, Program | None] = field(default_factory=dict)  # by frame; None: an input
    commands: Program | None = None  # of force laws, added to those that are an input
    payload: str = ""  # the frame that carries it
    works: bool = False

    # -- the state -------------------------------------------------------------------------------------------------

    @cached_property
    def state(self) -> list[Port]:
        q, v = Port("q", (self.model.nq,)), Port("v", (self.model.coordinates.nv,))
        memory = [Port(MEMORY + name, shape) for name, shape in self.memory.items()]
        contacts = [
            Port(BEFORE, (len(self.model.switched),)),
            Port("stand", (sum(place_sizes(self.model)),)),
        ] * self.stands
        own = [*[Port("work", ())] * self.works, *[Port("closeness", (2,))] * self.model.constrained]
        return [q, v, *memory, *own, *contacts]

    @property
    def stands(self) -> bool:
        """Are contacts with the ground an input?"""
        return CONTACTS in self.held or CONTACTS in self.constants

    @property
    def held_together(self) -> bool:
        """By loops, or by the ground."""
        return self.model.constrained or self.stands

    @cached_property
    def memory(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the controller's own states, by name."""
        ports = self.controller.inputs if self.controller is not None else ()
        return {port.name.removeprefix(MEMORY): port.shape for port in ports if port.name.startswith(MEMORY)}

    @property
    def commanding(self) -> bool:
        """Does the controller give commands?"""
        return self.controller is not None and any(port.name == "commands" for port in self.controller.outputs)

    @property
    def ports(self) -> list[Port]:
        inputs = [Port(name, shape) for name, shape in (*self.held.items(), *self.constants.items())]
        return [*self.state, Port("t", ()), Port("dt", ()), *inputs]

    @cached_property
    def x(self) -> int:
        """Numbers of the state."""
        return sum(port.size for port in self.state)

    def start(self, q: np.ndarray, v: np.ndarray, memory: Mapping[str, np.ndarray]) -> np.ndarray:
        """x of states (samples, n), with velocities of all joints; ``memory``: of the samples, or one for all."""
        x = np.zeros((len(q), self.x))
        parts = self.parts(x)
        parts["q"][:], parts["v"][:] = q, v
        for name, values in memory.items():
            parts[MEMORY + name][:] = values
        if self.model.constrained:
            parts["closeness"][:, 0] = 1.0  # as far from singular as home
        self.stand(parts)
        return x

    def stand(self, parts: Mapping[str, np.ndarray]) -> None:
        """Contacts begin where they are."""
        if self.stands:
            parts["stand"][:] = places_at(self.model, parts["q"])

    def parts(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """The state (..., x) by name; v of all joints."""
        cuts = np.cumsum([port.size for port in self.state])[:-1]
        split = np.split(x, cuts, axis=-1)
        shaped = (part.reshape(x.shape[:-1] + port.shape) for part, port in zip(split, self.state, strict=True))
        return dict(zip((port.name for port in self.state), shaped, strict=True))

    def reported(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and v as they are recorded: v of the independent joints."""
        parts = self.parts(x)
        return parts["q"], parts["v"][..., list(self.model.mobility.independent)]

    # -- programs --------------------------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Program:
        """x -> dx/dt."""

        return self._trace("rates", self.flow)

    def flow(self, now: Now) -> dict[str, Any]:
        """dx/dt"""
        now = now.flowing
        rates = {"q": self.model.coordinates.rates(now.q, now.rates), "v": now.accelerations, "closeness": [0, 0]}
        rates |= {"stand": [0] * sum(place_sizes(self.model)), BEFORE: [0] * len(self.model.switched)}
        return self._state({**rates, **now.memory_rates}, lambda: now.power(now.tau))

    @cached_property
    def step(self) -> Program:
        """x -> x after dt, by semi-implicit Euler: first the velocities, then with them the positions. Friction, which
        may be stiff, acts at the new velocities. A memory grows as its rates at the beginning tell."""

        def run(now: Now) -> Mapping[str, Any]:
            parts = {**now.stepped, **now.memory_ahead}
            return self._state(parts, lambda: now.work + now.dt * now.power(now.tau) + now.lost_ahead)

        return self._trace("step", run)

    def step_program(self, scheme: OwnStep | Rosenbrock) -> Program:
        """x -> x after dt; ``finish`` puts that of a Rosenbrock method on its manifold."""
        if isinstance(scheme, OwnStep):
            return self.step
        if scheme not in self._steps:
            self._steps[scheme] = self._trace("rosenbrock", lambda now: rosenbrock.stepped(self, now, scheme))
        return self._steps[scheme]

    @cached_property
    def _steps(self) -> dict[Rosenbrock, Program]:
        return {}

    @cached_property
    def finish(self) -> Program | None:
        """x -> x with unit quaternions and closed loops; none where a step in straight lines cannot leave them."""
        if not (self.model.coordinates.quaternions or self.held_together):
            return None
        return self._trace(
            "finish", lambda now: self._state({**now.values, **now.finished}, lambda: now.work + now.lost)
        )

    @cached_property
    def ground(self) -> Program:
        """What the ground meets: see ``events``."""
        return self._trace("ground", lambda now: SwitchedNow(self, now.values).ground)

    @cached_property
    def functions(self) -> dict[Any, Any]:
        """Compiled programs, see ``events``."""
        return {}

    def along(self, program: Program) -> Program:
        """The slopes of a program's results along a direction of x: the same inputs, then dx."""
        if program.name not in self._along:
            names = [port.name for port in self.state]
            self._along[program.name] = jvp(program, names, names)
        return self._along[program.name]

    @cached_property
    def _along(self) -> dict[str, Program]:
        return {}

    def _state(self, parts: Mapping[str, Any], work: Callable[[], Scalar]) -> dict[str, Any]:
        """The parts there are, in their order."""
        return {port.name: work() if port.name == "work" else parts[port.name] for port in self.state}

    def record(self, outputs: tuple[str, ...], finish: bool = False) -> Program:
        """What is recorded of x; ``finish``: of x on its manifold, where the loop leaves it beside: on that of the step
        before, so that x does not depend on what follows."""

        def run(now: Now) -> Mapping[str, Any]:
            for _ in range(CORRECTIONS if finish else 0):
                there = now.arrived
                now = self.now({**now.values, **there.finished, "work": now.work + there.lost})
            return {name: now.output(name) for name in outputs}

        return self._trace("record", run)

    def time_loop(self, scheme: Scheme, outputs: tuple[str, ...]) -> TimeLoop:
        if (scheme, outputs) not in self._loops:
            beside = isinstance(scheme, OwnStep)
            if isinstance(scheme, OwnStep | Rosenbrock):
                written, advance = OwnStep(), self.step_program(scheme)
            else:
                written, advance = scheme, self.rates
            self._loops[scheme, outputs] = TimeLoop(
                written,
                advance,
                None if beside else self.finish,
                self.record(outputs, finish=beside and self.held_together),
                self.x,
                tuple(math.prod(shape) for shape in self.held.values()),
                sum(math.prod(shape) for shape in self.constants.values()),
            )
        return self._loops[scheme, outputs]

    @cached_property
    def _loops(self) -> dict[tuple[Scheme, tuple[str, ...]], TimeLoop]:
        return {}

    @cached_property
    def adjoints(self) -> dict[Scheme, Any]:
        """Time loops backwards that were made, see ``adjoint``."""
        return {}

    @cached_property
    def linear_steps(self) -> dict[tuple[Scheme, str], Any]:
        """Functions that give the slopes of a step, see ``step_jacobian``."""
        return {}

    @cached_property
    def entries(self) -> dict[str, tuple[str, ...]]:
        return entries(self.model, self.memory)

    @cached_property
    def units(self) -> dict[str, tuple[str, ...]]:
        return units(self.model)

    @cached_property
    def checked(self) -> Cache[Any, Note | None]:
        """(method, dt, gains and parameters) -> what was found wrong with it."""
        return Cache()

    @cached_property
    def pivots(self) -> list[float]:
        """Of the loops at home, by which closeness to a singular position is measured."""
        return self._of_loops(np.array(self.model.home), lambda system: system.pivots).tolist()

    def distance(self, q: np.ndarray) -> float:
        """From singular positions of the loops, beside that at home; not a number at one."""
        with np.errstate(all="ignore"):
            return 1 / np.sqrt(self._of_loops(q, lambda system: system.closeness(self.pivots)).max())

    def _of_loops(self, q: np.ndarray, ask: Callable[[RegularSaddle], list[Scalar]]) -> np.ndarray:
        model = self.model

        def run(q: list[Scalar]) -> Mapping[str, Any]:
            return {"numbers": ask(self.method.function.system(model, model.expand(q)))}

        return interpret(trace("loops", run, [Port("q", (model.nq,))]), [q])[0]

    def now(self, values: Mapping[str, Any]) -> Now:
        if self.stands:
            return SwitchedNow(self, values)
        return ConstrainedNow(self, values) if self.model.constrained else Now(self, values)

    def _trace(self, name: str, run: Callable[[Now], Mapping[str, Any]]) -> Program:
        ports = self.ports
        names = [port.name for port in ports]
        return optimised(trace(name, lambda *values: run(self.now(dict(zip(names, values, strict=True)))), ports))
