"""Payload from one recorded motion: mass, centre and inertia of a load, by least squares through a simulation.

python examples/fit_payload.py [PICTURE.png]
"""

import sys
import time

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import least_squares

import linkwork
from linkwork.control import ComputedTorque, Fourier
from linkwork.drawing import STYLE, name_lines

robot, law = linkwork.load("panda"), ComputedTorque(400.0, 40.0)  # which knows nothing of the load
names = ("m", "m x", "m y", "m z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")  # of the load, in the frame of the flange
mass, at = 1.6, np.array([0.03, -0.02, 0.09])
inertia = np.array([[6, 1, 0], [1, 8, 0], [0, 0, 5]]) * 1e-3 + mass * (at @ at * np.eye(3) - np.outer(at, at))
load = np.array([mass, *mass * at, *inertia[np.triu_indices(3)]])
units = np.array([1, 0.1, 0.1, 0.1, *[0.01] * 6])  # in which SciPy sees them

dt, steps, every, noise = 5e-3, 400, 10, 2e-4  # s; rad, of the recorded positions
random = np.random.default_rng(3)
ready, waves = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.8, 0.8]), 0.25 * random.normal(size=(2, 7, 3))
moving, still = Fourier(ready, *waves, frequency=0.25), Fourier(ready, *(0 * waves), frequency=0.25)


def rollout(x, path, **options):
    """With loads x (10,), or (samples, 10)."""
    place = path(0.0)
    q0, v0 = (np.broadcast_to(each, (*x.shape[:-1], 7)) for each in (place.q, place.v))
    return robot.rollout(
        q0, v0, law, dt, steps, method="rk4", reference=path, every=every, outputs=("q",),
        vary={"payload": {"panda_link8": x * units}}, **options,
    )  # fmt: skip


def misfit(x):
    return (rollout(x, moving).q[1:] - recorded).ravel() / noise


def slopes(x, path=moving):
    """Jacobian of all misfits with respect to x. Each row is a pullback through its own sample."""
    rows = recorded.size
    run = rollout(np.tile(x, (rows, 1)), path, checkpoint_every=1)
    weights = np.zeros(run.q.shape)
    weights[:, 1:] = np.eye(rows).reshape(rows, -1, 7) / noise
    return run.pullback(q=weights).vary["payload"]["panda_link8"] * units


def spread(J):
    """Standard deviations of the load's numbers; where J does not see a number, its is huge."""
    _, sizes, ways = np.linalg.svd(J, full_matrices=False)
    return units * np.linalg.norm(ways / np.maximum(sizes, 1e-9)[:, None], axis=0)


recorded = rollout(load / units, moving).q[1:]
recorded = recorded + noise * random.normal(size=recorded.shape)
first = np.array([0.5, 0, 0, 0.03, 0.002, 0, 0, 0.002, 0, 0.001]) / units
way = random.normal(size=10)
difference = (misfit(first + 1e-5 * way) - misfit(first - 1e-5 * way)) / 2e-5
off = abs(slopes(first) @ way - difference).max() / abs(difference).max()
print(f"{recorded.size} misfits, slopes by 10 numbers each: differences agree to {off:.0e}")

history, began = [], time.perf_counter()


def followed(x):
    history.append(x * units)
    return slopes(x)


result = least_squares(misfit, first, followed)
found, seconds = result.x * units, time.perf_counter() - began
chi = 2 * result.cost / (recorded.size - 10)
print(f"{len(history)} iterations, {seconds:.1f} s; what is left is {np.sqrt(chi):.2f} times the noise")
sure, unsure = spread(result.jac), spread(slopes(result.x, still)[recorded.size // 2 :])  # the arm has come to rest
for k, name in enumerate(names):
    seen = f"+- {unsure[k]:.5f}" if unsure[k] < abs(load[k]) else "cannot be seen"
    print(f"{name:4} true {load[k]:8.5f}, found {found[k]:8.5f} +- {sure[k]:.5f}, standing still: {seen}")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(11, 3.6))
left, middle, right = figure.subplots(1, 3)
t = dt * every * np.arange(1, len(recorded) + 1)
for x, name in ((first, "before"), (result.x, "after")):
    left.semilogy(t, noise * np.sqrt(np.mean(misfit(x).reshape(-1, 7) ** 2, axis=1)), label=name)
left.axhline(noise, color="gray", linewidth=1)
left.text(0.1, 1.6 * noise, "noise", color="gray")
left.set(title="Recorded and simulated", xlim=(0, None), xlabel="time (s)", ylabel="misfit of the joints, rms (rad)")
name_lines(left)
for k, name in enumerate(names[:4]):
    middle.plot(np.array(history)[:, k] / load[k], label=name)
middle.plot(np.array(history)[:, [4, 7, 9]] / load[[4, 7, 9]], color="C6", linewidth=0.9, label=["Ixx", "Iyy", "Izz"])
middle.set(title="Found on the way", xlabel="iteration", ylabel="found / true")
name_lines(middle)
for shift, values, name, color in ((-0.2, sure, "moving", "C0"), (0.2, unsure, "standing still", "C1")):
    right.bar(np.arange(10) + shift, values / abs(load), 0.4, label=name, color=color)
right.axhline(1, color="gray", linewidth=1)
right.set(title="How well it is known", yscale="log", ylim=(1e-4, 1e2), ylabel="standard deviation / true value")
right.set_xticks(range(10), names, rotation=60)
right.legend(loc="upper left")
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "fit-payload.png"))
assert off < 1e-6 and 0.8 < chi < 1.2
assert (abs(found - load) < 5 * sure).all() and (sure < 0.05 * abs(load)).all()
assert (unsure[:3] < abs(load[:3])).all() and (unsure[4:] > abs(load[4:])).all()  # inertia shows in motion alone
