"""A satellite turns itself without external forces: its arm moves around a closed path three times.

python examples/free_flyer.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("space-arm")
n, period, rounds, step = len(robot.joint_names), 10.0, 3, 0.02
times = np.arange(0, rounds * period, step)


def arm(t):
    """Positions, velocities and accelerations of the joints: round a circle of yaw and pitch, from rest to rest."""
    x, rate = t / period % 1, 1 / period
    angle = 2 * np.pi * (10 * x**3 - 15 * x**4 + 6 * x**5)
    speed = 2 * np.pi * 30 * (x - x**2) ** 2 * rate
    change = 2 * np.pi * 60 * (x - 3 * x**2 + 2 * x**3) * rate**2
    c, s = np.cos(angle), np.sin(angle)
    circle = np.zeros((3, n))
    circle[:, 0] = 1.2 * np.array([1 - c, s * speed, c * speed**2 + s * change])
    circle[:, 1] = 0.6 * np.array([s, c * speed, c * change - s * speed**2])
    return circle


def slope(t, base):
    """How the base moves on: its pose by its velocity, its velocity by the dynamics of the whole."""
    position, velocity, acceleration = arm(t)
    q, v = np.concatenate([base[:7], position]), np.concatenate([base[7:], velocity])
    x, y, z, w = base[3:7]
    turn = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]) @ v[3:6]
    result = robot.hybrid_dynamics(q, v, acceleration)  # no wrench on the base: it is free
    return np.concatenate([robot.pose("satellite", q)[:3, :3] @ v[:3], turn, result.a])


base, path = np.array([0.0] * 6 + [1] + [0] * 6), []
for t in times:
    path.append(base)
    k1 = slope(t, base)
    k2 = slope(t + step / 2, base + step / 2 * k1)
    k3 = slope(t + step / 2, base + step / 2 * k2)
    k4 = slope(t + step, base + step * k3)
    base = base + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

bases, joints = np.array([*path, base]), np.array([arm(t) for t in (*times, rounds * period)])
q = np.concatenate([bases[:, :7], joints[:, 0]], axis=-1)
v = np.concatenate([bases[:, 7:], joints[:, 1]], axis=-1)
turned = np.degrees(2 * np.arctan2(np.linalg.norm(q[:, 3:6], axis=-1), np.abs(q[:, 6])))
momentum = np.abs(robot.momentum(q, v)).max()
moved = np.abs(robot.center_of_mass(q) - robot.center_of_mass(q[0])).max()
for k in range(1, rounds + 1):
    angle = turned[round(k * period / step)]
    print(f"after round {k} the arm is back where it was, and the satellite is turned by {angle:.1f} degrees")
print(f"momentum never exceeds {momentum:.0e} N m s, the centre of mass stays within {moved:.0e} m")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(8, 5))
upper, lower = figure.subplots(2, sharex=True)
moments = np.append(times, rounds * period)
upper.plot(moments, np.degrees(joints[:, 0, :2]), label=robot.joint_names[:2])
lower.plot(moments, turned, color="C2")
upper.set(ylabel="arm (degrees)", title="Round a closed path of the joints, the satellite turns")
lower.set(ylabel="satellite, turned by (degrees)", xlabel="time (s)")
name_lines(upper)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "free_flyer.png"))
assert momentum < 1e-4 and moved < 1e-5 and turned[-1] > 5
