"""The docs as a site: every page is in its navigation, links lead somewhere, pictures are in the gallery, it builds."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import linkwork
from linkwork import control, errors

ROOT = Path(linkwork.__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = {"benchmarks/RESULTS.md"}
LINK = re.compile(r"(?<!\\)\]\(([^)\s#]+)(#[^)\s]+)?\)")


def listed(entries) -> list[str]:
    """The pages of a navigation."""
    if isinstance(entries, str):
        return [entries]
    parts = entries.values() if isinstance(entries, dict) else entries
    return [page for part in parts for page in listed(part)]


def navigation() -> list[str]:
    return listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]*`|^    .*?$", "", text, flags=re.M | re.S)


def test_every_page_is_in_the_navigation_once():
    pages = [page for page in navigation() if page != "examples/"]
    assert sorted(pages) == sorted({*(page.relative_to(DOCS).as_posix() for page in PAGES), *GENERATED})


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(without_code(page.read_text())):
        if "://" in target:
            continue
        path = (page.parent / target).resolve()
        assert path.exists(), f"{page.name}: {target}"
        if anchor:
            titles = re.findall(r"^#+ (.+)$", path.read_text(), re.M)
            assert anchor[1:] in {re.sub(r"[^\w]+", "-", title.lower()).strip("-") for title in titles}, anchor


def test_every_picture_is_in_the_gallery():
    gallery = (DOCS / "gallery.md").read_text()
    for picture in DOCS.rglob("*.png"):
        assert f"]({picture.relative_to(DOCS).as_posix()})" in gallery


def test_the_reference_has_all_public_names():
    """Whole modules stand for what they hold."""
    named = re.findall(r"^::: linkwork\.(\S+)$", (DOCS / "api.md").read_text(), re.M)
    known = {each.rpartition(".")[2] for each in named} | set(errors.__dict__) | set(control.__all__)
    assert set(linkwork.__all__) <= known


def test_examples_become_pages():
    example_page = runpy.run_path(str(DOCS / "site_hooks.py"))["example_page"]
    text = example_page(ROOT / "examples" / "four_bar.py")
    assert text.startswith("# A four-bar turned at constant speed\n\nBoth ways to put it together")
    assert 'robot = linkwork.load("four-bar")' in text and text.count("```") == 2


def test_notebook_becomes_a_page_with_what_it_shows():
    notebook_page = runpy.run_path(str(DOCS / "site_hooks.py"))["notebook_page"]
    text = notebook_page(ROOT / "examples" / "tour.ipynb")
    assert text.startswith("# A tour of linkwork\n\n")
    assert "$$\n\\begin{aligned}" in text and text.count('<img alt="" src="data:image/png') >= 2


def test_site_builds_without_warnings(tmp_path):
    """All is there, and a page asks for nothing from the network."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False
    )
    assert run.returncode == 0, run.stderr
    for page in ("index.html", "api.html", "papers/lin-1991.html", "examples/four_bar.html", "benchmarks/RESULTS.html"):
        text = (tmp_path / page).read_text()
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*?(?:src|href)="([^"]+)"', text)
        assert loaded and not [each for each in loaded if each.startswith(("http", "//"))]
    assert "inverse_dynamics" in (tmp_path / "api.html").read_text()
