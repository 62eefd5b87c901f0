"""``linkwork tables``: the papers' operation counts, rebuilt from running code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.padding import Padding

from ..published import TABLES, growth
from ..published.table import Row, Table
from .common import Json, console, print_json, progress, say


def tables(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw how all methods grow with n (needs matplotlib).")
    ] = None,
    json: Json = False,
) -> None:
    """Rebuild the complexity tables of the papers: printed counts beside those measured by running the algorithms.

    \b
    linkwork tables
    linkwork tables --markdown > tables.md
    linkwork tables --plot growth.png
    """
    if plot is not None:
        with progress("counting"):
            growth.draw(plot)
        say(f"written: {plot}")
        return
    with progress("running the algorithms"):
        report = [(table, [entry(row) for row in table.rows]) for table in TABLES]
    if json:
        keys = ("title", "reference", "convention")
        print_json([{key: getattr(table, key) for key in keys} | {"rows": rows} for table, rows in report])
    elif markdown:
        print("\n\n".join(as_markdown(table, rows) for table, rows in report))
    else:
        for table, rows in report:
            _show(table, rows)


def entry(row: Row) -> dict[str, Any]:
    """A row with its measured polynomials, as data."""
    mul, add = row.measured()
    return {
        "algorithm": row.label,
        "method": row.method,
        "mul": {"printed": str(row.mul), "measured": str(mul)},
        "add": {"printed": str(row.add), "measured": str(add)},
        "same": not (mul - row.mul) and not (add - row.add),
        "why": row.why,
        "values": [
            {"n": n, "printed": list(printed), "measured": [int(mul(n)), int(add(n))]}
            for n, printed in row.values.items()
        ],
    }


def as_markdown(table: Table, rows: list[dict[str, Any]]) -> str:
    """The printed and the measured polynomials, then the printed and measured values."""
    lines = [f"**{table.title}.** {table.convention}", ""]
    lines += [
        "| algorithm | mul, printed | mul, measured | add, printed | add, measured | |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["algorithm"], *(row[key][kind] for key in ("mul", "add") for kind in ("printed", "measured"))]
        lines.append("| " + " | ".join([*cells, "same" if row["same"] else row["why"]]) + " |")
    values = [(row["algorithm"], value) for row in rows for value in row["values"]]
    if values:
        lines += [
            "",
            "| algorithm | n | mul, printed | mul, measured | add, printed | add, measured |",
            "|---|---|---|---|---|---|",
        ]
        for label, value in values:
            (mul, add), (mul_measured, add_measured) = value["printed"], value["measured"]
            lines.append(f"| {label} | {value['n']} | {mul} | {mul_measured} | {add} | {add_measured} |")
    return "\n".join(lines)


def _show(table: Table, rows: list[dict[str, Any]]) -> None:
    """Algorithm by algorithm: the polynomials, the values, and why print and count differ."""
    say(f"{table.title} [{table.reference}]", "bold")
    say(table.convention, "dim")
    for row in rows:
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
