"""One self-contained HTML page: no script, no network. Names may come from any file, so all texts are escaped."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..quoting import Safe, in_html
from ..table import Column, Table

SHORT = 20  # rows of a table that stays on one sheet of paper


def table(table: Table, kind: str = "") -> Safe:
    """Return a table as HTML, empty if it has no rows; a wide table scrolls.

    Columns without any value are left out. Minus signs of numbers are as wide as plus signs. ``kind``: CSS class.
    """
    notes = "".join(paragraph(note, "note") for note in table.notes)
    if not table.rows:
        return Safe(notes)

    def cell(column: Column, value: Any) -> str:
        if isinstance(value, (int, float)):
            return f'<td class="number">{column.text(value).replace("-", "−")}</td>'
        return f"<td>{in_html(column.text(value))}</td>"

    columns = table.shown()
    right = ' class="number"'
    head = "".join(f"<th{right * (align == 'right')}>{in_html(column.head)}</th>" for column, align, _ in columns)
    cells = ([cell(column, value) for value in values] for column, _, values in columns)
    body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(*cells, strict=True))
    kind += " short" if len(table.rows) <= SHORT else ""
    title = f"<caption>{in_html(table.title)}</caption>" if table.title else ""
    return Safe(
        f'<div class="scroll" tabindex="0"><table class="{kind.strip()}">{title}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        f"{notes}"
    )


def paragraph(text: str, kind: str = "") -> Safe:
    return Safe(f'<p class="{kind}">{in_html(text)}</p>\n' if kind else f"<p>{in_html(text)}</p>\n")


def heading(text: str) -> Safe:
    return Safe(f"<h3>{in_html(text)}</h3>\n")


def page(title: str, summary: str, facts: Mapping[str, Any], sections: Mapping[str, Safe], footer: str) -> str:
    """Return the page: a title, a list of facts, a table of contents, the sections."""
    style = (files(__package__ or "") / "style.css").read_text(encoding="utf-8")
    anchors = {name: f"section-{k}" for k, name in enumerate(sections, 1)}
    contents = "".join(f'<li><a href="#{anchor}">{in_html(name)}</a></li>' for name, anchor in anchors.items())
    glance = "".join(f"<div><dt>{in_html(name)}</dt><dd>{in_html(value)}</dd></div>" for name, value in facts.items())
    body = "".join(
        f'<section id="{anchors[name]}">\n<h2>{in_html(name)}</h2>\n{content}</section>\n'
        for name, content in sections.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{in_html(title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{in_html(title)}</h1>
<p>{in_html(summary)}</p>
<dl class="facts">{glance}</dl>
<nav><ol>{contents}</ol></nav>
</header>
<main>
{body}</main>
<footer>{in_html(footer)}</footer>
</body>
</html>
"""
