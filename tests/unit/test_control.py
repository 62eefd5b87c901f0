"""Controllers: against their formulas on robots of every kind, traced as evaluated, errors decaying as theory says."""

import dataclasses
import importlib
import pickle
import random
import time
from functools import partial
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings

import linkwork
from linkwork import TracedRobot
from linkwork.control import (
    PD,
    ComputedTorque,
    Law,
    PDGravity,
    Point,
    Quintic,
    absolute,
    atan2,
    clip,
    exp,
    log,
    maximum,
    minimum,
    sign,
    tanh,
)
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.program import Port, interpret, optimize, trace
from support.evaluate import assert_close, evaluate
from support.random_loops import LoopRecipe, four_bar, mechanism
from support.random_robots import Recipe, describe, half_driven, random_state, recipes

ROBOTS = {
    "panda": linkwork.load("panda"),
    "quadruped": linkwork.load("quadruped"),
    "four-bar": linkwork.load("four-bar"),
    "gough-stewart": linkwork.load("gough-stewart"),  # its motors are not the independent joints, nor is this one's:
    "rocker": linkwork.load(four_bar(roles=("passive", "passive", "active"), independent=("crank",))),
    "panda-elastic": linkwork.load("panda-elastic"),
    "redundant": linkwork.load(mechanism(LoopRecipe(seed=2, planar=True, freedoms=2, motors="all"))),
    "floating loop": linkwork.load(mechanism(LoopRecipe(seed=1, freedoms=2, floating=True))),
}


def motors(robot) -> list[int]:
    return list(robot.model.mobility.motors)


def state(robot, seed=0) -> tuple[np.ndarray, np.ndarray]:
    """With loops closed."""
    q, v, _ = random_state(robot.model, seed)
    if robot.model.permanent:
        q = np.array(robot.home)
    return q, v


def point_near(robot, q, seed=0) -> Point:
    rng = np.random.default_rng(seed)
    n = len(motors(robot))
    return Point(motor_positions(robot, q) + rng.normal(size=n), rng.normal(size=n), rng.normal(size=n))


def motor_positions(robot, q):
    return q[[k + robot.model.coordinates.joints[0].kind.free for k in motors(robot)]]


def errors(robot, q, v, point):
    """Of positions and velocities of the motors."""
    return point.q - motor_positions(robot, q), point.v - evaluate(robot.model, "motor_jacobian", q) @ v


def forced(robot, tau):
    """tau of forward dynamics from that of the motors."""
    full = dict(zip(motors(robot), tau, strict=True))
    return np.array([full.get(k, 0.0) for k in robot.model.mobility.forced])


# -- choices without branches -----------------------------------------------------------------------------------------


def test_choices_of_plain_numbers():
    x = np.array([-2.0, -0.0, 0.0, 1.5, 3.0])
    assert np.array_equal(maximum(x, 1.0), np.maximum(x, 1)) and np.array_equal(minimum(x, 1.0), np.minimum(x, 1))
    assert np.array_equal(clip(x, -1, 2), np.clip(x, -1, 2)) and np.array_equal(absolute(x), np.abs(x))
    assert np.array_equal(sign(x), np.sign(x))
    assert maximum(3, 2.5) == 3 and minimum(3, 2.5) == 2.5 and clip(7, [0, 8], [1, 9]).tolist() == [1, 8]
    assert absolute(-2.5) == 2.5 and np.isnan(maximum(np.nan, 0.0))
    assert maximum(-1 + 2j, 3.0) == 3 and maximum(4 + 2j, 3.0) == 4 + 2j  # a complex step goes through


def test_choices_of_traced_numbers():
    limits = np.array([-np.inf, 0.5, -1.0]), np.array([2.0, np.inf, -0.5])

    def function(x, y):
        a, b = np.array(x), np.array(y)
        return {
            "maximum": maximum(a, b),
            "minimum": minimum(a, b),
            "clip": clip(a, *limits),
            "absolute": absolute(a),
            "abs": np.abs(a),
            "sign": sign(a),
            "alone": [clip(x[0], 0.0, 1.0), maximum(0.25, x[0])],
            "minimum of numpy": [np.minimum(x[0], y[0]), np.maximum(0.25, x[0])],
        }

    program = optimize(trace("f", function, [Port("x", (3,)), Port("y", (3,))]))
    x, y = np.random.default_rng(0).normal(size=(2, 50, 3))
    first = x[:, 0]
    expected = (np.maximum(x, y), np.minimum(x, y), np.clip(x, *limits), np.abs(x), np.abs(x), np.sign(x))
    found = interpret(program, [x, y])
    alone = np.c_[first.clip(0, 1), first.clip(0.25)], np.c_[np.minimum(first, y[:, 0]), first.clip(0.25)]
    for actual, wanted in zip(found, (*expected, *alone), strict=True):
        assert np.array_equal(actual, wanted)
    beyond = interpret(program, [np.full(3, 1e9), np.zeros(3)])[2]
    assert beyond[0] == 2.0 and beyond[2] == -0.5  # a limit is met exactly


def test_functions_of_traced_numbers():
    """Of arrays, with plain numbers among them; NumPy's own where all are traced."""

    def function(x, y):
        a, b = np.array([*x, 0.5]), np.array([*y, -2.0])
        return {
            "functions": [exp(a), log(absolute(b)), tanh(a), atan2(a, b)],
            "plain": [exp(0.5), log(2), tanh([1.0])[0], atan2(-1, -2)],
            "numpy": [np.exp(a[:2]), np.log(abs(b[:2])), np.tanh(a[:2]), np.arctan2(a[:2], b[:2])],
        }

    program = optimize(trace("f", function, [Port("x", (2,)), Port("y", (2,))]))
    x, y = np.random.default_rng(0).normal(size=(2, 50, 2))
    a, b = (np.concatenate([z, np.full((50, 1), last)], axis=1) for z, last in ((x, 0.5), (y, -2.0)))
    wanted = np.stack([np.exp(a), np.log(abs(b)), np.tanh(a), np.arctan2(a, b)], axis=1)
    functions, plain, numpy = interpret(program, [x, y])
    assert_close(functions, wanted)
    assert_close(numpy, wanted[:, :, :2])
    assert_close(plain, np.broadcast_to([np.exp(0.5), np.log(2), np.tanh(1), np.arctan2(-1, -2)], (50, 4)))


@pytest.mark.parametrize("method", ["rk4", "adams-bashforth-4", "semi-implicit-euler"])
def test_functions_in_the_time_loop(method):
    """Native code against the interpreter, step by step."""
    robot = linkwork.load("planar2r")

    def controller(t, q, v, reference, *, kp):
        way = atan2(np.sin(reference.q - q), np.cos(reference.q - q))
        strength = minimum(kp, exp(-t) + log(1 + absolute(v))) + maximum(np.array([v[0], 0]), 0.1)
        return strength * tanh(3 * way) - np.tanh(v) * np.abs(v)

    q, v = np.random.default_rng(0).normal(size=(2, 11, 2))
    how = {"reference": Quintic([0.0, 0.0], [1.0, -1.0], 0.2), "gains": {"kp": np.linspace(0.5, 3, 11)[:, None]}}
    native, slowly = (
        robot.rollout(q, v, controller, dt=1e-3, steps=300, method=method, backend=by, outputs=("q", "v", "tau"), **how)
        for by in ("native", "interpreter")
    )
    for name in ("q", "v", "tau"):
        assert_close(native[name], slowly[name])


# -- equations in a controller ----------------------------------------------------------------------------------------


@given(recipes(joints=4))
@settings(max_examples=15)
def test_equations_are_those_of_the_robot(recipe):
    robot = linkwork.load(describe(recipe))
    q, v, a = random_state(robot.model, recipe.seed)
    own, of = TracedRobot(robot), partial(evaluate, robot.model)
    assert_close(own.gravity(q), of("gravity", q), scale=1.0)
    assert_close(own.bias(q, v), of("bias", q, v))
    assert_close(own.inverse_dynamics(q, v, a), of("inverse_dynamics", q, v, a))
    assert_close(own.inertia_matrix(q), of("inertia_matrix", q))
    assert_close(own.pose("tool", q), of("pose", q, frame="tool"))
    assert_close(own.jacobian("tool", q), of("jacobian", q, frame="tool"))


@pytest.mark.parametrize("name", ["panda", "quadruped", "gough-stewart"])
def test_traced_equations(name):
    robot = ROBOTS[name]
    own, (q, v) = TracedRobot(robot), state(robot)
    frame = robot.frame_names[-1]

    def function(q, v):
        return {"b": own.bias(q, v), "J": own.jacobian(frame, q), "T": own.pose(frame, q), "g": own.gravity(q)}

    program = optimize(trace("f", function, [Port("q", (robot.nq,)), Port("v", (robot.nv,))]))
    for traced, plain in zip(interpret(program, [q, v]), function(q, v).values(), strict=True):
        assert plain.dtype == float
        assert_close(traced, plain, scale=1.0)


def test_equations_refuse():
    own = TracedRobot(ROBOTS["panda"].model)
    with pytest.raises(ShapeError, match=r"gravity, input 'q': wrong shape\n  got: \(3,\)\n  expected: \(7,\)"):
        own.gravity([0, 0, 0])
    with pytest.raises(UnknownNameError, match="there is no frame 'hend'"):
        own.pose("hend", np.zeros(7))
    with pytest.raises(UnsupportedError, match=r"this is not a robot\n  got: 'panda'\n  fix: linkwork.load"):
        TracedRobot("panda")


# -- laws that are ready ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_pd(name):
    robot = ROBOTS[name]
    q, v = state(robot)
    point = point_near(robot, q)
    kp, kd = np.random.default_rng(1).uniform(1, 9, (2, len(point.q)))
    e, rate = errors(robot, q, v, point)
    assert_close(Law(PD(kp, kd), robot.model)(0.0, q, v, point), forced(robot, kp * e + kd * rate))
    assert_close(
        Law(PD(3, 2, limit=0.7), robot.model)(0.0, q, v, point), forced(robot, (3 * e + 2 * rate).clip(-0.7, 0.7))
    )


@pytest.mark.parametrize("name", ["panda", "four-bar", "gough-stewart", "redundant"])
def test_gravity_compensation_holds_the_robot(name):
    robot = ROBOTS[name]
    q, rest = state(robot)[0], np.zeros(robot.nv)
    n = len(motors(robot))
    tau = Law(PDGravity(5, 5), robot.model)(0.0, q, rest, Point(motor_positions(robot, q), np.zeros(n), np.zeros(n)))
    falling = evaluate(robot.model, "forward_dynamics", q, rest, np.zeros(len(tau)))
    assert_close(
        evaluate(robot.model, "forward_dynamics", q, rest, tau), rest, scale=np.abs(falling).max(), tolerance=1e-11
    )
    assert np.abs(falling).max() > 0.1


@pytest.mark.parametrize("name", ["quadruped", "panda-elastic"])
def test_gravity_compensation_of_the_motors_alone(name):
    robot = ROBOTS[name]
    q, v = state(robot)
    point = point_near(robot, q)
    e, rate = errors(robot, q, v, point)
    held = evaluate(robot.model, "gravity", q)[motors(robot)]
    assert_close(Law(PDGravity(5, 4), robot.model)(0.0, q, v, point), forced(robot, 5 * e + 4 * rate + held))


@given(recipes(joints=4))
@settings(max_examples=15)
def test_laws_of_random_robots(recipe):
    robot = linkwork.load(describe(dataclasses.replace(recipe, floating=False)))
    q, v, _ = random_state(robot.model, recipe.seed)
    point = point_near(robot, q)
    e, rate = point.q - q, point.v - v
    gravity = Law(PDGravity(5, 4), robot.model)(0.0, q, v, point)
    assert_close(gravity, 5 * e + 4 * rate + evaluate(robot.model, "gravity", q))
    torque = evaluate(robot.model, "inverse_dynamics", q, v, point.a + 5 * e + 4 * rate)
    assert_close(Law(ComputedTorque(5, 4), robot.model)(0.0, q, v, point), torque)


def check_error_decay(robot, seed=0):
    """e'' + kd e' + kp e = 0 of the motors, by forward dynamics."""
    q, v = state(robot, seed)
    point = point_near(robot, q, seed)
    kp, kd = np.random.default_rng(seed).uniform(1, 9, (2, len(point.q)))
    tau = Law(ComputedTorque(kp, kd), robot.model)(0.0, q, v, point)
    a = evaluate(robot.model, "forward_dynamics", q, v, tau)
    e, rate = errors(robot, q, v, point)
    second = point.a - evaluate(robot.model, "joint_accelerations", q, v, a)[motors(robot)]
    free = [robot.model.mobility.forced.index(k) for k in robot.model.mobility.free if k not in motors(robot)]
    assert not np.array(tau, float)[free].any()
    return second + kd * rate + kp * e


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "redundant"])
def test_computed_torque_makes_errors_decay(name):
    assert_close(check_error_decay(ROBOTS[name]), np.zeros(len(motors(ROBOTS[name]))), scale=1.0, tolerance=1e-9)


@given(recipes(joints=4, light=False))
@settings(max_examples=15)
def test_computed_torque_of_random_robots(recipe):
    robot = linkwork.load(half_driven(describe(recipe), recipe.seed))
    if motors(robot):
        assert_close(check_error_decay(robot), np.zeros(len(motors(robot))), scale=1.0, tolerance=1e-9)


@pytest.mark.parametrize("floating", [False, True])
def test_computed_torque_of_more_motors_than_freedoms(floating):
    """What they ask for together is met as far as it can be: exactly, if it is a motion of the robot."""
    robot = linkwork.load(mechanism(LoopRecipe(seed=2, planar=True, freedoms=2, motors="all", floating=floating)))
    q, v = state(robot)
    driven = [robot.model.mobility.independent.index(k) for k in robot.model.mobility.driven]
    assert len(motors(robot)) > len(driven) == 2
    a = np.random.default_rng(3).normal(size=robot.nv)
    point = Point(
        motor_positions(robot, q),
        evaluate(robot.model, "motor_jacobian", q) @ v,
        evaluate(robot.model, "joint_accelerations", q, v, a)[motors(robot)],
    )
    tau = Law(ComputedTorque(30, 20), robot.model)(0.0, q, v, point)
    assert_close(evaluate(robot.model, "forward_dynamics", q, v, tau)[driven], a[driven], tolerance=1e-10)


def test_against_the_compiled_functions():
    robot = ROBOTS["panda"]
    q, v = state(robot)
    reference = Quintic(np.zeros(7), np.ones(7), 2.0)
    point = reference(0.7)
    wanted = point.a + 100 * (point.q - q) + 20 * (point.v - v)
    tau = Law(ComputedTorque(100, 20), robot.model)(0.7, q, v, point)
    assert_close(tau, robot.inverse_dynamics(q, v, wanted))
    assert_close(robot.forward_dynamics(q, v, np.array(tau)), wanted, tolerance=1e-9)


@pytest.mark.parametrize("law", [PD(30, 5, limit=11.0), PDGravity(30, 5), ComputedTorque(30, 5, limit=40.0)])
@pytest.mark.parametrize("name", ["panda", "quadruped", "four-bar", "gough-stewart", "panda-elastic"])
def test_traced_as_evaluated(name, law):
    robot = ROBOTS[name]
    q, v = state(robot)
    goal = motor_positions(robot, q)
    reference, made = Quintic(goal - 0.3, goal + 0.2, 2.0), Law(law, robot.model)
    ports = [Port("t", ()), Port("q", q.shape), Port("v", v.shape)]
    program = optimize(trace("law", lambda t, q, v: {"tau": made(t, q, v, reference(t))}, ports))
    for t in (0.4, 5.0):
        (traced,) = interpret(program, [np.array(t), q, v])
        assert_close(traced, made(t, q, v, reference(t)))


# -- any function -----------------------------------------------------------------------------------------------------


PANDA = ROBOTS["panda"].model
STATE = [Port("t", ()), Port("q", (7,)), Port("v", (7,))]


def run(controller, t, q, v, reference=None, gains=None, model=PANDA):
    """Traced and as it is; both must agree."""
    law = Law(controller, model)
    plain = law(t, q, v, reference, gains)
    ports = [Port("t", ()), Port("q", q.shape), Port("v", v.shape)]
    program = optimize(trace("law", lambda t, q, v: {"tau": law(t, q, v, reference, gains)}, ports))
    assert_close(interpret(program, [np.array(t), q, v])[0], plain)
    return np.array(plain)


def test_ordinary_python():
    q, v = state(ROBOTS["panda"])

    def controller(t, q, v, reference):
        swing = np.sin(2 * t) * np.ones(7) + t * q
        return swing - q**3 + np.sqrt(1 + v @ v) * np.cos(q) - np.abs(v) / (1 + q**2) + np.float32(2) ** 2 * v * t

    assert_close(run(controller, 0.3, q, v), controller(0.3, q, v, None))


def test_own_function_with_the_robot_and_a_reference():
    robot = ROBOTS["panda"]
    own, (q, v) = TracedRobot(robot), state(robot)
    reference = Quintic(np.zeros(7), np.ones(7), 2.0)

    def controller(t, q, v, reference):
        force = 50 * (np.array([0.4, 0.0, 0.5]) - own.pose("panda_link8", q)[:3, 3])
        return own.gravity(q) + own.jacobian("panda_link8", q)[:3].T @ force + clip(9 * (reference.q - q), -1, 1)

    at = robot.pose("panda_link8", q)[:3, 3]
    expected = robot.gravity(q) + robot.jacobian("panda_link8", q)[:3].T @ (50 * (np.array([0.4, 0, 0.5]) - at))
    point = reference(0.4)
    assert_close(run(controller, 0.4, q, v, point), expected + np.clip(9 * (point.q - q), -1, 1))


def test_gains():
    q, v = state(ROBOTS["panda"])
    point = Point(np.ones(7), np.zeros(7), np.zeros(7))

    def controller(t, q, v, reference, *, kp, kd=2.0):
        return kp * (reference.q - q) - kd * v

    law = Law(controller, PANDA)
    assert law.gains == ("kp", "kd") and law.needed == ("kp",)
    kp = np.arange(7.0)
    assert_close(law(0.0, q, v, point, {"kp": kp}), kp * (1 - q) - 2 * v)
    assert_close(law(0.0, q, v, point, {"kp": kp, "kd": [3.0] * 7}), kp * (1 - q) - 3 * v)
    with pytest.raises(LinkworkError, match=r"gains are missing\n  got: kd\n  fix: gains=\{'kp': ...\}"):
        law(0.0, q, v, point, {"kd": 1.0})
    with pytest.raises(UnknownNameError, match=r"controller 'controller': there is no gain 'kq'"):
        law(0.0, q, v, point, {"kp": 1.0, "kq": 1.0})
    assert Law(partial(controller, kp=3.0), PANDA).needed == ()


@pytest.mark.parametrize("controller", [PD(1, 1), PDGravity(1, 1), ComputedTorque(1, 1, limit=3)])
def test_gains_of_ready_laws_as_inputs(controller):
    """Traced as inputs, they give what the same numbers give as constants."""
    q, v = state(ROBOTS["panda"])
    point = Point(np.ones(7), np.zeros(7), np.zeros(7))
    law = Law(controller, PANDA)
    assert law.gains == ("kp", "kd", "limit") and law.needed == ()
    ports = [Port("q", (7,)), Port("v", (7,)), Port("kp", (7,)), Port("kd", ()), Port("limit", ())]
    program = optimize(
        trace(
            "f", lambda q, v, kp, kd, limit: {"tau": law(0, q, v, point, {"kp": kp, "kd": kd, "limit": limit})}, ports
        )
    )
    kp = np.linspace(10, 40, 7)
    fixed = Law(type(controller)(kp, 4.0, limit=20.0), PANDA)(0, q, v, point)
    assert_close(interpret(program, [q, v, kp, np.array(4.0), np.array(20.0)])[0], fixed)
    with pytest.raises(ShapeError, match=r"kp needs one entry per motor"):
        law(0, q, v, point, {"kp": np.ones(3)})


def test_a_result_per_motor_is_filled_up():
    robot = ROBOTS["quadruped"]
    q, v = state(robot)
    assert run(lambda t, q, v, reference: -v[6:], 0.0, q, v, model=robot.model).tolist() == [0] * 6 + (-v[6:]).tolist()
    mixed = Law(lambda t, q, v, reference: [q[7], *np.ones(11, np.float32)], robot.model)
    program = trace("f", lambda q: {"tau": mixed(0.0, q, v)}, [Port("q", q.shape)])
    assert interpret(program, [q])[0].tolist() == [0] * 6 + [q[7]] + [1] * 11
    whole = run(lambda t, q, v, reference: -v, 0.0, q, v, model=robot.model)  # what no motor drives may be pushed, too
    assert whole.tolist() == (-v).tolist()
    crank = linkwork.load(four_bar())
    assert run(lambda t, q, v, reference: -v[0], 0.0, np.array(crank.home), np.ones(1), model=crank.model).tolist() == [
        -1
    ]


TRACEABLE = {  # NumPy's own functions, on traced arrays
    "np.clip": "return np.clip(q, -1, 1)",
    "np.maximum": "return np.maximum(q, 0)",
    "np.where": "return np.where(q > 0, q, v)",
    "of time": "return np.where(t > 0.5, q, v) * np.exp(-t)",
    "np.sign": "return np.sign(q)",
    "np.sinh": "return np.sinh(q)",
    "np.exp": "return np.exp(np.append(q[1:], 0))",  # plain numbers among traced ones
    "np.arctan2": "return np.arctan2(np.append(0, q[1:]), v)",
    "solve": "return np.linalg.solve(np.diag(np.arange(1.0, 8.0)), q)",
    "power": "return np.abs(q) ** 1.5",
    "entries": "return [x * x for x in q]",
}
UNTRACEABLE = {
    "branch": ("return q if q[0] > 0 else v", "cannot decide a branch"),
    "truth": ("return q if t else v", "cannot decide a branch"),
    "float": ("return [float(x) for x in q]", "not known while tracing"),
    "np.floor": ("return np.floor(q)", "np.floor cannot be traced"),
    "eigenvalues": ("return np.linalg.eigvals(np.diag(q))", "np.linalg.eigvals cannot be traced"),
    "filled": ("tau = np.zeros(7); tau[0] = q[0]; return tau", "np.stack"),
}


def written(text: str, **held):
    names = {"np": np} | held
    exec(f"def controller(t, q, v, reference):\n    {text}", names)
    return names["controller"]


@pytest.mark.parametrize("what", TRACEABLE)
def test_numpy_inside_a_controller(what):
    law = Law(written(TRACEABLE[what]), PANDA)
    program = trace("f", lambda t, q, v: {"tau": law(t, q, v)}, STATE)
    for t in (0.2, 0.8):
        q, v = np.random.default_rng(1).normal(size=(2, 7))
        assert_close(interpret(program, [np.array(t), q, v])[0], law(t, q, v))


@pytest.mark.parametrize("what", UNTRACEABLE)
def test_what_cannot_be_traced(what):
    text, reason = UNTRACEABLE[what]
    law = Law(written(text), PANDA)
    with pytest.raises(UnsupportedError) as caught:
        trace("f", lambda t, q, v: {"tau": law(t, q, v)}, STATE)
    for part in ("controller 'controller': this function cannot be traced", "line 2", "np.where(condition, a, b)"):
        assert part in str(caught.value)
    assert caught.match(reason)


CHANGING = {
    "np.random": "return q + np.random.normal(size=7)",
    "a choice of two": "return q * (1 if np.random.random() < 0.5 else 0)",  # perhaps the same twice
    "random": "return q * (1 if random.random() < 0.5 else 0)",
    "a generator": "return q + rng.normal(size=7)",
    "a clock": "return q * time.perf_counter()",
    "a counter": "return q * next(counter)",
    "a memory": "memory.append(q); return sum(memory)",
}


@pytest.mark.parametrize("what", CHANGING)
def test_what_changes_from_call_to_call_is_not_frozen(what):
    held = {"rng": np.random.default_rng(0), "counter": count(), "memory": [], "random": random, "time": time}
    law = Law(written(CHANGING[what], **held), PANDA)
    with pytest.raises(UnsupportedError, match=r"controller 'controller': the result changes(.|\n)*wrenches=\{frame"):
        trace("f", lambda t, q, v: {"tau": law(t, q, v)}, STATE)


def test_an_error_of_the_controller_itself_stays_as_it_is():
    with pytest.raises(TypeError, match="unsupported operand"):
        Law(written("return q + None"), PANDA)(0.0, np.zeros(7), np.zeros(7))
    with pytest.raises(ZeroDivisionError):
        trace("f", lambda t, q, v: {"tau": Law(written("return q * (1 // 0)"), PANDA)(t, q, v)}, STATE)


RESULTS = {
    "nothing": (
        "pass",
        ShapeError,
        r"tau has the wrong number of entries\n  got: None\n  expected: 7 forces, one per motor: panda",
    ),
    "too few": ("return q[:3]", ShapeError, r"got: shape \(3,\)"),
    "a column": ("return q[:, None]", ShapeError, r"got: shape \(7, 1\)"),
    "one number": ("return t", ShapeError, r"got: one traced number"),
    "a word": ("return 'none'", ShapeError, r"got: 'none'"),
    "words": ("return ['a'] * 7", ShapeError, r"entry 0: tau is not a number\n  got: 'a'"),
    "ragged": ("return [[1], [1, 2]]", ShapeError, "tau is not a vector"),
    "nan": ("return [0, np.nan, 0, 0, 0, 0, 0]", LinkworkError, r"entry 1: tau is not finite\n  got: nan"),
}


@pytest.mark.parametrize("what", RESULTS)
def test_results_that_are_refused(what):
    text, kind, message = RESULTS[what]
    with pytest.raises(kind, match=message):
        trace("f", lambda t, q, v: {"tau": Law(written(text), PANDA)(t, q, v)}, STATE)


def test_what_is_no_controller():
    with pytest.raises(LinkworkError, match=r"not a controller\n  got: 'PD'\n  expected: controller\(t, q, v"):
        Law("PD", PANDA)
    with pytest.raises(LinkworkError, match=r"controller 'PD': the controller is a class\n  fix: pass an instance"):
        Law(PD, PANDA)
    for wrong in (lambda q, v: v, lambda t, q, v, reference, more: v):
        with pytest.raises(LinkworkError, match=r"the controller has wrong arguments\n  got: <lambda>\("):
            Law(wrong, PANDA)
    assert Law(lambda *state: state[2], PANDA)(0.0, np.zeros(7), np.ones(7)) == [1.0] * 7


def test_what_ready_laws_refuse():
    zero = np.zeros(7)
    with pytest.raises(LinkworkError, match=r"PD needs a reference\n  fix: .*linkwork.control.Quintic"):
        Law(PD(1, 1), PANDA)(0.0, zero, zero)
    with pytest.raises(
        ShapeError, match=r"reference.q needs one entry per motor\n  got: \(3,\)\n  expected: \(7,\): panda"
    ):
        Law(PD(1, 1), PANDA)(0.0, zero, zero, Point(np.zeros(3), zero, zero))
    with pytest.raises(ShapeError, match=r"a reference returns q, v and a\n  got: ndarray"):
        Law(PD(1, 1), PANDA)(0.0, zero, zero, zero)
    with pytest.raises(ShapeError, match=r"PD of robot 'panda': kp needs one entry per motor\n  got: \(2,\)"):
        Law(PD([1, 1], 1), PANDA)
    for wrong, message in (
        ({"kp": -1}, r"PD.kp: out of range\n  got: -1"),
        ({"kp": np.inf}, "PD.kp: out of range"),
        ({"kd": np.nan}, "PD.kd: out of range"),
        ({"limit": [1, -1]}, "PD.limit: out of range"),
        ({"kp": "high"}, "PD.kp: not a number"),
        ({"kp": np.eye(7)}, "PD.kp: wrong shape"),
    ):
        with pytest.raises(LinkworkError, match=message):
            PD(**({"kp": 1, "kd": 1} | wrong))
    loose = linkwork.load(mechanism(LoopRecipe(seed=3, planar=True, freedoms=3, motors="some", elastic=True)))
    q, v = state(loose)
    with pytest.raises(
        UnsupportedError, match=r"needs its motors at the independent joints.*\n  got: motors .*; free: to_trunk1"
    ):
        Law(ComputedTorque(1, 1), loose.model)(0.0, q, v, point_near(loose, q))
    passive = describe(Recipe(joints=2))
    passive = dataclasses.replace(passive, joints=tuple(dataclasses.replace(j, role="passive") for j in passive.joints))
    with pytest.raises(UnsupportedError, match="PD needs motors"):
        Law(PD(1, 1), linkwork.load(passive).model)


def test_controllers_travel_between_processes():
    law = pickle.loads(pickle.dumps(ComputedTorque(3, [1.0] * 7, limit=9)))
    assert law.kp == 3 and law.kd.tolist() == [1] * 7 and law.limit == 9


def test_random_numbers_of_other_threads_are_not_the_controllers(monkeypatch):
    """Libraries draw in the background; a controller that does not is taken."""
    robot = linkwork.load("planar2r")
    law = importlib.import_module("linkwork.compose.user_code")
    states = iter(range(10**6))
    monkeypatch.setattr(law, "_random_state", lambda: (next(states),))
    motion = robot.simulate(duration=0.01, torque=lambda t, q, v, reference: -q)
    assert np.isfinite(motion.q).all()
