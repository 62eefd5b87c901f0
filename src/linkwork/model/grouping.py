"""Grouped inertia parameters: what a joint cannot tell from its parent's inertia is moved there, so fewer numbers act.

A mass distribution that is symmetric about a revolute joint's axis and has no moment of inertia about it moves exactly
as if it were fixed to the parent. So do the moments and products of inertia of a body on a prismatic joint. The joint
forces are the same (Gautier & Khalil 1990), the numbers of single bodies no longer mean anything by themselves.
"""

from __future__ import annotations

from ..spatial import Inertia
from .model import Model


def grouped(model: Model) -> Model:
    """The same robot, as its joints feel it: each kind of joint says what it moves to the parent. Of a body on a
    revolute joint the mass, the first moment along the axis and the moment of inertia yy become zero, of one on a
    prismatic joint the whole inertia tensor."""
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    anywhere = model.tree.neutral().tolist()  # where the joints stand does not matter
    for i, p in model.inward():
        inertia[i], moved = model.joint(i).kind.grouped(inertia[i])
        inertia[p] = inertia[p] + model.transform(i, anywhere).inertia_outward(moved)
    return model.with_inertias([inertia[i] for i, _ in model.outward()])
