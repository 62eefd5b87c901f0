"""A Gough-Stewart platform on a circle: lengths and forces of its six cylinders while it leans inward.

python examples/stewart_platform.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork import rotations
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("gough-stewart")
period, radius, height, heave, lean = 2.0, 0.12, 1.05, 0.05, 0.15
t, rate = np.linspace(0, period, 401), 2 * np.pi / period


def place(robot, t):
    """Place and rotation of the platform, which leans about an axis that goes round."""
    c, s = np.cos(rate * t), np.sin(rate * t)
    p = np.stack([radius * c, radius * s, height + heave * np.sin(2 * rate * t)])
    return {"p": p, "R": rotations.exp(lean * np.stack([s, -c, 0.0]))}


position = robot.function(place, t=())
velocity = position.derivative("t")
(p, R), (dp, dR), (ddp, ddR) = (function(t) for function in (position, velocity, velocity.derivative("t")))
q = robot.assemble(np.concatenate([p, rotations.to_quaternion(R)], axis=-1)).require()  # all joints, the loops closed
inward = np.swapaxes(R, 1, 2)
# The skew parts of R' dR and R' ddR are the matrices of the angular velocity, in the platform's axes, and of its rate.
w, dw = (0.5 * (A - np.swapaxes(A, 1, 2))[:, [2, 0, 1], [1, 2, 0]] for A in (inward @ dR, inward @ ddR))
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
ends = robot.compile([f"pose:leg{k}_{end}" for end in ("cross", "rod") for k in range(1, 7)])(q)
feet, balls = np.split(np.stack(ends, axis=1)[..., :3, 3], 2, axis=1)
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
