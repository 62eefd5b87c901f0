"""Functions call their machine code directly once it is there, and stay what they were."""

import copy
import gc
import inspect
import pickle
import weakref
from dataclasses import replace

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
