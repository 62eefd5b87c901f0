"""Computing a study with Dask: workers compute chunks of rows, and each finished chunk is written to a file."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import __version__
from ..errors import LinkworkError, import_optional
from ..progress import Progress
from ..renamed import refuse
from .folder import Chunk, Folder, resume_fix, to_parquet
from .rows import compute
from .study import DIVERGED, Study

AHEAD = 4  # chunks that are queued for each worker, so that it is never idle
POLL = 1.0  # seconds without a result after which the workers are counted
PATIENCE = 20.0  # seconds without any worker before giving up; Dask restarts one that died sooner


@dataclass(frozen=True)
class Summary:
    """What ``run`` did.

    Attributes:
        folder: Folder of the study; its folder ``rows`` has the tables.
        rows: Rows of the study.
        existing: Rows that were in the folder before.
        done: Rows that were computed now.
        diverged: Those of them whose motion diverged.
        workers: Number of processes.
        seconds: Time from the first chunk sent to the last one written, s.
        computing: Time that all workers together spent on rows, s.
        stopped: Whether Ctrl-C ended the run.
        notes: Warnings.

    Example:
        >>> from pathlib import Path
        >>> summary = linkwork.sweep.Summary(Path("study"), 10, 0, 10, 0, 2, 1.0, 1.5, False, ())
        >>> summary.overhead
        0.25
    """

    folder: Path
    rows: int
    existing: int
    done: int
    diverged: int
    workers: int
    seconds: float
    computing: float
    stopped: bool
    notes: tuple[str, ...]

    if not TYPE_CHECKING:  # so that type checkers report names that do not exist

        def __getattr__(self, name: str) -> NoReturn:
            refuse("Summary", name)

    @property
    def overhead(self) -> float:
        """Share of the workers' time that was not spent on rows."""
        return 1 - self.computing / (self.workers * self.seconds) if self.seconds else 0.0


def run(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> Summary:
    """Compute the rows of a study, and write them as Parquet tables into the folder ``rows`` of ``folder``.

    A script that calls this needs ``if __name__ == "__main__":``, since the worker processes import it.

    Args:
        study: The study, see ``read_study``.
        folder: Folder for the results: new, empty, or one of the same study.
        workers: Number of processes on this machine; default: one per core.
        scheduler: Address of a Dask scheduler whose workers are used instead; they need the same version of linkwork.
        resume: Whether to continue with the rows that are in the folder; default False.
        progress: True, False, None (default: a bar in a terminal, if it takes long), or a function of (done, total).

    Returns:
        The Summary of the run.

    Raises:
        UnsupportedError: Dask or pyarrow is not installed.
        LinkworkError: The folder has other content, or no workers are left.

    Example:
        >>> study = linkwork.sweep.read_study("study.yaml")  # doctest: +SKIP
        >>> linkwork.sweep.run(study, "results").done  # doctest: +SKIP
        200
    """
    for package in ("distributed", "pyarrow"):
        import_optional(package, "sweep", "a sweep")
    rows = Folder(study, Path(folder), resume)
    missing = sum(stop - start for start, stop in rows.missing)
    state = {"done": 0, "diverged": 0, "computing": 0.0}
    count, seconds, stopped = 0, 0.0, False
    notes = (*_damage_notes(rows.damaged), *_try_cases(study, rows.missing))
    if rows.missing:
        with _client(workers, scheduler, len(rows.missing)) as client:
            rows.create()
            count, began = sum(client.nthreads().values()), time.perf_counter()
            try:
                with Progress(progress, missing, "rows") as bar:
                    for chunk, table, diverged, duration in _results(client, study, rows.missing, AHEAD * count):
                        rows.write(chunk, table)
                        state["done"] += chunk[1] - chunk[0]
                        state["diverged"] += diverged
                        state["computing"] += duration
                        bar.advance(chunk[1] - chunk[0])
            except KeyboardInterrupt:
                stopped = True
            except _NoWorkersError as error:
                got = f"{study.rows - missing + state['done']} of {study.rows} rows are in {folder}"
                fix = (f"dask worker {scheduler}, then " if scheduler else "") + resume_fix()
                raise LinkworkError(str(error), where=scheduler or "this machine", got=got, fix=fix) from None
            seconds = time.perf_counter() - began
    run = {"workers": count, "seconds": seconds, "stopped": stopped, "notes": notes}
    return Summary(Path(folder), study.rows, study.rows - missing, **state, **run)


def _damage_notes(damaged: list[Chunk]) -> list[str]:
    if not damaged:
        return []
    rows = ", ".join(f"rows {start} to {stop - 1}" for start, stop in damaged[:3])
    return [f"damaged tables were computed again: {rows}{', ...' if len(damaged) > 3 else ''}"]


def _try_cases(study: Study, chunks: list[Chunk]) -> tuple[str, ...]:
    """Compute a row of each case, which compiles for all processes and shows errors early, and return the warnings."""
    firsts = {study.case_of(start)[1]: start for start, _ in reversed(chunks)}
    with warnings.catch_warnings(record=True) as warnings_seen:
        warnings.simplefilter("always")
        for start in firsts.values():
            compute(study, start, start + 1)
    return tuple(dict.fromkeys(str(warning.message) for warning in warnings_seen))


# -- Dask ----------------------------------------------------------------------------------------------------------


@contextmanager
def _client(workers: int | None, scheduler: str | None, chunks: int) -> Iterator[Any]:
    """Yield a client of the scheduler; without one, of processes on this machine that others cannot reach."""
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=10)
        except (OSError, ValueError) as error:
            expected = "the address of a Dask scheduler, such as tcp://10.0.0.1:8786"
            raise LinkworkError("no scheduler answers", where=scheduler, got=error, expected=expected) from error
        with client:
            if not client.nthreads():
                raise LinkworkError("the scheduler has no workers", where=scheduler, fix=f"dask worker {scheduler}")
            yield client
        return
    if workers is not None and workers < 1:
        raise LinkworkError("out of range", where="workers", got=workers, expected="1 or more")
    count = min(workers or os.cpu_count() or 1, chunks)
    try:
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            preload=[__name__],
        )
    except (RuntimeError, OSError, asyncio.TimeoutError) as error:
        fix = "use fewer workers, or find what ends new processes: memory, limits, a script without __main__"
        raise LinkworkError("the workers did not start", where="this machine", got=error, fix=fix) from error
    with cluster, Client(cluster) as client:
        yield client


class _NoWorkersError(Exception):
    """No worker is left."""


def _results(client: Any, study: Study, chunks: list[Chunk], ahead: int) -> Iterator[tuple[Chunk, bytes, int, float]]:
    """Yield chunks when they are done. Few are sent at a time, so that results do not accumulate."""
    name = f"linkwork-{uuid.uuid4().hex}"
    study_future = client.submit(_study, study, key=f"{name}-study")  # a task, so that Dask repeats it if it is lost
    waiting, chunk_of, last_seen = iter(chunks), {}, time.perf_counter()

    def send(chunk: Chunk) -> None:
        chunk_of[client.submit(_work, study_future, *chunk, __version__, key=f"{name}-{chunk[0]}")] = chunk

    for chunk in islice(waiting, ahead):
        send(chunk)
    while chunk_of:
        arrived = False
        for future in _finished(client, chunk_of):
            chunk, result = chunk_of[future], _result(client, future, chunk_of[future])
            if result is not None:
                arrived = True
                del chunk_of[future]
                for other in islice(waiting, 1):
                    send(other)
                yield (chunk, *result)
        now = time.perf_counter()
        if arrived or _has_workers(client):
            last_seen = now
        elif now - last_seen > PATIENCE:
            raise _NoWorkersError(f"no worker has been left for {PATIENCE:g} s")


def _finished(client: Any, futures: Iterable[Any]) -> list[Any]:
    """Return the futures that are done, after waiting for at most ``POLL`` seconds."""
    from distributed import wait

    with suppress(TimeoutError, asyncio.TimeoutError), _scheduler_checked(client):
        wait(list(futures), timeout=POLL, return_when="FIRST_COMPLETED")
    return [future for future in futures if future.status != "pending"]


def _result(client: Any, future: Any, chunk: Chunk) -> tuple[bytes, int, float] | None:
    """Return the result of a chunk; None if it was lost with its worker, since Dask computes it again."""
    try:
        with _scheduler_checked(client):
            return future.result(timeout=POLL)
    except _NoWorkersError:
        raise
    except Exception as error:
        if future.status != "error":
            return None
        rows = f"rows {chunk[0]} to {chunk[1] - 1}"
        raise LinkworkError("these rows cannot be computed", where=rows, got=error) from error


def _has_workers(client: Any) -> bool:
    with suppress(OSError), _scheduler_checked(client):
        return bool(client.nthreads())
    return False


@contextmanager
def _scheduler_checked(client: Any) -> Iterator[None]:
    """Raise one kind of error for all that fails when the scheduler has ended."""
    try:
        yield
    except (Exception, asyncio.CancelledError):
        if client.status != "running":
            raise _NoWorkersError("the scheduler has ended") from None
        raise


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C in worker processes, which Dask sets up with this function: the main process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _study(study: Study) -> Study:
    return study


def _work(study: Study, start: int, stop: int, version: str) -> tuple[bytes, int, float]:
    """Return a chunk as a Parquet file, the number of its rows that diverged, and the seconds it took."""
    if version != __version__:
        got, expected = f"a worker with linkwork {__version__}", f"linkwork {version}, as on the machine of the study"
        raise LinkworkError("the workers have another version of linkwork", got=got, expected=expected)
    began = time.perf_counter()
    with warnings.catch_warnings():  # ``_try_cases`` has collected them
        warnings.simplefilter("ignore")
        columns = compute(study, start, stop)
    return to_parquet(study, columns), int(np.sum(columns[DIVERGED] >= 0)), time.perf_counter() - began
