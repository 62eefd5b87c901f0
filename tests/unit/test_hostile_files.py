"""Files that are no robots, too large, or full of mistakes: refused at once, with a word about each mistake."""

import os
import re
import sys
import time
from dataclasses import replace

import pytest

import linkwork
from linkwork.errors import LinkworkError, ModelError, UnknownNameError
from linkwork.io import read_mdh, yaml_nodes
from linkwork.io.structure_file import apply, read_structure
from linkwork.model import CUT_JOINTS, check, validate
from linkwork.model.description import ConstraintDescription, Description, JointDescription, Link, Mimic, Placement
from linkwork.sweep import read_study

MISTAKEN = """\
name: arm
jonts: []
sources: {book: "A book", links: "Another"}
base: {kind: fixd, M: heavy}
gravity: [0, 0]
joints:
  - {name: a, link: upper, sigma: 7, parent: elsewhere, aplha: 1}
  - {name: b, link: fore, d: long, r: 1/0}
  - {name: a, link: hand}
  - 5
links:
  - {link: uper, M: 1}
  - {link: upper, XX: 1}
  - {link: fore, M: 1, central: [1, 2], source: book}
  - {link: fore, M: 1}
drives:
  - {joint: a, role: activ, Fv: oily, limits: [1]}
  - {joint: b, mimic: {offset: 1}}
frames:
  - {name: tool, link: for}
  - {name: tool, link: fore}
loops:
  - {kind: ball, first: {frame: tool}, second: {link: fore}}
  - {kind: weld, first: {frame: tool}}
home: {a: up, c: 1}
independent: [c]
forces:
  - {frame: tool, law: darg}
  - {frame: tool, law: drag, length: 1, stiffness: 2}
actuation: both
"""
WORDS = [
    (2, "no key 'jonts'.*did you mean 'joints'"),
    (3, "'links' cannot be the key of a source"),
    (4, "base: there is no kind of base 'fixd'"),
    (4, "base: not a number; got: 'heavy'"),
    (5, "wrong length; got: 2 numbers; expected: 3 numbers"),
    (7, "no key 'aplha'.*did you mean 'alpha'"),
    (7, "joint 'a': there is no sigma '7'; expected: one of: 0, 1, 2"),
    (7, "joint 'a': there is no earlier link 'elsewhere'"),
    (8, "joint 'b': not a number; got: 'long'"),
    (8, "joint 'b': not a number; got: '1/0'"),
    (9, "used twice: rename one; got: 'a', 'hand'"),
    (10, "joints row 4: wrong type; got: '5'"),
    (12, "no link 'uper'.*did you mean 'upper'"),
    (13, "link 'upper': the mass is missing"),
    (14, "link 'fore': wrong length; got: 2 numbers; expected: 3 or 6 numbers"),
    (15, "link 'fore': the link has two rows"),
    (17, "joint 'a': there is no role 'activ'"),
    (17, "joint 'a': not a number; got: 'oily'"),
    (17, "joint 'a': wrong length; got: 1 number"),
    (18, "joint 'b': 'joint' is missing"),
    (20, "frame 'tool': there is no link 'for'"),
    (21, "frame 'tool': the name of the frame is used twice"),
    (23, "loop 'loop1': there is no kind of loop 'ball'"),
    (24, "loop 'loop2': 'second' is missing"),
    (25, "home: not a number; got: 'up'"),
    (25, "home: there is no key 'c'"),
    (26, "independent: there is no joint 'c'"),
    (28, "forces row 1: there is no law 'darg'.*did you mean 'drag'"),
    (28, "forces row 1: 'length' is missing"),
    (29, "forces row 2: there is no key 'stiffness'"),
    (30, "there is no actuation 'both'"),
]


def test_every_mistake_of_a_file_is_told():
    with pytest.raises(ModelError) as caught:
        read_mdh(MISTAKEN, "bad.yaml")
    told = sorted((int(re.findall(r"line (\d+)", f.where)[0]), str(f)) for f in caught.value.findings)
    assert [line for line, _ in told] == [line for line, _ in WORDS]
    for line, words in WORDS:
        assert any(at == line and re.search(words, text, re.DOTALL) for at, text in told), (line, words)
    message = str(caught.value)
    assert message.startswith(
        f"bad.yaml: this robot cannot be loaded because of {len(WORDS)} errors\n- error: bad.yaml"
    )
    assert re.search(r"\n- and \d\d more: `linkwork check` lists them$", message) and len(message) < 2000


def test_one_mistake_is_told_as_itself():
    with pytest.raises(ModelError) as caught:
        read_mdh("name: arm\njoints: [{d: long}]", "bad.yaml")
    assert str(caught.value).startswith("bad.yaml: line 2: joint 'joint1': not a number\n  got: 'long'\n  expected: a")
    assert not caught.value.findings


def test_every_mistake_of_a_side_file_is_told():
    robot = read_mdh("name: arm\njoints: [{name: a}, {name: b}]")
    side = "loop: 1\nroles: {pasive: [a], elastic: [c, a]}\nweights: {a: heavy}\nhome: [1]\n"
    with pytest.raises(ModelError) as caught:
        apply(robot, read_structure(side.replace("loop: 1", "loops: 1"), "side.yaml"))
    assert [f.where for f in caught.value.findings] == [
        *("side.yaml: line 1", "side.yaml: line 4: home", "side.yaml: line 2: roles", "side.yaml: line 2: roles"),
        "side.yaml: line 3: weights",
    ]


def test_check_shows_every_mistake(run_linkwork, tmp_path):
    (tmp_path / "bad.yaml").write_text(MISTAKEN)
    code, out, _ = run_linkwork("check", tmp_path / "bad.yaml", "--json")
    assert code == 1 and out.count('"level": "error"') == len(WORDS)
    code, out, _ = run_linkwork("check", tmp_path / "bad.yaml")
    assert code == 1 and f"{len(WORDS)} errors, no warnings: it does not load." in out
    assert all(f"line {line}" in out for line, _ in WORDS)


# -- what is no file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".yaml", ""])
def test_names_of_files(suffix, tmp_path):
    (tmp_path / f"folder{suffix}").mkdir()
    os.mkfifo(tmp_path / f"pipe{suffix}")
    os.symlink("/dev/zero", tmp_path / f"zero{suffix}")
    os.symlink(f"ring{suffix}", tmp_path / f"ring{suffix}")
    for name in ("a" * 5000, "a\0", "\ud800", "a/" * 3000 + "a", "nothing"):
        with pytest.raises(LinkworkError, match=r"cannot be read|there is no bundled robot"):
            linkwork.load(f"{name}{suffix}")
    for name in ("folder", "pipe", "zero", "ring"):
        with pytest.raises(LinkworkError, match=r"cannot be read|this format is not supported|no bundled robot"):
            linkwork.load(tmp_path / f"{name}{suffix}")
        with pytest.raises(ModelError, match="cannot be read"):
            linkwork.load("planar2r", structure=tmp_path / f"{name}{suffix}")


@pytest.mark.parametrize("robot", [5, 2.5, b"panda", ["panda"], object])
def test_what_is_no_name(robot):
    with pytest.raises(ModelError, match="this is not a robot"):
        linkwork.load(robot)
    with pytest.raises(ModelError, match="this is not a side file"):
        linkwork.load("planar2r", structure=robot)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".yaml"])
def test_files_that_are_too_long(suffix, tmp_path):
    path = tmp_path / f"long{suffix}"
    with open(path, "wb") as file:
        file.truncate(10**12)  # takes no room on most disks
    with pytest.raises(
        ModelError, match="the file is too long\n  got: 1,000,000,000,000 bytes\n  expected: at most 8,388,608 bytes"
    ):
        linkwork.load(path)


@pytest.mark.parametrize("text", [b"name: \xff", b"\xff\xfen\0a\0", b"name: \xed\xa0\x80"])
def test_what_is_not_text(text, tmp_path):
    (tmp_path / "robot.yaml").write_bytes(text)
    with pytest.raises(ModelError, match="not UTF-8 text"):
        linkwork.load(tmp_path / "robot.yaml")
    with pytest.raises(ModelError, match="not readable as YAML"):
        read_mdh("name: \ud800")


def test_names_of_studies(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("a" * 5000, "a\0", "\ud800", tmp_path, tmp_path / "pipe.yaml", "/dev/zero"):
        with pytest.raises(LinkworkError, match="cannot be read"):
            read_study(name)
    rest = "simulation: {dt: 0.1, duration: 1}\noutputs: [final.q]\n"
    for name in ("a" * 5000 + ".yaml", "a/" * 3000 + "a.yaml", "pipe.yaml", "/dev/zero", "'a\\0.yaml'", '"a\\0.yaml"'):
        (tmp_path / "study.yaml").write_text(f"robot: {name}\n{rest}")
        with pytest.raises(LinkworkError, match="line 1: robot: this robot cannot be loaded"):
            read_study(tmp_path / "study.yaml")


# -- what is too much ----------------------------------------------------------------------------------------------

TOO_MUCH = {
    "unknown keys": ("name: a\n" + "".join(f"key{k}: 1\n" for k in range(10**5)), "because of 50 errors"),
    "unknown joints": (
        "{name: a, joints: [{}], home: {" + ", ".join(f"j{k}: 1" for k in range(10**4)) + "}}",
        "because of 50 errors",
    ),
    "joints": ("name: a\njoints: [" + "{}," * 20_000 + "]", "line 2: joint 'joint10000': too many links"),
    "legs": (
        "name: a\nplatform: {freedoms: spatial, M: 1}\nleg: {joints: [{}], closure: weld}\nlegs: ["
        + "{base: {}, platform: {}}," * 300
        + "]\nmodules: ["
        + ", ".join(f"{{name: m{k}}}" for k in range(300))
        + "]",
        "too many links",
    ),
    "a key": ("? " + "a" * 10**6 + "\n: 1", "there is no key"),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_too_much(what):
    text, words = TOO_MUCH[what]
    before = time.process_time()
    with pytest.raises(ModelError, match=words) as caught:
        read_mdh(text)
    assert time.process_time() - before < 5  # the unknown keys took 34 s
    assert len(caught.value.findings) <= 50


def test_too_many_values(monkeypatch):
    monkeypatch.setattr(yaml_nodes, "_MOST", 1000)
    with pytest.raises(ModelError, match="line 2: too many values\n  expected: at most 1,000"):
        read_mdh("name: a\njoints: [" + "1," * 1000 + "]")


def test_large_robots():
    """Nothing recurs from joint to joint, and time does not grow with the square of their number."""
    rows = "".join(f"  - {{link: l{k}, parent: {f'l{k - 1}' if k else 'base'}}}\n" for k in range(1500))
    masses = "".join(f"  - {{link: l{k}, M: 1, ZZ: 1}}\n" for k in range(1500))
    for convention in ("modified", "standard"):
        before = time.process_time()
        robot = linkwork.load(read_mdh(f"name: a\nconvention: {convention}\njoints:\n{rows}links:\n{masses}"))
        assert robot.nv == 1500 and time.process_time() - before < 4


def chained(count: int, *, mimic: bool = False, name: str = "l") -> Description:
    links = tuple(Link(f"{name}{k}") for k in range(count + 1))
    follows = [Mimic(f"j{k - 1}") if mimic and k else None for k in range(count)]
    joints = (
        JointDescription(f"j{k}", "revolute", f"{name}{k}", f"{name}{k + 1}", mimic=follows[k]) for k in range(count)
    )
    return Description("chain", links, tuple(joints))


def test_bounds_of_a_description(monkeypatch):
    (first, _) = check(chained(1, name="a" * 10**6))
    assert first.level == "error" and first.message.startswith("a name has 1,000,001 characters, more than 500: aaa")
    (links,) = check(chained(10_000))
    assert links.level == "error" and links.message == "it has 10,001 links; at most 10,000 are read"
    monkeypatch.setattr(validate, "MOST_LINKS", 10)
    assert not [finding for finding in check(chained(9)) if finding.level == "error"]
    assert [finding.level for finding in check(chained(10))] == ["error"]
    monkeypatch.setattr(validate, "MOST_LOOPS", 1)
    monkeypatch.setattr(validate, "MOST_WITH_LOOPS", 5)
    loops = [
        ConstraintDescription(f"loop{k}", CUT_JOINTS["weld"], ("l0", Placement()), ("l5", Placement()))
        for k in range(2)
    ]
    assert not [f for f in check(replace(chained(5), constraints=(loops[0],))) if f.level == "error"]
    told = [finding.message for finding in check(replace(chained(6), constraints=tuple(loops)))]
    assert told == ["it has 2 loops; at most 1 are read", "it has 6 joints, and loops; at most 5 are read"]


def test_chains_of_followers():
    followers = [f for f in check(chained(1000, mimic=True)) if f.level == "error"]
    assert len(followers) == 900 and all(len(f.message) < 300 for f in followers)
    with pytest.raises(ModelError, match=r"because of 900 errors(.|\n)*and 89\d more: `linkwork check`") as caught:
        linkwork.load(chained(1000, mimic=True))
    assert len(str(caught.value)) < 2000
    assert not [f for f in check(chained(100, mimic=True)) if f.level == "error"]


def test_no_parser_recurs():
    depth = 10 * sys.getrecursionlimit()
    for text in ("[" * depth, "{a: " * depth, "- " * depth, "? " * depth, "name: " + "[" * depth + "]" * depth):
        with pytest.raises(ModelError, match=r"nested too deep|not readable"):
            read_mdh(text)


def test_unknown_robots_are_all_listed():
    with pytest.raises(UnknownNameError) as caught:
        linkwork.load("pandaa")
    assert all(name in str(caught.value) for name in linkwork.bundled_robots())
