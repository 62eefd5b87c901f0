"""A table, for the terminal (rich) and for RESULTS.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """A title, a text, a header and rows; the first ``texts`` columns hold words, the others numbers."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: str = ""
    texts: int = 1

    def markdown(self, level: int = 3, text: bool = True) -> str:
        lines = [self.header, ["---"] * self.texts + ["---:"] * (len(self.header) - self.texts), *self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join(part for part in (f"{'#' * level} {self.title}", self.text * text, table) if part)

    def show(self, console: Console):
        table = RichTable(title=self.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
        for k, name in enumerate(self.header):
            table.add_column(name.replace("<br>", "\n"), justify="left" if k < self.texts else "right")
        for row in self.rows:
            table.add_row(*(cell.replace("**", "") for cell in row))
        console.print(table)


def time_cell(result: dict[str, Any]) -> str:
    """Nanoseconds with half the quartile distance in per cent."""
    number = f"{result['ns']:.1f}" if result["ns"] < 1000 else f"{result['ns']:.0f}"
    return f"{number} ± {result['spread'] / 2:.0%}"
