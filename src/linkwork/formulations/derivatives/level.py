"""Working frames: links on parallel axes are seen in axes that do not turn with them."""

from __future__ import annotations

from typing import NamedTuple

from ...model import Model
from ...scalar import Scalar, Scalars, cos, sin
from ...spatial import Force, Matrix, Pose, Screw, Symmetric, Transform, Vector
from ...spatial.vectors import turn_symmetric
from ..parallel_axes import only_turns, placed, split, tilted

Constants = tuple[Scalar, Vector, Symmetric]  # M, MS and E of a link


class Level(NamedTuple):
    """A link's working frame: ``X`` places it in that of the link before, and ``fixed`` is the part of X before the
    joint's own motion. ``own`` is the screw from there to the link's own frame, where that is another one: its angle is
    the sum of those of all parallel joints so far."""

    X: Transform
    fixed: Transform
    own: Screw | None = None
    angle: Scalar = 0

    def constants(self, M: Scalar, MS: Vector, E: Symmetric) -> Constants:
        """Those of the link in its working frame. What only turns keeps no mass, nor a moment along its axis: these
        count as the link's before it (``second_moments``)."""
        if self.own is None:
            return M, MS, E
        t, h, E = self.own.t, self.own.outward(MS), turn_symmetric("z", self.own.c, self.own.s, E)
        return M, h, Symmetric(E.xx, E.xy, E.xz + t * h.x, E.yy, E.yz + t * h.y, E.zz)

    def from_link(self, f: Force) -> Force:
        """One given in the link's own frame."""
        return self.own.force_outward(f) if self.own else f


def working_frames(model: Model, q: Scalars) -> dict[int, Level]:
    """Of every link. A group of parallel axes begins with a joint that only turns and has one that does so behind it;
    constant parameters turn there, and neither motions nor forces do."""
    turning = {j for j, _ in model.outward() if only_turns(model.subspace(j, q))}
    parallel = {j for j in turning if not tilted(model.joint(j))}
    first = {i for j, i in model.outward() if j in parallel and i in turning}
    found: dict[int, Level] = {}
    for j, i in model.outward():
        joint, X = model.joint(j), model.transform(j, q)
        before = found[i].own if i > 0 else None
        fixed = Transform(*((before,) if before else ()), *placed(joint).screws)
        value = q[model.positions(j).start]
        if before and j in parallel:
            arm = Transform(Pose(Matrix.identity(), fixed.origin))
            angle = found[i].angle + (value + joint.angle)
            found[j] = Level(arm, arm, Screw("z", cos(angle), sin(angle), joint.length), angle)
        elif j in first:
            quarters, rest = split(joint.angle)
            angle = value + rest
            own = Screw("z", cos(angle), sin(angle), joint.length)
            found[j] = Level(Transform(*fixed.screws, quarters), fixed, own, angle)
        else:
            found[j] = Level(Transform(*fixed.screws, *X.screws[len(joint.placement) :]), fixed)
    return found
