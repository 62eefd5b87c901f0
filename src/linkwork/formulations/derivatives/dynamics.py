"""Slopes of inverse and forward dynamics by q and v, composed of a method and of what belongs to every joint.

Directions of dual numbers: 0 ... nv - 1 are those of the positions, along the tangent of their coordinates and, where
loops are closed, so that they stay closed; nv ... 2 nv - 1 are those of the velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...constraints import ClosedLoops
from ...model import Model
from ...scalar import Scalar
from ...scalar.dual import dual, slope_of, value_of
from ...spatial import Force, Vector
from ..crba import crba
from ..drives import with_rotor_forces, with_rotors
from ..method import Method
from ..passive import body_wrenches, passive_forces
from ..quantities import NO_LOADS, Loads, Solvable, forces_for_motion, require_motors
from .implicit import implicit

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]


def inverse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    require_motors(model)
    tree, forces, M = forces_with_slopes(model, q, v, a, method, loads)
    tau = tree.to_motors(forces)
    return [value_of(x) for x in tau], *slopes(model, tau), M


def forward_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    with Solvable(model):
        return implicit(model, tau, lambda a: forces_with_slopes(model, q, v, a, method, loads))


def forces_with_slopes(
    model: Model, q: Scalars, v: Scalars, a: Scalars, method: Method, loads: Loads
) -> tuple[ClosedLoops, list[Scalar], Rows]:
    """Forces of the independent coordinates for a motion, as dual numbers, and the inertia matrix. A ``closed`` method
    is one of inverse dynamics: it is run on dual numbers, with all that closes the loops."""
    moving, rates = seeded(model, q, v)
    if method.closed:
        tree = ClosedLoops(model, model.expand(moving))
        forces = forces_for_motion(method.function, tree, rates, a, loads)
        still = [value_of(x) for x in tree.q]
        return tree, forces, ClosedLoops(model, still).collect_matrix(with_rotors(model, crba(model, still)))
    still, qd, qdd = model.expand(q), model.expand_rates(v), model.expand_rates(a)
    moving, rates = model.expand(moving), model.expand_rates(rates)
    applied = body_wrenches(model, moving, rates, *loads)
    held = {i: Force(_each(value_of, f.linear), _each(value_of, f.angular)) for i, f in applied.items()}
    tau, dq, dv, M = method.function(model, still, qd, qdd, held)
    tau = model.collect(with_rotor_forces(model, tau, qdd))
    columns = zip(model.collect_matrix(dq), model.collect_matrix(dv), strict=True)
    forces = [dual(x, dict(enumerate([*row_q, *row_v]))) for x, (row_q, row_v) in zip(tau, columns, strict=True)]
    rest = passive_forces(model, moving, rates)
    if model.forces:
        changing = {i: Force(_each(_change, f.linear), _each(_change, f.angular)) for i, f in applied.items()}
        rest = [x + y for x, y in zip(rest, forces_against(model, still, changing), strict=True)]
    forces = [x + y for x, y in zip(forces, model.collect(rest), strict=True)]
    return ClosedLoops(model, still), forces, model.collect_matrix(with_rotors(model, M))


def seeded(model: Model, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The user's q and v with slopes of one along the directions."""
    G = ClosedLoops(model, model.expand(q)).G
    along = [model.coordinates.rates(q, [row[k] for row in G]) for k in range(model.nv)]
    moving = [dual(x, {k: rates[n] for k, rates in enumerate(along)}) for n, x in enumerate(q)]
    return moving, [dual(x, {model.nv + k: 1}) for k, x in enumerate(v)]


def slopes(model: Model, values: Scalars) -> tuple[Rows, Rows]:
    """By q and by v, a row for each value."""
    of_q = [[slope_of(x, k) for k in range(model.nv)] for x in values]
    return of_q, [[slope_of(x, model.nv + k) for k in range(model.nv)] for x in values]


def forces_against(model: Model, q: Scalars, wrenches: dict[int, Force]) -> list[Scalar]:
    """Joint forces that hold still against wrenches on the bodies: those of a robot without masses."""
    tau: list[Scalar] = [0] * model.n_tree
    f = {i: -wrenches.get(i, Force()) for i, _ in model.outward()}
    for i, p in model.inward():
        for k, S in zip(model.freedoms(i), model.subspace(i, q), strict=True):
            tau[k] = S.dot(f[i])
        if p > 0:
            f[p] = f[p] + model.transform(i, q).force_outward(f[i])
    return tau


def _each(act: Any, v: Vector) -> Vector:
    return Vector(*map(act, v))


def _change(x: Scalar) -> Scalar:
    """The slopes alone."""
    return x - value_of(x)
