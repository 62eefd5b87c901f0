"""Options are what they are said to be: nothing is taken for True because it is there."""

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError, ModelError
from linkwork.io import read_mdh

ARM = linkwork.load("planar2r")
STRANGE = [
    *(
        True,
        False,
        None,
        0,
        1,
        2.5,
        float("nan"),
        10**400,
        "",
        "x",
        "true",
        "1",
        b"x",
        [],
        [1],
        ["x"],
        (),
        {},
        {"x": 1},
    ),
    *({1: 2}, {"elbow": (1, 2)}, {"elbow": True}, {"elbow": "0.5"}, {"elbow": None}, set(), object, len, "123"),
    *(["1", "2", "3"], [True, False, True], np.zeros(3), np.zeros((2, 2)), [1, 2, 3], np.array("x"), np.array(["x"])),
]
FINE = {  # what an option takes of these, as Python writes it
    "friction": ("True", "False"),
    "rotors": ("True", "False"),
    "mimic": ("True", "False"),
    "base": ("None",),
    "gravity": ("None", "[1, 2, 3]", "array([0., 0., 0.])"),
    "lock": ("None", "{}"),
    "elastic": ("None", "{}"),
    "structure": ("None", "{}"),
    "method": (),
    "frame": (),
    "axes": (),
    "wrenches": ("[]", "()"),
    "parameters": (),
    "inputs": ("[]", "()"),
    "dtype": ("None",),
    "backend": (),
    "quantity": (),
}
LOADING = list(FINE)[:8]


@pytest.mark.parametrize("option", FINE)
def test_strange_values(option):
    for value in STRANGE:
        try:
            if option in LOADING:
                linkwork.load("planar2r", **{option: value})
            else:
                options = {"quantity": "jacobian", "frame": "tip", "backend": "interpreter"} | {option: value}
                ARM.compile(
                    **({"quantity": "gravity"} if option in ("wrenches", "inputs") else options) | {option: value}
                )
        except LinkworkError as error:
            assert repr(value) not in FINE[option], error
        else:
            assert repr(value) in FINE[option], value


def test_friction_is_not_given_by_joint():
    with pytest.raises(ModelError) as caught:
        linkwork.load("puma560", friction={"waist": (1, 2)})
    assert str(caught.value) == (
        "load(friction=...): not a switch\n  got: {'waist': (1, 2)}\n"
        "  expected: True (as in the file) or False\n"
        "  fix: give other values in the file (Fs, Fv; <dynamics>), or by rollout(vary={'coulomb': ...})"
    )
    assert linkwork.load("puma560", friction=np.False_).model.bodies[0].joint.viscous == 0


def test_structure_of_a_description_is_not_passed_over(tmp_path):
    robot = read_mdh("name: arm\njoints: [{name: a}, {name: b, d: 1}]\nlinks: [{link: link2, M: 1, ZZ: 1}]")
    (tmp_path / "side.yaml").write_text("roles: {passive: [b]}")
    assert linkwork.load(robot, structure=tmp_path / "side.yaml").roles == {"a": "active", "b": "passive"}
