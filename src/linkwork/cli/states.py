"""States of a robot as text, files and random numbers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError
from ..files import write_bytes
from ..model import Model
from .common import number, numbers

BASE_POSITION = ("base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw")
BASE_MOTION = ("base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz")
UNITS = {  # of vectors and quantities; two where it depends on the joint: for those that turn, for those that slide
    "q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s^2", "m/s^2"), "tau": ("N m", "N"),
    "inverse_dynamics": ("N m", "N"), "bias": ("N m", "N"), "gravity": ("N m", "N"),
    "forward_dynamics": ("rad/s^2", "m/s^2"), "inertia_matrix": "SI", "coriolis_matrix": "SI",
    "kinetic_energy": "J", "potential_energy": "J", "momentum": "kg m/s, kg m^2/s", "center_of_mass": "m",
    "pose": "origin in m", "jacobian": "SI", "jacobian_drift": "m/s^2, rad/s^2",
}  # fmt: skip
SUFFIXES = (".csv", ".npy", ".npz")


def entries(model: Model, vector: str) -> list[str]:
    """Names of the entries of q, v, a or tau."""
    base = (BASE_POSITION if vector == "q" else BASE_MOTION) if model.floating else ()
    return [*base, *model.joint_names]


def neutral(model: Model, vector: str) -> np.ndarray:
    """All zeros, and no rotation for a floating base."""
    return np.array([float(name == "base.qw") for name in entries(model, vector)])


def unit(model: Model, what: str, *, base: bool = True) -> str:
    """Unit of the entries of a vector or a quantity (with those of a floating base), e.g. ``rad``, or ``rad | m`` if
    there are both kinds."""
    units = UNITS[what]
    if isinstance(units, str):
        return units
    turning, sliding = units
    kinds = {joint.prismatic for joint in model.independent_joints}
    if (base and model.floating) or len(kinds) == 2:
        return f"{turning} | {sliding}"
    return sliding if kinds == {True} else turning


def parse(model: Model, vector: str, text: str) -> np.ndarray:
    """From ``0,0.1,...`` in the order of the joints, or ``joint=0.1,...`` with zeros for the rest."""
    option, names = f"--{vector}", entries(model, vector)
    if "=" not in text:
        values = numbers(text, option) if text.strip() else []
        if len(values) != len(names):
            expected = f"{len(names)} numbers: {', '.join(names)}"
            raise ShapeError("wrong number of values", where=option, got=f"{len(values)} numbers", expected=expected)
        return np.array(values)
    result = neutral(model, vector)
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        if name.strip() not in names:
            raise UnknownNameError("joint", name.strip(), names, where=option)
        result[names.index(name.strip())] = number(value, option)
    return result


def random_states(model: Model, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """q, v, a, tau of ``count`` states, the same ones each time."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-math.pi, math.pi, (count, model.nq))
    if model.floating:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=-1, keepdims=True)
    return {"q": q} | {name: rng.standard_normal((count, model.nv)) for name in ("v", "a", "tau")}


# -- files -------------------------------------------------------------------------------------------------------


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise LinkworkError(
            "this kind of file is not known", where=str(path), got=path.suffix or "no suffix",
            expected="one of: " + ", ".join(SUFFIXES),
        )  # fmt: skip


def read_states(path: Path, model: Model, vectors: Sequence[str]) -> dict[str, np.ndarray]:
    """The vectors asked for, each with leading batch axes."""
    check_suffix(path)
    try:
        if path.suffix.lower() == ".csv":
            return _read_csv(path, model, vectors)
        return _read_arrays(path, model, vectors)
    except OSError as error:
        raise LinkworkError(
            f"the file cannot be read: {error.strerror or error}", where=str(path),
            fix="give --input a file that exists and that you may read; a path is taken from the current folder",
        ) from error  # fmt: skip


def _read_csv(path: Path, model: Model, vectors: Sequence[str]) -> dict[str, np.ndarray]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            places = {vector: _columns(path, header, vector, entries(model, vector)) for vector in vectors}
            taken = [place for vector in vectors for place in places[vector]]
            rows: list[list[float]] = []
            for cells in reader:
                if not cells:
                    continue
                try:
                    if len(cells) != len(header):
                        raise ValueError
                    rows.append([float(cells[place]) for place in taken])
                except ValueError:
                    where = f"{path}: row {len(rows) + 1} (line {reader.line_num})"
                    raise _fault(where, header, cells, taken) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise LinkworkError(f"this is not a CSV file: {error}", where=str(path)) from error
    if not rows:
        raise LinkworkError("there are no rows under the header", where=str(path))
    return _apart(np.array(rows), {vector: len(places[vector]) for vector in vectors})


def _columns(path: Path, header: Sequence[str], vector: str, names: Sequence[str]) -> list[int]:
    """Where in the header each entry of a vector stands."""
    places: dict[str, int] = {}
    for place, column in enumerate(header):
        if column.startswith((f"{vector}:", f"{vector}.")):
            name = column[len(vector) + 1 :]
            where = f"{path}: column {column!r}"
            if name not in names:
                raise UnknownNameError("joint", name, names, where=where)
            if name in places:
                raise LinkworkError("this joint has two columns", where=where)
            places[name] = place
    if missing := [f"{vector}:{name}" for name in names if name not in places]:
        raise LinkworkError(
            "columns are missing", where=str(path), got=", ".join(header) or "an empty file",
            expected="also " + ", ".join(missing), fix=f"add them, or give --{vector} for all rows",
        )  # fmt: skip
    return [places[name] for name in names]


def _fault(where: str, header: Sequence[str], cells: Sequence[str], taken: Iterable[int]) -> LinkworkError:
    """What is wrong with a row."""
    if len(cells) != len(header):
        expected = f"{len(header)}, as in the header"
        return LinkworkError("wrong number of columns", where=where, got=len(cells), expected=expected)
    place = next(place for place in taken if not _is_number(cells[place]))
    return LinkworkError("not a number", where=f"{where}, column {header[place]!r}", got=repr(cells[place]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _apart(table: np.ndarray, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Vectors that stand side by side in the last axis."""
    edges = np.cumsum(list(sizes.values()))[:-1]
    return dict(zip(sizes, np.split(table, edges, axis=-1), strict=True))


def _read_arrays(path: Path, model: Model, vectors: Sequence[str]) -> dict[str, np.ndarray]:
    sizes = {vector: len(entries(model, vector)) for vector in vectors}
    try:
        with path.open("rb") as file:
            content: Any = np.load(file, allow_pickle=False)
            if path.suffix.lower() == ".npz":
                arrays = {name: content[name] for name in content.files}
            else:
                _check_array(path, "its array", content, sum(sizes.values()), " + ".join(vectors))
                arrays = _apart(content, sizes)
    except (ValueError, EOFError, AttributeError, BadZipFile) as error:
        if isinstance(error, LinkworkError):
            raise
        raise LinkworkError(f"this is not a NumPy file of numbers: {error}", where=str(path)) from error
    for vector, size in sizes.items():
        if vector not in arrays:
            raise LinkworkError(
                f"there is no array {vector!r}", where=str(path), got=", ".join(arrays) or "no arrays",
                fix=f"add it, or give --{vector} for all states",
            )  # fmt: skip
        _check_array(path, f"array {vector!r}", arrays[vector], size, vector)
    return {vector: arrays[vector] for vector in vectors}


def _check_array(path: Path, what: str, array: np.ndarray, size: int, vector: str) -> None:
    if array.dtype.kind not in "fiu" or array.ndim == 0 or array.shape[-1] != size:
        got, expected = f"{array.dtype} {array.shape}", f"real numbers of shape (..., {size}): {vector}"
        raise ShapeError("this does not fit", where=f"{path}: {what}", got=got, expected=expected)


def write_results(path: Path, name: str, labels: Sequence[str], results: np.ndarray, batch: tuple[int, ...]) -> None:
    """Replace ``path`` by the results in the format of its suffix."""
    buffer = io.BytesIO()
    if path.suffix.lower() == ".csv":
        buffer.write(csv_text(labels, results, batch).encode())
    elif path.suffix.lower() == ".npy":
        np.save(buffer, results)
    else:
        np.savez(buffer, **{name: results})  # type: ignore[arg-type]
    write_bytes(path, buffer.getvalue())


def csv_text(labels: Sequence[str], results: np.ndarray, batch: tuple[int, ...]) -> str:
    """One row per state, one column per entry."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(labels)
    writer.writerows(results.reshape(math.prod(batch), len(labels)))
    return buffer.getvalue()
