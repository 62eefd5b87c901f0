"""A robot and the objects it handles: a planar cart, a screw, a wrist with a ball joint, a free ball and a free box.

Positions with quaternions are not vectors, so steps and differences follow the motion that each joint allows.
"""

from pathlib import Path

import numpy as np

import linkwork

robot = linkwork.load(Path(__file__).with_name("juggler.yaml"))
coordinates = robot.coordinates
print(f"{robot.nq} positions, {robot.nv} velocities: {', '.join(coordinates.names)}")

rng = np.random.default_rng(0)
start, goal = coordinates.random(rng, 2)
way = coordinates.difference(start, goal)  # the velocity that leads from one to the other in a second
there = coordinates.integrate(start, way)
assert np.allclose(coordinates.difference(there, goal), 0)  # a quaternion may have the other sign

q0 = np.array(robot.home)
v0 = coordinates.velocities.to_array({"cart": [0.5, 0, 1], "lift": 3.0, "wrist": [0, 2, 1],
                                      "ball": [0, 0, 4, 5, 0, 1], "box": [1, 0, 2, 0, 3, 0]})  # fmt: skip
motion = robot.simulate(q0, v0, 1.0, 1e-3, method="rk4")
ball = motion["q"][-1, coordinates.positions.places["ball"]]
thrown = 1 + 4 * 1.0 - 9.81 / 2
print(f"After a second the ball is at {ball[2]:.4f} m, as thrown ({thrown:.4f} m)")
assert abs(ball[2] - thrown) < 1e-6
print("energy off by", f"{motion.drift['energy']:.1e} J")
