"""Printing of the commands: text, tables, JSON, progress."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from textwrap import fill
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ..quoting import in_json, printable
from ..table import Table

LINES = "\n\t"  # control characters that our own texts may contain


def console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def say(text: str, style: str = "") -> None:
    """Print paragraphs, wrapped between words to the width of the terminal."""
    screen = console()
    text = printable(text, keep=LINES)
    lines = (fill(line, screen.width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    screen.print("\n".join(lines), style=style or None, soft_wrap=True)


def show(table: Table) -> None:
    """Print a table, if it has rows, and its notes.

    A column without any value is left out. In a narrow terminal columns stand closer, spare columns are left out, and
    text is wrapped between words. A table that still does not fit is wider than the terminal.
    """
    if table.rows:
        _show_rows(table)
    for note in table.notes:
        say(note, "dim")
    if table.notes and table.title and not table.rows:  # the notes replace the table
        print()


def _show_rows(table: Table) -> None:
    if table.title:
        say(table.title, "bold")
    columns = table.shown()
    cells = ([column.head, *map(column.text, values)] for column, _, values in columns)
    texts = [[printable(text, keep=LINES) for text in column] for column in cells]
    words = [max(map(cell_len, " ".join(column).split()), default=0) for column in texts]
    lines = [max(map(cell_len, "\n".join(column).split("\n"))) for column in texts]
    screen, every = console(), range(len(columns))
    essential = [k for k in every if not columns[k][0].spare]
    for columns_shown, gap in ((every, 2), (every, 1), (essential, 2), (essential, 1)):
        room = screen.width - gap * (len(columns_shown) - 1)
        if sum(words[k] for k in columns_shown) <= room:
            break
    widths = {k: lines[k] for k in columns_shown}
    while sum(widths.values()) > room and (longer := [k for k in columns_shown if widths[k] > words[k]]):
        widths[max(longer, key=lambda k: widths[k])] -= 1
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for k in columns_shown:
        grid.add_column(texts[k][0], justify="right" if columns[k][1] == "right" else "left", width=widths[k])
    for row in zip(*(texts[k][1:] for k in columns_shown), strict=True):
        grid.add_row(*row)
    screen.width = max(screen.width, sum(widths.values()) + gap * len(columns_shown))
    screen.print(grid)
    print()


def print_json(value: Any) -> None:
    print(in_json(json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=False)))


def plain(value: Any) -> Any:
    """Return a value as JSON types: arrays become lists, numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (np.ndarray, np.bool_, np.integer)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def progress(text: str) -> AbstractContextManager[object]:
    """Show a status line while the context lasts, on stderr and only in a terminal."""
    screen = console(stderr=True)
    return screen.status(plain_status(text)) if screen.is_terminal else nullcontext()


def plain_status(text: str) -> Text:
    """Return the text of a status line, in which names in brackets are not colours."""
    return Text(printable(text))
