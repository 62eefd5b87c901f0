"""Every entry of every quantity is printed, in each language, and has the value of the compiled function."""

import re

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError
from linkwork.formulations import QUANTITIES
from linkwork.scalar import less, less_equal, where
from linkwork.symbolic.latex import LatexPrinter

NAMES = ("sin", "cos", "sqrt", "sign", "exp", "log", "tanh", "arctan2", "abs", "minimum", "maximum")
FUNCTIONS = {name: getattr(np, name) for name in NAMES} | {"where": where, "less": less, "less_equal": less_equal}
STATE = 0.1  # away from home, where a loop's residual would be rounding noise


def cases(robot, *quantities):
    """Quantities that the robot has: equations, state by input, and what the compiled function gives by output."""
    rng = np.random.default_rng(3)
    for quantity in quantities or QUANTITIES:
        how = {"frame": robot.frame_names[-1]} if QUANTITIES[quantity].of_frame else {}
        try:
            function = robot.compile(quantity, backend="interpreter", **how)
        except LinkworkError:  # feet and loops that this robot has not
            continue
        if function.program.loops:  # they have no list of equations
            continue
        state = {port.name: rng.normal(size=port.shape) for port in function.program.inputs}
        if "q" in state and robot.model.home:
            state["q"] = np.array(robot.model.home) + STATE * state["q"]
        expected = function(**state)
        arrays = expected if isinstance(expected, tuple) else (expected,)
        names = [port.name for port in function.program.outputs]
        yield robot.symbolic(quantity, **how), state, dict(zip(names, map(np.asarray, arrays), strict=True))


def symbols(model, state) -> dict:
    pairs = ((names, state[port]) for port, names in model.inputs.items())
    return dict(model.values) | {
        name: x for names, array in pairs for name, x in zip(names.flat, array.flat, strict=True)
    }


def by_text(model, state) -> dict[str, float]:
    known = symbols(model, state)
    for line in model.text().splitlines():
        if statement := line.partition("#")[0].strip():
            name, expression = statement.split(" = ")
            known[name] = eval(expression.replace("^", "**"), {"__builtins__": {}}, FUNCTIONS | known)
    return known


def assert_equal(model, expected, entry):
    for port, array in expected.items():
        names = model.outputs[port]
        assert names.shape == array.shape and len({*names.flat}) == names.size
        got = np.array([entry(name) for name in names.flat], float).reshape(array.shape)
        scale = np.abs(array).max(initial=1e-6)
        np.testing.assert_allclose(got, array, rtol=0, atol=1e-9 * scale, err_msg=f"{model.label.quantity} {port}")


@pytest.mark.parametrize("name", ["planar2r", "scara", "four-bar"])
def test_every_quantity(name):
    """As text and as Python: the numbers; as LaTeX: a line for each entry."""
    found = [*cases(linkwork.load(name))]
    assert len(found) > 15
    for model, state, expected in found:
        assert_equal(model, expected, by_text(model, state).__getitem__)
        exec(model.python(), space := {})
        results = space[model.label.quantity](*state.values())
        for array, result in zip(expected.values(), results if len(expected) > 1 else (results,), strict=True):
            got = np.array(result, float) if array.size else np.empty(array.shape)
            np.testing.assert_allclose(got, array, rtol=0, atol=1e-9 * np.abs(array).max(initial=1e-6))
        entries = [LatexPrinter().symbol(entry) for names in model.outputs.values() for entry in names.flat]
        assert len({*entries}) == len(entries)
        assert {*entries} <= {*re.findall(r"^(.*?) &= ", model.latex(), re.MULTILINE)}


@pytest.mark.parametrize("name", ["planar2r", "scara"])
def test_sympy_has_whole_matrices(name):
    sympy = pytest.importorskip("sympy")
    names = ("inverse_dynamics", "inertia_matrix", "coriolis_matrix", "kinetic_energy", "pose", "jacobian", "gravity")
    for model, state, expected in cases(linkwork.load(name), *names):
        known = symbols(model, state)
        for port, whole in model.sympy().items():
            array = expected[port]
            assert getattr(whole, "shape", ()) == ((*array.shape, 1)[:2] if array.ndim else ())
            got = sympy.lambdify([*known], whole)(*known.values())
            np.testing.assert_allclose(np.reshape(got, array.shape), array, rtol=1e-9, atol=1e-9)


def test_sympy_of_three_axes():
    pytest.importorskip("sympy")
    from linkwork.symbolic import from_program

    robot = linkwork.load("planar2r")
    hessian = robot.gravity.hessian("q")
    model = from_program(hessian.program, hessian.label)
    q = np.array([0.3, -0.4])
    for port, whole in model.sympy().items():
        values = dict(zip(model.inputs["q"].flat, q, strict=True))
        got = np.array(whole.subs(values).tolist(), float)
        np.testing.assert_allclose(got, np.asarray(hessian(q)), rtol=1e-12, atol=1e-12, err_msg=port)


def test_equal_entries_are_all_there():
    """T21 of the SCARA equals T12, and M is symmetric: neither leaves an entry out, written out or not."""
    pose = linkwork.load("scara").symbolic("pose", frame="flange").text()
    assert "\nT12 = S12m4\n" in pose and "\nT21 = S12m4\n" in pose
    panda = linkwork.load("panda").symbolic("inertia_matrix").text()
    assert {f"M{i}{k}" for i in range(1, 8) for k in range(1, 8)} <= {*re.findall(r"^(M\d\d) = ", panda, re.MULTILINE)}
    short = linkwork.load("planar2r").symbolic("inertia_matrix", expand=True).text()
    assert "\nM21 = M12\n" in short


def test_entries_are_told_from_masses_of_the_same_number():
    """M11 is a mass of the delta robot, and M11_2 would read as row 11, column 2."""
    model = linkwork.load("delta").symbolic("inertia_matrix")
    assert "M11" in model.values
    assert model.outputs["M"].tolist() == [[f"M{i}_{j}" for j in (1, 2, 3)] for i in (1, 2, 3)]


@pytest.mark.parametrize("parameters", ["minimal", "standard"])
def test_a_regressor_has_the_columns_of_the_compiled_one(parameters):
    robot = linkwork.load("rx90")
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 6))
    exec(robot.symbolic("regressor", parameters=parameters).python(), space := {})
    expected = robot.compile("regressor", parameters=parameters)(q, v, a)
    got = np.array(space["regressor"](q, v, a), float)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
