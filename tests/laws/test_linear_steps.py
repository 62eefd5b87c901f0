"""The robot as a linear system: steps against central differences of rollouts, the continuous one as the limit of short
steps, and along motions with controllers, memories and loads, also against gradients, which go the other way."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import linkwork
from linkwork.control import PD, PID, Point, Quintic
from linkwork.errors import LinkworkError, UnknownNameError, UnsupportedError
from linkwork.forces import Contact, Drag
from linkwork.model import SoftLimits
from support.driven_robots import LAWS, coupled, rubbing
from support.evaluate import assert_close
from support.mixed_trees import MixedRecipe, mixed
from support.random_loops import LoopRecipe, four_bar, mechanism
from support.random_robots import Recipe, describe
from support.through_time import OFFSETS, integrated

DT = 5e-3
TREES = {
    "arm": describe(Recipe(seed=3, joints=3, extras=True)),
    "rubbing": coupled(rubbing(Recipe(seed=2, joints=5), LAWS["all"])),
    "balls": mixed(MixedRecipe(4, ("spherical", "universal", "planar"), 2)),
    "floating": mixed(MixedRecipe(3, ("floating", "helical"), rotors=True)),
    "follows": describe(Recipe(seed=5, joints=3, branches=True, mimic=True, floating=True)),
}
LOOPS = {
    "four-bar": four_bar(),
    "floating loop": mechanism(LoopRecipe(seed=3, closures=("revolute",), planar=True, floating=True)),
}


@cache
def robot(name: str) -> linkwork.Robot:
    return linkwork.load((TREES | LOOPS)[name])


def state(own: linkwork.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    q = np.array(own.home) if own.model.permanent else own.coordinates.random(rng)
    return q, 0.5 * rng.normal(size=own.nv), rng.normal(size=len(own.model.mobility.forced))


def differences(own: linkwork.Robot, run, q, v, tau, h: float = 3e-4) -> np.ndarray:
    """Slopes (x, n + len(tau)) of what ``run(q, v, tau)`` ends with, by central differences of sixth order."""
    nv, columns = own.nv, 2 * own.nv + len(tau)
    steps = (h * np.multiply.outer(list(OFFSETS), np.eye(columns))).reshape(-1, columns)
    places = integrated(own, np.broadcast_to(q, (len(steps), own.nq)), steps[:, :nv])
    end = run(places, v + steps[:, nv : 2 * nv], tau + steps[:, 2 * nv :])
    base = run(q[None], v[None], tau[None])
    independent = list(own.model.mobility.independent)
    change = own.coordinates.difference(base.q[:, -1], end.q[:, -1])[:, independent]
    x = np.concatenate([change, end.v[:, -1]], axis=1).reshape(len(OFFSETS), columns, -1)
    return np.einsum("s,scx->xc", list(OFFSETS.values()), x) / h


def step_of(own: linkwork.Robot, method: str, **how):
    return lambda q, v, tau: own.rollout(q, v, tau, dt=DT, steps=1, method=method, **how)


CASES = [(name, method) for name in (*TREES, *LOOPS) for method in ("semi-implicit-euler", "heun")]


@pytest.mark.parametrize(("name", "method"), [*CASES, ("arm", "rosenbrock"), ("four-bar", "rosenbrock")])
def test_steps_against_differences(name: str, method: str):
    own = robot(name)
    q, v, tau = state(own)
    A, B = own.linearise(q, v, tau, DT, method)
    expected = differences(own, step_of(own, method), q, v, tau)
    assert_close(np.hstack([A, B]), expected, scale=np.abs(expected).max(), tolerance=1e-8)
    assert_close(B, expected[:, 2 * own.nv :], tolerance=1e-6)


@pytest.mark.parametrize("name", ["arm", "balls", "floating", "four-bar", "floating loop"])
def test_continuous_system_is_the_limit_of_short_steps(name: str):
    own = linkwork.load((TREES | LOOPS)[name], friction=False)  # that of steps is smooth
    q, v, tau = state(own)
    A, B = own.linearise(q, v, tau)
    rows = []
    for dt in 4e-3 * 0.5 ** np.arange(5):  # (A_dt - 1) / dt is A and a power series of dt
        stepped = own.linearise(q, v, tau, dt, "rk4")
        rows.append(np.hstack([(stepped.A - np.eye(2 * own.nv)) / dt, stepped.B / dt]))
    for order in range(1, len(rows)):
        rows = [(2**order * fine - coarse) / (2**order - 1) for coarse, fine in pairwise(rows)]
    assert_close(np.hstack([A, B]), rows[0], scale=np.abs(A).max(), tolerance=1e-8)


@pytest.mark.parametrize("name", ["arm", "floating", "four-bar"])
def test_batches(name: str):
    own = robot(name)
    q, v, tau = state(own)
    A, B = own.linearise(q, [[v, 0 * v]] * 3, tau, DT)
    assert A.shape == (3, 2, 2 * own.nv, 2 * own.nv) and B.shape == (3, 2, 2 * own.nv, len(tau))
    assert np.array_equal(A[1, 1], own.linearise(q, 0 * v, tau, DT).A)


def test_surroundings_and_limits():
    """Drag, contact, stops and wrenches act in the steps along a run."""
    own = linkwork.load(TREES["arm"]).with_forces(
        {"link2": Drag(0.4, 0.3, 0.5, 0.7, 0.9), "tool": Contact(20, height=9)}
    )
    q, v, tau = state(own)
    how = {"limits": SoftLimits(50, 4), "wrenches": {"tool": [1.0, 2, 3, 4, 5, 6]}, "vary": {"gravity": [0.0, 1, 2]}}
    A, B = own.rollout(q, v, tau, dt=DT, steps=1, checkpoint_every=1, **how).linearised()
    expected = differences(own, step_of(own, "semi-implicit-euler", **how), q, v, tau)
    assert_close(np.hstack([A[0], B[0]]), expected, scale=np.abs(expected).max(), tolerance=1e-8)


# -- along motions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("name", ["arm", "floating", "four-bar"])
def test_along_a_motion(name: str, every: int):
    """The product of all steps is the slope of the end by the start, and so says the gradient, which goes back."""
    own, steps = robot(name), 10
    q, v, tau = state(own)
    method = "rk4" if own.model.permanent else "semi-implicit-euler"  # loops are as good as closed after each step
    run = own.rollout(q, v, tau, dt=DT, steps=steps, method=method, checkpoint_every=every)
    A, B = run.linearised()
    assert A.shape == (steps, 2 * own.nv, 2 * own.nv) and B.shape == (steps, 2 * own.nv, len(tau))
    by_start, by_tau = np.eye(2 * own.nv), np.zeros((2 * own.nv, len(tau)))
    for a, b in zip(A, B):
        by_start, by_tau = a @ by_start, a @ by_tau + b
    expected = differences(own, lambda *x: own.rollout(*x, dt=DT, steps=steps, method=method), q, v, tau)
    assert_close(np.hstack([by_start, by_tau]), expected, scale=np.abs(expected).max(), tolerance=1e-7)
    weights = np.zeros_like(run.v)
    weights[-1] = np.random.default_rng(1).normal(size=own.nv)
    gradient = run.pullback(v=weights)
    assert_close(np.append(gradient.q0, gradient.v0), weights[-1] @ by_start[own.nv :], tolerance=1e-9)
    assert_close(gradient.torque, weights[-1] @ by_tau[own.nv :], tolerance=1e-9)


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_controllers_are_in_the_steps(method: str):
    """A memory is part of the state, and u acts beside what the controller does."""
    own = robot("arm")
    (q, v, _), n = state(own), own.nv
    reference = Quintic(q, q + 0.2, duration=0.1)
    law, rng = PID(30.0, 20.0, 5.0), np.random.default_rng(3)
    how = {"dt": DT, "steps": 6, "method": method, "reference": reference}
    starts = {"q0": q, "v0": v, "integral": 0.1 * rng.normal(size=n)}

    def end(q0, v0, integral, **more):
        run = own.rollout(q0, v0, law, memory={"integral": integral}, outputs=("q", "v", "integral"), **how, **more)
        return np.concatenate([run.q[-1], run.v[-1], run["integral"][-1]]), run

    _, run = end(*starts.values(), checkpoint_every=1)
    A, B = run.linearised()
    assert A.shape == (6, 3 * n, 3 * n) and B.shape == (6, 3 * n, n)
    x, h = np.concatenate(list(starts.values())), 1e-4
    columns = [(end(*np.split(x + h * e, 3))[0] - end(*np.split(x - h * e, 3))[0]) / (2 * h) for e in np.eye(3 * n)]
    assert_close(np.linalg.multi_dot(A[::-1]), np.array(columns).T, scale=1.0, tolerance=1e-6)

    def pushed(t, q, v, reference, *, push):
        return 30 * (reference.q - q) + 5 * (reference.v - v) + push

    plain = own.rollout(q, v, PD(30.0, 5.0), checkpoint_every=1, **how)
    A, B = plain.linearised()
    by_push = np.zeros((2 * n, n))
    for a, b in zip(A, B):
        by_push = a @ by_push + b
    ends = [own.rollout(q, v, pushed, gains={"push": s * e}, **how) for e in np.eye(n) for s in (h, -h)]
    ends = [np.append(run.q[-1], run.v[-1]) for run in ends]
    expected = np.array([(a - b) / (2 * h) for a, b in zip(ends[::2], ends[1::2])]).T
    assert_close(by_push, expected, scale=np.abs(expected).max(), tolerance=1e-6)


def test_samples_with_parameters_of_their_own():
    own = robot("arm")
    q, v, tau = state(own)
    masses = np.array([body[0] for body in own.parameters]) * np.linspace(0.8, 1.2, 5)[:, None]
    torque = tau * np.linspace(0, 1, 7)[:, None]
    how = {"dt": DT, "steps": 7, "checkpoint_every": 3}
    A, B = own.rollout([q] * 5, [v] * 5, torque, vary={"mass": masses}, threads=2, **how).linearised()
    for k in (0, 3):
        alone = own.rollout(q, v, torque, vary={"mass": masses[k]}, **how).linearised()
        assert np.array_equal(A[k], alone.A) and np.array_equal(B[k], alone.B)
    assert np.abs(A[0] - A[3]).max() > 1e-6


# -- mistakes ----------------------------------------------------------------------------------------------------------


def test_mistakes():
    own = robot("arm")
    q, v, tau = state(own)
    with pytest.raises(UnsupportedError, match="depends on earlier steps"):
        own.linearise(q, v, tau, DT, "adams-bashforth-4")
    with pytest.raises(UnknownNameError, match="dormand-prince"):
        own.linearise(q, v, tau, DT, "dormand-prince")
    for dt in (0, -1e-3, np.nan, "x", [1e-3]):
        with pytest.raises(LinkworkError, match="dt"):
            own.linearise(q, v, tau, dt)
    with pytest.raises(LinkworkError, match="v"):
        own.linearise(q, v[:-1], tau, DT)
    with pytest.raises(UnsupportedError, match=r"linearised.*\n.*\n.*checkpoint_every"):
        own.rollout(q, v, tau, dt=DT, steps=2).linearised()
    run = own.rollout(q, v, tau, dt=DT, steps=8, method="adams-bashforth-4", checkpoint_every=1)
    with pytest.raises(UnsupportedError, match="adams-bashforth-4"):
        run.linearised()
    assert own.linearise({n: 0.1 for n in own.joint_names}, v, tau, DT).A.shape == (6, 6)


def test_a_point_of_numbers_as_reference():
    own = robot("arm")
    q, v, _ = state(own)
    there = Point(q + 0.1, 0 * v, 0 * v)
    runs = [
        own.rollout(q, v, PD(30.0, 5.0), dt=DT, steps=3, reference=reference, checkpoint_every=1)
        for reference in (there, lambda t: there)
    ]
    for numbers, function in zip(*(run.linearised() for run in runs)):
        assert_close(numbers, function)
