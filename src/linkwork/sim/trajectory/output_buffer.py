"""Memory of a trajectory, lent to another run that records the same."""

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


def lent(out: Any, plant: Plant, batch: int | None, rows: int, shapes: Mapping[str, Shape]) -> np.ndarray:
    """The block (samples, rows, numbers) that the arrays of ``out`` are views of."""
    if not isinstance(out, Trajectory):
        expected = "a Trajectory that an earlier rollout gave"
        raise ShapeError("this is no trajectory", where="out", got=type(out).__name__, expected=expected)
    names, wanted = [name for name in out if name != "t"], list(shapes)
    if names != wanted:
        _refuse("other arrays", ", ".join(names) or "none", ", ".join(wanted) or "none")
    for name in names:
        for what, has, needs in (("names", out.entries, plant.entries), ("units", out.units, plant.units)):
            if has.get(name) != needs.get(name, has.get(name)):
                _refuse(f"other {what} of {name}", ", ".join(has.get(name, ())), ", ".join(needs[name]))
    sizes = [math.prod(shape) for shape in shapes.values()]
    wanted = batch or 1, rows, sum(sizes)
    block = _base(out[names[0]]) if names else np.empty(wanted)
    own, asked = (len(out) if out.batch else None, len(out.t)), (batch, rows)
    early = any(note.code in (STOPPED, ENDED) for note in out.notes)  # fewer samples or times than the block
    if block is not None and (block.shape != wanted or (names and own != asked and not early)):
        _refuse("another size", _told(*own), _told(*asked))
    columns = dict(zip(names, accumulate(sizes, initial=0), strict=False))
    if block is None or not all(_begins(out[name], block, column) for name, column in columns.items()):
        raise LinkworkError(
            "the memory of this trajectory cannot be written",
            where="out",
            got="arrays that lie elsewhere, such as those of a file or of chosen samples, or that its gradients need",
            fix="give a trajectory as an earlier rollout gave it, without to= and checkpoint_every=1",
        )
    return block


def _told(samples: int | None, times: int) -> str:
    return f"{'one motion' if samples is None else f'{samples} samples'}, {times} times"


def _base(array: Any) -> np.ndarray | None:
    """The block that it is a view of, if there is one that can be written."""
    base = getattr(array, "base", None)
    if type(base) is not np.ndarray or base.ndim != 3 or base.dtype != float:
        return None
    return base if base.flags.c_contiguous and base.flags.writeable else None


def _begins(array: np.ndarray, block: np.ndarray, column: int) -> bool:
    """Does it begin in this column, and may it be written?"""
    address, flags = array.__array_interface__["data"][0], array.flags
    return array.base is block and flags.writeable and address == block.__array_interface__["data"][0] + 8 * column


def _refuse(what: str, got: str, expected: str) -> NoReturn:
    raise ShapeError(
        f"the trajectory has {what}", where="out", got=got, expected=expected, fix="leave out=, or give one that fits"
    )
