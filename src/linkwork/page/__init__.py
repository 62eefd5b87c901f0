"""Pages of HTML that need nothing but themselves: text, tables and charts in one look."""

from .charts import Series, chart, legend
from .document import Safe, heading, html, page, paragraph, table

__all__ = ["Safe", "Series", "chart", "heading", "html", "legend", "page", "paragraph", "table"]
