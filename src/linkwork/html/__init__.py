"""Self-contained HTML pages: text, tables and charts in one style."""

from .charts import DOTS, Series, chart, legend
from .document import heading, page, paragraph, table
from .shapes import deviation_bar, share_bar, triangle_map

__all__ = [
    "DOTS",
    "Series",
    "chart",
    "deviation_bar",
    "heading",
    "legend",
    "page",
    "paragraph",
    "share_bar",
    "table",
    "triangle_map",
]
