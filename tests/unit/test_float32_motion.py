"""Rollouts and steppers in float32: near those in float64, the same bits however they are run."""

import numpy as np
import pytest

import linkwork
from linkwork import ShapeError, Trajectory, UnknownNameError, UnsupportedError
from linkwork.control import PID, Point
from linkwork.sim.schemes.integrators import schemes
from support.random_loops import four_bar
from support.random_robots import Recipe, describe

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.SimulationWarning")
DT, STEPS = 2e-3, 20
ROBOTS = {
    "arm": linkwork.load(describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True))),
    "floating": linkwork.load(describe(Recipe(seed=5, joints=1, floating=True))),
    "loop": linkwork.load(four_bar()),
    "car": linkwork.load("car"),
}
ARM = ROBOTS["arm"]


def start(robot, samples):
    rng = np.random.default_rng(0)
    if robot.model.permanent:
        return np.tile(robot.home, (samples, 1)), 0.3 * rng.normal(size=(samples, robot.nv))
    return robot.coordinates.random(rng, samples), 0.3 * rng.normal(size=(samples, robot.nv))


def observe(robot, q, v, t):
    return {"momentum_now": robot.inertia_matrix(q) @ v, "wave": np.sin(40 * t) + np.exp(-t)}


OUTPUTS = ["q", "v", "a", "tau", "work", "inertia_matrix", observe]


def everything(samples, rng):
    return {
        "torque": PID(9, 8, 7), "reference": Point(rng.normal(size=(STEPS, 2)), 0.1, 0),
        "gains": {"kp": rng.uniform(5, 9, (samples, STEPS, 2)), "kd": rng.uniform(1, 2, (samples, 1))},
        "memory": {"integral": 0.1 * rng.normal(size=(samples, 2))},
        "wrenches": {"tool": rng.normal(size=(STEPS, 6))},
        "vary": {"viscous": rng.uniform(1, 2, (samples, 2)), "gravity": np.array([1.0, 2.0, -9.0])},
    }  # fmt: skip


@pytest.mark.parametrize("method", schemes())
@pytest.mark.parametrize("name", ROBOTS)
def test_near_float64(name, method):
    robot, samples = ROBOTS[name], 5
    (q, v), how = start(robot, samples), {"method": method, "outputs": OUTPUTS, "every": 3}
    if name == "arm":
        how |= everything(samples, np.random.default_rng(1))
    exact = robot.rollout(q, v, dt=DT, steps=STEPS, **how)
    run = robot.rollout(q, v, dt=DT, steps=STEPS, dtype="float32", **how)
    slow = robot.rollout(q, v, dt=DT, steps=STEPS, dtype=np.float32, backend="interpreter", **how)
    for key in exact:
        scale = 1 + np.abs(exact[key]).max(initial=0)
        assert run[key].dtype == slow[key].dtype == (np.float64 if key == "t" else np.float32)
        assert np.abs(run[key] - exact[key]).max(initial=0) < (1e-4 if key == "a" else 1e-5) * scale, key
        assert np.abs(slow[key] - exact[key]).max(initial=0) < (1e-4 if key == "a" else 1e-5) * scale, key
    assert np.abs(run.q - exact.q).max() > 1e-9  # it was not computed in float64


@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4", "rosenbrock"])
@pytest.mark.parametrize("name", ROBOTS)
def test_the_same_bits_however_it_runs(name, method):
    robot, samples = ROBOTS[name], 37
    (q, v), how = start(robot, samples), {"method": method, "outputs": OUTPUTS, "dtype": "float32"}
    more = everything(samples, np.random.default_rng(1)) if name == "arm" else {}
    tau = None if more else np.zeros((1, STEPS, robot.stepper(1).tau.shape[1]))
    run = robot.rollout(q, v, **({} if more else {"torque": tau}), dt=DT, steps=STEPS, **how, **more)
    shared = robot.rollout(q, v, **({} if more else {"torque": tau}), dt=DT, steps=STEPS, threads=2, **how, **more)
    for key in run:
        assert np.array_equal(run[key], shared[key])
    if not more:
        for part in (slice(5, 6), slice(0, 16), slice(3, 20)):
            alone = robot.rollout(q[part], v[part], tau, dt=DT, steps=STEPS, **how)
            assert all(np.array_equal(alone[key], run[key][part]) for key in run if key != "t")
        stepper = robot.stepper(samples, DT, q0=q, v0=v, **how)
        for k in range(STEPS + 1):
            assert np.array_equal(stepper.q, run.q[:, k]) and np.array_equal(stepper.v, run.v[:, k])
            assert all(np.array_equal(stepper.outputs[key], run[key][:, k]) for key in stepper.outputs)
            stepper.step()


def test_steppers():
    """Views are float32, take float64, and go through reset, save and restore."""
    q, v = start(ARM, 9)
    how = {
        "outputs": ["a"],
        "vary": {"viscous": np.ones((9, 2))},
        "wrenches": {"tool": np.zeros(6)},
        "dtype": "float32",
    }
    stepper = ARM.stepper(9, DT, q0=q, v0=v, **how)
    views = (stepper.q, stepper.v, stepper.tau, stepper.outputs["a"], stepper.vary["viscous"], stepper.wrenches["tool"])
    assert all(view.dtype == np.float32 for view in views)
    stepper.tau = np.random.default_rng(0).normal(size=(9, 2))
    stepper.vary["viscous"] = np.pi
    saved = stepper.save()
    for _ in range(3):
        stepper.step()
    ends, mask = stepper.q.copy(), np.arange(9) < 4
    stepper.restore(saved, mask)
    assert np.array_equal(stepper.q[:4], q[:4].astype("f4")) and np.array_equal(stepper.q[4:], ends[4:])
    for _ in range(3):
        stepper.step()
    assert np.array_equal(stepper.q[:4], ends[:4]) and (stepper.steps == [3] * 4 + [6] * 5).all()
    stepper.reset(mask, q=[0.1, 0.2])
    assert np.array_equal(stepper.q[:4], np.tile(np.float32([0.1, 0.2]), (4, 1))) and not stepper.diverged.any()
    assert repr(stepper).startswith("<Stepper")


@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet", "folder", "zarr"])
def test_files(tmp_path, suffix):
    q, v = start(ARM, 3)
    path = tmp_path / f"run.{suffix}"
    streamed = suffix in ("folder", "zarr")
    if suffix == "zarr":
        pytest.importorskip("zarr")
    to = {"to": path} if streamed else {}
    run = ARM.rollout(q, v, None, DT, STEPS, outputs=OUTPUTS, dtype="float32", **to)
    kept = ARM.rollout(q, v, None, DT, STEPS, outputs=OUTPUTS, dtype="float32")
    if not streamed:
        run.save(path)
    again = Trajectory.load(path)
    for key in kept:
        assert np.array_equal(again[key][:], kept[key]) and np.array_equal(run[key][:], kept[key])
        assert again[key].dtype == (kept[key].dtype if suffix not in ("csv", "parquet") else np.float64)
    if streamed:
        sizes = [sum(f.stat().st_size for f in path.rglob("*") if f.is_file())]
        ARM.rollout(q, v, None, DT, STEPS, outputs=OUTPUTS, to=tmp_path / f"double.{suffix}")
        sizes += [sum(f.stat().st_size for f in (tmp_path / f"double.{suffix}").rglob("*") if f.is_file())]
        assert sizes[0] < sizes[1]


def test_memory_of_another_run():
    q, v = start(ARM, 9)
    run = ARM.rollout(q, v, None, DT, STEPS, dtype="float32")
    again = ARM.rollout(0 * q, v, None, DT, STEPS, dtype="float32")
    assert ARM.rollout(q, v, None, DT, STEPS, dtype="float32", out=again) is again and np.array_equal(again.q, run.q)
    with pytest.raises(ShapeError, match=r"another type of numbers\n.*float32\n.*float64"):
        ARM.rollout(q, v, None, DT, STEPS, out=again)


def test_samples_that_diverge():
    q, v = start(ARM, 9)
    v[4] = 1e30
    run = ARM.rollout(q, v, None, DT, STEPS, dtype="float32", diverged="keep")
    assert not np.isfinite(run.q[4, -1]).all() and np.isfinite(np.delete(run.q, 4, axis=0)).all()
    with pytest.raises(linkwork.DivergedError, match="sample 4"):
        ARM.rollout(q, v, None, DT, STEPS, dtype="float32")


def test_refused():
    q, v = start(ARM, 2)
    for dtype in ("float16", int, "half a number", ["float32"]):
        with pytest.raises(UnknownNameError, match="dtype"):
            ARM.rollout(q, v, None, DT, 2, dtype=dtype)
        with pytest.raises(UnknownNameError, match="dtype"):
            ARM.stepper(2, dtype=dtype)
    with pytest.raises(UnsupportedError, match="gradients need float64"):
        ARM.rollout(q, v, None, DT, 2, dtype="float32", checkpoint_every=1)
    with pytest.raises(UnsupportedError, match="more digits than this type has"):
        linkwork.load("biped").rollout(None, None, None, DT, 2, dtype="float32", contacts=[1, 1])
    with pytest.raises(UnsupportedError, match="more digits than this type has"):
        linkwork.load("biped").stepper(2, dtype="float32", contacts=[1, 1])
    with pytest.raises(ShapeError, match=r"more steps than float32 can count\n.*\n  expected: 16,777,216"):
        ARM.rollout(q, v, None, DT, 2**24 + 1, dtype="float32", every=2**24)
    with pytest.raises(TypeError, match="dtype"):
        ARM.simulate(duration=0.01, dtype="float32")
