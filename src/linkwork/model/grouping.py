"""Grouped inertia parameters: what a joint cannot tell from its parent's inertia is moved there, so fewer numbers act.

A part of a body's inertia moves exactly as if it were fixed to the parent if the joint's own motion takes no force from
it and it looks the same from the parent wherever the joint stands. On a revolute joint that is a mass distribution that
is symmetric about the axis and has no moment of inertia about it, on a prismatic joint the inertia tensor, on a ball
joint a mass in its centre. The joint forces are the same (Gautier & Khalil 1990), the numbers of single bodies no
longer mean anything by themselves.
"""

from __future__ import annotations

from ..spatial import Inertia
from .model import Model


def grouped(model: Model) -> Model:
    """The same robot, as its joints feel it: each kind of joint says what it moves to the parent."""
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    anywhere = model.tree.neutral().tolist()  # where the joints stand does not matter
    for i, p in model.inward():
        inertia[i], moved = model.joint(i).kind.grouped(inertia[i])
        inertia[p] = inertia[p] + model.transform(i, anywhere).inertia_outward(moved)
    return model.with_inertias([inertia[i] for i, _ in model.outward()])
