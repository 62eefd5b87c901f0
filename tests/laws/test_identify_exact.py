"""Without noise a fit finds the robot that was recorded: base parameters, forces, and the file it is written to."""

import numpy as np
import pytest

import linkwork
from linkwork.identify import Fit, Log
from linkwork.identify.regression.least_squares import ols
from linkwork.identify.regression.stacked_regressor import collect
from support.driven_robots import coupled
from support.evaluate import deviation, evaluate
from support.mixed_trees import MixedRecipe, mixed, shuffled
from support.random_robots import Recipe, describe
from support.recordings import forces, other, recorded, states

SAME, FORCES = 1e-8, 1e-9
COUNT = 160
REACH = {"delta": 1.0, "gough-stewart": 0.5}  # farther, their legs reach their ends
KINDS = {"M": "mass", "MX": "first", "MY": "first", "MZ": "first", "F0": "force", "FS": "force", "FV": "viscous"}


def kind_of(element: str) -> str:
    """Parameters that are measured in the same unit; all others are moments of inertia."""
    return KINDS.get(element, "inertia")


def assert_found(fit: Fit, truth: linkwork.Robot, x: np.ndarray) -> float:
    """Base parameters as those of the truth, each next to the largest of its kind. Those of the truth are told by the
    standard ones of it, by their names."""
    own = dict(zip(truth.parameter_names(drives=True), truth.parameter_values(drives=True), strict=True))
    expected = fit.unknowns.matrix @ [own[name] for name in fit.standard]
    kinds = np.array([kind_of(element) for _, element in fit.unknowns.columns])
    sizes = {kind: np.abs(expected[kinds == kind]).max() or 1.0 for kind in {*kinds}}
    off = np.abs(x - expected) / [sizes[kind] for kind in kinds]
    worst = int(off.argmax())
    assert off[worst] < SAME, (fit.base.names[worst], x[worst], expected[worst])
    return float(off[worst])


def fitted(robot: linkwork.Robot, truth: linkwork.Robot, log: Log, seed: int = 3) -> Fit:
    """From a prior that is wrong by a third. Base parameters and forces are those of the truth."""
    fit = robot.identify(log, "wls", width=0.0, prior=other(robot, seed))
    assert not fit.unidentifiable
    assert_found(fit, truth, fit.base.values)
    information = collect(fit.unknowns, [each.for_robot(fit.robot) for each in fit.logs])
    assert_found(fit, truth, ols(information, fit.base.prior).x)
    acting = np.any(fit.logs[0].for_robot(robot).tau != 0, axis=0)
    assert fit.errors["fitted"][acting].max() < FORCES
    return fit


@pytest.mark.parametrize(
    "name", ("puma560", "panda-elastic", "space-arm", "four-bar", "3rrr", "delta", "spatial-7r", "differential-drive")
)
def test_bundled_robots(name: str, deviations):
    robot = linkwork.load(name)
    truth = other(robot, 1)
    log = recorded(truth, COUNT, reach=REACH.get(name, 3.0))
    fit = fitted(robot, truth, log)
    deviations("base parameters found without noise", assert_found(fit, truth, fit.base.values))
    q, v, a = states(truth, 20, seed=9, reach=REACH.get(name, 3.0))
    expected = forces(truth, q, v, a)
    usual = np.abs(expected).max(axis=1) < 10 * np.median(np.abs(expected).max(axis=1))
    assert deviation(forces(fit.robot, q, v, a)[usual], expected[usual]) < FORCES


TREES = {
    "branches": describe(Recipe(1, joints=5, branches=True, fixed=True, relations=("skew", "parallel", "coaxial"))),
    "mimic": describe(Recipe(4, joints=5, mimic=True, relations=("skew", "right angle"))),
    "springs and friction of its own": describe(Recipe(2, joints=4, extras=True, branches=True)),
    "floating": describe(Recipe(6, joints=3, floating=True, branches=True)),
    "kinds": mixed(MixedRecipe(5, kinds=shuffled(5)[:6], reach=2)),
    "coordinate axes": mixed(MixedRecipe(8, kinds=("universal", "cylindrical", "helical"), coordinate=True)),
    "transmissions": coupled(describe(Recipe(3, joints=6))),
    "no mass at the end": describe(Recipe(7, joints=3, light=True)),
}


@pytest.mark.parametrize("what", TREES)
def test_trees(what: str):
    robot = linkwork.load(TREES[what])
    truth = other(robot, 1)
    fitted(robot, truth, recorded(truth, COUNT))


def test_floating_base_with_measured_wrenches():
    """Motors and two feet push, and nothing else holds the base: its forces are none, and need no columns."""
    robot, feet = linkwork.load("quadruped"), ("rear_left_foot", "front_left_foot")
    truth, rng = other(robot, 1), np.random.default_rng(0)
    q, v, _ = states(truth, COUNT)
    tau = np.concatenate([np.zeros((COUNT, 6)), rng.uniform(-20, 20, (COUNT, 12))], axis=1)
    push = dict(zip(feet, rng.uniform(-50, 50, (2, COUNT, 6)), strict=True))
    a = evaluate(truth.model, "forward_dynamics", q, v, tau, wrenches=push)
    fitted(robot, truth, Log(np.arange(COUNT) / 100, q, tau[:, 6:], v, a, wrenches=push))


@pytest.mark.parametrize("suffix", [".yaml", ".urdf"])
def test_written_and_read(suffix: str, tmp_path):
    robot = linkwork.load("puma560")
    truth = other(robot, 1, spread=0.05, offsets=suffix == ".yaml")
    log = recorded(truth, COUNT)
    laws = ("coulomb", "viscous", "offset") if suffix == ".yaml" else ("coulomb", "viscous")
    fit = robot.identify(log, "wls", width=0.0, prior=truth, friction=laws)
    assert fit.is_physical
    fit.robot.write(tmp_path / f"found{suffix}")
    back = linkwork.load(tmp_path / f"found{suffix}")
    assert deviation(forces(back, log.q, log.v, log.a), log.tau) < FORCES
