"""What notebooks show: facts of the robot, every name escaped, and well-formed at that."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

import linkwork
from linkwork import Robot
from support.playground import playground


def cells(html: str) -> list[list[str]]:
    """The rows of the table; a parser of XML refuses what is not closed or escaped."""
    return [[cell.text or "" for cell in row] for row in ElementTree.fromstring(html).iter("tr")]


def caption(html: str) -> str:
    return "".join(ElementTree.fromstring(html).find("caption").itertext())


@pytest.mark.parametrize("name", ["scara", "quadruped", "four-bar", "panda-elastic", "gough-stewart"])
def test_robot(name):
    robot = linkwork.load(name)
    html = robot._repr_html_()
    head, *rows = cells(html)
    assert [row[0] for row in rows] == list(robot.coordinates.positions.joints) and head[:2] == ["joint", "kind"]
    assert f"nv {robot.nv}" in caption(html) and ("loop" in caption(html)) == bool(robot.model.permanent)
    assert ("floating base" in caption(html)) == robot.model.moving_base


def test_values_of_a_robot():
    _, shoulder, _, lift, roll = cells(linkwork.load("scara")._repr_html_())
    assert shoulder == ["shoulder", "revolute", "active", "-0.872665", "0.872665", "inner_arm", "base"]
    assert lift[1:5] == ["prismatic", "active", "0", "0.21"]
    assert roll[3:5] == ["", ""]  # no limits


def test_every_kind_of_joint():
    _, *rows = cells(linkwork.load(playground())._repr_html_())
    told = {row[0]: row[1:] for row in rows}
    assert told["drop"] == ["floating", "", "", "", "crate", "world"]
    assert told["swing"][-1] == "hook" and told["feed"][:4] == ["helical", "active", "-3", "3"]
    kinds = ["planar", "spherical", "universal", "cylindrical", "continuous", "revolute", "helical", "prismatic"]
    assert [kind for kind, *_ in told.values()] == [*kinds, "floating", "floating"]


def test_function():
    robot = linkwork.load("ur5e")
    function = robot.compile("inverse_dynamics", inputs=["parameters"])
    html, rows = function._repr_html_(), dict(cells(function._repr_html_()))
    assert caption(html) == "Function inverse_dynamics of ur5e"
    assert rows["signature"] == function.signature and rows["method"] == function.label.method
    assert rows["operations"] == str(function.operations) and rows["off line"] == str(function.off_line_operations)
    assert rows["instructions"] == str(len(function.program.instructions))
    assert "off line" not in dict(cells(robot.gravity._repr_html_()))


def test_names_are_escaped():
    model = linkwork.load("planar2r").model
    joint = replace(model.bodies[0].joint, name="</td><script>&")
    robot = Robot(replace(model, name="<b>&", bodies=(replace(model.bodies[0], joint=joint), *model.bodies[1:])))
    assert cells(robot._repr_html_())[1][0] == "</td><script>&" and "<script" not in robot._repr_html_()
    assert "<b>&" in caption(robot.inertia_matrix._repr_html_())
