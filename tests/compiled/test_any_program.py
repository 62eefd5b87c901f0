"""Any program gives the bits that its instructions give one by one, in any memory order, whatever is in registers."""

import ctypes
import random
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from straightline import layouts, one_by_one, one_instruction, same_numbers, wild_program, wild_states

from linkwork.codegen.native import blocks, build, ir_text, kernel, object_code, target
from linkwork.codegen.native.machine_code import load
from linkwork.codegen.native.target import host
from linkwork.program.program import Op, Program
from support.aarch64 import NEON, Emulator, inner_loop

DTYPES = ("float64", "float32")
COUNT = 43  # states
kept = []  # engines: LLVM would free their code


@cache
def operation(dtype: str, op: Op):
    return build(one_instruction(op), dtype)


def run(program: Program, dtype: str, segment: int):
    """The loop NumPy would call, called by us: in place, and without copies of unaligned arrays."""
    kept.append(load(object_code(program, dtype, host(), segment), host()))
    address = kept[-1].get_function_address("loop")
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)

    def call(arrays):
        tables = inner_loop("", [x for x, port in zip(arrays, program.inputs + program.outputs) if port.size]).tables
        function(*(table.ctypes.data for table in tables), None)

    return call


def check(seed: int, dtype: str, segment: int = 10**9):
    program, choose = wild_program(seed), random.Random(seed)
    function, inputs = run(program, dtype, segment), wild_states(program, dtype, COUNT)
    expected = one_by_one(program, inputs, partial(operation, dtype))
    for count in (1, 2, *choose.sample(range(3, 41), 6)):
        start = choose.randrange(COUNT - count + 1)
        part = slice(start, start + count)
        given = [choose.choice([x, *layouts(x)]) for x in (x[part] for x in inputs)]
        outputs = [choose.choice([y, *layouts(y)]) for y in (np.full_like(y[part], 77) for y in expected)]
        for k, x in enumerate(given):  # in place, where an input looks like an output
            if x.shape == outputs[k % len(outputs)].shape:
                outputs[k % len(outputs)] = given[k] = x.copy(order="K")
        function([*given, *outputs])
        assert all(same_numbers(y, right[part]) for y, right in zip(outputs, expected)), (count, start)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(12))
def test_any_program(seed, dtype):
    check(seed, dtype)


@pytest.mark.parametrize("seed", range(100, 110))
def test_whatever_is_chosen_for_a_processor(seed, monkeypatch):
    """Few registers, many; each of the orders; two blocks side by side; blocks on the heap; results tile by tile."""
    choose = random.Random(seed)
    for name in ("WIDE", "MANY", "FEW", "ARM"):
        known = getattr(target, name)
        other = replace(
            known,
            registers=choose.choice([4, 5, 8, known.registers]),
            reach=choose.choice([0, 5, 1000]),
            reorder=choose.random() < 0.5,
            sines=choose.randint(1, 9),
            broadcast=choose.random() < 0.5,
            pairs=choose.choice([0, 10**9]),
        )
        monkeypatch.setattr(target, name, other)
    monkeypatch.setattr(blocks, "STACK", choose.choice([0, blocks.STACK]))
    monkeypatch.setattr(kernel, "FEW", choose.choice([0, 20, 10**6]))
    check(seed, choose.choice(DTYPES), choose.choice([30, 300, 10**9]))


@pytest.mark.skipif(not host().fused, reason="this processor rounds products before it adds")
def test_any_program_on_neon(tmp_path):
    cases = [(seed, DTYPES[seed % 2], wild_program(seed)) for seed in range(200, 212)]
    text = {f"p{seed}": ir_text(program, dtype, NEON) for seed, dtype, program in cases}
    emulator = Emulator(tmp_path, text)
    calls, wanted = [], []
    for seed, dtype, program in cases:
        inputs = wild_states(program, dtype, 7)
        expected = one_by_one(program, inputs, partial(operation, dtype))
        arrays = [*inputs, *(np.full_like(y, 77) for y in expected)]
        calls.append(inner_loop(f"p{seed}", [x for x in arrays if x.size]))
        wanted.append(list(zip(arrays[len(inputs) :], expected)))
    emulator.run(calls)
    assert all(same_numbers(y, right) for pairs in wanted for y, right in pairs)
