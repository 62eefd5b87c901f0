"""All kinds of constraints that a description may have in its ``loops``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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


def in_words(kinds: Iterable[LoopKind]) -> str:
    """How many there are of each: 1 loop, 4 wheels, 1 gear."""
    counts = Counter("loop" if kind.cut else kind.name for kind in kinds)
    return ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())
