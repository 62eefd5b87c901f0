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
from linkwork.control import tanh
from linkwork.drawing import STYLE, name_lines

try:
    import pinocchio as pin
except ImportError:
    pin = None

n, dt = 7, 0.01
X, ONE, U = slice(0, 2 * n), 2 * n, slice(2 * n + 1, 3 * n + 1)  # places of (dq, dv), 1 and du in quadratic models
diagonal = np.arange(3 * n + 1)
SIZES = 0.5 ** np.arange(8)  # of steps, tried side by side: one for each lane of a wide register
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
    missed: Callable  # q -> error at the end
    missed_slopes: Callable  # q -> its first and second derivatives
    posture: np.ndarray | float = 0.0  # weight of what the joints are away from ``goal`` on the way
    goal: np.ndarray | float = 0.0
    speed: float = 0.1
    effort: float = 0.1
    precise: float = 100.0
    rest: float = 10.0
    stops: float = 100.0

    def beyond(self, q):
        lower, upper = self.robot.coordinates.lower + 0.05, self.robot.coordinates.upper - 0.05
        return np.maximum(q - upper, 0) - np.maximum(lower - q, 0)

    def cost(self, x, u):
        """Cost of motions x (steps + 1, samples, 14) under u (steps, samples, 7)."""
        q, v = x[:-1, :, :n], x[:-1, :, n:]
        along = self.posture * (q - self.goal) ** 2 + self.stops * self.beyond(q) ** 2 + self.speed * v**2
        end = self.precise * (self.missed(x[-1, :, :n]) ** 2).sum(-1) + self.rest * (x[-1, :, n:] ** 2).sum(-1)
        return 0.5 * (dt * (along + self.effort * u**2).sum((0, 2)) + end)

    def model(self, x, u):
        """The cost near a motion, as z' W z / 2 with z = (dx, 1, du) of each step, and z' S z / 2 with z = (dx, 1) of
        the end."""
        q, v = x[:-1, :n], x[:-1, n:]
        outside = self.beyond(q)
        slope = np.concatenate([self.posture * (q - self.goal) + self.stops * outside, self.speed * v], 1)
        bend = np.concatenate([self.posture + self.stops * (outside != 0), np.full_like(v, self.speed)], 1)
        W, S = np.zeros((self.steps, 3 * n + 1, 3 * n + 1)), np.zeros((2 * n + 1, 2 * n + 1))
        W[:, X, ONE] = W[:, ONE, X] = dt * slope
        W[:, diagonal[X], diagonal[X]] = dt * bend
        W[:, U, ONE] = W[:, ONE, U] = dt * self.effort * u
        # The bend of u^2, and that of tanh times the slope of all that follows, as it is at the best motion.
        W[:, diagonal[U], diagonal[U]] = dt * self.effort * (1 + 2 * u * np.tanh(u))
        error, (J, H) = self.missed(x[-1, :n]), self.missed_slopes(x[-1, :n])
        S[:n, :n] = self.precise * (J.T @ J + np.tensordot(error, H, 1))
        S[:n, ONE] = S[ONE, :n] = self.precise * J.T @ error
        S[diagonal[n : 2 * n], diagonal[n : 2 * n]] = self.rest
        S[n:ONE, ONE] = S[ONE, n:ONE] = self.rest * x[-1, n:]
        return W, S


# -- the arm, by linkwork and by Pinocchio -----------------------------------------------------------------------------


class Native:
    """Slopes of all steps in one call; motions with eight step sizes side by side, feedback and all in native code."""

    def __init__(self, task):
        self.task, robot, limit = task, task.robot, task.limit

        def law(t, q, v, reference, *, ahead, K):
            return limit * tanh(ahead + K @ np.concatenate([q, v]))

        gains = {"ahead": np.zeros((len(SIZES), n)), "K": np.zeros((len(SIZES), n, 2 * n))}
        self.stepper = robot.stepper(len(SIZES), dt, torque=law, gains=gains)
        self.bends = robot.forward_dynamics.vjp().derivative(("q", "v", "tau"), of=("q_bar", "v_bar"))

    def linear(self, q, v, tau):
        """A and B of all steps."""
        return self.task.robot.linearise(q, v, tau, dt)

    def motions(self, x, u, gains):
        """From the same start under u + size k + K dx, where dx is how far the new motion is from the old: each size
        with cost, x and u."""
        K, k, stepper = gains[:, :, X], gains[:, :, ONE], self.stepper
        ahead = (u - (K @ x[:-1, :, None])[:, :, 0])[:, None] + SIZES[:, None] * k[:, None]
        there = np.empty((len(u) + 1, len(SIZES), 2 * n))
        q, v, step, ahead_now, K_now = stepper.q, stepper.v, stepper.step, stepper.gains["ahead"], stepper.gains["K"]
        there[0], q[:], v[:] = x[0], x[0, :n], x[0, n:]
        for t in range(len(u)):
            ahead_now[:], K_now[:] = ahead[t], K[t]
            step()
            there[t + 1, :, :n], there[t + 1, :, n:] = q, v
        new = ahead + there[:-1] @ K.swapaxes(1, 2)
        return zip(SIZES, self.task.cost(there, new), there.swapaxes(0, 1), new.swapaxes(0, 1), strict=True)

    def bent(self, W, B, slopes, x, u):
        """The model with second derivatives of the dynamics, times the slopes of the cost to go: all in one call."""
        t, weight = np.tanh(u), dt * (slopes[:, n:] + dt * slopes[:, :n])
        qq, qv, qu, vq, vv, _ = self.bends(x[:-1, :n], x[:-1, n:], self.task.limit * t, weight)
        qu = qu * (self.task.limit * (1 - t**2))[:, None]
        W = W.copy()
        W[:, X, X] += np.block([[qq, qv], [vq, vv]])
        W[:, :n, U] += qu
        W[:, U, :n] += qu.swapaxes(1, 2)
        W[:, diagonal[U], diagonal[U]] -= 2 * t * (W[:, U, ONE] + (slopes[:, None] @ B)[:, 0])  # zero at the end
        return W


class Pinocchio:
    """The same step by step, and step sizes one after the other until one will do."""

    def __init__(self, task):
        self.task = task
        with tempfile.TemporaryDirectory() as folder:
            task.robot.write(Path(folder, "robot.urdf"))
            self.robot = pin.buildModelFromUrdf(str(Path(folder, "robot.urdf")))
        self.robot.gravity.linear = np.array(list(task.robot.model.gravity))
        self.data = self.robot.createData()

    def linear(self, q, v, tau):
        robot, data, slopes = self.robot, self.data, np.empty((len(q), n, 3 * n))
        for t in range(len(q)):
            slopes[t, :, :n], slopes[t, :, n : 2 * n], slopes[t, :, 2 * n :] = pin.computeABADerivatives(
                robot, data, q[t], v[t], tau[t]
            )
        return stepped(slopes)

    def motions(self, x, u, gains):
        robot, data, limit, aba = self.robot, self.data, self.task.limit, pin.aba
        K, k = gains[:, :, X], gains[:, :, ONE]
        still = u - (K @ x[:-1, :, None])[:, :, 0]
        for size in SIZES:
            ahead, there, new = still + size * k, np.empty_like(x), np.empty_like(u)
            there[0], now = x[0], x[0]
            for t in range(len(u)):
                new[t] = ahead[t] + K[t] @ now
                v = now[n:] + dt * aba(robot, data, now[:n], now[n:], limit * np.tanh(new[t]))
                q, now = now[:n], there[t + 1]
                now[:n], now[n:] = q + dt * v, v
            yield size, self.task.cost(there[:, None], new[:, None])[0], there, new


def stepped(slopes):
    """A and B of v' = v + dt a, q' = q + dt v', from the derivatives of a with respect to (q, v, tau)."""
    whole = np.empty((len(slopes), 2 * n, 3 * n))
    np.multiply(slopes, dt, out=whole[:, n:])
    whole[:, n:, n : 2 * n] += np.eye(n)
    np.multiply(whole[:, n:], dt, out=whole[:, :n])
    whole[:, :n, :n] += np.eye(n)
    return whole[:, :, X], whole[:, :, 2 * n :]


# -- iLQR --------------------------------------------------------------------------------------------------------------


def riccati(A, B, W, S, damping):
    """Gains [K, k] of each step, slopes of the cost to go after it, and the predicted change of cost; or nothing, where
    the model has no minimum.

    With z = (dx, 1, du) a step is z -> F z, and the cost to go z' Q z / 2, Q = W + F' S F; its minimum over du is the
    cost to go before the step.
    """
    F = np.zeros((len(A), 2 * n + 1, 3 * n + 1))
    F[:, X, X], F[:, X, U], F[:, ONE, ONE] = A, B, 1
    W = W.copy()
    W[:, diagonal[U], diagonal[U]] += damping
    gains, slopes, first = np.empty((len(A), n, 2 * n + 1)), np.empty((len(A), 2 * n)), slice(0, 2 * n + 1)
    for t in reversed(range(len(A))):
        slopes[t] = S[X, ONE]
        Q = W[t] + F[t].T @ (S @ F[t])
        mixed = Q[U, first]
        _, solved, failed = dposv(Q[U, U], mixed)
        if failed:
            return None
        gains[t] = solved
        S = Q[first, first] - mixed.T @ solved
        S = 0.5 * (S + S.T)
    return -gains, slopes, S[ONE, ONE] / 2


@dataclass
class Found:
    x: np.ndarray
    u: np.ndarray
    costs: list = field(default_factory=list)  # before, and after each iteration
    predicted: list = field(default_factory=list)  # change of each iteration's whole step
    second: list = field(default_factory=list)  # whether it had second derivatives
    times: list = field(default_factory=list)  # (slopes, backward, forward) in seconds of processor time


@np.errstate(over="ignore", invalid="ignore")  # steps that are too long may lead anywhere
def ilqr(arm, u, iterations, second=0.0, enough=1e-13):
    """Improve u. From where an iteration promises less than the fraction ``second`` of the cost, second derivatives of
    the dynamics are taken in, if the model then has a minimum: iLQR becomes Newton's method."""
    task = arm.task
    at_rest = np.tile([*task.start, *np.zeros(n)], (task.steps + 1, 1))
    _, cost, x, u = next(arm.motions(at_rest, u, np.zeros((task.steps, n, 2 * n + 1))))
    found, damping = Found(x, u, [cost]), 1e-3
    while len(found.times) < iterations:
        clock = [thread_time()]
        A, B = arm.linear(x[:-1, :n], x[:-1, n:], task.limit * np.tanh(u))
        B = B * (task.limit * (1 - np.tanh(u) ** 2))[:, None]
        clock.append(thread_time())
        W, S = task.model(x, u)
        while (best := riccati(A, B, W, S, damping)) is None:
            damping *= 10
        newton = -best[2] < second * cost and riccati(A, B, arm.bent(W, B, best[1], x, u), S, damping)
        gains, _, change = newton or best
        clock.append(thread_time())
        for size, new, *motion in arm.motions(x, u, gains):
            if new - cost < 0.1 * (2 * size - size**2) * change:
                cost, (x, u) = new, motion
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
    found.x, found.u = x, u
    return found


# -- the two tasks -----------------------------------------------------------------------------------------------------


def reaching():
    """A standing Panda brings its hand to a point within a second."""
    robot = linkwork.load("panda", friction=False, rotors=False)
    start, target = np.array([0, -0.5, 0, -2, 0, 1.5, 0.8]), np.array([0.1, 0.5, 0.6])
    hand = robot.compile("pose", frame=HAND)
    slope, bend = hand.derivative(), hand.hessian()
    return Task(
        robot, start, 100, limits(robot), posture=1.0, goal=start, effort=1.0, precise=1000.0,
        missed=lambda q: hand(q)[..., :3, 3] - target, missed_slopes=lambda q: (slope(q)[:3, 3], bend(q)[:3, 3]),
    )  # fmt: skip


def swinging():
    """A Panda hangs from a wall, its first axis level, and must stand upright after three seconds, with 15 % of
    its torques: less than a third of what holds it straight out. Its speeds are not limited."""
    robot = linkwork.load("panda", gravity=[0, -9.81, 0], friction=False, rotors=False)
    down, up, out = (np.array([angle, 1.5, 0, -0.4, 0, 1.8, 0]) for angle in (-np.pi / 2, np.pi / 2, 0))
    task = Task(
        robot, down, 300, 0.15 * limits(robot), posture=0.3 * (np.arange(n) > 0), goal=up,
        missed=lambda q: q - up, missed_slopes=lambda q: (np.eye(n), np.zeros((n, n, n))),
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


def solved(name, task):
    found = ilqr(Native(task), held(task), 300, second=0.01)
    costs, promised, end = np.array(found.costs), np.array(found.predicted), found.x[-1]
    missed, speed = np.linalg.norm(task.missed(end[:n])), np.linalg.norm(end[n:])
    print(f"{name}: misses by {missed:.4f}, at {speed:.4f} rad/s, after {len(promised)} iterations")
    last = ", ".join(f"{-change:.0e}" for change in promised[-4:])
    print(f"    {sum(found.second)} of them with second derivatives; the last promised {last} of {costs[-1]:.2f}")
    assert missed < 0.01 and speed < 0.02 and (np.diff(costs) <= 0).all()
    assert (np.abs(task.limit * np.tanh(found.u)) < task.limit).all()
    assert (found.x[:, :n] > task.robot.coordinates.lower).all()
    assert (found.x[:, :n] < task.robot.coordinates.upper).all()
    # What would not be so if a derivative were wrong: promises are kept, and each has twice the digits of the last.
    assert abs((costs[-3] - costs[-4]) / promised[-3] - 1) < 0.1
    assert promised[-1] > 1e-3 * promised[-2] and promised[-2] > 0.1 * promised[-3] and all(found.second[-3:])
    return found


def compared(task, rounds=3, iterations=25):
    """iLQR alone by both, in turn: milliseconds of the parts of an iteration, medians."""
    arms = {"linkwork": Native(task)} | ({"Pinocchio": Pinocchio(task)} if pin else {})
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
    chain = [task.robot.pose(f"panda_link{k}", swing.x[:, :n])[:, :2, 3] for k in (0, 2, 3, 4, 5, 6, 7, 8)]
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
    tau = np.tanh(swing.u)
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
    reach, task = solved("reach", reaching()), swinging()
    swing = solved("swing-up", task)
    times = compared(task)
    alone = ilqr(Native(task), held(task), 100)
    draw(next((name for name in sys.argv[1:] if name.endswith(".png")), "ilqr.png"), task, swing, alone, reach, times)
