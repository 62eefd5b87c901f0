"""Gains for arms with uncertain parameters: gradients of a hundred thousand rollouts, and Adam.

python examples/tune_gains.py [PICTURE.png]
"""

import sys
import time
from dataclasses import dataclass

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork import TracedRobot
from linkwork.control import Quintic, clip
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("panda")
nominal = TracedRobot(robot)
start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.8])
goal = np.array([0.9, 0.3, -0.3, -1.2, 0.4, 2.1, -0.2])
path, side = Quintic(start, goal, duration=0.5), np.sign(goal - start)
limit = np.array([87.0, 87, 87, 87, 12, 12, 12])  # N m, of the motors
dt, steps, every = 5e-3, 132, 4
times = dt * np.arange(0, steps + 1, every)
wanted = path.sample(times).q


OF_JOINTS = np.zeros(7)  # the shape of gains, which are given to each rollout


@dataclass(frozen=True)
class Drives:
    """PID plus the torques of the nominal model along the path; motors follow with a lag."""

    lag: float

    @property
    def memory(self):
        return {"integral": np.zeros(7), "torque": robot.gravity(start)}

    def __call__(self, t, q, v, reference, memory, *, kp=OF_JOINTS, ki=OF_JOINTS, kd=OF_JOINTS):
        error = reference.q - q
        known = nominal.inverse_dynamics(reference.q, reference.v, reference.a)
        asked = known + kp * error + ki * memory["integral"] + kd * (reference.v - v)
        return memory["torque"], {
            "integral": error,
            "torque": (clip(asked, -limit, limit) - memory["torque"]) / self.lag,
        }


law, random = Drives(0.02), np.random.default_rng(7)


def drawn(count):
    """Arms of which the controller knows nothing: what they carry, how they rub, where they start."""
    mass, at = random.uniform(0.5, 2.0, count), [0, 0, 0.08] + 0.03 * random.normal(size=(count, 3))
    about = np.einsum("ni,ni->n", at, at)[:, None, None] * np.eye(3) - at[:, :, None] * at[:, None] + 0.002 * np.eye(3)
    rows, columns = np.triu_indices(3)
    load = mass[:, None] * np.column_stack([np.ones(count), at, about[:, rows, columns]])
    rubbing = random.uniform(0, 1, (count, 7)) * [2, 2, 2, 2, 0.6, 0.6, 0.6]
    starts = start + 0.02 * random.normal(size=(count, 7))
    return {"q0": starts, "vary": {"payload": {"panda_link8": load}, "viscous": rubbing}}


def rollout(gains, arms, **options):
    return robot.rollout(
        **arms, v0=np.zeros_like(arms["q0"]), torque=law, dt=dt, steps=steps, method="rk4", every=every,
        outputs=("q", "torque"), reference=path, gains=gains, **options,
    )  # fmt: skip


def loss(run):
    """Error, overshoot and effort, and their slopes by what was recorded."""
    error, beyond, effort = run.q - wanted, np.maximum(side * (run.q - goal), 0), run.torque / limit
    share = 1 / (len(run.q) * len(times))
    parts = share * np.array([1e4 * np.sum(error**2), 1e4 * np.sum(beyond**2), 30 * np.sum(effort**2)])
    return parts, {"q": 2e4 * share * (error + side * beyond), "torque": 60 * share * effort / limit}


kp = np.array([150.0, 150, 100, 100, 15, 15, 5])
first = {"kp": kp, "ki": kp, "kd": 0.1 * kp}
unseen = drawn(1000)
before = rollout(first, unseen)

# Compare the gradient of one batch with a finite difference, along one direction of all gains.
run = rollout(first, unseen, checkpoint_every=1)
gradient = run.pullback(**loss(run)[1]).gains
up, down = ({name: (1 + e) * value for name, value in first.items()} for e in (1e-5, -1e-5))
difference = (loss(rollout(up, unseen))[0] - loss(rollout(down, unseen))[0]).sum() / 2e-5
off = abs(sum(gradient[name] @ first[name] for name in first) / difference - 1)
print(f"gradient and difference agree to {off:.0e}")

count, iterations, rate = 1000, 100, 0.1
x = np.log(np.stack(list(first.values())))  # of gains, which stay positive
mean, square, history, seconds = np.zeros_like(x), np.zeros_like(x), [], np.zeros(2)
for k in range(1, iterations + 1):
    gains, arms = dict(zip(first, np.exp(x), strict=True)), drawn(count)
    marks = [time.perf_counter()]
    run = rollout(gains, arms, checkpoint_every=1)
    marks.append(time.perf_counter())
    parts, slopes = loss(run)
    gradient = run.pullback(**slopes).gains
    marks.append(time.perf_counter())
    slope = np.stack([gradient[name] * gains[name] for name in gains])
    mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
    x -= rate * mean / (1 - 0.9**k) / np.sqrt(square / (1 - 0.99**k))
    history.append(parts)
    seconds += np.diff(marks)
gains = dict(zip(first, np.exp(x), strict=True))
after = rollout(gains, unseen)
each = 1e3 * seconds / iterations
print(f"{count * iterations} rollouts: {each[0]:.0f} ms for {count} of them, {each[1]:.0f} ms for loss and gradient")
old, new = loss(before)[0], loss(after)[0]
for name, one, other in zip(("error", "overshoot", "effort"), old, new, strict=True):
    print(f"{name:10} {one:7.1f} before {other:7.1f} after, of 1000 arms that were not seen")
for name, values in gains.items():
    print(f"{name} from", *np.round(first[name], 1), "to", *np.round(values, 1))

matplotlib.style.use(STYLE)
figure = Figure(figsize=(9, 3.6))
left, right = figure.subplots(1, 2)
for curve, name in zip(np.array(history).T, ("error", "overshoot", "effort"), strict=True):
    left.semilogy(np.arange(1, iterations + 1), curve, label=name)
left.set(title="Parts of the loss, on 1000 new arms each", xlabel="iteration", ylabel="loss", xlim=(0, iterations))
name_lines(left)
for run, color, name in ((before, "C6", "before"), (after, "C0", "after")):
    low, middle, high = np.quantile(np.degrees(np.abs(run.q - wanted).max(-1)), [0.05, 0.5, 0.95], axis=0)
    right.fill_between(times, low, high, color=color, alpha=0.2, linewidth=0)
    right.plot(times, middle, color=color, label=name)
right.set(title="1000 unseen arms: median, 5 to 95 %", xlabel="time (s)", ylabel="largest joint error (degrees)")
name_lines(right)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "tune-gains.png"))
assert off < 1e-4 and new.sum() < 0.2 * old.sum() and new[0] < 0.1 * old[0]
