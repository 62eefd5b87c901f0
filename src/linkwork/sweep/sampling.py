"""Values of the rows of a study: random numbers and points of a grid.

A random number depends only on the seed, the name of the variable and the number of the sample (the counter of a Philox
generator). So it is the same wherever and in whatever order the rows are computed.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RANDOM = ("uniform", "normal", "log_uniform", "choice")
OPERATIONS = ("times", "plus")  # on the value that the robot has
_WORDS = 4  # words of 64 bits that Philox generates per count


@dataclass(frozen=True)
class Variable:
    """A value that varies between rows. ``name`` is its column, and selects its stream of random numbers.

    ``kind`` is "grid", or one of RANDOM: uniform and log_uniform between two values, normal with a mean and a standard
    deviation, or a choice among values.
    """

    name: str
    kind: str
    values: tuple[float, ...]

    def draw(self, seed: int, samples: np.ndarray) -> np.ndarray:
        """Return the random values of samples, given by their numbers."""
        first, second = _uniform(seed, self.name, samples)
        if self.kind == "choice":
            return np.array(self.values)[(first * len(self.values)).astype(int)]
        low, high = self.values
        if self.kind == "normal":  # Box and Muller
            return low + high * np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * math.pi * second)
        if self.kind == "log_uniform":
            return np.exp(math.log(low) + (math.log(high) - math.log(low)) * first)
        return low + (high - low) * first


def _uniform(seed: int, name: str, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two numbers from 0 to 1 (excluded) for each sample."""
    if not len(samples):
        return np.zeros(0), np.zeros(0)
    low, high = int(samples.min()), int(samples.max())
    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    words = np.random.Philox(key=[seed, stream], counter=low).random_raw(_WORDS * (high - low + 1))
    shares = (words.reshape(-1, _WORDS)[samples - low, :2] >> np.uint64(11)) * 2.0**-53
    return shares[:, 0], shares[:, 1]


@dataclass(frozen=True)
class Change:
    """Entries of a vector that a variable sets, or changes by an operation."""

    entries: tuple[int, ...]
    variable: Variable
    operation: str = ""


@dataclass(frozen=True)
class Vector:
    """Numbers by name, and the entries that vary between rows."""

    names: tuple[str, ...]
    base: tuple[float, ...]
    changes: tuple[Change, ...] = ()

    def rows(self, values: dict[str, np.ndarray], count: int) -> np.ndarray:
        """Return the vectors of all rows (count, entries) from the values of the variables by name."""
        result = np.tile(np.array(self.base, float), (count, 1))
        for change in self.changes:
            value, entries = values[change.variable.name][:, None], list(change.entries)
            if change.operation == "times":
                result[:, entries] *= value
            elif change.operation == "plus":
                result[:, entries] += value
            else:
                result[:, entries] = value
        return result


@dataclass(frozen=True)
class Plan:
    """The rows of one case: every point of the grid, ``samples`` times.

    All points have the same random samples, so that differences between them come from the grid.
    """

    variables: tuple[Variable, ...]
    samples: int
    seed: int

    @property
    def grid(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if variable.kind == "grid")

    @property
    def rows(self) -> int:
        return self.samples * math.prod(len(axis.values) for axis in self.grid)

    def sample_numbers(self, start: int, stop: int) -> np.ndarray:
        return np.arange(start, stop) % self.samples

    def values(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Return the values of rows start to stop, by variable. The last axis of the grid changes fastest."""
        point, samples = np.arange(start, stop) // self.samples, self.sample_numbers(start, stop)
        result = {}
        for axis in reversed(self.grid):
            point, at = np.divmod(point, len(axis.values))
            result[axis.name] = np.array(axis.values)[at]
        samples_by_name = {x.name: x.draw(self.seed, samples) for x in self.variables if x.kind != "grid"}
        return {x.name: {**result, **samples_by_name}[x.name] for x in self.variables}


def variables_of(vectors: Sequence[Vector]) -> tuple[Variable, ...]:
    """Return all variables of the vectors in order, each once."""
    return tuple(dict.fromkeys(change.variable for vector in vectors for change in vector.changes))
