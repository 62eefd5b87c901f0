"""The docs as a site: every page is in its navigation, links lead somewhere, pictures are in the gallery, it builds."""

import os
import re
import runpy
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from markdown.extensions.toc import slugify

import linkwork

ROOT = Path(linkwork.__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = {"benchmarks/RESULTS.md"}
FIRST_PAGES = {  # of a search for these words
    "default": "conventions",
    "required": "conventions",
    "optional": "conventions",
    "unit": "conventions",
    "shape": "conventions",
    "batch": "conventions",
    "Jacobian": "api/robots",
    "inertia matrix": "api/robots",
    "mass matrix": "api/robots",
    "contact force": "legs",
    "constraint": "structures/closed-loops",
    "degrees of freedom": "structures/closed-loops",
    "assembly mode": "structures/closed-loops",
    "closed chain": "structures/closed-loops",
    "trajectory": "simulation",
    "checkpoint": "simulation",
    "diverged": "simulation",
    "cache": "how-it-works",
    "command": "inspection",
    "warning": "api/errors",
    "raises": "api/errors",
    "friction": "structures/drives",
    "friction identification": "identification",
    "base parameters": "minimal-parameters",
    "external force": "structures/forces",
    "partial derivative": "derivatives",
    "inverse kinematics": "kinematics",
    "URDF": "robot-files",
    "C code": "export",
}
GROUPS = 8  # of the navigation, at most
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


def test_the_navigation_has_few_groups():
    assert len(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]) <= GROUPS


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(without_code(page.read_text())):
        if "://" in target:
            continue
        path = (page.parent / target).resolve()
        assert path.exists(), f"{page.name}: {target}"
        if anchor:
            titles = re.findall(r"^#+ (.+)$", path.read_text(), re.M)
            assert anchor[1:] in {slugify(title, "-") for title in titles}, anchor


def test_every_picture_is_in_the_gallery():
    gallery = (DOCS / "gallery.md").read_text()
    for picture in DOCS.rglob("*.png"):
        assert f"]({picture.relative_to(DOCS).as_posix()})" in gallery


def test_examples_become_pages():
    example_page = runpy.run_path(str(DOCS / "site_hooks.py"))["example_page"]
    text = example_page(ROOT / "examples" / "four_bar.py")
    assert text.startswith("# A four-bar turned at constant speed\n\nBoth assembly modes")
    assert 'robot = linkwork.load("four-bar")' in text and text.count("```") == 2


def test_docstrings_are_prepared_for_the_parser_of_the_site():
    prepared = runpy.run_path(str(DOCS / "plain_docstrings.py"))["prepared"]
    entry = ":\n    {}: numbers,\n        in m\n    c: one\n\n"
    text = f"Sum, a, b: two.\n\nArgs{entry.format('a, b')}Returns:\n    x, y: z\n\nExample:\n    >>> 1"
    apart = "a: numbers,\n        in m\n    b"
    assert prepared(text) == text.replace("Example:", "Examples:").replace("    a, b", f"    {apart}")


def test_notebook_becomes_a_page_with_what_it_shows():
    notebook_page = runpy.run_path(str(DOCS / "site_hooks.py"))["notebook_page"]
    text = notebook_page(ROOT / "examples" / "tour.ipynb")
    assert text.startswith("# A tour of linkwork\n\n")
    assert "$$\n\\begin{aligned}" in text and text.count('<img alt="" src="data:image/png') >= 2


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False
    )
    assert run.returncode == 0, run.stderr
    return folder


def test_site_builds_without_warnings_and_asks_for_nothing_from_the_network(site):
    pages = sorted(site.rglob("*.html"))
    assert {"index.html", "robots.html", "lin-1991.html", "four_bar.html", "tour.html", "RESULTS.html"} <= {
        page.name for page in pages
    }
    for page in pages:
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*?(?:src|href)="([^"]+)"', page.read_text())
        assert loaded and not [each for each in loaded if each.startswith(("http", "//"))], page
    assert "inverse_dynamics" in (site / "api" / "robots.html").read_text()


def test_formulas_are_typeset(site):
    """Every formula of a page reaches MathJax, which the page loads from the site; other pages do without."""
    for page in PAGES:
        text = (site / page.relative_to(DOCS).with_suffix(".html")).read_text()
        prose = without_code(page.read_text())
        formulas = len(re.findall(r"^\$\$$", prose, re.M)) // 2 + len(re.findall(r"(?<!\$)\$(?!\$)", prose)) // 2
        assert text.count('class="arithmatex"') == formulas, page.name
        scripts = [
            (site / page.relative_to(DOCS)).parent / each for each in re.findall(r'src="([^"]*mathjax[^"]*)"', text)
        ]
        assert [script.exists() for script in scripts] == ([True] if formulas else []), page.name
        if page.parent.name == "papers":
            assert formulas >= 10, page.name


def test_mathematics_in_a_browser(site, browser):
    """All is set, without an error, from the files of the site alone; no box of code or formula hides a part."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    for page in (each for each in PAGES if each.parent.name in ("papers", "structures")):
        tab.goto((site / page.relative_to(DOCS).with_suffix(".html")).as_uri())
        tab.evaluate("window.MathJax && MathJax.startup.promise")
        formulas, typeset, errors, cut = tab.evaluate(
            """() => {
                const all = selector => [...document.querySelectorAll(selector)];
                const wide = each => each.scrollWidth > each.clientWidth + 1;
                return [all(".arithmatex"), all(".arithmatex mjx-container"), all("[data-mml-node=merror]"),
                        all("pre > code, div.arithmatex").filter(wide)].map(each => each.length);
            }"""
        )
        assert (typeset, errors, cut) == (formulas, 0, 0), page.name
    assert asked and all(url.startswith(("file:", "data:")) for url in asked)


def test_pages_fit_a_phone(site, browser):
    """Nothing is wider than the screen unless it scrolls, and formulas keep their size."""
    tab = browser.new_page(viewport={"width": 420, "height": 860})
    for page in ("index", "symbolic-models", "papers/khalil-2010", "api/robots", "benchmarks/RESULTS"):
        tab.goto((site / f"{page}.html").as_uri())
        tab.evaluate("window.MathJax && MathJax.startup.promise")
        width, small = tab.evaluate(
            """() => [document.documentElement.scrollWidth,
                      [...document.querySelectorAll("mjx-container > svg")].filter(e => e.clientWidth < 4).length]"""
        )
        assert width <= 420 and not small, page


@pytest.fixture(scope="module")
def address(site):
    """The site on a web server: browsers start no workers from files."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_search_finds_the_right_page_first(site, address, browser):
    """The worker that ranks the pages on the site gets the site's own index."""
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    tab = browser.new_page()
    tab.goto(f"{address}/index.html")
    first = tab.evaluate(
        """async ([path, words]) => {
            const worker = new Worker(path);
            const ask = message => new Promise(answer => {
                worker.onmessage = event => answer(event.data);
                worker.postMessage(message);
            });
            const index = await (await fetch("search/search_index.json")).json();
            await ask({type: 0, data: {...index, options: {suggest: false}}});
            const pages = {};
            for (const word of words) pages[word] = (await ask({type: 2, data: word})).data.items[0]?.[0].location;
            return pages;
        }""",
        [worker.relative_to(site).as_posix(), list(FIRST_PAGES)],
    )
    pages = {word: (location or "").split("#")[0].removesuffix(".html") for word, location in first.items()}
    assert pages == FIRST_PAGES
