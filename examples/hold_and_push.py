"""Computed torque for one control cycle: feed-forward of a motion while the tool pushes on a wall."""

import numpy as np

import linkwork

robot = linkwork.load("ur5e")
tool = robot.link_names[-1]
q, v = np.array([0.0, -1.2, 1.5, -0.3, 1.2, 0.0]), np.zeros(6)

wanted, gain, damping = q + 0.01, 100.0, 20.0
a = gain * (wanted - q) - damping * v
wall = {tool: [0, 0, -20.0, 0, 0, 0]}  # the wall pushes back along the tool's own z axis
tau = robot.inverse_dynamics(q, v, a, wrenches=wall)

reached = robot.forward_dynamics(q, v, tau, wrenches=wall)  # what the robot does under these torques
print("torques", np.round(tau, 3))
print("acceleration error", np.abs(reached - a).max())
assert np.allclose(reached, a)
