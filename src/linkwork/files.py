"""Writing files so that a failure leaves nothing half written; reading files that may hold anything."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from .errors import LinkworkError

LARGEST = 256 * 2**20  # bytes of a file that is read as text


def read_text(path: str | Path, *, fix: str) -> str:
    """The text of a file; a pipe or a device, which may never end, is none."""
    where = str(path)
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise LinkworkError("this is no file", where=where, fix=fix)
        if status.st_size > LARGEST:
            raise LinkworkError("the file is too large", where=where, got=f"{status.st_size} bytes", fix=fix)
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LinkworkError(f"this is not text: {error}", where=where, fix=fix) from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero in it
        reason = getattr(error, "strerror", None) or error
        raise LinkworkError(f"the file cannot be read: {reason}", where=where, fix=fix) from error


def parse_json(text: str) -> Any:
    """What JSON says, or a ValueError, however it is nested."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace ``path`` in one step: write beside it, then rename."""
    path = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise LinkworkError(
            f"the file cannot be written: {error.strerror}",
            where=str(path),
            fix="choose a folder that exists and is writable",
        ) from error
