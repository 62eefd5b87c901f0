"""Parallel robots in the YAML format: what platform, legs and modules are read as, and the bundled ones."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.errors import ModelError
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.io.rpy import rotation_from_quaternion
from linkwork.model.description import Description, Mimic, Placement
from linkwork.model.placement import ModifiedParameters
from linkwork.model.rotations import rotation_from_rpy
from linkwork.model.validate import check

BUNDLED = Path(linkwork.__file__).parent / "robots"
ROBOTS = {"gough-stewart": (19, 6, 6), "delta": (12, 3, 3), "3rpr": (9, 3, 3), "hybrid-3rpr": (18, 6, 6)}

LEG = """
leg:
  joints: [{name: turn, link: crank, r: 0.1}, {name: slide, link: rod, sigma: 1, alpha: pi/2}]
  links: [{link: crank, M: 1, ZZ: 0.1}, {link: rod, M: 2, MX: 0.2, XX: 0.3, YY: 0.3, ZZ: 0.1, source: book}]
  drives: [{joint: turn, role: passive, Fv: 0.1}, {joint: slide, Ia: 3}]
  home: {turn: 0.2, slide: 10 deg}
  closure: spherical
  tip: {r: 0.05}
"""
LEGS = """
legs:
  - {name: left, base: {gamma: 30 deg, d: 0.5}, platform: {xyz: [0.1, 0, 0]}}
  - {base: {xyz: [0, 1, 0], rpy: [0, 0, pi]}, platform: {gamma: pi/2, d: 0.1}, home: {slide: 0.7}}
"""
PLATFORM = "platform: {freedoms: planar, M: 5, center: [0.1, 0, 0], central: [1, 1, 1], source: book}\n"
ROBOT = "name: robot\nsources: {book: title}\nsource: illustrative\n" + PLATFORM + LEG + LEGS


def placed(robot: Description, home: bool = True) -> dict[str, Placement]:
    """Where the links are at the home position, by Rodrigues' formula."""
    at, pending = {robot.root: Placement()}, list(robot.joints)
    while pending:
        joint = pending.pop(0)
        if joint.parent not in at:
            pending.append(joint)
            continue
        q, moved = robot.home.get(joint.name, 0.0) if home else 0.0, Placement()
        x, y, z = joint.axis / np.linalg.norm(joint.axis)
        if joint.kind == "floating":
            *place, x, y, z, w = robot.home.get(joint.name, (0, 0, 0, 0, 0, 0, 1))
            moved = Placement(rotation_from_quaternion(x, y, z, w), np.array(place))
        elif joint.kind == "prismatic":
            moved = Placement(np.eye(3), q * np.array([x, y, z]))
        elif joint.kind in ("revolute", "continuous"):
            K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            moved = Placement(np.eye(3) + math.sin(q) * K + (1 - math.cos(q)) * K @ K)
        at[joint.child] = at[joint.parent] @ joint.origin @ moved
    return at


def close(a: Placement, b: Placement, tolerance: float = 1e-15) -> None:
    np.testing.assert_allclose(a.rotation, b.rotation, rtol=0, atol=tolerance)
    np.testing.assert_allclose(a.translation, b.translation, rtol=0, atol=tolerance)


# --- reading


def test_platform_and_legs_are_a_tree_with_loops():
    robot = read_mdh(ROBOT)
    assert [(joint.name, joint.kind, joint.parent, joint.child, joint.role) for joint in robot.joints] == [
        ("x", "prismatic", "base", "platform_x", "passive"),
        ("y", "prismatic", "platform_x", "platform_y", "passive"),
        ("angle", "continuous", "platform_y", "platform", "passive"),
        ("left_turn", "continuous", "base", "left_crank", "passive"),
        ("left_slide", "prismatic", "left_crank", "left_rod", "active"),
        ("leg2_turn", "continuous", "base", "leg2_crank", "passive"),
        ("leg2_slide", "prismatic", "leg2_crank", "leg2_rod", "active"),
    ]
    assert robot.independent == ("x", "y", "angle")
    joints = {joint.name: joint for joint in robot.joints}
    assert (joints["leg2_turn"].viscous, joints["leg2_slide"].rotor_inertia) == (0.1, 3)
    close(joints["left_turn"].origin, ModifiedParameters(gamma=math.radians(30), d=0.5, r=0.1).placement())
    close(joints["leg2_turn"].origin, Placement(np.diag([-1.0, -1, 1]), np.array([0, 1, 0.1])))
    close(joints["leg2_slide"].origin, ModifiedParameters(alpha=math.pi / 2).placement())

    left, right = robot.constraints
    assert (left.name, left.kind.name, left.first[0], left.second[0]) == ("left", "spherical", "left_rod", "platform")
    assert (right.name, right.first[0]) == ("leg2", "leg2_rod")
    assert left.first[1].translation.tolist() == [0, 0, 0.05] and left.second[1].translation.tolist() == [0.1, 0, 0]
    assert right.second[1].translation.tolist() == [0, 0.1, 0]
    assert robot.home == {
        "left_turn": 0.2,
        "left_slide": math.radians(10),
        "leg2_turn": 0.2,
        "leg2_slide": 0.7,
    }
    inertia = {link.name: link.inertia for link in robot.links}
    assert {name: i.mass for name, i in inertia.items() if i} == {
        **{"platform_x": 0, "platform_y": 0, "platform": 5},
        **{"left_crank": 1, "left_rod": 2, "leg2_crank": 1, "leg2_rod": 2},
    }
    assert (robot.sources["links.platform"], robot.sources["links.leg2_rod"]) == ("book", "book")
    tables = ("joints", "links", "drives", "loops", "home")
    assert all(robot.sources[table] == "illustrative" for table in tables)
    assert not [finding for finding in check(robot) if finding.level == "error"]


@pytest.mark.parametrize(
    ("freedoms", "names"),
    [
        ("planar", ("x", "y", "angle")),
        ("translation", ("x", "y", "z")),
        ("spatial", ("x", "y", "z", "yaw", "pitch", "roll")),
        ("floating", ("table_joint",)),
    ],
)
@pytest.mark.parametrize("at", ["{xyz: [0.1, -0.2, 0.3], rpy: [0.4, 0.5, 0.6]}", "{alpha: 0.3, d: 0.4, r: 0.1}", "{}"])
def test_platform_at_home(freedoms, names, at):
    """Whatever of the home pose the joints cannot reach stays in their origins; the freedoms are the base's axes."""
    platform = f"platform: {{link: table, freedoms: {freedoms}, at: {at}}}"
    robot = read_mdh(f"name: robot\nsources: {{book: title}}\n{platform}{LEG}{LEGS}")
    home = {
        "{xyz: [0.1, -0.2, 0.3], rpy: [0.4, 0.5, 0.6]}": Placement(
            rotation_from_rpy(0.4, 0.5, 0.6), np.array([0.1, -0.2, 0.3])
        ),
        "{alpha: 0.3, d: 0.4, r: 0.1}": ModifiedParameters(alpha=0.3, d=0.4, r=0.1).placement(),
        "{}": Placement(),
    }[at]
    close(placed(robot)["table"], home)
    assert robot.independent == names and robot.joints[0].name == names[0]
    joints = {joint.name: joint for joint in robot.joints}
    assert all(joints[name].role == "passive" for name in names)
    if freedoms == "floating":
        assert joints["table_joint"].kind == "floating"
        return
    chain = placed(robot, home=False)
    direction = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1], "angle": [0, 0, 1], "yaw": [0, 0, 1]}
    for name in set(names) & set(direction):
        close(Placement(np.eye(3), chain[joints[name].child].rotation @ joints[name].axis),
              Placement(np.eye(3), np.array(direction[name])))  # fmt: skip


def test_leaders_are_in_the_same_leg():
    robot = read_mdh(ROBOT.replace("Ia: 3", "mimic: {joint: turn, multiplier: 2}"))
    assert [joint.mimic for joint in robot.joints if joint.mimic] == [Mimic("left_turn", 2), Mimic("leg2_turn", 2)]


def test_legs_that_bend():
    """Their modes are independent beside the platform's freedoms; places along them are not."""
    material = "length: 0.2, density: 2700, area: 1e-4, youngs: 7e10, moments: {z: 1e-10}, modes: {y: 2}"
    more = f", {{name: bend, link: end, flexible: {{{material}}}}}, {{name: mid, flexible: {{along: bend, at: 0.5}}}}]"
    robot = read_mdh(ROBOT.replace("alpha: pi/2}]", "alpha: pi/2}" + more))
    assert robot.independent == ("x", "y", "angle", "left_bend", "leg2_bend")


def test_leg_of_its_own():
    leg = """
  - name: other
    base: {d: 1}
    platform: {d: 1}
    joints: [{name: hinge, link: bar}, {name: knee, link: foot, d: 1}, {name: arm, parent: base, r: 2}]
    links: [{link: bar, M: 7}]
    drives: [{joint: hinge, Fv: 9}]
    home: {knee: 1}
    closure: weld
    tip: {link: foot, d: 3}
"""
    robot = read_mdh(ROBOT + leg)
    joints = {joint.name: joint for joint in robot.joints if joint.name.startswith("other_")}
    assert [(j.name, j.parent, j.child, j.viscous) for j in joints.values()] == [
        ("other_hinge", "base", "other_bar", 9),
        ("other_knee", "other_bar", "other_foot", 0),
        ("other_arm", "base", "other_link3", 0),
    ]
    assert joints["other_arm"].origin.translation.tolist() == [1, 0, 2]
    assert {name: q for name, q in robot.home.items() if "other" in name} == {"other_knee": 1}
    loop = robot.constraints[-1]
    assert (loop.name, loop.kind.name, loop.first[0]) == ("other", "weld", "other_foot")
    assert loop.first[1].translation.tolist() == [3, 0, 0]


def test_same_as_written_out():
    """A five-bar, by platform and legs and by hand."""
    short = """
name: five
platform: {freedoms: planar, at: {xyz: [0.2, 0.3, 0]}, M: 1, center: [0, 0, 0], central: [1, 1, 1]}
leg:
  joints: [{name: a, link: one}, {name: b, link: two, d: 0.3}]
  links: [{link: one, M: 1, ZZ: 1}, {link: two, M: 2, ZZ: 2}]
  drives: [{joint: b, role: passive}]
  closure: revolute
  tip: {d: 0.4}
legs:
  - {base: {}, platform: {}}
  - {base: {d: 0.4}, platform: {}}
"""
    long = """
name: five
joints:
  - {name: x, link: platform_x, sigma: 1, gamma: pi/2, alpha: pi/2}
  - {name: y, link: platform_y, sigma: 1, gamma: pi/2, alpha: pi/2}
  - {name: angle, link: platform, gamma: pi/2, alpha: pi/2}
  - {name: leg1_a, link: leg1_one, parent: base}
  - {name: leg1_b, link: leg1_two, d: 0.3}
  - {name: leg2_a, link: leg2_one, parent: base, d: 0.4}
  - {name: leg2_b, link: leg2_two, d: 0.3}
links:
  - {link: platform_x, M: 0}
  - {link: platform_y, M: 0}
  - {link: platform, M: 1, central: [1, 1, 1]}
  - {link: leg1_one, M: 1, ZZ: 1}
  - {link: leg1_two, M: 2, ZZ: 2}
  - {link: leg2_one, M: 1, ZZ: 1}
  - {link: leg2_two, M: 2, ZZ: 2}
drives:
  - {joint: x, role: passive}
  - {joint: y, role: passive}
  - {joint: angle, role: passive}
  - {joint: leg1_b, role: passive}
  - {joint: leg2_b, role: passive}
loops:
  - {name: leg1, kind: revolute, first: {link: leg1_two, d: 0.4}, second: {link: platform}}
  - {name: leg2, kind: revolute, first: {link: leg2_two, d: 0.4}, second: {link: platform}}
home: {x: 0.2, y: 0.3}
independent: [x, y, angle]
"""
    a, b = read_mdh(short), read_mdh(long)
    assert [(j.name, j.kind, j.parent, j.child, j.role) for j in a.joints] == [
        (j.name, j.kind, j.parent, j.child, j.role) for j in b.joints
    ]
    assert (a.home, a.independent) == (b.home, b.independent)
    assert [(loop.name, loop.kind.name, loop.first[0], loop.second[0]) for loop in a.constraints] == [
        (loop.name, loop.kind.name, loop.first[0], loop.second[0]) for loop in b.constraints
    ]
    one, other = placed(a), placed(b)
    for link in ("platform", "leg1_one", "leg1_two", "leg2_one", "leg2_two"):
        close(one[link], other[link])


def test_modules_in_series_and_beside_joints():
    text = f"""
name: hybrid
sources: {{book: title}}
joints:
  - {{name: waist, link: column, r: 1}}
  - {{name: grip, link: finger, parent: lower_platform}}
{PLATFORM}{LEG}{LEGS}
modules:
  - {{name: lower}}
  - {{name: upper, parent: lower_platform, platform: {{link: top, freedoms: spatial}}, leg: {{closure: weld}}}}
  - {{name: wrist, parent: column}}
"""
    robot = read_mdh(text)
    parents = {joint.name: joint.parent for joint in robot.joints}
    assert (parents["lower_x"], parents["upper_x"], parents["wrist_x"]) == ("base", "lower_platform", "column")
    assert (parents["lower_left_turn"], parents["upper_left_turn"]) == ("base", "lower_platform")
    assert (parents["waist"], parents["grip"]) == ("base", "lower_platform")
    assert robot.independent[:4] == ("lower_x", "lower_y", "lower_angle", "upper_x") and len(robot.independent) == 12
    ends = {loop.name: (loop.kind.name, loop.first[0], loop.second[0]) for loop in robot.constraints}
    assert len(ends) == 6
    assert ends["lower_left"] == ("spherical", "lower_left_rod", "lower_platform")
    assert ends["upper_leg2"] == ("weld", "upper_leg2_rod", "upper_top")
    assert robot.home["wrist_leg2_slide"] == 0.7


def test_tables_of_the_file_reach_into_the_legs():
    rest = "drives: [{joint: angle, Fv: 3}]\nhome: {left_turn: 0.5, x: 1}\nindependent: [left_turn]\n"
    frames = "frames: [{name: eye, link: leg2_rod, d: 0.1}]\n"
    robot = read_mdh(ROBOT + rest + frames)
    angle = robot.joints[2]
    assert (angle.viscous, angle.role) == (3, "passive")
    assert (robot.home["left_turn"], robot.home["x"], robot.independent) == (0.5, 1, ("left_turn",))
    assert robot.frames["eye"][0] == "leg2_rod"


def test_floating_platform_comes_first():
    text = ROBOT.replace("planar", "floating") + "joints: [{name: waist, link: column}]\n"
    assert [joint.name for joint in read_mdh(text).joints[:2]] == ["platform_joint", "left_turn"]


# --- mistakes: text, and what the message must say

MISTAKES = {
    "legs without platform": ("name: a" + LEGS, "line 1: 'platform' is missing"),
    "platform without legs": ("name: a\n" + PLATFORM, "'legs' is missing"),
    "no legs": (f"name: a\n{PLATFORM.replace('book', 'illustrative')}legs: []", "line 3: a platform needs legs"),
    "freedoms missing": (ROBOT.replace("freedoms: planar, ", ""), "platform 'platform': 'freedoms' is missing.*planar"),
    "unknown freedoms": (ROBOT.replace("planar", "plane"), "no kind of freedoms 'plane'.*did you mean 'planar'"),
    "unknown key of the platform": (ROBOT.replace("freedoms", "fredoms"), "platform: there is no key 'fredoms'"),
    "unknown key of at": (ROBOT.replace("planar", "planar, at: {x: 1}"), "platform 'platform': there is no key 'x'"),
    "placed twice": (ROBOT.replace("{gamma: 30 deg,", "{xyz: [0, 0, 0],"), "leg 'left': it is placed twice"),
    "unknown key of the leg": (ROBOT.replace("closure", "closing"), "leg: there is no key 'closing'.*'closure'"),
    "unknown key of a leg": (ROBOT.replace("{name: left", "{nane: left"), "legs row 1: there is no key 'nane'"),
    "base missing": (ROBOT.replace("base: {gamma: 30 deg, d: 0.5},", ""), "leg 'left': 'base' is missing"),
    "end missing": (ROBOT.replace(", platform: {xyz: [0.1, 0, 0]}", ""), "leg 'left': 'platform' is missing"),
    "no joints": (
        "name: a\nsource: illustrative\nplatform: {freedoms: planar}\n" + LEGS,
        "'joints' is missing.*in `leg`",
    ),
    "empty joints": (
        re.sub(r"joints: \[.*\]", "joints: []", ROBOT.replace("links:", "#").replace("drives:", "#")),
        "leg 'left': a leg needs joints",
    ),
    "closure missing": (ROBOT.replace("closure: spherical", ""), "leg 'left': 'closure' is missing.*spherical"),
    "unknown closure": (ROBOT.replace("spherical", "ball"), "no kind of closure 'ball'"),
    "bad row of a joint": (ROBOT.replace("sigma: 1", "sigma: 4"), "line 7: joint 'left_slide': there is no sigma '4'"),
    "bad key of a joint": (
        ROBOT.replace("r: 0.1}", "rr: 0.1}"),
        "line 7: leg 'left': joints row 1: there is no key 'rr'",
    ),
    "unknown link": (
        ROBOT.replace("{link: crank", "{link: crenk"),
        "leg 'left': links row 1.*no link 'crenk'.*'crank'",
    ),
    "unknown joint": (ROBOT.replace("{joint: turn, role", "{joint: trn, role"), "drives row 1.*no joint 'trn'.*'turn'"),
    "leader of another leg": (ROBOT.replace("Ia: 3", "mimic: {joint: left_turn}"), "no joint 'left_turn'.*slide"),
    "home of unknown joint": (ROBOT.replace("home: {slide", "home: {slid"), "leg 'leg2': home: there is no key 'slid'"),
    "tip on unknown link": (ROBOT.replace("tip: {r", "tip: {link: x, r"), "leg 'left': there is no link 'x'"),
    "leg twice": (
        ROBOT.replace("- {base", "- {name: left, base"),
        "line 16: leg 'left': the name of the leg is used twice",
    ),
    "two drives": (ROBOT + "drives: [{joint: left_turn, Fv: 1}]", "joint 'left_turn': the joint has two rows"),
    "inertia of a massless link": (ROBOT + "links: [{link: platform_x, M: 1}]", "the link has two rows"),
    "standard": (ROBOT + "convention: standard", "modified convention only"),
    "module without a name": (ROBOT + "modules: [{}]", "modules row 1: 'name' is missing"),
    "module on unknown link": (
        ROBOT + "joints: []\nmodules: [{name: a}, {name: b, parent: a_platfrm}]",
        "module 'b': there is no link 'a_platfrm'.*did you mean 'a_platform'",
    ),
    "module twice": (ROBOT + "modules: [{name: a}, {name: a}]", "platform 'a_platform'.*used twice"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(ModelError) as caught:
        read_mdh(text, "bad.yaml")
    assert str(caught.value).startswith("bad.yaml")
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


# --- the bundled robots


@pytest.mark.parametrize("name", ROBOTS)
class TestBundled:
    def test_is_a_sound_robot(self, name):
        robot = read_mdh((BUNDLED / f"{name}.yaml").read_text())
        joints, freedoms, motors = ROBOTS[name]
        assert len(robot.joints) == joints and robot.name == name and robot.summary
        assert sum(joint.role == "active" for joint in robot.joints) == motors
        kinds = {joint.name: joint.kind for joint in robot.joints}
        assert sum(6 if kinds[joint] == "floating" else 1 for joint in robot.independent) == freedoms
        assert check(robot) == ()

    def test_every_product_of_inertia_is_there(self, name):
        """So that no error in a term goes unseen."""
        for link in read_mdh((BUNDLED / f"{name}.yaml").read_text()).links[1:]:
            assert link.inertia is not None
            if link.inertia.mass:
                assert link.inertia.center.all() and link.inertia.central.all()

    def test_closes_at_home(self, name):
        robot = read_mdh((BUNDLED / f"{name}.yaml").read_text())
        at = placed(robot)
        for loop in robot.constraints:
            first, second = (at[link] @ placement for link, placement in (loop.first, loop.second))
            gap = first.inverse() @ second
            assert np.linalg.norm(gap.translation) < 1e-9, loop.name
            if loop.kind.name == "revolute":
                np.testing.assert_allclose(gap.rotation[:, 2], [0, 0, 1], rtol=0, atol=1e-15)

    def test_is_written_and_read_back(self, name):
        robot = read_mdh((BUNDLED / f"{name}.yaml").read_text())
        text = write_mdh(robot)
        back = read_mdh(text)
        assert write_mdh(back) == text
        assert (back.home, back.independent) == (robot.home, robot.independent)
        assert dict(back.sources) == dict(robot.sources)
        one, other = placed(robot), placed(back)
        for link, placement in one.items():
            close(placement, other[link], 1e-14)
        inertia = {link.name: link.inertia for link in back.links}
        for link in robot.links:
            other_inertia = inertia[link.name]
            assert (link.inertia is None) == (other_inertia is None)
            if link.inertia is not None and other_inertia is not None:
                np.testing.assert_allclose(link.inertia.central, other_inertia.central, rtol=1e-13, atol=1e-16)
                np.testing.assert_allclose(link.inertia.center, other_inertia.center, rtol=1e-13, atol=1e-16)


def test_legs_of_the_gough_stewart_robot():
    """A leg stands upright at zero, and its slider is its length."""
    robot = read_mdh((BUNDLED / "gough-stewart.yaml").read_text())
    at = placed(robot, home=False)
    np.testing.assert_allclose(at["leg3_rod"].rotation[:, 2], [0, 0, 1], atol=1e-15)
    home = placed(robot)
    for leg in range(1, 7):
        length = np.linalg.norm(home[f"leg{leg}_rod"].translation - home[f"leg{leg}_cross"].translation)
        assert length == pytest.approx(robot.home[f"leg{leg}_slide"], rel=1e-14)


def test_arms_of_the_delta_robot_turn_down():
    robot = read_mdh((BUNDLED / "delta.yaml").read_text())
    at = placed(robot)
    for leg in (1, 2, 3):
        assert at[f"leg{leg}_axle"].translation[2] < 0
        assert np.linalg.norm(at[f"leg{leg}_axle"].translation[:2]) > 0.4  # outward
