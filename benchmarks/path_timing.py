"""Path timing against toppra: ``python benchmarks/path_timing.py``. Rates are compared before anything is timed.

Random paths of the Panda through five points, on the default grid, within its velocities and torques and 15 rad/s^2
(m/s^2). toppra gets the same cubic splines, its solver "seidel", and the inverse dynamics of linkwork.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np
import toppra
from timing import use_cores
from toppra.algorithm import TOPPRA
from toppra.constraint import (
    DiscretizationType,
    JointAccelerationConstraint,
    JointTorqueConstraint,
    JointVelocityConstraint,
)

import linkwork

PATHS, PEERS, ROUNDS = 1000, 30, 9
TOLERANCE = 3e-6  # of rates, relative to the largest: toppra widens and narrows its limits by about 1e-6
ACCELERATION = 15.0


def peer(robot: linkwork.Robot, points: np.ndarray, at: np.ndarray, grid: np.ndarray, limits: tuple) -> np.ndarray:
    """Return rates at the points of the grid by toppra."""
    scheme = DiscretizationType.Interpolation
    velocity, acceleration, torque = (limit.T for limit in limits)
    constraints = [
        JointVelocityConstraint(velocity),
        JointAccelerationConstraint(acceleration, scheme),
        JointTorqueConstraint(robot.inverse_dynamics, torque, np.zeros(robot.nv), scheme),
    ]
    solver = TOPPRA(constraints, toppra.SplineInterpolator(at, points), gridpoints=grid, solver_wrapper="seidel")
    return solver.compute_parameterization(0, 0, return_data=True)[1]


def main() -> None:
    toppra.setup_logging("ERROR")
    use_cores(1)
    robot = linkwork.load("panda")
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    paths = np.random.default_rng(0).uniform(lower, upper, (PATHS, 5, robot.nq))
    at = np.linspace(0, 1, 5)
    timed = robot.time_path(paths, s=at, acceleration=ACCELERATION)
    worst, seconds = 0.0, []
    for path, one in zip(paths[:PEERS], (timed[k] for k in range(PEERS))):
        began = perf_counter()
        rates = peer(robot, path, at, one.s, one.limits)
        seconds.append(perf_counter() - began)
        worst = max(worst, np.abs(rates - one.rate).max() / one.rate.max())
    assert worst < TOLERANCE, f"rates differ by {worst:.1e}"
    times = []
    for points in (paths, paths[0]):
        rounds = []
        for _ in range(ROUNDS):
            began = perf_counter()
            robot.time_path(points, s=at, acceleration=ACCELERATION)
            rounds.append(perf_counter() - began)
        times.append(np.median(rounds))
    print(f"rates agree to {worst:.1e}")
    print(f"linkwork, {PATHS} paths: {1e3 * times[0]:.0f} ms; one path: {1e3 * times[1]:.1f} ms")
    print(f"toppra {version('toppra')}, one path: {1e3 * np.median(seconds):.1f} ms")
    print(f"a path of a batch is {np.median(seconds) * PATHS / times[0]:.0f} times as fast as with toppra")


if __name__ == "__main__":
    main()
