"""Logs as files, that ``Log.read`` gives back with no options."""

from __future__ import annotations

import io
import json
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError
from ...files import write_bytes
from ...sim.trajectory.storage import KEY, csv_of, parquet_of
from .read_log import FORMAT

if TYPE_CHECKING:
    from .log import Log

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


def save(log: Log, path: Path) -> None:
    formats = {".csv": _to_csv, ".npz": _to_npz, ".parquet": _to_parquet}
    if path.suffix not in formats:
        got, expected = path.suffix or "no suffix", ", ".join(formats)
        raise LinkworkError("the suffix tells no format of logs", where=str(path), got=got, expected=expected)
    write_bytes(path, formats[path.suffix](log))


def _arrays(log: Log) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Names of the columns of all arrays (N, n), and these."""
    names = {"q": log.joints, "v": log.rates, "a": log.rates, "tau": log.forces}
    found = {kind: (own, getattr(log, kind)) for kind, own in names.items()}
    if log.reference is not None:
        parts = zip("qva", log.reference, strict=True)
        fits = {kind: names[kind] if x is not None and len(names[kind]) == x.shape[1] else () for kind, x in parts}
        found |= {f"reference.{kind}": (fits[kind], x) for kind, x in zip("qva", log.reference, strict=True)}
    found |= {f"wrench.{frame}": (WRENCH, x) for frame, x in log.wrenches.items()}
    counted = {name: (own or map(str, range(x.shape[1])), x) for name, (own, x) in found.items() if x is not None}
    return {name: (tuple(own), x) for name, (own, x) in counted.items()}


def _about(log: Log) -> str:
    entries = {name: own for name, (own, _) in _arrays(log).items()}
    band = None if log.band is None else astuple(log.band)
    about = {"format": FORMAT, "entries": entries, "band": band, "passed": log.passed, "notes": log.notes}
    noise = {kind: sizes.tolist() for kind, sizes in log.noise.items()}
    return json.dumps({**about, "noise": noise, "differentiated": [*log.differentiated]})


def _columns(log: Log) -> dict[str, np.ndarray]:
    columns = {"t": log.t}
    for name, (own, array) in _arrays(log).items():
        columns |= {f"{name}.{entry}": array[:, k] for k, entry in enumerate(own)}
    return columns if log.keep is None else {**columns, "keep": log.keep.astype(float)}


def _to_csv(log: Log) -> bytes:
    return csv_of(_about(log), _columns(log))


def _to_npz(log: Log) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {"t": log.t, **{name: x for name, (_, x) in _arrays(log).items()}, KEY: _about(log)}
    np.savez(buffer, **arrays if log.keep is None else {**arrays, "keep": log.keep})
    return buffer.getvalue()


def _to_parquet(log: Log) -> bytes:
    return parquet_of(_about(log), _columns(log))
