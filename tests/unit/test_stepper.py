"""Steppers: the bits of rollouts step by step, samples that start anew, inputs that change, and mistakes."""

import copy
import os
import pickle
import signal
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, SimulationWarning, SoftLimits
from linkwork.control import PD, ComputedTorque, Point, Quintic, Sampled
from linkwork.errors import ShapeError, UnknownNameError, UnsupportedError
from linkwork.forces import Contact, Drag
from linkwork.model import JointDescription, Link, LinkInertia
from linkwork.sim.schemes.integrators import schemes
from support.random_loops import four_bar
from support.random_robots import Recipe, describe

ARM = describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True))  # with friction and rotors
DT, STEPS, SUBSTEPS = 2e-3, 5, 3


def ball():
    """A body on a ball joint, with an arm on it."""
    links = [Link("ground"), *(Link(name, LinkInertia(1.0, np.array([0.1, 0.2, 0.3]), np.eye(3))) for name in "ab")]
    joints = [JointDescription("shoulder", "spherical", "ground", "a"), JointDescription("elbow", "revolute", "a", "b",
              axis=np.array([0.0, 1.0, 0.0]))]  # fmt: skip
    return linkwork.model.Description("ball", tuple(links), tuple(joints), gravity=(0, 0, -9.81))


def robots():
    free = linkwork.load(describe(Recipe(seed=5, joints=1, floating=True)))
    return {
        "arm": linkwork.load(ARM),
        "floating": free,
        "touching": free.with_forces({free.link_names[-1]: Contact(1000.0, 10.0, friction=0.5)}),
        "swimming": free.with_forces({free.link_names[0]: Drag(0.5, 1.0, 2.0, 3.0, 4.0)}),
        "ball": linkwork.load(ball()),
        "loops": linkwork.load(four_bar()),
        "elastic": linkwork.load("flexible-arm"),
    }


ROBOTS = robots()


@pytest.fixture(scope="module")
def arm():
    return ROBOTS["arm"]


def starts(robot, samples, seed=0):
    rng = np.random.default_rng(seed)
    if robot.model.permanent:
        home = np.array(robot.home)[list(robot.model.mobility.independent)]
        return robot.assemble(home + rng.uniform(-0.2, 0.2, (samples, robot.nv))).q, rng.normal(
            size=(samples, robot.nv)
        )
    return robot.coordinates.random(rng, samples), 0.3 * rng.normal(size=(samples, robot.nv))


def torques(robot, samples, steps=STEPS, seed=1):
    size = robot.rollout(None, None, None, DT, 1, outputs="tau").tau.shape[-1]
    return np.random.default_rng(seed).uniform(-1, 1, (samples, steps, size))


def stepped(stepper, tau):
    """q and v (samples, steps, n) of all steps under torques (samples, steps, n)."""
    found = []
    for k in range(tau.shape[1]):
        stepper.tau[:] = tau[:, k]
        stepper.step()
        found.append((stepper.q.copy(), stepper.v.copy()))
    return [np.stack(part, axis=1) for part in zip(*found)]


def rolled(robot, q, v, tau, substeps=SUBSTEPS, **options):
    """The same by a rollout, and all it says."""
    tau = np.repeat(tau, substeps, axis=1)
    run = robot.rollout(q, v, tau, DT, tau.shape[1], every=substeps, diverged="keep", **options)
    return run.q[:, 1:], run.v[:, 1:], run


@pytest.mark.filterwarnings("ignore:dt = ")  # the springs of some swing fast
@pytest.mark.parametrize("method", schemes())
@pytest.mark.parametrize("name", ROBOTS)
def test_the_bits_of_rollouts(name, method):
    robot = ROBOTS[name]
    for samples in (1, 11):
        (q, v), tau = starts(robot, samples), torques(robot, samples)
        stepper = robot.stepper(samples, DT, substeps=SUBSTEPS, q0=q, v0=v, method=method)
        assert np.array_equal(stepper.q, q) or np.abs(stepper.q - q).max() < 1e-12  # a quaternion, or closed again
        expected_q, expected_v, run = rolled(robot, q, v, tau, method=method)
        found_q, found_v = stepped(stepper, tau)
        assert np.array_equal(found_q, expected_q) and np.array_equal(found_v, expected_v)
        assert stepper.notes == run.notes[: len(stepper.notes)]  # findings come after
        assert (stepper.steps == STEPS * SUBSTEPS).all() and np.allclose(stepper.time, run.t[-1], rtol=1e-15)
        assert not stepper.diverged.any()


@pytest.fixture
def three_processors(monkeypatch):
    monkeypatch.setattr(sys.modules["linkwork.sim.schemes.runner"], "PROCESSORS", 3)


@pytest.mark.usefixtures("three_processors")
def test_threads_and_the_interpreter(arm):
    (q, v), tau = starts(arm, 37), torques(arm, 37)
    one, many = (stepped(arm.stepper(37, DT, q0=q, v0=v, threads=n), tau) for n in (1, 3))
    slow = stepped(arm.stepper(37, DT, q0=q, v0=v, backend="interpreter"), tau)
    for a, b, c in zip(one, many, slow):
        assert np.array_equal(a, b) and np.abs(a - c).max() < 1e-13 * np.abs(a).max()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.usefixtures("three_processors")
def test_a_copy_of_the_process_has_threads_of_its_own(arm):
    stepper = arm.stepper(37, DT, threads=3)
    stepper.step()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        stepper.step()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("three_processors")
def test_a_step_that_is_interrupted_is_over_and_counted(arm, threads):
    stepper = arm.stepper(16, 1e-7, substeps=400_000, threads=threads)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.02, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:
                stepper.step()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    made = stepper.save()[:, -2:]  # by native code, and as it is told
    assert made[0, 0] >= 400_000 and (made == made[0, 0]).all()
    assert np.array_equal(stepper.save()[:, -2:], made)


def test_limits_and_friction(arm):
    limited = linkwork.load(replace(ARM, joints=tuple(replace(j, lower=-0.1, upper=0.1) for j in ARM.joints)))
    (q, v), tau = starts(arm, 9), torques(arm, 9)
    options = {"limits": SoftLimits(50.0, 1.0), "friction_width": 0.2}
    expected, _, run = rolled(limited, q, v, tau, **options)
    stepper = limited.stepper(9, DT, substeps=SUBSTEPS, q0=q, v0=v, **options)
    assert np.array_equal(stepped(stepper, tau)[0], expected)
    assert stepper.notes == run.notes and len(stepper.notes) == 2
    assert np.abs(expected - rolled(arm, q, v, tau)[0]).max() > 1e-4


# -- samples that start anew ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4"])
@pytest.mark.parametrize("name", ["arm", "ball", "loops"])
def test_reset_by_mask(name, method):
    """Those of the mask do what fresh ones do, at their own time; the others go on as if nothing had been."""
    robot = ROBOTS[name]
    (q, v), (other_q, other_v), tau = starts(robot, 11), starts(robot, 11, seed=7), torques(robot, 11, 2 * STEPS)
    push = {robot.link_names[-1]: lambda t: [10 * t, 0, 1 - t, 0, t * t, 0]}  # of the time of each sample
    options = {"method": method, "wrenches": push}
    stepper = robot.stepper(11, DT, substeps=SUBSTEPS, q0=q, v0=v, **options)
    whole = rolled(robot, q, v, tau, **options)[0]
    assert np.array_equal(stepped(stepper, tau[:, :STEPS])[0], whole[:, :STEPS])
    mask = np.arange(11) % 3 == 1
    stepper.reset(mask, other_q, other_v)
    assert np.abs(stepper.q[mask] - other_q[mask]).max() < 1e-12
    assert np.array_equal(stepper.q[~mask], whole[~mask, STEPS - 1])
    assert np.array_equal(stepper.steps, np.where(mask, 0, STEPS * SUBSTEPS))
    found = stepped(stepper, tau[:, STEPS:])[0]
    assert np.array_equal(found[~mask], whole[~mask, STEPS:])
    assert np.array_equal(found[mask], rolled(robot, other_q, other_v, tau[:, STEPS:], **options)[0][mask])
    for given in (other_q[mask], other_q[3]):  # rows of the mask alone, or one for all
        stepper.reset(mask, given, 0 * other_v[mask])
        assert np.abs(stepper.q[mask] - given).max() < 1e-12 and not stepper.v[mask].any()
    stepper.reset()
    assert np.array_equal(stepped(stepper, tau[:, :STEPS])[0], whole[:, :STEPS])
    before = stepper.save()
    stepper.reset(np.zeros(11, bool), other_q)
    assert np.array_equal(stepper.save(), before)


def test_reset_takes_dicts_and_half_of_a_state():
    robot = ROBOTS["arm"]
    stepper = robot.stepper(3, DT, q0=[0.1, 0.2], v0=[0.3, 0.4])
    stepper.reset([False, True, False], {"to_link2": 2.0, "to_link1": 1.0})
    assert np.array_equal(stepper.q, [[0.1, 0.2], [1, 2], [0.1, 0.2]]) and (stepper.v == [0.3, 0.4]).all()
    stepper.reset(v={"to_link1": 5.0, "to_link2": 6.0})
    assert (stepper.q == [0.1, 0.2]).all() and (stepper.v == [5, 6]).all()


def test_diverged_samples_disturb_no_other(arm):
    (q, v), tau = starts(arm, 9), torques(arm, 9)
    expected = rolled(arm, q, v, tau)[0]
    stepper = arm.stepper(9, DT, substeps=SUBSTEPS, q0=q, v0=v)
    stepper.step()
    stepper.v[4] = 1e200
    stepper.reset(np.arange(9) != 4)
    found = stepped(stepper, tau)[0]
    others = np.arange(9) != 4
    assert np.array_equal(stepper.diverged, ~others) and not np.isfinite(stepper.q[4]).any()
    assert np.array_equal(found[others], expected[others])
    stepper.reset(stepper.diverged)
    assert not stepper.diverged.any() and np.array_equal(stepped(stepper, tau)[0][4], expected[4])


def test_save_and_restore():
    """Also what Adams and Bashforth look back on, and the times; all samples, or those of a mask."""
    robot = ROBOTS["arm"]
    (q, v), tau = starts(robot, 5), torques(robot, 5, 3)
    stepper = robot.stepper(5, DT, q0=q, v0=v, method="adams-bashforth-4")
    stepped(stepper, torques(robot, 5, 4, seed=4))
    saved = stepper.save()
    first, time = stepped(stepper, tau)[0], stepper.time
    stepper.restore(saved)
    assert np.array_equal(stepped(stepper, tau)[0], first) and np.array_equal(stepper.time, time)
    mask = np.arange(5) < 2
    stepper.restore(saved, mask)
    assert np.array_equal(stepper.steps, np.where(mask, 4, 7))
    assert np.array_equal(stepped(stepper, tau)[0][mask], first[mask]) and not stepper.diverged.any()


def test_restore_takes_what_save_gave():
    """Samples that diverged are not finite and say when; whatever else is not finite, or counts wrongly, is refused."""
    arm = linkwork.load("planar2r")
    stepper = arm.stepper(3, DT)
    stepper.step()
    stepper.tau[1] = np.nan
    stepper.step()
    saved, mask = stepper.save(), np.array([True, False, True])
    assert stepper.diverged.tolist() == [False, True, False]
    stepper.reset()
    stepper.restore(saved)
    assert stepper.diverged.tolist() == [False, True, False] and stepper.steps.tolist() == [2, 2, 2]
    before = stepper.save()
    nan, inf = np.nan, np.inf
    for column, value in ((0, nan), (3, inf), (-2, nan), (-1, nan), (-1, inf), (-1, 1.5), (-1, 1), (-2, -1)):
        spoilt = saved.copy()
        spoilt[2, column] = value
        with pytest.raises(ShapeError, match=r"not an array that save\(\) returned\n  got: sample 2"):
            stepper.restore(spoilt)
        assert np.array_equal(stepper.save(), before, equal_nan=True)
        stepper.restore(spoilt, np.array([True, True, False]))
    with pytest.raises(ShapeError, match=r"not an array that save\(\) returned"):
        stepper.restore(np.full_like(saved, np.nan))
    stepper.restore(np.where(mask[:, None], saved, np.nan), mask)


def test_more_samples_than_any_memory():
    """How much they would take is said before any is taken."""
    for name in ("planar2r", "four-bar"):
        for samples in (10**11, 10**12, 10**15):
            with pytest.raises(LinkworkError, match=r"these samples do not fit into memory\n  got: \S+ GB at least"):
                linkwork.load(name).stepper(samples)


# -- what acts -----------------------------------------------------------------------------------------------------


def test_wrenches_and_parameters_of_each_step(arm):
    (q, v), tau, rng = starts(arm, 9), torques(arm, 9), np.random.default_rng(2)
    tip = arm.link_names[-1]
    pushes = rng.normal(size=(9, STEPS, 6))
    vary = {"viscous": rng.uniform(0, 1, (9, 2)), "payload": {tip: np.abs(rng.normal(size=(9, 10)))}}
    expected = rolled(arm, q, v, tau, wrenches={tip: np.repeat(pushes, SUBSTEPS, axis=1)}, vary=vary)[0]
    start = {"viscous": [0.1, 0.1], "payload": {tip: np.zeros(10)}}
    stepper = arm.stepper(9, DT, substeps=SUBSTEPS, q0=q, v0=v, wrenches={tip: np.zeros(6)}, vary=start)
    stepper.vary["viscous"][:], stepper.vary["payload"][:] = vary["viscous"], vary["payload"][tip]
    for k in range(STEPS):
        stepper.tau, stepper.wrenches[tip] = tau[:, k], pushes[:, k]
        stepper.step()
        assert np.array_equal(stepper.q, expected[:, k])
    assert start["viscous"] == [0.1, 0.1]


def test_controllers_follow_what_is_written(arm):
    """Targets held over each step, as learned policies give them; gains of each sample."""
    (q, v), rng = starts(arm, 4), np.random.default_rng(3)
    goals, gains = rng.normal(size=(STEPS, 2)), {"kp": rng.uniform(1, 5, (4, 1)) * np.ones(2)}
    stepper = arm.stepper(4, DT, substeps=SUBSTEPS, q0=q, v0=v, torque=PD(3.0, 0.5), reference=Point(0, 0, 0),
                          gains={"kp": [[3.0, 3.0]]}, outputs=("tau", "kinetic_energy"))  # fmt: skip
    stepper.gains["kp"][:] = gains["kp"]
    for goal in goals:
        stepper.reference.q[:] = goal
        stepper.step()
        for _ in range(SUBSTEPS):
            run = arm.rollout(q, v, PD(3.0, 0.5), DT, 1, reference=Point(goal, 0, 0), gains=gains)
            q, v = run.q[:, -1], run.v[:, -1]
        assert np.abs(stepper.q - q).max() < 1e-14 and np.abs(stepper.v - v).max() < 1e-14
        expected = gains["kp"] * (goal - stepper.q) - 0.5 * stepper.v
        assert np.abs(stepper.outputs["tau"] - expected).max() < 1e-14
        assert np.abs(stepper.outputs["kinetic_energy"] - arm.kinetic_energy(q, v)).max() < 1e-13
    with pytest.raises(UnsupportedError, match="a controller computes the torques"):
        stepper.tau[:] = 0


def test_references_in_time(arm):
    (q, v), way = starts(arm, 3), Quintic([0, 0], [0.3, 0.2], 0.5)
    law = ComputedTorque(100.0, 20.0)
    expected = arm.rollout(q, v, law, DT, STEPS, reference=way)
    stepper = arm.stepper(3, DT, q0=q, v0=v, torque=law, reference=way)
    for k in range(STEPS):
        stepper.step()
        assert np.array_equal(stepper.q, expected.q[:, k + 1])
    with pytest.raises(UnsupportedError, match=r"sample this reference.*\n.*a Point of numbers"):
        arm.stepper(3, DT, torque=law, reference=Sampled([0, 1], [[0, 0], [1, 1]]))
    with pytest.raises(UnsupportedError, match="no reference to write"):
        stepper.reference.q[:] = 0


@pytest.mark.parametrize("name", ["ball", "loops"])
def test_outputs_after_each_step(name):
    robot = ROBOTS[name]
    (q, v), tau = starts(robot, 9), torques(robot, 9)
    outputs = ("a", "center_of_mass", "momentum", "work", *["loop_residual"] * bool(robot.model.permanent))
    run = rolled(robot, q, v, tau, outputs=("q", "v", *outputs))[2]
    stepper = robot.stepper(9, DT, substeps=SUBSTEPS, q0=q, v0=v, outputs=outputs)
    assert list(stepper.outputs) == list(outputs)
    for k in range(STEPS):
        stepper.tau[:] = tau[:, k]
        stepper.step()
        assert np.array_equal(stepper.q, run.q[:, k + 1])
        for output in outputs[1:]:
            assert np.array_equal(stepper.outputs[output], run[output][:, k + 1])
        acceleration = robot.forward_dynamics(stepper.q, stepper.v, stepper.tau)  # under the torques of the step
        assert np.abs(stepper.outputs["a"] - acceleration).max() < 1e-10 * np.abs(acceleration).max()
    with pytest.raises(ValueError, match="read-only"):
        stepper.outputs["a"][:] = 0


def test_views_are_the_state(arm):
    stepper = arm.stepper(4, DT, q0=np.arange(8.0).reshape(4, 2))
    q, v, tau = stepper.q, stepper.v, stepper.tau
    stepper.q, stepper.v, stepper.tau = 0.5, [1.0, 2.0], np.arange(8.0).reshape(4, 2)
    assert stepper.q is q and (q == 0.5).all() and (v == [1, 2]).all() and tau[3, 1] == 7
    stepper.step()
    expected = arm.rollout(np.full((4, 2), 0.5), np.array([1.0, 2.0]), np.arange(8.0).reshape(4, 1, 2), DT, 1)
    assert np.array_equal(q, expected.q[:, 1]) and np.array_equal(v, expected.v[:, 1])
    stepper.reset()
    assert np.array_equal(q, np.arange(8.0).reshape(4, 2))
    assert repr(stepper) == "<Stepper of random: 4 samples, steps of 0.002 s, semi-implicit-euler>"


def test_a_robot_that_cannot_move():
    bare = linkwork.load(linkwork.model.Description("bare", (Link("ground"),), ()))
    stepper = bare.stepper(3, DT)
    stepper.step()
    assert stepper.q.shape == stepper.tau.shape == (3, 0) and not stepper.diverged.any()


# -- mistakes ------------------------------------------------------------------------------------------------------


def test_steps_that_are_too_long():
    stiff = linkwork.load("flexible-arm")
    with pytest.warns(SimulationWarning, match="too long for rk4") as caught:
        stepper = stiff.stepper(2, 0.5, method="rk4")
    assert caught[0].filename == __file__ and stepper.notes[-1].startswith("warning: dt = 0.5 s is too long")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples: out of range"),
        ({"samples": 3.0}, "samples: out of range"),
        ({"substeps": 0}, "substeps: out of range"),
        ({"dt": -1.0}, "dt: out of range"),
        ({"q0": np.zeros((5, 2))}, r"q0: wrong number of samples\n.*\(5, 2\)\n.*\(2,\) or \(3, 2\)"),
        ({"v0": np.zeros((2, 2))}, "v0: wrong number of samples"),
        ({"q0": np.zeros(3)}, "q0: wrong shape"),
        ({"torque": np.zeros((3, 7, 2))}, r"torque: wrong shape\n.*\n.*\(2,\) or \(3, 2\)"),
        ({"torque": [np.nan, 0]}, "finite"),
        ({"method": "dormand-prince"}, "no method of steppers 'dormand-prince'"),
        ({"outputs": "speed"}, "no output 'speed'"),
        ({"wrenches": {"nowhere": np.zeros(6)}}, "nowhere"),
        ({"vary": {"viscous": np.zeros((2, 2))}}, "viscous.*wrong shape"),
        ({"torque": PD(1, 1), "reference": Point([1, 2, 3], 0, 0)}, r"reference.q: wrong shape\n.*\n.*or \(3, 2\)"),
        ({"reference": Point(0, 0, 0)}, "a reference needs a controller"),
        ({"torque": PD(1, 1), "reference": [0, 0]}, "this is not a reference"),
    ],
)  # fmt: skip
def test_refused_steppers(arm, options, words):
    with pytest.raises(LinkworkError, match=words):
        arm.stepper(**{"samples": 3, "dt": DT, **options})


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda s: s.reset([1, 2]), ShapeError, r"not a mask of .*\n.*int\d+ \(2,\)\n.*bool \(3,\)\n.*mask\[indices\]"),
        (lambda s: s.reset(np.ones(4, bool)), ShapeError, "not a mask of the samples"),
        (lambda s: s.reset([True, False, True], np.zeros((4, 2))), ShapeError, r"q: wrong.*\n.*\n.*\(3, 2\) or"),
        (lambda s: s.reset(q=[np.inf, 0]), ShapeError, "finite"),
        (lambda s: s.reset(q={"elbow": 1.0}), UnknownNameError, "elbow"),
        (lambda s: s.restore(np.zeros((3, 2))), ShapeError, r"not an array that save\(\) returned"),
        (lambda s: s.restore([[0.0]]), ShapeError, r"not an array that save\(\) returned"),
        (lambda s: s.restore(None), ShapeError, "restore: these are not real numbers"),
        (lambda s: setattr(s, "q", None), ShapeError, "stepper.q: these are not real numbers"),
        (lambda s: setattr(s, "v", 1j), ShapeError, "stepper.v: these are not real numbers"),
        (lambda s: copy.copy(s), UnsupportedError, r"cannot be copied or pickled\n.*restore there what save\(\)"),
        (lambda s: copy.deepcopy(s), UnsupportedError, "cannot be copied"),
        (lambda s: pickle.dumps(s), UnsupportedError, "cannot be copied"),
        (lambda s: setattr(s, "tau", np.zeros(3)), ShapeError, r"stepper.tau: wrong shape\n.*\(3,\)\n.*\(3, 2\)"),
        (lambda s: s.vary.__setitem__("viscous", np.zeros(3)), ShapeError, r"vary\['viscous'\]: wrong shape"),
        (lambda s: s.vary.__setitem__("mass", 1.0), UnknownNameError, "stepper.vary: .*no view 'mass'\n.*viscous"),
    ],
)  # fmt: skip
def test_refused_acts_change_nothing(arm, act, error, words):
    stepper = arm.stepper(3, DT, q0=[0.1, 0.2], vary={"viscous": np.zeros(2)})
    stepper.step()
    before = stepper.save()
    with pytest.raises(error, match=words):
        act(stepper)
    assert np.array_equal(stepper.save(), before) and not stepper.tau.any()


def test_loops_are_moved_by_reset_alone():
    robot = ROBOTS["loops"]
    stepper = robot.stepper(2, DT)
    for name in ("q", "v"):
        with pytest.raises(UnsupportedError, match=r"stepper\.reset\(mask, q, v\)"):
            setattr(stepper, name, 0.0)
        with pytest.raises(ValueError, match="read-only"):
            getattr(stepper, name)[:] = 0
    with pytest.raises(LinkworkError, match="the loops are not closed"):
        stepper.reset(q=np.array(robot.home) + 0.1 * np.arange(robot.nq))


def test_quaternions_are_checked_at_reset():
    stepper = ROBOTS["floating"].stepper(2, DT)
    q = stepper.q[0].copy()
    q[3:7] *= 2
    with pytest.raises(ShapeError, match="a quaternion has not unit length"):
        stepper.reset(q=q)


def test_states_of_another_robot_are_not_restored():
    """Though they are equally long: they would open the loops."""
    saved = linkwork.load("slider-crank").stepper(2, DT).save()
    stepper = linkwork.load("four-bar").stepper(2, DT)
    before = stepper.save()
    assert saved.shape == before.shape
    with pytest.raises(ShapeError, match="sample 0: a state of another robot"):
        stepper.restore(saved)
    assert np.array_equal(stepper.save(), before)
    linkwork.load("four-bar", gravity=[0, 0, 0]).stepper(2, DT).restore(before)
