"""Dynamics and singularity of a frame: operational-space inertia and bias, inverses of its Jacobian, manipulability.

With the Jacobian J of the frame, the inertia matrix M of the joints and their bias b (forces at zero acceleration):

  (1)  Lambda = (J M^-1 J^T)^-1              inertia that a force on the frame meets
  (2)  Jbar = M^-1 J^T Lambda                of all inverses of J, the one of least kinetic energy
  (3)  mu = Jbar^T b - Lambda Jdot v         F = Lambda A + mu moves the frame with acceleration A
  (4)  J^T (J J^T + damping^2 1)^-1          bounded where J is singular

Khatib (1987), "A unified approach for motion and force control of robot manipulators: the operational space
formulation". Where J has dependent rows, Lambda is the pseudo-inverse: directions in which the frame cannot move have
neither inertia nor bias, and (2) and (3) hold along all others. With M = L^T D L, J M^-1 J^T is A D^-1 A^T with
A = J L^-1, whose rows are orthogonalised (``weighted_inverse``), so no digits are lost by squares.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import NamedTuple

from ..constraints import ClosedLoops
from ..model import Frame, Model
from ..scalar import Scalar, Scalars, absolute, ldl, less, linear_algebra
from ..scalar.orthogonal import dot
from . import kinematics
from . import quantities as of
from .crba import crba
from .parallel_axes import shared_axes
from .quantity import BUILT_IN, TWIST, WRENCH, Quantity, Variable
from .total_inertia import total_inertia_matrix

Rows = list[list[Scalar]]
STILL = 1e-12  # share of the terms of a sum below which it is due to rounding


class Task(NamedTuple):
    """Inertia of a frame, 6 x 6, and the consistent inverse of its Jacobian, n x 6."""

    inertia: Rows
    inverse: Rows

    @classmethod
    def at(cls, model: Model, q: Scalars, frame: Frame, axes: str) -> Task:
        J, tree = of.jacobian(model, q, frame=frame, axes=axes), ClosedLoops(model, model.expand(q))
        if model.constrained:
            moves = _moves(tree, frame, J)
            J = [[x * moves for x in row] for row in J]
        with of.Solvable(model):
            M = tree.collect_matrix(total_inertia_matrix(crba, model, tree.q))
            L, inverse = ldl.factor(M)
        inertia, rows = linear_algebra.weighted_inverse([ldl.inward(L, row) for row in J], inverse)  # (1)
        columns = [ldl.outward(L, column) for column in zip(*rows, strict=True)]                     # (2)
        return cls(inertia, [[column[k] for column in columns] for k in range(model.nv)])


def _moves(tree: ClosedLoops, frame: Frame, J: Rows) -> Scalar:
    """Return 0 for a frame that the loops hold still, whose Jacobian is what rounding leaves of sums, else 1."""
    rows = tree.model.collect_rows(kinematics.frame_jacobian(tree.model, frame, tree.q))
    terms = [[*map(absolute, row)] for row in rows], [[*map(absolute, column)] for column in zip(*tree.G, strict=True)]
    sums = [dot(row, column) for row, column in product(*terms)]
    return less(STILL**2 * dot(sums, sums), sum((dot(row, row) for row in J), start=0))


def operational_inertia(model: Model, q: Scalars, *, frame: Frame, axes: str = "world") -> Rows:
    return Task.at(model, q, frame, axes).inertia


def operational_bias(
    model: Model, q: Scalars, v: Scalars, *, frame: Frame, axes: str = "world", loads: of.Loads = of.NO_LOADS
) -> list[Scalar]:
    task, still = Task.at(model, q, frame, axes), [0] * model.nv
    b = of.forces_for_motion(shared_axes, ClosedLoops(model, model.expand(q)), v, still, loads)
    drift = of.jacobian_drift(model, q, v, frame=frame, axes=axes)
    columns = [[row[k] for row in task.inverse] for k in range(6)]
    return [dot(column, b) - dot(row, drift) for column, row in zip(columns, task.inertia, strict=True)]  # (3)


def consistent_inverse(model: Model, q: Scalars, *, frame: Frame, axes: str = "world") -> Rows:
    return Task.at(model, q, frame, axes).inverse


def damped_inverse(model: Model, q: Scalars, damping: Scalar, *, frame: Frame, axes: str = "world") -> Rows:
    J = of.jacobian(model, q, frame=frame, axes=axes)
    return linear_algebra.pseudo_inverse(J, damping) if model.nv else []  # (4)


def manipulability(model: Model, q: Scalars, *, frame: Frame) -> tuple[Scalar, ...]:
    return tuple(map(linear_algebra.volume, _parts(model, q, frame)))


def singular_values(model: Model, q: Scalars, *, frame: Frame) -> tuple[list[Scalar], ...]:
    return tuple(map(linear_algebra.singular_values, _parts(model, q, frame)))


def _parts(model: Model, q: Scalars, frame: Frame) -> tuple[Rows, Rows, Rows]:
    """Return the Jacobian of a frame, its rows of translation, and those of rotation."""
    J = of.jacobian(model, q, frame=frame)
    return J, J[:3], J[3:]


def _of_parts(shapes: tuple[tuple[str, ...], ...], meaning: str, units: tuple[str, str, str]) -> tuple[Variable, ...]:
    names = ("whole", "translation", "rotation")
    meanings = (f"{meaning} of the {'whole Jacobian' if name == 'whole' else f'{name} alone'}" for name in names)
    return tuple(Variable(*each) for each in zip(names, shapes, units, meanings, strict=True))


_of_task = partial(Quantity, of_frame=True, has_axes=True, of_joints=True, decides_rank=True)

QUANTITIES = (
    _of_task(
        "operational_inertia",
        "operational-space inertia of a frame (Khatib)",
        operational_inertia,
        ("q",),
        (Variable("Lambda", (6, 6), "SI", labels=(TWIST, TWIST)),),
        ("rotors",),
        details=(
            "Lambda = (J M^-1 J^T)^-1; where J is singular, the pseudo-inverse: zero in directions in which the frame "
            "cannot move. In world or local axes."
        ),
    ),
    _of_task(
        "operational_bias",
        "force on a frame for zero acceleration of it",
        operational_bias,
        ("q", "v"),
        (Variable("mu", (6,), "N, N m", labels=(WRENCH,)),),
        BUILT_IN,
        takes_wrenches=True,
        details=(
            "mu = Jbar^T bias - Lambda Jdot v, with gravity and all else that ``bias`` includes: joint forces "
            "J^T (Lambda A + mu) give the frame the acceleration A = J a + Jdot v. In world or local axes."
        ),
    ),
    _of_task(
        "consistent_inverse",
        "dynamically consistent inverse of a frame's Jacobian",
        consistent_inverse,
        ("q",),
        (Variable("Jbar", ("v", 6), "SI", labels=(None, TWIST)),),
        ("rotors",),
        details=(
            "Jbar = M^-1 J^T Lambda: of all velocities that move the frame as asked, v = Jbar V has the least kinetic "
            "energy. Joint forces (1 - J^T Jbar^T) tau do not accelerate the frame. In world or local axes."
        ),
    ),
    Quantity(
        "damped_inverse",
        "damped pseudo-inverse of a frame's Jacobian",
        damped_inverse,
        ("q", "damping"),
        (Variable("Jplus", ("v", 6), "SI", labels=(None, TWIST)),),
        of_frame=True,
        has_axes=True,
        details=(
            "J^T (J J^T + damping^2 1)^-1, for steps of inverse kinematics: no singular value is above "
            "1 / (2 damping). With zero damping, J must have full rank. In world or local axes."
        ),
    ),
    Quantity(
        "manipulability",
        "manipulability of a frame (Yoshikawa)",
        manipulability,
        ("q",),
        _of_parts(((), (), ()), "manipulability", ("SI", "SI", "dimensionless")),
        of_frame=True,
        details=(
            "sqrt(det(J J^T)), the product of the singular values of J; sqrt(det(J^T J)) for a robot with fewer "
            "degrees of freedom than J has rows. Zero where J is singular."
        ),
    ),
    Quantity(
        "singular_values",
        "singular values of J, the distance to singularity",
        singular_values,
        ("q",),
        _of_parts((("whole",), ("part",), ("part",)), "singular values", ("SI", "SI", "dimensionless")),
        of_frame=True,
        details=(
            "The largest first. The last one is the distance to singularity: the norm of the smallest change of J that "
            "makes it singular. All are exact to about 1e-15 of the largest."
        ),
    ),
)
