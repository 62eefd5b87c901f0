"""Two thousand arms with uncertain parameters: how well does a controller with the nominal model work?

python examples/monte_carlo.py [PICTURE.png]
"""

import sys
import time

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import ComputedTorque, Quintic
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("puma560")
samples, steps, dt = 2000, 1500, 1e-3
random = np.random.default_rng(7)
masses = np.array([body.inertia.mass for body in robot.model.bodies])
friction = np.array([body.joint.viscous for body in robot.model.bodies])

start = np.zeros(6)
path = Quintic(start, [0.8, -0.6, 0.5, 0.3, 0.4, 0.0], duration=1.2)
gains = random.uniform(5.0, 25.0, samples)  # rad/s, of the error's decay
began = time.perf_counter()
motions = robot.rollout(
    np.tile(start, (samples, 1)), np.zeros((samples, 6)), ComputedTorque(100.0, 20.0), dt, steps,
    reference=path, every=30, outputs=("q", "tau"),
    vary={
        "mass": masses * random.uniform(0.8, 1.2, (samples, 6)),
        "viscous": friction * random.uniform(0.5, 1.5, (samples, 6)),
    },
    gains={"kp": gains[:, None] ** 2, "kd": 2 * gains[:, None]},
)  # fmt: skip
seconds = time.perf_counter() - began
print(f"{samples * steps / 1e6:.0f} million steps in {seconds:.1f} s, compilation included")

error = np.degrees(np.abs(motions.q - path.sample(motions.t).q).max(axis=-1))  # (samples, times)
half = gains < np.median(gains)
print(f"largest error: median {np.median(error.max(1)):.2f} degrees, 95 % below {np.quantile(error.max(1), 0.95):.2f}")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(9, 3.8))
left, right = figure.subplots(1, 2)
low, middle, high = np.quantile(error, [0.05, 0.5, 0.95], axis=0)
left.fill_between(motions.t, low, high, alpha=0.2, linewidth=0)
for curve, name in ((low, "5 %"), (middle, "median"), (high, "95 %")):
    left.plot(motions.t, curve, color="C0", linewidth=2 if curve is middle else 0.7, label=name)
left.set(xlabel="time (s)", ylabel="largest joint error (degrees)", title="Masses ±20 %, friction ±50 %")
name_lines(left)
right.plot(gains, error.max(1), ".", color="C0", markersize=3, alpha=0.5, markeredgewidth=0)
right.set(
    xlabel="bandwidth of the controller (rad/s)", ylabel="largest error (degrees)", title="Higher gains forgive more"
)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "monte_carlo.png"))
assert np.median(error.max(1)[half]) > np.median(error.max(1)[~half])
