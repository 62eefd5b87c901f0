"""A swimming eel: a wave runs down its body, and the motion of the head follows from the drag of the water.

python examples/swimming_eel.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE

robot = linkwork.load("eel")
yaw = np.array([name.startswith("yaw") for name in robot.joint_names])
along = np.linspace(0, 1, len(yaw))  # from head to tail
frequency, waves, step, seconds = 1.0, 1.0, 0.01, 15.0
amplitude = yaw * (0.3 + 0.4 * along)  # the tail swings more than the head; no pitching


def wave(t):
    """Joint positions, velocities and accelerations."""
    rate, phase = 2 * np.pi * frequency, 2 * np.pi * (frequency * t - waves * along)
    return amplitude * np.array([np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase)])


def state(t, base):
    position, velocity, _ = wave(t)
    return np.concatenate([base[:7], position]), np.concatenate([base[7:], velocity])


def slope(t, base):
    """How the base moves on: its pose by its velocity, its velocity by the dynamics of the whole eel in water."""
    q, v = state(t, base)
    x, y, z, w = q[3:7]
    turn = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]) @ v[3:6]
    _, a = robot.hybrid_dynamics(q, v, wave(t)[2], np.zeros(6))
    return np.concatenate([robot.pose("head", q)[:3, :3] @ v[:3], turn, a])


base, path, work = np.array([0.0] * 6 + [1] + [0] * 6), [], 0.0  # head at the origin, tail along x
M = robot.inertia_matrix(state(0, base)[0])
base[7:] = -np.linalg.solve(M[:6, :6], M[:6, 6:] @ wave(0)[1])  # the whole has no momentum yet
for t in np.arange(0, seconds, step):
    q, v = state(t, base)
    path.append(q)
    work += step * robot.hybrid_dynamics(q, v, wave(t)[2], np.zeros(6))[0] @ v[6:]
    k1 = slope(t, base)
    k2 = slope(t + step / 2, base + step / 2 * k1)
    k3 = slope(t + step / 2, base + step / 2 * k2)
    k4 = slope(t + step, base + step * k3)
    base = base + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    base[3:7] /= np.linalg.norm(base[3:7])

q = np.array(path)
center = robot.center_of_mass(q)
period = round(1 / frequency / step)
speed = np.linalg.norm(center[-1] - center[-1 - period]) * frequency
print(f"after {seconds:g} s it swims {speed:.2f} m/s and spends {work / seconds:.2f} W")

frames = [robot.pose(link, q) for link in robot.link_names]
tail = frames[-1][:, :3, 3] + frames[-1][:, :3, 0] * robot.model.forces[-1][1].length
body = np.stack([*(frame[:, :3, 3] for frame in frames), tail], axis=1)
matplotlib.style.use(STYLE)
figure = Figure(figsize=(9, 2.6))
axes = figure.subplots()
for k, alpha in zip(np.linspace(0, len(q) - 1, 4).astype(int), (0.25, 0.4, 0.65, 1), strict=True):
    axes.plot(*body[k, :, :2].T, color="C0", alpha=alpha, linewidth=4, solid_capstyle="round")
    axes.annotate(f"{k * step:.0f} s", body[k, 0, :2], xytext=(0, -18), textcoords="offset points")
axes.plot(*body[:, 0, :2].T, color="C1", linewidth=1, label="head")
axes.plot(*center[:, :2].T, color="black", linewidth=1, label="centre of mass")
axes.margins(0.03, 0.15)
axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
axes.legend(loc="upper right")
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "eel.png"))
assert speed > 0.1
