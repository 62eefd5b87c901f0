"""A path of least effort for a Gough-Stewart platform: SciPy optimises it with exact derivatives of the forces.

python examples/stewart_effort.py [PICTURE.png]
"""

import sys
import time

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import BSpline
from scipy.optimize import minimize

import linkwork
from linkwork.drawing import STYLE

robot = linkwork.load("gough-stewart")
home, fastest = np.array(robot.home), 0.8  # m/s, of a cylinder
start, goal = np.array([-0.25, -0.1, 0.9, 0, 0.1, -0.15]), np.array([0.25, 0.1, 1.15, 0, -0.1, 0.15])
duration, inner, degree = 0.8, 8, 5
t, weights = np.linspace(0, duration, 81), np.full(81, duration / 80)
weights[[0, -1]] /= 2  # trapezoidal rule

# Place p and turn g, together x, are splines: g is along the axis and tan(angle / 2) long, so the quaternion is (g, 1).
# Three control points at either end are fixed, that the path begins and ends at rest; SciPy moves the others.
knots = np.concatenate([[0] * degree, np.linspace(0, duration, inner + 7 - degree), [duration] * degree])
splines = BSpline(knots, np.eye(inner + 6), degree)
basis = np.stack([splines(t, k) for k in range(3)])  # of x, x', x''


def path(c):
    return basis @ np.concatenate([[start] * 3, c.reshape(inner, 6), [goal] * 3])  # (3, times, 6)


def along(robot, x, dx, ddx):
    """Forces (kN) and speeds (m/s) of the cylinders, and all joints, for a place x of the platform and its rates."""
    g, dg, ddg = x[3:], dx[3:], ddx[3:]
    k = 2 / (1 + g @ g)
    w = k * (dg - np.cross(g, dg))
    dw = k * (ddg - np.cross(g, ddg)) - k * (g @ dg) * w
    u, du = (y + k * np.cross(g, np.cross(g, y) - y) for y in (dx[:3], ddx[:3]))
    turn = np.concatenate([g, [1.0]]) / np.sqrt(1 + g @ g)
    q = robot.assemble(np.concatenate([x[:3], turn]), home, known=["platform_joint"]).q
    v, a = np.concatenate([u, w]), np.concatenate([du - np.cross(w, u), dw])
    return {"force": robot.inverse_dynamics(q, v, a) / 1e3, "speed": robot.motor_velocities(q, v), "q": q}


motion = robot.function(along, x=6, dx=6, ddx=6)
forces_back, speed_slopes = motion.vjp(of="force"), motion.derivative(["x", "dx"], of="speed")


def effort(c):
    return weights @ np.sum(motion(*path(c)).force ** 2, axis=-1)  # kN^2 s


def effort_slopes(c):
    x = path(c)
    back = np.stack(forces_back(*x, force_bar=2 * weights[:, None] * motion(*x).force))
    return np.einsum("oti,otp->pi", back, basis[:, :, 3:-3]).ravel()


def room(c):
    """By how much cylinders could be faster, out and in, at every fourth time."""
    speeds = motion(*path(c)).speed[::4].ravel()
    return np.concatenate([fastest - speeds, fastest + speeds])


def room_slopes(c):
    by_x = np.stack(speed_slopes(*path(c)))[:, ::4]
    slopes = np.einsum("otni,otp->tnpi", by_x, basis[:2, ::4, 3:-3]).reshape(-1, c.size)
    return np.concatenate([-slopes, slopes])


s = (t / duration)[:, None]
straight = start + (goal - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)  # a line, with least jerk
first = np.linalg.lstsq(basis[0, :, 3:-3], straight - path(np.zeros(6 * inner))[0], rcond=None)[0].ravel()
way = np.random.default_rng(0).normal(size=first.size)
difference = (effort(first + 1e-5 * way) - effort(first - 1e-5 * way)) / 2e-5
off = abs(effort_slopes(first) @ way / difference - 1)
print(f"slopes of the effort and differences agree to {off:.0e}")

room_slopes(first)  # all is compiled now
found, limits = {}, {"type": "ineq", "fun": room}
for name, jac, limit in (("exact slopes", effort_slopes, {"jac": room_slopes}), ("differences", "2-point", {})):
    how, began = {"method": "SLSQP", "constraints": limits | limit, "options": {"maxiter": 200}}, time.perf_counter()
    result = found[name] = minimize(effort, first, jac=jac, **how)
    seconds = time.perf_counter() - began
    print(f"{name}: {result.fun:.4f} kN^2 s after {result.nit} iterations, {result.nfev} efforts, {seconds:.1f} s")
best = found["exact slopes"].x
gain = 1 - effort(best) / effort(first)
most, least = (abs(motion(*path(c)).speed).max() for c in (first, best))
print(f"straight line {effort(first):.4f} kN^2 s, cylinders up to {most:.2f} m/s; now {gain:.0%} less, {least:.3f} m/s")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(10.5, 3.5))
space, speed, force = (figure.add_subplot(1, 3, k, projection="3d" if k == 1 else None) for k in (1, 2, 3))
for c, line in ((first, {"linewidth": 0.9, "linestyle": "--"}), (best, {})):
    forces, speeds, q = motion(*path(c))
    space.plot(*q[:, :3].T, color="C1", **line)
    for k in range(6):
        speed.plot(t, speeds[:, k], color=f"C{k}", **line)
        force.plot(t, forces[:, k], color=f"C{k}", **line)
for k, alpha in ((0, 0.3), (-1, 1.0)):
    legs = np.array([[robot.pose(f"leg{n}_{end}", q[k])[:3, 3] for end in ("cross", "rod")] for n in range(1, 7)])
    base, plate = np.swapaxes(legs[[*range(6), 0]], 0, 1)
    for points, color in ((base, "black"), (plate, "C0"), *((leg, "C6") for leg in legs)):
        space.plot(*points.T, color=color, alpha=alpha)
space.set(title="From pose to pose (m)", xlabel="x", ylabel="y", aspect="equal")
space.set(xticks=(-0.5, 0, 0.5), yticks=(-0.5, 0, 0.5), zticks=(0, 0.5, 1))
speed.axhline(fastest, color="gray", linewidth=1)
speed.text(0.01, fastest + 0.02, "limit", color="gray")
speed.set(title="Speeds of the cylinders", xlabel="time (s)", ylabel="speed (m/s)", ylim=(None, 1.75))
speed.legend(speed.get_lines()[:12:6], ("straight line, least jerk", "least effort"), loc="upper left")
force.set(title="Forces of the cylinders", xlabel="time (s)", ylabel="force (kN)")
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "stewart-effort.png"))

assert off < 1e-6 and gain > 0.1 and least < 1.01 * fastest
assert found["exact slopes"].nfev < 0.2 * found["differences"].nfev
assert np.isclose(found["exact slopes"].fun, found["differences"].fun, rtol=1e-3)
