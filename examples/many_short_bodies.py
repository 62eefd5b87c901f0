"""A flexible body as many short rigid ones: a beam of segments converges to one with modes, at rest and rotating, and
an eel of short links converges to a continuous one.

python examples/many_short_bodies.py [PICTURE.png]
"""

import sys
from dataclasses import replace

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE, name_lines
from linkwork.library import lumped_beam, macro_continuous_eel
from linkwork.model import Beam, Description, JointDescription, Link, LinkInertia, Placement

EXACT = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613]) ** 2
PRINTED = {0: 3.516, 2: 4.1373, 4: 5.5850, 6: 7.3604, 8: 9.2568, 10: 11.2023, 12: 13.1702}  # Wright et al. (1982)
axis = JointDescription(name="axis", kind="revolute", parent="ground", child="root")


def segments(joints):
    """A beam of unit length, mass and stiffness in segments, on an axis that can turn."""
    chain = lumped_beam(joints, density=1, area=1, youngs=1, moment=1)
    links, gravity = (Link("ground"), *chain.links), (0.0, 0.0, 0.0)
    return linkwork.load(replace(chain, links=links, joints=(axis, *chain.joints), gravity=gravity))


def modes(**how):
    """The same with modes, bending in the plane of rotation."""
    beam = Beam(1.0, 1.0, 1.0, 1.0, moments={"z": 1.0}, polar=1e-6, **how)
    bend = JointDescription(
        name="bend",
        kind="flexible",
        parent="root",
        child="tip",
        origin=Placement(translation=np.array([1.0, 0, 0])),
        flexible=beam,
        role="elastic",
    )
    links = (Link("ground"), Link("root", beam.inertia), Link("tip", LinkInertia(0.0, np.zeros(3), np.zeros((3, 3)))))
    return linkwork.load(Description("beam", links, (axis, bend), gravity=(0.0, 0.0, 0.0)))


def frequencies(robot, speed=0.0):
    """Angular ones while the axis turns; NaN where the beam gives way."""
    v = np.array([speed] + [0.0] * (robot.nv - 1))
    K = robot.inverse_dynamics.derivative("q")(0 * v, v, 0 * v)[1:, 1:]
    M = robot.inertia_matrix(0 * v)[1:, 1:]
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    return np.sqrt(np.where(squares > 0, squares, np.nan))


def swim(links, seconds=6.0, step=0.01):
    """Speed and power when a wave of curvature runs down the body."""
    robot = linkwork.load(macro_continuous_eel(links))
    x = np.arange(1, links) / links
    yaw = np.array([name.startswith("yaw") for name in robot.joint_names])
    amplitude = yaw * (1 + 2 * x) * 2 * 1.5 / links  # curvature (1/m), times what a joint bends for

    def wave(t):
        phase = 2 * np.pi * (t - x)
        return amplitude * np.array([np.sin(phase), 2 * np.pi * np.cos(phase), -((2 * np.pi) ** 2) * np.sin(phase)])

    def slope(t, base):
        position, velocity, acceleration = wave(t)
        q, v = np.concatenate([base[:7], position]), np.concatenate([base[7:], velocity])
        tau, a = robot.hybrid_dynamics(q, v, acceleration, np.zeros(6))
        return np.concatenate([robot.coordinates.rates(q, v)[:7], a]), q, tau @ velocity

    base, path, work = np.array([0.0] * 6 + [1] + [0] * 6), [], 0.0
    M = robot.inertia_matrix(np.concatenate([base[:7], wave(0)[0]]))
    base[7:] = -np.linalg.solve(M[:6, :6], M[:6, 6:] @ wave(0)[1])  # the whole has no momentum yet
    for t in np.arange(0, seconds, step):
        k1, q, power = slope(t, base)
        path.append(q)
        work += step * power
        k2 = slope(t + step / 2, base + step / 2 * k1)[0]
        k3 = slope(t + step / 2, base + step / 2 * k2)[0]
        k4 = slope(t + step, base + step * k3)[0]
        base = base + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        base[3:7] /= np.linalg.norm(base[3:7])
    center = robot.center_of_mass(np.array(path))
    return np.linalg.norm(center[-1] - center[-1 - round(1 / step)]), work / seconds


counts = np.array([2, 4, 8, 16, 32, 64])
errors = np.full((len(counts), 3), np.nan)
for row, joints in zip(errors, counts, strict=True):
    found = frequencies(segments(joints))[:3]
    row[: len(found)] = found / EXACT[: len(found)] - 1
orders = np.log2(errors[-2] / errors[-1])
print("order of the first three frequencies:", ", ".join(f"{order:.3f}" for order in orders))
print("error with 64 joints:", ", ".join(f"{error:.1e}" for error in errors[-1]))

speeds = np.linspace(0, 12, 49)
stiff = modes(shapes={"y": [[0.0] * k + [1.0] for k in range(2, 9)]}, stiffening=True)
stiffened = np.array([frequencies(stiff, speed)[0] for speed in speeds])
soft, slower = modes(modes={"y": 3}), np.linspace(0, EXACT[0] - 1e-6, 30)
softened = np.array([frequencies(soft, speed)[0] for speed in slower])
chain = segments(32)
turning = {speed: frequencies(chain, speed)[0] for speed in (0, 3, 6, 9, 12)}
for speed, flap in PRINTED.items():
    found = np.interp(speed, speeds, stiffened)
    print(f"turning at {speed:2}: {found:.4f}, printed {np.sqrt(flap**2 - speed**2):.4f}")

eels = {links: swim(links) for links in (6, 12, 24, 48)}
for links, (speed, power) in eels.items():
    print(f"an eel of {links:2} links swims {speed:.4f} m/s and spends {power:.3f} W")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(10, 3.4))
left, middle, right = figure.subplots(1, 3)
for k, name in enumerate(("1st", "2nd", "3rd")):
    left.loglog(counts, errors[:, k], "o-", markersize=4, label=name)
left.loglog(counts[1:], 0.006 * (counts[1:] / 4.0) ** -2, "k--", linewidth=0.8)
left.annotate("order 2", (4.5, 0.0011), fontsize=8)
left.set(xlabel="elastic joints", title="Error of a beam's frequency", xticks=counts, xticklabels=counts)
left.minorticks_off()
middle.plot(speeds, stiffened, color="C0")
middle.plot(slower, softened, "--", color="C1")
middle.plot(list(turning), list(turning.values()), "o", color="C2", markersize=7, fillstyle="none")
middle.plot(list(PRINTED), [np.sqrt(flap**2 - s**2) for s, flap in PRINTED.items()], "kx", markersize=5)
for text, at, color in (
    ("modes, stiffened", (4.2, 4.9), "C0"),
    ("without\nstiffening", (3.8, 1.0), "C1"),
    ("rings: 32 segments", (5.2, 3.2), "C2"),
    ("crosses: printed", (5.2, 2.75), "black"),
):
    middle.annotate(text, at, color=color, fontsize=8)
middle.set(xlabel="speed of rotation", title="In the plane of rotation", ylim=(0, 5.7))
right.plot(list(eels), [speed for speed, _ in eels.values()], "o-")
right.set(
    xlabel="links",
    title="Speed of an eel (m/s)",
    xscale="log",
    xticks=list(eels),
    xticklabels=list(eels),
    ylim=(0.3, 0.6),
)
right.minorticks_off()
name_lines(left)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "many_short_bodies.png"))
assert np.allclose(orders, 2, atol=0.01)
