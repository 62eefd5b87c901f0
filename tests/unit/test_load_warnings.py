"""What ``load`` warns of and ``check`` says too: dynamics other than the file's, mistakes of XML; and other formats."""

from __future__ import annotations

import time
import warnings

import pytest

import linkwork
from linkwork import inspection
from linkwork.io.xml import parse_xml

GEOM = '<geom type="box" size=".1 .2 .3"/>'
HINGE = '<joint name="j" axis="0 1 0"/>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def mjcf(joint: str = HINGE, body: str = "", more: str = "") -> str:
    return f'<mujoco>{more}<worldbody><body name="a" {body}>{joint}{GEOM}</body></worldbody></mujoco>'


def urdf(joint: str = "", link: str = INERTIAL, kind: str = "continuous", more: str = "") -> str:
    return (
        f'<robot name="r"><link name="base">{INERTIAL}</link><link name="arm">{link}</link>'
        f'<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>{joint}</joint>'
        f"{more}</robot>"
    )


def heard(path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        linkwork.load(path)
    assert all(each.category is linkwork.ModelWarning for each in caught)
    return [str(each.message) for each in caught]


FREE = '<joint name="j" type="free" {}="2"/>'
LOUD = [
    (mjcf(body='gravcomp="1"'), "r.xml: body 'a': gravity compensation is ignored"),
    (mjcf(more='<option density="1.2"/>'), "r.xml: <option>: forces of the surrounding fluid are left out"),
    (mjcf(more='<option viscosity="0.1"/>'), "r.xml: <option>: forces of the surrounding fluid are left out"),
    (mjcf(FREE.format("armature")), "r.xml: joint 'j': armature of a free joint is left out"),
    (mjcf(FREE.format("damping")), "r.xml: joint 'j': damping of a free joint is left out"),
    (urdf(link="<inertial/>"), "link 'arm' <inertial>: its <inertial> has no <mass> and is ignored"),
    (urdf('<mimic joint="gone"/>'), "joint 'j' <mimic>: there is no joint 'gone', so <mimic> is ignored"),
    (urdf('<mimic joint="j"/>', kind="planar"), "a planar joint cannot follow another; its <mimic> is ignored"),
    (urdf('<dynamics damping="1"/>', kind="floating"), "friction, rotor and spring of a floating base are ignored"),
    (urdf('<origin rpy="0 1 0"/>', kind="floating"), "the origin of a floating joint is ignored"),
    (urdf('<dynamics/><dynamics damping="1"/>'), "a second <dynamics> in one <joint> is ignored"),
    (urdf(more='<transmission><joint name="j"/><joint name="k"/><rotorInertia>1</rotorInertia></transmission>'),
     "its rotor inertia is ignored: it drives 2 joints"),
]  # fmt: skip
QUIET = [  # the dynamics is what the file says
    mjcf(),
    mjcf(body='gravcomp="1"', more='<option><flag gravity="disable"/></option>'),
    mjcf().replace("</worldbody>", f'<body name="stand" gravcomp="1">{GEOM}</body></worldbody>'),
    mjcf('<joint name="j" type="ball" range="0 60"/>'),
    mjcf(more='<actuator><general joint="j" dyntype="filter"/></actuator>'),
    urdf('<mimic joint="j"/>', kind="fixed"),
    urdf('<origin xyz="0 0 1"/>', kind="floating"),
    urdf('<limit lower="0"/><limit lower="1"/>', kind="revolute"),
    urdf('<surprise/><dynamics armature="1"/>'),
]


def write(text: str, folder):
    path = folder / ("r.urdf" if text.startswith("<robot") else "r.xml")
    path.write_text(text)
    return path


@pytest.mark.parametrize(("text", "words"), LOUD)
def test_load_warns_once_of_dynamics_that_differs(text, words, tmp_path, run_linkwork):
    path = write(text, tmp_path)
    (message,) = heard(path)
    assert words in message
    assert message.splitlines()[0] in {f"{f['where']}: {f['message']}" for f in inspection.check(path)["findings"]}
    code, _, err = run_linkwork("inspect", path, "--json")
    assert (code, err) == (0, f"warning: {message}\n")


@pytest.mark.parametrize("text", QUIET)
def test_what_changes_no_dynamics_is_for_check_alone(text, tmp_path):
    assert heard(write(text, tmp_path)) == []


def test_a_side_file_that_was_not_read(tmp_path, run_linkwork):
    robot = linkwork.load("gough-stewart")
    robot.write(tmp_path / "r.urdf")
    (message,) = heard(tmp_path / "r.urdf")
    assert "there is a side file r.loops.yaml, which was not read" in message
    assert linkwork.load(tmp_path / "r.urdf", structure=tmp_path / "r.loops.yaml").nv == robot.nv


def test_a_command_that_loads_twice_says_it_once(tmp_path, run_linkwork, monkeypatch):
    monkeypatch.setattr("linkwork.inspection.speed.seconds", lambda call, **_: 1e-6)
    monkeypatch.setattr("linkwork.inspection.peers.seconds", lambda call, **_: call() is None or 1e-6)
    linkwork.load("scara").write(path := tmp_path / "r.urdf")
    path.write_text(path.read_text().replace("<axis", '<mimic joint="gone"/><axis', 1))
    code, _, err = run_linkwork("bench", path, "--batch", "8", "--pinocchio", "--json")
    assert (code, err.count("there is no joint 'gone'")) == (0, 1)


# XML as urdfdom and MuJoCo read it

COMMENT = "\n<!-- 1 -- 2 -->\n<!-- 3 --->"
MISTAKES = [
    (
        lambda text: text.replace("><", f">{COMMENT}<", 1),
        "line 2: there is `--` inside a comment, where XML allows none",
    ),
    (lambda text: text.replace('name="j" ', 'name="j"'), "line 1: there is no space between two attributes"),
    (lambda text: text + f"\n</{text[1:].split()[0].rstrip('>')}>", "line 2: the text after the end"),
    (
        lambda text: text + "\n<link/> and more <!-- -- ",
        "line 2: the text after the end of the root element is ignored",
    ),
    (lambda text: "\n<?xml version='1.0'?>" + text, "line 1: there is white space before <?xml ...?>"),
]


@pytest.mark.parametrize("text", [mjcf(), urdf()])
@pytest.mark.parametrize(("spoil", "words"), MISTAKES)
def test_mistakes_of_xml_that_peers_overlook(text, spoil, words, tmp_path):
    spoilt = spoil(text)
    assert spoilt != text
    path = write(text, tmp_path)
    good = linkwork.load(path)
    path.write_text(spoilt)
    (message,) = heard(path)
    assert message.startswith(f"{path}: {words}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert linkwork.load(path).inertia_matrix([0.3]).tolist() == good.inertia_matrix([0.3]).tolist()


def test_all_mistakes_of_a_document_and_those_of_included_files(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujocoinclude>{HINGE}\n<!-- -- --></mujocoinclude>")
    path = tmp_path / "r.xml"
    path.write_text(mjcf('<include file="part.xml"/>', 'pos="0 0 1"quat="1 0 0 0"') + "</mujoco>")
    words = "line 1: there is no space", "line 1: the text after the end", "part.xml: line 2: there is `--` inside"
    assert [each in message for each, message in zip(words, heard(path), strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("spoil", "fix"),
    [
        (lambda text: text.replace('"j"', '"j & k"').encode(), "fix: correct the file at this place"),
        (lambda text: text.replace("><", "><!-- \xe9 --><", 1).encode("latin-1"), "this place, and save it as UTF-8"),
    ],
)
def test_the_remedy_names_the_encoding_only_where_it_is_wrong(spoil, fix, tmp_path):
    path = write(urdf(), tmp_path)
    path.write_bytes(spoil(urdf()))
    with pytest.raises(linkwork.ModelError) as caught:
        linkwork.load(path)
    assert str(caught.value).endswith(fix)


@pytest.mark.parametrize("part", ["<!--", '<a "', "<", "<a>", '<a b="c"d="e"/>', "<!-- -- -->", '<a b="c"b="c"'])
def test_repairs_of_hostile_texts_take_no_time(part):
    started = time.process_time()
    with pytest.raises(linkwork.ModelError):
        parse_xml('<robot name="r"x="y">' + part * (1_000_000 // len(part)))
    assert time.process_time() - started < 3


# Other formats


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("r.xacro", r"a xacro file, a template that makes URDF[^$]*fix: expand it first: xacro FILE > OUT\.urdf"),
        ("r.SDF", "SDF, Gazebo's format[^$]*fix: give the URDF it was made from"),
        ("r.usda", "USD, a format of scenes[^$]*fix: .*USD to URDF exporter"),
        ("r.mjb", "a model compiled by MuJoCo[^$]*fix: give the XML"),
    ],
)
def test_formats_that_are_not_read(name, words, tmp_path):
    (tmp_path / name).write_text("")
    with pytest.raises(linkwork.ModelError, match=words):
        linkwork.load(tmp_path / name)


def test_an_sdf_by_another_name(tmp_path):
    with pytest.raises(linkwork.ModelError, match="this is SDF: give the URDF it was made from"):
        linkwork.load(write("<sdf version='1.6'/>", tmp_path))


def test_mjcf_by_its_own_suffix(tmp_path):
    path = tmp_path / "r.mjcf"
    path.write_text(mjcf())
    assert linkwork.load(path).joint_names == ("j",)
    path.write_text(urdf())
    with pytest.raises(linkwork.ModelError, match="this is not an MJCF file"):
        linkwork.load(path)
