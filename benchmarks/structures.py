"""Robots of every structure (loops, springs, moving bases, beams, wheels, rotors, feet): linkwork and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from measure import LINKWORK, ONE_STATE
from mechanisms import Elastic, Own, four_bar, gough_stewart, in_water
from peers import CHECKED, agree, pinocchio_batch, pinocchio_call
from robots import STATES, Case
from systems import systems
from timing import Contender, race, ratio

import linkwork


def structures(rounds: int, budget: float) -> Iterator[dict[str, Any]]:
    """Row after row of what is measured."""

    def measured(
        robot: str,
        what: str,
        method: str,
        error: dict[str, float],
        function: Callable[..., Any],
        inputs: Sequence[np.ndarray],
        peers: Iterable[Contender] = (),
    ) -> dict[str, Any]:
        one = [array[0].copy() for array in inputs]
        for whole, part in zip(_all(function(*inputs)), _all(function(*one)), strict=True):
            agree(f"{robot}, {what}, {ONE_STATE}", whole[:1], part[None])
        batch = Contender(LINKWORK, function, inputs, STATES)
        peers = list(peers)
        times = race([batch, Contender(ONE_STATE, function, one), *peers], rounds, budget)
        ratios = {peer.name: [ratio(times[peer.name], times[own]) for own in (LINKWORK, ONE_STATE)] for peer in peers}
        return {"robot": robot, "what": what, "method": method, "error": error, "times": times, "ratios": ratios}

    for case in (four_bar(), gough_stewart()):
        name, robot = case.name, case.robot
        inverse, forward = robot.inverse_dynamics, robot.forward_dynamics
        q, v, a, tau = case.q, case.v, case.a, case.tau
        error = agree(f"{name}, inverse dynamics", case.motor_forces(), inverse(q, v, a)[:CHECKED])
        if name == "four-bar":
            known, near = case.guesses()

            def both(known: np.ndarray, near: np.ndarray, v: np.ndarray, a: np.ndarray, robot: Any = robot) -> Any:
                return robot.inverse_dynamics(robot.assemble(known, guess=near).q, v, a)

            found = agree(f"{name}, assembly", q, robot.assemble(known, guess=near).q)
            agree(f"{name}, inverse dynamics with assembly", inverse(q, v, a), both(known, near, v, a))
            how = f"assembly, {inverse.label.method}"
            yield measured(name, "inverse dynamics with assembly", how, error, both, (known, near, v, a))
            assembly = lambda known, near, robot=robot: robot.assemble(known, guess=near).q  # noqa: E731
            yield measured(name, "assembly alone", "Newton steps", found, assembly, (known, near))
        yield measured(name, "inverse dynamics", inverse.label.method, error, inverse, (q, v, a))
        (constrained, expected), (given, same) = case.constraint_dynamics(), case.forward_dynamics()
        error = agree(f"{name}, forward dynamics", expected[:, case.independent], forward(q, v, tau)[:CHECKED])
        agree(f"{name}, {given.name}", expected, same)
        peers = constrained, given
        yield measured(name, "forward dynamics", forward.label.method, error, forward, (q, v, tau), peers)

    elastic = Elastic()
    for function in (elastic.robot.hybrid_dynamics, elastic.robot.compile("hybrid_dynamics", method="khalil-elastic")):
        error = elastic.check(*function(*elastic.inputs))
        yield measured("panda-elastic", "hybrid dynamics", function.label.method, error, function, elastic.inputs)

    for name in ("eel", "quadruped"):
        case = Case(Own(name, name))
        function, inputs = case.robot.forward_dynamics, case.inputs("forward_dynamics")
        if name == "eel":
            swimmer = linkwork.load(name)
            forward = swimmer.forward_dynamics
            error = agree("eel, drag", in_water(case, swimmer), forward(*inputs)[:CHECKED])
            yield measured(name, "forward dynamics with drag", forward.label.method, error, forward, inputs)
        parallel, expected = pinocchio_batch(case, "forward_dynamics")
        error = agree(f"{name}, forward dynamics", expected, function(*inputs))
        peers = pinocchio_call(case, "forward_dynamics"), parallel
        yield measured(name, "forward dynamics", function.label.method, error, function, inputs, peers)

    for system in systems():
        method = system.function.label.method
        yield measured(
            system.robot, system.what, method, system.error, system.function, system.inputs, [system.contender]
        )


def _all(results: Any) -> tuple[np.ndarray, ...]:
    return results if isinstance(results, tuple) else (results,)
