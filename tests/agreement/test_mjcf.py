"""Models in MJCF, read by linkwork and by MuJoCo: the same poses, torques, inertia matrices and accelerations.

MuJoCo gives Coulomb friction and equalities to its solver, so its constraints are switched off: friction is added here,
and coupled joints are compared through the matrix that couples them.
"""

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.io.mjcf import read_mjcf
from support.evaluate import assert_close, evaluate, rotation_of
from support.random_robots import random_state

SHIPPED = Path(mujoco.__file__).parent / "testdata" / "model.xml"

MODELS = {
    "every_joint_term": """<mujoco model="terms"><option gravity="1 2 -9"/>
    <default><geom density="900"/></default>
    <worldbody>
      <geom type="plane" size="1 1 1"/><site name="origin" pos="1 0 0"/>
      <body name="base" pos="0.1 0.2 0.3" euler="10 20 30"><geom type="box" size=".1 .2 .1"/>
        <body name="upper" pos="0 0 .3" quat=".5 .1 -.7 .2">
          <joint name="shoulder" axis="1 2 3" pos=".1 -.2 .05" ref="40" range="-170 170" armature=".3" damping="1.5"
                 frictionloss=".7" stiffness="20" springref="25"/>
          <geom type="capsule" size=".05" fromto="0 0 0 .3 .1 .2"/><geom type="sphere" size=".1" pos=".3 .1 .2"/>
          <site name="upper" pos=".1 .1 .1" euler="0 90 20"/>
          <body name="slider" pos=".3 .1 .2" axisangle="1 1 0 70">
            <joint name="slide" type="slide" axis="0 1 1" pos=".3 .3 .3" ref=".2" armature=".1" damping="2"
                   stiffness="30" springref="-.1" frictionloss=".2"/>
            <inertial pos=".01 .02 .03" mass="1.5" fullinertia=".02 .03 .04 .001 -.002 .003"/>
            <body name="bracket" pos=".1 0 0" xyaxes="0 1 0 -1 0 0"><geom type="cylinder" size=".04 .1" mass=".6"/>
              <body name="tip"><joint name="twist" axis="0 0 1" pos="0 0 .4"/><geom type="box" size=".1 .02 .03"/>
                <site name="tool" pos="0 0 .1" zaxis="1 1 1"/></body>
            </body>
          </body>
        </body>
      </body>
    </worldbody></mujoco>""",
    "several_joints_in_one_body": """<mujoco><compiler angle="radian" eulerseq="zyx"/>
    <worldbody>
      <body pos="0 .1 .2" euler=".1 .2 .3">
        <joint type="slide" axis="1 0 0" ref=".3"/>
        <joint name="yaw" axis="0 0 1" pos=".1 .2 .3" ref=".4"/>
        <joint name="pitch" axis="0 1 0" pos=".1 .2 .3" ref="-.5" damping=".1"/>
        <joint name="lift" type="slide" axis="1 1 1" ref="-.2" armature="2"/>
        <joint name="roll" axis="1 .2 0" pos="0 0 .1"/>
        <geom type="ellipsoid" size=".1 .2 .3" pos=".1 .1 0"/>
        <body pos=".2 0 0"><joint/><joint axis="1 0 0"/><geom type="box" size=".1 .2 .3" pos="0 .3 .1"/></body>
        <body name="loose" pos=".2 0 0"><geom size=".1"/></body>
      </body>
      <body name="second" pos="1 0 0"><joint name="other" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
    </worldbody></mujoco>""",
    "floating": """<mujoco><option gravity="0 1 -9.8"/>
    <worldbody>
      <geom type="plane" size="1 1 1"/>
      <body name="trunk" pos="0 0 1" euler="10 20 30"><freejoint name="root"/><site name="imu" pos=".1 0 0"/>
        <geom type="box" size=".3 .2 .1" pos=".05 .02 .01" euler="5 10 15"/>
        <body name="thigh" pos=".2 .1 0" euler="0 30 0">
          <joint name="hip" axis="1 0 0" pos="0 0 .02"/><joint name="swing" axis="0 1 0" pos="0 0 .02" ref="10"/>
          <geom type="capsule" size=".04" fromto="0 0 0 0 .05 -.3"/>
          <body name="shank" pos="0 .05 -.3"><joint name="knee" axis="0 1 0" damping=".4" armature=".02"/>
            <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3"/></body>
        </body>
        <body name="tail" pos="-.3 0 0"><joint name="reach" type="slide" axis="-1 0 .2" stiffness="4"/>
          <geom type="sphere" size=".05"/></body>
      </body>
    </worldbody></mujoco>""",
    "switched_off": """<mujoco><option><flag gravity="disable" frictionloss="disable"/></option>
    <worldbody><body><joint name="j" axis="1 0 0" frictionloss="3" damping="1"/><geom size=".1" pos="0 .2 0"/></body>
    </worldbody></mujoco>""",
}


def shipped() -> str:
    """The walking robot of a model that comes with MuJoCo, without loose objects, its ball joint made a hinge."""
    root = ElementTree.parse(SHIPPED).getroot()
    for tag in ("equality", "tendon", "actuator", "sensor", "keyframe", "custom"):
        root.remove(root.find(tag))  # pyright: ignore[reportArgumentType]
    world = root.find("worldbody")
    assert world is not None
    for body in world.findall("body")[1:]:
        world.remove(body)
    for joint in root.iter("joint"):
        joint.attrib.pop("type", None)
    root.find("option").attrib.clear()  # pyright: ignore[reportOptionalMemberAccess]
    world.find("body").attrib.pop("gravcomp")  # pyright: ignore[reportOptionalMemberAccess]
    return ElementTree.tostring(root, encoding="unicode")


MODELS["shipped_with_mujoco"] = shipped()


class Theirs:
    """MuJoCo's model, spoken to in our coordinates: quaternion x y z w, base velocity in the base's axes."""

    def __init__(self, text: str, robot):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)
        self.base = 6 if robot.model.floating else 0
        # Unnamed joints have names in our model only; both count joints along the bodies, depth first.
        joints = [self.model.joint(j) for j in range(self.model.njnt)][self.base // 6 :]
        assert [ours for ours, joint in zip(robot.joint_names, joints) if joint.name] == [
            j.name for j in joints if j.name
        ]
        assert len(joints) == len(robot.joint_names)

    def state(self, q, v, a) -> np.ndarray:
        """Set it; return the matrix that turns our velocities into theirs."""
        turn, a = np.eye(self.model.nv), a.copy()
        self.data.qpos[:] = q
        if self.base:
            self.data.qpos[3:7] = np.roll(q[3:7] / np.linalg.norm(q[3:7]), 1)
            turn[:3, :3] = rotation_of(q[3:7])
            a[:3] += np.cross(v[3:6], v[:3])  # theirs is the rate of the velocity in world axes
        self.data.qvel[:], self.data.qacc[:] = turn @ v, turn @ a
        return turn


def assert_same_dynamics(robot, text: str, seed: int = 1) -> None:
    model, theirs = robot.model, Theirs(text, robot)
    q, v, a = random_state(model, seed)
    turn = theirs.state(q, v, a)
    mujoco.mj_inverse(theirs.model, theirs.data)
    friction = theirs.model.dof_frictionloss * np.sign(v)
    if 'frictionloss="disable"' in text:
        friction *= 0
    tau = turn.T @ theirs.data.qfrc_inverse + friction
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), tau, tolerance=1e-9)
    mass = np.zeros((theirs.model.nv, theirs.model.nv))
    mujoco.mj_fullM(theirs.model, theirs.data, mass)
    assert_close(evaluate(model, "inertia_matrix", q), turn.T @ mass @ turn, tolerance=1e-9)

    force = np.random.default_rng(seed).normal(size=model.nv)
    theirs.data.qfrc_applied[:] = turn @ (force - friction)
    mujoco.mj_forward(theirs.model, theirs.data)
    acceleration = turn.T @ theirs.data.qacc
    acceleration[:3] -= np.cross(v[3:6], v[:3]) if theirs.base else 0
    assert_close(evaluate(model, "forward_dynamics", q, v, force), acceleration, tolerance=1e-9)

    for kind, count in (("body", theirs.model.nbody), ("site", theirs.model.nsite)):
        for k in range(count):
            named = getattr(theirs.model, kind)(k).name
            frame = f"{named}_site" if kind == "site" and named in robot.model.link_names else named
            if frame and frame in model.frames:
                place = getattr(theirs.data, kind)(k)
                pose = evaluate(model, "pose", q, frame=frame)
                assert_close(pose[:3, :3], place.xmat.reshape(3, 3), tolerance=1e-12)
                assert_close(pose[:3, 3], place.xpos, scale=1.0, tolerance=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_dynamics(name):
    robot = linkwork.load(read_mjcf(MODELS[name]))
    assert_same_dynamics(robot, MODELS[name], seed=1)
    assert_same_dynamics(robot, MODELS[name], seed=2)


@pytest.mark.parametrize("name", MODELS)
def test_dynamics_survive_the_way_through_urdf(name, tmp_path):
    linkwork.load(read_mjcf(MODELS[name])).write(tmp_path / "robot.urdf")
    assert_same_dynamics(linkwork.load(tmp_path / "robot.urdf"), MODELS[name])


COUPLED = """<mujoco><worldbody><body>
    <joint name="a" axis="0 1 0" ref="20"/><geom type="box" size=".1 .2 .3" pos=".2 0 .1"/>
    <body pos=".3 0 0"><joint name="b" axis="1 0 0" ref="-30" damping=".1"/><geom type="box" size=".1 .2 .1"/>
    <body pos=".3 0 0"><joint name="c" axis="0 0 1" ref="10"/><geom type="box" size=".1 .3 .2"/></body></body>
    </body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef=".2 -1.5 0 0 0"/>
    <joint joint1="c" polycoef=".3 0 0 0 0"/></equality></mujoco>"""


def test_joint_equalities_couple_and_hold():
    robot = linkwork.load(read_mjcf(COUPLED))
    assert robot.joint_names == ("a",)
    theirs = mujoco.MjModel.from_xml_string(COUPLED)
    data = mujoco.MjData(theirs)
    coupling = np.array([1, -1.5, 0])
    for q, v, a in np.random.default_rng(3).normal(size=(3, 3)):
        data.qpos[:] = theirs.qpos0 + coupling * (q - theirs.qpos0[0]) + [0, 0.2, 0.3]
        data.qvel[:], data.qacc[:] = coupling * v, coupling * a
        theirs.opt.disableflags = 0
        mujoco.mj_forward(theirs, data)
        assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12  # MuJoCo's own equations hold there
        theirs.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        data.qacc[:] = coupling * a
        mujoco.mj_inverse(theirs, data)
        ours = evaluate(robot.model, "inverse_dynamics", np.array([q]), np.array([v]), np.array([a]))
        assert_close(ours, [coupling @ data.qfrc_inverse], tolerance=1e-9)


TENDONS = """<mujoco><worldbody><body>
    <joint name="a" axis="0 1 0" ref="20"/><geom type="box" size=".1 .2 .3" pos=".2 0 .1"/>
    <body pos=".3 0 0"><joint name="b" axis="1 0 0" ref="-30" damping=".1"/><geom type="box" size=".1 .2 .1"/>
    <body pos=".3 0 0"><joint name="c" axis="0 0 1" ref="10" stiffness="7" springref="25" frictionloss=".3"/>
    <geom type="box" size=".1 .3 .2"/>
    <body pos=".3 0 0"><joint name="d" axis="0 1 1" armature=".2"/><geom type="box" size=".1 .3 .2"/></body>
    </body></body></body></worldbody>
    <tendon>
      <fixed name="ab" stiffness="9" damping="2" frictionloss="3">
        <joint joint="a" coef=".5"/><joint joint="b" coef="2"/></fixed>
      <fixed name="c" stiffness="40" damping="3" springlength=".3" armature=".4" frictionloss=".6">
        <joint joint="c" coef="-1.5"/></fixed>
      <fixed name="c again" stiffness="11"><joint joint="c" coef="2"/></fixed>
      <fixed name="b alone" stiffness="30" damping="4" armature=".7" springlength=".1">
        <joint joint="b" coef="3"/></fixed>
      <fixed name="d" damping="1"><joint joint="d" coef="3"/></fixed>
    </tendon>
    <equality><tendon tendon1="ab" polycoef=".2 0 0 0 0"/></equality></mujoco>"""


def test_fixed_tendons_couple_and_pull():
    """MuJoCo's own equation holds where ours does, and the forces along it are the same, springs and armature too."""
    description = read_mjcf(TENDONS)
    robot = linkwork.load(description)
    assert robot.joint_names == ("a", "c", "d")
    assert any("not for mimic=False" in finding.message for finding in description.findings)
    theirs = mujoco.MjModel.from_xml_string(TENDONS)
    data = mujoco.MjData(theirs)
    coupling = np.array([[1, 0, 0], [-0.25, 0, 0], [0, 1, 0], [0, 0, 1]])
    home = theirs.qpos0
    mass = np.zeros((4, 4))
    for q, v, a in np.random.default_rng(3).normal(size=(3, 3, 3)):
        data.qpos[:] = coupling @ q + [0, 0.1 + home[1] + 0.25 * home[0], 0, 0]
        data.qvel[:], data.qacc[:] = coupling @ v, coupling @ a
        theirs.opt.disableflags = 0
        mujoco.mj_forward(theirs, data)
        assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12
        theirs.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        data.qacc[:] = coupling @ a
        mujoco.mj_inverse(theirs, data)
        friction = np.array([0, (0.3 + 1.5 * 0.6) * np.sign(v[1]), 0])
        assert_close(
            evaluate(robot.model, "inverse_dynamics", q, v, a),
            coupling.T @ data.qfrc_inverse + friction,
            tolerance=1e-12,
        )
        mujoco.mj_fullM(theirs, data, mass)
        assert_close(evaluate(robot.model, "inertia_matrix", q), coupling.T @ mass @ coupling, tolerance=1e-12)
