"""The bundled parallel robots, described in other ways that must come to the same."""

from dataclasses import replace

import numpy as np

import linkwork
from linkwork.constraints.legs import LegSolver
from linkwork.model import (
    CUT_JOINTS,
    ConstraintDescription,
    Description,
    JointDescription,
    Link,
    LinkInertia,
    Placement,
)

NAMES = ("gough-stewart", "delta", "3rpr")
TURNED = Placement(np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0], [0.48, 0.64, 0.6]]), np.array([0.1, -0.2, 0.05]))
TERMS = ("rotor_inertia", "coulomb", "viscous", "stiffness", "rest")
OFFSETS = np.array([[0.02, -0.01, 0.015], [0.01, 0.03, -0.02], [-0.02, 0.01, 0.03]])
LOADED = ("on_platform", "on_leg")  # frames for wrenches


def described(name: str) -> Description:
    """With frames to load, and every joint that is not the platform's own with friction, spring and rotor."""
    description = linkwork.io.read(name)
    rng = np.random.default_rng(1)
    own = set(description.independent)
    joints = tuple(
        joint if joint.name in own else replace(joint, **dict(zip(TERMS, rng.uniform(0.5, 3, len(TERMS)))))
        for joint in description.joints
    )
    last = description.constraints[1].first[0]
    frames = {**description.frames, "on_platform": ("platform", TURNED), "on_leg": (last, TURNED)}
    return replace(description, joints=joints, frames=frames)


def with_joints_for_balls(description: Description, count: int) -> Description:
    """Each ball joint made of three revolute joints of the leg and a weld, of two and a revolute joint, or of one and a
    universal joint; their axes do not meet."""
    robot = linkwork.load(description)
    links, joints, loops, home = [*description.links], [*description.joints], [], dict(description.home)
    for loop in description.constraints:
        link, tip = loop.first
        angles = _ball_angles(robot, loop)
        for k in range(count):
            name = f"{loop.name}_ball{k}"
            links.append(
                Link(name, LinkInertia(0.2 + 0.1 * k, np.array([0.02, -0.01, 0.03]), np.diag([4e-4, 5e-4, 6e-4])))
            )
            joints.append(
                JointDescription(name, "revolute", link, name, tip, np.eye(3)[k], role="passive", viscous=0.1)
            )
            home[name] = angles[k]
            link, tip = name, Placement(translation=OFFSETS[k])
        loops.append(replace(loop, kind=CUT_JOINTS[("universal", "revolute", "weld")[count - 1]], first=(link, tip)))
    return replace(description, links=tuple(links), joints=tuple(joints), constraints=tuple(loops), home=home)


def universals(description: Description) -> Description:
    """The first two joints of each leg, which meet at right angles, as one."""
    inner = {joint.child: joint for joint in description.joints}
    joints, links, home = [], [*description.links], dict(description.home)
    for joint in description.joints:
        before = inner.get(joint.parent)
        if before and before.kind == joint.kind == "continuous" and before.parent == description.root:
            axis = joint.origin.rotation.T @ before.axis
            assert not joint.origin.translation.any() and abs(axis @ joint.axis) < 1e-15
            origin = before.origin @ Placement(joint.origin.rotation)
            merged = replace(joint, kind="universal", parent=before.parent, origin=origin, axis=axis)
            joints = [each for each in joints if each is not before]
            joints.append(replace(merged, second_axis=joint.axis))
            links = [link for link in links if link.name != before.child]
            home[joint.name] = (home.pop(before.name, 0.0), home.get(joint.name, 0.0))
        else:
            joints.append(joint)
    return replace(description, links=tuple(links), joints=tuple(joints), home=home)


def with_a_plate(description: Description) -> Description:
    """One more leg of a planar robot: a body that slides and turns in the plane, welded to the platform."""
    robot = linkwork.load(description)
    at = robot.pose("platform", robot.home)
    plate = Link("plate", LinkInertia(0.7, np.array([0.1, -0.2, 0.05]), np.diag([0.02, 0.03, 0.04])))
    origin = Placement(at[:3, :3], at[:3, 3] - 0.1 * at[:3, 0])
    joint = JointDescription("slides", "planar", description.root, "plate", origin, role="passive")
    tip = Placement(translation=np.array([0.1, 0.0, 0.0]))
    weld = ConstraintDescription("plate", CUT_JOINTS["weld"], ("plate", tip), ("platform", Placement()))
    links, joints = (*description.links, plate), (*description.joints, joint)
    return replace(description, links=links, joints=joints, constraints=(*description.constraints, weld))


def on_first_leg(description: Description) -> Description:
    """The same mechanism with the platform as the end of the first leg, and the motors as independent joints."""
    robot = linkwork.load(description)
    own = set(description.independent)
    first, *loops = description.constraints
    link, tip = first.first
    joints = [joint for joint in description.joints if joint.name not in own]
    links, home = [*description.links], {name: x for name, x in description.home.items() if name not in own}
    if description.name == "delta":  # the coordinates of the platform are left to say that it does not turn
        joints += [replace(joint, child="carrier") if joint.child == "platform" else joint
                   for joint in description.joints if joint.name in own]  # fmt: skip
        links.append(Link("carrier"))
        loops.append(
            ConstraintDescription("level", CUT_JOINTS["weld"], ("carrier", Placement()), ("platform", Placement()))
        )
        home |= {name: x for name, x in description.home.items() if name in own}
    else:
        chain = {joint.child for joint in description.joints if joint.name in own} - {"platform"}
        links = [each for each in links if each.name not in chain]
    axes = (2,) if first.kind.name == "revolute" else (0, 1, 2)
    for k, angle in zip(axes, _ball_angles(robot, first)[-len(axes) :], strict=True):
        name = f"ball{k}"
        links.append(Link(name))
        joints.append(JointDescription(name, "revolute", link, name, tip, np.eye(3)[k], role="passive"))
        home[name] = angle
        link, tip = name, Placement()
    joints.append(JointDescription("bolt", "fixed", link, "platform", first.second[1].inverse()))
    motors = robot.motor_names
    return replace(
        description, links=tuple(links), joints=tuple(joints), constraints=tuple(loops), home=home, independent=motors
    )


def _ball_angles(robot: linkwork.Robot, loop: ConstraintDescription) -> list[float]:
    """About x, then y, then z, from the tip of a leg to the platform, at home."""
    tip, hold = (robot.pose(link, robot.home)[:3, :3] @ at.rotation for link, at in (loop.first, loop.second))
    R = tip.T @ hold
    return [np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])]


def states(robot: linkwork.Robot, count: int, seed: int = 0, stride: float = 0.1):
    """Closed positions around home, velocities and accelerations of the platform."""
    rng, model = np.random.default_rng(seed), robot.model
    steps = np.zeros((count, model.coordinates.nv))
    steps[:, model.mobility.independent] = rng.uniform(-stride, stride, (count, robot.nv))
    q = np.array([model.moved(robot.home, step) for step in steps.tolist()])
    solver = LegSolver.of(model)
    q = solver(q) if solver else robot.assemble(q[:, platform_places(robot)]).require()
    return q, *rng.uniform(-1, 1, (2, count, robot.nv))


def platform_places(robot: linkwork.Robot) -> list[int]:
    """Where the platform's coordinates stand in q."""
    return list(range(7)) if robot.model.coordinates.joints[0].kind.free else list(robot.model.mobility.independent)
