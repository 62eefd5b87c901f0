"""Public names, the catalog and the version."""

import inspect
import re
from pathlib import Path

import pytest

import linkwork
from linkwork.formulations import METHODS, QUANTITIES, references
from linkwork.pipeline import Robot

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
    source, tag = inspect.getsource(inspect.getmodule(method.function)), r"\((\d+)\)"
    in_docstrings = {
        t for line in inspect.getdoc(method.function).splitlines() for t in re.findall(rf"^\s*{tag}", line)
    }
    at_line_ends = {t for line in source.splitlines() for t in re.findall(rf"# {tag}\s*$", line)}
    assert in_docstrings <= at_line_ends, f"equations without a line: {in_docstrings - at_line_ends}"


def test_versions_agree():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited and cited[1] == linkwork.__version__
    assert f"## {linkwork.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_bundled_robots_are_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    for name in linkwork.bundled_robots():
        assert f"`{name}`" in readme
