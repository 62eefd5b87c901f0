"""Forward dynamics by inertia matrix, bias and the factorisation L^T D L."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Model
from ..scalar import Scalar
from ..spatial import Force
from . import ldl
from .crba import crba
from .rnea import rnea


def crba_ldl(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Mapping[int, Force] | None = None,
) -> list[Scalar]:
    """Joint accelerations a with M(q) a = tau - b(q, v), O(n^3) in the worst case, less by the tree's sparsity.

    Walker & Orin (1982), method 3; bias by Newton-Euler, M by composite bodies. ``tau`` and the result are the user's
    (independent) joint vectors: mimic joints are projected out of M and b before the solution.
    """
    still: list[Scalar] = [0] * model.n_tree
    b = model.collect(rnea(model, q, v, still, wrenches))
    M = model.collect_matrix(crba(model, q))
    return ldl.solve(*ldl.factor(M), [force - bias for force, bias in zip(tau, b, strict=True)])
