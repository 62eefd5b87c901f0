"""Rotors, friction, springs and transmissions against Pinocchio and MuJoCo."""

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio
import pytest

import linkwork
from linkwork.io.mjcf import read_mjcf
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement
from support.driven_robots import coupled, rubbing
from support.evaluate import assert_close
from support.random_robots import Recipe, random_state

RECIPES = [
    Recipe(seed=11, joints=6, branches=True, relations=("skew", "right angle")),
    Recipe(seed=12, joints=5, relations=("coordinate", "parallel"), fixed=True),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_transmissions_in_pinocchio(recipe, tmp_path):
    """Its inertia matrix with armature, plus T^T Ia T; its forces, plus T^T (Ia T a + f(T v)), by NumPy alone."""
    plain = rubbing(recipe, ())
    plain = replace(plain, joints=tuple(replace(j, kind="revolute" if j.kind == "continuous" else j.kind)
                                        for j in plain.joints))  # fmt: skip
    description = coupled(plain)
    bare = linkwork.load(plain)
    bare.write(tmp_path / "robot.urdf")
    model = pinocchio.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    model.gravity.linear = np.array(list(bare.model.gravity))
    order = [model.joints[model.getJointId(name)].idx_v for name in bare.joint_names]
    rotors = np.linspace(0.2, 0.9, bare.nv)
    joints = dict(zip(bare.joint_names, rotors.tolist()))
    description = replace(
        description, joints=tuple(replace(j, rotor_inertia=joints.get(j.name, 0.0)) for j in description.joints)
    )
    robot = linkwork.load(description)
    model.armature[order] = rotors
    data = model.createData()

    names = list(robot.joint_names)
    q, v, a = random_state(robot.model, 5)
    at = [x[np.argsort(order)] for x in (q, v, a)]
    M = pinocchio.crba(model, data, at[0])
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
    tau = pinocchio.rnea(model, data, *at)[order]
    for each in description.transmissions:
        T = np.zeros((len(each.motors), robot.nv))
        T[:, [names.index(name) for name in each.joints]] = each.matrix
        Ia = np.diag([motor.rotor_inertia for motor in each.motors])
        rates = T @ v
        friction = [_friction(motor, rate) for motor, rate in zip(each.motors, rates)]
        M, tau = M + T.T @ Ia @ T, tau + T.T @ (Ia @ T @ a + friction)
    assert_close(robot.inertia_matrix(q), M)
    assert_close(robot.inverse_dynamics(q, v, a), tau)
    assert_close(robot.forward_dynamics(q, v, tau), a, tolerance=1e-11)


def _friction(motor, v):
    """Written out."""
    force = motor.coulomb * np.sign(v) + motor.viscous * v
    for law in motor.friction:
        if law.name == "offset":
            force += law.offset
        elif law.name == "asymmetric":
            force += law.coulomb_forward + law.viscous_forward * v if v > 0 else (
                law.viscous_backward * v - law.coulomb_backward)  # fmt: skip
        else:
            force += law.excess * np.sign(v) / (1 + (v / law.velocity) ** 2)
    return force


WRIST = """<mujoco><option gravity="1 2 -9"/><worldbody><body>
    <joint name="a" axis="0 1 0" armature=".3" damping=".4" frictionloss=".5" stiffness="6" springref="20"/>
    <geom type="box" size=".1 .2 .3" pos=".2 0 .1"/>
    <body pos=".3 0 0"><joint name="b" axis="1 0 0" damping=".1"/><geom type="box" size=".1 .2 .1"/>
    <body pos=".3 0 0"><joint name="c" axis="0 0 1" armature=".2"/><geom type="box" size=".1 .3 .2"/></body>
    </body></body></worldbody>
    <tendon>
      <fixed name="motor1" armature=".7" damping=".8" frictionloss=".9">
        <joint joint="b" coef="2"/><joint joint="c" coef="-.5"/></fixed>
      <fixed armature=".3" damping=".2"><joint joint="a" coef=".3"/><joint joint="c" coef="1.5"/></fixed>
    </tendon></mujoco>"""


def test_tendons_over_several_joints_are_motors_in_mujoco():
    """MuJoCo gives Coulomb friction to its solver, so that is added by hand."""
    robot = linkwork.load(read_mjcf(WRIST))
    assert [each.name for each in robot.model.transmissions] == ["motor1", "tendon2"]
    theirs = mujoco.MjModel.from_xml_string(WRIST)
    theirs.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, mass = mujoco.MjData(theirs), np.zeros((3, 3))
    rotor = np.array([0, 2, -0.5])
    for q, v, a in np.random.default_rng(3).normal(size=(4, 3, 3)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(theirs, data)
        friction = 0.5 * np.sign([v[0], 0, 0]) + 0.9 * np.sign(rotor @ v) * rotor
        assert_close(robot.inverse_dynamics(q, v, a), data.qfrc_inverse + friction)
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, mass)
        assert_close(robot.inertia_matrix(q), mass)


BALLS = """<mujoco><option gravity="1 2 -9"/><compiler angle="radian"/><worldbody><body>
    <joint type="ball" armature=".3" damping=".4" stiffness="6"/>
    <inertial mass="2" pos=".1 .2 .3" diaginertia=".3 .2 .4"/>
    <body pos=".3 0 0"><joint type="slide" axis="0 0 1" damping=".1" stiffness="3" springref=".2"/>
    <joint axis="0 0 1" damping=".1" stiffness="3" springref=".2"/>
    <inertial mass="1" pos=".1 0 .2" diaginertia=".1 .2 .15"/></body></body></worldbody></mujoco>"""


def test_springs_of_joints_with_several_freedoms_in_mujoco():
    """A ball and a cylindrical joint, the same in numbers of linkwork."""

    def link(name, mass, center, moments):
        return Link(name, LinkInertia(mass, np.array(center), np.diag(moments)))

    description = Description(
        "balls",
        (
            Link("world"),
            link("a", 2.0, [0.1, 0.2, 0.3], [0.3, 0.2, 0.4]),
            link("b", 1.0, [0.1, 0, 0.2], [0.1, 0.2, 0.15]),
        ),
        (
            JointDescription("ball", "spherical", "world", "a", rotor_inertia=0.3, viscous=0.4, stiffness=6.0),
            JointDescription("screw", "cylindrical", "a", "b", Placement(translation=np.array([0.3, 0, 0])),
                             viscous=0.1, stiffness=3.0, rest=0.2),
        ),
        gravity=(1, 2, -9),
    )  # fmt: skip
    robot = linkwork.load(description)
    theirs = mujoco.MjModel.from_xml_string(BALLS)
    data = mujoco.MjData(theirs)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        turn, slide, v, a = rng.normal(size=4), rng.normal(size=2), rng.normal(size=5), rng.normal(size=5)
        turn /= np.linalg.norm(turn)
        data.qpos[:] = [turn[3], *turn[:3], *slide]
        data.qvel[:], data.qacc[:] = v, a
        mujoco.mj_inverse(theirs, data)
        q = np.concatenate([turn, slide])
        assert_close(robot.inverse_dynamics(q, v, a), data.qfrc_inverse)
        mujoco.mj_energyPos(theirs, data)
        energy = robot.potential_energy(q) - robot.potential_energy([0, 0, 0, 1, 0.2, 0.2])
        data.qpos[:] = [1, 0, 0, 0, 0.2, 0.2]
        there = data.energy[0]
        mujoco.mj_kinematics(theirs, data)
        mujoco.mj_comPos(theirs, data)
        mujoco.mj_energyPos(theirs, data)
        assert_close(energy, there - data.energy[0])
