"""Feet: where a robot may stand on the ground, which is the plane z = 0 of the world."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from .description import Description, Finding, Foot
from .loop_checks import HUGE, nearest, place


def check_feet(description: Description) -> Iterator[Finding]:
    carried = {link.name: link.name for link in description.links}
    carried |= {name: link for name, (link, _) in description.frames.items()}
    for name, count in Counter(foot.name for foot in description.feet).items():
        if count > 1:
            yield Finding(
                "error", place(description, "foot", name), f"{count} feet have this name", "rename all but one"
            )
    for foot in description.feet:
        where = place(description, "foot", foot.name)
        if foot.frame not in carried:
            message = f"there is no frame {foot.frame!r}"
            yield Finding("error", where, message, nearest(foot.frame, carried))
        elif _stands_still(description, carried[foot.frame]):
            message = f"its frame {foot.frame!r} is fixed to the ground"
            yield Finding("error", where, message, "give a frame that moves, or base: floating")
        yield from _numbers(foot, where)


def _numbers(foot: Foot, where: str) -> Iterator[Finding]:
    if foot.size and not (len(foot.size) == 2 and all(0 < x < HUGE for x in foot.size)):
        message = f"its size is {', '.join(f'{x:g}' for x in foot.size)}"
        yield Finding("error", where, message, "give length and width of the sole in metres, or none: it is a point")
    if not 0 <= foot.friction <= math.inf:
        yield Finding("error", where, f"its friction is {foot.friction:g}", "give a coefficient, zero or more")
    if not 0 <= foot.restitution <= 1:
        yield Finding("error", where, f"its restitution is {foot.restitution:g}", "give a number from 0 to 1")


def _stands_still(description: Description, link: str) -> bool:
    """Whether no joint moves the link."""
    inner = {joint.child: joint for joint in description.joints}
    for _ in description.joints:  # a tree that is none may have no end
        if link in inner and inner[link].motion.nv:
            return False
        link = inner[link].parent if link in inner else link
    return not description.floating
