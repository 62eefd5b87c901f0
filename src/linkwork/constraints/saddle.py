"""The saddle-point system of a robot with constraints: its tree, with constraint forces.

  (1)  M a + J^T lambda = f,   J a = -gamma          f: all forces less the bias, gamma = Jd v
  (2)  M = L^T D L,   Z = J L^-1,   y = L^-T f
  (3)  a = L^-1 D^-1 x,   x = y - Z^T lambda,   Z D^-1 x = -gamma
  (4)  the step with J s = r of the least s^T M s:   s = L^-1 D^-1 Z^T p,   S p = r,   S = Z D^-1 Z^T

Featherstone (2008), "Rigid Body Dynamics Algorithms", section 8.10. No joint is chosen as independent, so the system is
regular wherever the mechanism itself is. Equations are numbered here.

A tree may have joints without inertia beyond them, because it belongs to the other half of a loop. Then M is singular,
and

  (5)  rho J^T J is added to M, and -rho J^T gamma to f

which changes nothing for a that satisfies (1). ``solve_arrays`` solves the same system for numbers by LAPACK.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model import Model
from ..scalar import Scalar, is_zero, ldl
from ..scalar.independent import Independent
from ..scalar.orthogonal import Orthogonal, dot
from .equations import ConstraintEquations

RHO = 1.0  # kg, kg m^2: inertia added for links without any; its size does not change the result
DEPENDENT = 1e-10  # singular values below this share of the largest belong to dependent equations

Scalars = Sequence[Scalar]


class SaddlePoint:
    """The system with a factor of M, over any scalar; ``rho`` is not zero if inertia is added (5)."""

    def __init__(self, M: Sequence[Scalars], J: Sequence[Scalars]):
        self.J, self.rho = J, 0.0
        try:
            self.L, self.inverse = ldl.factor(M)                                                 # (2)
        except ZeroDivisionError:
            self.rho = RHO
            self.L, self.inverse = ldl.factor(self._regular(M))                                     # (5)
        self.Z = [ldl.inward(self.L, row) for row in J]                                          # (2)

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """Return a and lambda."""
        raise NotImplementedError

    def correction(self, r: Scalars) -> list[Scalar]:
        """Return the step of least kinetic energy that removes ``r`` from the residual, or from its rate."""
        return self._outward(self._step(r))                                                      # (4)

    def impulses(self, r: Scalars) -> list[Scalar]:
        """Return the impulses p that remove ``r`` from the rates of the equations."""
        raise NotImplementedError

    def _step(self, r: Scalars) -> list[Scalar]:
        """Return Z^T p of (4)."""
        raise NotImplementedError

    def _inward(self, f: Scalars, gamma: Scalars) -> list[Scalar]:
        """Return y."""
        if self.rho:
            f = [x - self.rho * dot(column, gamma) for x, column in zip(f, self._columns(len(f)), strict=True)]  # (5)
        return ldl.inward(self.L, f)                                                             # (2)

    def _outward(self, x: Scalars) -> list[Scalar]:
        """Return L^-1 D^-1 x."""
        return ldl.outward(self.L, [value * d for value, d in zip(x, self.inverse, strict=True)])

    # -- the system itself, for methods that solve it together with others

    def residual(self, unbalanced: Scalars, a: Scalars, forces: Scalars, gamma: Scalars) -> list[Scalar]:
        """Return the residual of (1) at any ``a`` and lambda, from M a - f."""
        violation = [dot(row, a) + x for row, x in zip(self.J, gamma, strict=True)]
        total = [x + self.rho * y for x, y in zip(forces, violation, strict=True)]
        columns = zip(*self.J, strict=True)
        return [*(x + dot(j, total) for x, j in zip(unbalanced, columns, strict=True)), *violation]

    def matrix(self, M: Sequence[Scalars]) -> list[list[Scalar]]:
        """Return the derivative of ``residual`` with respect to a and lambda."""
        upper = zip(self._regular(M), zip(*self.J, strict=True), strict=True)
        return [*([*row, *j] for row, j in upper), *([*row, *[0] * len(self.J)] for row in self.J)]

    def _regular(self, M: Sequence[Scalars]) -> list[list[Scalar]]:
        """Return M + rho J^T J."""
        columns = self._columns(len(M))
        penalty = [[self.rho * dot(x, y) for y in columns] for x in columns]
        return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(M, penalty, strict=True)]

    def _columns(self, n: int) -> list[list[Scalar]]:
        return [[row[k] for row in self.J] for k in range(n)]


class RegularSaddle(SaddlePoint):
    """The system for independent rows of J: S = L_s^T D_s L_s, and S lambda = gamma + Z D^-1 y."""

    def __init__(self, M: Sequence[Scalars], J: Sequence[Scalars]):
        super().__init__(M, J)
        self.W = [[x * d for x, d in zip(row, self.inverse, strict=True)] for row in self.Z]
        S = [[dot(w, z) for z in self.Z] for w in self.W]
        self.pivots = [S[k][k] for k in range(len(S))]  # before elimination
        self.L_s, self.inverse_s = ldl.factor(S)

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        y = self._inward(f, gamma)
        forces = self.impulses([x + dot(w, y) for x, w in zip(gamma, self.W, strict=True)])
        return self._outward([x - y for x, y in zip(y, self._spread(forces), strict=True)]), forces  # (3)

    def impulses(self, r: Scalars) -> list[Scalar]:
        return ldl.solve(self.L_s, self.inverse_s, r)

    def _step(self, r: Scalars) -> list[Scalar]:
        return self._spread(self.impulses(r))

    def _spread(self, forces: Scalars) -> list[Scalar]:
        """Return Z^T lambda."""
        return [dot([row[k] for row in self.Z], forces) for k in range(len(self.inverse))]

    def closeness(self, pivots: Sequence[float]) -> list[Scalar]:
        """Return for each equation a number of about one that goes to infinity at a singular position of the mechanism:
        its ``pivots`` at home over its pivot after elimination here."""
        return [x * d for x, d in zip(pivots, self.inverse_s, strict=True)]


class RedundantSaddle(SaddlePoint):
    """The system for rows of J that may be dependent, or off: Z = R^T Q with rows of Q orthogonal by D^-1. Then
    x = y + Q^T t, and lambda is the shortest with R lambda = -t."""

    def __init__(self, M: Sequence[Scalars], J: Sequence[Scalars]):
        super().__init__(M, J)
        self.rows = Independent(self.Z, self.inverse)

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        x, t = self.rows.nearest([-value for value in gamma], self._inward(f, gamma))
        return self._outward(x), self.rows.shortest([-value for value in t])                     # (3)

    def impulses(self, r: Scalars) -> list[Scalar]:
        return self.rows.shortest(self._nearest(r)[1])

    def _step(self, r: Scalars) -> list[Scalar]:
        return self._nearest(r)[0]

    def _nearest(self, r: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        return self.rows.nearest(r, [0] * len(self.inverse))


def solve_arrays(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, rates: np.ndarray, directions: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and the shortest phi with M x = f + P^T phi, J x = rates, for numbers. Columns of ``f`` and ``rates``
    are cases. P is J, or ``directions`` of contact forces if friction is proportional to the normal force.

    ``RedundantSaddle`` of floats agrees to 1e-14 and takes 15 to 60 times as long (12 to 18 joints, 6 to 24
    rows), which is too slow for event-based simulation.

    Raises:
        numpy.linalg.LinAlgError: if links without inertia move and no row of J constrains them.
    """
    if not len(J):
        return np.linalg.solve(M, f), np.zeros((0, *f.shape[1:]))
    P = (J if directions is None else directions).T
    try:
        free = np.linalg.solve(M, np.column_stack([f, P]))
    except np.linalg.LinAlgError:
        free = np.linalg.solve(M + RHO * J.T @ J, np.column_stack([f + RHO * J.T @ rates, P]))  # (5)
    x, by = free[:, : -len(J)].reshape(f.shape), free[:, -len(J) :]
    phi = np.linalg.lstsq(J @ by, rates - J @ x, rcond=DEPENDENT)[0]
    return x + by @ phi, phi


def forces_at_cuts(model: Model, q: Scalars, multipliers: Scalars) -> list[Scalar]:
    """Return -lambda of all equations: the forces and moments that the frame ``first`` of each constraint exerts on
    ``second``. If equations are dependent, equivalent forces are many, and these are the shortest."""
    J, independent = ConstraintEquations(model, q).J, ConstraintEquations.independent(model, q).J
    orthogonal = Orthogonal(independent)  # rows of J are combinations C of these; C^T times the result is lambda
    C = [[0] * len(independent) if all(is_zero(x) for x in row) else orthogonal.solve(row) for row in J]
    for r, row in enumerate(model.mobility.rows):
        C[row] = [int(r == k) for k in range(len(independent))]
    columns = [list(column) for column in zip(*C, strict=True)] if independent else []
    shortest = Orthogonal(columns).shortest(multipliers) if independent else [0] * len(J)
    return [-x for x in shortest]
