"""Checks of flexible links."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ...errors import ModelError
from ..description import Description, Finding, JointDescription, LinkInertia
from .beam import ROUNDING
from .material import inertia_text, spatial_inertia

LARGE = 0.1  # of the length: larger deflections are outside the range of a linear beam
SAME_PLACE = 1e-3  # of the length, and rad: numbers of files have few digits
MASSLESS = LinkInertia(0.0)
LESS = "it is less than its own beam, which is a part of it"


def check_flexible(description: Description) -> Iterator[Finding]:
    """Check the flexible links of a robot."""
    inertia = {link.name: link.inertia for link in description.links}
    coupled = {name for each in description.transmissions for name in each.joints}
    for joint in description.joints:
        if joint.flexible is None:
            continue
        where = description.place("joint", joint.name)
        if joint.flexible.along:
            yield from _along(where, joint, description)
            continue
        if joint.role != "elastic":
            yield Finding("error", where, f"its role is {joint.role}, but no motor moves the modes of a link",
                          "make it elastic")  # fmt: skip
        if joint.mimic or joint.name in coupled:
            message = "the modes of a link cannot follow another joint"
            yield Finding("error", where, message, "remove its mimic, or name other joints in the transmission")
        link, root = inertia.get(joint.parent) or MASSLESS, joint.origin @ joint.flexible.tip_placement.inverse()
        for fault in joint.flexible.check(joint.parent, link, root):
            yield Finding(fault.level, where, fault.message, fault.fix)
        yield from _large(where, joint, description)


def _along(where: str, joint: JointDescription, description: Description) -> Iterator[Finding]:
    station = joint.flexible
    leader = next((each for each in description.joints if each.name == station.along), None)
    follows = joint.mimic is not None and joint.mimic.joint == station.along
    fits = leader is not None and leader.parent == joint.parent and isinstance(leader.flexible, type(station.material))
    if not (follows and fits and leader is not None and joint.motion.nv == leader.motion.nv):
        message = f"it is a place along {station.along!r}, but does not follow it on the same link"
        yield Finding("error", where, message, "name the joint to the tip of the link, from its parent")
        return
    place = leader.origin @ leader.flexible.tip_placement.inverse() @ station.tip_placement
    off = np.abs(joint.origin.translation - place.translation).max() / (station.length or 1.0)
    if max(off, np.abs(joint.origin.rotation - place.rotation).max()) > SAME_PLACE:
        message = (
            f"the file has it at {joint.origin.translation.round(6).tolist()}, but its place along {station.along!r} is"
            f" {place.translation.round(6).tolist()}, with the axes of the tip"
        )
        yield Finding("error", where, message, "move one of them")


def _large(where: str, joint: JointDescription, description: Description) -> Iterator[Finding]:
    most = np.abs(np.atleast_1d(np.asarray(description.home.get(joint.name, 0.0), float))).max(initial=0.0)
    if LARGE * joint.flexible.length < most < math.inf:
        message = f"at home its modes are deflected by {most:.3g}, of a length of {joint.flexible.length:.3g} m"
        yield Finding("warning", where, message, "modes are for small deflections: start nearer to zero")


def require_beams(description: Description, links: Collection[str]) -> None:
    """Raise ModelError for those of ``links`` that are less than their beams."""
    for name, (whole, beam) in less_than_beams(description).items():
        if name in links:
            raise ModelError(
                LESS, where=f"link {name!r}", got=inertia_text(whole),
                expected=f"no less, in all directions, than the straight beam: {inertia_text(beam)}",
                fix="give the numbers of the link with its beam, or another beam (density, area) in the robot's file",
            )  # fmt: skip


def less_than_beams(description: Description) -> dict[str, tuple[LinkInertia, LinkInertia]]:
    """Return link -> its inertia and that of its straight beams, where it has a negative mass or moment without them:
    with enough modes the inertia matrix is indefinite then."""
    too_light = {}
    for link in description.links:
        joints = [
            each for each in description.joints if each.parent == link.name and each.flexible and each.flexible.inertia
        ]
        if not joints:
            continue
        whole = link.inertia or MASSLESS
        materials = ((joint.flexible, joint.origin @ joint.flexible.tip_placement.inverse()) for joint in joints)
        beam = sum((material.inertia.placed(root) for material, root in materials), start=MASSLESS)
        unit = np.repeat([1.0, 1 / max(joint.flexible.length for joint in joints)], 3)  # so that all entries are masses
        total, part = (spatial_inertia(each) * np.outer(unit, unit) for each in (whole, beam))
        if np.linalg.eigvalsh(total - part)[0] < -ROUNDING * np.abs(total).max():
            too_light[link.name] = whole, beam
    return too_light
