"""The same robot elsewhere, or of another size."""

from dataclasses import replace

import numpy as np

from linkwork.io.rpy import rotation_from_quaternion
from linkwork.model import Description, LinkInertia, Placement
from linkwork.model.rotations import quaternion_from_rotation


def placed(description: Description, at: Placement) -> Description:
    """The robot with its planes and its gravity moved and turned by ``at``; feet keep to the plane z = 0."""
    ground = ("",) if description.floating else ("", description.root)

    def side(link: str, placement: Placement) -> tuple[str, Placement]:
        return link, at @ placement if link in ground else placement

    joints = (replace(joint, origin=side(joint.parent, joint.origin)[1]) for joint in description.joints)
    loops = (
        replace(loop, **{key: side(*place) for key, place in loop.sides.items()}) for loop in description.constraints
    )
    home = dict(description.home)
    if description.floating:
        home["base"] = carried(home.get("base", (0, 0, 0, 0, 0, 0, 1)), at)
    return replace(
        description,
        joints=tuple(joints),
        constraints=tuple(loops),
        frames={name: side(*frame) for name, frame in description.frames.items()},
        gravity=tuple((at.rotation @ description.gravity).tolist()),
        home=home,
    )


def carried(pose, at: Placement) -> tuple[float, ...]:
    """A pose x, y, z and a quaternion, moved along."""
    own = at @ Placement(rotation_from_quaternion(*pose[3:]), np.array(pose[:3]))
    return (*own.translation.tolist(), *quaternion_from_rotation(own.rotation))


def scaled(description: Description, by: float) -> Description:
    """All lengths times ``by``, and gravity, so that it moves in the same time."""

    def longer(placement: Placement) -> Placement:
        return Placement(placement.rotation, by * placement.translation)

    def heavy(own: LinkInertia | None) -> LinkInertia | None:
        return own and LinkInertia(own.mass, by * own.center, by * by * own.central)

    def larger(kind):
        return replace(kind, radius=by * kind.reach) if kind.reach else kind

    home = {}
    for name, joint in description.all_joints().items():
        if name in description.home:
            shifts = [unit == "m" for unit in joint.motion.position_units]
            numbers = np.where(shifts, by, 1.0) * np.atleast_1d(description.home[name])
            home[name] = tuple(numbers.tolist()) if len(numbers) > 1 else float(numbers[0])
    sides = ({key: (x, longer(y)) for key, (x, y) in each.sides.items()} for each in description.constraints)
    return replace(
        description,
        links=tuple(replace(link, inertia=heavy(link.inertia)) for link in description.links),
        joints=tuple(
            replace(joint, origin=longer(joint.origin), pitch=by * joint.pitch) for joint in description.joints
        ),
        constraints=tuple(
            replace(loop, kind=larger(loop.kind), **own)
            for loop, own in zip(description.constraints, sides, strict=True)
        ),
        frames={name: (link, longer(placement)) for name, (link, placement) in description.frames.items()},
        gravity=tuple(by * x for x in description.gravity),
        home=home,
    )
