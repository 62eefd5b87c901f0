"""Write the tables of what each pass saves into the page "Fewer operations", between their markers.

``<!-- passes: QUANTITY: ROBOT ROBOT ... -->`` to ``<!-- end of passes -->``. The second marker may be missing the first
time. ``make docs-tables`` runs this; a test checks that the page is up to date.
"""

import re
from pathlib import Path

import linkwork
from linkwork.inspection.counts import pass_by_pass
from linkwork.pipeline import traced
from linkwork.table import Column, Table, markdown

PAGE = Path(__file__).parent / "fewer-operations.md"
MARKED = re.compile(r"<!-- passes: ([^>]+?) -->\n(?:(?:(?!<!-- ).)*<!-- end of passes -->\n)?", re.S)


def with_tables(text: str) -> str:
    """Return the page with its tables updated."""

    def replaced(match: re.Match) -> str:
        quantity, _, robots = match[1].partition(":")
        return f"<!-- passes: {match[1]} -->\n\n{table(quantity, robots.split())}\n\n<!-- end of passes -->\n"

    return MARKED.sub(replaced, text)


def table(quantity: str, robots: list[str]) -> str:
    """Multiplications + additions as traced, the change by each pass alone and by all together."""
    columns: list[Column | str] = ["robot", "method"]
    rows = []
    for name in robots:
        method, program = traced(linkwork.load(name, friction=False, rotors=False), quantity)
        first, *passes = pass_by_pass(program)
        last = passes[-1]
        titles = ["as traced", *(row["pass"] for row in passes), "all", "saved"]
        changes = [row["alone"]["mul"] + row["alone"]["add"] for row in passes]
        before, after = (sum(row["after"][key] for key in ("mul", "add")) for row in (first, last))
        cells = [name, f"`{method}`", f"{first['after']['mul']} + {first['after']['add']}"]
        cells += [f"{change:+d}" if change else "" for change in changes]
        rows.append([*cells, f"{last['after']['mul']} + {last['after']['add']}", f"{(before - after) / before:.0%}"])
    columns += [Column(title, align="right") for title in titles]
    return markdown(Table("", columns, rows))


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
