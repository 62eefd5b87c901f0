"""Is the step short enough? What the method makes of the fastest modes of the motion at its start."""

from __future__ import annotations

import numpy as np

from ..program import Program, interpret
from .setup import Setup

GROWTH = 1e-3  # per step, beyond that of the motion itself, of what should die out


def warning(setup: Setup, method: str, dt: float) -> str:
    """What is wrong with ``dt`` for this method, in the first state and at rest there; empty if nothing is seen."""
    model, x = setup.plant.model, setup.x0[0]
    if not len(x):
        return ""  # nothing moves
    still = x.copy()
    still[model.nq : model.nq + model.nv] = 0.0
    for state in (x, still):
        slopes = _jacobian(setup, setup.plant.rates, state, dt)
        if not np.isfinite(slopes).all():
            return ""
        modes = np.linalg.eigvals(slopes)
        with np.errstate(over="ignore"):
            own = np.maximum(1.0, np.abs(np.exp(modes * dt)))
        if method in AMPLIFICATION:
            growth = AMPLIFICATION[method](modes * dt) / own
            rate = abs(modes[np.argmax(growth)])
        else:  # friction is taken otherwise than the rest, so only the step itself tells
            growth = np.abs(np.linalg.eigvals(_jacobian(setup, setup.plant.step, state, dt))) / own.max()
            rate = np.abs(modes).max()
        if growth.max() > 1 + GROWTH:
            return (
                f"dt = {dt:g} s is too long for {method}: at the start the robot has motions as fast as {rate:.3g} 1/s"
                f" (stiff friction, springs, limits, contact or gains), which the method makes grow;"
                f" try dt = {_round(0.2 / rate):g}, {BETTER[method]}"
            )
    return ""


def _round(dt: float) -> float:
    """Down to 1, 2 or 5 times a power of ten."""
    power = 10 ** np.floor(np.log10(dt))
    return max(k * power for k in (1, 2, 5) if k * power <= dt)


def _jacobian(setup: Setup, program: Program, x: np.ndarray, dt: float) -> np.ndarray:
    """Of a program's results by x, by complex steps: exact, and all columns at once."""
    plant, n = setup.plant, len(x)
    turned = x + 1e-30j * np.eye(n)
    cuts = np.cumsum([port.size for port in plant.ports[: 2 + plant.works]])[:-1]
    parts = np.split(turned, cuts, axis=-1)
    if plant.works:
        parts[-1] = parts[-1][:, 0]
    held = [setup.inputs.held[name][0, 0].reshape(shape) for name, shape in plant.held.items()]
    constants = [setup.inputs.constants[name][0].reshape(shape) for name, shape in plant.constants.items()]
    results = interpret(program, [*parts, np.array(0.0), np.array(dt), *held, *constants])
    return np.imag(np.concatenate([part.reshape(n, -1) for part in results], axis=1)).T / 1e-30


def _runge_kutta(z: np.ndarray) -> np.ndarray:
    return np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))))


def _adams_bashforth(z: np.ndarray) -> np.ndarray:
    """The largest root of r^4 - r^3 = z/24 (55 r^3 - 59 r^2 + 37 r - 9)."""
    return np.array([np.abs(np.roots([1, -1 - 55 * x, 59 * x, -37 * x, 9 * x])).max() for x in z / 24])


AMPLIFICATION = {"rk4": _runge_kutta, "adams-bashforth-4": _adams_bashforth}
BETTER = {
    "rk4": "or method='implicit'; semi-implicit-euler bears any friction",
    "adams-bashforth-4": "method='rk4' or 'implicit'; semi-implicit-euler bears any friction",
    "semi-implicit-euler": "or method='implicit'",
}
