"""Centroidal momentum: its matrix A(q), the Jacobian of the centre of mass, and the rate of A."""

from __future__ import annotations

from ..constraints import ClosedLoops
from ..model import Model
from ..scalar import Scalar, Scalars
from .energy import momentum
from .rates import rate_of


def centroidal_momentum_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """A with momentum = A v (Orin and Goswami 2008): linear, then angular about the centre of mass, in world axes.

    Momentum is linear in the velocities, so column k is the momentum at unit velocity k.
    """
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    units = ([int(i == k) for i in range(model.nv)] for k in range(model.nv))
    return [list(row) for row in zip(*(momentum(model, q, tree.rates(unit)) for unit in units), strict=True)]


def center_of_mass_jacobian(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the Jacobian of the centre of mass: the linear rows of A, divided by the mass."""
    mass: Scalar = 0
    for i, _ in model.outward():
        mass = mass + model.inertia(i).mass
    return [[x * (1 / mass) for x in row] for row in centroidal_momentum_matrix(model, q)[:3]]


def centroidal_momentum_matrix_rate(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """Return Adot, the rate of A along the motion; the rate of momentum is A a + Adot v."""
    return rate_of(centroidal_momentum_matrix, model, q, v)
