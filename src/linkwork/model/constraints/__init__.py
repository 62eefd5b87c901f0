"""Constraints: cut joints of loops, rolling contacts, gears and feet. A new kind is a file here, imported below."""

from .cut_joint import CUT_JOINTS, POINT, WELD, CutJoint
from .foot import Foot
from .gear import Gear
from .kind import ConstraintKind, End, in_words, kinds_in
from .mecanum import Mecanum
from .wheel import Blade, Glide, Omni, Rolling, Wheel

SECTIONS = ("loops", "rolling", "gears", "feet")  # the tables of files that list constraints, as they are read

__all__ = [
    "CUT_JOINTS",
    "POINT",
    "SECTIONS",
    "WELD",
    "Blade",
    "ConstraintKind",
    "CutJoint",
    "End",
    "Foot",
    "Gear",
    "Glide",
    "Mecanum",
    "Omni",
    "Rolling",
    "Wheel",
    "in_words",
    "kinds_in",
]
