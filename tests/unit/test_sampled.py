"""Functions with memory and a sample time: stepped from Python, saved, and what is refused."""

import pickle
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork.control import MomentumObserver, VelocityObserver
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError

PANDA = linkwork.load("panda")
RNG = np.random.default_rng(3)


def smooth(robot, q, v, memory, period, *, rate=20.0):
    x = memory["x"] + period * rate * (q - memory["x"])
    return {"x": x, "error": q - x}, {"x": x, "count": memory["count"] + 1}


MEMORY = {"x": np.arange(7.0), "count": 0.0}


def step_of(**options):
    return PANDA.function(smooth, memory=MEMORY, period=0.01, **options)


def test_steps_are_those_of_the_function_on_numbers():
    step, robot = step_of(), linkwork.TracedRobot(PANDA)
    assert step.signature == "q(7), v(7), memory -> x(7), error(7), memory" and step.period == 0.01
    assert step.memory == {"x": (7,), "count": ()} and step.outputs == {"x": (7,), "error": (7,)}
    memory, by_hand = step.start(), MEMORY
    for q in RNG.normal(size=(5, 7)):
        outputs, memory = step(q, np.zeros(7), memory)
        expected, by_hand = smooth(robot, q, np.zeros(7), by_hand, 0.01)
        assert np.allclose(outputs.x, expected["x"], rtol=0, atol=1e-15)
        assert np.allclose(outputs.error, expected["error"], rtol=0, atol=1e-15)
    assert memory["count"] == 5 and np.shape(memory["count"]) == ()


@pytest.mark.parametrize("batch", [(), (0,), (1,), (7,), (2, 3), (100,)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batches(batch, dtype):
    """Every sample is stepped alone, to the bit; initial values without batch axes serve all."""
    step = PANDA.function(MomentumObserver(50.0), period=1e-3, dtype=dtype)
    q, v, tau = RNG.normal(size=(3, *batch, 7)).astype(dtype)
    memory = step.start(q, v)
    assert memory["momentum"].shape == (*batch, 7) and memory["momentum"].dtype == dtype
    for _ in range(3):
        r, memory = step(q, v, tau, memory)
    assert r.shape == (*batch, 7) and r.dtype == dtype
    for k in np.ndindex(batch):
        alone = step.start(q[k], v[k])
        for _ in range(3):
            one, alone = step(q[k], v[k], tau[k], alone)
        assert (one == r[k]).all()
    shared = step_of(dtype=dtype)
    outputs, memory = shared(q, v, shared.start())
    assert outputs.x.shape == memory["x"].shape == (*batch, 7) and memory["count"].shape == batch


def test_back_ends_and_threads_agree():
    q, v, tau = RNG.normal(size=(3, 5000, 7))
    native, slow = (PANDA.function(MomentumObserver(), period=1e-3, backend=name) for name in ("native", "interpreter"))
    r, memory = native(q, v, tau, native.start(0 * q, v))
    again, _ = native(q, v, tau, native.start(0 * q, v), threads=2)
    other, others = slow(q, v, tau, slow.start(0 * q, v))
    assert (r == again).all()
    assert np.allclose(r, other, rtol=1e-9, atol=1e-9 * np.abs(r).max())
    assert np.allclose(memory["momentum"], others["momentum"], rtol=1e-12, atol=1e-10)


def test_inputs_by_name_and_as_dicts():
    step = PANDA.function(MomentumObserver(), period=1e-3, gain=(7,))
    q, v, tau = RNG.normal(size=(3, 7))
    memory = step.start(q=0 * q, v=v)
    by_place = step(q, v, tau, memory, np.full(7, 50.0))
    by_name = step(memory=memory, gain=np.full(7, 50.0), tau=tau, v=v, q=q)
    built_in = PANDA.function(MomentumObserver(50.0), period=1e-3)(q, v, tau, memory)
    assert (by_place[0] == by_name[0]).all()
    assert np.allclose(by_place[0], built_in[0], rtol=1e-12)
    joints = dict(zip(PANDA.joint_names, q, strict=True))
    assert (step(joints, v, tau, memory, np.full(7, 50.0))[1]["momentum"] == by_place[1]["momentum"]).all()


def test_numbers_of_the_robot_as_inputs(tmp_path):
    """Start and step with other numbers are those of a robot that has them; left out, they are the robot's own."""
    names = ["payload:panda_link8", "viscous"]
    step = PANDA.function(MomentumObserver(50.0), period=1e-3, inputs=names)
    assert step.signature.endswith("memory, payload_panda_link8(10), viscous(7) -> residual(7), memory")
    load, viscous = np.array([2.0, 0, 0.1, 0.2, 0.02, 0, 0, 0.02, 0, 0.02]), np.arange(7.0)
    heavy = PANDA.with_payload("panda_link8", 2.0, [0, 0.1, 0.2], [0.02] * 3)
    heavy = heavy.with_friction({name: {"viscous": x} for name, x in zip(PANDA.joint_names, viscous, strict=True)})
    q, v, tau = RNG.normal(size=(3, 20, 7))
    step.save(tmp_path / "step.json")
    for made in (step, linkwork.SampledFunction.load(tmp_path / "step.json"), pickle.loads(pickle.dumps(step))):
        for robot, numbers in ((PANDA, {}), (heavy, {"payload:panda_link8": load, "viscous": viscous})):
            same = robot.function(MomentumObserver(50.0), period=1e-3)
            expected, memory = same.start(q, v), made.start(q, v, **numbers)
            assert np.allclose(memory["momentum"], expected["momentum"], rtol=1e-12, atol=1e-13)
            for _ in range(2):  # the first residual is zero
                r, memory = made(q, 2 * v, tau, memory, **numbers)
                other, expected = same(q, 2 * v, tau, expected)
                assert np.allclose(r, other, rtol=1e-10, atol=1e-9)
            assert np.abs(r).max() > 1
    with pytest.raises(UnknownNameError, match="'gravity'"):
        step(q, v, tau, memory, gravity=[0, 0, -1.62])


def test_the_step_is_a_function_of_its_memory():
    """A step depends on what it remembers by the filter's pole: its derivative in closed form."""
    step = PANDA.function(MomentumObserver(50.0), period=1e-3)
    slope = step.function.derivative("memory_momentum", of=["residual", "next_momentum"])
    by_residual, by_next = slope(*RNG.normal(size=(4, 7)))
    pole = np.exp(-0.05)
    assert np.allclose(by_residual, -(1 - pole) / 1e-3 * np.eye(7), rtol=0, atol=1e-12)
    assert np.allclose(by_next, pole * np.eye(7), rtol=0, atol=1e-13)


def test_initial_values_and_memory_of_the_same_name_as_an_input():
    step = PANDA.function(VelocityObserver(50.0), period=1e-3)
    q = RNG.normal(size=(4, 7))
    memory = step.start(q)
    assert (memory["q"] == q).all() and not memory["v"].any()
    assert memory["v"].shape == (4, 7)


def test_inputs_of_the_initial_values_alone():
    start = lambda robot, x0, period: {"x": x0 * period}  # noqa: E731
    step = PANDA.function(
        lambda robot, q, memory: (memory["x"], {"x": q}), memory=start, period=0.5, name="late", x0=(7,)
    )
    assert step.signature == "q(7), memory -> late(7), memory"
    out, memory = step(np.arange(7.0), step.start(np.ones((3, 7))))
    assert (out == 0.5).all() and (step(np.zeros(7), memory)[0] == np.arange(7.0)).all()
    with pytest.raises(UnknownNameError, match="'y0'"):
        PANDA.function(lambda robot, q, memory: (q, memory), memory=start, period=0.5, x0=(7,), y0=(7,))
    with pytest.raises(ShapeError, match="empty dict"):
        PANDA.function(lambda robot, q, memory: (q, memory), memory={}, period=0.5)
    with pytest.raises(UnknownNameError, match="no memory 'filterd'\n  expected: one of: filtered"):
        PANDA.function(lambda robot, q, memory: (memory["filterd"], {"filtered": q}), memory={"filtered": np.zeros(7)},
                       period=0.5)  # fmt: skip


def test_a_function_without_memory_may_have_a_sample_time():
    step = PANDA.function(lambda robot, q: robot.gravity(q), period=1e-3)
    assert step.start() == {} and step.memory == {}
    tau, memory = step(np.zeros(7))
    assert memory == {} and np.allclose(tau, PANDA.gravity(np.zeros(7)))
    assert isinstance(PANDA.function(lambda robot, q: q), linkwork.Function)


def test_saved_and_pickled(tmp_path):
    q, v, tau = RNG.normal(size=(3, 7))
    for step, arguments in [(step_of(), (q, v)), (PANDA.function(MomentumObserver(), period=1e-3), (q, v, tau))]:
        step.save(tmp_path / "f.json")
        starts = () if len(arguments) == 2 else (q, v)
        for again in (linkwork.SampledFunction.load(tmp_path / "f.json"), pickle.loads(pickle.dumps(step))):
            assert repr(again) == repr(step) and again.period == step.period
            before, after = (each(*arguments, each.start(*starts)) for each in (step, again))
            assert all((before[1][name] == after[1][name]).all() for name in step.memory)


@pytest.mark.parametrize(
    "damage",
    [
        {"period": "fast"},
        {"period": -1.0},
        {"period": True},
        {"arguments": ["q", "v"]},
        {"arguments": ["q", "v", 3]},
        {"initial": None},
        {"initial": 3},
        {"format": "other"},
        {"function": None},
    ],
)
def test_damaged_files_are_refused(damage, tmp_path):
    import json

    step_of().save(tmp_path / "f.json")
    saved = json.loads((tmp_path / "f.json").read_text())
    (tmp_path / "f.json").write_text(json.dumps(saved | damage))
    with pytest.raises(LinkworkError, match="not a saved function"):
        linkwork.SampledFunction.load(tmp_path / "f.json")
    (tmp_path / "f.json").write_text("[]")
    with pytest.raises(LinkworkError, match="not a saved function"):
        linkwork.SampledFunction.load(tmp_path / "f.json")


def test_wrong_arguments_of_a_step():
    step = step_of()
    memory, q = step.start(), np.zeros(7)
    with pytest.raises(ShapeError, match="memory is a dict"):
        step(q, q)
    with pytest.raises(ShapeError, match="memory is a dict"):
        step(q, q, np.zeros(7))
    with pytest.raises(ShapeError, match="memory lacks count"):
        step(q, q, {"x": q})
    with pytest.raises(UnknownNameError, match="'y'"):
        step(q, q, memory | {"y": q})
    with pytest.raises(ShapeError, match="wrong shape"):
        step(q, q, memory | {"x": np.zeros(6)})
    with pytest.raises(ShapeError, match="wrong shape"):
        step(np.zeros(6), q, memory)
    with pytest.raises(ShapeError, match="takes 3 inputs"):
        step(q, q, memory, q)
    with pytest.raises(ShapeError, match="given twice"):
        step(q, q, memory, v=q)
    with pytest.raises(UnknownNameError, match="'w'"):
        step(q, q, memory, w=q)
    with pytest.raises(ShapeError, match="needs v"):
        step(q, memory=memory)
    with pytest.raises(ShapeError, match="do not fit"):
        step(np.zeros((3, 7)), q, memory | {"x": np.zeros((4, 7))})


def test_not_a_number_stays_in_its_sample():
    step = step_of()
    q = RNG.normal(size=(9, 7))
    q[4, 2] = np.nan
    outputs, memory = step(q, q, step.start())
    assert np.isnan(outputs.x[4, 2]) and np.isnan(memory["x"][4, 2])
    assert np.isfinite(np.delete(memory["x"], 4, axis=0)).all() and np.isfinite(memory["count"]).all()


def compiled(function, memory: Any = MEMORY, period: Any = 0.01, **options):
    return PANDA.function(function, memory=memory, period=period, **options)


def test_wrong_functions():
    zero = {"x": np.zeros(7)}
    with pytest.raises(LinkworkError, match="sample time"):
        PANDA.function(smooth, memory=MEMORY, period=None)
    for period in (0, -1.0, np.nan, np.inf, "1 ms", True):
        with pytest.raises(ShapeError, match="out of range"):
            compiled(smooth, period=period)
    with pytest.raises(LinkworkError, match="no initial values"):
        PANDA.function(smooth, period=0.01)
    with pytest.raises(LinkworkError, match="no argument 'memory'"):
        compiled(lambda robot, q: q)
    with pytest.raises(ShapeError, match="its outputs and the next memory"):
        compiled(lambda robot, q, memory: q, zero)
    with pytest.raises(ShapeError, match="its outputs and the next memory"):
        compiled(lambda robot, q, memory: (q, q, q), zero)
    with pytest.raises(LinkworkError, match="the next values of x are missing"):
        compiled(lambda robot, q, memory: (q, {}), zero)
    with pytest.raises(UnknownNameError, match="'y'"):
        compiled(lambda robot, q, memory: (q, {"x": q, "y": q}), zero)
    with pytest.raises(ShapeError, match="another shape than the initial value"):
        compiled(lambda robot, q, memory: (q, {"x": q[:3]}), zero)
    with pytest.raises(ShapeError, match="no outputs"):
        compiled(lambda robot, q, memory: ({}, {"x": q}), zero)
    with pytest.raises(ShapeError, match="not an array"):
        compiled(lambda robot, q, memory: (None, {"x": q}), zero)
    with pytest.raises(LinkworkError, match="not finite"):
        compiled(lambda robot, q, memory: (q, memory), {"x": [np.nan] * 7})
    with pytest.raises(ShapeError, match="not an array of numbers"):
        compiled(lambda robot, q, memory: (q, memory), {"x": "zero"})
    with pytest.raises(LinkworkError, match="memory is not initial values"):
        compiled(lambda robot, q, memory: (q, memory), 3.0)
    with pytest.raises(ShapeError, match="initial values are a dict"):
        compiled(lambda robot, q, memory: (q, memory), lambda robot, q: q)
    with pytest.raises(LinkworkError, match="cannot be the name"):
        compiled(lambda robot, q, memory: (q, memory), {"my x": 0.0})
    with pytest.raises(UnsupportedError, match="arguments of a compiled function have names"):
        compiled(lambda robot, *q, memory: (q, memory), zero)
    with pytest.raises(LinkworkError, match="an output has the name of the memory 'x'\n  got: next_x"):
        compiled(lambda robot, q, memory: ({"next_x": q}, {"x": q}), zero)
    with pytest.raises(LinkworkError, match="an output has the name of the memory 'x'\n  got: memory_x"):
        compiled(lambda robot, q, memory: ({"memory_x": q}, {"x": q}), zero)
    for unnamed in ({1: np.zeros(7)}, lambda robot: {1: np.zeros(7)}):
        with pytest.raises(LinkworkError, match="a memory has a name\n  got: 1\n  expected: a text"):
            compiled(lambda robot, q, memory: (q, {1: q}), unnamed)
    with pytest.raises(LinkworkError, match="the name of the memory"):
        compiled(lambda robot, memory_x, memory: (memory_x, memory), zero, memory_x=(7,))
    with pytest.raises(UnsupportedError, match="cannot follow this robot"):
        linkwork.load("quadruped").function(VelocityObserver(), period=1e-3)


def test_memory_whose_names_change():
    calls = []

    def changing(robot, q, memory):
        calls.append(None)
        return q, {f"x{len(calls)}": q}

    with pytest.raises(UnknownNameError, match="'x1'"):
        compiled(changing, {"x": np.zeros(7)})

    def growing(robot, q, memory):
        calls.append(None)
        return q * len(calls), memory

    with pytest.raises(UnsupportedError, match="changes from call to call"):
        compiled(growing, {"x": np.zeros(7)})


def test_a_mistake_is_shown_with_its_line():
    def wrong(robot, q, memory):
        return (q if q[0] > 0 else -q), memory

    with pytest.raises(UnsupportedError, match=r"return \(q if q\[0\] > 0 else -q\), memory"):
        compiled(wrong, {"x": np.zeros(7)})


def test_the_memory_may_be_changed_in_place():
    def counting(robot, q, memory):
        memory["n"] = memory["n"] + 1
        return memory["n"], memory

    step = compiled(counting, {"n": 0.0})
    memory = step.start()
    for k in range(3):
        n, memory = step(np.zeros(7), memory)
        assert n == memory["n"] == k + 1
