"""The side file: what it says, how mistakes in it are told, and that a robot written as URDF keeps its structure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork import io
from linkwork.errors import ModelError, UnsupportedError
from linkwork.forces import Drag
from linkwork.io.mjcf import read_mjcf
from linkwork.io.structure_file import apply, read_structure, write_structure
from linkwork.io.urdf import read_urdf
from linkwork.io.urdf_writer import write_urdf
from linkwork.model.description import Description, Placement
from linkwork.model.validate import check

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
Z = '<axis xyz="0 0 1"/>'
URDF = f"""<robot name="bars">
<link name="base"/><link name="crank">{BODY}</link><link name="rod">{BODY}</link><link name="rocker">{BODY}</link>
<link name="rod_end"/><link name="pin"/>
<joint name="j1" type="continuous"><parent link="base"/><child link="crank"/>{Z}</joint>
<joint name="j2" type="continuous"><origin xyz=".1 0 0"/><parent link="crank"/><child link="rod"/>{Z}</joint>
<joint name="j3" type="continuous"><origin xyz=".4 0 0"/><parent link="base"/><child link="rocker"/>{Z}</joint>
<joint name="f1" type="fixed"><origin xyz=".3 0 0"/><parent link="rod"/><child link="rod_end"/></joint>
<joint name="f2" type="fixed"><origin xyz=".2 0 0"/><parent link="rocker"/><child link="pin"/></joint>
</robot>"""
MINIMAL = "loops:\n  - {kind: revolute, first: rod_end, second: pin}\n"


def applied(text: str, description: Description | None = None) -> Description:
    return apply(description or read_urdf(URDF, "bars.urdf"), read_structure(text, "bars.loops.yaml"))


def assert_same_structure(a: Description, b: Description):
    assert [(loop.name, loop.kind.name) for loop in a.constraints] == [
        (loop.name, loop.kind.name) for loop in b.constraints
    ]
    for ours, theirs in zip(a.constraints, b.constraints):
        assert [*ours.sides] == [*theirs.sides] and (len(ours.sides) == 2 or ours.second == theirs.second)
        for (link, here), (other, there) in zip(ours.sides.values(), theirs.sides.values()):
            assert link == other
            np.testing.assert_array_equal(here.translation, there.translation)
            np.testing.assert_allclose(here.rotation, there.rotation, rtol=0, atol=1e-15)
    assert dict(a.home) == dict(b.home)
    assert (a.independent, a.redundant, a.forces) == (b.independent, b.redundant, b.forces)
    theirs = {joint.name: (joint.kind, joint.role, joint.weight) for joint in b.joints}
    for joint in a.joints:
        assert theirs[joint.name] == (joint.kind, joint.role, joint.weight)


def test_two_frames_and_a_kind_are_enough():
    d = applied(MINIMAL)
    (loop,) = d.constraints
    assert (loop.name, loop.kind.name, loop.first[0], loop.second[0]) == ("loop1", "revolute", "rod_end", "pin")
    assert check(d) == ()
    assert {joint.role for joint in d.joints} == {"active"} and not d.home and not d.redundant


def test_everything():
    d = applied("""
loops:
  - {name: cut, kind: spherical, first: {frame: rod_end}, second: {link: rocker, xyz: [0.2, 0, 0], rpy: [0, pi/2, 0]}}
  - {kind: weld, first: {link: rod, d: 0.3}, second: pin}
roles: {passive: [j2], elastic: [j3], active: [j1]}
weights: {j1: 2}
home: {j1: 90 deg, j2: -0.5}
independent: [j1]
actuation: redundant
forces:
  - {frame: rod_end, law: drag, length: 0.2, k_normal: 40}
""")
    cut, weld = d.constraints
    assert (cut.name, cut.kind.name, cut.second[0], weld.name) == ("cut", "spherical", "rocker", "loop2")
    np.testing.assert_array_equal(cut.second[1].translation, [0.2, 0, 0])
    np.testing.assert_array_equal(cut.second[1].rotation, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    np.testing.assert_array_equal(weld.first[1].translation, [0.3, 0, 0])
    assert [joint.role for joint in d.joints[:3]] == ["active", "passive", "elastic"]
    assert (d.joints[0].weight, d.home, d.independent, d.redundant) == (2, {"j1": np.pi / 2, "j2": -0.5}, ("j1",), True)
    assert d.forces == (("rod_end", Drag(length=0.2, k_normal=40.0)),)


def test_beside_a_robot_that_has_a_structure():
    given = io.read("four-bar")
    d = applied("home: {crank: 1}\nroles: {active: [rocker]}\nactuation: redundant", given)
    assert d.constraints == given.constraints and d.home == {**given.home, "crank": 1}
    assert [joint.role for joint in d.joints] == ["active", "passive", "active"] and d.redundant
    assert applied("independent: [crank]", given).independent == ("crank",)
    frame = applied("loops: [{kind: spherical, first: coupler_point, second: base}]", given).constraints[-1]
    assert frame.first[0] == "coupler_link" and frame.first[1].translation.tolist() == [0.2, 0.12, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "bars.loops.yaml: the file is empty"),
        ("- 1", "wrong type"),
        ("loop: []", "line 1: there is no key 'loop'(.|\n)*did you mean 'loops'?"),
        ("loops: &a []", r"anchors \(&\) and aliases \(\*\) are not allowed"),
        ("loops: {}", "expected: a list"),
        ("loops:\n  - {first: pin, second: rod}", "line 2: loop 'loop1': 'kind' is missing"),
        (
            "loops:\n  - {kind: hinge, first: pin, second: rod}",
            "line 2: loop 'loop1': there is no kind of loop 'hinge'",
        ),
        ("loops:\n  - {kind: weld, first: pin}", "line 2: loop 'loop1': 'second' is missing"),
        (
            "loops:\n  - kind: weld\n    first: pn\n    second: rod",
            "line 3: loop 'loop1': there is no frame 'pn'(.|\n)*did you mean 'pin'?",
        ),
        (
            "loops: [{kind: weld, first: {link: rood}, second: rod}]",
            "there is no link 'rood'(.|\n)*did you mean 'rod'?",
        ),
        ("loops: [{kind: weld, first: {xyz: [1, 2, 3]}, second: rod}]", "'link' is missing"),
        ("loops: [{kind: weld, first: {frame: pin, d: 1}, second: rod}]", "placed twice"),
        ("roles: {passive: [j2, j9]}", "roles: there is no joint 'j9'"),
        ("roles: {passive: [f1]}", "roles: there is no joint 'f1'"),
        ("roles: {pasive: [j2]}", "did you mean 'passive'?"),
        ("roles: {passive: [j2], elastic: [j2]}", "joint 'j2' is named twice"),
        ("weights: {j9: 2}", "weights: there is no key 'j9'"),
        ("weights: {j1: heavy}", "not a number"),
        ("home: {j9: 2}", "home: there is no key 'j9'"),
        ("independent: [j9]", "independent: there is no joint 'j9'"),
        ("actuation: both", "actuation: there is no actuation 'both'"),
        ("forces: [{frame: rodend, law: drag}]", "there is no link or frame 'rodend'"),
    ],
)
def test_mistakes(text: str, words: str):
    with pytest.raises(ModelError, match=words):
        applied(text)


# Written and read back


def everything() -> Description:
    """A robot with every field that the side file holds, and names that need quotes."""
    text = """
name: both
joints:
  - {name: "j 1: #", link: a}
  - {name: "yes", link: b, d: 0.3}
  - {name: "3", link: c, parent: base, alpha: 0.3, d: 0.7}
links: [{link: a, M: 1, XX: 1, YY: 1, ZZ: 1}, {link: b, M: 1, XX: 1, YY: 1, ZZ: 1},
        {link: c, M: 1, XX: 1, YY: 1, ZZ: 1}]
drives: [{joint: "j 1: #", weight: 0.3333333333333333}, {joint: "yes", role: passive},
         {joint: "3", role: elastic, K: 10, rest: 0.1}]
frames: [{name: tip, link: b, d: 0.1}]
loops:
  - {name: "cut ä", kind: universal, first: {link: b, xyz: [1e-7, -0.2, 0.1], rpy: [0.1, 0.2, 0.3]}, second: {link: c}}
home: {"j 1: #": 0.1, "3": -1e-05}
independent: ["3"]
actuation: redundant
forces: [{frame: tip, law: drag, length: 0.2, k_normal: 40, current: [0.1, 0, 0]}]
"""
    return io.read_mdh(text, "both.yaml")


@pytest.mark.parametrize("name", ["everything", *io.bundled_robots()])
def test_urdf_and_side_file_give_the_robot_back(name: str, tmp_path):
    description = everything() if name == "everything" else io.read(name)
    path, side = tmp_path / "robot.urdf", tmp_path / "robot.loops.yaml"
    io.write(description, path)
    has_structure = bool(write_structure(description))
    assert side.exists() == has_structure
    again = io.read(path, side if has_structure else None)
    assert again.findings == ()
    assert_same_structure(description, again)
    assert write_structure(again) == write_structure(description)
    if has_structure:
        (unread,) = io.read(path).findings
        assert unread.level == "warning" and "there is a side file robot.loops.yaml" in unread.message
        assert f'structure="{side}"' in unread.fix


def test_a_platform_that_moves_freely_against_the_base():
    description = read_urdf(
        URDF.replace('type="continuous"><origin xyz=".4 0 0"/>', 'type="floating"><origin xyz=".4 0 .1"/>')
    )
    assert [(joint.name, joint.kind, joint.role) for joint in description.joints[:3]] == [
        ("j1", "continuous", "active"),
        ("j2", "continuous", "active"),
        ("j3", "floating", "passive"),
    ]
    assert description.joints[2].origin.translation.tolist() == [0.4, 0, 0.1] and not description.floating
    assert check(description) == ()
    again = read_urdf(write_urdf(description))
    assert [(joint.name, joint.kind) for joint in again.joints] == [(j.name, j.kind) for j in description.joints]
    only = replace(description, joints=(description.joints[2], description.joints[-1]))
    only = replace(only, links=tuple(link for link in only.links if link.name in ("base", "rocker", "pin")))
    with pytest.raises(UnsupportedError, match="would be a floating base"):
        write_urdf(only)
    write_urdf(replace(only, frames={"mark": ("base", Placement())}))
    write_urdf(replace(only, floating=True))


def test_roles_weights_and_home_of_joints_with_several_freedoms():
    """Also of a ball joint, which no URDF has: the side file may stand beside any robot file."""
    bodies = "{link: a, M: 1, central: [1, 1, 1]}, {link: b, M: 1, central: [1, 1, 1]}"
    rows = "{name: ball, link: a, kind: spherical}, {name: flat, link: b, kind: planar, d: 0.3}"
    description = io.read_mdh(f"name: both\njoints: [{rows}]\nlinks: [{bodies}]\nframes: [{{name: eye, link: base}}]")
    text = """
roles: {passive: [ball, flat]}
weights: {flat: 3}
home: {ball: [0, 0, 1, 0], flat: [0.1, 0.2, 90 deg]}
"""
    given = applied(text, description)
    assert [(joint.role, joint.weight) for joint in given.joints] == [("passive", 1), ("passive", 3)]
    assert given.home == {"ball": (0, 0, 1, 0), "flat": (0.1, 0.2, np.pi / 2)}
    assert_same_structure(given, applied(write_structure(given), description))
    with pytest.raises(ModelError, match=r"got: 2 numbers(.|\n)*expected: 3 numbers"):
        applied("home: {flat: [1, 2]}", description)
    free = replace(description, joints=(replace(description.joints[0], kind="floating"), *description.joints[1:]))
    with pytest.raises(ModelError, match="roles: there is no joint 'ball'"):
        applied("roles: {active: [ball]}", free)
    assert "roles" not in write_structure(free)
    assert applied("widths: {ball: 0.1}", free).joints[0].friction_width == 0.1


def test_loops_of_mjcf_go_through_urdf():
    text = """<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body>
    <body name="b" pos=".3 0 0"><joint name="k" axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body></worldbody>
    <equality><weld body1="a" body2="b"/></equality></mujoco>"""
    description = read_mjcf(text)
    again = apply(read_urdf(write_urdf(description)), read_structure(write_structure(description)))
    assert_same_structure(description, again)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "bars.urdf").write_text(URDF)
    with pytest.raises(ModelError, match=r"none.yaml: the file cannot be read(.|\n)*fix: give the path of a side file"):
        io.read(tmp_path / "bars.urdf", tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match=r"bad.yaml: the file is not UTF-8"):
        io.read(tmp_path / "bars.urdf", tmp_path / "bad.yaml")
    (tmp_path / "good.yaml").write_text(MINIMAL)
    assert len(io.read(tmp_path / "bars.urdf", str(tmp_path / "good.yaml")).constraints) == 1


def test_laws_of_the_users_own_cannot_be_written(tmp_path):
    description = replace(io.read("planar2r"), forces=(("tip", lambda pose, velocity: velocity),))
    with pytest.raises(ModelError, match="this force law cannot be written to a file"):
        io.write(description, tmp_path / "robot.urdf")
    assert not list(tmp_path.iterdir())
