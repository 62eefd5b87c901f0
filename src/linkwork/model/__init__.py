"""The robot: Description (what a file says), checks, and Model (what the formulations see)."""

from . import closure
from .build import build
from .chain import chain
from .checks import check, raise_errors
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
from .mobility import determines
from .model import Body, Frame, Joint, Loop, Mobility, Model, quaternion_product

__all__ = [
    "Asymmetric",
    "Body",
    "Coulomb",
    "Description",
    "Drive",
    "ElasticDrive",
    "Finding",
    "Frame",
    "FrictionLaw",
    "Joint",
    "JointDescription",
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
    "Sliding",
    "SoftLimits",
    "Stribeck",
    "Transmission",
    "Viscous",
    "build",
    "chain",
    "changed_drives",
    "check",
    "closure",
    "describe",
    "determines",
    "grouped",
    "quaternion_product",
    "raise_errors",
    "with_drives",
    "with_elastic_drives",
]
