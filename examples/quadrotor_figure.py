"""A quadrotor flies a figure of eight: its controller is ordinary Python, computes the thrusts of four rotors, and is
compiled with the robot.

The controller turns the body so that the thrust points in the required direction (T. Lee, M. Leok and N. H. McClamroch,
Geometric tracking control of a quadrotor UAV on SE(3), 2010), and keeps the nose along the path.

python examples/quadrotor_figure.py [PICTURE.png] [FILM.gif]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork import TracedRobot
from linkwork.drawing import STYLE

robot = linkwork.load("quadrotor")
equations, rate = TracedRobot(robot), 2 * np.pi / 6  # of a figure in six seconds
mass, weight = robot.parameters[0][0], np.array([0, 0, 9.81])
still, home = np.zeros(6), robot.coordinates.neutral()
# what the thrusts do, along z and about the three axes; and the thrusts that do it
effect = -robot.inverse_dynamics_derivatives(home, still, still).dtau_dcommands[2:]
thrusts = np.linalg.inv(effect)


def path(t):
    """Position, velocity and acceleration: an eight of 4 m by 2 m that rises and sinks."""
    s, c, w = np.sin(rate * t), np.cos(rate * t), rate
    x = np.array([2 * s, 2 * s * c, 1.5 + 0.3 * c])
    v = w * np.array([2 * c, 2 * (c * c - s * s), -0.3 * s])
    return x, v, w * w * np.array([-2 * s, -8 * s * c, -0.3 * c])


def fly(t, q, v, reference):
    T = equations.pose("body", q)
    R, position, velocity = T[:3, :3], T[:3, 3], T[:3, :3] @ v[:3]
    x, xd, xdd = path(t)
    force = mass * (weight + xdd + 6 * (x - position) + 4 * (xd - velocity))
    up = force / np.sqrt(force @ force)
    left = np.cross(up, xd)  # the nose points where the path goes
    left = left / np.sqrt(left @ left)
    wanted = np.stack([np.cross(left, up), left, up], axis=1)
    error = wanted.T @ R - R.T @ wanted
    turn = -np.array([0.6, 0.6, 0.05]) * [error[2, 1], error[0, 2], error[1, 0]] - np.array([0.12, 0.12, 0.04]) * v[3:]
    return {"commands": np.clip(thrusts @ np.stack([force @ R[:, 2], *turn]), 0, 6)}  # rotors do not pull


start = home.copy()
start[:3] = 0.3, -0.4, 1.2  # next to the path, level and at rest
motion = robot.simulate(start, duration=9, torque=fly)
x, speed = path(motion.t)[0].T, np.linalg.norm(motion.v[:, :3], axis=1)
away = np.linalg.norm(motion.q[:, :3] - x, axis=1)
print(f"after {motion.t[-1]:g} s it flies at up to {speed.max():.1f} m/s, {away[-6000:].max():.2f} m from the path")
print(f"thrusts between {motion.commands.min():.2f} and {motion.commands.max():.2f} N; 2.7 N each would hold it still")

rotors = np.stack(robot.compile([f"pose:{name}" for name in robot.command_names])(motion.q), axis=1)[..., :3, 3]


def draw(axes, k, width=1.5):
    """The body at a time, its arms twice as long as they are."""
    middle = motion.q[k, :3]
    for arm, color in zip(rotors[k, [[0, 2], [1, 3]]], ("C0", "C3"), strict=True):
        axes.plot(
            *(middle + 2 * (arm - middle)).T,
            color=color,
            linewidth=width,
            marker="o",
            markersize=2 * width,
            clip_on=False,
        )


def space(figure, *place):
    axes = figure.add_axes(place, projection="3d")
    axes.set(xlim=(-2.2, 2.2), ylim=(-1.3, 1.3), zlim=(0.9, 2.1), xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    axes.set_box_aspect((4.4, 2.6, 1.2), zoom=1.15)
    axes.set_zticks([1, 1.5, 2])
    axes.view_init(32, -70)
    return axes


matplotlib.style.use(STYLE)
figure = Figure(figsize=(10, 3.6), layout="none")
axes = space(figure, 0, 0, 0.55, 1)
axes.plot(*x.T, color="0.6", linewidth=1, label="path", clip_on=False)
axes.plot(*motion.q[:, :3].T, color="C1", linewidth=1, label="flown", clip_on=False)
for k in range(0, 9000, 600):
    draw(axes, k)
axes.legend(loc="upper left")
thrusts = figure.add_axes((0.63, 0.15, 0.36, 0.8))
thrusts.plot(motion.t, motion.commands, linewidth=1, label=[name.replace("_", " ") for name in robot.command_names])
thrusts.set(xlabel="t (s)", ylabel="thrusts (N)", ylim=(0, 6))
thrusts.legend(loc="upper right", ncols=2)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "quadrotor.png"))

if film := [name for name in sys.argv[1:] if name.endswith(".gif")]:
    from matplotlib.animation import FuncAnimation

    screen = Figure(figsize=(5.2, 3), dpi=80, layout="none")
    axes = space(screen, -0.03, -0.06, 0.92, 1.16)
    axes.plot(*x.T, color="0.75", linewidth=1, clip_on=False)

    def show(frame):
        for line in axes.lines[1:]:
            line.remove()
        k = 3000 + 6000 * frame // 60  # a whole figure
        axes.plot(*motion.q[max(0, k - 1500) : k, :3].T, color="C1", linewidth=1)
        draw(axes, k, 2)

    FuncAnimation(screen, show, frames=60, interval=100).save(film[0], writer="pillow")
assert away[-6000:].max() < 0.3
