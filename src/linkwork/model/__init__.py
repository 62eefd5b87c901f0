"""The robot: Description (what a file says), checks, and Model (what the formulations see)."""

from .build import build
from .chain import chain
from .checks import check, raise_errors
from .cut_joints import CUT_JOINTS, CutJoint
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
from .model import Body, Frame, Joint, Loop, Mobility, Model, quaternion_product
from .soft_limits import SoftLimits

__all__ = [
    "CUT_JOINTS",
    "Body",
    "CutJoint",
    "Description",
    "ElasticDrive",
    "Finding",
    "Frame",
    "Joint",
    "JointDescription",
    "Link",
    "LinkInertia",
    "Loop",
    "LoopDescription",
    "Mimic",
    "Mobility",
    "Model",
    "Placement",
    "SoftLimits",
    "build",
    "chain",
    "check",
    "describe",
    "grouped",
    "quaternion_product",
    "raise_errors",
    "with_elastic_drives",
]
