"""BaseParameters: the fewest parameters that determine all joint forces, as combinations of the standard ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ShapeError, UnknownNameError, UnsupportedError, at_door, names_of
from ..formulations.regressor import Drives, Parameter, parameter_values, standard_parameters
from ..model import Model
from ..model.drive import JointValues
from ..notation.geometry import with_named_geometry
from ..notation.polynomials import Expression, Symbol, Unwritten, symbol
from ..renamed import refuse
from ..scalar import Scalar
from ..table import Table, notebook
from .body_motion import BodyMotion, body_motions, rules_suffice
from .closed_form import khalil_parameters, lin_parameters, with_rotors_absorbed, with_values
from .double_double import DoubleDouble
from .precise import precise_model, precise_rows
from .rank import independent, rank

KINDS = ("khalil", "lin")
SMALL = 1e-15  # smaller coefficients are the rounding of the geometry
CANCELLED = 1e-13  # relative to the terms of a sum: less is rounding
_cache: WeakKeyDictionary[Model, dict[Any, BaseParameters]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Base parameters: the fewest parameters that determine all joint forces, each of which acts by itself.

    Attributes:
        kind: "khalil" or "lin".
        model: The robot.
        standard: Standard parameters, such as XX2, of bodies in the frames of ``linkwork mdh``, and of their joints.
        names: Names of the base parameters.
        matrix: Base parameters per standard ones: ``matrix @ standard_values`` are the ``values``.
        columns: Standard parameters whose columns of the regressor are those of the base parameters, after
            multiplication by ``mixing`` if there is one.
        in_closed_form: Which base parameters have a formula; the others were computed numerically.
        ambiguity: What was assumed where their number is numerically ambiguous, else empty.

    Example:
        >>> base = linkwork.load("planar2r").base_parameters()
        >>> len(base) == base.rank
        True
    """

    kind: str
    model: Model
    standard: tuple[Parameter, ...]
    names: tuple[str, ...]
    matrix: np.ndarray
    columns: tuple[Parameter, ...]
    in_closed_form: tuple[bool, ...]
    ambiguity: str = ""

    if not TYPE_CHECKING:  # type checkers are to report names that do not exist

        def __getattr__(self, name: str) -> Any:
            refuse("BaseParameters", name)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def standard_values(self) -> np.ndarray:
        """Values of the standard parameters."""
        return np.array(parameter_values(self.model, self.standard), float)

    @property
    def values(self) -> np.ndarray:
        """Values of the base parameters."""
        return self.matrix @ self.standard_values

    def values_for(self, parameters: Any) -> np.ndarray:
        """Return the values for other parameters of the links.

        Args:
            parameters: Parameters (bodies, 10), as ``Robot.parameters``.

        Returns:
            Values of the base parameters.

        Raises:
            ShapeError: If the shape is wrong.
        """
        try:
            rows = np.asarray(parameters, float).reshape(self.model.n_bodies, 10).tolist()
        except (TypeError, ValueError) as error:
            expected = f"({self.model.n_bodies}, 10), as Robot.parameters"
            raise ShapeError("these are not parameters of the links", got=error, expected=expected) from error
        return self.matrix @ np.array(parameter_values(self.model.with_parameters(rows), self.standard), float)

    @property
    def mixing(self) -> np.ndarray | None:
        """Matrix that mixes ``columns``; None unless several base parameters share one of them, as Lin's do."""
        if self.kind == "khalil":
            return None
        mixing = np.linalg.inv(self.matrix[:, [self.standard.index(each) for each in self.columns]])
        return np.where(np.abs(mixing) < 1e-14, 0.0, mixing)

    @property
    def combinations(self) -> dict[str, dict[str, float]]:
        """Coefficients of standard parameters, by base parameter."""
        return {
            name: {str(self.standard[k]): float(row[k]) for k in np.flatnonzero(row)}
            for name, row in zip(self.names, self.matrix, strict=True)
        }

    @cached_property
    def formulas(self) -> dict[str, str]:
        """Formulas in symbols, with named lengths and angles, of those that have one of reasonable length."""
        model, values = with_named_geometry(self.model), zip(self.standard, self.standard_values.tolist(), strict=True)
        symbols_by_name = {each: symbol(str(each), value, parameter=True) for each, value in values}
        expressions = _combinations(model, self.kind, symbols_by_name, body_motions(self.model))
        formulas = (expressions[key] for key in (self.names if self.kind == "lin" else self.columns))
        rows = zip(self.names, formulas, self.in_closed_form, strict=True)
        return {name: str(each) for name, each, closed in rows if closed and not isinstance(each, Unwritten)}

    @property
    def numeric_formulas(self) -> dict[str, str]:
        """Formulas with numbers in place of the symbols of the geometry."""
        return {
            name: str(Expression({((Symbol(each, 0.0, parameter=True), 1),): x for each, x in coefficients.items()}))
            for name, coefficients in self.combinations.items()
        }

    @property
    def written(self) -> dict[str, str]:
        """Formulas in symbols where possible, else in numbers."""
        return self.numeric_formulas | self.formulas

    @property
    def table(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Name, status ("alone", "grouped" or "no effect") and base parameters of each standard parameter."""
        table = []
        for k, parameter in enumerate(self.standard):
            rows = np.flatnonzero(self.matrix[:, k])
            alone = len(rows) == 1 and np.count_nonzero(self.matrix[rows[0]]) == 1
            status = "alone" if alone else "grouped" if len(rows) else "no effect"
            table.append((str(parameter), status, tuple(self.names[row] for row in rows)))
        return table

    @cached_property
    def rank(self) -> int:
        """Rank of the standard regressor at random states: the number of base parameters, unless something is wrong."""
        return rank(self.model, self.standard, len(self))

    def __repr__(self) -> str:
        return f"<{len(self)} base parameters of {self.model.name} ({self.kind}): {', '.join(self.names)}>"

    def as_table(self, numbers: bool = False) -> Table:
        """Return a table with the value and the combination of each base parameter.

        Args:
            numbers: Write lengths and angles as numbers, not symbols. Default: False.

        Returns:
            The table.
        """
        formulas = self.numeric_formulas if numbers else self.written
        title = f"{len(self)} base parameters of {self.model.name} ({self.kind})"
        if self.ambiguity:
            title += f". Ambiguous: {self.ambiguity}"
        rows = [[name, float(value), formulas[name]] for name, value in zip(self.names, self.values, strict=True)]
        return Table(title, ["parameter", "value (SI)", "combination"], rows)

    def _repr_html_(self) -> str:
        return notebook(self.as_table())


def base_parameters(model: Model, kind: str = "khalil", drives: Drives = None) -> BaseParameters:
    """Return the base parameters of a robot by the rules of Gautier and Khalil, or those of Lin.

    Where the rules do not suffice (loops, mimic joints, ball joints on the ground, transmissions, further friction
    laws), their result is reduced further numerically.

    Args:
        model: The robot.
        kind: "khalil" (default) or "lin".
        drives: Parameters of drives among the standard ones, see ``standard_parameters``.

    Returns:
        The base parameters, cached by model.

    Raises:
        UnknownNameError: If the kind is another one.
        UnsupportedError: If the kind is "lin" and the robot is no serial chain.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownNameError("kind of base parameters", kind, KINDS)
    if kind == "lin":
        _require_chain(model)
    cached = _cache.setdefault(model, {})
    if not isinstance(drives, (bool, str, type(None))):
        drives = names_of(drives, "drives")
    key = kind, drives
    if key not in cached:
        cached[key] = _base_parameters(model, kind, drives)
    return cached[key]


def _base_parameters(model: Model, kind: str, drives: Drives) -> BaseParameters:
    standard = standard_parameters(model, drives)
    units = dict(zip(standard, map(DoubleDouble, np.eye(len(standard))), strict=True))
    exact, motions = precise_model(model), body_motions(model)
    columns, matrix = _rows(_combinations(exact, "khalil", units, motions), standard)
    if kind == "lin":
        names, matrix = _rows(_combinations(exact, "lin", units, motions), standard)
        return BaseParameters(kind, model, standard, names, matrix, columns, (True,) * len(names))
    in_closed_form, ambiguities = (True,) * len(columns), []
    if not rules_suffice(model) or _has_further_laws(standard):
        reduced = independent(*precise_rows(model, columns))
        product, size = reduced.matrix @ matrix, np.abs(reduced.matrix) @ np.abs(matrix)
        matrix = np.where(np.abs(product) < CANCELLED * size, 0.0, product)
        several = np.count_nonzero(reduced.matrix, axis=0) > 1
        ambiguities = [
            reduced.ambiguity,
            _friction(model, [p for p, more in zip(columns, several, strict=True) if more]),
        ]
        columns = tuple(columns[k] for k in reduced.columns)
        in_closed_form = tuple(np.count_nonzero(row) == 1 for row in reduced.matrix)
    grouped = np.count_nonzero(matrix, axis=1) > 1
    names = tuple(
        str(p._replace(element=f"{p.element}R")) if more else str(p) for p, more in zip(columns, grouped, strict=True)
    )
    return BaseParameters(
        kind, model, standard, names, matrix, columns, in_closed_form, "; ".join(filter(None, ambiguities))
    )


def _has_further_laws(standard: Sequence[Parameter]) -> bool:
    """Return whether columns may be combinations of others, as FS is of FSP and FSN."""
    return any(not p.of_body and p.element not in JointValues.elements for p in standard)


def _friction(model: Model, combined: Sequence[Parameter]) -> str:
    """Return what is assumed of Coulomb friction that is the sum of several joints'.

    They may turn the same way at some positions only. (Where it is one other joint's, they always turn together.)
    """
    names = [each.motor or model.joint(each.body).name for each in combined if each.element == "FS"]
    if not names:
        return ""
    return f"Coulomb friction of {', '.join(names)} is combined with that of others by the signs it has near home"


def _combinations(
    model: Model, kind: str, symbols: Mapping[Parameter, Scalar], motions: dict[int, BodyMotion]
) -> dict[Any, Scalar]:
    """Return the base parameters of a tree in closed form, over any scalar.

    Keys are names, or the standard parameter whose place each takes; ``symbols`` are the standard parameters.
    """
    absorbed = with_rotors_absorbed(with_values(model, symbols), motions)
    others = {
        p: x
        for p, x in symbols.items()
        if not (p.of_body or (p.element == "IA" and not p.motor and motions[p.body].rotor))
    }
    if kind == "lin":
        return lin_parameters(absorbed) | {str(p): x for p, x in others.items()}
    return khalil_parameters(absorbed, motions) | others


def _rows(combinations: Mapping[Any, Any], standard: Sequence[Parameter]) -> tuple[tuple[Any, ...], np.ndarray]:
    """Return keys and coefficients; those that are the rounding of larger ones become zeros."""
    rows = [np.broadcast_to(getattr(each, "high", each), len(standard)) for each in combinations.values()]
    matrix = np.array(rows, float).reshape(-1, len(standard))
    return tuple(combinations), np.where(np.abs(matrix) < SMALL, 0.0, matrix)


def _require_chain(model: Model) -> None:
    others = [joint.name for joint in model.joints_on_base if not (joint.revolute or joint.prismatic)]
    reasons = {"its base floats": model.moving_base, "it branches": not model.serial, "it has loops": model.constrained}
    reasons |= {"joints mimic others": model.has_mimic, "transmissions couple its joints": bool(model.transmissions)}
    reasons |= {f"{', '.join(others)}: neither revolute nor prismatic": bool(others)}
    if held_reasons := [reason for reason, holds in reasons.items() if holds]:
        raise UnsupportedError(
            "Lin's combinations are for serial chains on a fixed base",
            where=f"robot {model.name!r}",
            got=" and ".join(held_reasons),
            fix=at_door('use kind="khalil"', "use --kind khalil"),
        )
