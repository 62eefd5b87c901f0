"""Flexible links of De Luca and Siciliano's arm: the motors follow a motion, the links bend and keep swinging.

python examples/flexible_two_link.py [PICTURE.png] [FILM.gif]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

import linkwork
from linkwork.control import ComputedTorque, Quintic
from linkwork.drawing import STYLE, name_lines
from linkwork.view.shapes import curves, poses

robot = linkwork.load("flexible-two-link")
rigid = linkwork.load("flexible-two-link", lock={"bend1": [0, 0], "bend2": [0, 0]})
swing, seconds, step = 3.5, 8.0, 2e-3
path = Quintic([-0.6, 0.5], [0.7, 1.0], duration=swing)  # of the motors
motors = [0, 3]  # places in q; the others are those of the modes


def whole(motor):
    """All positions, the links straight."""
    q = np.zeros(6)
    q[motors] = motor
    return q


# Computed torque gives the motors exactly their accelerations, whatever the links do.
swung = robot.simulate(whole(path(0).q), None, seconds, step, torque=ComputedTorque(0, 0), reference=path, method="rk4")
times, q, forces = swung.t, swung.q, swung.tau[:, motors]
needed = rigid.inverse_dynamics(*path.sample(times))
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
straight = rigid.pose("payload", path.sample(times).q)[:, :2, 3]
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
        x, still = drawn(q[k]), drawn(whole(path(times[k]).q))
        ghost.set_data(*still.T)
        trace.set_data(*hand[: k + 1].T)
        arm.set_data(*x.T)
        joints.set_data(*x[[0, 17, -1]].T)
        clock.set_text(f"{times[k]:.1f} s")

    FuncAnimation(scene, show, frames=np.arange(0, 7, 1 / 12)).save(film, PillowWriter(fps=12))
assert 0.05 < largest < 0.2
