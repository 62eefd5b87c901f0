"""Time derivatives of M and J along a motion, and Christoffel symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..constraints import ClosedLoops
from ..errors import UnsupportedError
from ..model import Frame, Model
from ..scalar import Scalar, Scalars
from ..scalar.dual import dual, slope_of
from . import quantities
from .crba import crba
from .total_inertia import total_inertia_matrix


def rate_of(function: Callable[..., Any], model: Model, q: Scalars, v: Scalars, **options: Any) -> Any:
    """Return the rate of a matrix function of the positions at velocities ``v``, by dual numbers along dq/dt."""
    positions = quantities.joint_velocities(model, q, v)
    return _slopes(function(model, along(q, model.coordinates.rates(q, positions)), **options), 0)


def along(q: Scalars, direction: Scalars) -> list[Scalar]:
    """Return positions as dual numbers that change in this direction."""
    return [dual(x, {0: rate}) for x, rate in zip(q, direction, strict=True)]


def _slopes(value: Any, direction: int) -> Any:
    """The slopes of nested lists of dual numbers."""
    return [_slopes(x, direction) for x in value] if isinstance(value, list) else slope_of(value, direction)


def inertia_matrix_rate(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """Return Mdot, the rate of the inertia matrix along the motion."""
    return rate_of(_inertia_matrix, model, q, v)


def jacobian_rate(model: Model, q: Scalars, v: Scalars, *, frame: Frame, axes: str = "world") -> list[list[Scalar]]:
    """Return Jdot, the rate of the Jacobian of a frame along the motion."""
    return rate_of(quantities.jacobian, model, q, v, frame=frame, axes=axes)


def christoffel_symbols(model: Model, q: Scalars) -> list[list[list[Scalar]]]:
    """Christoffel's symbols of the first kind, c_ijk: the Coriolis and centrifugal force i is sum c_ijk v_j v_k.

      (1)  c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i)
    """
    if model.constrained or not all(joint.kind.straight for joint in model.coordinates.joints):
        raise UnsupportedError(
            "Christoffel's symbols are defined where velocities are the rates of the positions",
            where=f"robot {model.name!r}",
            got="a loop, or a joint with a quaternion or with velocities in its own axes",
            fix="coriolis_matrix is defined for every tree",
        )
    n = model.nv
    units = [[int(i == k) for i in range(n)] for k in range(n)]
    D = [_slopes(_inertia_matrix(model, along(q, unit)), 0) for unit in units]  # D[k][i][j] = dM_ij/dq_k
    return [
        [[0.5 * (D[k][i][j] + D[j][i][k] - D[i][j][k]) for k in range(n)] for j in range(n)] for i in range(n)   # (1)
    ]


def _inertia_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    q = model.expand(q)
    M = ClosedLoops(model, q).collect_matrix(total_inertia_matrix(crba, model, q))
    return [[M[max(i, j)][min(i, j)] for j in range(model.nv)] for i in range(model.nv)]


