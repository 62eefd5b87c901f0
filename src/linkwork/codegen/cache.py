"""Object code on disk, so that a program is compiled once per machine.

The directory is ``$LINKWORK_CACHE`` or the platform's user cache directory; ``LINKWORK_CACHE=off`` (or empty) means no
cache. An entry is a checksum followed by object code. Whatever goes wrong (no home, no permission, a full disk, a
damaged entry) means a compilation, never an error.

Cached code is executed, so it must come from this user, or from root (a container's image): the directory and every
entry are theirs and nobody else may write to them, an entry is a regular file and not a link. Anything else is left
alone, as if there were no cache.
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

LIMIT = 512 * 2**20  # bytes; the entries used longest ago go first
CHECKSUM = 32  # bytes of SHA-256
SWEEP = 64  # one in so many new entries looks through all of them; their names are as good as random
STALE = 3600  # seconds after which the file of a writer is no longer being written
RECENT = 3600  # seconds in which another use is not noted
ENTRY = re.compile(r"[0-9a-f]{64}|new-\w+")  # names of entries: a digest, or a file being written
# Windows has neither links nor pipes to stumble over here; without waiting, should it be a pipe
READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


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
        with suppress(OSError):  # a cache that cannot be written to still serves
            os.utime(place / key)
    return content[CHECKSUM:]


def put(key: str, code: bytes):
    """Store ``code`` under ``key``; readers see all of it or nothing."""
    place = directory()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(place):
            return
        handle, temporary = tempfile.mkstemp(dir=place, prefix="new-")  # readable by the user alone
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
    """Whether nobody but this user and root decides what is in a directory, or where a link to one points."""
    return _safe(os.stat(place)) and _owned(os.lstat(place))


def _safe(status: os.stat_result) -> bool:
    """Whether nobody but this user and root can have written it."""
    return os.name != "posix" or (_owned(status) and not status.st_mode & 0o022)


def _owned(status: os.stat_result) -> bool:
    return os.name != "posix" or status.st_uid in (os.geteuid(), 0)


def _checksum(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).digest()


def _sweep(place: Path):
    """Remove what killed writers left, and the entries used longest ago while there are too many."""
    found = []
    with os.scandir(place) as entries:
        for entry in entries:
            if ENTRY.fullmatch(entry.name):  # the folder may hold what is not ours to delete
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, entry.path))
    total, now = 0, time.time()
    for used, size, path in sorted(found, reverse=True):
        total += size
        if total > LIMIT or (now - used > STALE and Path(path).name.startswith("new-")):
            with suppress(OSError):
                os.unlink(path)
