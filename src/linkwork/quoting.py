"""Names are data: how a name is written into each kind of text, so that it stays a name there.

Names of robots, links and joints come from strangers' files. Each function quotes for one kind of text: terminals,
Python, C, LaTeX, Markdown, YAML, JSON, HTML, matplotlib, file names. Characters that nobody sees (control characters
and escape sequences, marks that turn the direction of writing, blanks of no width, NUL) are refused where files are
read, see ``unprintable``, and written as escapes, ``\\x1b``, wherever they should turn up all the same.
"""

from __future__ import annotations

import json
import re
from html import escape

# Unicode's control and format characters, separators of lines and paragraphs, letters without a shape, halves of pairs
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LATEX = {character: f"\\{character}" for character in "#$%&_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "*": "{*}",
}  # fmt: skip
LONGEST_LABEL = 60  # characters
_PLAIN_YAML = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_WORDS_OF_YAML = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}  # which are no texts to some readers


def unprintable(text: str) -> str:
    """Name the first character that no name may hold, such as "U+202E"; empty if the text is a good name."""
    found = UNPRINTABLE.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""


def printable(text: object, keep: str = "") -> str:
    """Text for a terminal, a comment that ends with its line or a file name: one line, nothing unseen.

    ``keep``: characters that stay as they are; "\\n\\t" for texts of several lines.
    """
    return UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], str(text))


def identifier(text: str) -> str:
    """A name that C, Python, CasADi, CMake and file systems take."""
    name = re.sub("[^0-9A-Za-z]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"robot_{name}"


def in_python(text: str) -> str:
    """Text between triple quotes in Python's source."""
    return printable(text.replace("\\", r"\\").replace('"', r"\""))


def in_c_comment(text: str) -> str:
    """Text in a comment of C: what would begin or end one, or be a trigraph, gets a blank in its middle."""
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", printable(text))


def in_latex(text: str) -> str:
    """Text in a paragraph or a table of LaTeX."""
    quoted = "".join(_LATEX.get(character, character) for character in printable(text))
    return re.sub("-(?=-)", "-{}", quoted)  # two hyphens would be a dash


def in_markdown(text: str) -> str:
    """Text in a table of Markdown."""
    return re.sub(r"[\\`*\[\]<>|&~$]|(?<!\w)_|_(?!\w)", r"\\\g<0>", printable(text))


def in_yaml(text: str) -> str:
    """A YAML scalar that reads back as this text."""
    if _PLAIN_YAML.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return printable(json.dumps(text, ensure_ascii=False))


def in_json(document: str) -> str:
    """JSON text with what nobody sees as escapes; line breaks between its values stay."""
    return UNPRINTABLE.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], document)


class Safe(str):
    """HTML as it is. All other text is escaped."""


def in_html(text: object) -> str:
    """Text or an attribute's value in HTML and SVG."""
    return text if isinstance(text, Safe) else escape(printable(text, keep="\n\t"))


def in_plot(text: str) -> str:
    """A label of matplotlib's: no mathematics between dollars, shown though it may begin with an underscore, and of a
    length that leaves room for the picture."""
    quoted = printable(text if len(text) <= LONGEST_LABEL else f"{text[:30]} ... {text[-25:]}").replace("$", r"\$")
    return f" {quoted}" if quoted.startswith("_") else quoted
