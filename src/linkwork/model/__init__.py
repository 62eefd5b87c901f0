"""The robot: Description (what a file says), checks, and Model (what the formulations see)."""

from .build import build
from .chain import chain
from .checks import check, raise_errors
from .coordinates import Coordinates, Layout, Segment
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
from .drive import (
    Asymmetric,
    Coulomb,
    Drive,
    FrictionLaw,
    Motor,
    Offset,
    Sliding,
    SoftLimits,
    Stribeck,
    Transmission,
    Viscous,
)
from .drive_values import changed_drives, with_drives
from .elastic_drive import ElasticDrive, with_elastic_drives
from .grouping import grouped
from .joints import JOINT_KINDS, JointKind, joint_kind
from .model import Body, Frame, Joint, Loop, Mobility, Model

__all__ = [
    "CUT_JOINTS",
    "JOINT_KINDS",
    "Asymmetric",
    "Body",
    "Coordinates",
    "Coulomb",
    "CutJoint",
    "Description",
    "Drive",
    "ElasticDrive",
    "Finding",
    "Frame",
    "FrictionLaw",
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
    "Motor",
    "Offset",
    "Placement",
    "Segment",
    "Sliding",
    "SoftLimits",
    "Stribeck",
    "Transmission",
    "Viscous",
    "build",
    "chain",
    "changed_drives",
    "check",
    "describe",
    "grouped",
    "joint_kind",
    "raise_errors",
    "with_drives",
    "with_elastic_drives",
]


def __dir__() -> list[str]:
    return __all__
