"""What the site has beside docs/: the examples as pages, the results of the benchmarks with pictures, and MathJax.

Links from the docs to these files are written as they lead in the repository; here they are turned to the pages.
"""

import ast
import html
import json
import re
from importlib.metadata import distribution
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(benchmarks|docs|examples|src|tests)/([^)]*)\)")
MATHJAX = "assets/mathjax/tex-svg.js"  # with its glyphs: no fonts to load, so it works from the disk, too
MATHJAX_OPTIONS = {"options": {"ignoreHtmlClass": ".*|", "processHtmlClass": "arithmatex"}}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The entry ``examples/`` of the navigation stands for a page each."""
    pages = [{path.stem.replace("_", " "): _page_of(path)} for path in _examples()]
    config.nav = _with_examples(config.nav or [], pages)
    return config


def _with_examples(entries: list, pages: list) -> list:
    """Replace the entry ``examples/`` of a navigation, in whichever group it stands."""
    examples = {"Examples": "examples/"}
    groups = [{"Examples": pages} if entry == examples else entry for entry in entries]
    return [
        {name: _with_examples(part, pages) if isinstance(part, list) else part}
        for entry in groups
        for name, part in entry.items()
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in _examples():
        made = notebook_page(path) if path.suffix == ".ipynb" else example_page(path)
        files.append(File.generated(config, _page_of(path), content=made))
    for path in (ROOT / "benchmarks" / "RESULTS.md", *(ROOT / "benchmarks").glob("*.png")):
        files.append(File.generated(config, f"benchmarks/{path.name}", abs_src_path=str(path)))
    package = distribution("sphinx-mathjax-offline")  # taken for the files it brings
    script = package.locate_file(f"sphinx-mathjax-offline/static/mathjax/{Path(MATHJAX).name}")
    files.append(File.generated(config, MATHJAX, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return OUTSIDE.sub(lambda match: _inside(*match.groups(), page.file.src_uri), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """MathJax goes where there is mathematics: it is large."""
    if 'class="arithmatex"' not in output:
        return output
    source = get_relative_url(MATHJAX, page.url)
    scripts = f'<script>MathJax = {json.dumps(MATHJAX_OPTIONS)}</script><script defer src="{source}"></script>'
    return output.replace("</body>", f"{scripts}</body>")


def example_page(path: Path) -> str:
    """Title and words from the docstring, then the code."""
    source = path.read_text(encoding="utf-8")
    words = (ast.get_docstring(ast.parse(source)) or path.stem).split("\n\n")[0]
    title, *rest = re.split(r":\s|(?<=[?.])\s", " ".join(words.split()), maxsplit=1)
    told = "".join(each[0].upper() + each[1:] + "\n\n" for each in rest)
    code = source.split('"""', 2)[2].strip()
    return f"# {title.rstrip('.')}\n\n{told}    $ python examples/{path.name}\n\n```python\n{code}\n```\n"


def notebook_page(path: Path) -> str:
    """Words, code, and what it showed when it was run."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts += [f"```python\n{source}\n```", *map(_shown, cell["outputs"])]
    return "\n\n".join(parts) + "\n"


def _shown(output: dict) -> str:
    """The richest form that a page can have."""
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text")}).items()}
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    if "text/latex" in data:
        return "$$\n" + data["text/latex"].strip().replace("align*", "aligned") + "\n$$"
    return f"<pre><code>{html.escape(data['text/plain'].rstrip())}</code></pre>"


def _examples() -> list[Path]:
    """The tour first."""
    folder = ROOT / "examples"
    return [folder / "tour.ipynb", *sorted(folder.glob("*.py"))]


def _page_of(example: Path) -> str:
    return f"examples/{example.stem}.md"


def _inside(text: str, folder: str, name: str, page: str) -> str:
    """The link as it leads on the site; code that is not on it is named instead."""
    if folder in ("src", "tests"):
        return f"{text} (`{folder}/{name}`)"
    up = "../" * page.count("/")
    inside = name if folder == "docs" else f"{folder}/{re.sub(r'[.](py|ipynb)$', '.md', name)}"
    return f"[{text}]({up}{inside})"
