"""Errors say where, what was got, what was expected and how to fix it."""

import pickle
import time

import numpy as np
import pytest

import linkwork
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
    some = [f"joint{k}" for k in range(30)]
    assert all(f"{name}," in f"{UnknownNameError('joint', 'a', some)}," for name in some)
    many = UnknownNameError("joint", "joint57x", [f"joint{k}" for k in range(100)])
    assert "one of 100, such as: joint57, " in str(many) and "did you mean 'joint57'?" in str(many)
    assert "joint8," not in str(many) and "`known` of this error lists all" in str(many) and len(many.known) == 100


def test_comparing_names_takes_no_longer_for_many_or_long_ones():
    before = time.process_time()
    many = str(UnknownNameError("joint", "joint", [f"joint{k}" for k in range(10**5)]))
    assert "one of 100000, such as: joint0, joint1, joint10, " in many
    assert "fix" not in str(UnknownNameError("joint", "a" * 10**6, ["a" * (10**6 - 1)]))
    assert time.process_time() - before < 1


@pytest.mark.parametrize("error", [LinkworkError("m", where="w", fix="f"), UnknownNameError("joint", "a", ["b"])])
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)


def test_length_is_bounded_and_everything_can_be_printed():
    long = "\x1b[2J\udc80" + "x" * 100_000 + "end"
    errors = [
        LinkworkError(long, where=long, got=long, expected=long, fix=long),
        LinkworkError("short", where=long),
        UnknownNameError(long, long, [long, long + "y"], where=long),
    ]
    for error in errors:
        text = str(error)
        assert len(text) < 2100 and text.encode() and "\x1b" not in text
        assert text.startswith("\\x1b[2J\\udc80xxx") and "xxx ... xxx" in text and "end" in text
    listing = "\n- ".join(f"finding {k}" for k in range(100))
    assert str(LinkworkError(listing)) == listing  # what can be told in full is


ODD = [None, 3, 2.5, b"x", [3], object(), np.zeros(2), np.zeros((1, 2)), [[1, 2], [3]], len]
ARM, BAR, BIPED = (linkwork.load(name) for name in ("planar2r", "four-bar", "biped"))
CALLS = {  # and what they take
    "with_forces": (ARM.with_forces, ()),
    "with_drives": (ARM.with_drives, ()),
    "drives of a joint": (lambda x: ARM.with_drives({"elbow": x}), ()),
    "base_parameters, kind": (lambda x: ARM.base_parameters(kind=x), ()),
    "base_parameters, drives": (lambda x: ARM.base_parameters(drives=x), (type(None),)),
    "rollout, threads": (lambda x: ARM.rollout([0, 0], [0, 0], steps=1, threads=x), (int,)),
    "call, threads": (lambda x: ARM.gravity(np.zeros(2), threads=x), (int,)),
    "contact_forces": (lambda x: BIPED.contact_forces(x, forces=x), ()),
    "assemble, known": (lambda x: BAR.assemble([0.3], known=x), (type(None),)),
    "assemble, tolerance": (lambda x: BAR.assemble([0.3], tolerance=x), (type(None), int, float)),
    "reset, memory": (lambda x: ARM.stepper(2).reset(memory=x), (type(None),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_of_other_kinds(name):
    """What is no dict, no name or no number is refused in words, not by what Python stumbles over."""
    call, takes = CALLS[name]
    for value in ODD:
        if not isinstance(value, takes):
            with pytest.raises(LinkworkError):
                call(value)


def test_tolerances_are_numbers():
    for value in (np.nan, np.inf, -1.0):
        with pytest.raises(ShapeError, match="tolerance: out of range"):
            BAR.assemble([0.3], tolerance=value)


def test_a_number_is_no_file(tmp_path):
    """The system would take it for an open file, read it, and close it."""
    with open(tmp_path / "mine", "w+") as mine:
        for path in (mine.fileno(), 10**30, None, [], 2.5):
            with pytest.raises(TypeError, match="PathLike"):
                linkwork.Function.load(path)
        mine.write("still open")
    for name in ("a\0b", str(tmp_path / ("x" * 5000))):
        with pytest.raises(LinkworkError, match="cannot be written"):
            linkwork.load("planar2r").gravity.save(name)
        with pytest.raises(LinkworkError, match="cannot be written"):
            linkwork.load("planar2r").rollout([0, 0], [0, 0], steps=1, to=name)
