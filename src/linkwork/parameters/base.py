"""BaseParameters: the fewest parameters that tell all joint forces, as combinations of the standard ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ShapeError, UnknownNameError, UnsupportedError
from ..formulations.regressor import DRIVES, Parameter, parameter_values, standard_parameters
from ..model import Model
from .excitation import excitations
from .khalil import khalil_parameters, with_rotors_absorbed
from .lin import lin_parameters
from .rank import independent, rank, stacked
from .symbolic import with_symbols
from .symbols import Expression, symbol

KINDS = ("khalil", "lin")


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Parameters that act on the joints each by itself, all of them.

    ``standard``: the parameters they are made of, XX2 and so on, of bodies in the frames of `linkwork mdh` and of their
    joints. ``matrix @ standard_values`` are their ``values``. ``combinations`` tell the same by names, ``formulas`` in
    symbols, with lengths and angles by name (but not those that loops or mimic joints made a matter of numbers).
    ``columns`` are the standard parameters whose columns of the regressor, times ``mixing`` if there is one, are those
    of the base parameters.
    """

    kind: str
    model: Model
    standard: tuple[Parameter, ...]
    names: tuple[str, ...]
    matrix: np.ndarray
    formulas: Mapping[str, str]
    columns: tuple[Parameter, ...]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def standard_values(self) -> np.ndarray:
        return np.array(parameter_values(self.model, self.standard), float)

    @property
    def values(self) -> np.ndarray:
        return self.matrix @ self.standard_values

    def of(self, parameters: Any) -> np.ndarray:
        """The values for other parameters of the links, as in ``Robot.parameters``."""
        try:
            rows = np.asarray(parameters, float).reshape(self.model.n_bodies, 10).tolist()
        except (TypeError, ValueError) as error:
            expected = f"({self.model.n_bodies}, 10), as Robot.parameters"
            raise ShapeError("these are not parameters of the links", got=error, expected=expected) from error
        return self.matrix @ np.array(parameter_values(self.model.with_parameters(rows), self.standard), float)

    @property
    def mixing(self) -> np.ndarray | None:
        """None unless several base parameters hold the same one of ``columns``, as Lin's do."""
        if self.kind == "khalil":
            return None
        found = np.linalg.inv(self.matrix[:, [self.standard.index(each) for each in self.columns]])
        return np.where(np.abs(found) < 1e-14, 0.0, found)

    @property
    def combinations(self) -> dict[str, dict[str, float]]:
        """Each as coefficients of standard parameters."""
        return {
            name: {str(self.standard[k]): float(row[k]) for k in np.flatnonzero(row)}
            for name, row in zip(self.names, self.matrix, strict=True)
        }

    @property
    def numeric_formulas(self) -> dict[str, str]:
        """Each as a sum in which numbers have taken the place of the geometry's symbols."""
        found = {}
        for name, coefficients in self.combinations.items():
            total: Any = 0
            for parameter, coefficient in coefficients.items():
                total = total + coefficient * symbol(parameter, 0.0, parameter=True)
            found[name] = str(total)
        return found

    @property
    def table(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Of each standard parameter: its name, whether it is alone, grouped or without effect, and in what it is."""
        found = []
        for k, parameter in enumerate(self.standard):
            rows = np.flatnonzero(self.matrix[:, k])
            alone = len(rows) == 1 and np.count_nonzero(self.matrix[rows[0]]) == 1
            status = "alone" if alone else "grouped" if len(rows) else "no effect"
            found.append((str(parameter), status, tuple(self.names[row] for row in rows)))
        return found

    @cached_property
    def rank(self) -> int:
        """Of the standard regressor at random states: as many as there are base parameters, if all is right."""
        return rank(self.model, self.standard)

    def __repr__(self) -> str:
        return f"<{len(self)} base parameters of {self.model.name} ({self.kind}): {', '.join(self.names)}>"


def base_parameters(model: Model, kind: str = "khalil", drives: bool | None = None) -> BaseParameters:
    """The base parameters of a robot by the rules of Gautier and Khalil, or those of Lin.

    ``drives``: rotor inertias and friction of all joints, or of none; default: those the robot has. Where loops are
    closed or joints mimic others, numbers reduce the set of the tree further.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of base parameters", kind, KINDS)
    standard = standard_parameters(model, drives)
    excited = excitations(model)
    seen = [with_symbols(model, standard, geometry=geometry) for geometry in (False, True)]
    seen = [with_rotors_absorbed(each, excited) for each in seen]
    others = [p for p in standard if p.element in DRIVES and not (p.element == "IA" and excited[p.body].rotor)]
    if kind == "lin":
        _require_chain(model)
        numbers, symbols = ({**lin_parameters(each), **{str(p): _symbol(p) for p in others}} for each in seen)
        matrix = _matrix(list(numbers.values()), standard)
        formulas = {name: str(expression) for name, expression in symbols.items()}
        columns = (*khalil_parameters(seen[0], excited), *others)
        return BaseParameters(kind, model, standard, tuple(numbers), matrix, formulas, columns)
    numbers, symbols = ({**khalil_parameters(each, excited), **{p: _symbol(p) for p in others}} for each in seen)
    columns, matrix = tuple(numbers), _matrix(list(numbers.values()), standard)
    formulas = [str(symbols[each]) for each in columns]
    if model.loops or model.has_mimic:
        kept, further = independent(stacked(model, columns))
        columns, made = tuple(columns[k] for k in kept), further @ matrix
        matrix = np.where(np.abs(made) < 1e-13 * (np.abs(further) @ np.abs(matrix)), 0.0, made)
        formulas = ["" if np.count_nonzero(row) > 1 else formulas[k] for k, row in zip(kept, further, strict=True)]
    grouped = np.count_nonzero(matrix, axis=1) > 1
    names = tuple(f"{p.element}R{p.body}" if more else str(p) for p, more in zip(columns, grouped, strict=True))
    known = {name: formula for name, formula in zip(names, formulas, strict=True) if formula}
    return BaseParameters(kind, model, standard, names, matrix, known, columns)


def _symbol(parameter: Parameter) -> Expression:
    return symbol(str(parameter), 0.0, parameter=True)


def _matrix(expressions: Sequence[Expression], standard: Sequence[Parameter]) -> np.ndarray:
    """Their coefficients; those that are the rounding of larger ones become zeros."""
    names = [str(parameter) for parameter in standard]
    found = [each.coefficients() if isinstance(each, Expression) else {} for each in expressions]
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in found], float).reshape(-1, len(names))
    return np.where(np.abs(matrix) < 1e-15, 0.0, matrix)


def _require_chain(model: Model) -> None:
    reasons = {"its base floats": model.floating, "it branches": not model.serial, "it has loops": bool(model.loops)}
    reasons |= {"joints mimic others": model.has_mimic}
    if found := [reason for reason, holds in reasons.items() if holds]:
        raise UnsupportedError(
            "Lin's combinations are for serial chains on a fixed base",
            where=f"robot {model.name!r}",
            got=" and ".join(found),
            fix='use kind="khalil"',
        )
