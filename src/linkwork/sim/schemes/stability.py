"""Is the step short enough? What a method makes of the fastest modes of the motion at its start."""

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

GROWTH = 1e-3  # per step, beyond that of the motion itself, of what should die out
SHARES = (1, 2, 5, 10, 20, 50, 100)  # of a step, that are tried where it is too long
LOSS = 1e-7  # per step, of what should swing on: borne well, and not only damped away
METHOD, ROBUST, STIFF = "adams-bashforth-4", "rk4", "rosenbrock"  # to choose from
SLOPES = 9  # evaluations of the rates, about, that slopes and linear systems of a Rosenbrock method take as long as


def too_fast(setup: Setup, method: str, dt: float, loss: float = 1.0) -> float:
    """The rate, 1/s, of a motion that ``dt`` is too long for, in the first state or at rest there; 0 if none is seen.
    Too long, too, is a step that takes more than a share ``loss`` from a motion that hardly loses any by itself."""
    plant, scheme = setup.plant, schemes()[method]
    for state in _states(setup):
        step = _modes(setup, plant.step, state, dt) if isinstance(scheme, OwnStep) else None
        if rate := grown(_modes(setup, plant.rates, state, dt), scheme, dt, loss, step):
            return rate
    return 0.0


def grown(modes: Modes, scheme: Scheme, dt: float, loss: float = 1.0, step: Any = None) -> float:
    """The same from the modes of the motion and, of a scheme with a step of its own, those of the step."""
    if not modes.size:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # of modes beyond all numbers
        exact = np.abs(np.exp(modes * dt))
        own = np.maximum(1.0, exact)
        if not isinstance(scheme, OwnStep):
            growth = scheme.growth(modes * dt)
            swings = np.abs(modes.real) < 0.1 * np.abs(modes.imag)
            growth = np.where(swings & (growth < (1 - loss) * exact), np.inf, growth / own)
        else:  # friction is taken otherwise than the rest, so only the step itself tells
            growth = np.abs(step).max(initial=0.0) / own.max()
    spoilt = np.broadcast_to(growth > 1 + GROWTH, modes.shape)
    return float(np.abs(modes[spoilt]).max()) if spoilt.any() else 0.0


def modes_of(slopes: np.ndarray) -> Modes:
    """Eigenvalues; none of slopes that are no numbers."""
    found = np.linalg.eigvals(slopes) if np.isfinite(slopes).all() else np.zeros(0)
    return found.astype(np.complex128)


def _states(setup: Setup) -> tuple[np.ndarray, ...]:
    x, model = setup.x0[0], setup.plant.model
    still = x.copy()
    still[model.nq : model.nq + model.coordinates.nv] = 0.0
    if not len(x):
        return ()
    return (x,) if np.array_equal(x, still) else (x, still)


def bearable(setup: Setup, methods: Sequence[str], dt: float, parted: bool) -> tuple[str, int] | None:
    """Of these methods the one that bears all modes with the least work, and into how many a step must be parted for
    it, if it may be. If swings are too fast to be followed, the stiff one damps them away."""
    methods = [name for name in methods if not (setup.plant.stands and name == STIFF)]
    shares = SHARES if parted and not setup.plant.held else (1,)  # what is held over a step cannot be parted
    tried = [(name, parts) for parts in shares for name in dict.fromkeys(methods)]
    for name, parts in sorted(tried, key=lambda each: each[1] * _work(schemes()[each[0]])):
        if not too_fast(setup, name, dt / parts, LOSS):
            return name, parts
    return (STIFF, 1) if STIFF in methods and not too_fast(setup, STIFF, dt) else None


def _work(scheme: Scheme) -> int:
    return scheme.evaluations + SLOPES * isinstance(scheme, Rosenbrock)


def warning(setup: Setup, method: str, dt: float) -> Note | None:
    """What is wrong with ``dt`` for this method; None if nothing is seen. The plant remembers it."""
    checked, case = setup.plant.checked, (method, dt, setup.stiffness)
    if case not in checked:
        rate = too_fast(setup, method, dt)
        checked[case] = too_long(method, dt, rate, *_advice(setup, method, dt)) if rate else None
    return checked[case]


def too_long(method: str, dt: float, rate: float, fix: str = "", command_fix: str = "") -> Note:
    text = story(method, dt, rate) + (";" if fix else "")
    return Note("step-too-long", text, fix, command_fix, "warning", {"dt": dt, "rate": rate})


def story(method: str, dt: float, rate: float) -> str:
    return (
        f"dt = {dt:g} s is too long for {method}: at the start the robot has motions as fast as {rate:.3g} 1/s"
        f" (stiff friction, springs, limits, contact or gains), which the method makes grow or loses"
    )


def _advice(setup: Setup, method: str, dt: float) -> tuple[str, ...]:
    """What to do, in Python and on the command line."""
    found = bearable(setup, (method, ROBUST, STIFF), dt, parted=True)
    if found is None:
        return ("take a shorter one",)
    name, parts = found
    return tuple(
        f"take {choice}{f' with {step} {dt / parts:g}' if parts > 1 else ''}"
        for choice, step in ((f"method={name!r}", "dt ="), (f"--method {name}", "--dt"))
    )


def _modes(setup: Setup, program: Program, x: np.ndarray, dt: float) -> Modes:
    """Eigenvalues of the slopes of a program's results by x; none where slopes are no numbers."""
    plant = setup.plant
    held = [setup.inputs.held[name][0, 0].reshape(shape) for name, shape in plant.held.items()]
    constants = [setup.inputs.constants[name][0].reshape(shape) for name, shape in plant.constants.items()]
    here = [*plant.parts(x).values(), np.array(0.0), np.array(dt), *held, *constants]
    results = interpret(plant.along(program), [*here, *plant.parts(np.eye(len(x))).values()])
    slopes = np.concatenate([part.reshape(len(x), -1) for part in results], axis=1).T
    return modes_of(slopes)
