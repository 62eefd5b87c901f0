"""Slopes of forward dynamics from those of inverse dynamics, by the rule for implicit functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...constraints import ClosedLoops
from ...model import Model
from ...scalar import Scalar, ldl
from ...scalar.dual import slope_of, value_of
from ...scalar.orthogonal import dot
from ...scalar.staircase import exists

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]
Forces = Callable[[Scalars], tuple[ClosedLoops, list[Scalar], Rows]]  # for accelerations, with slopes; M


def implicit(model: Model, tau: Scalars, forces: Forces) -> tuple[list[Scalar], Rows, Rows, Rows]:
    """a, da/dq, da/dv and da/dtau, where f(q, v, a) = B(q)^T tau; ``forces`` tells f, its slopes and df/da = M.

      (1)  M a = B^T tau - f(q, v, 0)
      (2)  M da = d(B^T tau) - df      with a as it is
      (3)  da/dtau = M^-1 B^T
    """
    tree, f, M = forces([0] * model.nv)
    L, inverse = ldl.factor(M)
    net = [value_of(y - x) for x, y in zip(f, tree.of_motors(tau), strict=True)]
    a = ldl.solve(L, inverse, net)                                                         # (1)
    tree, f, M = forces(a)
    rest = [y - x for x, y in zip(f, tree.of_motors(tau), strict=True)]
    Minv = inverse_of(L, inverse)
    found = []
    for first in (0, model.nv):
        columns = ([slope_of(x, first + k) for x in rest] for k in range(model.nv))
        solved = [[dot(row, column) for row in Minv] for column in columns]                # (2)
        found.append([list(row) for row in zip(*solved, strict=True)])
    units = ([int(k == m) for m in range(len(tau))] for k in range(len(tau)))
    B = [[value_of(x) for x in tree.of_motors(unit)] for unit in units]
    one = exists([tree.J_p]) if model.loops else 1
    return [one * x for x in a], *found, [[dot(row, column) for column in B] for row in Minv]                 # (3)


def inverse_of(L: Rows, inverse: Scalars) -> Rows:
    """M^-1 = W D^-1 W^T with W = L^-1, of M = L^T D L."""
    n = len(inverse)
    W = [ldl.outward(L, [int(r == c) for r in range(n)]) for c in range(n)]  # columns
    rows = [[W[c][r] for c in range(n)] for r in range(n)]
    scaled = [[x * d for x, d in zip(row, inverse, strict=True)] for row in rows]
    result = [[dot(scaled[max(i, j)], rows[min(i, j)]) for j in range(n)] for i in range(n)]
    return result
