"""States of a robot as text and files."""

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
from ..errors import LinkworkError, ShapeError, UnknownNameError
from ..files import write_bytes
from ..inspection.states import entries, neutral
from ..model import Model
from ..model.coordinates import kind_of
from ..sim import OPEN
from .common import number, numbers

SUFFIXES = (".csv", ".npy", ".npz")


def parse(model: Model, vector: str, text: str, option: str = "") -> np.ndarray:
    """From ``0,0.1,...`` in the order of the joints, or ``joint=0.1,...`` with zeros (or home) for the rest.

    Where a quaternion tells a turn, its entries in v name a turn, too: ``base.ry=0.1`` of a floating base, in rad about
    its own axes, from where it would be. Of a quaternion that is given in part the rest is zero, and w completes it.

    Of the positions of a robot with loops, those of the independent joints are enough; what is given of the others
    stays, if the loops close. ``option``: where the text was given, ``--VECTOR`` if not said.
    """
    option, names = option or f"--{vector.replace('_', '-')}", entries(model, vector)
    if not names and text.strip():
        what = {"commands": "takes no commands", "contacts": "has no contacts"}.get(vector, f"has no {vector}")
        raise LinkworkError(f"this robot {what}", where=option, got=text, fix=f"leave {option} out")
    assembler = Assembler(model) if vector == "q" and model.constrained else None
    known = [names[k] for k in assembler.places] if assembler else names
    turns = [n for n in model.coordinates.velocities.names if n not in names] if vector == "q" else []
    if "=" not in text:
        values = numbers(text, option) if text.strip() else []
        if len(values) not in (len(names), len(known)):
            several = f" (or {len(known)}: {', '.join(known)})" if assembler and known else ""
            expected = f"{len(names)} numbers: {', '.join(names)}{several}"
            raise ShapeError("wrong number of values", where=option, got=f"{len(values)} numbers", expected=expected)
        if len(values) == len(names):
            return closed(model, vector, np.array(values), option)
        given = dict(zip(known, values, strict=True))
    else:
        given = {}
        for part in text.split(","):
            name, _, value = part.rpartition("=")
            if name.strip() not in (*names, *turns):
                if own := [each for each in names if each.startswith(f"{name.strip()}.")]:
                    message = f"joint {name.strip()!r} has {len(own)} entries"
                    raise ShapeError(message, where=option, got=part.strip(), expected=f"some of: {', '.join(own)}")
                raise UnknownNameError(kind_of(vector), name.strip(), [*names, *turns], where=option)
            given[name.strip()] = number(value, option)
    start = neutral(model, vector)
    result = _turned(model, start, given, option) if turns else start.copy()
    result[[names.index(name) for name in given if name in names]] = [given[name] for name in given if name in names]
    for at in model.coordinates.quaternions if vector == "q" else ():
        rest = 1.0 - result[at] @ result[at]
        if set(names[at]) & set(given) and names[at][-1] not in given and rest > 0:
            result[at.stop - 1] = math.sqrt(rest)
    if assembler and set(given) <= set(known):
        return assembler(result[assembler.places]).require()
    if assembler:
        told = (result != start) | np.isin(names, list(given))
        found = assembler(result[assembler.places], guess=result)
        if found.solved and np.allclose(found.q[told], result[told], rtol=0, atol=OPEN):
            return found.q
    return closed(model, vector, result, option)


def _turned(model: Model, q: np.ndarray, given: Mapping[str, float], option: str) -> np.ndarray:
    """Positions turned as entries of v tell that are none of q; zeros in place of a quaternion given in part."""
    names, freedoms = model.coordinates.names, model.coordinates.velocities.names
    q = model.coordinates.integrate(q, np.array([0.0 if name in names else given.get(name, 0.0) for name in freedoms]))
    turned = {name.rpartition(".")[0] for name in given if name not in names}
    for at in model.coordinates.quaternions:
        if own := [name for name in names[at] if name in given]:
            if own[0].rpartition(".")[0] in turned:
                fix = "give the turn, or the quaternion"
                raise LinkworkError("a turn is told in two ways", where=option, got=", ".join(given), fix=fix)
            q[at] = 0.0
    return q


def closed(model: Model, vector: str, q: np.ndarray, where: str) -> np.ndarray:
    """A vector as it is, unless it is of positions that leave loops open, or have a quaternion that is zero."""
    if vector == "q" and not all(q[..., at].any(axis=-1).all() for at in model.coordinates.quaternions):
        raise ShapeError("a quaternion is zero", where=where, expected="x, y, z, w of length one")
    if vector != "q" or not model.constrained:
        return q
    gap = max(np.max(np.abs(compile(model, "loop_residual", backend="interpreter")(q)), initial=0.0), 0.0)
    if not gap <= OPEN:
        raise LinkworkError(
            "these positions leave the loops open", where=where, got=f"by up to {gap:.3g} (m, rad)",
            expected=f"at most {OPEN:g}", fix="give the independent joints alone, and the others are found",
        )  # fmt: skip
    return q


# -- files -------------------------------------------------------------------------------------------------------


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise LinkworkError(
            "this kind of file is not known", where=str(path), got=path.suffix or "no suffix",
            expected="one of: " + ", ".join(SUFFIXES),
        )  # fmt: skip


def read_states(path: Path, model: Model, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """The vectors asked for, each with leading batch axes."""
    check_suffix(path)
    try:
        read = _read_csv if path.suffix.lower() == ".csv" else _read_arrays
        states = read(path, model, wanted)
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
    """The entries to look for: of q of a robot with loops all, or the independent ones if that is all there is."""
    names = entries(model, vector)
    if vector == "q" and model.constrained:
        known = [names[k] for k in Assembler(model).places]
        given = {column[2:] for column in header if column.startswith(("q:", "q."))}
        return known if given <= set(known) else names
    return names


def _read_csv(path: Path, model: Model, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            places = {vector: _columns(path, header, vector, _stored(model, vector, header)) for vector in wanted}
            taken = [place for vector in wanted for place in places[vector]]
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
    return _apart(np.array(rows), {vector: len(places[vector]) for vector in wanted})


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


def _read_arrays(path: Path, model: Model, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    needed = {vector: len(entries(model, vector)) for vector in wanted}
    try:
        with path.open("rb") as file:
            content: Any = np.load(file, allow_pickle=False)
            if path.suffix.lower() == ".npz":
                arrays = {name: content[name] for name in content.files}
            else:
                _check_array(path, "its array", content, sum(needed.values()), " + ".join(wanted))
                arrays = _apart(content, needed)
    except (ValueError, EOFError, AttributeError, BadZipFile) as error:
        if isinstance(error, LinkworkError):
            raise
        raise LinkworkError(f"this is not a NumPy file of numbers: {error}", where=str(path)) from error
    for vector, size in needed.items():
        if vector not in arrays:
            raise LinkworkError(
                f"there is no array {vector!r}", where=str(path), got=", ".join(arrays) or "no arrays",
                fix=f"add it, or give --{vector} for all states",
            )  # fmt: skip
        if vector == "q" and model.constrained and arrays[vector].shape[-1:] == (len(Assembler(model).places),):
            size = arrays[vector].shape[-1]
        _check_array(path, f"array {vector!r}", arrays[vector], size, vector)
    return {vector: arrays[vector] for vector in wanted}


def _check_array(path: Path, what: str, array: np.ndarray, size: int, vector: str) -> None:
    if array.dtype.kind not in "fiu" or array.ndim == 0 or array.shape[-1] != size:
        got, expected = f"{array.dtype} {array.shape}", f"real numbers of shape (..., {size}): {vector}"
        raise ShapeError("this does not fit", where=f"{path}: {what}", got=got, expected=expected)


@dataclass(frozen=True)
class Result:
    """One output: its name, names along each axis, its values over a batch, and their unit."""

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
    """Replace ``path`` by the results in the format of its suffix."""
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
    """One row per state, one column per entry."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column for result in results for column in result.columns])
    writer.writerows(np.concatenate([result.table for result in results], axis=-1))
    return buffer.getvalue()
