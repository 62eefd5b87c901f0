"""Is the step short enough? What a method makes of the fastest modes of the motion at its start."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..codegen.schemes import OwnStep
from ..program import Program, interpret
from .integrators import schemes
from .setup import Setup

GROWTH = 1e-3  # per step, beyond that of the motion itself, of what should die out
SHARES = (1, 2, 5, 10, 20, 50, 100)  # of a step, that are tried where it is too long
OWN_STEP = "semi-implicit-euler"  # takes friction otherwise than the rest, so only the step itself tells
LOSS = 1e-7  # per step, of what should swing on: borne well, and not only damped away


def too_fast(setup: Setup, method: str, dt: float, loss: float = 1.0) -> float:
    """The rate, 1/s, of a motion that ``dt`` is too long for, in the first state or at rest there; 0 if none is seen.
    Too long, too, is a step that takes more than a share ``loss`` from a motion that hardly loses any by itself."""
    plant, x, scheme = setup.plant, setup.x0[0], schemes()[method]
    still = x.copy()
    still[plant.model.nq : plant.model.nq + plant.model.n_leading] = 0.0
    for state in (x, still) if len(x) else ():
        slopes = _jacobian(setup, plant.rates, state, dt)
        if not np.isfinite(slopes).all():
            return 0.0
        modes = np.linalg.eigvals(slopes)
        with np.errstate(over="ignore", invalid="ignore"):  # of modes beyond all numbers
            exact = np.abs(np.exp(modes * dt))
            own = np.maximum(1.0, exact)
            if not isinstance(scheme, OwnStep):
                growth = scheme.growth(modes * dt)
                swings = np.abs(modes.real) < 0.1 * np.abs(modes.imag)
                growth = np.where(swings & (growth < (1 - loss) * exact), np.inf, growth / own)
                rate = abs(modes[np.argmax(growth)])
            else:  # friction is taken otherwise than the rest, so only the step itself tells
                growth = np.abs(np.linalg.eigvals(_jacobian(setup, plant.step, state, dt))) / own.max()
                rate = np.abs(modes).max()
        if growth.max() > 1 + GROWTH:
            return float(rate)
    return 0.0


def bearable(setup: Setup, method: str, dt: float) -> tuple[str, int] | None:
    """A method and into how many a step must be parted, so that all modes are borne: ``method`` itself if a part is not
    too short, or another one."""
    if not setup.plant.held:  # what is held over a step cannot be parted
        for parts in SHARES:
            for name in dict.fromkeys((method, "rk4")):
                if name != OWN_STEP and not too_fast(setup, name, dt / parts, LOSS):
                    return name, parts
    if not too_fast(setup, OWN_STEP, dt):
        return OWN_STEP, 1
    return None


def warning(setup: Setup, method: str, dt: float) -> str:
    """What is wrong with ``dt`` for this method; empty if nothing is seen. The plant remembers it."""
    checked, case = setup.plant.checked, (method, dt, setup.stiffness)
    if case not in checked:
        rate = too_fast(setup, method, dt)
        advice = " or ".join(_advice(setup, method, dt)) if rate else ""
        checked[case] = f"{story(method, dt, rate)}; take {advice}" if rate else ""
    return checked[case]


def story(method: str, dt: float, rate: float) -> str:
    return (
        f"dt = {dt:g} s is too long for {method}: at the start the robot has motions as fast as {rate:.3g} 1/s"
        f" (stiff friction, springs, limits, contact or gains), which the method makes grow or loses"
    )


def _advice(setup: Setup, method: str, dt: float) -> Iterator[str]:
    found = bearable(setup, method, dt)
    if found is not None:
        name, parts = found
        yield f"method={name!r}" + (f" with dt = {dt / parts:g}" if parts > 1 else "")
    yield "method='implicit'"


def _jacobian(setup: Setup, program: Program, x: np.ndarray, dt: float) -> np.ndarray:
    """Of a program's results by x, by complex steps: exact, and all columns at once."""
    plant, n = setup.plant, len(x)
    parts = plant.parts(x + 1e-30j * np.eye(n)).values()
    held = [setup.inputs.held[name][0, 0].reshape(shape) for name, shape in plant.held.items()]
    constants = [setup.inputs.constants[name][0].reshape(shape) for name, shape in plant.constants.items()]
    results = interpret(program, [*parts, np.array(0.0), np.array(dt), *held, *constants])
    return np.imag(np.concatenate([part.reshape(n, -1) for part in results], axis=1)).T / 1e-30
