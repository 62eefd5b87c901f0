"""One motion, with all that one would like to look at."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import DivergedError, LinkworkError, SimulationWarning, UnsupportedError, at_door, method_at_door
from ..function import Function, Label
from ..model import Model
from ..workspace import Workspace
from .events import by_events
from .options import Options
from .plant.inputs import one_of_names, positive
from .plant.setup import Setup, prepare
from .rollout import USER, run
from .schemes import stability
from .schemes.integrators import INTEGRATORS, Adaptive, schemes
from .trajectory.diagnostics import ENERGIES, WARNING, findings, unbalanced
from .trajectory.outputs import OF_FEET, by_output
from .trajectory.trajectory import Trajectory

PATIENCE = 100_000  # evaluations between two records, and again for each second, after which the integrator is stuck
STEP = 1e-3  # unless another one is asked for
SHARES = (1, 2, 5)  # of a step, tried where energy does not balance


class _StuckError(Exception):
    """At the time it tells."""


def simulate(workspace: Workspace, q0: Any, v0: Any, duration: float, dt: float | None, options: Options) -> Trajectory:
    """One motion from one state; see ``Robot.simulate``."""
    if options.method is not None:
        one_of_names("method of simulation", options.method, INTEGRATORS)
    asked, dt = dt, STEP if dt is None else dt
    duration, dt = positive(duration, "duration"), positive(dt, "dt")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        raise LinkworkError(
            "the duration is not a whole number of steps",
            where="simulate",
            got=f"duration {duration:g}, dt {dt:g}",
            fix=at_door("duration={:g}, or dt={:g}", "--duration {:g}, or --dt {:g}").format(
                max(steps, 1) * dt, duration / max(steps, 1)
            ),
        )
    outputs = all_outputs(workspace.model, options.contacts is not None) if options.outputs is None else options.outputs
    if isinstance(options.contacts, str):
        return by_events(workspace, q0, v0, dt, steps, options, outputs)
    free, outputs = options.method is None and asked is None, tuple(outputs)
    unasked = [name for name in ENERGIES if free and name not in outputs]  # by which the method is judged
    setup = prepare(workspace, q0, v0, steps, dt, options, (*outputs, *unasked))
    if options.outputs is None:
        setup = replace(setup, outputs=(*setup.outputs, *setup.plant.memory))
    if setup.batched:
        raise LinkworkError(
            "simulate makes one motion", where="q0", got=f"{setup.samples} samples", fix="robot.rollout takes batches"
        )
    method, parts, note = _chosen(setup, options.method, asked, dt)
    setup = replace(setup, said=(*setup.said, *note))
    if method not in schemes():
        if options.checkpoint_every is not None:
            raise UnsupportedError(
                f"{method} chooses its own steps, and has no gradients",
                where="checkpoint_every",
                fix=f"a method with a fixed step: {', '.join(schemes())}",
            )
        return _adaptive(setup, method, dt, steps, options)
    attempts = [(method, parts)]
    if free and method != stability.STIFF:
        attempts += [(stability.ROBUST, share * parts) for share in SHARES if (method, share) != (stability.ROBUST, 1)]
    said, why = setup.said, ""
    for k, (method, parts) in enumerate(attempts, 1):  # a motion comes to places that its start knows nothing of
        taken = [f"{why}; taken instead: {method}, dt = {dt / parts:g} s"] if why else []
        setup = replace(setup, said=(*said, *taken))
        more, last = replace(options, every=options.every * parts), k == len(attempts)
        motion = run(setup, method, dt / parts, steps * parts, more, last=last)
        if last or len(motion.t) <= steps // options.every:  # or it was stopped
            break
        arrays = {name: array if name == "t" else array[None] for name, array in motion.arrays.items()}
        if not (balance := unbalanced(setup.plant.model, arrays)):
            break
        why = why or f"with {method}, dt = {dt / parts:g} s, the energy balance is {balance}"
    for name in unasked:
        del motion.arrays[name]
    return motion


def all_outputs(model: Model, stands: bool) -> tuple[str, ...]:
    """Outputs recorded by default, in addition to the memory of a controller."""
    return (
        "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "work",
        *["momentum"] * any(body.inertia.mass for body in model.bodies),
        *["loop_residual"] * bool(model.loops),
        *["commands"] * bool(model.commands.size),
        *(OF_FEET if stands else ()),
        *(("loop_rates", "constraint_forces") if model.n_located > model.nv else ()),
    )  # fmt: skip


def _chosen(setup: Setup, method: str | None, step: float | None, dt: float) -> tuple[str, int, list[str]]:
    """The method, into how many each step is parted, and what to say of it: what was asked for; where nothing was, what
    bears the modes of the motion."""
    wanted = method or (stability.ROBUST if setup.plant.stands else stability.METHOD)
    if wanted not in schemes() or (method is not None and step is not None):
        return wanted, 1, []
    rate = stability.too_fast(setup, wanted, dt, stability.LOSS if step is None else 1.0)
    if not rate:
        return wanted, 1, []
    among = (method,) if method is not None else (wanted, stability.ROBUST, stability.STIFF)
    found = stability.bearable(setup, among, dt, parted=step is None)
    if found is None:
        return wanted, 1, []  # the run warns
    taken = f"taken instead: {found[0]}" + (f", dt = {dt / found[1]:g} s" if found[1] > 1 else "")
    return *found, [f"{stability.story(wanted, dt, rate)}; {taken}"]


def _adaptive(setup: Setup, method: str, dt: float, steps: int, options: Options) -> Trajectory:
    """By SciPy's integrators, which choose their own steps; ``dt`` is that of the records and of held inputs."""
    scheme, every, tolerance = INTEGRATORS[method].scheme, options.every, options.tolerance
    assert isinstance(scheme, Adaptive)  # so a method without a scheme of the time loop is made
    try:
        from scipy.integrate import solve_ivp
    except ImportError as error:
        raise UnsupportedError(
            f"{method} needs SciPy",
            where="simulate",
            fix=f"pip install 'linkwork[scipy]', or {method_at_door('rk4')}",
        ) from error
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
                found = solve_ivp(slope, (t, end), x, args=(k,), **how)
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
                + (", or rk4 through a singular position of the loops" if model.loops else ""),
                sample=None, step=k, time=t, q=q, v=v,
            )  # fmt: skip
        t, x = end, closed(end, after, k)
    arrays = {name: np.stack([row[name] for row in rows]) for name in setup.outputs}
    times = dt * every * np.arange(len(rows))
    notes = [*setup.notes, f"steps of the integrator's choice, tolerance {tolerance:g}, {evaluations} evaluations"]
    closeness = plant.parts(x).get("closeness")
    batch = {"t": times, **{name: array[None] for name, array in arrays.items()}}
    for finding in findings(model, batch, None if closeness is None else closeness[None]):
        warnings.warn(finding, SimulationWarning, stacklevel=USER)
        notes.append(WARNING + finding)
    about = {"robot": model.name, "method": method, "dt": dt, "notes": notes, "units": plant.units}
    return Trajectory({"t": times, **arrays}, plant.entries, **about)
