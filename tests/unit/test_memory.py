"""Controllers with states of their own: integrated as the robot is, in every way there is to run it."""

import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import linkwork
from linkwork import ShapeError, SimulationWarning, Trajectory, UnknownNameError
from linkwork.control import PID, Law, Quintic, with_memory
from linkwork.derive import jacobian
from linkwork.program import interpret
from linkwork.sim import Options
from linkwork.sim.plant.setup import plants, prepare
from linkwork.sim.schemes.integrators import schemes
from linkwork.targets import names
from support.evaluate import assert_close
from support.random_loops import four_bar
from support.random_robots import Recipe, describe

B, DT, STEPS = 3, 2e-3, 12
ROBOTS = {
    "arm": linkwork.load(describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True))),
    "floating": linkwork.load(describe(Recipe(seed=5, joints=1, floating=True))),
    "loop": linkwork.load(four_bar()),
}
SHAPES = {"slow": (2,), "estimate": (2, 2), "clock": ()}


@pytest.fixture(scope="module")
def arm():
    return ROBOTS["arm"]


@with_memory(slow=[0.3, -0.2], estimate=[[1.0, 0.5], [0.5, 2.0]], clock=0.25)
def observing(t, q, v, reference, memory, *, cutoff=30.0):
    """A filter, a matrix equation and a number, which the robot depends on, and which depend on it."""
    slow, P, clock = memory["slow"], memory["estimate"], memory["clock"]
    seen = np.array([q[0], v[-1]])
    tau = -3 * slow[0] - P[0, 1] * v[-1] + 0.1 * np.sin(9 * clock)
    return tau * np.ones(motors(len(q))), {
        "slow": cutoff * (seen - slow),
        "estimate": np.eye(2) - P @ P,
        "clock": 1 + t,
    }


def motors(nq):
    return {2: 2, 8: 1, 3: 1}[nq]


def starts(robot, samples=B, seed=0):
    rng = np.random.default_rng(seed)
    if robot.model.permanent:
        q = robot.assemble(robot.home[0] + rng.uniform(-0.2, 0.2, (samples, 1))).q
    else:
        q = robot.coordinates.random(rng, samples)
    return q, 0.3 * rng.normal(size=(samples, robot.nv))


def memories(samples=B, seed=1):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(samples, *shape)) for name, shape in SHAPES.items()}


def roll(robot, memory=None, gains=None, samples=B, **options):
    q, v = starts(robot, samples)
    how = {"outputs": ("q", "v", "memory", "tau", "work"), "method": "rk4", "memory": memory, "gains": gains, **options}
    return robot.rollout(q, v, observing, DT, STEPS, **how)


def same(one, other, tolerance=0.0):
    assert list(one) == list(other)
    for name in one:
        assert_close(np.asarray(one[name]), np.asarray(other[name]), scale=1.0, tolerance=tolerance)


# -- the integrators ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", schemes())
def test_decay(method):
    """z' = -5 z: by the polynomial of each method that has one, else by the exponential."""
    h, steps = 0.05, 40

    @with_memory(z=1.0)
    def decaying(t, q, v, reference, memory):
        return 0 * q, {"z": -5 * memory["z"]}

    run = linkwork.load("planar2r").rollout([0.0, 0.0], [0.0, 0.0], decaying, h / 5, steps, method=method, outputs="z")
    growth = {"semi-implicit-euler": 1 - h, "heun": 1 - h + h**2 / 2}
    growth["rk4"] = growth["heun"] - h**3 / 6 + h**4 / 24
    growth["dormand-prince-5"] = growth["rk4"] - h**5 / 120 + h**6 / 600
    assert run.z.shape == (steps + 1,)
    if method in growth:
        assert_close(run.z, growth[method] ** np.arange(steps + 1), tolerance=1e-13)
    else:
        assert_close(run.z, np.exp(-h * np.arange(steps + 1)), tolerance=1e-5)


@pytest.mark.parametrize("name", ["arm", "floating"])
def test_semi_implicit_euler_by_hand(name):
    """After a step the memory is what it was, and dt times its rates at the beginning of the step."""
    robot = ROBOTS[name]
    run, law = roll(robot, memories(), method="semi-implicit-euler"), Law(observing, robot.model)
    for k in range(B):
        for i in range(STEPS):
            before = {name: run[name][k, i].reshape(shape) for name, shape in SHAPES.items()}
            tau, _, rates = law.evaluate(i * DT, run.q[k, i], run.v[k, i], memory=before)
            assert_close(tau, run.tau[k, i], scale=1.0)
            for each, rate in rates.items():
                after = before[each] + DT * np.array(rate)
                assert_close(run[each][k, i + 1].reshape(after.shape), after, scale=1.0)


@pytest.mark.parametrize("method", schemes())
@pytest.mark.parametrize("name", ROBOTS)
def test_native_code_and_the_interpreter(name, method):
    gains = {"cutoff": np.array([5.0, 20.0, 50.0])}
    native, slow = (roll(ROBOTS[name], memories(), gains, method=method, every=2, backend=by) for by in names("run"))
    same(native, slow, 1e-12)
    assert native.estimate.shape == (B, STEPS // 2 + 1, 4) and native.clock.shape == (B, STEPS // 2 + 1)
    assert native.entries["estimate"] == ("0.0", "0.1", "1.0", "1.1") and "clock" not in native.entries
    for each in ("slow", "estimate", "clock"):
        assert np.abs(native[each][:, -1] - native[each][:, 0]).max() > 1e-3


@pytest.mark.parametrize("name", ROBOTS)
def test_each_sample_as_if_it_were_alone(name):
    robot, memory, cutoff = ROBOTS[name], memories(), np.array([5.0, 20.0, 50.0])
    run, (q, v) = roll(robot, memory, {"cutoff": cutoff}), starts(robot)
    for k in range(B):
        how = {"memory": {each: values[k] for each, values in memory.items()}, "gains": {"cutoff": cutoff[k]}}
        same(run[k], robot.rollout(q[k], v[k], observing, DT, STEPS, method="rk4", outputs=list(run)[1:], **how))
    begun = roll(robot, {"clock": np.arange(3.0)})  # the others as the controller says, the same for all
    assert begun.clock[:, 0].tolist() == [0, 1, 2] and (begun.slow[:, 0] == [0.3, -0.2]).all()
    assert not np.array_equal(begun.q[:, -1], run.q[:, -1])


@pytest.mark.parametrize("name", ROBOTS)
def test_simulate_records_it(name):
    robot = ROBOTS[name]
    (q0,), (v0,) = starts(robot, 1)
    memory = {each: values[0] for each, values in memories(1).items()}
    fixed, adaptive = (
        robot.simulate(q0, v0, 0.02, 5e-4, torque=observing, memory=memory, method=method, tolerance=1e-12)
        for method in ("dormand-prince-5", "dormand-prince")
    )
    same(fixed, adaptive, 1e-9)
    assert list(fixed)[-3:] == ["slow", "estimate", "clock"] and np.array_equal(fixed.slow[0], memory["slow"])
    assert_close(fixed.clock, memory["clock"] + fixed.t + fixed.t**2 / 2)
    assert fixed.drift["energy"] < 1e-9


def test_a_filter_that_is_too_fast_for_the_step(arm):
    with pytest.warns(SimulationWarning, match=r"too long for rk4: .* as fast as 5e\+03 1/s"):
        roll(arm, gains={"cutoff": np.full(B, 5e3)}, diverged="keep")


def test_it_is_part_of_the_state(arm):
    """Of what is integrated, and so of what is differentiated: nothing else in the programs knows of it."""
    setup = prepare(arm, None, None, 1, DT, Options(torque=observing, memory={"clock": 4.0}), ("q",))
    plant = setup.plant
    names = ["q", "v", "memory_slow", "memory_estimate", "memory_clock"]
    assert [port.name for port in plant.state] == names and plant.state_size == 2 + 2 + 2 + 4 + 1
    for program in (plant.rates, plant.step):
        assert [port.name for port in program.outputs] == names
        assert [port.shape for port in program.outputs] == [port.shape for port in plant.state]
    assert setup.x0.tolist() == [[0, 0, 0, 0, 0.3, -0.2, 1, 0.5, 0.5, 2, 4.0]]


@pytest.mark.parametrize("name", ROBOTS)
def test_it_is_differentiated_with_the_rest(name):
    """Of the rates and the step, by q, v, memory and a gain, beside complex steps of both."""
    robot = ROBOTS[name]
    (q0,), (v0,) = starts(robot, 1)
    options = Options(torque=observing, gains={"cutoff": 20.0})
    setup = prepare(robot, q0, v0, 1, DT, options, ("q",))
    plant, numbers = setup.plant, np.append(setup.x0[0], 20.0)
    wrt, of = [*(port.name for port in plant.state), "gain cutoff"], [port.name for port in plant.state]
    sizes = [port.size for port in plant.state]

    def given(numbers):
        return [*plant.parts(numbers[..., :-1]).values(), np.array(0.1), np.array(DT), numbers[..., -1]]

    n = len(numbers)
    for program in (plant.rates, plant.step):
        stepped = interpret(program, given(numbers + 1e-30j * np.eye(n)))
        expected = np.concatenate([np.imag(part).reshape(n, -1) / 1e-30 for part in stepped], axis=1).T
        parts = iter(interpret(jacobian(program, wrt, of), given(numbers)))
        rows = [np.concatenate([next(parts).reshape(size, -1) for _ in wrt], axis=1) for size in sizes]
        assert_close(np.concatenate(rows), expected, tolerance=1e-11)
        assert np.abs(expected[: plant.model.nq + plant.model.coordinates.nv, -8:-1]).max() > 1e-6  # the robot feels it


# -- a step at a time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", schemes())
@pytest.mark.parametrize("name", ROBOTS)
def test_steppers_give_the_bits_of_rollouts(name, method):
    robot, (q, v), memory = ROBOTS[name], starts(ROBOTS[name]), memories()
    run = roll(robot, memory, method=method, every=3)
    how = {"torque": observing, "memory": memory, "method": method, "outputs": ("memory", "tau", "work")}
    stepper = robot.stepper(B, DT, substeps=3, q0=q, v0=v, **how)
    assert list(stepper.outputs) == ["slow", "estimate", "clock", "tau", "work"]
    for k in range(STEPS // 3 + 1):
        for each, shape in SHAPES.items():
            assert np.array_equal(stepper.memory[each], run[each][:, k].reshape(B, *shape))
            assert np.array_equal(stepper.outputs[each], run[each][:, k])
        assert np.array_equal(stepper.q, run.q[:, k]) and np.array_equal(stepper.v, run.v[:, k])
        stepper.step()


@pytest.mark.parametrize("name", ["arm", "loop"])
def test_steppers_start_it_anew(name):
    robot, (q, v), memory = ROBOTS[name], starts(ROBOTS[name]), memories()
    stepper = robot.stepper(B, DT, q0=q, v0=v, torque=observing, memory=memory)
    saved, two = stepper.save(), np.array([True, False, True])
    stepper.step()
    after = {each: values.copy() for each, values in stepper.memory.items()}
    assert list(after) == list(SHAPES) and not np.array_equal(after["slow"], memory["slow"])
    stepper.reset(two, q, v)
    assert np.array_equal(stepper.memory["slow"][[0, 2]], memory["slow"][[0, 2]])
    assert np.array_equal(stepper.memory["slow"][1], after["slow"][1])
    for rows, expected in ((np.arange(6.0).reshape(3, 2), [[0, 1], [4, 5]]), ([[0, 1], [4, 5]], [[0, 1], [4, 5]]),
                           ([7, 8], [[7, 8], [7, 8]])):  # fmt: skip
        stepper.reset(two, memory={"slow": rows})
        assert stepper.memory["slow"][two].tolist() == expected
        assert np.array_equal(stepper.memory["estimate"][two], memory["estimate"][two])
    stepper.restore(saved)
    stepper.step()
    assert all(np.array_equal(stepper.memory[each], after[each]) for each in after)
    stepper.memory["clock"] = 0.25  # views, which may be written
    stepper.memory["slow"][:] = 0.0
    stepper.step()
    assert_close(stepper.memory["clock"], np.full(B, 0.25 + DT * (1 + DT)))
    with pytest.raises(
        ShapeError, match=r"memory\['slow'\]: wrong shape\n  got: \(4, 2\)\n  expected: \(2,\) or \(3, 2\)"
    ):
        stepper.reset(two, memory={"slow": np.zeros((4, 2))})
    with pytest.raises(UnknownNameError, match="there is no memory 'fast'"):
        stepper.reset(two, memory={"fast": 0.0})


# -- what is kept ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["motion.npz", "motion.csv", "motion.parquet", "folder", "group.zarr"])
def test_files(arm, tmp_path, name):
    run = roll(arm, memories())
    if "." in name and not name.endswith("zarr"):
        run.save(tmp_path / name)
    else:
        roll(arm, memories(), to=tmp_path / name)
    kept = Trajectory.load(tmp_path / name)
    same(run, kept)
    assert kept.entries == run.entries
    assert {"slow.1", "estimate.1.0", "clock"} <= set(run.to_pandas().columns)
    assert run.to_xarray().estimate.shape == (B, STEPS + 1, 4)


def test_the_memory_of_another_run(arm):
    first = roll(arm, memories())
    block, copy = first.slow.base, {name: array.copy() for name, array in first.arrays.items()}
    again = roll(arm, memories(), out=first)
    assert again is first and again.slow.base is block
    same(Trajectory(copy, first.entries, robot="", method="", dt=DT), again)

    @with_memory(slow=np.zeros(3))
    def another(t, q, v, reference, memory):
        return 0 * q, {"slow": np.ones(3)}

    one = arm.rollout(*starts(arm), another, DT, STEPS, outputs="slow")
    with pytest.raises(ShapeError, match=r"other names of slow\n  got: 0, 1, 2\n  expected: 0, 1"):
        arm.rollout(*starts(arm), observing, DT, STEPS, outputs="slow", out=one)


@dataclass(frozen=True)
class Leaky:
    """Its states are no field, so that equal fields do not tell all."""

    rate: float
    memory: ClassVar = {"level": np.zeros(2)}

    def __call__(self, t, q, v, reference, memory):
        return -q, {"level": q[0] - self.rate * memory["level"]}


def test_setups_are_remembered_by_content(monkeypatch):
    robot = linkwork.load("planar2r")
    way = Quintic([0, 0], [0.3, 0.2], 0.5)

    def simulate(law, **options):
        return robot.simulate([0.1, 0.2], duration=0.01, torque=law, **options)

    for _ in range(2):
        simulate(PID(3, 2, 1), reference=way)
        assert len(robot.derived(plants)) == 1
    begun = simulate(PID(3, 2, 1), reference=way, memory={"integral": [1.0, 2.0]})
    assert len(robot.derived(plants)) == 1 and begun.integral[0].tolist() == [1, 2]  # the same programs from elsewhere
    simulate(PID(3, 2, 1, integral_limit=3), reference=way)
    assert len(robot.derived(plants)) == 2
    simulate(Leaky(2.0))
    assert simulate(Leaky(2.0)).level.shape == (11, 2) and len(robot.derived(plants)) == 3
    monkeypatch.setattr(Leaky, "memory", {"level": np.ones(2)})
    assert simulate(Leaky(2.0)).level[0].tolist() == [1, 1] and len(robot.derived(plants)) == 3
    monkeypatch.setattr(Leaky, "memory", {"level": np.zeros(())})
    assert simulate(Leaky(2.0)).level.shape == (11,) and len(robot.derived(plants)) == 4


def test_controllers_travel_between_processes():
    law = pickle.loads(pickle.dumps(PID(1, [2.0] * 7, 3, integral_limit=4)))
    assert law.ki.tolist() == [2] * 7 and law.integral_limit == 4 and law.limit is None
    assert pickle.loads(pickle.dumps(observing)).memory is observing.memory
    taken = Law(observing, ROBOTS["arm"].model).memory["slow"]
    taken[:] = 7.0
    assert Law(observing, ROBOTS["arm"].model).memory["slow"].tolist() == [0.3, -0.2]  # copies
