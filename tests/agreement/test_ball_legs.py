"""Parallel robots whose legs have universal and ball joints in the tree, not only as cuts.

They are a bundled robot described in another way, so they must move as it does; and Pinocchio's tree with the loops as
multipliers says the same.
"""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.model import WELD, Description, JointDescription, Link, LinkInertia
from linkwork.model.rotations import quaternion_from_rotation
from support.evaluate import assert_close, evaluate
from support.kkt import Reference


def stewart() -> Description:
    """The Gough-Stewart platform with crosses of no mass, which a universal joint does not have."""
    robot = linkwork.io.read("gough-stewart")
    links = tuple(Link(link.name) if link.name.endswith("cross") else link for link in robot.links)
    return replace(robot, links=links)


def with_balls(robot: Description, mass: float) -> Description:
    """Each cut ball joint as one of the tree: the rod carries a ball, which is welded to the platform."""
    at_home = linkwork.load(robot)
    links, joints, loops, home = [*robot.links], [*robot.joints], [], dict(robot.home)
    for loop in robot.constraints:
        (rod, tip), (platform, hold) = loop.first, loop.second
        name = f"{loop.name}_ball"
        links.append(Link(name, LinkInertia(mass, np.array([0.01, 0.02, -0.01]), 1e-3 * np.eye(3)) if mass else None))
        joints.append(JointDescription(name, "spherical", rod, name, tip, role="passive"))
        here, there = (at_home.pose(link, at_home.home)[:3, :3] for link in (rod, platform))
        home[name] = tuple(quaternion_from_rotation((here @ tip.rotation).T @ there @ hold.rotation))
        loops.append(replace(loop, kind=WELD, first=(name, type(tip)())))
    return replace(robot, links=tuple(links), joints=tuple(joints), constraints=tuple(loops), home=home)


def with_universals(robot: Description) -> Description:
    """Swing and tilt of each leg as one universal joint; both axes in the cylinder's frame at zero."""
    joints, home = [], dict(robot.home)
    tilts = {joint.parent: joint for joint in robot.joints if joint.name.endswith("tilt")}
    for joint in robot.joints:
        if joint.child in tilts:
            tilt = tilts[joint.child]
            axes = {"axis": tilt.origin.rotation.T @ joint.axis, "second_axis": tilt.axis}
            name, origin = joint.name.replace("swing", "cross"), joint.origin @ tilt.origin
            friction = {"role": "passive", "viscous": joint.viscous}
            joints.append(JointDescription(name, "universal", joint.parent, tilt.child, origin, **axes, **friction))
            home[name] = home.pop(joint.name), home.pop(tilt.name)
        elif joint.parent not in tilts:
            joints.append(joint)
    links = tuple(link for link in robot.links if link.name not in tilts)
    return replace(robot, links=links, joints=tuple(joints), home=home)


def near(robot: linkwork.Robot, rng: np.random.Generator) -> np.ndarray:
    """A position of the platform that is not home."""
    return robot.home[:7] + rng.uniform(-0.05, 0.05, 7)


VARIANTS = {
    "universals": lambda: with_universals(stewart()),
    "universals and balls": lambda: with_balls(with_universals(stewart()), 0.0),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_they_move_as_the_robot_they_are(name: str):
    one, other = linkwork.load(stewart()), linkwork.load(VARIANTS[name]())
    assert other.motor_names == one.motor_names and other.nv == 6
    rng = np.random.default_rng(1)
    pose = near(one, rng)
    v, a, tau = rng.uniform(-1, 1, (3, 6))
    states = [robot.assemble(pose).require() for robot in (one, other)]
    for quantity, inputs in (
        ("inverse_dynamics", (v, a)),
        ("forward_dynamics", (v, tau)),
        ("bias", (v,)),
        ("inertia_matrix", ()),
    ):
        expected, found = (evaluate(r.model, quantity, q, *inputs) for r, q in zip((one, other), states))
        assert_close(found, expected, tolerance=1e-9)  # loops are closed to 1e-12


def test_against_multipliers():
    """With balls that have mass, at a position other than home, accelerations of all joints."""
    description = with_balls(with_universals(stewart()), 0.7)
    robot, reference = linkwork.load(description), Reference(description)
    model, rng = robot.model, np.random.default_rng(2)
    assert reference.leading == model.coordinates.positions.joints
    q = robot.assemble(near(robot, rng)).require()
    v = evaluate(model, "joint_velocities", q, rng.uniform(-1, 1, 6))
    assert_close(v, reference.velocity_map(q, model.mobility.independent) @ v[:6], tolerance=1e-9)
    tau = rng.uniform(-5, 5, len(model.mobility.forced))
    forces = np.zeros(len(v))
    forces[list(model.mobility.forced)] = tau
    expected, _ = reference.solve(q, v, accelerations={}, forces=forces, unknown=[])
    a, _ = evaluate(model, "constrained_dynamics", q, v, tau)
    assert_close(a, expected, tolerance=1e-9)
