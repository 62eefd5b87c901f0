"""Parallel robots by platform and legs: energy, virtual work, and what the forces of a motion do."""

from types import SimpleNamespace

import numpy as np
import pytest

import linkwork
from linkwork.constraints.legs import LegSolver
from support.evaluate import assert_close, deviation, rates
from support.parallel_robots import NAMES, described, platform_places, states

PUSH = {"gough-stewart": 60.0, "delta": 1.0, "3rpr": 4.0}


@pytest.mark.parametrize("name", NAMES)
def test_energy_under_constant_forces(name: str, deviations):
    """T + V less the work of the motors stays, over a motion of a tenth of a second by Runge and Kutta's steps."""
    robot = linkwork.load(name, friction=False)
    direct, solver = robot.compile("forward_dynamics", method="khalil-parallel"), LegSolver.of(robot.model)
    assert solver is not None
    places, tau = platform_places(robot), PUSH[name] * np.cos(np.arange(robot.nv))
    lead = robot.nq - len(robot.position_names)
    motors = [lead + robot.position_names.index(motor) for motor in robot.motor_names]
    q, v, _ = states(robot, 1, stride=0.03)
    free_body = SimpleNamespace(nq=len(places), nv=robot.nv)
    guess, x = q[0], np.concatenate([q[0, places], 0.3 * v[0]])

    def closed(x):
        at = guess.copy()
        at[places] = x[: len(places)]
        return solver(at[None])[0], x[len(places) :]

    def slope(x):
        q, v = closed(x)
        return np.concatenate([rates(free_body, x[: len(places)]) @ v, direct(q, v, tau)])

    def energy(x):
        q, v = closed(x)
        return robot.kinetic_energy(q, v), robot.potential_energy(q) - tau @ q[motors]

    start, h = energy(x), 5e-4
    for _ in range(200):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3))
    end = energy(x)
    assert abs(end[0] - start[0]) > 0.1 * start[0]  # energy has gone to and fro
    off = abs(sum(end) - sum(start)) / max(abs(end[0] - start[0]), start[0])
    deviations(f"parallel, energy of {name}", off)
    assert off < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_virtual_work(name: str):
    """What holds the robot still works against gravity and springs alone, along any motion."""
    robot = linkwork.load(described(name))
    q, v, _ = states(robot, 4)
    inverse = robot.compile("inverse_dynamics", method="khalil-parallel")
    work = np.sum(inverse(q, 0 * v, 0 * v) * robot.joint_velocities(q, v)[:, robot.model.mobility.motors], axis=1)
    solver, h = LegSolver.of(robot.model), 1e-5
    assert solver is not None
    steps = np.zeros((4, robot.model.coordinates.nv))
    steps[:, robot.model.mobility.independent] = v
    ahead, behind = (
        solver(np.array([robot.model.moved(*each) for each in zip(q.tolist(), (s * h * steps).tolist())]))
        for s in (1, -1)
    )
    gained = (robot.potential_energy(ahead) - robot.potential_energy(behind)) / (2 * h)
    assert_close(work, gained, tolerance=1e-7)  # of differences


@pytest.mark.parametrize("name", NAMES)
def test_forces_of_a_motion_give_that_motion(name: str, deviations):
    robot = linkwork.load(described(name))
    q, v, a = states(robot, 20)
    inverse, direct = (
        robot.compile(quantity, method="khalil-parallel") for quantity in ("inverse_dynamics", "forward_dynamics")
    )
    found = direct(q, v, inverse(q, v, a))
    deviations("parallel, direct of inverse", deviation(found, a))
    assert_close(found, a, tolerance=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_as_input(name: str):
    robot = linkwork.load(described(name))
    q, v, a = states(robot, 3)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        how = {"method": "khalil-parallel", "backend": "interpreter"}
        known = robot.compile(quantity, **how)(q, v, a)
        given = robot.compile(quantity, inputs=["parameters"], **how)(q, v, a, np.array(robot.parameters))
        assert_close(given, known, tolerance=1e-11)
