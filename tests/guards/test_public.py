"""Public names, the catalog and the version."""

import ast
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import linkwork
from linkwork.formulations import METHODS, QUANTITIES, references
from linkwork.identify import excite
from linkwork.options import OPTIONS
from linkwork.renamed import RENAMED
from linkwork.robot import Robot

TAG = r"\(([A-Z]?\.?\d+[\w.']*)\)"  # (12), (3.11), (A5), (14')
ROOT = Path(linkwork.__file__).parents[2]
RETURNED = {
    "sparsity.Pattern",
    "parameters.BaseParameters",
    "kinematics.timed_path.TimedPath",
    "sim.contact.contact_report.ContactForces",
    "sim.derivatives.gradient.Gradient",
    "sim.derivatives.linear_system.LinearSystem",
}  # by methods of public classes


PUBLIC = set(linkwork.__all__)
PARTS = [name for name in linkwork.__all__ if inspect.ismodule(getattr(linkwork, name))]


def test_public_names_exist_and_are_documented():
    for name in linkwork.__all__:
        assert inspect.getdoc(getattr(linkwork, name)), name


@pytest.mark.parametrize("part", PARTS)
def test_parts_show_their_public_names_and_nothing_else(part):
    module = getattr(linkwork, part)
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        assert inspect.getdoc(value) or not callable(value), name


def test_the_reference_has_all_public_names():
    """A part stands for its names. A name that is not in the reference is not public, and the other way round."""
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    listed = [name for page in pages for name in re.findall(r"^::: linkwork\.(\S+)$", page.read_text(), re.M)]
    assert sorted(listed) == sorted({*PUBLIC, *RETURNED})


@pytest.mark.parametrize("before", ["", "linkwork.load('planar2r').simulate(duration=0.01); from linkwork import *"])
def test_dir_shows_public_names_and_nothing_else(before):
    code = f"import linkwork\n{before}\nprint(*dir(linkwork))"
    shown = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert set(shown.stdout.split()) == PUBLIC | {"__version__"}


def test_every_quantity_is_reachable_from_a_robot():
    for name in QUANTITIES:
        assert inspect.getdoc(getattr(Robot, name)), name


def test_editors_know_the_functions_of_a_robot():
    written = runpy.run_path(str(ROOT / "tests" / "robot_stub.py"))
    for path, text in written["stubs"]().items():
        assert path.read_text(encoding="utf-8") == text, "python tests/robot_stub.py writes it anew"
        ast.parse(text)


def test_options_are_those_of_the_table():
    for name, options in OPTIONS.items():
        function = excite if name == "excite" else getattr(Robot, name)
        parameters = inspect.signature(function).parameters
        assert parameters.keys() >= options.taken_by(name).keys()
        assert all(f"{option}: " in inspect.getdoc(function) for option in options.taken_by(name))
        assert not any(each.kind is each.VAR_KEYWORD for each in parameters.values())


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.quantity}-{m.name}")
def test_methods_have_a_reference_and_tagged_equations(method):
    assert method.reference in references()
    assert method.quantity in QUANTITIES
    function = getattr(method.function, "func", method.function)  # of a partial
    source = inspect.getsource(inspect.getmodule(function))
    listed = re.findall(rf"^ *{TAG}", inspect.getdoc(function), re.M)
    at_line_ends = {
        tag for end in re.findall(r"# ((?:\([^)]*\)[, ]*)+)$", source, re.M) for tag in re.findall(TAG, end)
    }
    assert set(listed) <= at_line_ends, f"equations without a line: {set(listed) - at_line_ends}"


def test_versions_agree():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited and cited[1] == linkwork.__version__
    assert f"## {linkwork.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_bundled_robots_and_methods_are_in_the_docs():
    page = (ROOT / "docs" / "features.md").read_text()
    for name in linkwork.bundled_robots():
        assert f"`{name}`" in page
    ranges = {f"lin-fang-{k}" for k in (2, 3, 4)} | {f"lin-fang-{k}-minimal" for k in (1, 2)}
    ranges |= {"fijany-bejczy-0", "fijany-bejczy-n"}  # the page writes them as "to" and "frame 0, 2 or n"
    names = {method.name for quantity in QUANTITIES for method in linkwork.methods(quantity)}
    assert not {name for name in names - ranges if f"`{name}`" not in page}
    assert f"{len(names)} methods" in (ROOT / "README.md").read_text()


def test_renamed_names_are_refused_with_the_new_one():
    with pytest.raises(AttributeError, match=r"use linkwork\.inspection"):
        linkwork.about  # noqa: B018
    with pytest.raises(AttributeError, match=r"use robot\.standing_position\(\)"):
        linkwork.load("planar2r").standing  # noqa: B018
    for owner, names in RENAMED.items():
        home = Robot if owner == "Robot" else linkwork if owner == "linkwork" else None
        assert home is None or not any(hasattr(home, name) for name in names)
