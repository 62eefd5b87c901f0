"""iLQR for a Panda that swings up and reaches: derivatives of all steps in one call, parallel line search, Newton step.

If Pinocchio is installed, it runs the same algorithm for comparison.

python examples/ilqr_panda.py [PICTURE.png]
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from scipy.linalg.lapack import dposv

import linkwork
from linkwork.drawing import STYLE, name_lines

try:
    import pinocchio as pin
except ImportError:
    pin = None

n, dt = 7, 0.01
X, U = slice(1, 2 * n + 1), slice(2 * n + 1, 3 * n + 1)  # places of x = (q, v) and u in quadratic models of (1, x, u)
SIZES = 0.5 ** np.arange(8)  # of steps, tried side by side: one for each lane of a wide register
METHODS = {"forward_dynamics": "crba+shared-axes"}  # that with the fewest instructions, so none is looked for
HAND = "panda_link8"
PARTS = ("slopes", "backward pass", "forward pass")


# -- tasks ------------------------------------------------------------------------------------------------------------


@dataclass
class Task:
    """Bring something to zero at the end, and the arm to rest, with little torque.

    Torques are limit * tanh(u), so they stay within their limits, and effort counts as u^2: a convex function of the
    torque that grows without end towards the limits. Joints that leave their range are drawn back.
    """

    robot: linkwork.Robot
    start: np.ndarray
    steps: int
    limit: np.ndarray
    missed: Callable  # robot, q -> error at the end
    posture: np.ndarray | float = 0.0  # weight of what the joints are away from ``goal`` on the way
    goal: np.ndarray | float = 0.0
    speed: float = 0.1
    effort: float = 0.1
    precise: float = 100.0
    rest: float = 10.0
    stops: float = 100.0

    def step(self, robot, z):
        """The state (q, v) after a step from z = (q, v, u)."""
        q, v, u = np.split(z, 3)
        v = v + dt * robot.forward_dynamics(q, v, self.limit * np.tanh(u))
        return np.concatenate([q + dt * v, v])

    def along(self, robot, z):
        """The cost of a step."""
        q, v, u = np.split(z, 3)
        lower, upper = self.robot.coordinates.lower + 0.05, self.robot.coordinates.upper - 0.05
        beyond = np.maximum(q - upper, 0) - np.maximum(lower - q, 0)
        place = self.posture * (q - self.goal) ** 2 + self.stops * beyond**2
        return 0.5 * dt * np.sum(place + self.speed * v**2 + self.effort * u**2)

    def end(self, robot, z):
        """The cost of the last state, z = (q, v)."""
        return 0.5 * (self.precise * np.sum(self.missed(robot, z[:n]) ** 2) + self.rest * np.sum(z[n:] ** 2))

    def __post_init__(self):
        step = self.robot.function(self.step, z=3 * n, methods=METHODS)
        along, end = self.robot.function(self.along, z=3 * n), self.robot.function(self.end, z=2 * n)
        self.slopes, self.bends = step.derivative("z"), step.vjp("z").derivative("z", of="z_bar")
        self.cost = lambda z, x: along(z).sum(0) + end(x)  # of motions z (steps, ..., 21) that end at x (..., 14)
        self.models = quadratic(along), quadratic(end)


def quadratic(cost):
    """The function z -> W such that the cost near z is y' W y / 2, but for a constant, with y = (1, dz)."""
    slope, bend = cost.derivative("z"), cost.hessian("z")

    def model(z):
        W = np.zeros((*z.shape[:-1], z.shape[-1] + 1, z.shape[-1] + 1))
        W[..., 0, 1:] = W[..., 1:, 0] = slope(z)
        W[..., 1:, 1:] = bend(z)
        return W

    return model


# -- the arm, by linkwork and by Pinocchio -----------------------------------------------------------------------------


class Native:
    """Slopes of all steps in one call; steps with eight step sizes side by side, feedback and all, in one as well."""

    def __init__(self, task):
        self.task, self.slopes = task, task.slopes

        def follow(robot, x, ahead, K):
            return task.step(robot, np.concatenate([x, ahead + K @ x]))

        self.follow = task.robot.function(follow, x=2 * n, ahead=n, K=(n, 2 * n), methods=METHODS)

    def motions(self, z, gains):
        """From the same start under u + size k + K dx, where dx is how far the new motion is from the old: each size
        with cost, z and the last x."""
        k, K = gains[:, :, 0], gains[:, :, X]
        ahead = (z[:, 2 * n :] - (K @ z[:, : 2 * n, None])[:, :, 0])[:, None] + SIZES[:, None] * k[:, None]
        there = [np.tile(z[0, : 2 * n], (len(SIZES), 1))]
        for now in zip(ahead, K, strict=True):
            there.append(self.follow(there[-1], *now))
        x, end = np.stack(there[:-1]), there[-1]
        new = np.concatenate([x, ahead + x @ K.swapaxes(1, 2)], axis=2)
        return zip(SIZES, self.task.cost(new, end), new.swapaxes(0, 1), end, strict=True)


class Pinocchio:
    """The same step by step, and step sizes one after the other until one will do."""

    def __init__(self, task):
        self.task = task
        with tempfile.TemporaryDirectory() as folder:
            task.robot.write(Path(folder, "robot.urdf"))
            self.robot = pin.buildModelFromUrdf(str(Path(folder, "robot.urdf")))
        self.robot.gravity.linear = np.array(list(task.robot.model.gravity))
        self.data = self.robot.createData()

    def slopes(self, z):
        slopes, limit, t = np.empty((len(z), 2 * n, 3 * n)), self.task.limit, np.tanh(z[:, 2 * n :])
        for da, q, v, tau in zip(slopes[:, n:], z[:, :n], z[:, n : 2 * n], limit * t, strict=True):
            da[:, :n], da[:, n : 2 * n], da[:, 2 * n :] = pin.computeABADerivatives(self.robot, self.data, q, v, tau)
        slopes[:, n:, 2 * n :] *= (limit * (1 - t**2))[:, None]
        slopes[:, n:] *= dt
        slopes[:, n:, n : 2 * n] += np.eye(n)
        np.multiply(slopes[:, n:], dt, out=slopes[:, :n])
        slopes[:, :n, :n] += np.eye(n)
        return slopes

    def motions(self, z, gains):
        robot, data, limit, aba = self.robot, self.data, self.task.limit, pin.aba
        k, K = gains[:, :, 0], gains[:, :, X]
        still = z[:, 2 * n :] - (K @ z[:, : 2 * n, None])[:, :, 0]
        for size in SIZES:
            ahead, new, x = still + size * k, np.empty_like(z), z[0, : 2 * n]
            for t in range(len(z)):
                new[t, : 2 * n], new[t, 2 * n :] = x, ahead[t] + K[t] @ x
                v = x[n:] + dt * aba(robot, data, x[:n], x[n:], limit * np.tanh(new[t, 2 * n :]))
                x = np.concatenate([x[:n] + dt * v, v])
            yield size, self.task.cost(new, x), new, x


# -- iLQR --------------------------------------------------------------------------------------------------------------


def riccati(slopes, W, S, damping):
    """Gains [k, K] of each step, slopes of the cost to go after it, and the predicted change of cost; or nothing, where
    the model has no minimum.

    With y = (1, dx, du) a step is y -> F y, and the cost to go y' Q y / 2, Q = W + F' S F; its minimum over du is the
    cost to go before the step.
    """
    F, W, now = np.zeros((len(W), 2 * n + 1, 3 * n + 1)), W.copy(), slice(0, 2 * n + 1)
    F[:, 0, 0], F[:, 1:, 1:] = 1, slopes
    W[:, U, U] += damping * np.eye(n)
    gains, after = np.empty((len(W), n, 2 * n + 1)), np.empty((len(W), 2 * n))
    for t in reversed(range(len(W))):
        after[t] = S[0, X]
        Q = W[t] + F[t].T @ (S @ F[t])
        mixed = Q[U, now]
        _, solved, failed = dposv(Q[U, U], mixed)
        if failed:
            return None
        gains[t] = solved
        S = Q[now, now] - mixed.T @ solved
        S = 0.5 * (S + S.T)
    return -gains, after, S[0, 0] / 2


@dataclass
class Found:
    z: np.ndarray
    end: np.ndarray
    costs: list = field(default_factory=list)  # before, and after each iteration
    predicted: list = field(default_factory=list)  # change of each iteration's whole step
    second: list = field(default_factory=list)  # whether it had second derivatives
    times: list = field(default_factory=list)  # (slopes, backward, forward) in seconds of processor time


@np.errstate(over="ignore", invalid="ignore")  # steps that are too long may lead anywhere
def ilqr(arm, u, iterations, second=0.0, enough=1e-13):
    """Improve u. From where an iteration promises less than the fraction ``second`` of the cost, second derivatives of
    the dynamics are taken in, if the model then has a minimum: iLQR becomes Newton's method."""
    task = arm.task
    at_rest = np.concatenate([np.tile([*task.start, *np.zeros(n)], (task.steps, 1)), u], axis=1)
    _, cost, z, end = next(arm.motions(at_rest, np.zeros((task.steps, n, 2 * n + 1))))
    found, damping = Found(z, end, [cost]), 1e-3
    while len(found.times) < iterations:
        clock = [thread_time()]
        slopes = arm.slopes(z)
        clock.append(thread_time())
        W, S = (model(place) for model, place in zip(task.models, (z, end), strict=True))
        # The bend of tanh times the slope of all that follows, as it is at the best motion.
        bend = (2 * dt * task.effort * z[:, 2 * n :] * np.tanh(z[:, 2 * n :]))[:, :, None] * np.eye(n)
        W[:, U, U] += bend
        while (best := riccati(slopes, W, S, damping)) is None:
            damping *= 10
        newton = None
        if -best[2] < second * cost:
            W[:, 1:, 1:] += task.bends(z, best[1])
            W[:, U, U] -= bend
            newton = riccati(slopes, W, S, damping)
        gains, _, change = newton or best
        clock.append(thread_time())
        for size, new, *motion in arm.motions(z, gains):
            if new - cost < 0.1 * (2 * size - size**2) * change:
                cost, (z, end) = new, motion
                damping = damping / 4 if size == 1 else damping if size > 0.2 else 4 * damping
                damping *= damping > 1e-8
                break
        else:
            damping = max(8 * damping, 1e-6)
        clock.append(thread_time())
        found.costs.append(cost)
        found.predicted.append(change)
        found.second.append(bool(newton))
        found.times.append(np.diff(clock))
        if -change < enough * cost:
            break
    found.z, found.end = z, end
    return found


# -- the two tasks -----------------------------------------------------------------------------------------------------


def reaching():
    """A standing Panda brings its hand to a point within a second."""
    robot = linkwork.load("panda", friction=False, rotors=False)
    start, target = np.array([0, -0.5, 0, -2, 0, 1.5, 0.8]), np.array([0.1, 0.5, 0.6])
    return Task(
        robot, start, 100, limits(robot), posture=1.0, goal=start, effort=1.0, precise=1000.0,
        missed=lambda robot, q: robot.pose(HAND, q)[:3, 3] - target,
    )  # fmt: skip


def swinging():
    """A Panda hangs from a wall, its first axis level, and must stand upright after three seconds, with 15 % of
    its torques: less than a third of what holds it straight out. Its speeds are not limited."""
    robot = linkwork.load("panda", gravity=[0, -9.81, 0], friction=False, rotors=False)
    down, up, out = (np.array([angle, 1.5, 0, -0.4, 0, 1.8, 0]) for angle in (-np.pi / 2, np.pi / 2, 0))
    task = Task(
        robot, down, 300, 0.15 * limits(robot), posture=0.3 * (np.arange(n) > 0), goal=up,
        missed=lambda robot, q: q - up,
    )  # fmt: skip
    needed = abs(robot.gravity(out)[0])
    print(f"straight out, joint 1 must hold {needed:.0f} N m; it has {task.limit[0]:.0f}")
    assert needed > 3 * task.limit[0]
    return task


def limits(robot):
    return np.array([body.joint.effort_limit for body in robot.model.bodies])


def held(task):
    """Torques that hold the start, as far as there are any: where the search begins."""
    return np.tile(np.arctanh(np.clip(task.robot.gravity(task.start) / task.limit, -0.9, 0.9)), (task.steps, 1))


def solved(name, arm):
    task, found = arm.task, ilqr(arm, held(arm.task), 300, second=0.01)
    costs, promised, end = np.array(found.costs), np.array(found.predicted), found.end
    missed, speed = np.linalg.norm(task.missed(task.robot, end[:n])), np.linalg.norm(end[n:])
    print(f"{name}: misses by {missed:.4f}, at {speed:.4f} rad/s, after {len(promised)} iterations")
    last = ", ".join(f"{-change:.0e}" for change in promised[-4:])
    print(f"    {sum(found.second)} of them with second derivatives; the last promised {last} of {costs[-1]:.2f}")
    assert missed < 0.01 and speed < 0.02 and (np.diff(costs) <= 0).all()
    assert (np.abs(task.limit * np.tanh(found.z[:, 2 * n :])) < task.limit).all()
    assert (found.z[:, :n] > task.robot.coordinates.lower).all()
    assert (found.z[:, :n] < task.robot.coordinates.upper).all()
    # What would not be so if a derivative were wrong: promises are kept, and each has twice the digits of the last.
    assert abs((costs[-3] - costs[-4]) / promised[-3] - 1) < 0.1
    assert promised[-1] > 1e-3 * promised[-2] and promised[-2] > 0.1 * promised[-3] and all(found.second[-3:])
    return found


def compared(arm, rounds=3, iterations=25):
    """iLQR alone by both, in turn: milliseconds of the parts of an iteration, medians."""
    task, arms = arm.task, {"linkwork": arm} | ({"Pinocchio": Pinocchio(arm.task)} if pin else {})
    runs = {name: [] for name in arms}
    for _ in range(rounds):
        for name, arm in arms.items():
            runs[name].append(ilqr(arm, held(task), iterations))
    if pin:
        ours, theirs = (np.array(each[0].costs) for each in runs.values())
        apart = np.abs(theirs / ours - 1).max()
        print(f"costs of {iterations} iterations differ from Pinocchio's by {apart:.0e} at most")
        assert apart < 1e-6
    times = {name: 1e3 * np.median([run.times for run in each], axis=(0, 1)) for name, each in runs.items()}
    for name, parts in times.items():
        shares = ", ".join(f"{part} {ms:.2f}" for part, ms in zip(PARTS, parts, strict=True))
        print(f"{name}: an iteration over {task.steps} steps takes {parts.sum():.2f} ms: {shares}")
    return times


def draw(path, task, swing, alone, reach, times):
    matplotlib.style.use(STYLE)
    figure = Figure(figsize=(9, 5.6))
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.45))
    film, (forces, costs, bars) = upper.subplots(), lower.subplots(1, 3, width_ratios=(1.15, 1.1, 0.9))
    t = dt * np.arange(task.steps + 1)
    chain = [
        task.robot.pose(f"panda_link{k}", np.vstack([swing.z[:, :n], swing.end[:n]]))[:, :2, 3]
        for k in (0, 2, 3, 4, 5, 6, 7, 8)
    ]
    along = 3.0 * t  # each moment is drawn at its place, three metres a second
    points = np.stack(chain, axis=1) + np.stack([along, 0 * t], axis=-1)[:, None]
    film.plot(*points[:, -1].T, color="C1", linewidth=1)
    for k in range(0, task.steps + 1, 25):
        film.plot(*points[k].T, color="C0", linewidth=3, alpha=0.85, solid_joinstyle="round")
        film.plot(*points[k, 0], "o", color="black", markersize=4)
    film.set(aspect="equal", yticks=[], title="A Panda at a wall swings up in 3 s, and the path of its hand")
    film.set_xticks(along[::50], [f"{each:g} s" for each in t[::50]])
    film.margins(0.02, 0.06)
    film.grid(visible=False)
    film.spines["left"].set_visible(False)
    tau = np.tanh(swing.z[:, 2 * n :])
    for k in (0, 1, 3):
        forces.step(t[:-1], 100 * tau[:, k], where="post", label=f"joint {k + 1}")
    for sign in (-100, 100):
        forces.axhline(sign, color="black", linewidth=0.8, linestyle="--")
    forces.set(xlabel="time (s)", ylabel="torque (% of the limit)", title="Limited to 15 % of the Panda's")
    name_lines(forces)
    for name, found, best in (("iLQR alone", alone, swing), ("swing-up", swing, swing), ("reach", reach, reach)):
        above = np.array(found.costs) / best.costs[-1] - 1
        costs.semilogy(np.where(above > 1e-14, above, np.nan), label=name)
    costs.set(xlabel="iteration", title="Cost above the least, relative")
    name_lines(costs)
    bottom = np.zeros(len(times))
    for k, part in enumerate(PARTS):
        height = np.array([parts[k] for parts in times.values()])
        bars.bar(list(times), height, 0.6, bottom, label=part, color=f"C{k}")
        bottom += height
    bars.set(title="One iteration (ms)", xlim=(-0.6, 1.6), ylim=(0, 1.45 * bottom.max()))
    for k, height in enumerate(bottom):
        bars.text(k, height, f"{height:.1f}", ha="center", va="bottom")
    bars.legend(loc="upper left", reverse=True)
    bars.grid(visible=False, axis="x")
    figure.savefig(path)


if __name__ == "__main__":
    reach, arm = solved("reach", Native(reaching())), Native(swinging())
    swing, times = solved("swing-up", arm), compared(arm)
    alone = ilqr(arm, held(arm.task), 100)
    path = next((name for name in sys.argv[1:] if name.endswith(".png")), "ilqr.png")
    draw(path, arm.task, swing, alone, reach, times)
