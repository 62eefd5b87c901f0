"""Symbolic models: each language computes what the formulations do, in letters and steps that can be read."""

import ast
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork
from linkwork.errors import UnknownNameError, UnsupportedError
from linkwork.formulations import QUANTITIES, quantity_of, trace_names
from linkwork.function import Label
from linkwork.model import build
from linkwork.notation.robots import Visit
from linkwork.program import Port, interpret, trace
from linkwork.program.graph import Graph, Node
from linkwork.scalar import absolute, atan2, exp, log, maximum, minimum, tanh
from linkwork.symbolic import from_program, symbolic
from linkwork.symbolic.angles import AngleGraph
from linkwork.symbolic.expressions import Call, Number, Printer, Product, Quotient, Sum, Symbol, evaluate
from linkwork.symbolic.python import PythonPrinter
from linkwork.symbolic.sympy_form import sympy_entries
from linkwork.symbolic.watch import Watch
from support.evaluate import assert_close
from support.evaluate import evaluate as evaluated
from support.random_robots import Recipe, describe, random_vectors, recipes


def run(model, *arguments, **constants):
    """What the Python function of a symbolic model gives."""
    names: dict = {}
    exec(model.python(), names)
    if constants:
        return names[model.label.quantity](*arguments, constants=dict(model.values) | constants)
    return names[model.label.quantity](*arguments)


def inputs(model, quantity: str, seed: int = 0) -> list[np.ndarray]:
    vectors = random_vectors(model, seed)
    if model.permanent:
        vectors["q"] = np.array(model.home) + 0.01 * vectors["q"]
    return [vectors[name] for name in quantity_of(model, quantity).inputs]


def assert_same(model, quantity: str, seed: int = 0, *, tolerance: float = 1e-12, **how) -> None:
    """The Python function equals the formulations run on numbers."""
    frame = {"frame": next(reversed(model.frames))} if QUANTITIES[quantity].of_frame else {}
    how |= {"parameters": "standard"} if quantity == "regressor" else {}  # as the formulations have it
    symbols = symbolic(model, quantity, **frame, **how)
    arguments = inputs(model, quantity, seed)
    got, expected = run(symbols, *arguments), evaluated(model, quantity, *arguments, **frame)
    if not isinstance(expected, tuple):
        got, expected = (got,), (expected,)
    for one, other in zip(got, expected, strict=True):
        assert_close(np.array(one, float), other, tolerance=tolerance)


class TestSameAsTheFormulations:
    @pytest.mark.parametrize("quantity", [name for name in QUANTITIES if name not in ("torque_projector", "assemble")])
    @pytest.mark.parametrize("robot", ["planar2r", "rx90", "stanford", "scara"])
    def test_every_quantity(self, robot, quantity):
        assert_same(linkwork.load(robot).model, quantity)

    @pytest.mark.parametrize("robot", ["four-bar", "spatial-7r", "flexible-arm", "slider-crank", "space-arm"])
    @pytest.mark.parametrize("quantity", ["hybrid_dynamics", "inertia_matrix", "kinetic_energy", "jacobian"])
    def test_other_structures(self, robot, quantity):
        # Dependent joints and accelerations are solved for: the condition of the equations enlarges rounding.
        assert_same(linkwork.load(robot).model, quantity, tolerance=1e-10)

    @given(recipe=recipes(joints=3))
    def test_random_trees(self, recipe: Recipe):
        model = build(describe(recipe))
        assert_same(model, "inverse_dynamics", recipe.seed)
        assert_same(model, "pose", recipe.seed)

    @given(recipe=recipes(joints=3))
    def test_parameters_as_they_are(self, recipe: Recipe):
        assert_same(build(describe(recipe)), "inertia_matrix", recipe.seed, parameters="standard")

    @pytest.mark.parametrize("switch", ["geometry", "inertias", "friction", "gravity"])
    def test_numbers_in_place_of_symbols(self, switch):
        model = linkwork.load("rx90").model
        assert_same(model, "inverse_dynamics", **{switch: False})
        some = symbolic(model, **{switch: False}).values
        letters = {"geometry": "[dr]", "inertias": "(M|MX|XX|IA)", "friction": "(FS|FV)", "gravity": "G"}[switch]
        assert any(re.fullmatch(rf"{letters}\d", name) for name in symbolic(model).values)
        assert not any(re.fullmatch(rf"{letters}\d", name) for name in some)

    def test_nothing_but_numbers(self):
        how = dict.fromkeys(("geometry", "inertias", "friction", "gravity"), False)
        assert not symbolic(linkwork.load("panda"), "gravity", **how).values
        assert_same(linkwork.load("panda").model, "gravity", **how)

    def test_wrenches(self):
        robot = linkwork.load("rx90")
        q, v, a = inputs(robot.model, "inverse_dynamics")
        wrenches = {"flange": np.arange(1.0, 7.0), "link3": np.array([0.5, -1, 2, 0, 3, 1])}
        model = symbolic(robot, wrenches=list(wrenches))
        assert model.inputs["wrenches"].tolist()[1] == ["FX3", "FY3", "FZ3", "CX3", "CY3", "CZ3"]
        expected = evaluated(robot.model, "inverse_dynamics", q, v, a, wrenches=wrenches)
        assert_close(run(model, q, v, a, list(wrenches.values())), expected)

    def test_many_states_at_once(self):
        model = linkwork.load("planar2r").model
        q, v, a = np.random.default_rng(1).normal(size=(3, 5, 2))
        got = np.transpose(run(symbolic(model), q.T, v.T, a.T))
        assert_close(got, evaluated(model, "inverse_dynamics", q, v, a))

    def test_symbols_stand_for_any_number(self, tmp_path):
        text = (Path(linkwork.__file__).parent / "robots" / "rx90.yaml").read_text()
        changed = (
            text.replace("d: 0.45", "d: 0.3").replace("r: 0.45", "r: 0.5").replace("Fs: 25, Fv: 40", "Fs: 2, Fv: 4")
        )
        (tmp_path / "other.yaml").write_text(changed + "gravity: [0, 0, -1.62]\n")
        other = linkwork.load(tmp_path / "other.yaml").model
        arguments = inputs(other, "inverse_dynamics")
        got = run(symbolic(linkwork.load("rx90")), *arguments, d3=0.3, r4=0.5, FS1=2.0, FV1=4.0, G3=-1.62)
        assert_close(got, evaluated(other, "inverse_dynamics", *arguments))

    def test_a_compiled_function(self):
        robot = linkwork.load("scara")
        function = robot.compile("forward_dynamics", backend="interpreter")
        arguments = inputs(robot.model, "forward_dynamics")
        model = from_program(function.program, function.label)
        assert model.inputs["tau"].tolist() == ["tau1", "tau2", "tau3", "tau4"] and not model.values
        assert_close(run(model, *arguments), function(*arguments))


def steps(text: str) -> dict[str, str]:
    """Name -> expression, of the lines of a text."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return dict(line.split(" = ", 1) for line in lines if line)


class TestReadable:
    def test_the_two_link_arm_reads_like_the_book(self):
        text = symbolic(linkwork.load("planar2r"), "inertia_matrix", expand=True).text()
        assert steps(text) == {
            "ZZR1": "ZZ1 + d2^2*M2",
            "C2": "cos(q2)",
            "M11": "IA1 + ZZR1 + ZZ2 + 2*d2*MX2*C2",
            "M12": "ZZ2 + d2*MX2*C2",
            "M21": "M12",
            "M22": "ZZ2 + IA2",
        }

    def test_letters_and_tags_of_the_paper(self):
        text = symbolic(linkwork.load("rx90"), method="khalil").text()
        found = steps(text)
        assert found["C23"] == "cos(q2 + q3)"
        assert found["w3z"] == "qd2 + qd3"
        assert found["wi3x"] in ("qd1*S23", "S23*qd1")
        assert found["MYR4"] == "MY4 - MZ5"
        assert found["ZZR2"] == "ZZ2 + d3^2*(M3 + M4 + M5 + M6)"
        assert re.search(r"^w3z = .*# \(19\)$", text, re.M) and re.search(r"^F4x = .*# \(22\)$", text, re.M)
        assert list(found)[-6:] == [f"tau{k}" for k in range(1, 7)]

    def test_only_what_acts_is_a_symbol(self):
        values = symbolic(linkwork.load("rx90")).values
        lengths = {name: x for name, x in values.items() if re.fullmatch(r"(d|r|b|alpha|gamma|theta)\d", name)}
        assert lengths == {"d3": 0.45, "r4": 0.45}
        assert values["G3"] == -9.81 and "M1" not in values

    def test_frames_at_the_tip_are_those_of_the_file(self):
        text = symbolic(linkwork.load("rx90"), "pose", frame="flange").text()
        assert "tool6z" in text and "theta6" not in text and not re.search(r"\d\.\d", text)

    @pytest.mark.parametrize("quantity", ["inverse_dynamics", "inertia_matrix", "forward_dynamics", "pose"])
    def test_every_name_is_made_once_and_before_it_is_used(self, quantity):
        frame = {"frame": "flange"} if quantity == "pose" else {}
        model = symbolic(linkwork.load("rx90"), quantity, **frame)
        known = {str(name) for array in model.inputs.values() for name in array.flat} | set(model.values)
        for equation in model.equations:
            used = set(re.findall(r"[A-Za-z]\w*(?!\w*\()", Printer().write(equation.expression)))
            assert used <= known, equation
            assert equation.name not in known
            known.add(equation.name)
        assert {str(name) for array in model.outputs.values() for name in array.flat} <= known

    @pytest.mark.parametrize("quantity", ["inverse_dynamics", "inertia_matrix"])
    @pytest.mark.parametrize("robot", ["planar2r", "rx90", "stanford"])
    def test_the_count_is_that_of_the_equations(self, robot, quantity):
        model = symbolic(linkwork.load(robot), quantity)
        mul = add = 0
        for equation in model.equations:
            tree = ast.parse(PythonPrinter().write(equation.expression))
            if equation.on_line and not (isinstance(equation.expression, Call)):
                for node in ast.walk(tree):
                    if isinstance(node, ast.BinOp):
                        mul += isinstance(node.op, ast.Mult)
                        add += isinstance(node.op, (ast.Add, ast.Sub))
                        mul += node.right.value - 1 if isinstance(node.op, ast.Pow) else 0
        angles = {
            str(e.expression.argument): e.expression.argument for e in model.equations if isinstance(e.expression, Call)
        }
        add += sum(len(angle.terms) - 1 for angle in angles.values())
        assert (mul, add) == (model.operations.mul, model.operations.add)

    def test_fewer_operations_than_symoro(self):
        robot = linkwork.load("rx90", friction=False, rotors=False)  # OpenSYMORO: 273 mul 226 add, 221 mul 154 add
        inverse, inertia = symbolic(robot).operations, symbolic(robot, "inertia_matrix").operations
        assert inverse.mul + inverse.add < 0.9 * (273 + 226) and inverse.mul < 273
        assert inertia.mul + inertia.add < 0.7 * (221 + 154) and inertia.mul < 221

    def test_angles_of_many_joints_are_told_apart(self):
        chain = build(describe(Recipe(joints=12, relations=("parallel",), kinds=("revolute",))))
        pose = symbolic(chain, "pose", frame="tool")
        found = steps(symbolic(chain, "inertia_matrix").text()) | steps(pose.text())
        assert found["C12"].startswith("cos(q12") and found["C1_2"].startswith("cos(q1 + q2")
        assert pose.operations.sincos == 12 and pose.operations.add < 60

    def test_zeros_may_have_symbols_too(self):
        model = symbolic(linkwork.load("planar2r"), "inertia_matrix", zeros=True, expand=True)
        assert steps(model.text())["M12"] in (
            "ZZ2 + d2*(MX2*C2 - MY2*S2)",
            "ZZ2 - d2*(MY2*S2 - MX2*C2)",
            "ZZ2 + d2*(C2*MX2 - S2*MY2)",
        )
        assert model.values["MY2"] == 0

    def test_parameters_as_they_are_are_not_grouped(self):
        model = symbolic(linkwork.load("planar2r"), "inertia_matrix", method="crba", parameters="standard")
        assert "ZZR1" not in steps(model.text())

    def test_tracing_leaves_no_trace_function_behind(self):
        symbolic(linkwork.load("planar2r"))
        assert sys.gettrace() is None
        with pytest.raises(UnsupportedError):
            symbolic(linkwork.load("scara"), "inertia_matrix", method="lin-fang-1-minimal", gravity=False)
        assert sys.gettrace() is None

    def test_a_debugger_keeps_its_trace_function(self):
        robot, called = linkwork.load("planar2r"), []

        def debugger(frame, event, argument):
            called.append(frame.f_code.co_name)

        sys.settrace(debugger)
        try:
            with pytest.warns(linkwork.SymbolsWarning, match="lack the symbols .*debugger.* traces this thread"):
                without = robot.symbolic(method="rnea", parameters="standard")
            assert sys.gettrace() is debugger
        finally:
            sys.settrace(None)
        assert "rnea" in called  # the debugger saw what it was there for
        whole = robot.symbolic(method="rnea", parameters="standard")
        assert without.operations == whole.operations
        assert any(step.tag for step in whole.equations) and not any(step.tag for step in without.equations)

    def test_who_takes_the_trace_function_meanwhile_keeps_it(self):
        def late(frame, event, argument):
            return None

        try:
            with pytest.warns(linkwork.SymbolsWarning, match="late.* started to trace"), Watch(Visit(), print):
                sys.settrace(late)
            assert sys.gettrace() is late
        finally:
            sys.settrace(None)

    def test_letters_in_place_of_names_are_of_variables_that_there_are(self):
        paths = Path(trace_names.__file__).parent.rglob("*.py")
        variables = set().union(*(_variables(compile(path.read_text(), path, "exec")) for path in paths))
        assert variables >= {*trace_names.LETTERS, trace_names.GROUPED}


def _variables(code) -> set[str]:
    """Of all functions in a module that are read."""
    inner = [each for each in code.co_consts if isinstance(each, type(code))]
    return set(code.co_varnames if trace_names.is_read(code) else ()).union(*map(_variables, inner))


class TestLatex:
    @pytest.mark.parametrize(
        ("robot", "quantity"),
        [
            ("planar2r", "forward_dynamics"),
            ("slider-crank", "hybrid_dynamics"),
            ("rx90", "inverse_dynamics"),
            ("rx90", "inertia_matrix"),
            ("space-arm", "inertia_matrix"),
            ("space-arm", "momentum"),
        ],
    )
    def test_every_line_can_be_set(self, robot, quantity):
        mathtext = pytest.importorskip("matplotlib.mathtext")
        text = symbolic(linkwork.load(robot), quantity).latex()
        begin, *lines, end = text.splitlines()
        assert (begin, end) == (r"\begin{align*}", r"\end{align*}")
        assert "'" not in text and not re.search(r"\^\{[^{}]*\}(_\{[^{}]*\})?\^", text)  # no double superscripts
        parser = mathtext.MathTextParser("path")
        for k, line in enumerate(lines):
            assert line.endswith(r" \\") == (k < len(lines) - 1) and line.count(" &= ") == 1
        for line in {re.sub(r"\d", "1", line) for line in lines}:  # which digits they are is no matter of setting
            parser.parse("$" + line.removesuffix(r" \\").replace("&=", "=") + "$")

    def test_names(self):
        text = symbolic(linkwork.load("rx90"), method="khalil").latex()
        for expected in (
            r"C_{23} &= \cos\left(q_{2} + q_{3}\right) \\",
            r"C_{4} &= \cos q_{4} \\",
            r"\omega_{3z} &= \dot{q}_{2} + \dot{q}_{3} \\",
            r"\mathit{MYR}_{4} &= \mathit{MY}_{4} - \mathit{MZ}_{5} \\",
            r"\mathit{FS}_{6}\,\operatorname{sign}\left(\dot{q}_{6}\right)",
        ):
            assert expected in text

    def test_numbers_and_fractions(self):
        how = dict.fromkeys(("geometry", "inertias", "friction", "gravity"), False)
        text = symbolic(linkwork.load("planar2r"), "forward_dynamics", **how).latex()
        assert re.search(r"\\frac\{.*\}\{.*\}", text) and "e-" not in text


class TestSympy:
    def test_the_textbook_equations_of_the_two_link_arm(self):
        """Lagrange's equations of two rods, derived here from their energies."""
        sympy = pytest.importorskip("sympy")
        model = symbolic(linkwork.load("planar2r"))
        t = sympy.Symbol("t")
        q = [sympy.Function(f"theta{k}")(t) for k in (1, 2)]
        ZZ1, ZZ2, MX1, MX2, M2, d2, G2, IA1, IA2 = sympy.symbols("ZZ1 ZZ2 MX1 MX2 M2 d2 G2 IA1 IA2")
        w1, w2 = q[0].diff(t), (q[0] + q[1]).diff(t)
        # of link 2, about its joint: 1/2 m v^2 + v . (w x MS) + 1/2 J w^2, the joint moving with v = d2 w1
        kinetic = (ZZ1 * w1**2 + M2 * d2**2 * w1**2 + 2 * MX2 * d2 * w1 * w2 * sympy.cos(q[1]) + ZZ2 * w2**2) / 2
        kinetic += (IA1 * q[0].diff(t) ** 2 + IA2 * q[1].diff(t) ** 2) / 2
        height = MX1 * sympy.sin(q[0]) + M2 * d2 * sympy.sin(q[0]) + MX2 * sympy.sin(q[0] + q[1])
        lagrangian = kinetic + G2 * height
        torques = model.sympy()["tau"]
        for k in (0, 1):
            force = lagrangian.diff(q[k].diff(t)).diff(t) - lagrangian.diff(q[k])
            for i in (0, 1):
                force = force.subs(q[i].diff(t, 2), sympy.Symbol(f"qdd{i + 1}"))
            for i in (0, 1):
                force = force.subs(q[i].diff(t), sympy.Symbol(f"qd{i + 1}"))
            for i in (0, 1):
                force = force.subs(q[i], sympy.Symbol(f"q{i + 1}"))
            assert sympy.simplify(sympy.expand_trig(force - torques[k])) == 0

    @pytest.mark.parametrize("numbers", [False, True])
    def test_numbers(self, numbers):
        sympy = pytest.importorskip("sympy")
        robot = linkwork.load("scara")
        model = symbolic(robot)
        names = [name for array in model.inputs.values() for name in array.flat]
        arguments = inputs(robot.model, "inverse_dynamics")
        constants = {} if numbers else dict(model.values)
        function = sympy.lambdify([*names, *constants], list(model.sympy(numbers=numbers)["tau"]))
        got = function(*np.concatenate(arguments).tolist(), *constants.values())
        assert_close(got, evaluated(robot.model, "inverse_dynamics", *arguments))

    def test_without_sympy(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "sympy", None)
        with pytest.raises(UnsupportedError, match=r"pip install 'linkwork\[sympy\]'"):
            symbolic(linkwork.load("planar2r"), "gravity").sympy()


class TestRefused:
    def test_parameters(self):
        with pytest.raises(UnknownNameError, match="there is no treatment of parameters 'input'"):
            symbolic(linkwork.load("planar2r"), parameters="input")

    def test_methods_that_need_numbers(self):
        with pytest.raises(UnsupportedError, match="geometry=False, gravity=False, or another method"):
            symbolic(linkwork.load("scara"), "inertia_matrix", method="lin-fang-2-minimal", gravity=False)
        for numbers in ({"geometry": False, "gravity": False}, {}):
            assert_same(linkwork.load("scara").model, "inertia_matrix", method="lin-fang-2-minimal", **numbers)

    def test_too_long(self):
        with pytest.raises(UnsupportedError, match="omit expand=True"):
            symbolic(linkwork.load("rx90"), expand=True)

    def test_the_old_name_of_an_argument(self):
        with pytest.raises(TypeError, match="renamed: use 'expand'"):
            symbolic(linkwork.load("rx90"), written_out=True)

    def test_not_a_robot(self):
        with pytest.raises(UnsupportedError, match="this is not a robot"):
            symbolic("rx90")


class TestThePage:
    """What docs/symbolic-models.md shows is what comes out."""

    @pytest.fixture
    def page(self):
        return (Path(linkwork.__file__).parents[2] / "docs" / "symbolic-models.md").read_text()

    def test_equations(self, page):
        pytest.importorskip("sympy")
        arm, rx90 = linkwork.load("planar2r"), linkwork.load("rx90")
        real = steps(symbolic(rx90, method="khalil").text())
        real |= steps(symbolic(arm, "inertia_matrix", expand=True).text())
        real |= {name: str(e) for name, e in sympy_entries(symbolic(arm, "gravity")).items()}
        shown = [line for block in re.findall(r"^```text\n(.*?)^```", page, re.M | re.S) for line in block.splitlines()]
        assert len(shown) == 11
        for line in shown:
            name, expression = line.split(" = ")
            assert real[name] == expression

    @pytest.mark.parametrize("quantity", ["inverse_dynamics", "inertia_matrix", "forward_dynamics"])
    def test_counts(self, page, quantity):
        counted = symbolic(linkwork.load("rx90", friction=False, rotors=False), quantity).operations
        row = f"| {quantity.replace('_', ' ')} | {counted.mul} / {counted.add} |"
        assert row in page, f"docs/symbolic-models.md: the row begins with {row}"


class TestAngles:
    """The graph with addition theorems computes the same numbers as one without."""

    FORMS = (
        lambda ca, sa, cb, sb, x: ca * cb - sa * sb,
        lambda ca, sa, cb, sb, x: sa * sb - ca * cb,
        lambda ca, sa, cb, sb, x: ca * cb + sa * sb,
        lambda ca, sa, cb, sb, x: sa * cb + ca * sb,
        lambda ca, sa, cb, sb, x: sa * cb - ca * sb,
        lambda ca, sa, cb, sb, x: ca * sb - cb * sa,
        lambda ca, sa, cb, sb, x: (x * ca) * cb - sb * (sa * x),
        lambda ca, sa, cb, sb, x: ca * ca + sa * sa,
        lambda ca, sa, cb, sb, x: ca * ca - sa * sa,
        lambda ca, sa, cb, sb, x: (ca * sb) * x - sb * (x * ca),
        lambda ca, sa, cb, sb, x: ca * sb + sa * sb,  # none
        lambda ca, sa, cb, sb, x: ca * cb - sa * sa,  # none
    )

    @pytest.mark.parametrize("form", range(len(FORMS)))
    def test_same_numbers(self, form):
        a, b, x = 0.7, -1.9, 3.3
        values = []
        for graph in (Graph(), AngleGraph(3)):
            p, q, r = (graph.input(k) for k in range(3))
            result = self.FORMS[form](p.cos(), p.sin(), q.cos(), q.sin(), r)
            values.append((result, number(result, (a, b, x))))
        (plain, expected), (turned, got) = values
        assert math.isclose(got, expected, rel_tol=1e-14, abs_tol=1e-15)
        assert (size(turned) < size(plain)) == (form < 10)

    def test_sums_in_any_order_are_one(self):
        graph = AngleGraph(2)
        a, b, c = (graph.input(k) for k in range(3))

        def cos_sum(x, y):
            return x.cos() * y.cos() - x.sin() * y.sin()

        assert cos_sum(cos_sum_angle(a, b), c) is cos_sum(a, cos_sum_angle(c, b))


def test_every_function_is_shown():
    """As text, LaTeX, Python and sympy."""

    def function(x):
        a, b, c = x
        return {"y": [exp(a), log(b), tanh(a + b), atan2(a, -b), absolute(c), minimum(a, b * c), maximum(c, 2.0)]}

    program = trace("toy", function, [Port("x", (3,))])
    model = from_program(program, Label("toy", "functions", ""))
    text = {e.name: Printer().write(e.expression) for e in model.equations}
    assert [*text.values()] == [
        "exp(x1)", "log(x2)", "tanh(x1 + x2)", "arctan2(x1, -x2)", "abs(x3)", "minimum(x1, x2*x3)", "maximum(x3, 2)",
    ]  # fmt: skip
    shown = model.latex()
    for part in (r"\exp x_{1}", r"\log x_{2}", r"\tanh\left(x_{1} + x_{2}\right)", r"\left|x_{3}\right|",
                 r"\operatorname{atan2}\left(x_{1}, -x_{2}\right)", r"\min\left(x_{1}, x_{2}\,x_{3}\right)",
                 r"\max\left(x_{3}, 2\right)"):  # fmt: skip
        assert part in shown
    x = np.array([0.7, 1.3, -0.4])
    (expected,) = interpret(program, [x])
    exec(model.python(), names := {})
    np.testing.assert_allclose(names["functions"](x), expected, rtol=1e-15)
    values = dict(zip(["x1", "x2", "x3"], x.tolist(), strict=True))
    by_sympy = [float(value.subs(values)) for value in model.sympy()["y"]]
    np.testing.assert_allclose(by_sympy, expected, rtol=1e-14)


def cos_sum_angle(x: Node, y: Node) -> Node:
    """The node of the angle x + y, as the graph makes it."""
    return (x.cos() * y.cos() - x.sin() * y.sin()).a


def number(x, values) -> float:
    if not isinstance(x, Node):
        return float(x)
    if x.op == -1:
        return values[x.a]
    a, b = number(x.a, values), None if x.b is None else number(x.b, values)
    return [lambda: a + b, lambda: a - b, lambda: a * b, lambda: a / b, lambda: -a, lambda: math.sqrt(a),
            lambda: math.sin(a), lambda: math.cos(a)][x.op]()  # fmt: skip


def size(x) -> int:
    """Operations of a tree."""
    return 1 + size(x.a) + (size(x.b) if x.b is not None else 0) if isinstance(x, Node) and x.op != -1 else 0


LEAVES = st.sampled_from([Symbol("x"), Symbol("y"), Number(2.0), Number(0.5), Number(-3.0)])


def wider(inner):
    terms = st.lists(st.tuples(st.sampled_from([1, -1]), inner), min_size=1, max_size=3)
    factors = st.lists(st.tuples(inner, st.sampled_from([1, 1, 2])), min_size=1, max_size=3)
    calls = st.builds(Call, st.sampled_from(["sin", "cos", "sign"]), inner)
    quotients = st.builds(Quotient, inner, inner)
    return st.one_of(terms.map(tuple).map(Sum), factors.map(tuple).map(Product), calls, quotients)


@given(expression=st.recursive(LEAVES, wider, max_leaves=8))
@pytest.mark.parametrize("printer", [Printer(), PythonPrinter()])
def test_brackets_are_where_they_are_needed(printer, expression):
    functions = {"sin": np.sin, "cos": np.cos, "sign": np.sign}
    names = {"x": 0.7, "y": -1.3}
    with np.errstate(all="ignore"):
        expected = evaluate(expression, names, functions, np.float64)
        scope = {name: np.float64(value) for name, value in names.items()} | functions
        text = re.sub(
            r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])", r"float64(\1)", printer.write(expression).replace("^", "**")
        )
        got = eval(text, {"float64": np.float64} | scope)
    np.testing.assert_allclose(got, expected, rtol=1e-9, equal_nan=True)
