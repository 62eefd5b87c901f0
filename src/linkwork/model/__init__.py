"""The robot: Description (what a file says), checks, and Model (what the formulations see)."""

from . import closure
from .build import build
from .chain import chain
from .checks import check, raise_errors
from .coordinates import Coordinates, Layout, Segment
from .describe import describe
from .description import (
    Description,
    Finding,
    JointDescription,
    Link,
    LinkInertia,
    LoopDescription,
    Mimic,
    Placement,
)
from .elastic_drive import ElasticDrive, with_elastic_drives
from .grouping import grouped
from .joints import JOINT_KINDS, JointKind, joint_kind
from .mobility import determines
from .model import Body, Frame, Joint, Loop, Mobility, Model
from .soft_limits import SoftLimits

__all__ = [
    "JOINT_KINDS",
    "Body",
    "Coordinates",
    "Description",
    "ElasticDrive",
    "Finding",
    "Frame",
    "Joint",
    "JointDescription",
    "JointKind",
    "Layout",
    "Link",
    "LinkInertia",
    "Loop",
    "LoopDescription",
    "Mimic",
    "Mobility",
    "Model",
    "Placement",
    "Segment",
    "SoftLimits",
    "build",
    "chain",
    "check",
    "closure",
    "describe",
    "determines",
    "grouped",
    "joint_kind",
    "raise_errors",
    "with_elastic_drives",
]


def __dir__() -> list[str]:
    return __all__
