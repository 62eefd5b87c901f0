"""Stability of a step: what a method does to the fastest modes of the motion at its start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...codegen.schemes import OwnStep, Rosenbrock, Scheme
from ...notes import Note
from ...program import Program, interpret
from ..plant.setup import Setup
from .integrators import schemes

Modes = NDArray[np.complex128]

GROWTH = 1e-3  # relative growth per step, beyond that of the motion itself, from which on a mode is unstable
SUBSTEPS = (1, 2, 5, 10, 20, 50, 100)  # numbers of parts of a step that are tried where it is too long
LOSS = 1e-7  # relative amplitude per step that an oscillation may lose, so that it is followed and not damped away
METHOD, ROBUST, STIFF = "adams-bashforth-4", "rk4", "rosenbrock"  # defaults to choose from
JACOBIAN_COST = 9  # cost of Jacobian and linear systems of a Rosenbrock step, in evaluations of the rates


def too_fast(setup: Setup, method: str, dt: float, loss: float = 1.0) -> float:
    """Return the rate in 1/s of the fastest mode for which ``dt`` is too long; 0 if there is none.

    Modes are those of the first state, and of rest at its positions. A step is also too long if an oscillation that is
    hardly damped loses more than a share ``loss`` of its amplitude.
    """
    plant, scheme = setup.plant, schemes()[method]
    for state in _states(setup):
        step = _modes(setup, plant.step, state, dt) if isinstance(scheme, OwnStep) else None
        if rate := unstable_rate(_modes(setup, plant.rates, state, dt), scheme, dt, loss, step):
            return rate
    return 0.0


def unstable_rate(modes: Modes, scheme: Scheme, dt: float, loss: float = 1.0, step: Any = None) -> float:
    """Return the rate of the fastest unstable mode; semi-implicit Euler also needs the eigenvalues of its ``step``."""
    if not modes.size:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # very fast modes overflow
        exact = np.abs(np.exp(modes * dt))
        allowed = np.maximum(1.0, exact)
        if not isinstance(scheme, OwnStep):
            growth = scheme.growth(modes * dt)
            oscillates = np.abs(modes.real) < 0.1 * np.abs(modes.imag)
            growth = np.where(oscillates & (growth < (1 - loss) * exact), np.inf, growth / allowed)
        else:  # friction is implicit and the rest explicit, so only the step itself shows its growth
            growth = np.abs(step).max(initial=0.0) / allowed.max()
    unstable = np.broadcast_to(growth > 1 + GROWTH, modes.shape)
    return float(np.abs(modes[unstable]).max()) if unstable.any() else 0.0


def modes_of(jacobian: np.ndarray) -> Modes:
    """Return the eigenvalues of a Jacobian; none if it is not finite."""
    values = np.linalg.eigvals(jacobian) if np.isfinite(jacobian).all() else np.zeros(0)
    return values.astype(np.complex128)


def _states(setup: Setup) -> tuple[np.ndarray, ...]:
    """First state and, if it moves, the same at rest."""
    x, model = setup.x0[0], setup.plant.model
    rest = x.copy()
    rest[model.nq : model.nq + model.coordinates.nv] = 0.0
    if not len(x):
        return ()
    return (x,) if np.array_equal(x, rest) else (x, rest)


def stable_method(setup: Setup, methods: Sequence[str], dt: float, divide: bool) -> tuple[str, int] | None:
    """Return the cheapest of these methods that is stable for all modes, and the number of substeps it needs.

    With ``divide`` false, the step is kept. If no method follows the oscillations, the stiff one damps them.
    """
    methods = [name for name in methods if not (setup.plant.has_contacts and name == STIFF)]
    divisions = SUBSTEPS if divide and not setup.plant.held else (1,)  # inputs held over a step fix the step
    candidates = [(name, count) for count in divisions for name in dict.fromkeys(methods)]
    for name, count in sorted(candidates, key=lambda each: each[1] * _cost(schemes()[each[0]])):
        if not too_fast(setup, name, dt / count, LOSS):
            return name, count
    return (STIFF, 1) if STIFF in methods and not too_fast(setup, STIFF, dt) else None


def _cost(scheme: Scheme) -> int:
    return scheme.evaluations + JACOBIAN_COST * isinstance(scheme, Rosenbrock)


def warning(setup: Setup, method: str, dt: float) -> Note | None:
    """Return the warning that ``dt`` is too long for this method, or None; the plant caches it."""
    cache, key = setup.plant.step_warnings, (method, dt, setup.stiffness_key)
    if key not in cache:
        rate = too_fast(setup, method, dt)
        cache[key] = too_long(method, dt, rate, *_advice(setup, method, dt)) if rate else None
    return cache[key]


def too_long(method: str, dt: float, rate: float, fix: str = "", command_fix: str = "") -> Note:
    """Return the warning that ``dt`` is too long for modes of a rate."""
    text = reason(method, dt, rate) + (";" if fix else "")
    return Note("step-too-long", text, fix, command_fix, "warning", {"dt": dt, "rate": rate})


def reason(method: str, dt: float, rate: float) -> str:
    """Return the sentence that says why ``dt`` is too long."""
    return (
        f"dt = {dt:g} s is too long for {method}: at the start the robot has modes as fast as {rate:.3g} 1/s"
        f" (stiff friction, springs, limits, contact or gains), for which the method is unstable or inaccurate"
    )


def _advice(setup: Setup, method: str, dt: float) -> tuple[str, ...]:
    """Fix in Python, and on the command line."""
    choice = stable_method(setup, (method, ROBUST, STIFF), dt, divide=True)
    if choice is None:
        return ("use a shorter dt",)
    name, count = choice
    return tuple(
        f"use {option}{f' with {step} {dt / count:g}' if count > 1 else ''}"
        for option, step in ((f"method={name!r}", "dt ="), (f"--method {name}", "--dt"))
    )


def _modes(setup: Setup, program: Program, x: np.ndarray, dt: float) -> Modes:
    """Eigenvalues of the Jacobian of a program's results with respect to x; none if it is not finite."""
    plant = setup.plant
    directions = plant.parts(np.eye(len(x))).values()
    results = interpret(plant.tangent(program), [*setup.arguments(x, 0.0, dt), *directions])
    return modes_of(np.concatenate([part.reshape(len(x), -1) for part in results], axis=1).T)
