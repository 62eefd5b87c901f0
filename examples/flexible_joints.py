"""Elastic joints, softer and stiffer: deflection of the springs and forces of the motors during the same swing.

python examples/flexible_joints.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import ComputedTorque, Quintic
from linkwork.drawing import STYLE, name_lines
from linkwork.model import ElasticDrive

joints = linkwork.load("planar2r").joint_names
start, seconds, step = np.array([-1.2, 0.4]), 2.0, 1e-3
path = Quintic(start, [0.5, 1.1], duration=1.0)  # of the motors


def simulate(robot, stiffness):
    """The swing: computed torque gives the motors exactly their accelerations, whatever the springs do."""
    q = np.stack([start, np.zeros(2)], axis=-1).ravel()  # motors and springs of the joints, in turn
    for _ in range(50):  # hang in the springs before the start
        q[1::2] = -robot.gravity(q)[1::2] / stiffness
    return robot.simulate(q, None, seconds, step, torque=ComputedTorque(0, 0), reference=path, method="rk4")


matplotlib.style.use(STYLE)
figure = Figure(figsize=(8, 5))
upper, lower = figure.subplots(2, sharex=True)
largest = []
for stiffness in (3e4, 12e4, 48e4):
    drives = {joint: ElasticDrive(stiffness, motor_inertia=100, damping=0.002 * stiffness) for joint in joints}
    robot = linkwork.load("planar2r", elastic=drives)
    motion = simulate(robot, stiffness)
    times, springs, forces = motion.t, motion.q[:, 1::2], motion.tau[:, ::2]
    rigid = linkwork.load("planar2r", elastic=drives, lock=dict.fromkeys(joints, 0.0))  # rotors, but no springs
    needed = rigid.inverse_dynamics(*path.sample(times))
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
