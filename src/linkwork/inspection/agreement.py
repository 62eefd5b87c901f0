"""Checks of a robot's dynamics: every formulation against the others, and laws of physics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..formulations import Problem, find_method, methods
from ..function import Function
from ..model import describe
from ..program import interpret
from ..robot import Robot, load
from .measure import deviation
from .states import random_states

COMPARED = ("inverse_dynamics", "inertia_matrix", "bias", "forward_dynamics", "hybrid_dynamics")
STATES = 256
EXACT = 1e-12  # tolerance where only the order of operations differs
SOLVED = 1e-9  # tolerance after solving a linear system, whose condition number amplifies rounding errors


def checks(robot: Robot) -> list[dict[str, Any]]:
    """Check a robot's dynamics at random states: formulations against each other, and laws of physics.

    Native code is also checked against the interpreter and against the formulation on Python floats.

    Args:
        robot: The robot.

    Returns:
        A dict for each check: its name, the largest relative deviation, the tolerance, and whether they agree.

    Example:
        >>> all(check["agrees"] for check in linkwork.inspection.checks(robot))  # doctest: +SKIP
        True
    """
    return list(_checks(robot))


def _checks(robot: Robot) -> Iterator[dict[str, Any]]:
    states = random_states(robot, STATES)
    q, v, a = (states[name] for name in ("q", "v", "a"))
    for quantity in COMPARED:
        yield from _compare(robot, quantity, states)
    exact = SOLVED if robot.model.constrained else EXACT
    u = [states["commands"]] * bool(robot.command_names)
    M, force = robot.inertia_matrix(q), robot.inverse_dynamics(q, v, a, *u)
    G = robot.velocity_map(q)[
        ..., list(robot.model.mobility.forced), :
    ]  # velocities of the joints that the forces act on
    total = np.einsum("...ij,...j->...i", M, a) + robot.bias(q, v, *u)
    yield _check("inverse dynamics = M a + bias", deviation(np.einsum("...fi,...f->...i", G, force), total), exact)
    back = robot.forward_dynamics(q, v, force, *u)
    yield _check("forward dynamics of inverse dynamics = a", deviation(back, a), SOLVED)
    yield _check("M is symmetric", deviation(M, M.swapaxes(-1, -2)), 0.0)
    values = np.linalg.eigvalsh(M)
    yield _check("M is positive definite", float(max(0.0, -values.min() / values.max())), 0.0)
    alone = Robot(replace(load(describe(robot.model), friction=False).model, forces=()))
    balance = _power_balance(alone, q, v, a, G)
    yield _check("power v . tau = d/dt (kinetic + potential energy)", balance, exact)


def _compare(robot: Robot, quantity: str, states: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Compare every method of a quantity with the first, with the interpreter, and with itself on Python floats."""
    solved = quantity in ("forward_dynamics", "hybrid_dynamics") or robot.model.constrained
    tolerance = SOLVED if solved else EXACT
    first, among, interpreter, plain = None, 0.0, 0.0, 0.0
    applicable = [method for method in methods(quantity) if not method.refusal(robot.model)]
    for method in applicable:
        function = robot.compile(quantity, method=method.name)
        arguments = [states[port.name] for port in function.program.inputs]
        result, slow = _tuple(function(*arguments)), tuple(interpret(function.program, arguments))
        first = result if first is None else first
        among = max(among, deviation(result, first))
        interpreter = max(interpreter, deviation(result, slow))
        few = [x[:4] for x in arguments]
        plain = max(plain, deviation(tuple(x[:4] for x in result), _plain(robot, function, few)))
    name = quantity.replace("_", " ")
    if len(applicable) > 1:
        yield _check(f"{name}: {len(applicable)} methods agree", among, tolerance)
    yield _check(f"{name}: native = interpreter", interpreter, tolerance)
    yield _check(f"{name}: native = the formulation on plain floats", plain, tolerance)


def _check(name: str, difference: float, tolerance: float) -> dict[str, Any]:
    return {"check": name, "deviation": difference, "tolerance": tolerance, "agrees": difference <= tolerance}


def _plain(robot: Robot, function: Function, arguments: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Run the formulation as it is written, on Python floats."""
    quantity, method = function.label.quantity, function.label.method
    problem = Problem(robot.model, quantity, find_method(quantity, method, robot.model), parameters="standard")
    rows = zip(*(x.tolist() for x in arguments), strict=True)
    results = [problem.evaluate(*row).values() for row in rows]
    return tuple(np.array(column, float) for column in zip(*results, strict=True))


def _tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _power_balance(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray, G: np.ndarray) -> float:
    """Return the deviation of the power from the rate of change of the energy."""
    dq = robot.joint_velocities(q, v)[..., list(robot.model.mobility.configuration)]
    kinetic = robot.kinetic_energy.jvp()(q, v, dq=dq, dv=a)
    potential = robot.potential_energy.jvp()(q, dq=dq)
    power = np.einsum("...fi,...i,...f->...", G, v, robot.inverse_dynamics(q, v, a))
    return deviation(kinetic + potential, power)
