"""Flexible links of De Luca and Siciliano's arm: the motors follow a motion, the links bend and keep swinging.

python examples/flexible_two_link.py [PICTURE.png] [FILM.gif]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE, name_lines
from linkwork.view.shapes import curves, poses

robot = linkwork.load("flexible-two-link")
rigid = linkwork.load("flexible-two-link", lock={"bend1": [0, 0], "bend2": [0, 0]})
start, end, swing, seconds, step = np.array([-0.6, 0.5]), np.array([0.7, 1.0]), 3.5, 8.0, 2e-3
times = np.arange(0, seconds, step)
motors, modes = [0, 3], [1, 2, 4, 5]  # places in q


def planned(t):
    """Positions, velocities and accelerations of the motors: from rest to rest with least jerk, then still."""
    x = np.clip(t / swing, 0, 1)
    shape = [10 * x**3 - 15 * x**4 + 6 * x**5, 30 * (x - x**2) ** 2 / swing, 60 * (x - 3 * x**2 + 2 * x**3) / swing**2]
    return np.array([start + (end - start) * shape[0], (end - start) * shape[1], (end - start) * shape[2]])


def whole(motor, bent):
    vector = np.zeros(6)
    vector[motors], vector[modes] = motor, bent
    return vector


def slope(t, state):
    """How the modes move on, and the forces of the motors."""
    position, velocity, acceleration = planned(t)
    result = robot.hybrid_dynamics(whole(position, state[:4]), whole(velocity, state[4:]), acceleration)
    return np.concatenate([state[4:], result.a]), result.tau


state, path, forces = np.zeros(8), [], []
for t in times:
    k1, tau = slope(t, state)
    path.append(whole(planned(t)[0], state[:4]))
    forces.append(tau)
    k2, _ = slope(t + step / 2, state + step / 2 * k1)
    k3, _ = slope(t + step / 2, state + step / 2 * k2)
    k4, _ = slope(t + step, state + step * k3)
    state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
q, forces = np.array(path), np.array(forces)
needed = rigid.inverse_dynamics(*np.array([planned(t) for t in times]).swapaxes(0, 1))
tips = q[:, [1, 4]] + q[:, [2, 5]]  # every shape is one at the tip
largest, after = np.abs(tips).max(), np.abs(tips[times > swing]).max()
print(f"the tips give way by {100 * largest:.1f} cm, and after the swing they move on by {100 * after:.1f} cm")
print(f"the motors need {np.abs(forces).max():.2f} N m; {np.abs(needed).max():.2f} N m if the links were rigid")


def drawn(moment):
    """Points of both links."""
    bodies = poses(robot.model, moment)
    lines = [points @ bodies[p][:3, :3].T + bodies[p][:3, 3] for _, p, points in curves(robot.model, moment)]
    return np.concatenate(lines)[:, :2]


hand = robot.pose("payload", q)[:, :2, 3]
straight = rigid.pose("payload", np.array([planned(t)[0] for t in times]))[:, :2, 3]
matplotlib.style.use(STYLE)
figure = Figure(figsize=(9, 4.2))
axes, *others = (figure.add_subplot(*place) for place in ((1, 2, 1), (2, 2, 2), (2, 2, 4)))
axes.plot(*hand.T, color="C1", linewidth=1)
axes.plot(*straight.T, "k--", linewidth=1)
for k in np.searchsorted(times, (0.0, 1.2, 1.8, 2.6)):
    x = drawn(q[k])
    axes.plot(*x.T, color="C0", linewidth=3, alpha=0.3 + 1.8 * k / len(times))
    axes.plot(*x[[0, 17, -1]].T, "o", color="black", markersize=4)
    axes.annotate(f"{times[k]:.1f} s", x[-1], xytext=(6, -9), textcoords="offset points", fontsize=8)
axes.set(aspect="equal", xlim=(-0.05, 1.1), xlabel="x (m)", ylabel="y (m)", title="Dashed: if the links were rigid")
for k, name in enumerate(("upper arm", "forearm")):
    others[0].plot(times, 100 * tips[:, k], label=name)
others[0].set(ylabel="tip gives way (cm)", xlim=(0, seconds))
for k, name in enumerate(("shoulder", "elbow")):
    others[1].plot(times, forces[:, k], label=name)
    others[1].plot(times, needed[:, k], "k--", linewidth=0.8)
others[1].set(ylabel="motor (N m)", xlabel="time (s)", xlim=(0, seconds))
for each in others:
    name_lines(each)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "flexible_two_link.png"))

if film := next((name for name in sys.argv[1:] if name.endswith(".gif")), None):
    scene = Figure(figsize=(4.2, 4.2), dpi=80)
    axes = scene.subplots()
    axes.set(xlim=(-0.2, 1.15), ylim=(-0.72, 1.05), aspect="equal")
    axes.axis("off")
    (ghost,), (trace,), (arm,), (joints,) = (
        axes.plot([], [], **how)
        for how in (
            {"color": "0.75", "linewidth": 2},
            {"color": "C1", "linewidth": 1},
            {"color": "C0", "linewidth": 5, "solid_capstyle": "round"},
            {"color": "black", "marker": "o", "linestyle": "", "markersize": 7},
        )
    )
    clock = axes.text(0.03, 0.96, "", transform=axes.transAxes)
    axes.text(0.03, 0.92, "grey: the same motors, rigid links", transform=axes.transAxes, fontsize=8, color="0.5")

    def show(moment):
        k = round(moment / step)
        x, still = drawn(q[k]), drawn(whole(planned(times[k])[0], 0))
        ghost.set_data(*still.T)
        trace.set_data(*hand[: k + 1].T)
        arm.set_data(*x.T)
        joints.set_data(*x[[0, 17, -1]].T)
        clock.set_text(f"{times[k]:.1f} s")

    FuncAnimation(scene, show, frames=np.arange(0, 7, 1 / 12)).save(film, PillowWriter(fps=12))
assert 0.05 < largest < 0.2
