"""Forward dynamics by inertia matrix, bias and the factorisation L^T D L."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..model import Model
from ..scalar import Scalar
from ..spatial import Force
from . import ldl
from .crba import crba
from .rnea import rnea

Wrenches = Mapping[int, Force] | None


def newton_euler_bias(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], wrenches: Wrenches = None
) -> list[Scalar]:
    """Joint forces at zero acceleration, by Newton-Euler."""
    return rnea(model, q, v, [0] * model.n_tree, wrenches)


def solve_inertia_and_bias(
    inertia: Callable[..., list[list[Scalar]]],
    bias: Callable[..., list[Scalar]],
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches = None,
) -> list[Scalar]:
    """Joint accelerations a with M(q) a = tau - b(q, v), O(n^3) in the worst case, less by the tree's sparsity.

    Walker & Orin (1982). ``tau`` and the result are the user's (independent) joint vectors: mimic joints are
    projected out of M and b before the solution.
    """
    b = model.collect(bias(model, q, v, wrenches))
    M = model.collect_matrix(inertia(model, q))
    return ldl.solve(*ldl.factor(M), [force - rest for force, rest in zip(tau, b, strict=True)])


def crba_ldl(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], wrenches: Wrenches = None
) -> list[Scalar]:
    """Joint accelerations, with M by composite bodies and the bias by Newton-Euler."""
    return solve_inertia_and_bias(crba, newton_euler_bias, model, q, v, tau, wrenches)
