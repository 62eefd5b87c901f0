"""Public names, the catalog and the version."""

import inspect
import re
from pathlib import Path

import pytest

import linkwork
from linkwork.formulations import METHODS, QUANTITIES, references
from linkwork.robot import Robot

TAG = r"\(([A-Z]?\.?\d+[\w.']*)\)"  # (12), (3.11), (A5), (14')
ROOT = Path(linkwork.__file__).parents[2]


def test_public_names_exist_and_are_documented():
    for name in linkwork.__all__:
        assert inspect.getdoc(getattr(linkwork, name)), name


def test_every_quantity_is_reachable_from_a_robot():
    for name in QUANTITIES:
        assert inspect.getdoc(getattr(Robot, name)), name


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


def test_bundled_robots_are_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    for name in linkwork.bundled_robots():
        assert f"`{name}`" in readme
