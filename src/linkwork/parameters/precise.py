"""The robot in numbers of 31 digits, and its regressor: to tell what is independent where doubles cannot.

A double's rounding makes columns of the regressor look independent by 1e-16, and robots with loops have columns that
are so by less than 1e-12. Here rotations are orthogonal and loops closed to all digits, so that nothing is left of the
rounding but where loops contradict each other: a planar one has more equations than it needs, and its axes are
parallel but for the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..constraints import ConstraintEquations
from ..constraints.projection import closer
from ..formulations.regressor import Parameter, regressor
from ..model import Frame, Model
from ..scalar import Scalar, sqrt
from ..spatial import Matrix, Pose, Screw, Transform, Vector
from .double_double import DoubleDouble
from .states import jacobian, of_freedoms, open_by, shortest, states

ROUNDING = 1e-27  # of rows of length one, with much to spare: the largest seen was 5e-29
REFINED = 3  # Newton's steps, of which two are enough
SHARE = 100.0  # times the gap that contradicting loops leave: what adds less than that to other columns is rounding


@dataclass(frozen=True, eq=False)
class PreciseModel(Model):
    """Its constants are DoubleDouble, but for exact zeros and ones."""

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        return Transform(*(_screw(x) if isinstance(x, Screw) else x for x in super().transform(i, q).screws))


def precise_model(model: Model) -> Model:
    values: dict[str, Any] = {each.name: getattr(model, each.name) for each in fields(Model)}
    values["constraints"] = tuple(
        replace(each, first=_frame(each.first), second=_frame(each.second)) for each in model.constraints
    )
    return PreciseModel(**values)


def precise_rows(model: Model, asked: Sequence[Parameter]) -> tuple[DoubleDouble, float]:
    """Rows of the regressor at random states, each of about length one, and how far they may be off."""
    exact, at = precise_model(of_freedoms(model)), states(model)
    q, v, a = (list(map(DoubleDouble, values.T)) for values in at)
    count, gap = len(at[0]), np.zeros(1)
    if model.constrained:
        solve = shortest(jacobian(model, list(at[0].T), count))  # doubles will do: every step adds their digits
        for _ in range(REFINED):
            q = closer(ConstraintEquations.at(exact, q), q, solve)
        gap = open_by(ConstraintEquations.at(exact, q), count)
    rows = regressor(exact, q, v, a, asked)
    Y = DoubleDouble(np.zeros((len(rows), count, len(asked))))
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            Y[i, :, j] = value
    Y = DoubleDouble(*(part.reshape(-1, len(asked)) for part in (Y.high, Y.low)))
    length = np.sqrt((Y.high**2).sum(axis=1, keepdims=True))
    return Y * power_of_two(1 / np.where(length, length, 1.0)), max(ROUNDING, SHARE * float(np.abs(gap).max()))


def power_of_two(x: np.ndarray) -> np.ndarray:
    """Near x: multiplying by it is exact."""
    return np.exp2(np.round(np.log2(x)))


def _precise(value: float) -> Scalar:
    return value if value in (0, 1, -1) else DoubleDouble(value)


def _vector(v: Vector) -> Vector:
    return Vector(*map(_precise, v))


def _screw(screw: Screw) -> Screw:
    """Its turn of a cosine and a sine that are such to all digits."""
    c, s = screw.c, screw.s
    if isinstance(c, float) and isinstance(s, float) and c * s:
        length = (DoubleDouble(c) * c + DoubleDouble(s) * s).sqrt()
        c, s = c / length, s / length
    return Screw(screw.axis, c, s, _precise(screw.t) if isinstance(screw.t, float) else screw.t)


def _frame(frame: Frame) -> Frame:
    x, _, z = map(_vector, frame.pose.rotation.columns)
    z = z * (1 / sqrt(z.dot(z)))
    x = x - z * x.dot(z)
    x = x * (1 / sqrt(x.dot(x)))
    return replace(frame, pose=Pose(Matrix(x, z.cross(x), z).T, _vector(frame.pose.origin)))
