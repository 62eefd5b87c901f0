"""``Function.address``: the machine code for others, called as the docs say."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.errors import UnsupportedError

PAGE = Path(linkwork.__file__).parents[2] / "docs" / "export.md"
POINTER = ctypes.c_void_p


def called(function, arrays, states, steps):
    """What ctypes makes of the loop."""
    loop = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, POINTER)(function.address)
    args = (POINTER * len(arrays))(*(array.ctypes.data for array in arrays))
    loop(args, (ctypes.c_ssize_t * 1)(states), (ctypes.c_ssize_t * len(steps))(*steps), None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("states", [0, 1, 7, 100])
def test_matrices_and_several_results(dtype, states):
    robot = linkwork.load("quadruped")
    for quantity in ("inertia_matrix", "hybrid_dynamics"):
        function = robot.compile(quantity, dtype=dtype)
        rng = np.random.default_rng(0)
        inputs = [rng.normal(size=(states, *port.shape)).astype(dtype) for port in function.program.inputs]
        outputs = [np.zeros((states, *port.shape), dtype) for port in function.program.outputs]
        called(function, [*inputs, *outputs], states, function.steps)
        expected = function(*inputs)
        for found, wanted in zip(outputs, expected if len(outputs) > 1 else [expected], strict=True):
            assert np.array_equal(found, wanted)


def test_other_steps():
    """A state that all share, columns of a larger array, and a matrix that is turned over."""
    function = linkwork.load("panda").compile("jacobian", frame="panda_link8")
    q, J = np.random.default_rng(0).normal(size=(50, 20)), np.zeros((50, 7, 6))
    assert function.steps == (56, 6 * 56, 8, 56, 8)
    called(function, [q, J], 50, [q.strides[0], J.strides[0], 16, J.strides[2], J.strides[1]])
    assert np.array_equal(J.transpose(0, 2, 1), function(q[:, :14:2]))
    called(function, [q, J], 50, [0, J.strides[0], 8, J.strides[2], J.strides[1]])
    assert np.array_equal(J[17].T, function(q[0, :7]))


def test_ports_without_entries_are_left_out():
    robot = linkwork.load("planar2r", lock=dict.fromkeys(linkwork.load("planar2r").joint_names, 0.0))
    function = robot.compile("pose", frame=list(robot.model.frames)[-1])
    assert function.program.inputs[0].size == 0
    assert [port.name for port in function.ports] == [port.name for port in function.program.outputs]
    pose = np.zeros((3, 4, 4))
    called(function, [pose], 3, function.steps)
    assert np.array_equal(pose, function(np.zeros((3, 0))))


def test_outlives_its_function():
    robot = linkwork.load("scara")
    function, q = robot.compile("gravity"), np.random.default_rng(0).normal(size=(9, 4))
    expected, tau, address, steps = function(q), np.zeros((9, 4)), function.address, function.steps
    assert address == robot.compile("gravity").address
    del function, robot
    loop = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, POINTER)(address)
    args = (POINTER * 2)(q.ctypes.data, tau.ctypes.data)
    loop(args, (ctypes.c_ssize_t * 1)(9), (ctypes.c_ssize_t * len(steps))(*steps), None)
    assert np.array_equal(tau, expected)


def test_other_back_ends_have_none():
    function = linkwork.load("scara").compile("gravity", backend="interpreter")
    with pytest.raises(UnsupportedError, match=r"gravity: .*no machine code(.|\n)*'interpreter'(.|\n)*fix: .*native"):
        _ = function.address
    assert function.steps == (32, 32, 8, 8)


@pytest.mark.parametrize("package", ["cffi", "numba"])
def test_snippets_for_other_packages(package):
    pytest.importorskip(package)
    blocks = re.findall(r"^```(python|py)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (text,) = (text for kind, text in blocks if kind == "py" and f"import {package}\n" in text)
    (before,) = (text for _, text in blocks if "function.address" in text and text.startswith("import ctypes"))
    names = {"np": np, "robot": linkwork.load("panda")}
    exec(compile(before + text, PAGE.name, "exec"), names)
