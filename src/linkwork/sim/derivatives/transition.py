"""A whole step of a scheme as one program, so that it can be differentiated.

Its inputs are those of the plant's programs, with the state as one port ``s`` in front: x and then, of a multistep
scheme, the rates of earlier steps, the latest first. Its output is s after the step. A step begins with the sampled
functions that are due. They change nothing that they depend on, so a step has the same derivatives after them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...codegen.schemes import AdamsBashforth, Arithmetic, Combination, OwnStep, Rosenbrock, RungeKutta, Scheme
from ...program import Port, Program
from ...program.replay import assembled, input_nodes, replayed, split
from ..plant.plant import Plant

NUMBERS = Arithmetic(float, operator.add, operator.mul, lambda a, b, c: a * b + c)

Flat = list[Any]
Rates = Callable[[Flat, Any], Flat]


def transition(plant: Plant, scheme: Scheme, early: bool = False) -> Program:
    """Return the program of a step; ``early`` is for the steps that start a multistep scheme."""
    size, history = plant.state_size, scheme.history
    ports = [Port("s", (size * (1 + history),)), *plant.ports[len(plant.state) :]]
    inputs = split(input_nodes(ports), ports)
    x, *earlier = (inputs["s"][k : k + size] for k in range(0, size * (1 + history), size))
    t, dt = inputs["t"][0], inputs["dt"][0]

    if plant.sampled:
        values = plant.after_samples(scheme, {**inputs, **split(x, plant.state)})
        x = [value for port in plant.state for value in values[port.name]]

    def run(program: Program, x: Flat, t: Any) -> Flat:
        parts = replayed(program, {**inputs, **split(x, plant.state), "t": [t]})
        return [value for part in parts.values() for value in part]

    def rates(x: Flat, t: Any) -> Flat:
        return run(plant.rates, x, t)

    match scheme:
        case OwnStep() | Rosenbrock():
            after, first = run(plant.step_program(scheme), x, t), []
        case RungeKutta():
            after, first = stages(scheme, rates, x, t, dt)
        case AdamsBashforth() if early:
            after, first = stages(scheme.start, rates, x, t, dt)
        case AdamsBashforth():
            first = rates(x, t)
            after = combined(scheme.step, x, [first, *earlier], dt)
    if plant.projection is not None and not isinstance(scheme, OwnStep):
        after = run(plant.projection, after, t)
    latest = [value for part in [first, *earlier][:history] for value in part]
    return assembled("transition", ports, {ports[0]: [*after, *latest]})


def stages(scheme: RungeKutta, rates: Rates, x: Flat, t: Any, dt: Any) -> tuple[Flat, Flat]:
    """Return x after a step, and the rates at its beginning."""
    slopes = [rates(x, t)]
    for node, place in scheme.stages:
        slopes.append(rates(combined(place, x, slopes, dt), t + node * dt))
    return combined(scheme.step, x, slopes, dt), slopes[0]


def combined(combination: Combination, x: Flat, slopes: list[Flat], dt: Any) -> Flat:
    """Return a linear combination of x and rates."""
    share = float(combination.share) * dt
    return [combination(value, lambda n, k=k: slopes[n][k], share, NUMBERS) for k, value in enumerate(x)]
