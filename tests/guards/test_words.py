"""Plain English: no words that need a second reading, short sentences, British spelling in prose.

CODE_FOLDERS are the folders whose docstrings, comments and messages are checked, too.
"""

import ast
import io
import re
import statistics
import tokenize
from pathlib import Path

import pytest

import linkwork

ROOT = Path(linkwork.__file__).parents[2]
CODE_FOLDERS = ("benchmarks", "docs", "examples", "src/linkwork")
TEXTS = [*(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/RESULTS.md"))]
PAGES = [*TEXTS, *sorted((ROOT / "docs").rglob("*.md"))]
CODE = [path for folder in CODE_FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
EXCEPTIONS = {  # strings that are labels of machine code or old names, not prose
    "src/linkwork/codegen/native/blocks.py": '"tell"',
    "src/linkwork/codegen/native/sharing.py": '"tell"',
    "src/linkwork/renamed.py": '"told"',
}
MEDIAN, LONGEST = 18, 40  # words per sentence

AVOIDED = {  # what to write instead
    r"(if|unless|where|when|as) (not|nothing is|nothing else is|none is|no other is|one is not)? ?said": "by default",
    r"(is|are|was|must be|be) said": "name the actor: `the file sets it`",
    r"told|tells?|telling": "reports, determines, names, specifies",
    r"verbs?": "commands",
    r"beside": "next to, in addition to, with",
    r"anew": "again",
    r"mend(s|ed|ing)?": "fix, repair",
    r"heed(s|ed|ing)?": "follow, use",
    r"(whilst|amongst|lest|thereof|therein|whereby|hereby|herein|wherein)": "a plain word",
    r"(shall|ought to)": "must, should",
    r"in order to": "to",
    r"utilis(e|es|ed|ing|ation)": "use",
    r"(obviously|needless to say|of course|it goes without saying)": "leave it out",
    r"ways? of assembly": "assembly mode",
    r"left the numbers": "diverged (NaN or infinite)",
    r"bears the modes": "is stable for the modes",
    r"so many steps": "every n-th step",
    r"(as|than) one (likes|wants|pleases)": "any number of",
    r"bod(y|ies) that cannot be": "physically impossible body",
    r"anyone trusts": "you rely on",
    r"by which is differentiated": "to differentiate with respect to",
    r"at every door": "everywhere",
    r"hard to kill": "restartable",
}
AMERICAN = {  # in prose alone: names in code follow the field; codespell has a longer list
    r"(optim|minim|maxim|normal|linear|general|factor|orthogonal)iz(e|es|ed|ing|ation|ations)": "-ise",
    r"cent(er|ers|ered|ering)": "centre",
    r"(colors?|colored|gray|modeling|modeled|artifacts?|behaviors?|neighbors?|analyz(e|es|ed))": "British spelling",
}


def patterns(*lists: dict[str, str]) -> dict[re.Pattern[str], str]:
    return {re.compile(rf"\b(?:{words})\b", re.I): advice for each in lists for words, advice in each.items()}


def prose(text: str) -> list[str]:
    """Return the paragraphs and list items of a Markdown text as plain text.

    Front matter, code, formulas, tables, headings, HTML, directives and the targets of links are left out.
    """
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
    text = re.sub(r"^\$\$$.*?^\$\$$", "", text, flags=re.M | re.S)
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        words = line.strip()
        indented = line.startswith("    ") and not blocks[-1]  # code, and options of directives
        if not words or words.startswith(("#", "|", ":::", "<", "![")) or indented:
            blocks.append([])
        elif item := re.match(r"(?:[-*+]|\d+\.) +(.*)", words):
            blocks.append([item[1]])
        else:
            blocks[-1].append(words)
    return [_plain(" ".join(block)) for block in blocks if block]


def _plain(text: str) -> str:
    """Replace code and formulas by a word, links by their text; leave out titles (in italics or quotes)."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"`[^`]*`|\$[^$]*\$", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    return re.sub(r"\"[^\"]*\"|(?<![\w*])\*[^*]+\*(?!\w)", "X", text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown text; a semicolon ends one."""
    end = r"(?<=[.!?:])[\"')]*\s+(?=[A-Z0-9`\"(])|(?<=;)\s+"
    parts = [part for block in prose(text) for part in re.split(end, block)]
    return [part for part in parts if re.search(r"[A-Za-z]{2}", part)]


def words_of(text: str) -> list[int]:
    return [len(sentence.split()) for sentence in sentences(text)]


def spoken(source: str) -> list[str]:
    """Return the comments and strings of a Python file, and a mark where a docstring begins with `Of`."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    texts = [re.sub(r"``[^`]*``|`[^`]*`", "X", token.string) for token in tokens if token.type in kinds]
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, scopes)]
    return texts + [f"a docstring that begins with `Of`: {doc[:60]}" for doc in docs if doc.startswith("Of ")]


def faults(texts: list[str], *lists: dict[str, str]) -> list[str]:
    """List every avoided word with what to write instead."""
    return [
        f"{match[0]!r} in {text[max(0, match.start() - 40) : match.end() + 40]!r}: {advice}"
        for text in texts
        for pattern, advice in patterns(AVOIDED, *lists).items()
        for match in pattern.finditer(text)
    ]


def tables(text: str) -> list[str]:
    """The cells of a Markdown text's tables, and its headings."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
    return [_plain(line) for line in text.splitlines() if line.lstrip().startswith(("|", "#"))]


def identify(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_pages_avoid_words_that_need_a_second_reading(page):
    text = page.read_text(encoding="utf-8")
    assert not faults(prose(text) + tables(text), AMERICAN)


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_sentences_are_short(page):
    lengths = words_of(page.read_text(encoding="utf-8"))
    assert statistics.median(lengths) < MEDIAN
    long = [s for s in sentences(page.read_text(encoding="utf-8")) if len(s.split()) > LONGEST]
    assert not long, long


@pytest.mark.parametrize("path", CODE, ids=identify)
def test_code_avoids_words_that_need_a_second_reading(path):
    texts = [text for text in spoken(path.read_text(encoding="utf-8")) if text != EXCEPTIONS.get(identify(path))]
    assert not faults(texts) and not [text for text in texts if text.startswith("a docstring that begins")]


def test_readme_is_short():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120 and len(text.split()) < 1200


def test_faults_are_found():
    """The guard sees what it is for, and nothing in code, formulas, tables of options or titles."""
    text = "---\ntags: [told]\n---\n\n# Page\n\nIt tells `told` and $told$.\n\n```text\ntold\n```\n\n    told\n"
    assert [fault.split(" in ")[0] for fault in faults(prose(text))] == ["'tells'"]
    assert not faults(prose('Read *The center*, and "Dynamic modeling" (2010).'), AMERICAN)
    assert faults(prose("The center."), AMERICAN)
    assert words_of("One two three. Four five six seven: eight nine.\n\n- ten eleven\n") == [3, 6, 2]
    assert faults(spoken("def f():\n    'As told.'\n")) and spoken("def f():\n    'Of a robot.'\n")[-1].endswith(
        "robot."
    )
