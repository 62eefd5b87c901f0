"""Gradients through time against differences of rollouts: every integrator, every kind of robot, all that a run may be
given, all that it may record, with and without checkpoints."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import pytest

import linkwork
from linkwork import SoftLimits
from linkwork.control import PID, ComputedTorque, Point, tanh
from linkwork.forces import Contact, Drag
from linkwork.sim import INTEGRATORS, AdamsBashforth, Integrator, add_integrator
from linkwork.sim.schemes.integrators import HEUN, schemes
from support.evaluate import assert_close
from support.mixed_trees import MixedRecipe, mixed
from support.random_loops import LoopRecipe, four_bar, mechanism
from support.random_robots import Recipe, describe
from support.through_time import Differences, leaves, part, random_weights

# Gradients are those of the steps as they were made, whatever these are worth.
pytestmark = pytest.mark.filterwarnings("ignore::linkwork.SimulationWarning")
STEPS = 15
OUTPUTS = ("q", "v", "a", "tau", "kinetic_energy", "potential_energy", "momentum", "center_of_mass", "work")
ADDED = Integrator("adams-bashforth-2", 2, AdamsBashforth("3/2 -1/2", start=HEUN))
METHODS = (*schemes(), ADDED.name)
SURROUNDINGS = {
    "link1": Drag(0.4, 0.3, 0.5, 0.7, 0.9, current=(0.3, -0.2, 0.1)),
    "tool": Contact(20, damping=3, friction=0.6, slip=1.0, height=3, normal=(1, -2, 3)),
}
OWN = {
    "arm": describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True)),
    "ball": mixed(MixedRecipe(5, ("spherical",), extras=True)),
    "floating": describe(Recipe(seed=5, joints=1, floating=True)),
    "follows": describe(Recipe(seed=2, joints=3, mimic=True, extras=True)),
    "surrounded": mixed(MixedRecipe(7, ("revolute", "prismatic"), extras=True)),
    "loop": four_bar(),
    "loop with springs": mechanism(LoopRecipe(seed=2, closures=("revolute",), planar=True, freedoms=2, elastic=True)),
}


@pytest.fixture(autouse=True, scope="module")
def added():
    add_integrator(ADDED)
    yield
    del INTEGRATORS[ADDED.name]


@cache
def robot(name: str) -> linkwork.Robot:
    own = linkwork.load(OWN.get(name, name))
    return own.with_forces(SURROUNDINGS) if name == "surrounded" else own


def start(name: str, samples: tuple[int, ...] = ()) -> dict[str, np.ndarray]:
    own, rng = robot(name), np.random.default_rng(0)
    if own.model.permanent:
        q = np.broadcast_to(np.array(own.home), (*samples, own.nq))
    else:
        q = own.coordinates.random(rng, *samples)
    return {"q0": q, "v0": 0.5 * rng.normal(size=(*samples, own.nv))}


def torques(name: str, *lead: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(*lead, len(robot(name).model.mobility.forced)))


def options(method: str = "semi-implicit-euler", **more) -> dict:
    return {"dt": 5e-3, "steps": STEPS, "method": method, "friction_width": 1.0, **more}


def assert_same(one, other, given):
    for path, _ in leaves(given):
        assert_close(part(one, path), part(other, path), tolerance=1e-12)


def assert_gradients(name, given, zero=(), **how):
    """Beside differences; then with checkpoints, and of fewer records, beside itself."""
    own = robot(name)
    motion = own.rollout(**given, **how, checkpoint_every=1)
    weights = random_weights(motion)
    gradient = motion.pullback(**weights)
    Differences(own, given, weights, **how).check(gradient, zero)
    for checkpoint_every in (4, 10**6):
        assert_same(own.rollout(**given, **how, checkpoint_every=checkpoint_every).pullback(**weights), gradient, given)
    for every, checkpoint_every in ((5, 1), (7, 3)):  # 15 steps: with the last state, and without
        rows = (slice(None),) * len(motion.batch) + (slice(None, None, every),)
        few = {key: x[rows] for key, x in weights.items()}
        whole = {key: np.zeros_like(x) for key, x in weights.items()}
        for key, x in few.items():
            whole[key][rows] = x
        run = own.rollout(**given, **how, every=every, checkpoint_every=checkpoint_every)
        assert_same(run.pullback(**few), motion.pullback(**whole), given)


# -- all integrators -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observing:
    """Its memory is a filter and a matrix, on which the robot depends and which depend on it, and time."""

    memory: ClassVar = {"slow": np.array([0.3, -0.2]), "estimate": np.array([[1.0, 0.5], [0.4, 2.0]])}

    def __call__(self, t, q, v, reference, memory, *, cutoff, kp):
        slow, P = memory["slow"], memory["estimate"]
        tau = tanh(kp * (reference.q - slow)) - P @ (v - reference.v) + np.sin(9 * t) * reference.a
        return tau, {"slow": cutoff * (q - slow), "estimate": np.eye(2) + v[0] * P - P @ P}


def everything(name: str) -> dict:
    """All that a run with a controller may be given, each as one of its forms."""
    own, rng = robot(name), np.random.default_rng(2)
    joints = len(own.model.position_names)
    payload = np.array([0.7, 0.1, -0.2, 0.05, 0.2, 0.01, 0.02, 0.3, -0.01, 0.4])
    return start(name) | {
        "reference": Point(*rng.normal(size=(3, 2))),
        "gains": {"cutoff": 20.0, "kp": np.array([2.0, 3.0])},
        "memory": {"slow": rng.normal(size=2), "estimate": np.eye(2) + 0.3 * rng.normal(size=(2, 2))},
        "wrenches": {"tool": rng.normal(size=(STEPS, 6)), "link1": rng.normal(size=6)},
        "vary": {
            "parameters": np.array(own.model.parameters(), float),
            "mass": 1.1 * np.array([body.inertia.mass for body in own.model.bodies]),
            "payload": {"tool": payload},
            "viscous": rng.uniform(0.2, 1, joints),
            "coulomb": rng.uniform(0.2, 1, joints),
            "rotor_inertia": rng.uniform(0.2, 1, joints),
            "offset": rng.normal(size=joints),
            "friction_width": rng.uniform(0.5, 1.5, joints),
            "stiffness": rng.uniform(1, 5, joints),
            "gravity": np.array([1.0, 2.0, -9.0]),
        },
    }


@pytest.mark.parametrize("method", METHODS)
def test_by_everything(method):
    assert_gradients("arm", everything("arm"), **options(method, torque=Observing()))


@pytest.mark.parametrize("method", METHODS)
def test_through_a_ball_joint(method):
    """At long steps, which leave the unit quaternions far enough for the way back to them to be seen."""
    assert_gradients("ball", start("ball") | {"torque": torques("ball", STEPS)}, **options(method, dt=3e-2))


@pytest.mark.parametrize("method", METHODS)
def test_through_a_loop(method):
    given = start("loop") | {
        "reference": Point(np.array([0.4]), np.array([0.2]), np.zeros(1)),
        "gains": {"kp": 40.0, "ki": np.array([90.0]), "kd": 3.0},
        "memory": {"integral": np.array([0.1])},
    }
    assert_gradients("loop", given, (("reference", "a"),), **options(method, dt=3e-2, torque=PID(1.0, 1.0, 1.0)))


# -- all robots ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("floating", "semi-implicit-euler"),
        ("floating", "adams-bashforth-4"),
        ("follows", "rk4"),
        ("surrounded", "semi-implicit-euler"),
        ("surrounded", "heun"),
        ("loop with springs", "semi-implicit-euler"),
        ("puma560", "semi-implicit-euler"),
        ("flexible-arm", "rosenbrock"),
        ("quadruped", "semi-implicit-euler"),
        ("eel", "semi-implicit-euler"),
    ],
)
def test_robots(name, method):
    how = {"dt": 2e-3} if name in ("flexible-arm", "eel") else {}  # lest differences see their bends
    given = start(name) | {"torque": torques(name)}
    if name in ("surrounded", "puma560"):
        how["limits"] = SoftLimits(50.0, 4.0)
        given["q0"][0] = robot(name).coordinates.upper[0] + 0.1
    assert_gradients(name, given, **options(method, **how))


# -- all that is recorded ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arm", "floating", "loop"])
@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4"])
def test_of_everything(name, method):
    outputs = (*OUTPUTS, *["loop_residual"] * (name == "loop"))
    frame = list(robot(name).model.frames)[-1]
    given = start(name) | {"torque": torques(name, STEPS), "vary": {"gravity": np.array([1.0, 2.0, -9.0])}}
    given["wrenches"] = {frame: np.arange(6.0)}
    assert_gradients(name, given, **options(method, outputs=outputs))


@pytest.mark.parametrize("output", [*OUTPUTS, "slow", "estimate"])
def test_of_each_alone(output):
    """Where one is small beside the others, too."""
    assert_gradients("arm", everything("arm"), **options("rk4", torque=Observing(), outputs=(output,)))


@pytest.mark.parametrize("name", ["arm", "floating", "ball", "loop"])
@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4"])
def test_of_own_outputs(name, method):
    """Gradients of recorded quantities, and of a function of all that an instant knows."""
    frame = list(robot(name).model.frames)[-1]

    def observe(robot, t, q, v, a, tau, work, wrenches):
        J = robot.jacobian(frame, q)
        return {"matrix": robot.inertia_matrix(q) * np.cos(t), "power": np.sin(v @ v) + work,
                "rest": np.concatenate([J @ a, np.tanh(tau), J.T @ wrenches[0]])}  # fmt: skip

    vary = {"gravity": np.array([1.0, 2.0, -9.0])} | ({"viscous": np.array([0.3, 0.4])} if name == "arm" else {})
    given = start(name) | {"torque": torques(name, STEPS), "vary": vary, "wrenches": {frame: np.arange(6.0)}}
    assert_gradients(name, given, **options(method, outputs=[f"pose:{frame}", "bias", observe]))


def test_of_own_outputs_of_a_controller():
    def observe(robot, q, reference, slow, estimate, kp):
        return {"error": kp * (reference.q - q) * slow, "matrix": estimate @ robot.inertia_matrix(q)}

    assert_gradients("arm", everything("arm"), **options("rk4", torque=Observing(), outputs=[observe]))


# -- functions with a sample time ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filtering:
    """A controller whose memory begins from the state, and on which forces depend in a nonlinear way."""

    shares: np.ndarray  # of velocities in the forces

    def start(self, robot, q, v):
        return {"slow": 0.9 * v + 0.01 * robot.bias(q, v)[: v.size], "sum": 0.1 * v}

    def __call__(self, robot, t, q, v, reference, memory, period, *, kp):
        slow = memory["slow"] + 0.3 * (v - memory["slow"])
        error = np.tanh(kp * memory["sum"]) - slow + np.sin(9 * t) * reference[1].sum()
        following = {"slow": slow, "sum": memory["sum"] + period * np.sin(v + reference[0].sum())}
        return {"tau": self.shares @ (error + reference[2].sum() * np.cos(q).sum())}, following


def watched(robot, q, v, tau, memory, period, *, gain):
    residual = gain * (robot.momentum(q, v) - memory["p"])
    return {"residual": residual}, {"p": memory["p"] + period * (tau @ tau + residual)}


def sampled(name: str, law: int = 4, observer: int = 1) -> dict:
    """A controller and an observer that are evaluated once in so many steps."""
    own, dt = robot(name), options()["dt"]
    shares = 0.2 * np.random.default_rng(9).normal(size=(len(torques(name)), own.nv))  # some robots are light
    return {
        "torque": own.function(Filtering(shares), name="law", period=law * dt, kp=()),
        "observers": own.function(watched, memory={"p": np.zeros(6)}, period=observer * dt, gain=()),
        "outputs": ("q", "v", "tau", "work", "memory"),
    }


@pytest.mark.parametrize("method", [name for name, scheme in schemes().items() if not scheme.history])
@pytest.mark.parametrize("name", ["arm", "loop"])
def test_through_sampled_functions(name, method):
    """By all that they take; one memory is given, the others begin from the state."""
    rng = np.random.default_rng(4)
    given = start(name) | {
        "reference": Point(*rng.normal(size=(3, STEPS, len(robot(name).motor_names)))),
        "gains": {"kp": rng.normal(size=(1, STEPS)), "gain": 3.0},
        "memory": {"watched_memory_p": rng.normal(size=6)},
    }
    assert_gradients(name, given, **options(method, **sampled(name)))


@pytest.mark.parametrize("name", ["arm", "ball", "floating"])
@pytest.mark.parametrize("periods", [(3, 2), (5, 15), (1, 1)])
def test_through_sampled_functions_of_samples(name, periods):
    """Each sample has its own memory and gains; at the last record both are due, or one, or none."""
    rng = np.random.default_rng(4)
    given = start(name, (B,)) | {
        "reference": Point(*rng.normal(size=(3, len(robot(name).motor_names)))),
        "gains": {"kp": rng.normal(size=B), "gain": rng.normal(size=B)},
        "memory": {"law_memory_sum": rng.normal(size=(B, robot(name).nv))},
    }
    given["v0"] = given["v0"] + 2 * np.sign(given["v0"])  # friction has a kink at standstill
    assert_gradients(name, given, **options(**sampled(name, *periods)))


# -- batches -------------------------------------------------------------------------------------------------------

B = 3
SHAPES = {"shared": (), "each": (B,), "over time": (STEPS,), "each over time": (B, STEPS), "all over time": (1, STEPS)}


@pytest.mark.parametrize("form", SHAPES)
def test_torques_of_samples(form):
    given = start("arm", (B,)) | {"torque": torques("arm", *SHAPES[form])}
    given["wrenches"] = {"tool": np.random.default_rng(5).normal(size=(*SHAPES[form], 6))}
    assert_gradients("arm", given, **options(outputs=("q", "v", "tau", "a")))


@pytest.mark.parametrize("lead", [(), (B,)], ids=["shared", "each"])
def test_inputs_of_samples(lead):
    """What all share has the sum of what samples would have; memory is of each, as the initial state is."""
    given, rng = everything("arm"), np.random.default_rng(6)

    def widened(value, lead=lead):
        return value * rng.uniform(0.9, 1.1, (*lead, *np.shape(value)))

    given["vary"] = {
        key: {"tool": widened(x["tool"])} if key == "payload" else widened(x) for key, x in given["vary"].items()
    }
    given["gains"] = {key: widened(np.atleast_1d(x), lead or (1,)) for key, x in given["gains"].items()}
    given["reference"] = Point(widened(given["reference"].q), 0.3, widened(given["reference"].a))
    given["memory"] = {key: np.broadcast_to(x, (B, *x.shape)) for key, x in given["memory"].items()}
    assert_gradients("arm", given | start("arm", (B,)), **options(torque=Observing()))


def test_a_reference_of_as_many_samples_as_steps():
    given = start("arm", (STEPS,)) | {"reference": Point(np.random.default_rng(7).normal(size=(STEPS, 1, 2)), 0.0, 0.0)}
    given["gains"] = {"kd": np.array([[2.0, 1.0]])}
    assert_gradients("arm", given, **options(torque=ComputedTorque(40.0, 3.0)))


@pytest.mark.parametrize("lead", [(), (B,)], ids=["one", "each"])
def test_references_over_time(lead):
    """Of one motion or of each sample; parts that do not change beside those that do."""
    rng = np.random.default_rng(8)
    moving = rng.normal(size=(*lead, STEPS, 2))
    given = start("arm", lead) | {"reference": Point(moving, rng.normal(size=(*lead, 2)), 0.3)}
    assert_gradients("arm", given, **options(torque=ComputedTorque(40.0, 3.0)))


# -- simulate ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, "rosenbrock"])
@pytest.mark.parametrize("checkpoint_every", [1, 4])
def test_of_simulations(method, checkpoint_every):
    """Also by the method that is taken if none is asked for, in steps of its own."""
    given = start("flexible-arm") | {"torque": torques("flexible-arm")}
    how = {"duration": 0.015, "dt": None, "method": method, "friction_width": 1.0}
    own = robot("flexible-arm")
    motion = own.simulate(**given, **how, checkpoint_every=checkpoint_every)
    weights = random_weights(motion)
    gradient = motion.pullback(**weights)
    steps = round(0.015 / motion.dt)
    run = {"steps": steps, "dt": motion.dt, "every": steps // 15, "outputs": list(weights)}
    Differences(own, given, weights, **run, method=motion.method, friction_width=1.0).check(gradient)
