"""Object code on disk, so that a program is compiled once per machine.

The directory is ``$LINKWORK_CACHE`` or the platform's user cache directory; ``LINKWORK_CACHE=off`` (or empty) means no
cache. An entry is a checksum followed by object code. Whatever goes wrong (no home, no permission, a full disk, a
damaged entry) means a compilation, never an error. Cached code is executed, so the directory is made for the user
alone and entries that another user owns or could have written are not read.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

LIMIT = 512 * 2**20  # bytes; the entries used longest ago go first
CHECKSUM = 32  # bytes of SHA-256
ENTRY = re.compile(r"[0-9a-f]{64}|new-\w+")  # names of entries: a digest, or a file being written


def directory() -> Path | None:
    """Where entries are, or None if there is no cache."""
    chosen = os.environ.get("LINKWORK_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen not in ("", "off") else None
    try:
        if sys.platform == "win32":
            return Path(os.environ["LOCALAPPDATA"]) / "linkwork"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "linkwork"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linkwork"
    except (KeyError, RuntimeError):  # no home
        return None


def get(key: str) -> bytes | None:
    """The object code stored under ``key``, if it is there, ours and undamaged."""
    place = directory()
    if place is None:
        return None
    try:
        with open(place / key, "rb") as file:
            status = os.fstat(file.fileno())
            if os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
                return None
            content = file.read()
        if content[:CHECKSUM] != _checksum(key, content[CHECKSUM:]):
            return None
        os.utime(place / key)
        return content[CHECKSUM:]
    except OSError:
        return None


def put(key: str, code: bytes):
    """Store ``code`` under ``key``; readers see all of it or nothing."""
    place = directory()
    if place is None:
        return
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, prefix="new-")  # readable by the user alone
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(key, code) + code)
            os.replace(temporary, place / key)
        except OSError:
            os.unlink(temporary)
            raise
        _trim(place)
    except OSError:
        pass


def _checksum(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).digest()


def _trim(place: Path):
    with os.scandir(place) as entries:
        ours = [e for e in entries if ENTRY.fullmatch(e.name)]  # the folder may hold what is not ours to delete
        newest_first = sorted(((e.stat().st_mtime, e.stat().st_size, e.path) for e in ours), reverse=True)
    total = 0
    for _, size, path in newest_first:
        total += size
        if total > LIMIT:
            os.unlink(path)
