"""The robot: Description (what a file gives), its checks, and Model (what formulations use)."""

from .build import build
from .chain import chain
from .commands import command_vector, commanded
from .constraints import (
    CUT_JOINTS,
    POINT,
    WELD,
    Blade,
    ConstraintKind,
    CutJoint,
    Foot,
    Gear,
    Glide,
    Mecanum,
    Omni,
    Rolling,
    Wheel,
    in_words,
)
from .coordinates import Coordinates, Layout, Segment
from .describe import describe
from .description import (
    ConstraintDescription,
    Description,
    Finding,
    JointDescription,
    Link,
    LinkInertia,
    Mimic,
    Placement,
    foot_at,
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
from .elastic_drive import ElasticDrive, with_elastic_drives
from .flexible.beam import Beam
from .flexible.modal import Modal
from .flexible.modes import ElasticModes
from .flexible.station import Station
from .grouping import grouped
from .joints import JOINT_KINDS, JointKind, joint_kind
from .model import Body, Constraint, Frame, Joint, Mobility, Model
from .number_inputs import NumberInput, number_input, number_inputs, require_apart, with_numbers
from .pseudo_inertia import ELEMENTS, body_of, pseudo_inertia, unphysical
from .validate import check, raise_errors
from .with_parameters import carrying, changed, changed_drives, with_drives, with_elements

__all__ = [  # the other names are for the other parts of linkwork, or are public in linkwork itself
    "CUT_JOINTS",
    "JOINT_KINDS",
    "Asymmetric",
    "Beam",
    "Blade",
    "ConstraintDescription",
    "ConstraintKind",
    "Coordinates",
    "Description",
    "Finding",
    "Foot",
    "Frame",
    "FrictionLaw",
    "Gear",
    "Glide",
    "JointDescription",
    "JointKind",
    "Layout",
    "Link",
    "LinkInertia",
    "Mecanum",
    "Mimic",
    "Modal",
    "Motor",
    "Offset",
    "Omni",
    "Placement",
    "Sliding",
    "Station",
    "Stribeck",
    "Transmission",
    "Wheel",
    "check",
    "foot_at",
]


def __dir__() -> list[str]:
    return __all__
