"""Compiled programs against an exact evaluator, and the same bits in every position, size and memory order."""

import re
import threading
from dataclasses import replace

import numpy as np
import pytest
from llvmlite import binding
from straightline import APPROXIMATE, evaluate, layouts, one_instruction, random_program, same_bits

from linkwork.codegen.native import build, ir_text
from linkwork.codegen.native.target import Target, host
from linkwork.errors import LinkworkError, UnsupportedError
from linkwork.program.program import ARITY, FUSED, Op, Port, Program
from support.targets import need

DTYPES = [np.float64, np.float32]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -3.7, 1e-30, 2.5e7, np.inf, -np.inf, np.nan]

baseline = replace(host(), cpu="x86-64", features="", vector_bytes=16, fused=False)
needs_x86 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="the target is an x86-64 without AVX")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", list(Op))
def test_every_operation(op, dtype):
    if op in FUSED and not host().fused:
        pytest.skip("this processor does not fuse")
    generator = np.random.default_rng(op)
    n = ARITY[op]
    states = np.concatenate([
        generator.normal(size=(300, n)) * 10.0 ** generator.integers(-3, 4, size=(300, n)),
        generator.choice(SPECIAL, size=(200, n)),
    ]).astype(dtype)  # fmt: skip
    program = one_instruction(op)
    expected = np.array([evaluate(program, state, dtype)[0] for state in states])
    with np.errstate(all="ignore"):
        got = build(program, dtype)(*states.T)
    assert got.dtype == dtype
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(got), nan)
    if op in APPROXIMATE:
        np.testing.assert_array_max_ulp(got[~nan], expected[~nan], 2)
    else:
        assert np.array_equal(got[~nan], expected[~nan])
        if op not in FUSED:  # the evaluator's exact zeros have no sign when fused
            assert np.array_equal(np.signbit(got[~nan]), np.signbit(expected[~nan]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_programs(dtype):
    for seed in range(4):
        program = random_program(seed, 300)
        states = [
            np.random.default_rng(k).normal(size=(5, *p.shape)).astype(dtype) for k, p in enumerate(program.inputs)
        ]
        outputs = build(program, dtype)(*states)
        for k in range(5):
            expected = np.array(evaluate(program, np.concatenate([s[k].ravel() for s in states]), dtype))
            got = np.concatenate([np.ravel(y[k]) for y in outputs])
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11 if dtype == np.float64 else 2e-3)


@pytest.fixture(scope="module", params=["float64", "float32"])
def batch(request):
    """A compiled program, 61 states and what they give one by one."""
    program = random_program(7, 120)
    states = [np.random.default_rng(k).normal(size=(61, *p.shape)).astype(request.param)
              for k, p in enumerate(program.inputs)]  # fmt: skip
    function = build(program, request.param)
    singles = [function(*(s[k] for s in states)) for k in range(61)]
    return function, states, [np.stack(y) for y in zip(*singles)]


def check(got, expected):
    assert all(same_bits(g, e) for g, e in zip(got, expected))


def test_is_a_ufunc(batch):
    function = batch[0]
    assert isinstance(function, np.ufunc)
    assert function.signature == "(7),(7),(3)->(7),(3,4),()"
    assert function.__name__ == "random7" and "x0 (7,)" in function.__doc__


def test_every_batch_size_and_offset(batch):
    function, states, expected = batch
    for size in range(41):
        for offset in (0, 1, 2, 3, 20):
            part = slice(offset, offset + size)
            check(function(*(s[part] for s in states)), [e[part] for e in expected])


def test_every_memory_order_of_inputs(batch):
    function, states, expected = batch
    for size in (1, 3, 8, 61):
        cut = [s[:size] for s in states]
        for changed in range(len(cut)):
            for other in layouts(cut[changed]):
                check(function(*cut[:changed], other, *cut[changed + 1 :]), [e[:size] for e in expected])


def test_every_memory_order_of_outputs(batch):
    function, states, expected = batch
    for size in (1, 3, 8, 61):
        cut = [s[:size] for s in states]
        for outputs in zip(*(list(layouts(np.full(e[:size].shape, 77, e.dtype))) for e in expected)):
            function(*cut, out=outputs)
            check(outputs, [e[:size] for e in expected])


def test_writes_nothing_else(batch):
    function, states, expected = batch
    for size in (1, 2, 5, 8, 13):
        wide = [np.full((size + 2, *(k + 2 for k in e.shape[1:])), 77, e.dtype) for e in expected]
        inner = tuple(w[(slice(1, -1),) * w.ndim] for w in wide)
        function(*(s[:size] for s in states), out=inner)
        check(inner, [e[:size] for e in expected])
        for w, i in zip(wide, inner):
            i[...] = 77
            assert (w == 77).all()


def test_broadcast(batch):
    function, states, expected = batch
    x, y, z = states
    got = function(x[:5, None], y[0], z[0])
    for k in range(5):
        check([g[k, 0] for g in got], function(x[k], y[0], z[0]))
    got = function(x, y[3], z)
    for k in range(61):
        check([g[k] for g in got], function(x[k], y[3], z[k]))
    grid = function(x[:6].reshape(2, 3, 7), y[:6].reshape(2, 3, 7), z[:6].reshape(2, 3, 3))
    check([g.reshape(6, *g.shape[2:]) for g in grid], [e[:6] for e in expected])


def test_in_place(batch):
    function, states, expected = batch
    x = states[0].copy()
    function(x, *states[1:], out=(x, None, None))
    check([x], expected[:1])


def test_threads(batch):
    function, states, expected = batch
    big = [np.concatenate([s] * 200) for s in states]
    failures = []

    def work():
        for _ in range(5):
            for g, e in zip(function(*big), expected):
                if not same_bits(g, np.concatenate([e] * 200)):
                    failures.append(g)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "shape", [(1,), (2,), (3,), (4,), (5,), (8,), (15,), (16,), (17,), (40,), (3, 3), (2, 3, 4), (1, 6), (70,), (130,)]
)
def test_every_shape(shape, dtype):
    """A copy in reverse: layout and nothing else."""
    size = int(np.prod(shape))
    program = Program("reverse", (Port("x", shape),), (Port("y", shape),), (), (), tuple(range(size))[::-1])
    function = build(program, dtype)
    for n in (1, 4, 5, 16, 23):
        x = np.arange(n * size, dtype=dtype).reshape(n, *shape)
        expected = x.reshape(n, size)[:, ::-1].reshape(n, *shape)
        for other in (x, *layouts(x)):
            assert same_bits(function(other), expected)
        for out in layouts(np.zeros_like(x)):
            assert same_bits(function(x, out=out), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_split_programs_give_the_same_bits(dtype):
    program = random_program(3, 1500)
    states = [np.random.default_rng(k).normal(size=(9, *p.shape)) for k, p in enumerate(program.inputs)]
    whole = build(program, dtype, segment=10**9)(*(s.astype(dtype) for s in states))
    for segment in (50, 333, 700):
        text = ir_text(program, dtype, segment=segment)
        assert text.count("define internal void @kernel") > 1
        check(build(program, dtype, segment=segment)(*(s.astype(dtype) for s in states)), whole)


@needs_x86
@pytest.mark.parametrize("dtype", DTYPES)
def test_processor_without_vectors_of_256_bits_and_fusing(dtype):
    program = random_program(5, 200)
    states = [np.random.default_rng(k).normal(size=(7, *p.shape)).astype(dtype) for k, p in enumerate(program.inputs)]
    assert ".fma." not in ir_text(program, np.dtype(dtype).name, baseline)
    function = build(program, dtype, target=baseline)
    for got, expected in zip(function(*states), build(program, dtype)(*states)):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11 if dtype == np.float64 else 2e-3)
    singles = [np.stack(y) for y in zip(*(function(*(s[k] for s in states)) for k in range(7)))]
    check(function(*states), singles)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_width_does_not_change_bits(vector_bytes):
    """A vector wider than the registers is cut by LLVM: the emitter for other processors runs here too."""
    program = random_program(9, 200)
    states = [np.random.default_rng(k).normal(size=(21, *p.shape)) for k, p in enumerate(program.inputs)]
    check(build(program, target=replace(host(), vector_bytes=vector_bytes))(*states), build(program)(*states))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "target",
    [
        Target("x86_64-unknown-linux-gnu", "skylake-avx512", "", 64, True),
        Target("x86_64-unknown-linux-gnu", "sandybridge", "", 32, False),
        Target("aarch64-unknown-linux-gnu", "generic", "", 16, True),
        Target("arm64-apple-macosx14", "apple-m1", "", 16, True),
        Target("x86_64-pc-windows-msvc", "x86-64-v3", "", 32, True),
    ],
    ids=lambda target: target.cpu,
)
def test_code_for_other_processors_calls_nothing_outside(target, dtype):
    need(target)
    text = ir_text(random_program(9, 200), dtype, target)
    assembly = target.machine().emit_assembly(binding.parse_assembly(text))
    defined = set(re.findall(r"^(\w+):", assembly, re.M))
    called = set(re.findall(r"^\s+(?:callq|bl)\s+([A-Za-z_]\w*)", assembly, re.M))
    assert called and called - {"__chkstk"} <= defined  # Windows grows its stack through __chkstk


def test_no_inputs():
    program = Program("constants", (), (Port("y", (2,)),), (1.5, 0.5), ((int(Op.ADD), 0, 1),), (2, 0))
    assert build(program)().tolist() == [2.0, 1.5]


def test_empty_ports():
    nothing = build(Program("nothing", (Port("q", (0,)), Port("v", (0,))), (Port("tau", (0,)),), (), (), ()))
    assert nothing(np.zeros((3, 1, 0)), np.zeros((4, 0))).shape == (3, 4, 0)
    assert (nothing.nin, nothing.nout, nothing.signature) == (2, 1, "(0),(0)->(0)")
    ports = (Port("q", (0,)), Port("x", (2,))), (Port("y", (2,)), Port("J", (6, 0)))
    some = build(Program("some", *ports, (), (), (1, 0)))
    y, jacobian = some(np.zeros((5, 0)), [1.0, 2.0])
    assert y.tolist() == [[2.0, 1.0]] * 5 and jacobian.shape == (5, 6, 0)
    target = np.empty((5, 2)), np.empty((5, 6, 0))
    assert some(np.zeros((5, 0)), [1.0, 2.0], out=target)[0] is target[0] and (target[0] == [2, 1]).all()
    with pytest.raises(TypeError, match="same_kind"):
        some(np.zeros((5, 0)), np.ones(2) * 1j)
    constant = build(Program("constant", ports[0][:1], (Port("y", ()),), (2.5,), (), (0,)))
    assert constant(np.zeros((2, 0))).tolist() == [2.5, 2.5]
    with pytest.raises(LinkworkError, match="q does not fit"):
        constant(np.zeros((2, 1)))


@pytest.mark.parametrize("count, shape", [(70, ()), (70, (2,)), (33, (2, 3)), (20, (1, 2, 3)), (300, (2,))])
def test_more_arguments_or_axes_than_numpy_accepts(count, shape):
    size = int(np.prod(shape))
    products = tuple((int(Op.MUL), a, k) for k in range(2 * size, 2 * size + count) for a in range(size))
    outputs = tuple(Port(f"y{k}", shape) for k in range(count))
    factors, first = tuple(map(float, range(count))), 2 * size + count
    results = tuple(range(first, first + count * size))
    program = Program("many", (Port("x", shape), Port("unused", shape)), outputs, factors, products, results)
    function, x = build(program), np.random.default_rng(0).normal(size=(3, 17, *shape))
    for batch in (x, x[:, ::2], np.asfortranarray(x), x[0, 0]):
        for k, y in enumerate(function(batch, np.zeros(shape))):
            assert y.shape == batch.shape and (y == k * batch).all()
    out = tuple(np.empty(x.shape) for _ in outputs)
    assert function(x, np.zeros(shape), out=out)[-1] is out[-1] and (out[-1] == (count - 1) * x).all()
    own = x.copy()  # an input that is an output, too, and outputs of another order
    out = own, *(np.empty(x.shape, order="F") for _ in outputs[1:])
    function(own, np.zeros(shape), out=out)
    assert all((y == k * x).all() for k, y in enumerate(out))
    sums = tuple((int(Op.ADD), first, k) for k, first in zip(range(1, 70), [0, *range(70, 138)], strict=True))
    summed = build(Program("sum", tuple(Port(f"x{k}", ()) for k in range(70)), (Port("y", ()),), (), sums, (138,)))
    assert summed(*range(69), np.arange(4.0)).tolist() == [69 * 34 + k for k in range(4)]


def test_not_a_number_stays_in_its_state_and_does_not_warn():
    program = random_program(11, 100)
    states = [np.random.default_rng(k).normal(size=(11, *p.shape)) for k, p in enumerate(program.inputs)]
    clean = build(program)(*states)
    for s in states:
        s[4] = np.nan
    with np.errstate(all="raise", under="ignore"):
        spoilt = build(program)(*states)
    others = [k for k in range(11) if k != 4]
    check([y[others] for y in spoilt], [y[others] for y in clean])
    assert np.isnan(spoilt[0][4]).any()


def test_division_by_zero_is_numpys():
    divide = build(one_instruction(Op.DIV))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert divide(1.0, 0.0) == np.inf


def test_other_types_are_refused():
    with pytest.raises(UnsupportedError, match="float64 and float32"):
        build(one_instruction(Op.ADD), "int64")
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        build(random_program(7, 120))(np.zeros(6), np.zeros(7), np.zeros(3))
