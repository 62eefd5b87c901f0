"""Exponential, logarithm, tanh and atan2 against mpmath over the whole range; what is known exactly; choices."""

import itertools
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from straightline import FORMULAS, one_instruction, same_bits, same_numbers

from linkwork.codegen.native import build, ir_text
from linkwork.codegen.native.target import host
from linkwork.program.program import ARITY, Op
from support.assembly import TARGETS as KINDS
from support.assembly import compiled

EXACT = {Op.EXP: mpmath.exp, Op.LOG: mpmath.log, Op.TANH: mpmath.tanh, Op.ATAN2: mpmath.atan2}
NUMPY = {Op.EXP: np.exp, Op.LOG: np.log, Op.TANH: np.tanh, Op.ABS: np.abs, Op.ATAN2: np.arctan2,
         Op.MIN: np.minimum, Op.MAX: np.maximum}  # fmt: skip
TARGETS = {"host": host()}
if host().triple.startswith("x86_64"):
    TARGETS["without fusing"] = replace(host(), cpu="x86-64", features="", vector_bytes=16, fused=False)
MOST = {np.float64: 2, np.float32: 0.51}  # units in the last place
N = 1500


def errors(got, arguments, function, dtype) -> list[float]:
    """In units in the last place of the exact result; beyond the largest number infinity is right."""
    below_top, found = np.nextafter(np.finfo(dtype).max, dtype(0)), []
    with mpmath.workprec(200):
        for y, *x in zip(got, *arguments):
            exact = function(*(mpmath.mpf(float(v)) for v in x))
            beyond = abs(exact) >= float(below_top)
            unit = np.spacing(below_top if beyond else np.abs(dtype(float(exact))))
            infinite = abs(exact) > float(np.finfo(dtype).max) and y == math.copysign(math.inf, exact)
            found.append(0.0 if infinite else float(abs(mpmath.mpf(float(y)) - exact) / mpmath.mpf(float(unit))))
    return found


def arguments(op: Op, kind: str, dtype) -> list[np.ndarray]:
    """One array, or y and x of atan2."""
    rng, info = np.random.default_rng(sum(map(ord, kind))), np.finfo(dtype)
    signs, low, high = rng.choice([-1, 1], (2, N)), math.log2(float(info.tiny)), math.log2(float(info.max))
    any_size = signs * 2.0 ** rng.uniform(low, high, (2, N))
    subnormal = signs * rng.integers(1, 2**20, (2, N)) * float(info.smallest_subnormal)
    if kind == "any size":
        x = any_size
    elif kind == "subnormal":
        x = subnormal
    elif kind == "small":
        x = rng.uniform(-1, 1, (2, N))
    elif kind == "moderate":
        x = rng.uniform(-25, 25, (2, N))
    elif kind == "near one":
        x = 1 + rng.normal(size=(2, N)) * 10.0 ** rng.uniform(-9, -1, N)
    elif kind == "near the limits":  # of exp: overflow, subnormal results, zero
        x = np.log(2) * np.array([rng.uniform(high - 2, high + 0.01, N), rng.uniform(low - 55, low + 1, N)])
    else:  # "half": where atan2 changes its way, and the root of 1/2, where log does; 0.625, where tanh does
        x = np.array([rng.choice([0.5, 2**-0.5, 0.625], N) * rng.uniform(0.999, 1.001, N), np.ones(N)])
    if op == Op.LOG:
        x = np.abs(x)
    if ARITY[op] == 2:
        return [each.astype(dtype) for each in x]
    return [x.ravel().astype(dtype)]


KINDS_OF_NUMBERS = ("any size", "subnormal", "small", "moderate", "near one", "near the limits", "half")


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS_OF_NUMBERS)
@pytest.mark.parametrize("op", EXACT, ids=lambda op: op.name)
def test_error(op, kind, dtype, target):
    x = arguments(op, kind, dtype)
    with np.errstate(over="ignore"):
        y = build(one_instruction(op), dtype, target=target)(*x)
    assert max(errors(y, x, EXACT[op], dtype)) <= MOST[dtype]


def specials(dtype) -> np.ndarray:
    info = np.finfo(dtype)
    x = [0.0, 1.0, 0.3, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1e4]
    return np.array([*x, *np.negative(x)], dtype)


def told(function, *x) -> tuple[np.ndarray, set[str]]:
    """Results, and what NumPy has to say about them."""
    flags: set[str] = set()
    with np.errstate(all="call", under="ignore", call=lambda name, _: flags.add(name)):
        return function(*x), flags


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("op", NUMPY, ids=lambda op: op.name)
def test_special_values(op, dtype):
    """Those of NumPy, signs of zeros included, and no other floating point flags."""
    function = build(one_instruction(op), dtype)
    for x in itertools.product(specials(dtype), repeat=ARITY[op]):
        arrays = [np.full(3, each) for each in x]
        (y, flags), (right, right_flags) = told(function, *arrays), told(NUMPY[op], *arrays)
        if op in (Op.MIN, Op.MAX) and x[0] == x[1] == 0:  # NumPy's has either sign
            right = np.full(3, FORMULAS[op](*x))
        if op in EXACT:
            nearly = np.abs(y - right) <= 2 * np.spacing(np.abs(right)) if np.isfinite(right).all() else False
            right = np.where(nearly, np.copysign(y, right), right)
        assert same_numbers(y, right), x
        assert flags == right_flags, x


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", NUMPY, ids=lambda op: op.name)
def test_lanes_do_not_mix(op, dtype):
    """The same bits in every place, whatever the neighbours are."""
    function, rng = build(one_instruction(op), dtype), np.random.default_rng(op)
    x = rng.normal(size=(ARITY[op], 37)).astype(dtype)
    for place, odd in itertools.product(range(0, 37, 5), specials(dtype)):
        x[0, place] = odd
        with np.errstate(all="ignore"):
            together, alone = function(*x), np.array([function(*state) for state in x.T])
        assert same_numbers(together, alone)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["AVX-512", "AVX2"])
def test_few_lanes_and_many(kind, dtype):
    """The same bits on vectors of 64, 32 and 16 bytes."""
    if not (host().triple.startswith("x86_64") and host().vector_bytes >= KINDS[kind].vector_bytes and host().fused):
        pytest.skip("this processor has no such vectors")
    target = replace(KINDS[kind], triple=host().triple)
    for op in EXACT:
        x = [
            np.concatenate(parts) for parts in zip(*(arguments(op, k, np.dtype(dtype).type) for k in KINDS_OF_NUMBERS))
        ]
        with np.errstate(all="ignore"):
            made = [build(one_instruction(op), dtype, each)(*x) for each in (target, replace(target, vector_bytes=16))]
        assert same_bits(*made)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_library_is_called(kind, dtype):
    """All of it on whole registers; the only calls are those of our own functions, from parts with nothing else."""
    for op in NUMPY:
        code = compiled(ir_text(one_instruction(op), dtype, KINDS[kind]), KINDS[kind])
        own = code.functions.get(f"vector_{op.name.lower()}", [])
        assert bool(own) == (op in EXACT)
        done = [each for body in (own, *code.kernel.values()) for each in body]
        assert [each.operands.strip("_") for each in done if each.calls] == [f"vector_{op.name.lower()}"] * bool(own)
        assert all(each.on_vectors(code.target) for each in done if each.arithmetic)
