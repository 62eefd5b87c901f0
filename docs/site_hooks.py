"""Add to the site what is not in docs/: the examples as pages, the benchmark results with pictures, and MathJax.

Links in the docs lead to files of the repository; the hooks turn them into links to pages of the site. The search
is corrected, too.
"""

import ast
import html
import json
import logging
import re
from importlib.metadata import distribution
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[1]
LOG = logging.getLogger("mkdocs.hooks")
OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(benchmarks|docs|examples|src|tests)/([^)]*)\)")
OPTIONAL = re.compile(r"(<td>\s*<div[^>]*>\s*<p>optional\b(?:(?!</tr>).)*?)<em>required</em>", re.S)
MATHJAX = "assets/mathjax/tex-svg.js"  # with its glyphs: no fonts to load, so it works from the disk, too
NODE_NAME = re.compile(r"\b(\w)=\1\+(\w)\+(\w)\.id(?=\})")  # lunr's TokenSet.toString in the search of the site
MATHJAX_OPTIONS = {"options": {"ignoreHtmlClass": ".*|", "processHtmlClass": "arithmatex"}}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace the entry ``examples/`` of the navigation by one page for each example."""
    pages = [{path.stem.replace("_", " ").capitalize(): _page_of(path)} for path in _examples()]
    config.nav = _with_examples(config.nav or [], pages)
    return config


def _with_examples(entries: list, pages: list) -> list:
    """Replace the entry ``examples/`` of a navigation, in any group."""
    examples = {"Examples": "examples/"}
    groups = [{"Examples": pages} if entry == examples else entry for entry in entries]
    return [
        {name: _with_examples(part, pages) if isinstance(part, list) else part}
        for entry in groups
        for name, part in entry.items()
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in _examples():
        text = notebook_page(path) if path.suffix == ".ipynb" else example_page(path)
        files.append(File.generated(config, _page_of(path), content=text))
    for path in (ROOT / "benchmarks" / "RESULTS.md", *(ROOT / "benchmarks").glob("*.png")):
        files.append(File.generated(config, f"benchmarks/{path.name}", abs_src_path=str(path)))
    package = distribution("sphinx-mathjax-offline")  # only its files are used
    script = package.locate_file(f"sphinx-mathjax-offline/static/mathjax/{Path(MATHJAX).name}")
    files.append(File.generated(config, MATHJAX, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return OUTSIDE.sub(lambda match: _inside(*match.groups(), page.file.src_uri), markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mark optional parameters in the tables of the API: mkdocstrings calls all without a default required."""
    return OPTIONAL.sub(r"\1<em>optional</em>", html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Load MathJax only on pages with formulas, because it is large."""
    if 'class="arithmatex"' not in output:
        return output
    source = get_relative_url(MATHJAX, page.url)
    scripts = f'<script>MathJax = {json.dumps(MATHJAX_OPTIONS)}</script><script defer src="{source}"></script>'
    return output.replace("</body>", f"{scripts}</body>")


def on_post_build(config: MkDocsConfig) -> None:
    """Let the search find every word.

    lunr merges nodes of its index that have the same name. A name is the row of letters and numbers of the nodes that
    follow, without separators. With digits among the letters, different nodes can have the same name, and a search for
    words behind them fails.
    """
    for worker in (Path(config.site_dir) / "assets" / "javascripts" / "workers").glob("search.*.js"):
        script, count = NODE_NAME.subn(r'\g<0>+";"', worker.read_text(encoding="utf-8"))
        if count != 1:
            LOG.warning("search: lunr's names of nodes are not found in %s", worker.name)
        worker.write_text(script, encoding="utf-8")


def example_page(path: Path) -> str:
    """Return the page of an example: title and text of its docstring, then the code."""
    source = path.read_text(encoding="utf-8")
    words = (ast.get_docstring(ast.parse(source)) or path.stem).split("\n\n")[0]
    title, *rest = re.split(r":\s|(?<=[?.])\s", " ".join(words.split()), maxsplit=1)
    text = "".join(each[0].upper() + each[1:] + "\n\n" for each in rest)
    code = source.split('"""', 2)[2].strip()
    return f"# {title.rstrip('.')}\n\n{text}    $ python examples/{path.name}\n\n```python\n{code}\n```\n"


def notebook_page(path: Path) -> str:
    """Return the page of a notebook: text, code and recorded outputs."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts += [f"```python\n{source}\n```", *map(_shown, cell["outputs"])]
    return "\n\n".join(parts) + "\n"


def _shown(output: dict) -> str:
    """Return an output in the richest form that a page supports."""
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text")}).items()}
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    if "text/latex" in data:
        return "$$\n" + data["text/latex"].strip().replace("align*", "aligned") + "\n$$"
    return f"<pre><code>{html.escape(data['text/plain'].rstrip())}</code></pre>"


def _examples() -> list[Path]:
    """List the examples, the tour first."""
    folder = ROOT / "examples"
    return [folder / "tour.ipynb", *sorted(folder.glob("*.py"))]


def _page_of(example: Path) -> str:
    return f"examples/{example.stem}.md"


def _inside(text: str, folder: str, name: str, page: str) -> str:
    """Return the link as it leads on the site; code that is not on the site is named instead."""
    if folder in ("src", "tests"):
        return f"{text} (`{folder}/{name}`)"
    up = "../" * page.count("/")
    inside = name if folder == "docs" else f"{folder}/{re.sub(r'[.](py|ipynb)$', '.md', name)}"
    return f"[{text}]({up}{inside})"
