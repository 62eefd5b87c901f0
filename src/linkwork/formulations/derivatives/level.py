"""Working frames: links on parallel joint axes are described in frames that do not turn with them."""

from __future__ import annotations

from typing import NamedTuple

from ...model import Model
from ...scalar import Scalar, Scalars, cos, sin
from ...spatial import Force, Matrix, Pose, Screw, Symmetric, Transform, Vector
from ...spatial.vectors import turn_symmetric
from ..parallel_axes import only_turns, placed, split, tilted

Constants = tuple[Scalar, Vector, Symmetric]  # M, MS and E of a link


class Level(NamedTuple):
    """Working frame of a link.

    Attributes:
        X: places it in the working frame of the link before.
        fixed: the part of X before the motion of the joint.
        to_link: screw from the working frame to the frame of the link; None if they are the same.
        angle: angle of that screw, the sum over all parallel joints so far.
    """

    X: Transform
    fixed: Transform
    to_link: Screw | None = None
    angle: Scalar = 0

    def constants(self, M: Scalar, MS: Vector, E: Symmetric) -> Constants:
        """Return the constants of the link in its working frame. A link on a revolute joint has no mass, nor a moment
        along the axis: ``second_moments`` counts these to the link before."""
        if self.to_link is None:
            return M, MS, E
        t, h, E = self.to_link.t, self.to_link.outward(MS), turn_symmetric("z", self.to_link.c, self.to_link.s, E)
        return M, h, Symmetric(E.xx, E.xy, E.xz + t * h.x, E.yy, E.yz + t * h.y, E.zz)

    def from_link(self, f: Force) -> Force:
        """Return a force in the working frame from one in the frame of the link."""
        return self.to_link.force_outward(f) if self.to_link else f


def working_frames(model: Model, q: Scalars) -> dict[int, Level]:
    """Return the working frame of every link. A group of parallel axes begins with a revolute joint that has a
    parallel one behind it. In a group, constant parameters are turned, and neither motions nor forces are."""
    turning = {j for j, _ in model.outward() if only_turns(model.subspace(j, q))}
    parallel = {j for j in turning if not tilted(model.joint(j))}
    first = {i for j, i in model.outward() if j in parallel and i in turning}
    levels: dict[int, Level] = {}
    for j, i in model.outward():
        joint, X = model.joint(j), model.transform(j, q)
        before = levels[i].to_link if i > 0 else None
        fixed = Transform(*((before,) if before else ()), *placed(joint).screws)
        value = q[model.positions(j).start]
        if before and j in parallel:
            arm = Transform(Pose(Matrix.identity(), fixed.origin))
            angle = levels[i].angle + (value + joint.angle)
            levels[j] = Level(arm, arm, Screw("z", cos(angle), sin(angle), joint.length), angle)
        elif j in first:
            quarters, rest = split(joint.angle)
            angle = value + rest
            to_link = Screw("z", cos(angle), sin(angle), joint.length)
            levels[j] = Level(Transform(*fixed.screws, quarters), fixed, to_link, angle)
        else:
            levels[j] = Level(Transform(*fixed.screws, *X.screws[len(joint.placement) :]), fixed)
    return levels
