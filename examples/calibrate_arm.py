"""Kinematic calibration: placements of all joints of an arm from measured positions of its tip, by Gauss-Newton steps.

python examples/calibrate_arm.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import STYLE

robot, random = linkwork.load("ur5e"), np.random.default_rng(4)
NUMBERS = "gamma", "b", "alpha", "d", "theta", "r"  # of a placement, in the modified Denavit-Hartenberg convention
noise = 3e-5  # m, of a laser tracker
unit = 1e-3  # m or rad: numbers are about this far from the nominal ones


def tip(robot, q, ball):
    """Position of a tracker's ball that is fixed to the flange."""
    T = robot.pose("tool0", q)
    return T[:3, 3] + T[:3, :3] @ ball


placements = [f"geometry:{joint}" for joint in robot.joint_names]
position = robot.function(tip, ball=3, inputs=placements)
slopes = position.derivative(["ball", *placements])
nominal = [np.array(position.label.nominal[port.name].values) for port in position.program.inputs[2:]]
ball = np.array([0.02, -0.03, 0.08])  # m, roughly
names = ["ball x", "ball y", "ball z"]
names += [f"{joint} {number}" for joint in robot.joint_names for number in NUMBERS]


def inputs(x):
    """Ball and placements, x units away from the nominal ones."""
    ball_part, *parts = np.split(unit * x, range(3, len(x), 6))
    return [ball + ball_part, *(each + part for each, part in zip(nominal, parts, strict=True))]


def tips(q, x):
    return position(q, *inputs(x)).ravel()


def jacobian(q, x):
    return unit * np.concatenate([each.reshape(3 * len(q), -1) for each in slopes(q, *inputs(x))], axis=1)


truth = random.normal(size=len(names))
postures, unseen = (random.uniform(-2.5, 2.5, (count, 6)) for count in (60, 200))
measured = tips(postures, truth) + noise * random.normal(size=3 * len(postures))

x = np.zeros(len(names))
for turn in range(1, 5):  # each solves for measurements, to the noise, and for all x = 0, to one unit
    left, sizes, ways = np.linalg.svd(jacobian(postures, x) / noise, full_matrices=False)
    rest = (measured - tips(postures, x)) / noise
    x = ways.T @ (sizes * (left.T @ rest + sizes * (ways @ x)) / (sizes**2 + 1))
    print(f"step {turn}: tip off by {1e3 * np.std(measured - tips(postures, x)):.4f} mm")
shown = sizes**2 / (sizes**2 + 1)  # what measurements say of each combination of numbers: nothing (0) or all (1)
rest = (measured - tips(postures, x)) / noise
chi = np.sqrt(np.sum(rest**2) / (len(rest) - shown.sum()))
print(f"{np.sum(shown > 0.5)} combinations of {len(names)} numbers are identifiable")
print(f"what is left is {chi:.2f} times the noise")

spread = ways.T / np.sqrt(sizes**2 + 1)  # columns: standard deviations of independent combinations
sigma = np.linalg.norm(spread, axis=1)
alone = sigma < 0.3
for k in np.flatnonzero(alone):
    print(f"{names[k]:26} {x[k]:6.3f} +- {sigma[k]:.3f}, true {truth[k]:6.3f}")
print(f"{np.sum(~alone)} other numbers are known only in combinations")

off = {}
for name, y in (("nominal", 0 * x), ("calibrated", x)):
    off[name] = 1e3 * np.linalg.norm((tips(unseen, truth) - tips(unseen, y)).reshape(-1, 3), axis=1)
off["expected"] = 1e3 * np.linalg.norm((jacobian(unseen, x) @ spread).reshape(len(unseen), -1), axis=1)
rms = {name: np.sqrt(np.mean(each**2)) for name, each in off.items()}
for name, value in rms.items():
    print(f"{len(unseen)} other postures, {name}: off by {value:.3f} mm")

matplotlib.style.use(STYLE)
figure = Figure(figsize=(10, 4.2))
errors, known = figure.subplots(1, 2, width_ratios=(1, 1.6))
for name, color in (("nominal", "C6"), ("calibrated", "C0")):
    errors.hist(off[name], np.geomspace(3e-3, 20, 40), color=color, label=name)
errors.axvline(rms["expected"], color="black", linewidth=1, linestyle="--", label="expected")
errors.set(xscale="log", xlabel="tip off by (mm)", ylabel="postures", title="200 other postures")
errors.legend()
known.bar(range(len(names)), sigma, color=np.where(alone, "C0", "0.75"))
known.set(yscale="log", ylabel="standard deviation (mm, mrad)", title="How well each number is known")
known.set_xticks(range(len(names)), [name.replace("_joint", "").replace("_", " ") for name in names])
known.tick_params("x", labelrotation=90, labelsize=6)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "calibrate-arm.png"))
assert 0.8 < chi < 1.2 and rms["calibrated"] < 1.5 * rms["expected"] < 0.01 * rms["nominal"]
assert (np.abs(x - truth) < 4 * sigma).all() and alone.sum() > 10
