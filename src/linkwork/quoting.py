"""Quoting of names for each kind of text, so that a name cannot be read as code or markup.

Names of robots, links and joints come from files that are not trusted. Each function quotes for one kind of text:
terminals, Python, C, LaTeX, Markdown, YAML, JSON, HTML, matplotlib, file names. Invisible characters (control
characters, escape sequences, marks that change the direction of writing, zero-width spaces, NUL) are refused in robot
files, see ``unprintable``, and written as escapes, ``\\x1b``, where they occur otherwise.
"""

from __future__ import annotations

import json
import re
from html import escape

# Control and format characters of Unicode, line and paragraph separators, invisible letters, lone surrogates
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
_WORDS_OF_YAML = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}  # which some readers do not read as text


def unprintable(text: str) -> str:
    """Return the first character that a name must not have, such as "U+202E"; empty if there is none."""
    match = UNPRINTABLE.search(text)
    return f"U+{ord(match[0]):04X}" if match else ""


def printable(text: object, keep: str = "") -> str:
    """Quote text for a terminal, a comment of one line or a file name: one line, no invisible characters.

    ``keep``: characters that stay as they are; "\\n\\t" for texts of several lines.
    """
    return UNPRINTABLE.sub(lambda match: match[0] if match[0] in keep else ascii(match[0])[1:-1], str(text))


def identifier(text: str) -> str:
    """Return a name that is valid in C, Python, CasADi, CMake and file systems."""
    name = re.sub("[^0-9A-Za-z]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"robot_{name}"


def in_python(text: str) -> str:
    """Quote text for a triple-quoted string of Python source."""
    return printable(text.replace("\\", r"\\").replace('"', r"\""))


def in_c_comment(text: str) -> str:
    """Quote text for a comment of C: a space splits what would begin or end a comment, or be a trigraph."""
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", printable(text))


def in_latex(text: str) -> str:
    """Quote text for a paragraph or a table of LaTeX."""
    quoted = "".join(_LATEX.get(character, character) for character in printable(text))
    return re.sub("-(?=-)", "-{}", quoted)  # two hyphens would be a dash


def in_markdown(text: str) -> str:
    """Quote text for a table of Markdown."""
    return re.sub(r"[\\`*\[\]<>|&~$]|(?<!\w)_|_(?!\w)", r"\\\g<0>", printable(text))


def in_yaml(text: str) -> str:
    """Return a YAML scalar that reads back as this text."""
    if _PLAIN_YAML.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return printable(json.dumps(text, ensure_ascii=False))


def in_json(document: str) -> str:
    """Return JSON text with invisible characters as escapes; line breaks between its values stay."""
    return UNPRINTABLE.sub(lambda match: match[0] if match[0] == "\n" else json.dumps(match[0])[1:-1], document)


class Safe(str):
    """HTML that ``in_html`` does not escape."""


def in_html(text: object) -> str:
    """Quote text or the value of an attribute for HTML and SVG."""
    return text if isinstance(text, Safe) else escape(printable(text, keep="\n\t"))


def in_plot(text: str) -> str:
    """Quote a label for matplotlib: no mathematics between dollars, visible if it begins with an underscore, short."""
    quoted = printable(text if len(text) <= LONGEST_LABEL else f"{text[:30]} ... {text[-25:]}").replace("$", r"\$")
    return f" {quoted}" if quoted.startswith("_") else quoted
