"""Destinations of a rollout's records: memory, or files that are written block by block to bound memory."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import LinkworkError, import_optional, memory_reported, require_memory
from .array_files import Shape, map_npy

PIECE = 2**18  # numbers that are copied at a time
RESERVE = 2**15  # bytes
DOUBLE = np.dtype("<f8")


class Memory:
    """One array for all outputs, the given ``block`` or a new one; results are views of it."""

    def __init__(
        self,
        samples: int,
        rows: int,
        shapes: Mapping[str, Shape],
        block: np.ndarray | None = None,
        dtype: np.dtype = DOUBLE,
    ):
        self.shapes = shapes
        size = _row_size(shapes)
        if block is None:
            where = f"{samples} samples, {rows} times, {size} numbers each"
            fix = "record fewer steps by every=..., or let rollout stream into files by to='folder'"
            with memory_reported("the records", where=where, fix=fix):
                require_memory(samples * rows * size)
                block = np.empty((samples, rows, size), dtype)
        self.array = block

    def target(self, sample: int, samples: int, row: int, rows: int) -> np.ndarray:
        """Return the array that the time loop writes records of these samples and rows to."""
        return self.array[sample : sample + samples, row : row + rows]

    def flush(self, block: np.ndarray, sample: int, row: int) -> None:
        """Store a block that ``target`` returned; in memory it is stored already."""

    def finish(self, samples: int, rows: int, step: float) -> dict[str, Any]:
        """Return the times, ``step`` apart, and the outputs of the first samples and rows; others are dropped."""
        return {"t": step * np.arange(rows), **_parts(self.array[:samples, :rows], self.shapes)}


class Files:
    """A folder with one .npy file per output, of shape (samples, times, ...), and the times."""

    def __init__(self, folder: Path, samples: int, rows: int, shapes: Mapping[str, Shape], dtype: np.dtype = DOUBLE):
        self.folder, self.samples, self.rows, self.shapes, self.dtype = folder, samples, rows, shapes, dtype
        _make_folder(folder)
        self.reserve, self.full = _Reserve(folder), False
        self.files, self.starts = {}, {}
        for name, shape in shapes.items():  # open until finish; unbuffered, so that a full disk is noticed at once
            self.files[name] = file = open(folder / f"{name}.npy", "w+b", buffering=0)  # noqa: SIM115
            self.starts[name] = _write_header(file, (samples, rows, *shape), dtype)

    def target(self, sample: int, samples: int, row: int, rows: int) -> np.ndarray:
        return np.empty((samples, rows, _row_size(self.shapes)), self.dtype)

    def flush(self, block: np.ndarray, sample: int, row: int) -> None:
        self.full = True  # unless all of it is written
        self.reserve.grow(row + block.shape[1])
        for name, part in _parts(block, self.shapes).items():
            self._write(name, part, sample, row)
        self.full = False

    def _write(self, name: str, part: np.ndarray, sample: int, row: int) -> None:
        file, each = self.files[name], self.dtype.itemsize * math.prod(self.shapes[name])
        for k, rows in enumerate(part):
            file.seek(self.starts[name] + ((sample + k) * self.rows + row) * each)
            _write(file, rows.tobytes())

    def finish(self, samples: int, rows: int, step: float) -> dict[str, Any]:
        self.reserve.release()
        for name, file in self.files.items():
            with file:
                if (samples, rows) != (self.samples, self.rows):  # the run was stopped
                    self._shrink(name, file, samples, rows)
        with open(self.folder / "t.npy", "wb") as file:
            _write_header(file, (rows,), DOUBLE)
            for first in range(0, rows, PIECE):
                _write(file, (step * np.arange(first, min(first + PIECE, rows))).tobytes())
        arrays = {name: map_npy(self.folder / f"{name}.npy", (samples, rows)) for name in self.shapes}
        return {"t": map_npy(self.folder / "t.npy"), **arrays}

    def _shrink(self, name: str, file: Any, samples: int, rows: int) -> None:
        """Keep the first samples and rows.

        Moving samples together needs disk space for a while, since the gaps between them are holes in the file. Without
        this space the gaps stay, and only ``map_npy`` can read the file.
        """
        start, each = self.starts[name], self.dtype.itemsize * math.prod(self.shapes[name])
        gaps = samples > 1 and rows < self.rows
        if gaps and (self.full or shutil.disk_usage(self.folder).free < samples * rows * each):
            file.truncate(start + ((samples - 1) * self.rows + rows) * each)
            return
        file.seek(0)
        begin = _write_header(file, (samples, rows, *self.shapes[name]), self.dtype)
        for k in range(samples):  # all moves are towards the front
            _move(file, start + k * self.rows * each, begin + k * rows * each, rows * each)
        file.truncate(begin + samples * rows * each)


class Zarr:
    """A Zarr group with one array per output, and the times."""

    def __init__(self, folder: Path, samples: int, rows: int, shapes: Mapping[str, Shape], dtype: np.dtype = DOUBLE):
        zarr = import_optional("zarr", "zarr", "a Zarr folder", where=str(folder))
        self.shapes, self.dtype = shapes, dtype
        _make_folder(folder)
        self.reserve = _Reserve(folder)
        self.group = zarr.open_group(str(folder), mode="a", zarr_format=3)
        self.arrays = {
            name: self._array(name, (samples, rows, *shape), (min(samples, 256), min(rows, 1024), *shape), dtype)
            for name, shape in shapes.items()
        }

    def _array(self, name: str, shape: Shape, chunks: Shape, dtype: np.dtype = DOUBLE) -> Any:
        settings: dict[str, Any] = {"dtype": dtype, "fill_value": math.nan, "config": {"write_empty_chunks": True}}
        sizes = tuple(max(n, 1) for n in chunks)
        return self.group.create_array(name, shape=shape, chunks=sizes, **settings)

    target = Files.target

    def flush(self, block: np.ndarray, sample: int, row: int) -> None:
        self.reserve.grow(row + block.shape[1])
        for name, part in _parts(block, self.shapes).items():
            self.arrays[name][sample : sample + part.shape[0], row : row + part.shape[1]] = part

    def finish(self, samples: int, rows: int, step: float) -> dict[str, Any]:
        self.reserve.release()
        for name, array in self.arrays.items():
            array.resize((samples, rows, *self.shapes[name]))
        times = step * np.arange(rows)
        self._array("t", (rows,), (min(rows, PIECE),))[:] = times
        return {"t": times, **self.arrays}


class _Reserve:
    """Disk space for the times and the description, which are written last, even if the disk is full by then."""

    def __init__(self, folder: Path):
        self.path, self.rows = folder / ".room", 0
        with _folder_errors(folder):
            self.path.write_bytes(b"\1" * RESERVE)

    def grow(self, rows: int) -> None:
        if rows > self.rows:
            with open(self.path, "ab", buffering=0) as file:
                _write(file, b"\1" * (8 * (rows - self.rows)))
            self.rows = rows

    def release(self) -> None:
        self.path.unlink()


def destination(
    to: str | Path | None,
    block: np.ndarray | None,
    samples: int,
    rows: int,
    shapes: Mapping[str, Shape],
    dtype: np.dtype,
) -> Memory | Files | Zarr:
    """Return the destination by ``to``: memory for None, Zarr for a name in .zarr, else a folder of .npy files."""
    if to is None:
        return Memory(samples, rows, shapes, block, dtype)
    return (Zarr if Path(to).suffix == ".zarr" else Files)(Path(to), samples, rows, shapes, dtype)


def _row_size(shapes: Mapping[str, Shape]) -> int:
    return sum(math.prod(shape) for shape in shapes.values())


def _make_folder(folder: Path) -> None:
    with _folder_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise LinkworkError("this folder is not empty", where=str(folder), fix="choose a new name, or remove it")


@contextmanager
def _folder_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: an impossible name, such as one with a null byte
        fix, reason = "choose a folder that can be created and written", getattr(error, "strerror", error)
        raise LinkworkError(f"the folder cannot be written: {reason}", where=str(folder), fix=fix) from error


def _write(file: Any, data: bytes) -> None:
    """Write all data, even if the file accepts a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _write_header(file: Any, shape: Shape, dtype: np.dtype) -> int:
    """Write the header of a .npy file, which has space for any shape; return where its numbers begin."""
    np.lib.format.write_array_header_1_0(file, {"descr": dtype.str, "fortran_order": False, "shape": shape})
    return file.tell()


def _move(file: Any, source: int, target: int, size: int) -> None:
    """Move bytes within a file towards its front, a piece at a time."""
    for at in range(0, size if source != target else 0, 8 * PIECE):
        file.seek(source + at)
        piece = file.read(min(8 * PIECE, size - at))
        file.seek(target + at)
        _write(file, piece)


def _parts(block: np.ndarray, shapes: Mapping[str, Shape]) -> dict[str, np.ndarray]:
    parts, start = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        parts[name] = block[..., start : start + size].reshape(*block.shape[:-1], *shape)
        start += size
    return parts
