"""Tendons of MJCF files against MuJoCo: springs over several joints and between places, equalities of three joints and
more, actuators that pull at tendons.

MuJoCo's equalities are soft, so these are compared with its inertia matrix, forces and Jacobian of the equality, solved
together (KKT). It gives Coulomb friction to the same solver, so friction is added by hand.
"""

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.io.mjcf import read_mjcf
from linkwork.scalar import sign
from support.evaluate import assert_close, evaluate
from support.mujoco_file import MujocoFile, assert_same_dynamics
from support.random_robots import random_state

INERTIAL = '<inertial pos=".02 -.03 .05" mass="%s" fullinertia=".03 .04 .05 .004 -.003 .002"/>'


def hand(root: str = "", tendons: str = "", more: str = "") -> str:
    """Two fingers on a palm, with full inertias; the joints are not in the order of their bodies in any tendon."""
    return f"""<mujoco><option gravity="1 2 -9"/><compiler angle="radian"/><worldbody>
      <site name="wall" pos=".5 -.4 .9"/><site pos="-.6 .2 1.1"/>
      <body name="palm" pos=".1 .2 .8" euler=".3 -.2 .5">{root}{INERTIAL % 2}
        <site name="wrist" pos=".05 .02 -.1"/>
        <body name="a1" pos=".1 .05 .1" euler=".2 .1 -.3">
          <joint name="a1" axis="1 .2 .1" ref=".3" damping=".1" stiffness="2" springref=".2"/>{INERTIAL % 0.7}
          <site name="a1" pos=".02 .03 .04"/>
          <body name="a2" pos=".02 .01 .12"><joint name="a2" type="slide" axis="0 1 .3" ref="-.1" armature=".2"/>
            {INERTIAL % 0.4}<site name="tip" pos=".01 .02 .1"/>
            <body name="a3" pos="0 .02 .1"><joint name="a3" axis=".1 1 0"/>{INERTIAL % 0.3}</body></body></body>
        <body name="b1" pos="-.1 .02 .1" euler="-.4 .1 .2"><joint name="b1" axis="0 1 .2" ref=".1"/>{INERTIAL % 0.6}
          <body name="b2" pos=".03 0 .15"><joint name="b2" axis="1 0 .1" pos=".01 .02 0"/>{INERTIAL % 0.2}
            <site name="b" pos=".03 -.02 .08"/></body></body>
      </body></worldbody><tendon>{tendons}</tendon>{more}</mujoco>"""


FREE = '<freejoint name="root"/>'
SHOULDER = '<joint name="shoulder" axis="0 .3 1" damping=".2"/>'
OVER = """<joint joint="b1" coef="1.5"/><joint joint="a2" coef="-.7"/><joint joint="a1" coef=".4"/>"""
FIXED = f"""
  <fixed name="plain" stiffness="30" damping="2">{OVER}</fixed>
  <fixed stiffness="12" springlength="-.3"><joint joint="a3" coef="2"/><joint joint="b2" coef="-1"/></fixed>
  <fixed name="dead band" stiffness="25" damping="1" armature=".3" springlength="-.4 .5">
    <joint joint="a1" coef=".8"/><joint joint="a3" coef="-1.2"/></fixed>
  <fixed name="one" stiffness="40" springlength="-.2 .3"><joint joint="b2" coef="-3"/></fixed>
  <fixed name="heavy" armature=".5"><joint joint="a2" coef="2"/><joint joint="a3" coef=".3"/></fixed>"""
SPATIAL = """
  <spatial name="straight" stiffness="300" damping="4"><site site="tip"/><site site="b"/></spatial>
  <spatial name="bent" stiffness="150" damping="2" springlength=".1">
    <site site="wrist"/><site site="a1"/><site site="tip"/><site site="b"/></spatial>
  <spatial name="rope" stiffness="200" springlength="0 .25"><site site="a1"/><site site="b"/></spatial>
  <spatial name="pulley" stiffness="120" damping="3" springlength=".3">
    <site site="wrist"/><site site="a1"/><pulley divisor="2"/><site site="a1"/><site site="tip"/>
    <pulley divisor="3"/><site site="a1"/><site site="b"/></spatial>"""
WALL = (
    SPATIAL
    + """<spatial name="tether" stiffness="90" damping="1">
    <site site="wall"/><site site="tip"/><site site="wrist"/></spatial>"""
)
MODELS = {
    "fixed": hand(SHOULDER, FIXED),
    "fixed, floating": hand(FREE, FIXED),
    "spatial": hand(SHOULDER, WALL),
    "spatial, floating": hand(FREE, SPATIAL),
    "spatial, to the world": hand(FREE, WALL),
    "both": hand(SHOULDER, FIXED + WALL),
    "no springs": hand(SHOULDER, FIXED + WALL).replace("<option", '<option><flag spring="disable"/></option><option'),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_dynamics(name):
    robot = linkwork.load(read_mjcf(MODELS[name]))
    assert robot.model.base == ("floating" if name.endswith(", floating") else "fixed")
    for seed in range(4):
        assert_same_dynamics(robot, MODELS[name], *random_state(robot.model, seed))


@pytest.mark.parametrize("name", ["fixed", "spatial"])
def test_the_same_energy_of_springs(name):
    """As MuJoCo's energy with the springs of tendons, less that without."""
    robot, bare = linkwork.load(read_mjcf(MODELS[name])), linkwork.load(read_mjcf(hand(SHOULDER)))
    theirs = MujocoFile(MODELS[name].replace("<option", '<option><flag energy="enable"/></option><option'))
    stiffness = theirs.model.tendon_stiffness.copy()
    for seed in range(3):
        q, v, a = random_state(robot.model, seed)
        theirs.state(q, v, a)
        energies = []
        for share in (1, 0):
            theirs.model.tendon_stiffness[:] = share * stiffness
            mujoco.mj_forward(theirs.model, theirs.data)
            energies.append(theirs.data.energy[0])
        springs = evaluate(robot.model, "potential_energy", q) - evaluate(bare.model, "potential_energy", q)
        assert_close(springs, energies[0] - energies[1], scale=abs(energies[0]))


def test_friction_of_a_tendon_with_a_spring():
    tendon = f'<fixed name="t" stiffness="3" frictionloss=".6">{OVER}</fixed>'
    texts = (tendon, tendon.replace('frictionloss=".6"', ""))
    robot, bare = (linkwork.load(read_mjcf(hand(SHOULDER, text))) for text in texts)
    q, v, a = random_state(robot.model, 1)
    row = robot.model.transmissions[0]
    c = np.array([dict(zip(row.joints, row.matrix[0])).get(joint, 0.0) for joint in robot.joint_names])
    assert_close(
        evaluate(robot.model, "inverse_dynamics", q, v, a) - evaluate(bare.model, "inverse_dynamics", q, v, a),
        0.6 * sign(float(c @ v)) * c,
    )


def test_armature_across_branches_couples_them():
    """MuJoCo's inertia matrix has no entries there, and leaves this out."""
    tendon = '<fixed armature=".5"><joint joint="a2" coef="2"/><joint joint="b2" coef=".3"/></fixed>'
    robot, bare = (linkwork.load(read_mjcf(hand(SHOULDER, text))) for text in (tendon, ""))
    q, _, _ = random_state(robot.model, 1)
    c = np.array([0, 0, 2, 0, 0, 0.3])
    assert_close(robot.inertia_matrix(q), bare.inertia_matrix(q) + 0.5 * np.outer(c, c))


# Equalities


SUMS = f"""<fixed name="s">{OVER}<joint joint="a3" coef=".9"/></fixed>
  <fixed name="t"><joint joint="a3" coef="1.1"/><joint joint="b2" coef="-.5"/><joint joint="b1" coef=".4"/></fixed>
  <fixed name="spring" stiffness="20" damping="1" armature=".2"><joint joint="a3" coef="1"/><joint joint="a1" coef="2"/>
  </fixed>"""
EQUALITIES = {  # and the joints without motors
    "one tendon": ('<tendon name="e" tendon1="s" polycoef=".2 0 0 0 0"/>', ("a2",)),
    "two tendons": ('<tendon tendon1="s" tendon2="t" polycoef="-.1 .6 0 0 0"/>', ("a2",)),
    "two equalities": ('<tendon tendon1="s"/><tendon tendon1="t" polycoef=".1 0 0 0 0"/>', ("a2", "b2")),
    "one follows": ('<tendon tendon1="s"/><joint joint1="a1" joint2="a3" polycoef="0 2 0 0 0"/>', ("a1", "b1")),
    "few motors": ('<tendon tendon1="s"/>', ("a1", "a2", "b1", "b2")),
}


@pytest.mark.parametrize("root", [SHOULDER, FREE], ids=["shoulder", "floating"])
@pytest.mark.parametrize("name", EQUALITIES)
def test_equalities_of_several_joints_are_gears(name, root):
    """Where linkwork closes them MuJoCo's equalities hold, and accelerations under forces are those of MuJoCo's M, bias
    and equality Jacobian solved together."""
    equality, passive = EQUALITIES[name]
    motors = "".join(f'<motor joint="{joint}"/>' for joint in ("a1", "a2", "a3", "b1", "b2") if joint not in passive)
    text = hand(root, SUMS, f"<equality>{equality}</equality><actuator>{motors}</actuator>")
    robot = linkwork.load(read_mjcf(text))
    model, theirs = robot.model, MujocoFile(text)
    theirs.model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_ACTUATION
    theirs.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data, n, rng = theirs.data, theirs.model.nv, np.random.default_rng(5)
    for _ in range(3):
        turn = rng.normal(size=4)
        base = {"base": [*rng.normal(size=3), *turn / np.linalg.norm(turn)]} if model.moving_base else {}
        q = robot.assemble({joint: 0.4 * rng.normal() for joint in robot.joint_names} | base).q
        v, tau = rng.normal(size=model.nv), rng.normal(size=len(model.mobility.forced))
        a = evaluate(model, "joint_accelerations", q, v, evaluate(model, "forward_dynamics", q, v, tau))
        rates = model.expand_rates(evaluate(model, "joint_velocities", q, v))
        every, moving, found = (np.array(x) for x in (model.expand(q), rates, model.expand_rates(a)))
        T, drift = theirs.state(every, moving, np.zeros(n))
        mujoco.mj_forward(theirs.model, data)
        J = data.efc_J.reshape(-1, n)[: data.ne] @ T
        assert data.ne == equality.count("<") and np.abs(data.efc_pos[: data.ne]).max() < 1e-12
        applied, mass = np.zeros(n), np.zeros((n, n))
        names = model.tree.velocity_names
        for k, force in zip(model.mobility.forced, tau):
            applied[names.index(model.coordinates.velocity_names[k])] = force
        mujoco.mj_fullM(theirs.model, data, mass)
        mass = T.T @ mass @ T
        rest = applied + T.T @ (data.qfrc_passive - data.qfrc_bias) - mass @ drift
        system = np.block([[mass, J.T], [J, np.zeros((len(J), len(J)))]])
        expected = np.linalg.solve(system, [*rest, *np.zeros(len(J))])[:n]
        assert_close(mass @ found, mass @ expected, tolerance=1e-12)


# Actuators


def test_an_actuator_of_a_tendon_over_one_joint_drives_it():
    """Also where the tendon's others follow."""
    finger = '<fixed name="t"><joint joint="a1" coef=".5"/><joint joint="b1" coef="-2"/></fixed>'
    motor = '<actuator><motor name="m" tendon="t" gear="3" ctrlrange="-2 4" armature=".2" damping=".7"/></actuator>'
    follow = '<equality><joint joint1="b1" joint2="a1" polycoef="0 .5 0 0 0"/></equality>'
    robot = linkwork.load(read_mjcf(hand(SHOULDER, finger, follow + motor)))
    bare = linkwork.load(read_mjcf(hand(SHOULDER, "", follow)))
    assert not robot.model.transmissions and "m" not in robot.drive_names
    ratio = 3 * (0.5 - 2 * 0.5)
    (driven,) = (joint for joint in robot.coordinates.joints if joint.name == "a1")
    assert driven.effort_limit == 4 * abs(ratio)
    q, v, a = random_state(robot.model, 2)
    more = np.zeros(robot.nv)
    more[1] = ratio**2 * (0.2 * a[1] + 0.7 * v[1])
    assert_close(robot.inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a) + more)


def test_an_actuator_of_a_tendon_over_several_joints_is_a_motor():
    """With the armature and damping that MuJoCo gives it, and its force spread as MuJoCo does."""
    finger = '<fixed name="t" stiffness="5"><joint joint="a3" coef="1.5"/><joint joint="a1" coef="-.7"/></fixed>'
    motor = '<actuator><motor name="m" tendon="t" gear="3" forcerange="-2 4" armature=".2" damping=".7"/></actuator>'
    text = hand(SHOULDER, finger, motor)
    robot = linkwork.load(read_mjcf(text))
    assert_same_dynamics(robot, text, *random_state(robot.model, 3))
    still = text.replace("<option", '<option><flag damper="disable"/></option><option')
    assert_same_dynamics(linkwork.load(read_mjcf(still)), still, *random_state(robot.model, 3))
    assert robot.drive_names == ("shoulder", "m", "a2", "b1", "b2")
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    data.ctrl[:] = 1.5
    mujoco.mj_forward(theirs, data)
    assert_close(robot.transmission.T @ [0, 1.5, 0, 0, 0], data.qfrc_actuator)
    limits = {joint.name: joint.effort_limit for joint in robot.coordinates.joints}
    assert limits["a3"] == 4 * 3 * 1.5 and limits["b1"] == np.inf


def test_a_passive_tendon_leaves_the_joints_their_motors():
    robot = linkwork.load(read_mjcf(MODELS["fixed"]))
    assert robot.drive_names == robot.joint_names and (robot.transmission == np.eye(robot.nv)).all()
