"""Convert a Model back to a Description in the user's link frames, for the writers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..spatial import Inertia, Pose, Transform
from .description import ConstraintDescription, Description, JointDescription, Link, LinkInertia, Mimic, Placement
from .model import FixedScrew, Frame, Model
from .placement import placement_of


def describe(model: Model) -> Description:
    """Return a description with one link per body, in the link's frame, with all links that are fixed to it merged.

    The merged links become frames. Building the description gives the same dynamics.
    """
    floating = model.moving_base
    names = ["ground" if floating else model.root, *(body.name for body in model.bodies)]
    at = [Placement.of(model.frames[name].pose) if name in model.frames else Placement() for name in names]
    inertias = [model.base_inertia, *(body.inertia for body in model.bodies)]
    first = 1 if floating else 0
    links = tuple(Link(names[i], _link_inertia(inertias[i], at[i])) for i in range(first, len(names)))
    joints = []
    for i, body in enumerate(model.bodies, 1):
        joint = body.joint
        if i == 1 and floating:
            continue
        if joint.kind.axial:
            placement = placement_of((*joint.placement, FixedScrew("z", joint.angle, joint.length)))
        else:
            at_zero = Transform(*joint.kind.transform(joint, joint.kind.neutral()))
            placement = placement_of(joint.placement) @ Placement.of(Pose.identity().then(at_zero))
        axis, second_axis = joint.kind.axes(at[i].rotation.T)
        joints.append(
            JointDescription(
                name=joint.name,
                **joint.kind.fields,
                parent=names[body.parent],
                child=body.name,
                origin=at[body.parent].inverse() @ placement @ at[i],
                axis=axis,
                second_axis=second_axis,
                pitch=joint.pitch,
                **joint.joint_values(),
                mimic=Mimic(joint.leader, joint.multiplier, joint.offset) if joint.leader else None,
            )
        )

    def side(frame: Frame) -> tuple[str, Placement]:
        name = "" if floating and not frame.body else names[frame.body]
        return name, at[frame.body].inverse() @ Placement.of(frame.pose)

    cut_frames = {each.first for each in model.constraints if each.kind.closes_loop}
    frames = {
        frame.name: side(frame)
        for frame in model.frames.values()
        if frame.name not in names and not (floating and frame.body == 0) and frame not in cut_frames
    }

    mobility = model.mobility
    return Description(
        name=model.name,
        links=links,
        joints=tuple(joints),
        gravity=(model.gravity.x, model.gravity.y, model.gravity.z),
        floating=floating,
        frames=frames,
        constraints=tuple(
            ConstraintDescription(
                each.name,
                each.kind,
                side(each.first),
                each.second.name if each.kind.second.named else side(each.second),
            )
            for each in model.constraints
        ),
        home=_home(model),
        independent=tuple(_independent(model)),
        redundant=len(mobility.motors) > len(mobility.driven),
        forces=tuple((frame.name, law) for frame, law in model.forces),
        transmissions=model.transmissions,
        summary=model.summary,
        sources=model.sources,
    )


def _home(model: Model) -> dict[str, float | tuple[float, ...]]:
    home = model.coordinates.positions.to_dict(np.array(model.home)) if model.home else {}
    return {name: float(x) if x.ndim == 0 else tuple(x.tolist()) for name, x in home.items()}


def _independent(model: Model) -> Iterator[str]:
    """Names of independent joints, or of their independent velocities; not a moving base that is wholly independent."""
    for segment in model.coordinates.of_freedoms(model.mobility.independent).segments if model.constrained else ():
        whole = segment.size == len(model.joint_freedoms(segment.name))
        if whole and model.moving_base and segment.name == model.joint(1).name:
            continue
        yield from (segment.name,) if whole else segment.names


def _link_inertia(inertia: Inertia, frame: Placement) -> LinkInertia | None:
    """Return a body's inertia in one of its link frames."""
    if not any(inertia):
        return None
    J = np.array([list(row) for row in inertia.J.rows])
    return LinkInertia.about(inertia.mass, np.array(list(inertia.h)), J).placed(frame.inverse())
