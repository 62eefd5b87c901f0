"""The YAML format: every key, every mistake, and that what is written is read back."""

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import ModelError
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.io.yaml_nodes import number
from linkwork.model.description import Description, JointDescription, Link, LinkInertia, Mimic, Placement
from linkwork.model.placement import ModifiedParameters
from linkwork.model.rotations import rotation_from_rpy
from linkwork.model.validate import check

EVERY_KEY = """
name: every key
description: >-
  Two lines
  of text.
convention: modified
sources:
  book: "Author, Title, table 1"
  sheet: a data sheet
source: {joints: book, links: book, drives: sheet, frames: illustrative, base: illustrative, gravity: book}
base: {kind: floating, link: trunk, M: 5, center: [0.01, 0, 0], central: [0.1, 0.2, 0.25], source: sheet}
gravity: [0, 0, -9.80665]
joints:
  - {name: hip, link: thigh, parent: base, sigma: 0, gamma: 0.1, b: 0.2, alpha: -pi/2, d: 0.3, theta: 90 deg, r: 0.4}
  - {name: slide, link: shin, sigma: 1, alpha: pi, r: 0.5, source: sheet}
  - {name: weld, link: foot, parent: 2, sigma: 2, theta: 0.7}
  - {name: arm, link: hand, parent: trunk, xyz: [0.1, 0.2, 0.3], rpy: [0, 0, pi/2]}
  - {parent: 0}
links:
  - {link: thigh, M: 2, MX: 0.2, MY: -0.1, MZ: 0.3, XX: 0.5, XY: 0.01, XZ: -0.02, YY: 0.6, YZ: 0.03, ZZ: 0.7}
  - {link: shin, M: 1, center: [0.1, 0, 0], central: [0.1, 0.001, 0.002, 0.2, 0.003, 0.25],
     source: {M: sheet, central: illustrative}}
drives:
  - {joint: hip, Ia: 0.1, Fs: 0.2, Fv: 0.3, K: 40, rest: 0.5, limits: [-90 deg, pi], velocity: 6, effort: 70}
  - {joint: slide, limits: [-.inf, 0.2], source: book}
  - {joint: arm, mimic: {joint: hip, multiplier: -2, offset: 0.1}}
frames:
  - {name: toe, link: foot, gamma: 0.1, b: 0.2, alpha: 0.3, d: 0.4, theta: 0.5, r: 0.6}
  - {name: camera, link: trunk, xyz: [0.2, 0, 0.1], rpy: [0, pi/2, 0], source: sheet}
"""


def arm(joints: str = "  - {name: a, r: 1}", rest: str = "") -> str:
    return f"name: arm\njoints:\n{joints}\n{rest}"


# --- numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("-2.5e-3", -2.5e-3),
        (".5", 0.5),
        ("3.", 3.0),
        ("pi/2", math.pi / 2),
        ("-pi/4", -math.pi / 4),
        ("3*pi/2", 3 * math.pi / 2),
        ("90 deg", math.pi / 2),
        ("-45deg", -math.pi / 4),
        ("10 deg + 20 deg", math.radians(30)),
        ("1 - 2 - 3", -4.0),
        ("8/4/2", 1.0),
        ("2*-3", -6.0),
        ("+1", 1.0),
        ("-inf", -math.inf),
    ],
)
def test_number(text, value):
    assert number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "deg", "1 2", "1 +", "2**3", "(1)", "abs", "__import__('os')", "1;2", "0x10", "1" * 101]
)
def test_number_refuses(text):
    with pytest.raises(ValueError):
        number(text)


# --- reading


def test_every_key():
    robot = read_mdh(EVERY_KEY, "every.yaml")
    assert not [finding for finding in check(robot) if finding.level == "error"]
    assert (robot.name, robot.source, robot.floating) == ("every key", "every.yaml", True)
    assert robot.gravity == (0.0, 0.0, -9.80665)
    assert [link.name for link in robot.links] == ["trunk", "thigh", "shin", "foot", "hand", "link5"]
    hip, slide, weld, hand, last = robot.joints
    assert [joint.kind for joint in robot.joints] == ["revolute", "prismatic", "fixed", "continuous", "continuous"]
    assert [joint.parent for joint in robot.joints] == ["trunk", "thigh", "shin", "trunk", "trunk"]
    assert (last.name, last.child) == ("joint5", "link5")
    expected = ModifiedParameters(0.1, 0.2, -math.pi / 2, 0.3, math.pi / 2, 0.4).placement()
    assert (hip.origin.rotation == expected.rotation).all() and (hip.origin.translation == expected.translation).all()
    assert (hip.lower, hip.upper, hip.velocity_limit, hip.effort_limit) == (-math.pi / 2, math.pi, 6, 70)
    assert (hip.rotor_inertia, hip.coulomb, hip.viscous, hip.stiffness, hip.rest) == (0.1, 0.2, 0.3, 40, 0.5)
    assert (slide.lower, slide.upper) == (-math.inf, 0.2)
    assert (slide.origin.rotation == np.diag([1.0, -1, -1])).all() and (slide.origin.translation == [0, 0, -0.5]).all()
    assert (hand.origin.rotation == [[0, -1, 0], [1, 0, 0], [0, 0, 1]]).all()
    assert hand.mimic == Mimic("hip", -2, 0.1)
    assert (hip.axis == [0, 0, 1]).all() and weld.origin.translation.tolist() == [0, 0, 0]

    trunk, thigh, shin = (link.inertia for link in robot.links[:3])
    assert trunk is not None and thigh is not None and shin is not None
    assert (trunk.mass, trunk.center.tolist()) == (5, [0.01, 0, 0])
    assert (trunk.central == np.diag([0.1, 0.2, 0.25])).all()
    np.testing.assert_allclose(thigh.first_moment, [0.2, -0.1, 0.3], atol=1e-16)
    J = [[0.5, 0.01, -0.02], [0.01, 0.6, 0.03], [-0.02, 0.03, 0.7]]
    np.testing.assert_allclose(thigh.about_origin, J, atol=1e-15)
    assert shin.central.tolist() == [[0.1, 0.001, 0.002], [0.001, 0.2, 0.003], [0.002, 0.003, 0.25]]
    assert [link.inertia for link in robot.links[3:]] == [None, None, None]

    assert set(robot.frames) == {"toe", "camera"}
    link, toe = robot.frames["toe"]
    expected = ModifiedParameters(0.1, 0.2, 0.3, 0.4, 0.5, 0.6).placement()
    assert link == "foot" and (toe.rotation == expected.rotation).all()
    assert robot.sources["book"] == "Author, Title, table 1"
    assert robot.summary == "Two lines of text."
    assert robot.sources["drives"] == "sheet"
    assert robot.sources["base"] == "sheet"
    assert robot.sources["joints.slide"] == "sheet"
    assert robot.sources["links.shin.central"] == "illustrative"
    assert robot.sources["frames.camera"] == "sheet"


def test_short_form():
    robot = read_mdh("name: arm\nsource: illustrative\njoints:\n  - {}\n  - {d: 1}\n")
    assert [(j.name, j.parent, j.child) for j in robot.joints] == [
        ("joint1", "base", "link1"),
        ("joint2", "link1", "link2"),
    ]
    assert robot.gravity == (0.0, 0.0, -9.81) and not robot.floating
    assert robot.sources == {"joints": "illustrative"}


def test_robot_without_joints():
    assert read_mdh("{name: block, joints: [], base: {kind: floating, M: 1}}").links[0].inertia is not None


def test_base_kinds():
    assert read_mdh(arm(rest="base: floating")).floating
    assert not read_mdh(arm(rest="base: fixed")).floating


@pytest.mark.parametrize("center", ["MX: 0.2, MY: -0.4, MZ: 0.6", "center: [0.1, -0.2, 0.3]"])
@pytest.mark.parametrize("about", ["origin", "center"])
def test_all_forms_of_inertia_agree(center, about):
    c, central = np.array([0.1, -0.2, 0.3]), np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    J = central + 2 * (c @ c * np.eye(3) - np.outer(c, c))
    values = (J if about == "origin" else central)[np.triu_indices(3)].tolist()
    text = ", ".join(f"{k}: {v}" for k, v in zip(("XX", "XY", "XZ", "YY", "YZ", "ZZ"), values, strict=True))
    inertia = f"central: {values}" if about == "center" else text
    link = read_mdh(arm(rest=f"links: [{{link: link1, M: 2, {center}, {inertia}}}]")).links[1].inertia
    assert link is not None
    np.testing.assert_allclose(link.first_moment, 2 * c, atol=1e-15)
    np.testing.assert_allclose(link.central, central, atol=1e-15)


def test_frame_named_like_its_link_is_the_links_own():
    text = """
name: turned
joints:
  - {name: a, link: one, alpha: pi/2, d: 0.2}
  - {name: b, link: two, d: 0.3}
links:
  - {link: one, M: 1, center: [0.1, 0.2, 0.3], central: [0.1, 0.2, 0.25]}
frames:
  - {name: one, link: one, rpy: [-pi/2, 0, 0]}
  - {name: tool, link: one, xyz: [0, 0, 1]}
"""
    robot = read_mdh(text)
    first, second = robot.joints
    assert set(robot.frames) == {"tool"}
    assert (first.origin.rotation == np.eye(3)).all() and (first.axis == [0, -1, 0]).all()
    assert (second.origin.rotation == rotation_from_rpy(math.pi / 2, 0, 0)).all()
    assert robot.frames["tool"][1].translation.tolist() == [0, -1, 0]
    inertia = robot.links[1].inertia
    assert inertia is not None and inertia.center.tolist() == [0.1, -0.3, 0.2]
    assert inertia.central.tolist() == [[0.1, 0, 0], [0, 0.25, 0], [0, 0, 0.2]]


# --- mistakes: text, and what the message must say

MISTAKES = {
    "empty": ("", "empty"),
    "not yaml": ("name: [1, 2", "line 1.*not readable as YAML"),
    "control character": ("name: \x01", "not readable as YAML"),
    "not a mapping": ("- 1\n- 2", "got: a list.*expected: a mapping"),
    "two documents": ("name: a\n---\nname: b", "not readable as YAML"),
    "python tag": ("name: !!python/object:os.system {}", r"line 1.*tags \(!\) are not allowed.*python/object"),
    "plain tag": ("name: !!str a", r"tags \(!\) are not allowed"),
    "anchor": ("name: &a arm", r"anchors \(&\) and aliases"),
    "alias": ("name: *a", r"anchors \(&\) and aliases"),
    "deep": ("name: " + "[" * 2000 + "]" * 2000, "nested too deep"),
    "key twice": ("name: a\nname: b", "line 2.*'name' is given twice"),
    "key of a row twice": (arm("  - {r: 1, r: 2}"), "line 3.*'r' is given twice"),
    "unknown key": (
        arm("  - {name: a, aplha: 1}"),
        "line 3: joints row 1: there is no key 'aplha'.*did you mean 'alpha'",
    ),
    "unknown key on top": ("nam: a", "there is no key 'nam'.*did you mean 'name'"),
    "key is a list": ("[1]: 2", "expected: a text"),
    "loops a mapping": (arm(rest="loops: {a: 1}"), "line 4.*got: a mapping.*expected: a list"),
    "name missing": ("joints: []", "'name' is missing"),
    "joints missing": ("name: a", "'joints' is missing"),
    "joints a mapping": ("name: a\njoints: {a: 1}", "got: a mapping.*expected: a list"),
    "row a number": (arm("  - 5"), "joints row 1.*got: '5'.*expected: a mapping"),
    "value missing": (arm("  - {name: a, r: }"), "joint 'a'.*not a number.*got: nothing"),
    "value a word": (arm("  - {name: a, r: long}"), "joint 'a'.*got: 'long'.*expected: a finite number"),
    "value a list": (arm("  - {name: a, r: [1]}"), "got: a list"),
    "yes": (arm("  - {name: a, r: yes}"), "not a number"),
    "nan": (arm("  - {name: a, r: .nan}"), "not a number"),
    "infinite": (arm("  - {name: a, r: .inf}"), "not finite"),
    "overflow": (arm("  - {name: a, r: 1e999}"), "not finite"),
    "division by zero": (arm("  - {name: a, r: 1/0}"), "not a number"),
    "sigma": (arm("  - {name: a, sigma: 3}"), "no sigma '3'.*one of: 0, 1, 2"),
    "unknown parent": (arm("  - {link: upper}\n  - {parent: uper}"), "line 4.*'uper'.*did you mean 'upper'"),
    "later parent": (arm("  - {parent: 2}\n  - {}"), "no earlier link '2'"),
    "own parent": (arm("  - {link: a, parent: a}"), "no earlier link 'a'"),
    "joint name twice": (arm("  - {name: a}\n  - {name: a}"), "line 4.*used twice"),
    "link name twice": (arm("  - {link: a}\n  - {link: a}"), "line 4.*used twice"),
    "link named like base": (arm("  - {link: base}"), "used twice"),
    "placed twice": (arm("  - {name: a, r: 1, xyz: [0, 0, 0]}"), "joint 'a'.*placed twice"),
    "xyz of two": (arm("  - {name: a, xyz: [0, 0]}"), "got: 2 numbers.*expected: 3 numbers"),
    "base kind": (arm(rest="base: flying"), "no kind of base 'flying'.*fixed, floating"),
    "convention": (arm(rest="convention: craig"), "no convention 'craig'.*modified, standard"),
    "modified key in standard": (arm("  - {gamma: 1}", "convention: standard"), "no key 'gamma'"),
    "standard key in modified": (arm("  - {a: 1}"), "no key 'a'"),
    "gravity a number": (arm(rest="gravity: 9.81"), "expected: a list"),
    "gravity of two": (arm(rest="gravity: [0, 0]"), "expected: 3 numbers"),
    "link missing": (arm(rest="links: [{M: 1}]"), "'link' is missing"),
    "unknown link": (arm(rest="links: [{link: link2, M: 1}]"), "no link 'link2'.*did you mean 'link1'"),
    "link twice": (arm(rest="links: [{link: link1, M: 1}, {link: link1, M: 1}]"), "two rows"),
    "base among links": (arm(rest="links: [{link: base, M: 1}]"), "belongs in `base`"),
    "mass missing": (arm(rest="links: [{link: link1, XX: 1}]"), "link 'link1'.*mass is missing"),
    "two centers": (arm(rest="links: [{link: link1, M: 1, center: [0, 0, 0], MX: 1}]"), "by 'center' and by 'MX'"),
    "two inertias": (arm(rest="links: [{link: link1, M: 1, central: [1, 1, 1], XX: 1}]"), "by 'central' and by 'XX'"),
    "moment without mass": (arm(rest="links: [{link: link1, M: 0, MX: 1}]"), "first moments without a mass"),
    "central of four": (arm(rest="links: [{link: link1, M: 1, central: [1, 1, 1, 1]}]"), "3 or 6 numbers"),
    "drive of nothing": (arm(rest="drives: [{Ia: 1}]"), "'joint' is missing"),
    "drive of unknown joint": (arm(rest="drives: [{joint: b, Ia: 1}]"), "no joint 'b'"),
    "drive twice": (arm(rest="drives: [{joint: a}, {joint: a}]"), "two rows"),
    "drive of fixed joint": (arm("  - {name: a, sigma: 2}", "drives: [{joint: a, Ia: 1}]"), "fixed joint has no drive"),
    "limits of one": (arm(rest="drives: [{joint: a, limits: [1]}]"), "expected: 2 numbers"),
    "infinite friction": (arm(rest="drives: [{joint: a, Fv: inf}]"), "not finite"),
    "mimic of nothing": (arm(rest="drives: [{joint: a, mimic: {offset: 1}}]"), "'joint' is missing"),
    "mimic of unknown joint": (arm(rest="drives: [{joint: a, mimic: {joint: c}}]"), "no joint 'c'"),
    "frame without name": (arm(rest="frames: [{link: link1}]"), "'name' is missing"),
    "frame without link": (arm(rest="frames: [{name: tool}]"), "'link' is missing"),
    "frame on unknown link": (arm(rest="frames: [{name: tool, link: x}]"), "frame 'tool'.*no link 'x'"),
    "frame twice": (arm(rest="frames: [{name: t, link: link1}, {name: t, link: base}]"), "used twice"),
    "frame named like another link": (arm(rest="frames: [{name: base, link: link1}]"), "used twice"),
    "own frame off the axis": (
        arm(rest="frames: [{name: link1, link: link1, d: 1}]"),
        "origin on the axis of the joint",
    ),
    "unknown source": (arm("  - {source: book}"), "no source 'book'.*illustrative"),
    "source of unknown table": (arm(rest="source: {joint: illustrative}"), "no key 'joint'"),
    "source of a value not given": (arm("  - {r: 1, source: {d: illustrative}}"), "no key 'd'"),
    "source key that is a table": (arm(rest="sources: {links: x}"), "cannot be the key of a source"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(ModelError) as caught:
        read_mdh(text, "bad.yaml")
    assert str(caught.value).startswith("bad.yaml")
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


# --- writing


def assert_same(a: Description, b: Description, tolerance: float = 1e-13):
    """Same names, frames, inertias and joint terms: so the same dynamics."""

    def close(x, y):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)

    assert (a.name, a.floating, a.gravity) == (b.name, b.floating, b.gravity)
    assert {link.name for link in a.links} == {link.name for link in b.links}
    links = {link.name: link.inertia for link in b.links}
    for link in a.links:
        other = links[link.name]
        assert (link.inertia is None) == (other is None)
        if link.inertia is not None and other is not None:
            assert link.inertia.mass == other.mass
            close(link.inertia.center, other.center)
            close(link.inertia.central, other.central)
    joints = {joint.name: joint for joint in b.joints}
    assert set(joints) == {joint.name for joint in a.joints}
    for joint in a.joints:
        other = joints[joint.name]
        assert (joint.parent, joint.child) == (other.parent, other.child)
        close(joint.origin.rotation, other.origin.rotation)
        close(joint.origin.translation, other.origin.translation)
        if joint.kind == "fixed":
            assert other.kind == "fixed"
            continue
        assert (joint.kind == "prismatic") == (other.kind == "prismatic")
        close(joint.axis / np.linalg.norm(joint.axis), other.axis)
        for name in ("rotor_inertia", "coulomb", "viscous", "stiffness", "rest", "velocity_limit", "effort_limit"):
            assert getattr(joint, name) == getattr(other, name)
        close(joint.lower, other.lower)
        close(joint.upper, other.upper)
        assert joint.mimic == other.mimic
    assert set(a.frames) == set(b.frames)
    for name, (link, placement) in a.frames.items():
        assert link == b.frames[name][0]
        close(placement.rotation, b.frames[name][1].rotation)
        close(placement.translation, b.frames[name][1].translation)


TURNS = {
    "any": lambda rng: rng.uniform(-3, 3, 3),
    "none": lambda rng: np.zeros(3),
    "quarters": lambda rng: rng.integers(-2, 3, 3) * math.pi / 2,
    "nearly none": lambda rng: 1e-6 * rng.normal(size=3),
    "hardly any": lambda rng: 1e-12 * rng.normal(size=3),
    "nearly over": lambda rng: np.array([math.pi, 0, 0]) + 1e-6 * rng.normal(size=3),
    "gimbal": lambda rng: np.array([0.3, math.pi / 2, 0.4]) + rng.integers(0, 2) * 1e-9,
}
SHIFTS = {
    "any": lambda rng: rng.normal(size=3),
    "none": lambda rng: np.zeros(3),
    "along z": lambda rng: np.array([0, 0, rng.normal()]),
    "along x": lambda rng: np.array([rng.normal(), 0, 0]),
}
AXES = {
    "z": lambda rng: np.array([0.0, 0, 1]),
    "-z": lambda rng: np.array([0.0, 0, -1]),
    "x": lambda rng: np.array([1.0, 0, 0]),
    "-y": lambda rng: np.array([0.0, -2, 0]),
    "any": lambda rng: rng.normal(size=3),
    "nearly z": lambda rng: np.array([1e-6, -1e-6, 1]),
}


def random_tree(seed: int, turn: str, shift: str, axis: str) -> Description:
    rng = np.random.default_rng(seed)
    names = ["root", "a b", "c:d", "0", "é", "link.5", "no", "seven"]
    links, joints, frames = [], [], {}
    for i, name in enumerate(names):
        root = rng.normal(size=(3, 3))
        inertia = LinkInertia(rng.uniform(0.1, 5), rng.normal(size=3), root @ root.T)
        links.append(Link(name, inertia if rng.random() < 0.8 else None))
        frames[f"frame {i}"] = (name, Placement(rotation_from_rpy(*TURNS["any"](rng)), rng.normal(size=3)))
    for i, name in enumerate(names[1:], 1):
        kind = ("revolute", "continuous", "prismatic", "fixed")[rng.integers(4)]
        terms: dict[str, Any] = dict(
            zip(("rotor_inertia", "coulomb", "viscous", "stiffness", "rest"), rng.random(5), strict=True)
        )
        limits: dict[str, Any] = {"lower": -1.5, "upper": math.pi / 2, "velocity_limit": 0.0, "effort_limit": 7.25}
        joints.append(
            JointDescription(
                name=f"joint {i}",
                kind=kind,
                parent=names[rng.integers(i)],
                child=name,
                origin=Placement(rotation_from_rpy(*TURNS[turn](rng)), SHIFTS[shift](rng)),
                axis=AXES[axis](rng),
                mimic=Mimic("joint 1", 1.5, -0.5) if i > 1 and kind != "fixed" and rng.random() < 0.3 else None,
                **(terms if kind != "fixed" else {}),
                **(limits if kind in ("revolute", "prismatic") else {}),
            )
        )
    order = rng.permutation(len(joints))  # files list joints in any order
    return Description(
        name="random tree",
        links=tuple(links),
        joints=tuple(joints[k] for k in order),
        gravity=tuple(rng.normal(size=3).tolist()),
        floating=bool(rng.integers(2)),
        frames=frames,
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(TURNS)), st.sampled_from(list(SHIFTS)), st.sampled_from(list(AXES)))
def test_written_is_read_back(seed, turn, shift, axis):
    tree = random_tree(seed, turn, shift, axis)
    text = write_mdh(tree)
    assert_same(tree, read_mdh(text))


def test_every_key_is_written():
    robot = read_mdh(EVERY_KEY)
    back = read_mdh(write_mdh(robot))
    assert_same(robot, back)
    assert [joint.name for joint in back.joints] == [joint.name for joint in robot.joints]
    assert dict(back.sources) == dict(robot.sources)


def test_table_is_written_as_it_was():
    rows = """joints:
  - {name: a, link: one, parent: base, r: 0.3}
  - {name: b, link: two, parent: one, alpha: -pi/2, d: 0.25, theta: pi/2}
  - {name: c, link: three, parent: two, sigma: 1, alpha: pi, d: -0.1, r: 0.5}
"""
    assert write_mdh(read_mdh("name: arm\n" + rows)) == "name: arm\n" + rows


def test_writer_refuses_two_roots():
    with pytest.raises(ModelError, match="one root link"):
        write_mdh(Description("two", (Link("a"), Link("b")), ()))


def test_long_chain():
    joints = "\n".join("  - {alpha: pi/2, d: 0.1, r: 0.2}" for _ in range(200))
    assert len(read_mdh(write_mdh(read_mdh(arm(joints)))).joints) == 200
