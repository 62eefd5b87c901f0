"""All that has inertia: the bodies and rotors that a method knows, and what moves with them.

A method knows rigid bodies and the rotors of single joints. What else there is stands here, the same for every method:
rotors of motors that move several joints (``drives``), and the fluid that bodies carry along. With A the added mass of
a body (``forces.AddedMass``) and J its Jacobian, both in the body's frame, and V' the rates of the components of its
velocity, which do not know gravity:

  (1)  f_fluid = A V'              beside V x* A V, which is a force of the surroundings
  (2)  M_fluid = J^T A J

Robots without pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ..forces import AddedMass
from ..model import Model
from ..scalar import Scalar
from ..spatial import ArticulatedInertia, Force, Motion, Vector
from .drives import with_rotor_forces, with_rotors
from .kinematics import body_motions, body_poses
from .method import Wrenches

Scalars = Sequence[Scalar]


def whole_inverse(
    inverse: Callable[..., list[Scalar]], model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None
) -> list[Scalar]:
    """Tree forces for a motion of all that has inertia, by a method's function of inverse dynamics."""
    return with_rotor_forces(model, inverse(model, q, v, a, _with_fluid(model, q, v, a, wrenches)), a)


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
    applied, how = _with_fluid(model, q, v, still, wrenches), {} if a is None else {"a": a}
    return with_rotor_forces(model, bias(model, q, v, applied, **how), still)


def whole_inertia(inertia: Callable[..., list[list[Scalar]]], model: Model, q: Scalars) -> list[list[Scalar]]:
    """The tree's inertia matrix, by a method's function."""
    M = with_rotors(model, inertia(model, q))
    fluid = added_masses(model)
    total = [list(row) for row in M] if fluid else M
    for i, A in fluid.items():
        J = body_jacobian(model, i, q)
        for k, own in J.items():
            f = A @ own
            for m, other in J.items():
                total[k][m] = total[k][m] + other.dot(f)                                             # (2)
    return total


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
