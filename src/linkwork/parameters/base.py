"""BaseParameters: the fewest parameters that tell all joint forces, as combinations of the standard ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ShapeError, UnknownNameError, UnsupportedError, names_of
from ..formulations.regressor import Drives, Parameter, parameter_values, standard_parameters
from ..model import Model
from ..model.drive import JointValues
from ..notation.geometry import with_named_geometry
from ..notation.polynomials import Expression, Symbol, Unwritten, symbol
from ..scalar import Scalar
from ..table import Table, notebook
from .double_double import DoubleDouble
from .excitation import Excitation, excitations, told_by_rules
from .khalil import khalil_parameters, with_rotors_absorbed
from .lin import lin_parameters
from .precise import precise_model, precise_rows
from .rank import independent, rank
from .values import with_values

KINDS = ("khalil", "lin")
SMALL = 1e-15  # coefficients that the rounding of the geometry leaves
_found: WeakKeyDictionary[Model, dict[Any, BaseParameters]] = WeakKeyDictionary()  # they take long
CANCELLED = 1e-13  # of what is added up


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Parameters that act on the joints each by itself, all of them.

    ``standard``: the parameters they are made of, XX2 and so on, of bodies in the frames of `linkwork mdh` and of their
    joints. ``matrix @ standard_values`` are their ``values``; ``combinations`` tell the same by names. ``columns`` are
    the standard parameters whose columns of the regressor, times ``mixing`` if there is one, are those of the base
    parameters. ``ambiguity``: what was assumed where numbers do not decide how many there are, else empty.
    """

    kind: str
    model: Model
    standard: tuple[Parameter, ...]
    names: tuple[str, ...]
    matrix: np.ndarray
    columns: tuple[Parameter, ...]
    in_closed_form: tuple[bool, ...]  # not those that are a matter of numbers
    ambiguity: str = ""

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

    @cached_property
    def formulas(self) -> dict[str, str]:
        """Each in symbols, with lengths and angles by name; but for those that are a matter of numbers, and those of
        hundreds of terms."""
        model, values = with_named_geometry(self.model), zip(self.standard, self.standard_values.tolist(), strict=True)
        named = {each: symbol(str(each), value, parameter=True) for each, value in values}
        told = _combinations(model, self.kind, named, excitations(self.model))
        written = (told[key] for key in (self.names if self.kind == "lin" else self.columns))
        rows = zip(self.names, written, self.in_closed_form, strict=True)
        return {name: str(each) for name, each, closed in rows if closed and not isinstance(each, Unwritten)}

    @property
    def numeric_formulas(self) -> dict[str, str]:
        """Each as a sum in which numbers have taken the place of the geometry's symbols."""
        return {
            name: str(Expression({((Symbol(each, 0.0, parameter=True), 1),): x for each, x in coefficients.items()}))
            for name, coefficients in self.combinations.items()
        }

    @property
    def written(self) -> dict[str, str]:
        """Each in symbols where it can be, else in numbers."""
        return self.numeric_formulas | self.formulas

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
        return rank(self.model, self.standard, len(self))

    def __repr__(self) -> str:
        return f"<{len(self)} base parameters of {self.model.name} ({self.kind}): {', '.join(self.names)}>"

    def as_table(self, numbers: bool = False) -> Table:
        """Each with its value and the combination of standard ones that it is, lengths and angles as ``numbers`` or
        symbols."""
        written = self.numeric_formulas if numbers else self.written
        title = f"{len(self)} base parameters of {self.model.name} ({self.kind})"
        if self.ambiguity:
            title += f". Ambiguous: {self.ambiguity}"
        rows = [[name, float(value), written[name]] for name, value in zip(self.names, self.values, strict=True)]
        return Table(title, ["parameter", "value (SI)", "combination"], rows)

    def _repr_html_(self) -> str:
        return notebook(self.as_table())


def base_parameters(model: Model, kind: str = "khalil", drives: Drives = None) -> BaseParameters:
    """The base parameters of a robot by the rules of Gautier and Khalil, or those of Lin.

    ``drives``: which parameters of the drives are among the standard ones, see ``standard_parameters``. Where the rules
    do not tell all (loops, mimic joints, ball joints on the ground, transmissions, further laws of friction), numbers
    reduce what they leave further.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownNameError("kind of base parameters", kind, KINDS)
    if kind == "lin":
        _require_chain(model)
    known = _found.setdefault(model, {})
    if not isinstance(drives, (bool, str, type(None))):
        drives = names_of(drives, "drives")
    key = kind, drives
    if key not in known:
        known[key] = _base_parameters(model, kind, drives)
    return known[key]


def _base_parameters(model: Model, kind: str, drives: Drives) -> BaseParameters:
    standard = standard_parameters(model, drives)
    units = dict(zip(standard, map(DoubleDouble, np.eye(len(standard))), strict=True))
    exact, excited = precise_model(model), excitations(model)
    columns, matrix = _rows(_combinations(exact, "khalil", units, excited), standard)
    if kind == "lin":
        names, matrix = _rows(_combinations(exact, "lin", units, excited), standard)
        return BaseParameters(kind, model, standard, names, matrix, columns, (True,) * len(names))
    closed, doubts = (True,) * len(columns), []
    if not told_by_rules(model) or _has_further_laws(standard):
        found = independent(*precise_rows(model, columns))
        made, most = found.matrix @ matrix, np.abs(found.matrix) @ np.abs(matrix)
        matrix = np.where(np.abs(made) < CANCELLED * most, 0.0, made)
        several = np.count_nonzero(found.matrix, axis=0) > 1
        doubts = [found.ambiguity, _friction(model, [p for p, more in zip(columns, several, strict=True) if more])]
        columns = tuple(columns[k] for k in found.columns)
        closed = tuple(np.count_nonzero(row) == 1 for row in found.matrix)
    grouped = np.count_nonzero(matrix, axis=1) > 1
    names = tuple(
        str(p._replace(element=f"{p.element}R")) if more else str(p) for p, more in zip(columns, grouped, strict=True)
    )
    return BaseParameters(kind, model, standard, names, matrix, columns, closed, "; ".join(filter(None, doubts)))


def _has_further_laws(standard: Sequence[Parameter]) -> bool:
    """Their columns may be combinations of those of others, as FS is of FSP and FSN."""
    return any(not p.of_body and p.element not in JointValues.elements for p in standard)


def _friction(model: Model, combined: Sequence[Parameter]) -> str:
    """What is assumed of Coulomb friction that is the sum of several joints': they may turn the same way at some
    positions only. (Where it is one other joint's, they always turn together.)"""
    names = [each.motor or model.joint(each.body).name for each in combined if each.element == "FS"]
    if not names:
        return ""
    return f"Coulomb friction of {', '.join(names)} is combined with that of others by the signs it has near home"


def _combinations(
    model: Model, kind: str, named: Mapping[Parameter, Scalar], excited: dict[int, Excitation]
) -> dict[Any, Scalar]:
    """The base parameters of a tree in closed form, by name or by the parameter whose place each takes, over any
    scalar: ``named`` are the standard parameters."""
    seen = with_rotors_absorbed(with_values(model, named), excited)
    others = {
        p: x
        for p, x in named.items()
        if not (p.of_body or (p.element == "IA" and not p.motor and excited[p.body].rotor))
    }
    if kind == "lin":
        return lin_parameters(seen) | {str(p): x for p, x in others.items()}
    return khalil_parameters(seen, excited) | others


def _rows(combinations: Mapping[Any, Any], standard: Sequence[Parameter]) -> tuple[tuple[Any, ...], np.ndarray]:
    """Their keys and their coefficients; those that are the rounding of larger ones become zeros."""
    rows = [np.broadcast_to(getattr(each, "high", each), len(standard)) for each in combinations.values()]
    matrix = np.array(rows, float).reshape(-1, len(standard))
    return tuple(combinations), np.where(np.abs(matrix) < SMALL, 0.0, matrix)


def _require_chain(model: Model) -> None:
    unlike = [joint.name for joint in model.joints_on_base if not (joint.revolute or joint.prismatic)]
    reasons = {"its base floats": model.moving_base, "it branches": not model.serial, "it has loops": model.constrained}
    reasons |= {"joints mimic others": model.has_mimic, "transmissions couple its joints": bool(model.transmissions)}
    reasons |= {f"{', '.join(unlike)}: neither revolute nor prismatic": bool(unlike)}
    if found := [reason for reason, holds in reasons.items() if holds]:
        raise UnsupportedError(
            "Lin's combinations are for serial chains on a fixed base",
            where=f"robot {model.name!r}",
            got=" and ".join(found),
            fix='use kind="khalil"',
        )
