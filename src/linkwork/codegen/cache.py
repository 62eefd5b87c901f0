"""Cache of object code on disk, so that a program is compiled once per machine.

The directory is ``$LINKWORK_CACHE`` or the platform's user cache directory; ``LINKWORK_CACHE=off`` (or empty) disables
the cache. An entry is a checksum followed by object code. Any problem (no home, no permission, a full disk, a damaged
entry) leads to a compilation, never to an error.

Cached code is executed, so it must come from this user, or from root (a container's image). The directory and every
entry must belong to them, nobody else may have write permission, and an entry must be a regular file, not a link.
Otherwise the cache is not used.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

LIMIT = 512 * 2**20  # bytes; the least recently used entries are deleted first
CHECKSUM = 32  # bytes of SHA-256
SWEEP = 64  # on average, one in 64 new entries checks the size of the cache, chosen by its digest
STALE = 3600  # seconds after which a temporary file is no longer being written
RECENT = 3600  # seconds in which another use of an entry is not recorded
ENTRY = re.compile(r"[0-9a-f]{64}|new-\w+")  # names of entries: a digest, or a file being written
# Follow no links, and do not block if it is a pipe. Windows has neither.
READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def directory() -> Path | None:
    """Return the directory of the cache, or None if there is no cache."""
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
    """Return the object code stored under ``key``, or None if it is missing, not ours or damaged."""
    place = directory()
    try:
        if place is None or not _ours(place):
            return None
        with open(os.open(place / key, READ), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _safe(status):
                return None
            content = file.read()
    except OSError:
        return None
    if content[:CHECKSUM] != _checksum(key, content[CHECKSUM:]):
        return None
    if time.time() - status.st_mtime > RECENT:
        with suppress(OSError):  # a read-only cache can still be used
            os.utime(place / key)
    return content[CHECKSUM:]


def put(key: str, code: bytes):
    """Store ``code`` under ``key``; readers see either all of it or nothing."""
    place = directory()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(place):
            return
        handle, temporary = tempfile.mkstemp(dir=place, prefix="new-")  # only this user can read it
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(key, code) + code)
            os.replace(temporary, place / key)
        except OSError:
            os.unlink(temporary)
            raise
        if int(key[:8], 16) % SWEEP == 0:
            _sweep(place)


def _ours(place: Path) -> bool:
    """Return whether only this user and root can change a directory, or the target of a link to one."""
    return _safe(os.stat(place)) and _owned(os.lstat(place))


def _safe(status: os.stat_result) -> bool:
    """Return whether only this user and root can have written a file."""
    return os.name != "posix" or (_owned(status) and not status.st_mode & 0o022)


def _owned(status: os.stat_result) -> bool:
    return os.name != "posix" or status.st_uid in (os.geteuid(), 0)


def _checksum(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).digest()


def _sweep(place: Path):
    """Delete temporary files of killed writers, and the least recently used entries beyond the limit."""
    files = []
    with os.scandir(place) as entries:
        for entry in entries:
            if ENTRY.fullmatch(entry.name):  # the folder may contain files of others
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    files.append((status.st_mtime, status.st_size, entry.path))
    total, now = 0, time.time()
    for used, size, path in sorted(files, reverse=True):
        total += size
        if total > LIMIT or (now - used > STALE and Path(path).name.startswith("new-")):
            with suppress(OSError):
                os.unlink(path)
