"""The time loop backwards: what a sum of records times weights owes to each state, held input and constant.

A step of it is a program like any other, so that the loops of all back ends run it. Its rows:

    bars: of s | of the constants | of the held inputs of one step       computed, from the last step to the first
    t | dt                                                               counted backwards, so dt is negative
    held: x, rates before it | the held inputs | weights of parts of x   as they were at the step
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
from ...compose import compile
from ...derive import vjp
from ...function import Function
from ...pipeline import tangents
from ...program import Port, Program
from ...program.replay import assembled, input_nodes, replayed, split
from ..plant.plant import Plant
from .transition import transition

BAR = "_bar"


@dataclass(frozen=True)
class Adjoint:
    """Of a plant that runs by a scheme. ``looks_back``: are the rates of earlier steps among its inputs? Where nothing
    puts x on its manifold, they enter a step as they are, and its slopes do not depend on them."""

    plant: Plant
    scheme: Scheme

    @property
    def looks_back(self) -> bool:
        return bool(self.scheme.history) and self.plant.finish is not None

    @property
    def s(self) -> int:
        return self.plant.x * (1 + self.scheme.history)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of the bars of s, constants, held inputs."""
        sizes = [sum(port.size for port in self._ports(names)) for names in (self.plant.constants, self.plant.held)]
        return self.s, sizes[0], sizes[1]

    def _ports(self, names: Any) -> list[Port]:
        return [port for port in self.plant.ports if port.name in names]

    @cached_property
    def forward(self) -> TimeLoop:
        """The loop that records s: x, and where it counts the rates there."""
        plant, ports = self.plant, self.plant.ports
        given = split(input_nodes(ports), ports)
        parts = {Port(port.name, port.shape): given[port.name] for port in plant.state}
        if self.looks_back:
            parts |= {Port(f"{name}_rate", (len(x),)): x for name, x in replayed(plant.rates, given).items()}
        return replace(plant.time_loop(self.scheme, ()), record=optimised(assembled("states", ports, parts)))

    @cached_property
    def later(self) -> TimeLoop:
        return self._loop(early=False)

    @cached_property
    def early(self) -> TimeLoop:
        """Of the steps that start a scheme that looks back."""
        return self._loop(early=True)

    def _loop(self, early: bool) -> TimeLoop:
        plant, x = self.plant, self.plant.x
        held, constants = self._ports(plant.held), self._ports(plant.constants)
        names = ["s", *(port.name for port in (*held, *constants))]
        step = vjp(transition(plant, self.scheme, early), names, ["s"])
        bars = [
            Port(name, (size,)) for name, size in zip(("s_bar", "constants_bar", "held_bar"), self.sizes, strict=True)
        ]
        states = [Port("x", (x,)), *[Port(f"x{k}", (x,)) for k in range(1, 1 + self.scheme.history) if self.looks_back]]
        weights = [replace(port, name=f"weights of {port.name}") for port in plant.state]
        ports = [*bars, Port("t", ()), Port("dt", ()), *states, *held, *weights, *constants]
        given = split(input_nodes(ports), ports)
        s = [value for port in states for value in given[port.name]]
        s += [0] * (self.s - len(s))
        slopes = replayed(step, {**given, "s": s, "dt": [-given["dt"][0]]})
        of_s = list(slopes["s_bar"])
        own = [value for port in weights for value in given[port.name]]
        of_s[:x] = [a + b for a, b in zip(of_s, own, strict=False)]
        of_constants = [value for port in constants for value in slopes[port.name + BAR]]
        summed = [a + b for a, b in zip(given["constants_bar"], of_constants, strict=True)]
        of_held = [value for port in held for value in slopes[port.name + BAR]]
        program = optimised(assembled("adjoint", ports, dict(zip(bars, (of_s, summed, of_held), strict=True))))
        record = assembled("held_bars", ports, {bars[2]: given["held_bar"]})
        sizes = [port.size for port in (*states, *held, *weights)]
        return TimeLoop(
            OwnStep(), program, None, record, sum(self.sizes), tuple(sizes), sum(port.size for port in constants)
        )

    def rows(self, inputs: tuple[str, ...]) -> Program:
        """From a step's inputs and weights of the state after it to the bars of the state before it and of some inputs:
        with a unit weight, a row of the step's slopes (``step_jacobian`` has those by state and tau, in less time)."""
        if inputs not in self._rows:
            self._rows[inputs] = optimised(vjp(transition(self.plant, self.scheme), ["s", *inputs], ["s"]))
        return self._rows[inputs]

    @cached_property
    def _rows(self) -> dict[tuple[str, ...], Program]:
        return {}

    @cached_property
    def tangents(self) -> Mapping[str, Program]:
        return tangents(self.plant.model)

    @cached_property
    def of_velocities(self) -> Function:
        """Back from the velocities of all joints to positions and those of the independent ones."""
        return compile(self.plant.model, "joint_velocities").vjp()

    def of_records(self, recorded: tuple[str, ...], outputs: tuple[str, ...]) -> Program:
        """From the inputs of a record and the weights of some of its outputs to the bars of x, held inputs and
        constants."""
        if (recorded, outputs) not in self._of_records:
            names = [port.name for port in self.plant.ports if port.name not in ("t", "dt")]
            record = self.plant.time_loop(self.scheme, recorded).record
            self._of_records[recorded, outputs] = optimised(vjp(record, names, outputs))
        return self._of_records[recorded, outputs]

    @cached_property
    def _of_records(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Program]:
        return {}
