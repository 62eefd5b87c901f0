"""MJCF: what is read, which files are opened, what is refused and how. The numbers are in agreement/test_mjcf.py."""

from __future__ import annotations

import math
import sys

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError, ModelError
from linkwork.io.mjcf import read_mjcf
from linkwork.model.validate import check

GEOM = '<geom type="box" size=".1 .2 .3"/>'


def arm(*, joint: str = '<joint name="j"/>', body: str = GEOM, world: str = "", more: str = "") -> str:
    return f"""<mujoco model="arm">{more}
<worldbody>{world}
<body name="a">{joint}{body}</body>
</worldbody>
</mujoco>"""


def findings(text: str, level: str, folder=None) -> list[str]:
    return [str(finding) for finding in read_mjcf(text, "arm.xml", folder).findings if finding.level == level]


def only_joint(text: str):
    (joint,) = read_mjcf(text).joints
    return joint


# What is read


def test_names_limits_and_terms():
    d = read_mjcf(
        arm(
            joint='<joint name="j" axis="0 2 0" range="-90 45" damping="1" frictionloss="2" armature="3" stiffness="4"'
            ' springref="90"/>',
            world='<site name="a" pos="1 2 3"/><site/>',
        )
    )
    assert (d.name, d.floating, d.gravity, d.findings) == ("arm", False, (0, 0, -9.81), ())
    assert [link.name for link in d.links] == ["world", "a"]
    (joint,) = d.joints
    assert (joint.name, joint.kind, joint.parent, joint.child) == ("j", "revolute", "world", "a")
    assert (joint.lower, joint.upper) == (-math.pi / 2, math.pi / 4)
    assert joint.axis.tolist() == [0, 1, 0]
    terms = (joint.viscous, joint.coulomb, joint.rotor_inertia, joint.stiffness, joint.rest)
    assert terms == (1, 2, 3, 4, math.pi / 2)
    link, placement = d.frames["a_site"]  # sites and bodies have names of their own in MuJoCo, frames have not
    assert (link, placement.translation.tolist(), len(d.frames)) == ("world", [1, 2, 3], 1)
    assert [f for f in check(d) if f.level == "error"] == []


def test_kinds_and_names_of_unnamed_things():
    d = read_mjcf(
        f"""<mujoco><worldbody><body><joint/><joint type="slide"/>{GEOM}<body>{GEOM}</body>
        <body name="body1_joint"><joint name="body1_joint_"/>{GEOM}</body></body></worldbody></mujoco>""",
        "folder/thing.xml",
    )
    assert d.name == "thing"
    assert [j.kind for j in d.joints] == ["continuous", "prismatic", "fixed", "continuous"]
    assert [j.name for j in d.joints] == ["body1_joint", "body1_joint__", "body2_fixed", "body1_joint_"]
    assert [link.name for link in d.links] == ["world", "body1_body1_joint", "body1", "body2", "body1_joint"]


def test_a_joint_beside_the_origin_gets_a_massless_link_at_its_axis():
    d = read_mjcf(arm(joint='<joint name="j" axis="0 0 1" pos=".1 0 .7"/>'))
    assert [(j.name, j.kind, j.parent, j.child) for j in d.joints] == [
        ("j", "continuous", "world", "a_j"),
        ("a_fixed", "fixed", "a_j", "a"),
    ]
    assert d.joints[0].origin.translation.tolist() == [0.1, 0, 0]
    assert d.joints[1].origin.translation.tolist() == [-0.1, 0, 0]
    assert d.links[1].inertia is not None and d.links[1].inertia.mass == 0
    assert check(d) == ()


@pytest.mark.parametrize("joint", ['<joint axis="1 2 3" pos=".1 .2 .3"/>', '<joint type="slide" pos="1 2 3"/>'])
def test_a_joint_whose_place_makes_no_difference_needs_no_link(joint):
    assert only_joint(arm(joint=joint)).child == "a"


def test_a_free_joint_makes_a_floating_base():
    d = read_mjcf(arm(joint="<freejoint/>", world=f'<body name="table"><site name="spot"/>{GEOM}</body>'), "arm.xml")
    assert d.floating and not d.joints and not d.frames
    assert [link.name for link in d.links] == ["a"]
    assert [str(f) for f in d.findings] == [
        "warning: arm.xml: body 'table': it is fixed to the world of a floating base: left out"
    ]


def test_terms_of_a_free_joint():
    """MuJoCo has them in axes of the world; only damping is the same in those of the body. A floating base has none."""
    joint = '<joint name="j" type="free" damping="1" armature="2" frictionloss="3" stiffness="4"/>'
    text = arm(joint=joint)
    told = [f"arm.xml: joint 'j': {term} of a free joint is left out" for term in ("armature", "friction", "stiffness")]
    use = "\n  fix: use <freejoint/>, which takes no defaults"
    damping = "arm.xml: joint 'j': damping of a free joint is left out"
    assert findings(text, "warning") == [f"warning: {words}{use}" for words in (*told, damping)]
    text = arm(joint=joint, world=f"<body><joint/>{GEOM}</body>")
    assert findings(text, "warning") == [f"warning: {words}{use}" for words in told]
    free = read_mjcf(text).joints[1]
    terms = (free.viscous, free.rotor_inertia, free.coulomb, free.stiffness, free.role)
    assert (free.name, *terms) == ("j", 1, 0, 0, 0, "passive")


def test_free_bodies_beside_others_are_joints_on_the_world():
    """Where they are counts from the world, and at home they are where the file has them. So are the other joints."""
    table = f'<body name="table" pos="0 0 1"><joint name="turn" ref="90"/>{GEOM}</body>'
    cup = f'<body name="cup" pos="1 2 3" euler="0 0 90"><freejoint name="cup"/>{GEOM}</body>'
    d = read_mjcf(arm(joint="<freejoint/>", world=table + cup), "arm.xml")
    assert not d.floating and not d.findings
    assert [(joint.name, joint.kind, joint.parent, joint.child) for joint in d.joints] == [
        ("turn", "continuous", "world", "table"),
        ("cup", "floating", "world", "cup"),
        ("a_joint", "floating", "world", "a"),
    ]
    assert not d.joints[1].origin.translation.any() and (d.joints[1].origin.rotation == np.eye(3)).all()
    assert d.home["cup"] == pytest.approx((1, 2, 3, 0, 0, math.sqrt(0.5), math.sqrt(0.5)))
    assert (d.home["turn"], d.home["a_joint"]) == (pytest.approx(math.pi / 2), (0, 0, 0, 0, 0, 0, 1))
    assert check(d) == ()
    assert linkwork.load(d).coordinates.names[:3] == ("turn", "cup.x", "cup.y")


def test_a_ball_joint():
    d = read_mjcf(
        arm(
            joint='<joint name="j" type="ball" pos=".1 .2 .3" damping="1" frictionloss="2" armature="3" stiffness="4"/>'
        )
    )
    joint, fixed = d.joints
    assert (joint.name, joint.kind, joint.child, fixed.parent) == ("j", "spherical", "a_j", "a_j")
    assert (joint.origin.translation.tolist(), fixed.origin.translation.tolist()) == (
        [0.1, 0.2, 0.3],
        [-0.1, -0.2, -0.3],
    )
    terms = (joint.viscous, joint.coulomb, joint.rotor_inertia, joint.stiffness, joint.rest, joint.role)
    assert terms == (1, 2, 3, 4, 0, "active")
    assert (d.findings, d.home, check(d)) == ((), {}, ())
    assert only_joint(arm(joint='<joint type="ball"/>')).child == "a"


@pytest.mark.parametrize(
    ("actuators", "limit"),
    [
        ("", math.inf),
        ('<motor joint="j" gear="-3"/>', math.inf),
        ('<motor joint="j" gear="-3" ctrlrange="-2 1"/>', 6),
        ('<position joint="j" ctrlrange="-1 1"/>', math.inf),
        ('<position joint="j" gear="2" forcerange="-5 7"/>', 14),
        ('<motor joint="j" ctrlrange="0 1" gear="5"/><motor joint="j" ctrlrange="-1 0" gear="4"/>', 5),
        ('<motor joint="j" forcerange="-5 5"/><motor joint="j"/>', math.inf),
        ('<motor joint="j" gear="-1" forcerange="0 5"/><motor joint="j" forcerange="0 3"/>', 5),
        ('<motor joint="j" ctrlrange="-3 3"/>', 3),
    ],
)
def test_effort_limits(actuators, limit):
    more = f"<actuator>{actuators}</actuator>"
    assert only_joint(arm(more=more)).effort_limit == limit
    assert only_joint(arm(more=more, joint='<joint name="j" actuatorfrcrange="-4 4"/>')).effort_limit == min(limit, 4)


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="newer versions of MuJoCo")
def test_armature_and_damping_of_an_actuator_act_on_its_joint():
    more = '<actuator><motor joint="j" gear="3" armature=".1" damping="2"/></actuator>'
    joint = only_joint(arm(joint='<joint name="j" armature="1" damping="1"/>', more=more))
    assert (joint.rotor_inertia, joint.viscous) == (pytest.approx(1.9), 19)


def test_switched_off_parts():
    flags = '<option><flag gravity="disable" constraint="disable"/></option>'
    more = flags + '<equality><joint joint1="j" polycoef="0 0 1 0 0"/></equality>'
    d = read_mjcf(arm(joint='<joint name="j" frictionloss="1"/>', more=more))
    assert (d.gravity, d.joints[0].coulomb, d.findings) == ((0, 0, 0), 0, ())


def test_passive_forces_switched_off():
    flag = (
        'spring="disable" damper="disable"' if hasattr(mujoco.mjtDisableBit, "mjDSBL_SPRING") else 'passive="disable"'
    )
    text = arm(
        joint='<joint name="j" stiffness="1" springref="9" damping="1"/>', more=f"<option><flag {flag}/></option>"
    )
    joint = only_joint(text)
    assert (joint.stiffness, joint.rest, joint.viscous) == (0, 0, 0)


def test_chains_are_loaded_without_complaint():
    joints = "".join(f'<joint name="{axis}" axis="{axis}" pos="0 0 .1"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    d = read_mjcf(arm(joint=joints))
    assert check(d) == ()
    assert linkwork.load(d).joint_names == ("1 0 0", "0 1 0", "0 0 1")


# What is told

BALL, FREE = '<joint name="j" type="ball"/>', '<freejoint name="j"/>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n<?xml version='1.0'?>" + arm(), "line 1: there is white space before <?xml ...?>"),
        (arm(more='<option density="1.2"/>'), "<option>: forces of the surrounding fluid"),
        (arm(body=f'{GEOM}</body><body name="m" mocap="true">'), "body 'm': a mocap body is read as fixed"),
        (arm().replace('name="a"', 'name="a" gravcomp="1"'), "body 'a': gravity compensation is ignored"),
        (arm(more='<tendon><fixed name="t" range="0 1"><joint joint="j" coef="1"/></fixed></tendon>'),
         "tendon 't': its range is left out"),
        (arm(more='<actuator><adhesion name="m" body="a" ctrlrange="0 1"/></actuator>'),
         "actuator 'm': it drives no single joint"),
        (arm(more='<actuator><general joint="j" dyntype="filter"/></actuator>'), "unnamed actuator: the dynamics of"),
        (arm(joint=BALL, more='<actuator><motor name="m" joint="j" gear="0 1 0"/></actuator>'),
         "actuator 'm': it drives a ball joint about one axis; linkwork drives all three axes, without force limits"),
        (arm(joint=FREE, more='<actuator><motor name="m" joint="j"/></actuator>'), "'m': it pushes a free body"),
        (arm(joint=BALL.replace("/>", ' range="0 60"/>')), "joint 'j': its range is left out: only joints with one"),
        (arm(more='<equality><joint joint1="j" active="false"/></equality>'), "it is not active"),
        (arm(more='<equality><joint joint1="j"/></equality>'), "joint 'j': an equality holds it in place"),
        (arm(body='<geom name="g" size=".1"/></body><body><geom name="h" size=".1"/>',
             more='<contact><pair geom1="g" geom2="h"/></contact>'), "<contact>: contact pairs are left out"),
    ],
)  # fmt: skip
def test_warnings(text, words):
    assert words in "\n".join(findings(text, "warning"))
    assert findings(text, "error") == []


def test_equal_warnings_are_told_once():
    d = read_mjcf(arm(body=f'{GEOM}<body name="b" gravcomp="1">{GEOM}</body>').replace('"a"', '"a" gravcomp="1"'))
    assert [f.message for f in d.findings] == [
        "gravity compensation is ignored: gravity acts in full (the first of 2 places)"
    ]


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "jnt_springyield"), reason="newer versions of MuJoCo")
def test_warnings_of_mujoco_itself():
    assert (
        "MuJoCo warns: compiler attribute 'settotalmass'"
        in findings(arm(more='<compiler settotalmass="3"/>'), "warning")[0]
    )


def test_mujoco_writes_no_log(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    d = read_mjcf(arm(joint='<joint name="j" damping="nan"/>'))
    assert [str(finding) for finding in d.findings if "NaN" in finding.message]
    assert "its viscous friction is not finite" in "".join(map(str, check(d)))
    assert not list(tmp_path.iterdir()) and capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (arm(body='<geom size="inf"/>'), "link 'a': its inertia is not finite"),
        (arm(joint='<joint name="j" ref="inf"/>'), "joint 'j': its origin is not finite"),
    ],
)
def test_infinite_numbers_are_told_of(text, words):
    assert words in "".join(map(str, check(read_mjcf(text))))


# What is refused, as findings


SPACE = arm(
    world='<site name="s"/><geom name="bone" size=".05" pos="0 0 2"/>',
    body=GEOM + '<site name="r"/>',
    more='<tendon><spatial %s><site site="s"/>%s<site site="r"/></spatial></tendon>',
)
TWO = arm(body=f'{GEOM}<body name="b"><joint name="k"/>{GEOM}</body>', more="%s")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TWO % '<equality><joint joint1="j" joint2="k" polycoef="0 1 1 0 0"/></equality>', "and only linearly"),
        (TWO % '<equality><joint joint1="j"/><joint joint1="j" polycoef="1 0 0 0 0"/></equality>', "contradict"),
        (SPACE % ('stiffness="1"', '<geom geom="bone" sidesite="r"/>'),
         "unnamed tendon: it is wrapped around geom 'bone'; only straight lines are supported"),
        (SPACE % ('stiffness="-2"', ""), "unnamed tendon: its stiffness is -2"),
        (SPACE % ('frictionloss="1"', ""), "unnamed tendon: friction and armature of a tendon through sites are not"),
        (SPACE % ('damping="1" armature="1"', ""), "friction and armature of a tendon through sites are not supported"),
    ],
)  # fmt: skip
def test_errors(text, words):
    assert words in "\n".join(findings(text, "error"))
    with pytest.raises(ModelError, match="cannot be loaded"):
        linkwork.load(read_mjcf(text))


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "jnt_springyield"), reason="newer versions of MuJoCo")
@pytest.mark.parametrize(
    ("term", "words"),
    [
        ('stiffness="1 2 3"', "its spring is not linear"),
        ('damping="1 2 3"', "its damping is not linear"),
        ('stiffness="1" springyield=".1"', "its spring yields"),
    ],
)
def test_terms_that_are_not_linear(term, words):
    assert words in findings(arm(joint=f'<joint name="j" {term}/>'), "error")[0]
    tendon = f'<tendon><fixed {term}><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed></tendon>'
    assert "its spring or damping is not linear" in findings(TWO % tendon, "error")[0]


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="newer versions of MuJoCo")
@pytest.mark.parametrize(("joint", "words"), [(BALL, "a ball joint about one axis"), (FREE, "a free body along one")])
def test_armature_of_an_actuator_of_one_freedom_among_several(joint, words):
    text = arm(joint=joint, more='<actuator><motor name="m" joint="j" damping="1"/></actuator>')
    assert f"actuator 'm': its armature and damping act on {words}" in findings(text, "error")[0]


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="newer versions of MuJoCo")
def test_armature_of_an_actuator_that_drives_no_single_joint():
    text = SPACE.replace("</tendon>", '</tendon><actuator><motor name="m" tendon="t" armature="1"/></actuator>')
    text %= ('name="t"', "")
    assert "actuator 'm': its armature and damping do not act on one joint" in findings(text, "error")[0]


# What is refused at once


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot/>", r"line 1: <robot>: this is not an MJCF file\n  got: <robot>\n  expected: <mujoco>"),
        ("<mujoco>", "not well-formed XML"),
        ("", "not well-formed XML"),
        ('<!DOCTYPE m [<!ENTITY e "1">]><mujoco/>', "document types and entities are refused"),
        (arm(joint="\n\n<joint typ='hinge'/>"), "MuJoCo cannot compile this model: .*typ.* line 5"),
        (arm(joint=BALL, more='<equality><joint name="e" joint1="j"/></equality>'), "only HINGE and SLIDE .*'e'"),
        (arm(joint=BALL, more='<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>'), "joint 'j' in tendon"),
        (arm(more='<equality><connect body1="a" anchor=" "/></equality>'), "MuJoCo cannot compile this model"),
        (arm(joint=BALL + "<joint/>"), "ball followed by rotation in body 'a'"),
        (arm(body=""), "mass and inertia of moving bodies must be larger .*'a'.* line 3"),
        (arm(more='<include file="x.xml"/>'), "cannot be included(.|\n)*fix: give the path of the model"),
        (arm(more='<asset><model name="m" file="m.xml"/></asset>'), "<model> is not supported\n  fix: expand it"),
        (arm(world='<flexcomp name="f" type="grid" count="2 2 2"/>'), "<flexcomp> is not supported"),
        (arm(world='<replicate count="200"><replicate count="200"/></replicate>'), "more than 20000 elements"),
        (arm(world="<replicate/>"), "attribute 'count' is missing"),
        ('<mujoco><body name="a"/></mujoco>', "body 'a': this body is outside <worldbody>"),
        (arm(body='<geom type="mesh" mesh="m"/>', more='<asset><mesh name="m" file="m.obj"/></asset>'),
         r"cannot be opened: a text has no folder with files\n  got: m.obj \(body 'a'\)\n  expected: a folder"),
    ],
)  # fmt: skip
def test_refusals(text, words):
    with pytest.raises(ModelError, match=words):
        read_mjcf(text)


def test_without_mujoco(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(LinkworkError, match=r"not installed\n  fix: pip install 'linkwork\[mjcf\]'"):
        read_mjcf(arm())


# Plugins

INSTANCE = '<plugin plugin="{}"><instance name="p"><config key="kp" value="2"/></instance></plugin>'


@pytest.mark.parametrize("plugin", ["mujoco.pid", "of.somebody"])
@pytest.mark.parametrize(
    ("actuator", "limit"),
    [
        ('<plugin plugin="{}" instance="p" joint="j" actdim="2" forcerange="-3 2"/>', 3.0),
        ('<plugin plugin="{}" joint="j" actdim="1" ctrlrange="-4 4"><config key="kp" value="2"/></plugin>', math.inf),
    ],
)
def test_actuators_whose_law_is_a_plugin(plugin, actuator, limit):
    """What they do is not read, so MuJoCo need not know the plugin: neither its state nor its instances."""
    more = f"<extension>{INSTANCE}</extension><actuator>{actuator}</actuator>".replace("{}", plugin)
    joint = only_joint(arm(more=more))
    assert (joint.role, joint.effort_limit) == ("active", limit)


def test_plugins_of_bodies_stay():
    body = f'{GEOM}<plugin plugin="of.somebody"/>'
    more = '<extension><plugin plugin="of.somebody"/></extension>'
    with pytest.raises(ModelError, match="remove the plugin"):
        read_mjcf(arm(body=body, more=more))
