"""The operation counts of the papers, rebuilt from running code, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..published import TABLES
from ..published.table import Row
from ..table import Table, markdown


def complexity_tables() -> list[dict[str, Any]]:
    """Rebuild the complexity tables of the papers: printed counts, and counts of the running algorithms.

    Returns:
        A dict for each table: title, reference, convention, and a row for each algorithm with polynomials in the number
        of joints, values, and the reason for a difference.

    Example:
        >>> tables = linkwork.inspection.complexity_tables()  # doctest: +SKIP
    """
    keys = ("title", "reference", "convention")
    return [{key: getattr(table, key) for key in keys} | {"rows": [*map(_entry, table.rows)]} for table in TABLES]


def _entry(row: Row) -> dict[str, Any]:
    """Return a row with its measured polynomials, as data."""
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


def as_markdown(facts: Mapping[str, Any]) -> str:
    """Return Markdown: the printed and measured polynomials, then the printed and measured values."""
    counts = [f"{key}, {kind}" for key in ("mul", "add") for kind in ("printed", "measured")]
    rows = [
        [row["algorithm"], *(row[key][kind] for key in ("mul", "add") for kind in ("printed", "measured")),
         "same" if row["same"] else row["why"]]
        for row in facts["rows"]
    ]  # fmt: skip
    values = [
        [row["algorithm"], value["n"], *(value[kind][k] for k in (0, 1) for kind in ("printed", "measured"))]
        for row in facts["rows"]
        for value in row["values"]
    ]
    parts = [Table("", ["algorithm", *counts, ""], rows), Table("", ["algorithm", "n", *counts], values)]
    head = f"**{facts['title']}.** {facts['convention']}"
    return "\n\n".join([head, *(markdown(part) for part in parts if part.rows)])
