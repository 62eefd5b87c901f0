"""Arrays of numbers from untrusted files: .npy, on their own or in a zip, and Zarr.

Nothing is unpickled, and no array is larger than what the file really holds, whatever its header claims.
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
CODECS = {"bytes", "zstd", "blosc", "gzip", "crc32c"}  # of Zarr; some others unpickle
CHUNK = 2**31  # largest size of a decompressed chunk in bytes
METADATA = 2**20  # largest size of metadata in bytes
MEMORY = 2**24  # bytes to which any file may decompress
PACKED = 1000  # further allowance for files of repeated numbers: this factor times the size of the file


def read_zip(data: bytes, most: int | None = None) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file, by name.

    Args:
        data: The file.
        most: Largest size of all arrays in bytes; they may then be compressed. Default: the size of the file, and only
            arrays that are not compressed, as ``numpy.savez`` writes them.

    Raises:
        ValueError: The file is not such a file.
    """
    if not data.startswith(b"PK"):
        raise ValueError("not a zip file")
    with ZipFile(io.BytesIO(data)) as file:
        members = file.infolist()
        if most is None and any(member.compress_type != ZIP_STORED for member in members):
            raise ValueError("compressed members, which linkwork does not write")
        if sum(member.file_size for member in members) > (len(data) if most is None else most):
            raise ValueError("members that claim to be larger than the file")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two members of the same name")
        return {member.filename.removesuffix(".npy"): _from_npy(file.read(member)) for member in members}


def _from_npy(data: bytes) -> np.ndarray:
    file = io.BytesIO(data)
    shape, fortran, dtype = _header(file)
    count, begin = math.prod(shape), file.tell()
    if dtype.kind not in "biufcU" or count * dtype.itemsize != len(data) - begin:
        raise ValueError(f"{len(data) - begin} bytes for an array of shape {shape} and type {dtype}")
    array = np.frombuffer(data, dtype, count, begin) if count * dtype.itemsize else np.empty(count, dtype)
    return array.reshape(shape, order="F" if fortran else "C").copy()


def _header(file: Any) -> tuple[Shape, bool, np.dtype]:
    """Read the header of a .npy file, up to its numbers."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of .npy")
    shape, fortran, dtype = read(file)
    if any(n < 0 for n in shape):
        raise ValueError(f"shape {shape}")
    return shape, fortran, dtype


def map_npy(path: Path, lead: Shape | None = None) -> np.ndarray:
    """Return floats that stay in a .npy file: all of them, or those within the leading axes ``lead``.

    The file of a run that ended on a full disk has a header with larger axes, and ends after the last number.
    """
    with open(path, "rb") as file:
        full, fortran, dtype = _header(file)
        begin = file.tell()
    shape = full if lead is None else (*lead, *full[len(lead) :])
    if dtype.str not in ("<f8", "<f4") or fortran or any(n > most for n, most in zip(shape, full, strict=False)):
        raise ValueError(f"{path.name} of shape {full} and type {dtype}, where {shape} floats were expected")
    item = dtype.itemsize
    strides = [item * math.prod(full[k + 1 :]) for k in range(len(full))]
    count = (path.stat().st_size - begin) // item
    if not math.prod(shape):
        return np.zeros(shape, dtype)
    if 1 + sum((n - 1) * stride // item for n, stride in zip(shape, strides, strict=True)) > count:
        raise ValueError(f"{path.name} of shape {full}, with {count} numbers")
    flat = np.memmap(path, dtype, "r", begin, (count,))
    return np.lib.stride_tricks.as_strided(flat, shape, strides, subok=True, writeable=False)


def open_zarr(path: Path) -> Any:
    """Check the metadata of a Zarr array of floats, as linkwork writes it; return the array, which stays on disk."""
    about = json.loads(_read_short(path / "zarr.json"))
    expected = {"zarr_format": [3], "node_type": ["array"], "data_type": ["float64", "float32"]}
    wrong = [f"{key} {about.get(key)!r}" for key, values in expected.items() if about.get(key) not in values]
    wrong += [f"codec {codec['name']!r}" for codec in about["codecs"] if codec["name"] not in CODECS]
    wrong += ["storage transformers"] if about.get("storage_transformers") else []
    shape, chunk = about["shape"], about["chunk_grid"]["configuration"]["chunk_shape"]
    if not all(type(n) is int and n >= low for low, sizes in ((0, shape), (1, chunk)) for n in sizes):
        wrong.append(f"shape {shape} in chunks of {chunk}")
    elif 8 * math.prod(chunk) > CHUNK or len(shape) != len(chunk):
        wrong.append(f"chunks of {chunk}")
    elif math.prod(shape) and len(list((path / "c").iterdir())) < math.ceil(shape[0] / chunk[0]):
        wrong.append(f"shape {shape}, of which most chunks are missing")
    if wrong:
        raise ValueError(f"{path.name} with {', '.join(wrong)}")
    return import_optional("zarr", "zarr", "a Zarr folder").open_array(str(path), mode="r", zarr_format=3)


def read_zarr(path: Path) -> np.ndarray:
    """Return all numbers of a Zarr array."""
    array = open_zarr(path)
    stored = sum(chunk.stat().st_size for chunk in (path / "c").rglob("*"))
    if 8 * math.prod(array.shape) > MEMORY + PACKED * stored:
        raise ValueError(f"{path.name} of shape {array.shape} in {stored} bytes")
    return array[:]


def _read_short(path: Path) -> bytes:
    with open(path, "rb") as file:
        data = file.read(METADATA + 1)
    if len(data) > METADATA:
        raise ValueError(f"{path.name} of more than {METADATA} bytes")
    return data


def require_plain(folder: Path) -> None:
    """Raise an error unless a folder has only files and folders: a link may lead anywhere, and a pipe never ends."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                require_plain(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                raise ValueError(f"{entry.name} is not a file")
