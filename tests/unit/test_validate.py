"""Every rule of ``check``: what it says, where, how badly, and that sound robots pass in silence."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.errors import ModelError
from linkwork.io.urdf import read_urdf
from linkwork.model.description import Description, Finding, JointDescription, Link, LinkInertia, Mimic, Placement
from linkwork.model.validate import check, raise_errors

SINS = Path(__file__).parent / "urdf" / "many_sins.urdf"


def body(mass: float = 1.0, moments: tuple[float, float, float] = (0.01, 0.01, 0.01)) -> LinkInertia:
    return LinkInertia(mass, np.array([0.0, 0.1, 0.0]), np.diag(moments))


def joint(name: str, parent: str, child: str, **changes: Any) -> JointDescription:
    return replace(JointDescription(name, "revolute", parent, child, lower=-1, upper=1), **changes)


def arm(**changes: Any) -> Description:
    """base - j1 - l1 - j2 - l2 - j3 - l3"""
    links = (Link("base"), *(Link(f"l{i}", body()) for i in (1, 2, 3)))
    joints = (joint("j1", "base", "l1"), joint("j2", "l1", "l2"), joint("j3", "l2", "l3"))
    return replace(Description("arm", links, joints, source="arm.yaml"), **changes)


def with_link(inertia: LinkInertia | None) -> Description:
    links = arm().links
    return arm(links=(*links[:3], Link("l3", inertia)))


def with_joint(index: int = 2, **changes: Any) -> Description:
    joints = list(arm().joints)
    joints[index] = replace(joints[index], **changes)
    return arm(joints=tuple(joints))


def assert_finds(description: Description, level: str, where: str, *parts: str):
    findings = check(description)
    found = [finding for finding in findings if all(part in finding.message for part in parts)]
    assert len(found) == 1, f"{parts} not in {list(map(str, findings))}"
    assert (found[0].level, found[0].where) == (level, where)
    assert found[0].fix


def test_sound_robots_pass():
    assert check(arm()) == ()
    assert check(arm(floating=True)) == ()
    assert check(Description("stone", (Link("stone", body()),), ())) == ()


def test_findings_of_the_reader_come_first():
    finding = Finding("warning", "x", "y")
    assert check(arm(findings=(finding,), gravity=(0, 0, -1)))[0] is finding


def test_no_links():
    assert_finds(Description("void", (), (), source="x"), "error", "x: robot 'void'", "no links")


def test_duplicate_names():
    links, joints = arm().links, arm().joints
    assert_finds(arm(links=(*links, links[1])), "error", "arm.yaml: link 'l1'", "2 links have this name")
    first, second, *others = joints
    ball = (replace(first, name="ball", kind="spherical"), replace(second, name="ball.rx"), *others)
    assert_finds(arm(joints=ball), "error", "arm.yaml: joint 'ball.rx'", "a coordinate of joint 'ball' has this")
    assert_finds(arm(joints=(*joints[:2], replace(joints[2], name="j1"))), "error", "arm.yaml: joint 'j1'", "2 joints")
    assert_finds(arm(frames={"l1": ("l2", Placement())}), "error", "arm.yaml: frame 'l1'", "a link has the same name")


def test_unknown_links():
    assert_finds(with_joint(parent="x"), "error", "arm.yaml: joint 'j3'", "parent link 'x' does not exist")
    assert_finds(with_joint(child="x"), "error", "arm.yaml: joint 'j3'", "child link 'x' does not exist")
    assert_finds(arm(frames={"tool": ("x", Placement())}), "error", "arm.yaml: frame 'tool'", "link 'x' does not exist")


def test_two_parents():
    joints = (*arm().joints, joint("j4", "base", "l3"))
    assert_finds(arm(joints=joints), "error", "arm.yaml: link 'l3'", "child of 2 joints: 'j3', 'j4'")


def test_cycles():
    joints = (*arm().joints, joint("j4", "l3", "base"))
    assert_finds(arm(joints=joints), "error", "arm.yaml: link 'base'", "'base' <- 'l3' <- 'l2' <- 'l1' <- 'base'")
    assert_finds(with_joint(parent="l3"), "error", "arm.yaml: link 'l3'", "its own ancestor: 'l3' <- 'l3'")


def test_several_roots():
    assert_finds(arm(joints=arm().joints[:2]), "error", "arm.yaml: robot 'arm'", "2 links have no parent: 'base', 'l3'")


def test_zero_axis():
    assert_finds(with_joint(axis=np.zeros(3)), "error", "arm.yaml: joint 'j3'", "axis is zero")
    assert check(with_joint(kind="fixed", axis=np.zeros(3))) == ()


@pytest.mark.parametrize(
    ("inertia", "level", "message"),
    [
        (body(-2.0), "error", "mass is negative: -2 kg"),
        (body(moments=(-0.001, 0.02, 0.02)), "warning", "indefinite: principal moments -0.001, 0.02, 0.02"),
        (body(moments=(0.001, 0.002, 0.01)), "warning", "impossible: principal moments 0.001, 0.002, 0.01"),
        (LinkInertia(0.0, np.zeros(3), np.eye(3)), "warning", "inertia but no mass: principal moments 1, 1, 1"),
        (body(moments=(0, 0, 0)), "warning", "weighs 1 kg but has less inertia than a ball of osmium"),
        (body(2500.0), "warning", "weighs 2500 kg but has less inertia"),  # grams
        (body(moments=(1e3, 1e3, 1e3)), "warning", "a body of 32 m radius: 1 kg, principal moments 1000"),
        (body(2e4, (1e4, 1e4, 1e4)), "warning", "mass is 20000 kg: grams?"),
        (LinkInertia(1.0, np.array([0, 300.0, 400]), np.eye(3)), "warning", "centre of mass is 500 m away"),
        (body(math.nan), "error", "not finite: mass nan"),
        (body(moments=(1, 1, math.inf)), "error", "not finite: mass 1"),
    ],
)
def test_inertias(inertia: LinkInertia, level: str, message: str):
    assert_finds(with_link(inertia), level, "arm.yaml: link 'l3'", message)


def test_fair_inertias_pass():
    assert check(with_link(body(moments=(0.01, 0.01, 0.02)))) == ()  # a plate
    assert check(with_link(body(moments=(0.01, 0.01, 0.02001)))) == ()  # printed with few digits
    assert check(with_link(body(moments=(0, 0.01, 0.01)))) == ()  # a rod
    points = tuple(Link(link.name, body(moments=(0, 0, 0))) for link in arm().links)
    assert check(arm(links=points)) == ()  # the pendulums of textbooks
    assert check(with_link(body(1e-3, (0, 0, 0)))) == ()  # a crumb among bodies


def test_joints_without_inertia():
    where = "arm.yaml: joint 'j3'"
    assert_finds(with_link(None), "warning", where, "mass 0 kg", "forward dynamics fails")
    assert_finds(with_link(LinkInertia(0.0, np.zeros(3), np.zeros((3, 3)))), "warning", where, "mass 0 kg")
    on_axis = LinkInertia(1e-3, np.array([0, 0, 0.1]), np.zeros((3, 3)))
    assert_finds(with_link(on_axis), "warning", where, "mass 0.001 kg and inertia 0 along its axis")
    massless = replace(with_link(None), joints=with_joint(kind="prismatic").joints)
    assert_finds(massless, "warning", where, "mass 0 kg")
    assert_finds(Description("ghost", (Link("a"),), (), floating=True), "warning", "robot 'ghost'", "has no mass")


def test_rotor_inertia_makes_a_massless_joint_regular():
    description = replace(with_link(None), joints=with_joint(rotor_inertia=0.1).joints)
    assert_finds(description, "warning", "arm.yaml: link 'l3'", "it moves but has no inertia")


def test_missing_inertia_inside_the_chain():
    links = arm().links
    inside = (links[0], Link("l1"), *links[2:])
    assert_finds(arm(links=inside), "warning", "arm.yaml: link 'l1'", "it moves but has no inertia")
    fixed = (replace(arm().joints[1], kind="fixed"), *arm().joints[::2])  # the link fixed to it has one
    assert check(arm(links=inside, joints=fixed)) == ()


def test_coupled_joints_may_be_massless():
    description = replace(with_link(None), joints=with_joint(mimic=Mimic("j1")).joints)
    assert check(description) == ()


@pytest.mark.parametrize(
    ("changes", "level", "message"),
    [
        ({"lower": 2}, "warning", "lower limit 2 is above its upper limit 1"),
        ({"lower": -180, "upper": 180}, "warning", "limits are -180 and 180 rad: degrees?"),
        ({"rotor_inertia": -1e-3}, "error", "rotor inertia is negative: -0.001"),
        ({"coulomb": -1}, "error", "Coulomb friction is negative: -1"),
        ({"viscous": -2}, "error", "viscous friction is negative: -2"),
        ({"stiffness": -3}, "error", "stiffness is negative: -3"),
        ({"velocity_limit": -3}, "warning", "velocity limit is negative: -3"),
        ({"origin": Placement(translation=np.array([0, 0, 333.0]))}, "warning", "333 m away: millimetres?"),
        ({"origin": Placement(translation=np.array([0, 0, math.nan]))}, "error", "origin is not finite"),
        ({"axis": np.array([0, 0, math.inf])}, "error", "axis is not finite"),
        ({"axis": np.array([0, 0, 1e200])}, "error", "axis is not finite"),
        ({"axis": np.array([0, 0, 1e-200])}, "error", "axis is zero"),
        ({"rotor_inertia": math.nan}, "error", "rotor inertia is not finite"),
        ({"coulomb": math.nan}, "error", "Coulomb friction is not finite"),
        ({"viscous": math.inf}, "error", "viscous friction is not finite"),
        ({"stiffness": math.nan}, "error", "stiffness is not finite"),
        ({"rest": math.nan}, "error", "rest is not finite"),
        ({"lower": math.nan}, "error", "lower is not a number"),
        ({"effort_limit": math.nan}, "error", "effort limit is not a number"),
        ({"mimic": Mimic("j1", math.nan)}, "error", "multiplier is not finite"),
        ({"mimic": Mimic("j1", 1, math.inf)}, "error", "offset is not finite"),
        ({"mimic": Mimic("x")}, "error", "follows joint 'x', which does not exist"),
        ({"mimic": Mimic("j3")}, "error", "follows itself"),
    ],
)
def test_joint_values(changes: dict[str, Any], level: str, message: str):
    assert_finds(with_joint(**changes), level, "arm.yaml: joint 'j3'", message)


def test_no_limits_pass():
    assert check(with_joint(lower=-math.inf, upper=math.inf)) == ()
    assert check(with_joint(lower=-1e16, upper=1e16)) == ()  # how some files say "none"


def test_mimics_of_mimics():
    j1, j2, j3 = arm().joints
    chain = (j1, replace(j2, mimic=Mimic("j1")), replace(j3, mimic=Mimic("j2")))
    assert_finds(arm(joints=chain), "warning", "arm.yaml: joint 'j3'", "itself follows: 'j3' -> 'j2' -> 'j1'")
    circle = (j1, replace(j2, mimic=Mimic("j3")), replace(j3, mimic=Mimic("j2")))
    assert_finds(arm(joints=circle), "error", "arm.yaml: joint 'j3'", "in a circle: 'j3' -> 'j2' -> 'j3'")
    fixed = (replace(j1, kind="fixed"), j2, replace(j3, mimic=Mimic("j1", offset=0.5)))
    assert_finds(arm(joints=fixed), "warning", "arm.yaml: joint 'j3'", "fixed joint 'j1'", "stays at its offset 0.5")


def test_gravity():
    assert_finds(arm(gravity=(0, 0, -1.62)), "warning", "arm.yaml: robot 'arm'", "gravity is 1.62")
    assert_finds(arm(gravity=(0, 0, math.nan)), "error", "arm.yaml: robot 'arm'", "gravity is not finite")
    assert check(arm(gravity=(0, 0, 0))) == ()
    assert check(arm(gravity=(9.8, 0, 0))) == ()


def test_frames_that_are_not_finite():
    frames = {"tool": ("l3", Placement(translation=np.array([math.nan, 0, 0])))}
    assert_finds(arm(frames=frames), "error", "arm.yaml: frame 'tool'", "not finite")


def test_all_errors_are_listed_at_once():
    findings = check(read_urdf(SINS.read_bytes(), SINS.name))
    with pytest.raises(ModelError) as caught:
        raise_errors(findings)
    text = str(caught.value)
    for part in (
        "because of 5 errors",
        "link 'a': 2 links have this name",
        "joint 'flat': its child link 'nowhere' does not exist",
        "robot 'sinner': 2 links have no parent: 'base', 'lonely'",
        "joint 'zero_axis': its axis is zero",
        "link 'a': its mass is negative: -1 kg",
    ):
        assert part in text
    assert "degrees" not in text and any("degrees" in finding.message for finding in findings)


def test_warnings_do_not_raise():
    raise_errors(check(arm(gravity=(0, 0, -1))))
