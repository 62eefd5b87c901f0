"""Errors say where, what was got, what was expected and how to fix it."""

import pickle

import pytest

from linkwork.errors import LinkworkError, ModelError, ShapeError, UnknownNameError, UnsupportedError


def test_message():
    error = LinkworkError("it is wrong", where="here", got=[1, 2], expected="three numbers", fix="add one")
    assert str(error) == "here: it is wrong\n  got: [1, 2]\n  expected: three numbers\n  fix: add one"
    assert (error.where, error.got, error.expected, error.fix) == ("here", [1, 2], "three numbers", "add one")
    assert str(LinkworkError("it is wrong")) == "it is wrong"
    assert str(LinkworkError("it is wrong", got=0)) == "it is wrong\n  got: 0"


def test_kinds():
    for kind in (ModelError, ShapeError, UnsupportedError, UnknownNameError):
        assert issubclass(kind, LinkworkError)
    assert issubclass(ShapeError, ValueError) and issubclass(UnknownNameError, KeyError)


def test_unknown_names_offer_the_nearest():
    error = UnknownNameError("joint", "elbw", ["wrist", "elbow"], where="robot 'arm'")
    assert str(error) == (
        "robot 'arm': there is no joint 'elbw'\n  expected: one of: elbow, wrist\n  fix: did you mean 'elbow'?"
    )
    assert "fix" not in str(UnknownNameError("joint", "zzz", ["wrist"]))
    assert str(UnknownNameError("joint", "a", [])) == "there is no joint 'a'\n  expected: there are no joints here"
    names = [f"joint{k:02}" for k in range(41)]
    assert ", ".join(names[:40]) in str(UnknownNameError("joint", "a", names[:40]))  # all of them
    many = str(UnknownNameError("joint", "joint_37", names))
    assert "one of 41, the nearest: joint37, " in many and "..." not in many and "joint01" not in many


@pytest.mark.parametrize("error", [LinkworkError("m", where="w", fix="f"), UnknownNameError("joint", "a", ["b"])])
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
