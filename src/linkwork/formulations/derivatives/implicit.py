"""Slopes of forward dynamics from those of inverse dynamics, by the rule for implicit functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...constraints import ClosedLoops
from ...model import Model
from ...scalar import Scalar, is_zero, ldl
from ...scalar.dual import slope_of
from ...scalar.orthogonal import dot
from ...scalar.staircase import exists
from ...spatial import AXES, Vector

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]
Known = Mapping[int, Mapping[int, Scalar]]  # by direction, entries of a column of slopes


def implicit(
    tree: ClosedLoops,
    tau: Scalars,
    bias: Scalars,
    M: Rows,
    rest: Callable[[Scalars], Scalars],
    known: Known,
    commands: int = 0,
) -> tuple[Any, ...]:
    """a, da/dq, da/dv and da/dtau, where M a + b(q, v) = B(q)^T tau, and da by so many further directions.

      (1)  M a = B^T tau - b
      (2)  M da = d(B^T tau - M a - b)      with the a of (1), which stays as it is
      (3)  da/dtau = M^-1 B^T

    ``rest`` gives what (2) has in brackets, for a, as dual numbers. Columns of (2) may be ``known`` in part; there it
    has the slopes of what is left. M^-1 is W D^-1 W^T with W = L^-1, of M = L^T D L.
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
    one = exists([tree.J_p]) if tree.model.constrained else 1  # not a number where loops leave a open
    da_dtau = [[dot(row, column) for column in B] for row in Minv]                          # (3)
    return [one * x for x in a], da_dq, da_dv, da_dtau, *[da_more] * bool(commands)


def solved(W: Rows, scaled: Rows, Minv: Rows, b: Scalars) -> list[Scalar]:
    """M^-1 b, by the product that takes less: a tree's W is sparse, M^-1 is not."""
    n = len(b)
    entries = [k for k in range(n) if not is_zero(b[k])]
    y = [dot([row[k] for row in W], b) for k in range(n)]
    reached = {k for k in range(n) if any(not is_zero(W[r][k]) for r in entries)}
    twice = sum(not is_zero(W[r][k]) for r in entries for k in range(r))
    twice += sum(not is_zero(x) for row in W for k, x in enumerate(row) if k in reached)
    return [dot(row, b) for row in Minv] if n * len(entries) <= twice else [dot(row, y) for row in scaled]


def units(n: int) -> list[list[Scalar]]:
    return [[int(k == m) for m in range(n)] for k in range(n)]


def carried_along(model: Model, q: Scalars, v: Scalars) -> Known:
    """How the accelerations of a tree change as a floating body at its root is turned, or shifts at another velocity:
    only that body's own linear ones do, since they are in its axes.

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
