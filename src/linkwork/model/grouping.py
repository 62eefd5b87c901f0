"""Grouped inertia parameters: what a joint cannot tell from its parent's inertia is moved there, so fewer numbers act.

A mass distribution that is symmetric about a revolute joint's axis and has no moment of inertia about it moves exactly
as if it were fixed to the parent. So do the moments and products of inertia of a body on a prismatic joint. The joint
forces are the same (Gautier & Khalil 1990), the numbers of single bodies no longer mean anything by themselves.
"""

from __future__ import annotations

from ..spatial import Inertia, Screw, Symmetric, Transform, Vector
from .model import Model
from .rotations import cos_sin


def grouped(model: Model) -> Model:
    """The same robot, as its joints feel it: of each body on a revolute joint the mass, the first moment along the
    axis and the moment of inertia yy are zero, of each body on a prismatic joint the whole inertia tensor."""
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    for i, p in model.inward():
        joint, own = model.joint(i), inertia[i]
        if joint.floating:
            continue
        if joint.prismatic:
            moved = Inertia(0, Vector(), own.J)
            kept = Inertia(own.mass, own.h, Symmetric())
        else:
            yy = own.J.yy
            moved = Inertia(own.mass, Vector(0, 0, own.h.z), Symmetric(yy, 0, 0, yy, 0, 0))
            kept = Inertia(
                0, Vector(own.h.x, own.h.y, 0), Symmetric(own.J.xx - yy, own.J.xy, own.J.xz, 0, own.J.yz, own.J.zz)
            )
        at_zero = Screw("z", *cos_sin(joint.angle), joint.length)  # where the joint stands does not matter
        carrier = Transform(*(fixed.screw for fixed in joint.placement), at_zero)
        inertia[i] = kept
        inertia[p] = inertia[p] + carrier.inertia_outward(moved)
    return model.with_inertias([inertia[i] for i, _ in model.outward()])
