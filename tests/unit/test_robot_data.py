"""Robots without a file: from data, from text, from a table; held against files, URDF and products of matrices."""

import math

import numpy as np
import pytest
import yaml

import linkwork
from linkwork import io
from linkwork.errors import LinkworkError, ModelError
from linkwork.io import BUNDLED
from linkwork.io.mdh_writer import write_mdh

ROD = {"M": 1.2, "center": [0.4, 0.02, -0.1], "central": [0.02, 0.003, 0.001, 0.09, 0.004, 0.1]}
PUMA = [[0, 0, 0, 0.5], [-math.pi / 2, 0, 0, 0.1], [0, 0.43, 0, -0.02], [math.pi / 2, 0.02, 0.3, 0.43]]


def turn(axis: int, angle: float) -> np.ndarray:
    T, (i, j) = np.eye(4), [k for k in range(3) if k != axis]
    T[i, i] = T[j, j] = math.cos(angle)
    T[i, j], T[j, i] = (-1) ** (axis + 1) * math.sin(angle), (-1) ** axis * math.sin(angle)
    return T


def shift(axis: int, length: float) -> np.ndarray:
    T = np.eye(4)
    T[axis, 3] = length
    return T


@pytest.mark.parametrize("loader", [yaml.BaseLoader, yaml.SafeLoader], ids=["texts", "numbers"])
def test_data_are_what_the_file_is(loader):
    for path in sorted(BUNDLED.glob("*.yaml")):
        data = yaml.load(path.read_text(), loader)
        assert write_mdh(io.read(data)) == write_mdh(io.read(path)), path.stem


def test_numbers_and_arrays_of_numpy():
    rows = [{key: np.array(value) for key, value in ROD.items()}, {"d": np.float32(0.5), "parent": np.int64(1)} | ROD]
    plain = linkwork.load({"name": "arm", "joints": [ROD, {"d": 0.5, **ROD}]})
    made = linkwork.load({"name": "arm", "joints": rows})
    assert made.inertia_matrix.program.digest == plain.inertia_matrix.program.digest


def test_a_joint_row_may_have_its_link_and_drive():
    apart = {"name": "arm", "joints": [{"name": "a", "link": "A"}, {"name": "b", "link": "B", "d": 0.5}]}
    apart["links"] = [{"link": "A", **ROD}, {"link": "B", **ROD}]
    apart["drives"] = [{"joint": "a", "mimic": {"joint": "b", "multiplier": 2}}, {"joint": "b", "Ia": 0.1, "Fs": 0.2}]
    first = {"name": "a", "link": "A", **ROD, "mimic": {"joint": "b", "multiplier": 2}}
    together = {"name": "arm", "joints": [first, {"name": "b", "link": "B", "d": 0.5, **ROD, "Ia": 0.1, "Fs": 0.2}]}
    assert write_mdh(io.read(together)) == write_mdh(io.read(apart))


def test_text_of_every_format():
    panda = linkwork.load("panda")
    assert (
        linkwork.load(text=(BUNDLED / "panda.yaml").read_text()).gravity.program.digest == panda.gravity.program.digest
    )
    urdf = linkwork.load(text=f"\n  {next(iter(io.texts(io.read('panda'), 'panda.urdf').values()))}")
    assert urdf.joint_names == panda.joint_names
    body = '<body><joint type="hinge" axis="0 1 0"/><inertial mass="1" pos=".1 0 0" diaginertia="1 1 1"/></body>'
    assert linkwork.load(text=f"<mujoco><worldbody>{body}</worldbody></mujoco>").nv == 1


def test_structure_as_data():
    data = {"name": "arm", "joints": [{"name": "a", **ROD}, {"name": "b", "d": 0.5, **ROD}]}
    robot = linkwork.load(data, structure={"roles": {"passive": ["b"]}})
    assert robot.roles == {"a": "active", "b": "passive"}


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "planar"])
def test_axes(kind):
    """A joint about any direction is the joint about z of a frame that is turned there."""
    z = np.array([0.3, -0.5, 0.8])
    n = z / np.linalg.norm(z)
    x = np.cross([0.0, 1.0, 0.0], n)
    R = np.stack([x / np.linalg.norm(x), np.cross(n, x / np.linalg.norm(x)), n], axis=1)
    yaw, pitch, roll = math.atan2(R[1, 0], R[0, 0]), math.asin(-R[2, 0]), math.atan2(R[2, 1], R[2, 2])
    center, central = np.array(ROD["center"]), np.diag([0.02, 0.09, 0.1])
    turned = R.T @ central @ R
    elements = [turned[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    place = {"name": "j", "link": "L", "kind": kind, "xyz": [0.1, 0.2, 0.3]}
    about_axis = {**place, "axis": z, "M": 1.2, "center": center, "central": [0.02, 0.09, 0.1]}
    about_z = {**place, "rpy": [roll, pitch, yaw], "M": 1.2, "center": R.T @ center, "central": elements}
    one, other = (linkwork.load({"name": "r", "joints": [row]}) for row in (about_axis, about_z))
    if kind == "planar":  # the axes in its plane are a choice
        return np.testing.assert_allclose(
            np.linalg.eigvalsh(one.inertia_matrix(one.home)), np.linalg.eigvalsh(other.inertia_matrix(other.home))
        )
    q = 0.3 + 0.1 * np.arange(one.nq)
    np.testing.assert_allclose(one.inertia_matrix(q), other.inertia_matrix(q), rtol=1e-12)
    np.testing.assert_allclose(one.gravity(q), other.gravity(q), rtol=1e-12)
    np.testing.assert_allclose(one.pose("L", q)[:3, 3], other.pose("L", q)[:3, 3], rtol=1e-12)


def test_axes_are_those_of_a_urdf():
    matrix = '<inertia ixx=".1" iyy=".2" izz=".25" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><mass value="2"/><origin xyz=".1 .2 .3"/>{matrix}</inertial>'
    urdf = f"""<robot name="two"><link name="base"/><link name="L1">{inertial}</link><link name="L2">{inertial}</link>
    <joint name="j1" type="continuous"><parent link="base"/><child link="L1"/><origin xyz="0 0 .5" rpy=".1 .2 .3"/>
      <axis xyz="0 1 0"/></joint>
    <joint name="j2" type="continuous"><parent link="L1"/><child link="L2"/><origin xyz=".4 0 0"/>
      <axis xyz="1 0 1"/></joint>
    </robot>"""
    body = {"M": 2, "center": [0.1, 0.2, 0.3], "central": [0.1, 0.2, 0.25]}
    rows = [
        {"name": "j1", "link": "L1", "xyz": [0, 0, 0.5], "rpy": [0.1, 0.2, 0.3], "axis": [0, 1, 0], **body},
        {"name": "j2", "link": "L2", "xyz": [0.4, 0, 0], "axis": [1, 0, 1], **body},
    ]
    one, other = linkwork.load(text=urdf), linkwork.load({"name": "two", "joints": rows})
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 2))
    np.testing.assert_allclose(one.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a), rtol=1e-12)
    np.testing.assert_allclose(one.pose("L2", q), other.pose("L2", q), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "form", [list, np.array, lambda rows: [dict(zip(("alpha", "d", "theta", "r"), row)) for row in rows]]
)
def test_modified_tables(form):
    robot, q, T = linkwork.Robot.from_dh(form(PUMA), name="arm"), [0.2, -0.4, 0.6, 0.8], np.eye(4)
    for (alpha, d, theta, r), angle in zip(PUMA, q):
        T = T @ turn(0, alpha) @ shift(0, d) @ turn(2, theta + angle) @ shift(2, r)
    assert robot.name == "arm"
    np.testing.assert_allclose(robot.pose("link4", q), T, rtol=1e-12, atol=1e-15)


def test_standard_tables():
    rows = [[0.1, 0.5, 0.2, -math.pi / 2], {"a": 0.43, "kind": "prismatic", "alpha": 0.3}, [0, 0.1, 0.02, 1.0]]
    robot, q, T = linkwork.Robot.from_dh(rows, "standard", gravity=[0, 0, 0]), [0.2, 0.4, 0.6], np.eye(4)
    for theta, d, a, alpha in [(0.3, 0.5, 0.2, -math.pi / 2), (0, 0.4, 0.43, 0.3), (0.6, 0.1, 0.02, 1.0)]:
        T = T @ turn(2, theta) @ shift(2, d) @ shift(0, a) @ turn(0, alpha)
    np.testing.assert_allclose(robot.pose("link3_dh", q), T, rtol=1e-12, atol=1e-15)


def nested(depth: int) -> list:
    return [nested(depth - 1)] if depth else []


ENDLESS: list = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"name": "x", "joints": [{}, {"d": "abc"}]}, r"joints\[1\].d: joint 'joint2': not a number\n  got: 'abc'"),
        ({"name": "x", "joints": [{"d": math.nan}]}, r"joints\[0\].d: .*not a number"),
        ({"name": "x", "joints": [{"d": math.inf}]}, r"joints\[0\].d: .*not finite"),
        ({"name": "x", "joints": [{"dd": 1}]}, r"joints\[0\].dd: .*no key 'dd'[\s\S]*did you mean 'd'"),
        ({"name": "x", "joints": 5}, r"joints: wrong type\n  got: '5'\n  expected: a list"),
        ({"name": "x", "joints": None}, r"joints: wrong type\n  got: nothing"),
        ({"joints": [{}]}, "'name' is missing"),
        ({}, "'name' is missing"),
        ({"name": "x", "joints": [{"M": object()}]}, r"joints\[0\].M: wrong type\n  got: object: <object"),
        ({"name": "x", "joints": [{"M": 1 + 2j}]}, r"joints\[0\].M: wrong type\n  got: complex"),
        ({"name": "x", "joints": [{"M": True}]}, r"joints\[0\].M: .*not a number\n  got: 'true'"),
        ({"name": "x", "joints": [{"kind": "spherical", "axis": [0, 0, 1]}]}, "a spherical joint has no single axis"),
        ({"name": "x", "joints": [{"axis": [0, 0, 0]}]}, r"joints\[0\].axis: joint 'joint1': the axis is zero"),
        ({"name": "x", "joints": [{"axis": [0, 1]}]}, r"joints\[0\].axis: .*wrong length"),
        ({"name": "x", "joints": [{"mimic": {"joint": "q"}}]}, r"joints\[0\].mimic.joint: .*there is no joint 'q'"),
        ({"name": "x", "joints": [{"Fs": 1, "kind": "fixed"}]}, r"joints\[0\]: joint 'joint1': a fixed joint has no"),
        ({"name": "x", "joints": [ROD], "links": [{"link": "link1", **ROD}]}, "the link has two rows"),
        ({"name": "x", "joints": [{"Fs": 1}], "drives": [{"joint": "joint1"}]}, "the joint has two rows"),
        ({"name": "x", "joints": nested(20)}, "nested too deep"),
        ({"name": "x", "joints": ENDLESS}, "nested too deep"),
        ({"name": "x", "joints": [0] * 500_001}, "too many values"),
    ],
)  # fmt: skip
def test_mistakes_have_their_place(data, message):
    with pytest.raises(ModelError, match=message):
        linkwork.load(data)


def test_several_mistakes_at_once():
    with pytest.raises(ModelError) as error:
        linkwork.load({"name": "x", "joints": [{"d": "abc"}, {"r": "xyz"}]})
    assert "joints[0].d" in str(error.value) and "joints[1].r" in str(error.value)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[0, 0, 0]], {}, r"from_dh, row 1: this is not a row\n  got: \[0, 0, 0\]\n  expected: \[alpha, d, theta, r\]"),
        ([[0, 0, 0, 0], 5], {"convention": "standard"}, r"row 2: .*\n  got: 5\n  expected: \[theta, d, a, alpha\]"),
        ([], {}, "not a table of joints"),
        ("panda", {}, "not a table of joints"),
        ([[0, 0, 0, 0]], {"convention": "distal"}, "no convention 'distal'"),
        ([[0, 0, 0, 0]], {"gravty": [0, 0, 0]}, "no key 'gravty'"),
        ([[0, 0, 0, "x"]], {}, r"joints\[0\].r: joint 'joint1': not a number"),
        ([{"r": 1}], {"convention": "standard"}, r"joints\[0\].r: .*no key 'r'"),
    ],
)  # fmt: skip
def test_mistakes_in_tables(table, options, message):
    with pytest.raises(LinkworkError, match=message):
        linkwork.Robot.from_dh(table, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "got: neither"),
        ({"robot": "panda", "text": "name: x"}, "got: both"),
        ({"text": 5}, "this is not the text of a robot file\n  got: 5"),
        ({"text": ""}, "empty"),
        ({"text": "name: x"}, "text: line 1: 'joints' is missing"),
        ({"text": "<robot"}, "text: "),
        ({"text": " " * (2**23 + 1)}, "too long"),
        ({"robot": 5}, "this is not a robot"),
        ({"robot": "panda", "structure": 5}, "this is not a side file"),
        ({"robot": "planar2r", "structure": {"rols": {}}}, "structure: rols: there is no key 'rols'"),
    ],
)
def test_mistakes_at_load(arguments, message):
    with pytest.raises(ModelError, match=message):
        linkwork.load(**arguments)
