"""A car in a slalom and a snake on passive wheels: their motions, and where they would slip.

python examples/rolling_robots.py [PICTURE.png] [FILM.gif]
"""

import sys
import warnings

import matplotlib.style
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import linkwork
from linkwork.control import ComputedTorque, Point
from linkwork.drawing import STYLE

car, snake = linkwork.load("car"), linkwork.load("snake")


def driver(t, q, v, _):
    """Slowly faster, and the steering wheel to and fro."""
    wanted = 0.12 * np.sin(1.6 * t)
    return [90, 4000 * (wanted - q[10]) - 800 * v[1]]


with warnings.catch_warnings():
    warnings.simplefilter("ignore", linkwork.SimulationWarning)  # that it would slip is what the picture shows
    drive = car.simulate(v0=[70.0, 0.0], torque=driver, duration=8.0, dt=1e-3, method="rk4", every=10)
loads = car.contact_forces(drive.q, drive.v, drive.tau)
print(loads)
print("the car:", *drive.notes, sep="\n  ")

# A gait that keeps away from shapes in which the wheels' axes meet: 0.94 m in each period, and no turn.
middle, swing = np.array([-0.66, -0.01, -0.28, 0.66]), np.array([0.39, 0.53, 0.39, 0.25])
phase, rate = np.array([0.49, 1.86, 2.04, 3.82]), 1.0


def gait(t):
    sine, cosine = (np.array([f(rate * t + each) for each in phase]) for f in (np.sin, np.cos))
    return Point(middle + swing * sine, swing * rate * cosine, -swing * rate**2 * sine)


start = np.array(snake.home)
start[3:] = gait(0.0).q
period = 2 * np.pi / rate
crawl = snake.simulate(
    start, gait(0.0).v, duration=2 * period, dt=period / 4000, torque=ComputedTorque(100, 20), reference=gait,
    method="rk4", every=10,
)  # fmt: skip
print(f"the snake: {np.hypot(*crawl.q[-1, :2]) / 2:.2f} m in each period, conditioning at least "
      f"{snake.conditioning(crawl.q).min():.2f}, slip at most {crawl.drift['loop_rates']:.0e} m/s")  # fmt: skip

parts = ("chassis", "rear_left_wheel", "rear_right_wheel", "front_left_wheel", "front_right_wheel")
car_poses = car.compile([f"pose:{name}" for name in parts])
snake_poses = snake.compile([f"pose:link{k}" for k in range(1, 6)])


def car_shape(q):
    """Outlines from above: the chassis, and its wheels."""
    T, *wheels = car_poses(q)
    shapes = [np.array([[-0.7, -0.85], [3.3, -0.85], [3.3, 0.85], [-0.7, 0.85]]) @ T[:2, :2].T + T[:2, 3]]
    for T in wheels:
        axle = T[:2, 2]
        ahead = np.array([axle[1], -axle[0]])
        corners = ((0.3, 0.12), (0.3, -0.12), (-0.3, -0.12), (-0.3, 0.12))
        shapes.append(np.array([T[:2, 3] + x * ahead + y * axle for x, y in corners]))
    return shapes


def snake_shape(q):
    """Points along the back, and ends of the wheels' axles."""
    ends = snake_poses(q)
    nose = ends[0][:2, 3] + 0.1 * ends[0][:2, 0]
    back = [nose, *(T[:2, 3] for T in ends[1:]), ends[-1][:2, 3] - 0.2 * ends[-1][:2, 0]]
    axles = []
    for k in (0, 2, 4):
        middle = ends[k][:2, 3] - (0.1 if k else 0.0) * ends[k][:2, 0]
        axles.append(np.array([middle - 0.05 * ends[k][:2, 1], middle + 0.05 * ends[k][:2, 1]]))
    return np.array(back), axles


matplotlib.style.use(STYLE)


def draw_car(axes, q, alpha=1.0):
    body, *wheels = car_shape(q)
    axes.add_patch(Polygon(body, facecolor="C0", alpha=0.35 * alpha))
    for wheel in wheels:
        axes.add_patch(Polygon(wheel, facecolor="black", alpha=alpha))


def draw_snake(axes, q, alpha=1.0):
    back, axles = snake_shape(q)
    axes.plot(*back.T, color="C1", linewidth=4, alpha=alpha, solid_capstyle="round")
    for axle in axles:
        axes.plot(*axle.T, color="black", linewidth=2, alpha=alpha)


figure = Figure(figsize=(9, 6.4))
top, middle_axes, bottom = figure.subplots(3, 1, height_ratios=(1.3, 1.1, 1.4))
for k in np.linspace(0, len(drive.t) - 1, 9).astype(int):
    draw_car(top, drive.q[k])
top.plot(*drive.q[:, :2].T, color="C0", linewidth=1)
top.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="a car by its engine and its steering")
top.margins(0.03)
for k, name in enumerate(loads.names):
    middle_axes.plot(drive.t, loads.needed[:, k], label=name)
middle_axes.axhline(0.9, color="black", linestyle="--", linewidth=1)
middle_axes.set(xlabel="t (s)", ylabel="friction needed", ylim=(0, 1.7))
middle_axes.legend(ncols=4, fontsize="small", loc="upper left")
for k, alpha in zip(np.linspace(0, len(crawl.t) - 1, 5).astype(int), (0.2, 0.35, 0.5, 0.75, 1), strict=True):
    draw_snake(bottom, crawl.q[k], alpha)
bottom.plot(*crawl.q[:, :2].T, color="C1", linewidth=0.8)
bottom.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="a snake on passive wheels")
bottom.margins(0.03)
picture = next((name for name in sys.argv[1:] if name.endswith(".png")), "rolling.png")
figure.savefig(picture)

film = next((name for name in sys.argv[1:] if name.endswith(".gif")), "")
if film:
    from matplotlib import pyplot

    moving, axes = pyplot.subplots(2, 1, figsize=(7, 3.8), height_ratios=(1, 1.1), layout="constrained")

    def frame(k):
        share = k / 60
        for axis, motion, draw, color in ((axes[0], drive, draw_car, "C0"), (axes[1], crawl, draw_snake, "C1")):
            axis.clear()
            at = round(share * (len(motion.t) - 1))
            axis.plot(*motion.q[: at + 1, :2].T, color=color, linewidth=1)
            draw(axis, motion.q[at])
            axis.set(aspect="equal")
            axis.set_axis_off()
        x, y = drive.q[round(share * (len(drive.t) - 1)), :2]
        axes[0].set(xlim=(x - 14, x + 10), ylim=(y - 4, y + 4))
        axes[1].set(xlim=(-1.0, 2.3), ylim=(-0.4, 0.4))

    FuncAnimation(moving, frame, frames=60).save(film, writer=PillowWriter(fps=15), dpi=70)
    pyplot.close(moving)
assert crawl.drift["loop_rates"] < 1e-12
