"""Functions call their machine code directly once it is there, and stay what they were."""

import copy
import gc
import inspect
import pickle
import weakref
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import linkwork
from linkwork.codegen import native
from linkwork.codegen.native import direct
from linkwork.errors import ShapeError


@pytest.fixture
def inverse():
    """A function, not yet called, and one state."""
    function = linkwork.load("panda").compile("inverse_dynamics")
    return function, [np.random.default_rng(k).normal(size=7) for k in range(3)]


def test_same_answers_past_the_first_call(inverse):
    function, state = inverse
    first = function(*state)
    assert inspect.isbuiltin(type(function).__call__) == (function.calls == "direct") == (not direct.obstacle())
    assert np.array_equal(function(*state), first) and np.array_equal(function(*map(list, state)), first)
    batch = [np.stack([x, x]) for x in state]
    assert np.array_equal(function(*batch), np.stack([first, first]))
    q, v, a = state
    assert np.array_equal(function(q, a=a, v=v), first)
    out = np.empty(7)
    assert function(*state, out=out) is out and np.array_equal(out, first)
    with pytest.raises(ShapeError, match="wrong shape"):
        function(q, v, a[:6])


class Sub(np.ndarray):
    pass


def outs(tmp_path):
    """Whatever a user may give to take seven numbers, each made anew."""
    fixed = np.zeros(7)
    fixed.flags.writeable = False
    one = np.zeros(7)
    yield from (None, np.zeros(7), np.zeros(8), np.zeros((1, 7)), np.zeros((3, 7)), np.zeros((7, 1)), np.zeros(()))
    yield from (np.zeros(7, "float32"), np.zeros(7, ">f8"), np.zeros(7, int), np.zeros(7, object), np.zeros(14)[::2])
    yield from (fixed, np.zeros(7)[::-1], one.view(Sub), np.ma.zeros(7), np.zeros(57, "u1")[1:].view(float), [0.0] * 7)
    yield from ((one,), (one, one), (), 3.0, "seven", np.memmap(tmp_path / "out", float, "w+", shape=(7,)), fixed.data)


def outcome(call, out):
    """What a call leaves: its answer, whether that is ``out``, and what is in there; or its words."""
    try:
        answer = call(out)
    except Exception as error:
        return type(error), str(error)
    return type(answer), answer.tolist(), answer is out, None if out is None else np.array(out).tolist()


def test_out_means_what_it_means_the_other_way(inverse, tmp_path):
    """Past the first call as through the method of every function: answers, words, overlap."""
    function, state = inverse
    function(*state)
    portable = linkwork.Function.__call__
    for one, other in zip(outs(tmp_path), outs(tmp_path)):
        found = outcome(lambda out: function(*state, out=out), one)
        assert repr(found) == repr(outcome(lambda out: portable(function, *state, out=out), other))
    q, v, a = (x.copy() for x in state)
    assert np.array_equal(function(q, v, a, out=v), portable(function, *state)) and not np.array_equal(v, state[1])
    batch = [np.stack([x] * 3) for x in state]
    out = np.zeros((3, 7))
    assert function(*batch, out=out) is out and np.array_equal(out[2], portable(function, *state))


def test_out_of_several_results():
    function = linkwork.load("planar2r").compile("inverse_dynamics_derivatives")
    state = [np.random.default_rng(k).normal(size=2) for k in range(3)]
    expected = function(*state)
    earlier = function(*(2 * x for x in state))
    for out in (tuple(map(np.zeros_like, expected)), earlier):
        again = function(*state, out=out)
        assert type(again) is type(expected) and again._fields == expected._fields
        assert all(x is y and np.array_equal(x, z) for x, y, z in zip(again, out, expected))
    same = np.zeros((2, 2))
    for call in (function, partial(linkwork.Function.__call__, function)):
        with pytest.raises(ShapeError, match="dtau_dq and dtau_dv in the same memory"):
            call(*state, out=(np.zeros(2), same, same, same))
    with pytest.raises(ShapeError, match="4 arrays: tau"):
        function(*state, out=earlier[:3])


def test_is_still_a_function(inverse):
    function, state = inverse
    before = repr(function), inspect.signature(function)
    first = function(*state)
    assert isinstance(function, linkwork.Function) and type(function).__name__ == "Function"
    assert (repr(function), inspect.signature(function)) == before
    assert "\nInputs:\n" in function.__doc__ != linkwork.Function.__doc__
    for other in (pickle.loads(pickle.dumps(function)), copy.copy(function), copy.deepcopy(function)):
        assert np.array_equal(other(*state), first) and np.array_equal(other(*state), first)
    other = linkwork.load("ur5e").compile("inverse_dynamics")
    assert other(*(np.ones(6),) * 3).shape == (6,) and np.array_equal(function(*state), first)


def test_is_freed():
    function = linkwork.load("panda").compile("inverse_dynamics")
    function(*(np.ones(7),) * 3)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_subclasses_keep_their_own_call(inverse):
    function, state = inverse

    class Double(linkwork.Function):
        def __call__(self, *args, **options):
            return 2 * super().__call__(*args, **options)

    double = Double(function.program, function.label)
    for _ in range(3):
        assert np.array_equal(double(*state), 2 * function(*state))
    assert type(double) is Double and "subclass" in double.calls


def test_works_without(inverse, monkeypatch):
    function, state = inverse
    made = native.compile
    monkeypatch.setattr(native, "compile", lambda *what: replace(made(*what), direct=None, obstacle="switched off"))
    assert np.array_equal(function(*state), function(*state)) and type(function).__call__ is linkwork.Function.__call__
    assert function.calls == "through NumPy: switched off"
    monkeypatch.undo()
    assert np.array_equal(copy.copy(function)(*state), function(*state))


def test_the_way_of_calling_is_decided_once(inverse):
    """A function's type is its own from the beginning, and stays."""
    function, state = inverse
    kind = type(function)
    function(*state)
    function(*state)
    assert type(function) is kind is not linkwork.Function and kind.__mro__[1] is linkwork.Function
