"""Runs by SciPy's integrators, which choose their own steps."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...errors import DivergedError, UnsupportedError, import_optional, method_at_door
from ...function import Function, Label
from ...notes import Note
from ...options import Options
from ..plant.setup import Setup
from ..run import Run
from ..trajectory.outputs import by_output
from .integrators import INTEGRATORS, Adaptive, schemes

PATIENCE = 100_000  # evaluations between two records, and again for each second, after which the integrator is stuck


class _StuckError(Exception):
    """At the time it tells."""


def run_adaptive(setup: Setup, method: str, dt: float, steps: int, options: Options) -> Run:
    """``dt`` is the step of the records and of held inputs."""
    if options.checkpoint_every is not None:
        raise UnsupportedError(
            f"{method} chooses its own steps, and has no gradients",
            where="checkpoint_every",
            fix=f"a method with a fixed step: {', '.join(schemes())}",
        )
    scheme, every, tolerance = INTEGRATORS[method].scheme, options.every, options.tolerance
    assert isinstance(scheme, Adaptive)  # so a method without a scheme of the time loop is made
    integrate = import_optional("scipy.integrate", "scipy", method, where="simulate", otherwise=method_at_door("rk4"))
    plant, model = setup.plant, setup.plant.model
    label = Label(model.name, "rates", plant.method.name)
    compiled = partial(Function, label=label, backend=options.backend)
    rates, record = compiled(plant.rates), compiled(plant.record(setup.outputs)) if setup.outputs else None
    finish = compiled(plant.finish) if plant.finish is not None else None
    held = [setup.inputs.held[name][0].reshape(-1, *shape) for name, shape in plant.held.items()]
    constants = [setup.inputs.constants[name][0].reshape(shape) for name, shape in plant.constants.items()]

    def given(t: Any, x: np.ndarray, k: int) -> list[Any]:
        return [*plant.parts(x).values(), t, dt, *(rows[min(k, steps - 1)] for rows in held), *constants]

    def closed(t: float, x: np.ndarray, k: int) -> np.ndarray:
        return x if finish is None else np.concatenate([np.ravel(part) for part in finish(*given(t, x, k))])

    def slope(t: float, x: np.ndarray, k: int) -> np.ndarray:
        nonlocal asked
        asked += 1
        if asked > PATIENCE * (1 + dt * every):
            raise _StuckError(t)
        return np.concatenate([np.ravel(part) for part in rates(*given(t, x, k))])

    def jacobian(t: float, x: np.ndarray, k: int) -> np.ndarray:
        slopes = along(*given(t, x, k), *plant.parts(np.eye(len(x))).values())
        return np.concatenate([part.reshape(len(x), -1) for part in slopes], axis=1).T

    along = compiled(plant.along(plant.rates)) if scheme.implicit else rates
    how = {"method": scheme.solver, "rtol": max(tolerance, 3e-14), "atol": tolerance}
    how |= {"jac": jacobian} if scheme.implicit else {}
    x, rows, t, evaluations, asked = setup.x0[0], [], 0.0, 0, 0
    # Held inputs jump from step to step, which no smooth integrator should have to find out by itself.
    stride = 1 if held else every
    for k in range(0, steps + 1, stride):
        if k % every == 0:
            rows.append(by_output(setup.outputs, record(*given(t, x, k)) if record else ()))
        if k + stride > steps:
            break
        end = (k + stride) * dt
        asked, why = 0, ""
        with np.errstate(all="ignore"):
            try:
                found = integrate.solve_ivp(slope, (t, end), x, args=(k,), **how)
                after, why = found.y[:, -1], "" if found.success else found.message
            except _StuckError as stuck:
                after, why = x, f"it comes no farther than t = {stuck.args[0]:.6g} s by ever smaller steps"
        evaluations += asked
        if why or not np.isfinite(after).all():
            q, v = plant.reported(x)
            raise DivergedError(
                f"the integrator gave up after t = {t:g} s: {why or 'the motion is not finite'}",
                where=f"robot {model.name!r}, {method}",
                got=f"q = {q}, v = {v}",
                fix=f"a looser tolerance, weaker gains, {method_at_door('rosenbrock')} for stiff springs"
                + (", or rk4 through a singular position of the loops" if model.constrained else ""),
                sample=None, step=k, time=t, q=q, v=v,
            )  # fmt: skip
        t, x = end, closed(end, after, k)
    batch = {name: np.stack([row[name] for row in rows])[None] for name in setup.outputs}
    run = Run(setup, method, dt, options, fixed=False, arrays={"t": dt * every * np.arange(len(rows)), **batch})
    text = f"steps of the integrator's choice, tolerance {tolerance:g}, {evaluations} evaluations"
    run.notes.append(Note("adaptive-steps", text, values={"tolerance": tolerance, "evaluations": evaluations}))
    closeness = plant.parts(x).get("closeness")
    run.closeness = None if closeness is None else closeness[None]
    return run
