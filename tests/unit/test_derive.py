"""Derivatives of programs: random ones of every operation against complex steps, single operations against mpmath, what
the modes must have in common, and programs at the edge of being none."""

import random
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from linkwork.derive import hessian, hvp, jacobian, jvp, vjp
from linkwork.derive.programs import Derivation
from linkwork.derive.slopes import SLOPES
from linkwork.errors import LinkworkError
from linkwork.program import Op, Port, Program, interpret, optimize, trace
from linkwork.program.program import ARITY
from support.evaluate import assert_close

STEP = 1e-30
ROOT = (Op.SQRT, Op.DIV, Op.LOG)  # defined for some arguments alone


def tame(seed: int, length: int = 60, inputs=((3,), (2, 2), ()), outputs=((2,), (2, 3), ())) -> Program:
    """Random instructions of every kind on values of about one; what is divided by and what roots and logarithms
    are taken of is positive, made by 1.5 + sin."""
    choose = random.Random(seed)
    ports = tuple(Port(f"x{k}", shape) for k, shape in enumerate(inputs))
    targets = tuple(Port(f"y{k}", shape) for k, shape in enumerate(outputs))
    constants = (1.5, *(choose.uniform(-1, 1) for _ in range(4)))
    n_inputs = sum(port.size for port in ports)
    first = n_inputs + len(constants)
    instructions: list[tuple[int, ...]] = []

    def add(op: Op, *arguments: int) -> int:
        instructions.append((int(op), *arguments))
        return first + len(instructions) - 1

    small = list(range(first))  # of size about one
    for _ in range(length):
        op = choose.choice(list(Op))
        chosen = [choose.choice(small[-12:] + small[:first]) for _ in range(ARITY[op])]
        if op in ROOT:
            chosen[-1] = add(Op.ADD, n_inputs, add(Op.SIN, chosen[-1]))
        made = add(op, *chosen)
        small.append(made if op in (Op.SIN, Op.COS, Op.SIGN) else add(Op.SIN, made))
    results = tuple(choose.choice([*small[-25:], 0, n_inputs]) for port in targets for _ in range(port.size))
    return Program(f"tame{seed}", ports, targets, constants, tuple(instructions), results).check()


def states(program: Program, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {port.name: rng.uniform(-1, 1, port.shape) for port in program.inputs}


def names(ports) -> list[str]:
    return [port.name for port in ports]


def run(program: Program, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    program.check()
    outputs = interpret(program, [given[port.name] for port in program.inputs])
    return dict(zip(names(program.outputs), outputs, strict=True))


def by_complex_steps(program: Program, given: dict[str, np.ndarray], wrt: str) -> dict[str, np.ndarray]:
    """Of every output, by the numbers of one input."""
    x = given[wrt]
    steps = np.eye(x.size).reshape(x.size, *x.shape)
    moved = given | {wrt: x + 1j * STEP * steps}
    found = run(program, {name: np.broadcast_to(value, (x.size, *np.shape(given[name]))) if name != wrt else value
                          for name, value in moved.items()})  # fmt: skip
    return {name: np.moveaxis(y.imag / STEP, 0, -1).reshape((*y.shape[1:], *x.shape)) for name, y in found.items()}


def one_mode(program: Program, mode: str) -> Program:
    own = Derivation(program, names(program.inputs), names(program.outputs), {})
    return own.made("derivative", own.parted(getattr(own, mode)()), value=False)


PROGRAMS = {
    "random": tame(1),
    "long": tame(2, 300),
    "few outputs": tame(3, 120, ((9,), (4,)), ((), (2,))),
    "few inputs": tame(4, 120, ((), (1,)), ((4, 3), (7,))),
    "fused": optimize(tame(5, 200)),
    "no inputs": tame(6, 20, (), ((2,),)),
    "no outputs": tame(7, 20, ((2,),), ()),
    "empty ports": tame(8, 40, ((0,), (2,), (3, 0)), ((0,), (2,), (2, 0))),
    "no instructions": tame(9, 0),
    "nothing": Program("nothing", (), (), (), (), ()),
}


def test_every_operation_has_slopes():
    assert set(SLOPES) == set(Op)
    used = {instruction[0] for instruction in PROGRAMS["long"].instructions}
    assert used == set(map(int, Op))


@pytest.mark.parametrize("case", PROGRAMS)
@pytest.mark.parametrize("how", ("jacobian", "value", "optimized", "by_columns", "by_rows"))
def test_jacobians_equal_complex_steps(case: str, how: str):
    program = PROGRAMS[case]
    given, wrt, of = states(program), names(program.inputs), names(program.outputs)
    made = {
        "jacobian": lambda: jacobian(program, wrt, of),
        "value": lambda: jacobian(program, wrt, of, value=True),
        "optimized": lambda: optimize(jacobian(program, wrt, of)),
        "by_columns": lambda: one_mode(program, "by_columns"),
        "by_rows": lambda: one_mode(program, "by_rows"),
    }[how]()
    found = run(made, given)
    if how == "value":
        own = run(program, given)
        assert list(found)[: len(of)] == of
        for name in of:
            assert_close(found.pop(name), own[name], scale=1)
    assert list(found) == [f"d{y}_d{x}" for y in of for x in wrt]
    for x in wrt:
        for y, expected in by_complex_steps(program, given, x).items():
            assert_close(found[f"d{y}_d{x}"], expected, scale=1)


@pytest.mark.parametrize("case", PROGRAMS)
def test_products_equal_the_jacobian(case: str):
    program = PROGRAMS[case]
    given, wrt, of = states(program), names(program.inputs), names(program.outputs)
    rng = np.random.default_rng(1)
    bars = {f"{port.name}_bar": rng.normal(size=port.shape) for port in program.outputs}
    steps = {f"d{port.name}": rng.normal(size=port.shape) for port in program.inputs}
    J = run(jacobian(program, wrt, of), given)
    back = run(vjp(program, wrt, of, value=True), given | bars)
    ahead = run(jvp(program, wrt, of, value=True), given | steps)
    for x in wrt:
        terms = [np.tensordot(bars[f"{y}_bar"], J[f"d{y}_d{x}"], back[y].ndim) for y in of]
        assert_close(back[f"{x}_bar"], sum(terms, start=np.zeros(given[x].shape)), scale=1, tolerance=1e-11)
    for y in of:
        terms = [np.tensordot(J[f"d{y}_d{x}"], steps[f"d{x}"], given[x].ndim) for x in wrt]
        assert_close(ahead[f"d{y}"], sum(terms, start=np.zeros(back[y].shape)), scale=1, tolerance=1e-11)
        assert_close(back[y], ahead[y], scale=1)


@pytest.mark.parametrize("case", [name for name in PROGRAMS if name != "long"])
def test_hessians(case: str):
    """Against complex steps of the Jacobian; symmetric to the last bit; its product with a vector is hvp."""
    program = PROGRAMS[case]
    given, wrt, of = states(program), names(program.inputs), names(program.outputs)
    first, H = jacobian(program, wrt, of), run(hessian(program, wrt, of), given)
    assert list(H) == [f"d2{y}_d{a}_d{b}" for y in of for k, a in enumerate(wrt) for b in wrt[k:]]
    rng = np.random.default_rng(2)
    bars = {f"{port.name}_bar": rng.normal(size=port.shape) for port in program.outputs}
    steps = {f"d{port.name}": rng.normal(size=port.shape) for port in program.inputs}
    product = run(hvp(program, wrt, of), given | bars | steps)
    total = {x: np.zeros(given[x].size) for x in wrt}
    for k, a in enumerate(wrt):
        for b in wrt[k:]:
            expected = by_complex_steps(first, given, b)
            for y in of:
                block = H[f"d2{y}_d{a}_d{b}"]
                assert_close(block, expected[f"d{y}_d{a}"], scale=1, tolerance=1e-10)
                block = block.reshape(bars[f"{y}_bar"].size, given[a].size, given[b].size)
                weighted = np.tensordot(bars[f"{y}_bar"].ravel(), block, 1)
                total[a] += weighted @ steps[f"d{b}"].ravel()
                if a == b:
                    assert np.array_equal(block, block.swapaxes(1, 2))
                else:
                    total[b] += steps[f"d{a}"].ravel() @ weighted
    for x in wrt:
        assert_close(product[f"{x}_bar"].ravel(), total[x], scale=1, tolerance=1e-10)


# -- one operation at a time -------------------------------------------------------------------------------------------

EXACT: dict[Op, Callable] = {
    Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b, Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a, Op.SQRT: mpmath.sqrt, Op.SIN: mpmath.sin, Op.COS: mpmath.cos, Op.SIGN: mpmath.sign,
    Op.EXP: mpmath.exp, Op.LOG: mpmath.log, Op.TANH: mpmath.tanh, Op.ATAN2: mpmath.atan2,
    Op.ABS: mpmath.fabs, Op.MIN: min, Op.MAX: max,
    Op.LESS: lambda a, b: mpmath.mpf(a < b), Op.LESS_EQUAL: lambda a, b: mpmath.mpf(a <= b),
    Op.SELECT: lambda a, b, c: b if a else c,
    Op.FMA: lambda a, b, c: a * b + c, Op.FMS: lambda a, b, c: a * b - c, Op.FNMA: lambda a, b, c: c - a * b,
}  # fmt: skip


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_slopes_by_many_digits(op: Op):
    """Slopes, and their slopes, against central differences of 60 digits."""
    n = ARITY[op]
    ports = tuple(Port(name, ()) for name in "abc"[:n])
    program = Program(op.name, ports, (Port("y", ()),), (), ((int(op), *range(n)),), (n,)).check()
    wrt = names(ports)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        at = rng.uniform(0.1, 2, n) * (1 if op in ROOT else rng.choice([-1, 1], n))
        given = dict(zip(wrt, map(np.asarray, at), strict=True))
        J, H = run(jacobian(program, wrt, ["y"]), given), run(hessian(program, wrt, ["y"]), given)
        with mpmath.workdps(60):
            exact = list(map(mpmath.mpf, at.tolist()))
            for k, a in enumerate(wrt):
                order = tuple(int(j == k) for j in range(n))
                assert_close(J[f"dy_d{a}"], float(mpmath.diff(EXACT[op], tuple(exact), order)), scale=1e-3)
                for m, b in enumerate(wrt[k:], k):
                    twice = tuple(x + int(j == m) for j, x in enumerate(order))
                    expected = float(mpmath.diff(EXACT[op], tuple(exact), twice))
                    assert_close(H[f"d2y_d{a}_d{b}"], expected, scale=1e-3)


@pytest.mark.parametrize(("op", "slope"), ((Op.ABS, [0]), (Op.MIN, [0.5, 0.5]), (Op.MAX, [0.5, 0.5]), (Op.SIGN, [0])))
def test_slopes_at_kinks(op: Op, slope: list[float]):
    """Where there is none: the mean of both sides."""
    ports = tuple(Port(name, ()) for name in "ab"[: len(slope)])
    program = Program(op.name, ports, (Port("y", ()),), (), ((int(op), *range(len(slope))),), (len(slope),))
    found = run(jacobian(program, names(ports), ["y"]), {port.name: np.zeros(()) for port in ports})
    assert [float(value) for value in found.values()] == slope


# -- structure ---------------------------------------------------------------------------------------------------------


def toy() -> Program:
    """An output that is an input, one that is a constant, one that comes twice, an input without influence."""

    def function(x, y, idle):
        return {"same": x, "fixed": [3.0, 0.0], "twice": [x[0] * y, x[0] * y, x[1]], "mixed": x[1] / y}

    return trace("toy", function, [Port("x", (2,)), Port("y", ()), Port("idle", (2,))])


def test_inputs_constants_and_repeated_outputs():
    program = toy()
    given = {"x": np.array([2.0, 3.0]), "y": np.array(4.0), "idle": np.array([5.0, 6.0])}
    made = jacobian(program, ["x", "y", "idle"], names(program.outputs))
    found = run(made, given)
    expected = {
        "dsame_dx": np.eye(2), "dfixed_dx": np.zeros((2, 2)), "dtwice_dx": [[4, 0], [4, 0], [0, 1]],
        "dmixed_dx": [0, 0.25], "dsame_dy": [0, 0], "dfixed_dy": [0, 0], "dtwice_dy": [2, 2, 0],
        "dmixed_dy": -3 / 16, "dsame_didle": np.zeros((2, 2)), "dfixed_didle": np.zeros((2, 2)),
        "dtwice_didle": np.zeros((3, 2)), "dmixed_didle": [0, 0],
    }  # fmt: skip
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert np.array_equal(found[name], value), name
    bars = {"same_bar": [1.0, 2.0], "fixed_bar": [7.0, 7.0], "twice_bar": [1.0, 10.0, 100.0], "mixed_bar": 8.0}
    back = run(vjp(program, ["idle", "x"], names(program.outputs)), given | {k: np.array(b) for k, b in bars.items()})
    assert list(back) == ["idle_bar", "x_bar"]
    assert np.array_equal(back["x_bar"], [1 + 44, 2 + 100 + 2]) and not back["idle_bar"].any()


def test_only_what_is_asked_for():
    program = tame(11)
    given, expected = states(program), by_complex_steps(tame(11), states(program), "x1")
    made = jacobian(program, ["x1"], ["y2", "y0"])
    assert set(run(made, given)) == {"dy0_dx1", "dy2_dx1"}
    for name, value in run(made, given).items():
        assert_close(value, expected[name[1:3]], scale=1)
    assert made.inputs == program.inputs


def test_structural_zeros_cost_nothing():
    """The slope of a sum of squares, each of one number: two operations for each entry at most."""
    program = trace("squares", lambda x: {"y": [value * value for value in x]}, [Port("x", (50,))])
    assert len(jacobian(program, ["x"], ["y"]).instructions) == 50


def test_modes_are_chosen_by_cost():
    """One output of many inputs: reverse mode, a few operations for each of the program's; and the other way round."""

    def chain(x):
        total = 0
        for value in x:
            total = (total + value) * value
        return {"y": total}

    wide = trace("wide", chain, [Port("x", (60,))])
    assert len(jacobian(wide, ["x"], ["y"]).instructions) <= 3 * len(wide.instructions)

    def powers(x):
        return {"y": [x ** (k + 2) for k in range(60)]}

    tall = trace("tall", powers, [Port("x", ())])
    assert len(jacobian(tall, ["x"], ["y"]).instructions) <= 4 * len(tall.instructions)


def test_along_tangents():
    """On a circle, along its own turn: the slope of f(cos t, sin t); the second derivative of that too."""
    circle = trace("circle", lambda p: {"tangent": [[-p[1]], [p[0]]]}, [Port("p", (2,))])
    program = trace("f", lambda p, s: {"y": p[0] * p[0] * p[1] * s}, [Port("p", (2,)), Port("s", ())])
    t, s = 0.7, 1.3
    c, n = np.cos(t), np.sin(t)
    given = {"p": np.array([c, n]), "s": np.array(s)}
    tangents = {"p": circle}
    slope, curve = s * (c**3 - 2 * c * n**2), s * (2 * n**3 - 7 * c**2 * n)
    first = run(jacobian(program, ["p", "s"], ["y"], tangents), given)
    assert_close(first["dy_dp"], [slope])
    assert_close(first["dy_ds"], c * c * n)
    second = run(hessian(program, ["s", "p"], ["y"], tangents), given)
    assert_close(second["d2y_dp_dp"], [[curve]])
    assert_close(second["d2y_ds_dp"], [slope / s])
    more = {"dp": np.array([0.4]), "ds": np.array(-0.2), "y_bar": np.array(2.0)}
    assert_close(run(jvp(program, ["p", "s"], ["y"], tangents), given | more)["dy"], 0.4 * slope - 0.2 * c * c * n)
    product = run(hvp(program, ["p", "s"], ["y"], tangents), given | more)
    assert_close(product["p_bar"], [2 * (0.4 * curve - 0.2 * slope / s)])
    assert_close(product["s_bar"], 2 * 0.4 * slope / s)


@pytest.mark.parametrize("how", (jacobian, vjp, jvp, hessian, hvp))
def test_a_tangent_without_directions(how):
    """Of what may not move at all."""
    program = trace("f", lambda p: {"y": p[0] * p[0] + p[1]}, [Port("p", (2,))])
    rigid = Program("tangent", program.inputs, (Port("tangent", (2, 0)),), (), (), ())
    made = how(program, ["p"], ["y"], {"p": rigid})
    given = {"p": np.array([1.0, 2.0]), "dp": np.zeros(0), "y_bar": np.array(1.0)}
    for name, value in run(made, given).items():
        assert value.size == 0 or (name == "dy" and value == 0)


def test_names_that_would_come_twice():
    """No output takes the place of another, and no input."""
    program = trace("f", lambda x: {"y": x * x}, [Port("x", ())])
    ahead, value = jvp(program, ["x"], ["y"]), jacobian(program, ["x"], ["y"], value=True)
    with pytest.raises(LinkworkError, match="two inputs of a derivative of f_jvp would be called 'dx'"):
        jvp(ahead, ["x"], ["dy"])
    with pytest.raises(LinkworkError, match="two outputs of a derivative of f_derivative would be called 'dy_dx'"):
        jacobian(value, ["x"], ["y", "dy_dx"], value=True)
    assert names(jacobian(value, ["x"], ["dy_dx"]).outputs) == ["ddy_dx_dx"]
    odd = trace("g", lambda c, b_dc: {"a_db": c, "a": b_dc}, [Port("c", ()), Port("b_dc", ())])
    with pytest.raises(LinkworkError, match="two outputs of a derivative of g would be called 'da_db_dc'"):
        jacobian(odd, ["c", "b_dc"], ["a_db", "a"])


def test_roots_of_zero():
    """v |v| has a slope at rest, and that of |v| is taken to be zero there; so are those of higher order."""

    def function(x):
        size = (x[0] * x[0] + x[1] * x[1]) ** 0.5
        return {"drag": [size * x[0], size * x[1]], "size": size}

    program = trace("f", function, [Port("x", (2,))])
    for how in (jacobian, hessian):
        for value in run(how(program, ["x"], ["drag", "size"]), {"x": np.zeros(2)}).values():
            assert not value.any()
    x = np.array([3e-9, -4e-9])
    found = run(jacobian(program, ["x"], ["drag", "size"]), {"x": x})
    assert_close(found["dsize_dx"], [0.6, -0.8])
    assert_close(found["ddrag_dx"], 5e-9 * np.eye(2) + np.outer(x, x) / 5e-9)


@pytest.mark.parametrize("how", (jacobian, vjp, jvp, hessian, hvp))
def test_constants_alone(how):
    """What no input moves has no slope, also where that were infinite; constants that make no number are told."""

    def program(*instructions, constants=(0.0, -1.0)):
        return Program("f", (Port("x", ()),), (Port("y", ()),), constants, instructions, (2 + len(instructions),))

    ports = {"x": np.array(2.0), "dx": np.array(1.0), "y_bar": np.array(1.0)}
    rooted = how(program((Op.SQRT, 1), (Op.ADD, 0, 3)), ["x"], ["y"])
    assert all(value == (0 if how in (hessian, hvp) else 1) for value in run(rooted, ports).values())
    infinite = how(program((Op.DIV, 0, 1)), ["x"], ["y"])
    assert all(value == (0 if how in (hessian, hvp) else np.inf) for value in run(infinite, ports).values())
    with pytest.raises(LinkworkError, match="f: its constants make no number: "):
        how(program((Op.SQRT, 2), (Op.MUL, 0, 3)), ["x"], ["y"])
