"""The expression graph, tracing, programs as text, the interpreter, counts: all on toy functions."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork import scalar
from linkwork.errors import LinkworkError
from linkwork.program import PARAMETER, Op, Operations, Port, Program, count, interpret, optimize, trace
from linkwork.program.graph import Graph

X, Y = 0.75, -2.5


def traced(text: str) -> Program:
    """The program of an expression in x and y."""
    function = eval(
        f"lambda xy: {{'out': (lambda x, y: {text})(*xy)}}",
        {name: getattr(scalar, name, plain) for name, plain in PLAIN.items()},
    )
    return trace("toy", function, [Port("xy", (2,))])


PLAIN = {"exp": math.exp, "log": math.log, "tanh": math.tanh, "atan2": math.atan2, "minimum": min, "maximum": max,
         "sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "sign": np.sign, "inf": math.inf}  # fmt: skip


def value(program: Program) -> float:
    (out,) = interpret(program, [np.array([[X, Y]])])
    return out[0]


SIMPLIFIED = {  # expression -> the instructions it takes
    # structural zero and one
    "x * 0": "", "0 * x": "", "x * 1": "", "x + 0": "", "0.0 + x": "", "x - 0": "", "x / 1": "", "0 / x": "",
    "0 - x": "NEG", "x * -1": "NEG", "-(-x)": "",
    # constants folded
    "2 * 3 + x": "ADD", "2 * (3 * x)": "MUL", "(x * 2) / 4": "MUL", "x / 4": "MUL", "(2 * x) * 0.5": "",
    # cancellation
    "x - x": "", "x / x": "", "(x + y) - x": "", "(x + y) - y": "", "x - (x - y)": "", "x + (y - x)": "",
    "(y - x) + x": "", "x + x": "MUL",
    # signs pulled outward
    "x + (-y)": "SUB", "(-x) + y": "SUB", "x - (-y)": "ADD", "(-x) - y": "ADD NEG", "(-x) + (-y)": "ADD NEG",
    "(-x) * y": "MUL NEG", "(-x) * (-y)": "MUL", "x * -3": "MUL NEG", "(-x) / y": "DIV NEG", "x / (-y)": "DIV NEG",
    "(-x) / (-y)": "DIV", "-2 / x": "DIV NEG", "(x - y) + (y - x)": "", "(x - y) * (y - x)": "SUB MUL NEG",
    "x + (-3)": "SUB", "(-x) + 3": "SUB", "3 - x": "SUB", "sin(-x)": "SIN NEG", "cos(-x)": "COS",
    "sign(-x)": "SIGN NEG",
    # common subexpressions, operands in either order
    "(x + y) * (y + x)": "ADD MUL", "x * y + y * x": "MUL MUL", "sin(x) * sin(x)": "SIN MUL",
    "sin(x) - sin(-x)": "SIN MUL",
    # absolute values and powers
    "abs(x)": "ABS", "abs(-x)": "ABS", "abs(abs(x))": "ABS", "abs(exp(x))": "EXP",
    "x ** 0": "", "x ** 1.0": "", "x ** 3": "MUL MUL",
    "x ** -2": "MUL DIV", "(-x) ** 2": "MUL", "x ** 0.5": "SQRT",
    # choices and other functions
    "minimum(x, x)": "", "maximum(x, -inf)": "", "minimum(inf, x)": "", "minimum(-x, -y)": "MAX NEG",
    "maximum(-x, 2)": "MIN NEG", "minimum(maximum(-1, x), 1)": "MAX MIN", "minimum(minimum(x, 3), 2)": "MIN",
    "maximum(1, maximum(x, 0.5))": "MAX", "maximum(x, y) - maximum(y, x)": "", "maximum(-x, y)": "NEG MAX",
    "tanh(-x)": "TANH NEG", "tanh(x) + tanh(-x)": "", "atan2(-x, y)": "ATAN2 NEG", "atan2(-2, x)": "ATAN2 NEG",
    "atan2(0, x)": "ATAN2", "atan2(x, -2)": "ATAN2", "log(x)": "LOG", "exp(-y)": "NEG EXP",
    # nothing to simplify
    "x + y": "ADD", "x - y": "SUB", "x * y": "MUL", "x / y": "DIV", "2 / x": "DIV", "sqrt(x)": "SQRT",
    "sign(y)": "SIGN",
}  # fmt: skip


@pytest.mark.parametrize("text", SIMPLIFIED)
def test_simplified_to_the_same_value(text: str):
    program = traced(text)
    made = " ".join(Op(op).name for op, *_ in program.instructions)
    assert made == SIMPLIFIED[text]
    assert value(program) == pytest.approx(eval(text, PLAIN | {"x": X, "y": Y}), rel=1e-15, abs=1e-16)
    assert value(optimize(program)) == value(program)


LEAVES = st.sampled_from(["x", "y", "0", "1", "2", "-1", "0.5", "-3.25"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map("(-{})".format),
        inner.map("sin({})".format),
        inner.map("cos({})".format),
        inner.map("({} / (2.5 + sin(y)))".format),
    ),
    max_leaves=25,
)


@given(EXPRESSIONS)
def test_random_expressions_keep_their_value(text: str):
    names = {"x": X, "y": Y, "sin": math.sin, "cos": math.cos}
    program = traced(text)
    # A cancelled term saves its rounding error, so the terms set the scale.
    scale = eval(
        text.replace(" - ", " + ").replace("-", ""), names | {"y": -Y, "sin": abs, "cos": lambda x: 1 + abs(x)}
    )
    for made in (program, optimize(program)):
        assert value(made) == pytest.approx(eval(text, names), rel=1e-13, abs=1e-14 * max(1.0, abs(scale)))


def test_equal_expressions_are_one_node():
    graph = Graph()
    x, y = graph.input(0), graph.input(1)
    assert graph.input(0) is x
    assert x * y is y * x and x + y is y + x and (x * 2) * 3 is 6 * x and x - y is -(y - x)
    assert np.float64(2) * x is x * 2 and (np.float64(2) * x).graph is graph


def test_numpy_takes_a_node_as_a_number():
    graph = Graph()
    x, y = graph.input(0), graph.input(1)
    both = np.array([x, y])
    for scaled in (x * np.array([1.0, 2.0]), np.array([1, 2]) * x, np.multiply.outer(x, [1.0, 2.0])):
        assert scaled.tolist() == [x, x * 2]
    assert (both - x).tolist() == [0, y - x] and (both @ np.array([2.0, 1.0])) is x * 2 + y
    assert np.sin(x) is x.sin() and np.cos(both).tolist() == [x.cos(), y.cos()] and np.abs(both)[0] is abs(x)
    assert np.int64(2) * x is x * 2


def test_a_traced_number_has_no_value():
    x = Graph().input(0)
    for branch in (lambda: 1 if x < 1 else 2, lambda: max(x, 1), lambda: np.array([x]) > 0):
        with pytest.raises(TypeError, match="cannot decide a branch"):
            branch()
    assert (x < 1) is (x < 1) and (x < 1).select(2, 2) == 2  # comparisons are nodes
    for power in (lambda: x**1.5, lambda: 2**x, lambda: x**x):
        with pytest.raises(TypeError, match="unsupported operand"):
            power()
    with pytest.raises(TypeError, match="a function of a traced number and complex"):
        scalar.minimum(x, 1j)
    with pytest.raises(TypeError, match="cannot decide a branch"):
        trace("f", lambda x: {"y": 1} if x else {}, [Port("x", ())])
    with pytest.raises(TypeError, match="not known while tracing"):
        trace("f", lambda x: {"y": math.sqrt(x)}, [Port("x", ())])
    with pytest.raises(LinkworkError, match=r"f: a traced output must be a number\n  got: str"):
        trace("f", lambda x: {"y": "x"}, [Port("x", ())])


def matrix_program() -> Program:
    """A function with ports of every rank: (), (3,), (2, 3) -> (2,), ()."""

    def function(scale, v, rows):
        return {"w": [scale * sum(a * b for a, b in zip(row, v, strict=True)) for row in rows], "s": scale * scale}

    return trace("f", function, [Port("scale", ()), Port("v", (3,)), Port("rows", (2, 3))])


def test_ports_of_every_rank():
    program = matrix_program().check()
    assert [(p.name, p.shape) for p in program.outputs] == [("w", (2,)), ("s", ())]
    rng = np.random.default_rng(0)
    scale, v, rows = rng.normal(size=5), rng.normal(size=3), rng.normal(size=(4, 1, 2, 3))
    w, s = interpret(program, [scale, v, rows])
    assert np.allclose(w, scale[:, None] * (rows @ v), rtol=1e-14) and w.shape == (4, 5, 2)
    assert np.allclose(s, np.broadcast_to(scale**2, (4, 5)), rtol=1e-15) and s.shape == (4, 5)


def test_interpreter_without_batch_axes():
    w, s = interpret(matrix_program(), [np.array(2.0), np.ones(3), np.ones((2, 3))])
    assert w.tolist() == [6, 6] and s.shape == () and s == 4


def test_interpreter_works_in_the_precision_of_its_arguments():
    program = traced("sin(x) / 3 + y")
    for dtype in (np.float32, np.float64, np.complex128):
        (out,) = interpret(program, [np.ones((1, 2), dtype)])
        assert out.dtype == dtype


def test_text_and_back():
    program = optimize(matrix_program())
    again = Program.from_json(program.to_json())
    assert again == program and again.digest == program.digest
    odd = traced("x * 0.1 + 1e-320 + y * 1e308")
    assert Program.from_json(odd.to_json()).constants == odd.constants


MALFORMED = {
    "not JSON": (lambda d: None, "not a linkwork program"),
    "a list": (lambda d: d.clear(), "'format'"),
    "format": (lambda d: d.update(format="linkwork-program-9"), "unknown format 'linkwork-program-9'"),
    "missing": (lambda d: d.pop("results"), "'results'"),
    "forward reference": (lambda d: d["instructions"].insert(0, [0, 10**6, 0]), "malformed"),
    "negative reference": (lambda d: d["instructions"].append([4, -1]), "malformed"),
    "unknown operation": (lambda d: d["instructions"].append([99, 0, 0]), "malformed"),
    "arity": (lambda d: d["instructions"].append([0, 0]), "malformed"),
    "too few results": (lambda d: d["results"].pop(), "results do not fit the outputs"),
    "result out of range": (lambda d: d["results"].__setitem__(0, 10**6), "results do not fit the outputs"),
    "constant": (lambda d: d["constants"].append("ten"), "not a linkwork program"),
    "port": (lambda d: d["inputs"].append(["x"]), "not a linkwork program"),
    "instructions": (lambda d: d.update(instructions=7), "not a linkwork program"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_text(what: str):
    spoil, message = MALFORMED[what]
    document = json.loads(traced("x * 2 + y").to_json())
    spoil(document)
    text = "{" if what == "not JSON" else json.dumps(document)
    with pytest.raises(LinkworkError, match=message):
        Program.from_json(text)


def test_counts_by_hand():
    program = traced("sin(x) * cos(x) + sqrt(x) / y + sign(y) - cos(y) * 3")
    assert count(program) == Operations(mul=2, add=3, div=1, sqrt=1, sincos=2, sign=1, instructions=11)
    others = traced("exp(x) + log(x) * tanh(x) - atan2(x, y) + abs(y) * minimum(x, y) - maximum(x, y)")
    each = Operations(exp=1, log=1, tanh=1, atan2=1, abs=1, min=1, max=1, mul=2, add=4, instructions=13)
    assert count(others) == each
    fused = count(optimize(program))
    assert (fused.mul, fused.add, fused.instructions) == (2, 3, 11 - fused.fused) and fused.fused == 2
    assert str(count(traced("x"))) == "nothing"
    assert str(count(traced("-(x * y)"))) == "1 mul, 1 neg"


def test_off_line_and_on_line():
    ports = [Port("q", ()), Port("p", (2,), PARAMETER)]
    program = trace("f", lambda q, p: {"y": (p[0] * p[1] + 2) * q, "z": p[0] / p[1]}, ports)
    assert count(program) == Operations(mul=1, instructions=1)
    assert count(program, off_line=True) == Operations(mul=1, add=1, div=1, instructions=3)
