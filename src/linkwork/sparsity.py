"""Packed results: the distinct entries of each output that are not constant, and the pattern of their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from .errors import ShapeError, import_optional
from .program import Port, Program
from .program.program import MOST_AXES, MOST_SCALARS


@dataclass(frozen=True)
class Pattern:
    """The places of packed entries in an array.

    Attributes:
        shape: Shape of the array.
        size: Number of packed entries.
        places: For each entry of the flattened array, the index k of its packed entry. From k = ``size`` on it is the
            constant with index k - ``size``.
        constants: Values that do not depend on the inputs.

    Example:
        >>> robot.inertia_matrix.packed().patterns["M"].shape
        (7, 7)
    """

    shape: tuple[int, ...]
    size: int
    places: tuple[int, ...]
    constants: tuple[float, ...] = ()

    @cached_property
    def _places(self) -> np.ndarray:
        return np.array(self.places, dtype=np.intp).reshape(self.shape)

    @property
    def index(self) -> np.ndarray:
        """The number of the packed entry at each place of the array, -1 where there is a constant."""
        return np.where(self._places < self.size, self._places, -1)

    def dense(self, values: Any, where: str = "") -> np.ndarray:
        """Put packed entries in their places.

        Args:
            values: Packed entries (..., size).
            where: What error messages call the values.

        Returns:
            An array (..., *shape).
        """
        array = self._checked(values, where)
        fixed = np.broadcast_to(np.array(self.constants, array.dtype), (*array.shape[:-1], len(self.constants)))
        return np.concatenate([array, fixed], axis=-1)[..., self._places]

    def sparse(self, values: Any) -> Any:
        """Return a sparse matrix of one state, which stores the entries that may differ from zero.

        Args:
            values: Packed entries (size,) of a matrix.

        Returns:
            A ``scipy.sparse.csr_array``.

        Raises:
            UnsupportedError: SciPy is not installed.
            ShapeError: This is not one state of a matrix.
        """
        csr_array = import_optional("scipy.sparse", "scipy", "Pattern.sparse").csr_array
        array = self._checked(values, "Pattern.sparse")
        if array.ndim != 1 or len(self.shape) != 2:
            raise ShapeError("a sparse matrix is of one state", where="Pattern.sparse", got=array.shape,
                             expected=f"({self.size},) of a matrix, not of shape {self.shape}")  # fmt: skip
        constants = np.array(self.constants, array.dtype)
        mask = (self._places < self.size) | np.append(np.ones(self.size), constants != 0).astype(bool)[self._places]
        rows, columns = np.nonzero(mask)
        return csr_array((np.append(array, constants)[self._places[rows, columns]], (rows, columns)), shape=self.shape)

    def _checked(self, values: Any, where: str) -> np.ndarray:
        try:
            array = np.asarray(values)
        except ValueError as error:
            raise ShapeError("this is not a rectangular array", where=where, got=error) from error
        if array.dtype.kind not in "fiu":
            raise ShapeError("these are not packed numbers", where=where, got=f"dtype {array.dtype}")
        if array.shape[-1:] != (self.size,):
            raise ShapeError("wrong shape", where=where, got=array.shape, expected=f"(..., {self.size}), packed")
        return array if array.dtype.kind == "f" else array.astype(float)


def packed(program: Program) -> tuple[Program, dict[str, Pattern]]:
    """Return the program with packed outputs, and their patterns."""
    outputs, results, patterns, start = [], [], {}, 0
    for port in program.outputs:
        numbers = program.results[start : start + port.size]
        start += port.size
        fixed = range(program.n_inputs, program.first_instruction)
        distinct = list(dict.fromkeys(k for k in numbers if k not in fixed))
        constants = list(dict.fromkeys(k for k in numbers if k in fixed))
        place = {k: n for n, k in enumerate((*distinct, *constants))}
        patterns[port.name] = Pattern(
            port.shape, len(distinct), tuple(place[k] for k in numbers),
            tuple(program.constants[k - program.n_inputs] for k in constants),
        )  # fmt: skip
        outputs.append(Port(port.name, (len(distinct),)))
        results += distinct
    return replace(program, outputs=tuple(outputs), results=tuple(results)), patterns


def read_patterns(data: Any, ports: Sequence[Port]) -> dict[str, Pattern]:
    """Return the patterns in a document that may hold anything; ``ports`` are the outputs."""
    sizes = {port.name: port.shape for port in ports}
    if not isinstance(data, dict) or (data and data.keys() != sizes.keys()):
        raise ValueError("the patterns of its label are not those of its outputs, one of each or none")
    patterns = {}
    for name, row in data.items():
        match row:
            case {"shape": [*shape], "size": size, "places": [*places], "constants": [*constants]}:
                whole = all(type(k) is int and 0 <= k <= MOST_SCALARS for k in (size, *shape, *places))
                whole = whole and len(shape) <= MOST_AXES
                fits = whole and sizes[name] == (size,) and len(places) == prod(shape)
                if fits and all(type(x) is float for x in constants) and all(k < size + len(constants) for k in places):
                    patterns[name] = Pattern(tuple(shape), size, tuple(places), tuple(constants))
                    continue
        raise ValueError(f"the pattern of {name!r} does not fit")
    return patterns
