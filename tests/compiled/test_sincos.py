"""Sine and cosine against 60 digits of mpmath over the whole range, and each lane on its own."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from straightline import same_bits

from linkwork.codegen.native import build
from linkwork.codegen.native.target import host
from linkwork.program.program import Op, Port, Program

PAIR = Program(
    "sincos", (Port("x", ()),), (Port("s", ()), Port("c", ())), (), ((int(Op.SIN), 0), (int(Op.COS), 0)), (1, 2)
)
TWO = Program(
    "two", (Port("x", (2,)),), (Port("s", (2,)), Port("c", (2,))), (),
    tuple((int(op), k) for op in (Op.SIN, Op.COS) for k in range(2)), (2, 3, 4, 5),
)  # fmt: skip
TARGETS = {"host": host()}
if host().triple.startswith("x86_64"):
    TARGETS["without fusing"] = replace(host(), cpu="x86-64", features="", vector_bytes=16, fused=False)


def error_in_ulps(got, arguments, function, dtype):
    with mpmath.workprec(1400):  # enough to reduce 1e308
        exact = [function(mpmath.mpf(float(x))) for x in arguments]
        unit = np.spacing(np.abs(np.array([float(e) for e in exact], dtype=dtype)))
        return max(abs(mpmath.mpf(float(g)) - e) / mpmath.mpf(float(u)) for g, e, u in zip(got, exact, unit))


def arguments(kind, dtype):
    generator = np.random.default_rng(1)
    top = float(np.finfo(dtype).max)
    if kind == "near multiples of pi/2":
        multiples = np.concatenate([np.arange(0, 200), generator.integers(0, 63661, 400)])
        near = (multiples * (np.pi / 2)).astype(dtype)
        x = np.concatenate([near, np.nextafter(near, dtype(9e9)), np.nextafter(near, dtype(-9e9))])
    elif kind == "between":
        x = (np.arange(-300, 300) + 0.5) * np.pi / 4
    elif kind == "small":
        x = generator.uniform(-4, 4, 1500)
    elif kind == "to 1e5":
        x = np.append(generator.uniform(-1e5, 1e5, 1500), [1e5, -1e5, np.nextafter(1e5, 2e5)])
    elif kind == "huge":
        x = 10.0 ** generator.uniform(5, np.log10(top), 600) * generator.choice([-1, 1], 600)
        # the doubles nearest to a multiple of pi/2, relative to their size, and the largest of all
        x = np.append(x, [6381956970095103.0 * 2.0**k for k in (3, 57, 60) if 2.0**k < top / 1e16] + [top])
    else:
        tiny = np.finfo(dtype).tiny
        x = np.array([tiny, -tiny, tiny / 8, -tiny / 3, np.finfo(dtype).smallest_subnormal, 1e-20, -1e-9, 1e-4])
    return x.astype(dtype)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["near multiples of pi/2", "between", "small", "to 1e5", "huge", "tiny"])
def test_error(kind, dtype, target):
    x = arguments(kind, dtype)
    sine, cosine = build(PAIR, dtype, target=target)(x)
    assert error_in_ulps(sine, x, mpmath.sin, dtype) <= 2
    assert error_in_ulps(cosine, x, mpmath.cos, dtype) <= 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_special_values(dtype):
    function = build(PAIR, dtype)
    with np.errstate(all="raise"):  # no flags, in whichever lane
        sine, cosine = function(np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype))
    assert (sine[:2] == 0).all() and np.signbit(sine[:2]).tolist() == [False, True]
    assert cosine[:2].tolist() == [1, 1]
    assert np.isnan(sine[2:]).all() and np.isnan(cosine[2:]).all()


@pytest.mark.parametrize("program", [PAIR, TWO], ids=["one", "two at once"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lanes_do_not_mix(program, dtype):
    """A lane in the slow path leaves its neighbours' bits alone, and has the same bits alone."""
    function = build(program, dtype)
    shape = (37, *program.inputs[0].shape)
    x = np.random.default_rng(2).uniform(-20, 20, shape).astype(dtype)
    calm = function(x)
    for place in range(37):
        for value in (3e8, -1e30, np.inf, np.nan):
            disturbed = x.copy()
            disturbed.reshape(37, -1)[place, 0] = value
            answers = function(disturbed)
            alone = function(disturbed[place])
            for a, c, one in zip(answers, calm, alone):
                assert same_bits(np.delete(a, place, 0), np.delete(c, place, 0))
                assert same_bits(a[place], one)
                assert same_bits(a.reshape(37, -1)[place, 1:], c.reshape(37, -1)[place, 1:])
