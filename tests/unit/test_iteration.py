"""Loops inside functions of one's own: against Python's loops, closed forms and complex steps, and what is refused."""

from collections import namedtuple

import numpy as np
import pytest

import linkwork
from linkwork import find_root, pose_error, repeat
from linkwork.derive import hessian, hvp, jacobian, jvp, vjp
from linkwork.errors import LinkworkError, ShapeError, UnsupportedError
from linkwork.function import Function
from linkwork.program import Program, count, interpret, optimize

ARM, PANDA = linkwork.load("planar2r"), linkwork.load("panda")
RNG = np.random.default_rng(3)


def made(function, **options):
    """A function of the inputs a and b, two numbers each."""
    return ARM.function(function, a=2, b=2, **options)


def spiral(robot, a, b):
    """Nested loops, with what they need from outside: of the arguments, of the robot, and of both loops."""
    M = 0.02 * robot.inertia_matrix(a)

    def outer(values):
        x, y = values["x"], values["y"]
        inner = repeat(lambda z: 0.5 * z * np.cos(x) + b * y, x + a, 3)
        return {"x": np.sin(M @ x) + b * a[0], "y": y * 0.5 + inner @ b}

    return repeat(outer, {"x": a * 0.1, "y": 0.3}, 4)


def by_hand(a, b):
    M = 0.02 * ARM.inertia_matrix(a)
    x, y = a * 0.1, 0.3
    for _ in range(4):
        z = x + a
        for _ in range(3):
            z = 0.5 * z * np.cos(x) + b * y
        x, y = np.sin(M @ x) + b * a[0], y * 0.5 + z @ b
    return x, y


def test_a_loop_is_what_python_makes_of_it():
    f = made(spiral)
    a, b = RNG.normal(size=(2, 5, 2))
    got = f(a, b)
    for k in range(5):
        x, y = by_hand(a[k], b[k])
        np.testing.assert_allclose(got.x[k], x, rtol=0, atol=1e-14)
        np.testing.assert_allclose(got.y[k], y, rtol=0, atol=1e-14)
    (loop,) = f.program.loops
    assert len(loop.body.loops) == 1


def test_what_a_body_needs_from_outside_is_computed_once():
    f = made(spiral)
    assert f.operations.sincos == 1  # of the inertia matrix
    ((turns, turn),) = f.operations.loops
    assert (turns, turn.sincos) == (4, 4) and turn.loops[0][0] == 3  # sin of two numbers, cos of two others
    body = turn.instructions - 3 * turn.loops[0][1].instructions
    assert f.operations.instructions == f.program.work
    assert 0 < body < turn.instructions < f.operations.instructions
    assert "; up to 4 turns of (" in str(f.operations) and "; up to 3 turns of (" in str(f.operations)
    assert f.operations.to_dict()["loops"][0]["turns"] == 4 and "loops" not in ARM.gravity.operations.to_dict()


def test_structures():
    Pair = namedtuple("Pair", "p q")
    seen = []

    def body(values):
        seen.append(values)
        pair, [matrix, number] = values
        return Pair(pair.p + pair.q, 2 * pair.q), [matrix.T + number, number + 1]

    def function(robot, a, b):
        pair, [matrix, number] = repeat(body, (Pair(a, b), [np.outer(a, b), 0]), 3)
        return {"p": pair.p, "q": pair.q, "matrix": matrix, "number": number}

    a, b = RNG.normal(size=(2, 2))
    got = made(function)(a, b)
    assert seen[-1][0].p.shape == (2,) and seen[-1][1][0].shape == (2, 2) and seen[-1][1][1].shape == ()
    np.testing.assert_allclose(got.p, a + 7 * b, rtol=1e-15)
    np.testing.assert_allclose(got.matrix, np.outer(a, b).T + 3, rtol=1e-15)
    assert np.array_equal(got.q, 8 * b) and got.number == 3


def collatz(robot, a, b):
    """Turns until 1 is reached, all numbers exact."""

    def body(values):
        n, turns = values
        odd = np.sin(0.5 * np.pi * n) ** 2 > 0.5
        return np.where(odd, 3 * n + 1, 0.5 * n), turns + 1

    n, turns = repeat(body, (a[0], 0), 120, until=lambda values: values[0] <= 1)
    return {"n": n, "turns": turns, "other": n + b[0]}


def collatz_by_hand(n, most=120):
    turns = 0
    while turns < most and not n <= 1:
        n, turns = (3 * n + 1 if n % 2 else n // 2), turns + 1
    return n, turns


NUMBERS = [1, 2, 27, 3, 97, 0, 7, 6, 18, 54, 31, 41, 5, 16, 73, 2, 9]  # 27, 97, 31, 41, 54 and 73 take more than 100


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_state_stops_by_itself(backend, dtype):
    f = made(collatz, backend=backend, dtype=dtype)
    a = np.zeros((len(NUMBERS), 2))
    a[:, 0] = NUMBERS
    for size in (0, 1, 3, 8, 17):
        got = f(a[:size], np.ones(2))
        expected = np.array([collatz_by_hand(n) for n in NUMBERS[:size]]).reshape(size, 2)
        assert np.array_equal(got.n, expected[:, 0]) and np.array_equal(got.turns, expected[:, 1])
        assert np.array_equal(got.other, expected[:, 0] + 1)
    assert f([np.nan, 0], [0, 0]).turns == 120  # a condition that never holds: it ends after the last turn


def test_no_turn_at_all():
    f = made(lambda robot, a, b: repeat(lambda x: 1 / x, a, 50, until=lambda x: x[0] <= 5))
    assert np.array_equal(f([[5.0, 0], [4, 0]], [0, 0]), [[5, 0], [4, 0]])
    assert np.array_equal(made(lambda robot, a, b: repeat(lambda x: 1 / x, a, 0))([0.0, 1], [0, 0]), [0, 1])


def test_plain_numbers():
    x = repeat(lambda x: 0.5 * (x + 2 / x), 2.0, 60, until=lambda x: abs(x * x - 2) < 1e-12)
    assert isinstance(x, float) and abs(x * x - 2) < 1e-12
    start = np.ones(3)

    def body(values):
        values["x"] += 1  # in place: it must not change what was given
        return {"k": values["k"] + 1, "x": values["x"]}

    got = repeat(body, {"x": start, "k": 0}, 4)
    assert [*got] == ["x", "k"] and got["k"] == 4 and np.array_equal(got["x"], [5, 5, 5])
    assert np.array_equal(start, [1, 1, 1])
    root = find_root(lambda x: np.stack([x[0] * x[1] - 2, x[0] - x[1] - 1]), [1.0, 0.5])
    np.testing.assert_allclose(root.x, [2, 1], rtol=1e-14)
    assert root.solved == 1 and root.residual < 1e-12 and 0 < root.turns < 10


def test_constant_loops_leave_nothing():
    f = made(lambda robot, a, b: repeat(lambda x: 0.5 * (x + 2 / x), 2.0, 60) * a)
    assert not f.program.loops and f.operations.mul == 2


def test_arrays_of_the_function_around_make_a_loop_of_plain_starts():
    f = made(lambda robot, a, b: repeat(lambda x: x * a + b, np.zeros(2), 30))
    assert len(f.program.loops) == 1
    a, b = RNG.uniform(-0.5, 0.5, (2, 2))
    np.testing.assert_allclose(f(a, b), b * (1 - a**30) / (1 - a), rtol=1e-13)


# -- derivatives -------------------------------------------------------------------------------------------------------


def wild(robot, a, b):
    """A loop with a condition, used twice with other arguments, one of them the same for two values."""

    def until(x):
        return x[0] > 3

    once = repeat(lambda x: np.stack([x[0] + 0.3, x[1] * np.sin(x[0]) + b[0]]), a, 20, until=until)
    again = repeat(
        lambda x: np.stack([x[0] + 0.3, x[1] * np.sin(x[0]) + b[0]]), np.stack([a[0], a[0]]), 20, until=until
    )
    return {"y": once * b + again[::-1] * a, "z": once[:1]}


def cubic(robot, a, b):
    """The root of x^3 + a0 x = b, as a loop of plain turns that are made to the end; and by find_root."""
    found = find_root(lambda x: x**3 + (1 + a**2) * x - b, a)
    return {"y": found.x * a, "others": np.stack([found.solved, found.residual, found.turns])}


FUNCTIONS = {"nested": spiral, "condition": wild, "root": cubic}


def complex_step(program: Program, a, b, wrt, k):
    step = np.zeros(2, complex)
    step[k] = 1e-30j
    states = [a + step, b] if wrt == "a" else [a, b + step]
    return [y.imag / 1e-30 for y in interpret(program, states)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    program = made(FUNCTIONS[name]).program
    a, b = RNG.normal(size=(2, 4, 2))
    names = [port.name for port in program.outputs]
    for wrt in "ab":
        steps = [np.stack(parts, -1) for parts in zip(*(complex_step(program, a, b, wrt, k) for k in range(2)))]
        steps = [each.reshape(4, -1, 2) for each in steps]
        if name == "root":  # not of the turns: the number of steps and the guess have no part in it
            steps[1:] = [np.zeros_like(each) for each in steps[1:]]
        J = interpret(optimize(jacobian(program, [wrt], names)), [a, b])
        J = [each.reshape(4, -1, 2) for each in J]
        direction, weights = RNG.normal(size=(4, 2)), [RNG.normal(size=(4, *port.shape)) for port in program.outputs]
        along = interpret(jvp(program, [wrt], names), [a, b, direction])
        back = interpret(vjp(program, [wrt], names), [a, b, *weights])[0]
        bars = np.zeros((4, 2))
        for expected, got, slope, weight in zip(steps, J, along, weights, strict=True):
            slope, weight = slope.reshape(4, -1), weight.reshape(4, -1)
            tolerance = 1e-12 * (1 + np.abs(expected).max())
            np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)
            np.testing.assert_allclose(slope, np.einsum("bik,bk->bi", expected, direction), rtol=0, atol=tolerance)
            bars += np.einsum("bik,bi->bk", expected, weight)
        np.testing.assert_allclose(back, bars, rtol=0, atol=1e-12 * (1 + np.abs(bars).max()))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives(name):
    program = made(FUNCTIONS[name]).program
    of = [program.outputs[0].name]
    a, b = RNG.normal(size=(2, 4, 2))
    H = interpret(optimize(hessian(program, ["a", "b"], of)), [a, b])
    first = jacobian(program, ["a", "b"], of)
    for k in range(2):
        for wrt, block in zip("ab", H[:2], strict=True):  # of dy/da
            expected = complex_step(first, a, b, wrt, k)[0]
            np.testing.assert_allclose(block[..., k], expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))
    weight = RNG.normal(size=(4, *program.outputs[0].shape))
    direction = RNG.normal(size=(4, 2))
    got = interpret(hvp(program, ["a"], of), [a, b, weight, direction])[0]
    expected = np.einsum("bi,bijk,bk->bj", weight, H[0], direction)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))


def test_derivatives_of_a_root_in_closed_form():
    """x^2 = a: all derivatives of the square root, though the turns know the guess alone."""
    f = ARM.function(lambda robot, a: find_root(lambda x: x * x - a, 1.0).x, a=())
    a = np.array([0.5, 1, 2, 9.0])
    first, second = f.derivative("a"), f.hessian("a")
    third = Function(jacobian(second.program, ["a"], [second.program.outputs[0].name]), second.label)
    np.testing.assert_allclose(f(a), a**0.5, rtol=1e-15)
    np.testing.assert_allclose(first(a), 0.5 * a**-0.5, rtol=1e-14)
    np.testing.assert_allclose(second(a), -0.25 * a**-1.5, rtol=1e-13)
    np.testing.assert_allclose(third(a), 0.375 * a**-2.5, rtol=1e-12)


# -- roots -------------------------------------------------------------------------------------------------------------

HAND, BENT = "panda_link8", np.array([0, 0, 0, -1.6, 0, 1.6, 0])


def inverse_kinematics(robot, target, guess):
    return find_root(lambda q: pose_error(target, robot.pose(HAND, q)), guess)._asdict()


def test_inverse_kinematics():
    f = PANDA.function(inverse_kinematics, target=(4, 4), guess=(7,))
    q = BENT + RNG.uniform(-1.5, 1.5, (64, 7))
    target = PANDA.pose(HAND, q)
    found = f(target, q + RNG.uniform(-0.2, 0.2, q.shape))
    assert found.solved.all() and found.turns.max() < 20
    assert np.abs(PANDA.pose(HAND, found.x) - target).max() < 1e-11
    assert np.ptp(found.turns) > 0  # they do not stop together
    single = PANDA.function(inverse_kinematics, target=(4, 4), guess=(7,), backend="interpreter")(target[0], q[0] + 0.1)
    np.testing.assert_allclose(f(target[0], q[0] + 0.1).x, single.x, rtol=0, atol=1e-10)


def test_derivative_of_inverse_kinematics_closes_the_loop():
    """Along a motion of the target that q' makes, J dx = J q', and dx has no part in the null space of J."""
    f = PANDA.function(inverse_kinematics, target=(4, 4), guess=(7,))
    q = BENT + RNG.uniform(-1, 1, (5, 7))
    rate = RNG.normal(size=(5, 7))
    step = 1e-30j
    target_rate = np.imag(interpret(PANDA.compile("pose", frame=HAND).program, [q + step * rate])[0]) / 1e-30
    x = f(PANDA.pose(HAND, q), q).x
    dx = f.jvp(["target"], ["x"])(PANDA.pose(HAND, q), q, target_rate)
    J = PANDA.jacobian(HAND, x)
    np.testing.assert_allclose(np.einsum("bij,bj->bi", J, dx), np.einsum("bij,bj->bi", J, rate), rtol=0, atol=1e-10)
    null = np.eye(7) - np.linalg.pinv(J) @ J
    assert np.abs(np.einsum("bij,bj->bi", null, dx)).max() < 1e-9


def test_out_of_reach_and_not_a_number():
    f = PANDA.function(inverse_kinematics, target=(4, 4), guess=(7,))
    target = np.tile(np.eye(4), (3, 1, 1))
    target[0, :3, 3] = [3, 0, 0]  # metres
    target[1, 0, 0] = np.nan
    target[2] = PANDA.pose(HAND, np.full(7, 0.3))
    found = f(target, np.full(7, 0.25))
    assert found.solved.tolist() == [0, 0, 1]
    assert found.residual[0] > 1 and np.isfinite(found.x[0]).all() and found.turns[0] == 50
    assert np.isnan(found.residual[1]) and found.turns[1] == 0  # nothing to be gained from more


# -- mistakes ----------------------------------------------------------------------------------------------------------


def leak(robot, a, b):
    kept = []
    repeat(lambda x: kept.append(x) or x * a, b, 3)
    return kept[0]


def leak_into_another(robot, a, b):
    kept = []
    y = repeat(lambda x: kept.append(x) or x * a, b, 3)
    return repeat(lambda x: x + kept[0], y, 3)


def deep(x, k):
    return repeat(lambda y: deep(y, k + 1), x, 2) if k < 9 else x * x


MISTAKES = {
    "shape": (lambda robot, a, b: repeat(lambda x: x[0], a, 3), ShapeError, r"got: shape \(\)"),
    "key": (lambda robot, a, b: repeat(lambda v: {"y": v["x"]}, {"x": a}, 3), ShapeError, "as at the start"),
    "kind": (lambda robot, a, b: repeat(lambda v: [v[0], v[1]], (a, b), 3), ShapeError, "got: list"),
    "nothing returned": (lambda robot, a, b: repeat(lambda x: None, a, 3), LinkworkError, "the body returns other"),
    "branch": (lambda robot, a, b: repeat(lambda x: x if x[0] > 0 else -x, a, 3), UnsupportedError, "np.where"),
    "turns of a value": (lambda robot, a, b: repeat(lambda x: 2 * x, a, a[0]), UnsupportedError, "number of turns"),
    "part of a turn": (lambda robot, a, b: repeat(lambda x: 2 * x, a, 2.5), UnsupportedError, "2.5"),
    "negative": (lambda robot, a, b: repeat(lambda x: 2 * x, a, -1), UnsupportedError, "-1"),
    "truth": (lambda robot, a, b: repeat(lambda x: 2 * x, a, True), UnsupportedError, "True"),
    "too many": (lambda robot, a, b: repeat(lambda x: 2 * x, a, 10**7), UnsupportedError, "1000000"),
    "too long": (
        lambda robot, a, b: repeat(lambda x: np.sin(np.cos(a * np.sin(x) + b)) * x, a, 10**6),
        UnsupportedError, "takes too long",
    ),
    "wide condition": (lambda robot, a, b: repeat(lambda x: 2 * x, a, 3, until=lambda x: x > 1), ShapeError, "np.all"),
    "leak": (leak, LinkworkError, "outside of it"),
    "leak into another": (leak_into_another, LinkworkError, "outside of it"),
    "depth": (lambda robot, a, b: deep(a, 0), UnsupportedError, "inside each other"),
    "text": (lambda robot, a, b: repeat(lambda x: x, "a", 3) + a, LinkworkError, "not values of a loop"),
    "noise": (lambda robot, a, b: repeat(lambda x: x * RNG.normal(), a, 3), UnsupportedError, "changes from call"),
    "no residual": (lambda robot, a, b: find_root(lambda x: x[:0], a).x, ShapeError, "at least one number"),
    "long residual": (
        lambda robot, a, b: find_root(lambda x: np.concatenate([x, x]), a).x, ShapeError, "at most 2",
    ),
    "no steps": (lambda robot, a, b: find_root(lambda x: x, a, turns=0).x, UnsupportedError, "whole number"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    function, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        made(function)


def test_what_has_no_loops_says_so(tmp_path):
    f = made(spiral)
    for refused in (f.symbolic, f.to_casadi, lambda: f.export("latex", tmp_path)):
        with pytest.raises(UnsupportedError, match="loops"):
            refused()


# -- files -------------------------------------------------------------------------------------------------------------


def test_save_and_load(tmp_path):
    f = made(spiral)
    f.save(tmp_path / "f.json")
    again = Function.load(tmp_path / "f.json")
    a, b = RNG.normal(size=(2, 3, 2))
    assert again.program == f.program and again.program.digest == f.program.digest
    assert np.array_equal(again(a, b).x, f(a, b).x)
    assert count(again.program) == f.operations


def test_programs_without_loops_are_written_as_before():
    text = ARM.gravity.program.to_json()
    assert "loops" not in text and Program.from_json(text) == ARM.gravity.program
