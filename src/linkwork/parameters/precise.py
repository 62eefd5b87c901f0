"""The robot in numbers of 31 digits, and its regressor, to decide what is independent where doubles cannot.

The rounding of doubles makes columns of the regressor look independent by 1e-16, and robots with loops have columns
that are so by less than 1e-12. Here rotations are orthogonal and loops closed to all digits. The only rounding left is
where loops contradict each other: a planar one has more equations than it needs, and its axes are parallel up to the
last digit.
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

ROUNDING = 1e-27  # rounding error of rows of length one; the largest observed was 5e-29
REFINED = 3  # Newton steps, of which two suffice
SHARE = 100.0  # residuals up to this many times the gap that contradicting loops leave are rounding


@dataclass(frozen=True, eq=False)
class PreciseModel(Model):
    """A model whose constants are DoubleDouble, except exact zeros and ones."""

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        return Transform(*(_screw(x) if isinstance(x, Screw) else x for x in super().transform(i, q).screws))


def precise_model(model: Model) -> Model:
    """Return the same robot with constants of 31 digits."""
    values: dict[str, Any] = {each.name: getattr(model, each.name) for each in fields(Model)}
    values["constraints"] = tuple(
        replace(each, first=_frame(each.first), second=_frame(each.second)) for each in model.constraints
    )
    return PreciseModel(**values)


def precise_rows(model: Model, parameters: Sequence[Parameter]) -> tuple[DoubleDouble, float]:
    """Return rows of the regressor at random states, each of about length one, and their error."""
    exact, at = precise_model(of_freedoms(model)), states(model)
    q, v, a = (list(map(DoubleDouble, values.T)) for values in at)
    count, gap = len(at[0]), np.zeros(1)
    if model.constrained:
        solve = shortest(jacobian(model, list(at[0].T), count))  # doubles suffice: every step adds their digits
        for _ in range(REFINED):
            q = closer(ConstraintEquations.at(exact, q), q, solve)
        gap = open_by(ConstraintEquations.at(exact, q), count)
    rows = regressor(exact, q, v, a, parameters)
    Y = DoubleDouble(np.zeros((len(rows), count, len(parameters))))
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            Y[i, :, j] = value
    Y = DoubleDouble(*(part.reshape(-1, len(parameters)) for part in (Y.high, Y.low)))
    length = np.sqrt((Y.high**2).sum(axis=1, keepdims=True))
    return Y * power_of_two(1 / np.where(length, length, 1.0)), max(ROUNDING, SHARE * float(np.abs(gap).max()))


def power_of_two(x: np.ndarray) -> np.ndarray:
    """Return a power of two near x: multiplying by it is exact."""
    return np.exp2(np.round(np.log2(x)))


def _precise(value: float) -> Scalar:
    return value if value in (0, 1, -1) else DoubleDouble(value)


def _vector(v: Vector) -> Vector:
    return Vector(*map(_precise, v))


def _screw(screw: Screw) -> Screw:
    """Return the screw with a cosine and a sine that are accurate to all digits."""
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
