"""Loops, roles, home and forces in the YAML format: every key, every mistake, and that what is written is read back."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from linkwork.errors import ModelError
from linkwork.forces import Contact, Drag
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.io.rpy import rotation_from_quaternion
from linkwork.model import CUT_JOINTS
from linkwork.model.description import (
    ConstraintDescription,
    Description,
    JointDescription,
    Link,
    LinkInertia,
    Placement,
)
from linkwork.model.placement import ModifiedParameters
from linkwork.model.rotations import quaternion_from_rotation, rotation_from_rpy
from linkwork.model.validate import check

EVERY_KEY = """
name: every key
sources: {book: "Author, Title"}
source: {joints: book, loops: illustrative, home: book, forces: book}
joints:
  - {name: crank, link: wheel}
  - {name: pin, link: coupler, d: 0.1}
  - {name: pivot, link: rocker, parent: base, d: 0.4}
  - {name: slide, link: rod, sigma: 1, parent: base}
links:
  - {link: wheel, M: 1, ZZ: 0.1}
  - {link: coupler, M: 1, ZZ: 0.1}
  - {link: rocker, M: 1, ZZ: 0.1}
  - {link: rod, M: 1, ZZ: 0.1}
drives:
  - {joint: crank, role: active, weight: 2.5}
  - {joint: pin, role: passive}
  - {joint: pivot, role: elastic, K: 40, rest: 0.2}
frames:
  - {name: ball, link: coupler, d: 0.3, theta: 0.2}
  - {name: tail, link: rod, xyz: [0, 0, -0.2]}
loops:
  - {name: cut, kind: revolute, first: {link: coupler, gamma: 0.1, b: 0.2, alpha: 0.3, d: 0.4, theta: 0.5, r: 0.6},
     second: {link: rocker, xyz: [0.1, 0.2, 0.3], rpy: [0.4, 0.5, pi/2]}, source: book}
  - {kind: spherical, first: {frame: ball}, second: {link: base}, source: {kind: book}}
  - {kind: universal, first: {link: wheel}, second: {frame: tail}}
home: {crank: 60 deg, slide: 0.25, pin: -pi/2}
independent: [crank, slide]
actuation: redundant
forces:
  - {frame: tail, law: drag, length: 0.2, k_normal: 3*7, current: [0.1, 0, -0.2], points: 5}
  - {frame: rod, law: contact, stiffness: 1e4, normal: [0, 1, 1], height: -0.1, source: illustrative}
"""


def close(a: Placement, b: Placement, tolerance: float = 1e-15) -> None:
    np.testing.assert_allclose(a.rotation, b.rotation, rtol=0, atol=tolerance)
    np.testing.assert_allclose(a.translation, b.translation, rtol=0, atol=tolerance)


def test_every_key():
    robot = read_mdh(EVERY_KEY, "every.yaml")
    assert not [finding for finding in check(robot) if finding.level == "error"]
    crank, pin, pivot, slide = robot.joints
    assert [joint.role for joint in robot.joints] == ["active", "passive", "elastic", "active"]
    assert (crank.weight, pin.weight, pivot.stiffness, slide.weight) == (2.5, 1.0, 40.0, 1.0)

    cut, ball, cross = robot.constraints
    assert [(loop.name, loop.kind.name) for loop in robot.constraints] == [
        ("cut", "revolute"),
        ("loop2", "spherical"),
        ("loop3", "universal"),
    ]
    assert (cut.first[0], cut.second[0], ball.first[0], ball.second[0]) == ("coupler", "rocker", "coupler", "base")
    close(cut.first[1], ModifiedParameters(0.1, 0.2, 0.3, 0.4, 0.5, 0.6).placement())
    close(cut.second[1], Placement(rotation_from_rpy(0.4, 0.5, math.pi / 2), np.array([0.1, 0.2, 0.3])))
    close(ball.first[1], robot.frames["ball"][1])
    close(ball.second[1], Placement())
    assert cross.second[0] == "rod" and cross.second[1].translation.tolist() == [0, 0, -0.2]

    assert robot.home == {"crank": pytest.approx(math.pi / 3), "slide": 0.25, "pin": -math.pi / 2}
    assert robot.independent == ("crank", "slide") and robot.redundant
    assert robot.forces == (
        ("tail", Drag(length=0.2, k_normal=21.0, current=(0.1, 0.0, -0.2), points=5)),
        ("rod", Contact(stiffness=1e4, normal=(0.0, 1.0, 1.0), height=-0.1)),
    )
    sources = robot.sources
    assert (sources["loops"], sources["loops.cut"], sources["loops.loop2.kind"]) == ("illustrative", "book", "book")
    assert (sources["home"], sources["forces"], sources["forces.2"]) == ("book", "book", "illustrative")


def test_none_of_it_by_default():
    robot = read_mdh("{name: arm, joints: [{}]}")
    assert (robot.constraints, robot.home, robot.independent, robot.redundant, robot.forces) == ((), {}, (), False, ())
    assert robot.joints[0].role == "active"


def test_sides_are_in_the_frames_the_file_is_in_and_described_in_the_links_own():
    text = """
name: turned
joints:
  - {link: one, alpha: pi/2, d: 0.2}
  - {link: two, parent: base}
frames:
  - {name: one, link: one, rpy: [-pi/2, 0, 0]}
  - {name: eye, link: one, xyz: [0, 0, 1]}
loops:
  - {kind: weld, first: {link: one, xyz: [0, 0, 1]}, second: {frame: eye}}
"""
    (loop,) = read_mdh(text).constraints
    for link, placement in (loop.first, loop.second):
        assert link == "one" and placement.translation.tolist() == [0, -1, 0]
        assert placement.rotation.tolist() == [[1, 0, 0], [0, 0, -1], [0, 1, 0]]


def test_sides_in_distal_frames():
    text = """
name: distal
convention: standard
joints: [{name: a, d: 0.1, a: 0.5, alpha: pi/2}, {name: b, parent: base, a: 0.3}]
frames: [{name: tip, link: link1, xyz: [0.1, 0, 0]}]
loops: [{kind: revolute, first: {link: link1, xyz: [0.1, 0, 0]}, second: {link: link2, d: 0.2}}]
"""
    robot = read_mdh(text)
    close(robot.constraints[0].first[1], robot.frames["tip"][1])
    close(robot.constraints[0].second[1], ModifiedParameters(d=0.3 + 0.2).placement())


def test_floating_joints_anywhere():
    text = """
name: p
joints:
  - {name: hinge, link: door}
  - {name: free, link: body, kind: floating, xyz: [1, 2, 3], rpy: [0, 0, pi/2]}
  - {name: knob, link: ball}
  - {name: object, link: box, parent: base, kind: floating}
  - {name: carried, link: tray, parent: body, kind: floating, origin: {xyz: [0, 0, 1], rpy: [0, 0, 0.3]}, d: 2}
"""
    robot = read_mdh(text)
    assert [(joint.name, joint.kind, joint.role, joint.parent) for joint in robot.joints] == [
        ("hinge", "continuous", "active", "base"),
        ("free", "floating", "passive", "door"),
        ("knob", "continuous", "active", "body"),
        ("object", "floating", "passive", "base"),
        ("carried", "floating", "passive", "body"),
    ]
    assert robot.home == {
        "free": (1, 2, 3, 0, 0, pytest.approx(math.sqrt(0.5)), pytest.approx(math.sqrt(0.5))),
        "carried": (2, 0, 0, 0, 0, 0, 1),
    }
    for joint in robot.joints[:-1]:
        close(joint.origin, Placement())
    close(robot.joints[-1].origin, Placement(rotation_from_rpy(0, 0, 0.3), np.array([0.0, 0, 1])))
    assert read_mdh(text + "home: {object: [0, 0, 1, 0, 0, 1, 0]}").home["object"] == (0, 0, 1, 0, 0, 1, 0)
    assert_same(robot, read_mdh(write_mdh(robot)))


def test_own_frames_of_bodies_that_float():
    """Their positions tell of these, counted from the parent's frame in which the rows are."""
    text = """
name: p
joints: [{link: door}, {name: free, link: body, kind: floating, xyz: [1, 2, 3], rpy: [0, 0, 0.4]}]
frames: [{name: door, link: door, rpy: [0, 0.3, 0]}, {name: body, link: body, xyz: [0, 0.5, 0], rpy: [0.7, 0, 0]}]
"""
    robot = read_mdh(text)
    free = robot.joints[1]
    *place, x, y, z, w = robot.home["free"]
    stands = free.origin @ Placement(rotation_from_quaternion(x, y, z, w), np.array(place))
    door = Placement(rotation_from_rpy(0, 0.3, 0))
    body = Placement(rotation_from_rpy(0.7, 0, 0), np.array([0, 0.5, 0]))
    row = Placement(rotation_from_rpy(0, 0, 0.4), np.array([1.0, 2, 3]))
    close(door @ stands, row @ body)
    close(door @ free.origin, body)


# --- mistakes: text, and what the message must say

ARM = "name: arm\njoints:\n  - {name: a, link: upper}\n  - {name: b, link: fore, d: 1}\n"


def loop(row: str) -> str:
    return f"{ARM}loops:\n  - {row}\n"


def forced(row: str) -> str:
    return f"{ARM}frames: [{{name: tip, link: fore}}]\nforces:\n  - {row}\n"


MISTAKES = {
    "unknown key of a loop": (loop("{kid: weld}"), "line 6: loops row 1: there is no key 'kid'.*did you mean 'kind'"),
    "kind missing": (
        loop("{first: {link: upper}, second: {link: fore}}"),
        "loop 'loop1': 'kind' is missing.*universal",
    ),
    "unknown kind": (loop("{kind: ball}"), "no kind of loop 'ball'.*spherical"),
    "side missing": (loop("{kind: weld, first: {link: upper}}"), "loop 'loop1': 'second' is missing"),
    "side a word": (loop("{kind: weld, first: upper}"), "got: 'upper'.*expected: a mapping"),
    "side without link": (loop("{kind: weld, first: {d: 1}}"), "'link' is missing"),
    "unknown link": (loop("{kind: weld, first: {link: uper}}"), "no link 'uper'.*did you mean 'upper'"),
    "unknown frame": (loop("{kind: weld, first: {frame: tip}}"), "no frame 'tip'"),
    "frame and link": (loop("{kind: weld, first: {frame: tip, link: upper}}"), "placed twice"),
    "frame and parameters": (loop("{kind: weld, first: {frame: tip, d: 1}}"), "placed twice.*a frame alone"),
    "side placed twice": (loop("{kind: weld, first: {link: upper, d: 1, xyz: [0, 0, 0]}}"), "placed twice"),
    "unknown key of a side": (loop("{kind: weld, first: {link: upper, aplha: 1}}"), "no key 'aplha'.*'alpha'"),
    "name twice": (
        loop("{name: x, kind: weld, first: {link: upper}, second: {link: base}}\n  - {name: x}"),
        "line 7: loop 'x': the name of the loop is used twice",
    ),
    "role": (ARM + "drives: [{joint: a, role: activ}]", "joint 'a'.*no role 'activ'.*did you mean 'active'"),
    "weight infinite": (ARM + "drives: [{joint: a, weight: inf}]", "not finite"),
    "home of unknown joint": (ARM + "home: {aa: 1}", "line 5: home: there is no key 'aa'.*did you mean 'a'"),
    "home a list": (ARM + "home: [a]", "home.*expected: a mapping"),
    "home a word": (ARM + "home: {a: up}", "home.*not a number"),
    "independent unknown": (ARM + "independent: [c]", "independent: there is no joint 'c'"),
    "independent a word": (ARM + "independent: a", "expected: a list"),
    "actuation": (ARM + "actuation: redundent", "no actuation 'redundent'.*did you mean 'redundant'"),
    "force nowhere": (forced("{law: drag, length: 1}"), "forces row 1: 'frame' is missing"),
    "force without law": (forced("{frame: tip}"), "'law' is missing.*drag, .*contact"),
    "force at unknown frame": (forced("{frame: tap, law: drag}"), "no link or frame 'tap'.*did you mean 'tip'"),
    "unknown law": (forced("{frame: tip, law: darg}"), "no law 'darg'.*did you mean 'drag'"),
    "unknown value": (forced("{frame: tip, law: drag, lenth: 1}"), "line 7.*no key 'lenth'.*did you mean 'length'"),
    "value of another law": (forced("{frame: tip, law: drag, length: 1, stiffness: 1}"), "no key 'stiffness'"),
    "value missing": (forced("{frame: tip, law: drag}"), "line 7: forces row 1: 'length' is missing"),
    "value a word": (forced("{frame: tip, law: drag, length: long}"), "not a number"),
    "vector a number": (forced("{frame: tip, law: drag, length: 1, current: 1}"), "expected: a list"),
    "vector of two": (forced("{frame: tip, law: drag, length: 1, current: [1, 2]}"), "expected: 3 numbers"),
    "law refuses": (
        forced("{frame: tip, law: drag, length: -1}"),
        "bad.yaml: line 7: forces row 1: length: out of range.*got: -1.0.*above zero",
    ),
    "motor of floating": (
        "{name: a, joints: [{name: free, kind: floating}], drives: [{joint: free, role: active}]}",
        "joint 'free': no motor drives a floating joint",
    ),
    "origin of revolute": ("{name: a, joints: [{origin: {d: 1}}]}", "a revolute joint has no `origin`"),
    "origin placed twice": ("{name: a, joints: [{kind: floating, origin: {d: 1, xyz: [0, 0, 0]}}]}", "placed twice"),
    "home of floating": (
        "{name: a, joints: [{name: free, kind: floating}, {}], home: {free: 1}}",
        "home.*got: '1'.*expected: a list",
    ),
    "home too short": (
        "{name: a, joints: [{name: ball, kind: spherical}], home: {ball: [0, 0, 1]}}",
        "got: 3 numbers.*expected: 4 numbers",
    ),
    "home of fixed": ("{name: a, joints: [{name: weld, kind: fixed}, {}], home: {weld: 1}}", "no key 'weld'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(ModelError) as caught:
        read_mdh(text, "bad.yaml")
    assert str(caught.value).startswith("bad.yaml")
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


# --- writing


def assert_same(a: Description, b: Description) -> None:
    assert (a.independent, a.redundant, a.forces) == (b.independent, b.redundant, b.forces)
    assert a.home.keys() == b.home.keys()
    for name, position in a.home.items():
        np.testing.assert_allclose(position, b.home[name], rtol=0, atol=1e-15)
    assert {(j.name, j.role, j.weight, j.parent, j.child) for j in a.joints} == {
        (j.name, j.role, j.weight, j.parent, j.child) for j in b.joints
    }
    for loop, other in zip(a.constraints, b.constraints, strict=True):
        assert (loop.name, loop.kind.name) == (other.name, other.kind.name)
        for side, other_side in ((loop.first, other.first), (loop.second, other.second)):
            assert side[0] == other_side[0]
            close(side[1], other_side[1], 1e-13)
    origins = {joint.name: joint.origin for joint in b.joints}
    for joint in a.joints:
        close(joint.origin, origins[joint.name], 1e-13)


def test_every_key_is_written():
    robot = read_mdh(EVERY_KEY)
    text = write_mdh(robot)
    back = read_mdh(text)
    assert_same(robot, back)
    assert dict(back.sources) == dict(robot.sources)
    assert write_mdh(back) == text


@pytest.mark.parametrize("seed", range(20))
def test_random_loops_are_read_back(seed):
    """Links whose frames have any axis, so that both sides are turned on the way out and back."""
    rng = np.random.default_rng(seed)

    def placement() -> Placement:
        return Placement(rotation_from_rpy(*rng.uniform(-3, 3, 3)), rng.normal(size=3))

    names = ["ground", "a b", "platform", "c:d", "no"]
    inertia = LinkInertia(1.0, np.zeros(3), np.eye(3))
    kinds = ["prismatic", "floating", "revolute", "continuous"]
    joints = [
        JointDescription(
            name=f"joint {i}",
            kind=kind,
            parent=names[rng.integers(i)],
            child=names[i],
            origin=placement(),
            axis=np.array([0.0, 0.0, 1.0]) if kind == "floating" else rng.normal(size=3),
            role="passive" if kind == "floating" else str(rng.choice(["active", "passive", "elastic"])),
            weight=1.0 if kind == "floating" else float(rng.uniform(0.1, 3)),
        )
        for i, kind in enumerate(kinds, 1)
    ]
    loops = tuple(
        ConstraintDescription(f"loop {kind.name}", kind, *((str(rng.choice(names)), placement()) for _ in range(2)))
        for kind in CUT_JOINTS.values()
    )
    turn = quaternion_from_rotation(placement().rotation)
    pose = {"joint 2": (*rng.normal(size=3).tolist(), *turn)} if rng.integers(2) else {}
    robot = Description(
        name="random",
        links=tuple(Link(name, inertia) for name in names),
        joints=tuple(joints),
        frames={"tip": ("no", placement())},
        constraints=loops,
        home={"joint 1": float(rng.normal()), "joint 4": math.pi / 2, "joint 3": float(rng.normal())} | pose,
        independent=("joint 4", "joint 2"),
        redundant=bool(rng.integers(2)),
        forces=(("tip", Contact(*rng.uniform(0.1, 1, 5).tolist())), ("a b", Drag(*rng.uniform(0.1, 1, 5).tolist()))),
    )
    assert_same(robot, read_mdh(write_mdh(robot)))


def test_writer_refuses_a_law_of_ones_own():
    def wind(pose, velocity):
        return None

    robot = read_mdh(ARM)
    with pytest.raises(ModelError, match=r"forces at 'fore'.*cannot be written(?s:.*)wind(?s:.*)drag, .*contact"):
        write_mdh(replace(robot, forces=(("fore", wind),)))
