"""The flexible-joint drive: what it makes of a description, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from linkwork.errors import ModelError, UnknownNameError
from linkwork.model import Mimic, build, check
from linkwork.model.elastic_drive import ElasticDrive, with_elastic_drives
from support.evaluate import assert_close, evaluate
from support.random_robots import Recipe, describe, random_state

DRIVE = ElasticDrive(stiffness=1e3, motor_inertia=0.4, damping=2.0, rest=0.1)


def plain(**changes):
    """Three joints; the second is changed."""
    made = describe(Recipe(seed=1, joints=3, kinds=("revolute",), extras=True))
    still = {"stiffness": 0.0, "lower": -1.0, "upper": 2.0, "effort_limit": 30.0, "velocity_limit": 5.0}
    joints = [replace(joint, **still) for joint in made.joints]
    joints[1] = replace(joints[1], **changes)
    return replace(made, joints=tuple(joints))


def driven(**changes):
    return with_elastic_drives(plain(**changes), {"to_link2": DRIVE})


def test_two_joints_in_series():
    before, after = plain(), driven()
    assert [joint.name for joint in after.joints] == ["to_link1", "to_link2_motor", "to_link2", "to_link3"]
    assert [link.name for link in after.links] == ["base", "link1", "to_link2_rotor", "link2", "link3"]
    old, motor, spring = before.joints[1], *after.joints[1:3]
    assert (motor.parent, motor.child, spring.parent, spring.child) == (
        "link1",
        "to_link2_rotor",
        "to_link2_rotor",
        "link2",
    )
    assert (motor.role, motor.rotor_inertia, motor.stiffness) == ("active", 0.4, 0.0)
    for name in ("coulomb", "viscous", "lower", "upper", "effort_limit", "velocity_limit", "kind"):
        assert getattr(motor, name) == getattr(old, name)
    assert (spring.role, spring.stiffness, spring.rest, spring.viscous) == ("elastic", 1e3, 0.1, 2.0)
    assert (spring.coulomb, spring.rotor_inertia, spring.upper) == (0.0, 0.0, np.inf)
    assert before.joints[1] is old and len(before.links) == 4  # a new description
    assert not [finding for finding in check(after) if "to_link2" in finding.where]


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_position_is_motor_plus_spring(kind: str):
    rigid, elastic = build(plain(kind=kind)), build(driven(kind=kind))
    q = np.array([0.3, 0.5, 0.2, -0.4])
    assert_close(
        evaluate(elastic, "pose", q, frame="tool"), evaluate(rigid, "pose", np.array([0.3, 0.7, -0.4]), frame="tool")
    )
    M = evaluate(elastic, "inertia_matrix", q)
    links = evaluate(build(plain(kind=kind), rotors=False), "inertia_matrix", np.array([0.3, 0.7, -0.4]))
    rotors = np.diag([joint.rotor_inertia for joint in elastic.coordinates.joints])
    both = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])  # link positions from those of motors and springs
    assert_close(M, both.T @ links @ both + rotors)


def test_locked_spring_is_the_rigid_robot():
    locked, rigid = build(driven(), lock={"to_link2": 0.0}), build(plain(rotor_inertia=0.4))
    assert locked.joint_names == ("to_link1", "to_link2_motor", "to_link3")
    state = random_state(rigid)
    assert_close(evaluate(locked, "inverse_dynamics", *state), evaluate(rigid, "inverse_dynamics", *state))


def test_home_and_independent_joints_follow():
    before = replace(plain(), home={"to_link2": 0.5, "to_link3": 1.0}, independent=("to_link1", "to_link2"))
    after = with_elastic_drives(before, {"to_link2": DRIVE})
    assert after.home == {"to_link2_motor": 0.5, "to_link3": 1.0}
    assert after.independent == ("to_link1", "to_link2_motor", "to_link2")


def test_no_drives_change_nothing():
    before = plain()
    assert with_elastic_drives(before, {}).joints == before.joints


def test_unknown_joint():
    with pytest.raises(UnknownNameError, match="there is no joint 'to_lnk2'") as caught:
        with_elastic_drives(plain(), {"to_lnk2": DRIVE})
    assert "did you mean 'to_link2'?" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "fixed"}, "it is fixed"),
        ({"mimic": Mimic("to_link1")}, "it follows joint 'to_link1'"),
        ({"role": "passive"}, "it is passive, without a motor"),
        ({"role": "elastic"}, "it is elastic, without a motor"),
        ({"stiffness": 5.0}, "it already has a spring"),
    ],
)
def test_unfit_joints(changes, reason):
    with pytest.raises(ModelError, match=f"joint 'to_link2' cannot have an elastic drive: {reason}"):
        driven(**changes)


def test_joint_that_others_follow():
    made = plain(mimic=Mimic("to_link1"))
    with pytest.raises(ModelError, match="'to_link1' cannot have an elastic drive: joint 'to_link2' follows it"):
        with_elastic_drives(made, {"to_link1": DRIVE})


def test_not_a_drive():
    with pytest.raises(ModelError, match=r"needs an elastic drive\n  got: 1000.0\n  expected: ElasticDrive\(stiffness"):
        with_elastic_drives(plain(), {"to_link2": 1000.0})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"stiffness": 0.0},
            "stiffness: out of range\n  got: 0.0\n  expected: a finite number .*\n  fix: leave a rigid joint out",
        ),
        ({"stiffness": -1.0}, "stiffness: out of range\n  got: -1.0"),
        ({"stiffness": np.inf}, "stiffness: out of range\n  got: inf"),
        ({"stiffness": "stiff"}, "stiffness: out of range\n  got: 'stiff'"),
        ({"motor_inertia": 0.0}, "motor_inertia: out of range\n  got: 0.0\n  expected: a finite number above zero"),
        ({"motor_inertia": np.nan}, "motor_inertia: out of range\n  got: nan"),
        ({"damping": -0.1}, "damping: out of range\n  got: -0.1\n  expected: a finite number, zero or more"),
        ({"rest": np.inf}, "rest: out of range\n  got: inf\n  expected: a finite number"),
    ],
)
def test_values_that_make_no_sense(values, message):
    with pytest.raises(ModelError, match=rf"ElasticDrive\.{message}"):
        ElasticDrive(**({"stiffness": 10, "motor_inertia": 1} | values))
