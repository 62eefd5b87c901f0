"""Lifetime of machine code: it stays loaded as long as something may run it.

The garbage collector finalises objects of a cycle in any order, and one of them may still call the code. So users of
code (ufuncs, builtins, time loops) refer to an *owner*, an array. The collector does not track arrays, so an owner is
freed with its last reference. Builtins read their definition when they are freed, even after Python has cleared all
modules; what is owned at that time is never freed.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary, finalize

import numpy as np

from .target import LOCK

KEPT = 32  # objects of each kind that stay loaded although nothing uses them, so that the next request is fast

_numbers = count()
_owned: dict[int, list[Any]] = {}
_unused: list[Any] = []  # freed at the next use of LLVM, because a finaliser must not wait for LLVM's lock

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Cache by key of objects that are in use, and of those used last."""

    def __init__(self):
        self._all: WeakValueDictionary[Hashable, Value] = WeakValueDictionary()
        self._last: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        with LOCK:
            value = self._all.get(key)
            if value is None:
                free_unused()
                value = self._all[key] = make()
            self._last[key] = value
            self._last.move_to_end(key)
            if len(self._last) > KEPT:
                self._last.popitem(last=False)
            return value


def make_owner(things: list[Any]) -> np.ndarray:
    """Return an owner, which keeps ``things`` for as long as somebody refers to it."""
    owner, number = np.zeros(()), next(_numbers)
    _owned[number] = things
    finalize(owner, _let_go, number).atexit = False
    return owner


def for_good(thing: Any):
    """Never free an object, not even when Python exits."""
    ctypes.pythonapi["Py_IncRef"](ctypes.py_object(thing))


def free_unused():
    """Free unused objects; the caller must hold the lock."""
    _unused.clear()


def _let_go(number: int):
    _unused.append(_owned.pop(number))


for _each in (_owned, _unused):
    for_good(_each)
