"""Outputs of one's own: quantities and functions that are recorded, against what they are of the recorded states."""

import contextlib
import functools
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, ShapeError, Trajectory, UnknownNameError, UnsupportedError
from linkwork.control import PID, ComputedTorque, Point, Quintic, Sampled, with_memory
from linkwork.formulations import QUANTITIES
from linkwork.sim.schemes.integrators import schemes
from linkwork.sim.trajectory.outputs import RESERVED
from linkwork.spatial import Vector
from support.random_loops import four_bar
from support.random_robots import Recipe, describe

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.SimulationWarning")
DT, STEPS, B = 2e-3, 12, 3
ROBOTS = {
    "arm": linkwork.load(describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True))),
    "floating": linkwork.load(describe(Recipe(seed=5, joints=1, floating=True))),
    "loop": linkwork.load(four_bar()),
    "biped": linkwork.load("biped"),
}
ARM = ROBOTS["arm"]


def frame_of(robot):
    return [*robot.model.frames][-1]


def observing(robot):
    """A function of all that every run knows, with outputs of several shapes."""
    frame = frame_of(robot)

    def observe(robot, q, v, a, tau, t):
        pose, J = robot.pose(frame, q), robot.jacobian(frame, q)
        return {
            "point": pose[:3, 3] * np.cos(3 * t),
            "speed": np.linalg.norm(J @ v),
            "M": robot.inertia_matrix(q),
            "twist_rate": J @ a + robot.jacobian_drift(frame, q, v),
            "pulled": np.where(tau > 0, tau, 2 * tau),
        }

    return observe


def seen(robot):
    """The robot with the smooth friction of simulations."""
    return replace(robot.model, friction_width=0.05)


def start(robot, samples):
    rng = np.random.default_rng(0)
    q = np.array(robot.home if robot.model.permanent else robot.coordinates.random(rng))
    return np.tile(q, (samples, 1)), 0.3 * rng.normal(size=(samples, robot.nv))


def close(found, expected):
    return np.abs(found - expected).max(initial=0) <= 1e-14 * (1 + np.abs(expected).max(initial=0))


@pytest.mark.parametrize("method", schemes())
@pytest.mark.parametrize("name", ROBOTS)
def test_they_are_those_of_the_recorded_states(name, method):
    robot = ROBOTS[name]
    observe, frame = observing(robot), frame_of(robot)
    how = {"contacts": [1, 0]} if name == "biped" and not schemes()[method].history and method != "rosenbrock" else {}
    outputs = ["q", "v", "a", "tau", "inertia_matrix", f"pose:{frame}", f"jacobian:{frame}", observe]
    run = robot.rollout(*start(robot, B), None, DT, STEPS, method=method, outputs=outputs, every=4, **how)
    assert list(run)[5:] == ["inertia_matrix", "pose", "jacobian", "point", "speed", "M", "twist_rate", "pulled"]
    assert run.pose.shape == (B, 4, 4, 4) and run.speed.shape == (B, 4) and run.point.shape == (B, 4, 3)
    expected = robot.function(observe, t=())(run.q, run.v, run.a, run.tau, run.t)
    for key in expected._fields:
        assert close(run[key], getattr(expected, key)), key
    assert close(run.inertia_matrix, robot.inertia_matrix(run.q)) and close(run.pose, robot.pose(frame, run.q))
    assert close(run.jacobian, robot.jacobian(frame, run.q))


@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4"])
@pytest.mark.parametrize("name", ROBOTS)
def test_steppers_give_the_bits_of_rollouts(name, method):
    robot = ROBOTS[name]
    frame = frame_of(robot)

    def observe(robot, q, v, t):
        return {"twist": robot.frame_velocity(frame, q, v), "clock": np.sin(t)}

    outputs, (q, v) = [f"pose:{frame}", observe], start(robot, 11)
    tau = np.zeros((1, STEPS, robot.stepper(1).tau.shape[1]))
    run = robot.rollout(q, v, tau, DT, STEPS, method=method, outputs=outputs)
    stepper = robot.stepper(11, DT, q0=q, v0=v, method=method, outputs=outputs)
    assert list(stepper.outputs) == ["pose", "twist", "clock"] and stepper.outputs["pose"].shape == (11, 4, 4)
    for k in range(STEPS + 1):
        for key in stepper.outputs:
            assert np.array_equal(stepper.outputs[key], run[key][:, k])
        stepper.step()


def test_all_that_an_instant_knows():
    """Arguments are the recorded arrays, the inputs held at a step, the memory, and gains that are passed."""
    rng = np.random.default_rng(1)
    wrenches = {"tool": rng.normal(size=(STEPS, 6)), "link1": rng.normal(size=6)}

    def observe(robot, t, q, v, a, tau, v_joints, work, wrenches, reference, integral, kp):
        q[0] = q[0] + 0  # may be changed in place
        return {
            "state": np.concatenate([q, v, a, tau, v_joints, integral]),
            "loads": wrenches,
            "aim": np.stack(reference),
            "more": np.stack([t, work, kp[0], kp[1]]),
        }

    for reference in (
        Quintic([0, 0], [0.3, 0.2], 0.02),
        Point([0.3, 0.2], 0.1, 0),
        Point(rng.normal(size=(STEPS, 2)), 0, 0),
    ):
        run = ARM.rollout(
            [0.1, 0.2], [0.3, 0], PID(9, 8, 7), DT, STEPS, reference=reference, wrenches=wrenches, method="rk4",
            gains={"kp": [3.0, 4.0]}, outputs=["q", "v", "a", "tau", "memory", "work", observe],
        )  # fmt: skip
        state = np.concatenate([run.q, run.v, run.a, run.tau, run.v, run.integral], axis=1)
        assert np.array_equal(run.state, state)
        held = np.minimum(np.arange(STEPS + 1), STEPS - 1)
        assert np.array_equal(run.loads[:, 0], wrenches["tool"][held])
        assert (run.loads[:, 1] == wrenches["link1"]).all()
        expected = np.stack([np.stack(np.broadcast_arrays(*reference(t))) for t in run.t]) if callable(reference) else (
            np.stack([np.broadcast_to(part, (STEPS, 2)) for part in reference], axis=1)[held])  # fmt: skip
        assert close(run.aim, expected)
        assert np.array_equal(run.more, np.stack([run.t, run.work, 0 * run.t + 3, 0 * run.t + 4], axis=1))


def test_samples_of_a_reference_and_commands():
    swimmer = linkwork.load("quadrotor")
    commands = np.random.default_rng(0).uniform(1, 2, (STEPS, 4))

    def observe(robot, commands, v):
        return {"u": commands, "power": commands @ commands + v[0]}

    run = swimmer.rollout(None, None, None, DT, STEPS, commands=commands, outputs=["commands", "v", observe])
    assert np.array_equal(run.u, run.commands)
    assert close(run.power, (run.commands**2).sum(axis=1) + run.v[:, 0])
    sampled = Sampled(np.linspace(0, 1, 9), np.random.default_rng(0).normal(size=(9, 2)))
    run = ARM.rollout(
        None, None, ComputedTorque(9, 6), DT, STEPS, reference=sampled, outputs=[lambda robot, reference: reference.q]
    )
    assert close(run.result[:-1], np.array([sampled.sample(DT * np.arange(STEPS)).q]))


def test_contacts_and_their_forces():
    biped = ROBOTS["biped"]
    schedule = np.array([[1, 0]] * 6 + [[0, 1]] * 6)

    def observe(robot, q, v, a, contacts, contact_forces):
        forces = contact_forces * contacts[:, None]
        return {"on": contacts, "loads": contact_forces, "left": robot.inertia_matrix(q) @ a + robot.bias(q, v),
                "total": np.sum(forces, axis=0)}  # fmt: skip

    outputs = ["q", "v", "a", "contacts", "contact_forces", observe, "contact_dynamics"]
    run = biped.rollout(None, None, None, DT, STEPS, contacts=schedule, method="rk4", outputs=outputs)
    assert np.array_equal(run.on, run.contacts) and np.array_equal(
        run.loads.reshape(run.contact_forces.shape), run.contact_forces
    )
    assert close(run.total, run.loads.sum(axis=1))
    tau = np.zeros((STEPS + 1, biped.nv))
    made = linkwork.compile(seen(biped), "contact_dynamics")(run.q, run.v, tau, run.contacts)
    assert np.abs(run.contact_dynamics_forces - made.forces).max() < 1e-9 * np.abs(made.forces).max()


def test_loops_and_their_forces():
    loop = ROBOTS["loop"]
    outputs = [
        "constraint_forces",
        "velocity_map",
        lambda robot, constraint_forces, v_joints: {"c": constraint_forces, "vj": v_joints},
    ]
    run = loop.rollout(*start(loop, 2), None, DT, STEPS, outputs=["q", "v", *outputs])
    assert np.array_equal(run.c, run.constraint_forces)
    assert np.abs(run.vj - np.einsum("stij,stj->sti", run.velocity_map, run.v)).max() < 1e-12


@pytest.mark.parametrize("name", ["arm", "floating", "loop"])
def test_every_quantity(name):
    """Against the compiled quantity of the recorded states, with names for all entries."""
    robot, frame, functions = ROBOTS[name], frame_of(ROBOTS[name]), {}
    for each, quantity in QUANTITIES.items():
        if {*quantity.inputs} <= {"q", "v", "a", "tau", "v_joints"} and each not in RESERVED:
            text = f"{each}:{frame}" if quantity.of_frame else each
            columns = {"parameters": "standard"} if each == "regressor" else {}
            with contextlib.suppress(LinkworkError):  # some are of robots with loops, some of those without
                functions[text] = linkwork.compile(seen(robot), text, **columns, backend="interpreter")
    assert len(functions) > 25
    outputs = ["q", "v", "a", "tau", *functions]
    run = robot.rollout(*start(robot, 2), None, DT, 4, outputs=outputs, backend="interpreter")
    given = {"v_joints": np.einsum("stij,stj->sti", run.velocity_map, run.v), **run.arrays}
    for text, function in functions.items():
        results = function(*(given[port.name] for port in function.program.inputs))
        several = len(function.program.outputs) > 1
        for port, expected in zip(function.program.outputs, results if several else [results], strict=True):
            label = text.partition(":")[0] + f"_{port.name}" * several
            assert run[label].shape == expected.shape, label
            assert np.abs(run[label] - expected).max(initial=0) <= 1e-11 * (1 + np.abs(expected).max(initial=0)), label
            entries = run.entries.get(label, ())
            assert len({*entries}) == len(entries) == (np.prod(port.shape) if port.shape else 0)


@pytest.mark.parametrize("kind", ["mass", "parameters", "payload", "viscous", "gravity"])
def test_the_robot_has_the_parameters_of_each_sample(kind):
    """Rollouts equal those of robots that were given these parameters before."""
    rng = np.random.default_rng(2)
    standard = np.array(ARM.model.parameters(), float)
    payload = np.array([0.7, 0.1, -0.2, 0.05, 0.2, 0.01, 0.02, 0.3, -0.01, 0.4])
    values = {
        "mass": standard[:, 0] * rng.uniform(0.5, 2, (2, len(standard))),
        "parameters": standard * np.array([1.1, 1.7])[:, None, None],
        "payload": {"tool": np.stack([payload, 2 * payload])},
        "viscous": rng.uniform(1, 2, (2, 2)),
        "gravity": rng.normal(size=(2, 3)),
    }

    def observe(robot, q, v, a):
        return {"M": robot.inertia_matrix(q), "h": robot.bias(q, v), "u": robot.inverse_dynamics(q, v, a)}

    outputs = ["q", "v", "a", "tau", observe, "gravity"]
    run = ARM.rollout(*start(ARM, 2), np.ones(2), DT, STEPS, outputs=outputs, vary={kind: values[kind]}, method="rk4")
    assert np.abs(run.u - run.tau).max() < 1e-11 * np.abs(run.u).max()  # all forces are those of the sample
    M, h, g = (np.empty_like(run[name]) for name in ("M", "h", "gravity"))
    numbers = {"payload": ["payload:tool"], "gravity": [], "viscous": []}.get(kind, ["parameters"])
    for k in range(2):
        model = replace(seen(ARM), gravity=Vector(*values["gravity"][k])) if kind == "gravity" else seen(ARM)
        rows = standard * (values["mass"][k] / standard[:, 0])[:, None] if kind == "mass" else values["parameters"][k]
        more = [values["payload"]["tool"][k]] if kind == "payload" else [rows] if numbers else []
        M[k], h[k], g[k] = linkwork.compile(model, ["inertia_matrix", "bias", "gravity"], inputs=numbers)(
            run.q[k], run.v[k], *more
        )
        if kind == "viscous":
            h[k] += (values["viscous"][k] - [body.joint.viscous for body in ARM.model.bodies]) * run.v[k]
    for found, expected in ((run.M, M), (run.h, h), (run.gravity, g)):
        assert np.abs(found - expected).max() < 1e-12 * (1 + np.abs(expected).max())


def test_closures_are_read_when_a_run_begins():
    A, offset = np.array([[1.0, 2.0], [3.0, 4.0]]), [0.0]

    def observe(robot, q):
        return A @ q + offset[0]

    for _ in range(2):
        run = ARM.rollout([0.1, 0.2], None, None, DT, 3, outputs=["q", observe])
        assert close(run.observe, run.q @ A.T + offset[0])
        A *= 2
        offset[0] += 1.0


def test_setups_are_remembered(monkeypatch):
    module, made = sys.modules["linkwork.sim.plant.own_outputs"], []
    real = module.candidate_programs
    monkeypatch.setattr(module, "candidate_programs", lambda *args: made.append(1) or real(*args))
    robot = linkwork.load("planar2r")
    for k in (1, 1, 2):
        outputs = ["q", lambda robot, q, k=k: k * robot.gravity(q), "inertia_matrix"]
        robot.rollout(None, None, None, DT, 3, outputs=outputs)
    assert len(made) == 2
    (plant, _) = next(iter(robot.derived(sys.modules["linkwork.sim.plant.setup"].plants).values()))
    assert len(robot.derived(sys.modules["linkwork.sim.plant.setup"].plants)) == 1 and "step" in plant.programs
    for width in (0.05, 0.5):  # of which quantities depend
        run = ARM.rollout(None, [1, 2], None, DT, 3, friction_width=width, outputs=["tau", "inverse_dynamics"])
        assert np.abs(run.inverse_dynamics - run.tau).max() < 1e-12
    one, other = ({"g": (lambda robot, q: {"g": robot.gravity(q)})}, {"g": "gravity"})
    names = [robot.rollout(None, None, None, DT, 3, outputs=[each["g"]]) for each in (one, other)]
    assert names[0].entries["g"] == ("0", "1") and names[1].entries["gravity"] == robot.model.position_names


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler"])
def test_threads_the_interpreter_and_memory_of_another_run(method):
    outputs = ["q", "inertia_matrix", lambda robot, q, v: {"p": robot.inertia_matrix(q) @ v, "e": v @ v}]
    q, v = start(ARM, 19)
    run = ARM.rollout(q, v, None, DT, STEPS, outputs=outputs, method=method)
    shared = ARM.rollout(q, v, None, DT, STEPS, outputs=outputs, method=method, threads=2)
    slow = ARM.rollout(q, v, None, DT, STEPS, outputs=outputs, method=method, backend="interpreter")
    again = ARM.rollout(0 * q, v, None, DT, STEPS, outputs=outputs, method=method)
    filled = ARM.rollout(q, v, None, DT, STEPS, outputs=outputs, method=method, out=again)
    alone = ARM.rollout(q[7], v[7], None, DT, STEPS, outputs=outputs, method=method)
    for name in run:
        assert np.array_equal(run[name], shared[name]) and np.array_equal(run[name], filled[name])
        assert np.abs(run[name] - slow[name]).max() < 1e-13 * (1 + np.abs(run[name]).max())
        assert name == "t" or np.array_equal(run[name][7], alone[name])
    assert run[2:5].p.shape == (3, STEPS + 1, 2) and run[3].inertia_matrix.shape == (STEPS + 1, 2, 2)


@pytest.mark.parametrize("method", [None, "dormand-prince", "implicit", "rosenbrock"])
def test_simulations(method):
    observe = observing(ARM)
    motion = ARM.simulate([0.1, 0.2], duration=0.02, method=method, outputs=["q", "v", "a", "tau", observe, "gravity"])
    expected = ARM.function(observe, t=())(motion.q, motion.v, motion.a, motion.tau, motion.t)
    for key in expected._fields:
        assert close(motion[key], getattr(expected, key)), key
    assert close(motion.gravity, ARM.gravity(motion.q)) and len(motion.joint(ARM.model.position_names[0])) == 5


def test_simulations_by_events():
    ball = linkwork.model.Description(
        "ball",
        (linkwork.model.Link("ball", linkwork.model.LinkInertia(1.0, np.zeros(3), 0.01 * np.eye(3))),),
        (),
        floating=True,
        constraints=(linkwork.model.foot_at("ball", "ball", restitution=0.5),),
    )
    robot = linkwork.load(ball)
    outputs = ["q", "v", "pose:ball", lambda robot, q, v: robot.momentum(q, v)]
    motion = robot.simulate([0, 0, 0.01, 0, 0, 0, 1], duration=0.1, dt=0.01, contacts="events", outputs=outputs)
    assert (
        motion.events
        and close(motion.pose, robot.pose("ball", motion.q))
        and close(motion.result[:, 2], motion.v[:, 2])
    )
    with pytest.raises(UnsupportedError, match=r"events cannot give a to outputs of one's own"):
        robot.simulate(duration=0.1, dt=0.01, contacts="events", outputs=["inverse_dynamics"])


# -- trajectories --------------------------------------------------------------------------------------------------


def observed(lead=(B,), **how):
    """A trajectory with outputs of all shapes."""

    def observe(robot, q, v):
        return {
            "energy_now": v @ v,
            "M": robot.inertia_matrix(q),
            "cube": np.ones((2, 3, 2)) * q[:, None, None],
            "none": q[:0],
        }

    q = np.random.default_rng(0).normal(size=(*lead, 2))
    return ARM.rollout(q, q, None, DT, STEPS, outputs=["q", "pose:tool", observe, "gravity"], every=5, **how)


@pytest.mark.parametrize("lead", [(), (B,)])
@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet"])
def test_files(tmp_path, suffix, lead):
    motion = observed(lead)
    motion.save(tmp_path / f"motion.{suffix}")
    again = Trajectory.load(tmp_path / f"motion.{suffix}")
    assert again.entries == motion.entries and again.shapes == motion.shapes and list(again) == list(motion)
    for name in motion:
        assert again[name].shape == motion[name].shape and np.array_equal(again[name], motion[name])
    assert motion.entries["pose"][3] == "x.origin" and motion.shapes["cube"] == (2, 3, 2)
    assert again.repr() if hasattr(again, "repr") else "pose" in repr(again)


@pytest.mark.parametrize("lead", [(), (B,)])
@pytest.mark.parametrize("name", ["run", "run.zarr"])
def test_streams(tmp_path, name, lead):
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    motion, run = observed(lead), observed(lead, to=tmp_path / name)
    again = Trajectory.load(tmp_path / name)
    for key in motion:
        assert np.array_equal(run[key][:], motion[key]) and np.array_equal(again[key][:], motion[key])
    assert again.shapes == motion.shapes


def test_other_libraries():
    motion = observed()
    table = motion.to_pandas()
    assert np.array_equal(table["pose.x.origin"], motion.pose[..., 0, 3].ravel())
    assert np.array_equal(table["cube.1.2.0"], motion.cube[..., 1, 2, 0].ravel())
    data = motion.to_xarray()
    assert data.pose.dims == ("sample", "t", "pose_axis0", "pose_axis1") and data.cube.shape == (B, 3, 2, 3, 2)
    assert data.gravity.dims == ("sample", "t", "joint") and np.array_equal(data.M, motion.M)


def test_plots():
    figure = observed(()).plot(["pose", "energy_now", "gravity"])
    assert len(figure.axes) == 4  # sixteen entries in two panels
    assert sum(len(axes.lines) for axes in figure.axes) == 16 + 1 + 2
    assert np.array_equal(figure.axes[2].lines[0].get_ydata(), observed(()).energy_now)
    assert observed()._repr_html_()


def test_shapes_of_trajectories_are_checked():
    arrays = {"t": np.arange(3.0), "M": np.zeros((3, 2, 2))}
    motion = Trajectory(arrays, {"M": "abcd"}, robot="r", method="m", dt=1, shapes={"M": (2, 2)})
    assert motion.batch == () and motion.shapes == {"M": (2, 2)}
    for shape, message in (((2, 3), "6 names"), ((4, 1), r"expected: \(..., 3, 4, 1\)")):
        with pytest.raises(ShapeError, match=message):
            Trajectory(arrays, {"M": "abcd"}, robot="r", method="m", dt=1, shapes={"M": shape})


# -- names ---------------------------------------------------------------------------------------------------------


def test_names():
    frames = [*ARM.model.frames][-2:]
    run = ARM.rollout(None, None, None, DT, 2, outputs=[*(f"pose:{frame}" for frame in frames), "q", "jacobian:tool"])
    assert list(run) == ["t", *(f"pose_{frame}" for frame in frames), "q", "jacobian"]
    run = ARM.rollout(None, None, None, DT, 2, outputs=functools.partial(lambda robot, q, k: k * q, k=2.0))
    assert list(run) == ["t", "partial"]
    run = ARM.rollout(None, None, None, DT, 2, outputs=["gravity", "gravity", "forward_dynamics_derivatives"])
    assert list(run)[:3] == ["t", "gravity", "forward_dynamics_derivatives_a"]

    @with_memory(gravity=np.zeros(2))
    def controller(t, q, v, reference, memory):
        return -q, {"gravity": q}

    run = ARM.rollout(None, [1, 2], controller, DT, 2, outputs=["gravity"])  # the state has precedence
    assert (run.gravity[0] == 0).all()


def clumsy(robot, q):
    return q if q[0] > 0 else -q


def noisy(robot, q):
    return q + np.random.normal(size=2)


KEYS = iter("abcdefghijkl")


def named_anew(robot, q):
    return {next(KEYS): q}


@pytest.mark.parametrize(
    ("outputs", "error", "message"),
    [
        (["pose:hand"], UnknownNameError, "hand"),
        (["pose"], LinkworkError, "pose needs a frame"),
        (["inertia_matrix:tool"], LinkworkError, "inertia_matrix has no frame"),
        (["poses:tool"], UnknownNameError, r"(?s)there is no quantity 'poses'.*did you mean 'pose'"),
        (
            ["inertia_matrx"],
            UnknownNameError,
            r"(?s)there is no quantity 'inertia_matrx'.*did you mean 'inertia_matrix'",
        ),
        (["loop_residual"], UnknownNameError, r"(?s)there is no output 'loop_residual'.*one of: .*integral"),
        (["momentum:tool"], LinkworkError, "momentum has no frame"),
        ([["q"]], UnknownNameError, "there is no output"),
        (["torque"], UnknownNameError, "there is no output 'torque'"),
        ([3], UnknownNameError, "there is no output '3'"),
        (["hybrid_dynamics"], UnsupportedError, "does not have its input 'a_known'"),
        (["contact_dynamics"], UnsupportedError, "does not have its input 'contacts'"),
        ([lambda robot, q, target: q - target], UnknownNameError, "there is no argument 'target'"),
        ([lambda robot, q, commands: q], UnknownNameError, "there is no argument 'commands'"),
        ([lambda robot, *more: more], UnsupportedError, "arguments of a compiled function have names"),
        ([lambda: 1.0], UnsupportedError, "no first argument"),
        ([lambda robot, q: {"q": q}], LinkworkError, "name of another part of a trajectory.*\n.*'q'"),
        ([lambda robot, q: {"drift": q}], LinkworkError, "name of another part of a trajectory"),
        ([lambda robot, q: {"plot": q}], LinkworkError, "name of another part of a trajectory"),
        ([lambda robot, q: {"shapes": q}], LinkworkError, "name of another part of a trajectory"),
        ([lambda robot, q: {"integral": q}], LinkworkError, "name of another part of a trajectory"),
        (["gravity", lambda robot, q: {"gravity": q}], LinkworkError, "two outputs have the same name"),
        ([lambda robot, q: q, lambda robot, v: v], LinkworkError, "two outputs have the same name.*\n.*'result'"),
        ([lambda robot, q: {"my pose": q}], LinkworkError, "cannot be the name of an output"),
        ([lambda robot, q: {}], ShapeError, "empty dict"),
        ([lambda robot, q: None], ShapeError, "the result is not an array"),
        ([lambda robot, q: {"x": [[q[0]], [q[0], q[1]]]}], LinkworkError, "not a"),
        ([lambda robot, q: robot.nothing(q)], UnsupportedError, "no attribute 'nothing'"),
        ([clumsy], UnsupportedError, r"(?s)cannot decide a branch.*line \d+: return q if|line \d+: return q if"),
        ([noisy], UnsupportedError, "changes from call to call"),
        ([named_anew], UnsupportedError, "changes from call to call"),
    ],
)
def test_refused_outputs(outputs, error, message):
    torque = {"torque": PID(1, 1, 1), "reference": Point([0, 0], 0, 0)}
    for run in (
        lambda: ARM.rollout(None, None, dt=DT, steps=2, outputs=outputs, **torque),
        lambda: ARM.simulate(duration=0.01, outputs=outputs, **torque),
        lambda: ARM.stepper(2, outputs=outputs, **torque),
    ):
        with pytest.raises(error, match=message), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
