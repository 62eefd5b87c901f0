"""A car on tyres takes the same turn at higher and higher speeds: at high speed it slides, while a car with ideal
rolling would follow its wheels.

python examples/tyre_car.py [PICTURE.png]
"""

import sys
import warnings
from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import clip
from linkwork.drawing import STYLE

robot = linkwork.load(Path(__file__).with_name("tyre_car.yaml"))
speeds, angle, wheelbase, radius = np.array([5.0, 10, 15, 20, 25]), 0.08, 2.7, 0.3
weight = 9.81 * sum(row[0] for row in robot.parameters)
steering, wheels = (
    [k for k, name in enumerate(robot.joint_names) if ("steer" in name) == one] for one in (True, False)
)


def steer(t, q, v, reference):
    """Both front wheels turn to the angle within half a second; nothing drives them."""
    wanted = angle * clip(2 * t, 0, 1)
    return [4e4 * (wanted - q[7 + k]) - 1e3 * v[6 + k] if k in steering else 0 for k in range(6)]


q0 = np.tile(robot.coordinates.neutral(), (len(speeds), 1))
q0[:, 2] = radius - weight / (4 * 2e5)  # so deep that the ground bears the weight
v0 = np.zeros((len(speeds), robot.nv))
v0[:, 0] = speeds
v0[:, [6 + k for k in wheels]] = speeds[:, None] / radius
with warnings.catch_warnings():
    warnings.simplefilter("ignore", linkwork.SimulationWarning)  # at rest the tyres would be stiff
    motion = robot.rollout(q0, v0, steer, dt=1e-3, steps=6000, every=20, method="rk4")

forward, yaw = motion.v[:, 100, 0], motion.v[:, 100, 5]  # after two seconds
stiffness = 0.9 * 1.5 * np.array([9, 12])  # of front and rear axle, force per load and slip
gradient = (1 / stiffness[0] - 1 / stiffness[1]) / 9.81
textbook = forward * angle / (wheelbase + gradient * forward**2)
print("speed  yaw rate  single-track model  ideal rolling")
for row in zip(forward, yaw, textbook, forward * np.tan(angle) / wheelbase, strict=True):
    print("{:5.1f}  {:8.4f}  {:18.4f}  {:13.4f}".format(*row))

matplotlib.style.use(STYLE)
figure = Figure(figsize=(10, 3.8))
paths, slips = figure.subplots(1, 2)
for k, speed in enumerate(speeds):
    slip = np.degrees(np.arctan2(motion.v[k, :, 1], motion.v[k, :, 0]))
    paths.plot(*motion.q[k, :, :2].T, linewidth=1.2)
    slips.plot(motion.t, slip, linewidth=1.2, label=f"{speed:g} m/s")
turn = np.linspace(0, 2 * np.pi, 200)
ideal = wheelbase / np.tan(angle)
paths.plot(ideal * np.sin(turn), ideal * (1 - np.cos(turn)), color="0.6", linewidth=1, linestyle="--")
paths.annotate("ideal rolling", (0, 2 * ideal), xytext=(0, 6), textcoords="offset points", ha="center", color="0.4")
paths.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
slips.legend(loc="lower left")
slips.set(xlabel="t (s)", ylabel="body slips by (degrees)")
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "tyre-car.png"))
assert np.allclose(yaw[0], textbook[0], rtol=0.05)
