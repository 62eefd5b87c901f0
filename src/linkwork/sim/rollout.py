"""Batches of motions, the time loop compiled."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..codegen.schemes import Scheme
from ..codegen.timeloop import Turns
from ..errors import LinkworkError, SimulationWarning, memory_reported
from ..progress import Progress
from ..workspace import Workspace
from .derivatives.gradient import Tape
from .options import Options
from .plant.inputs import one_of_names, positive, whole
from .plant.instant import REFERENCE
from .plant.plant import Plant
from .plant.setup import Setup, prepare
from .schemes import stability
from .schemes.integrators import schemes
from .schemes.runner import BLOCK, GROUP, Runner
from .trajectory import output_buffer, storage
from .trajectory.diagnostics import WARNING, findings, unbalanced
from .trajectory.records import destination
from .trajectory.trajectory import Trajectory

BUFFER = 2**22  # numbers recorded between two looks at the clock, the keyboard and the state
PATIENCE = 0.1  # seconds between these looks
FIRST = 10**8  # instructions of all samples until the first look: some milliseconds of native code
SLOWER = 1000  # others take about so much longer
JUMPS = (
    "{method} takes arrays over time for samples of something smooth, and spreads jumps over {steps} steps;"
    " rk4 holds them over each step"
)
USER = 4  # whoever calls Robot.rollout or Robot.simulate, on the stack above `run`


def rollout(workspace: Workspace, q0: Any, v0: Any, dt: float, steps: int, options: Options) -> Trajectory:
    """Motions from many states at once; see ``Robot.rollout``."""
    method = one_of_names("method of rollouts", options.method, schemes())
    dt, steps = positive(dt, "dt"), whole(steps, "steps")
    outputs = ("q", "v") if options.outputs is None else options.outputs
    with memory_reported("these samples", where="rollout", fix="roll out fewer samples at a time"):
        setup = prepare(workspace, q0, v0, steps, dt, options, outputs)
        return run(setup, method, dt, steps, options)


def run(
    setup: Setup, method: str, dt: float, steps: int, options: Options, check: bool = True, last: bool = True
) -> Trajectory:
    """By a method with a fixed step; ``check``: whether it is short enough at the start. If it is not the ``last``
    attempt at a motion, there is no warning of one whose energy does not balance."""
    every, to = options.every, options.to
    runner = Runner(setup, method, dt, options.backend)
    threads = runner.threads(options.threads, steps)
    notes = list(setup.notes)
    warned = stability.warning(setup, method, dt) if check else ""
    if warned:
        warnings.warn(warned, SimulationWarning, stacklevel=USER)
        notes.append(WARNING + warned)
    notes += jumps(setup.plant, method, runner.loop.scheme)
    samples, rows = setup.samples, steps // every + 1
    tape = None
    if options.checkpoint_every is not None:
        own = to is None and options.out is None  # of lent memory there may be other views
        tape = Tape(runner, steps, every, options.checkpoint_every, threads, kept=own)
    shown = Progress(options.progress, samples * steps)
    lent = None
    if options.out is not None:
        lent = output_buffer.lent(options.out, setup.plant, samples if setup.batched else None, rows, runner.shapes)
        runner.held = [x.copy() if np.may_share_memory(x, lent) else x for x in runner.held]
    records = destination(to, lent, samples, rows, runner.shapes)
    done_samples, done_rows = 0, rows
    row, closeness = 0, []
    work = FIRST if options.backend == "native" else FIRST / SLOWER
    with shown as bar, ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        try:
            for first in range(0, samples, GROUP):
                group = slice(first, min(first + GROUP, samples))
                count = group.stop - group.start
                state, k, row = runner.start(group), 0, 0
                numbers = count * len(runner.loop.record.results)
                turns = _turns(work / (max(count, BLOCK) * max(runner.loop.instructions, 1)), numbers, every)
                while k < steps:
                    n = min(turns, steps - k)
                    if tape is not None:
                        if tape.until(k) == tape.segment:
                            tape.keep(first, k, state)
                        n = min(n, tape.until(k))
                    end = k + n == steps and steps % every == 0
                    new_rows = -(-(k + n) // every) + end - row
                    block = records.target(first, count, row, new_rows)
                    began = time.perf_counter()
                    runner.advance(state, group, Turns(k, n, every, end, steps - 1), block, pool, threads)
                    took = time.perf_counter() - began
                    with _room(to):
                        records.flush(block, first, row)
                    k, row = k + n, row + new_rows
                    if options.diverged == "raise" and (state[:, -1] < k).any():
                        raise runner.story(group, state, steps, warned)
                    bar.advance(count * n)
                    turns = _turns(turns * min(8.0, PATIENCE / max(took, 1e-6)), numbers, every)
                if setup.plant.model.loops:
                    closeness.append(setup.plant.parts(state[:, : runner.loop.x])["closeness"])
                done_samples = group.stop
        except BaseException as stop:
            if not done_samples:  # the first group, as far as it came
                done_samples, done_rows = min(GROUP, samples), row
            far = f"after {done_samples} of {samples} samples and {done_rows} of {rows} times"
            if not isinstance(stop, KeyboardInterrupt):
                with suppress(OSError, LinkworkError):  # of a disk without a byte left
                    arrays = records.finish(done_samples, done_rows, dt * every)
                    why = f"{output_buffer.ENDED} {far}: {str(stop).partition(chr(10))[0]}"
                    _kept(arrays, setup, method, dt, [*notes, why], options)
                raise
            note, tape = f"{output_buffer.STOPPED} {far}", None
            warnings.warn(note, stacklevel=USER)
            notes.append(note)
    with _room(to):
        arrays = records.finish(done_samples, done_rows, dt * every)
    singular = np.concatenate(closeness) if closeness else None
    if last or done_rows < rows or not unbalanced(setup.plant.model, arrays):
        for finding in findings(setup.plant.model, arrays, singular, method=method, dt=dt):
            warnings.warn(finding, SimulationWarning, stacklevel=USER)
            notes.append(WARNING + finding)
    trajectory = _kept(arrays, setup, method, dt, notes, options)
    if tape is not None:
        tape.attach(trajectory, records)
    return trajectory


def jumps(plant: Plant, method: str, scheme: Scheme) -> list[str]:
    """What to say of inputs that are held, where the method looks back."""
    smooth = not set(plant.held) - {REFERENCE}  # samples of a reference are
    return [] if smooth or not scheme.history else [JUMPS.format(method=method, steps=scheme.history + 1)]


def _kept(
    arrays: Mapping[str, Any], setup: Setup, method: str, dt: float, notes: Sequence[str], options: Options
) -> Trajectory:
    """What was recorded. If that is on disk, it is told there what it is; so is a trajectory that lent its memory."""
    if not setup.batched:
        arrays = {name: array if name == "t" else array[0] for name, array in arrays.items()}
    plant = setup.plant
    about = {"robot": plant.model.name, "method": method, "dt": dt, "notes": notes, "units": plant.units}
    trajectory = Trajectory(arrays, plant.entries, **about)
    if options.to is not None:
        storage.describe(trajectory, Path(options.to))
    if options.out is not None:
        vars(options.out).update(vars(trajectory))
        return options.out
    return trajectory


@contextmanager
def _room(to: str | Path | None) -> Iterator[None]:
    """A full disk is told as such."""
    try:
        yield
    except OSError as error:
        raise LinkworkError(
            f"the records cannot be written: {error.strerror or error}",
            where=str(to),
            fix="record fewer steps by every=..., or choose a place with more room",
        ) from error


def _turns(wanted: float, numbers: int, every: int) -> int:
    """Steps until the next look: as many as fit into BUFFER, whether something is recorded or not."""
    return max(1, int(min(wanted, BUFFER // max(numbers, 1) * every)))
