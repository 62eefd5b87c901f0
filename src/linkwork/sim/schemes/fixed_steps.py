"""Runs by methods with a fixed step: the compiled time loop, over groups of samples and pieces of time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import numpy as np

from ...codegen.timeloop import Turns
from ...errors import LinkworkError, ShapeError, warn_caller
from ...notes import Note
from ...options import Options
from ...progress import Progress
from ..derivatives.gradient import Tape
from ..plant.setup import Setup
from ..run import Run
from ..trajectory import output_buffer
from ..trajectory.records import Memory, destination
from .runner import BLOCK, GROUP, Runner

BUFFER = 2**22  # most numbers recorded in one native call; progress, Ctrl-C and divergence are handled between calls
PATIENCE = 0.1  # seconds that a native call should take
FIRST = 10**8  # instructions in the first native call: some milliseconds
SLOWER = 1000  # factor by which other back ends are slower, about


def run_steps(setup: Setup, method: str, dt: float, steps: int, options: Options, check: bool = True) -> Run:
    """Run steps of all samples; ``Run.finish`` of the result gives the trajectory.

    With ``check``, a warning is given if ``dt`` is too long for the first state.
    """
    every, to = options.every, options.to
    run = Run(setup, method, dt, options)
    runner = Runner(setup, method, dt, options.backend, options.dtype)
    if steps > runner.countable:
        raise ShapeError(
            f"there are more steps than {options.dtype} can count",
            where="steps",
            got=steps,
            expected=f"{runner.countable:,}",
        )
    threads = runner.threads(options.threads, steps)
    warning = run.begin(check)
    samples, rows = setup.samples, steps // every + 1
    tape = None
    if options.checkpoint_every is not None:
        exclusive = to is None and options.out is None  # the user may hold other views of ``out``
        tape = Tape(runner, steps, every, options.checkpoint_every, threads, exclusive)
    progress = Progress(options.progress, samples * steps)
    block = None
    if options.out is not None:
        batch = samples if setup.batched else None
        block = output_buffer.block_of(options.out, setup.plant, batch, rows, runner.shapes, runner.dtype)
        runner.held = [x.copy() if np.may_share_memory(x, block) else x for x in runner.held]
    records = destination(to, block, samples, rows, runner.shapes, runner.dtype)
    done_samples, done_rows = 0, rows
    row, closeness = 0, []
    work = FIRST if options.backend == "native" else FIRST / SLOWER
    with progress as bar, ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
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
                    start = time.perf_counter()
                    runner.advance(state, group, Turns(k, n, every, end, steps - 1), block, pool, threads)
                    elapsed = time.perf_counter() - start
                    with _write_errors(to):
                        records.flush(block, first, row)
                    k, row = k + n, row + new_rows
                    if options.diverged == "raise" and (state[:, -1] < k).any():
                        raise runner.divergence(group, state, steps, warning)
                    bar.advance(count * n)
                    turns = _turns(turns * min(8.0, PATIENCE / max(elapsed, 1e-6)), numbers, every)
                if setup.plant.model.constrained:
                    closeness.append(setup.plant.parts(state[:, : runner.loop.x])["closeness"])
                done_samples = group.stop
        except BaseException as stop:
            if not done_samples:  # keep the first group up to the current time
                done_samples, done_rows = min(GROUP, samples), row
            progress_text = f"after {done_samples} of {samples} samples and {done_rows} of {rows} times"
            if not isinstance(stop, KeyboardInterrupt):
                with suppress(OSError, LinkworkError):  # a disk may be full to the last byte
                    run.arrays = records.finish(done_samples, done_rows, dt * every)
                    reason = str(stop).partition("\n")[0]
                    run.notes.append(Note(output_buffer.ENDED, f"ended {progress_text}: {reason}"))
                    run.trajectory()
                raise
            note = Note(output_buffer.STOPPED, f"stopped from the keyboard {progress_text}")
            tape, run.complete = None, False
            warn_caller(note)
            run.notes.append(note)
    with _write_errors(to):
        run.arrays = records.finish(done_samples, done_rows, dt * every)
    run.closeness, run.tape = np.concatenate(closeness) if closeness else None, tape
    if tape is not None and tape.recorded and isinstance(records, Memory):
        tape.records = records.array
    return run


@contextmanager
def _write_errors(to: str | Path | None) -> Iterator[None]:
    """Report an error of the file system, such as a full disk, as one of linkwork."""
    try:
        yield
    except OSError as error:
        raise LinkworkError(
            f"the records cannot be written: {error.strerror or error}",
            where=str(to),
            fix="record fewer steps by every=..., or choose a disk with more space",
        ) from error


def _turns(most: float, numbers: int, every: int) -> int:
    """Steps in a native call: at most as many as fit into BUFFER, whether something is recorded or not."""
    return max(1, int(min(most, BUFFER // max(numbers, 1) * every)))
