"""Links that bend: what modes add to the dynamics of rigid bodies.

The floating frame of a link that bends is that of its root; the modes are the freedoms of the joint to its tip. Letters
as in ``ElasticModes``, d the coordinates, eta their amplitudes, V = (v, w) the velocity of the root. With the material
point r = r0 + sum phi_a eta_a, its velocity v + w x r + r' and one kinetic energy for all that follows:

  (1)  h(d)   = int r dm,  J(d) = int -[r x][r x] dm             the bent link as a rigid body
  (2)  B_a(d) = B_a + sum_b eta_b C_ba                           int r phi_a^T dm
  (3)  P_j    = (S_j, R_j),   R_j = vect B_j(d) + int Js psi_j   int r x phi_j dm: force on the root per d_j''
  (4)  m_jk   = tr C_jk + int psi_j^T Js psi_k
  (5)  F      = rigid(m, h, J) + sum P_j d_j'' + (2 w x h', 2 (tr(W) w - W^T w) + w x sum int Js psi_j d_j')
       W      = int r r'^T dm = sum eta_a' B_a(d)
  (6)  Q_j    = P_j . V' + sum m_jk d_k'' + [w x][w x] : B_j(d) + 2 w . sum_b eta_b' int phi_b x phi_j dm

V' is the acceleration of a point, gravity included as that of the ground. What is told for amplitudes in (3), (4) and
(6) is gathered by the coordinates, d eta_a / d d_j, and their second rates at d'' = 0 join d''.

Velocities enter (5) and (6) in products of two. With A xi = v + w x r + r' the velocity of a point by xi = (V, d'), the
inertial force is int A^T (A xi)' dm, the rate as the ground sees it: one of the two is in A', the other is xi. So the
Coriolis matrix is int A^T A' dm, and a ``column`` of it has a velocity (w_, eta_') in place of xi (h_', W_ by it):

  (7)  w_ x h' + w x h_',   tr(W) w_ - W^T w_ + tr(W_) w - W_^T w - sum int Js psi_j d_j' x w_
  (8)  [w_ x][w x] : B_j(d) + sum_b (w_ eta_b' + w eta_b_') . int phi_b x phi_j dm

Boyer & Khalil (1998) carry this through the recursions: eliminating d'' is that of a joint whose force meets P_j at the
root, too. Moved to the tip, P_j stands beside the force of the tip's inertia (``Bending.coupling``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import ElasticModes, Model
from ..scalar import Scalar
from ..spatial import Force, Inertia, Matrix, Motion, Transform, Vector

Scalars = Sequence[Scalar]
Column = tuple[Vector, Scalars]  # angular velocity in the frame of the root, rates of d


class Bending:
    """The modes of joint ``i`` at tree positions q; ``parent`` is the body that bends."""

    def __init__(self, model: Model, i: int, q: Scalars):
        joint = model.joint(i)
        self.body, self.parent, self.freedoms = i, model.body(i).parent, model.freedoms(i)
        self.modes: ElasticModes = joint.kind.modes
        self.d = [q[k] for k in model.positions(i)]
        self.root = Transform(*(fixed.screw for fixed in joint.placement))
        self.tip = Transform(*joint.kind.transform(joint, self.d))
        self.B = self.modes.deformed_moments(self.d)                                               # (2)

    @property
    def inertia(self) -> Inertia:
        """What bending adds to h and J of the parent, in its frame."""
        return self.root.inertia_outward(self.modes.inertia(self.d))                               # (1)

    @property
    def coupling(self) -> list[Force]:
        """P_j, in the frame of the root."""
        amplitudes = [Force(S, axial(B)) for S, B in zip(self.modes.S, self.B, strict=True)]
        own = self.modes.by_coordinates(amplitudes, self.d)
        return [P + Force(Vector(), spin) for P, spin in zip(own, self.modes.spins, strict=True)]  # (3)

    @property
    def masses(self) -> list[list[Scalar]]:
        """m_jk"""
        by, d = self.modes.by_coordinates, self.d
        rows = by([Row(by([trace(C) for C in row], d)) for row in self.modes.C], d)
        return [row + Row(own) for row, own in zip(rows, self.modes.section, strict=True)]         # (4)

    def momentum(self, v: Scalars) -> Force:
        """sum P_j d_j' at tree velocities v, in the frame of the root."""
        return gathered(self.coupling, self.rates(v), Force())

    def energies(self, velocity: Motion, v: Scalars) -> Iterator[Scalar]:
        """Terms of twice the kinetic energy beside that of the bent rigid body, which moves at ``velocity``."""
        yield 2 * self.root.motion_inward(velocity).dot(self.momentum(v))
        for x, row in zip(self.rates(v), self.masses, strict=True):
            yield x * sum((m * y for m, y in zip(row, self.rates(v), strict=True)), start=0)

    def rates(self, v: Scalars) -> list[Scalar]:
        """d' among tree velocities, or d'' among accelerations."""
        return [v[k] for k in self.freedoms]

    def wrench(self, w: Vector, u: Scalars, column: Column | None = None) -> Force:
        """(5) at d'' = 0 but for the bent rigid body, at rates u of d, or (7); all in the frame of the root."""
        modes, (turn, x) = self.modes, column or (w, u)
        rates, other, drifts = self._amplitudes(u, x)
        W, W_ = gathered(self.B, rates, Matrix.zero()), gathered(self.B, other, Matrix.zero())
        force = turn.cross(gathered(modes.S, rates, Vector())) + w.cross(gathered(modes.S, other, Vector()))
        moment = (trace(W) * turn - W.T @ turn) + (trace(W_) * w - W_.T @ w)
        moment = moment + turn.cross(gathered(modes.spins, u, Vector()))                           # (7)
        return Force(gathered(modes.S, drifts, force), gathered(map(axial, self.B), drifts, moment))

    def forces(self, w: Vector, u: Scalars, column: Column | None = None) -> list[Scalar]:
        """(6) at V' = 0 and d'' = 0, or (8)."""
        modes, (turn, x) = self.modes, column or (w, u)
        rates, other, drifts = self._amplitudes(u, x)
        ww = turning_twice(turn, w)
        found = []
        for a, B in enumerate(self.B):
            whirls = [axial(C[a]) for C in modes.C]
            whirl = turn.dot(gathered(whirls, rates, Vector())) + w.dot(gathered(whirls, other, Vector()))  # (8)
            drift = sum((trace(C[a]) * x for C, x in zip(modes.C, drifts, strict=True)), start=0)
            found.append(contracted(ww, B) + whirl + drift)
        return modes.by_coordinates(found, self.d)

    def _amplitudes(self, u: Scalars, x: Scalars) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Rates of eta at u, the same at x, and how these change while d changes at u."""
        modes = self.modes
        return modes.amplitude_rates(self.d, u), modes.amplitude_rates(self.d, x), modes.amplitude_drifts(u, x)


class Row(list):
    """Numbers that are added and scaled together."""

    def __add__(self, other):
        return Row(x + y for x, y in zip(self, other, strict=True))

    def __mul__(self, scale):
        return Row(x * scale for x in self)


def gathered(parts, factors, start):
    """start + sum of part * factor"""
    for part, factor in zip(parts, factors, strict=True):
        start = start + part * factor
    return start


def axial(matrix: Matrix) -> Vector:
    """int a x b dm of int a b^T dm"""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = matrix.rows
    return Vector(yz - zy, zx - xz, xy - yx)


def trace(matrix: Matrix) -> Scalar:
    (xx, _, _), (_, yy, _), (_, _, zz) = matrix.rows
    return xx + yy + zz


def turning_twice(turn: Vector, w: Vector) -> Matrix:
    """[turn x][w x]"""
    xx, yy, zz = turn.x * w.x, turn.y * w.y, turn.z * w.z
    return Matrix(
        Vector(-(yy + zz), w.x * turn.y, w.x * turn.z),
        Vector(w.y * turn.x, -(xx + zz), w.y * turn.z),
        Vector(w.z * turn.x, w.z * turn.y, -(xx + yy)),
    )


def contracted(one: Matrix, other: Matrix) -> Scalar:
    """Sum of the products of their entries."""
    return sum((a.dot(b) for a, b in zip(one.rows, other.rows, strict=True)), start=0)
