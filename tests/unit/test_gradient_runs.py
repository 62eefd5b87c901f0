"""How runs are gone through backwards: what is kept of them, in parts, by threads, by each back end, from disk."""

import gc
import importlib
import pickle
import weakref

import numpy as np
import pytest

import linkwork
from linkwork.control import PID, Point, Sampled
from linkwork.sim.derivatives import gradient
from linkwork.sim.schemes.integrators import schemes
from linkwork.targets import names
from support.evaluate import assert_close
from support.random_loops import four_bar
from support.random_robots import Recipe, describe
from support.through_time import part, random_weights, replaced

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.SimulationWarning")
STEPS = 12
ROBOTS = {
    "arm": linkwork.load(describe(Recipe(seed=3, joints=2, extras=True))),
    "floating": linkwork.load(describe(Recipe(seed=5, joints=1, floating=True))),
    "loop": linkwork.load(four_bar()),
}


@pytest.fixture(scope="module")
def arm():
    return ROBOTS["arm"]


def start(robot, samples):
    rng = np.random.default_rng(0)
    q = robot.coordinates.random(rng, samples)
    if robot.model.permanent:
        q = robot.assemble(robot.home[0] + rng.uniform(-0.2, 0.2, (samples, 1))).q
    motors = len(robot.model.mobility.motors)
    return {
        "q0": q,
        "v0": 0.3 * rng.normal(size=(samples, robot.nv)),
        "torque": PID(30.0, 10.0, 3.0),
        "reference": Point(rng.normal(size=(samples, motors)), 0.0, 0.0),
        "gains": {"kp": rng.uniform(20, 40, (samples, motors)), "ki": 9.0},
        "memory": {"integral": rng.normal(size=(samples, motors))},
    }


def pulled(robot, samples, steps=STEPS, **how):
    how = {"dt": 5e-3, "outputs": ("q", "v", "a", "tau"), "checkpoint_every": 5} | how
    motion = robot.rollout(**start(robot, samples), steps=steps, **how)
    return motion.pullback(**random_weights(motion))


PATHS = [("q0",), ("v0",), ("reference", "q"), ("gains", "kp"), ("gains", "ki"), ("memory", "integral")]


def same(one, other, tolerance=0.0):
    for path in PATHS:
        assert np.abs(part(other, path)).max() > 0, path
        assert_close(part(one, path), part(other, path), tolerance=tolerance)


# -- ways to go ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", schemes())
def test_native_code_is_the_interpreter(arm, method):
    same(*(pulled(arm, 2, method=method, backend=backend) for backend in names("run")), 1e-11)


@pytest.mark.parametrize("name", ["floating", "loop"])
def test_native_code_is_the_interpreter_elsewhere(name):
    same(*(pulled(ROBOTS[name], 2, 4, backend=backend) for backend in names("run")), 1e-11)


@pytest.mark.parametrize("checkpoint_every", [1, 5])
def test_threads_share_the_samples(arm, checkpoint_every):
    how = {"checkpoint_every": checkpoint_every, "method": "adams-bashforth-4"}
    alone, shared = (pulled(arm, 37, threads=threads, **how) for threads in (1, 2))
    same(shared, alone, 1e-13)  # sums over samples are made in another order


@pytest.fixture
def small(monkeypatch):
    """Groups of five samples, of which two go back side by side, three steps at a time."""
    for module in ("derivatives.gradient", "schemes.fixed_steps"):
        monkeypatch.setattr(importlib.import_module(f"linkwork.sim.{module}"), "GROUP", 5)
    monkeypatch.setattr(gradient, "PIECE", 2)
    monkeypatch.setattr(gradient, "SEGMENT", 3)


def test_groups_of_samples(arm, request):
    whole = pulled(arm, 11)
    request.getfixturevalue("small")
    same(pulled(arm, 11), whole, 1e-13)


def test_records_that_serve_as_states(arm, request):
    """In groups, in parts and by threads."""
    rng = np.random.default_rng(3)
    q, v, torque = rng.normal(size=(3, 21, 1, 2))

    def found(threads):
        run = arm.rollout(q[:, 0], v[:, 0], torque[:1], 5e-3, STEPS, checkpoint_every=1, threads=threads)
        assert run.tape.records.shape == (21, STEPS + 1, 4) and not run.tape.states
        return run.pullback(**random_weights(run))

    whole = found(1)
    request.getfixturevalue("small")
    for threads in (1, 2):
        again = found(threads)
        assert_close(again.q0, whole.q0)
        assert_close(again.torque, whole.torque)


@pytest.mark.parametrize("name", ROBOTS)
def test_each_sample_as_if_it_were_alone(name):
    robot, given = ROBOTS[name], start(ROBOTS[name], 3)
    how = {"dt": 5e-3, "steps": STEPS, "checkpoint_every": 5}
    many = robot.rollout(**given, **how)
    weights = random_weights(many)
    expected = many.pullback(**weights)
    each = [path for path in PATHS if path != ("gains", "ki")]
    for k in range(3):
        one = given
        for path in each:
            one = replaced(one, path, part(given, path)[k])
        alone = robot.rollout(**one, **how).pullback(**{key: x[k] for key, x in weights.items()})
        for path in each:
            assert_close(part(alone, path), part(expected, path)[k])


def test_weights_in_any_order_and_form(arm):
    motion = arm.rollout(**start(arm, 2), dt=5e-3, steps=STEPS, outputs=("q", "v", "a", "tau"), checkpoint_every=5)
    weights = {name: x.round(2) for name, x in random_weights(motion).items()}
    expected = motion.pullback(**weights)
    same(motion.pullback(**dict(reversed(weights.items()))), expected)
    same(motion.pullback(**{name: x.tolist() for name, x in weights.items()}), expected)
    same(motion.pullback(**{name: np.asfortranarray(x) for name, x in weights.items()}), expected)
    whole = {name: (100 * x).round().astype(int) for name, x in weights.items()}
    same(motion.pullback(**whole), motion.pullback(**{name: x.astype(float) for name, x in whole.items()}))


def test_inputs_may_change_meanwhile(arm):
    """What was given is the caller's; a gradient is of what it was."""
    torque, gravity = np.ones((STEPS, 2)), np.array([1.0, 2.0, 3.0])
    q0, v0 = np.array([[0.1, 0.2]]), np.array([[0.3, 0.4]])
    how = {"dt": 5e-3, "steps": STEPS, "checkpoint_every": 5, "vary": {"gravity": gravity}}
    motion = arm.rollout(q0, v0, torque, **how)
    before = motion.pullback(q=np.ones_like(motion.q))
    for array in (torque, gravity, q0, v0):
        array[:] = 9.0
    after = motion.pullback(q=np.ones_like(motion.q))
    for name in ("q0", "v0", "torque"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    assert np.array_equal(before.vary["gravity"], after.vary["gravity"])


def test_shapes_are_those_that_were_given(arm):
    """Torques of the motors alone; what is a function of time, or was not given, has no gradient."""
    free = ROBOTS["floating"]
    place, how = free.coordinates.neutral(), {"dt": 5e-3, "steps": STEPS, "checkpoint_every": 1}
    one, whole = (free.rollout(place, np.zeros(7), tau, **how) for tau in ([0.5], [0, 0, 0, 0, 0, 0, 0.5]))
    ones = np.ones_like(one.q)
    assert np.array_equal(one.pullback(q=ones).torque, whole.pullback(q=ones).torque[6:])
    bar = ROBOTS["loop"]
    of_all = bar.joint_velocities(bar.home, [0.5])
    runs = [bar.rollout(bar.home, v0, **how) for v0 in ([0.5], of_all)]
    one, other = (run.pullback(v=np.ones_like(run.v)).v0 for run in runs)
    assert one.shape == (1,) and np.array_equal(one, other)  # by the independent velocity, which tells the others
    by_joint = dict.fromkeys(arm.joint_names, 0.5)
    run = arm.rollout(by_joint, by_joint, by_joint, **how)
    assert run.pullback(q=np.ones_like(run.q)).torque.shape == (2,)
    way = Sampled(np.linspace(0, 1, 5), np.zeros((5, 2)))
    run = arm.rollout([0.1, 0.2], [0, 0], PID(1, 1, 1), reference=way, **how)
    found = run.pullback(v=np.ones_like(run.v))
    assert found.reference is found.torque is None and not (found.gains or found.vary or found.wrenches)
    assert found.memory["integral"].shape == found.v0.shape == (2,)  # where it begins, given or not


def test_samples_that_left_the_numbers(arm):
    """The others have their gradients; what all share has none."""
    q, v = np.zeros((3, 2)), np.array([[0.1, 0.2], [1e60, 1.0], [0.3, 0.1]])
    how = {"torque": np.ones(2), "dt": 5e-3, "steps": STEPS, "checkpoint_every": 5}
    run = arm.rollout(q, v, diverged="keep", **how)
    assert np.isnan(run.q[1, -1]).all()
    found = run.pullback(q=np.ones_like(run.q))
    assert np.isfinite(found.v0).all(axis=1).tolist() == [True, False, True]
    assert np.isnan(found.torque).all()
    alone = arm.rollout(q[2], v[2], **how)
    assert_close(found.v0[2], alone.pullback(q=np.ones_like(alone.q)).v0)


# -- what is kept --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4"])
@pytest.mark.parametrize("outputs", [("q", "v"), ("v", "q", "a")])
def test_memory_is_bounded(arm, method, outputs):
    """A state for each segment, and none where the records have them."""
    q, v = np.full((3, 2), 0.1), np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    steps, found = 1000, []
    for checkpoint_every, kept in ((1, 0 if outputs == ("q", "v") else 16), (50, 20), (300, 4), (10**9, 1)):
        how = {"outputs": outputs, "method": method, "checkpoint_every": checkpoint_every}
        run = arm.rollout(q, v, None, 1e-3, steps, **how)
        tape = run.tape
        assert len(tape.states) == kept and all(len(x) == 3 for x in tape.states.values())
        assert tape.records.size == (0 if kept else run.q.size + run.v.size)
        found.append(run.pullback(q=np.ones_like(run.q), v=np.ones_like(run.v)))
    for one in found[1:]:
        assert_close(one.q0, found[0].q0)
        assert_close(one.v0, found[0].v0)


def test_segments_are_no_longer_than_said(arm, monkeypatch):
    run = arm.rollout([0.1, 0.2], [0.3, 0.4], None, 1e-3, 50, every=50, checkpoint_every=7)
    kind, longest = type(run.tape), []
    recomputed = kind.states_between

    def watched(self, *where):
        longest.append(recomputed(self, *where).shape[1])
        return recomputed(self, *where)

    monkeypatch.setattr(kind, "states_between", watched)
    run.pullback(q=np.ones_like(run.q))
    assert max(longest) == 8 and len(longest) == 8


def test_a_tape_lives_as_long_as_its_trajectory(arm):
    run = arm.rollout([0.1, 0.2], [0.3, 0.4], None, 1e-3, 20, outputs=("q", "a"), checkpoint_every=5)
    run.pullback(a=np.ones_like(run.a))
    tape = weakref.ref(run.tape)
    assert pickle.loads(pickle.dumps(run)).tape is None
    del run
    gc.collect()
    assert tape() is None


@pytest.mark.parametrize("folder", ["run", "run.zarr"])
def test_streamed_runs(arm, tmp_path, folder):
    how = {"dt": 1e-3, "steps": 70, "checkpoint_every": 1}
    kept, streamed = (arm.rollout([[0.1, 0.2]], [[0.3, 0.4]], to=to, **how) for to in (None, tmp_path / folder))
    weights = random_weights(kept)
    one, other = kept.pullback(**weights), streamed.pullback(**weights)
    assert_close(other.q0, one.q0)
    assert_close(other.v0, one.v0)


def test_memory_that_is_used_again(arm):
    """A gradient is of the last run, also while somebody still writes to views of the memory it lent."""
    first = arm.rollout([0.1, 0.2], [0.3, 0.4], None, 1e-3, 20)
    view, weights = first.q, np.ones((21, 2))
    for torque in ([1.0, 2.0], [3.0, 4.0]):
        fresh = arm.rollout([0.1, 0.2], [0.3, 0.4], torque, 1e-3, 20, checkpoint_every=1)
        again = arm.rollout([0.1, 0.2], [0.3, 0.4], torque, 1e-3, 20, checkpoint_every=1, out=first)
        view[:] = 9.0
        assert again is first and np.array_equal(again.pullback(q=weights).v0, fresh.pullback(q=weights).v0)
