"""All that has inertia: the bodies and rotors that a method knows, and what moves with them.

A method knows rigid bodies and the rotors of single joints. What else there is stands here, the same for every method:
rotors of motors that move several joints (``drives``), and the fluid that bodies carry along. With A the added mass of
a body (``forces.AddedMass``) and J its Jacobian, both in the body's frame, and V' the rates of the components of its
velocity, which do not know gravity:

  (1)  f_fluid = A V'              beside V x* A V, which is a force of the surroundings
  (2)  M_fluid = J^T A J

A link with modes has inertia that is distributed along it. One such link is an object with formulas of its own
(``flexible.Bending``): its inertia as it is deformed, and what joins the equations of its modes and of itself. Robots
without pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from ..model import Model
from ..scalar import Scalar
from ..spatial import ArticulatedInertia, Force, Motion, Vector
from .drives import with_rotor_forces, with_rotors
from .flexible import Bending
from .kinematics import body_motions, body_poses, body_velocities
from .method import Wrenches

Scalars = Sequence[Scalar]


def whole_inverse(
    inverse: Callable[..., list[Scalar]], model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None
) -> list[Scalar]:
    """Tree forces for a motion of all that has inertia, by a method's function of inverse dynamics."""
    modes = ModesInMotion(model, q, v, a)
    applied = modes.less(_with_fluid(model, q, v, a, wrenches))
    return modes.beside(with_rotor_forces(model, inverse(modes.model, q, v, a, applied), a))


def whole_bias(
    bias: Callable[..., list[Scalar]],
    model: Model,
    q: Scalars,
    v: Scalars,
    wrenches: Wrenches = None,
    a: Scalars | None = None,
) -> list[Scalar]:
    """The same at zero acceleration (or at ``a``), by a method's function of the bias."""
    still = a or [0] * model.n_tree
    modes, how = ModesInMotion(model, q, v, still), {} if a is None else {"a": a}
    applied = modes.less(_with_fluid(model, q, v, still, wrenches))
    return modes.beside(with_rotor_forces(model, bias(modes.model, q, v, applied, **how), still))


def whole_inertia(inertia: Callable[..., list[list[Scalar]]], model: Model, q: Scalars) -> list[list[Scalar]]:
    """The tree's inertia matrix, by a method's function."""
    M = with_rotors(model, inertia(deformed(model, q), q))
    fluid = added_masses(model)
    total = [list(row) for row in M] if fluid or model.has_modes else M
    for link in distributed(model, q):
        _add_modes(total, model, link, q)
    for i, A in fluid.items():
        J = body_jacobian(model, i, q)
        for k, own in J.items():
            f = A @ own
            for m, other in J.items():
                total[k][m] = total[k][m] + other.dot(f)                                             # (2)
    return total


def distributed(model: Model, q: Scalars) -> Iterator[Bending]:
    """The links with modes at tree positions q."""
    return (Bending(model, i, q) for i, _ in model.outward() if model.joint(i).kind.modes)


def deformed(model: Model, q: Scalars) -> Model:
    """The robot with the inertias of its links as they are deformed."""
    if not model.has_modes:
        return model
    inertias = {i: model.inertia(i) for i, _ in model.outward()}
    for link in distributed(model, q):
        if link.parent:
            inertias[link.parent] = inertias[link.parent] + link.inertia
    return model.with_inertias(list(inertias.values()))


class ModesInMotion:
    """What modes add to the forces for a motion; ``model`` is the deformed robot."""

    def __init__(self, model: Model, q: Scalars, v: Scalars, a: Scalars):
        self.model, self.wrenches, self.forces = deformed(model, q), {}, {}
        motions = body_motions(model, q, v, a, -model.gravity) if model.has_modes else {}
        for link in distributed(model, q):
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

    def less(self, wrenches: Wrenches) -> Wrenches:
        """Wrenches on the bodies, less those that move the modes."""
        if not self.wrenches:
            return wrenches
        return {**(wrenches or {}), **{i: (wrenches or {}).get(i, Force()) - f for i, f in self.wrenches.items()}}

    def beside(self, tau: list[Scalar]) -> list[Scalar]:
        return [x + self.forces[k] if k in self.forces else x for k, x in enumerate(tau)]


class Elimination:
    """For recursions: what modes add to the equations of their freedoms and of the link they deform, at (q, v).

    ``model`` is the deformed robot. ``wrenches``: those on the bodies, less (5) of ``flexible``. By freedoms of the
    tree: ``P``, in the frame of the tip, and ``Q``, (6) where the deformed link does not accelerate: by that of its
    origin, or, ``spatial``, by the rates of the components of its velocity. Of rigid joints all are zero.
    """

    def __init__(self, model: Model, q: Scalars, v: Scalars, wrenches: Wrenches, *, spatial: bool):
        self.model, self.wrenches = deformed(model, q), dict(wrenches or {})
        self.P, self.Q = [Force()] * model.n_tree, [0] * model.n_tree
        self.m: dict[tuple[int, int], Scalar] = {}
        velocity = body_velocities(model, q, v) if model.has_modes else {}
        for link in distributed(model, q):
            p, root, own, u = link.parent, link.root, link.freedoms, link.rates(v)
            w, arm = velocity[p].angular, velocity[p].angular.cross(root.origin)
            at_root = root.inward(w)
            whirl = root.inward(w.cross(velocity[p].linear + arm if spatial else arm))
            for k, P, force in zip(own, link.coupling, link.forces(at_root, u), strict=True):
                self.P[k], self.Q[k] = link.tip.force_inward(P), force + P.linear.dot(whirl)
            for k, row in zip(own, link.masses, strict=True):
                self.m |= {(k, other): m for other, m in zip(own, row, strict=True)}
            taken = root.force_outward(link.wrench(at_root, u))
            self.wrenches[p] = self.wrenches.get(p, Force()) - taken

    def mass(self, k: int, other: int) -> Scalar:
        """m of two freedoms of one joint."""
        return self.m.get((k, other), 0)


def _add_modes(M: list[list[Scalar]], model: Model, link: Bending, q: Scalars) -> None:
    """m_jk, and P_j on the way from the root to the ground."""
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


def added_masses(model: Model) -> dict[int, ArticulatedInertia]:
    """Of the bodies that have one, in their frames."""
    found: dict[int, list[ArticulatedInertia]] = {}
    for frame, law in model.forces:
        if frame.body and (inertia := getattr(law, "added_inertia", None)) is not None:
            found.setdefault(frame.body, []).append(frame.pose.articulated_outward(inertia))
    return {i: reduce(ArticulatedInertia.__add__, own) for i, own in found.items()}


def fluids(model: Model, q: Scalars) -> dict[int, tuple[ArticulatedInertia, Motion]]:
    """For recursions in which the ground has acceleration -g: A, and g as seen by each body that carries fluid, to be
    added to its acceleration before A acts on it."""
    found = added_masses(model)
    poses = body_poses(model, q) if found else {}
    return {i: (A, Motion(poses[i].inward(model.gravity))) for i, A in found.items()}


def body_jacobian(model: Model, i: int, q: Scalars) -> dict[int, Motion]:
    """Velocity of body ``i``, in its frame, per velocity of each joint that moves it."""
    X, J = [], {}
    for j in (i, *model.ancestors(i)):
        for k, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
            J[k] = reduce(lambda motion, way: way.motion_inward(motion), reversed(X), S)
        X.append(model.transform(j, q))
    return J


def _with_fluid(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches) -> Wrenches:
    """Wrenches on the bodies, less those that accelerate the fluid."""
    fluid = added_masses(model)
    if not fluid:
        return wrenches
    total, motions = dict(wrenches or {}), body_motions(model, q, v, a, Vector())
    for i, A in fluid.items():
        total[i] = total.get(i, Force()) - A @ motions[i].rates                                      # (1)
    return total
