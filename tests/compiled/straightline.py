"""Toy programs and a slow, exact evaluator for the tests of compiled code."""

import math
import random
from fractions import Fraction

import numpy as np

from linkwork.program.program import ARITY, Op, Port, Program


def nearest(exact: Fraction, dtype):
    """``exact`` rounded once to dtype."""
    guess = dtype(float(exact))
    around = (np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf)))
    distance = [abs(Fraction(float(x)) - exact) for x in around]
    even = [int(np.array(x).view(f"i{guess.itemsize}")) & 1 for x in around]
    return min(zip(distance, even, around))[2]


def fused(a, b, c, dtype):
    """a b + c rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return dtype(a * b + c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return nearest(exact, dtype) if exact else dtype(a * b + c)


FORMULAS = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.SQRT: np.sqrt,
    Op.SIN: lambda a: type(a)(np.sin(np.float64(a))),
    Op.COS: lambda a: type(a)(np.cos(np.float64(a))),
    Op.SIGN: lambda a: a if np.isnan(a) else np.sign(a) + type(a)(0),
    Op.FMA: lambda a, b, c: fused(a, b, c, type(a)),
    Op.FMS: lambda a, b, c: fused(a, b, -c, type(a)),
    Op.FNMA: lambda a, b, c: fused(-a, b, c, type(a)),
}


def evaluate(program: Program, inputs, dtype=np.float64) -> list:
    """The flat outputs for flat ``inputs`` of one state."""
    with np.errstate(all="ignore"):
        values = [dtype(x) for x in (*inputs, *program.constants)]
        for op, *args in program.instructions:
            values.append(FORMULAS[Op(op)](*(values[a] for a in args)))
    return [values[k] for k in program.results]


def one_instruction(op: Op) -> Program:
    """A program of scalars that does one thing."""
    names = tuple(Port(name, ()) for name in "abc"[: ARITY[op]])
    n = len(names)
    return Program(op.name.lower(), names, (Port("y", ()),), (), ((int(op), *range(n)),), (n,)).check()


def random_program(seed: int, length: int, inputs=((7,), (7,), (3,)), outputs=((7,), (3, 4), ())) -> Program:
    """Random instructions on nearby values, tame enough to stay finite."""
    choose = random.Random(seed)
    ports = tuple(Port(f"x{k}", shape) for k, shape in enumerate(inputs))
    targets = tuple(Port(f"y{k}", shape) for k, shape in enumerate(outputs))
    constants = tuple(choose.uniform(-1, 1) for _ in range(9))
    first = sum(p.size for p in ports) + len(constants)
    instructions, sines = [], []
    for number in range(first, first + length):
        op = choose.choices(list(Op), weights=[4, 4, 4, 0, 1, 0, 1, 1, 0.2, 4, 4, 4])[0]
        tame = [*range(first), *sines]  # factors come from here: a product of products might overflow
        recent = range(max(0, number - 40), number)
        args = [choose.choice(tame if op == Op.MUL or (op >= Op.FMA and k < 2) else recent) for k in range(ARITY[op])]
        instructions.append((int(op), *args))
        if op in (Op.SIN, Op.COS):
            sines.append(number)
    results = tuple(choose.choice([*sines[-50:], 0, first - 1]) for p in targets for _ in range(p.size))
    return Program(f"random{seed}", ports, targets, constants, tuple(instructions), results).check()


def same_bits(a, b) -> bool:
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def layouts(array):
    """The same values in other memory orders."""
    n = array.ndim
    yield np.asfortranarray(array)
    padded = np.zeros(tuple(2 * k for k in array.shape), array.dtype)[(slice(None, None, 2),) * n]
    padded[...] = array
    yield padded
    yield np.ascontiguousarray(array[::-1])[::-1]
    yield np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    yield np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, -1)), -1, 0)  # batch last
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)  # unaligned
    raw[...] = array
    yield raw
