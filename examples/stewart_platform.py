"""A Gough-Stewart platform on a circle: lengths and forces of its six cylinders while it leans inward.

python examples/stewart_platform.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("gough-stewart")
period, radius, height, heave, lean = 2.0, 0.12, 1.05, 0.05, 0.15
t = np.linspace(0, period, 401)
rate = 2 * np.pi / period
c, s, zero, one = np.cos(rate * t), np.sin(rate * t), np.zeros_like(t), np.ones_like(t)

# Where the platform is, how fast, how that changes: in the world, turns as quaternions about an axis that goes round.
p = np.stack([radius * c, radius * s, height + heave * np.sin(2 * rate * t)], axis=-1)
dp = rate * np.stack([-radius * s, radius * c, 2 * heave * np.cos(2 * rate * t)], axis=-1)
ddp = rate**2 * np.stack([-radius * c, -radius * s, -4 * heave * np.sin(2 * rate * t)], axis=-1)
half = np.sin(lean / 2)
turn = np.stack([half * s, -half * c, zero, np.cos(lean / 2) * one], axis=-1)
dturn = rate * half * np.stack([c, s, zero, zero], axis=-1)
ddturn = rate**2 * half * np.stack([-s, c, zero, zero], axis=-1)


def spin(turn, change):
    """2 (conjugate of turn) * change: angular velocity in the platform's axes, or its rate."""
    u, w, du, dw = turn[:, :3], turn[:, 3:], change[:, :3], change[:, 3:]
    return 2 * (w * du - dw * u - np.cross(u, du))


q = robot.assemble(np.concatenate([p, turn], axis=-1)).require()  # all joints, the loops closed
R = robot.pose("platform", q)[:, :3, :3]
inward = np.swapaxes(R, 1, 2)
w, dw = spin(turn, dturn), spin(turn, ddturn)
u = np.einsum("kij,kj->ki", inward, dp)
v = np.concatenate([u, w], axis=-1)
a = np.concatenate([np.einsum("kij,kj->ki", inward, ddp) - np.cross(w, u), dw], axis=-1)  # rates of the components of v

tau = robot.inverse_dynamics(q, v, a)
slides = [7 + robot.position_names.index(name) for name in robot.motor_names]
lengths = q[:, slides]
power = np.sum(tau * robot.joint_velocities(q, v)[:, robot.model.mobility.motors], axis=1)
print(f"cylinders between {lengths.min():.3f} and {lengths.max():.3f} m, forces up to {np.abs(tau).max():.0f} N")
print(f"power between {power.min():.0f} and {power.max():.0f} W")

again = robot.forward_dynamics(q, v, tau)  # the motion that these forces make
print("acceleration error", np.abs(again - a).max())
assert np.allclose(again, a)

measured = robot.assemble(lengths[::50], known=robot.motor_names)  # forward kinematics: the pose from the lengths
assert measured.solved.all() and np.allclose(measured.q[:, :3], p[::50])

matplotlib.style.use(STYLE)
figure = Figure(figsize=(10, 4.2))
space = figure.add_subplot(1, 2, 1, projection="3d")
feet = np.stack([robot.pose(f"leg{k}_cross", q)[:, :3, 3] for k in range(1, 7)], axis=1)
balls = np.stack([robot.pose(f"leg{k}_rod", q)[:, :3, 3] for k in range(1, 7)], axis=1)
ring = [0, 1, 2, 3, 4, 5, 0]
space.plot(*feet[0, ring].T, color="black")
for k, alpha in ((0, 1.0), (133, 0.25), (266, 0.25)):
    space.plot(*balls[k, ring].T, color="C0", alpha=alpha, linewidth=2)
    for foot, ball in zip(feet[k], balls[k], strict=True):
        space.plot(*np.array([foot, ball]).T, color="C6", alpha=alpha, linewidth=2)
space.plot(*p.T, color="C1")
space.set(title="Round a circle, leaning inward", xlabel="x (m)", ylabel="y (m)", zlabel="z (m)", aspect="equal")
forces = figure.add_subplot(1, 2, 2)
forces.plot(t, tau, label=[name.removesuffix("_slide") for name in robot.motor_names])
forces.set(title="Forces of the cylinders", xlabel="time (s)", ylabel="force (N)", xlim=(0, period))
name_lines(forces)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "gough-stewart.png"))
