"""What a report about a robot is made of: its picture, charts, a sample motion with its torque in parts, and the page.

``linkwork report`` puts them together.
"""

from .charts import Series, chart, legend
from .motion import Motion, sample_motion
from .page import Safe, heading, html, page, paragraph, table
from .parts import torque_parts
from .picture import picture

__all__ = [
    "Motion",
    "Safe",
    "Series",
    "chart",
    "heading",
    "html",
    "legend",
    "page",
    "paragraph",
    "picture",
    "sample_motion",
    "table",
    "torque_parts",
]
