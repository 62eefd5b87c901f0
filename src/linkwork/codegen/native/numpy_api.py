"""NumPy's tables of functions for extensions, read with ctypes."""

from __future__ import annotations

import ctypes
from typing import Any


def table(name: str) -> Any:
    """Return the pointers of ``_UFUNC_API`` or ``_ARRAY_API``."""
    try:
        from numpy._core import _multiarray_umath as umath  # type: ignore
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as umath  # type: ignore
    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]  # by index: a private prototype
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(getattr(umath, name), None), ctypes.POINTER(ctypes.c_void_p))
