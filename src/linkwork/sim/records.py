"""Where a rollout's records go: into memory, or chunk by chunk into files, so that memory stays bounded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkworkError, UnsupportedError

Shape = tuple[int, ...]
PIECE = 2**18  # numbers that go through memory at a time


class Memory:
    """One array for all outputs; results are views of it."""

    def __init__(self, samples: int, rows: int, shapes: Mapping[str, Shape]):
        self.shapes = shapes
        size = sum(math.prod(shape) for shape in shapes.values())
        try:
            self.array = np.empty((samples, rows, size))
        except (MemoryError, ValueError) as error:  # NumPy tells arrays beyond all addresses by the latter
            raise LinkworkError(
                "the records do not fit into memory",
                got=f"{samples} samples, {rows} times, {size} numbers each: {8e-9 * samples * rows * size:.3g} GB",
                fix="record fewer steps by every=..., or let rollout stream into files by to='folder'",
            ) from error

    def target(self, sample: int, samples: int, row: int, rows: int) -> np.ndarray:
        """Where these records go."""
        return self.array[sample : sample + samples, row : row + rows]

    def flush(self, block: np.ndarray, sample: int, row: int) -> None:
        """They are there."""

    def finish(self, samples: int, rows: int, step: float) -> dict[str, Any]:
        """The times, ``step`` apart, and the outputs of the first samples and rows; there are no others."""
        return {"t": step * np.arange(rows), **_parts(self.array[:samples, :rows], self.shapes)}


class Files:
    """A folder with one .npy file per output, of shape (samples, times, ...), and the times."""

    def __init__(self, folder: Path, samples: int, rows: int, shapes: Mapping[str, Shape]):
        self.folder, self.samples, self.rows, self.shapes = folder, samples, rows, shapes
        self.size = sum(math.prod(shape) for shape in shapes.values())
        _make(folder)
        self.files, self.starts = {}, {}
        for name, shape in shapes.items():
            self.files[name] = file = open(folder / f"{name}.npy", "w+b")  # noqa: SIM115 - open until finish
            self.starts[name] = _head(file, (samples, rows, *shape))

    def target(self, sample: int, samples: int, row: int, rows: int) -> np.ndarray:
        return np.empty((samples, rows, self.size))

    def flush(self, block: np.ndarray, sample: int, row: int) -> None:
        for name, part in _parts(block, self.shapes).items():
            self._write(name, np.ascontiguousarray(part), sample, row)

    def _write(self, name: str, part: np.ndarray, sample: int, row: int) -> None:
        file, each = self.files[name], 8 * math.prod(self.shapes[name])
        for k, rows in enumerate(part):
            file.seek(self.starts[name] + ((sample + k) * self.rows + row) * each)
            file.write(rows.data)

    def finish(self, samples: int, rows: int, step: float) -> dict[str, Any]:
        for name, file in self.files.items():
            file.flush()
            kept = (samples, rows, *self.shapes[name])
            if kept[:2] != (self.samples, self.rows):  # stopped before its time
                file.seek(0)
                start, each = _head(file, kept), 8 * math.prod(self.shapes[name])
                for k in range(samples):  # all moves are toward the front
                    _move(file, self.starts[name] + k * self.rows * each, start + k * rows * each, rows * each)
                file.truncate(start + samples * rows * each)
            file.close()
        with open(self.folder / "t.npy", "wb") as file:
            _head(file, (rows,))
            for first in range(0, rows, PIECE):
                file.write((step * np.arange(first, min(first + PIECE, rows))).data)
        return {name: np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in ("t", *self.shapes)}


class Zarr:
    """A Zarr group with one array per output, and the times."""

    def __init__(self, folder: Path, samples: int, rows: int, shapes: Mapping[str, Shape]):
        try:
            import zarr
        except ImportError as error:
            raise UnsupportedError(
                "Zarr is not installed", where=str(folder), fix="pip install 'linkwork[zarr]'"
            ) from error
        self.shapes = shapes
        self.size = sum(math.prod(shape) for shape in shapes.values())
        _make(folder)
        self.group = zarr.open_group(str(folder), mode="w")
        self.arrays = {
            name: self.group.create_array(
                name,
                shape=(samples, rows, *shape),
                chunks=(min(samples, 256), min(rows, 1024), *shape),
                dtype="f8",
                fill_value=math.nan,
            )
            for name, shape in shapes.items()
        }

    target = Files.target

    def flush(self, block: np.ndarray, sample: int, row: int) -> None:
        for name, part in _parts(block, self.shapes).items():
            self.arrays[name][sample : sample + part.shape[0], row : row + part.shape[1]] = part

    def finish(self, samples: int, rows: int, step: float) -> dict[str, Any]:
        for name, array in self.arrays.items():
            array.resize((samples, rows, *self.shapes[name]))
        times = step * np.arange(rows)
        self.group.create_array("t", data=times)
        return {"t": times, **self.arrays}


def destination(to: str | Path | None, samples: int, rows: int, shapes: Mapping[str, Shape]) -> Memory | Files | Zarr:
    """By the name of ``to``: memory without it, Zarr for a name in .zarr, else a folder of .npy files."""
    if to is None:
        return Memory(samples, rows, shapes)
    return (Zarr if Path(to).suffix == ".zarr" else Files)(Path(to), samples, rows, shapes)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise LinkworkError("this folder is not empty", where=str(folder), fix="choose a new name, or remove it")
    except OSError as error:
        fix = "choose a folder that can be made and written"
        raise LinkworkError(f"the folder cannot be written: {error.strerror}", where=str(folder), fix=fix) from error


def _head(file: Any, shape: Shape) -> int:
    """Write the head of a .npy file; where its numbers begin. It has room for any shape."""
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.tell()


def _move(file: Any, source: int, target: int, size: int) -> None:
    """Bytes within a file to a place before them, a piece at a time."""
    for at in range(0, size if source != target else 0, 8 * PIECE):
        file.seek(source + at)
        piece = file.read(min(8 * PIECE, size - at))
        file.seek(target + at)
        file.write(piece)


def _parts(block: np.ndarray, shapes: Mapping[str, Shape]) -> dict[str, np.ndarray]:
    parts, start = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        parts[name] = block[..., start : start + size].reshape(*block.shape[:-1], *shape)
        start += size
    return parts
