"""The papers' operation counts, rebuilt from running code, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..published import TABLES
from ..published.table import Row


def complexity_tables() -> list[dict[str, Any]]:
    """The complexity tables of the papers: printed counts beside those measured by running the algorithms."""
    keys = ("title", "reference", "convention")
    return [{key: getattr(table, key) for key in keys} | {"rows": [*map(_entry, table.rows)]} for table in TABLES]


def _entry(row: Row) -> dict[str, Any]:
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


def as_markdown(table: Mapping[str, Any]) -> str:
    """The printed and the measured polynomials, then the printed and measured values."""
    lines = [f"**{table['title']}.** {table['convention']}", ""]
    lines += [
        "| algorithm | mul, printed | mul, measured | add, printed | add, measured | |",
        "|---|---|---|---|---|---|",
    ]
    for row in table["rows"]:
        cells = [row["algorithm"], *(row[key][kind] for key in ("mul", "add") for kind in ("printed", "measured"))]
        lines.append("| " + " | ".join([*cells, "same" if row["same"] else row["why"]]) + " |")
    values = [(row["algorithm"], value) for row in table["rows"] for value in row["values"]]
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
