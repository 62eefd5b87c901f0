"""Checks of flexible links."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ...errors import ModelError
from ..description import Description, Finding, JointDescription, LinkInertia
from ..pseudo_inertia import moments_text
from .beam import ACROSS, Beam
from .modal import SAME

SLENDER = 10.0  # ratio of length to depth below which shear and rotary inertia matter, which are not modelled
LARGE = 0.1  # of the length: larger deflections are outside the range of a linear beam
ROUNDING = 1e-9
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
        if isinstance(joint.flexible, Beam):
            mass = (inertia.get(joint.parent) or MASSLESS).mass
            if mass < (1 - ROUNDING) * joint.flexible.mass:
                message = (
                    f"its beam weighs {joint.flexible.mass:.6g} kg, more than link {joint.parent!r} with {mass:.6g} kg"
                )
                yield Finding("warning", where, message, "the inertia of the straight beam is part of that of the link")
            yield from _slender(where, joint.flexible)
        else:
            yield from _heavy_modes(where, joint, inertia.get(joint.parent) or MASSLESS)
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


def _slender(where: str, beam: Beam) -> Iterator[Finding]:
    for name in ("y", "z"):
        if name in beam.modes or name in beam.shapes:
            depth = math.sqrt(12 * beam.moments[ACROSS[name]] / beam.area)
            if beam.length < SLENDER * depth:
                message = (
                    f"along {name} it is {depth:.3g} m deep and {beam.length:.3g} m long: the sections of so short a"
                    " beam shear and rotate, which is not modelled"
                )
                yield Finding("warning", where, message, "check its moments (m^4), or give modes of a finer model")


def _heavy_modes(where: str, joint: JointDescription, link: LinkInertia) -> Iterator[Finding]:
    """Check modal data: the link at rest without what its modes move, I - P m^-1 P^T, must be an inertia again."""
    modal = joint.flexible
    second = np.asarray(modal.second, float)
    turned = second[:, [1, 2, 0], [2, 0, 1]] - second[:, [2, 0, 1], [1, 2, 0]]
    P = np.hstack([np.asarray(modal.first, float), turned])
    whole = _spatial(link.placed((joint.origin @ modal.tip_placement.inverse()).inverse()))
    unit = np.repeat([1.0, 1 / (modal.length or 1.0)], 3)  # so that all entries are masses
    rest = (whole - P.T @ np.linalg.solve(modal.elastic.masses, P)) * np.outer(unit, unit)
    if np.linalg.eigvalsh(rest)[0] < -SAME * np.abs(whole * np.outer(unit, unit)).max():
        message = (
            f"its modes move more mass than link {joint.parent!r} has, {_in_words(link)}: the inertia matrix may be"
            " indefinite"
        )
        yield Finding("warning", where, message, "give the link its whole mass and inertia at rest, since modal data "
                      "add none; or check `first`, `second` and `products`")  # fmt: skip


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
                LESS, where=f"link {name!r}", got=_in_words(whole),
                expected=f"no less, in all directions, than the straight beam: {_in_words(beam)}",
                fix="give the numbers of the link with its beam, or another beam (density, area) in the robot's file",
            )  # fmt: skip


def less_than_beams(description: Description) -> dict[str, tuple[LinkInertia, LinkInertia]]:
    """Return link -> its inertia and that of its straight beams, where it has a negative mass or moment without them:
    with enough modes the inertia matrix is indefinite then."""
    too_light = {}
    for link in description.links:
        joints = [each for each in description.joints if each.parent == link.name and isinstance(each.flexible, Beam)]
        if not joints:
            continue
        whole = link.inertia or MASSLESS
        materials = ((joint.flexible, joint.origin @ joint.flexible.tip_placement.inverse()) for joint in joints)
        beam = sum((material.inertia.placed(root) for material, root in materials), start=MASSLESS)
        unit = np.repeat([1.0, 1 / max(joint.flexible.length for joint in joints)], 3)  # so that all entries are masses
        total, part = (_spatial(each) * np.outer(unit, unit) for each in (whole, beam))
        if np.linalg.eigvalsh(total - part)[0] < -ROUNDING * np.abs(total).max():
            too_light[link.name] = whole, beam
    return too_light


def _spatial(body: LinkInertia) -> np.ndarray:
    """Return the spatial inertia (6, 6): linear velocity of the frame's origin, then angular velocity."""
    (x, y, z), matrix = body.first_moment, np.zeros((6, 6))
    matrix[:3, :3], matrix[3:, 3:] = body.mass * np.eye(3), body.about_origin
    matrix[3:, :3] = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix[:3, 3:] = matrix[3:, :3].T
    return matrix


def _in_words(body: LinkInertia) -> str:
    center = ", ".join(f"{x:.4g}" for x in body.center)
    return f"{body.mass:.6g} kg at ({center}) m, principal moments {moments_text(np.linalg.eigvalsh(body.central))}"
