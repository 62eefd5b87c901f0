"""An MJCF text compiled by MuJoCo itself and spoken to in linkwork's coordinates.

A quaternion of MuJoCo has its real part first, and a free body's linear velocity is in the axes of the world. So with
``v' = T(q) v``: ``tau = T^T tau'``, ``M = T^T M' T`` and ``a' = T a + Tdot v``. MuJoCo gives Coulomb friction to its
solver of constraints, so these are switched off and friction is added here. Actuators are off, too.
"""

import mujoco
import numpy as np

from support.evaluate import assert_close, evaluate, rotation_of

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def unit(quaternion: np.ndarray) -> np.ndarray:
    """MuJoCo's, of length one."""
    return np.roll(quaternion / np.linalg.norm(quaternion), 1)


class MujocoFile:
    def __init__(self, text: str):
        self.model = mujoco.MjModel.from_xml_string(text)
        flags = mujoco.mjtDisableBit
        self.model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_ACTUATION
        self.data = mujoco.MjData(self.model)
        self.friction = self.model.dof_frictionloss.copy()
        self.free = []  # the first velocity of each free body, and of its quaternion
        for j in np.flatnonzero(self.model.jnt_type == FREE):
            self.free.append((self.model.jnt_dofadr[j], self.model.jnt_qposadr[j] + 3))
            self.friction[self.free[-1][0] :][:6] = 0  # which is left out
        self.balls = self.model.jnt_qposadr[self.model.jnt_type == BALL]
        if 'frictionloss="disable"' in text:
            self.friction *= 0

    def state(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Set it; return T, and T^T Tdot v."""
        T, drift = np.eye(self.model.nv), np.zeros(self.model.nv)
        self.data.qpos[:] = q
        for at in (*self.balls, *(at for _, at in self.free)):
            self.data.qpos[at : at + 4] = unit(q[at : at + 4])
        for k, at in self.free:
            T[k : k + 3, k : k + 3] = rotation_of(q[at : at + 4])
            drift[k : k + 3] = np.cross(v[k + 3 : k + 6], v[k : k + 3])
        self.data.qvel[:], self.data.qacc[:] = T @ v, T @ (a + drift)
        return T, drift


def assert_same_joints(robot, theirs: mujoco.MjModel) -> None:
    """Unnamed joints have names in our model only, as the joint of a floating base has; the order is the same."""
    names = [theirs.joint(j).name for j in range(theirs.njnt)]
    ours = [joint.name for joint in robot.model.coordinates.joints]
    first = int(robot.model.moving_base)
    assert len(ours) == len(names)
    assert all(own == name for own, name in list(zip(ours, names))[first:] if name)


def assert_same_dynamics(
    robot, text: str, q: np.ndarray, v: np.ndarray, a: np.ndarray, tolerance: float = 1e-12
) -> None:
    """Forces, inertia matrix, accelerations and poses. Accelerations may lose digits by the condition of the inertia
    matrix, but not the forces that they need."""
    model, theirs = robot.model, MujocoFile(text)
    assert_same_joints(robot, theirs.model)
    friction = theirs.friction * np.sign(v)
    mass = np.zeros((model.nv, model.nv))
    for quantity, inputs in (("inverse_dynamics", (q, v, a)), ("bias", (q, v))):
        T, _ = theirs.state(q, v, a if quantity == "inverse_dynamics" else 0 * a)
        mujoco.mj_inverse(theirs.model, theirs.data)
        expected = T.T @ theirs.data.qfrc_inverse + friction
        assert_close(evaluate(model, quantity, *inputs), expected, tolerance=tolerance)
    mujoco.mj_fullM(theirs.model, theirs.data, mass)
    mass = T.T @ mass @ T
    assert_close(evaluate(model, "inertia_matrix", q), mass, tolerance=tolerance)

    force = np.random.default_rng(5).normal(size=model.nv)
    T, drift = theirs.state(q, v, a)
    theirs.data.qfrc_applied[:] = T @ (force - friction)
    mujoco.mj_forward(theirs.model, theirs.data)
    acceleration = T.T @ theirs.data.qacc - drift
    assert_close(mass @ evaluate(model, "forward_dynamics", q, v, force), mass @ acceleration, tolerance=tolerance)

    for kind, count in (("body", theirs.model.nbody), ("site", theirs.model.nsite)):
        for k in range(count):
            named = getattr(theirs.model, kind)(k).name
            frame = f"{named}_site" if kind == "site" and named in robot.model.link_names else named
            if frame and frame in model.frames:
                place = getattr(theirs.data, kind)(k)
                pose = evaluate(model, "pose", q, frame=frame)
                assert_close(pose[:3, :3], place.xmat.reshape(3, 3), tolerance=1e-12)
                assert_close(pose[:3, 3], place.xpos, scale=1.0, tolerance=1e-12)
