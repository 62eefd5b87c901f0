"""Gradients through time that cannot be had, and weights that are not right: what is said."""

import importlib

import numpy as np
import pytest

import linkwork
from linkwork import DivergedError, LinkworkError, ShapeError, Trajectory, UnknownNameError, UnsupportedError

module = importlib.import_module("linkwork.sim.schemes.fixed_steps")
SAMPLES, STEPS = 3, 6
SHAPE = (SAMPLES, STEPS + 1, 2)
STATES = np.full((SAMPLES, 2), 0.1), np.full((SAMPLES, 2), 0.2)
LOST = (
    r"pullback: this trajectory has no states from which to differentiate\n"
    r"  got: a run without checkpoints(.|\n)*checkpoint_every=1"
)


@pytest.fixture(scope="module")
def arm():
    return linkwork.load("planar2r")


def roll(robot, **options):
    return robot.rollout(*STATES, **{"dt": 1e-3, "steps": STEPS, "checkpoint_every": 1} | options)


def pull(run):
    return run.pullback(q=np.ones_like(run.q))


def stopper(after):
    """A progress bar whose user loses patience."""

    def report(done, total):
        if done >= after:
            raise KeyboardInterrupt

    return report


WEIGHTS = [
    ({}, ShapeError, r"weights are missing\n  expected: weights of: q, v, a\n  fix: pullback\(q=dL_dq"),
    ({"qd": np.ones(SHAPE)}, UnknownNameError, r"there is no recorded array 'qd'\n  expected: one of: a, q, v"),
    ({"tau": np.ones(SHAPE)}, UnknownNameError, "no recorded array 'tau'"),
    ({"t": np.ones(STEPS + 1)}, UnknownNameError, "no recorded array 't'"),
    ({"q": np.ones(SHAPE[1:])}, ShapeError, r"pullback, 'q': wrong shape\n  got: \(7, 2\)\n  expected: \(3, 7, 2\),"),
    ({"q": np.ones((SAMPLES, STEPS, 2))}, ShapeError, r"wrong shape\n  got: \(3, 6, 2\)"),
    ({"q": np.ones((SAMPLES, STEPS + 1, 3))}, ShapeError, r"wrong shape\n  got: \(3, 7, 3\)"),
    ({"v": np.ones(2)}, ShapeError, r"'v': wrong shape\n  got: \(2,\)\n.*\n  fix: w = np.zeros_like\(run.v\), then"),
    ({"q": np.ones(SHAPE), "a": 1.0}, ShapeError, r"'a': wrong shape\n  got: \(\)"),
    ({"q": np.ones((1, *SHAPE))}, ShapeError, r"wrong shape\n  got: \(1, 3, 7, 2\)"),
    ({"q": np.full(SHAPE, np.nan)}, ShapeError, r"'q': the numbers must be finite"),
    ({"v": np.full(SHAPE, np.inf)}, ShapeError, r"'v': the numbers must be finite"),
    ({"q": np.ones(SHAPE, complex)}, ShapeError, r"'q': these are not real numbers\n  got: dtype complex128"),
    ({"q": np.full(SHAPE, "1")}, ShapeError, r"'q': these are not real numbers"),
    ({"q": None}, ShapeError, r"'q': these are not real numbers"),
    ({"q": [[1.0], [1.0, 2.0]]}, ShapeError, r"'q': this is not a rectangular array"),
]  # fmt: skip


@pytest.mark.parametrize(("weights", "kind", "words"), WEIGHTS)
def test_weights(arm, weights, kind, words):
    with pytest.raises(kind, match=words):
        roll(arm, outputs=("q", "v", "a")).pullback(**weights)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "x", np.nan, 2**63, [1]])
def test_checkpoints(arm, tmp_path, value):
    words = r"checkpoint_every: out of range\n  got: .*\n  expected: a whole number, 1 or more"
    with pytest.raises(ShapeError, match=words):
        roll(arm, checkpoint_every=value, to=tmp_path / "run")
    with pytest.raises(ShapeError, match=words):
        arm.simulate(duration=0.01, checkpoint_every=value)
    assert not (tmp_path / "run").exists()
    assert np.isfinite(pull(roll(arm, checkpoint_every=np.int32(2))).q0).all()


def test_runs_without_a_way_back(arm, tmp_path):
    run = roll(arm, checkpoint_every=4)
    run.save(tmp_path / "run.npz")
    roll(arm, to=tmp_path / "folder")
    lost = [roll(arm, checkpoint_every=None), run[1], run[:2]]
    lost += [Trajectory.load(tmp_path / "run.npz"), Trajectory.load(tmp_path / "folder")]
    for one in lost:
        with pytest.raises(UnsupportedError, match=LOST):
            pull(one)
    pull(run)


@pytest.mark.parametrize("method", ["dormand-prince", "implicit"])
def test_methods_that_choose_their_steps(arm, method):
    with pytest.raises(UnsupportedError) as caught:
        arm.simulate(duration=0.01, method=method, checkpoint_every=1)
    assert str(caught.value).startswith(
        f"checkpoint_every: {method} chooses its own step lengths, so it has no gradients\n"
        "  fix: use a method with a fixed step: adams-bashforth-4, rk4, "
    )


@pytest.mark.parametrize("checkpoint_every", [1, 2])
def test_runs_that_ended_early(arm, monkeypatch, checkpoint_every):
    monkeypatch.setattr(module, "FIRST", 1)
    how = {"checkpoint_every": checkpoint_every}
    with pytest.warns(UserWarning, match="stopped from the keyboard"):
        stopped = roll(arm, **how, progress=stopper(5))
    out = roll(arm, checkpoint_every=3)
    with pytest.raises(DivergedError):
        roll(arm, **how, torque=lambda t, q, v, r: 1e5 * v * v * v, dt=1.0, out=out)
    for run in (stopped, out):
        with pytest.raises(UnsupportedError, match=LOST):
            pull(run)


def test_records_that_are_needed_are_closed(arm):
    run = roll(arm)
    expected = pull(run).q0
    for array in (run.q, run.v, run[0].q, run.q[:, -1]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        run.q.flags.writeable = True
    with pytest.raises(
        LinkworkError, match=r"out: the memory of this trajectory cannot be written\n(.|\n)*gradients need"
    ):
        roll(arm, out=run)
    assert np.array_equal(pull(run).q0, expected)


def test_records_that_are_not_needed_are_open(arm):
    run = roll(arm, checkpoint_every=4)
    expected = pull(run).q0
    run.q[:] = 9.0
    assert np.array_equal(pull(run).q0, expected)
    roll(arm, checkpoint_every=None, out=run)
    with pytest.raises(UnsupportedError, match=LOST):
        pull(run)
