"""How rollouts run: streaming, stopping, diverging, memory, and warnings about steps that are too long."""

import gc
import importlib
import re
import resource
import warnings
import weakref
from dataclasses import replace
from itertools import cycle, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork
from linkwork import DivergedError, LinkworkError, SoftLimits
from linkwork.control import PD, Quintic, Sampled
from linkwork.model import Description, JointDescription, Link, LinkInertia
from linkwork.sim.schemes import stability
from linkwork.sim.schemes.integrators import schemes
from support.random_robots import Recipe, describe

module = importlib.import_module("linkwork.sim.schemes.fixed_steps")
OUTPUTS = ("q", "kinetic_energy", "v", "work")


@pytest.fixture(scope="module")
def arm():
    return linkwork.load("planar2r")


def starts(samples, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (samples, 2)), rng.uniform(-1, 1, (samples, 2))


@pytest.fixture
def small(monkeypatch):
    """Groups of few samples, and looks at the state after few steps."""
    monkeypatch.setattr(module, "GROUP", 5)
    monkeypatch.setattr(module, "BUFFER", 60)
    monkeypatch.setattr(module, "FIRST", 1)


# -- the same memory again ------------------------------------------------------------------------------------------


def test_out_is_filled_and_returned(arm):
    """The same bits in the same memory, also from states and with torques that lie there; notes are of the last run."""
    options = {"outputs": ("tau", "q", "v", "kinetic_energy"), "method": "rk4"}
    q, v = starts(9)
    tau = np.random.default_rng(0).uniform(-5, 5, (9, 1, 2))
    out = arm.rollout(q, v, tau, 1e-3, 20, **options)
    place = out.q.__array_interface__["data"]
    expected = arm.rollout(out.q[:, -1].copy(), out.v[:, -1].copy(), tau, 2e-3, 20, **options)
    same = arm.rollout(out.q[:, -1], out.v[:, -1], out.tau[:, :1], 2e-3, 20, out=out, **options)
    assert same is out and out.q.__array_interface__["data"] == place
    assert (out.dt, out.notes) == (2e-3, expected.notes)
    for name in expected:
        assert np.array_equal(out[name], expected[name])
    one = arm.rollout(q[0], v[0], None, 1e-3, 5)
    assert arm.rollout(q[1], v[1], None, 1e-3, 5, out=one) is one
    assert np.array_equal(one.q, arm.rollout(q[1], v[1], None, 1e-3, 5).q)
    assert tuple(arm.rollout(q, v, None, 1e-3, 5, outputs=(), out=arm.rollout(q, v, None, 1e-3, 5, outputs=()))) == (
        "t",
    )


def test_out_may_hold_what_acts(arm):
    """Torques that all samples share and that lie in the memory itself are read before they are written over."""
    tau, (q, v) = np.random.default_rng(0).uniform(-5, 5, (1, 5, 2)), starts(17)
    expected = arm.rollout(q, v, tau, 1e-3, 5, outputs="a")
    out = arm.rollout(q, v, None, 1e-3, 5, outputs="a")
    out.a[:1, :5] = tau
    assert np.array_equal(arm.rollout(q, v, out.a[:1, :5], 1e-3, 5, outputs="a", out=out).a, expected.a)


def test_out_of_a_run_that_ended_early(arm, small):
    """It is told, and its memory can be used again."""
    q, v = starts(4)
    out = arm.rollout(q, v, None, 1e-3, 20)
    with pytest.warns(UserWarning, match="stopped from the keyboard"):
        assert arm.rollout(q, v, None, 1e-3, 20, out=out, progress=stopper(3)) is out
    assert len(out.t) < 21 and "stopped from the keyboard" in out.notes[-1]
    with pytest.raises(DivergedError):
        arm.rollout(q, v, lambda t, q, v, r: 1e5 * v * v * v, 1e-2, 20, out=out)
    assert "the motion is not finite" in out.notes[-1]
    assert np.array_equal(arm.rollout(q, v, None, 1e-3, 20, out=out).q, arm.rollout(q, v, None, 1e-3, 20).q)
    assert len(out.t) == 21


ABOUT = {"robot": "", "method": "", "dt": 1.0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda out, **_: out.q, r"out: not a trajectory\n.*ndarray\n.*earlier rollout"),
        (lambda robot, q, v, **_: robot.rollout(q[:2], v[:2], None, 1e-3, 5), r"size\n.*2 samples.*\n.*4 samples"),
        (lambda robot, q, v, **_: robot.rollout(q, v, None, 1e-3, 6), r"another size\n.*7 times\n.*4 samples, 6 times"),
        (lambda robot, q, v, **_: robot.rollout(q[0], v[0], None, 1e-3, 5), r"another size\n.*one motion, 6 times"),
        (lambda robot, q, v, **_: robot.rollout(q, v, None, 1e-3, 5, outputs="v"), r"other arrays\n.*got: v\n.*: q, v"),
        (lambda out, **_: out[::-1], "cannot be written"),
        (lambda out, **_: out[np.arange(4)], "cannot be written"),
        (lambda out, **_: linkwork.Trajectory(out.arrays, {"q": "ab", "v": "ab"}, **ABOUT), "other names of q"),
        (lambda out, **_: linkwork.Trajectory(out.arrays, out.entries, units={"q": "mm"}, **ABOUT), "other units of q"),
    ],
)  # fmt: skip
def test_out_that_does_not_fit(arm, change, words):
    q, v = starts(4)
    out = arm.rollout(q, v, None, 1e-3, 5)
    before = out.q.copy()
    with pytest.raises(LinkworkError, match=words):
        arm.rollout(q, 2 * v, None, 1e-3, 5, out=change(robot=arm, q=q, v=v, out=out))
    assert np.array_equal(out.q, before)


def test_out_and_a_folder(arm, tmp_path):
    out = arm.rollout(*starts(4), None, 1e-3, 5)
    with pytest.raises(LinkworkError, match="a folder or into a trajectory's memory"):
        arm.rollout(*starts(4), None, 1e-3, 5, out=out, to=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    streamed = arm.rollout(*starts(4), None, 1e-3, 5, to=tmp_path / "run")
    with pytest.raises(LinkworkError, match="cannot be written"):
        arm.rollout(*starts(4), None, 1e-3, 5, out=streamed)


# -- streaming -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("name", ["run", "deep/er/run", "run.zarr"])
def test_streams_what_memory_holds(arm, small, tmp_path, name, every):
    q, v = starts(13)
    tau = np.random.default_rng(0).uniform(-50, 50, (13, 40, 2))
    options = {"every": every, "outputs": OUTPUTS, "method": "adams-bashforth-4"}
    kept = arm.rollout(q, v, tau, 1e-3, 40, **options)
    streamed = arm.rollout(q, v, tau, 1e-3, 40, to=tmp_path / name, **options)
    assert tuple(streamed) == tuple(kept)
    for output in kept:
        assert np.array_equal(np.asarray(streamed[output]), kept[output])
    if not name.endswith(".zarr"):
        files = [*(f"{x}.npy" for x in kept), "trajectory.json"]
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == sorted(files)
        assert np.array_equal(np.load(tmp_path / name / "work.npy"), kept["work"])
        assert np.array_equal(np.load(tmp_path / name / "t.npy"), kept["t"])


@pytest.mark.parametrize("name", ["run", "run.zarr"])
@pytest.mark.parametrize("samples", [None, 3])
def test_streamed_folders_open_again(arm, tmp_path, name, samples):
    q, v = starts(samples or 1)
    streamed = arm.rollout(*((q, v) if samples else (q[0], v[0])), None, 1e-3, 20, outputs=OUTPUTS, to=tmp_path / name)
    again = linkwork.Trajectory.load(tmp_path / name)
    assert repr(again) == repr(streamed) and again.entries == streamed.entries and again.units == streamed.units
    for output in streamed:
        assert np.array_equal(np.asarray(again[output]), np.asarray(streamed[output]))


def test_folders_that_hold_no_trajectory(tmp_path):
    with pytest.raises(LinkworkError, match=r"cannot be read"):
        linkwork.Trajectory.load(tmp_path)
    (tmp_path / "trajectory.json").write_text('{"format": "linkwork trajectory 1", "arrays": ["../../secret"]}')
    with pytest.raises(LinkworkError, match=r"not a trajectory that linkwork wrote"):
        linkwork.Trajectory.load(tmp_path)


def test_groups_and_pieces_change_no_bit(arm, monkeypatch):
    q, v = starts(23)
    rng = np.random.default_rng(1)
    options = {"outputs": OUTPUTS, "method": "adams-bashforth-4", "every": 2}
    options |= {"torque": rng.uniform(-50, 50, (23, 61, 2)), "vary": {"viscous": rng.uniform(0, 9, (23, 2))}}
    whole = arm.rollout(q, v, dt=1e-3, steps=61, **options)
    monkeypatch.setattr(module, "GROUP", 10)
    monkeypatch.setattr(module, "BUFFER", 60)
    parts = arm.rollout(q, v, dt=1e-3, steps=61, threads=2, **options)
    for name in whole:
        assert np.array_equal(parts[name], whole[name])


def test_one_motion_streams_too(arm, tmp_path):
    q, v = starts(1)
    streamed = arm.rollout(q[0], v[0], None, 1e-3, 20, to=tmp_path / "one")
    assert streamed.q.shape == (21, 2)
    assert np.array_equal(streamed.q, arm.rollout(q[0], v[0], None, 1e-3, 20).q)


def test_memory_stays_flat(arm, tmp_path, monkeypatch):
    """A long streamed run needs no more than a short one."""
    q, v = starts(1)
    monkeypatch.setattr(module, "BUFFER", 2**17)  # numbers, 1 MB

    def peak(name, steps):
        arm.rollout(q, v, None, 1e-4, steps, outputs=("q", "v", "kinetic_energy"), to=tmp_path / name)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    before = peak("short", 30_000)
    after = peak("long", 1_500_000)
    size = (tmp_path / "long" / "q.npy").stat().st_size / 2**20
    assert size > 20
    assert after - before < 8  # MB; all of it would be 69


def test_nothing_keeps_a_robot_alive():
    robot = linkwork.load("planar2r")
    robot.rollout([0.0, 0.0], [0.0, 0.0], PD(1, 1), 1e-3, 2, reference=Quintic([0.0, 0.0], [1.0, 1.0], 1.0))
    model = weakref.ref(robot.model)
    del robot
    gc.collect()
    assert model() is None


# -- stopping ------------------------------------------------------------------------------------------------------


def stopper(calls):
    """A progress function that presses Ctrl-C."""
    seen = []

    def progress(done, total):
        seen.append((done, total))
        if len(seen) == calls:
            raise KeyboardInterrupt

    progress.seen = seen
    return progress


@pytest.mark.parametrize("to", [None, "run", "run.zarr"])
@pytest.mark.parametrize(("calls", "samples"), [(2, 5), (3, 5), (10, 5), (14, 10)])
def test_ctrl_c_keeps_what_is_done(arm, small, tmp_path, to, calls, samples):
    """Within the first group its times so far; afterwards whole groups with all their times."""
    q, v = starts(13)
    options = {"outputs": OUTPUTS, "method": "rk4"}
    full = arm.rollout(q, v, None, 1e-3, 20, **options)
    progress = stopper(calls)
    with pytest.warns(UserWarning, match="stopped from the keyboard"):
        found = arm.rollout(q, v, None, 1e-3, 20, progress=progress, to=to and tmp_path / to, **options)
    done, total = progress.seen[-1]
    assert total == 13 * 20
    rows = min(done // 5, 21) if done < 100 else 21
    assert found.q.shape == (samples if done >= 200 else 5, rows, 2)
    assert "stopped from the keyboard" in found.notes[-1]
    for name in OUTPUTS:
        assert np.array_equal(np.asarray(found[name]), full[name][: len(found), :rows])
        if to == "run":
            assert np.array_equal(np.load(tmp_path / to / f"{name}.npy"), full[name][: len(found), :rows])


def test_ctrl_c_is_heard_between_two_records(arm, small):
    """And a run may be cut anywhere: the records are those of one that was not."""
    q, v = starts(3)
    options = {"outputs": OUTPUTS, "method": "adams-bashforth-4", "every": 10**6}
    progress = stopper(4)
    with pytest.warns(UserWarning, match="stopped from the keyboard"):
        found = arm.rollout(q, v, None, 1e-3, 10**9, progress=progress, **options)
    assert progress.seen[-1][0] < 10**6 and found.q.shape == (3, 1, 2)


def test_ctrl_c_before_the_first_record(arm, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Runner, "advance", stop)
    with pytest.warns(UserWarning, match="stopped from the keyboard"):
        found = arm.rollout(*starts(3), None, 1e-3, 10, outputs=(*OUTPUTS, "potential_energy"))
    assert found.q.shape == (3, 0, 2)


@pytest.mark.parametrize("every", [1, 4, 7, 50])
def test_pieces_end_anywhere(arm, monkeypatch, every):
    q, v = starts(3)
    options = {"outputs": OUTPUTS, "method": "adams-bashforth-4", "every": every}
    whole = arm.rollout(q, v, None, 1e-3, 100, **options)
    monkeypatch.setattr(module, "FIRST", 1)
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    sizes = cycle(range(1, 6))
    monkeypatch.setattr(module, "_turns", lambda *_: next(sizes))
    pieces = arm.rollout(q, v, None, 1e-3, 100, **options)
    for name in whole:
        assert np.array_equal(whole[name], pieces[name])
    assert len(whole.t) == 100 // every + 1


def test_progress_counts_steps(arm, small):
    seen = []
    arm.rollout(*starts(7), None, 1e-3, 30, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (210, 210) and all(a < b for (a, _), (b, _) in pairwise(seen))


def test_progress_bar(arm, small, monkeypatch, capsys):
    """It shows up in runs that take long, and changes nothing."""
    bar = importlib.import_module("linkwork.progress")
    monkeypatch.setattr(bar, "AFTER", 0.0)
    shown = arm.rollout(*starts(7), None, 1e-3, 30, progress=True)
    assert np.array_equal(shown.q, arm.rollout(*starts(7), None, 1e-3, 30, progress=False).q)
    assert capsys.readouterr().out == ""


def test_an_error_in_between_leaves_readable_files(arm, small, tmp_path):
    def progress(done, total):
        if done > 40:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        arm.rollout(*starts(7), None, 1e-3, 30, progress=progress, to=tmp_path / "run")
    kept = np.load(tmp_path / "run" / "q.npy")
    assert kept.shape[0] == 5 and 0 < kept.shape[1] < 31 and np.isfinite(kept).all()


# -- diverging -----------------------------------------------------------------------------------------------------


def explosive(t, q, v, reference, *, push=0.0):
    """Grows as q' = q^2 does."""
    return push * v * v * v * 100


def test_diverged_samples_tell_where_and_when(arm):
    q, v = starts(9)
    push = np.zeros(9)
    push[[4, 7]] = 100.0, 1000.0
    options = {"gains": {"push": push}}
    with pytest.raises(DivergedError) as caught:
        arm.rollout(q, v, explosive, 1e-3, 200, **options)
    error = caught.value
    state, finite = [q, v], np.zeros(9, int)
    history = [state]
    with np.errstate(all="ignore"):
        for _ in range(200):
            force = push[:, None] * state[1] ** 3 * 100
            speed = state[1] + 1e-3 * arm.forward_dynamics(state[0], state[1], force)
            state = [state[0] + 1e-3 * speed, speed]
            history.append(state)
            finite += np.isfinite(np.concatenate(state, axis=1)).all(axis=1)
    first = int(finite.argmin())
    assert 0 < finite[first] < 200 and first in (4, 7)
    assert error.sample == first and error.step == finite[first] + 1
    assert error.time == pytest.approx(error.step * 1e-3)
    before = arm.rollout(q, v, explosive, 1e-3, error.step - 1, **options)
    assert np.array_equal(error.q, before.q[first, -1]) and np.array_equal(error.v, before.v[first, -1])
    last = history[finite[first]]  # near the end rounding has grown, too
    assert np.abs(np.log(np.abs(error.v / last[1][first]))).max() < 1
    text = str(error)
    assert f"after step {error.step}, t = {error.time:g} s" in text and f"sample {first}" in text
    assert "smaller dt" in text and "q = [" in text
    kept = arm.rollout(q, v, explosive, 1e-3, 200, diverged="keep", **options)
    assert not np.isfinite(kept.q[first, -1]).all()
    calm = [k for k in range(9) if k not in (4, 7)]
    assert np.isfinite(kept.q[calm]).all()
    assert np.array_equal(kept.q[calm], arm.rollout(q, v, explosive, 1e-3, 200).q[calm])


@pytest.mark.parametrize("method", ["rk4", "adams-bashforth-4", "dormand-prince", "implicit"])
def test_one_motion_that_diverges(arm, method):
    """v' = c v^3 has a pole."""
    law = lambda t, q, v, reference: 3000.0 * v * v * v  # noqa: E731
    with pytest.raises(DivergedError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the step is too long
        arm.simulate([0.0, 0.0], [1.0, 1.0], 1.0, 1e-3, torque=law, method=method)
    error = caught.value
    assert error.sample is None and 0 < error.time < 1.0
    assert np.isfinite(error.q).all() and np.isfinite(error.v).all()
    assert re.search(r"robot 'planar2r'", str(error))


def test_diverged_in_a_stream(arm, small, tmp_path):
    q, v = starts(7)
    with pytest.raises(DivergedError, match="sample 6"):
        arm.rollout(q, v, explosive, 1e-3, 200, gains={"push": np.array([0, 0, 0, 0, 0, 0, 1e3])}, to=tmp_path / "run")
    assert np.load(tmp_path / "run" / "q.npy").shape == (5, 201, 2)  # the group before is whole


# -- steps that are too long ---------------------------------------------------------------------------------------


def wheel(**more):
    inertia = LinkInertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    joint = JointDescription("joint", "revolute", "base", "wheel", **more)
    return linkwork.load(Description("wheel", (Link("base"), Link("wheel", inertia)), (joint,), gravity=(0, 0, 0)))


STIFF = {  # the fastest rate of each is about 2 per step of 1 ms, or 20 times less
    "friction": lambda scale: (wheel(viscous=500.0 * scale), {}),
    "smooth friction": lambda scale: (wheel(coulomb=25.0 * scale), {"friction_width": 0.05}),
    "spring": lambda scale: (wheel(stiffness=1.5e6 * scale**2, role="elastic"), {}),
    "gains": lambda scale: (wheel(), {"torque": PD(100.0, 500 * scale), "reference": Quintic([0.0], [0.1], 1.0)}),
}


@pytest.mark.parametrize("method", schemes())
@pytest.mark.parametrize("what", STIFF)
def test_warns_of_steps_that_are_too_long(what, method):
    """And only of those that the method makes grow: the motions say so, too."""
    robot, options = STIFF[what](1.0)
    run = {"dt": 1e-3, "steps": 4, "method": method, "diverged": "keep", **options}
    if method == "rosenbrock" or (method == "semi-implicit-euler" and "friction" in what):  # it bears any
        assert abs(robot.rollout([0.0], [1e-3], **run).v[-1, 0]) < 1e-3
        return
    with pytest.warns(UserWarning, match=f"too long for {method}.*; use method=") as caught:
        motion = robot.rollout([0.0], [1e-3], **run)
    assert caught[0].filename == __file__
    assert any("too long" in note for note in motion.notes)
    advice = re.search(r"use method='(\S+)'(?: with dt = (\S+))?", str(caught[0].message))
    better = {"method": advice.group(1), "dt": float(advice.group(2) or run["dt"])}
    assert robot.rollout([0.0], [1e-3], **(run | better)).notes == motion.notes[:-1]
    robot, options = STIFF[what](0.05)
    calm = robot.rollout([0.0], [1e-3], **(run | options))
    assert not any("too long" in note for note in calm.notes)


@pytest.mark.parametrize("rate", [100.0, 1000.0])
@pytest.mark.parametrize("method", schemes())
def test_the_warning_is_true(method, rate):
    """Friction c slows a wheel as exp(-c t / I); the warning comes where a method lets the speed grow instead."""
    for step in np.array([0.1, 0.25, 0.29, 0.34, 0.5, 1.5, 1.9, 2.1, 2.7, 2.9]) / rate:
        robot = wheel(viscous=0.1 * rate)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            motion = robot.rollout([0.0], [1.0], None, step, 200, method=method)
        assert bool(caught) == (abs(motion.v[-1, 0]) > 1), step


def test_gains_and_parameters_are_looked_at_each_time():
    robot = wheel()
    run = {"torque": PD(100.0, 1.0), "dt": 1e-3, "steps": 2, "reference": Quintic([0.0], [0.1], 1.0)}
    robot.rollout([0.0], [0.0], gains={"kd": 1.0}, **run)
    with pytest.warns(UserWarning, match="too long"):
        robot.rollout([0.0], [0.0], gains={"kd": 500.0}, **run)
    robot.rollout([0.0], [0.0], None, 1e-3, 2, vary={"viscous": [1.0]}, method="rk4")
    with pytest.warns(UserWarning, match="too long"):
        robot.rollout([0.0], [0.0], None, 1e-3, 2, vary={"viscous": [500.0]}, method="rk4")


def test_a_diverged_motion_tells_what_was_wrong_from_the_start():
    robot, options = STIFF["friction"](1.0)
    with pytest.warns(UserWarning, match="too long"), pytest.raises(DivergedError, match=r"fix: dt = .*use method="):
        robot.simulate([0.0], [1.0], 1.0, 1e-3, method="rk4", **options)


def test_jumping_inputs_and_adams_bashforth(arm):
    """Held torques: rk4 is as good as ever, and of the method that looks back over the jumps a note says it is not.
    A reference that is sampled is smooth."""
    tau = np.random.default_rng(0).uniform(-50, 50, (100, 2))
    run = {"q0": [0.3, 0.2], "duration": 0.1, "torque": tau}
    exact, rk4, ab4 = (arm.simulate(method=m, **run) for m in ("dormand-prince", "rk4", "adams-bashforth-4"))
    assert np.abs(rk4.q - exact.q).max() < 1e-10 < 1e-6 < np.abs(ab4.q - exact.q).max()
    assert any("spreads jumps" in note for note in ab4.notes) and not any("spreads jumps" in note for note in rk4.notes)
    way = Sampled([0.0, 0.1], [[0.3, 0.2], [0.4, 0.1]])
    for smooth in ({"torque": tau[0]}, {"torque": PD(100.0, 10.0), "reference": way}):
        assert not any("spreads jumps" in note for note in arm.simulate([0.3, 0.2], duration=0.1, **smooth).notes)


def test_a_robot_that_cannot_move():
    still = linkwork.load(Description("rock", (Link("base"),), ()))
    assert still.rollout(np.zeros((3, 0)), np.zeros((3, 0)), steps=2).q.shape == (3, 3, 0)


def test_no_warning_for_sensible_robots():
    for name in ("puma560", "scara"):
        linkwork.load(name).rollout(None, None, None, 1e-3, 2)
    extras = linkwork.load(describe(Recipe(seed=3, joints=2, extras=True)))
    extras.simulate(None, None, 0.01, 1e-3, limits=SoftLimits(1000.0, 5.0))
    assert replace(extras.model).friction_width == 0.0


@pytest.mark.parametrize("samples, steps, expected", [(512, 200, 3), (2, 2, 1), (9, 10**6, 2)])
def test_threads_are_taken_where_they_gain(samples, steps, expected, monkeypatch):
    monkeypatch.setattr(importlib.import_module("linkwork.sim.schemes.runner"), "PROCESSORS", 3)
    arm = linkwork.load("scara")
    runner = SimpleNamespace(setup=SimpleNamespace(samples=samples), loop=SimpleNamespace(instructions=200))
    assert module.Runner.threads(runner, "auto", steps) == expected
    assert [module.Runner.threads(runner, wanted, steps) for wanted in (2, 4, 10**6)] == [2, 3, 3]
    if steps < 1000:
        states = np.random.default_rng(1).normal(size=(2, samples, arm.nv))
        run = {"dt": 1e-4, "steps": steps}
        one, auto = (arm.rollout(*states, **run, threads=threads) for threads in (1, "auto"))
        assert all(np.array_equal(one[name], auto[name]) for name in one)
    with pytest.raises(LinkworkError, match="whole number"):
        arm.rollout(np.zeros((2, 4)), np.zeros((2, 4)), dt=1e-4, steps=2, threads="all")


def test_out_that_is_a_part_of_a_run(arm):
    states = np.random.default_rng(3).normal(size=(2, 6, 2))
    run = arm.rollout(*states, dt=1e-3, steps=4)
    before = run.q.copy()
    for part in (run[:4], run[:1]):
        with pytest.raises(LinkworkError, match="another size"):
            arm.rollout(*states, dt=1e-3, steps=4, out=part)
    run.v.flags.writeable = False
    with pytest.raises(LinkworkError, match="cannot be written"):
        arm.rollout(*states, dt=1e-3, steps=4, out=run)
    assert np.array_equal(run.q, before)


def test_a_start_at_rest_is_looked_at_once(monkeypatch):
    """Whether the step bears the motion is asked at the start and at rest there, which may be the same."""
    robot, looked, modes = linkwork.load("planar2r"), [], stability._modes
    monkeypatch.setattr(stability, "_modes", lambda *given: looked.append(given) or modes(*given))
    for v0, dt, times in (([0, 0], 1e-3, 1), ([0, 1], 2e-3, 2), ([0, 0], 1e-3, 0)):  # the last is remembered
        looked.clear()
        robot.rollout([0.1, 0.2], v0, dt=dt, steps=1, method="rk4")
        assert len(looked) == times
