"""Write the generated tables into the pages of the papers, between their markers.

A page marks the place by ``<!-- tables: REFERENCE -->`` and, once written, ``<!-- end of tables -->``.
``make docs-tables`` runs this; a test checks that the pages are up to date.
"""

import re
import sys
from pathlib import Path

from linkwork.cli.tables import as_markdown, entry
from linkwork.published import TABLES

PAGES = Path(__file__).parent / "papers"
MARKED = re.compile(r"<!-- tables: (\w+) -->\n(?:.*?<!-- end of tables -->\n)?", re.S)


def with_tables(text: str) -> str:
    """The page with its tables made anew."""

    def tables(match: re.Match) -> str:
        reference = match[1]
        chosen = [as_markdown(t, [entry(row) for row in t.rows]) for t in TABLES if t.reference == reference]
        if not chosen:
            sys.exit(f"no tables have the reference {reference!r}")
        return f"<!-- tables: {reference} -->\n\n" + "\n\n".join(chosen) + "\n\n<!-- end of tables -->\n"

    return MARKED.sub(tables, text)


if __name__ == "__main__":
    for page in sorted(PAGES.glob("*.md")):
        page.write_text(with_tables(page.read_text()))
