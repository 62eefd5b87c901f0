"""The direct call of one state: the ufunc's bits, everything else left to the fallback, no reference lost."""

import gc
import inspect
import pickle
import sys
import threading
import tracemalloc
import weakref
from contextlib import nullcontext

import numpy as np
import pytest
from straightline import random_program, same_bits

from linkwork.codegen import native
from linkwork.codegen.native import build, direct
from linkwork.codegen.native.lifetime import Recent
from linkwork.codegen.native.target import host
from linkwork.function import Function
from linkwork.metadata import Label
from linkwork.program.program import Op, Port, Program

if direct.obstacle():
    pytest.skip("this interpreter has no direct calls", allow_module_level=True)

PORTS = [
    (((7,), (7,), (3,)), ((7,), (3, 4), ())),
    (((6, 6), (6,)), ((6, 6),)),
    (((2, 3, 4),), ((4, 3, 2), (1,))),
    (((), (5,)), ((), ())),
    (((0,), (4,)), ((0,), (4,), (6, 0))),
    (((0,),), ((0, 3),)),
    (((70,), (9, 9)), ((12, 12),)),
    ((), ((3,),)),
    *((((n,), (n,)), ((n,),)) for n in range(1, 21)),
]


def build_direct(program, dtype, fallback):
    return native.compile(program, dtype).direct(fallback)


def never(*args, **options):
    raise AssertionError("the fallback was called")


def states(program, dtype="float64", seed=0):
    generator = np.random.default_rng(seed)
    return [np.array(generator.normal(size=port.shape), dtype) for port in program.inputs]


def alike(got, expected):
    if not isinstance(expected, tuple):
        got, expected = (got,), (expected,)
    return len(got) == len(expected) and all(type(g) is type(e) and same_bits(g, e) for g, e in zip(got, expected))


@pytest.fixture(scope="module")
def three():
    """A program of three vectors, its ufunc and a builtin whose fallback says what it was given."""
    program = random_program(31, 60, ((7,), (7,), (7,)), ((7,),))
    return states(program), build(program), build_direct(program, "float64", lambda *a, **k: ("fallback", a, k))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("inputs, outputs", PORTS, ids=str)
def test_bits_of_the_ufunc(inputs, outputs, dtype):
    program = random_program(len(inputs), 80, inputs, outputs)
    call, ufunc = build_direct(program, dtype, never), build(program, dtype)
    for seed in range(3):
        given = states(program, dtype, seed)
        assert alike(call(*given), ufunc(*given))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("inputs, outputs", PORTS, ids=str)
def test_out_takes_the_bits(inputs, outputs, dtype):
    """The arrays of ``out`` themselves come back, also those without axes; ``threads="auto"`` is still nothing."""
    program = random_program(len(inputs), 80, inputs, outputs)
    call, ufunc, given = build_direct(program, dtype, never), build(program, dtype), states(program, dtype)
    outs = tuple(np.full(shape, 7.0, dtype) for shape in outputs)
    out = outs if len(outs) > 1 else outs[0]
    for options in ({"out": out}, {"out": out, "threads": "auto"}, {"threads": "auto", "out": out}):
        for array in outs:
            array[...] = 7.0
        answer = call(*given, **options)
        assert answer is out if len(outs) == 1 else all(a is b for a, b in zip(answer, outs, strict=True))
        expected = ufunc(*given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert all(map(same_bits, outs, expected))


def test_no_outputs():
    program = Program("nothing", (Port("q", (2,)),), (), (), (), ())
    assert build_direct(program, "float64", never)(np.zeros(2)) == build(program)(np.zeros(2)) == ()


def test_split_programs():
    program = random_program(2, 2 * host().choices.segment + 100)
    given = states(program)
    assert alike(build_direct(program, "float64", never)(*given), build(program)(*given))


def test_long_programs_have_none(monkeypatch):
    program = random_program(41, 60)
    monkeypatch.setattr(direct, "LONGEST", 59)
    compiled = native.compile(program, "float64")
    assert compiled.direct is None and "so large" in compiled.obstacle
    assert "@direct" not in native.ir_text(program)
    assert build(program)(*states(program))[0].shape == (7,)


def test_special_numbers(three):
    (q, v, a), ufunc, call = three
    for special in (np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e22, 1e308):
        for k in range(7):
            q = q.copy()
            q[k] = special
            with np.errstate(all="ignore"):
                assert same_bits(call(q, v, a), ufunc(q, v, a))


def test_division_by_zero_is_silent():
    program = Program("divide", (Port("x", (2,)),), (Port("y", (1,)),), (), ((int(Op.DIV), 0, 1),), (2,))
    call = build_direct(program, "float64", never)
    with np.errstate(all="raise"):
        assert call(np.array([1.0, 0.0])).tolist() == [np.inf]
        assert np.multiply(2.0, 3.0) == 6  # and no flag is left for NumPy to find


class Sub(np.ndarray):
    pass


def others():
    """One array of seven numbers in ways that are not plain, each with a name."""
    x = np.arange(7.0)
    raw = np.zeros(7 * 8 + 1, np.uint8)[1:].view(np.float64)
    raw[...] = x
    wide = np.repeat(x, 2)
    yield "a list", x.tolist()
    yield "float32", x.astype("float32")
    yield "int64", x.astype("int64")
    yield "complex", x.astype("complex128")
    yield "object", x.astype(object)
    yield "strings", x.astype("U3")
    yield "too long", np.zeros(8)
    yield "too short", np.zeros(6)
    yield "empty", np.zeros(0)
    yield "a batch", np.zeros((3, 7))
    yield "a row", x[None]
    yield "a column", x[:, None]
    yield "a scalar", np.array(1.0)
    yield "strided", wide[::2]
    yield "negative strides", x[::-1]
    yield "broadcast", np.broadcast_to(np.array([1.0]), (7,))
    yield "a subclass", x.view(Sub)
    yield "masked", np.ma.masked_array(x)
    yield "unaligned", raw
    yield "byte-swapped", x.astype(x.dtype.newbyteorder("S"))
    yield "a NumPy scalar", np.float64(3)
    yield "None", None
    yield "a dict", {"a": 1}
    yield "a type", np.ndarray
    yield "a memory view", memoryview(x)


@pytest.mark.parametrize("other", [pytest.param(value, id=name) for name, value in others()])
def test_fallback_for_what_is_not_plain(three, other):
    (q, v, a), _, call = three
    for k in range(3):
        given = [q, v, a]
        given[k] = other
        name, args, options = call(*given)
        assert name == "fallback" and options == {} and all(x is y for x, y in zip(args, given))


def test_fallback_for_other_calls(three):
    (q, v, a), _, call = three
    for args, options in (
        ((), {}), ((q,), {}), ((q, v), {}), ((q, v, a, q), {}), ((q, v), {"a": a}), ((q, v, a), {"out": None}),
        ((), {"q": q, "v": v, "a": a}),
    ):  # fmt: skip
        name, got_args, got_options = call(*args, **options)
        assert name == "fallback" and got_options.keys() == options.keys()
        assert all(x is y for x, y in zip((*got_args, *got_options.values()), (*args, *options.values())))


def test_one_state_needs_no_threads(three):
    """So ``threads="auto"`` changes nothing; other words, and other ways to spell this one, are for the fallback."""
    (q, v, a), ufunc, call = three
    assert alike(call(q, v, a, threads="auto"), ufunc(q, v, a))
    other = "".join(["au", "to"])
    for options in ({"threads": 1}, {"threads": other}, {"thread": "auto"}, {"threads": "auto", "out": None}):
        assert call(q, v, a, **options) == ("fallback", (q, v, a), options)
    assert call(q, v, threads="auto") == ("fallback", (q, v), {"threads": "auto"})
    assert call(q, v, q[:3], threads="auto")[0] == "fallback"


def unfit_outs():
    """What cannot take seven numbers without a look: as inputs that are not plain, and what may not be written to."""
    yield from others()
    fixed = np.zeros(7)
    fixed.flags.writeable = False
    yield "read-only", fixed
    warned = np.broadcast_arrays(np.zeros(7), np.zeros((1, 1)))[0]  # NumPy warns of writing to it
    yield "a warning", warned.reshape(7)
    yield "a tuple", (np.zeros(7),)
    yield "an empty tuple", ()


@pytest.mark.parametrize("out", [pytest.param(value, id=name) for name, value in unfit_outs()])
def test_fallback_for_an_out_that_does_not_fit(three, out):
    (q, v, a), _, call = three
    before = np.array(out, copy=True, dtype=object) if isinstance(out, np.ndarray) else None
    name, args, options = call(q, v, a, out=out)
    assert name == "fallback" and args[2] is a and options["out"] is out
    assert before is None or np.array_equal(np.array(out, dtype=object), before)


def test_fallback_for_tuples_that_do_not_fit():
    program = random_program(42, 60, ((4,),), ((3,), (2, 2), ()))
    call, (x,) = build_direct(program, "float64", lambda *args, **options: "fallback"), states(program)
    y, z, w = np.zeros(3), np.zeros((2, 2)), np.zeros(())
    assert isinstance(call(x, out=(y, z, w)), tuple)
    shared = np.zeros(7)
    for outs in (
        (y, z), (y, z, w, w), [y, z, w], (z, y, w), (y, z, None), (y, z, 0.0), (y, z, np.float64()), y, None,
        (y, z.T, w[None]), (y, np.zeros((2, 2), "f4"), w),
        (shared[:3], shared[2:6].reshape(2, 2), w), (shared[3:6], shared[:4].reshape(2, 2), w),
        (y, z, y[1:2].reshape(())),
    ):  # fmt: skip
        assert isinstance(call(x, out=outs), str)
    parts = shared[:3], shared[3:].reshape(2, 2), w  # neighbours
    assert all(a is b for a, b in zip(call(x, out=parts), parts, strict=True))


def test_out_may_be_an_input(three):
    """Or overlap one: inputs are read before anything is written."""
    (q, v, a), ufunc, call = three
    expected = ufunc(q, v, a)
    for k in range(3):
        given = [q.copy(), v.copy(), a.copy()]
        assert call(*given, out=given[k]) is given[k] and same_bits(given[k], expected)
        memory = np.zeros(9)
        given = [q, v, a]
        given[k] = memory[:7]
        memory[:7] = (q, v, a)[k]
        assert same_bits(call(*given, out=memory[2:]), expected)


def test_references_of_out(three):
    (q, v, a), _, call = three
    several = random_program(43, 20, ((7,),), ((7,), ()))
    both, pair = build_direct(several, "float64", never), (np.zeros(7), np.zeros(()))
    out, fixed = np.zeros(7), np.zeros(7)
    fixed.flags.writeable = False

    def counts():
        return [sys.getrefcount(x) for x in (q, v, a, out, fixed, pair, *pair, call, call.__self__, np.ndarray)]

    before = counts()
    kept = [(call(q, v, a, out=out), both(q, out=pair)) for _ in range(100)]
    assert all(x is out and y[0] is pair[0] and y[1] is pair[1] for x, y in kept)
    assert [now - then for now, then in zip(counts(), before)] == [0, 0, 0, 100, 0, 0, 100, 100, 0, 0, 0]
    del kept
    for _ in range(1_000_000):
        call(q, v, a, out=out)
    for _ in range(1000):
        both(q, out=pair)
        call(q, v, a, out=fixed)
    assert counts() == before


def test_fallback_for_matrices_in_other_orders():
    program = random_program(32, 50, ((3, 4),), ((3, 4),))
    call, x = build_direct(program, "float64", lambda *args: "fallback"), np.arange(12.0).reshape(3, 4)
    assert alike(call(x), build(program)(x))
    for other in (np.asfortranarray(x), x.reshape(4, 3), x.ravel(), x[None], np.zeros((6, 4))[::2], x.T):
        assert isinstance(call(other), str)


def test_plain_enough(three):
    """Read-only arrays, parts of others and dtypes that are not NumPy's own object but equal to it."""
    (q, v, a), ufunc, call = three
    expected = ufunc(q, v, a)
    fixed = q.copy()
    fixed.flags.writeable = False
    part = np.stack([v, q, a])[1]
    described = q.astype(np.dtype("float64", metadata={"unit": "rad"}))
    sent = pickle.loads(pickle.dumps(q))
    for same in (
        fixed,
        part,
        described,
        sent,
        np.frombuffer(q.tobytes()),
        np.frombuffer(q.tobytes(), ">f8" if sys.byteorder == "big" else "<f8"),
    ):
        assert same_bits(call(same, v, a), expected)
    assert same_bits(call(q, q, q), ufunc(q, q, q))


def test_mistakes_come_from_the_fallback():
    program = random_program(33, 20, ((4,),), ((4,),))
    call = build_direct(program, "float64", build(program))
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        call(np.zeros(3))
    with pytest.raises(TypeError):
        call("four")
    x = np.arange(12.0).reshape(3, 4)
    assert same_bits(call(x), build(program)(x))


def test_results_are_new_arrays_of_their_own():
    program = random_program(34, 50, ((5,),), ((5,), (2, 3), ()))
    call, (x,) = build_direct(program, "float64", never), states(program)
    first, second = call(x), call(x)
    for y, z in zip(first[:2], second[:2]):
        assert y.flags.owndata and y.flags.writeable and y.flags.c_contiguous and y.flags.aligned and y.base is None
        kept = z.copy()
        y[...] = 77
        assert same_bits(z, kept) and not np.shares_memory(y, z) and not np.shares_memory(y, x)
    assert type(first[2]) is np.float64
    ufunc = build(program)
    assert sys.getrefcount(call(x)) == sys.getrefcount(ufunc(x))
    for k in range(3):
        assert sys.getrefcount(call(x)[k]) == sys.getrefcount(ufunc(x)[k])


def test_reference_counts(three):
    (q, v, a), _, call = three
    dtype, kind, fallback = np.dtype("float64"), np.ndarray, call.__self__

    def counts():
        return [sys.getrefcount(x) for x in (q, v, a, dtype, kind, fallback, call)]

    before = counts()
    kept = [call(q, v, a) for _ in range(100)]
    assert [b - a for a, b in zip(before, counts())] == [0, 0, 0, 100 if before[3] < 2**30 else 0, 0, 0, 0]
    del kept
    for _ in range(100):
        call(q, v)
        call(q, v, a, out=None)
        call(q, v, a[::-1])
    assert counts() == before


def test_nothing_leaks():
    program = random_program(35, 50, ((7,), (7,)), ((7,), (40, 40), ()))
    call, given = build_direct(program, "float64", lambda *args, **options: None), states(program)
    outs = tuple(np.zeros(port.shape) for port in program.outputs)

    def work(times):
        for _ in range(times):
            call(*given)
            call(*given, out=1)
            call(*given, out=outs)
            call(1)

    work(100)
    tracemalloc.start()
    try:
        work(100)
        before = tracemalloc.get_traced_memory()[0]
        work(3000)
        assert tracemalloc.get_traced_memory()[0] - before < 10_000  # one lost object per call would be 100 000
    finally:
        tracemalloc.stop()


def test_short_of_memory(monkeypatch):
    """The table of the second result's shape is made to say more than any memory holds."""
    program = Program("large", (Port("x", (1,)),), (Port("y", (2,)), Port("z", (1,))), (), (), (0, 0, 0))
    text = native.ir_text(program)
    changed = text.replace(
        "@out1 = internal constant [1 x i64] [i64 1]", f"@out1 = internal constant [1 x i64] [i64 {2**57}]"
    )
    assert changed != text
    monkeypatch.setattr(native, "ir_text", lambda *args: changed)
    monkeypatch.setattr(native, "_loaded", Recent())
    call, x = build_direct(program, "float64", never), np.ones(1)
    before = sys.getrefcount(x)
    for _ in range(10):
        with pytest.raises(MemoryError):
            call(x)
    assert sys.getrefcount(x) == before


def test_threads(three):
    (q, v, a), ufunc, call = three
    failures = []

    def work(seed):
        given = [x + seed for x in (q, v, a)]
        expected, out = ufunc(*given), np.zeros(7)
        failures.extend(seed for _ in range(5000) if not np.array_equal(call(*given), expected))
        failures.extend(seed for _ in range(5000) if not np.array_equal(call(*given, out=out), expected))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_call_within_a_call():
    """Making a tuple may collect garbage, and what is collected may call the same function: blocks are its own, but
    there is nothing in them yet."""
    program = random_program(39, 60, ((7,), (7,)), ((7,), (3,)))
    call, given = build_direct(program, "float64", never), states(program)
    expected, inner, (q, v) = call(*given), states(program, seed=1), given

    class Last:
        def __del__(self):
            called.append(call(*inner))

    called, threshold = [], gc.get_threshold()
    keep = [(k, k) for k in range(5000)]  # of those that Python has in store none is left
    try:
        for _ in range(20):
            gc.set_threshold(0)
            cycle: list = [Last()]
            cycle.append(cycle)
            del cycle
            gc.set_threshold(1)
            found = call(q, v)
            gc.set_threshold(0)
            keep.append(found)
            assert alike(found, expected)
    finally:
        gc.set_threshold(*threshold)
    assert called or sys.version_info >= (3, 12)  # there garbage waits for the interpreter's next instruction


def test_lives_alone():
    """Nothing but the builtin is kept."""

    def make():
        program = random_program(36, 50, ((7,),), ((7,),))
        (x,) = states(program)
        return build_direct(program, "float64", lambda *args: len(args)), x, build(program)(x)

    call, x, expected = make()
    gc.collect()
    assert same_bits(call(x), expected) and call(x, x) == 2


def test_cycles_are_collected():
    class Owner:
        def general(self, *args):
            return None

    owner = Owner()
    program = random_program(36, 50, ((7,),), ((7,),))
    owner.call = build_direct(program, "float64", owner.general)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_every_fallback_is_its_own():
    program = random_program(36, 50, ((7,),), ((7,),))
    first, second = (build_direct(program, "float64", lambda answer=k: answer) for k in (1, 2))
    assert first() == 1 and second() == 2


def test_says_what_it_is(three):
    call = three[2]
    assert call.__name__ == "random31" and "(7),(7),(7)->(7)" in call.__doc__
    assert str(inspect.signature(call)) == "(*arguments, **options)"


def test_comes_out_of_the_cache(monkeypatch):
    program = random_program(37, 50)
    given = states(program)
    expected = build_direct(program, "float64", never)(*given)
    monkeypatch.setattr(native, "_loaded", Recent())
    monkeypatch.setattr(native, "object_code", never)
    assert alike(build_direct(program, "float64", never)(*given), expected)


FIELDS = ["TYPE", "DATA", "RANK", "SHAPE", "STRIDES", "DTYPE", "FLAGS", "BYTE_ORDER", "NUMBER", "LENGTH", "ITEMS"]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("moved", [-8, 4, 8])
def test_none_where_the_layout_is_another(monkeypatch, name, moved):
    monkeypatch.setattr(direct, name, getattr(direct, name) + moved)
    assert not direct._layout_is_known()


@pytest.mark.parametrize(
    ("place", "name", "value", "told"),
    [
        (direct, "_layout_is_known", lambda: False, "keeps the fields of arrays in places unknown"),
        (direct, "_numpy_entries", lambda *slots: [0] * len(slots), "keeps the fields of arrays in places unknown"),
        (direct, "_numpy_entries", lambda *slots: [1] * len(slots), "keeps the fields of arrays in places unknown"),
        (direct, "PYTHON_FUNCTIONS", ("PyObject_Unknown",) * 4, "has no PyObject_Unknown"),
        (direct.sysconfig, "get_config_var", lambda name: 1, "no global interpreter lock"),
        (direct.ctypes, "sizeof", lambda kind: 4, "64-bit"),
    ],
)
def test_the_portable_way_where_something_is_missing(monkeypatch, place, name, value, told):
    """It is told why; that fields are not where they were is told aloud."""
    program = random_program(38, 20)
    direct.obstacle.cache_clear()
    aloud = pytest.warns(RuntimeWarning, match=told) if "unknown" in told else nullcontext()
    with monkeypatch.context() as patch:
        patch.setattr(place, name, value)
        with aloud:
            assert told in direct.obstacle()
        patch.setattr(native, "_loaded", Recent())
        compiled = native.compile(program, "float64")
        assert compiled.direct is None and compiled.obstacle == direct.obstacle()
        assert compiled.call(*states(program))[0].shape == (7,)
        assert Function(program, Label("r", "random", "")).calls == f"through NumPy: {compiled.obstacle}"
    direct.obstacle.cache_clear()
    assert build_direct(program, "float64", never)
