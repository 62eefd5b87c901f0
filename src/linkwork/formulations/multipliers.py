"""A closed mechanism as the tree that is left when its loops are cut, held together by forces at the cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Model, closure
from ..scalar import Scalar, is_zero
from . import ldl
from .method import Wrenches
from .orthogonal import Orthogonal, dot

RHO = 1.0  # kg, kg m^2: inertia lent across the cuts to links that have none; its size does not matter to the result

PLATFORM = range(6)  # its freedoms, if it floats

Scalars = Sequence[Scalar]


class Held:
    """Joints with inertia matrix M, and the forces lambda that make them obey J a = -gamma.

    Featherstone (2008), "Rigid Body Dynamics Algorithms", section 8.10. Equations are numbered here:

      (1)  M a + J^T lambda = f,   J a = -gamma          f: all forces less the bias, gamma = Jd v
      (2)  M = L^T D L,   Z = J L^-1,   S = Z D^-1 Z^T = L_s^T D_s L_s
      (3)  S lambda = gamma + Z D^-1 y,   y = L^-T f
      (4)  a = L^-1 D^-1 (y - Z^T lambda)

    A tree may have joints with nothing to move beyond them, since the loop's other half carries it. Its M is singular,
    and rho J^T J is added, which changes nothing for a that obey (1) if f gets -rho J^T gamma.
    """

    def __init__(self, M: Sequence[Scalars], J: Sequence[Scalars]):
        self.J, self.rho = J, 0.0
        try:
            self.L, self.inverse = ldl.factor(M)                                                 # (2)
        except ZeroDivisionError:
            self.rho = RHO
            held = [[RHO * dot(x, y) for y in self._columns(len(M))] for x in self._columns(len(M))]
            self.L, self.inverse = ldl.factor([_sum(row, more) for row, more in zip(M, held, strict=True)])
        self.Z = [ldl.inward(self.L, row) for row in J]                                          # (2)
        self.W = [[x * d for x, d in zip(row, self.inverse, strict=True)] for row in self.Z]
        S = [[dot(w, z) for z in self.Z] for w in self.W]
        self.pivots = [S[k][k] for k in range(len(S))]  # before elimination
        self.L_s, self.inverse_s = ldl.factor(S)                                                 # (2)

    def _columns(self, n: int) -> list[list[Scalar]]:
        return [[row[k] for row in self.J] for k in range(n)]

    def multipliers(self, y: Scalars, gamma: Scalars) -> list[Scalar]:
        right = [x + dot(w, y) for x, w in zip(gamma, self.W, strict=True)]
        return ldl.solve(self.L_s, self.inverse_s, right)                                        # (3)

    def moved(self, y: Scalars, forces: Scalars) -> list[Scalar]:
        held = [dot([row[k] for row in self.Z], forces) for k in range(len(y))]
        return ldl.outward(self.L, [(x - h) * d for x, h, d in zip(y, held, self.inverse, strict=True)])  # (4)

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """a and lambda."""
        if self.rho:
            f = [x - self.rho * dot(column, gamma) for x, column in zip(f, self._columns(len(f)), strict=True)]
        y = ldl.inward(self.L, f)
        forces = self.multipliers(y, gamma)
        return self.moved(y, forces), forces


class Legs:
    """The same for a platform that floats, held by legs with as many joints as each has equations: leg by leg, so that
    equations of different legs never meet. It does not exist where a leg is singular by itself. V_i are the columns of
    the platform's velocities in the equations of leg i, and its own S, J, M, f, gamma are those of ``Held``:

      (5)  lambda_i = S_i^-1 (gamma_i + J_i M_i^-1 f_i + V_i a_p) = u_i + S_i^-1 V_i a_p
      (6)  (M_p + sum of V_i^T S_i^-1 V_i) a_p = f_p - sum of V_i^T u_i
    """

    def __init__(self, M: Sequence[Scalars], J: Sequence[Scalars], legs: Sequence[tuple[list[int], list[int]]]):
        self.legs = [(rows, joints, Held(_part(M, joints, joints), _part(J, rows, joints))) for rows, joints in legs]
        self.V = [_part(J, rows, PLATFORM) for rows, _ in legs]
        K = _part(M, PLATFORM, PLATFORM)
        self.through: list[list[list[Scalar]]] = []
        for (_, joints, leg), V in zip(self.legs, self.V, strict=True):
            still = [0] * len(joints)
            columns = [leg.multipliers(still, column) for column in zip(*V, strict=True)]        # S_i^-1 V_i
            K = [[x + dot(v, column) for x, column in zip(row, columns, strict=True)]            # (6)
                 for row, v in zip(K, zip(*V, strict=True), strict=True)]
            self.through.append([list(row) for row in zip(*columns, strict=True)])
        self.K = ldl.factor(K)
        self.pivots = [x for _, _, leg in self.legs for x in leg.pivots]
        self.inverse_s = [x for _, _, leg in self.legs for x in leg.inverse_s]

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """a and lambda."""
        ys = [ldl.inward(leg.L, [f[k] for k in joints]) for _, joints, leg in self.legs]
        us = [leg.multipliers(y, [gamma[r] for r in rows]) for (rows, _, leg), y in zip(self.legs, ys, strict=True)]
        right = [f[k] for k in PLATFORM]
        for V, u in zip(self.V, us, strict=True):
            right = [x - dot(column, u) for x, column in zip(right, zip(*V, strict=True), strict=True)]
        a_p = ldl.solve(*self.K, right)                                                          # (6)
        a: list[Scalar] = [*a_p, *[0] * (len(f) - len(a_p))]
        forces: list[Scalar] = [0] * len(gamma)
        for (rows, joints, leg), y, u, through in zip(self.legs, ys, us, self.through, strict=True):
            own = [x + dot(row, a_p) for x, row in zip(u, through, strict=True)]                 # (5)
            for r, value in zip(rows, own, strict=True):
                forces[r] = value
            for k, value in zip(joints, leg.moved(y, own), strict=True):
                a[k] = value
        return a, forces


class Multipliers:
    """A closed mechanism at tree positions ``q``: its joints, held by the equations of the loops.

    No joint is singled out as independent, so all of this exists wherever the mechanism itself is regular. J has those
    equations of the loops that do not follow from others (``Mobility.rows``), and all leading joints.
    """

    def __init__(self, model: Model, q: Scalars, M: Sequence[Scalars]):
        J = model.collect_rows(closure.jacobian(model, q))
        self.J = [J[r] for r in model.mobility.rows]
        legs = _legs(M, self.J) if model.floating and not model.moving_base else None
        self.held = Held(M, self.J) if legs is None else Legs(M, self.J, legs)
        self.pivots = self.held.pivots

    def accelerations(self, f: Scalars, gamma: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """a and lambda."""
        return self.held.accelerations(f, gamma)

    def correction(self, r: Scalars) -> list[Scalar]:
        """The step x of the least x^T M x with J x = r: it takes r from the residual, or from its rate."""
        return self.held.accelerations([0] * len(self.J[0]), [-x for x in r])[0]

    def closeness(self, pivots: Sequence[float]) -> list[Scalar]:
        """For each loop equation a number of about one that grows without bound towards a singular position of the
        mechanism: ``pivots`` at home over what elimination leaves of it here."""
        return [x * d for x, d in zip(pivots, self.held.inverse_s, strict=True)]


def _legs(M: Sequence[Scalars], J: Sequence[Scalars]) -> list[tuple[list[int], list[int]]] | None:
    """Rows and joints of each leg of a platform; None if joints or rows are shared, or are not as many."""
    legs: list[tuple[list[int], list[int]]] = []
    for r, row in enumerate(J):
        joints = {k for k in range(len(PLATFORM), len(row)) if not is_zero(row[k])}
        for rows, others in legs:
            if joints & {*others}:
                rows.append(r)
                others[:] = sorted(joints | {*others})
                break
        else:
            legs.append(([r], sorted(joints)))
    met = [k for _, joints in legs for k in joints]
    apart = all(is_zero(M[k][i]) for _, joints in legs for k in joints for i in range(len(M)) if i not in joints)
    whole = sorted(met) == list(range(len(PLATFORM), len(M)))
    return legs if whole and apart and all(len(rows) == len(joints) for rows, joints in legs) else None


def _part(A: Sequence[Scalars], rows: Sequence[int], columns: Sequence[int]) -> list[list[Scalar]]:
    return [[A[r][k] for k in columns] for r in rows]


@dataclass(frozen=True)
class ByMultipliers:
    """Forward dynamics of all joints of a closed mechanism, from a method of the inertia matrix and one of the bias."""

    inertia: Callable[..., list[list[Scalar]]]
    bias: Callable[..., list[Scalar]]

    def system(self, model: Model, q: Scalars) -> Multipliers:
        return Multipliers(model, q, model.collect_matrix(self.inertia(model, q)))

    def net(self, model: Model, q: Scalars, v: Scalars, force: Scalars, wrenches: Wrenches) -> list[Scalar]:
        """Forces ``force`` of the leading joints, less the bias at tree velocities ``v``."""
        return [x - y for x, y in zip(force, model.collect(self.bias(model, q, v, wrenches)), strict=True)]

    def __call__(self, model: Model, q: Scalars, v: Scalars, force: Scalars, wrenches: Wrenches = None) -> Any:
        """Accelerations of the leading joints, and lambda, at tree positions and velocities."""
        gamma = drift(model, q, v)
        return self.system(model, q).accelerations(self.net(model, q, v, force, wrenches), gamma)


def drift(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """gamma of the equations that count."""
    rows = closure.drift(model, q, v)
    return [rows[r] for r in model.mobility.rows]


def forces_at_cuts(model: Model, q: Scalars, multipliers: Scalars) -> list[Scalar]:
    """-lambda spread over all equations of the loops: forces and moments of the frame ``first`` of each cut joint on
    ``second``. Where equations follow from others, forces that do the same are many, and these are the shortest."""
    J = model.collect_rows(closure.jacobian(model, q))
    held = [J[r] for r in model.mobility.rows]
    spread = Orthogonal(held)  # rows of J are combinations C of those that count; C^T of the answer is lambda
    C = [[0] * len(held) if all(is_zero(x) for x in row) else spread.solve(row) for row in J]
    for r, row in enumerate(model.mobility.rows):
        C[row] = [int(r == k) for k in range(len(held))]
    columns = [list(column) for column in zip(*C, strict=True)] if held else []
    short = Orthogonal(columns).shortest(multipliers) if held else [0] * len(J)
    return [-x for x in short]


def _sum(a: Scalars, b: Scalars) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]
