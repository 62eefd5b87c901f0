"""Random and real robots against MuJoCo, which reads the URDF that linkwork writes.

MuJoCo merges what is fixed to the base unless told not to, orders joints by its own tree, knows neither gravity nor
springs of a URDF, gives Coulomb friction to its solver and not to ``mj_inverse``, and needs room for inertias to be
taken as they are.
"""

import re

import mujoco
import numpy as np
import pytest

import linkwork
from support.evaluate import assert_close, cross_matrix, evaluate, rotation_of
from support.random_robots import RELATIONS, Recipe, describe, random_state

COMPILER = (
    '<mujoco><compiler discardvisual="true" fusestatic="false" balanceinertia="false" boundmass="0" boundinertia="0"/>'
    "</mujoco>"
)
RECIPES = [
    Recipe(seed=1, joints=6, relations=RELATIONS, branches=True, fixed=True),
    Recipe(seed=2, joints=5, relations=("coordinate", "right angle"), branches=True),
    Recipe(seed=3, joints=7, relations=("skew",), fixed=True),
    Recipe(seed=4, joints=6, relations=("parallel", "1e-6", "coaxial"), branches=True, fixed=True),
    Recipe(seed=5, joints=6, relations=RELATIONS, branches=True, fixed=True, floating=True),
    Recipe(seed=6, joints=4, relations=("skew", "right angle"), floating=True),
]
CASES = [linkwork.load(describe(recipe)) for recipe in RECIPES]
CASES += [linkwork.load(name, friction=False, rotors=False) for name in ("panda", "ur5e", "stanford", "quadruped")]


def mujoco_model(robot, path):
    robot.write(path)
    # The floating joint from ``world`` becomes a free body of MuJoCo's own world.
    text = re.sub(
        r'<link name="world" ?/>|<joint name="floating_base".*?</joint>', "", path.read_text(), flags=re.DOTALL
    )
    spec = mujoco.MjSpec.from_string(text.replace("</robot>", COMPILER + "</robot>"))
    if robot.model.moving_base:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    model.opt.gravity = list(robot.model.gravity)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    return model


@pytest.mark.parametrize("robot", CASES, ids=lambda robot: robot.name)
def test_dynamics(robot, tmp_path):
    theirs = mujoco_model(robot, tmp_path / "robot.urdf")
    data, model = mujoco.MjData(theirs), robot.model
    base = 6 if model.moving_base else 0
    joints = [theirs.joint(name) for name in model.joint_names]
    order = [*range(base), *(joint.dofadr[0] for joint in joints)]
    assert sorted(order) == list(range(theirs.nv))

    q, v, a = random_state(model, 1)
    R = np.eye(3)
    if base:  # theirs: quaternion w x y z; linear velocity in world axes, so its rate is R (a + w x v)
        q[3:7] /= np.linalg.norm(q[3:7])
        R = rotation_of(q[3:7])
        data.qpos[:7] = [*q[:3], q[6], *q[3:6]]
    turn = np.eye(theirs.nv)
    if base:
        turn[:3, :3] = R
    acceleration = a.copy()
    acceleration[:3] += np.cross(v[3:6], v[:3]) if base else 0
    data.qvel[order], data.qacc[order] = turn @ v, turn @ acceleration
    for joint, value in zip(joints, q[len(q) - len(joints) :], strict=True):
        data.qpos[joint.qposadr[0]] = value
    mujoco.mj_inverse(theirs, data)
    tau = turn.T @ data.qfrc_inverse[order]
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), tau, tolerance=1e-9)

    mass = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, mass)
    assert_close(evaluate(model, "inertia_matrix", q), turn.T @ mass[np.ix_(order, order)] @ turn, tolerance=1e-9)
    assert_close(evaluate(model, "forward_dynamics", q, v, tau), a, tolerance=1e-9)


# -- derivatives -------------------------------------------------------------------------------------------------------


def test_derivatives_of_inverse_and_forward_dynamics(tmp_path):
    """Theirs are differences, transposed: column by column as they move. One Euler step is linearised as it is."""
    robot = linkwork.load("ur5e", friction=False, rotors=False)
    theirs = mujoco_model(robot, tmp_path / "robot.urdf")
    data, n = mujoco.MjData(theirs), robot.nv
    order = [theirs.joint(name).dofadr[0] for name in robot.joint_names]
    q, v, a = random_state(robot.model, 1)
    data.qpos[order], data.qvel[order], data.qacc[order] = q, v, a
    slopes = [np.zeros((n, n)) for _ in range(3)]
    mujoco.mjd_inverseFD(theirs, data, 1e-6, 1, *slopes, None, None, None, None)
    function = linkwork.compile(robot, "inverse_dynamics", backend="interpreter")
    for own, found in zip(function.derivative()(q, v, a), slopes, strict=True):
        assert_close(own, found[np.ix_(order, order)].T, tolerance=1e-5)

    tau = np.random.default_rng(1).normal(size=n)
    data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q, v, tau
    A, h, one = np.zeros((2 * n, 2 * n)), theirs.opt.timestep, np.eye(n)
    mujoco.mjd_transitionFD(theirs, data, 1e-6, 1, A, None, None, None)
    slope = linkwork.compile(robot, "forward_dynamics", backend="interpreter").derivative()(q, v, tau)
    change = np.hstack([slope.da_dq, slope.da_dv])
    own = np.block([[one, h * one], [0 * one, one]]) + np.vstack([h * h * change, h * change])
    both = [*order, *(n + k for k in order)]
    assert_close(own, A[np.ix_(both, both)], tolerance=1e-5)


def test_derivatives_on_a_floating_base(tmp_path):
    """By positions, v = 0. Theirs move the base along the world's axes and turn it about its own, and so are their
    forces and accelerations: tau = B^T f(q, B a) with B = diag(R, 1)."""
    robot = linkwork.load("quadruped", friction=False, rotors=False)
    theirs = mujoco_model(robot, tmp_path / "robot.urdf")
    data, n = mujoco.MjData(theirs), robot.nv
    joints = [theirs.joint(name) for name in robot.joint_names]
    order = [*range(6), *(joint.dofadr[0] for joint in joints)]
    q, _, a = random_state(robot.model, 2)
    q[3:7] /= np.linalg.norm(q[3:7])
    B = np.eye(n)
    B[:3, :3] = R = rotation_of(q[3:7])
    data.qpos[:7] = [*q[:3], q[6], *q[3:6]]
    data.qpos[[joint.qposadr[0] for joint in joints]] = q[7:]
    data.qacc[order] = B @ a
    by_q, by_v, by_a = (np.zeros((n, n)) for _ in range(3))
    mujoco.mjd_inverseFD(theirs, data, 1e-6, 1, by_q, by_v, by_a, None, None, None, None)
    by_q, by_a = (each[np.ix_(order, order)].T for each in (by_q, by_a))
    mujoco.mj_inverse(theirs, data)
    force = data.qfrc_inverse[order]
    turned = np.zeros((n, n))  # of B a, by turns
    turned[:3, 3:6] = -R @ cross_matrix(a[:3])
    expected = B.T @ (by_q @ B + by_a @ turned)
    expected[:3, 3:6] += cross_matrix(R.T @ force[:3])
    function = linkwork.compile(robot, "inverse_dynamics", backend="interpreter")
    assert_close(function.derivative("q")(q, np.zeros(n), a), expected, tolerance=1e-5)
