"""Simulations: one motion with everything recorded, or a batch with the time loop compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import LinkworkError, UnsupportedError, at_door, memory_reported, method_at_door
from ..model import Model
from ..notes import Note
from ..options import Options, one_of_names, positive, whole
from ..workspace import Workspace
from .contact.events import simulate_events
from .plant.sampled import checked
from .plant.setup import Setup, prepare
from .run import Run
from .schemes import stability
from .schemes.adaptive import run_adaptive
from .schemes.fixed_steps import run_steps
from .schemes.integrators import INTEGRATORS, schemes
from .trajectory.diagnostics import ENERGIES, unbalanced
from .trajectory.outputs import CONTACT_OUTPUTS
from .trajectory.trajectory import Trajectory

STEP = 1e-3  # default step in s
SUBSTEPS = (1, 2, 5)  # numbers of parts of a step that are tried while energy does not balance


def rollout(workspace: Workspace, q0: Any, v0: Any, dt: float, steps: int, options: Options) -> Trajectory:
    """Simulate a batch of motions; see ``Robot.rollout``."""
    method = one_of_names("method of rollouts", options.method, schemes())
    dt, steps = positive(dt, "dt"), whole(steps, "steps")
    outputs = ("q", "v") if options.outputs is None else options.outputs
    with memory_reported("these samples", where="rollout", fix="roll out fewer samples at a time"):
        setup = prepare(workspace, q0, v0, steps, dt, options, outputs)
        return run_steps(setup, method, dt, steps, options).finish()


def simulate(workspace: Workspace, q0: Any, v0: Any, duration: float, dt: float | None, options: Options) -> Trajectory:
    """Simulate one motion; see ``Robot.simulate``."""
    if options.method is not None:
        one_of_names("method of simulation", options.method, INTEGRATORS)
    automatic = options.method is None and dt is None
    fixed_dt, dt = dt is not None, STEP if dt is None else dt
    duration, dt = positive(duration, "duration"), positive(dt, "dt")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        raise LinkworkError(
            "the duration is not a whole number of steps",
            where="simulate",
            got=f"duration {duration:.15g}, dt {dt:.15g}",
            fix=at_door("duration={:.15g}, or dt={:.15g}", "--duration {:.15g}, or --dt {:.15g}").format(
                max(steps, 1) * dt, duration / max(steps, 1)
            ),
        )
    outputs = all_outputs(workspace.model, options.contacts is not None) if options.outputs is None else options.outputs
    if isinstance(options.contacts, str):
        if checked(workspace.model, options.torque, options.observers):
            message, fix = "functions with a sample time do not run with contact events", "give contacts as numbers"
            raise UnsupportedError(message, where="contacts", got=repr(options.contacts), fix=fix)
        return simulate_events(workspace, q0, v0, dt, steps, options, outputs)
    outputs = tuple(outputs)
    extra = [name for name in ENERGIES if automatic and name not in outputs]  # to judge the method; removed below
    setup = prepare(workspace, q0, v0, steps, dt, options, (*outputs, *extra))
    if options.outputs is None:
        setup = replace(setup, outputs=(*setup.outputs, *setup.plant.memory))
    if setup.batched:
        fix = "robot.rollout takes batches"
        raise LinkworkError("simulate makes one motion", where="q0", got=f"{setup.samples} samples", fix=fix)
    method, substeps, notes = _choose_method(setup, options.method, dt, fixed_dt)
    setup = replace(setup, notes=(*setup.notes, *notes))
    if method not in schemes():
        if setup.plant.sampled:
            message = f"{method} chooses its own steps, which sample times would interrupt"
            raise UnsupportedError(message, where="method", fix=method_at_door("rk4"))
        return run_adaptive(setup, method, dt, steps, options).finish()
    attempts = [(method, substeps)]
    if automatic and method != stability.STIFF:
        robust = stability.ROBUST
        attempts += [(robust, count * substeps) for count in SUBSTEPS if (method, count) != (robust, 1)]
    motion = _balanced_run(setup, attempts, dt, steps, options).finish()
    for name in extra:
        del motion.arrays[name]
    return motion


def _balanced_run(setup: Setup, attempts: Sequence[tuple[str, int]], dt: float, steps: int, options: Options) -> Run:
    """Run the first attempt (method, substeps) whose energy balances, or the last.

    Later parts of a motion may need shorter steps than its start, which is all that ``_choose_method`` sees.
    """
    notes, reason = setup.notes, ""
    for method, substeps in attempts:
        text = f"{reason}; used instead: {method}, dt = {dt / substeps:g} s"
        note = [Note("method-changed", text, values={"dt": dt / substeps})] if reason else []
        setup, finer = replace(setup, notes=(*notes, *note)), replace(options, every=options.every * substeps)
        run = run_steps(setup, method, dt / substeps, steps * substeps, finer)
        if (method, substeps) == attempts[-1] or not run.complete:
            break
        if not (balance := unbalanced(setup.plant.model, run.arrays)):
            break
        reason = reason or f"with {method}, dt = {dt / substeps:g} s, the energy balance is {balance}"
    return run


def all_outputs(model: Model, has_contacts: bool) -> tuple[str, ...]:
    """Return the outputs that are recorded by default, in addition to the memory of a controller."""
    return (
        "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "work",
        *["momentum"] * any(body.inertia.mass for body in model.bodies),
        *["loop_residual"] * model.constrained,
        *["commands"] * bool(model.commands.size),
        *(CONTACT_OUTPUTS if has_contacts else ()),
        *(("loop_rates", "constraint_forces") if model.n_configuration > model.nv else ()),
    )  # fmt: skip


def _choose_method(setup: Setup, method: str | None, dt: float, fixed_dt: bool) -> tuple[str, int, list[Note]]:
    """Return a method, a number of substeps, and a note if they differ from the first choice.

    A method or step that the user passed is kept; what is open is chosen so that the fastest modes are stable.
    """
    first = method or (stability.ROBUST if setup.plant.has_contacts or setup.plant.sampled else stability.METHOD)
    if first not in schemes() or (method is not None and fixed_dt):
        return first, 1, []
    rate = stability.too_fast(setup, first, dt, 1.0 if fixed_dt else stability.LOSS)
    if not rate:
        return first, 1, []
    candidates = (method,) if method is not None else (first, stability.ROBUST, stability.STIFF)
    choice = stability.stable_method(setup, candidates, dt, divide=not fixed_dt)
    if choice is None:
        return first, 1, []  # the run warns
    name, substeps = choice
    used = f"used instead: {name}" + (f", dt = {dt / substeps:g} s" if substeps > 1 else "")
    text = f"{stability.reason(first, dt, rate)}; {used}"
    return name, substeps, [Note("method-changed", text, values={"dt": dt / substeps, "rate": rate})]
