"""Functions of one's own and several quantities at once: against the public quantities, and what is refused."""

import numpy as np
import pytest

import linkwork
from linkwork import rotations
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.formulations import QUANTITIES

PANDA = linkwork.load("panda")
HAND = "panda_link8"
RNG = np.random.default_rng(5)
ROBOTS = ["panda", "quadruped", "four-bar", "gough-stewart", "quadrotor-with-arm", "flexible-two-link", "car", "biped"]


def close(a, b, tolerance=1e-12):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and np.allclose(a, b, rtol=0, atol=tolerance * (1 + np.abs(b).max(initial=0)))


def frame_of(robot):
    return list(robot.model.frames)[-1]


def state(robot, count=5):
    """Positions where the loops are closed, and inputs of every kind, by name."""
    q = robot.coordinates.random(RNG, count) if not robot.model.constrained else np.tile(robot.model.home, (count, 1))
    return q, None


# -- several quantities ------------------------------------------------------------------------------------------------


def inputs_of(function, q):
    """Random values of each input but q."""
    shapes = {port.name: port.shape for port in function.program.inputs}
    return {name: q if name == "q" else RNG.normal(size=(len(q), *shape)) for name, shape in shapes.items()}


@pytest.mark.parametrize("name", ROBOTS)
def test_several_quantities_are_those_alone(name):
    robot = linkwork.load(name)
    q, _ = state(robot)
    chosen = ["inertia_matrix", "bias", "gravity", "kinetic_energy", "potential_energy", "center_of_mass", "momentum"]
    chosen += [f"pose:{frame_of(robot)}", f"jacobian:{frame_of(robot)}", "inverse_dynamics"]
    together = robot.compile(chosen)
    values = inputs_of(together, q)
    results = together(**values)
    for text in chosen:
        quantity, _, frame = text.partition(":")
        alone = robot.compile(quantity, frame=frame or None)
        expected = alone(*(values[port.name] for port in alone.program.inputs))
        assert close(getattr(results, quantity), expected), quantity
    assert together.operations.sincos <= sum(robot.compile(text).operations.sincos for text in chosen)


def test_common_work_is_done_once():
    names = ["inertia_matrix", "bias", "gravity", f"pose:{HAND}", f"jacobian:{HAND}"]
    together, apart = PANDA.compile(names), [PANDA.compile(name) for name in names]
    assert together.operations.sincos == 7 < sum(each.operations.sincos for each in apart) == 31
    assert together.operations.instructions < 0.9 * sum(each.operations.instructions for each in apart)


def test_names_of_outputs():
    assert PANDA.compile(["bias", "gravity"])._result._fields == ("bias", "gravity")
    poses = PANDA.compile(["pose:panda_link3", f"pose:{HAND}"])
    assert poses._result._fields == ("pose_panda_link3", f"pose_{HAND}")
    named = PANDA.compile({"M": "inertia_matrix", "T": f"pose:{HAND}"})
    assert named._result._fields == ("M", "T") and "pose of a frame" in named.__doc__
    slopes = PANDA.compile(["forward_dynamics_derivatives", "gravity"])
    assert slopes._result._fields[:2] == ("forward_dynamics_derivatives_a", "forward_dynamics_derivatives_da_dq")
    assert [port.name for port in slopes.program.inputs] == ["q", "v", "tau"]
    one = PANDA.compile(["bias"])
    q, v = RNG.normal(size=(2, 7))
    assert close(one(q, v), PANDA.bias(q, v), 1e-14)
    assert close(PANDA.compile(f"pose:{HAND}")(q), PANDA.pose(HAND, q), 1e-15)


def test_options_of_several_quantities():
    q, v, a = RNG.normal(size=(3, 4, 7))
    wrench = RNG.normal(size=(4, 6))
    f = PANDA.compile(["inverse_dynamics", "inertia_matrix"], wrenches=[HAND], dtype="float32")
    assert f.dtype == "float32"
    expected = PANDA.inverse_dynamics(q, v, a, wrenches={HAND: wrench})
    assert close(f(q, v, a, wrenches={HAND: wrench}).inverse_dynamics, expected, 1e-5)
    p = PANDA.compile(["bias", "inertia_matrix"], inputs=["parameters", f"payload:{HAND}"])
    assert [port.name for port in p.program.inputs] == ["q", "v", "parameters", f"payload_{HAND}"]
    load = np.array([1.5, 0.01, 0.02, 0.1, 0.01, 0, 0, 0.02, 0, 0.03])
    nominal = np.array(PANDA.parameters)
    expected = PANDA.compile("bias", inputs=[f"payload:{HAND}"])(q, v, load)
    assert close(p(q, v, nominal, load).bias, expected) and p.off_line_operations.mul
    by = PANDA.compile(["bias", "inertia_matrix"], method={"bias": "newton-euler"})
    assert "bias: newton-euler" in by.label.method
    local = PANDA.compile([f"jacobian:{HAND}", "gravity"], axes="local")
    assert close(local(q).jacobian, PANDA.jacobian(HAND, q, axes="local"))


@pytest.mark.parametrize("name", ["puma560", "stanford", "gough-stewart", "quadruped"])
def test_a_quantity_takes_as_few_instructions_in_a_list_or_a_function(name):
    """Methods are chosen by their optimised programs there, too."""
    robot = linkwork.load(name)
    for quantity in ("inertia_matrix", "bias", "inverse_dynamics"):
        alone = robot.compile(quantity)
        names = ", ".join(port.name for port in alone.program.inputs)
        own = robot.function(eval(f"lambda robot, {names}: robot.{quantity}({names})"))
        assert alone.operations == own.operations == robot.compile([quantity]).operations


MISTAKES = {
    "unknown quantity": (lambda: PANDA.compile(["bias", "biass"]), UnknownNameError, "did you mean 'bias'"),
    "unknown frame": (lambda: PANDA.compile(["pose:hand", "bias"]), UnknownNameError, "no frame 'hand'"),
    "no frame": (lambda: PANDA.compile(["pose", "bias"]), LinkworkError, "pose needs a frame"),
    "nothing": (lambda: PANDA.compile([]), LinkworkError, "no quantity to compile"),
    "not a name": (lambda: PANDA.compile(["bias", 3]), UnsupportedError, "a quantity is a name"),
    "common method": (lambda: PANDA.compile(["bias", "gravity"], method="rnea"), UnsupportedError, "no common method"),
    "method of another": (lambda: PANDA.compile(["bias"], method={"gravity": "x"}), UnknownNameError, "gravity"),
    "twice": (lambda: PANDA.compile(["bias", "bias"]), LinkworkError, "the same name"),
    "bad output": (lambda: PANDA.compile({"a b": "bias"}), LinkworkError, "cannot be the name of an output"),
    "reserved": (lambda: PANDA.compile({"out": "bias"}), LinkworkError, "cannot be the name of an output"),
    "wrenches": (
        lambda: PANDA.compile(["gravity", "inertia_matrix"], wrenches=[HAND]),
        LinkworkError,
        "takes wrenches",
    ),
    "dtype": (lambda: PANDA.compile(["bias", "gravity"], dtype="float16"), UnknownNameError, "float16"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_with_several(what):
    wrong, kind, message = MISTAKES[what]
    with pytest.raises(kind, match=message):
        wrong()


# -- a function of one's own -------------------------------------------------------------------------------------------


def impedance(robot, q, v, target, stiffness):
    T, J = robot.pose(HAND, q), robot.jacobian(HAND, q)
    error = linkwork.pose_error(target, T)
    return {"tau": robot.bias(q, v) + J.T @ (stiffness * error), "error": error}


IMPEDANCE = PANDA.function(impedance, target=(4, 4), stiffness=linkwork.Input((6,), "N/m, N m/rad", "of the hand"))


def impedance_states(count=50):
    q, v = RNG.normal(size=(2, count, 7))
    return q, v, PANDA.pose(HAND, RNG.normal(size=(count, 7))), np.array([100, 100, 100, 10, 10, 10.0])


def test_an_impedance_controller():
    q, v, target, stiffness = impedance_states()
    tau, error = IMPEDANCE(q, v, target, stiffness)
    expected = rotations.pose_error(target, PANDA.pose(HAND, q))
    torque = PANDA.bias(q, v) + np.einsum("bij,bi->bj", PANDA.jacobian(HAND, q), stiffness * expected)
    assert close(error, expected, 1e-14) and close(tau, torque, 1e-14)
    assert "of the hand, N/m, N m/rad" in IMPEDANCE.__doc__ and "impedance of panda" in repr(IMPEDANCE)
    assert IMPEDANCE.signature == "q(7), v(7), target(4,4), stiffness(6) -> tau(7), error(6)"


def test_everything_a_function_has(tmp_path):
    states = impedance_states()
    expected = IMPEDANCE(*states)
    outs = tuple(np.empty_like(x) for x in expected)
    IMPEDANCE(*states, out=outs)
    assert all(np.array_equal(a, b) for a, b in zip(outs, expected))
    again = IMPEDANCE(*states, threads=2)
    assert all(np.array_equal(a, b) for a, b in zip(again, expected))
    one = IMPEDANCE(*(x[3] if np.ndim(x) > 1 else x for x in states))
    assert all(np.array_equal(a, b[3]) for a, b in zip(one, expected))
    IMPEDANCE.save(tmp_path / "f.json")
    loaded = linkwork.Function.load(tmp_path / "f.json")
    assert all(np.array_equal(a, b) for a, b in zip(loaded(*states), expected))
    slow = PANDA.function(impedance, target=(4, 4), stiffness=6, backend="interpreter")
    assert all(close(a, b) for a, b in zip(slow(*states), expected))
    single = PANDA.function(impedance, target=(4, 4), stiffness=6, dtype="float32")
    assert single(*states).tau.dtype == np.float32 and close(single(*states).tau, expected.tau, 1e-5)
    names = {}
    exec(IMPEDANCE.to_numpy(), names)
    assert all(close(a, b) for a, b in zip(names["panda_impedance"](*states), expected))
    dm = IMPEDANCE.to_casadi()(*(x[0] if np.ndim(x) > 1 else x for x in states))
    assert all(close(np.array(a).ravel(), b[0]) for a, b in zip(dm, expected))
    as_dict = IMPEDANCE({name: 0.1 for name in PANDA.joint_names}, np.zeros(7), np.eye(4), np.ones(6))
    assert set(as_dict.tau) == set(PANDA.joint_names)


def test_derivatives_of_ones_own():
    q, v, target, stiffness = (x[0] if np.ndim(x) > 1 else x for x in impedance_states())
    slopes = IMPEDANCE.derivative(["q", "v", "stiffness"])(q, v, target, stiffness)
    h = 1e-6

    def differences(k, x):
        args = [q, v, target, stiffness]
        columns = []
        for unit in np.eye(len(x)):
            ends = []
            for sign in (1, -1):
                args[k] = x + sign * h * unit
                ends.append(IMPEDANCE(*args).tau)
            columns.append((ends[0] - ends[1]) / (2 * h))
        return np.stack(columns, axis=-1)

    for k, name, x in ((0, "q", q), (1, "v", v), (3, "stiffness", stiffness)):
        assert close(getattr(slopes, f"dtau_d{name}"), differences(k, x), 1e-8)
    assert IMPEDANCE.hessian and IMPEDANCE.vjp


@pytest.mark.parametrize("name", ROBOTS)
def test_own_functions_of_every_kind_of_robot(name):
    robot = linkwork.load(name)
    frame, q = frame_of(robot), state(robot)[0]

    def energy_and_more(robot, q, v, a):
        M, J = robot.inertia_matrix(q), robot.jacobian(frame, q)
        half = 0.5 * v @ M @ v
        tau = robot.inverse_dynamics(q, v, a)
        return {"T": half, "speed": np.linalg.norm((J @ v)[:3]), "power": np.where(half > 1, half, 2 * tau[0])}

    f = robot.function(energy_and_more)
    v, a = RNG.normal(size=(2, len(q), robot.nv))
    T, speed, power = f(q, v, a)
    M, J = robot.inertia_matrix(q), robot.jacobian(frame, q)
    half = 0.5 * np.einsum("bi,bij,bj->b", v, M, v)
    assert close(T, half) and close(speed, np.linalg.norm(np.einsum("bij,bj->bi", J, v)[:, :3], axis=1))
    assert close(power, np.where(half > 1, half, 2 * robot.inverse_dynamics(q, v, a)[:, 0]))


def test_derivatives_are_along_the_tangent_of_q():
    robot = linkwork.load("quadruped")
    frame, q = frame_of(robot), state(robot, 1)[0][0]

    def place(robot, q):
        return robot.pose(frame, q)[:3, 3]

    J = robot.function(place).derivative("q")(q)
    assert close(J, robot.jacobian(frame, q)[:3])


def test_functions_of_other_shapes():
    def many(robot, q, tau, gain=2.0, *, scale):
        solved = np.linalg.solve(robot.inertia_matrix(q), tau - robot.gravity(q))
        return {"a": gain * scale * solved, "both": np.stack([q, tau]), "last": q[-1], "one": 3.0}

    f = PANDA.function(many, scale=())
    q, tau = RNG.normal(size=(2, 6, 7))
    r = f(q, tau, 0.5)
    expected = np.linalg.solve(PANDA.inertia_matrix(q), (tau - PANDA.gravity(q))[..., None])[..., 0]
    assert close(r.a, expected, 1e-10) and close(r.both[:, 1], tau) and close(r.last, q[:, -1]) and (r.one == 3).all()
    assert f.signature.startswith("q(7), tau(7), scale() ->")
    assert PANDA.function(many, scale=(), gain=()).signature.startswith("q(7), tau(7), gain(), scale() ->")
    constant = PANDA.function(lambda robot, q: [1.0, 2.0], name="fixed")
    assert constant(np.zeros(7)).tolist() == [1, 2] and constant.__name__ == "fixed"


def test_a_function_over_wrenches_and_regressors():
    def f(robot, q, v, a, w):
        pushed = robot.inverse_dynamics(q, v, a, wrenches={HAND: w})
        return {"tau": pushed, "Y": robot.regressor(q, v, a), "local": robot.jacobian(HAND, q, axes="local")}

    q, v, a = RNG.normal(size=(3, 7))
    w = RNG.normal(size=6)
    r = PANDA.function(f, w=(6,))(q, v, a, w)
    assert close(r.tau, PANDA.inverse_dynamics(q, v, a, wrenches={HAND: w})) and close(r.Y, PANDA.regressor(q, v, a))
    assert close(r.local, PANDA.jacobian(HAND, q, axes="local"))


def test_quantities_of_numbers_inside_a_traced_robot():
    arm = linkwork.TracedRobot(PANDA)
    q, v = RNG.normal(size=(2, 7))
    assert close(arm.bias(q, v), PANDA.bias(q, v)) and close(arm.pose(HAND, q), PANDA.pose(HAND, q))
    slopes = arm.inverse_dynamics_derivatives(q, v, 0 * v)
    assert close(slopes.M, PANDA.inertia_matrix(q)) and set(QUANTITIES) <= set(dir(arm))
    with pytest.raises(AttributeError, match="has no attribute 'biass'"):
        arm.biass(q, v)
    with pytest.raises(ShapeError, match="wrong shape"):
        arm.bias(q[:3], v)
    with pytest.raises(ShapeError, match="bias needs v"):
        arm.bias(q)


counter = iter(range(10**9))
REFUSED = {
    "branch": (lambda robot, q: q if q[0] > 0 else -q, "line .*if q\\[0\\] > 0"),
    "random": (lambda robot, q: q + np.random.normal(size=7), "changes from call to call"),
    "counter": (lambda robot, q: q + next(counter), "changes from call to call"),
    "changing keys": (lambda robot, q: {f"y{next(counter)}": q}, "changes from call to call"),
    "tuple": (lambda robot, q: (q, q), "return one array, or a dict"),
    "nothing": (lambda robot, q: None, "the result is not an array"),
    "empty dict": (lambda robot, q: {}, "an empty dict"),
    "ragged": (lambda robot, q: {"y": [[q[0]], [q[0], q[1]]]}, "not a rectangular array|not an array of numbers"),
    "text": (lambda robot, q: {"y": "a"}, "not an array of numbers"),
    "bad name": (lambda robot, q: {"my result": q}, "cannot be the name of an output"),
    "number as name": (lambda robot, q: {1: q}, "an output has a name"),
    "no shape": (lambda robot, q, target: q, "the argument 'target' has no shape"),
    "stars": (lambda robot, *args: args[0], "arguments of a compiled function have names"),
    "unknown frame": (lambda robot, q: robot.pose("hand", q), "no frame 'hand'"),
    "no frame": (lambda robot, q: robot.pose(q), r"pose needs a frame\n  got: <TracedArray of shape \(7,\)>\n  fix: "),
    "unknown quantity": (lambda robot, q: robot.mass_matrix(q), "has no attribute 'mass_matrix'"),
    "wrong shape": (lambda robot, q: robot.gravity(q[:3]), "wrong shape"),
    "filled": (lambda robot, q: np.zeros(7).__setitem__(0, q[0]), "np.stack"),
    "no robot": (lambda: 1, "no first argument"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_compiled_is_refused(what):
    function, message = REFUSED[what]
    with pytest.raises(LinkworkError, match=message):
        PANDA.function(function)


def test_mistakes_in_the_call():
    with pytest.raises(UnknownNameError, match="no argument 'goal'"):
        PANDA.function(impedance, target=(4, 4), stiffness=6, goal=(3,))
    with pytest.raises(ShapeError, match="this is not a shape"):
        PANDA.function(impedance, target=np.eye(4), stiffness=6)
    with pytest.raises(UnsupportedError, match="this is not a function"):
        PANDA.function("bias")
    with pytest.raises(UnsupportedError, match=r"compiled already\n.*\n  fix: give the Python function"):
        PANDA.function(IMPEDANCE)
    with pytest.raises(UnsupportedError, match="compiled already"):
        PANDA.rollout(np.zeros(7), np.zeros(7), steps=1, outputs=[IMPEDANCE])
    with pytest.raises(LinkworkError, match=r"jacobian needs a frame\n  got: array.*\n  fix: robot.jacobian"):
        PANDA.jacobian(np.zeros(7))
    with pytest.raises(ShapeError, match="wrong shape"):
        IMPEDANCE(np.zeros(7), np.zeros(7), np.eye(3), np.ones(6))


def test_closures_are_compiled_in_as_they_are():
    gain = np.ones(7)
    f = PANDA.function(lambda robot, q: gain * q, name="f")
    gain[:] = 5
    assert close(f(np.arange(7.0)), np.arange(7.0))
    assert close(PANDA.function(lambda robot, q: gain * q, name="f")(np.arange(7.0)), 5 * np.arange(7.0))


@pytest.mark.parametrize(
    ("function", "at", "slopes"),
    [
        (lambda robot, x: np.where(x > 0.1, np.log(x), x), [0.0, 0.0, 1.0], [1, 1, 1]),
        (lambda robot, x: np.where(x > 0.1, np.sqrt(x), x * x), [-1.0, -2.0, 4.0], [-2, -4, 0.25]),
        (lambda robot, x: np.where(x > 0, np.sin(x) / x, 1 + x), [0.0, 0.0, -1.0], [1, 1, 1]),
    ],
)
def test_the_branch_not_taken_does_not_spoil_derivatives(function, at, slopes):
    f = PANDA.function(function, x=3, name="f")
    at = np.array(at)
    with np.errstate(all="ignore"):  # of the branch not taken
        assert np.allclose(f.vjp("x")(at, np.ones(3)), slopes)
        assert np.allclose(np.diagonal(f.derivative("x")(at)), slopes)
        assert np.allclose(f.jvp("x")(at, np.ones(3)), slopes)
        assert np.isfinite(f.hvp("x")(at, np.ones(3), np.ones(3))).all()


IDENTITY = {
    "asarray": lambda robot, q: np.asarray(q) == 1,
    "array of lists": lambda robot, q: np.array([q, q]) == 1,
    "array_equal": lambda robot, q: q * np.array_equal(q, np.ones(7)),
    "isin": lambda robot, q: np.isin(q, [1]),
    "in": lambda robot, q: q if 0 in q else -q,
    "nan_to_num": lambda robot, q: np.nan_to_num(q),
    "pinv with rcond": lambda robot, q: np.linalg.pinv(np.diag(q), 1e-3),
    "wide qr": lambda robot, q: np.linalg.qr(np.stack([q, q]))[1],
    "det": lambda robot, q: np.linalg.det(np.stack([q, q])),
}


@pytest.mark.parametrize("what", IDENTITY)
def test_what_would_be_silently_wrong_is_refused(what):
    with pytest.raises(UnsupportedError, match="cannot be traced"):
        PANDA.function(IDENTITY[what])


def test_options_reach_every_quantity():
    assert (
        PANDA.compile(["regressor", "bias"]).program.outputs[0].shape
        == PANDA.compile("regressor").program.outputs[0].shape
    )
    with pytest.raises(UnknownNameError, match="quantity of methods="):
        PANDA.function(lambda robot, q, v: robot.bias(q, v), methods={"biass": "newton-euler"})
    with pytest.raises(UnknownNameError, match="there is no method of gravity 'xx'\n  expected: one of: auto, fastest"):
        PANDA.function(lambda robot, q: robot.gravity(q), methods={"gravity": "xx"})
    with pytest.raises(UnknownNameError, match="there is no method of gravity 'xx'"):
        PANDA.compile(["gravity", "bias"], method={"gravity": "xx"})
    assert PANDA.function(lambda robot, q: robot.gravity(q), methods={"gravity": "fastest"}).operations
    with pytest.raises(LinkworkError, match="the frame is given twice\n  got: 'pose:panda_link3' and frame=panda_hand"):
        PANDA.compile("pose:panda_link3", frame="panda_hand")
    with pytest.raises(LinkworkError, match='two outputs have the same name\n  got: bias\n  fix: give "bias" once'):
        PANDA.compile(["bias", "bias"])
    with pytest.raises(ShapeError, match="needs commands"):
        PANDA.function(lambda robot, q, commands: q * commands, commands=(), name="f")(np.ones(7))
    for refused in (
        lambda: PANDA.function(lambda robot, q, parameters: q, parameters=()),
        lambda: PANDA.function(lambda robot, q, function: q, function=()),
        lambda: PANDA.function(lambda robot, q, self: q, self=()),
    ):
        with pytest.raises(LinkworkError, match="cannot have this name"):
            refused()


def test_nan_is_a_constant():
    f = PANDA.function(lambda robot, q: np.where(q > 0, q, np.nan), name="f")
    assert np.isnan(f(-np.ones(7))).all() and (f(np.ones(7)) == 1).all()
    names = {}
    exec(f.to_numpy(), names)
    assert np.isnan(names["panda_f"](-np.ones(7))).all()


def test_inputs_may_be_changed_in_place():
    def f(robot, q):
        q += 1
        return q

    assert (PANDA.function(f)(np.zeros(7)) == 1).all()
