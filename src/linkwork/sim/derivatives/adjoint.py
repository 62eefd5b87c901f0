"""The adjoint time loop: derivatives of a weighted sum of records, from the last step back to the first.

A bar is the derivative of the sum with respect to a state, held input or constant. A step of the adjoint is a program
like any other, so the loops of all back ends run it. Its rows:

    bars: of s | of the constants | of the held inputs of one step          computed, from the last step to the first
    t | dt                                                                  counted backwards, so dt is negative
    held: x, earlier rates | the held inputs | weights of the parts of x    as they were at the step
    constants
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...codegen.optimised import optimised
from ...codegen.schemes import OwnStep, Scheme
from ...codegen.timeloop import TimeLoop
from ...constraints import ConstraintEquations
from ...constraints.projection import closer, keeping
from ...derive import vjp
from ...formulations import Problem
from ...model import NumberInput, with_numbers
from ...pipeline import tangents
from ...program import Port, Program, trace
from ...program.replay import assembled, input_nodes, replayed, split
from ...scalar import Scalar
from ..plant.constrained import places
from ..plant.plant import Plant
from ..plant.randomisation import varied_numbers
from .transition import transition

BAR = "_bar"


@dataclass(frozen=True)
class Adjoint:
    """Adjoint of a plant that is stepped by a scheme."""

    plant: Plant
    scheme: Scheme

    @property
    def needs_history(self) -> bool:
        """Whether the derivatives of a step depend on the rates of earlier steps.

        Without a projection these enter a step linearly, so that its derivatives do not depend on them.
        """
        return bool(self.scheme.history) and self.plant.projection is not None

    @property
    def s(self) -> int:
        """Size of s: x, and the earlier rates of a multistep scheme."""
        return self.plant.state_size * (1 + self.scheme.history)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Sizes of the bars of s, constants and held inputs."""
        sizes = [sum(port.size for port in self._ports(names)) for names in (self.plant.constants, self.plant.held)]
        return self.s, sizes[0], sizes[1]

    def _ports(self, names: Any) -> list[Port]:
        return [port for port in self.plant.ports if port.name in names]

    @cached_property
    def forward(self) -> TimeLoop:
        """Time loop that records x and, if derivatives depend on them, the rates."""
        plant, ports = self.plant, self.plant.ports
        inputs = split(input_nodes(ports), ports)
        parts = {Port(port.name, port.shape): inputs[port.name] for port in plant.state}
        if self.needs_history:
            parts |= {Port(f"{name}_rate", (len(x),)): x for name, x in replayed(plant.rates, inputs).items()}
        return replace(plant.time_loop(self.scheme, ()), record=optimised(assembled("states", ports, parts)))

    @cached_property
    def later(self) -> TimeLoop:
        """Adjoint loop of all steps except those that start a multistep scheme (``early``)."""
        return self._loop(early=False)

    @cached_property
    def early(self) -> TimeLoop:
        """Adjoint loop of the steps that start a multistep scheme."""
        return self._loop(early=True)

    def _loop(self, early: bool) -> TimeLoop:
        plant, x = self.plant, self.plant.state_size
        held, constants = self._ports(plant.held), self._ports(plant.constants)
        names = ["s", *(port.name for port in (*held, *constants))]
        step = vjp(transition(plant, self.scheme, early), names, ["s"])
        bars = [
            Port(name, (size,)) for name, size in zip(("s_bar", "constants_bar", "held_bar"), self.sizes, strict=True)
        ]
        states = [
            Port("x", (x,)),
            *[Port(f"x{k}", (x,)) for k in range(1, 1 + self.scheme.history) if self.needs_history],
        ]
        weights = [replace(port, name=f"weights of {port.name}") for port in plant.state]
        ports = [*bars, Port("t", ()), Port("dt", ()), *states, *held, *weights, *constants]
        inputs = split(input_nodes(ports), ports)
        s = [value for port in states for value in inputs[port.name]]
        s += [0] * (self.s - len(s))
        step_bars = replayed(step, {**inputs, "s": s, "dt": [-inputs["dt"][0]]})
        s_bar = list(step_bars["s_bar"])
        record_weights = [value for port in weights for value in inputs[port.name]]
        s_bar[:x] = [a + b for a, b in zip(s_bar, record_weights, strict=False)]
        constants_bar = [value for port in constants for value in step_bars[port.name + BAR]]
        summed = [a + b for a, b in zip(inputs["constants_bar"], constants_bar, strict=True)]
        held_bar = [value for port in held for value in step_bars[port.name + BAR]]
        program = optimised(assembled("adjoint", ports, dict(zip(bars, (s_bar, summed, held_bar), strict=True))))
        record = assembled("held_bars", ports, {bars[2]: inputs["held_bar"]})
        sizes = [port.size for port in (*states, *held, *weights)]
        return TimeLoop(
            OwnStep(), program, None, record, sum(self.sizes), tuple(sizes), sum(port.size for port in constants)
        )

    def rows(self, inputs: tuple[str, ...]) -> Program:
        """Return the vector-Jacobian product of a step, with respect to the state before it and some inputs.

        With a unit weight it is a row of the step's Jacobian. ``step_jacobian`` has the rows with respect to state and
        tau, and is faster.
        """

        def make() -> Program:
            return optimised(vjp(transition(self.plant, self.scheme), ["s", *inputs], ["s"]))

        return self.plant.cached(("step vjp", self.scheme, inputs), make)

    @cached_property
    def tangents(self) -> Mapping[str, Program]:
        """Programs of the derivatives of vectors along their tangents."""
        return tangents(self.plant.model, self._numbers)

    @cached_property
    def start_vjp(self) -> Program:
        """Vector-Jacobian product of the initial state, from q, independent velocities and numbers that vary.

        Positions of the dependent joints follow these numbers, by a Newton step that is zero in value.
        """
        plant, model = self.plant, self.plant.model
        numbers = {name: each for name, each in self._numbers.items() if each.placed}

        def run(q: list[Scalar], v: list[Scalar], *values: Any) -> dict[str, Any]:
            sample = with_numbers(model, numbers, dict(zip(numbers, values, strict=True)))
            if numbers and model.constrained:
                q = closer(ConstraintEquations.closing(sample, q), q, keeping(model.mobility.configuration))
            parts: dict[str, Any] = {"q0": q, "v0": v}
            if model.constrained:
                (parts["v0"],) = Problem(sample, "joint_velocities").evaluate(q, v).values()
            return parts | ({"stand": places(sample, sample.expand(q))} if plant.has_contacts else {})

        ports = [Port("q", (model.nq,)), Port("v", (model.nv,))]
        ports += [Port(name, each.shape) for name, each in numbers.items()]
        program = trace("start", run, ports)
        return optimised(vjp(program, [port.name for port in ports], [port.name for port in program.outputs]))

    @property
    def _numbers(self) -> dict[str, NumberInput]:
        return varied_numbers(self.plant.model, self.plant.constants, self.plant.payload)
