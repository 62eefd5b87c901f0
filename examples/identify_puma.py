"""Identify the parameters of a Puma: an exciting motion, a noisy recording, and a physically consistent model.

python examples/identify_puma.py [PICTURE.png]
"""

import sys
import warnings

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import ComputedTorque
from linkwork.drawing import STYLE, name_lines
from linkwork.identify import Log, excite

thought = linkwork.load("puma560")  # what its file says
tool = {"mass": 1.5, "center": [0.0, 0.02, 0.06], "inertia": [0.004, 0.004, 0.002]}
rubbing = {"coulomb": 9.0, "viscous": 3.0, "offset": 0.5}
arm = thought.with_payload({"link6": tool}).with_friction({"elbow": rubbing})  # what stands there, which nobody knows


def recorded(motion, noise=1.0):
    """Followed by a controller that knows the file alone; positions and torques with noise, 200 times a second."""
    run = arm.simulate(
        motion.start, duration=motion.duration, torque=ComputedTorque(400, 40), reference=motion.reference, every=5
    )
    log = Log(run.t, run.q, run.tau, joints=thought.joint_names).noisy(1, q=2e-5 * noise, tau=0.5 * noise)
    return log.smoothed(15).banded(10).between(0.2, motion.duration - 0.2)  # derivatives at the ends are poor


motion = excite(thought, period=8, periods=2, starts=2, seed=1)
print(f"condition number {motion.condition:.1f}; of random motions at best {motion.random['condition']['best']:.1f}")
log, other = recorded(motion), recorded(excite(thought, starts=1, velocity=1.5, seed=9), noise=0.0)
fit = thought.identify(log)
fit.report("identify-puma.html")
print(fit)
found = dict(zip(fit.standard.names, zip(fit.standard.values, fit.standard.deviations, strict=True), strict=True))
friction = {name: found[f"elbow.{short}"] for name, short in (("coulomb", "FS"), ("viscous", "FV"), ("offset", "F0"))}
for name, (value, deviation) in friction.items():
    print(f"elbow, {name}: {value:.3f} +- {deviation:.3f}, true {rubbing[name]:g}")
print("error of the torques of another motion, by joint:", *np.round(fit.error(other), 3))

# Least squares need a long recording; bodies that must be physical, near those of the file, do with a short one.
lengths, errors = (1.5, 2, 3, 4, 6, 8, 16), {"wls": [], "consistent": []}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", linkwork.IdentificationWarning)  # the other motion is faster than a short one
    for seconds in lengths:
        for method, each in errors.items():
            short = thought.identify(log.between(1.0, 1.0 + seconds), method, width=0.05)
            each.append(np.sqrt(np.mean(short.error(other) ** 2)))
            assert short.is_physical or method == "wls"

matplotlib.style.use(STYLE)
figure = Figure(figsize=(11, 3.6))
left, middle, right = figure.subplots(1, 3)
elbow = thought.joint_names.index("elbow")
t, measured, predicted = (np.concatenate(each) for each in zip(*fit.predictions(other), strict=True))
own = other.for_robot(thought)
left.plot(t, measured[:, elbow], color="gray", linewidth=3, alpha=0.5, label="true")
left.plot(own.t, thought.inverse_dynamics(own.q, own.v, own.a)[:, elbow], color="C6", linewidth=1, label="file")
left.plot(t, predicted[:, elbow], color="C0", linewidth=1, label="fit")
left.set(title="Elbow, in a motion that was not fitted", xlabel="time (s)", ylabel="torque (N m)", xlim=(0, t[-1]))
name_lines(left)
v = np.linspace(-2, 2, 401)
smooth = v / np.sqrt(v**2 + 0.05**2)
known = thought.model.joint(elbow + 1)
for label, (Fs, Fv, F0), look in (
    ("file", (known.coulomb, known.viscous, 0.0), {"color": "C6"}),
    ("true", rubbing.values(), {"color": "gray", "linewidth": 3, "alpha": 0.5}),
    ("fit", [value for value, _ in friction.values()], {"color": "C0", "linewidth": 1}),
):
    middle.plot(v, Fs * smooth + Fv * v + F0, label=label, **look)
middle.set(title="Its friction", xlabel="velocity (rad/s)", ylabel="torque (N m)")
name_lines(middle)
for method, color in (("wls", "C1"), ("consistent", "C0")):
    right.loglog(lengths, errors[method], color=color, marker="o", markersize=3, label=method)
right.set(title="How much must be recorded", xlabel="seconds", ylabel="error of the other motion, rms of joints")
right.set_xticks(lengths, lengths)
right.minorticks_off()
name_lines(right)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "identify-puma.png"))
assert fit.is_physical and motion.condition < motion.random["condition"]["best"] / 2
assert all(abs(value - rubbing[name]) < 4 * deviation for name, (value, deviation) in friction.items())
assert errors["consistent"][0] < errors["wls"][0] / 2 and errors["consistent"][-1] < 1.2 * errors["wls"][-1]
