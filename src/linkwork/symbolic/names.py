"""Names of what goes in and out: q1, qd1, qdd1, tau1; M11, M12; a floating body's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..formulations import Variable

FLOATING = {  # names of a floating body's entries, before its number, by the letter of the joints'
    "q": ("x", "y", "z", "ex", "ey", "ez", "ew"),
    "qd": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "qdd": ("vdx", "vdy", "vdz", "wdx", "wdy", "wdz"),
    "tau": ("fx", "fy", "fz", "nx", "ny", "nz"),
}
WRENCH = ("FX", "FY", "FZ", "CX", "CY", "CZ")


def vector(variable: Variable, size: int, numbers: Sequence[int]) -> np.ndarray:
    """Names of the entries of a joint vector: first of a floating body, if there is more than one for each joint of
    ``numbers``."""
    letter, head = variable.letter or variable.name, size - len(numbers)
    floating = [f"{part}1" for part in FLOATING.get(letter, ())] or [f"{letter}_base{k}" for k in range(1, head + 1)]
    return np.array(floating[:head] + [f"{letter}{number}" for number in numbers], dtype=object)


def entries(variable: Variable, shape: Iterable[int]) -> np.ndarray:
    """Names of the entries of an array, numbered from 1: M11, M12; M1_1, M1_10 where there are many."""
    shape, letter = tuple(shape), variable.letter or variable.name
    far = "_" if any(n > 9 for n in shape) and len(shape) > 1 else ""
    names = [letter + far.join(str(k + 1) for k in index) for index in np.ndindex(*shape)]
    return np.array(names, dtype=object).reshape(shape)
