"""From a Model back to a Description in the user's link frames, for the writers."""

from __future__ import annotations

import numpy as np

from ..spatial import Inertia, Pose
from .description import Description, JointDescription, Link, LinkInertia, Mimic, Placement
from .model import FixedScrew, Model
from .placement import placement_of


def describe(model: Model) -> Description:
    """One link per body, in the frame the user gave it, with everything fixed to it merged in; the links that were
    merged become extra frames. Reading it back gives the same dynamics."""
    names = ["ground" if model.floating else model.root, *(body.name for body in model.bodies)]
    at = [_placement(model.frames[name].pose) if name in model.frames else Placement() for name in names]
    floating = model.floating
    inertias = [model.base_inertia, *(body.inertia for body in model.bodies)]
    first = 1 if floating else 0
    links = tuple(Link(names[i], _link_inertia(inertias[i], at[i])) for i in range(first, len(names)))
    joints = []
    for i, body in enumerate(model.bodies, 1):
        joint = body.joint
        if joint.floating:
            continue
        placed = placement_of((*joint.placement, FixedScrew("z", joint.angle, joint.length)))
        joints.append(
            JointDescription(
                name=joint.name,
                kind=joint.kind,
                parent=names[body.parent],
                child=body.name,
                origin=at[body.parent].inverse() @ placed @ at[i],
                axis=at[i].rotation[2].copy(),
                **joint.values(),
                mimic=Mimic(joint.leader, joint.multiplier, joint.offset) if joint.leader else None,
            )
        )
    frames = {
        frame.name: (names[frame.body], at[frame.body].inverse() @ _placement(frame.pose))
        for frame in model.frames.values()
        if frame.name not in names and not (floating and frame.body == 0)
    }
    return Description(
        name=model.name,
        links=links,
        joints=tuple(joints),
        gravity=(model.gravity.x, model.gravity.y, model.gravity.z),
        floating=floating,
        frames=frames,
        summary=model.summary,
        sources=model.sources,
    )


def _placement(pose: Pose) -> Placement:
    return Placement(np.array([list(row) for row in pose.rotation.rows], float), np.array(list(pose.origin), float))


def _link_inertia(inertia: Inertia, frame: Placement) -> LinkInertia | None:
    """The body's inertia seen from one of its link frames."""
    if not any(inertia):
        return None
    J = np.array([list(row) for row in inertia.J.rows])
    return LinkInertia.about(inertia.mass, np.array(list(inertia.h)), J).placed(frame.inverse())
