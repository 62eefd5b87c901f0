"""Runs by SciPy's integrators, which choose their own step lengths."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...errors import DivergedError, UnsupportedError, import_optional, method_at_door
from ...function import Function, Label
from ...notes import Note
from ...options import Options
from ..plant.setup import Setup
from ..run import Run
from ..trajectory.outputs import by_output
from .integrators import INTEGRATORS, Adaptive, schemes

PATIENCE = 100_000  # evaluations allowed between two records, and as many more per second between them


class _StuckError(Exception):
    """Raised with the time at which the integrator makes no more progress."""


def run_adaptive(setup: Setup, method: str, dt: float, steps: int, options: Options) -> Run:
    """Run one motion; ``dt`` is the step of the records and of held inputs."""
    if options.checkpoint_every is not None:
        raise UnsupportedError(
            f"{method} chooses its own step lengths, so it has no gradients",
            where="checkpoint_every",
            fix=f"use a method with a fixed step: {', '.join(schemes())}",
        )
    scheme, every, tolerance = INTEGRATORS[method].scheme, options.every, options.tolerance
    assert isinstance(scheme, Adaptive)  # every method is either adaptive or in ``schemes``
    integrate = import_optional("scipy.integrate", "scipy", method, where="simulate", otherwise=method_at_door("rk4"))
    plant, model = setup.plant, setup.plant.model
    label = Label(model.name, "rates", plant.method.name)
    compiled = partial(Function, label=label, backend=options.backend)
    rates, record = compiled(plant.rates), compiled(plant.record(setup.outputs)) if setup.outputs else None
    projection = compiled(plant.projection) if plant.projection is not None else None
    tangent = compiled(plant.tangent(plant.rates)) if scheme.implicit else rates

    def evaluated(function: Function, t: float, x: np.ndarray, k: int) -> np.ndarray:
        return np.concatenate([np.ravel(part) for part in function(*setup.arguments(x, t, dt, k))])

    def slope(t: float, x: np.ndarray, k: int) -> np.ndarray:
        nonlocal count
        count += 1
        if count > PATIENCE * (1 + dt * every):
            raise _StuckError(t)
        return evaluated(rates, t, x, k)

    def jacobian(t: float, x: np.ndarray, k: int) -> np.ndarray:
        columns = tangent(*setup.arguments(x, t, dt, k), *plant.parts(np.eye(len(x))).values())
        return np.concatenate([part.reshape(len(x), -1) for part in columns], axis=1).T

    settings = {"method": scheme.solver, "rtol": max(tolerance, 3e-14), "atol": tolerance}
    settings |= {"jac": jacobian} if scheme.implicit else {}
    x, rows, t, evaluations, count = setup.x0[0], [], 0.0, 0, 0
    # Held inputs jump from step to step, and an adaptive integrator would need many short steps to find each jump.
    stride = 1 if plant.held else every
    for k in range(0, steps + 1, stride):
        if k % every == 0:
            rows.append(by_output(setup.outputs, record(*setup.arguments(x, t, dt, k)) if record else ()))
        if k + stride > steps:
            break
        end = (k + stride) * dt
        count, reason = 0, ""
        with np.errstate(all="ignore"):
            try:
                solution = integrate.solve_ivp(slope, (t, end), x, args=(k,), **settings)
                after, reason = solution.y[:, -1], "" if solution.success else solution.message
            except _StuckError as stuck:
                after, reason = x, f"its steps become ever shorter near t = {stuck.args[0]:.6g} s"
        evaluations += count
        if reason or not np.isfinite(after).all():
            q, v = plant.positions_and_velocities(x)
            raise DivergedError(
                f"the integrator stopped at t = {t:g} s: {reason or 'the motion is not finite'}",
                where=f"robot {model.name!r}, {method}",
                got=f"q = {q}, v = {v}",
                fix=f"a looser tolerance, smaller gains, or {method_at_door('rosenbrock')} for stiff springs"
                + (", or rk4 through a singular position of the loops" if model.constrained else ""),
                sample=None, step=k, time=t, q=q, v=v,
            )  # fmt: skip
        t, x = end, after if projection is None else evaluated(projection, end, after, k)
    batch = {name: np.stack([row[name] for row in rows])[None] for name in setup.outputs}
    run = Run(setup, method, dt, options, fixed=False, arrays={"t": dt * every * np.arange(len(rows)), **batch})
    text = f"step lengths chosen by the integrator, tolerance {tolerance:g}, {evaluations} evaluations"
    run.notes.append(Note("adaptive-steps", text, values={"tolerance": tolerance, "evaluations": evaluations}))
    closeness = plant.parts(x).get("closeness")
    run.closeness = None if closeness is None else closeness[None]
    return run
