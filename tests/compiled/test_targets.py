"""Code for every kind of processor: what must and must not be in its kernels, read anywhere; the same bits, run where
it can run."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from llvmlite import binding
from straightline import random_program, same_bits

import linkwork
from linkwork.codegen.native import build, ir_text, time_loop
from linkwork.codegen.native.target import Target, host
from linkwork.inspection.states import random_states
from linkwork.program.passes.dead import rebuild
from linkwork.program.program import Op, Port, Program
from linkwork.sim.schemes.integrators import schemes
from support.assembly import TARGETS, Code, Instruction, compiled, straight_on

ROBOTS = [
    ("panda", "inverse_dynamics"),
    ("panda", "forward_dynamics"),
    ("ur5e", "forward_dynamics"),
    ("quadruped", "inverse_dynamics"),
    ("quadruped", "forward_dynamics"),
]
DTYPES = ("float64", "float32")
CASES = [(*robot, "float64") for robot in ROBOTS] + [(*ROBOTS[0], "float32")]
SPILLED = {"neoverse-n1": 0.1}  # by LLVM, of all operations: on AArch64 its scheduler moves more about
SUMS, FUSED = {Op.ADD, Op.SUB, Op.SIGN}, {Op.FMA, Op.FMS, Op.FNMA}
OPERATIONS = {  # by kind of instruction, where products are fused into sums and where not; a sign is made with a sum
    True: {"add": SUMS, "multiply": {Op.MUL}, "divide": {Op.DIV}, "root": {Op.SQRT}, "fused": FUSED},
    False: {"add": SUMS | FUSED, "multiply": {Op.MUL} | FUSED, "divide": {Op.DIV}, "root": {Op.SQRT}},
}


@cache
def program_of(robot: str, quantity: str) -> Program:
    return linkwork.load(robot).compile(quantity).program


@cache
def without_sines(program: Program) -> Program:
    """Sines and cosines as one more input: what is left is nothing but the kernel."""
    made = [number for number, (op, *_) in program.numbered() if op in (Op.SIN, Op.COS)]
    n, first = program.n_inputs, program.first_instruction
    new = {value: value if value < n else value + len(made) for value in range(first)}
    new |= {value: n + k for k, value in enumerate(made)}
    instructions = []
    for number, (op, *args) in program.numbered():
        if number not in new:
            new[number] = first + len(made) + len(instructions)
            instructions.append((op, *(new[a] for a in args)))
    ports = (*program.inputs, Port("sines", (len(made),)))
    results = tuple(new[value] for value in program.results)
    bare = Program(program.name, ports, program.outputs, program.constants, tuple(instructions), results).check()
    return rebuild(bare, bare.numbered(), results)  # without what nothing but a sine needed


@pytest.fixture(scope="module", params=[(t, *c) for t in TARGETS for c in CASES], ids="-".join)
def case(request) -> tuple[Program, Code, Code]:
    """A robot's program without sines, its code for a target, and that of the program with sines."""
    name, robot, quantity, dtype = request.param
    target, program = TARGETS[name], program_of(robot, quantity)
    bare = without_sines(program)
    return bare, *(compiled(ir_text(each, dtype, target), target) for each in (bare, program))


def instructions(code: Code) -> list[Instruction]:
    return [each for body in code.kernel.values() for each in body]


def test_an_instruction_on_whole_registers_for_each_operation(case):
    """None repeated, none taken apart into lanes, no product and sum where they could be one."""
    program, code, with_sines = case
    done = [each for each in instructions(code) if each.arithmetic]
    wanted = Counter(
        {kind: sum(op in ops for op, *_ in program.instructions) for kind, ops in OPERATIONS[code.target.fused].items()}
    )
    assert Counter(each.arithmetic for each in done) == +wanted
    done += [each for body in with_sines.kernel.values() for each in straight_on(body) if each.arithmetic]
    assert all(each.on_vectors(code.target) for each in done)


def test_no_calls(case):
    """In the middle of a kernel a call would put all registers aside. For huge angles there is one, past the end."""
    _, without, code = case
    assert not any(each.calls for each in instructions(without))
    for name, body in code.kernel.items():
        assert not any(each.calls for each in straight_on(body)), name


def test_vectors_lie_on_whole_cache_lines(case):
    for code in case[1:]:
        size = code.target.vector_bytes
        for name, body in code.kernel.items():
            moved = [each for each in body if each.on_vectors(code.target)]
            assert not [each for each in moved if each.bears_any_address], name
            assert not [each for each in moved if (each.offset or 0) % size], name
            if size > 16 and any(each.on_stack for each in moved):
                assert any(each.name == "andq" and each.operands == f"$-{size}, %rsp" for each in body), name


def test_traffic_with_memory(case):
    """LLVM keeps to the register allocation of kernels, and that leaves little to be moved."""
    program, code, _ = case
    moved = [each for each in instructions(code) if each.on_vectors(code.target) and each.in_memory]
    operations, name = len(program.instructions), code.target.cpu
    most = 1.2 if code.target.registers == 16 else 0.85 if code.target.vector_bytes > 16 else 0.95  # ARM: more cuts
    assert len(moved) < most * operations
    assert sum(each.on_stack for each in moved) < SPILLED.get(name, 0.06) * operations


# The same bits ------------------------------------------------------------------------------------------------------

FUSING = {
    "AVX-512": TARGETS["AVX-512"],
    "AVX2": TARGETS["AVX2"],
    "two lanes": replace(TARGETS["AVX2"], vector_bytes=16),
}
NOT_FUSING = {"AVX": TARGETS["AVX"], "SSE2": TARGETS["SSE2"], "two lanes": replace(TARGETS["AVX"], vector_bytes=16)}
NEEDED = {"skylake-avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
          "haswell": {"avx2", "fma", "bmi", "bmi2"}, "sandybridge": {"avx"}, "x86-64": {"sse2"}}  # fmt: skip


def here(targets: dict[str, Target]) -> dict[str, Target]:
    """Those that this processor can run, with the names its system gives to code."""
    binding.initialize_native_target()
    features = {name for name, there in binding.get_host_cpu_features().items() if there}
    found = {
        name: replace(target, triple=host().triple)
        for name, target in targets.items()
        if host().triple.startswith("x86_64") and NEEDED[target.cpu] <= features
    }
    if len(found) < 2:
        pytest.skip("this processor runs the code of less than two of these")
    return found


@pytest.mark.parametrize("targets", [FUSING, NOT_FUSING], ids=["fusing", "not fusing"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("robot", [*ROBOTS[:2], ROBOTS[3], ("delta", "forward_dynamics")], ids="-".join)
def test_as_many_lanes_as_you_like(robot, dtype, targets):
    program, states = program_of(*robot), random_states(linkwork.load(robot[0]), 21)
    states["q"][[3, 4], [0, -1]] = 4e5, -1e22  # beyond the reach of the fast sines
    states["q"][[9, 10], [1, -1]] = np.nan, np.inf
    inputs = [states[port.name].astype(dtype) for port in program.inputs]
    with np.errstate(invalid="ignore"):
        first, *others = (build(program, dtype, target)(*inputs) for target in here(targets).values())
    assert np.isfinite(first[:9]).all()
    assert all(same_bits(other, first) for other in others)


@pytest.mark.parametrize("targets", [FUSING, NOT_FUSING], ids=["fusing", "not fusing"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_as_many_lanes_as_you_like_for_any_program(dtype, targets):
    for length in (1, 30, 1000):
        program = random_program(length, length)
        inputs = [np.random.default_rng(k).normal(size=(21, *p.shape)) for k, p in enumerate(program.inputs)]
        made = [build(program, dtype, t)(*(x.astype(dtype) for x in inputs)) for t in here(targets).values()]
        assert all(same_bits(a, b) for other in made[1:] for a, b in zip(other, made[0]))


@pytest.mark.parametrize("method", schemes())
def test_as_many_lanes_as_you_like_in_the_time_loop(method, monkeypatch):
    motions = []
    for target in here(FUSING).values():
        monkeypatch.setattr(time_loop, "host", lambda target=target: target)
        robot = linkwork.load("panda")
        states = random_states(robot, 11)
        motions.append(robot.rollout(states["q"], states["v"], dt=1e-3, steps=10, method=method))
    assert all(same_bits(motion[name], motions[0][name]) for motion in motions[1:] for name in motion)
