"""Names of symbols: Khalil's letters for lengths and angles; q1, qd1, qdd1, tau1, M11, M12 for inputs and outputs.

A joint with several positions has qx1, qy1, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

import numpy as np

from ..formulations import Variable
from ..model import Layout

SCREWS = {"x": ("alpha", "d"), "z": ("gamma", "b")}  # angle and length of the constant screws before a joint
AT_JOINT = ("theta", "r")  # angle and length of the screw at a joint
WRENCH = ("FX", "FY", "FZ", "CX", "CY", "CZ")


class Names:
    """Unique names: a name that is used already gets a number appended."""

    def __init__(self):
        self._uses: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()

    def new(self, name: str) -> str:
        self._uses[name] += 1
        return name if self._uses[name] == 1 else self.new(f"{name}_{self._uses[name]}")

    def __contains__(self, name: object) -> bool:
        return name in self._uses

    def next(self, letter: str) -> str:
        """Return t1, then t2, and so on."""
        self._numbers[letter] += 1
        return self.new(f"{letter}{self._numbers[letter]}")


def vector(variable: Variable, layout: Layout, number: Mapping[str, int]) -> np.ndarray:
    """Return the names of the entries of a joint vector.

    A name is the letter of the vector, the part of a joint with several, and the number of the joint's body. It is
    y1_2 where the part ends with a number.
    """
    letter = variable.letter or variable.name
    parts = [(part, number[segment.name]) for segment in layout.segments for part in segment.parts]
    names = [f"{letter}{part}{'_' * part[-1:].isdigit()}{body}" for part, body in parts]
    return np.array(names, dtype=object)


def entries(variable: Variable, shape: Iterable[int], taken_names: Container[str] = ()) -> np.ndarray:
    """Return the names of the entries of an array, numbered from 1: M11, M12.

    They are M1_1, M1_10 where there are many, or where names are ``taken_names``: M11 is also the mass of link 11.
    """
    shape, letter = tuple(shape), variable.letter or variable.name
    numbers = [[str(k + 1) for k in index] for index in np.ndindex(*shape)]
    apart = len(shape) > 1 and (
        any(n > 9 for n in shape) or any(letter + "".join(each) in taken_names for each in numbers)
    )
    names = [letter + ("_" if apart else "").join(each) for each in numbers]
    return np.array(names, dtype=object).reshape(shape)
