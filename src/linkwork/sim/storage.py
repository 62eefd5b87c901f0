"""Trajectories as files (npz, csv, parquet), folders of streamed arrays, data frames and datasets."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from ..errors import LinkworkError, UnsupportedError
from ..files import write_bytes, write_text

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from .trajectory import Trajectory

FORMAT = "linkwork trajectory 1"
_KEY = "linkwork"  # of the metadata in npz and parquet files
_BESIDE = "trajectory.json"  # the metadata of arrays that were streamed into a folder


def save(trajectory: Trajectory, path: Path) -> None:
    encode, _ = _format(path)
    write_bytes(path, encode(trajectory))


def load(path: Path, build: Callable[..., Trajectory]) -> Trajectory:
    """The trajectory that a file or a folder holds, made by ``build`` from its arguments."""
    folder = path.is_dir()
    try:
        data = (path / _BESIDE if folder else path).read_bytes()
    except OSError as error:
        raise LinkworkError(f"the file cannot be read: {error.strerror}", where=str(error.filename or path)) from error
    decode = (lambda text: _from_folder(text, path)) if folder else _format(path)[1]
    try:
        about, arrays = decode(data)
        return build(**_arguments(about, arrays))
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile) as error:
        raise LinkworkError(
            "not a trajectory that linkwork wrote",
            where=str(path),
            got=str(error) or type(error).__name__,
            expected=f"a file made by Trajectory.save, or a folder by rollout(to=...), {FORMAT!r}",
        ) from error


def _format(path: Path) -> tuple[Callable[[Trajectory], bytes], Callable[[bytes], tuple[Any, dict[str, Any]]]]:
    formats = {".npz": (_to_npz, _from_npz), ".csv": (_to_csv, _from_csv), ".parquet": (_to_parquet, _from_parquet)}
    if path.suffix not in formats:
        got, expected = path.suffix or "no suffix", ", ".join(formats)
        raise LinkworkError("the suffix tells no format of trajectories", where=str(path), got=got, expected=expected)
    return formats[path.suffix]


# -- what is beside the numbers ------------------------------------------------------------------------------------


def _about(trajectory: Trajectory) -> str:
    fields = ("robot", "method", "dt", "notes", "entries", "units", "batch")
    about = {name: getattr(trajectory, name) for name in fields}
    return json.dumps({"format": FORMAT, **about, "arrays": list(trajectory)})


def _arguments(about: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(f"metadata {str(about)[:80]}")
    names = ("entries", "robot", "method", "dt", "notes", "units")
    return {"arrays": {name: arrays[name] for name in about["arrays"]}, **{name: about[name] for name in names}}


# -- folders that rollouts were streamed into ----------------------------------------------------------------------


def describe(trajectory: Trajectory, folder: Path) -> None:
    """Write beside the streamed arrays what they are."""
    write_text(folder / _BESIDE, _about(trajectory))


def _from_folder(text: bytes, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Arrays stay on disk, and are read where they are used."""
    about = json.loads(text)
    if not all(isinstance(name, str) and name.isidentifier() for name in about["arrays"]):
        raise ValueError(f"arrays {about['arrays']}")
    if (folder / "zarr.json").exists():
        import zarr

        group = zarr.open_group(str(folder), mode="r")
        arrays: dict[str, Any] = {name: group[name] for name in about["arrays"]}
        arrays["t"] = arrays["t"][:]
    else:
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in about["arrays"]}
    if not about["batch"]:
        arrays = {name: array if name == "t" else array[0] for name, array in arrays.items()}
    return about, arrays


# -- npz -----------------------------------------------------------------------------------------------------------


def _to_npz(trajectory: Trajectory) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {**trajectory.arrays, _KEY: _about(trajectory)}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _from_npz(data: bytes) -> tuple[Any, dict[str, Any]]:
    if not data.startswith(b"PK"):  # np.load would try other formats
        raise ValueError("no zip file")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return json.loads(str(file[_KEY])), {name: file[name] for name in file.files if name != _KEY}


# -- tables: a row per time, sample after sample -------------------------------------------------------------------


def _columns(trajectory: Trajectory) -> dict[str, np.ndarray]:
    if not trajectory.n_samples:
        raise UnsupportedError("a table cannot tell the times of a batch without samples", fix="save it as .npz")
    times = np.asarray(trajectory.t, float)
    columns = {"t": np.tile(times, trajectory.n_samples)}
    if trajectory.batch:
        columns = {"sample": np.repeat(np.arange(trajectory.n_samples), len(times)), **columns}
    for name, array in trajectory.arrays.items():
        if name in trajectory.entries:
            flat = np.asarray(array, float).reshape(len(columns["t"]), len(trajectory.entries[name]))
            columns |= {f"{name}.{entry}": flat[:, k] for k, entry in enumerate(trajectory.entries[name])}
        elif name != "t":
            columns[name] = np.asarray(array, float).ravel()
    return columns


def _from_columns(about: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of a table, in the shapes that its metadata tell."""
    _arguments(about, dict.fromkeys(about["arrays"]))
    batch = tuple(about["batch"])
    times, rest = divmod(len(columns["t"]), math.prod(batch))
    if rest:
        raise ValueError(f"{len(columns['t'])} rows for {math.prod(batch)} samples")
    arrays = {"t": np.array(columns["t"][:times], float)}
    for name in about["arrays"]:
        if name in about["entries"]:
            parts = [columns[f"{name}.{entry}"] for entry in about["entries"][name]]
            stacked = np.stack(parts, axis=-1) if parts else np.zeros((len(columns["t"]), 0))
            arrays[name] = stacked.reshape(*batch, times, len(parts))
        elif name != "t":
            arrays[name] = np.array(columns[name], float).reshape(*batch, times)
    return arrays


def _to_csv(trajectory: Trajectory) -> bytes:
    columns = _columns(trajectory)
    text = io.StringIO()
    text.write(f"# {_about(trajectory)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))  # floats as repr: exact
    return text.getvalue().encode()


def _from_csv(data: bytes) -> tuple[Any, dict[str, Any]]:
    first, _, rest = data.decode().partition("\n")
    if not first.startswith("# {"):
        raise ValueError(f"first line {first[:60]!r}, which should be # and the metadata")
    about = json.loads(first[2:])
    header, *rows = csv.reader(io.StringIO(rest))
    bad = next((k for k, row in enumerate(rows) if len(row) != len(header)), None)
    if bad is not None:
        raise ValueError(f"line {bad + 3} has {len(rows[bad])} columns, the header {len(header)}")
    table = np.array(rows, float).reshape(len(rows), len(header))
    return about, _from_columns(about, dict(zip(header, table.T, strict=True)))


def _to_parquet(trajectory: Trajectory) -> bytes:
    pyarrow, parquet = _pyarrow()
    table = pyarrow.table(_columns(trajectory)).replace_schema_metadata({_KEY: _about(trajectory)})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def _from_parquet(data: bytes) -> tuple[Any, dict[str, Any]]:
    _, parquet = _pyarrow()
    table = parquet.read_table(io.BytesIO(data))
    about = json.loads((table.schema.metadata or {})[_KEY.encode()])
    return about, _from_columns(about, {name: table[name].to_numpy() for name in table.column_names})


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UnsupportedError("pyarrow is not installed", fix="pip install 'linkwork[parquet]'") from None
    return pyarrow, parquet


# -- other libraries' objects --------------------------------------------------------------------------------------


def to_pandas(trajectory: Trajectory) -> DataFrame:
    try:
        import pandas
    except ImportError:
        raise UnsupportedError("pandas is not installed", fix="pip install 'linkwork[pandas]'") from None
    return pandas.DataFrame(_columns(trajectory)).set_index(["sample", "t"] if trajectory.batch else "t")


def to_xarray(trajectory: Trajectory) -> Dataset:
    """Arrays with the same entries share a dimension: "joint" those of q, others are called after the first array."""
    try:
        import xarray
    except ImportError:
        raise UnsupportedError("xarray is not installed", fix="pip install 'linkwork[xarray]'") from None
    count = len(trajectory.batch)
    samples = ["sample"] if count == 1 else [f"sample{k}" for k in range(count)]
    dimensions: dict[tuple[str, ...], str] = {}
    for name in sorted(trajectory.entries, key=lambda name: name != "q"):
        dimensions.setdefault(trajectory.entries[name], "joint" if name == "q" else f"{name}_entry")
    data = {}
    for name, array in trajectory.arrays.items():
        if name != "t":
            last = [dimensions[trajectory.entries[name]]] if name in trajectory.entries else []
            data[name] = ([*samples, "t", *last], array)
    coordinates = {"t": trajectory.t} | {dimension: list(names) for names, dimension in dimensions.items()}
    about = {"robot": trajectory.robot, "method": trajectory.method, "dt": trajectory.dt}
    return xarray.Dataset(data, coordinates, {**about, "notes": list(trajectory.notes)})
