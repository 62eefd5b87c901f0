"""What the site has beside docs/: each example as a page, and the results of the benchmarks with their pictures.

Links from the docs to these files are written as they lead in the repository; here they are turned to the pages.
"""

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(benchmarks|examples|src|tests)/([^)]*)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The entry ``examples/`` of the navigation stands for a page each."""
    pages = [{path.stem.replace("_", " "): f"examples/{path.stem}.md"} for path in _examples()]
    config.nav = [{"Examples": pages} if entry == {"Examples": "examples/"} else entry for entry in config.nav or []]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in _examples():
        files.append(File.generated(config, f"examples/{path.stem}.md", content=example_page(path)))
    for path in (ROOT / "benchmarks" / name for name in ("RESULTS.md", "speed.png", "growth.png")):
        files.append(File.generated(config, f"benchmarks/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return OUTSIDE.sub(lambda match: _inside(*match.groups(), page.file.src_uri), markdown)


def example_page(path: Path) -> str:
    """Title and words from the docstring, then the code."""
    source = path.read_text(encoding="utf-8")
    words = (ast.get_docstring(ast.parse(source)) or path.stem).split("\n\n")[0]
    title, *rest = re.split(r":\s|(?<=[?.])\s", " ".join(words.split()), maxsplit=1)
    told = "".join(each[0].upper() + each[1:] + "\n\n" for each in rest)
    code = source.split('"""', 2)[2].strip()
    return f"# {title.rstrip('.')}\n\n{told}    $ python examples/{path.name}\n\n```python\n{code}\n```\n"


def _examples() -> list[Path]:
    return sorted((ROOT / "examples").glob("*.py"))


def _inside(text: str, folder: str, name: str, page: str) -> str:
    """The link as it leads on the site; code that is not on it is named instead."""
    if folder in ("src", "tests"):
        return f"{text} (`{folder}/{name}`)"
    up = "../" * page.count("/")
    return f"[{text}]({up}{folder}/{re.sub(r'[.]py$', '.md', name)})"
