"""Controllers with states of their own that are not right: what is said, and that nothing is written."""

from functools import partial

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.control import PID, Law, with_memory

ZERO = np.zeros(2)
STATES = np.zeros((3, 2)), np.zeros((3, 2))


@pytest.fixture(scope="module")
def arm():
    return linkwork.load("planar2r")


@with_memory(slow=ZERO, clock=0.0)
def filtered(t, q, v, reference, memory, *, cutoff=30.0):
    return -memory["slow"], {"slow": cutoff * (v - memory["slow"]), "clock": 1.0}


def made(result="-q, {'z': q}", parameters="t, q, v, reference, memory", **memory):
    names = {"np": np}
    exec(f"def controller({parameters}):\n    return {result}", names)
    return with_memory(**memory)(names["controller"])


LAWS = [
    ("-q", ZERO, ShapeError,
     r"with states returns tau and their time derivatives\n  got: TracedArray\n  fix: .* tau, \{'z': "),
    ("-q, 0 * q", ZERO, ShapeError,
     r"returns tau and their time derivatives\n  got: a tuple of TracedArray, TracedArray"),
    ("()", ZERO, ShapeError, r"returns tau and their time derivatives\n  got: a tuple of nothing"),
    ("-q, {}", ZERO, LinkworkError,
     r"'controller': derivatives of controller states are missing\n  got: none\n  fix: .*, \{'z'"),
    ("-q, {'z': q, 'y': q}", ZERO, UnknownNameError, r"'controller', rates: there is no controller state 'y'"),
    ("-q, {'z': q}", np.zeros(3), ShapeError,
     r"of 'z' has another shape than its initial value\n  got: \(2,\)\n  expected: \(3,\)"),
    ("-q, {'z': q}", 0.0, ShapeError,
     r"the rate of 'z' has another shape than its initial value\n  got: \(2,\)\n  expected: \(\)"),
    ("-q, {'z': [q, 1]}", ZERO, ShapeError, r"the rate of 'z' is not an array"),
    ("-q, {'z': ['a', 'b']}", ZERO, ShapeError, r"entry 0: the rate of 'z' is not a number\n  got: 'a'"),
    ("-q, {'z': [0, np.nan]}", ZERO, LinkworkError, r"entry 1: the rate of 'z' is not finite\n  got: nan"),
    ("-q, {'z': np.floor(q)}", ZERO, UnsupportedError, "this function cannot be traced\n  got: line 2"),
    ("-q, {'z': np.random.normal(size=2)}", ZERO, UnsupportedError, "the result changes(.|\n)*control.with_memory"),
    ("q[:1], {'z': q}", ZERO, ShapeError, "tau has the wrong number of entries"),
    ("-q, {'z': q}", "none", ShapeError, r"controller 'controller', memory 'z': these are not real numbers"),
    ("-q, {'z': q}", [0.0, np.inf], LinkworkError, r"memory 'z': not finite"),
    ("-q, {'z': q}", [[1], [1, 2]], ShapeError, r"memory 'z': this is not a rectangular array"),
]  # fmt: skip


@pytest.mark.parametrize("result, initial, kind, words", LAWS)
def test_what_controllers_give(arm, result, initial, kind, words):
    with pytest.raises(kind, match=words):
        arm.simulate(duration=0.01, torque=made(result, z=initial))


NAMES = ("two words", "class", "_z", "q", "t", "work", "energy", "memory", "notes", "batch", "save", "momentum")
MARKS = [
    (made(z=ZERO, y=ZERO), r"derivatives of controller states are missing\n  got: z\n  fix: return tau, \{'y'"),
    (made(), r"the controller has wrong arguments\n  got: controller\(t, q, v, reference, memory\)\n  expected: .*; "
             r"or controller\(t, q, v, reference, memory\) -> tau, \{name: rates\}, marked by @linkwork.control.with_"),
    (made(parameters="t, q, v, reference", z=ZERO), r"wrong arguments\n  got: .*, with states z"),
    (partial(filtered, cutoff=3.0), "wrong arguments(.|\n)*with_memory"),
    *((made(**{name: 0.0}), rf"a controller state cannot have this name\n  got: '?{name}'?\n") for name in NAMES),
]  # fmt: skip


@pytest.mark.parametrize("law, words", MARKS)
def test_controllers_that_are_refused(arm, law, words):
    with pytest.raises(LinkworkError, match=words):
        arm.simulate(duration=0.01, torque=law)


def test_a_memory_of_something_else(arm):
    law = made()
    for wrong in ([1.0], {1: 0.0}):
        law.memory = wrong
        with pytest.raises(
            LinkworkError,
            match=r"memory is not a dict of initial values\n  got: .*\n  expected: initial values by name",
        ):
            Law(law, arm.model)


OPTIONS = [
    ({"memory": [1.0]}, ShapeError, r"memory: this is not a dict\n  got: \[1.0\]\n  expected: .*'integral'"),
    ({"memory": {"fast": 0.0}}, UnknownNameError, r"memory: there is no memory 'fast'\n.*slow"),
    ({"memory": {"slow": 0.0}}, ShapeError, r"memory\['slow'\]: wrong shape\n  got: \(\)\n  expected: \(2,\) or \(3"),
    ({"memory": {"clock": [1.0, 2.0]}}, ShapeError, r"got: \(2,\)\n  expected: \(\) or \(3,\)"),
    ({"memory": {"clock": np.nan}}, ShapeError, r"memory\['clock'\]: the numbers must be finite"),
    ({"outputs": ("q", "fast")}, UnknownNameError, r"there is no output 'fast'\n.*clock, .*memory, .*slow"),
    ({"torque": None, "memory": {"slow": 0.0}}, UnknownNameError, r"memory: there is no memory 'slow'"),
    ({"torque": None, "outputs": "memory"}, UnknownNameError, r"there is no output 'memory'"),
]  # fmt: skip


@pytest.mark.parametrize("options, kind, words", OPTIONS)
def test_options_that_are_refused(arm, tmp_path, options, kind, words):
    with pytest.raises(kind, match=words):
        arm.rollout(*STATES, **{"torque": filtered, "steps": 3, "to": tmp_path / "run", **options})
    assert not (tmp_path / "run").exists()


def test_laws_by_themselves_refuse(arm):
    law, (q, v) = Law(filtered, arm.model), (np.zeros(2), np.zeros(2))
    with pytest.raises(UnknownNameError, match="there is no controller state 'fast'"):
        law(0.0, q, v, memory={"fast": 0.0})
    with pytest.raises(ShapeError, match=r"memory 'slow': wrong shape\n  got: \(3,\)\n  expected: \(2,\)"):
        law(0.0, q, v, memory={"slow": np.zeros(3)})
    refused = [({"ki": value}, "PID.ki: out of range") for value in (-1, np.inf)]
    refused += [({"integral_limit": -1.0}, "PID.integral_limit: out of range")]
    for wrong, words in (*refused, ({"integral_limit": "no"}, "PID.integral_limit: not a number")):
        with pytest.raises(LinkworkError, match=words):
            PID(**({"kp": 1, "ki": 1, "kd": 1} | wrong))
    with pytest.raises(ShapeError, match=r"PID of robot .*: ki needs one entry per motor\n  got: \(3,\)"):
        Law(PID(1, [1, 2, 3], 1), arm.model)
    with pytest.raises(LinkworkError, match="PID needs a reference"):
        Law(PID(1, 1, 1), arm.model)(0.0, q, v)
