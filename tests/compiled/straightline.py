"""Toy programs and a slow, exact evaluator for the tests of compiled code."""

import math
import random
from fractions import Fraction

import numpy as np

from linkwork.program.program import ARITY, FUSED, Op, Port, Program


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


def with_sign_of_zero(x):
    """Sorts -0 before 0."""
    return x, not np.signbit(x)


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
    Op.EXP: lambda a: type(a)(np.exp(np.float64(a))),
    Op.LOG: lambda a: type(a)(np.log(np.float64(a))),
    Op.TANH: lambda a: type(a)(np.tanh(np.float64(a))),
    Op.ATAN2: lambda a, b: type(a)(np.arctan2(np.float64(a), np.float64(b))),
    Op.ABS: np.abs,
    Op.MIN: lambda a, b: a + b if np.isnan([a, b]).any() else min(a, b, key=with_sign_of_zero),
    Op.MAX: lambda a, b: a + b if np.isnan([a, b]).any() else max(a, b, key=with_sign_of_zero),
    Op.LESS: lambda a, b: type(a)(a < b),
    Op.LESS_EQUAL: lambda a, b: type(a)(a <= b),
    Op.SELECT: lambda a, b, c: b if a != 0 else c,
}
APPROXIMATE = {Op.SIN, Op.COS, Op.EXP, Op.LOG, Op.TANH, Op.ATAN2}  # within two units in the last place


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


BOUNDED = (Op.SIN, Op.COS, Op.TANH)
WEIGHTS = (4, 4, 4, 0, 1, 0, 1, 1, 0.2, 4, 4, 4, 0.3, 0, 0.5, 0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.5)  # of random programs


def is_factor(op: Op, k: int) -> bool:
    """Is operand k one of a product?"""
    return op == Op.MUL or (op in FUSED and k < 2)


def random_program(seed: int, length: int, inputs=((7,), (7,), (3,)), outputs=((7,), (3, 4), ())) -> Program:
    """Random instructions on nearby values, tame enough to stay finite."""
    choose = random.Random(seed)
    ports = tuple(Port(f"x{k}", shape) for k, shape in enumerate(inputs))
    targets = tuple(Port(f"y{k}", shape) for k, shape in enumerate(outputs))
    constants = tuple(choose.uniform(-1, 1) for _ in range(9))
    first = sum(p.size for p in ports) + len(constants)
    instructions, sines = [], []
    for number in range(first, first + length):
        op = choose.choices(list(Op), WEIGHTS)[0]
        tame = [*range(first), *sines]  # factors come from here: a product of products might overflow
        recent = range(max(0, number - 40), number)
        args = [choose.choice(tame if is_factor(op, k) or op == Op.EXP else recent) for k in range(ARITY[op])]
        instructions.append((int(op), *args))
        if op in BOUNDED:
            sines.append(number)
    results = tuple(choose.choice([*sines[-50:], 0, first - 1]) for p in targets for _ in range(p.size))
    return Program(f"random{seed}", ports, targets, constants, tuple(instructions), results).check()


SHAPES = ((), (1,), (2,), (3,), (7,), (8,), (17,), (2, 3), (3, 5), (70,), (0,), (2, 0))
FLAVOURS = {  # how often each operation comes
    "mixed": (4, 4, 4, 0.5, 1, 0.5, 1, 1, 0.3, 4, 4, 4, 0.3, 0.3, 0.3, 0.3, 0.5, 0.5, 0.5, 0.3, 0.3, 0.5),
    "sines": (1, 1, 1, 0.2, 0.5, 0.2, 6, 6, 0.5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),  # of sums and of sines
    "functions": (1, 1, 1, 0.2, 0.5, 0.2, 1, 1, 0.5, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1),
    "sums": (4, 4, 1, 0, 1, 0, 0, 0, 0, 4, 4, 4, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2),
    "quotients": (2, 2, 2, 3, 1, 3, 0.5, 0.5, 0.5, 2, 2, 2, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5),
}


def wild_program(seed: int) -> Program:
    """Ports of any shapes, instructions of any kind on near or far values, which may be infinite or not a number, and
    results of every origin: inputs, constants, the same value often, hundreds of them."""
    choose = random.Random(seed)
    inputs, outputs = (choose.choices(SHAPES, k=choose.randint(1, 4)) for _ in range(2))
    inputs, outputs = [*inputs, (3,)], [*outputs, (choose.choice([1, 4, 6, 150, 400]),)]
    ports = tuple(Port(f"x{k}", shape) for k, shape in enumerate(inputs))
    targets = tuple(Port(f"y{k}", shape) for k, shape in enumerate(outputs))
    constants = tuple(choose.choice([0.0, -0.0, 1.0, choose.gauss(0, 1)]) for _ in range(choose.choice([0, 2, 40])))
    first = sum(p.size for p in ports) + len(constants)
    weights = FLAVOURS[choose.choice(list(FLAVOURS))]
    length, reach = choose.choice([0, 1, 10, 100, 600, 1500]), choose.choice([3, 30, 10**6])
    instructions, factors = [], list(range(first))[-60:]
    for number in range(first, first + length):
        op = choose.choices(list(Op), weights)[0]
        near = range(max(0, number - reach), number)
        tame = [is_factor(op, k) for k in range(ARITY[op])]
        instructions.append((int(op), *(choose.choice(factors if factor else near) for factor in tame)))
        if op in BOUNDED:
            factors.append(number)
    pool = choose.choice([range(first + length), range(first), range(max(0, first + length - 20), first + length)])
    results = tuple(choose.choice(pool) for p in targets for _ in range(p.size))
    return Program(f"wild{seed}", ports, targets, constants, tuple(instructions), results).check()


def wild_states(program: Program, dtype, count: int) -> list[np.ndarray]:
    """Numbers among which some are far from the others, infinite or none."""
    rng, states = np.random.default_rng(count), []
    for port in program.inputs:
        x = rng.normal(size=(count, *port.shape))
        odd = rng.choice([0.0, -0.0, np.inf, np.nan, 1e-310, 3e5, -1e22, 1e300], x.shape)
        with np.errstate(over="ignore"):
            states.append(np.where(rng.random(x.shape) < 0.01, odd, x).astype(dtype))
    return states


def one_by_one(program: Program, inputs, operate) -> list[np.ndarray]:
    """The outputs for a batch, by ``operate(op)`` of each instruction's arguments."""
    count, dtype = len(inputs[0]), inputs[0].dtype
    values = [np.ascontiguousarray(column) for x in inputs for column in x.reshape(count, int(np.prod(x.shape[1:]))).T]
    values += [np.full(count, number, dtype) for number in program.constants]
    with np.errstate(all="ignore"):
        for op, *args in program.instructions:
            values.append(operate(Op(op))(*(values[a] for a in args)))
    results = iter(program.results)
    return [np.array([values[next(results)] for _ in range(p.size)], dtype).T.reshape(count, *p.shape)
            for p in program.outputs]  # fmt: skip


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


def same_numbers(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal bits; those of what is not a number are a processor's own."""
    return same_bits(*(np.where(np.isnan(x), x.dtype.type(np.nan), x) for x in (a, b)))
