"""``linkwork tables``: the papers' operation counts, rebuilt from running code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from rich.padding import Padding

from .. import inspection
from ..inspection.published_counts import as_markdown
from ..published import growth
from .common import Json, flag, option
from .printing import console, print_json, progress, say


def tables(
    markdown: Annotated[bool, flag("--markdown", "Print Markdown tables.")] = False,
    plot: Annotated[
        Path | None, option("FILE", "File for a chart of the counts over the number of joints (needs matplotlib).")
    ] = None,
    json: Json = False,
) -> None:
    """Rebuild the complexity tables of the papers: the printed operation counts, and those of linkwork's code.

    \b
    linkwork tables
    linkwork tables --markdown > tables.md
    linkwork tables --plot growth.png
    """
    if plot is not None:
        with progress("counting"):
            growth.draw(plot)
        say(f"wrote {plot}")
        return
    with progress("running the algorithms"):
        facts = inspection.complexity_tables()
    if json:
        print_json(facts)
    elif markdown:
        print("\n\n".join(map(as_markdown, facts)))
    else:
        for table in facts:
            _show(table)


def _show(table: Mapping[str, Any]) -> None:
    """Show each algorithm: the polynomials, the values, and why printed and measured counts differ."""
    say(f"{table['title']} [{table['reference']}]", "bold")
    say(table["convention"], "dim")
    for row in table["rows"]:
        say(f"\n{row['algorithm']}")
        for key in ("mul", "add"):
            _show_both(key, row[key]["printed"], row[key]["measured"])
        if values := row["values"]:
            _line("n", "", _spaced(value["n"] for value in values))
            for k, key in enumerate(("mul", "add")):
                _show_both(key, *(_spaced(value[kind][k] for value in values) for kind in ("printed", "measured")))
        if row["why"]:
            console().print(Padding.indent(row["why"], 2), style="dim")
    say("")


def _show_both(key: str, printed: str, measured: str) -> None:
    if printed == measured:
        _line(key, "same", printed)
    else:
        _line(key, "printed", printed)
        _line("", "measured", measured)


def _line(key: str, kind: str, text: str) -> None:
    say(f"  {key:3}  {kind:8}  {text}")


def _spaced(values: Iterable[int]) -> str:
    return " ".join(f"{value:6}" for value in values)
