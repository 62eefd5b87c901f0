"""Functions in stages: what depends on numbers of the robot alone, and the rest; and functions prepared for numbers."""

import shutil
import subprocess

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, ShapeError, UnknownNameError
from linkwork.program import interpret, split_stages, with_known
from support.evaluate import assert_close

INPUTS = (["payload:tool0"], ["parameters"], ["gravity", "friction", "rotor_inertia"], ["geometry"], ["geometry:tool0"])


def numbers(f, seed=0):
    """Other numbers than the robot's own, for every input that holds some."""
    rng, ports = np.random.default_rng(seed), {port.name: port for port in f.program.inputs}
    arrays = {name: each.array(ports[name]) for name, each in f.label.nominal.items()}
    return {name: x + 0.1 * rng.uniform(size=x.shape) for name, x in arrays.items()}


def states(f, count=9):
    rng = np.random.default_rng(1)
    return {p.name: rng.normal(size=(count, *p.shape)) for p in f.program.inputs if p.stage == "state"}


def outputs(result):
    return result if isinstance(result, tuple) else (result,)


def same(a, b):
    assert all(np.array_equal(x, y) for x, y in zip(outputs(a), outputs(b), strict=True))


def check(f):
    """Both stages together, and the prepared function, give the bits of the whole."""
    before, after = f.stages()
    x = states(f)
    for values in ({}, numbers(f)):
        whole = f(**x, **values)
        same(after(**x, prepared=before(**values)), whole)
        g = f.prepare(values)
        assert [port.name for port in g.program.inputs] == [*x]
        same(g(**x), whole)
        one = {name: each[3] for name, each in x.items()}
        same(g(**one), tuple(each[3] for each in outputs(whole)))
    assert after.operations == f.operations and not after.off_line_operations.instructions
    assert before.operations == f.off_line_operations
    assert g.operations.instructions <= f.operations.instructions
    return g


@pytest.mark.parametrize("backend, dtype", [("native", "float64"), ("native", "float32"), ("interpreter", "float64")])
@pytest.mark.parametrize("inputs", INPUTS, ids=str)
def test_equal_to_the_whole(inputs, backend, dtype):
    robot = linkwork.load("ur5e")
    for quantity in ("inverse_dynamics", ["inertia_matrix", "pose:tool0"]):
        check(robot.compile(quantity, inputs=inputs, backend=backend, dtype=dtype))


@pytest.mark.parametrize("name", ["quadruped", "panda-elastic", "flexible-crane", "delta"])
def test_other_robots(name):
    robot = linkwork.load(name)
    for inputs in (["mass", "gravity"], ["geometry"]):
        check(robot.compile("bias", inputs=inputs, backend="interpreter"))


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_loops(backend):
    """Loops whose values depend on the numbers, and a loop of the numbers alone."""

    def settled(robot, q):
        stiffness = linkwork.find_root(lambda x: x**3 - robot.gravity(np.zeros(1))[0] - 2, 1.0).x
        return linkwork.repeat(lambda x: x - 0.01 * stiffness * robot.gravity(x), q, 5)

    check(linkwork.load("four-bar").compile("assemble", inputs=["geometry:coupler"], backend=backend))
    pendulum = {"name": "pendulum", "joints": [{"name": "hinge", "alpha": "pi/2", "M": 1, "MX": 0.3, "ZZ": 0.1}]}
    f = linkwork.load(pendulum).function(settled, inputs=["gravity"], backend=backend)
    check(f)
    assert len(f.program.loops) == 2 and [len(each.program.loops) for each in f.stages()] == [1, 1]


def test_prepared_is_as_good_as_plain():
    """With the robot's own numbers, the operations are those of the function without inputs."""
    robot = linkwork.load("panda")
    plain = robot.compile("inverse_dynamics", method="rnea")
    f = robot.compile("inverse_dynamics", method="rnea", inputs=["gravity", "friction", "payload:panda_link8"])
    g = f.prepare()
    assert g.operations.instructions <= 1.03 * plain.operations.instructions
    q, v, a = np.random.default_rng(2).normal(size=(3, 7))
    assert_close(g(q, v, a), plain(q, v, a))


def test_odd_splits():
    robot = linkwork.load("planar2r")
    unused = robot.compile("pose", frame="tip", inputs=["gravity"])  # nothing depends on gravity
    before, after = unused.stages()
    assert before([1, 2, 3]).shape == (0,) and np.array_equal(after([0.1, 0.2], np.zeros(0)), unused([0.1, 0.2]))
    assert np.array_equal(unused.prepare()([0.1, 0.2]), unused([0.1, 0.2]))

    def early(robot, q):
        return {"weight": robot.center_of_mass(q * 0), "both": robot.gravity(q)}

    f = robot.function(early, inputs=["mass", "geometry"])
    check(f)
    assert f.prepare()([0.3, 0.4]).weight.shape == (3,)


def test_prepared_functions_are_functions(tmp_path):
    robot = linkwork.load("ur5e")
    f = robot.compile("inverse_dynamics", inputs=["payload:tool0", "gravity"])
    values = numbers(f)
    g = f.prepare(values)
    x = states(f)
    assert_close(g.derivative("q")(**x), f.derivative("q")(**x, **values))
    same(f.derivative("q").prepare(values)(**x), f.derivative("q")(**x, **values))
    same(f.prepare({"payload:tool0": values["payload_tool0"]}, gravity=values["gravity"])(**x), g(**x))
    push = {"tool0": np.arange(6.0)}
    same(g(**x, wrenches=push), f(**x, **values, wrenches=push))
    g.save(tmp_path / "g.json")
    same(linkwork.Function.load(tmp_path / "g.json")(**x), g(**x))
    before, after = f.stages()
    assert before is f.stages()[0]
    for each in (before, after):
        each.save(tmp_path / "stage.json")
        assert linkwork.Function.load(tmp_path / "stage.json").signature == each.signature
    assert before.label.nominal.keys() == {"payload_tool0", "gravity"}
    same(before(), before(*(each.values for each in f.label.nominal.values())))
    assert "what depends on gravity, payload_tool0 alone" in after.__doc__
    many = {name: np.stack([each, each * 1.1]) for name, each in values.items()}
    same(
        after(**{k: y[:2] for k, y in x.items()}, prepared=before(**many)),
        f(**{k: y[:2] for k, y in x.items()}, **many),
    )


def test_derivatives_along_loops():
    """Along the tangent of closed loops, which depends on the geometry."""
    robot = linkwork.load("delta")
    f = robot.compile("gravity", inputs=["geometry"])
    q, values = np.array(robot.home), numbers(f)
    slope = f.derivative("q")
    assert [port.name for port in slope.program.inputs] == ["q", "geometry"]
    assert_close(f.prepare(values).derivative("q")(q), slope(q, **values))
    before, after = f.stages()
    assert_close(after.derivative("q")(q, before(**values)), slope(q, **values))
    direction = f.tangents["q"]
    (tangent,) = interpret(direction, [q, values["geometry"]])
    (nominal,) = interpret(direction, [q, f.label.nominal["geometry"].array(f.program.inputs[-1])])
    assert np.abs(tangent - nominal).max() > 1e-3
    h = 1e-6
    for k in range(tangent.shape[1]):
        change = (f(q + h * tangent[:, k], **values) - f(q - h * tangent[:, k], **values)) / (2 * h)
        assert np.abs(slope(q, **values)[:, k] - change).max() < 1e-6 * (1 + np.abs(change).max())


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_stages_in_c(tmp_path):
    arm = linkwork.load("planar2r")
    f = arm.compile("inverse_dynamics", inputs=["payload:tip", "gravity"])
    loop = arm.function(lambda robot, q: linkwork.repeat(lambda x: x + robot.gravity(x), q, 3), inputs=["gravity"])
    parts = zip(("before", "after", "before_loop", "after_loop"), (*f.stages(), *loop.stages()), strict=True)
    for name, each in parts:
        folder = tmp_path / name
        each.to_c(folder, name=name)
        command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"{name}.c", f"{name}_test.c", "-lm", "-o", name]
        subprocess.run(command, cwd=folder, check=True)
        assert "0 wrong" in subprocess.run([f"./{name}"], cwd=folder, capture_output=True, text=True).stdout


def test_exact_simplification():
    """Zeros and ones among known numbers leave out operations, and nothing else."""
    f = linkwork.load("ur5e").compile("bias", inputs=["geometry"], backend="interpreter")
    _, after, _ = split_stages(f.program)
    size = after.inputs[-1].size
    rng = np.random.default_rng(3)
    x = [rng.normal(size=(5, 6)), rng.normal(size=(5, 6))]
    for known in (rng.choice([0.0, 1.0, -1.0, 0.3, 2.0], size) for _ in range(20)):
        made = with_known(after, {"prepared": known}).check()
        assert len(made.instructions) < len(after.instructions)
        for a, b in zip(interpret(made, x), interpret(after, [*x, known]), strict=True):
            assert np.array_equal(a, b)


def test_refused():
    robot = linkwork.load("planar2r")
    for call in (robot.gravity.stages, robot.gravity.prepare):
        with pytest.raises(LinkworkError, match="no input is a number of the robot"):
            call()
    f = robot.compile("gravity", inputs=["gravity", "mass"])
    with pytest.raises(ShapeError, match=r"one set of numbers is prepared\n.*\n.*\n  fix: .*stages") as error:
        f.prepare(gravity=np.ones((5, 3)))
    assert "'gravity'" in str(error.value)
    with pytest.raises(ShapeError, match="not finite"):
        f.prepare(gravity=[0, 0, np.nan])
    with pytest.raises(UnknownNameError, match="there is no input 'q'"):
        f.prepare(q=[0, 0])
    with pytest.raises(ShapeError, match="wrong shape"):
        f.prepare({"mass": [1.0]})


def test_numbers_to_prepare_are_given_once_and_by_name():
    function = linkwork.load("planar2r").compile("gravity", inputs=["gravity"])
    for wrong in ("abc", 5, [("gravity", [0, 0, -1])]):
        with pytest.raises(
            linkwork.ShapeError, match=r"given by name\n  got: .*\n  fix: prepare\({'gravity': values}\)"
        ):
            function.prepare(wrong)
    with pytest.raises(linkwork.ShapeError, match="'gravity' is given twice"):
        function.prepare({"gravity": [0, 0, -1]}, gravity=[0, 0, -2])
