"""Loops inside programs, compiled: the same bits in every lane, batch and thread, and on every target."""

import json
from dataclasses import replace

import numpy as np
import pytest
from straightline import same_bits
from test_export_c import Exported, run_test

import linkwork
from linkwork import find_root, repeat
from linkwork.codegen.native import build
from linkwork.codegen.native.target import host
from linkwork.errors import LinkworkError, UnsupportedError
from linkwork.function import Function
from linkwork.inspection.states import random_states
from linkwork.program import Program, interpret

ARM = linkwork.load("planar2r")
WIDTHS = [host(), host().half, replace(host(), cpu="x86-64", features="", vector_bytes=16, fused=False)]


def exact(robot, a, b):
    """Numbers without rounding on any target, even in float32: halves, sums and products of small integers."""

    def body(values):
        x, k, kept = values
        inner = repeat(lambda y: np.where(y > 8, y + 4, y + 1), x, 2)
        return np.where(x > 64, 0.5 * x, inner + b[0]), k + 1, np.maximum(kept, x)

    x, k, kept = repeat(body, (a, 0, a), 30, until=lambda values: values[0][0] > 40)
    return {"x": x, "turns": k, "kept": kept, "same": a}


def rough(robot, a, b):
    """Sines, quotients and roots, results that are many, and a loop that depends on another."""
    first = repeat(lambda x: np.sin(x) / (1.5 + np.cos(b)) + 0.3 * a, a, 9)
    found = find_root(lambda x: x**3 + x - first * b, first, tolerance=1e-6)
    more = repeat(lambda v: (v[0] + 0.1 * np.outer(v[1], np.ones(70)), np.tanh(v[1])), (np.zeros((2, 70)), found.x), 3)
    return {"found": found.x, "turns": found.turns, "more": more[0], "M": robot.inertia_matrix(first)}


def load_numpy(function):
    names: dict = {}
    exec(function.to_numpy(), names)
    return names[f"planar2r_{function.label.quantity}"]


def states(count, dtype="float64"):
    """Lanes that stop at once, soon, late and never, in turn; then one that is not a number."""
    a = np.array([[50, 1], [39, 2], [-100, 3], [7, 4], [3, 5], [41, 0.5], [0, 0], [np.nan, 1], [20, 2]])
    b = np.array([[1, 1], [2, 2], [4, 0], [0, 1], [-8, 1], [1, 3], [3, 0], [1, 1], [2, 0.5]])
    rows = np.arange(count) % len(a)
    return a[rows].astype(dtype), b[rows].astype(dtype)


@pytest.fixture(scope="module", params=["float64", "float32"])
def programs(request):
    return request.param, [ARM.function(f, a=2, b=2, dtype=request.param).program for f in (exact, rough)]


@pytest.mark.parametrize("width", range(len(WIDTHS)))
def test_the_bits_of_a_state_do_not_depend_on_its_neighbours(programs, width):
    if not host().triple.startswith("x86_64"):
        pytest.skip("the targets are those of x86-64")
    dtype, made = programs
    a, b = states(61, dtype)
    for program in made:
        function = build(program, dtype, WIDTHS[width])
        single = [np.stack(y) for y in zip(*(function(a[k], b[k]) for k in range(61)))]
        reference = build(program, dtype)(a, b)
        for count in (1, 3, 8, 17, 61):
            for first in (0, 1, 5):
                part = slice(first, first + count)
                for got, expected in zip(function(a[part], b[part]), single, strict=True):
                    assert same_bits(got, expected[part])
        if WIDTHS[width].fused == host().fused:
            for got, expected in zip(reference, single, strict=True):
                assert same_bits(got, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_target_gives_the_same_bits(dtype, tmp_path):
    function = ARM.function(exact, a=2, b=2, dtype=dtype)
    a, b = states(17, dtype)
    native = function(a, b)
    assert len(set(native.turns.tolist())) > 4 and native.turns.max() == 30 and native.turns.min() == 0
    exported = Exported(function, tmp_path)
    others = {
        "interpreter": ARM.function(exact, a=2, b=2, dtype=dtype, backend="interpreter")(a, b),
        "c": exported(a, b),
        "numpy": load_numpy(function)(a, b),
        "loaded": Function(Program.from_json(function.program.to_json()), function.label, dtype)(a, b),
        "threads": function(a, b, threads=2),
        "reversed": [y[::-1] for y in function(a[::-1], b[::-1])],
    }
    for name, results in others.items():
        for got, expected in zip(results, native, strict=True):
            assert np.array_equal(got, expected, equal_nan=True), name
    assert run_test(tmp_path).returncode == 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_target_agrees_where_numbers_are_rounded(dtype, tmp_path):
    function = ARM.function(rough, a=2, b=2, dtype=dtype)
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.2, 1, (2, 9, 2)).astype(dtype)
    native = function(a, b)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    slow = ARM.function(rough, a=2, b=2, dtype=dtype, backend="interpreter")(a, b)
    for results in (slow, Exported(function, tmp_path)(a, b), load_numpy(function)(a, b)):
        for got, expected in zip(results, native, strict=True):
            np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("name", ["gough-stewart", "car"])
@pytest.mark.parametrize("numbers", [[], ["geometry"]])
def test_assembly_in_c(name, numbers, tmp_path):
    """It closes the loops, and its own test passes."""
    robot = linkwork.load(name)
    function = robot.compile("assemble", inputs=numbers)
    own = {port.name: np.tile(function.label.nominal[port.name].array(port), (40, 1, 1))
           for port in function.program.inputs if port.name in numbers}  # fmt: skip
    inputs = {port.name: (random_states(robot, 40) | own)[port.name] for port in function.program.inputs}
    exported = Exported(function, tmp_path / "here")
    native, found = function(*inputs.values()), exported(*inputs.values())
    np.testing.assert_allclose(found[0], native.q, rtol=0, atol=1e-11)
    assert found[1].all() and found[2].max() < 1e-12
    function.to_c(tmp_path / "there", states=inputs)
    assert run_test(tmp_path / "there").returncode == 0


def test_direct_calls_and_threads():
    function = ARM.function(rough, a=2, b=2)
    a, b = np.random.default_rng(0).uniform(0.2, 1, (2, 3001, 2))
    whole = function(a, b)
    assert function.calls == "direct" or "through NumPy" in function.calls
    for threads in (2, "auto"):
        for got, expected in zip(function(a, b, threads=threads), whole, strict=True):
            assert same_bits(got, expected)
    for got, expected in zip(function(a[7], b[7]), whole, strict=True):
        assert same_bits(got, expected[7])


def test_long_bodies_are_cut_and_still_agree(tmp_path):
    """More instructions than a function of native code or C has, with values that outlive their part."""

    def lengthy(robot, a, b):
        def body(x):
            rows = [x]
            for k in range(200):
                rows.append(np.sin(rows[-1]) * b + rows[max(0, k - 90)] * 0.1 + k)
            return sum(rows) * 1e-3

        return repeat(body, a, 3)

    function = ARM.function(lengthy, a=2, b=2)
    a, b = np.random.default_rng(0).uniform(0.2, 1, (2, 9, 2))
    expected = interpret(function.program, [a, b])[0]
    np.testing.assert_allclose(function(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(Exported(function, tmp_path)(a, b)[0], expected, rtol=1e-12)
    cut = build(function.program, segment=50)
    assert np.array_equal(cut(a, b), function(a, b))


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_a_loop_in_a_simulation(backend):
    """A law that solves an equation at every stage gives the torque of the closed form, in batches of any size."""

    q0 = np.linspace([0.1, 0.2], [0.5, -0.4], 11)
    options = {"dt": 1e-3, "steps": 20, "torque": solving, "backend": backend}
    motion = ARM.rollout(q0, np.zeros((11, 2)), **options, outputs=["q", "v", "tau"])
    residual = motion.tau + 0.1 * motion.tau**3 - (3 - 2 * motion.q - motion.v)
    assert np.abs(residual).max() < 1e-12
    single = ARM.rollout(q0[4], np.zeros(2), **options, outputs=["q", "v", "tau"])
    assert np.array_equal(single.q, motion.q[4])


def solving(t, q, v, reference):
    return find_root(lambda x: x + 0.1 * x**3 - (3 - 2 * q - v), np.zeros(2)).x


def turning(t, q, v, reference):
    return repeat(lambda x: 0.5 * np.sin(x) + 3 - 2 * q - v, np.zeros(2), 5)


@pytest.mark.parametrize("law", [solving, turning], ids=lambda law: law.__name__)
def test_gradients_of_simulations(law):
    q0, v0, weights = np.array([0.1, 0.2]), np.zeros(2), np.array([1.0, 2.0])
    options = {"dt": 1e-2, "steps": 10, "torque": law}
    motion = ARM.rollout(q0, v0, **options, checkpoint_every=1)
    gradient = motion.pullback(q=np.concatenate([np.zeros((10, 2)), [weights]]))
    end = lambda q: ARM.rollout(q, v0, **options).q[-1] @ weights  # noqa: E731
    h = 1e-5
    np.testing.assert_allclose(gradient.q0, [(end(q0 + e) - end(q0 - e)) / (2 * h) for e in h * np.eye(2)], rtol=1e-8)
    with pytest.raises(UnsupportedError, match="pullback"):  # by dual numbers, which cannot stop
        motion.linearised()


HOSTILE = {
    "no list": lambda d: d.update(loops=7),
    "an entry": lambda d: d["loops"].append(3),
    "no body": lambda d: d["loops"][0].pop("body"),
    "turns": lambda d: d["loops"][0].update(turns="9"),
    "no turns": lambda d: d["loops"][0].update(turns=0),
    "too many turns": lambda d: d["loops"][0].update(turns=10**12),
    "too much work": lambda d: d["loops"][0].update(turns=10**6),
    "guard": lambda d: d["loops"][0].update(guarded=1),
    "roots": lambda d: d["loops"][0].update(roots=[[0, 99]]),
    "root": lambda d: d["loops"][0].update(roots=[3]),
    "ports": lambda d: d["loops"][0]["body"]["inputs"][0].__setitem__(0, "x[0]; system()"),
    "nothing carried": lambda d: d["loops"][0]["body"].update(results=[], outputs=[["y", [0], "state"]]),
    "more carried than given": lambda d: d["loops"][0]["body"].update(results=[0] * 99, outputs=[["y", [99], "state"]]),
    "a broken body": lambda d: d["loops"][0]["body"]["instructions"].append([0, 10**6, 0]),
    "no loops": lambda d: d.pop("loops"),
    "beyond the loops": lambda d: d["instructions"].append([64 + 10**6, 0]),
    "arity": lambda d: next(row for row in d["instructions"] if row[0] >= 64).append(0),
    "too many": lambda d: d.update(loops=d["loops"] * 2000),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text(what):
    document = json.loads(ARM.function(exact, a=2, b=2).program.to_json())
    HOSTILE[what](document)
    with pytest.raises(LinkworkError, match=r"program|malformed|results|too long"):
        Program.from_json(json.dumps(document))


def test_loops_inside_each_other_have_a_limit():
    document = inner = json.loads(ARM.function(exact, a=2, b=2).program.to_json())
    loop = json.dumps(document["loops"][0])
    for _ in range(12):
        inner["loops"] = [json.loads(loop)]
        inner = inner["loops"][0]["body"]
    with pytest.raises(LinkworkError, match="inside each other"):
        Program.from_json(json.dumps(document))


def test_a_body_is_compiled_once():
    """Two runs of one loop share its code."""
    from linkwork.codegen.native import ir_text

    def twice(robot, a, b):
        step = lambda x: 0.5 * (x + b / x)  # noqa: E731
        return repeat(step, a, 5) + repeat(step, 2 * a, 5)

    text = ir_text(ARM.function(twice, a=2, b=2).program)
    assert len({line for line in text.splitlines() if line.startswith("define") and "@body_" in line}) == 1


def damped(x):
    return repeat(lambda y: 0.5 * np.sin(y) + x, x, 4)


@pytest.mark.parametrize(
    "function",
    [
        lambda robot, x: {"a": repeat(lambda y: -(y - x), 3 * x, 3), "b": repeat(lambda y: x - y, 3 * x, 3)},
        lambda robot, x: {"a": damped(damped(x))},
        lambda robot, x: {"a": x * damped(x)},
        lambda robot, x: {"a": damped(np.exp(x)) * find_root(lambda y: y**3 + y - x, x).x},
    ],
)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_loops_that_become_equal_run_once(function, order, tmp_path):
    """Derivatives of derivatives and optimised bodies make equal loops of different ones; against complex steps."""
    compiled = ARM.function(function, x=())
    before = compiled
    for _ in range(order):
        before, compiled = compiled, compiled.derivative("x", of=compiled.program.outputs[0].name)
    x = np.linspace(0.2, 0.9, 19)
    slow = np.array(Function(compiled.program, compiled.label, backend="interpreter")(x))
    for found in (compiled(x), Exported(compiled, tmp_path)(x)):
        np.testing.assert_allclose(np.reshape(found, np.shape(slow)), slow, rtol=1e-12, atol=1e-12)
    if order:
        step = interpret(before.program, [x + 1e-30j])[0].imag / 1e-30
        np.testing.assert_allclose(np.ravel(slow), step, rtol=1e-10)


def test_a_loop_that_runs_twice_is_refused():
    """No pass makes one; a file might."""
    document = json.loads(ARM.function(lambda robot, x: damped(x), x=()).program.to_json())
    document["instructions"] += [document["instructions"][-1]]
    with pytest.raises(LinkworkError, match="twice"):
        Program.from_json(json.dumps(document))
