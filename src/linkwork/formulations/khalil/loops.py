"""Khalil's treatment of closed loops: the tree that is left when they are cut, and the Jacobian that closes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from ...model import Model, closure
from ...scalar import Scalar, is_zero
from .. import ldl
from ..crba import crba
from ..method import Wrenches
from ..orthogonal import Orthogonal, dot
from ..passive import passive_forces
from ..staircase import Staircase
from .kleinfinger import khalil_kleinfinger


class ClosedLoops:
    """Between the independent coordinates and the tree, at tree positions ``q`` that close the loops.

    Khalil (2010), sections 2.2 and 4. Velocities of all joints are [qd_a; qd_p], independent and dependent ones:

      (4)   J_a qd_a + J_p qd_p = 0       both frames of every cut joint move together, where it holds them
      (56)  G = d qd_tr / d qd_a = [1; -J_p^+ J_a]
      (55)  Gamma_c = G^T Gamma_tr        the same for columns, and G^T A_tr G for matrices

    J_p^+ is the least-squares inverse: a planar loop has six equations of rank three. The paper leaves out what the
    loops add to the accelerations at rest:

      (56')  qdd_tr = G qdd_a + Gd qd_a,   Gd qd_a = [0; -J_p^+ Jd qd_tr]

    Its (57) is (55) with the transpose that the print lost, Gamma_a + (d qd_p / d qd_a)^T Gamma_p. A tree without
    loops has G = 1, and nothing here costs an operation then. Forces come in two kinds: those of the independent
    coordinates, and those of the forced ones, ``tau``, which motors and surroundings give (see ``Mobility``).
    """

    def __init__(self, model: Model, q: Sequence[Scalar]):
        self.model, self.q = model, q
        self.independent = model.mobility.independent
        self.dependent = [k for k in range(model.n_leading) if k not in self.independent]
        self.G: list[list[Scalar]] = [[0] * model.nv for _ in range(model.n_leading)]
        for column, k in enumerate(self.independent):
            self.G[k][column] = 1
            if model.loops:
                J_a = [row[k] for row in self.J]                                                     # (4)
                for d, value in zip(self.dependent, self.J_p.solve(J_a), strict=True):
                    self.G[d][column] = -value                                                       # (56)

    @cached_property
    def J(self) -> list[list[Scalar]]:
        return self.model.collect_rows(closure.jacobian(self.model, self.q))

    @cached_property
    def J_p(self) -> Staircase:
        return Staircase([[row[k] for row in self.J] for k in self.dependent])

    def rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """G qd_a: tree velocities from independent ones."""
        return self.model.expand_rates(self.leading(v))

    def leading(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Velocities of the leading joints from independent ones."""
        return [dot(row, v) for row in self.G]

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Gd qd_a: tree accelerations at zero independent ones, at tree velocities ``v``."""
        leading: list[Scalar] = [0] * self.model.n_leading
        if self.model.loops:
            values = self.J_p.solve(closure.drift(self.model, self.q, v))
            for k, value in zip(self.dependent, values, strict=True):
                leading[k] = -value                                                                  # (56')
        return self.model.expand_rates(leading)

    def accelerations(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """Tree accelerations from tree velocities ``v`` and independent accelerations ``a``."""
        return [x + y for x, y in zip(self.rates(a), self.drift(v), strict=True)]                    # (56')

    def collect(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Forces of the independent coordinates from tree forces."""
        leading = self.model.collect(forces)
        return [dot(column, leading) for column in zip(*self.G, strict=True)]                        # (55)

    def collect_rows(self, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        return [self.collect(row) for row in rows]

    def collect_matrix(self, A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """G^T A G of a matrix on tree vectors."""
        columns = zip(*self.collect_rows(A), strict=True)
        return [list(row) for row in zip(*self.collect_rows([list(column) for column in columns]), strict=True)]

    # -- motors ---------------------------------------------------------------------------------------------------

    def shared(self, forces: Sequence[Scalar], B: Sequence[Sequence[Scalar]], weights: Sequence[float]) -> list[Scalar]:
        """tau with B^T tau = forces; of several the one with the least sum of weight * tau^2."""
        scale = [1 / math.sqrt(weight) for weight in weights]
        columns = zip(*([s * x for x in row] for s, row in zip(scale, B, strict=True)), strict=True)
        short = Orthogonal([list(column) for column in columns]).shortest(forces)
        return [s * x for s, x in zip(scale, short, strict=True)]

    def weights(self, freedoms: Sequence[int]) -> list[float]:
        return [self.model.coordinates.joint_of(k).weight for k in freedoms]

    def to_motors(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """tau of the forced joints that acts as ``forces`` of the independent coordinates."""
        forced = self.model.mobility.forced
        if forced == self.independent:
            return list(forces)
        return self.shared(forces, [self.G[k] for k in forced], self.weights(forced))

    def motors(self) -> list[list[Scalar]]:
        """d qd_m / d qd_a: velocities of the motors."""
        return [self.G[k] for k in self.model.mobility.motors]

    def null_torques(self) -> list[list[Scalar]]:
        """Projector onto those ``tau`` of the forced joints that cancel each other."""
        columns = zip(*(self.G[k] for k in self.model.mobility.forced), strict=True)
        return Orthogonal([list(column) for column in columns]).projector()

    def of_motors(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Forces of the independent coordinates that ``tau`` of the forced joints makes."""
        rows = [self.G[k] for k in self.model.mobility.forced]
        return [dot(column, tau) for column in zip(*rows, strict=True)] if rows else [0] * len(self.independent)


def khalil_loops(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Forces of the motors and accelerations of the free coordinates, from accelerations ``a`` of the driven ones and
    forces ``tau`` on the free ones (see ``Mobility``), loops or none; velocities are of the independent ones.

    Equation (58) with the unknown accelerations parted from the known ones, as (68) does it for elastic joints, (83)
    for a moving base. k: driven, u: free, tau_m: motors, B = d qd_m / d qd_a:

      (58)  [B_k^T tau_m; B_u^T tau_m + tau_u] = A_c [qdd_k; qdd_u] + H_c

    With r the forces at qdd_u = 0 and Y = A_uu^-1 A_uk, tau_m solves (B_k - B_u Y)^T tau_m = r_k - Y^T (r_u - tau_u):
    where there are more motors than driven freedoms, it is the solution of the least weighted square.
    """
    loops, mobility = ClosedLoops(model, q), model.mobility
    K = [loops.independent.index(k) for k in mobility.driven]
    U = [loops.independent.index(k) for k in mobility.free]
    known: list[Scalar] = [0] * model.nv
    for k, value in zip(K, a, strict=True):
        known[k] = value
    qd = loops.rates(v)
    at_rest = khalil_kleinfinger(model, q, qd, loops.accelerations(qd, known), wrenches)
    r = loops.collect([x + y for x, y in zip(at_rest, passive_forces(model, q, qd), strict=True)])
    A = loops.collect_matrix(crba(model, q))                                                         # (58)
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
