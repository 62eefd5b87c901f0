"""URDF: what is read, what is refused and how, and that what is written reads back the same."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest
from pinocchio import buildModelFromUrdf, buildModelFromXML  # pyright: ignore[reportAttributeAccessIssue]

from linkwork import load
from linkwork.errors import ModelError, UnsupportedError
from linkwork.io.rpy import EXACT, is_rounded_quarter_turn, rpy_from_rotation
from linkwork.io.urdf import read_urdf
from linkwork.io.urdf_writer import write_urdf
from linkwork.model.description import Description, JointDescription, Link, LinkInertia, Mimic, Placement
from linkwork.model.rotations import rotation_from_rpy
from linkwork.model.validate import check
from support.pinocchio_tree import PinocchioTree

HERE = Path(__file__).parent / "urdf"
ROBOTS = sorted(Path(str(file.locate())) for file in files("example-robot-data") or () if file.suffix == ".urdf")
LOADED = [path for path in ROBOTS if path.name != "ur3.urdf"]  # an empty <robot>, refused by Pinocchio too
QUARTER_TURNS = [
    rotation_from_rpy(roll * math.pi / 2, pitch * math.pi / 2, yaw * math.pi / 2)
    for roll in range(4)
    for pitch in (-1, 0, 1)
    for yaw in range(4)
]


def name_of(path: Path) -> str:
    return "/".join(path.parts[-3:])


def robot(*, joint: str = "", link: str = "", more: str = "", kind: str = "revolute") -> str:
    """Two links and a joint, with additions, each on a line of its own."""
    return f"""<robot name="r">
<link name="base"/>
<link name="arm">{link}</link>
<joint name="elbow" type="{kind}"><parent link="base"/><child link="arm"/>
{joint}
</joint>
{more}
</robot>"""


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def only_joint(text: str) -> JointDescription:
    (joint,) = read_urdf(text).joints
    return joint


def messages(text: str, level: str) -> list[str]:
    return [str(finding) for finding in read_urdf(text, "r.urdf").findings if finding.level == level]


# What is read


def test_every_element():
    d = read_urdf((HERE / "every_element.urdf").read_bytes(), "every_element.urdf")
    assert (d.name, d.floating, d.gravity, d.findings) == ("everything", False, (0, 0, -9.81), ())
    assert [link.name for link in d.links] == ["base", "upper", "lower", "finger", "camera"]
    assert [joint.name for joint in d.joints] == ["slide", "turn", "follow", "mount"]
    assert d.links[0].inertia is None and d.links[4].inertia is None

    upper = d.links[1].inertia
    assert upper is not None and upper.mass == 2 and upper.center.tolist() == [0.01, 0.02, 0.03]
    # A quarter turn about z takes x to y and y to -x, exactly.
    assert upper.central.tolist() == [[0.2, -0.01, -0.03], [-0.01, 0.1, 0.02], [-0.03, 0.02, 0.25]]

    slide, turn, follow, mount = d.joints
    assert (slide.kind, slide.parent, slide.child) == ("prismatic", "upper", "lower")
    assert slide.origin.rotation.tolist() == [[-1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert slide.origin.translation.tolist() == [0.1, 0.2, 0.3]
    assert slide.axis.tolist() == [0, 0, 2]  # of any length
    assert (slide.lower, slide.upper, slide.velocity_limit, slide.effort_limit) == (-0.1, 0.2, 3, 4)
    assert (slide.viscous, slide.coulomb) == (0.5, 0.25)
    assert slide.rotor_inertia == pytest.approx(0.5)
    assert (turn.kind, turn.axis.tolist(), turn.lower, turn.upper) == ("continuous", [1, 0, 0], -math.inf, math.inf)
    assert turn.rotor_inertia == pytest.approx(0.1)
    assert follow.mimic == Mimic("turn", -0.5, 0.125)
    assert (follow.lower, follow.upper, follow.stiffness, follow.rest) == (-math.inf, math.inf, 7, 0.5)
    assert mount.kind == "fixed"


@pytest.mark.parametrize(
    "inside",
    [
        "<rotor_inertia>2e-4</rotor_inertia><gear_ratio>50</gear_ratio>",
        '<drake:rotor_inertia value="2e-4"/><drake:gear_ratio value="50"/>',
        "<motorInertia>2e-4</motorInertia><mechanicalReduction>-50</mechanicalReduction>",
        "<rotorInertia>0.5</rotorInertia>",
    ],
)
def test_rotor_inertia_in_joint(inside: str):
    assert only_joint(robot(joint=LIMIT + inside)).rotor_inertia == pytest.approx(0.5)
    assert messages(robot(joint=LIMIT + inside), "warning") == []


@pytest.mark.parametrize(
    ("transmission", "expected"),
    [
        ('<joint name="elbow"><rotorInertia>3</rotorInertia></joint><mechanicalReduction>2</mechanicalReduction>', 12),
        ('<joint name="elbow"/><actuator name="a"/><rotorInertia>3</rotorInertia>', 3),
        (
            '<joint name="elbow"><mechanicalReduction>2</mechanicalReduction></joint><actuator name="a">'
            "<mechanicalReduction>5</mechanicalReduction><motorInertia>3</motorInertia></actuator>",
            300,
        ),
        (
            '<joint name="elbow"/><actuator name="a"><motorInertia>3</motorInertia></actuator>'
            '<actuator name="b"><motorInertia>4</motorInertia><gear_ratio>2</gear_ratio></actuator>',
            19,
        ),
        ('<joint name="elbow"/><actuator name="a"><mechanicalReduction>9</mechanicalReduction></actuator>', 0),
    ],
)
def test_rotor_inertia_in_transmission(transmission: str, expected: float):
    text = robot(joint=LIMIT, more=f'<transmission name="t">{transmission}</transmission>')
    assert only_joint(text).rotor_inertia == expected
    assert messages(text, "warning") == []


@pytest.mark.parametrize(
    ("joints", "reason"),
    [('<joint name="elbow"/><joint name="wrist"/>', "it drives 2 joints"), ('<joint name="x"/>', "no joint 'x'")],
)
def test_rotor_inertia_that_fits_no_joint_is_told(joints: str, reason: str):
    more = f'<transmission name="t">{joints}<actuator name="a"><motorInertia>3</motorInertia></actuator></transmission>'
    (warning,) = messages(robot(joint=LIMIT, more=more), "warning")
    assert "transmission 't'" in warning and reason in warning
    assert only_joint(robot(joint=LIMIT, more=more)).rotor_inertia == 0


def test_prefixes_and_namespaces():
    text = robot(joint=LIMIT).replace('<robot name="r">', '<u:robot xmlns="http://x" xmlns:u="http://x" name="r">')
    d = read_urdf(text.replace("</robot>", "</u:robot>").replace("<link", "<u:link").replace("</link", "</u:link"))
    assert [link.name for link in d.links] == ["base", "arm"] and not d.findings


def test_str_with_foreign_declaration_and_bytes_in_other_encodings():
    text = '<?xml version="1.0" encoding="{}"?>' + robot(joint=LIMIT).replace('"r"', '"Ärmchen"')
    assert read_urdf(text.format("ascii")).name == "Ärmchen"  # a str is decoded already
    assert read_urdf(text.format("latin-1").encode("latin-1")).name == "Ärmchen"
    assert read_urdf(text.format("utf-16").encode("utf-16")).name == "Ärmchen"
    assert read_urdf("\ufeff" + text.format("utf-8")).name == "Ärmchen"


@pytest.mark.parametrize("before", ["\n", " \t\r\n\n", "\ufeff\n", "\n\ufeff"])
def test_white_space_before_the_declaration(before: str):
    """XML forbids it; Pinocchio's reader does not mind."""
    text = before + '<?xml version="1.0"?>' + robot(joint=LIMIT)
    assert buildModelFromXML(text).nq == 1
    for given in (text, text.encode()):
        d = read_urdf(given, "r.urdf")
        assert [link.name for link in d.links] == ["base", "arm"]
        assert [finding.message for finding in d.findings] == [
            "there is white space before <?xml ...?>, where XML allows none"
        ]
    assert not read_urdf("\ufeff" + text.lstrip("\ufeff\t\r\n ")).findings


def test_an_inertial_without_mass_is_ignored_as_pinocchio_does():
    text = robot(joint=LIMIT, link=f'<inertial><origin xyz="1 2 3"/>{INERTIA}</inertial>')
    theirs = buildModelFromXML(text).inertias[1]
    assert (theirs.mass, theirs.lever.any(), theirs.inertia.any()) == (0, False, False)
    assert read_urdf(text).links[1].inertia is None
    (warning,) = messages(text, "warning")
    assert "line 3: link 'arm' <inertial>: its <inertial> has no <mass> and is ignored" in warning


def test_quaternion():
    joint = only_joint(robot(joint=LIMIT + '<origin quat_xyzw="0 0 2 2"/>'))
    np.testing.assert_allclose(joint.origin.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_absent_limits():
    assert only_joint(robot()).upper == math.inf
    assert "no <limit>" in messages(robot(), "warning")[0]
    text = robot(joint='<limit effort="1" velocity="1"/>')
    assert (only_joint(text).lower, only_joint(text).upper) == (0, 0)  # as the specification says
    assert "'lower' and 'upper' are missing" in messages(text, "warning")[0]
    assert messages(robot(kind="continuous"), "warning") == []


def test_floating_base():
    d = read_urdf(robot(kind="floating", link=f'<inertial><mass value="1"/>{INERTIA}</inertial>'))
    assert d.floating and [link.name for link in d.links] == ["arm"] and d.joints == () and d.findings == ()
    (warning,) = messages(robot(kind="floating", joint='<origin xyz="0 0 1"/>'), "warning")
    assert "origin of a floating joint is ignored" in warning


def test_fixed_joint_with_mimic():
    text = robot(kind="fixed", joint='<mimic joint="elbow"/>')
    assert only_joint(text).mimic is None and "cannot follow" in messages(text, "warning")[0]


def test_mimic_of_unknown_joint_moves_on_its_own():
    text = robot(joint=LIMIT + '<mimic joint="nobody"/>')
    assert only_joint(text).mimic is None and "no joint 'nobody'" in messages(text, "warning")[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (robot(joint=LIMIT, more="<loop/>"), "line 7: robot 'r' <loop>: <loop> in <robot> is unknown"),
        (robot(joint=LIMIT, link="<contact/>"), "line 3: link 'arm' <contact>: <contact> in <link> is unknown"),
        (robot(joint=LIMIT + '<dynamics armature="1"/>'), "joint 'elbow' <dynamics>: attribute 'armature'"),
        (robot(joint=LIMIT + LIMIT), "line 5: joint 'elbow' <limit>: a second <limit>"),
        (robot(joint=LIMIT + '<origin rpy="0 -1.5708 0"/>'), "the angle 1.5708 looks like a rounded multiple of pi/2"),
        ("<robot><link name='a'/></robot>", "the robot has no name"),
    ],
)
def test_warnings(text: str, expected: str):
    (warning,) = messages(text, "warning")
    assert expected in warning and warning.startswith("warning: r.urdf: line ")


def test_equal_warnings_are_told_once():
    (warning,) = messages(robot(joint=LIMIT, more="<loop/>" * 5), "warning")
    assert "the first of 5 places" in warning


@pytest.mark.parametrize("kind", ["ball", "spherical", "universal", "screw", "Revolute"])
def test_types_that_are_not_supported(kind: str):
    (error,) = [str(finding) for finding in check(read_urdf(robot(kind=kind), "r.urdf")) if finding.level == "error"]
    assert f"joint 'elbow': joints of type {kind!r} are not supported" in error and "planar" in error.split("fix: ")[1]


def test_planar_joint():
    given = (
        '<origin xyz="1 2 3"/><axis xyz="0 2 0"/><limit effort="4" velocity="5"/><dynamics damping="6" friction="7"/>'
    )
    joint = only_joint(robot(kind="planar", joint=given))
    assert (joint.kind, joint.axis.tolist(), joint.origin.translation.tolist()) == ("planar", [0, 2, 0], [1, 2, 3])
    assert (joint.lower, joint.upper, joint.effort_limit, joint.velocity_limit) == (-math.inf, math.inf, 4, 5)
    assert (joint.viscous, joint.coulomb, joint.role) == (6, 7, "active")
    assert messages(robot(kind="planar", joint=given), "warning") == []
    (warning,) = messages(robot(kind="planar", joint='<limit lower="-1"/>'), "warning")
    assert "'lower' and 'upper' of a planar joint are ignored" in warning
    follows = robot(kind="planar", joint='<mimic joint="elbow"/>')
    assert only_joint(follows).mimic is None and "cannot follow" in messages(follows, "warning")[0]


def test_friction_of_a_floating_base_is_told():
    (warning,) = messages(robot(kind="floating", joint='<dynamics damping="1"/>'), "warning")
    assert "friction, rotor and spring of a floating base are ignored" in warning


def mixed_urdf(normal: str) -> str:
    """Planar and floating joints at the root, in the middle and at the tips, between revolute ones."""
    random, elements = np.random.default_rng(3), ['<link name="l0"/>']

    def words(size: int) -> str:
        return " ".join(map(repr, random.uniform(-1, 1, size).tolist()))

    kinds = ["planar", "revolute", "floating", "revolute", "planar", "floating", "prismatic", "floating", "planar"]
    for k, kind in enumerate(kinds, 1):
        ixx, iyy, izz = random.uniform(1, 2, 3).tolist()
        elements.append(
            f'<link name="l{k}"><inertial><origin xyz="{words(3)}" rpy="{words(3)}"/><mass value="{k}"/>'
            f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0.1" ixz="-0.2" iyz="0.05"/></inertial></link>'
            f'<joint name="j{k}" type="{kind}"><origin xyz="{words(3)}" rpy="{words(3)}"/>'
            f'<parent link="l{max(0, k - random.integers(1, 3))}"/><child link="l{k}"/>'
            f'<axis xyz="{normal if kind == "planar" else words(3)}"/>'
            f"{LIMIT if kind in ('revolute', 'prismatic') else ''}</joint>"
        )
    return f'<robot name="mixed">{"".join(elements)}</robot>'


@pytest.mark.parametrize("normal", ["0 0 1", "0.3 -1 0.4"])
def test_planar_and_floating_joints_anywhere_move_as_in_pinocchio(normal: str):
    """Whose reader takes the plane of x and y, whatever the axis says: other ones are given to it by their joints."""
    description = read_urdf(mixed_urdf(normal))
    ours = load(description)
    model = buildModelFromXML(mixed_urdf(normal)) if normal == "0 0 1" else None
    theirs = PinocchioTree(description, ours.coordinates.positions.joints, model)
    assert sum(joint.kind in ("planar", "floating") for joint in description.joints) == 6 and not description.floating
    for seed in range(3):
        q, v, a = theirs.places.state(seed, unit=True)
        for quantity, inputs in {"inverse_dynamics": (q, v, a), "inertia_matrix": (q,), "bias": (q, v)}.items():
            found = ours.compile(quantity, backend="interpreter")(*inputs)
            expected = getattr(theirs, quantity)(*inputs)
            assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


# Broken and hostile input


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["no element found", "fix: the file is empty"]),
        (b"  \n ", ["fix: the file is empty"]),
        ("links:\n  - base\n", ["not well-formed XML", "does not look like XML"]),
        ("<robot name='r'><link na", ["unclosed token", "ends too early"]),
        ("<robot name='r'><link name='a'/>", ["no element found", "ends too early"]),
        ("<robot name='r'>\n<link name='a'></robot>", ["line 2", "mismatched tag"]),
        ("<!-- r -->\n<?xml version='1.0'?><robot name='r'/>", ["remove everything before <?xml"]),
        ("\n \n<?xml version='1.0'?><robot name='r'>\n<link/></robot>", ["line 4: robot 'r' <link>"]),
        ("\n \n<?xml version='1.0'?><robot name='r'>\n</link></robot>", ["line 4: ", "mismatched tag"]),
        ("<robot name='r'>&nbsp;</robot>", ["undefined entity"]),
        ("<robot name='r'>\0</robot>", ["invalid token"]),
        (b"<robot name='\xe4'/>", ["invalid token", "UTF-8"]),
        (b"<?xml version='1.0' encoding='klingon'?><robot name='r'/>", ["UTF-8"]),
        (b"<?xml version='1.0' encoding='utf-7'?><robot name='r'/>", ["UTF-8"]),
        ("<robot name='\ud800'/>", ["cannot be decoded", "UTF-8"]),
        (robot().encode("utf-32"), ["not well-formed", "UTF-8"]),
        ("<a>" * 100_000, ["line 1", "nest deeper than 100 levels"]),
        ("<mujoco/>", ["got: <mujoco>", 'expected: <robot name="...">', "MJCF"]),
        ("<sdf/>", ["SDF"]),
        ("<html/>", ["this is not a URDF file"]),
        ("<robot name='r'>\n<xacro:include filename='x'/></robot>", ["line 2", "fix: expand it first: xacro FILE"]),
        (robot(joint='<origin xyz="${a} 0 0"/>'), ["line 5: joint 'elbow' <origin>", "'${a}'", "fix: expand"]),
        (robot(joint='<origin xyz="1,0 0 0"/>'), ["'1,0'", "a finite number"]),
        (robot(joint='<origin xyz="1,0,0"/>'), ["has 1 number", "got: '1,0,0'", "expected: 3 numbers"]),
        (robot(joint='<origin xyz="0 0"/>'), ["has 2 numbers"]),
        (robot(joint='<origin xyz=""/>'), ["'xyz' is missing or empty"]),
        (robot(joint='<origin rpy="0 0 nan"/>'), ["'nan'"]),
        (robot(joint='<origin rpy="0 0 inf"/>'), ["'inf'"]),
        (robot(joint='<origin rpy="0 0 1e999"/>'), ["'1e999'"]),
        (robot(joint='<origin rpy="0 0 1_0"/>'), ["'1_0'"]),
        (robot(joint='<origin rpy="0 0 ٣"/>'), ["'٣'"]),
        (robot(joint='<origin quat_xyzw="0 0 0 0"/>'), ["rotation is not defined"]),
        (robot(joint='<origin quat_xyzw="0 0 0 1" rpy="0 0 0"/>'), ["either rpy or"]),
        (robot(joint='<limit lower="nan"/>'), ["'nan'"]),
        (robot(joint=LIMIT + "<rotorInertia/>"), ["<rotorInertia>: the text is not a finite number"]),
        (robot(joint=LIMIT + '<axis xyz="0 0 one"/>'), ["<axis>", "'one'"]),
        (robot(joint=LIMIT + "<axis/>"), ["'xyz' is missing"]),
        (robot(joint=LIMIT + "<mimic/>"), ["'joint' is missing"]),
        (robot(joint=LIMIT + '<dynamics damping="x"/>'), ["<dynamics>: attribute 'damping'", "'x'"]),
        (robot(more='<linkwork gravity="0 0"/>'), ["<linkwork>", "has 2 numbers"]),
        (robot(link='<inertial><mass value="1"/></inertial>'), ["<inertia> is missing"]),
        (robot(link='<inertial><mass value="1"/><inertia ixx="1"/></inertial>'), ["<inertia>: attribute 'iyy'"]),
        (robot(link='<inertial><mass value="NaN"/></inertial>'), ["<mass>: attribute 'value'", "'NaN'"]),
        ("<robot name='r'><link/></robot>", ["robot 'r' <link>: attribute 'name' is missing"]),
        ("<robot name='r'><joint name='j'/></robot>", ["joint 'j': attribute 'type' is missing"]),
        ("<robot name='r'><joint name='j' type='fixed'/></robot>", ["<parent> is missing", 'add <parent link="..."/>']),
        (
            "<robot name='r'><joint name='j' type='fixed'><parent link='a'/></joint></robot>",
            ["joint 'j': <child> is missing"],
        ),
    ],
)
def test_broken_input(text: str | bytes, expected: list[str]):
    with pytest.raises(ModelError) as caught:
        read_urdf(text, "bad.urdf")
    for part in ["bad.urdf", "fix: ", *expected]:
        assert part in str(caught.value)


LONG = "x1" * 1_000_000
MANY = "".join(f" a{k}='1'" for k in range(20_000))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<robot name='r'><link name='{LONG}'/></robot>", "attribute 'name' is too long"),
        (f"<robot name='r'><joint name='{LONG}'/></robot>", "attribute 'name' is too long"),
        (f"<{LONG}/>", "a name is longer than 100 characters"),
        (f"<robot {LONG}='1'/>", "a name is longer than 100 characters"),
        (robot(link=f"<inertial><mass value='{LONG}'/>{INERTIA}</inertial>"), "attribute 'value' is too long"),
        (robot(joint=LIMIT + f"<rotorInertia>{LONG}</rotorInertia>"), "the text is not a finite number"),
        (f"<robot name='r'><link{MANY}/></robot>", "'name' is missing"),
        (robot(joint=f"<origin rpy='0 0 0' quat_xyzw='0 0 0 1' x='{LONG}'/>"), "rotation is not defined"),
        (f"<!DOCTYPE {LONG}><robot/>", "document types"),
        ("<robot name='r'>" + "<link name='a'/>" * 50_000 + "</robot>", "more than 100000 elements and attributes"),
    ],
    ids=range(10),
)
def test_messages_are_short_however_long_the_text(text: str, words: str):
    with pytest.raises(ModelError, match=words) as caught:
        read_urdf(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        (HERE / "billion_laughs.urdf").read_bytes(),
        '<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd"><robot name="r"/>',
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        '<!DOCTYPE robot [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><robot name="r"/>',
        "<!DOCTYPE robot><robot name='r'/>",
    ],
)
def test_document_types_and_entities_are_refused_at_once(text: str | bytes):
    start = time.perf_counter()
    with pytest.raises(ModelError, match="document types and entities are refused"):
        read_urdf(text)
    assert time.perf_counter() - start < 0.1


# Angles


def test_angles_near_quarter_turns_are_exact():
    for angle, sine in ((1.57079632679, 1), (-1.5707963268, -1), (3.14159265359, 0), (5e-11, 0)):
        assert rotation_from_rpy(0, 0, angle, EXACT)[1, 0] == sine
    assert all(np.isin(rotation, (-1.0, 0.0, 1.0)).all() for rotation in QUARTER_TURNS)
    assert rotation_from_rpy(0, 0, 1.5708, EXACT)[0, 0] == math.cos(1.5708)  # as written


@pytest.mark.parametrize("text", ["1.57", "-1.571", "1.5708", "1.5707", "3.14", "3.1415926", "4.71", "157.08e-2"])
def test_rounded_quarter_turns(text: str):
    assert is_rounded_quarter_turn(text)


@pytest.mark.parametrize(
    "text", ["0", "0.0001", "1.57079632679", "1.58", "1.5723", "2", "1.6", "1e6", "1e-99999999999"]
)
def test_other_angles(text: str):
    assert not is_rounded_quarter_turn(text)


def test_rpy_round_trip():
    random = np.random.default_rng(1)
    for scale in (math.pi, 1e-3, 1e-7, 1e-9):  # from anywhere to nearly gimbal lock
        for roll, pitch, yaw in random.uniform(-1, 1, (500, 3)):
            for middle in (math.pi / 2, -math.pi / 2):
                rotation = rotation_from_rpy(roll * math.pi, middle + pitch * scale, yaw * math.pi)
                again = rotation_from_rpy(*rpy_from_rotation(rotation))
                np.testing.assert_allclose(again, rotation, atol=1.5e-15)


@pytest.mark.parametrize("rotation", QUARTER_TURNS)
def test_rpy_of_quarter_turns(rotation: np.ndarray):
    angles = rpy_from_rotation(rotation)
    assert all(angle in (-math.pi, -math.pi / 2, 0, math.pi / 2, math.pi) for angle in angles)
    assert (rotation_from_rpy(*angles) == rotation).all()


# Writing


def assert_same(a: Description, b: Description):
    assert (a.name, a.gravity, a.floating) == (b.name, b.gravity, b.floating)
    assert [link.name for link in a.links] == [link.name for link in b.links]
    for ours, theirs in zip(a.links, b.links, strict=True):
        if ours.inertia is None or theirs.inertia is None:
            assert ours.inertia is theirs.inertia
            continue
        assert ours.inertia.mass == theirs.inertia.mass
        assert (ours.inertia.center == theirs.inertia.center).all()
        assert (ours.inertia.central == theirs.inertia.central).all()
    exact = ["name", "kind", "parent", "child", "lower", "upper", "velocity_limit", "effort_limit"]
    exact += ["coulomb", "viscous", "stiffness", "rest", "mimic", "rotor_inertia"]
    for ours, theirs in zip(a.joints, b.joints, strict=True):
        assert [getattr(ours, name) for name in exact] == [getattr(theirs, name) for name in exact]
        assert (ours.axis == theirs.axis).all()
        assert (ours.origin.translation == theirs.origin.translation).all()
        np.testing.assert_allclose(ours.origin.rotation, theirs.origin.rotation, rtol=0, atol=1e-15)


def test_there_are_robots():
    assert len(LOADED) > 60


@pytest.mark.parametrize("path", LOADED, ids=name_of)
def test_real_robots(path: Path):
    """Each loads, and what is written reads back the same here and gives Pinocchio the same model."""
    d = read_urdf(path.read_bytes(), path.name)
    assert [finding for finding in check(d) if finding.level == "error"] == []
    text = write_urdf(d)
    assert_same(d, read_urdf(text))

    original, ours = buildModelFromUrdf(str(path)), buildModelFromXML(text)
    assert list(ours.names) == list(original.names)
    for index in range(original.njoints):
        assert ours.jointPlacements[index].isApprox(original.jointPlacements[index], 1e-10)
        assert ours.inertias[index].isApprox(original.inertias[index], 1e-10)
    np.testing.assert_allclose(ours.lowerPositionLimit, original.lowerPositionLimit)


def test_empty_robot_is_refused():
    (path,) = set(ROBOTS) - set(LOADED)
    (error,) = [finding for finding in check(read_urdf(path.read_bytes())) if finding.level == "error"]
    assert "no links" in error.message


def body(mass: float = 1.0) -> LinkInertia:
    return LinkInertia(mass, np.array([0.1, 0.2, 1 / 3]), np.diag([0.1, 0.2, 0.25]))


def test_round_trip_of_everything():
    joint = JointDescription(
        "j<&\">'", "revolute", "a", "b", Placement(QUARTER_TURNS[7], np.array([1 / 3, 1e-300, -0.1])), np.ones(3) / 3,
        lower=-math.inf, upper=0.1, rotor_inertia=1 / 3, coulomb=0.1, viscous=0.2, stiffness=2 / 3, rest=0.7,
    )  # fmt: skip
    follower = JointDescription("k", "continuous", "b", "world", mimic=Mimic(joint.name, 1 / 3, -0.1))
    links = (Link("a", body()), Link("b", body(1 / 3)), Link("world", body()))
    frames = {"tool": ("world", Placement(QUARTER_TURNS[3], np.array([1.0, 2.0, 3.0])))}
    d = Description("robot", links, (joint, follower), gravity=(0.0, 1.62, 0.0), floating=True, frames=frames)
    again = read_urdf(write_urdf(d))
    assert again.findings == ()
    assert again.links[-1].name == "tool" and again.joints[-1].child == "tool"
    assert (again.joints[-1].origin.rotation == QUARTER_TURNS[3]).all()
    assert_same(d, replace(again, links=again.links[:-1], joints=again.joints[:-1]))


def test_random_rotations_round_trip():
    random = np.random.default_rng(2)
    links = tuple(Link(f"l{index}", body()) for index in range(201))
    joints = tuple(
        JointDescription(
            f"j{index}",
            "prismatic",
            f"l{index}",
            f"l{index + 1}",
            Placement(rotation_from_rpy(*random.uniform(-4, 4, 3)), random.normal(size=3)),
            random.normal(size=3),
        )
        for index in range(200)
    )
    d = Description("chain", links, joints)
    assert_same(d, read_urdf(write_urdf(d)))


@pytest.mark.parametrize("name", ["", "a\x01", "\0", "\ud800", "\ufffe", "a\nb", "n" * 501])
def test_writer_refuses_names_that_xml_cannot_hold(name: str):
    links = Link("base"), Link(name, LinkInertia(1.0, np.zeros(3), np.eye(3)))
    refusal = "an empty name|cannot be printed|501 characters, more than 500"
    with pytest.raises((UnsupportedError, ModelError), match=refusal) as caught:
        write_urdf(Description("r", links, (JointDescription("j", "continuous", "base", name),)))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", ['"<&>"', " a b ", "é😀", "n" * 500])
def test_odd_names_round_trip(name: str):
    links = Link("base"), Link(name, LinkInertia(1.0, np.zeros(3), np.eye(3)))
    text = write_urdf(Description(name, links, (JointDescription(name, "continuous", "base", name),)))
    d = read_urdf(text)
    assert (d.name, d.links[1].name, d.joints[0].name, d.joints[0].child) == (name,) * 4


def test_writer_refuses_what_is_wrong():
    with pytest.raises(ModelError, match="no links"):
        write_urdf(Description("empty", (), ()))


@pytest.mark.parametrize("normal", ["0 0 1", "0.3 -1 0.4"])
def test_planar_and_floating_joints_are_written(normal: str):
    d = read_urdf(mixed_urdf(normal))
    again = read_urdf(write_urdf(d))
    assert again.findings == ()
    assert_same(d, again)


@pytest.mark.parametrize("kind", ["helical", "universal", "cylindrical", "spherical"])
def test_kinds_that_urdf_cannot_say(kind: str):
    joint = JointDescription("j", kind, "a", "b", pitch=0.1 if kind == "helical" else 0.0)
    with pytest.raises(UnsupportedError, match=f"joint 'j': URDF has no {kind} joints") as caught:
        write_urdf(Description("r", (Link("a"), Link("b", body())), (joint,)))
    assert "fix: write YAML, or replace it by several joints" in str(caught.value)
