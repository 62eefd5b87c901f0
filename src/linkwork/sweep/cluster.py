"""Running a study on Dask: chunks of rows go to workers, each comes back as a file as soon as it is done."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import signal
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import LinkworkError, UnsupportedError
from ..files import write_bytes, write_text
from ..sim.progress import Progress
from .rows import Columns, columns_of, compute
from .study import DIVERGED, Study

AHEAD = 4  # chunks that wait for each worker, so that it never does
ROWS = "rows"  # the folder of the tables within that of the study

Chunk = tuple[int, int]


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
    _require_packages()
    folder = Path(folder)
    _check_folder(study, folder, resume)
    chunks = [chunk for chunk in study.chunks() if not _file(folder, chunk).exists()]
    left = sum(stop - start for start, stop in chunks)
    state = {"done": 0, "diverged": 0, "computing": 0.0}
    count, seconds, stopped = 0, 0.0, False
    notes = _try(study, chunks)
    if chunks:
        with _client(workers, scheduler, len(chunks)) as client:
            _make_folder(study, folder)
            count, began = sum(client.nthreads().values()), time.perf_counter()
            try:
                with Progress(progress, left, "rows") as bar:
                    for chunk, data, diverged, took in _results(client, study, chunks, AHEAD * count):
                        write_bytes(_file(folder, chunk), data)
                        state["done"] += chunk[1] - chunk[0]
                        state["diverged"] += diverged
                        state["computing"] += took
                        bar.advance(chunk[1] - chunk[0])
            except KeyboardInterrupt:
                stopped = True
            seconds = time.perf_counter() - began
    return Summary(
        folder, study.rows, study.rows - left, **state, workers=count, seconds=seconds, stopped=stopped, notes=notes
    )


def _require_packages() -> None:
    try:
        import distributed  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        message = f"{error.name} is not installed"
        raise UnsupportedError(message, where="sweep", fix="pip install 'linkwork[sweep]'") from None


def _try(study: Study, chunks: list[Chunk]) -> tuple[str, ...]:
    """A row of each case: this compiles for all processes, and what is wrong shows before they start. The warnings."""
    firsts = {study.case_of(start)[1]: start for start, _ in reversed(chunks)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for start in firsts.values():
            compute(study, start, start + 1)
    return tuple(dict.fromkeys(str(warning.message) for warning in caught))


# -- the folder ----------------------------------------------------------------------------------------------------


def _file(folder: Path, chunk: Chunk) -> Path:
    return folder / ROWS / f"{chunk[0]:09d}-{chunk[1]:09d}.parquet"


def _about(study: Study) -> dict[str, Any]:
    digest = hashlib.sha256(study.text.encode()).hexdigest()
    return {"name": study.name, "rows": study.rows, "seed": study.seed, "study": digest, "robots": dict(study.robots)}


def _check_folder(study: Study, folder: Path, resume: bool) -> None:
    """Is it new, or does it belong to this study?"""
    path = folder / "study.json"
    if not path.exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise LinkworkError("this is not an empty folder, and no study's", where=str(folder), fix="choose another")
        return
    try:
        found = json.loads(path.read_text())
        same = all(found[key] == value for key, value in _about(study).items())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LinkworkError("this does not describe a study", where=str(path), got=error) from error
    if not same:
        raise LinkworkError(
            "the folder holds rows of another study, or of other robots",
            where=str(folder),
            expected="the study as it is in study.yaml there, and the same robot files",
            fix="choose another folder",
        )
    if not resume:
        fix = "go on with it by --resume, or choose another folder"
        raise LinkworkError("the folder holds rows of this study", where=str(folder), fix=fix)


def _make_folder(study: Study, folder: Path) -> None:
    try:
        (folder / ROWS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose a folder that can be made and written"
        raise LinkworkError(f"the folder cannot be made: {error.strerror}", where=str(folder), fix=fix) from error
    if not (folder / "study.json").exists():
        write_text(folder / "study.yaml", study.text)
        write_text(folder / "study.json", json.dumps({**_about(study), "linkwork": __version__}, indent=2) + "\n")


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
    count = workers or min(os.cpu_count() or 1, chunks)
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            preload=[__name__],
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _results(client: Any, study: Study, chunks: list[Chunk], ahead: int) -> Iterator[tuple[Chunk, bytes, int, float]]:
    """Chunks as they are done. Only some are under way at a time, so that results do not pile up."""
    from distributed import as_completed

    name = f"linkwork-{uuid.uuid4().hex}"
    shared = client.submit(_study, study, key=f"{name}-study")  # a task, so that it is made again where it is lost
    waiting, sent = iter(chunks), {}

    def send(chunk: Chunk) -> Any:
        future = client.submit(_work, shared, *chunk, key=f"{name}-{chunk[0]}")
        sent[future.key] = chunk
        return future

    queue = as_completed([send(chunk) for chunk in islice(waiting, ahead)])
    for future in queue:
        chunk = sent.pop(future.key)
        try:
            result = future.result()
        except Exception as error:
            rows = f"rows {chunk[0]} to {chunk[1] - 1}"
            raise LinkworkError("these rows cannot be computed", where=rows, got=error) from error
        for other in islice(waiting, 1):
            queue.add(send(other))
        yield (chunk, *result)


def dask_setup(worker: Any) -> None:
    """What Dask calls in the processes of this machine. A Ctrl-C reaches them, too, but is for the one who asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _study(study: Study) -> Study:
    return study


def _work(study: Study, start: int, stop: int) -> tuple[bytes, int, float]:
    """A chunk as a Parquet file, how many of its rows diverged, and the seconds it took."""
    began = time.perf_counter()
    with warnings.catch_warnings():  # heard already
        warnings.simplefilter("ignore")
        columns = compute(study, start, stop)
    return _parquet(study, columns), int(np.sum(columns[DIVERGED] >= 0)), time.perf_counter() - began


def _parquet(study: Study, columns: Columns) -> bytes:
    """All chunks have the columns of all cases, so that the files make one table."""
    import pyarrow
    from pyarrow import parquet

    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    count = len(columns["row"])
    arrays = {
        name: pyarrow.array(columns[name], kinds[kind]) if name in columns else pyarrow.nulls(count, kinds[kind])
        for name, kind in columns_of(study).items()
    }
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), file)
    return file.getvalue()
