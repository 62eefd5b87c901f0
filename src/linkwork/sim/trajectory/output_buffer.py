"""The memory of a trajectory as the output buffer of another run that records the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np

from ...errors import LinkworkError, ShapeError
from ..plant.plant import Plant
from .array_files import Shape
from .trajectory import Trajectory

STOPPED, ENDED = "stopped", "ended"  # codes of notes: a run cut short from the keyboard, or by an error


def block_of(
    out: Any, plant: Plant, batch: int | None, rows: int, shapes: Mapping[str, Shape], dtype: np.dtype
) -> np.ndarray:
    """Return the block (samples, rows, numbers) of which the arrays of ``out`` are views."""
    if not isinstance(out, Trajectory):
        expected = "a Trajectory that an earlier rollout returned"
        raise ShapeError("not a trajectory", where="out", got=type(out).__name__, expected=expected)
    names = [name for name in out if name != "t"]
    if names != list(shapes):
        _refuse("other arrays", ", ".join(names) or "none", ", ".join(shapes) or "none")
    for name in names:
        for what, has, needs in (("names", out.entries, plant.entries), ("units", out.units, plant.units)):
            if has.get(name) != needs.get(name, has.get(name)):
                _refuse(f"other {what} of {name}", ", ".join(has.get(name, ())), ", ".join(needs[name]))
    sizes = [math.prod(shape) for shape in shapes.values()]
    shape = batch or 1, rows, sum(sizes)
    if any(out[name].dtype != dtype for name in names):
        _refuse("another type of numbers", str(out[names[0]].dtype), str(dtype))
    block = _base(out[names[0]], dtype) if names else np.empty(shape, dtype)
    size, required = (len(out) if out.batch else None, len(out.t)), (batch, rows)
    stopped = any(note.code in (STOPPED, ENDED) for note in out.notes)  # has fewer samples or times than its block
    if block is not None and (block.shape != shape or (names and size != required and not stopped)):
        _refuse("another size", _size_text(*size), _size_text(*required))
    columns = dict(zip(names, accumulate(sizes, initial=0), strict=False))
    if block is None or not all(_begins(out[name], block, column) for name, column in columns.items()):
        raise LinkworkError(
            "the memory of this trajectory cannot be written",
            where="out",
            got="arrays of a file or of chosen samples, or arrays that gradients need",
            fix="give a trajectory as an earlier rollout returned it, without to= and checkpoint_every=1",
        )
    return block


def _size_text(samples: int | None, times: int) -> str:
    return f"{'one motion' if samples is None else f'{samples} samples'}, {times} times"


def _base(array: Any, dtype: np.dtype) -> np.ndarray | None:
    """The block that an array is a view of, if it can be written."""
    base = getattr(array, "base", None)
    if type(base) is not np.ndarray or base.ndim != 3 or base.dtype != dtype:
        return None
    return base if base.flags.c_contiguous and base.flags.writeable else None


def _begins(array: np.ndarray, block: np.ndarray, column: int) -> bool:
    """Whether an array begins in this column of the block, and can be written."""
    address, flags = array.__array_interface__["data"][0], array.flags
    return (
        array.base is block
        and flags.writeable
        and address == block.__array_interface__["data"][0] + block.itemsize * column
    )


def _refuse(what: str, got: str, expected: str) -> NoReturn:
    raise ShapeError(
        f"the trajectory has {what}", where="out", got=got, expected=expected, fix="omit out=, or give one that fits"
    )
