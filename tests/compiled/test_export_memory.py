"""Exported functions with memory: C passes its own test and gives what Python steps give, NumPy likewise."""

import ctypes
import runpy
import subprocess

import numpy as np
import pytest
from test_export_c import COMPILERS, FIRST, compile_c

import linkwork
from linkwork.control import MomentumObserver, VelocityObserver
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.targets import c_source

RNG = np.random.default_rng(4)
TOLERANCE = {"float64": 1e-11, "float32": 2e-3}  # the observers divide differences by the period


def filtered(robot, q, rate, memory, period):
    """Memory of several shapes, an input that is no vector of the robot, two outputs."""
    x = memory["x"] + period * rate * (q - memory["x"])
    return {"x": x, "squares": np.outer(x, x)}, {"x": x, "n": memory["n"] + 1, "last": np.outer(q, x)}


def start(robot, v):
    return {"x": 2 * v, "n": 0.0, "last": np.zeros((6, 6))}


def made(case, dtype="float64"):
    robot = linkwork.load({"arm": "ur5e", "rubbing": "puma560", "floating": "quadruped"}.get(case, "ur5e"))
    match case:
        case "filter":
            return robot.function(filtered, memory=start, period=0.01, rate=(), dtype=dtype)
        case "constant":
            values = {"x": np.arange(6.0), "n": 1.0, "last": np.eye(6)}
            return robot.function(filtered, memory=values, period=0.01, rate=(), dtype=dtype)
        case "velocities":
            return robot.function(VelocityObserver(20.0), period=0.02, dtype=dtype)
        case "numbers":
            numbers = ["gravity", "payload:tool0"]
            return robot.function(MomentumObserver(20.0), period=0.02, dtype=dtype, inputs=numbers)
    return robot.function(MomentumObserver(20.0), period=0.02, dtype=dtype)


CASES = ["filter", "constant", "velocities", "numbers", "arm", "rubbing", "floating"]


class Library:
    """The exported C, called through ctypes; the memory is an array of all of its entries."""

    def __init__(self, step, folder, compiler=FIRST):
        self.step, self.name = step, step.to_c(folder)[0].stem
        double = ("-Wdouble-promotion",) if step.dtype == "float32" else ()
        compile_c(
            folder, f"{self.name}.c", compiler=compiler, options=("-O2", "-shared", "-fPIC", *double), output="l.so"
        )
        self.library = ctypes.CDLL(str(folder / "l.so"))
        self.memory = np.full(sum(int(np.prod(shape)) for shape in step.memory.values()), np.nan, step.dtype)

    def call(self, function, *arrays):
        arrays = [x if x is self.memory else np.ascontiguousarray(x, self.step.dtype) for x in arrays]
        getattr(self.library, f"{self.name}_{function}")(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))

    def reset(self, *inputs):
        self.call("reset", *inputs, self.memory)

    def __call__(self, *inputs):
        outputs = [np.full(shape, np.nan, self.step.dtype) for shape in self.step.outputs.values()]
        self.call("step", *inputs, self.memory, *outputs)
        return outputs


def random_inputs(step, rng):
    ports = {port.name: port.shape for port in step.function.program.inputs}
    return [rng.uniform(-1, 1, ports[name]).astype(step.dtype) for name in step.arguments if name != "memory"]


def started(step, rng):
    shapes = [port.shape for port in step.initial.program.inputs]
    return [rng.uniform(-1, 1, shape).astype(step.dtype) for shape in shapes]


def with_memory(step, inputs, memory):
    values = iter(inputs)
    return [memory if name == "memory" else next(values) for name in step.arguments]


def flat(memory):
    return np.concatenate([np.ravel(x) for x in memory.values()])


def near(got, expected, dtype):
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    return np.abs(got - expected).max(initial=0) <= TOLERANCE[dtype] * max(np.abs(expected).max(initial=0), 1e-300)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES)
def test_c_steps_as_python_does(case, dtype, tmp_path):
    step, rng = made(case, dtype), np.random.default_rng(1)
    library = Library(step, tmp_path)
    compile_c(tmp_path, f"{library.name}.c", f"{library.name}_test.c")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{library.name}: 2 runs of 4 steps, 0 wrong entries\n")
    for _ in range(2):  # a reset forgets the run before
        first = started(step, rng)
        library.reset(*first)
        memory = step.start(*first)
        assert near(library.memory, flat(memory), dtype)
        for _ in range(6):
            inputs = random_inputs(step, rng)
            outputs, memory = step(*with_memory(step, inputs, memory))
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            for got, expected in zip(library(*inputs), outputs, strict=True):
                assert near(got, expected, dtype)
            assert near(library.memory, flat(memory), dtype)


def test_the_robots_own_numbers_are_in_the_file(tmp_path):
    step = made("numbers")
    library = Library(step, tmp_path)
    gravity = (ctypes.c_double * 3).in_dll(library.library, f"{library.name}_nominal_gravity")
    assert [*gravity] == [0, 0, -9.81]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_long_programs_are_cut_into_parts(compiler, tmp_path, monkeypatch):
    monkeypatch.setattr(c_source, "PART", 100)
    step = made("rubbing")
    step.to_c(tmp_path, name="cut")
    assert "next_values_part3" in (tmp_path / "cut.c").read_text()
    compile_c(tmp_path, "cut.c", "cut_test.c", compiler=compiler)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "cut: 2 runs of 4 steps, 0 wrong entries\n")


def test_the_test_in_c_fails_if_the_memory_is_not_kept(tmp_path):
    made("filter").to_c(tmp_path, name="f")
    text = (tmp_path / "f.c").read_text()
    assert text.count("memory->n);") == 1 or "memory->n" in text
    (tmp_path / "f.c").write_text(text.replace("void f_step(", "void forgotten(").replace(
        "\n    next_values(", "\n    f_memory other = *memory; memory = &other;\n    next_values(") .replace(
        "void forgotten(", "void f_step("))  # fmt: skip
    compile_c(tmp_path, "f.c", "f_test.c")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert done.returncode == 1 and "wrong entries" in done.stdout


def test_states_of_the_test(tmp_path):
    step = made("filter")
    states = {"q": RNG.normal(size=(7, 6)), "rate": np.linspace(1, 2, 7)}
    step.to_c(tmp_path, name="f", states=states)
    compile_c(tmp_path, "f.c", "f_test.c")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "f: 1 runs of 7 steps, 0 wrong entries\n")
    with pytest.raises(ShapeError, match="3, 7 rows"):
        step.to_c(tmp_path / "a", states=states | {"rate": np.ones(3)})
    with pytest.raises(UnknownNameError, match="'memory_x'"):
        step.to_c(tmp_path / "a", states={"memory_x": np.ones((3, 6))})
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES)
def test_numpy_steps_as_python_does(case, dtype, tmp_path):
    step, rng = made(case, dtype), np.random.default_rng(2)
    (path,) = step.export("numpy", tmp_path / "f.py", name="f")
    module = runpy.run_path(str(path))
    first = [np.stack([x, 2 * x, 3 * x]) for x in started(step, rng)]  # a batch
    memory, other = step.start(*first), module["f_reset"](*first)
    for _ in range(4):
        inputs = random_inputs(step, rng)
        outputs, memory = step(*with_memory(step, inputs, memory))
        others, other = module["f_step"](*inputs, other)
        assert [*other] == [*memory]
        for got, expected in zip(other.values(), memory.values(), strict=True):
            assert np.shape(got) == np.shape(expected) and near(got, expected, dtype)
        outputs, others = (each if isinstance(each, tuple) else (each,) for each in (outputs, others))
        assert all(near(a, b, dtype) for a, b in zip(others, outputs, strict=True))


def test_names_and_targets_that_cannot_be(tmp_path):
    step = made("filter")
    for target in ("casadi", "latex", "text"):
        with pytest.raises(UnsupportedError, match="does not know functions with memory"):
            step.export(target, tmp_path / "f")
    robot = linkwork.load("planar2r")
    for name in ("int", "sin"):
        reserved = robot.function(lambda robot, q, memory: (q, memory), memory={name: 0.0}, period=1.0)
        with pytest.raises(LinkworkError, match=f"cannot be exported.*\n.*{name}"):
            reserved.to_c(tmp_path / "f")
    taken = robot.function(lambda robot, q, run, memory: (q, memory), memory={"x": 0.0}, period=1.0, run=())
    with pytest.raises(LinkworkError, match="cannot be exported"):
        taken.to_c(tmp_path / "f")
    plain = robot.function(lambda robot, q: robot.gravity(q), period=1.0)  # without memory: as a Function
    assert [path.name for path in plain.to_c(tmp_path / "g", name="g")] == ["g.h", "g.c", "g_test.c", "CMakeLists.txt"]
    assert "void g(const double q[2], double result[2]);" in (tmp_path / "g" / "g.h").read_text()
