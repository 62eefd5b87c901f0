"""Messages name what the user of this door types: Python in Python, options on the command line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import linkwork
from linkwork.cli import COMMANDS

PYTHON = re.compile(
    r"`known`|linkwork\.[a-z]|robot\.|load\(|[a-z_]+=(['\"{\[]|True|False|[0-9.])|[A-Z][a-z]+[A-Z]\w+\."
)
FALLING = "--duration", "2", "--q0", "panda_joint2=1", "--no-friction"
INDEFINITE = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="5" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
OUTSIDE = '<mujoco><include file="../more.xml"/></mujoco>'


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("eval", "panda", "nosuch"), "there is no quantity 'nosuch'"),
        (("cite", "nosuch"), "one of 4"),
        (("simulate", "panda", *FALLING), "--limits STIFFNESS switches them on"),
        (("simulate", "planar2r", "--duration", "0.0015"), "fix: --duration 0.002, or --dt 0.00075"),
        (("simulate", "planar2r", "--limits", "-1"), "--limits: out of range"),
        (("simulate", "planar2r", "--kp", "-1", "--goal", "0,0"), "--kp: out of range"),
        (("excite", "quadruped"), "--base fixed"),
        (("export", "panda", "--name", "1a"), "fix: --name robot_1a"),
        (("convert", "panda", "r.urdf"), "replace it with --overwrite"),
        (("inspect", "panda", "--with-parameters", "nosuch.yaml"), "fix: give the path of a file"),
        (
            ("check", "r.urdf", "--json"),
            "--with-parameters FILE, or identify them from measurements: `linkwork identify`",
        ),
        (("inspect", "robot/r.xml"), "or allow it by --allow-external-files"),
        (("inspect", "bar.urdf"), "load with --structure bar.loops.yaml"),
        (("eval", "panda", "gravity", "--frame", "panda_link8"), "got: --frame panda_link8"),
        (("eval", "panda", "gravity", "--axes", "local"), "got: --axes local"),
        (("params", "panda", "--drives", "nosuch"), "--drives: there is no parameter of drives 'nosuch'"),
        (("excite", "planar2r", "--height", "0"), "--frames: the frames that keep clear are missing fix: --frames tip"),
        (("count", "planar2r", *2 * ("--quantity", "pose:tip")), "pose_tip fix: one command for each"),
        (("simulate", "twins.urdf", "--record", "pose:a-b", "--record", "pose:a_b"), "fix: one command for each"),
        (("simulate", "planar2r", "--record", "pose"), "expected: pose:FRAME, one of: base"),
        (("export", "planar2r", "--quantity", "pose"), "expected: pose:FRAME, one of: base"),
        (("export", "planar2r", "--quantity", "pose:tip", "--frame", "base"), "frame is given twice"),
        (("excite", "planar2r", "--still", "nosuch=1"), "--still: there is no joint 'nosuch'"),
    ],
)
def test_the_command_line_speaks_of_its_options(words, expected, tmp_path, monkeypatch, run_linkwork):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.urdf").write_text(INDEFINITE)
    twins = INDEFINITE.replace('ixy="5"', 'ixy="0"').replace('"a"', '"a-b"').replace('"b"', '"a_b"')
    (tmp_path / "twins.urdf").write_text(twins)
    (tmp_path / "more.xml").write_text("<mujoco/>")
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "r.xml").write_text(OUTSIDE)
    linkwork.load("four-bar").write("bar.urdf")
    _, out, err = run_linkwork(*words)
    assert expected in " ".join(f"{out} {err}".split())
    assert not PYTHON.search(out + err)


def test_options_in_texts_exist(run_linkwork):
    others = {"--version", "--option", "--build", "--test-dir"}  # of all commands, of any, and of CMake
    helps = [run_linkwork(name, "--help")[1] for name in COMMANDS]
    options = others.union(*(re.findall(r"--[a-z][a-z-]+", text) for text in helps))
    folder = Path(linkwork.__file__).parent
    for path in (each for each in folder.rglob("*.py") if each.name != "renamed.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts = [each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        names = {name for text in texts for name in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
        assert names <= options, path.relative_to(folder)


def test_python_speaks_python(run_linkwork):
    run_linkwork("cite", "nosuch")  # which leaves nothing behind
    with pytest.raises(linkwork.UnknownNameError, match="`known` of this error lists all"):
        linkwork.load("panda").compile("nosuch")
    with pytest.raises(linkwork.LinkworkError, match=r"duration=0\.002, or dt=0\.00075"):
        linkwork.load("planar2r").simulate([0, 0], [0, 0], duration=0.0015)
