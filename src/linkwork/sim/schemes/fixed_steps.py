"""Runs by methods with a fixed step: the compiled time loop in groups of samples and pieces of time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import numpy as np

from ...codegen.timeloop import Turns
from ...errors import LinkworkError, warn_caller
from ...notes import Note
from ...options import Options
from ...progress import Progress
from ..derivatives.gradient import Tape
from ..plant.setup import Setup
from ..run import Run
from ..trajectory import output_buffer
from ..trajectory.records import Memory, destination
from .runner import BLOCK, GROUP, Runner

BUFFER = 2**22  # numbers recorded between two looks at the clock, the keyboard and the state
PATIENCE = 0.1  # seconds between these looks
FIRST = 10**8  # instructions of all samples until the first look: some milliseconds of native code
SLOWER = 1000  # others take about so much longer


def run_steps(setup: Setup, method: str, dt: float, steps: int, options: Options, check: bool = True) -> Run:
    """Compute so many steps, from a first one that is judged unless ``check`` is false. ``finish`` of the result judges
    the rest and gives the trajectory."""
    every, to = options.every, options.to
    run = Run(setup, method, dt, options)
    runner = Runner(setup, method, dt, options.backend)
    threads = runner.threads(options.threads, steps)
    warned = run.begin(check)
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
                if setup.plant.model.constrained:
                    closeness.append(setup.plant.parts(state[:, : runner.loop.x])["closeness"])
                done_samples = group.stop
        except BaseException as stop:
            if not done_samples:  # the first group, as far as it came
                done_samples, done_rows = min(GROUP, samples), row
            far = f"after {done_samples} of {samples} samples and {done_rows} of {rows} times"
            if not isinstance(stop, KeyboardInterrupt):
                with suppress(OSError, LinkworkError):  # of a disk without a byte left
                    run.arrays = records.finish(done_samples, done_rows, dt * every)
                    run.notes.append(Note(output_buffer.ENDED, f"ended {far}: {str(stop).partition(chr(10))[0]}"))
                    run.trajectory()
                raise
            note = Note(output_buffer.STOPPED, f"stopped from the keyboard {far}")
            tape, run.complete = None, False
            warn_caller(note)
            run.notes.append(note)
    with _room(to):
        run.arrays = records.finish(done_samples, done_rows, dt * every)
    run.closeness, run.tape = np.concatenate(closeness) if closeness else None, tape
    if tape is not None and tape.recorded and isinstance(records, Memory):
        tape.records = records.array
    return run


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
