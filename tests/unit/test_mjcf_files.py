"""The files of an MJCF model: which are opened, from where, and what keeps a hostile one from costing much."""

from __future__ import annotations

import os
import time

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.errors import ModelError
from linkwork.io.mjcf import read_mjcf
from linkwork.io.mjcf_files import MOST_BYTES

GEOM = '<geom type="box" size=".1 .2 .3"/>'
INERTIAL = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>'
BOX = "\n".join(
    ["v %g %g %g" % (x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]  # noqa: UP031
    + ["f 1 2 4", "f 1 4 3", "f 5 7 8", "f 5 8 6", "f 1 5 6", "f 1 6 2", "f 3 4 8", "f 3 8 7", "f 1 3 7", "f 1 7 5"]
    + ["f 2 6 8", "f 2 8 4"]
)


def arm(*, joint: str = '<joint name="j"/>', body: str = GEOM, world: str = "", more: str = "") -> str:
    return f"""<mujoco model="arm">{more}<worldbody>{world}<body name="a">{joint}{body}</body></worldbody></mujoco>"""


# Where files are


def test_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "joint.xml").write_text('<mujocoinclude><joint name="j" axis="1 0 0"/></mujocoinclude>')
    (tmp_path / "option.xml").write_text('<mujoco><option gravity="0 0 -3"/><include file="more.xml"/></mujoco>')
    (tmp_path / "more.xml").write_text('<mujoco><default><geom density="2000"/></default></mujoco>')
    text = arm(joint='<include file="parts/joint.xml"/>', more='<include file="option.xml"/>')
    d = read_mjcf(text, folder=tmp_path)
    assert (d.gravity, d.joints[0].axis.tolist()) == ((0, 0, -3), [1, 0, 0])
    assert d.links[1].inertia is not None and d.links[1].inertia.mass == pytest.approx(0.2 * 0.4 * 0.6 * 2000)


def tree(folder, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_an_include_is_sought_from_the_main_file_then_beside_the_file_that_has_it(tmp_path):
    tree(
        tmp_path,
        {
            "arm.xml": arm(more='<include file="parts/all.xml"/>'),
            "parts/all.xml": '<mujoco><include file="b.xml"/><include file="deep\\\\c.xml"/></mujoco>',
            "parts/b.xml": '<mujoco><worldbody><body name="beside"/></worldbody></mujoco>',
            "parts/deep/c.xml": '<mujoco><worldbody><body name="deep"/></worldbody></mujoco>',
        },
    )

    def links() -> list[str]:
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
        ours = [link.name for link in linkwork.io.read(tmp_path / "arm.xml").links]
        assert ours == [model.body(b).name for b in range(model.nbody)]
        return ours

    assert links() == ["world", "beside", "deep", "a"]
    tree(tmp_path, {"b.xml": '<mujoco><worldbody><body name="main"/></worldbody></mujoco>'})
    assert links() == ["world", "main", "deep", "a"]


def test_a_mesh_is_sought_in_meshdir_then_beside_the_included_file(tmp_path):
    tree(
        tmp_path,
        {
            "arm.xml": arm(body='<geom type="mesh" mesh="box"/>', more='<include file="parts/assets.xml"/>'),
            "parts/assets.xml": '<mujoco><compiler meshdir="meshes"/><asset><mesh file="box.obj"/></asset></mujoco>',
            "parts/box.obj": BOX,
        },
    )

    def mass() -> float:
        inertia = linkwork.io.read(tmp_path / "arm.xml").links[1].inertia
        theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml")).body_mass[1]
        assert inertia is not None and inertia.mass == theirs
        return theirs

    assert mass() == pytest.approx(6000)
    tree(tmp_path, {"meshes/box.obj": BOX.replace("v 1", "v 2")})
    assert mass() == pytest.approx(12000)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../outside.xml", "it is outside the folder of the model"),
        ("link.xml", "it is outside the folder of the model"),
        ("{folder}/outside.xml", "it is outside the folder of the model"),
        ("absent.xml", "it does not exist"),
        ("pipe.xml", "it does not exist"),
        ("again.xml", "it was included before"),
        ("n" * 900, "it does not exist"),
        ("large.xml", "it is larger than 64 MB"),
    ],
)
def test_includes_that_are_refused(name, reason, tmp_path):
    (tmp_path / "outside.xml").write_text("<mujoco/>")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.xml").symlink_to(tmp_path / "outside.xml")
    os.mkfifo(folder / "pipe.xml")  # would wait for a writer for ever
    with (folder / "large.xml").open("wb") as large:
        large.truncate(MOST_BYTES + 1)
    (folder / "again.xml").write_text('<mujoco><include file="again.xml"/></mujoco>')
    text = arm(more=f'<include file="{name.format(folder=tmp_path)}"/>')
    with pytest.raises(ModelError, match=r"line 1: .*<include>: this file cannot be included: " + reason) as caught:
        read_mjcf(text, "arm.xml", folder)
    allowed = "outside" in reason
    assert ("allow it by load(FILE, allow_external_files=True)" in str(caught.value)) == allowed
    if allowed:
        assert read_mjcf(text, "arm.xml", folder, allow_external_files=True).joints[0].name == "j"


def test_what_is_outside_on_request(tmp_path, run_linkwork):
    include, asset = '<include file="../assets.xml"/>', '<asset><mesh file="../box.obj"/></asset>'
    body = '<geom type="mesh" mesh="box"/>'
    tree(tmp_path, {"robots/a.xml": arm(body=body, more=include), "robots/b.xml": arm(body=body, more=asset)})
    tree(tmp_path, {"assets.xml": f"<mujoco>{asset}</mujoco>", "box.obj": BOX})
    for name, words in (("a.xml", "cannot be included: it is outside"), ("b.xml", "cannot be opened: it is outside")):
        path = tmp_path / "robots" / name
        with pytest.raises(ModelError, match=rf"(?s){words}.*allow it by load\(FILE, allow_external_files=True\)"):
            linkwork.load(path)
        assert linkwork.load(path, allow_external_files=True).parameters[0][0] == pytest.approx(6000)
        assert [run_linkwork("check", path, *option)[0] for option in ((), ("--allow-external-files",))] == [1, 0]
        assert run_linkwork("inspect", path, "--allow-external-files")[0] == 0
        assert run_linkwork("convert", path, tmp_path / f"{name}.urdf", "--allow-external-files")[0] == 0


def test_included_files_are_distrusted_too(tmp_path):
    (tmp_path / "bad.xml").write_text("<!DOCTYPE m><mujoco/>")
    with pytest.raises(ModelError, match=r"models/bad.xml: line 1: document types"):
        read_mjcf(arm(more='<include file="bad.xml"/>'), "models/arm.xml", tmp_path)


def test_copies_are_counted_across_files(tmp_path):
    (tmp_path / "inner.xml").write_text('<mujoco><replicate count="200"/></mujoco>')
    with pytest.raises(ModelError, match="more than 20000 elements, copies"):
        read_mjcf(arm(world='<replicate count="200"><include file="inner.xml"/></replicate>'), folder=tmp_path)


MESH = '<compiler meshdir="meshes" strippath="{strip}"/><asset><mesh file="deep/box.obj"/></asset>'
SHAPE = '<geom type="mesh" mesh="box"/>'


@pytest.mark.parametrize("strip", ["false", "true"])
def test_inertia_from_a_mesh(strip, tmp_path):
    place = tmp_path / "meshes" / ("" if strip == "true" else "deep") / "box.obj"
    place.parent.mkdir(parents=True)
    text = arm(body=SHAPE, more=MESH.format(strip=strip))
    with pytest.raises(ModelError, match=r"does not exist\n  got: deep/box.obj \(body 'a'\)(.|\n)*<inertial pos"):
        read_mjcf(text, folder=tmp_path)
    place.write_text(BOX)
    inertia = read_mjcf(text, folder=tmp_path).links[1].inertia
    assert inertia is not None and inertia.mass == pytest.approx(6000)
    np.testing.assert_allclose(inertia.center, [0.5, 1, 1.5])
    np.testing.assert_allclose(inertia.central, np.diag([13, 10, 5]) * 500, atol=1e-9)


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (SHAPE + INERTIAL, ""),
        ('<geom type="mesh" mesh="box" mass="0"/>' + INERTIAL, '<compiler inertiafromgeom="false"/>'),
        ('<geom type="mesh" mesh="box" density="0"/><geom size=".1" mass="2"/>', ""),
        ('<geom type="mesh" mesh="box" group="2"/><geom size=".1" mass="2"/>', '<compiler inertiagrouprange="0 1"/>'),
        ('<geom type="capsule" mesh="box"/>' + INERTIAL, ""),
    ],
)
def test_meshes_that_no_inertia_needs_are_not_opened(body, more):
    inertia = read_mjcf(arm(body=body, more=MESH.format(strip="false") + more)).links[1].inertia
    assert inertia is not None and inertia.mass == 2


def test_no_other_file_is_opened():
    more = """<asset><texture name="t" type="2d" file="t.png"/><material name="m" texture="t"/>
    <hfield name="h" file="h.png" size="1 1 1 1"/><skin file="s.skn"/></asset><default><geom material="m"/></default>"""
    d = read_mjcf(arm(more=more, world='<geom type="hfield" hfield="h" material="m"/>'))
    assert d.findings == ()


def test_meshes_that_are_not_there_of_bodies_that_stand_still(tmp_path):
    base = f'<body name="base" pos="0 0 1">{SHAPE}{GEOM}<body name="stand">{SHAPE}</body>%s</body>'
    more = MESH.format(strip="false")
    text = f"<mujoco>{more}<worldbody>{base % arm_body()}</worldbody></mujoco>"
    d = read_mjcf(text, "arm.xml", tmp_path)
    assert [str(finding) for finding in d.findings] == [
        "warning: arm.xml: body 'base': meshes of its inertia are missing: its inertia is left out, "
        "since the body does not move"
        " (the first of 2 places)"
    ]
    box, a = d.links[1].inertia, d.links[-1].inertia
    assert box is not None and box.mass == pytest.approx(48)  # its other geom counts
    assert a is not None and a.mass == pytest.approx(48)
    tree(tmp_path, {"meshes/deep/box.obj": BOX})
    whole = read_mjcf(text, "arm.xml", tmp_path)
    assert whole.findings == () and whole.links[1].inertia.mass == pytest.approx(6048)  # pyright: ignore
    q, v, acceleration = [0.3], [1.0], [2.0]
    np.testing.assert_array_equal(
        linkwork.load(d).inverse_dynamics(q, v, acceleration), linkwork.load(whole).inverse_dynamics(q, v, acceleration)
    )


def arm_body() -> str:
    return f'<body name="a"><joint name="j" axis="0 1 0"/>{GEOM}</body>'


def test_meshes_of_still_bodies_where_all_masses_are_scaled(tmp_path):
    more = MESH.format(strip="false") + '<compiler settotalmass="3"/>'
    with pytest.raises(ModelError, match="body 'base'"):
        read_mjcf(arm(world=f'<body name="base">{SHAPE}</body>', more=more), "arm.xml", tmp_path)


def test_many_meshes_that_are_not_there():
    more = "".join(f'<mesh file="part{k}.obj"/>' for k in range(30))
    body = "".join(f'<geom type="mesh" mesh="part{k}"/>' for k in range(30))
    with pytest.raises(ModelError, match=r"part4.obj \(body 'a'\) and 25 more\n"):
        read_mjcf(arm(body=body, more=f"<asset>{more}</asset>"))


# What would cost much


HUGE = 2_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        arm(
            more='<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
            world='<geom type="hfield" hfield="h"/>',
        ),
        arm(more='<asset><texture name="t" type="2d" builtin="flat" width="100000" height="100000"/></asset>'),
        arm(more=f'<size memory="1000G" nuserdata="{HUGE}"/><custom><numeric name="n" size="{HUGE}"/></custom>'),
        arm(more=f'<actuator><general joint="j" dyntype="user" actdim="{HUGE}"/></actuator>'),
        arm(more=f'<sensor><user name="s" dim="{HUGE}"/></sensor>'),
        arm(
            more='<compiler><lengthrange inttotal="1e7" interval="1e6"/></compiler>'
            '<actuator><muscle joint="j"/></actuator>'
        ),
    ],
    ids=["hfield", "texture", "size", "actdim", "sensor", "muscle"],
)
def test_what_no_force_depends_on_costs_nothing(text):
    start = time.perf_counter()
    assert read_mjcf(text).joints[0].name == "j"
    assert time.perf_counter() - start < 2


@pytest.mark.skipif("nsample" not in dir(mujoco.MjsActuator), reason="newer versions of MuJoCo")
def test_delays_of_actuators_cost_nothing():
    text = arm(more=f'<actuator><motor joint="j" delay="1" nsample="{HUGE}"/></actuator>')
    assert read_mjcf(text).joints[0].name == "j"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (arm(world=f'<replicate count="3000"><body>{GEOM}</body></replicate>'), "more than 2000 bodies"),
        (arm(world="<body/>" * 2001), "more than 2000 bodies"),
        (arm(world="<site/>" * 20_001), "more than 20000 elements"),
        (arm(body=GEOM + f'<site name="{"s" * 5000}"/>'), "attribute 'name' is too long"),
        (arm(more='<asset><mesh name="m" builtin="supersphere" params="3000 1 1"/></asset>'), "too many parts"),
    ],
    ids=range(5),
)
def test_what_costs_much_is_refused(text, words):
    start = time.perf_counter()
    with pytest.raises(ModelError, match=words) as caught:
        read_mjcf(text)
    assert time.perf_counter() - start < 2 and len(str(caught.value)) < 500


def test_depth_is_counted_across_files(tmp_path):
    for k in range(40):
        inside = f'<include file="{k + 1}.xml"/>' if k < 39 else ""
        (tmp_path / f"{k}.xml").write_text("<mujoco>" + "<frame>" * 40 + inside + "</frame>" * 40 + "</mujoco>")
    with pytest.raises(ModelError, match="with included files, elements nest deeper than 100 levels"):
        read_mjcf(arm(world='<include file="0.xml"/>'), folder=tmp_path)


def test_messages_of_mujoco_are_cut():
    with pytest.raises(ModelError, match="MuJoCo cannot compile") as caught:
        read_mjcf(arm(joint=f'<joint axis="{"x" * 100_000}"/>'))
    assert len(str(caught.value)) < 1000
