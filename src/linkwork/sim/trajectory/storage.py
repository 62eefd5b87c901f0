"""Trajectories as files (npz, csv, parquet), folders of streamed arrays, data frames and datasets."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, UnsupportedError, import_optional
from ...files import write_bytes, write_text
from ...quoting import unprintable
from .array_files import map_npy, open_zarr, read_zarr, read_zip, require_plain
from .parquet import load_pyarrow, read_parquet

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from .trajectory import Trajectory

FORMAT = "linkwork trajectory 1"
KEY = "linkwork"  # key of the metadata in npz and parquet files
_DESCRIPTION = "trajectory.json"  # file with the metadata of arrays that were streamed into a folder


def save(trajectory: Trajectory, path: Path) -> None:
    """Write a trajectory to a file, in the format of its suffix."""
    encode, _ = _format(path)
    write_bytes(path, encode(trajectory))


def load(path: Path, build: Callable[..., Trajectory]) -> Trajectory:
    """Return the trajectory in a file or a folder; ``build`` is the class Trajectory."""
    folder = path.is_dir()
    decode = _from_folder if folder else _format(path)[1]
    try:
        with open(path / _DESCRIPTION if folder else path, "rb", opener=_opener) as file:
            data = file.read()
    except OSError as error:
        raise LinkworkError(f"the file cannot be read: {error.strerror}", where=str(error.filename or path)) from error
    try:
        about, arrays = decode(data, path)
        return build(**_arguments(about, arrays))
    except UnsupportedError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise LinkworkError(
            "not a trajectory that linkwork wrote",
            where=str(path),
            got=str(error)[:500] or type(error).__name__,
            expected=f"a file made by Trajectory.save, or a folder by rollout(to=...), {FORMAT!r}",
        ) from error


def _opener(path: str, flags: int) -> int:
    """Open regular files only: a pipe or a device may never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    return os.open(path, flags)


def _format(path: Path) -> tuple[Callable[[Trajectory], bytes], Callable[[bytes, Path], tuple[Any, dict[str, Any]]]]:
    formats = {
        ".npz": (_to_npz, _from_npz),
        ".csv": (lambda trajectory: csv_of(_about(trajectory), _columns(trajectory)), _from_csv),
        ".parquet": (lambda trajectory: parquet_of(_about(trajectory), _columns(trajectory)), _from_parquet),
    }
    if path.suffix not in formats:
        got, expected = path.suffix or "no suffix", ", ".join(formats)
        raise LinkworkError("the suffix is no format of trajectories", where=str(path), got=got, expected=expected)
    return formats[path.suffix]


# -- metadata ------------------------------------------------------------------------------------------------------


def _about(trajectory: Trajectory) -> str:
    fields = ("robot", "method", "dt", "notes", "entries", "units", "batch", "events", "shapes")
    about = {name: getattr(trajectory, name) for name in fields}
    return json.dumps({"format": FORMAT, **about, "arrays": list(trajectory)})


def _arguments(about: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    _check(about)
    names = ("entries", "robot", "method", "dt", "notes", "units", "events")
    rest = {name: about[name] for name in names} | {"shapes": about.get("shapes", {})}  # earlier files have none
    return {"arrays": {name: arrays[name] for name in about["arrays"]}, **rest}


def _check(about: Any) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(f"metadata {str(about)[:80]}")

    def words(x: Any) -> bool:
        return isinstance(x, list) and all(isinstance(word, str) for word in x)

    def tables(x: Any) -> bool:
        return isinstance(x, dict) and all(map(words, x.values()))

    def sizes(x: Any) -> bool:
        return isinstance(x, list) and all(type(n) is int and n >= 0 for n in x)

    def event(x: Any) -> bool:
        return isinstance(x, list) and [type(part) for part in x] == [float, str, str, float]

    valid = {
        **{name: words(about[name]) for name in ("notes", "arrays")},
        **{name: isinstance(about[name], str) for name in ("robot", "method")},
        **{name: tables(about[name]) for name in ("entries", "units")},
        "dt": isinstance(about["dt"], (int, float)),
        "events": all(map(event, about["events"])),
        "batch": sizes(about["batch"]),
        "shapes": isinstance(about.get("shapes", {}), dict) and all(map(sizes, about.get("shapes", {}).values())),
    }
    if wrong := [name for name, fits in valid.items() if not fits]:
        raise ValueError(f"{wrong[0]} {str(about[wrong[0]])[:80]}")
    for name in (about["robot"], *about["arrays"], *(entry for row in about["entries"].values() for entry in row)):
        if bad := unprintable(name):
            raise ValueError(f"the name {name[:80]!r}, which contains the character {bad}")


# -- folders that rollouts were streamed into ----------------------------------------------------------------------


def describe(trajectory: Trajectory, folder: Path) -> None:
    """Write the metadata of streamed arrays into their folder."""
    write_text(folder / _DESCRIPTION, _about(trajectory))


def _from_folder(text: bytes, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Metadata and arrays of a folder; arrays stay on disk until they are used."""
    about = json.loads(text)
    _check(about)
    names, batch = about["arrays"], about["batch"]
    if not all(name.isidentifier() for name in names) or len(batch) > 1:
        raise ValueError(f"arrays {names}, batch {batch}")
    require_plain(folder)
    if (folder / "zarr.json").exists():
        arrays = {name: read_zarr(folder / name) if name == "t" else open_zarr(folder / name) for name in names}
    else:
        t = np.array(map_npy(folder / "t.npy"))
        lead = (*(batch or [1]), len(t))
        arrays = {name: t if name == "t" else map_npy(folder / f"{name}.npy", lead) for name in names}
    if not batch:
        arrays = {name: array if name == "t" else array[0] for name, array in arrays.items()}
    return about, arrays


# -- npz -----------------------------------------------------------------------------------------------------------


def _to_npz(trajectory: Trajectory) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {**trajectory.arrays, KEY: _about(trajectory)}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _from_npz(data: bytes, path: Path) -> tuple[Any, dict[str, Any]]:
    arrays = read_zip(data)
    return json.loads(str(arrays.pop(KEY))), arrays


# -- tables: a row per time, sample after sample -------------------------------------------------------------------


def _columns(trajectory: Trajectory) -> dict[str, np.ndarray]:
    if not trajectory.n_samples:
        raise UnsupportedError("a table cannot hold the times of a batch without samples", fix="save it as .npz")
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
    """Arrays from the columns of a table, in the shapes of its metadata."""
    _check(about)
    batch = tuple(about["batch"])
    times, rest = divmod(len(columns["t"]), math.prod(batch))
    if rest:
        raise ValueError(f"{len(columns['t'])} rows for {math.prod(batch)} samples")
    arrays = {"t": np.array(columns["t"][:times], float)}
    for name in about["arrays"]:
        if name in about["entries"]:
            parts = [columns[f"{name}.{entry}"] for entry in about["entries"][name]]
            stacked = np.stack(parts, axis=-1) if parts else np.zeros((len(columns["t"]), 0))
            arrays[name] = stacked.reshape(*batch, times, *about.get("shapes", {}).get(name, [len(parts)]))
        elif name != "t":
            arrays[name] = np.array(columns[name], float).reshape(*batch, times)
    return arrays


def csv_of(about: str, columns: Mapping[str, np.ndarray]) -> bytes:
    """Return CSV text: a line of metadata, a line of names, and a row for each time."""
    text = io.StringIO()
    text.write(f"# {about}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))  # repr of a float is exact
    return text.getvalue().encode()


def _from_csv(data: bytes, path: Path) -> tuple[Any, dict[str, Any]]:
    first, _, rest = data.decode().partition("\n")
    if not first.startswith("# {"):
        raise ValueError(f"first line {first[:60]!r}, which should be # and the metadata")
    about = json.loads(first[2:])
    header, *rows = csv.reader(io.StringIO(rest))
    if double := [name for k, name in enumerate(header) if name in header[:k]]:
        raise ValueError(f"two columns {double[0]!r}")
    bad = next((k for k, row in enumerate(rows) if len(row) != len(header)), None)
    if bad is not None:
        raise ValueError(f"line {bad + 3} has {len(rows[bad])} columns, the header {len(header)}")
    table = np.array(rows, float).reshape(len(rows), len(header))
    return about, _from_columns(about, dict(zip(header, table.T, strict=True)))


def parquet_of(about: str, columns: Mapping[str, np.ndarray]) -> bytes:
    """Return a Parquet file of columns with metadata."""
    pyarrow, parquet = load_pyarrow()
    table = pyarrow.table(dict(columns)).replace_schema_metadata({KEY: about})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def _from_parquet(data: bytes, path: Path) -> tuple[Any, dict[str, Any]]:
    columns, others, about = read_parquet(data, str(path))
    if others:
        raise ValueError(f"columns of {', '.join(others)}")
    return about, _from_columns(about, columns)


# -- other libraries' objects --------------------------------------------------------------------------------------


def to_pandas(trajectory: Trajectory) -> DataFrame:
    """Convert to a pandas DataFrame; see ``Trajectory.to_pandas``."""
    pandas = import_optional("pandas", "pandas", "a DataFrame")
    return pandas.DataFrame(_columns(trajectory)).set_index(["sample", "t"] if trajectory.batch else "t")


def to_xarray(trajectory: Trajectory) -> Dataset:
    """Convert to an xarray Dataset; see ``Trajectory.to_xarray``.

    Arrays with the same entries share a dimension: "joint" for those of q, otherwise named after the first array.
    Matrices have their own, "pose_axis0" and "pose_axis1".
    """
    xarray = import_optional("xarray", "xarray", "a Dataset")
    count = len(trajectory.batch)
    samples = ["sample"] if count == 1 else [f"sample{k}" for k in range(count)]
    dimensions: dict[tuple[str, ...], str] = {}
    vectors = [name for name in trajectory.entries if name not in trajectory.shapes]
    for name in sorted(vectors, key=lambda name: name != "q"):
        dimensions.setdefault(trajectory.entries[name], "joint" if name == "q" else f"{name}_entry")
    data = {}
    for name, array in trajectory.arrays.items():
        if name != "t":
            last = [dimensions[trajectory.entries[name]]] if name in vectors else []
            last = [f"{name}_axis{k}" for k in range(len(trajectory.shapes.get(name, ())))] or last
            data[name] = ([*samples, "t", *last], array)
    coordinates = {"t": trajectory.t} | {dimension: list(names) for names, dimension in dimensions.items()}
    about = {"robot": trajectory.robot, "method": trajectory.method, "dt": trajectory.dt}
    return xarray.Dataset(data, coordinates, {**about, "notes": list(trajectory.notes)})
