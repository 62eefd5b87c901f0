"""Derivatives of forward dynamics from those of inverse dynamics, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...constraints import ClosedLoops
from ...model import Model
from ...scalar import Scalar, Scalars, is_zero, ldl
from ...scalar.dual import slope_of
from ...scalar.orthogonal import dot
from ...scalar.staircase import unique_or_nan
from ...spatial import AXES, Vector

Rows = list[list[Scalar]]
Known = Mapping[int, Mapping[int, Scalar]]  # entries of a column of derivatives, by direction


def implicit(
    tree: ClosedLoops,
    tau: Scalars,
    bias: Scalars,
    M: Rows,
    rest: Callable[[Scalars], Scalars],
    known: Known,
    commands: int = 0,
) -> tuple[Any, ...]:
    """Return a, da/dq, da/dv, da/dtau, and da by ``commands``, where M a + b(q, v) = B(q)^T tau.

      (1)  M a = B^T tau - b
      (2)  M da = d(B^T tau - M a - b)      with the a of (1), which stays as it is
      (3)  da/dtau = M^-1 B^T

    ``rest`` is a function of a that returns the brackets of (2) as dual numbers. ``known`` has the parts of the columns
    of (2) that were computed before; the dual numbers have the derivatives of the rest. With M = L^T D L and W = L^-1,
    M^-1 is W D^-1 W^T.
    """
    nv, (L, inverse) = len(M), ldl.factor(M)
    net = [x - y for x, y in zip(tree.of_motors(tau), bias, strict=True)]
    a = ldl.solve(L, inverse, net)                                                          # (1)
    W = [list(row) for row in zip(*(ldl.outward(L, unit) for unit in units(nv)), strict=True)]
    scaled = [[x * d for x, d in zip(row, inverse, strict=True)] for row in W]
    Minv = [[dot(scaled[max(i, j)], W[min(i, j)]) for j in range(nv)] for i in range(nv)]
    left, columns = rest(a), []
    n = tree.model.n_configuration
    for direction in range(n + nv + commands):
        column = solved(W, scaled, Minv, [slope_of(x, direction) for x in left])            # (2)
        for k, value in known.get(direction, {}).items():
            column[k] = column[k] + value
        columns.append(column)
    parts = columns[:n], columns[n : n + nv], columns[n + nv :]
    da_dq, da_dv, da_more = ([list(row) for row in zip(*part, strict=True)] for part in parts)
    B = [tree.of_motors(unit) for unit in units(len(tau))]
    one = unique_or_nan([tree.J_p]) if tree.model.constrained else 1  # NaN where the loops do not determine a
    da_dtau = [[dot(row, column) for column in B] for row in Minv]                          # (3)
    return [one * x for x in a], da_dq, da_dv, da_dtau, *[da_more] * bool(commands)


def solved(W: Rows, scaled: Rows, Minv: Rows, b: Scalars) -> list[Scalar]:
    """Return M^-1 b by the product with fewer operations: W of a tree is sparse, M^-1 is not."""
    n = len(b)
    entries = [k for k in range(n) if not is_zero(b[k])]
    y = [dot([row[k] for row in W], b) for k in range(n)]
    reached = {k for k in range(n) if any(not is_zero(W[r][k]) for r in entries)}
    twice = sum(not is_zero(W[r][k]) for r in entries for k in range(r))
    twice += sum(not is_zero(x) for row in W for k, x in enumerate(row) if k in reached)
    return [dot(row, b) for row in Minv] if n * len(entries) <= twice else [dot(row, y) for row in scaled]


def units(n: int) -> list[list[Scalar]]:
    """Return the unit matrix of size n."""
    return [[int(k == m) for m in range(n)] for k in range(n)]


def carried_along(model: Model, q: Scalars, v: Scalars) -> Known:
    """Return how the accelerations of a tree change with orientation and linear velocity of a floating base.

    Only the linear accelerations of the base itself change, because they are in its axes.

      (4)  da/dtheta = g x e        along the axes e of the body, g in these
      (5)  da/dv = e x w
    """
    known: dict[int, dict[int, Scalar]] = {}
    first = dict(zip(model.coordinates.positions.joints, model.coordinates.velocity_ranges, strict=True))
    for i, parent in model.outward():
        joint = model.joint(i)
        if parent > 0 or not joint.kind.free or not is_zero(joint.rotor_inertia):
            continue
        at, start = model.freedoms(i), first[joint.name].start
        g, w = model.transform(i, q).inward(model.gravity), Vector(*(v[k] for k in at[3:]))
        for k, e in enumerate(AXES):
            known[start + 3 + k] = dict(enumerate(g.cross(e), start))                       # (4)
            known[model.nv + start + k] = dict(enumerate(e.cross(w), start))                # (5)
    return known
