"""Three controllers follow the same path: PD, PD with gravity compensation, computed torque; with an unknown load.

python examples/three_controllers.py [PICTURE.png]
"""

import sys

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import PD, ComputedTorque, PDGravity, Quintic
from linkwork.drawing import STYLE, name_lines

robot = linkwork.load("panda")
start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.8])
goal = np.array([0.9, 0.3, -0.3, -1.2, 0.4, 2.1, -0.2])
path = Quintic(start, goal, duration=1.0)
stiffness = np.array([600.0, 600, 400, 400, 100, 100, 30])
controllers = {
    "PD": PD(stiffness, 0.08 * stiffness),
    "PD + gravity": PDGravity(stiffness, 0.08 * stiffness),
    "computed torque": ComputedTorque(kp=400.0, kd=40.0),
}
how = {"reference": path, "method": "rk4"}  # which stands the stiff wrist better than Adams and Bashforth's
motions = {name: robot.simulate(start, None, 1.4, 5e-4, torque=law, **how) for name, law in controllers.items()}

# The same arm with two kilograms in its hand: mass, centre of mass and inertia are inputs of the compiled program.
load = np.array([2.0, 0.0, 0.0, 0.1, 0.004, 0, 0, 0.004, 0, 0.004])
carried = robot.rollout(
    start[None], np.zeros((1, 7)), ComputedTorque(400.0, 40.0), 5e-4, 2800,
    outputs=("q", "v", "tau"), **how, vary={"payload": {"panda_link8": load[None]}},
)  # fmt: skip
motions["computed torque, 2 kg unknown"] = carried[0]

matplotlib.style.use(STYLE)
figure = Figure(figsize=(9, 4.2))
axes = figure.subplots()
for name, motion in motions.items():
    error = np.abs(motion.q - path.sample(motion.t).q).max(axis=-1)
    worst, last, torque = error.max(), error[-1], np.abs(motion.tau).max()
    print(f"{name:30} largest error {worst:.1e} rad, at the end {last:.1e} rad, torque {torque:.0f} N m")
    axes.semilogy(motion.t, np.degrees(error), label=name)
axes.set(xlabel="time (s)", ylabel="largest joint error (degrees)", title="Panda on a quintic path of one second")
axes.set_ylim(1e-3, 100)
axes.text(0.05, 1.3e-3, "computed torque: rounding alone, below 1e-9 degrees", color="C2", fontsize=9)
name_lines(axes)
figure.savefig(next((name for name in sys.argv[1:] if name.endswith(".png")), "three_controllers.png"))

error = {name: np.abs(motion.q[-1] - goal).max() for name, motion in motions.items()}
assert error["computed torque"] < 1e-11 < error["PD + gravity"] < error["PD"]
