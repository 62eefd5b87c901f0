"""Back ends: the interpreter runs what native code runs, to rounding, and another one takes its place by name."""

import sys
from types import ModuleType

import numpy as np
import pytest

import linkwork
from linkwork.codegen import interpreter
from linkwork.control import ComputedTorque, Quintic
from linkwork.errors import DivergedError, UnknownNameError
from linkwork.sim.schemes.integrators import schemes
from linkwork.targets import Target, backend, names, registry
from support.random_loops import four_bar
from support.random_robots import Recipe, describe, random_state

ROBOTS = {
    "arm": describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True)),
    "floating": describe(Recipe(seed=5, joints=1, floating=True)),
    "loop": four_bar(),
}
OUTPUTS = ("q", "v", "a", "tau", "kinetic_energy", "work")


def start(robot, samples):
    states = [random_state(robot.model, seed)[:2] for seed in range(samples)]
    q, v = (0.3 * np.array(part) for part in zip(*states, strict=True))
    if robot.model.permanent:
        q = np.array([robot.home] * samples)
    elif robot.model.moving_base:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, v


def alike(one, other, tolerance=1e-12):
    for name in one:
        a, b = np.asarray(one[name]), np.asarray(other[name])
        assert np.abs(a - b).max() <= tolerance * max(1.0, np.abs(a).max()), name


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("method", schemes())
def test_rollouts(name, method):
    """With torques over time, parameters of each sample, records not at all steps, and two threads."""
    robot = linkwork.load(ROBOTS[name])
    q, v = start(robot, 9)
    rng = np.random.default_rng(0)
    (size,) = (port.size for port in robot.forward_dynamics.program.inputs if port.name == "tau")
    tau = rng.normal(size=(9, 7, size))
    run = {"dt": 1e-3, "steps": 7, "every": 2, "method": method, "outputs": OUTPUTS, "threads": 2}
    run["vary"] = {"gravity": rng.normal(size=(9, 3))}
    one, other = (robot.rollout(q, v, tau, backend=by, **run) for by in names("run"))
    alike(one, other)
    assert one.notes == other.notes and np.abs(one.q[:, -1] - one.q[:, 0]).max() > 1e-4


@pytest.mark.filterwarnings("ignore:the energy balance")  # of the first order
@pytest.mark.parametrize("method", [*schemes(), "dormand-prince", None])
def test_simulations(method):
    robot = linkwork.load("planar2r")
    how = {"torque": ComputedTorque(100.0, 20.0), "reference": Quintic([0, 0], [0.3, 0.2], 0.5), "method": method}
    one, other = (robot.simulate([0.1, 0.1], [0.5, 0.3], 0.02, backend=by, **how) for by in names("run"))
    alike(one, other, 1e-9 if method == "dormand-prince" else 1e-12)  # whose steps follow the last digit
    assert one.method == other.method


def test_what_leaves_the_numbers_is_told_by_both():
    """v' = v^3 has a pole."""
    robot = linkwork.load("planar2r")
    told = []
    for by in names("run"):
        with pytest.raises(DivergedError) as caught:
            robot.rollout([0, 0], [1, 1], lambda t, q, v, r: 3000.0 * v * v * v, 1e-3, 100, method="rk4", backend=by)
        told.append((caught.value.step, caught.value.sample))
    assert told[0] == told[1]


def test_another_one(monkeypatch, tmp_path):
    """By its name alone: here the interpreter, which writes down what it is asked for."""
    asked = []
    module: object = ModuleType("notebook_backend")
    module.compile = lambda program, dtype: asked.append(program.name) or interpreter.compile(program, dtype)
    module.compile_loop = lambda loop, samples: asked.append(loop.scheme) or interpreter.compile_loop(loop, samples)
    monkeypatch.setitem(sys.modules, "notebook_backend", module)
    monkeypatch.setitem(registry.TARGETS, "notebook", Target("notebook", "A notebook.", run="notebook_backend"))
    robot = linkwork.load("planar2r")
    function = robot.compile("gravity", backend="notebook")
    assert np.allclose(function([0.1, 0.2]), robot.gravity([0.1, 0.2]), rtol=1e-14) and function.backend == "notebook"
    function.save(tmp_path / "gravity.json")
    assert linkwork.Function.load(tmp_path / "gravity.json").backend == "notebook"
    robot.simulate(duration=0.01, backend="notebook", method="heun")
    assert asked == ["gravity", schemes()["heun"]]


def test_unknown():
    with pytest.raises(UnknownNameError, match="no backend 'nativ'"):
        backend("nativ")
    with pytest.raises(UnknownNameError, match="no backend 'nativ'"):
        linkwork.load("planar2r").rollout([0, 0], [0, 0], backend="nativ")
