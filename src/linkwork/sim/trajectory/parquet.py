"""Untrusted Parquet files. Some of them make pyarrow end the process, so a child process reads them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import LinkworkError, UnsupportedError, import_optional
from .array_files import MEMORY, PACKED, read_zip

CHILD = Path(__file__).with_name("parquet_child.py")
PATIENCE = 120.0  # longest time in s to read a file


def read_parquet(data: bytes, where: str) -> tuple[dict[str, np.ndarray], list[str], Any]:
    """Read the columns of numbers.

    Returns:
        Columns by name, the physical types of columns that are not numbers, and the metadata that linkwork wrote.

    Raises:
        ValueError: The file cannot be read, or claims far more numbers than it can hold.
        UnsupportedError: Columns use a compression that may expand to any size, or pyarrow is missing.
    """
    answer, failure = _run_child(MEMORY + PACKED * len(data), data)
    if failure:
        raise ValueError(failure)
    arrays = list(read_zip(answer).values())
    about = json.loads(str(arrays.pop(0)))
    if about["packed"]:
        raise UnsupportedError(
            "this compression of columns is not supported", where=where, got=", ".join(about["packed"]),
            fix="write the file with compression='snappy'",
        )  # fmt: skip
    metadata = json.loads(about["metadata"]) if about["metadata"] else {}
    return dict(zip(about["names"], arrays, strict=True)), about["others"], metadata


def _run_child(largest: int, data: bytes) -> tuple[bytes, str]:
    """The child's answer, and its failure, empty if there is none."""
    load_pyarrow()
    if not sys.executable or getattr(sys, "frozen", False):
        fix = "run linkwork in a Python interpreter, or use .npz or .csv files"
        raise UnsupportedError("Parquet files need a second Python interpreter, and there is none here", fix=fix)
    command = [sys.executable, "-I", str(CHILD), json.dumps([*map(str, sys.path)]), str(largest)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # stacks and buffers of threads count as memory
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=PATIENCE, env=environment)
    except subprocess.TimeoutExpired as error:
        return error.stdout or b"", f"it takes longer than {PATIENCE:g} s"
    except OSError as error:
        raise LinkworkError("no process can be started to read Parquet", got=error.strerror) from error
    if done.returncode == 0:
        return done.stdout, ""
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    if done.returncode == 1:  # an error that the child caught
        return done.stdout, lines[-1] if lines else "unknown error"
    names = {-each: each.name for each in signal.Signals}
    ending = f"pyarrow ended with {names.get(done.returncode, f'exit code {done.returncode}')}"
    return done.stdout, ": ".join([ending, *lines[-1:]])


def load_pyarrow() -> tuple[Any, Any]:
    """Import pyarrow and pyarrow.parquet, or raise an error that says how to install them."""
    pyarrow = import_optional("pyarrow", "parquet", "a Parquet file")
    parquet = import_optional("pyarrow.parquet", "parquet", "a Parquet file")
    if int(pyarrow.__version__.partition(".")[0]) < 15:  # versions before 14.0.1 unpickle data of the file
        got, fix = f"pyarrow {pyarrow.__version__}", "pip install -U 'linkwork[parquet]'"
        raise UnsupportedError("this version of pyarrow is not safe for untrusted files", got=got, fix=fix)
    return pyarrow, parquet
