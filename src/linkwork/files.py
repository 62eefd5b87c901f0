"""Writing files so that a failure leaves nothing half written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from .errors import LinkworkError


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
