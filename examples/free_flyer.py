"""A satellite turns itself without external forces: its arm moves around a closed path three times.

python examples/free_flyer.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import ComputedTorque, Point, Quintic
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("space-arm")
period, rounds, step = 10.0, 3, 0.02
angles = [Quintic([0.0], [2 * np.pi], period, begin=k * period) for k in range(rounds)]


def arm(t):
    """Positions, velocities and accelerations of the joints: round a circle of yaw and pitch, from rest to rest."""
    angle, speed, change = (sum(parts) for parts in zip(*(each(t) for each in angles), strict=True))
    c, s, others = np.cos(angle), np.sin(angle), np.zeros(len(robot.joint_names) - 2)
    yaw = 1.2 * (1 - c), 1.2 * s * speed, 1.2 * (c * speed**2 + s * change)
    pitch = 0.6 * s, 0.6 * c * speed, 0.6 * (c * change - s * speed**2)
    return Point(*(np.concatenate([*parts, others]) for parts in zip(yaw, pitch, strict=True)))


# Computed torque gives the joints exactly their accelerations. No wrench acts on the base: it is free.
motion = robot.rollout(
    robot.coordinates.neutral(), np.zeros(robot.nv), ComputedTorque(0, 0), step, round(rounds * period / step),
    reference=arm, method="dormand-prince-5", outputs=("q", "momentum", "center_of_mass"),
)  # fmt: skip
q = motion.q
turned = np.degrees(2 * np.arctan2(np.linalg.norm(q[:, 3:6], axis=-1), np.abs(q[:, 6])))
momentum = np.abs(motion.momentum).max()
moved = np.abs(motion.center_of_mass - motion.center_of_mass[0]).max()
for k in range(1, rounds + 1):
    angle = turned[round(k * period / step)]
    print(f"after round {k} the arm is back where it was, and the satellite is turned by {angle:.1f} degrees")
print(f"momentum never exceeds {momentum:.0e} N m s, the centre of mass stays within {moved:.0e} m")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(8, 5))
upper, lower = figure.subplots(2, sharex=True)
upper.plot(motion.t, np.degrees(q[:, 7:9]), label=robot.joint_names[:2])
lower.plot(motion.t, turned, color="C2")
upper.set(ylabel="arm (degrees)", title="Round a closed path of the joints, the satellite turns")
lower.set(ylabel="satellite, turned by (degrees)", xlabel="time (s)")
name_lines(upper)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "free_flyer.png"))
assert momentum < 1e-4 and moved < 1e-5 and turned[-1] > 5
