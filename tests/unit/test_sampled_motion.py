"""Functions with a sample time in rollouts, simulations and steppers: as stepped by hand, and what is refused."""

from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork.control import MomentumObserver, Quintic, VelocityObserver
from linkwork.errors import DivergedError, LinkworkError, ShapeError, UnknownNameError, UnsupportedError

PANDA = linkwork.load("panda")
START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.8])
Q0 = START + 0.1 * np.random.default_rng(2).normal(size=(5, 7))
V0 = 0.2 * np.random.default_rng(3).normal(size=(5, 7))
REFERENCE = Quintic(START, START + 0.3, 0.05)
# a program is another one inside a larger program: sums and products are fused at other places
CLOSE = {"rtol": 1e-12, "atol": 2e-12}


def tracking(robot, q, v, t, reference, stiffness, memory, period):
    e, rate = reference[0] - q, reference[1] - v
    a = stiffness * e + 20 * rate + 50 * memory["z"]
    return {"tau": robot.gravity(q) + robot.inertia_matrix(q) @ a, "e": e, "time": t}, {"z": memory["z"] + period * e}


CONTROLLER = PANDA.function(tracking, memory={"z": np.full(7, 0.01)}, period=2e-3, stiffness=())
RESIDUAL = PANDA.function(MomentumObserver(50.0), period=1e-3)
VELOCITIES = PANDA.function(VelocityObserver(80.0), period=3e-3)
OPTIONS: dict[str, Any] = {
    "torque": CONTROLLER, "observers": [RESIDUAL, VELOCITIES], "reference": REFERENCE, "gains": {"stiffness": 100.0}
}  # fmt: skip


def by_hand(q0, v0, steps, method, backend="native"):
    """The same with a stepper without controller, and steps from Python."""
    stepper = PANDA.stepper(len(q0), dt=1e-3, q0=q0, v0=v0, method=method, backend=backend, outputs=("work",))
    rows: dict[str, list[Any]] = {}
    memories = [CONTROLLER.start(), RESIDUAL.start(q0, v0), VELOCITIES.start(q0)]
    before, outputs, v_hat = memories[:], None, None
    for k in range(steps + 1):
        q, v = stepper.q.copy(), stepper.v.copy()
        if k % 2 == 0:
            before[0] = memories[0]
            point = np.stack(REFERENCE(k * 1e-3))
            outputs, memories[0] = CONTROLLER(q, v, k * 1e-3, point, 100.0, memories[0])
        before[1] = memories[1]
        residual, memories[1] = RESIDUAL(q, v, outputs.tau, memories[1])
        if k % 3 == 0:
            before[2] = memories[2]
            v_hat, memories[2] = VELOCITIES(q, outputs.tau, memories[2])
        now = {
            "q": q, "v": v, "work": stepper.outputs["work"].copy(), "tau": outputs.tau,
            "tracking_e": outputs.e, "tracking_time": outputs.time + 0 * q[:, 0],
            "momentum_observer_residual": residual, "velocity_observer_v": v_hat,
            "tracking_memory_z": (memories if k % 2 else before)[0]["z"] + 0 * q,
            "momentum_observer_memory_momentum": before[1]["momentum"],
            "velocity_observer_memory_q": (memories if k % 3 else before)[2]["q"],
            "velocity_observer_memory_v": (memories if k % 3 else before)[2]["v"] + 0 * q,
        }  # fmt: skip
        for name, value in now.items():
            rows.setdefault(name, []).append(value)
        stepper.tau = outputs.tau
        stepper.step()
    return {name: np.stack(values, axis=1) for name, values in rows.items()}


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4", "rosenbrock"])
def test_a_rollout_is_what_steps_by_hand_give(method, backend):
    steps, samples = (60, 5) if backend == "native" else (13, 2)
    if (method, backend) == ("rosenbrock", "interpreter"):
        steps = 5
    q0, v0 = Q0[:samples], V0[:samples]
    names = ("q", "v", "work", "tau", "memory")
    motion = PANDA.rollout(q0, v0, dt=1e-3, steps=steps, method=method, backend=backend, outputs=names, **OPTIONS)
    expected = by_hand(q0, v0, steps, method, backend)
    assert {*motion} - {"t"} == {*expected, "tracking_tau"}
    for name, values in expected.items():
        assert np.allclose(motion[name], values, **CLOSE), name
    assert np.allclose(motion.tracking_tau, motion.tau, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_a_stepper_and_a_rollout_give_the_same_bits(method):
    options = {**OPTIONS, "method": method, "outputs": ("q", "tau", "memory")}
    motion = PANDA.rollout(Q0, V0, dt=1e-3, steps=24, **options)
    for substeps in (1, 4):
        stepper = PANDA.stepper(5, dt=1e-3, substeps=substeps, q0=Q0, v0=V0, **options)
        for k in range(0, 25, substeps):
            for name in stepper.outputs:
                assert (stepper.outputs[name] == motion[name][:, k]).all(), (name, k)
            for name in stepper.memory:
                assert (stepper.memory[name] == motion[name][:, k]).all(), (name, k)
            stepper.step()


def test_samples_do_not_depend_on_their_neighbours_or_threads():
    many = np.resize(Q0, (40, 7)), np.resize(V0, (40, 7))
    options = {**OPTIONS, "dt": 1e-3, "steps": 10, "outputs": ("q", "memory")}
    together = PANDA.rollout(*many, **options)
    alone = PANDA.rollout(Q0[3:4], V0[3:4], **options)
    shared = PANDA.rollout(*many, threads=2, **options)
    for name in alone:
        if name != "t":
            assert (together[name][3] == alone[name][0]).all() and (together[name][38] == alone[name][0]).all()
            assert (together[name] == shared[name]).all()


def test_resets_of_single_samples():
    """A reset sample starts again with the memory of its new state, out of phase with the others."""
    options = {**OPTIONS, "outputs": ("tau", "memory")}
    stepper = PANDA.stepper(5, dt=1e-3, q0=Q0, v0=V0, **options)
    for _ in range(3):
        stepper.step()
    mask = np.array([False, True, False, False, True])
    other = Q0[[1, 4]] + 0.05
    stepper.reset(mask, q=other, v=[0.1] * 7)
    fresh = PANDA.stepper(2, dt=1e-3, q0=other, v0=[0.1] * 7, **options)
    going = PANDA.stepper(5, dt=1e-3, q0=Q0, v0=V0, **options)
    for _ in range(3):
        going.step()
    for _ in range(7):
        for name in stepper.outputs:
            # a reset sets the countdown of a sample alone, but the reference is a function of each sample's own time
            assert (stepper.outputs[name][mask] == fresh.outputs[name]).all(), name
            assert (stepper.outputs[name][~mask] == going.outputs[name][~mask]).all(), name
        for each in (stepper, fresh, going):
            each.step()
    given = {"tracking": {"z": np.arange(7.0)}, "velocity_observer_memory_v": np.ones((2, 7))}
    stepper.reset(mask, memory=given)
    assert (stepper.memory["tracking_memory_z"][mask] == np.arange(7.0)).all()
    assert (stepper.memory["velocity_observer_memory_v"][mask] == 1).all()
    assert (stepper.memory["velocity_observer_memory_q"][mask] == Q0[mask]).all()
    assert "tracking_tau" not in stepper.memory


def test_saved_and_restored_and_written():
    options = {**OPTIONS, "outputs": ("q", "memory")}
    stepper = PANDA.stepper(5, dt=1e-3, q0=Q0, v0=V0, **options)
    for _ in range(5):  # in the middle of two sample times
        stepper.step()
    saved = stepper.save()
    for _ in range(4):
        stepper.step()
    later = {name: stepper.outputs[name].copy() for name in stepper.outputs}
    stepper.restore(saved)
    for _ in range(4):
        stepper.step()
    assert all((stepper.outputs[name] == later[name]).all() for name in later)
    stepper.restore(saved)
    stepper.memory["tracking_memory_z"][2] = 7.0  # between two samples: used at the next
    stepper.step()
    assert (stepper.memory["tracking_memory_z"][2] == 7.0).all()
    stepper.step()
    assert np.abs(stepper.memory["tracking_memory_z"][2] - 7.0).max() < 0.01


def test_gains_and_memory_of_each_sample():
    stiffness = np.linspace(50, 200, 5)
    z = np.arange(35.0).reshape(5, 7) / 100
    options = OPTIONS | {"dt": 1e-3, "steps": 20, "outputs": ("q", "tau", "tracking_memory_z")}
    runs = PANDA.rollout(Q0, V0, **options | {"gains": {"stiffness": stiffness}, "memory": {"tracking": {"z": z}}})
    assert (runs.tracking_memory_z[:, 0] == z).all()
    for k in (0, 3):
        alone = options | {"gains": {"stiffness": stiffness[k]}, "memory": {"tracking_memory_z": z[k]}}
        one = PANDA.rollout(Q0[k], V0[k], **alone)
        assert np.allclose(one.tau, runs.tau[k], **CLOSE)


def test_numbers_of_the_robot_as_gains():
    """An observer with the load that the robot carries sees no contact; without, it has the robot's own numbers."""
    step = PANDA.function(MomentumObserver(50.0), period=1e-3, inputs=["payload:panda_link8"])
    load = np.array([2.0, 0, 0.1, 0.2, 0.02, 0, 0, 0.02, 0, 0.02])
    options: dict[str, Any] = {"dt": 1e-3, "steps": 30, "outputs": ["momentum_observer_residual"]}
    rubbing = [PANDA.with_friction({PANDA.joint_names[0]: {"viscous": x}}) for x in (1.0, 5.0)]
    others = [each.function(MomentumObserver(50.0), period=1e-3, inputs=["viscous"]) for each in rubbing]
    assert others[0].program.digest == others[1].program.digest
    free, same, less, more = (PANDA.rollout(Q0, V0, observers=[each], **options).momentum_observer_residual
                              for each in (RESIDUAL, step, *others))  # fmt: skip
    assert np.allclose(free, same, rtol=1e-11, atol=1e-11)
    assert np.allclose(more - free, 5 * (less - free), rtol=1e-9, atol=1e-9) and np.abs(less - free).max() > 0.1
    options |= {"vary": {"payload:panda_link8": np.tile(load, (5, 1))}}
    free, carrying = (
        PANDA.rollout(Q0, V0, observers=[step], **options | more).momentum_observer_residual
        for more in ({}, {"gains": {"payload_panda_link8": load},
                          "memory": {"momentum_observer": step.start(Q0, V0, payload_panda_link8=load)}})
    )  # fmt: skip
    heavy = PANDA.with_payload("panda_link8", 2.0, [0, 0.1, 0.2], [0.02] * 3)
    expected = heavy.rollout(Q0, V0, observers=[heavy.function(MomentumObserver(50.0), period=1e-3)], dt=1e-3,
                             steps=30, outputs=options["outputs"])  # fmt: skip
    assert np.allclose(carrying, expected.momentum_observer_residual, rtol=1e-9, atol=1e-9)
    assert np.abs(free).max() > 10 * np.abs(carrying).max()
    with pytest.raises(LinkworkError, match=r"more than the initial state\n  got: payload_panda_link8"):
        PANDA.rollout(Q0, V0, observers=[step], **options, gains={"payload_panda_link8": load})


def test_floating_bases_loops_and_motors_alone():
    """Tau of the motors alone; observers see tau of all joints; the memory starts from the initial state."""
    quad = linkwork.load("quadruped")
    motors = len(quad.motor_names)

    def hold(robot, q, v, memory):
        return {"tau": -40 * robot.motor_positions(q) - 2 * robot.motor_velocities(q, v)}, memory

    step = quad.function(hold, memory={"unused": 0.0}, period=1e-3)
    observer = quad.function(
        lambda robot, q, v, tau, memory: (tau, {"v": v}), memory=lambda r, v: {"v": 2 * v}, period=2e-3
    )
    q0, v0 = quad.coordinates.neutral(), np.linspace(0.1, 0.2, quad.nv)
    motion = quad.simulate(q0, v0, duration=0.01, dt=1e-3, torque=step, observers=observer)
    assert motion.method == "rk4" and motion.tau.shape == (11, quad.nv)
    assert (motion.tau[:, :6] == 0).all() and (motion.tau[:, 6:] == motion.hold_tau).all()
    assert motion.hold_tau.shape == (11, motors)
    assert (motion.result_result[::2] == motion.tau[::2]).all()
    assert (motion.result_memory_v[0] == 2 * v0).all() and np.allclose(motion.result_memory_v[2], v0)
    platform = linkwork.load("gough-stewart")
    push = platform.function(lambda robot, q: {"tau": np.full(6, 10.0)}, period=5e-3, name="push")
    motion = platform.simulate(duration=0.01, dt=1e-3, method="rk4", torque=push)
    same = platform.simulate(duration=0.01, dt=1e-3, method="rk4", torque=np.full(6, 10.0))
    assert np.allclose(motion.q, same.q, rtol=0, atol=1e-12) and np.allclose(motion.work, same.work, atol=1e-9)


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
@pytest.mark.parametrize("name", ["gough-stewart", "quadruped", "biped"])
def test_loops_floating_bases_and_contacts_as_by_hand(name, method):
    """Functions see the state that is recorded, which satisfies the constraints."""
    robot = linkwork.load(name)
    motors, forced = len(robot.motor_names), linkwork.formulations.sizes(robot.model)["tau"]
    q0 = np.array(robot.home) if robot.model.constrained else robot.coordinates.neutral()
    v0 = 0.1 * np.random.default_rng(0).normal(size=robot.nv) * (name != "biped")
    gains = np.linspace(1, 2, motors)

    def damping(robot, q, v, memory):
        return {"tau": -gains * robot.motor_velocities(q, v) - memory["x"]}, {"x": memory["x"] + 0.1}

    damp = robot.function(damping, memory={"x": np.zeros(motors)}, period=2e-3)
    observer = robot.function(MomentumObserver(30.0), period=1e-3)
    contacts = {"contacts": np.ones(len(robot.model.switched))} if name == "biped" else {}
    options = {"dt": 1e-3, "method": method, **contacts}
    motion = robot.rollout(
        q0, v0, damp, steps=20, observers=observer, outputs=("q", "v", "tau", "memory"), **options,
    )  # fmt: skip
    stepper = robot.stepper(1, q0=q0, v0=v0, **options)
    memory, seen = damp.start(), observer.start(q0, v0)
    tau = np.zeros(forced)
    for k in range(21):
        q, v = stepper.q[0].copy(), stepper.v[0].copy()
        assert np.allclose(motion.q[k], q, **CLOSE) and np.allclose(motion.v[k], v, **CLOSE)
        if k % 2 == 0:
            forces, memory = damp(q, v, memory)
            tau[forced - motors :] = forces  # a floating base comes first
        assert np.allclose(motion.tau[k], tau, **CLOSE)
        residual, seen = observer(q, v, tau, seen)
        assert np.allclose(motion.momentum_observer_residual[k], residual, rtol=0, atol=1e-8)
        stepper.tau[0] = tau
        stepper.step()


def test_no_false_alarm_by_friction_of_the_same_width():
    """Within a simulation the residual is the error of the trapezoidal rule, if observer and simulation agree."""
    loaded = linkwork.load("puma560")
    laws = {"coulomb": 4.0, "viscous": 3.0, "width": 0.05}
    largest = []
    for robot in (loaded.with_friction(dict.fromkeys(loaded.joint_names, laws)), loaded):
        observer = robot.function(MomentumObserver(40.0), period=1e-3)
        tau = robot.gravity(np.zeros(6)) + 3
        options = {"dt": 1e-3, "steps": 100, "method": "rk4", "outputs": ("q", "momentum_observer_residual")}
        motion = robot.rollout(np.zeros(6), np.full(6, 0.3), tau, observers=observer, **options)
        largest.append(np.abs(motion.momentum_observer_residual).max())
    assert largest[0] < 5e-3 < 0.1 < largest[1]  # the second robot's friction jumps, and the simulation smooths it


def test_observers_alone_with_arrays_and_with_laws():
    tau = np.random.default_rng(0).normal(size=(20, 7))
    seen = PANDA.function(lambda robot, tau: 2 * tau, period=1e-3, name="seen")
    motion = PANDA.rollout(Q0[0], V0[0], tau, dt=1e-3, steps=20, method="rk4", observers=seen, outputs=("seen_seen",))
    assert (motion.seen_seen[:-1] == 2 * tau).all()
    law = linkwork.control.PID(10.0, 5.0, 1.0)
    motion = PANDA.rollout(
        Q0, V0, law, dt=1e-3, steps=20, reference=REFERENCE, observers=seen, outputs=("tau", "memory")
    )
    assert (motion.seen_seen == 2 * motion.tau).all() and motion.integral.shape == (5, 21, 7)


def test_a_simulation_records_everything():
    motion = PANDA.simulate(Q0[0], V0[0], duration=0.02, **OPTIONS)
    assert motion.method == "rk4" and motion.dt == 1e-3
    assert motion.velocity_observer_v.shape == (21, 7)
    assert motion.drift["energy"] < 1e-8  # the work of a held tau is integrated, too
    rows = PANDA.simulate(Q0[0], V0[0], duration=0.02, every=4, **OPTIONS)
    assert (rows.tracking_e == motion.tracking_e[::4]).all()


def test_the_same_function_from_other_initial_values():
    """What was compiled for one of them is not taken for the other, nor for another period or name."""

    def run(period=1e-3, name="sum", **memory):
        add = lambda robot, q, memory: (memory["x"], {"x": memory["x"] + 1})  # noqa: E731
        step = PANDA.function(add, memory={"x": 0.0} | memory, period=period, name=name)
        motion = PANDA.rollout(START, np.zeros(7), dt=1e-3, steps=2, observers=step, outputs=("memory",))
        return motion[f"{name}_{name}"].tolist()

    assert (
        run() == [0, 1, 2] and run(x=5.0) == [5, 6, 7] and run(period=2e-3) == [0, 0, 1] and run(name="b") == [0, 1, 2]
    )
    assert run(x=0.0) == [0, 1, 2]


def test_periods():
    def run(step, dt=1e-3, **options):
        return PANDA.rollout(START, np.zeros(7), dt=dt, steps=6, observers=step, outputs=("clock_clock",), **options)

    def clock(period):
        return PANDA.function(lambda robot, t: t, period=period, name="clock")

    counts = lambda robot, memory: (memory["n"] + 1, {"n": memory["n"] + 1})  # noqa: E731
    count = PANDA.function(counts, memory={"n": 0.0}, period=3e-3, name="count")
    counted = PANDA.rollout(START, np.zeros(7), dt=1e-3, steps=6, observers=count, outputs=("count_count", "memory"))
    assert counted.count_count.tolist() == [1, 1, 1, 2, 2, 2, 3]
    assert counted.count_memory_n.tolist() == [0, 1, 1, 1, 2, 2, 2]
    assert np.allclose(run(clock(3e-3)).clock_clock, [0, 0, 0, 3e-3, 3e-3, 3e-3, 6e-3])
    assert np.allclose(run(clock(0.3), dt=0.1).clock_clock, [0, 0, 0, 0.3, 0.3, 0.3, 0.6])  # not exact in binary
    for period in (5e-4, 1.5e-3, 1.0001e-3):
        with pytest.raises(LinkworkError, match=r"not a whole number of steps[^$]*fix: dt="):
            run(clock(period))
    for period in (1 / 3, 1e-3 / 3, 1.00000123):
        with pytest.raises(LinkworkError, match="not a whole number of steps") as error:
            run(clock(period))
        dt, other = (float(text.partition("=")[2]) for text in error.value.fix.split(", or "))
        run(clock(period), dt=dt), run(clock(other))
    with pytest.raises(LinkworkError, match="not a whole number of steps"):
        PANDA.simulate(START, duration=0.01, observers=clock(2.5e-3))
    with pytest.raises(LinkworkError, match="not a whole number of steps"):
        PANDA.stepper(1, dt=1e-3, observers=clock(2.5e-3))


def test_a_long_run_in_pieces_keeps_its_sample_times():
    count = PANDA.function(
        lambda robot, memory: (memory["n"], {"n": memory["n"] + 1}), memory={"n": 0.0}, period=7e-3, name="c"
    )
    hold = lambda t, q, v, reference: linkwork.TracedRobot(PANDA).gravity(q) - v  # noqa: E731
    options: dict[str, Any] = {"observers": count, "outputs": ("c_c", "c_memory_n")}
    at_rest = PANDA.rollout(START, np.zeros(7), hold, dt=1e-3, steps=20_000, every=100, **options)
    assert (at_rest.c_c == np.arange(0, 20_001, 100) // 7).all()


def test_a_continuous_controller_beside_an_observer_with_gains():
    """Each takes its own gains; against the same gains built in."""

    def slow(robot, q, v, memory, period, *, rate=3.0):
        return {"v": memory["v"]}, {"v": memory["v"] + period * rate * (v - memory["v"])}

    def law(t, q, v, reference, *, kp=2.0):
        return -kp * q

    open_to, built_in = (PANDA.function(slow, memory={"v": np.zeros(7)}, period=2e-3, **x) for x in ({"rate": ()}, {}))
    run: dict[str, Any] = {"dt": 1e-3, "steps": 9, "outputs": ("q", "memory")}
    for gains in ({"rate": 5.0}, {"rate": 3.0, "kp": 4.0}):
        motion = PANDA.rollout(START, V0[0], law, observers=open_to, gains=gains, **run)
        kp = gains.get("kp", 2.0)
        plain = PANDA.rollout(START, V0[0], lambda t, q, v, r, kp=kp: -kp * q, observers=built_in, **run)
        assert np.allclose(motion.q, plain.q, **CLOSE)
        assert np.allclose(motion.slow_v, plain.slow_v, **CLOSE) == (gains["rate"] == 3.0)
    with pytest.raises(UnknownNameError, match="kp"):
        PANDA.rollout(START, V0[0], law, observers=open_to, gains={"rate": 3.0, "ki": 4.0}, **run)


def test_what_is_refused():
    run: dict[str, Any] = {"dt": 1e-3, "steps": 3}
    with pytest.raises(UnsupportedError, match="adams-bashforth-4 smooths"):
        PANDA.rollout(START, np.zeros(7), method="adams-bashforth-4", observers=RESIDUAL, **run)
    with pytest.raises(UnsupportedError, match="chooses its own steps"):
        PANDA.simulate(START, duration=0.01, method="dormand-prince", observers=RESIDUAL)
    with pytest.raises(UnsupportedError, match="no linear system"):
        PANDA.rollout(START, np.zeros(7), observers=RESIDUAL, checkpoint_every=1, **run).linearised()
    with pytest.raises(UnsupportedError, match="contact events"):
        biped = linkwork.load("biped")
        biped.simulate(duration=0.01, contacts="events", observers=biped.function(MomentumObserver(), period=1e-3))
    with pytest.raises(UnsupportedError, match="not a function with a sample time"):
        PANDA.rollout(START, np.zeros(7), observers=MomentumObserver(), **run)
    with pytest.raises(LinkworkError, match="the same name"):
        PANDA.rollout(START, np.zeros(7), observers=[RESIDUAL, RESIDUAL], **run)
    first = PANDA.function(lambda robot, q: {"b_c": q}, period=1e-3, name="a")
    second = PANDA.function(lambda robot, q: {"c": q}, period=1e-3, name="a_b")
    with pytest.raises(LinkworkError, match="outputs or memory of the same name\n  got: a_b_c\n  fix: compile one"):
        PANDA.rollout(START, np.zeros(7), observers=[first, second], **run)
    other = PANDA.function(MomentumObserver(10.0), period=1e-3, name="slow")
    both = PANDA.rollout(START, np.zeros(7), observers=[RESIDUAL, other], outputs=["memory"], **run)
    assert "slow_memory_momentum" in both and "momentum_observer_memory_momentum" in both
    with pytest.raises(UnsupportedError, match="float64"):
        single = PANDA.function(MomentumObserver(), period=1e-3, dtype="float32")
        PANDA.rollout(START, np.zeros(7), observers=single, **run)
    with pytest.raises(LinkworkError, match="output tau or commands"):
        PANDA.rollout(START, np.zeros(7), PANDA.function(lambda robot, q: q, period=1e-3), **run)
    with pytest.raises(UnsupportedError, match="cannot take tau"):
        PANDA.rollout(START, np.zeros(7), PANDA.function(lambda robot, tau: {"tau": tau}, period=1e-3), **run)
    with pytest.raises(ShapeError, match="its output tau does not fit"):
        PANDA.rollout(START, np.zeros(7), PANDA.function(lambda robot, q: {"tau": q[:3]}, period=1e-3), **run)
    with pytest.raises(ShapeError, match="does not fit robot 'ur5e'"):
        linkwork.load("ur5e").rollout(np.zeros(6), np.zeros(6), observers=RESIDUAL, **run)
    with pytest.raises(LinkworkError, match="needs a reference"):
        PANDA.rollout(START, np.zeros(7), CONTROLLER, gains={"stiffness": 1.0}, **run)
    with pytest.raises(LinkworkError, match="missing"):
        PANDA.rollout(START, np.zeros(7), CONTROLLER, reference=REFERENCE, **run)
    with pytest.raises(UnknownNameError, match="'kp'"):
        gains = {"stiffness": 1.0, "kp": 2.0}
        PANDA.rollout(START, np.zeros(7), CONTROLLER, reference=REFERENCE, gains=gains, **run)
    with pytest.raises(ShapeError, match="wrong shape"):
        PANDA.rollout(START, np.zeros(7), CONTROLLER, reference=REFERENCE, gains={"stiffness": np.ones(2)}, **run)
    for memory in ({"tracking": {"x": 0.0}}, {"other": {"z": 0.0}}, {"tracking_tau": np.zeros(7)}):
        with pytest.raises(UnknownNameError):
            PANDA.rollout(START, np.zeros(7), memory=memory, steps=3, **OPTIONS)
    with pytest.raises(ShapeError, match="wrong shape"):
        PANDA.rollout(START, np.zeros(7), memory={"tracking": {"z": np.zeros(6)}}, steps=3, **OPTIONS)
    with pytest.raises(UnknownNameError, match="tracking_x"):
        PANDA.rollout(START, np.zeros(7), steps=3, outputs=["tracking_x"], **OPTIONS)
    needy = PANDA.function(
        lambda robot, q, memory, k: (q, memory), memory=lambda robot, k: {"x": k}, period=1e-3, name="needy", k=()
    )
    with pytest.raises(LinkworkError, match="more than the initial state"):
        PANDA.rollout(START, np.zeros(7), observers=needy, gains={"k": 1.0}, **run)
    given = {"needy": {"x": 3.0}}
    motion = PANDA.rollout(
        START, np.zeros(7), observers=needy, gains={"k": 1.0}, memory=given, outputs=["memory"], **run
    )
    assert (motion.needy_memory_x == 3).all()


def test_values_that_are_not_numbers():
    log = PANDA.function(lambda robot, q: np.sqrt(q[0]), period=1e-3, name="log")
    q0 = np.stack([START, START + 0.5])
    with pytest.raises(DivergedError, match="sample 0"):
        PANDA.rollout(q0 - 0.1, np.zeros((2, 7)), dt=1e-3, steps=5, observers=log)
    kept = PANDA.rollout(
        q0 - 0.1, np.zeros((2, 7)), dt=1e-3, steps=5, observers=log, diverged="keep", outputs=["q", "log_log"]
    )
    assert np.isfinite(kept.q).all() and np.isfinite(kept.log_log[1]).all() and np.isnan(kept.log_log[0]).all()
