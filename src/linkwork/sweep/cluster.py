"""Running a study on Dask: chunks of rows go to workers, each comes back as a file as soon as it is done."""

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
from typing import Any

import numpy as np

from .. import __version__
from ..errors import LinkworkError, import_optional
from ..progress import Progress
from .folder import Chunk, Folder, to_parquet
from .rows import compute
from .study import DIVERGED, Study

AHEAD = 4  # chunks that wait for each worker, so that it never does
LOOK = 1.0  # seconds without a result before one looks whether there are workers
PATIENCE = 20.0  # seconds without any worker; those that die are started again within some


@dataclass(frozen=True)
class Summary:
    """``found``: rows that were there already. ``seconds``: from the first chunk sent out to the last one written,
    ``computing``: of all workers' time, that spent on rows. ``stopped``: from the keyboard. ``notes``: warnings."""

    folder: Path
    rows: int
    found: int
    done: int
    diverged: int
    workers: int
    seconds: float
    computing: float
    stopped: bool
    notes: tuple[str, ...]

    @property
    def lost(self) -> float:
        """The share of the workers' time that did not go into rows."""
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
    """Compute the rows of a study that are not in ``folder`` yet; tables are in its folder ``rows``.

    ``workers``: processes on this machine, one per core by default. ``scheduler``: address of a Dask scheduler, whose
    workers are used instead; they need the same linkwork. ``resume``: go on with what is in the folder. A script that
    calls this needs ``if __name__ == "__main__":``, since the processes import it.
    """
    for package in ("distributed", "pyarrow"):
        import_optional(package, "sweep", "a sweep")
    rows = Folder(study, Path(folder), resume)
    left = sum(stop - start for start, stop in rows.left)
    state = {"done": 0, "diverged": 0, "computing": 0.0}
    count, seconds, stopped = 0, 0.0, False
    notes = (*_anew(rows.damaged), *_try(study, rows.left))
    if rows.left:
        with _client(workers, scheduler, len(rows.left)) as client:
            rows.make()
            count, began = sum(client.nthreads().values()), time.perf_counter()
            try:
                with Progress(progress, left, "rows") as bar:
                    for chunk, data, diverged, took in _results(client, study, rows.left, AHEAD * count):
                        rows.write(chunk, data)
                        state["done"] += chunk[1] - chunk[0]
                        state["diverged"] += diverged
                        state["computing"] += took
                        bar.advance(chunk[1] - chunk[0])
            except KeyboardInterrupt:
                stopped = True
            except _Gone as gone:
                again = f"dask worker {scheduler}, then " if scheduler else ""
                raise LinkworkError(
                    str(gone),
                    where=scheduler or "this machine",
                    got=f"{study.rows - left + state['done']} of {study.rows} rows are kept in {folder}",
                    fix=f"{again}go on with --resume",
                ) from None
            seconds = time.perf_counter() - began
    found = study.rows - left
    about = {"workers": count, "seconds": seconds, "stopped": stopped, "notes": notes}
    return Summary(Path(folder), study.rows, found, **state, **about)


def _anew(damaged: list[Chunk]) -> list[str]:
    if not damaged:
        return []
    which = ", ".join(f"rows {start} to {stop - 1}" for start, stop in damaged[:3])
    return [f"damaged tables were computed anew: {which}{', ...' if len(damaged) > 3 else ''}"]


def _try(study: Study, chunks: list[Chunk]) -> tuple[str, ...]:
    """A row of each case: this compiles for all processes, and what is wrong shows before they start. The warnings."""
    firsts = {study.case_of(start)[1]: start for start, _ in reversed(chunks)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for start in firsts.values():
            compute(study, start, start + 1)
    return tuple(dict.fromkeys(str(warning.message) for warning in caught))


# -- Dask ----------------------------------------------------------------------------------------------------------


@contextmanager
def _client(workers: int | None, scheduler: str | None, chunks: int) -> Iterator[Any]:
    """A client of the scheduler; without one, of processes on this machine that nobody else can see."""
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=10)
        except (OSError, ValueError) as error:
            expected = "the address of a Dask scheduler, such as tcp://10.0.0.1:8786"
            raise LinkworkError("there is no scheduler", where=scheduler, got=error, expected=expected) from error
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
        fix = "ask for fewer, or see what ends new processes here: memory, limits, a script without __main__"
        raise LinkworkError("the workers did not start", where="this machine", got=error, fix=fix) from error
    with cluster, Client(cluster) as client:
        yield client


class _Gone(Exception):
    """There is nobody left to compute."""


def _results(client: Any, study: Study, chunks: list[Chunk], ahead: int) -> Iterator[tuple[Chunk, bytes, int, float]]:
    """Chunks as they are done. Only some are under way at a time, so that results do not pile up."""
    name = f"linkwork-{uuid.uuid4().hex}"
    shared = client.submit(_study, study, key=f"{name}-study")  # a task, so that it is made again where it is lost
    waiting, sent, seen = iter(chunks), {}, time.perf_counter()

    def send(chunk: Chunk) -> None:
        sent[client.submit(_work, shared, *chunk, __version__, key=f"{name}-{chunk[0]}")] = chunk

    for chunk in islice(waiting, ahead):
        send(chunk)
    while sent:
        came = False
        for future in _finished(client, sent):
            chunk, result = sent[future], _result(client, future, sent[future])
            if result is not None:
                came = True
                del sent[future]
                for other in islice(waiting, 1):
                    send(other)
                yield (chunk, *result)
        now = time.perf_counter()
        if came or _workers(client):
            seen = now
        elif now - seen > PATIENCE:
            raise _Gone(f"no worker is left, for {PATIENCE:g} s")


def _finished(client: Any, futures: Iterable[Any]) -> list[Any]:
    """Those that are done, after a while perhaps none."""
    from distributed import wait

    with suppress(TimeoutError, asyncio.TimeoutError), _scheduled(client):
        wait(list(futures), timeout=LOOK, return_when="FIRST_COMPLETED")
    return [future for future in futures if future.status != "pending"]


def _result(client: Any, future: Any, chunk: Chunk) -> tuple[bytes, int, float] | None:
    """None if it was lost with its worker: then it comes again."""
    try:
        with _scheduled(client):
            return future.result(timeout=LOOK)
    except _Gone:
        raise
    except Exception as error:
        if future.status != "error":
            return None
        rows = f"rows {chunk[0]} to {chunk[1] - 1}"
        raise LinkworkError("these rows cannot be computed", where=rows, got=error) from error


def _workers(client: Any) -> bool:
    with suppress(OSError), _scheduled(client):
        return bool(client.nthreads())
    return False


@contextmanager
def _scheduled(client: Any) -> Iterator[None]:
    """When the scheduler ends, what is asked of it fails in many ways."""
    try:
        yield
    except (Exception, asyncio.CancelledError):
        if client.status != "running":
            raise _Gone("the scheduler is gone") from None
        raise


def dask_setup(worker: Any) -> None:
    """What Dask calls in the processes of this machine. A Ctrl-C reaches them, too, but is for the one who asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _study(study: Study) -> Study:
    return study


def _work(study: Study, start: int, stop: int, version: str) -> tuple[bytes, int, float]:
    """A chunk as a Parquet file, how many of its rows diverged, and the seconds it took."""
    if version != __version__:
        got, expected = f"a worker with linkwork {__version__}", f"linkwork {version}, as where the study was started"
        raise LinkworkError("the workers have another linkwork", got=got, expected=expected)
    began = time.perf_counter()
    with warnings.catch_warnings():  # heard already
        warnings.simplefilter("ignore")
        columns = compute(study, start, stop)
    return to_parquet(study, columns), int(np.sum(columns[DIVERGED] >= 0)), time.perf_counter() - began
