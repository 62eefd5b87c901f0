"""All that has inertia: the bodies and rotors that a method knows, and what moves with them.

A method knows rigid bodies and the rotors of single joints. What else there is stands here, the same for every method:
rotors of motors that move several joints (``drives``), and the fluid that bodies carry along. With A the added mass of
a body (``forces.AddedMass``) and J its Jacobian, both in the body's frame, and V' the rates of the components of its
velocity, which do not know gravity:

  (1)  f_fluid = A V'              beside V x* A V, which is a force of the surroundings
  (2)  M_fluid = J^T A J

Modes of links that bend have formulas of their own (``flexible``). Robots without pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ..forces import AddedMass
from ..model import Model
from ..scalar import Scalar
from ..spatial import ArticulatedInertia, Force, Motion, Vector
from .drives import with_rotor_forces, with_rotors
from .flexible import Bending, bending_joints, bent
from .kinematics import body_motions, body_poses
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
    M = with_rotors(model, inertia(bent(model, q), q))
    fluid, joints = added_masses(model), bending_joints(model)
    total = [list(row) for row in M] if fluid or joints else M
    for i, _ in joints:
        _add_modes(total, model, i, q)
    for i, A in fluid.items():
        J = body_jacobian(model, i, q)
        for k, own in J.items():
            f = A @ own
            for m, other in J.items():
                total[k][m] = total[k][m] + other.dot(f)                                             # (2)
    return total


class ModesInMotion:
    """What the modes of links that bend add to the forces for a motion; ``model`` is the bent robot."""

    def __init__(self, model: Model, q: Scalars, v: Scalars, a: Scalars):
        self.model, self.wrenches, self.forces = bent(model, q), {}, {}
        joints = bending_joints(model)
        motions = body_motions(model, q, v, a, -model.gravity) if joints else {}
        for i, p in joints:
            bending, at = Bending(model, i, q), motions[p]
            w, wd = bending.root.inward(at.w), bending.root.inward(at.wd)
            acceleration = Motion(bending.root.inward(at.vd + at.U @ bending.root.origin), wd)
            u, ud = ([x[k] for k in model.freedoms(i)] for x in (v, a))
            wrench, coupling = bending.wrench(w, u), bending.coupling
            for P, x in zip(coupling, ud, strict=True):
                wrench = wrench + P * x
            self.wrenches[p] = self.wrenches.get(p, Force()) + bending.root.force_outward(wrench)
            own = zip(model.freedoms(i), bending.forces(w, u), bending.masses, coupling, strict=True)
            for k, force, row, P in own:
                self.forces[k] = acceleration.dot(P) + sum((m * x for m, x in zip(row, ud, strict=True)), start=force)

    def less(self, wrenches: Wrenches) -> Wrenches:
        """Wrenches on the bodies, less those that move the modes."""
        if not self.wrenches:
            return wrenches
        return {**(wrenches or {}), **{i: (wrenches or {}).get(i, Force()) - f for i, f in self.wrenches.items()}}

    def beside(self, tau: list[Scalar]) -> list[Scalar]:
        return [x + self.forces[k] if k in self.forces else x for k, x in enumerate(tau)]


def _add_modes(M: list[list[Scalar]], model: Model, i: int, q: Scalars) -> None:
    """m_jk, and P_j on the way from the root to the ground."""
    bending, own = Bending(model, i, q), model.freedoms(i)
    for k, row in zip(own, bending.masses, strict=True):
        for m, x in zip(own, row, strict=True):
            M[k][m] = M[k][m] + x
    for k, P in zip(own, bending.coupling, strict=True):
        F = bending.root.force_outward(P)
        for j in model.ancestors(i):
            for m, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
                M[k][m] = M[k][m] + S.dot(F)
                M[m][k] = M[m][k] + S.dot(F)
            F = model.transform(j, q).force_outward(F)


def added_masses(model: Model) -> dict[int, ArticulatedInertia]:
    """Of the bodies that have one, in their frames."""
    found: dict[int, list[ArticulatedInertia]] = {}
    for frame, law in model.forces:
        if isinstance(law, AddedMass) and frame.body:
            found.setdefault(frame.body, []).append(frame.pose.articulated_outward(law.matrix))
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
