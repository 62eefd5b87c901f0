"""Threads that share a batch: every state once, the same bits, and nothing that waits for ever."""

import ctypes
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import linkwork
from linkwork.codegen import native
from linkwork.codegen.native import blocks, sharing, threads
from linkwork.codegen.native.lifetime import Recent
from linkwork.codegen.native.machine_code import assemble
from linkwork.codegen.native.target import Target
from linkwork.program import Port, trace
from support.targets import need

LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
MANY = 30_001
ROBOT = linkwork.load("scara")


@pytest.fixture(autouse=True)
def four_processors(monkeypatch):
    monkeypatch.setattr(linkwork.function, "PROCESSORS", 4)


def reciprocal():
    return trace("reciprocal", lambda x: {"y": [1 / x[0] + x[1] * x[1] - x[0]]}, [Port("x", (2,))])


# The protocol, with loops that are Python


class Shared:
    """Runs ``work(first, count)`` on pieces of a batch, in whichever threads take them."""

    def __init__(self, work, helpers, piece=10):
        def loop(args, dimensions, steps, data):
            first = ctypes.c_int64.from_address(args).value - 1000
            assert ctypes.c_int64.from_address(steps).value == 1
            work(first, ctypes.c_int64.from_address(dimensions).value)

        self.loop = LOOP(loop)
        threads.start(helpers + 1)
        address, self.data = threads.share(
            reciprocal(), 1, ctypes.cast(self.loop, ctypes.c_void_p).value or 0, helpers + 1
        )
        self.data[sharing.ARGUMENTS], self.data[sharing.PIECE] = 1, piece
        self.call = LOOP(address)

    def __call__(self, count):
        self.data[sharing.ALONE :] = [0, 1, *[0] * sharing.SIZES]  # as if it were the first call
        self.go(count)

    def go(self, count):
        words = [(ctypes.c_int64 * 1)(x) for x in (1000, count, 1)]
        self.call(*(ctypes.addressof(word) for word in words), ctypes.addressof(self.data))


@pytest.mark.parametrize("count", [0, 1, 9, 10, 39, 40, 41, 57, 400, 12_345])
@pytest.mark.parametrize("helpers", [1, 3])
def test_every_state_once(helpers, count):
    done = []
    Shared(lambda *piece: done.append(piece), helpers)(count)
    done.sort()
    ends = [first + size for first, size in done]
    assert [first for first, _ in done] == [0, *ends][: len(done)] and ends[-1:] == [count]
    assert all(first % 10 == 0 for first, _ in done)
    assert len(done) == 1 or count >= 10 * sharing.PIECES
    assert count < 1000 or (done[0][1] > 100 and done[-2][1] == 10)  # large ones first


@pytest.mark.parametrize("helpers", [1, 3])
def test_so_many_threads_work_at_once(helpers):
    met, who = threading.Barrier(helpers + 1, timeout=30), set()

    def work(first, count):
        if threading.get_ident() not in who:
            who.add(threading.get_ident())
            met.wait()  # for all of them to have a piece

    for _ in range(20):
        who.clear()
        Shared(work, helpers)(1000)
        assert len(who) == helpers + 1 and threading.get_ident() in who


def test_waits_for_the_last_piece():
    """Long enough for the caller to fall asleep."""
    done, caller = [], threading.get_ident()

    def work(first, count):
        if threading.get_ident() != caller:
            time.sleep(0.02)
        else:
            time.sleep(0.001)
        done.append(count)

    for _ in range(5):
        done.clear()
        Shared(work, 3)(200)
        assert sum(done) == 200


def test_after_a_long_wait_batches_are_worked_alone():
    """For a worker, that is; its processor may be busy with other things."""
    late, who, caller = threading.Event(), set(), threading.get_ident()

    def work(first, count):
        who.add(threading.get_ident())
        if threading.get_ident() == caller and not late.is_set():
            late.wait(30)
        elif not late.is_set():
            late.set()
            time.sleep(0.02)

    shared = Shared(work, 1)
    shared(200)
    assert len(who) == 2 and shared.data[sharing.ALONE : sharing.RATES] == [1, 2]
    who.clear()
    shared.go(200)
    assert who == {caller} and shared.data[sharing.ALONE : sharing.RATES] == [0, 2]
    assert [k for k, rate in enumerate(shared.data[sharing.RATES :]) if rate] == [7]  # of 128 to 255 states


def test_threads_that_gain_nothing_are_given_up():
    shared = Shared(lambda *_: time.sleep(0.001), 1, 50)
    shared.data[sharing.RATES + 8] = 1  # one thread is said to be faster than it can be
    shared.go(400)
    assert shared.data[sharing.ALONE : sharing.RATES] == [1, 2]
    shared.data[sharing.ALONE], shared.data[sharing.RATES + 8] = 0, 2**60
    shared.data[sharing.LOOKS] = 10**9  # a worker is not waited for in its sleep
    shared.go(400)
    assert shared.data[sharing.ALONE : sharing.RATES] == [0, 1]


@pytest.mark.parametrize("looks", [1, sharing.WAIT], ids=["asleep", "awake"])
def test_calls_of_several_threads_at_once(looks):
    """They share the workers, and none waits for another's batch, nor is woken in its place."""
    failures = []

    def caller():
        for count in range(160, 520, 2):
            done = []
            shared = Shared(lambda _, size, done=done: done.append(size), 2)
            shared.data[sharing.LOOKS] = looks
            shared(count)
            if sum(done) != count:
                failures.append(done)

    callers = [threading.Thread(target=caller) for _ in range(6)]
    for each in callers:
        each.start()
    for each in callers:
        each.join(60)
    assert not failures and not any(each.is_alive() for each in callers)


def test_nobody_is_woken_for_another():
    """A caller slept until its worker was done, and takes long to wake up. Before it does, the worker is asked by
    another caller, who falls asleep too: it must not take the first one's call for its own, and leave too early."""
    place = threads._engine().get_global_value_address("context") + 8 * sharing.ACQUIRE
    entry, kind = ctypes.c_void_p.from_address(place), ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    python = entry.value or 0
    acquire, asleep, told, rise = kind(python), *(threading.Event() for _ in range(3))

    def call(done, until):
        own = threading.get_ident()

        def work(_, count):
            if threading.get_ident() == own:
                time.sleep(0.001)
            else:
                until.wait(0.3)
            done.append(count)

        Shared(work, 1)(200)
        return sum(done)

    def late(lock, wait):
        if threading.get_ident() == first.ident:
            asleep.set()
            rise.wait(30)
        return acquire(lock, wait)

    done = []
    first = threading.Thread(target=call, args=(done, asleep))
    threads.start(2)
    patched = kind(late)
    entry.value = ctypes.cast(patched, ctypes.c_void_p).value
    try:
        first.start()
        assert asleep.wait(30)
        while sum(done) < 200:
            time.sleep(0.001)
        time.sleep(0.01)  # until the worker has told
        assert call([], told) == 200
        rise.set()
        first.join(30)
        assert not first.is_alive()
    finally:
        entry.value = python


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-macosx", "x86_64-pc-windows-msvc"])
def test_other_processors(triple):
    target = Target(triple, "", "", 16, fused=False)
    need(target)
    text = sharing.sharing_text(target)
    assert ("hint" in text) == triple.startswith("a") and assemble(text, target)


# Functions


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_same_bits(dtype):
    function = linkwork.compile(ROBOT, "inverse_dynamics", dtype=dtype)
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, MANY, 4)).astype(dtype)
    expected = function(q, v, a)
    for count in (2, 3, 4, 99, "auto"):
        assert np.array_equal(function(q, v, a, threads=count), expected)
        assert np.array_equal(function(q, v, a=a, threads=count), expected)
    assert np.array_equal(function(q, v[0], a, threads=3), function(q, v[0], a))
    assert np.array_equal(function(q[:, None], v[:2], a[:2], threads=3), function(q[:, None], v[:2], a[:2]))
    assert np.array_equal(function(q[::-2], v[::2], a[::2], threads=3), function(q[::-2], v[::2], a[::2]))
    wide = np.zeros((MANY, 8), dtype)
    assert np.array_equal(function(q, v, a, out=wide[:, ::2], threads=2), expected) and not wide[:, 1::2].any()
    function(q, v, a, out=a, threads=4)  # over its own input
    assert np.array_equal(a, expected)


def test_workers_are_few_and_serve_all():
    state = np.ones((MANY, 4))
    for robot in (ROBOT, linkwork.load("scara")):
        for count in range(2, 20):
            robot.inverse_dynamics(state, state, state, threads=count)
    assert threads.running == 3


def test_output_that_overlaps():
    function, batch = ROBOT.inverse_dynamics, np.random.default_rng(1).normal(size=(MANY, 4))
    expected = function(batch, batch, batch)
    for source, target in ((slice(None), slice(None, None, -1)), (slice(-1), slice(1, None))):
        buffer = batch.copy()
        function(buffer[source], buffer[source], buffer[source], out=buffer[target], threads=2)
        assert np.array_equal(buffer[target], expected[source])


def test_several_results_and_ports_of_nothing():
    def run(nothing, x):
        return {"none": [], "sum": [x[0] + x[1]], "product": [x[0] * x[1], x[1]]}

    program = trace("several", run, [Port("nothing", (0,)), Port("x", (2,))])
    compiled = native.compile(program, "float64")
    assert compiled.shared is not None
    x = np.random.default_rng(0).normal(size=(10 * MANY, 2))
    for one, four in zip(*(call(np.zeros((1, 0)), x) for call in (compiled.call, compiled.shared(4))), strict=True):
        assert np.array_equal(one, four)


def wide():
    """So large that its blocks are on the heap."""
    return trace("wide", lambda x: {"y": [x[0] + k for k in range(6000)]}, [Port("x", (1,))])


def test_large_programs_have_memory_of_their_own_in_each_thread():
    compiled = native.compile(wide(), "float64")
    assert compiled.shared is not None
    x = np.arange(64.0)[:, None]
    assert np.array_equal(compiled.shared(4)(x), compiled.call(x))


def test_memory_that_is_short_in_a_worker(monkeypatch):
    """The caller does its part; where it has none either, that is its error."""
    monkeypatch.setattr(native, "_loaded", Recent())
    compiled = native.compile(wide(), "float64")
    assert compiled.shared is not None
    shared, x = compiled.shared(2), np.arange(1000.0)[:, None]
    engine = native._ready(wide(), "float64").keep[0]
    address = engine.get_global_value_address("memory")
    entries = (ctypes.c_void_p * len(blocks.PYTHON_FUNCTIONS)).from_address(address)
    whole = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
    allocate, caller, has_some, asked = whole(entries[blocks.MALLOC]), threading.get_ident(), True, set()

    @whole
    def scarce(size):
        asked.add(threading.get_ident())
        return allocate(size) if has_some and threading.get_ident() == caller else None

    entries[blocks.MALLOC] = ctypes.cast(scarce, ctypes.c_void_p).value
    while len(asked) < 2:  # until the worker came in time
        assert np.array_equal(shared(x), x + np.arange(6000))
    has_some = False
    for _ in range(5):
        with pytest.raises((MemoryError, SystemError)):
            shared(x)


FLAGS = {
    "divide by zero": [0.0, 1.0],
    "overflow": [1.0, 1e300],
    "underflow": [np.inf, 1e-200],
    "invalid": [np.inf, np.inf],
}


def test_floating_point_flags_of_every_thread_are_the_callers():
    compiled = native.compile(reciprocal(), "float64")
    assert compiled.shared is not None
    shared, x = compiled.shared(4), np.ones((20 * MANY, 2))
    for place in (0, -1):
        for _ in range(10):
            for name, bad in FLAGS.items():
                x[place] = bad
                with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=name):
                    shared(x)
                with np.errstate(all="ignore"):
                    shared(x)
                x[place] = 1.0
                with np.errstate(all="raise"):
                    shared(x)  # none is left over


@pytest.mark.parametrize("bad", [0, -1, 1.5, "all", None])
def test_numbers_of_threads(bad):
    state = np.ones((2, 4))
    with pytest.raises(
        linkwork.LinkworkError, match=r'not a number of threads.*\n  got: .*\n  expected: a positive .* "auto"'
    ):
        ROBOT.inverse_dynamics(state, state, state, threads=bad)


def test_mistakes_are_told_by_one_thread():
    state = np.ones((MANY, 4))
    with pytest.raises(linkwork.ShapeError, match="wrong shape"):
        ROBOT.inverse_dynamics(state, state, state[:, :3], threads=2)


def test_an_interrupt_comes_through():
    function, state = ROBOT.inverse_dynamics, np.random.default_rng(0).normal(size=(MANY, 4))
    expected = function(state, state, state)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                function(state, state, state, threads=4)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert np.array_equal(function(state, state, state, threads=4), expected)


START = """
import os, signal, sys, threading, numpy, linkwork
linkwork.function.PROCESSORS = 3
function = linkwork.load("scara").inverse_dynamics
state = numpy.ones((30_000, 4))
expected = function(state, state, state)
def work():
    return (function(state, state, state, threads=3) != expected).any()
def always():
    while True:
        work()
"""
FORK = """
assert not work()
threading.Thread(target=always, daemon=True).start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(int(work() or work()))
    assert os.waitpid(child, 0)[1] == 0
"""
ENDS = {
    "by itself": "assert not work()",
    "with calls under way": "threading.Thread(target=always, daemon=True).start(); work()",
    "by an error": "work(); sys.exit(0 if not work() else 1)",
}


def run(text):
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", START + text], timeout=120, capture_output=True, text=True
    )
    assert found.returncode == 0 and not found.stderr, found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_copy_of_the_process_has_threads_of_its_own():
    run(FORK)


@pytest.mark.parametrize("end", ENDS)
def test_the_process_ends(end):
    run(ENDS[end])
