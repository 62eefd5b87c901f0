"""Loops in MJCF: which equalities become which, on which bodies, and what is said of them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork import inspection
from linkwork.errors import ModelError
from linkwork.io.mjcf import read_mjcf
from linkwork.model.description import Placement
from linkwork.model.validate import check

GEOM = '<geom type="box" size=".1 .2 .3"/>'


def pair(equality: str, *, joint: str = "", more: str = "", option: str = "") -> str:
    """Bodies a and b on hinges j (at qpos0 20 degrees) and k, with sites."""
    return f"""<mujoco model="pair">{option}<worldbody><body name="fixed" pos="0 0 1"><site name="spot"/></body>
    <body name="a" pos=".1 0 0"><joint name="j" axis="0 1 0" ref="20"/>{GEOM}
    <site name="s" pos=".1 .2 .3" euler="0 90 0"/>
    <body name="stuck" pos="0 0 .1">{GEOM}</body></body>
    <body name="b" pos=".4 0 0" euler="0 0 90"><joint name="k" axis="1 0 0" {joint}/>{GEOM}<site name="t"/></body>
    </worldbody><equality>{equality}</equality>{more}</mujoco>"""


def only_loop(text: str):
    (loop,) = read_mjcf(text).constraints
    return loop


def messages(text: str, level: str) -> list[str]:
    return [str(finding) for finding in read_mjcf(text, "m.xml").findings if finding.level == level]


def assert_at(side: tuple[str, Placement], link: str, position, rotation=None):
    assert side[0] == link
    np.testing.assert_allclose(side[1].translation, position, atol=1e-12)
    np.testing.assert_allclose(side[1].rotation, np.eye(3) if rotation is None else rotation, atol=1e-12)


QUARTER = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # about z


def test_connect():
    loop = only_loop(pair('<connect name="pin" body1="a" body2="b" anchor=".1 .2 .3"/>'))
    assert (loop.name, loop.kind.name) == ("pin", "spherical")
    assert_at(loop.first, "a", [0.1, 0.2, 0.3])
    assert_at(loop.second, "b", [0.2, 0.2, 0.3])


def test_connect_to_the_world_and_between_sites():
    loop = only_loop(pair('<connect body1="a" anchor=".1 .2 .3"/>'))
    assert loop.name == "loop1"
    assert_at(loop.second, "world", [0.2, 0.2, 0.3])
    loop = only_loop(pair('<connect site1="s" site2="spot"/>'))
    assert_at(loop.first, "a", [0.1, 0.2, 0.3], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    assert_at(loop.second, "fixed", [0, 0, 0])


def test_weld():
    loop = only_loop(pair('<weld body1="a" body2="b" anchor=".1 0 .2"/>'))
    assert loop.kind.name == "weld"
    assert_at(loop.first, "a", [0.3, 0.1, 0.2], QUARTER)
    assert_at(loop.second, "b", [0.1, 0, 0.2])
    loop = only_loop(pair('<weld body1="a" relpose="1 2 3 1 0 0 0"/>'))
    assert_at(loop.first, "a", [1, 2, 3])
    assert_at(loop.second, "world", [0, 0, 0])
    loop = only_loop(pair('<weld site1="t" site2="s"/>'))
    assert (loop.kind.name, loop.first[0], loop.second[0]) == ("weld", "b", "a")


def test_a_weld_that_holds_no_turns_is_spherical():
    assert only_loop(pair('<weld body1="a" body2="b" torquescale="0"/>')).kind.name == "spherical"


def test_names_of_loops():
    two = '<connect body1="a" body2="b" anchor="0 0 0"/><connect name="loop1" body1="a" body2="b" anchor="0 0 1"/>'
    assert [loop.name for loop in read_mjcf(pair(two)).constraints] == ["loop1_", "loop1"]


LOOP = '<connect body1="a" body2="b" anchor="0 0 0"/>'


def test_loops_are_told_to_be_rigid_once():
    (warning,) = messages(pair(LOOP + LOOP), "warning")
    assert "rigid here" in warning and "solref" in warning and "first of 2 places" in warning


@pytest.mark.parametrize(
    ("equality", "words"),
    [
        ('<connect body1="a" body2="b" anchor="0 0 0" active="false"/>', "it is not active: left out"),
        ('<weld body1="a" body2="stuck"/>', "does not move against each other: left out"),
        ('<weld body1="fixed"/>', "does not move against each other: left out"),
    ],
)
def test_what_is_left_out(equality: str, words: str):
    (warning,) = messages(pair(equality), "warning")
    assert words in warning
    assert read_mjcf(pair(equality)).constraints == ()


MOCAP = '<body name="hand" mocap="true" pos="0 0 1"><site name="grip"/><body name="glove"/></body>'


@pytest.mark.parametrize(
    "equality",
    [
        '<weld body1="hand" body2="b"/>',
        '<weld body1="b" body2="glove"/>',
        '<connect body1="a" body2="hand" anchor="0 0 0"/>',
        '<weld site1="t" site2="grip"/>',
    ],
)
def test_a_mocap_body_holds_nothing(equality: str):
    """The user moves it, so what is tied to it follows softly and keeps its freedoms."""
    text = pair(equality).replace("<worldbody>", "<worldbody>" + MOCAP)
    d = read_mjcf(text, "m.xml")
    assert (d.constraints, d.home, d.floating) == ((), {}, False)
    with pytest.warns(linkwork.ModelWarning, match="it pulls at a mocap body, which the user moves: left out"):
        robot = linkwork.load(d)
    assert robot.joint_names == ("j", "k")
    np.testing.assert_allclose(robot.pose("grip", [0.3, 0.4])[:3, 3], [0, 0, 1])


def test_a_free_body_tied_to_a_mocap_body_floats():
    text = f"""<mujoco><worldbody>{MOCAP}<body name="top" pos="0 0 1"><freejoint name="free"/>{GEOM}</body></worldbody>
    <equality><weld body1="hand" body2="top"/></equality></mujoco>"""
    assert read_mjcf(text).floating


@pytest.mark.parametrize("flag", ["constraint", "equality"])
def test_switched_off(flag: str):
    d = read_mjcf(pair(LOOP, option=f'<option><flag {flag}="disable"/></option>'))
    assert (d.constraints, d.findings, d.home) == ((), (), {})


TENDONS = """<tendon><fixed name="both"><joint joint="j" coef="2"/><joint joint="k" coef="-1"/></fixed>
<fixed name="j"><joint joint="j" coef="2"/></fixed><fixed name="k"><joint joint="k" coef="4"/></fixed>
<fixed name="three"><joint joint="j" coef="1"/><joint joint="k" coef="1"/><joint joint="l" coef="1"/></fixed>
<spatial name="space"><site site="s"/><site site="t"/></spatial></tendon>"""
THIRD = f'<body name="c"><joint name="l"/>{GEOM}</body>'


@pytest.mark.parametrize(
    ("equality", "words"),
    [
        ('<tendon name="e" tendon1="three" tendon2="k" polycoef="0 1 1 0 0"/>', "equality 'e': only joints and fixed"),
        ('<tendon name="e" tendon1="space"/>', "equality 'e': only joints and fixed tendons can be coupled"),
        ('<tendon name="e" tendon1="j" tendon2="k" polycoef="0 1 1 0 0"/>', "equality 'e': only joints and fixed tend"),
    ],
)
def test_couplings_that_are_refused(equality: str, words: str):
    text = pair(equality, more=TENDONS).replace("</worldbody>", THIRD + "</worldbody>")
    (error,) = messages(text, "error")
    assert words in error


def followers(equality: str, more: str = "") -> dict[str, tuple[str, float, float]]:
    text = pair(equality, more=TENDONS + more).replace("</worldbody>", THIRD + "</worldbody>")
    assert messages(text, "error") == []
    found = {joint.name: joint.mimic for joint in read_mjcf(text).joints if joint.kind != "fixed"}
    return {name: (mimic.joint, mimic.multiplier, mimic.offset) for name, mimic in found.items() if mimic}


AT = np.radians(20)  # qpos0 of j


def test_couplings_by_tendons():
    assert followers('<tendon tendon1="both"/>') == {"k": ("j", 2, -2 * AT)}
    motor = '<actuator><motor joint="k"/></actuator>'
    assert followers('<tendon tendon1="both" polycoef=".5 0 0 0 0"/>', motor) == {"j": ("k", 0.5, AT + 0.25)}
    assert followers('<tendon tendon1="j" tendon2="k" polycoef="1 3 0 0 0"/>') == {"j": ("k", 6, AT + 0.5)}


def test_couplings_of_three_joints_are_gears():
    """Unless other equalities, also later ones, leave fewer of them a choice."""

    def gears(equality):
        text = pair(equality, more=TENDONS).replace("</worldbody>", THIRD + "</worldbody>")
        description = read_mjcf(text)
        linkwork.load(description)
        return [(loop.name, loop.kind.name, *loop.kind.values().values()) for loop in description.constraints]

    three = '<tendon tendon1="three" polycoef=".3 0 0 0 0"/>'
    whole = {"j": 1, "k": 1, "l": 1}
    assert gears(three) == [("gear1", "gear", whole, pytest.approx(AT + 0.3))]
    assert gears('<tendon name="e" tendon1="three"/>') == [("e", "gear", whole, pytest.approx(AT))]
    assert gears('<tendon tendon1="three" tendon2="k" polycoef="0 .5 0 0 0"/>') == [
        ("gear1", "gear", {"j": 1, "k": -1, "l": 1}, pytest.approx(AT))
    ]
    follows, held = '<joint joint1="j" joint2="k" polycoef="0 2 0 0 0"/>', '<joint joint1="l"/>'
    assert gears(three + follows) == gears(follows + three) == gears(three + held) == []
    assert followers(three + follows) == {"j": ("k", 2, AT), "l": ("k", -3, pytest.approx(0.3))}


def test_couplings_that_share_joints():
    """Each takes away one freedom; those that say the same again take none."""
    pairs = '<joint joint1="j" joint2="k" polycoef="0 2 0 0 0"/><joint joint1="j" joint2="l" polycoef="0 4 0 0 0"/>'
    assert followers(pairs) == {"j": ("k", 2, pytest.approx(AT)), "l": ("k", 0.5, pytest.approx(0))}
    assert followers(pairs + '<joint joint1="l" joint2="k" polycoef="0 .5 0 0 0"/>') == followers(pairs)
    cycle = '<joint joint1="j" joint2="k"/><joint joint1="k" joint2="j"/>'
    assert followers(cycle) == {"j": ("k", 1, AT)}


def test_what_follows_a_held_joint_is_held_too():
    equality = '<joint joint1="j" joint2="k" polycoef="0 2 0 0 0"/><joint joint1="k" polycoef=".3 0 0 0 0"/>'
    text = pair(equality)
    d = read_mjcf(text)
    assert [joint.kind for joint in d.joints].count("continuous") == 0
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    data.qpos[:] = [AT + 0.6, 0.3]
    mujoco.mj_forward(theirs, data)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12
    np.testing.assert_allclose(linkwork.load(d).pose("s", [])[:3, 3], data.site("s").xpos, atol=1e-12)


def roles(text: str) -> dict[str, str]:
    return {joint.name: joint.role for joint in read_mjcf(text).joints if joint.kind != "fixed"}


def test_roles():
    motor = '<actuator><motor joint="j"/></actuator>'
    assert roles(pair("")) == {"j": "active", "k": "active"}
    assert roles(pair("", more=motor)) == {"j": "active", "k": "active"}  # no loops, no roles
    assert roles(pair(LOOP)) == {"j": "passive", "k": "passive"}
    assert roles(pair(LOOP, more=motor)) == {"j": "active", "k": "passive"}
    assert roles(pair(LOOP, more=motor, joint='stiffness="3"')) == {"j": "active", "k": "elastic"}


def test_roles_of_balls():
    ball = pair(LOOP).replace('name="k" axis="1 0 0"', 'name="k" type="ball"')
    assert roles(ball) == {"j": "passive", "k": "passive"}
    assert roles(ball.replace('type="ball"', 'type="ball" stiffness="3"')) == {"j": "passive", "k": "elastic"}
    motor = '<actuator><motor joint="k" gear="0 1 0"/></actuator></mujoco>'
    assert roles(ball.replace("</mujoco>", motor)) == {"j": "passive", "k": "active"}


def test_roles_of_joints_that_follow():
    follow = '<joint joint1="k" joint2="j"/><connect body1="a" anchor="0 0 0"/>'
    assert roles(pair(follow)) == {"j": "passive", "k": "active"}
    assert roles(pair(follow, more='<actuator><motor joint="k"/></actuator>')) == {"j": "active", "k": "active"}
    d = read_mjcf(pair(follow))
    assert {joint.name for joint in d.joints if joint.mimic} == {"k"} and d.home == {"j": pytest.approx(np.radians(20))}
    assert not [finding for finding in check(d) if finding.level == "error"]


def test_home_is_where_mujoco_compiled_the_model():
    assert read_mjcf(pair(LOOP)).home == {"j": pytest.approx(np.radians(20))}
    assert read_mjcf(pair("")).home == {}


FREE = f"""<mujoco><worldbody>
<body name="leg" pos=".3 0 0"><joint name="hip" axis="0 1 0"/><joint name="swing" axis="1 0 0"/>{GEOM}</body>
<body name="top" pos="0 0 1" euler="0 0 90"><freejoint name="free"/>{GEOM}</body>
</worldbody>%s</mujoco>"""
HOLD = '<equality><connect body1="leg" body2="top" anchor="0 0 1"/></equality>'


def test_a_free_body_that_loops_hold_is_a_platform():
    d = read_mjcf(FREE % HOLD)
    assert not d.floating
    assert [(joint.name, joint.kind) for joint in d.joints] == [
        ("hip", "continuous"),
        ("swing", "continuous"),
        ("free", "floating"),
    ]
    assert (d.joints[2].parent, d.joints[2].child, d.joints[2].role) == ("world", "top", "passive")
    assert_at(("top", d.joints[2].origin), "top", [0, 0, 0])
    np.testing.assert_allclose(d.home["free"], [0, 0, 1, 0, 0, 0.5**0.5, 0.5**0.5])
    assert not [finding for finding in check(d) if finding.level == "error"]
    loose = read_mjcf(FREE % "")
    assert [joint.role for joint in loose.joints] == ["active", "active", "passive"] and loose.home == d.home


@pytest.mark.parametrize(("equality", "freedoms"), [("connect", 6), ("weld", 3)])
def test_an_arm_that_holds_a_free_body(equality: str, freedoms: int):
    """Its motors stay independent, whether what it holds can turn in its hand or not."""
    arm = (FREE % HOLD).replace("connect", equality)
    arm = arm.replace(' anchor="0 0 1"', "" if equality == "weld" else ' anchor="0 0 1"')
    arm = arm.replace("</worldbody>", f'<body name="cup" pos="1 0 0"><freejoint/>{GEOM}</body></worldbody>')
    motors = '<actuator><motor joint="hip"/><motor joint="slide"/></actuator></mujoco>'
    arm = arm.replace('<joint name="swing"', '<joint name="slide" type="slide"/><joint name="swing"')
    robot = linkwork.load(read_mjcf(arm.replace("</mujoco>", motors)))
    assert robot.nv == freedoms + 6 and {"hip", "slide"} <= {*robot.joint_names}
    assert [name for name, role in robot.roles.items() if role == "active"] == ["hip", "slide"]


def test_a_free_body_held_to_the_world():
    alone = f"""<mujoco><worldbody><body name="top" pos="0 0 1"><freejoint name="free"/>{GEOM}</body></worldbody>
    <equality>%s</equality></mujoco>"""
    d = read_mjcf(alone % '<connect body1="top" anchor="0 0 0"/>')
    assert not d.floating and d.joints[0].kind == "floating" and [link.name for link in d.links] == ["world", "top"]
    assert read_mjcf(alone % "").floating


def test_loops_on_a_floating_base():
    d = read_mjcf(f"""<mujoco><worldbody><body name="trunk"><freejoint/>{GEOM}
    <body name="a"><joint name="j" axis="0 1 0"/>{GEOM}</body>
    <body name="b" pos=".3 0 0"><joint axis="0 1 0"/>{GEOM}</body>
    </body></worldbody>{HOLD.replace("leg", "a").replace("top", "b")}</mujoco>""")
    assert d.floating and len(d.constraints) == 1 and [link.name for link in d.links] == ["trunk", "a", "b"]


# Keyframes

FLAT = """<mujoco model="flat"><worldbody>
  <body name="crank"><joint name="crank" axis="0 1 0"/>{bar}
    <body name="rod" pos=".3 0 0">{rod}<geom type="capsule" size=".02" fromto="0 0 0 .4 0 0"/></body></body>
  <body name="rocker" pos=".4 0 0"><joint name="rocker" axis="0 1 0"/>{bar}</body></worldbody>
  <equality><connect body1="rod" body2="rocker" anchor=".4 0 0"/></equality>
  <actuator><motor joint="crank"/></actuator><keyframe>{keys}</keyframe></mujoco>"""
BAR = '<geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>'
HINGE = '<joint name="rod" axis="0 1 0"/>'
KEYS = '<key qpos="0 0 0"/><key qpos="1"/><key name="up" qpos="-1 1 -1"/>'


def flat(keys: str = KEYS, rod: str = HINGE) -> str:
    """A parallelogram whose bars lie in a line at MuJoCo's initial position, where it may fold in two ways."""
    return FLAT.format(bar=BAR, rod=rod, keys=keys)


def test_a_keyframe_is_home_where_the_initial_position_is_singular(tmp_path):
    (path := tmp_path / "flat.xml").write_text(flat())
    with pytest.warns(
        linkwork.ModelWarning,
        match=r"home is its keyframe 'up', since its initial position is not suitable: .*singular",
    ):
        robot = linkwork.load(path)
    np.testing.assert_allclose(robot.home, (-1, 1, -1), atol=1e-12)
    assert "home is its keyframe 'up'" in inspection.check(path)["findings"][-1]["message"]


def test_quaternions_of_keyframes_are_ours(tmp_path):
    turn = "0.8775825618903728 0 0.479425538604203 0"  # by one about y, w first
    (path := tmp_path / "flat.xml").write_text(flat(f'<key qpos="-1 {turn} -1"/>', '<joint name="rod" type="ball"/>'))
    with pytest.warns(linkwork.ModelWarning, match="home is its keyframe 'key1'"):
        robot = linkwork.load(path)
    np.testing.assert_allclose(robot.home, (-1, 0, 0.479425538604203, 0, 0.8775825618903728, -1), atol=1e-12)


@pytest.mark.parametrize("keys", ["", '<key qpos="0 0 0"/>', '<key qpos="1 2"/>', '<key name="no positions"/>'])
def test_without_a_keyframe_that_will_do_the_first_error_stays(keys):
    with pytest.raises(ModelError, match=r"singular(.*\n)*.*fix: choose another home position .*side file"):
        linkwork.load(read_mjcf(flat(keys), "flat.xml"))


def test_a_home_of_the_side_file_goes_before_keyframes(tmp_path):
    (tmp_path / "flat.xml").write_text(flat())
    (tmp_path / "home.yaml").write_text("home: {crank: -0.5, rod: 0.5, rocker: -0.5}")
    robot = linkwork.load(tmp_path / "flat.xml", structure=tmp_path / "home.yaml")
    np.testing.assert_allclose(robot.home, (-0.5, 0.5, -0.5), atol=1e-12)
    (tmp_path / "home.yaml").write_text("home: {crank: 0}")
    with pytest.raises(ModelError, match="singular"):
        linkwork.load(tmp_path / "flat.xml", structure=tmp_path / "home.yaml")
