"""A serial robot in distal frames, as Hollerbach and Silver use them: frame i at the far end of link i.

A Model has its frames on the axes of the joints. Here frame i is moved to the axis of joint i + 1, so joint i
turns about (slides along) z of frame i - 1, as in standard Denavit-Hartenberg tables. Links and frames are 1..n.
"""

from __future__ import annotations

from ..model import Model
from ..scalar import Scalars
from ..spatial import Inertia, Pose, Screw, Transform, Vector


class DistalChain:
    """Chain in distal frames: ``gravity`` is in frame 0, ``inertia[i]`` about the origin of frame i and in its axes."""

    def __init__(self, model: Model):
        self.model = model
        self.n = model.n_bodies
        # transforms from the axis of joint i to that of joint i + 1; the identity after the last joint
        self._link = [_constant(model, i) for i in range(1, self.n + 1)] + [Transform()]
        self.gravity: Vector = self._link[0].inward(model.gravity)
        self.inertia: dict[int, Inertia] = {
            i: inverse(self._link[i]).inertia_outward(model.inertia(i)) for i in range(1, self.n + 1)
        }

    def prismatic(self, i: int) -> bool:
        """Return whether joint i is prismatic."""
        return self.model.joint(i).prismatic

    def A(self, i: int, q: Scalars) -> Transform:
        """Return the transform from frame i to frame i - 1: the joint's z screw, then the link. Its origin is p_i*."""
        joint_screw = self.model.transform(i, q).screws[-1]
        return Transform(joint_screw, *self._link[i].screws)


def _constant(model: Model, i: int) -> Transform:
    """Return the constant part of the transform of joint i."""
    return Transform(*(fixed.screw for fixed in model.joint(i).placement))


def inverse(transform: Transform) -> Transform:
    """Return the inverse of a chain of constant screws, or of poses."""
    parts = reversed(transform.screws)
    return Transform(*(s.inverse() if isinstance(s, Pose) else Screw(s.axis, s.c, -s.s, -s.t) for s in parts))
