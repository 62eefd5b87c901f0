"""Grouped inertia parameters: what acts as a part of the parent is moved there, so fewer parameters are left.

A part of a body's inertia acts as if it were fixed to the parent if it needs no joint force and is the same from the
parent at all positions. On a revolute joint that is a mass distribution that is symmetric about the axis and has no
moment of inertia about it, on a prismatic joint the inertia tensor, on a ball joint a mass in its centre. The joint
forces are the same (Gautier & Khalil 1990); the parameters of single bodies have no physical meaning any more.
"""

from __future__ import annotations

from ..spatial import Inertia
from .model import Model


def grouped(model: Model) -> Model:
    """Return the robot with grouped parameters: each kind of joint defines what it moves to the parent."""
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    anywhere = model.tree.neutral().tolist()  # the result is the same at all positions
    for i, p in model.inward():
        inertia[i], moved = model.joint(i).kind.grouped(inertia[i])
        inertia[p] = inertia[p] + model.transform(i, anywhere).inertia_outward(moved)
    return model.with_inertias([inertia[i] for i, _ in model.outward()])
