"""Khalil's treatment of closed loops: the tree that is left when they are cut, and the Jacobian that closes it."""

from __future__ import annotations

from ...constraints import ClosedLoops
from ...model import Model
from ...scalar import Scalar, Scalars, is_zero, ldl
from ...scalar.orthogonal import dot
from ..crba import crba
from ..method import Wrenches
from ..parallel_axes import shared_axes
from ..passive_forces import passive_forces
from ..total_inertia import total_inertia_matrix, total_inverse_dynamics


def khalil_loops(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, wrenches: Wrenches = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the forces of the motors and the accelerations of the free coordinates, with or without loops.

    ``a`` are accelerations of the driven coordinates, ``tau`` forces on the free ones (see ``Mobility``), ``v``
    independent velocities.

    Equation (58) with the unknown accelerations separated from the known ones, as (68) does for elastic joints and (83)
    for a moving base. k: driven, u: free, tau_m: motors, B = d qd_m / d qd_a:

      (58)  [B_k^T tau_m; B_u^T tau_m + tau_u] = A_c [qdd_k; qdd_u] + H_c

    With r the forces at qdd_u = 0 and Y = A_uu^-1 A_uk, tau_m solves (B_k - B_u Y)^T tau_m = r_k - Y^T (r_u - tau_u):
    where there are more motors than driven freedoms, it is the solution of the least weighted square.
    """
    loops, mobility = ClosedLoops(model, q), model.mobility
    K = [loops.independent.index(k) for k in mobility.driven]
    U = [loops.independent.index(k) for k in mobility.free]
    qdd_k: list[Scalar] = [0] * model.nv
    for k, value in zip(K, a, strict=True):
        qdd_k[k] = value
    qd = loops.rates(v)
    qdd = loops.accelerations(qd, qdd_k)
    at_rest = total_inverse_dynamics(shared_axes, model, q, qd, qdd, wrenches)
    r = loops.collect([x + y for x, y in zip(at_rest, passive_forces(model, q, qd), strict=True)])
    A = loops.collect_matrix(total_inertia_matrix(crba, model, q))                                                # (58)
    L, inverse = ldl.factor([[A[max(i, j)][min(i, j)] for j in U] for i in U])
    r_u = [r[u] - force for u, force in zip(U, tau, strict=True)]
    at_zero = ldl.solve(L, inverse, r_u)
    r_k = [r[k] - dot([A[max(k, u)][min(k, u)] for u in U], at_zero) for k in K]
    B = loops.motors()
    B_k, B_u = ([[row[i] for i in part] for row in B] for part in (K, U))
    if not all(is_zero(x) for row in B_u for x in row):
        Y = [ldl.solve(L, inverse, [A[max(k, u)][min(k, u)] for u in U]) for k in K]
        B_k = [[x - dot(free, y) for x, y in zip(row, Y, strict=True)] for row, free in zip(B_k, B_u, strict=True)]
    tau_m = loops.shared(r_k, B_k, loops.weights(mobility.motors)) if K else [0] * len(B)
    pushed = [dot(column, tau_m) for column in zip(*B_u, strict=True)] if B else [0] * len(U)
    return tau_m, ldl.solve(L, inverse, [push - rest for push, rest in zip(pushed, r_u, strict=True)])
