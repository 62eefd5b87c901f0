"""Exported C: compiles without a warning, passes its own test, and gives what native code gives."""

import ctypes
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from straightline import one_instruction

import linkwork
from linkwork import linalg
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError
from linkwork.function import Function, Label
from linkwork.inspection.states import random_states
from linkwork.model import Layout, Segment
from linkwork.program import Op, Port, Program, interpret, trace
from linkwork.targets import c_source
from support.driven_robots import LAWS, coupled, rubbing
from support.random_robots import Recipe

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
ZIG = (sys.executable, "-m", "ziglang")  # a test dependency: brings clang along
COMMANDS = {"gcc": ("gcc",), "clang": ("clang",) if shutil.which("clang") else (*ZIG, "cc")}
NO_GCC = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
COMPILERS = [pytest.param("gcc", marks=NO_GCC), "clang"]
FIRST = "gcc" if shutil.which("gcc") else "clang"
CMAKE = shutil.which("cmake", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))

DRIVEN = coupled(rubbing(Recipe(seed=2, joints=5), LAWS["all"], friction_width=0.1))
CASES = {
    "inverse": ("panda", "inverse_dynamics", {}),
    "forward, floating": ("quadruped", "forward_dynamics", {}),
    "parallel": ("gough-stewart", "inverse_dynamics", {}),
    "two outputs": ("panda-elastic", "hybrid_dynamics", {}),
    "empty ports": ("panda", "hybrid_dynamics", {}),
    "of a frame": ("panda", "pose", {"frame": "panda_link8"}),
    "matrix": ("panda", "inertia_matrix", {}),
    "rectangle": ("quadruped", "jacobian", {"frame": "trunk"}),
    "scalar": ("ur5e", "kinetic_energy", {}),
    "friction": ("puma560", "inverse_dynamics", {}),
    "friction laws": (DRIVEN, "forward_dynamics", {}),
    "square roots": ("eel", "forward_dynamics", {}),
    "parameters": ("ur5e", "inverse_dynamics", {"inputs": ["parameters"]}),
    "float": ("panda", "inverse_dynamics", {"dtype": "float32"}),
    "float, friction": ("puma560", "forward_dynamics", {"dtype": "float32"}),
}
TOLERANCE = {"float64": 1e-12, "float32": 2e-6}


def compile_c(folder, *sources, compiler=FIRST, options=("-O2",), output="program"):
    command = [*COMMANDS[compiler], *STRICT, *options, *sources, "-o", output, "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(folder, output)


class Exported:
    """The function in a folder, called through ctypes with one state after another."""

    def __init__(self, function, folder, compiler=FIRST, options=("-O2",)):
        self.function = function
        self.paths = function.to_c(folder)
        self.name = self.paths[0].stem
        if function.dtype == "float32":
            options = (*options, "-Wdouble-promotion")
        options = (*options, "-shared", "-fPIC")
        library = compile_c(folder, f"{self.name}.c", compiler=compiler, options=options, output="library.so")
        self.call = getattr(ctypes.CDLL(str(library)), self.name)
        self.call.restype = None

    def __call__(self, *states):
        ports, dtype = self.function.program, self.function.dtype
        states = [np.ascontiguousarray(x, dtype) for x in states]
        outs = [np.full((len(states[0]), *port.shape), np.nan, dtype) for port in ports.outputs]
        for k in range(len(states[0])):
            filled = (array[k:] for array in (*states, *outs) if array[k].size)  # C has no empty arrays
            self.call(*(ctypes.c_void_p(array.ctypes.data) for array in filled))
        return outs


def run_test(folder) -> subprocess.CompletedProcess:
    """Build the test of the function in a folder, and run it."""
    program = compile_c(folder, *(path.name for path in folder.glob("*.c")))
    return subprocess.run([program], capture_output=True, text=True)


def states_of(robot, function, count=20):
    states = random_states(robot, count, seed=3)
    states["parameters"] = np.array([robot.parameters] * count)
    return [states[port.name].astype(function.dtype) for port in function.program.inputs]


def toy(program, dtype="float64"):
    return Function(program, Label("toy", program.name, ""), dtype, "interpreter")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("case", CASES)
def test_c_equals_native_and_passes_its_own_test(case, compiler, tmp_path, deviations):
    name, quantity, options = CASES[case]
    robot = linkwork.load(name)
    function = robot.compile(quantity, **options)
    exported = Exported(function, tmp_path, compiler)
    compile_c(tmp_path, f"{exported.name}.c", f"{exported.name}_test.c", compiler=compiler)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{exported.name}: 5 states, 0 wrong entries\n")

    states = states_of(robot, function)
    native = function(*states)
    for expected, got in zip(native if isinstance(native, tuple) else (native,), exported(*states)):
        axes = tuple(range(1, expected.ndim))
        error = np.max(np.abs(got - expected), axes, initial=0)
        relative = np.max(error / np.maximum(np.max(np.abs(expected), axes, initial=0), 1e-300), initial=0)
        deviations(f"C, {function.dtype}", relative)
        assert relative <= TOLERANCE[function.dtype]


def test_linear_algebra(tmp_path):
    def run(robot, A, b, J, damping):
        L, d = linalg.ldl(A)
        wide, tall = linalg.damped_pinv(J, damping), linalg.damped_pinv(J.T, damping)
        return {"L": L, "d": d, "x": linalg.solve_positive_definite(A, b), "wide": wide, "tall": tall}

    function = linkwork.load("planar2r").function(run, A=(4, 4), b=4, J=(3, 5), damping=())
    rng = np.random.default_rng(0)
    J, damping, A = rng.normal(size=(9, 3, 5)), rng.uniform(0.1, 1, 9), rng.normal(size=(9, 4, 4))
    states = A @ np.swapaxes(A, 1, 2) + 0.1 * np.eye(4), rng.normal(size=(9, 4)), J, damping
    for expected, got in zip(function(*states), Exported(function, tmp_path)(*states), strict=True):
        assert np.abs(got - expected).max() <= 1e-13 * np.abs(expected).max()
    assert run_test(tmp_path).returncode == 0


@pytest.mark.parametrize("how", ("derivative", "vjp", "jvp", "hessian", "hvp", "packed"))
def test_derivatives(how, tmp_path):
    function = linkwork.load("slider-crank").compile("bias")
    made = function.derivative().packed() if how == "packed" else getattr(function, how)()
    exported = Exported(made, tmp_path)
    compile_c(tmp_path, f"{exported.name}.c", f"{exported.name}_test.c")
    assert subprocess.run([tmp_path / "program"], capture_output=True).returncode == 0
    rng = np.random.default_rng(0)
    states = [rng.uniform(0.1, 1, (5, *port.shape)) for port in made.program.inputs]
    native = made(*states)
    for expected, got in zip(native if isinstance(native, tuple) else (native,), exported(*states), strict=True):
        assert np.abs(got - expected).max() <= 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("options", [("-O0",), ("-O3", "-march=native", "-ffp-contract=fast")], ids=" ".join)
def test_whatever_the_optimisation(options, tmp_path):
    robot = linkwork.load("panda-elastic")
    function = robot.hybrid_dynamics
    states = states_of(robot, function)
    for expected, got in zip(function(*states), Exported(function, tmp_path, options=options)(*states)):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_its_own_test_finds_a_mistake(tmp_path):
    linkwork.load("planar2r").inverse_dynamics.to_c(tmp_path)
    file = tmp_path / "planar2r_inverse_dynamics.c"
    text = file.read_text()
    assert text.count("9.81 ") + text.count("9.81;") >= 1
    file.write_text(text.replace("9.81", "9.82"))
    compile_c(tmp_path, file.name, "planar2r_inverse_dynamics_test.c")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "tau[0] is " in done.stdout


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_every_operation(op, dtype, tmp_path):
    function = toy(one_instruction(op), dtype)
    rng = np.random.default_rng(0)
    states = list(rng.uniform(-3, 3, (len(function.program.inputs), 50)).astype(dtype))
    if op in (Op.DIV, Op.SIGN, Op.SIN, Op.COS):
        states[-1][:5] = [0.0, -0.0, np.nan, np.inf, 1e20]
    elif op in (Op.SQRT, Op.LOG, Op.EXP, Op.TANH, Op.ABS):
        states[0][:5] = [0.0, 1.0, np.nan, np.inf, -1.0]
    elif op in (Op.ATAN2, Op.MIN, Op.MAX):
        states[0][:6] = [0.0, -0.0, np.nan, 1.0, np.inf, 2.0]
        states[1][:6] = [-1.0, -2.0, 1.0, np.nan, -np.inf, 2.0]
    with np.errstate(all="ignore"):
        (expected,) = interpret(function.program, states)
    (got,) = Exported(function, tmp_path)(*states)
    np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1e5), ("float32", 8e3)])
def test_sines_and_cosines(dtype, limit, tmp_path):
    """To the rounding of 1, over all quarter turns, up to where the library takes over and beyond."""
    program = trace("both", lambda x: {"s": x.sin(), "c": x.cos()}, [Port("x", ())])
    rng = np.random.default_rng(0)
    turns = np.arange(-200, 200) * np.pi / 4
    x = np.concatenate(
        [turns, turns + 1e-9, rng.uniform(-limit, limit, 5000), limit * np.array([1, -1, 1.01, 30, 100, 0])]
    )
    x = x.astype(dtype)
    wide = x.astype(np.longdouble)
    for got, expected in zip(Exported(toy(program, dtype), tmp_path)(x), (np.sin(wide), np.cos(wide))):
        assert np.max(np.abs(got - expected)) < np.finfo(dtype).eps


def test_outputs_may_share_the_memory_of_inputs(tmp_path):
    robot = linkwork.load("panda")
    function = robot.inverse_dynamics
    states = states_of(robot, function, 1)
    exported = Exported(function, tmp_path)
    q, v, a = (x[0].copy() for x in states)
    exported.call(*(ctypes.c_void_p(x.ctypes.data) for x in (q, v, a, a)))
    np.testing.assert_allclose(a, function(*states)[0], rtol=1e-12)


def test_results_that_are_inputs_are_read_before_they_are_overwritten(tmp_path):
    swap = Program("swap", (Port("x", (2,)),), (Port("y", (3,)),), (7.0,), (), (1, 0, 2)).check()
    exported = Exported(toy(swap), tmp_path)
    x = np.array([1.0, 2.0, 3.0])
    exported.call(*[ctypes.c_void_p(x.ctypes.data)] * 2)
    assert x.tolist() == [2.0, 1.0, 7.0]


@pytest.mark.parametrize(("name", "quantity"), [("quadruped", "forward_dynamics"), ("puma560", "inverse_dynamics")])
def test_large_programs_are_cut_into_parts(name, quantity, tmp_path, monkeypatch):
    robot = linkwork.load(name)
    function = robot.compile(quantity)
    states = states_of(robot, function)
    monkeypatch.setattr(c_source, "PART", 50)
    exported = Exported(function, tmp_path)
    assert "static void part3(" in exported.paths[1].read_text()
    (got,) = exported(*states)
    expected = function(*states)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_inputs_that_do_not_matter(tmp_path):
    program = trace("constant", lambda x, y: {"z": [x[1], 2.5]}, [Port("x", (2,)), Port("y", (3,))])
    (got,) = Exported(toy(program), tmp_path)(np.ones((1, 2)), np.ones((1, 3)))
    assert got.tolist() == [[1.0, 2.5]]


def test_numbers_survive_as_text(tmp_path):
    """Constants of every size, exactly; infinity and NaN too."""
    constants = (0.1, -1 / 3, 1e-310, 1.7976931348623157e308, -0.0, 1e22, float("inf"), -float("inf"), float("nan"))
    n = len(constants)
    program = Program("numbers", (Port("x", (1,)),), (Port("y", (n,)),), constants, (), tuple(range(1, n + 1))).check()
    toy(one_instruction(Op.NEG)).to_c(tmp_path)  # for its folder
    for name, text in c_source.c_source(toy(program), "numbers").items():
        (tmp_path / name).write_text(text)
    library = compile_c(tmp_path, "numbers.c", options=("-shared", "-fPIC"), output="numbers.so")
    x, y = np.zeros(1), np.zeros(n)
    ctypes.CDLL(str(library)).numbers(*(ctypes.c_void_p(z.ctypes.data) for z in (x, y)))
    assert y.tobytes() == np.array(constants).tobytes()


@NO_GCC
def test_cmake_builds_and_tests(tmp_path):
    assert CMAKE  # a test dependency
    linkwork.load("scara").inverse_dynamics.to_c(tmp_path)
    test = [str(Path(CMAKE).with_name("ctest")), "--test-dir", "build", "--output-on-failure"]
    for command in ([CMAKE, "-S", ".", "-B", "build"], [CMAKE, "--build", "build"], test):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout


def test_header_serves_cpp(tmp_path):
    linkwork.load("planar2r").gravity.to_c(tmp_path)
    main = (
        '#include "planar2r_gravity.h"\nint main() { double q[2] = {}, g[2]; planar2r_gravity(q, g); return g[0] < 1; }'
    )
    (tmp_path / "main.cpp").write_text(main)
    compile_c(tmp_path, "-c", "planar2r_gravity.c", output="gravity.o")
    compiler = ("g++",) if shutil.which("g++") else (*ZIG, "c++")
    command = [*compiler, "-Wall", "-Wextra", "-Werror", "-pedantic", "main.cpp", "gravity.o", "-lm", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)


# -- what the files say ----------------------------------------------------------------------------------------------


def test_header_tells_all(tmp_path):
    function = linkwork.load("quadruped").compile("forward_dynamics", wrenches=["trunk"])
    header = function.to_c(tmp_path)[0].read_text()
    lines = " ".join(line.removeprefix(" *").strip() for line in header.splitlines())
    prototype = "void quadruped_forward_dynamics(const double q[19], const double v[18], const double tau[18],"
    assert f"{prototype} const double wrenches[6], double a[18]);" in lines
    assert "Forward dynamics of quadruped, by the method" in lines
    assert str(function.operations) in lines
    assert "Entries of q: 0 base.x, 1 base.y" in lines and "6 base.qw, 7 front_left_hip" in lines
    assert "Entries of v, tau, a: 0 base.x" in lines and "5 base.rz, 6 front_left_hip" in lines
    assert "unit quaternion x, y, z, w" in lines and "Rows of wrenches: trunk" in lines and "row by row" in lines


def test_parameters_are_told_apart(tmp_path):
    function = linkwork.load("planar2r").compile("inverse_dynamics", inputs=["parameters"])
    header = function.to_c(tmp_path)[0].read_text()
    assert "const double parameters[20]" in header
    assert f"on the parameters alone: {function.off_line_operations}" in header


def test_rows_of_parameters_are_named_and_their_values_given(tmp_path):
    """The test of the C code runs on them; a changed value is found."""
    robot = linkwork.load("puma560")
    function = robot.compile("inverse_dynamics", inputs=["parameters"])
    header, source, test, _ = function.to_c(tmp_path)
    lines = " ".join(line.removeprefix(" *").strip() for line in header.read_text().splitlines())
    assert "Rows of parameters: 0 link1, 1 link2" in lines
    assert "extern const double puma560_inverse_dynamics_nominal[60];" in lines
    rows = re.findall(r"^    (.*), /\* (\w+) \*/$", source.read_text(), re.M)
    assert [name for _, name in rows] == [body.name for body in robot.model.bodies]
    assert [[float(x.strip("()")) for x in row.split(", ")] for row, _ in rows] == robot.parameters
    assert "a[row], puma560_inverse_dynamics_nominal, tau);" in test.read_text()
    assert run_test(tmp_path).returncode == 0
    source.write_text(source.read_text().replace("17.4, 1.1832, ", "17.4, 1.2, "))
    assert run_test(tmp_path).returncode == 1


def test_parameters_of_your_own_states(tmp_path):
    robot = linkwork.load("planar2r")
    states = {"q": [[0.1, 0.2]], "parameters": [2 * np.array(robot.parameters)]}
    test = robot.compile("gravity", inputs=["parameters"]).to_c(tmp_path, states=states)[2]
    assert "nominal" not in test.read_text() and run_test(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, ["0 0 -9.81 m/s^2", "viscous, Fv v; Coulomb, Fs sign(v)", "Rotor inertias: included"]),
        (
            {"friction": False, "rotors": False, "gravity": (0, 1.5, 0)},
            ["0 1.5 0 m/s^2", "joints: none", "Rotor inertias: none"],
        ),
    ],
)
def test_header_tells_what_is_built_in(options, told, tmp_path):
    robot = linkwork.load("puma560", **options)
    header = robot.bias.to_c(tmp_path)[0].read_text()
    assert all(words in header for words in [*told, f"linkwork {linkwork.__version__}"]), header
    assert "Gravity" not in robot.inertia_matrix.to_c(tmp_path / "M")[0].read_text()


def test_header_tells_springs_and_surroundings(tmp_path):
    assert "Springs at joints: included." in linkwork.load("panda-elastic").bias.to_c(tmp_path / "a")[0].read_text()
    eel = linkwork.load("eel").bias.to_c(tmp_path / "b")[0].read_text()
    assert "Forces of the surroundings on: " in eel


def test_names_from_files_do_no_harm(tmp_path):
    """Whatever robots and joints are called, comments stay comments and names are names."""
    program = one_instruction(Op.ADD)
    joints = ("*/ int broken;", "/* nested ??/", "trailing \\")
    layouts = {port: Layout((Segment(j, ("",), ("m",), j),)) for port, j in zip("aby", joints, strict=True)}
    label = Label('3 "Röbot"\n*/ oops', "add", "", "böse frame\\", layouts)
    exported = Exported(Function(program, label), tmp_path)
    assert exported.name == "robot_3_R_bot_oops_add_b_se_frame"
    assert exported(np.ones(1), np.ones(1))[0].tolist() == [2.0]


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gravity():
    return linkwork.load("planar2r").gravity


def test_files_are_not_replaced_unasked(gravity, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "CMakeLists.txt").write_text("mine")
    with pytest.raises(LinkworkError, match=r"CMakeLists.txt: the file exists(.|\n)*overwrite"):
        gravity.to_c(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CMakeLists.txt", "notes.txt"]
    assert len(gravity.to_c(tmp_path, overwrite=True)) == 4
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert "planar2r_gravity" in (tmp_path / "CMakeLists.txt").read_text()


def test_a_file_is_no_folder(gravity, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(LinkworkError, match="the folder cannot be made"):
        gravity.to_c(tmp_path / "file" / "deeper")
    with pytest.raises(LinkworkError, match="cannot be"):
        gravity.to_c(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_own_name(gravity, tmp_path):
    assert gravity.to_c(tmp_path / "new" / "folder", name="hold")[0] == tmp_path / "new" / "folder" / "hold.h"
    with pytest.raises(LinkworkError, match="fix: name='hold_it'"):
        gravity.to_c(tmp_path, name="hold it")


@pytest.mark.parametrize("name", ["int", "class", "lambda", "main", "sin", "math", "test", "q", "g", "np"])
def test_names_that_are_taken(name, gravity, tmp_path):
    with pytest.raises(LinkworkError, match=f"fix: name='robot_{name}'"):
        gravity.to_c(tmp_path, name=name)
    with pytest.raises(LinkworkError, match="cannot be the name of a function"):
        gravity.to_numpy(name=name)
    assert not any(tmp_path.iterdir())


def test_own_states(gravity, tmp_path):
    gravity.to_c(tmp_path, states={"q": [[0.125, 0.25], [0.5, 1.0]]})
    assert "q[2][2] = {\n    {0.125, 0.25},\n    {0.5, 1.0}\n};" in (tmp_path / "planar2r_gravity_test.c").read_text()
    with pytest.raises(UnknownNameError, match="there is no input 'tau'"):
        gravity.to_c(tmp_path, states={"tau": [[0, 0]]}, overwrite=True)
    with pytest.raises(ShapeError, match="a row for each state"):
        gravity.to_c(tmp_path, states={"q": [0, 0]}, overwrite=True)
    with pytest.raises(ShapeError, match="not an array of numbers"):
        gravity.to_c(tmp_path, states={"q": np.ones((2, 2)) * 1j}, overwrite=True)
    with pytest.raises(ShapeError, match="not an array of numbers"):
        gravity.to_c(tmp_path, states={"q": ["a", "b"]}, overwrite=True)
    with pytest.raises(LinkworkError, match="no state was found"):
        gravity.to_c(tmp_path, states={"q": [[np.inf, 0]]}, overwrite=True)


def test_no_inputs(tmp_path):
    f = linkwork.load("planar2r").function(lambda robot: {"one": np.eye(2), "pi": np.pi}, name="constants")
    f.to_c(tmp_path, name="f")
    assert subprocess.run([compile_c(tmp_path, "f.c", "f_test.c")], check=True, capture_output=True)


# Names of arguments that some languages refuse
REFUSED = {
    "k": set(), "row": {"c"}, "main": {"c"}, "w": set(), "workspace": {"c"}, "t0": {"c", "numpy"}, "np": {"numpy"},
    "less": {"c", "python"}, "minimum": {"c", "numpy", "python"}, "q1": {"python"}, "test": set(), "out_": set(),
    "a__b": set(), "gamma": set(),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_some_languages_refuse(name, tmp_path):
    function = lambda robot, q, given: {"y": np.minimum(q, given), "z": np.where(given < q, q, 2.0)}  # noqa: E731
    call = lambda robot, q, **named: function(robot, q, *named.values())  # noqa: E731
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
    robot, q, given = (inspect.Parameter(each, kinds[each != "robot"]) for each in ("robot", "q", name))
    call.__signature__ = inspect.Signature([robot, q, given])
    compiled = linkwork.load("planar2r").function(call, name="f", **{name: (2,)})
    x = np.array([0.05, 0.4]), np.array([0.3, -0.2])
    for target in ("c", "numpy", "python", "latex", "sympy", "text"):
        if target in REFUSED[name]:
            with pytest.raises(
                LinkworkError, match=rf"cannot be exported\n  got: {name}\n  expected: .*\n  fix: rename"
            ):
                compiled.export(target, tmp_path / target, name="f")
            continue
        path = compiled.export(target, tmp_path / target, name="f")[0]
        if target == "c":
            program = compile_c(path.parent, "f.c", "f_test.c", options=("-std=gnu99",))
            subprocess.run([program], check=True, capture_output=True)
        elif target in ("numpy", "python"):
            for made, expected in zip(runpy.run_path(str(path))["f"](*x), compiled(*x), strict=True):
                assert np.allclose(made, expected, rtol=1e-15)


@pytest.mark.parametrize("part", [5, 8000])
def test_short_names_of_gains_and_wrenches(part, tmp_path, monkeypatch):
    """k and w, which controllers like, are names of inputs and outputs, also of a program in parts."""
    monkeypatch.setattr(c_source, "PART", part)
    law = lambda robot, q, k, v: {"tau": robot.gravity(q) + k * q, "w": k * v}  # noqa: E731
    back = lambda robot, q, w, v: {"tau": robot.gravity(q) + w * q, "k": w * v}  # noqa: E731
    robot = linkwork.load("planar2r")
    robot.function(back, w=2).to_c(tmp_path, name="back")
    robot.function(law, k=2).to_c(tmp_path, name="f", overwrite=True)
    assert ("workspace[" in (tmp_path / "f.c").read_text()) == (part == 5)
    for name in ("f", "back"):
        subprocess.run([compile_c(tmp_path, f"{name}.c", f"{name}_test.c")], check=True, capture_output=True)


def test_states_of_the_test_suit_the_number_type(tmp_path):
    """At most random states these functions lose more digits inside than float32 has to spare."""
    for name in ("flexible-two-link", "gough-stewart"):
        linkwork.load(name).compile("forward_dynamics", dtype="float32").to_c(tmp_path / name)
        assert run_test(tmp_path / name).returncode == 0


def test_a_function_without_results_in_c(tmp_path):
    """A robot without loops has no residual of loops: its test has nothing to compare, and no warnings."""
    linkwork.load("planar2r").compile("loop_residual").to_c(tmp_path)
    assert run_test(tmp_path).returncode == 0
