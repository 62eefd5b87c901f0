"""What src has is used by src, or told of in the docs: nothing is there for the tests alone."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import linkwork

SRC = Path(linkwork.__file__).parent
ROOT = SRC.parents[1]
PAGES = (".md", ".py", ".ipynb")
CALLED_BY_OTHERS = {"_repr_html_"}  # by notebooks


def definitions(tree: ast.AST, outer: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ast.AST]]:
    """The path of names and the node of every function, method, class and use of a name."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        path = (*outer, node.name) if named else outer
        yield path, node
        yield from definitions(node, path)


def unused(sources: dict[str, str], told: str, tests: str) -> list[str]:
    """Names that are defined in sources, used by tests, and neither used elsewhere in the sources nor told."""
    defined, used = [], defaultdict(set)
    for file, text in sources.items():
        for path, node in definitions(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                defined.append((file, path))
            elif isinstance(node, (ast.Name, ast.Attribute)):
                used[node.id if isinstance(node, ast.Name) else node.attr].add((file, path))
            elif isinstance(node, ast.Constant) and re.fullmatch(r"linkwork[\w.]+:\w+", str(node.value)):
                used[node.value.split(":")[1]].add((file, path))  # an entry of the registry of targets
    words, tested = (set(re.findall(r"\w+", text)) for text in (told, tests))
    return [
        f"{file}: {'.'.join(path)}"
        for file, path in defined
        if (name := path[-1]) in tested - words - CALLED_BY_OTHERS
        and not name.startswith("__")
        and all(where == file and name in place for where, place in used[name])  # in itself at most
    ]


def test_nothing_is_there_for_the_tests_alone():
    sources = {str(path.relative_to(SRC)): path.read_text() for path in sorted(SRC.rglob("*.py"))}
    folders = [ROOT / name for name in ("docs", "examples", "benchmarks")]
    pages = [ROOT / "README.md", *(path for folder in folders for path in folder.rglob("*") if path.suffix in PAGES)]
    tests = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
    assert not unused(sources, "\n".join(page.read_text() for page in pages), "\n".join(tests))


def test_it_is_noticed():
    sources = {"a.py": "def one(): return one()\n\ndef two(): pass\n\ndef three(): two()\n\ndef four(): pass"}
    assert unused(sources, "call four", "one() two() three() four()") == ["a.py: one", "a.py: three"]
