"""Gravity torques over the workspace of an arm: a quarter of a million poses at once."""

import numpy as np

import linkwork

robot = linkwork.load("panda")
lower, upper = robot.coordinates.lower, robot.coordinates.upper
q = np.random.default_rng(1).uniform(lower, upper, size=(250_000, robot.nq))

torque, T = robot.compile(["gravity", "pose:panda_link7"])(q)  # (250000, 7) and (250000, 4, 4), one compiled call
reach = np.linalg.norm(T[:, :2, 3], axis=-1)

for name, column in zip(robot.joint_names, torque.T, strict=True):
    print(f"{name}: {np.abs(column).max():6.2f} N m at most, {np.abs(column).mean():6.2f} on average")
worst = np.abs(torque[:, 1]).argmax()
print(f"joint 2 works hardest {reach[worst]:.2f} m away from the base's axis (largest reach {reach.max():.2f} m)")
