"""Links that bend (flexible links): what their modes add to the dynamics of rigid bodies.

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

V' is the acceleration of a point, gravity included as that of the ground. The amplitudes of (3), (4) and (6) are
projected on the coordinates by d eta_a / d d_j, and their second rates at d'' = 0 are added to d''.

Velocities enter (5) and (6) in products of two. With A xi = v + w x r + r' the velocity of a point by xi = (V, d'), the
inertial force is int A^T (A xi)' dm, the rate as the ground sees it: one of the two is in A', the other is xi. So the
Coriolis matrix is int A^T A' dm, and a ``column`` of it has a velocity (w_, eta_') in place of xi (h_', W_ by it):

  (7)  w_ x h' + w x h_',   tr(W) w_ - W^T w_ + tr(W_) w - W_^T w - sum int Js psi_j d_j' x w_
  (8)  [w_ x][w x] : B_j(d) + sum_b (w_ eta_b' + w eta_b_') . int phi_b x phi_j dm

Boyer & Khalil (1998) carry this through the recursions: d'' is eliminated as the acceleration of a joint is, except
that its force also acts on the root, by P_j. P_j is moved to the tip, and added to the force of the tip's inertia.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ElasticModes, Model
from ..scalar import Scalar, Scalars
from ..spatial import Force, Inertia, Matrix, Motion, Transform, Vector
from .kinematics import body_motions, body_velocities
from .method import Wrenches

Columns = dict[int, Motion]  # of a Jacobian, by freedoms
Column = tuple[Vector, Scalars]  # angular velocity in the frame of the root, rates of d


class LinkModes:
    """The modes of joint ``i`` at tree positions q; ``parent`` is the body that bends."""

    def __init__(self, model: Model, i: int, q: Scalars):
        joint = model.joint(i)
        self.body, self.parent, self.freedoms = i, model.body(i).parent, model.freedoms(i)
        self.modes: ElasticModes = joint.kind.modes
        self.d = [q[k] for k in model.positions(i)]
        self.root = Transform(*(fixed.screw for fixed in joint.placement))
        self.tip = Transform(*joint.kind.transform(joint, self.d))
        self.B = self.modes.deformed_moments(self.d)                                                   # (2)

    @property
    def inertia(self) -> Inertia:
        """What bending adds to h and J of the parent, in the frame of the parent."""
        return self.root.inertia_outward(self.modes.inertia(self.d))                               # (1)

    @property
    def coupling(self) -> list[Force]:
        """P_j, in the frame of the root."""
        amplitudes = [Force(S, axial(B)) for S, B in zip(self.modes.S, self.B, strict=True)]
        forces = self.modes.by_coordinates(amplitudes, self.d)
        return [P + Force(Vector(), spin) for P, spin in zip(forces, self.modes.spins, strict=True)]   # (3)

    @property
    def masses(self) -> list[list[Scalar]]:
        """m_jk, by rows."""
        by, d = self.modes.by_coordinates, self.d
        rows = by([Row(by([trace(C) for C in row], d)) for row in self.modes.C], d)
        return [row + Row(section) for row, section in zip(rows, self.modes.section, strict=True)]  # (4)

    def momentum(self, v: Scalars) -> Force:
        """Return sum P_j d_j' at tree velocities v, in the frame of the root."""
        return gathered(self.coupling, self.rates(v), Force())

    def energies(self, velocity: Motion, v: Scalars) -> Iterator[Scalar]:
        """Yield terms of twice the kinetic energy that the bent rigid body, moving at ``velocity``, does not have."""
        yield 2 * self.root.motion_inward(velocity).dot(self.momentum(v))
        for x, row in zip(self.rates(v), self.masses, strict=True):
            yield x * sum((m * y for m, y in zip(row, self.rates(v), strict=True)), start=0)

    def rates(self, v: Scalars) -> list[Scalar]:
        """Return d' from tree velocities, or d'' from tree accelerations."""
        return [v[k] for k in self.freedoms]

    def wrench(self, w: Vector, u: Scalars, column: Column | None = None) -> Force:
        """Return (5) at d'' = 0 without the bent rigid body, at rates u of d, or (7); all in the frame of the root."""
        modes, (turn, x) = self.modes, column or (w, u)
        rates, other, drifts = self._amplitudes(u, x)
        W, W_ = gathered(self.B, rates, Matrix.zero()), gathered(self.B, other, Matrix.zero())
        force = turn.cross(gathered(modes.S, rates, Vector())) + w.cross(gathered(modes.S, other, Vector()))
        moment = (trace(W) * turn - W.T @ turn) + (trace(W_) * w - W_.T @ w)
        moment = moment + turn.cross(gathered(modes.spins, u, Vector()))                           # (7)
        return Force(gathered(modes.S, drifts, force), gathered(map(axial, self.B), drifts, moment))

    def forces(self, w: Vector, u: Scalars, column: Column | None = None) -> list[Scalar]:
        """Return (6) at V' = 0 and d'' = 0, or (8)."""
        modes, (turn, x) = self.modes, column or (w, u)
        rates, other, drifts = self._amplitudes(u, x)
        ww = turning_twice(turn, w)
        by_amplitude = []
        for a, B in enumerate(self.B):
            whirls = [axial(C[a]) for C in modes.C]
            whirl = turn.dot(gathered(whirls, rates, Vector())) + w.dot(gathered(whirls, other, Vector()))  # (8)
            drift = sum((trace(C[a]) * x for C, x in zip(modes.C, drifts, strict=True)), start=0)
            by_amplitude.append(contracted(ww, B) + whirl + drift)
        return modes.by_coordinates(by_amplitude, self.d)

    def _amplitudes(self, u: Scalars, x: Scalars) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Return the rates of eta at u, those at x, and how the latter change while d changes at u."""
        modes = self.modes
        return modes.amplitude_rates(self.d, u), modes.amplitude_rates(self.d, x), modes.amplitude_drifts(u, x)


def link_modes(model: Model, q: Scalars) -> Iterator[LinkModes]:
    """Yield the modes of every link that has some, at tree positions q."""
    return (LinkModes(model, i, q) for i, _ in model.outward() if model.joint(i).kind.modes)


def deformed(model: Model, q: Scalars) -> Model:
    """Return the robot with the inertias of its links as they are deformed."""
    if not model.has_modes:
        return model
    inertias = {i: model.inertia(i) for i, _ in model.outward()}
    for link in link_modes(model, q):
        if link.parent:
            inertias[link.parent] = inertias[link.parent] + link.inertia
    return model.with_inertias(list(inertias.values()))


class ModalForces:
    """What modes add to the forces for a motion; ``model`` is the deformed robot."""

    def __init__(self, model: Model, q: Scalars, v: Scalars, a: Scalars):
        self.model, self.wrenches, self.forces = deformed(model, q), {}, {}
        motions = body_motions(model, q, v, a, -model.gravity) if model.has_modes else {}
        for link in link_modes(model, q):
            p, at, root = link.parent, motions[link.parent], link.root
            w, wd = root.inward(at.w), root.inward(at.wd)
            acceleration = Motion(root.inward(at.vd + at.U @ root.origin), wd)
            u, ud = link.rates(v), link.rates(a)
            wrench, coupling = link.wrench(w, u), link.coupling
            for P, x in zip(coupling, ud, strict=True):
                wrench = wrench + P * x
            self.wrenches[p] = self.wrenches.get(p, Force()) + root.force_outward(wrench)
            for k, force, row, P in zip(link.freedoms, link.forces(w, u), link.masses, coupling, strict=True):
                self.forces[k] = acceleration.dot(P) + sum((m * x for m, x in zip(row, ud, strict=True)), start=force)

    def subtract_from(self, wrenches: Wrenches) -> Wrenches:
        """Return the wrenches on the bodies less those that move the modes."""
        if not self.wrenches:
            return wrenches
        return {**(wrenches or {}), **{i: (wrenches or {}).get(i, Force()) - f for i, f in self.wrenches.items()}}

    def add_to(self, tau: list[Scalar]) -> list[Scalar]:
        """Return the joint forces with those of the modes added."""
        return [x + self.forces[k] if k in self.forces else x for k, x in enumerate(tau)]


class ModalTerms:
    """What modes add to the equations of their freedoms and of the link they deform, for recursions, at (q, v).

    ``model`` is the deformed robot, ``wrenches`` those on the bodies less (5). By freedoms of the tree, ``P`` is in the
    frame of the tip, and ``Q`` is (6) where the deformed link does not accelerate: its origin, or, if ``spatial``, the
    components of its velocity. All are zero for rigid joints.
    """

    def __init__(self, model: Model, q: Scalars, v: Scalars, wrenches: Wrenches, *, spatial: bool):
        self.model, self.wrenches = deformed(model, q), dict(wrenches or {})
        self.P, self.Q = [Force()] * model.n_tree, [0] * model.n_tree
        self.m: dict[tuple[int, int], Scalar] = {}
        velocity = body_velocities(model, q, v) if model.has_modes else {}
        for link in link_modes(model, q):
            p, root, freedoms, u = link.parent, link.root, link.freedoms, link.rates(v)
            w, arm = velocity[p].angular, velocity[p].angular.cross(root.origin)
            at_root = root.inward(w)
            whirl = root.inward(w.cross(velocity[p].linear + arm if spatial else arm))
            for k, P, force in zip(freedoms, link.coupling, link.forces(at_root, u), strict=True):
                self.P[k], self.Q[k] = link.tip.force_inward(P), force + P.linear.dot(whirl)
            for k, row in zip(freedoms, link.masses, strict=True):
                self.m |= {(k, other): m for other, m in zip(freedoms, row, strict=True)}
            wrench = root.force_outward(link.wrench(at_root, u))
            self.wrenches[p] = self.wrenches.get(p, Force()) - wrench

    def mass(self, k: int, other: int) -> Scalar:
        """Return m of two freedoms of one joint."""
        return self.m.get((k, other), 0)


def add_modal_inertia(M: list[list[Scalar]], model: Model, link: LinkModes, q: Scalars) -> None:
    """Add m_jk to an inertia matrix, and what P_j gives at every joint from the root to the ground."""
    for k, row in zip(link.freedoms, link.masses, strict=True):
        for m, x in zip(link.freedoms, row, strict=True):
            M[k][m] = M[k][m] + x
    for k, P in zip(link.freedoms, link.coupling, strict=True):
        F = link.root.force_outward(P)
        for j in model.ancestors(link.body):
            for m, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
                M[k][m] = M[k][m] + S.dot(F)
                M[m][k] = M[m][k] + S.dot(F)
            F = model.transform(j, q).force_outward(F)


def add_modal_coriolis(
    C: list[list[Scalar]], link: LinkModes, w: Vector, J: Columns, Jd: Columns, v: Scalars
) -> None:
    """Add to a Coriolis matrix, with J and Jd of the parent's motion at the root, and J_d of d' (1 or 0):

      (9)  C_kl += J_k . F(w, d'; J_l, J_dl) + J_dk . (P . (Jd_l + [w x v_l; 0]) + Q(w, d'; J_l, J_dl))

    F is (7), Q is (8). ``w``, ``J`` and ``Jd`` are of the parent, in its frame, ``v`` all tree velocities.
    """
    u = dict(zip(link.freedoms, link.rates(v), strict=True))
    w, rates, coupling = link.root.inward(w), list(u.values()), link.coupling
    at_root = {k: link.root.motion_inward(column) for k, column in J.items()}
    for m in (*J, *u):
        motion = at_root.get(m, Motion())
        column = motion.angular, [int(m == k) for k in u]
        wrench = link.wrench(w, rates, column)
        for k, row in at_root.items():
            C[k][m] = C[k][m] + row.dot(wrench)
        carried = link.root.motion_inward(Jd.get(m, Motion())) + Motion(w.cross(motion.linear))
        for k, P, force in zip(u, coupling, link.forces(w, rates, column), strict=True):
            C[k][m] = C[k][m] + carried.dot(P) + force                                             # (9)


class Row(list):
    """Numbers that are added and scaled together."""

    def __add__(self, other):
        return Row(x + y for x, y in zip(self, other, strict=True))

    def __mul__(self, scale):
        return Row(x * scale for x in self)


def gathered(parts, factors, start):
    """Return start + sum of part * factor."""
    for part, factor in zip(parts, factors, strict=True):
        start = start + part * factor
    return start


def axial(matrix: Matrix) -> Vector:
    """Return int a x b dm from int a b^T dm."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = matrix.rows
    return Vector(yz - zy, zx - xz, xy - yx)


def trace(matrix: Matrix) -> Scalar:
    """Return the sum of the diagonal."""
    (xx, _, _), (_, yy, _), (_, _, zz) = matrix.rows
    return xx + yy + zz


def turning_twice(turn: Vector, w: Vector) -> Matrix:
    """Return [turn x][w x]."""
    xx, yy, zz = turn.x * w.x, turn.y * w.y, turn.z * w.z
    return Matrix(
        Vector(-(yy + zz), w.x * turn.y, w.x * turn.z),
        Vector(w.y * turn.x, -(xx + zz), w.y * turn.z),
        Vector(w.z * turn.x, w.z * turn.y, -(xx + yy)),
    )


def contracted(one: Matrix, other: Matrix) -> Scalar:
    """Return the sum of the products of their entries."""
    return sum((a.dot(b) for a, b in zip(one.rows, other.rows, strict=True)), start=0)
