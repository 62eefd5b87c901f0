"""Exported NumPy source and CasADi functions: the same results, names and shapes as native code."""

import builtins
import re
import subprocess
import sys

import casadi
import numpy as np
import pytest
from straightline import one_instruction

import linkwork
from linkwork.errors import LinkworkError, UnsupportedError
from linkwork.formulations import QUANTITIES
from linkwork.function import Function, Label
from linkwork.inspection.states import random_states
from linkwork.model import Layout, Segment
from linkwork.program import Op, Port, Program, interpret
from linkwork.targets.c_source import c_source
from support.driven_robots import LAWS, coupled, rubbing
from support.random_robots import Recipe

DRIVEN = coupled(rubbing(Recipe(seed=2, joints=5), LAWS["all"], friction_width=0.1))
CASES = {
    "inverse": ("panda", "inverse_dynamics", {}),
    "forward, floating": ("quadruped", "forward_dynamics", {}),
    "parallel": ("gough-stewart", "forward_dynamics", {}),
    "two outputs": ("panda-elastic", "hybrid_dynamics", {}),
    "empty ports": ("panda", "hybrid_dynamics", {}),
    "of a frame": ("panda", "pose", {"frame": "panda_link8"}),
    "rectangle": ("quadruped", "jacobian", {"frame": "trunk"}),
    "scalar": ("ur5e", "kinetic_energy", {}),
    "friction": ("puma560", "inverse_dynamics", {}),
    "friction laws": (DRIVEN, "forward_dynamics", {}),
    "square roots": ("eel", "forward_dynamics", {}),
    "parameters": ("ur5e", "inverse_dynamics", {"inputs": ["parameters"]}),
    "wrenches": ("ur5e", "bias", {"wrenches": ["tool0", "forearm_link"]}),
    "float": ("panda", "inverse_dynamics", {"dtype": "float32"}),
}
TOLERANCE = {"float64": 1e-12, "float32": 2e-6}


def make(case, batch=(4, 5)):
    """Function, states and native results."""
    name, quantity, options = CASES[case]
    robot = linkwork.load(name)
    function = robot.compile(quantity, **options)
    count = int(np.prod(batch))
    states = random_states(robot, count, seed=5)
    states["parameters"] = np.array([robot.parameters] * count)
    states["wrenches"] = np.random.default_rng(0).normal(size=(count, 2, 6))
    inputs = [states[p.name].astype(function.dtype).reshape(*batch, *p.shape) for p in function.program.inputs]
    return function, inputs, tuple_of(function(*inputs))


def tuple_of(results):
    return results if isinstance(results, tuple) else (results,)


def close(got, expected, shape, tolerance):
    """Relative to the largest entry of the state's result."""
    axes = tuple(range(expected.ndim - len(shape), expected.ndim))
    scale = np.max(np.abs(expected), axes, initial=0, keepdims=True)
    return got.shape == expected.shape and np.all(np.abs(got - expected) <= tolerance * scale)


def load_source(text):
    """The only function of a file that others may call, with NumPy alone at hand."""

    def only_numpy(name, *args):
        assert name.partition(".")[0] == "numpy", name
        return builtins.__import__(name, *args)

    names = {"__builtins__": {**vars(builtins), "__import__": only_numpy}}
    exec(text, names)
    (function,) = (x for key, x in names.items() if callable(x) and re.match("[a-z]", key) and hasattr(x, "__code__"))
    return function


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_every_operation(op):
    function = Function(one_instruction(op), Label("toy", "operation", ""), "float64", "interpreter")
    states = list(np.random.default_rng(0).uniform(-3, 3, (len(function.program.inputs), 50)))
    if op in (Op.SQRT, Op.LOG):
        states[0] = np.abs(states[0])
    (expected,) = interpret(function.program, states)
    np.testing.assert_allclose(load_source(function.to_numpy())(*states), expected, rtol=1e-15)
    symbolic = function.to_casadi()
    np.testing.assert_allclose([float(symbolic(*state)) for state in zip(*states)], expected, rtol=1e-14)


# -- NumPy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_numpy_equals_native(case):
    function, inputs, native = make(case)
    exported = load_source(function.to_numpy())
    assert exported.__code__.co_varnames[: len(inputs)] == tuple(port.name for port in function.program.inputs)
    whole = tuple_of(exported(*inputs))
    one = tuple_of(exported(*(x[1, 2] for x in inputs)))
    assert len(whole) == len(one) == len(native)
    for port, batch, single, expected in zip(function.program.outputs, whole, one, native):
        assert batch.dtype == single.dtype == expected.dtype
        assert close(batch, expected, port.shape, TOLERANCE[function.dtype])
        assert np.shape(single) == port.shape
        assert close(single, expected[1, 2], port.shape, TOLERANCE[function.dtype])


@pytest.mark.parametrize("name", ["quadruped", "gough-stewart", "four-bar", "flexible-arm"])
def test_every_quantity(name):
    """Whatever goes in and out: floating bases, loops, motors."""
    robot = linkwork.load(name)
    states = random_states(robot, 3, seed=5)
    exported = 0
    for quantity, asked in QUANTITIES.items():
        frame = robot.frame_names[-1] if asked.of_frame else None
        try:
            function = robot.compile(quantity, frame=frame, backend="interpreter")
        except UnsupportedError:
            continue
        exported += 1
        inputs = [states[port.name] for port in function.program.inputs]
        results = tuple_of(load_source(function.to_numpy())(*inputs))
        for port, got, expected in zip(function.program.outputs, results, tuple_of(function(*inputs))):
            assert close(got, expected, port.shape, 1e-13), quantity
        assert name in c_source(function, "name")["name.h"]
    assert exported >= 18


def test_numpy_broadcasts_and_takes_lists():
    function, (q, v, a), _ = make("inverse")
    exported = load_source(function.to_numpy())
    np.testing.assert_allclose(exported(q, v[:, :1], a[0]), function(q, v[:, :1], a[0]), rtol=1e-12, atol=1e-12)
    assert exported([0] * 7, [0] * 7, [0] * 7).shape == (7,)
    assert exported(q[:0], v[:0], a[:0]).shape == (0, 5, 7)
    with pytest.raises(ValueError, match=r"v: got shape \(6,\), expected \(..., 7\)"):
        exported([0] * 7, [0] * 6, [0] * 7)


@pytest.mark.parametrize("wrong", [np.ones(7) * 1j, np.ma.masked_less(np.ones(7), 2), np.array(["x"] * 7), [None] * 7])
def test_numpy_takes_real_numbers_alone(wrong):
    exported = load_source(make("inverse")[0].to_numpy())
    with pytest.raises(TypeError, match=r"v: got .* expected an array of real numbers"):
        exported([0] * 7, wrong, [0] * 7)


def test_numpy_docstring_tells_all():
    function, *_ = make("wrenches")
    exported = load_source(function.to_numpy())
    text = " ".join(exported.__doc__.split())
    assert exported.__name__ == "ur5e_bias"
    assert text.startswith(f"Bias of ur5e, by the method {function.label.method}. Inputs: q (6): positions, rad")
    assert str(function.operations) in text and "Rows of wrenches: tool0, forearm_link" in text
    assert "Entries of q, v, b: 0 shoulder_pan_joint" in text


def test_the_head_tells_axes_and_payload():
    robot = linkwork.load("ur5e")
    for axes, told in (("world", "in axes of the world"), ("local", "in the frame's own axes")):
        function = robot.compile("jacobian", frame="tool0", axes=axes, backend="interpreter")
        assert f"Jacobian of tool0 of ur5e, {told}." in c_source(function, "name")["name.h"]
        assert f"Jacobian of tool0 of ur5e, {told}." in function.to_numpy()
    loaded = c_source(robot.compile("gravity", inputs=["payload:tool0"], backend="interpreter"), "name")["name.h"]
    assert "payload_tool0 (10): payload at tool0: mass, centre of mass in its frame" in loaded
    assert "Entries of payload_tool0: 0 M, 1 X, 2 Y" in loaded
    assert "Jacobian" not in loaded
    rows = robot.compile("gravity", inputs=["parameters"], backend="interpreter").to_numpy()
    mass = robot.parameters[0][0]
    assert "Rows of parameters: 0 shoulder_link, 1 upper_arm_link" in rows and f"shoulder_link: {mass!r}, " in rows
    assert f"Made by linkwork {linkwork.__version__}; needs NumPy alone." in rows and "Gravity: 0 0 -9.81" in rows


def test_the_head_tells_where_packed_entries_are():
    """Without it nobody could put them into their places who has the file alone."""
    function = linkwork.load("ur5e").compile("inverse_dynamics_derivatives", backend="interpreter")
    exported = load_source(function.packed().to_numpy())
    text, states = " ".join(exported.__doc__.split()), np.random.default_rng(0).normal(size=(3, 6))
    for name, entries, expected in zip(function(*states)._fields, exported(*states), function(*states), strict=True):
        shape = " x ".join(map(str, expected.shape))
        told = re.search(f"Packed {name}, of {shape}; row by row the number[^:]*:((?: =?[-0-9.e]+)*)", text)
        found = [float(k[1:]) if k.startswith("=") else entries[int(k)] for k in told[1].split()]
        np.testing.assert_allclose(np.reshape(found, expected.shape), expected, rtol=1e-12)
    assert "=0.0" in text and re.search(r"M \(\d+\): inertia matrix, SI", text)


def test_numpy_file_runs_without_linkwork(tmp_path):
    function = linkwork.load("planar2r").gravity
    file = tmp_path / "new" / "holding.py"
    assert function.to_numpy(file, name="hold") == file.read_text()
    script = "import sys; from holding import hold; print(repr(hold([0.3, 0.5]).tolist()), 'linkwork' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=file.parent, capture_output=True, text=True, check=True)
    values, imported = done.stdout.rsplit(maxsplit=1)
    np.testing.assert_allclose(eval(values), function([0.3, 0.5]), rtol=1e-14)
    assert imported == "False"
    with pytest.raises(LinkworkError, match="the file exists"):
        function.to_numpy(file)
    function.to_numpy(file, overwrite=True)
    assert "def planar2r_gravity(q):" in file.read_text()


def test_numpy_names_from_files_do_no_harm():
    program = Program("add", (Port("x", (2,)),), (Port("y", ()),), (-3.0,), ((Op.ADD, 0, 2),), (3,)).check()
    layout = Layout(tuple(Segment(name, ("",), ("m",), name) for name in ('"', "\\N{oops}")))
    label = Label('"""\nimport os', "add", "\\", "", {"x": layout})
    assert load_source(Function(program, label, backend="interpreter").to_numpy())([1.0, 2.0]) == -2.0


# -- CasADi ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in CASES if case != "float"])
def test_casadi_equals_native(case):
    function, inputs, native = make(case, (3,))
    exported = function.to_casadi()
    assert exported.name_in() == [port.name for port in function.program.inputs]
    assert exported.name_out() == [port.name for port in function.program.outputs]
    for k in range(3):
        results = exported.call([x[k] for x in inputs])
        for port, got, expected in zip(function.program.outputs, results, native):
            rows, columns = (*port.shape, 1, 1)[:2]
            assert got.shape == (rows, columns)
            assert close(np.array(got).reshape(port.shape), expected[k], port.shape, 1e-12)


@pytest.mark.parametrize("case", ["inverse", "forward, floating", "square roots"])
def test_casadi_differentiates(case):
    """Against a complex step of the interpreter: exact to rounding."""
    function, inputs, _ = make(case, (1,))
    exported, state = function.to_casadi(), [x[0] for x in inputs]
    symbols = [casadi.SX.sym(port.name, port.size) for port in function.program.inputs]
    jacobian = casadi.Function("jacobian", symbols, [casadi.jacobian(exported(*symbols), casadi.vertcat(*symbols))])
    n = sum(map(len, state))
    stacked = np.tile(np.concatenate(state), (n, 1)) + 1e-30j * np.eye(n)
    steps = np.split(stacked, np.cumsum([len(x) for x in state])[:-1], axis=1)
    (moved,) = interpret(function.program, steps)
    expected = moved.imag.T / 1e-30
    np.testing.assert_allclose(np.array(jacobian(*state)), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_casadi_by_name_and_saved(tmp_path):
    function, (q, v, a), (tau,) = make("inverse", (1,))
    exported = function.to_casadi(name="torques")
    assert exported.name() == "torques"
    exported.save(str(tmp_path / "torques.casadi"))
    again = casadi.Function.load(str(tmp_path / "torques.casadi"))
    np.testing.assert_allclose(np.array(again(q=q[0], v=v[0], a=a[0])["tau"])[:, 0], tau[0], rtol=1e-12, atol=1e-12)


def test_without_casadi(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(UnsupportedError, match=re.escape("pip install 'linkwork[casadi]'")):
        linkwork.load("planar2r").gravity.to_casadi()
