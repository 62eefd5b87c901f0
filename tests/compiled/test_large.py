"""Large programs: a bounded stack, functions of bounded length, the same bits."""

import ctypes
import re
import threading
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from straightline import random_program

import linkwork
from linkwork.codegen import native
from linkwork.codegen.native import blocks, build, ir_text, object_code, time_loop
from linkwork.codegen.native.lifetime import Recent
from linkwork.codegen.native.machine_code import load
from linkwork.codegen.native.target import host
from linkwork.codegen.native.ufunc import make_ufunc
from linkwork.program.program import Op, Port, Program
from support.assembly import TARGETS, compiled, frame
from support.random_robots import Recipe, describe

MANY = 200_000
FRAME = 4096  # bytes


def wide_program() -> Program:
    """Its blocks would be larger than a thread's stack."""
    ports = (Port("x", (MANY,)),), (Port("y", (3,)),)
    return Program("wide", *ports, (), ((int(Op.SUB), 0, MANY - 1),), (MANY, MANY - 1, 0))


@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_larger_than_the_stack(order):
    x = np.random.default_rng(0).normal(size=(11, MANY)).copy(order)
    expected = np.stack([x[:, 0] - x[:, -1], x[:, -1], x[:, 0]], axis=1)
    assert np.array_equal(build(wide_program())(x), expected)
    assert native.compile(wide_program(), "float64").direct is None


def test_threads_have_blocks_of_their_own():
    ufunc, x = build(wide_program()), np.random.default_rng(1).normal(size=(4, MANY))
    answers: list = [None] * 4

    def work(k: int):
        for _ in range(10):
            answers[k] = ufunc(x[k : k + 1])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(np.concatenate(answers), ufunc(x))


@pytest.mark.parametrize("program", [wide_program(), random_program(3, 3000)], ids=["ports", "instructions"])
def test_stack_is_bounded(program, monkeypatch):
    monkeypatch.setattr(blocks, "STACK", 1024)
    (loop,) = re.findall(r"^define [^\n]*@loop\(.*?^}", ir_text(program, segment=500), re.M | re.S)
    assert "alloca" not in loop


@cache
def large_robot(branches: bool) -> Program:
    """A chain's forward dynamics, of more than one function, or the inertia matrix of a star: 1300 outputs."""
    description = describe(Recipe(seed=1, joints=30, floating=branches))
    if branches:
        description = replace(description, joints=tuple(replace(j, parent="base") for j in description.joints))
    quantity, method = ("inertia_matrix", "crba") if branches else ("forward_dynamics", "aba")
    return linkwork.load(description).compile(quantity, method=method).program


@pytest.mark.parametrize("branches", [False, True], ids=["chain", "star"])
@pytest.mark.parametrize("target", TARGETS)
def test_stack_of_every_function_is_bounded(target: str, branches: bool):
    """Values that have to leave registers lie in the scratch block; LLVM adds little of its own to a frame."""
    program = large_robot(branches)
    assert branches or len(program.instructions) > TARGETS[target].choices.segment
    code = compiled(ir_text(program, target=TARGETS[target]), TARGETS[target])
    frames = {name: frame(body) for name, body in code.functions.items()}
    assert frames["loop"] > 0
    assert max(frames[name] for name in code.kernel) <= FRAME
    assert max(frames.values()) <= blocks.STACK + FRAME


def test_code_grows_as_the_program_does():
    """In functions of bounded length, LLVM takes time in proportion to the lines of IR."""
    few, many = (ir_text(random_program(4, count)).splitlines() for count in (8_000, 32_000))
    ends = [k for k, line in enumerate(many) if line == "}"]
    assert len(many) < 4.1 * len(few)
    assert max(b - a for a, b in pairwise(ends)) < 4 * host().choices.segment


def test_heap_gives_the_bits_of_the_stack(monkeypatch):
    program = random_program(5, 3000)
    states = [np.random.default_rng(k).normal(size=(13, *p.shape)) for k, p in enumerate(program.inputs)]
    expected = build(program, segment=100)(*states)
    monkeypatch.setattr(blocks, "STACK", 0)
    monkeypatch.setattr(native, "_loaded", Recent())
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    for made, wanted in zip(build(program, segment=100)(*states), expected, strict=True):
        assert made.tobytes() == wanted.tobytes()


def test_no_memory_is_an_error():
    program, target = wide_program(), host()
    engine = load(object_code(program, "float64", target), target)
    ufunc, keep = make_ufunc(program, "float64", engine.get_function_address("loop"))
    nothing = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda size: None)
    entries = (ctypes.c_void_p * len(blocks.PYTHON_FUNCTIONS)).from_address(engine.get_global_value_address("memory"))
    entries[blocks.MALLOC] = ctypes.cast(nothing, ctypes.c_void_p).value
    with pytest.raises((MemoryError, SystemError)):  # which of them is up to NumPy's version
        ufunc(np.zeros(MANY))
    assert keep


def outputs(count: int, results: tuple[int, ...], constants=()) -> Program:
    return Program("outputs", (Port("x", (1,)),), (Port("y", (count,)),), constants, ((int(Op.SIN), 0),), results)


@pytest.mark.parametrize(
    "program",
    [
        outputs(3000, tuple(range(1, 3001)), tuple(float(k) for k in range(3000))),
        outputs(3000, (0,) * 3000),
        outputs(3000, (1,) * 3000),
        outputs(3000, (3,) * 3000, (1.0, 2.0)),
    ],
    ids=["constants", "input", "one constant", "one instruction"],
)
def test_many_outputs_that_no_step_makes(program):
    x = np.array([[0.25], [0.5]])
    values = np.stack([x[:, 0], *(np.full(2, c) for c in program.constants), np.sin(x[:, 0])], axis=1)
    assert np.array_equal(build(program)(x), values[:, list(program.results)])


@pytest.mark.parametrize("method", ["semi-implicit-euler", "adams-bashforth-4"])
def test_time_loops_on_the_heap(method, monkeypatch):
    arm = linkwork.load("scara")
    run = {"dt": 1e-3, "steps": 20, "method": method, "outputs": ("q", "v", "kinetic_energy")}
    states = np.random.default_rng(0).normal(size=(2, 11, arm.nv))
    expected = arm.rollout(*states, **run)
    monkeypatch.setattr(blocks, "STACK", 1024)
    monkeypatch.setattr(time_loop, "_loaded", Recent())
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    text, texts = time_loop.ir_text, []
    monkeypatch.setattr(time_loop, "ir_text", lambda *args: texts.append(text(*args)) or texts[-1])
    found = arm.rollout(*states, **run)
    (loop,) = re.findall(r"^define [^\n]*@run\(.*?^}", texts[0], re.M | re.S)
    assert "alloca" not in loop and all(np.array_equal(found[name], expected[name]) for name in expected)
