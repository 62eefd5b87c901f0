"""Mapping between the independent coordinates of a closed mechanism and all joints of its spanning tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from ..model import Model
from ..scalar import Scalar, is_zero
from ..scalar.orthogonal import Orthogonal
from ..scalar.staircase import Staircase
from .equations import ConstraintEquations, closing_rows

Sparse = dict[int, Scalar]  # nonzero entries of a vector by index, in order


class ClosedLoops:
    """Mapping between the independent coordinates and the tree, at tree positions ``q`` that close the loops.

    Khalil (2010), sections 2.2 and 4. Velocities of all joints are [qd_a; qd_p], independent and dependent ones:

      (4)   J_a qd_a + J_p qd_p = 0       the velocities satisfy all constraints
      (56)  G = d qd_tr / d qd_a = [1; -J_p^+ J_a]
      (55)  Gamma_c = G^T Gamma_tr        the same for columns, and G^T A_tr G for matrices

    J_p^+ is the least-squares inverse: a planar loop has six equations of rank three. The paper leaves out the
    velocity-dependent accelerations:

      (56')  qdd_tr = G qdd_a + Gd qd_a,   Gd qd_a = [0; -J_p^+ Jd qd_tr]

    Its (57) is (55) with the transpose that the print lost, Gamma_a + (d qd_p / d qd_a)^T Gamma_p. A tree without
    loops has G = 1, which costs no operation. There are two kinds of forces: those of the independent coordinates, and
    ``tau`` of the forced ones, which motors and surroundings exert (see ``Mobility``).
    """

    def __init__(self, model: Model, q: Sequence[Scalar], equations: ConstraintEquations | None = None):
        """Compute G at ``q``; ``equations``: the constraints to satisfy, by default all independent ones."""
        self.model, self.q = model, q
        self.equations = equations or ConstraintEquations(model, q)
        self.independent = model.mobility.independent if equations is None else model.mobility.configuration
        self.dependent = sorted({*range(model.coordinates.nv)} - {*self.independent})
        self._rows: list[Sparse] = [{} for _ in range(model.coordinates.nv)]  # of G
        for column, k in enumerate(self.independent):
            self._rows[k][column] = 1
            if model.constrained:
                J_a, = self.equations.columns([k])                                                   # (4)
                for d, value in zip(self.dependent, self.J_p.solve(J_a), strict=True):
                    self._rows[d][column] = -value                                                   # (56)

    @classmethod
    def of_configuration(cls, model: Model, q: Sequence[Scalar]) -> ClosedLoops:
        """Return the mapping of changes of positions, which differ from velocities if something rolls: a rolling robot
        can reach positions to which it cannot move directly."""
        rows = closing_rows(model)
        return cls(model, q, None if rows is None else ConstraintEquations(model, q, rows))

    @cached_property
    def G(self) -> list[list[Scalar]]:
        return [[row.get(column, 0) for column in range(len(self.independent))] for row in self._rows]

    @cached_property
    def _columns(self) -> list[Sparse]:
        columns: list[Sparse] = [{} for _ in self.independent]
        for k, row in enumerate(self._rows):
            for column, value in row.items():
                columns[column][k] = value
        return columns

    @cached_property
    def J_p(self) -> Staircase:
        return Staircase(self.equations.columns(self.dependent))

    def rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Return G qd_a, the tree velocities of independent velocities ``v``."""
        return self.model.expand_rates(self.joint_velocities(v))

    def joint_velocities(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Velocities of the non-mimic joints from independent ones."""
        return [_dot(row, v) for row in self._rows]

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Return Gd qd_a, the tree accelerations at zero independent accelerations and tree velocities ``v``."""
        rates: list[Scalar] = [0] * self.model.coordinates.nv
        if self.model.constrained:
            values = self.J_p.solve(self.equations.drift(v))
            for k, value in zip(self.dependent, values, strict=True):
                rates[k] = -value                                                                    # (56')
        return self.model.expand_rates(rates)

    def accelerations(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """Tree accelerations from tree velocities ``v`` and independent accelerations ``a``."""
        return [x + y for x, y in zip(self.rates(a), self.drift(v), strict=True)]                    # (56')

    def collect(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Forces of the independent coordinates from tree forces."""
        collected = self.model.collect(forces)
        return [_dot(column, collected) for column in self._columns]                                 # (55)

    def collect_rows(self, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        return [self.collect(row) for row in rows]

    def collect_matrix(self, A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """G^T A G of a matrix on tree vectors."""
        columns = zip(*self.collect_rows(A), strict=True)
        return [list(row) for row in zip(*self.collect_rows([list(column) for column in columns]), strict=True)]

    # -- motors ---------------------------------------------------------------------------------------------------

    def shared(self, forces: Sequence[Scalar], B: Sequence[Sequence[Scalar]], weights: Sequence[float]) -> list[Scalar]:
        """Return tau with B^T tau = forces and the least sum of weight * tau^2."""
        scale = [1 / math.sqrt(weight) for weight in weights]
        columns = zip(*([s * x for x in row] for s, row in zip(scale, B, strict=True)), strict=True)
        short = Orthogonal([list(column) for column in columns], len(B)).shortest(forces)
        return [s * x for s, x in zip(scale, short, strict=True)]

    def weights(self, freedoms: Sequence[int]) -> list[float]:
        """Weights of the joints with these velocities, for ``shared``."""
        return [self.model.coordinates.joint_of(k).weight for k in freedoms]

    def to_motors(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Return tau of the forced joints that is equivalent to ``forces`` of the independent coordinates."""
        forced = self.model.mobility.forced
        if forced == self.independent:
            return list(forces)
        return self.shared(forces, [self.G[k] for k in forced], self.weights(forced))

    def motors(self) -> list[list[Scalar]]:
        """Return d qd_m / d qd_a, the velocities of the motors."""
        return [self.G[k] for k in self.model.mobility.motors]

    def null_torques(self) -> list[list[Scalar]]:
        """Return the projector onto those ``tau`` of the forced joints that cancel each other."""
        forced = self.model.mobility.forced
        columns = zip(*(self.G[k] for k in forced), strict=True)
        return Orthogonal([list(column) for column in columns], len(forced)).projector()

    def of_motors(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Return the forces of the independent coordinates that are equivalent to ``tau`` of the forced joints."""
        forces: list[Scalar] = [0] * self.model.coordinates.nv
        for k, force in zip(self.model.mobility.forced, tau, strict=True):
            forces[k] = force
        return [_dot(column, forces) for column in self._columns]


def _dot(entries: Sparse, values: Sequence[Scalar]) -> Scalar:
    return sum((x * values[k] for k, x in entries.items() if not (is_zero(x) or is_zero(values[k]))), start=0)
