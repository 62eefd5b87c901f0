"""The robot: Description (what a file says), checks, and Model (what the formulations see)."""

from .build import build
from .chain import chain
from .commands import command_vector, commanded
from .contacts import CONTACTS, Contact
from .coordinates import Coordinates, Layout, Segment
from .cut_joints import CUT_JOINTS, POINT, WELD, CutJoint
from .describe import describe
from .description import (
    Description,
    Finding,
    Foot,
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
from .drive_values import changed_drives, with_drives, with_elements
from .elastic_drive import ElasticDrive, with_elastic_drives
from .flexible.beam import Beam
from .flexible.modal import Modal
from .flexible.modes import ElasticModes
from .flexible.station import Station
from .grouping import grouped
from .joints import JOINT_KINDS, JointKind, joint_kind
from .loop_kind import LoopKind
from .loop_kinds import in_words
from .model import Body, Frame, Joint, Loop, Mobility, Model
from .pseudo_inertia import ELEMENTS, body_of, pseudo_inertia, unphysical
from .validate import check, raise_errors
from .with_parameters import carrying, changed

__all__ = [  # the other names are for the other parts of linkwork, or stand in linkwork itself
    "CUT_JOINTS",
    "JOINT_KINDS",
    "Asymmetric",
    "Beam",
    "Body",
    "Coordinates",
    "Coulomb",
    "CutJoint",
    "Description",
    "Drive",
    "Finding",
    "Foot",
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
    "Modal",
    "Motor",
    "Offset",
    "Placement",
    "Segment",
    "Sliding",
    "Station",
    "Stribeck",
    "Transmission",
    "Viscous",
    "check",
]


def __dir__() -> list[str]:
    return __all__
