"""One self-contained HTML page: no script, no network. Names come from strangers' files: all is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ..quoting import in_html

SHORT = 20  # rows of a table that stays on one sheet of paper


class Safe(str):
    """HTML as it is. All other text is escaped."""


def html(value: Any) -> str:
    return value if isinstance(value, Safe) else in_html(str(value))


def cell(value: Any) -> Safe:
    """A cell of a table: numbers on the right, in six digits; nothing for None."""
    if value is None:
        return Safe("<td></td>")
    if isinstance(value, (int, float)):
        text = f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
        return Safe(f'<td class="number">{text.replace("-", "−")}</td>')
    return Safe(f"<td>{html(value)}</td>")


def table(headers: Sequence[Any], rows: Sequence[Sequence[Any]], caption: str = "", kind: str = "") -> Safe:
    """A table, if it has rows, that scrolls by itself where it is too wide; a column without any value is left out."""
    if not rows:
        return Safe("")
    shown = [k for k in range(len(headers)) if any(row[k] is not None for row in rows)]
    number = {k: ' class="number"' if any(isinstance(row[k], (int, float)) for row in rows) else "" for k in shown}
    head = "".join(f"<th{number[k]}>{html(headers[k])}</th>" for k in shown)
    body = "".join(f"<tr>{''.join(cell(row[k]) for k in shown)}</tr>\n" for row in rows)
    kind += " short" if len(rows) <= SHORT else ""
    title = f"<caption>{html(caption)}</caption>" if caption else ""
    return Safe(
        f'<div class="scroll" tabindex="0"><table class="{kind.strip()}">{title}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
    )


def paragraph(text: str, kind: str = "") -> Safe:
    return Safe(f'<p class="{kind}">{html(text)}</p>\n' if kind else f"<p>{html(text)}</p>\n")


def heading(text: str) -> Safe:
    return Safe(f"<h3>{html(text)}</h3>\n")


def page(title: str, summary: str, facts: Mapping[str, Any], sections: Mapping[str, Safe], foot: str) -> str:
    """The whole page: a title, what there is to know at a glance, a list of contents, the sections."""
    style = (files(__package__ or "") / "style.css").read_text(encoding="utf-8")
    anchors = {name: f"section-{k}" for k, name in enumerate(sections, 1)}
    contents = "".join(f'<li><a href="#{anchor}">{html(name)}</a></li>' for name, anchor in anchors.items())
    glance = "".join(f"<div><dt>{html(name)}</dt><dd>{html(value)}</dd></div>" for name, value in facts.items())
    body = "".join(
        f'<section id="{anchors[name]}">\n<h2>{html(name)}</h2>\n{content}</section>\n'
        for name, content in sections.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html(title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{html(title)}</h1>
<p>{html(summary)}</p>
<dl class="facts">{glance}</dl>
<nav><ol>{contents}</ol></nav>
</header>
<main>
{body}</main>
<footer>{html(foot)}</footer>
</body>
</html>
"""
