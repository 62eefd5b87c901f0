"""What symbols are called: lengths and angles by Khalil's letters; what goes in and out q1, qd1, qdd1, tau1, and qx1
where a joint has several, M11, M12."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

import numpy as np

from ..formulations import Variable
from ..model import Layout

SCREWS = {"x": ("alpha", "d"), "z": ("gamma", "b")}  # angle and length of the constant screws before a joint
AT_JOINT = ("theta", "r")  # and of the one at it
WRENCH = ("FX", "FY", "FZ", "CX", "CY", "CZ")


class Names:
    """Each name once: a second one of the same kind gets a number behind it."""

    def __init__(self):
        self._taken: dict[str, int] = {}
        self._counted: dict[str, int] = {}

    def new(self, name: str) -> str:
        self._taken[name] = times = self._taken.get(name, 0) + 1
        return name if times == 1 else self.new(f"{name}_{times}")

    def __contains__(self, name: object) -> bool:
        return name in self._taken

    def next(self, letter: str) -> str:
        """t1, t2, ..."""
        self._counted[letter] = number = self._counted.get(letter, 0) + 1
        return self.new(f"{letter}{number}")


def vector(variable: Variable, layout: Layout, number: Mapping[str, int]) -> np.ndarray:
    """Names of the entries of a joint vector: its letter, the part of the joint if it has several, and the number of
    the body that the joint carries; y1_2 where the part has a number of its own."""
    letter = variable.letter or variable.name
    parts = [(part, number[segment.name]) for segment in layout.segments for part in segment.parts]
    names = [f"{letter}{part}{'_' * part[-1:].isdigit()}{body}" for part, body in parts]
    return np.array(names, dtype=object)


def entries(variable: Variable, shape: Iterable[int], taken: Container[str] = ()) -> np.ndarray:
    """Names of the entries of an array, numbered from 1: M11, M12; M1_1, M1_10 where there are many, or where names are
    ``taken``: M11 is also the mass of link 11."""
    shape, letter = tuple(shape), variable.letter or variable.name
    numbers = [[str(k + 1) for k in index] for index in np.ndindex(*shape)]
    far = len(shape) > 1 and (any(n > 9 for n in shape) or any(letter + "".join(each) in taken for each in numbers))
    names = [letter + ("_" if far else "").join(each) for each in numbers]
    return np.array(names, dtype=object).reshape(shape)
