"""NEON executed: code for AArch64 under an emulator gives the bits of this processor's code."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from straightline import layouts, one_instruction, random_program, same_numbers

import linkwork
from linkwork.codegen import native
from linkwork.codegen.native import build, ir_text, time_loop
from linkwork.codegen.native.target import host
from linkwork.inspection.states import random_states
from linkwork.program.program import ARITY, Op, Port, Program
from linkwork.sim.schemes.integrators import schemes
from support.aarch64 import NEON, Call, Emulator, inner_loop

pytestmark = pytest.mark.skipif(not host().fused, reason="this processor rounds products before it adds")

DTYPES = ("float64", "float32")
JUGGLER = str(Path(__file__).parents[2] / "examples/juggler.yaml")
FUNCTIONS = [
    ("panda", "inverse_dynamics"),
    ("panda", "forward_dynamics"),
    ("panda", "inertia_matrix"),
    ("panda", "kinetic_energy"),  # a scalar
    ("ur5e", "inverse_dynamics"),
    ("ur5e", "forward_dynamics"),
    ("puma560", "forward_dynamics"),  # friction: signs
    ("quadruped", "inverse_dynamics"),  # a floating base
    ("quadruped", "forward_dynamics"),
    ("quadruped", "inertia_matrix"),
    ("delta", "inverse_dynamics"),  # closed loops
    ("delta", "forward_dynamics"),
    ("eel", "forward_dynamics"),  # drag: square roots
    ("panda-elastic", "hybrid_dynamics"),  # two outputs
    (JUGGLER, "inverse_dynamics"),  # ball joints, a plane, a screw, free bodies
    (JUGGLER, "forward_dynamics"),
]
ROLLOUTS = [("panda", name) for name in schemes()] + [
    ("quadruped", "rk4"),
    ("delta", "semi-implicit-euler"),
    ("delta", "heun"),
    ("eel", "dormand-prince-5"),
    (JUGGLER, "adams-bashforth-4"),
]
SPECIAL = (0.0, -0.0, 1.0, -3.7, 1e-310, 1e5, -2.5e7, 1e22, 1e300, np.inf, -np.inf, np.nan)
COUNT = 13  # states: whole blocks and a rest, of two and of four lanes


def reverse(size: int) -> Program:
    """A copy in reverse: layout and nothing else."""
    return Program("reverse", (Port("x", (size,)),), (Port("y", (size,)),), (), (), tuple(range(size))[::-1])


TOYS = {
    "random": random_program(1, 400),
    "long": random_program(2, 5000),  # more than one function
    "wide": reverse(20_000),  # blocks on the heap
    "odd": reverse(3),
    "inputs": random_program(3, 100, inputs=((1,), (2, 3), (), (70,), (5,)), outputs=((2,), (40,), (1,), (3, 3))),
}
NAMES = {"divide by zero": "divide", "invalid value": "invalid", "overflow": "overflow"}  # of NumPy, of the emulator


def name_of(case: tuple[str, str]) -> str:
    return f"{Path(case[0]).stem}-{case[1]}"


def here(program: Program, dtype: str, inputs: Iterable[np.ndarray]) -> tuple[list[np.ndarray], set[str]]:
    """What this processor makes of states, and the floating point flags it raises."""
    flags = set()
    with np.errstate(all="call", under="ignore", call=lambda name, _: flags.add(NAMES[name])):
        outputs = build(program, dtype)(*inputs)
    return list(outputs) if len(program.outputs) > 1 else [outputs], flags


def empty(program: Program, dtype: str, count: int) -> list[np.ndarray]:
    return [np.full((count, *port.shape), 77, dtype) for port in program.outputs]


def check(emulator: Emulator, module: str, program: Program, inputs: Sequence[np.ndarray]) -> None:
    """Bits and flags of a batch."""
    dtype = inputs[0].dtype.name
    expected, flags = here(program, dtype, inputs)
    outputs = empty(program, dtype, len(inputs[0]))
    (raised,) = emulator.run([inner_loop(module, [*inputs, *outputs])])
    assert all(map(same_numbers, outputs, expected))
    assert raised == flags


@pytest.mark.parametrize("case", FUNCTIONS, ids=name_of)
def test_robots(case, tmp_path):
    robot = linkwork.load(case[0])
    program = robot.compile(case[1]).program
    emulator = Emulator(tmp_path, {dtype: ir_text(program, dtype, NEON) for dtype in DTYPES})
    states = random_states(robot, COUNT)
    for dtype in DTYPES:
        inputs = [states[port.name].astype(dtype) for port in program.inputs]
        check(emulator, dtype, program, inputs)
        q = inputs[0]
        q[3, 0], q[4, -1], q[7] = 4e5, -1e22, 1e7 * q[7]  # beyond the reach of the fast sines, in some lanes
        check(emulator, dtype, program, inputs)
        q[0, -1], q[2, 0], q[5] = np.nan, np.inf, -np.inf
        check(emulator, dtype, program, inputs)


@pytest.mark.parametrize("op", list(Op))
def test_operations(op, tmp_path):
    program, rng, n = one_instruction(op), np.random.default_rng(op), ARITY[op]
    tame = rng.normal(size=(500, n)) * 10.0 ** rng.integers(-6, 7, size=(500, n))
    emulator = Emulator(tmp_path, {dtype: ir_text(program, dtype, NEON) for dtype in DTYPES})
    for dtype in DTYPES:
        with np.errstate(over="ignore"):
            states = np.concatenate([tame, rng.choice(SPECIAL, size=(500, n))]).astype(dtype)
        check(emulator, dtype, program, list(states.T.copy()))


def toy_states(program: Program, dtype: str, count: int) -> list[np.ndarray]:
    return [np.random.default_rng(k).normal(size=(count, *p.shape)).astype(dtype) for k, p in enumerate(program.inputs)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("toy", TOYS)
def test_every_batch_size_and_memory_order(toy, dtype, tmp_path):
    program = TOYS[toy]
    emulator = Emulator(tmp_path, {toy: ir_text(program, dtype, NEON)})
    calls, wanted = [], []

    def call(inputs, outputs, expected):
        calls.append(inner_loop(toy, [*inputs, *outputs]))
        wanted.append((outputs, expected))

    every = toy_states(program, dtype, 2 * COUNT)
    of_every, _ = here(program, dtype, every)
    for count in range(4 if toy == "wide" else COUNT):
        inputs, expected = ([x[1 : 1 + count] for x in some] for some in (every, of_every))
        call(inputs, empty(program, dtype, count), expected)
    for count in () if toy == "wide" else (1, 4, COUNT):
        inputs, expected = ([x[:count] for x in some] for some in (every, of_every))
        for ordered in zip(*map(layouts, inputs)):
            call(ordered, empty(program, dtype, count), expected)
        for ordered in zip(*map(layouts, empty(program, dtype, count))):
            call(inputs, ordered, expected)
        repeated = ([np.broadcast_to(x[0], x.shape) for x in some] for some in (inputs, expected))
        call(next(repeated), empty(program, dtype, count), next(repeated))
    emulator.run(calls)
    assert all(same_numbers(y, right) for outputs, expected in wanted for y, right in zip(outputs, expected))


def test_in_place(tmp_path):
    program = reverse(6)
    emulator = Emulator(tmp_path, {"reverse": ir_text(program, "float64", NEON)})
    x = np.arange(6.0 * COUNT).reshape(COUNT, 6)
    expected = x[:, ::-1].copy()
    emulator.run([inner_loop("reverse", [x, x])])
    assert np.array_equal(x, expected)


def recorded(robot: linkwork.Robot, method: str) -> list[tuple]:
    """A rollout on this processor: of each native call the loop, its arguments before and after."""
    calls, compile_loop = [], native.compile_loop

    def recording(loop, samples):
        def bind(*arguments):
            made = compile_loop(loop, samples)(*arguments)

            def run():
                before = [copied(each) for each in arguments]
                made()
                calls.append((loop, before, arguments))

            return run

        return bind

    states = random_states(robot, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "compile_loop", recording)
        robot.rollout(states["q"], states["v"], dt=1e-3, steps=12, method=method, outputs=("q", "v", "kinetic_energy"))
    return calls


def copied(argument):
    match argument:
        case np.ndarray():
            return argument.copy()
        case list() | tuple():
            return [copied(each) for each in argument]
    return argument


def arrays_of(arguments) -> list[np.ndarray]:
    """Those among arguments and in lists of them."""
    flat = (each if isinstance(each, list | tuple) else [each] for each in arguments)
    return [x for part in flat for x in part if isinstance(x, np.ndarray)]


@pytest.mark.parametrize("case", ROLLOUTS, ids=name_of)
def test_time_loops(case, tmp_path):
    calls = recorded(linkwork.load(case[0]), case[1])
    emulator = Emulator(tmp_path, {"": time_loop.ir_text(calls[0][0], NEON)})
    for _, arguments, after in calls:
        arrays = arrays_of(arguments)
        words = time_loop._bound(np.frombuffer, *arguments)().view(np.int64).copy()
        assert emulator.run([Call("run_", (words,), arrays)]) == [set()]
        assert all(map(same_numbers, arrays, arrays_of(after)))
        assert all(np.isfinite(x).all() for x in arrays)
