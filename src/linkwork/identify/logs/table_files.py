"""Files of measurements as tables: text, .npz and .parquet from any source.

Nothing in a file is trusted: pickles are not loaded, and memory is limited by the size of the file.
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import LinkworkError, ShapeError, at_door, counted
from ...files import parse_json, read_bytes
from ...sim.trajectory.array_files import MEMORY, read_zip
from ...sim.trajectory.parquet import read_parquet
from ...sim.trajectory.parquet_child import seconds
from ...sim.trajectory.storage import KEY

LONGEST = 2**30  # bytes of a file, also when unpacked
PACKED = 100  # largest ratio of compression of measured numbers
COLUMNS = 10_000
SUFFIXES = (".csv", ".txt", ".dat", ".npz", ".parquet")
DELIMITERS = ("\t", ";", ",")
THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Table:
    """Columns of numbers in a file.

    Attributes:
        where: Name of the file, for messages.
        names: Names of the columns, "" for those without.
        take: Function from column numbers to the numbers (N, n).
        row: Function from the number of a sample to its place in the file.
        about: What linkwork wrote in the file, besides numbers.
    """

    where: str
    names: tuple[str, ...]
    take: Callable[[Sequence[int]], np.ndarray]
    row: Callable[[int], str]
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        return any(self.names)


def read_table(path: str | Path, decimal: str | None = None) -> Table:
    """Return the table of a file, by its suffix: .csv (or .txt, .dat; also .gz of these), .npz, .parquet.

    The ``decimal`` mark of text is detected by default.
    """
    if decimal not in (None, ".", ","):
        raise ShapeError("this is not a decimal mark", where="decimal", got=repr(decimal), expected='"." or ","')
    path = Path(path)
    packed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if packed else path.suffix
    if suffix not in SUFFIXES or (packed and suffix in (".npz", ".parquet")):
        got, expected = path.name, f"one of {', '.join(SUFFIXES)}, or .csv.gz"
        raise LinkworkError("the suffix is not that of a log", where=str(path), got=got, expected=expected)
    data = read_bytes(path, longest=LONGEST, fix="give the path of a recording")
    if packed:
        data = _unpacked(data, str(path))
    if not data.strip():
        raise LinkworkError("the file is empty", where=str(path), expected="a row of numbers for each sample")
    if suffix == ".npz":
        return _checked(lambda: _from_npz(data, str(path)), str(path), "an .npz file of arrays of numbers")
    if suffix == ".parquet":
        return _checked(lambda: _from_parquet(data, str(path)), str(path), "a .parquet file of columns of numbers")
    return _from_text(data, str(path), decimal)


def from_frame(frame: Any) -> Table:
    """Return the columns of a pandas DataFrame; an index that has a name is one of them."""
    if any(frame.index.names):
        frame = frame.reset_index()
    names = tuple(str(name) for name in frame.columns)

    def take(columns: Sequence[int]) -> np.ndarray:
        parts = []
        for k in columns:
            column = frame.iloc[:, k]
            kind = getattr(column.dtype, "kind", "")
            try:
                parts.append(seconds(np.asarray(column, f"{kind}8[ns]" if kind in ("m", "M") else float)))
            except (ValueError, TypeError) as error:
                raise LinkworkError("these are not numbers", where=f"frame, {names[k]!r}", got=error) from error
        return np.stack(parts, axis=1)

    return Table("frame", names, take, lambda k: f"row {k}")


def _unpacked(data: bytes, where: str) -> bytes:
    most = min(LONGEST, MEMORY + PACKED * len(data))
    try:
        unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
        text = unpack.decompress(data, most)
        if unpack.unconsumed_tail:
            raise LinkworkError("the file unpacks to too much", where=where, expected=f"at most {most:,} bytes")
        if not unpack.eof:
            raise LinkworkError("the file is not complete", where=where, fix="fetch it again")
    except zlib.error as error:
        raise LinkworkError("the file is not packed by gzip", where=where, got=error) from error
    return text


def _checked(read: Callable[[], Table], where: str, expected: str) -> Table:
    try:
        return read()
    except LinkworkError:
        raise
    except Exception as error:  # malformed files may raise anything in their readers
        got = str(error)[:300] or type(error).__name__
        raise LinkworkError("the file cannot be read", where=where, got=got, expected=expected) from error


# -- text ------------------------------------------------------------------------------------------------------------


def _from_text(data: bytes, where: str, decimal: str | None) -> Table:
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise LinkworkError(f"the file is not UTF-8 text: {error}", where=where) from error
    about, comment, first = _beginning(lines, where)
    if first == len(lines):
        raise LinkworkError("the file has no samples", where=where, got=f"{len(lines)} lines, all of them comments")
    known = (",",) if about else tuple(each for each in DELIMITERS if each != decimal)
    delimiter = next((each for each in known if each in lines[first].strip()), None)
    names: tuple[str, ...] = ()
    if not all(map(_is_number, fields := _fields(lines[first], delimiter))):
        names, first = fields, first + 1
        while first < len(lines) and not _content(lines[first]):
            first += 1
        if first == len(lines):
            raise LinkworkError("the file has a header and no samples", where=where, got=counted(len(names), "column"))
        if len(_fields(lines[first], delimiter)) != len(names):  # a delimiter of the names, not of the columns
            delimiter = next((each for each in known if each in lines[first].strip()), None)
    width = len(_fields(lines[first], delimiter))
    header = _fields(comment, delimiter)
    if not names and len(header) == width and not any(map(_is_number, header)):
        names = header  # as numpy.savetxt writes it
    if width > COLUMNS or (names and width != len(names)):
        got = counted(width, "column") + (f", and a header of {len(names)}" if names else "")
        raise LinkworkError("the columns do not fit", where=f"{where}, line {first + 1}", got=got)
    rows = [k for k in range(first, len(lines)) if _content(lines[k])]
    data_lines = lines[first:] if len(rows) == len(lines) - first else [lines[k] for k in rows]
    _require_rectangle(data_lines, rows, width, delimiter, where)
    plain = str
    if delimiter != "," and any("," in line for line in data_lines):
        decimal = decimal or _decimal_mark(data_lines, rows, delimiter, where)
        plain = _with_points if decimal == "," else _without_thousands

    def take(columns: Sequence[int]) -> np.ndarray:
        return _numbers(data_lines, plain, rows, columns, delimiter, names, where)

    return Table(where, names or ("",) * width, take, lambda k: f"line {rows[k] + 1}", about)


def _beginning(lines: Sequence[str], where: str) -> tuple[Mapping[str, Any], str, int]:
    """Return what linkwork wrote in the first line, the last comment, and where other lines begin."""
    about, comment = {}, ""
    for k, line in enumerate(lines):
        if _content(line):
            return about, comment, k
        comment = line.strip().lstrip("#%").strip() or comment
        if line.startswith("# {") and not about:
            try:
                content = parse_json(line[2:])
            except ValueError as error:
                raise LinkworkError(
                    "the first line cannot be read", where=f"{where}, line {k + 1}", got=error
                ) from error
            about = content if isinstance(content, dict) else {}
    return about, comment, len(lines)


def _content(line: str) -> bool:
    return bool(line) and not line.isspace() and line[0] not in "#%"


def _fields(line: str, delimiter: str | None) -> tuple[str, ...]:
    if delimiter is None:
        return tuple(line.split())
    try:
        fields = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # too long, for one
        fields = line.split(delimiter)
    return tuple(field.strip() for field in fields)


def _is_number(text: str) -> bool:
    for plain in (_with_points, _without_thousands):
        try:
            float(plain(text))
        except ValueError:
            continue
        return True
    return not text  # a value that is missing


def _with_points(text: str) -> str:
    """Return text with decimal commas as points, and points as commas, which no number contains."""
    return text.translate(SWAPPED)


def _without_thousands(text: str) -> str:
    return THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)


def _decimal_mark(lines: Sequence[str], rows: Sequence[int], delimiter: str | None, where: str) -> str:
    """Return what commas in numbers are: 0,5 has decimals, 1,234.5 thousands, and 1,234 alone may be either."""
    unclear = None
    for k, line in enumerate(lines):
        for text in _fields(line, delimiter) if "," in line else ():
            if "," not in text or not _is_number(text):
                continue
            if not THOUSANDS.search(text):
                return ","
            if "." in text or text.count(",") > 1:
                return "."
            unclear = unclear or (rows[k], text)
    if unclear is None:
        return "."
    row, text = unclear
    raise LinkworkError(
        "a comma may be a decimal mark or separate thousands", where=f"{where}, line {row + 1}", got=text,
        expected="at least one number with only one meaning, such as 0,5 or 1,234.5",
        fix=" ".join([at_door('decimal=","', "--decimal ,"), f"if it is {_with_points(text)},",
                      at_door('decimal="."', "--decimal ."), f"if it is {_without_thousands(text)}"]),
    )  # fmt: skip


def _require_rectangle(
    lines: Sequence[str], rows: Sequence[int], width: int, delimiter: str | None, where: str
) -> None:
    for k, line in enumerate(lines):
        count = len(line.split()) if delimiter is None else line.count(delimiter) + 1
        if count != width and len(_fields(line, delimiter)) != width:
            last = " (the last: was the recording cut short?)" if k == len(lines) - 1 else ""
            raise LinkworkError(
                "a row has another number of columns", where=f"{where}, line {rows[k] + 1}{last}",
                got=counted(count, "column"), expected=f"{width}, as in the first row", fix="correct or remove the row",
            )  # fmt: skip


def _numbers(
    lines: Sequence[str],
    plain: Callable[[str], str],
    rows: Sequence[int],
    columns: Sequence[int],
    delimiter: str | None,
    names: tuple[str, ...],
    where: str,
) -> np.ndarray:
    try:
        return np.loadtxt(
            map(plain, lines), delimiter=delimiter, usecols=columns, ndmin=2, comments=None, quotechar='"'
        )
    except ValueError as error:
        for k, line in enumerate(lines):
            fields = _fields(line, delimiter)
            for column in columns:
                try:
                    float(plain(fields[column]))
                except (ValueError, IndexError):
                    name = f" {names[column]!r}" if names else ""
                    raise LinkworkError(
                        "this is not a number", where=f"{where}, line {rows[k] + 1}, column {column}{name}",
                        got=repr(fields[column]) if "".join(fields[column : column + 1]) else "nothing",
                        fix="remove the rows without a value, or choose other columns",
                    ) from error  # fmt: skip
        raise LinkworkError("the numbers cannot be read", where=where, got=error) from error


# -- .npz and .parquet -----------------------------------------------------------------------------------------------


def _from_npz(data: bytes, where: str) -> Table:
    """Return the table: arrays (N,) are columns by name, arrays (N, n) NAME.0, NAME.1, ... or as linkwork named
    them."""
    arrays = read_zip(data, most=min(LONGEST, MEMORY + PACKED * len(data)))
    about = parse_json(str(arrays.pop(KEY))) if KEY in arrays else {}
    about = about if isinstance(about, dict) else {}
    entries = about.get("entries", {})
    columns: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
            continue
        if array.ndim == 1:
            columns[name] = array
            continue
        names = entries.get(name)
        fits = isinstance(names, list) and len(names) == array.shape[1]
        for k in range(min(array.shape[1], COLUMNS)):
            columns[f"{name}.{names[k] if fits else k}"] = array[:, k]
    return _of_columns(columns, where, about)


def _from_parquet(data: bytes, where: str) -> Table:
    columns, _, about = read_parquet(data, where)
    return _of_columns(columns, where, about if isinstance(about, dict) else {})


def _of_columns(columns: Mapping[str, np.ndarray], where: str, about: Mapping[str, Any]) -> Table:
    names, arrays = tuple(columns), list(columns.values())
    if not names or not max(map(len, arrays)):
        raise LinkworkError("the file has no samples", where=where, got=f"{counted(len(names), 'column')} of numbers")

    def take(columns: Sequence[int]) -> np.ndarray:
        if len({len(arrays[k]) for k in columns}) > 1:
            got = ", ".join(f"{names[k]} {len(arrays[k])}" for k in columns)
            raise LinkworkError("columns of unequal lengths", where=where, got=got)
        return np.stack([np.asarray(arrays[k], float) for k in columns], axis=1)

    return Table(where, names, take, lambda k: f"sample {k}", about)
