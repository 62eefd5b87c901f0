"""Simulated motions of real robots against MuJoCo's own steps and against loops over Pinocchio's ``aba``.

With the same step, semi-implicit Euler of a fixed-base robot is the same formula everywhere, so only rounding is left.
A floating base differs: MuJoCo keeps its linear velocity in world axes, Pinocchio moves it along a screw; both meet
linkwork's straight step as dt goes to zero.
"""

import re
from importlib.metadata import files
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import linkwork
from support.evaluate import rotation_of
from support.pinocchio_robot import PinocchioRobot

SOURCES = {
    "panda": ("panda_description/urdf/panda.urdf", {"lock": {"panda_finger_joint1": 0.0}}),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", {}),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", {"base": "floating"}),
}
STEPS, DT, SAMPLES = 100, 1e-3, 3
COMPILER = (
    '<mujoco><compiler discardvisual="true" fusestatic="false" balanceinertia="false" boundmass="0" boundinertia="0"/>'
    "</mujoco>"
)


class Case:
    def __init__(self, name, folder):
        file, options = SOURCES[name]
        path = next(Path(str(f.locate())) for f in files("example-robot-data") or () if str(f).endswith(file))
        self.robot = robot = linkwork.load(path, friction=False, rotors=False, **options)
        robot.write(folder / f"{name}.urdf")
        # The floating joint from ``world`` becomes one of the peers' own.
        world = r'<link name="world" ?/>|<joint name="floating_base".*?</joint>'
        self.urdf = re.sub(world, "", (folder / f"{name}.urdf").read_text(), flags=re.DOTALL)
        self.base = 6 if robot.model.moving_base else 0
        rng = np.random.default_rng(1)
        self.q, self.v = rng.uniform(-1, 1, (SAMPLES, robot.nq)), rng.uniform(-1, 1, (SAMPLES, robot.nv))
        if self.base:
            self.q[:, 3:7] /= np.linalg.norm(self.q[:, 3:7], axis=1, keepdims=True)
        self.tau = rng.uniform(-5, 5, (SAMPLES, STEPS, robot.nv))
        self.tau[..., : self.base] = 0


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("urdf")
    return {name: Case(name, folder) for name in SOURCES}


def by_mujoco(case, dt, tau, damping=0.0):
    """Positions and velocities (samples, steps + 1, n) as linkwork has them."""
    spec = mujoco.MjSpec.from_string(case.urdf.replace("</robot>", COMPILER + "</robot>"))
    if case.base:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    model.opt.gravity = list(case.robot.model.gravity)
    model.opt.timestep = dt
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    assert not model.dof_damping.any() and not model.dof_armature.any()
    model.dof_damping[case.base :] = damping
    joints = [model.joint(name) for name in case.robot.joint_names]
    places = [joint.qposadr[0] for joint in joints]
    order = [*range(case.base), *(joint.dofadr[0] for joint in joints)]
    q, v = (np.empty((SAMPLES, tau.shape[1] + 1, n)) for n in (case.robot.nq, case.robot.nv))
    for s in range(SAMPLES):
        data = mujoco.MjData(model)
        data.qpos[places], data.qvel[order] = case.q[s, -len(joints) :], case.v[s]
        if case.base:
            data.qpos[:7] = [*case.q[s, :3], case.q[s, 6], *case.q[s, 3:6]]
            data.qvel[:3] = rotation_of(case.q[s, 3:7]) @ case.v[s, :3]
        for k in range(tau.shape[1] + 1):
            q[s, k, -len(joints) :], v[s, k] = data.qpos[places], data.qvel[order]
            if case.base:
                q[s, k, :7] = [*data.qpos[:3], *data.qpos[4:7], data.qpos[3]]
                v[s, k, :3] = rotation_of(q[s, k, 3:7]).T @ data.qvel[:3]
            if k < tau.shape[1]:
                data.qfrc_applied[order] = tau[s, k]
                mujoco.mj_step(model, data)
    return q, v


def rollout(case, method, dt, tau):
    motion = case.robot.rollout(case.q, case.v, tau, dt, tau.shape[1], method=method)
    return motion.q, motion.v


def apart(mine, theirs):
    """Of positions and velocities."""
    return max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_mujoco_fixed_base(name, cases, deviations):
    case = cases[name]
    error = apart(rollout(case, "semi-implicit-euler", DT, case.tau), by_mujoco(case, DT, case.tau))
    deviations(f"{name}, {STEPS} steps of MuJoCo's", error)
    assert error < 1e-12


def test_mujoco_floating_base(cases, deviations):
    case, errors = cases["anymal"], []
    for k in (1, 2, 4):
        tau = np.repeat(case.tau, k, axis=1)
        q, v = rollout(case, "semi-implicit-euler", DT / k, tau)
        errors.append(apart((q, v), by_mujoco(case, DT / k, tau)))
    deviations(f"anymal, {STEPS} steps of MuJoCo's", errors[0])
    assert errors[0] < 1e-2
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)
    assert errors[1] / errors[2] == pytest.approx(2, abs=0.1)


def test_mujoco_floating_base_is_the_step_in_world_axes(cases, deviations):
    """All that differs: the same accelerations, added to the linear velocity in the axes of the world, are MuJoCo's."""
    case = cases["anymal"]
    q, v = case.q.copy(), case.v.copy()
    rows = [(q, v)]
    for k in range(STEPS):
        a = case.robot.forward_dynamics(q, v, case.tau[:, k])
        R = np.array([rotation_of(each) for each in q[:, 3:7]])
        a[:, :3] += np.cross(v[:, 3:6], v[:, :3])
        linear = np.einsum("sij,sj->si", R, v[:, :3] + DT * a[:, :3])  # in the world
        v = v + DT * a
        angle = DT * np.linalg.norm(v[:, 3:6], axis=1, keepdims=True)
        turn = np.hstack([np.sin(angle / 2) / angle * DT * v[:, 3:6], np.cos(angle / 2)])
        there = [(pin.Quaternion(x) * pin.Quaternion(y)).coeffs() for x, y in zip(q[:, 3:7], turn)]
        q = np.hstack([q[:, :3] + DT * linear, there, q[:, 7:] + DT * v[:, 6:]])
        R = np.array([rotation_of(each) for each in q[:, 3:7]])
        v[:, :3] = np.einsum("sji,sj->si", R, linear)
        rows.append((q, v))
    found = [np.stack(each, axis=1) for each in zip(*rows)]
    error = apart(found, by_mujoco(case, DT, case.tau))
    deviations(f"anymal, {STEPS} steps in world axes, MuJoCo's", error)
    assert error < 1e-12


def test_mujoco_balls(tmp_path, deviations):
    """Their velocities are in the axes of the body in both, so that nothing differs."""
    text = """<mujoco><option timestep="0.001" integrator="Euler"><flag constraint="disable"/></option><worldbody>
      <body pos="0 0 1"><joint type="ball" name="shoulder"/>
        <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
        <body pos="0.4 0 0"><joint type="hinge" axis="0 1 0" name="elbow"/>
          <inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.03 0.03"/></body></body></worldbody></mujoco>"""
    (tmp_path / "ball.xml").write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    robot, v = linkwork.load(tmp_path / "ball.xml"), np.array([1.0, -2.0, 3.0, 0.5])
    data.qvel = v
    mine = robot.rollout([0, 0, 0, 1, 0], v, None, DT, STEPS, method="semi-implicit-euler")
    rows = []
    for _ in range(STEPS + 1):
        rows.append([*data.qpos[1:4], data.qpos[0], data.qpos[4], *data.qvel])
        mujoco.mj_step(model, data)
    theirs = np.array(rows)
    error = apart((mine.q, mine.v), (theirs[:, :5], theirs[:, 5:]))
    deviations(f"ball and hinge, {STEPS} steps of MuJoCo's", error)
    assert error < 1e-12


@pytest.mark.parametrize("spin", [1.0, 10.0])
def test_a_free_body_that_spins_gains_speed_by_euler(spin):
    """By sqrt(1 + (w dt)^2) in each step, as the docs say: v' = v - dt w x v in the axes of the body."""
    body = linkwork.model.Link("body", linkwork.model.LinkInertia(2.0, np.zeros(3), np.diag([0.1, 0.2, 0.3])))
    robot = linkwork.load(linkwork.model.Description("body", (body,), (), floating=True), gravity=(0, 0, 0))
    start = [0, 0, 0, 0, 0, 0, 1], [1.0, 0, 0, 0, 0, spin], None, DT, STEPS
    speed = np.linalg.norm(robot.rollout(*start, method="semi-implicit-euler").v[:, :3], axis=1)
    np.testing.assert_allclose(speed, (1 + (spin * DT) ** 2) ** (np.arange(STEPS + 1) / 2), rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(robot.rollout(*start, method="rk4").v[:, :3], axis=1), 1, rtol=1e-9)


def by_pinocchio(case, scheme, dt, tau):
    """``scheme(robot, q, v, tau, dt)`` gives the next q, v in Pinocchio's coordinates."""
    theirs = PinocchioRobot(case.urdf, case.robot.model)
    q, v = (np.empty((SAMPLES, STEPS + 1, n)) for n in (case.robot.nq, case.robot.nv))
    for s in range(SAMPLES):
        q[s, 0], v[s, 0] = case.q[s], case.v[s]
        for k in range(STEPS):
            q[s, k + 1], v[s, k + 1] = scheme(theirs, q[s, k], v[s, k], tau[s, k], dt)
    return q, v


def runge_kutta(robot, q, v, tau, dt):
    """Classic, on (q, v) with the quaternion's rates; back to unit length at the end."""
    base = len(q) - len(robot.joints) > 0

    def rates(x):
        q, v = x[:robot_nq], x[robot_nq:]
        a = robot.forward_dynamics(q, v, tau)
        if not base:
            return np.concatenate([v, a])
        spin = pin.Quaternion(q[3:7]) * pin.Quaternion(0.0, *v[3:6])  # w first; coefficients x y z w
        length = np.linalg.norm(q[3:7])
        return np.concatenate([rotation_of(q[3:7] / length) @ v[:3], 0.5 * spin.coeffs(), v[6:], a])

    robot_nq = len(q)
    x = np.concatenate([q, v])
    k1 = rates(x)
    k2 = rates(x + dt / 2 * k1)
    k3 = rates(x + dt / 2 * k2)
    k4 = rates(x + dt * k3)
    x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if base:
        x[3:7] /= np.linalg.norm(x[3:7])
    return x[:robot_nq], x[robot_nq:]


def euler_on_the_manifold(robot, q, v, tau, dt):
    """Semi-implicit, by ``pinocchio.integrate``."""
    v = v + dt * robot.forward_dynamics(q, v, tau)
    there = pin.integrate(robot.model, robot.q(q), dt * robot.v(v))
    joints = q[-len(robot.joints) :] + dt * v[-len(robot.joints) :]  # theirs are angles, or their cosines and sines
    return np.concatenate([there[: len(q) - len(joints)], joints]), v


@pytest.mark.parametrize("name", SOURCES)
def test_pinocchio_runge_kutta(name, cases, deviations):
    case = cases[name]
    error = apart(rollout(case, "rk4", DT, case.tau), by_pinocchio(case, runge_kutta, DT, case.tau))
    deviations(f"{name}, {STEPS} steps of RK4 over Pinocchio's aba", error)
    assert error < 1e-12


def test_pinocchio_integrate(cases, deviations):
    """A screw turns as linkwork's step does and shifts along a curve: all but the place agree to rounding."""
    case = cases["anymal"]
    q, v = rollout(case, "semi-implicit-euler", DT, case.tau)
    there, speed = by_pinocchio(case, euler_on_the_manifold, DT, case.tau)
    sign = np.sign((q[..., 3:7] * there[..., 3:7]).sum(axis=-1, keepdims=True))
    there[..., 3:7] *= sign
    error = apart((q[..., 3:], v), (there[..., 3:], speed))
    deviations(f"anymal, {STEPS} steps over Pinocchio's aba and integrate", error)
    assert error < 1e-12
    assert 1e-7 < np.abs(q[..., :3] - there[..., :3]).max() < 1e-2


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_friction_acts_at_the_new_velocity_as_in_mujoco(cases, name):
    """MuJoCo's Euler takes joint damping implicitly; this one would be unstable otherwise."""
    case = cases[name]
    q, v = by_mujoco(case, DT, case.tau, damping=20.0)
    viscous = np.full((SAMPLES, case.robot.nv), 20.0)
    found = case.robot.rollout(case.q, case.v, case.tau, DT, STEPS, vary={"viscous": viscous})
    assert np.abs(found.q - q).max() < 1e-12 and np.abs(found.v - v).max() < 1e-11
