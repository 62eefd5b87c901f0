"""Arrays of numbers from files that nobody vouches for: .npy, on their own or in a zip, and Zarr.

Nothing is unpickled, and nothing is made larger than what the file really holds, whatever its head claims.
"""

from __future__ import annotations

import io
import json
import math
import os
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from ...errors import import_optional

Shape = tuple[int, ...]
CODECS = {"bytes", "zstd", "blosc", "gzip", "crc32c"}  # of Zarr; there are others that unpickle
CHUNK = 2**31  # bytes that a chunk may unpack to
METADATA = 2**20  # bytes
MEMORY = 2**24  # bytes that anything may unpack to
PACKED = 1000  # times more than in the file, for numbers that repeat


def read_zip(data: bytes, most: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz file as ``numpy.savez`` writes it: not compressed, so no larger than the file. ``most``:
    bytes that there may be in all; then they may also be compressed."""
    if not data.startswith(b"PK"):
        raise ValueError("no zip file")
    with ZipFile(io.BytesIO(data)) as file:
        members = file.infolist()
        if most is None and any(member.compress_type != ZIP_STORED for member in members):
            raise ValueError("compressed members, which linkwork does not write")
        if sum(member.file_size for member in members) > (len(data) if most is None else most):
            raise ValueError("members that are larger than the file can be")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two members of the same name")
        return {member.filename.removesuffix(".npy"): _from_npy(file.read(member)) for member in members}


def _from_npy(data: bytes) -> np.ndarray:
    file = io.BytesIO(data)
    shape, fortran, dtype = _head(file)
    count, begin = math.prod(shape), file.tell()
    if dtype.kind not in "biufcU" or count * dtype.itemsize != len(data) - begin:
        raise ValueError(f"{len(data) - begin} bytes for an array of shape {shape} and type {dtype}")
    array = np.frombuffer(data, dtype, count, begin) if count * dtype.itemsize else np.empty(count, dtype)
    return array.reshape(shape, order="F" if fortran else "C").copy()


def _head(file: Any) -> tuple[Shape, bool, np.dtype]:
    """Of a .npy file, which is then read up to its numbers."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of .npy")
    shape, fortran, dtype = read(file)
    if any(n < 0 for n in shape):
        raise ValueError(f"shape {shape}")
    return shape, fortran, dtype


def map_npy(path: Path, kept: Shape | None = None) -> np.ndarray:
    """Doubles that stay in a .npy file, all of them or those within the shape ``kept``: of a run that ended on a full
    disk the file has room for more, and ends after the last one."""
    with open(path, "rb") as file:
        shape, fortran, dtype = _head(file)
        begin = file.tell()
    kept = shape if kept is None else (*kept, *shape[len(kept) :])
    if dtype != np.dtype("<f8") or fortran or any(n > most for n, most in zip(kept, shape, strict=False)):
        raise ValueError(f"{path.name} of shape {shape} and type {dtype}, where {kept} doubles were expected")
    strides = [8 * math.prod(shape[k + 1 :]) for k in range(len(shape))]
    held = (path.stat().st_size - begin) // 8
    if not math.prod(kept):
        return np.zeros(kept)
    if 1 + sum((n - 1) * stride // 8 for n, stride in zip(kept, strides, strict=True)) > held:
        raise ValueError(f"{path.name} of shape {shape}, with {held} numbers")
    flat = np.memmap(path, dtype, "r", begin, (held,))
    return np.lib.stride_tricks.as_strided(flat, kept, strides, subok=True, writeable=False)


def open_zarr(path: Path) -> Any:
    """A Zarr array of doubles, as linkwork writes it, which stays on disk; after a look at its metadata."""
    about = json.loads(_short(path / "zarr.json"))
    expected = {"zarr_format": 3, "node_type": "array", "data_type": "float64"}
    wrong = [f"{key} {about.get(key)!r}" for key, value in expected.items() if about.get(key) != value]
    wrong += [f"codec {codec['name']!r}" for codec in about["codecs"] if codec["name"] not in CODECS]
    wrong += ["storage transformers"] if about.get("storage_transformers") else []
    shape, chunk = about["shape"], about["chunk_grid"]["configuration"]["chunk_shape"]
    if not all(type(n) is int and n >= low for low, sizes in ((0, shape), (1, chunk)) for n in sizes):
        wrong.append(f"shape {shape} in chunks of {chunk}")
    elif 8 * math.prod(chunk) > CHUNK or len(shape) != len(chunk):
        wrong.append(f"chunks of {chunk}")
    elif math.prod(shape) and len(list((path / "c").iterdir())) < math.ceil(shape[0] / chunk[0]):
        wrong.append(f"shape {shape}, of which most is not there")
    if wrong:
        raise ValueError(f"{path.name} with {', '.join(wrong)}")
    return import_optional("zarr", "zarr", "a Zarr folder").open_array(str(path), mode="r", zarr_format=3)


def read_zarr(path: Path) -> np.ndarray:
    """All numbers of a Zarr array."""
    array = open_zarr(path)
    stored = sum(chunk.stat().st_size for chunk in (path / "c").rglob("*"))
    if 8 * math.prod(array.shape) > MEMORY + PACKED * stored:
        raise ValueError(f"{path.name} of shape {array.shape} in {stored} bytes")
    return array[:]


def _short(path: Path) -> bytes:
    with open(path, "rb") as file:
        data = file.read(METADATA + 1)
    if len(data) > METADATA:
        raise ValueError(f"{path.name} of more than {METADATA} bytes")
    return data


def require_plain(folder: Path) -> None:
    """Only files and folders: a link may lead anywhere, and a pipe never ends."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                require_plain(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                raise ValueError(f"{entry.name} is no file")
