"""Models in MJCF, read by linkwork and by MuJoCo: the same poses, torques, inertia matrices and accelerations.

MuJoCo gives equalities to its solver, so its constraints are switched off, and coupled joints are compared through the
matrix that couples them. Balls and free bodies are in test_mjcf_free_bodies.py.
"""

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.io.mjcf import read_mjcf
from support.evaluate import assert_close, evaluate
from support.mujoco_file import assert_same_dynamics
from support.random_robots import random_state

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


@pytest.mark.parametrize("name", MODELS)
def test_dynamics(name):
    robot = linkwork.load(read_mjcf(MODELS[name]))
    for seed in (1, 2):
        assert_same_dynamics(robot, MODELS[name], *random_state(robot.model, seed))


@pytest.mark.parametrize("name", MODELS)
def test_dynamics_survive_the_way_through_urdf(name, tmp_path):
    linkwork.load(read_mjcf(MODELS[name])).write(tmp_path / "robot.urdf")
    robot = linkwork.load(tmp_path / "robot.urdf")
    assert_same_dynamics(robot, MODELS[name], *random_state(robot.model, 1))


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
