"""A four-bar turned at constant speed: both assembly modes, and the torque of the crank over a turn.

python examples/four_bar.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("four-bar")
crank = np.linspace(0, 2 * np.pi, 720, endpoint=False)[:, None]
speed = np.full_like(crank, 3 * np.pi)  # three turns in two seconds

# The loop closes in two ways. Without a guess it is that of home; coupler and rocker mirrored about the line from the
# crank's pin to the rocker's pivot are a guess for the other.
up = robot.assemble(crank).require()
pins = [robot.pose(link, up)[:, :2, 3] for link in ("coupler_link", "rocker_link")]
way = pins[1] - pins[0]
line = np.arctan2(way[:, 1], way[:, 0])
mirrored = np.stack([up[:, 0], 2 * line - 2 * up[:, 0] - up[:, 1], 2 * line - up[:, 2]], axis=-1)
down = robot.assemble(crank, guess=mirrored).require()

torques = {}
for name, q in (("rocker up", up), ("rocker down", down)):
    torque = robot.inverse_dynamics(q, speed, np.zeros_like(speed))  # v and a are of the crank, the one freedom
    rates = robot.joint_velocities(q, speed)
    friction = sum(
        joint.coulomb * np.abs(rate) + joint.viscous * rate**2
        for joint, rate in zip(robot.coordinates.joints, rates.T, strict=True)
    )
    power = (torque * speed).mean()
    print(f"{name}: {torque.min():5.2f} to {torque.max():4.2f} N m, {power:.2f} W on average, all lost in friction")
    assert abs(power - friction.mean()) < 1e-2 * power  # weight and inertia give back what they take
    torques[name] = torque[:, 0]


def outline(q):
    """Points along ground, crank, coupler, rocker, ground; and the point that the coupler carries."""
    at = {name: robot.pose(name, q) for name in ("crank_link", "coupler_link", "rocker_link", "coupler_point")}
    tip = at["coupler_link"] @ [0.39, 0, 0, 1]
    points = [at["crank_link"][:2, 3], at["coupler_link"][:2, 3], tip[:2], at["rocker_link"][:2, 3]]
    return np.array(points).T, at["coupler_point"][:2, 3]


matplotlib.style.use(STYLE)
figure = Figure(figsize=(9, 3.6))
drawing, curve = figure.subplots(1, 2, width_ratios=(1.15, 1))
for (name, torque), q, color in zip(torques.items(), (up, down), ("C0", "C1"), strict=True):
    for k in range(0, 720, 120):
        bars, _ = outline(q[k])
        drawing.plot(*bars, "o-", color=color, alpha=0.9 if k == 120 else 0.2, markersize=3, linewidth=2)
    path = np.array([outline(each)[1] for each in q[::8]])
    drawing.plot(*path.T, color=color, linewidth=0.8, linestyle="--")
    curve.plot(np.degrees(crank[:, 0]), torque, color=color, label=name)
drawing.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title="Every 60 degrees, and a point of the coupler")
curve.axhline(0, color="gray", linewidth=0.5)
curve.set(xlabel="crank (degrees)", ylabel="torque (N m)", title="Torque of the crank at 90 turns a minute")
curve.set_xticks(range(0, 361, 60))
name_lines(curve)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "four-bar.png"))
