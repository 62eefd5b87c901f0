"""Names of what goes in and out: q1, qd1, qdd1, tau1; M11, M12; a floating body's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

FLOATING = {  # names of a floating body's entries, before its number
    "q": ("x", "y", "z", "ex", "ey", "ez", "ew"),
    "v": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "a": ("vdx", "vdy", "vdz", "wdx", "wdy", "wdz"),
    "tau": ("fx", "fy", "fz", "nx", "ny", "nz"),
}
LETTER = {"q": "q", "v": "qd", "a": "qdd", "tau": "tau"}
KIND = {"a_known": "a", "tau_known": "tau"}
OUTPUT = {"momentum": "p", "Jdot_v": "Jdv", "v_joints": "vj", "a_joints": "aj"}
OUTPUT |= {"C": "Cor", "c": "com"}  # C12 is a cosine, and c12 would be taken for one
WRENCH = ("FX", "FY", "FZ", "CX", "CY", "CZ")


def vector(name: str, size: int, numbers: Sequence[int]) -> np.ndarray:
    """Names of the entries of a joint vector: first of a floating body, if there is more than one for each joint of
    ``numbers``."""
    kind = KIND.get(name, name)
    head = size - len(numbers)
    floating = [f"{part}1" for part in FLOATING.get(kind, ())] or [f"{name}_base{k}" for k in range(1, head + 1)]
    return np.array(floating[:head] + [f"{LETTER.get(kind, name)}{number}" for number in numbers], dtype=object)


def entries(name: str, shape: Iterable[int]) -> np.ndarray:
    """Names of the entries of an array, numbered from 1: M11, M12; M1_1, M1_10 where there are many."""
    shape, letter = tuple(shape), OUTPUT.get(name, name)
    far = "_" if any(n > 9 for n in shape) and len(shape) > 1 else ""
    names = [letter + far.join(str(k + 1) for k in index) for index in np.ndindex(*shape)]
    return np.array(names, dtype=object).reshape(shape)
