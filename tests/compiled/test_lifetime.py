"""Machine code stays as long as something may run it, and no longer."""

import ctypes
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
from straightline import random_program, same_bits

import linkwork
from linkwork.codegen import native
from linkwork.codegen.native import direct, lifetime, time_loop, ufunc
from linkwork.codegen.native.lifetime import Recent, free_unused
from linkwork.function import Function
from linkwork.metadata import Label


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    """Code that nobody has goes at once."""
    monkeypatch.setattr(lifetime, "KEPT", 0)
    for module in (native, time_loop):
        monkeypatch.setattr(module, "_loaded", Recent())


def owned():
    """How many pieces of code are loaded."""
    gc.collect()
    free_unused()
    return len(lifetime._owned)


def states(program):
    return [np.random.default_rng(k).normal(size=port.shape) for k, port in enumerate(program.inputs)]


def function(seed, inputs=((3,), (3,)), outputs=((3,),)):
    program = random_program(seed, 40, inputs, outputs)
    return Function(program, Label("r", "random", "")), states(program)


def engine_of(function):
    """A weak reference to the engine that has its code."""
    return weakref.ref(native._ready(function.program, function.dtype).keep[0])


def test_code_of_functions_goes_with_them():
    before = owned()
    made = [function(seed) for seed in range(6)]
    for f, given in made:
        f(*given)
        f(*given)
        f(*(np.stack([x] * 4) for x in given), threads=2)
    engines = [engine_of(f) for f, _ in made]
    assert owned() == before + 6 and all(engine() for engine in engines)
    del made, f
    assert owned() == before and not any(engine() for engine in engines)


def test_what_was_asked_for_last_stays(monkeypatch):
    monkeypatch.setattr(lifetime, "KEPT", 3)
    before, programs = owned(), [random_program(seed, 20, ((2,),), ((2,),)) for seed in range(8)]
    for program in programs:
        native.build(program)
    assert owned() == before + 3
    monkeypatch.setattr(native, "object_code", None)
    monkeypatch.setattr(native, "loaded", None)
    for program in programs[-3:]:
        native.build(program)
    with pytest.raises(TypeError):
        native.build(programs[0])


def test_equal_programs_share_code():
    before, (one, given), (other, _) = owned(), function(3), function(3)
    assert same_bits(one(*given), other(*given)) and owned() == before + 1
    engine = engine_of(one)
    del one
    assert owned() == before + 1 and engine() is not None and other(*given).shape == (3,)


@pytest.mark.parametrize("outputs", [((3,),), ((3,), (0,))], ids=["all", "partly empty"])
def test_a_ufunc_keeps_its_code(outputs):
    program = random_program(5, 40, ((3,), (3,)), outputs)
    before, made, given = owned(), native.build(program), states(program)
    assert owned() == before + 1
    first = made(*given)
    assert np.array_equal(np.hstack(made(*given)), np.hstack(first))
    del made
    assert owned() == before


def test_a_ufunc_of_threads_keeps_its_code():
    program = random_program(6, 40, ((3,), (3,)), ((3,),))
    before, given = owned(), [np.stack([x] * 5000) for x in states(program)]
    several = native.compile(program, "float64").shared
    assert several is not None
    shared = several(2)
    del several
    assert owned() == before + 1
    assert same_bits(shared(*given), native.build(program)(*given))
    del shared
    assert owned() == before


@pytest.mark.skipif(bool(direct.obstacle()), reason="this interpreter has no direct calls")
def test_a_builtin_keeps_its_code():
    program = random_program(7, 40, ((3,), (3,)), ((3,),))
    before, given = owned(), states(program)
    make = native.compile(program, "float64").direct
    assert make is not None
    builtin = make(len)
    del make
    assert owned() == before + 1
    assert builtin.__name__ == program.name and builtin(*given).shape == (3,)
    del builtin
    assert owned() == before


def test_a_time_loop_keeps_its_code(monkeypatch):
    """As a call that is ready to be made."""
    bound, seen, before = time_loop._bound, [], owned()

    def watched(native, turns, t0, dt, state, *arrays):
        seen.append((bound(native, turns, t0, dt, state, *arrays), state, state.copy(), arrays))
        return seen[-1][0]

    monkeypatch.setattr(time_loop, "_bound", watched)
    linkwork.load("planar2r").rollout(np.ones(2), np.zeros(2), steps=3)
    ((ready, state, start, arrays),) = seen
    seen.clear()
    assert owned() == before + 1
    after = state.copy()
    state[...] = start
    ready()
    assert np.array_equal(state, after) and not np.array_equal(state, start) and arrays
    del ready
    assert owned() == before


def test_finalisers_may_still_call_a_function():
    """The garbage collector calls those of a group in any order."""

    class Driver:
        def __init__(self, seed):
            self.function, self.given = function(seed)
            self.function(*self.given)
            self.itself = self

        def __del__(self):
            results.append(self.function(*self.given, out=np.zeros(3)))

    before, results = owned(), []
    for seed in range(6):
        Driver(seed)
    assert owned() <= before + 6 and len(results) == 6
    assert owned() == before
    again = [f(*given) for f, given in map(function, range(6))]
    assert {result.tobytes() for result in results} == {result.tobytes() for result in again}


def test_an_address_that_was_asked_for_stays():
    f, given = function(9)
    expected, address, engine = f(*given), f.address, engine_of(f)
    del f
    before = owned()
    assert engine() is not None
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)
    result = np.zeros(3)
    pointers = np.array([x.ctypes.data for x in (*given, result)])
    loop(pointers.ctypes.data, np.array([1]).ctypes.data, np.array([24] * 3 + [8] * 3).ctypes.data, None)
    assert same_bits(result, expected) and owned() == before


def test_for_good_where_a_ufunc_has_no_place(monkeypatch):
    monkeypatch.setattr(ufunc, "_place_is_known", lambda: False)
    before, (f, given) = owned(), function(10)
    f(*given)
    del f
    assert owned() == before + 1


def test_the_place_is_looked_for(monkeypatch):
    assert ufunc._place_is_known()
    for offset in (-8, 8, 10_000):
        ufunc._place_is_known.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(ufunc, "OBJECT", ufunc.OBJECT + offset)
            assert not ufunc._place_is_known()
    ufunc._place_is_known.cache_clear()


AT_THE_END = """
import builtins, sys, threading
import numpy as np
import linkwork
from linkwork.codegen import native

robot = linkwork.load("planar2r")
f = robot.inverse_dynamics
f(*np.ones((3, 2)))

class Late:
    def __init__(self): self.call, self.f = type(f).__call__, native.build(f.program)
    def __del__(self): self.call(*self.x), self.f(*self.x)
Late.x = np.ones((3, 2))
builtins.late, sys.late, np.late = Late(), Late(), Late()
cycle = [Late()]
cycle.append(cycle)
threading.Thread(target=lambda: [robot.gravity(np.ones((2000, 2))) for _ in range(10**6)], daemon=True).start()
"""


def test_as_python_ends():
    """It clears modules, and frees builtins that objects still hold after that; other threads may be in the code."""
    result = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
