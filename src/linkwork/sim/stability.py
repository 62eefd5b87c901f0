"""Is the step short enough? What the method makes of the fastest modes of the motion at its start."""

from __future__ import annotations

import numpy as np

from ..program import interpret
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
        jacobian = _jacobian(setup, state, dt)
        if not np.isfinite(jacobian).all():
            return ""
        modes = np.linalg.eigvals(jacobian)
        with np.errstate(over="ignore"):
            growth = AMPLIFICATION[method](modes * dt) / np.maximum(1.0, np.abs(np.exp(modes * dt)))
        worst = int(np.argmax(growth))
        if growth[worst] > 1 + GROWTH:
            rate = abs(modes[worst])
            return (
                f"dt = {dt:g} s is too long for {method}: at the start the robot has motions as fast as {rate:.3g} 1/s"
                f" (stiff friction, springs, limits, contact or gains), which the method makes grow;"
                f" try dt = {_round(0.2 / rate):g}, a larger friction_width, or method='implicit'"
            )
    return ""


def _round(dt: float) -> float:
    """Down to 1, 2 or 5 times a power of ten."""
    power = 10 ** np.floor(np.log10(dt))
    return max(k * power for k in (1, 2, 5) if k * power <= dt)


def _jacobian(setup: Setup, x: np.ndarray, dt: float) -> np.ndarray:
    """d rates / d x by complex steps: exact, and all columns at once."""
    plant, n = setup.plant, len(x)
    turned = x + 1e-30j * np.eye(n)
    cuts = np.cumsum([port.size for port in plant.ports[: 2 + plant.works]])[:-1]
    parts = np.split(turned, cuts, axis=-1)
    if plant.works:
        parts[-1] = parts[-1][:, 0]
    held = [setup.inputs.held[name][0, 0].reshape(shape) for name, shape in plant.held.items()]
    constants = [setup.inputs.constants[name][0].reshape(shape) for name, shape in plant.constants.items()]
    results = interpret(plant.rates, [*parts, np.array(0.0), np.array(dt), *held, *constants])
    return np.imag(np.concatenate([part.reshape(n, -1) for part in results], axis=1)).T / 1e-30


def _runge_kutta(z: np.ndarray) -> np.ndarray:
    return np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))))


def _adams_bashforth(z: np.ndarray) -> np.ndarray:
    """The largest root of r^4 - r^3 = z/24 (55 r^3 - 59 r^2 + 37 r - 9)."""
    return np.array([np.abs(np.roots([1, -1 - 55 * x, 59 * x, -37 * x, 9 * x])).max() for x in z / 24])


def _semi_implicit_euler(z: np.ndarray) -> np.ndarray:
    """Of x'' = (z + z*) x' - |z|^2 x, a mode and its conjugate; real modes are taken for friction."""
    alone = np.imag(z) == 0
    damping, stiffness = np.where(alone, 1, 2) * np.real(z), np.where(alone, 0, np.abs(z) ** 2)
    steps = (np.array([[1 - k, 1 + d], [-k, 1 + d]]) for d, k in zip(damping, stiffness, strict=True))
    return np.array([np.abs(np.linalg.eigvals(step)).max() for step in steps])


AMPLIFICATION = {
    "rk4": _runge_kutta,
    "adams-bashforth-4": _adams_bashforth,
    "semi-implicit-euler": _semi_implicit_euler,
}
