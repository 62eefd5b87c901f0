"""The FAQ quotes and shows messages as linkwork writes them."""

import contextlib
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork import inspection
from linkwork.identify import Log

PAGE = Path(linkwork.__file__).parents[2] / "docs" / "faq.md"
QUOTED = re.findall(r"^### (\d+)\. `([^`]+)`", PAGE.read_text(encoding="utf-8"), re.M)
SHOWN = re.compile(r"^```(python|text)\n(.*?)^```", re.M | re.S)
LINK = '<link name="base"/><link name="arm">{}</link>'
JOINT = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>'
BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot_file(inertial: str) -> Path:
    Path("x.urdf").write_text(f'<robot name="x">{LINK.format(inertial)}{JOINT}</robot>')
    return Path("x.urdf")


def xacro():
    Path("x.urdf").write_text('<robot xmlns:xacro="http://wiki.ros.org/xacro" name="x"><xacro:macro name="a"/></robot>')
    linkwork.load("x.urdf")


def sdf():
    Path("x.sdf").write_text('<sdf version="1.6"><model name="m"/></sdf>')
    linkwork.load("x.sdf")


def short_torque():
    quadruped = linkwork.load("quadruped")
    quadruped.forward_dynamics(quadruped.coordinates.neutral(), np.zeros(18), np.zeros(12))


def without_motor():
    five_bar = linkwork.io.read("five-bar")
    joints = (replace(joint, role="passive") if joint.name == "left" else joint for joint in five_bar.joints)
    linkwork.load(replace(five_bar, joints=tuple(joints))).compile("inverse_dynamics")


def one_joint_beyond():
    floats = linkwork.load("panda", gravity=(0, 0, 0))
    floats.simulate([0, -0.5, 0, -0.1, 0, 1.5, 0.8], [0, 0, 0, 0.5, 0, 0, 0], duration=0.2)


def little_motion():
    scara, t = linkwork.load("scara"), np.arange(0, 4, 0.01)
    q = 0.5 * np.sin(2 * t)[:, None] * [1, 0, 0, 0]
    v, a = np.gradient(q, t, axis=0), -4 * q
    scara.identify(Log(t, q, scara.inverse_dynamics(q, v, a), v, a), "wls", width=0.05)


def panda() -> Any:
    return linkwork.load("panda")


def bar() -> Any:
    return linkwork.load("four-bar")


def out_of_reach():
    panda().inverse_kinematics("panda_link8", np.diag([1, -1, -1, 1.0]) + 3 * np.eye(4, k=3)).require()


def with_a_free_joint():
    panda().inverse_kinematics("panda_link8", np.eye(4), solutions="all")


UNSTABLE: Callable = lambda t, q, v, reference: 1e3 * v  # noqa: E731
CAUSES: dict[int, Callable[[], Any]] = {  # by the number of the heading
    1: xacro,
    2: sdf,
    3: lambda: linkwork.load("pnada"),
    5: lambda: linkwork.load(robot_file("")).forward_dynamics([0.0], [0.0], [1.0]),
    6: lambda: print(inspection.check(robot_file(BODY))),
    10: short_torque,
    11: lambda: panda().compile("mass_matrix"),
    12: lambda: panda().pose("hand", np.zeros(7)),
    14: lambda: bar().inverse_dynamics([0.5], [1.0], [0.0]),
    15: lambda: bar().simulate([0.5, 0, 0], duration=0.01),
    16: lambda: bar().assemble([0.0], known=["rocker"]).require(),
    17: without_motor,
    18: lambda: panda().simulate(torque=lambda t, q, v, r: -v if v[0] > 0 else v),
    19: lambda: panda().simulate(duration=1.0, torque=UNSTABLE),
    20: one_joint_beyond,
    22: lambda: panda().rollout(np.zeros(7), np.zeros(7), steps=5).pullback(q=np.ones((6, 7))),
    23: little_motion,
    24: lambda: panda().identify(Log(np.arange(50) * 0.01, *np.zeros((2, 50, 3)))),
    25: out_of_reach,
    26: with_a_free_joint,
}


def pattern(text: str) -> str:
    """A pattern for a text of the page: ``...`` stands for what is left out, and numbers vary."""
    return re.sub(r"\d+", r"\\d+", re.escape(text.strip()).replace(r"\.\.\.", ".*"))


@pytest.mark.parametrize(("number", "message"), QUOTED)
def test_quoted_messages_are_those_of_the_code(number, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            CAUSES[int(number)]()
            raised = ""
        except linkwork.LinkworkError as error:
            raised = str(error)
    said = "\n".join([raised, *(str(each.message) for each in caught), capsys.readouterr().out])
    assert re.search(pattern(message), said), said


def test_shown_messages_are_those_of_the_code(tmp_path, monkeypatch):
    """Where a text follows the code, the code prints it."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed, compared = "", 0
    for language, text in SHOWN.findall(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, PAGE.name, "exec"), names)
            printed = out.getvalue()
        else:
            assert re.search(pattern(text), printed), f"the page shows\n{text}\nthe code prints\n{printed}"
            compared += 1
    assert compared >= 3
