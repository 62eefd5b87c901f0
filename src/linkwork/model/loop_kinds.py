"""All kinds of constraints that a description may have in its ``loops``."""

from __future__ import annotations

from .contacts import CONTACTS, contact
from .cut_joints import CUT_JOINTS
from .description import LoopDescription
from .gears import Gear
from .loop_kind import LoopKind

LOOP_KINDS = (*CUT_JOINTS, *CONTACTS, Gear.name)


def loop_kind(loop: LoopDescription) -> LoopKind:
    """Of one that ``check`` has found sound."""
    if loop.kind in CONTACTS:
        return contact(loop.kind, loop.radius, loop.friction)
    return Gear(tuple(loop.ratios.items()), loop.offset) if loop.kind == Gear.name else CUT_JOINTS[loop.kind]
