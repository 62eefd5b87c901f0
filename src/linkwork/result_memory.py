"""Memory of results that is used again.

The memory of a large array comes from the operating system page by page, when it is first written, and goes back when
the array is dropped. For a large batch of states that takes longer than the equations. So the memory of large results
is kept, and used for new results of the same size once nobody holds an array in it any more.
"""

from __future__ import annotations

import sys
import sysconfig
from collections import deque
from contextlib import suppress
from math import prod

import numpy as np

LARGE = 2**19  # bytes of all results of a call, from which on it is worth it
SMALLEST = 2**16  # bytes of one of them
KEPT = 2**26  # bytes that are kept at most
# The most recent last. More would take long to search while someone keeps all results. Each method is atomic, and
# memory is taken out while it is looked at, so no two threads get the same.
_kept: deque[np.ndarray] = deque(maxlen=32)


def _taken(memories: deque[np.ndarray]) -> tuple[np.ndarray, int]:
    """Take the oldest out, and count who holds it."""
    memory = memories.popleft()
    return memory, sys.getrefcount(memory)


_, ALONE = _taken(deque([np.empty(1)]))  # the count for memory that nobody else holds
COUNTED = not sysconfig.get_config_var("Py_GIL_DISABLED")  # else counts are not exact


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array in C order without values, in memory of earlier results if it is large."""
    size = prod(shape) * dtype.itemsize
    if not SMALLEST <= size <= KEPT // 2 or not COUNTED:
        return np.empty(shape, dtype)
    memory = _unused(size)
    if memory is None:
        memory = np.empty(size, np.uint8)
        with suppress(IndexError):  # another thread has taken the last one
            while sum(each.size for each in [*_kept]) + size > KEPT:
                _kept.popleft()
    array: np.ndarray = np.ndarray(shape, dtype, memory)
    _kept.append(memory)
    return array


def _unused(size: int) -> np.ndarray | None:
    """Take memory of this size out, in which there is no array."""
    with suppress(IndexError):  # another thread has taken the last one
        for _ in range(len(_kept)):
            memory, holders = _taken(_kept)
            if memory.size == size and holders == ALONE:
                return memory
            _kept.append(memory)
    return None
