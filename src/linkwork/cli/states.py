"""States of a robot on the command line and in files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..assembly import Assembler
from ..compose import compile
from ..errors import LinkworkError, ShapeError, UnknownNameError, counted
from ..files import write_bytes
from ..inspection.states import entries, neutral
from ..model import Model
from ..model.coordinates import kind_of
from ..sim import OPEN
from .common import number, numbers

SUFFIXES = (".csv", ".npy", ".npz")


def parse(model: Model, vector: str, text: str, option: str = "") -> np.ndarray:
    """Parse ``0,0.1,...`` in the order of the joints, or ``joint=0.1,...``, with zero (or home) for the rest.

    Rotations that are quaternions in q can also be given by their entries in v: ``base.ry=0.1`` rotates a floating base
    in rad about its own y axis, from its default. For a quaternion given in part, the rest is zero and w completes it.

    For the positions of a robot with loops, those of the independent joints are enough. Positions given for other
    joints are kept if the loops close. ``option``: name of the option, for errors; default: ``--VECTOR``.
    """
    option, names = option or f"--{vector.replace('_', '-')}", entries(model, vector)
    if not names and text.strip():
        what = {"commands": "takes no commands", "contacts": "has no contacts"}.get(vector, f"has no {vector}")
        raise LinkworkError(f"this robot {what}", where=option, got=text, fix=f"leave {option} out")
    assembler = Assembler(model) if vector == "q" and model.constrained else None
    independent = [names[k] for k in assembler.places] if assembler else names
    rotations = [n for n in model.coordinates.velocities.names if n not in names] if vector == "q" else []
    if "=" not in text:
        values = numbers(text, option) if text.strip() else []
        if len(values) not in (len(names), len(independent)):
            several = f" (or {len(independent)}: {', '.join(independent)})" if assembler and independent else ""
            expected = f"{counted(len(names), 'number')}: {', '.join(names)}{several}"
            got = counted(len(values), "number")
            raise ShapeError("wrong number of values", where=option, got=got, expected=expected)
        if len(values) == len(names):
            return closed(model, vector, np.array(values), option)
        values_by_name = dict(zip(independent, values, strict=True))
    else:
        values_by_name = {}
        for part in text.split(","):
            name, _, value = part.rpartition("=")
            if name.strip() not in (*names, *rotations):
                if parts := [each for each in names if each.startswith(f"{name.strip()}.")]:
                    message = f"joint {name.strip()!r} has {len(parts)} entries"
                    raise ShapeError(message, where=option, got=part.strip(), expected=f"some of: {', '.join(parts)}")
                raise UnknownNameError(kind_of(vector), name.strip(), [*names, *rotations], where=option)
            values_by_name[name.strip()] = number(value, option)
    start = neutral(model, vector)
    result = _rotated(model, start, values_by_name, option) if rotations else start.copy()
    for name in names:
        if name in values_by_name:
            result[names.index(name)] = values_by_name[name]
    for at in model.coordinates.quaternions if vector == "q" else ():
        rest = 1.0 - result[at] @ result[at]
        if set(names[at]) & set(values_by_name) and names[at][-1] not in values_by_name and rest > 0:
            result[at.stop - 1] = math.sqrt(rest)
    if assembler and set(values_by_name) <= set(independent):
        return assembler(result[assembler.places]).require()
    if assembler:
        fixed = (result != start) | np.isin(names, list(values_by_name))
        assembly = assembler(result[assembler.places], guess=result)
        if assembly.solved and np.allclose(assembly.q[fixed], result[fixed], rtol=0, atol=OPEN):
            return assembly.q
    return closed(model, vector, result, option)


def _rotated(model: Model, q: np.ndarray, entries: Mapping[str, float], option: str) -> np.ndarray:
    """Rotate positions by those entries of v that have no entry in q; zero a quaternion that is given in part."""
    names, velocities = model.coordinates.names, model.coordinates.velocities.names
    step = np.array([0.0 if name in names else entries.get(name, 0.0) for name in velocities])
    q = model.coordinates.integrate(q, step)
    rotated = {name.rpartition(".")[0] for name in entries if name not in names}
    for at in model.coordinates.quaternions:
        if parts := [name for name in names[at] if name in entries]:
            if parts[0].rpartition(".")[0] in rotated:
                fix = "give the rotation, or the quaternion"
                raise LinkworkError("a rotation is given twice", where=option, got=", ".join(entries), fix=fix)
            q[at] = 0.0
    return q


def closed(model: Model, vector: str, q: np.ndarray, where: str) -> np.ndarray:
    """Return a vector unchanged; raise an error for positions with open loops or a quaternion that is zero."""
    if vector == "q" and not all(q[..., at].any(axis=-1).all() for at in model.coordinates.quaternions):
        raise ShapeError("a quaternion is zero", where=where, expected="x, y, z, w of length one")
    if vector != "q" or not model.constrained:
        return q
    gap = max(np.max(np.abs(compile(model, "loop_residual", backend="interpreter")(q)), initial=0.0), 0.0)
    if not gap <= OPEN:
        raise LinkworkError(
            "these positions leave the loops open", where=where, got=f"by up to {gap:.3g} (m, rad)",
            expected=f"at most {OPEN:g}", fix="give the independent joints alone, and the others are solved for",
        )  # fmt: skip
    return q


# -- files -------------------------------------------------------------------------------------------------------


def read_states(path: Path, model: Model, vectors: Sequence[str]) -> dict[str, np.ndarray]:
    """Read vectors from a file, each with leading batch axes."""
    try:
        reader = _read_csv if path.suffix.lower() == ".csv" else _read_arrays
        states = reader(path, model, vectors)
    except OSError as error:
        raise LinkworkError(
            f"the file cannot be read: {error.strerror or error}", where=str(path),
            fix="give --input a file that exists and that you may read; a path is taken from the current folder",
        ) from error  # fmt: skip
    if "q" in states:
        q = states["q"]
        states["q"] = closed(model, "q", q, str(path)) if q.shape[-1] == model.nq else Assembler(model)(q).require()
    return states


def _stored(model: Model, vector: str, header: Sequence[str]) -> list[str]:
    """Return the entries of a vector in the file: for a robot with loops, q may have the independent ones only."""
    names = entries(model, vector)
    if vector == "q" and model.constrained:
        independent = [names[k] for k in Assembler(model).places]
        columns = {column[2:] for column in header if column.startswith(("q:", "q."))}
        return independent if columns <= set(independent) else names
    return names


def _read_csv(path: Path, model: Model, vectors: Sequence[str]) -> dict[str, np.ndarray]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            places = {vector: _columns(path, header, vector, _stored(model, vector, header)) for vector in vectors}
            columns = [place for vector in vectors for place in places[vector]]
            rows: list[list[float]] = []
            for cells in reader:
                if not cells:
                    continue
                try:
                    if len(cells) != len(header):
                        raise ValueError
                    rows.append([float(cells[place]) for place in columns])
                except ValueError:
                    where = f"{path}: row {len(rows) + 1} (line {reader.line_num})"
                    raise _fault(where, header, cells, columns) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise LinkworkError(f"this is not a CSV file: {error}", where=str(path)) from error
    if not rows:
        raise LinkworkError("there are no rows of numbers under the header", where=str(path))
    return _split(np.array(rows), {vector: len(places[vector]) for vector in vectors})


def _columns(path: Path, header: Sequence[str], vector: str, names: Sequence[str]) -> list[int]:
    """Return the column of each entry of a vector."""
    places: dict[str, int] = {}
    for place, column in enumerate(header):
        if column.startswith((f"{vector}:", f"{vector}.")):
            name = column[len(vector) + 1 :]
            where = f"{path}: column {column!r}"
            if name not in names:
                raise UnknownNameError("joint", name, names, where=where)
            if name in places:
                raise LinkworkError("this joint has two columns: remove one", where=where)
            places[name] = place
    if missing := [f"{vector}:{name}" for name in names if name not in places]:
        raise LinkworkError(
            "columns are missing", where=str(path), got=", ".join(header) or "an empty file",
            expected="also " + ", ".join(missing), fix=f"add them, or give --{vector} for all rows",
        )  # fmt: skip
    return [places[name] for name in names]


def _fault(where: str, header: Sequence[str], cells: Sequence[str], columns: Iterable[int]) -> LinkworkError:
    """Return the error for a row that is not read."""
    if len(cells) != len(header):
        expected = f"{len(header)}, as in the header"
        return LinkworkError("wrong number of columns", where=where, got=len(cells), expected=expected)
    place = next(place for place in columns if not _is_number(cells[place]))
    return LinkworkError("not a number", where=f"{where}, column {header[place]!r}", got=repr(cells[place]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _split(table: np.ndarray, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Split vectors that are concatenated along the last axis."""
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
                arrays = _split(content, sizes)
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
        if vector == "q" and model.constrained and arrays[vector].shape[-1:] == (len(Assembler(model).places),):
            size = arrays[vector].shape[-1]
        _check_array(path, f"array {vector!r}", arrays[vector], size, vector)
    return {vector: arrays[vector] for vector in vectors}


def _check_array(path: Path, what: str, array: np.ndarray, size: int, vector: str) -> None:
    if array.dtype.kind not in "fiu" or array.ndim == 0 or array.shape[-1] != size:
        got, expected = f"{array.dtype} {array.shape}", f"real numbers of shape (..., {size}): {vector}"
        raise ShapeError("wrong shape or type", where=f"{path}: {what}", got=got, expected=expected)


@dataclass(frozen=True)
class Result:
    """One output: its name, the labels along each axis, its values over a batch, and their unit."""

    name: str
    labels: Sequence[Sequence[str]]
    values: np.ndarray
    unit: str = ""

    @property
    def columns(self) -> list[str]:
        return [":".join((self.name, *where)) for where in product(*self.labels)]

    @property
    def batch(self) -> tuple[int, ...]:
        return self.values.shape[: self.values.ndim - len(self.labels)]

    @property
    def table(self) -> np.ndarray:
        return self.values.reshape(math.prod(self.batch), len(self.columns))


def write_results(path: Path, results: Sequence[Result]) -> None:
    """Write the results to ``path``, in the format of its suffix."""
    buffer = io.BytesIO()
    if path.suffix.lower() == ".csv":
        buffer.write(csv_text(results).encode())
    elif path.suffix.lower() == ".npz":
        np.savez(buffer, **{result.name: result.values for result in results})  # type: ignore[arg-type]
    elif len(results) == 1:
        np.save(buffer, results[0].values)
    else:
        np.save(buffer, np.concatenate([result.values for result in results], axis=-1))
    write_bytes(path, buffer.getvalue())


def csv_text(results: Sequence[Result]) -> str:
    """Return results as CSV: one row per state, one column per entry."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column for result in results for column in result.columns])
    writer.writerows(np.concatenate([result.table for result in results], axis=-1))
    return buffer.getvalue()
