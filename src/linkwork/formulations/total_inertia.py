"""Inertial forces of the whole robot: rigid bodies and rotors (by the methods), flexible modes, added mass.

Methods include rigid bodies and the rotors of single joints. The rest is added here, the same for every method: rotors
of motors that move several joints (``drives``), modes of links (``link_modes``), and the fluid that bodies carry along.
With A the added mass of a body (``forces.AddedMass``) and J its Jacobian, both in the body's frame, and V' the rates of
the components of its velocity, without gravity:

  (1)  f_fluid = A V'              V x* A V is a force of the surroundings
  (2)  M_fluid = J^T A J

A robot without these has no additional operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ..model import Model
from ..scalar import Scalar, Scalars
from ..spatial import ArticulatedInertia, Force, Motion, Vector
from .drives import with_rotor_forces, with_rotors
from .kinematics import body_motions, body_poses
from .link_modes import ModalForces, add_modal_inertia, deformed, link_modes
from .method import Wrenches


def total_inverse_dynamics(
    inverse: Callable[..., list[Scalar]], model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None
) -> list[Scalar]:
    """Return the tree forces for a motion of all that has inertia, by a method's function of inverse dynamics."""
    modes = ModalForces(model, q, v, a)
    applied = modes.subtract_from(_with_fluid(model, q, v, a, wrenches))
    return modes.add_to(with_rotor_forces(model, inverse(modes.model, q, v, a, applied), a))


def total_bias(
    bias: Callable[..., list[Scalar]],
    model: Model,
    q: Scalars,
    v: Scalars,
    wrenches: Wrenches = None,
    a: Scalars | None = None,
) -> list[Scalar]:
    """Return the tree forces at zero acceleration (or at ``a``), by a method's function of the bias."""
    still = a or [0] * model.n_tree
    modes, option = ModalForces(model, q, v, still), {} if a is None else {"a": a}
    applied = modes.subtract_from(_with_fluid(model, q, v, still, wrenches))
    return modes.add_to(with_rotor_forces(model, bias(modes.model, q, v, applied, **option), still))


def total_inertia_matrix(inertia: Callable[..., list[list[Scalar]]], model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the tree's inertia matrix, by a method's function."""
    M = with_rotors(model, inertia(deformed(model, q), q))
    fluid = added_masses(model)
    total = [list(row) for row in M] if fluid or model.has_modes else M
    for link in link_modes(model, q):
        add_modal_inertia(total, model, link, q)
    for i, A in fluid.items():
        J = body_jacobian(model, i, q)
        for k, column in J.items():
            f = A @ column
            for m, other in J.items():
                total[k][m] = total[k][m] + other.dot(f)                                             # (2)
    return total


def added_masses(model: Model) -> dict[int, ArticulatedInertia]:
    """Return the added mass of every body that has some, in its frame."""
    masses: dict[int, list[ArticulatedInertia]] = {}
    for frame, law in model.forces:
        if frame.body and (inertia := getattr(law, "added_inertia", None)) is not None:
            masses.setdefault(frame.body, []).append(frame.pose.articulated_outward(inertia))
    return {i: reduce(ArticulatedInertia.__add__, parts) for i, parts in masses.items()}


def fluids(model: Model, q: Scalars) -> dict[int, tuple[ArticulatedInertia, Motion]]:
    """Return the added mass A of each body that carries fluid, and gravity in the frame of the body.

    In recursions the ground has acceleration -g, so g is added to the acceleration of the body before A acts on it.
    """
    masses = added_masses(model)
    poses = body_poses(model, q) if masses else {}
    return {i: (A, Motion(poses[i].inward(model.gravity))) for i, A in masses.items()}


def body_jacobian(model: Model, i: int, q: Scalars) -> dict[int, Motion]:
    """Return the velocity of body ``i``, in its frame, per velocity of each joint that moves it."""
    X, J = [], {}
    for j in (i, *model.ancestors(i)):
        for k, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
            J[k] = reduce(lambda motion, transform: transform.motion_inward(motion), reversed(X), S)
        X.append(model.transform(j, q))
    return J


def _with_fluid(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches) -> Wrenches:
    """Return the wrenches on the bodies less those that accelerate the fluid."""
    fluid = added_masses(model)
    if not fluid:
        return wrenches
    total, motions = dict(wrenches or {}), body_motions(model, q, v, a, Vector())
    for i, A in fluid.items():
        total[i] = total.get(i, Force()) - A @ motions[i].rates                                      # (1)
    return total
