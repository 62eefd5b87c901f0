"""Elastic joints, softer and stiffer: deflection of the springs and forces of the motors during the same swing.

python examples/flexible_joints.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE, name_lines
from linkwork.model import ElasticDrive

joints = linkwork.load("planar2r").joint_names
start, end, swing, seconds, step = np.array([-1.2, 0.4]), np.array([0.5, 1.1]), 1.0, 2.0, 1e-3
times = np.arange(0, seconds, step)


def motors(t):
    """Positions, velocities and accelerations: from rest to rest, then still (a polynomial of least jerk)."""
    x = np.clip(t / swing, 0, 1)
    shape = [10 * x**3 - 15 * x**4 + 6 * x**5, 30 * (x - x**2) ** 2 / swing, 60 * (x - 3 * x**2 + 2 * x**3) / swing**2]
    return np.array([start + (end - start) * shape[0], (end - start) * shape[1], (end - start) * shape[2]])


def vector(motor, spring):
    """Motors and springs of the joints, in turn."""
    return np.stack([motor, spring], axis=-1).ravel()


def simulate(robot, stiffness):
    """Deflections of the springs and forces of the motors along the swing."""

    def slope(t, springs):
        position, velocity, acceleration = motors(t)
        result = robot.hybrid_dynamics(vector(position, springs[:2]), vector(velocity, springs[2:]), acceleration)
        return np.concatenate([springs[2:], result.a]), result.tau

    springs, history, forces = np.zeros(4), [], []
    for _ in range(50):  # hang in the springs before the start
        springs[:2] = -robot.gravity(vector(start, springs[:2]))[1::2] / stiffness
    for t in times:
        k1, tau = slope(t, springs)
        history.append(springs[:2])
        forces.append(tau)
        k2, _ = slope(t + step / 2, springs + step / 2 * k1)
        k3, _ = slope(t + step / 2, springs + step / 2 * k2)
        k4, _ = slope(t + step, springs + step * k3)
        springs = springs + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array(history), np.array(forces)


matplotlib.style.use(STYLE)
figure = Figure(figsize=(8, 5))
upper, lower = figure.subplots(2, sharex=True)
largest = []
for stiffness in (3e4, 12e4, 48e4):
    drives = {joint: ElasticDrive(stiffness, motor_inertia=100, damping=0.002 * stiffness) for joint in joints}
    robot = linkwork.load("planar2r", elastic=drives)
    springs, forces = simulate(robot, stiffness)
    rigid = linkwork.load("planar2r", elastic=drives, lock=dict.fromkeys(joints, 0.0))  # rotors, but no springs
    needed = rigid.inverse_dynamics(*np.array([motors(t) for t in times]).swapaxes(0, 1))
    largest.append(np.abs(springs).max())
    off, most = np.abs(forces - needed).max(), np.abs(needed).max()
    print(
        f"K = {stiffness:6.0f} N m/rad: the springs give way by {np.degrees(largest[-1]):.2f} degrees, and the motors'"
    )
    print(f"    forces differ from those of the rigid arm by {off:.0f} of {most:.0f} N m")
    for axes, curve in ((upper, np.degrees(springs[:, 0])), (lower, forces[:, 0])):
        axes.plot(times, curve, label=f"{stiffness / 1e3:.0f} kN m/rad")
lower.plot(times, needed[:, 0], "k--", linewidth=1, label="rigid arm")
upper.set(ylabel="spring of joint 1 (degrees)", title="A swing of 1 s on elastic drives")
lower.set(ylabel="motor of joint 1 (N m)", xlabel="time (s)")
for axes in (upper, lower):
    name_lines(axes)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "flexible_joints.png"))
assert largest[0] > 3 * largest[1] > 9 * largest[2]  # four times as stiff, a quarter of the deflection
