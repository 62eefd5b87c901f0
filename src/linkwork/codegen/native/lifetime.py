"""How long machine code stays loaded: as long as something may run it.

The garbage collector calls the finalisers of objects that go together in any order, and one of them may still call the
code. So what uses code (ufuncs, builtins, time loops) refers to an *owner*, an array: the collector does not know
arrays, and an owner goes with the last reference to it. Builtins read their definition as they go, even after Python
has cleared all modules: what is owned then is never freed.
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

KEPT = 32  # of each kind that stay loaded though nobody has them: who asks again does not wait

_numbers = count()
_owned: dict[int, list[Any]] = {}
_unused: list[Any] = []  # it goes when LLVM is asked for something: a finaliser must not wait for its lock

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """What was made, by key: while somebody has it, and what was asked for last."""

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


def own(things: list[Any]) -> np.ndarray:
    """An owner: ``things`` are kept for as long as somebody refers to it."""
    owner, number = np.zeros(()), next(_numbers)
    _owned[number] = things
    finalize(owner, _let_go, number).atexit = False
    return owner


def for_good(thing: Any):
    """Never free it, not even as Python ends."""
    ctypes.pythonapi["Py_IncRef"](ctypes.py_object(thing))


def free_unused():
    """To be called by who has the lock."""
    _unused.clear()


def _let_go(number: int):
    _unused.append(_owned.pop(number))


for _each in (_owned, _unused):
    for_good(_each)
