"""What ``check`` says of loops, roles, home and floating joints, and that sound robots with these pass in silence."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork import ModelError, io
from linkwork.io.structure_file import apply, read_structure
from linkwork.model import CUT_JOINTS
from linkwork.model.description import (
    ConstraintDescription,
    Description,
    JointDescription,
    Link,
    LinkInertia,
    Mimic,
    Placement,
)
from linkwork.model.validate import check

WITH_LOOPS = ("four-bar", "slider-crank", "five-bar", "parallelogram", "3rrr", "spatial-7r")
ELASTIC = ("flexible-arm", "panda-elastic")


def body(mass: float = 1.0) -> LinkInertia:
    return LinkInertia(mass, np.array([0.0, 0.1, 0.0]), mass * np.diag([0.01, 0.01, 0.01]))


def joint(name: str, parent: str, child: str, **changes: Any) -> JointDescription:
    return replace(JointDescription(name, "revolute", parent, child, lower=-1, upper=1), **changes)


def loop(**changes: Any) -> ConstraintDescription:
    return replace(
        ConstraintDescription("cut", CUT_JOINTS["revolute"], ("l2", Placement()), ("l3", Placement())), **changes
    )


def closed(**changes: Any) -> Description:
    """base - j1 - l1 - j2 - l2, base - j3 - l3, and a cut joint between l2 and l3."""
    links = (Link("base"), *(Link(f"l{i}", body()) for i in (1, 2, 3)))
    joints = (joint("j1", "base", "l1"), joint("j2", "l1", "l2"), joint("j3", "base", "l3"))
    return replace(Description("mechanism", links, joints, constraints=(loop(),), source="m.yaml"), **changes)


def changed(index: int, **changes: Any) -> Description:
    joints = list(closed().joints)
    joints[index] = replace(joints[index], **changes)
    return closed(joints=tuple(joints))


def drive(**changes: Any) -> Description:
    """base - motor - rotor - spring - arm: an elastic drive."""
    links = (Link("base"), Link("rotor", body(0)), Link("arm", body()))
    motor = joint("motor", "base", "rotor", rotor_inertia=0.1)
    spring = joint("spring", "rotor", "arm", role="elastic", stiffness=100.0)
    return replace(Description("drive", links, (motor, spring), source="m.yaml"), **changes)


def platform(**changes: Any) -> Description:
    free = JointDescription("free", "floating", "base", "top", role="passive")
    joints = (free, *closed().joints)
    return replace(closed(joints=joints, links=(*closed().links, Link("top", body()))), **changes)


def assert_finds(description: Description, level: str, where: str, *parts: str):
    findings = check(description)
    found = [finding for finding in findings if all(part in str(finding) for part in parts)]
    assert len(found) == 1, f"{parts} not in {list(map(str, findings))}"
    assert (found[0].level, found[0].where) == (level, where)
    assert found[0].fix


@pytest.mark.parametrize("name", [*WITH_LOOPS, *ELASTIC, "space-arm"])
def test_bundled_robots_pass(name: str):
    assert check(io.read(name)) == ()


def test_sound_robots_pass():
    assert check(closed()) == ()
    assert check(closed(home={"j1": 0.5}, independent=("j1",), redundant=True)) == ()
    assert check(drive()) == ()
    assert check(platform()) == ()
    assert check(platform(independent=("free",))) == ()


def test_massless_links_inside_loops_are_no_finding():
    links = (*closed().links[:3], Link("l3", body(0)))
    assert check(closed(links=links)) == ()
    assert any("singular" in finding.message for finding in check(closed(links=links, constraints=())))


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"first": ("l4", Placement())}, ("first side is on link 'l4', which does not exist", "did you mean")),
        ({"second": ("x", Placement())}, ("second side is on link 'x'", "use one of: base, l1, l2, l3")),
        ({"second": ("l2", Placement())}, ("both of its sides are on link 'l2'",)),
        (
            {"first": ("l2", Placement(np.eye(3), np.array([0, math.nan, 0])))},
            ("placement of its first side is not finite",),
        ),
        (
            {"second": ("l3", Placement(np.full((3, 3), math.inf), np.zeros(3)))},
            ("placement of its second side is not finite",),
        ),
    ],
)
def test_loops(changes: dict[str, Any], parts: tuple[str, ...]):
    assert_finds(closed(constraints=(loop(**changes),)), "error", "m.yaml: loop 'cut'", *parts)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("revolut", ("no kind of loop 'revolut'", "did you mean 'revolute'?")),
        ("screw", ("no kind of loop 'screw'", "one of: revolute, prismatic")),
    ],
)
def test_kinds_of_loops(kind: str, parts: tuple[str, ...]):
    side = read_structure(f"loops: [{{kind: {kind}, first: l2, second: l3}}]")
    with pytest.raises(ModelError) as caught:
        apply(closed(constraints=()), side)
    assert all(part in str(caught.value) for part in parts)


def test_loops_of_one_name():
    assert_finds(closed(constraints=(loop(), loop())), "error", "m.yaml: loop 'cut'", "2 loops have this name")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"role": "pasive"}, ("no role 'pasive'", "did you mean 'passive'?")),
        ({"role": "elastic"}, ("it is elastic, but its stiffness is 0", "give its stiffness (K in `drives`")),
        ({"role": "elastic", "stiffness": -1.0}, ("it is elastic, but its stiffness is -1",)),
        ({"role": "passive", "kind": "fixed"}, ("its role is passive, but it is fixed",)),
        ({"role": "elastic", "stiffness": 1.0, "mimic": Mimic("j1")}, ("its role is elastic, but it follows 'j1'",)),
        ({"weight": 0.0}, ("its weight is 0",)),
        ({"weight": math.inf}, ("its weight is not finite: inf",)),
        ({"weight": math.nan}, ("its weight is not finite: nan",)),
    ],
)
def test_roles_and_weights(changes: dict[str, Any], parts: tuple[str, ...]):
    assert_finds(changed(1, **changes), "error", "m.yaml: joint 'j2'", *parts)


@pytest.mark.parametrize(
    ("changes", "level", "where", "parts"),
    [
        ({"home": {"j4": 1.0}}, "error", "robot 'mechanism'", ("`home` names joint 'j4'", "did you mean")),
        ({"home": {"j1": math.nan}}, "error", "joint 'j1'", ("its home position is not finite",)),
        ({"home": {"j1": 2.0}}, "warning", "joint 'j1'", ("home position 2 is outside its limits -1 and 1",)),
        ({"independent": ("k1",)}, "error", "robot 'mechanism'", ("`independent` names joint 'k1'", "'j1'?")),
        ({"independent": ("j1", "j1")}, "error", "joint 'j1'", ("names it twice",)),
        ({"independent": ("j1",), "constraints": ()}, "warning", "robot 'mechanism'", ("no effect without loops",)),
    ],
)
def test_home_and_independent(changes: dict[str, Any], level: str, where: str, parts: tuple[str, ...]):
    assert_finds(closed(**changes), level, f"m.yaml: {where}", *parts)


@pytest.mark.parametrize(
    ("changes", "reason"), [({"kind": "fixed"}, "it is fixed"), ({"mimic": Mimic("j1")}, "it follows 'j1'")]
)
def test_home_and_independent_of_joints_without_a_coordinate(changes: dict[str, Any], reason: str):
    description = replace(changed(1, **changes), home={"j2": 0.0}, independent=("j2",))
    assert_finds(description, "error", "m.yaml: joint 'j2'", "`home` names it", reason)
    assert_finds(description, "error", "m.yaml: joint 'j2'", "`independent` names it", reason)


def test_floating_joints():
    there = "m.yaml: joint 'free'"
    first, *others = platform().joints
    second = JointDescription("more", "floating", "l1", "loose", role="passive")
    twice = platform(joints=(*others, first, second), links=(*platform().links, Link("loose", body())), floating=True)
    assert check(twice) == ()  # anywhere, and several of them
    assert_finds(platform(home={"free": 0.0}), "error", there, "1 number, a floating joint 7")
    assert check(platform(home={"free": (0, 0, 1, 0, 0, 0, 1)})) == ()
    limited = platform(joints=(replace(first, upper=1.0), *others))
    assert_finds(limited, "warning", there, "limits have no effect on a floating joint")
    pitched = platform(joints=(first, replace(others[0], pitch=0.1), *others[1:]))
    assert_finds(pitched, "warning", "m.yaml: joint 'j1'", "pitch 0.1 has no effect on a revolute joint")
    follower = replace(others[0], mimic=Mimic("free"))
    led = platform(joints=(first, follower, *others[1:]))
    assert_finds(led, "error", "m.yaml: joint 'j1'", "only joints with one degree of freedom can mimic")


# Elastic joints without inertia


@pytest.mark.parametrize("role", ["elastic", "passive"])
def test_nothing_to_move_behind_a_spring(role: str):
    motor, spring = drive().joints
    links = (*drive().links[:2], Link("arm", body(0)))
    joints = (motor, replace(spring, role=role))
    assert_finds(drive(links=links, joints=joints), "error", "m.yaml: joint 'spring'", "what it moves has mass 0 kg")


def test_a_motor_without_inertia():
    motor, spring = drive().joints
    bare = replace(motor, rotor_inertia=0.0)
    assert_finds(
        drive(joints=(bare, spring)), "warning", "m.yaml: joint 'motor'", "nothing but the elastic joint 'spring'", "Ia"
    )
    slides = [replace(each, kind="prismatic", origin=Placement(translation=np.ones(3))) for each in (bare, spring)]
    assert any("nothing but" in finding.message for finding in check(drive(joints=tuple(slides))))
    for changes in (
        {"origin": Placement(translation=np.array([0.1, 0, 0]))},
        {"axis": np.array([0, 1.0, 1.0])},
        {"kind": "prismatic"},
    ):
        assert not any("nothing but" in str(f) for f in check(drive(joints=(bare, replace(spring, **changes)))))


def test_loops_are_pickled():
    robot = linkwork.load("four-bar")
    same = pickle.loads(pickle.dumps(robot))
    assert same.model.permanent[0].kind == robot.model.permanent[0].kind


def test_a_kind_is_no_name():
    with pytest.raises(
        ModelError, match=r"constraint 'cut': wrong type\n  got: 'revolute'\n  expected: a kind of constraint"
    ):
        ConstraintDescription("cut", "revolute", ("l2", Placement()), ("l3", Placement()))
