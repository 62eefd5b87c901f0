"""Tables as data, and two of their four renderers: Markdown, and HTML for notebooks. ``cli.printing.show`` renders them
in the terminal, ``html.table`` on pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .quoting import in_html, in_markdown


@dataclass(frozen=True)
class Column:
    """A column: its ``name`` and ``unit``, the significant ``digits`` of numbers, how to ``align`` it ("left" or
    "right"; default: numbers on the right), and whether it is ``spare`` and left out in a narrow terminal."""

    name: str
    unit: str = ""
    digits: int = 6
    align: str = ""
    spare: bool = False

    @property
    def head(self) -> str:
        """Name, and unit on a second line."""
        return f"{self.name}\n{self.unit}" if self.unit else self.name

    def text(self, value: Any) -> str:
        """Return a value as text; empty for None."""
        if isinstance(value, float):
            return f"{float(f'{value:.{self.digits}g}') + 0.0:.6g}"
        return "" if value is None else value if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Table:
    """Rows of values (numbers, texts, None for an empty cell); columns may also be names or (name, unit)."""

    title: str
    columns: Sequence[Any]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()

    def __post_init__(self):
        pairs = ((c, "") if isinstance(c, str) else c for c in self.columns)
        columns = tuple(pair if isinstance(pair, Column) else Column(pair[0], pair[1]) for pair in pairs)
        object.__setattr__(self, "columns", columns)

    def shown(self) -> list[tuple[Column, str, list[Any]]]:
        """Return the columns that have any value, with their alignment and their values."""
        columns = []
        for k, column in enumerate(self.columns):
            values = [row[k] for row in self.rows]
            side = "right" if any(isinstance(value, (int, float)) for value in values) else "left"
            if any(value is not None for value in values):
                columns.append((column, column.align or side, values))
        return columns


def markdown(table: Table) -> str:
    """Return lines of Markdown. The texts are not escaped: see ``escaped``."""
    heads = [" ".join(filter(None, (column.name, column.unit))) for column in table.columns]
    rules = ["---:" if column.align == "right" else "---" for column in table.columns]
    cells = ([column.text(x) for column, x in zip(table.columns, row, strict=True)] for row in table.rows)
    head, *body = (f"| {' | '.join(row)} |" for row in (heads, *cells))
    return "\n".join([head.replace("|  |", "| |"), f"|{'|'.join(rules)}|", *body])


def escaped(table: Table) -> Table:
    """Return the table with all texts escaped for Markdown, since names may come from any file."""
    rows = [[in_markdown(x) if isinstance(x, str) else x for x in row] for row in table.rows]
    return Table(table.title, table.columns, rows, table.notes)


def notebook(table: Table) -> str:
    """Return HTML for a notebook, all texts escaped; the first column is the head of each row."""

    def cells(texts: Sequence[str], tags: Sequence[str]) -> Iterator[str]:
        for column, tag, text in zip(table.columns, tags, texts, strict=True):
            style = f' style="text-align:{column.align}"' if column.align else ""
            yield f"<{tag}{style}>{text}</{tag}>"

    heads = [in_html(" ".join(filter(None, (column.name, column.unit)))) for column in table.columns]
    tags = ["th", *["td"] * (len(heads) - 1)]
    head = f"<tr>{''.join(cells(heads, ['th'] * len(heads)))}</tr>" if any(heads) else ""
    rows = ([in_html(column.text(x)) for column, x in zip(table.columns, row, strict=True)] for row in table.rows)
    body = "".join(f"<tr>{''.join(cells(row, tags))}</tr>" for row in rows)
    title = f"<caption>{in_html(table.title)}</caption>" if table.title else ""
    return f"<table>{title}{head}{body}</table>" + "".join(f"<p>{in_html(note)}</p>" for note in table.notes)
