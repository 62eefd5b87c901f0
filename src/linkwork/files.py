"""Reading files that are not trusted, and writing files in one step, so that a failure leaves no partial file."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from .errors import LinkworkError

LARGEST = 2**28  # bytes of a file that is read as a whole


def read_bytes(
    path: str | Path, *, longest: int = LARGEST, kind: type[LinkworkError] = LinkworkError, fix: str = ""
) -> bytes:
    """Return the content of a file. Refuses devices and pipes, which may never end."""
    path = os.fspath(path)  # TypeError for a number, which would be used as the handle of an open file
    try:
        status = os.stat(path)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise OSError(None, "this is a device or a pipe")
        with open(path, "rb") as file:
            data = file.read() if status.st_size <= longest else None
    except (OSError, ValueError) as error:  # ValueError: an impossible name, such as one with a NUL character
        reason = getattr(error, "strerror", None) or str(error)
        raise kind(f"the file cannot be read: {reason}", where=str(path), fix=fix) from error
    if data is None:
        got = f"{status.st_size:,} bytes"
        raise kind("the file is too long", where=str(path), got=got, expected=f"at most {longest:,} bytes")
    return data


def read_text(
    path: str | Path, *, longest: int = LARGEST, kind: type[LinkworkError] = LinkworkError, fix: str = ""
) -> str:
    """Return the content of a text file."""
    try:
        return read_bytes(path, longest=longest, kind=kind, fix=fix).decode()
    except UnicodeDecodeError as error:
        raise kind(f"the file is not UTF-8 text: {error}", where=str(path)) from error


def parse_json(text: str) -> Any:
    """Parse JSON; raises ValueError also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace ``path`` in one step: write a temporary file in the same folder, then rename it."""
    path = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise LinkworkError(
            f"the file cannot be written: {getattr(error, 'strerror', error)}",
            where=str(path),
            fix="choose a folder that exists and is writable",
        ) from error
