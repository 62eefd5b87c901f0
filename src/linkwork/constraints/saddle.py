"""A closed mechanism as the tree that is left when its loops are cut, held together by forces at the cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Model
from ..scalar import Scalar, is_zero, ldl
from ..scalar.orthogonal import Orthogonal, dot
from .equations import LoopEquations

RHO = 1.0  # kg, kg m^2: inertia lent across the cuts to links that have none; its size does not matter to the result

Scalars = Sequence[Scalar]


class Multipliers:
    """The forces ``lambda`` that hold the loops, and what they make of the tree's motion, at tree positions ``q``.

    No joint is singled out as independent, so all of this exists wherever the mechanism itself is regular. J has those
    equations of the loops that do not follow from others, and all joints; Featherstone (2008),
    "Rigid Body Dynamics Algorithms", section 8.10. Equations are numbered here:

      (1)  M a + J^T lambda = f,   J a = -gamma          f: all forces less the bias, gamma = Jd v
      (2)  M = L^T D L,   Z = J L^-1,   S = Z D^-1 Z^T = L_s^T D_s L_s
      (3)  S lambda = gamma + Z D^-1 y,   y = L^-T f
      (4)  a = L^-1 D^-1 (y - Z^T lambda)
      (5)  x = L^-1 D^-1 Z^T S^-1 r                      the step with J x = r of the least x^T M x

    A tree may have joints with nothing to move beyond them, since the loop's other half carries it. Its M is singular,
    and rho J^T J is added, which changes nothing for a that obey (1) if f gets -rho J^T gamma.
    """

    def __init__(self, equations: Any, M: Sequence[Scalars]):
        """``equations``: what has J, as LoopEquations and Standing do."""
        self.J = equations.J
        self.rho = 0.0
        try:
            self.L, self.inverse = ldl.factor(M)                                                 # (2)
        except ZeroDivisionError:
            self.rho = RHO
            held = [[RHO * dot(x, y) for y in self._columns(len(M))] for x in self._columns(len(M))]
            self.L, self.inverse = ldl.factor([_sum(row, more) for row, more in zip(M, held, strict=True)])
        self.Z = [ldl.inward(self.L, row) for row in self.J]                                     # (2)
        self._factor()

    def _factor(self) -> None:
        self.W = [[x * d for x, d in zip(row, self.inverse, strict=True)] for row in self.Z]
        S = [[dot(w, z) for z in self.Z] for w in self.W]
        self.pivots = [S[k][k] for k in range(len(S))]  # before elimination
        self.L_s, self.inverse_s = ldl.factor(S)                                                 # (2)

    def _solve(self, r: Scalars) -> list[Scalar]:
        return ldl.solve(self.L_s, self.inverse_s, r)

    def _columns(self, n: int) -> list[list[Scalar]]:
        return [[row[k] for row in self.J] for k in range(n)]

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """a and lambda."""
        y = self._inward(f, gamma)
        right = [x + dot(w, y) for x, w in zip(gamma, self.W, strict=True)]
        forces = self._solve(right)                                                              # (3)
        return self._through([x - y for x, y in zip(y, self._held(forces), strict=True)]), forces  # (4)

    def _inward(self, f: Scalars, gamma: Scalars) -> list[Scalar]:
        """y."""
        if self.rho:
            f = [x - self.rho * dot(column, gamma) for x, column in zip(f, self._columns(len(f)), strict=True)]
        return ldl.inward(self.L, f)

    def correction(self, r: Scalars) -> list[Scalar]:
        """The lightest step that takes ``r`` from the residual, or from its rate."""
        return self._through(self._held(self._solve(r)))                                         # (5)

    def _held(self, forces: Scalars) -> list[Scalar]:
        """Z^T lambda."""
        return [dot([row[k] for row in self.Z], forces) for k in range(len(self.inverse))]

    def _through(self, y: Scalars) -> list[Scalar]:
        """L^-1 D^-1 y."""
        return ldl.outward(self.L, [x * d for x, d in zip(y, self.inverse, strict=True)])

    def closeness(self, pivots: Sequence[float]) -> list[Scalar]:
        """For each loop equation a number of about one that grows without bound towards a singular position of the
        mechanism: ``pivots`` at home over what elimination leaves of it here."""
        return [x * d for x, d in zip(pivots, self.inverse_s, strict=True)]


def forces_at_cuts(model: Model, q: Scalars, multipliers: Scalars) -> list[Scalar]:
    """-lambda spread over all equations of the loops: forces and moments of the frame ``first`` of each cut joint on
    ``second``. Where equations follow from others, forces that do the same are many, and these are the shortest."""
    J, held = LoopEquations(model, q).J, LoopEquations.independent(model, q).J
    spread = Orthogonal(held)  # rows of J are combinations C of those that count; C^T of the answer is lambda
    C = [[0] * len(held) if all(is_zero(x) for x in row) else spread.solve(row) for row in J]
    for r, row in enumerate(model.mobility.rows):
        C[row] = [int(r == k) for k in range(len(held))]
    columns = [list(column) for column in zip(*C, strict=True)] if held else []
    short = Orthogonal(columns).shortest(multipliers) if held else [0] * len(J)
    return [-x for x in short]


def _sum(a: Scalars, b: Scalars) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]
