"""One motion, with all that one would like to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import LinkworkError, at_door
from ..model import Model
from ..notes import Note
from ..options import Options, one_of_names, positive
from ..workspace import Workspace
from .contact.events import by_events
from .plant.setup import Setup, prepare
from .run import Run
from .schemes import stability
from .schemes.adaptive import run_adaptive
from .schemes.fixed_steps import run_steps
from .schemes.integrators import INTEGRATORS, schemes
from .trajectory.diagnostics import ENERGIES, unbalanced
from .trajectory.outputs import OF_CONTACTS
from .trajectory.trajectory import Trajectory

STEP = 1e-3  # unless another one is asked for
SHARES = (1, 2, 5)  # of a step, tried where energy does not balance


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
        return run_adaptive(setup, method, dt, steps, options).finish()
    attempts = [(method, parts)]
    if free and method != stability.STIFF:
        attempts += [(stability.ROBUST, share * parts) for share in SHARES if (method, share) != (stability.ROBUST, 1)]
    run = _balanced(setup, attempts, dt, steps, options)
    motion = run.finish()
    for name in unasked:
        del motion.arrays[name]
    return motion


def _balanced(setup: Setup, attempts: Sequence[tuple[str, int]], dt: float, steps: int, options: Options) -> Run:
    """The first attempt, a method and the parts of a step, whose energy balances, or the last: a motion comes to places
    that its start knows nothing of."""
    said, why = setup.said, ""
    for method, parts in attempts:
        taken = f"{why}; taken instead: {method}, dt = {dt / parts:g} s"
        note = [Note("method-changed", taken, values={"dt": dt / parts})] if why else []
        setup, finer = replace(setup, said=(*said, *note)), replace(options, every=options.every * parts)
        run = run_steps(setup, method, dt / parts, steps * parts, finer)
        if (method, parts) == attempts[-1] or not run.complete:
            break
        if not (balance := unbalanced(setup.plant.model, run.arrays)):
            break
        why = why or f"with {method}, dt = {dt / parts:g} s, the energy balance is {balance}"
    return run


def all_outputs(model: Model, stands: bool) -> tuple[str, ...]:
    """Outputs recorded by default, in addition to the memory of a controller."""
    return (
        "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "work",
        *["momentum"] * any(body.inertia.mass for body in model.bodies),
        *["loop_residual"] * model.constrained,
        *["commands"] * bool(model.commands.size),
        *(OF_CONTACTS if stands else ()),
        *(("loop_rates", "constraint_forces") if model.n_configuration > model.nv else ()),
    )  # fmt: skip


def _chosen(setup: Setup, method: str | None, step: float | None, dt: float) -> tuple[str, int, list[Note]]:
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
    text = f"{stability.story(wanted, dt, rate)}; {taken}"
    return *found, [Note("method-changed", text, values={"dt": dt / found[1], "rate": rate})]
