"""The robot: Description (what a file says), checks, and Model (what the formulations see)."""

from .build import build
from .chain import chain
from .checks import check, raise_errors
from .describe import describe
from .description import Description, Finding, JointDescription, Link, LinkInertia, Mimic, Placement
from .grouping import grouped
from .model import Body, Frame, Joint, Model

__all__ = [
    "Body",
    "Description",
    "Finding",
    "Frame",
    "Joint",
    "JointDescription",
    "Link",
    "LinkInertia",
    "Mimic",
    "Model",
    "Placement",
    "build",
    "chain",
    "check",
    "describe",
    "grouped",
    "raise_errors",
]
