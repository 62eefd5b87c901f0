"""Forward dynamics by inertia matrix, bias and the factorisation L^T D L."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model import Model
from ..scalar import Scalar, Scalars, ldl
from .method import Wrenches
from .total_inertia import total_bias, total_inertia_matrix


def bias_by(
    inverse: Callable[..., list[Scalar]],
    model: Model,
    q: Scalars,
    v: Scalars,
    wrenches: Wrenches = None,
    a: Scalars | None = None,
) -> list[Scalar]:
    """Return the joint forces at zero acceleration (or at ``a``), by a method of inverse dynamics."""
    return inverse(model, q, v, a or [0] * model.n_tree, wrenches)


def solve_inertia_and_bias(
    inertia: Callable[..., list[list[Scalar]]],
    bias: Callable[..., list[Scalar]],
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Wrenches = None,
    tree: Any = None,
) -> list[Scalar]:
    """Joint accelerations a with M(q) a = tau - b(q, v), O(n^3) in the worst case, less by the tree's sparsity.

    Walker & Orin (1982). ``tau`` and the result are of the non-mimic joints: mimic joints are projected out of M and b
    before the solution. With ``tree`` (ClosedLoops), so are the dependent joints of loops: Khalil's (58).
    """
    b = (tree or model).collect(total_bias(bias, model, q, v, wrenches, tree.drift(v) if tree else None))
    M = (tree or model).collect_matrix(total_inertia_matrix(inertia, model, q))
    return ldl.solve(*ldl.factor(M), [force - rest for force, rest in zip(tau, b, strict=True)])
