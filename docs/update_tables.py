"""Write the generated tables into the pages, between their markers.

``<!-- tables: REFERENCE -->`` to ``<!-- end of tables -->``: the complexity tables of a paper.
``<!-- counts: QUANTITY: METHOD METHOD ... -->`` to ``<!-- end of counts -->``: compiled operations of bundled robots.
``<!-- derivatives: QUANTITY QUANTITY ... -->`` to ``<!-- end of derivatives -->``: instructions of derivatives.
The second marker may be missing the first time. ``make docs-tables`` runs this; a test checks that the pages are up to
date.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import linkwork
from linkwork.inspection.published_counts import as_markdown, complexity_tables
from linkwork.table import Column, Table, markdown

PAGES = Path(__file__).parent
MARKED = re.compile(r"<!-- (tables|counts|derivatives): ([^>]+?) -->\n(?:(?:(?!<!-- ).)*<!-- end of \1 -->\n)?", re.S)


def with_tables(text: str) -> str:
    """Return the page with its tables updated."""

    def replaced(match: re.Match) -> str:
        kind, asked = match[1], match[2]
        made = {"tables": complexity, "counts": counts, "derivatives": derivatives}[kind](asked)
        return f"<!-- {kind}: {asked} -->\n\n{made}\n\n<!-- end of {kind} -->\n"

    return MARKED.sub(replaced, text)


def complexity(reference: str) -> str:
    """The tables of a paper, printed and measured."""
    chosen = [as_markdown(table) for table in complexity_tables() if table["reference"] == reference]
    return "\n\n".join(chosen) or sys.exit(f"no tables have the reference {reference!r}")


def counts(asked: str) -> str:
    """Compiled multiplications / additions of each bundled robot by each method, "-" where there are none; robots for
    which there is nothing to compare are left out."""
    quantity, _, names = asked.partition(":")
    methods = names.split()
    rows = []
    robots = [linkwork.load(name, friction=False, rotors=False) for name in linkwork.bundled_robots()]
    for robot in sorted(robots, key=lambda robot: robot.nv):
        cells = [operations(robot, quantity, method) for method in methods]
        if len(methods) - cells.count("-") < 2:
            continue
        base = " (floating)" if robot.model.moving_base else ""
        rows.append([f"{robot.name}{base}", *cells])
    return markdown(Table("", ["robot", *numbers(f"`{name}`" for name in methods)], rows))


def derivatives(asked: str) -> str:
    """Instructions of quantities and their derivatives, and of QUANTITY_derivatives by the method with the fewest."""
    columns = numbers(("itself", "`derivative`", "as a quantity", "`vjp`", "`jvp`", "`hvp`"))
    rows = []
    for name in ("planar2r", "puma560", "panda", "quadruped", "four-bar", "gough-stewart"):
        robot = linkwork.load(name)
        for quantity in asked.split():
            f, form = robot.compile(quantity), robot.compile(f"{quantity}_derivatives")
            made = f, f.derivative(), form, f.vjp(), f.jvp(), f.hvp()
            rows.append([name, quantity.replace("_", " "), *(each.operations.instructions for each in made)])
    return markdown(Table("", ["robot", "quantity", *columns], rows))


def numbers(names: Iterable[str]) -> list[Column]:
    return [Column(name, align="right") for name in names]


def operations(robot: linkwork.Robot, quantity: str, method: str) -> str:
    try:
        count = robot.compile(quantity, method=method).operations
    except linkwork.LinkworkError:  # refused, or not defined: no acceleration of rotors without inertia
        return "-"
    return f"{count.mul} / {count.add}"


if __name__ == "__main__":
    for page in sorted(PAGES.rglob("*.md")):
        page.write_text(with_tables(page.read_text()))
