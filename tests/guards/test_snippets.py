"""Every snippet of the README and the docs runs, file by file from top to bottom; so do examples and notebook."""

import re
import runpy
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

import nbformat
import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork
from linkwork.cli import app
from linkwork.io import read
from linkwork.model import ConstraintKind
from linkwork.sim import INTEGRATORS

ROOT = Path(linkwork.__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FRACTION = re.compile(r"-?\b\d+(?:\.\d+(?:e[-+]\d+)?|e[-+]\d+)")
BLOCK = re.compile(r"^```(python|console|yaml)\n(.*?)^```", re.M | re.S)


@pytest.fixture(autouse=True)
def integrators():
    """Those that a page adds are its own, and so are kinds of constraints."""
    with patch.dict(INTEGRATORS), patch.dict(ConstraintKind.known):
        yield


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"api/{p.name}" if p.parent.name == "api" else p.name)
def test_snippets(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    blocks = BLOCK.findall(page.read_text())
    assert blocks, f"{page.name} has no snippets"
    for language, text in blocks:
        if language == "python":
            exec(compile(text, page.name, "exec"), names)
        elif language == "yaml":
            (tmp_path / "snippet.yaml").write_text(text)
            linkwork.load(read(tmp_path / "snippet.yaml"))
        else:
            for line in text.splitlines():
                if line.startswith("$ linkwork "):
                    result = CliRunner().invoke(app, shlex.split(line.split("#")[0])[2:])
                    assert result.exit_code == 0, f"{line}\n{result.output}"


TABLED = [page for page in PAGES if re.search("<!-- (tables|counts|derivatives):", page.read_text())]


@pytest.mark.parametrize("page", TABLED, ids=lambda page: page.name)
def test_tables_in_the_docs_are_up_to_date(page):
    with_tables = runpy.run_path(str(ROOT / "docs" / "update_tables.py"))["with_tables"]
    assert page.read_text() == with_tables(page.read_text()), "run `make docs-tables`"
    assert len(TABLED) >= 5


def test_the_table_of_integrators_is_up_to_date():
    tools = runpy.run_path(str(ROOT / "docs" / "update_integrators.py"))
    page = tools["PAGE"].read_text()
    assert page == tools["with_block"](page, "methods", tools["methods"]()), "run `make docs-tables`"
    assert all(f"| `{name}` | {cost} |" in page for name, cost in tools["COST"].items()), "run `make docs-tables`"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")


def test_notebook():
    """It runs, and shows what it showed when it was kept; the last digits are the processor's."""
    tools = runpy.run_path(str(ROOT / "docs" / "update_notebook.py"))
    kept = nbformat.read(tools["NOTEBOOK"], as_version=4)
    found, expected = ("\n".join(tools["words"](each)) for each in (tools["executed"](), kept))
    assert FRACTION.sub("#", found) == FRACTION.sub("#", expected), "run `make docs-tables`"
    numbers = ([float(x) for x in FRACTION.findall(text)] for text in (found, expected))
    np.testing.assert_allclose(*numbers, rtol=0.02, atol=1e-6)
    assert len(tools["words"](kept)) >= 9
    assert tools["NOTEBOOK"].stat().st_size < 200_000, "pictures in a notebook stay small"
