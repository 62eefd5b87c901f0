"""What is wrong or suspicious in links that bend."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ...errors import ModelError
from ..constraint_checks import place
from ..description import Description, Finding, JointDescription, LinkInertia
from ..pseudo_inertia import told
from .beam import ACROSS, Beam
from .modal import SAME

SLENDER = 10.0  # lengths per depth, below which sections shear and turn, which these beams do not know
LARGE = 0.1  # of the length: deflections from which on the linear beam is a doubtful one
ROUNDING = 1e-9
SAME_PLACE = 1e-3  # of the length, and rad: numbers of files have few digits
NOTHING = LinkInertia(0.0)
LESS = "it is less than its own beam, which is a part of it"


def check_flexible(description: Description) -> Iterator[Finding]:
    inertia = {link.name: link.inertia for link in description.links}
    coupled = {name for each in description.transmissions for name in each.joints}
    for joint in description.joints:
        if joint.flexible is None:
            continue
        where = place(description, "joint", joint.name)
        if joint.flexible.along:
            yield from _along(where, joint, description)
            continue
        if joint.role != "elastic":
            yield Finding("error", where, f"its role is {joint.role}, but no motor moves the modes of a link",
                          "make it elastic")  # fmt: skip
        if joint.mimic or joint.name in coupled:
            message = "the modes of a link follow nothing but its own dynamics"
            yield Finding("error", where, message, "remove its mimic, or name other joints in the transmission")
        if isinstance(joint.flexible, Beam):
            own = inertia.get(joint.parent)
            mass = own.mass if own is not None else 0.0
            if mass < (1 - ROUNDING) * joint.flexible.mass:
                message = (
                    f"its beam weighs {joint.flexible.mass:.6g} kg, more than link {joint.parent!r} with {mass:.6g} kg"
                )
                yield Finding("warning", where, message, "the inertia of the straight beam is part of that of the link")
            yield from _slender(where, joint.flexible)
        else:
            yield from _heavy_modes(where, joint, inertia.get(joint.parent) or NOTHING)
        yield from _large(where, joint, description)


def _along(where: str, joint: JointDescription, description: Description) -> Iterator[Finding]:
    station = joint.flexible
    leader = next((each for each in description.joints if each.name == station.along), None)
    follows = joint.mimic is not None and joint.mimic.joint == station.along
    fits = leader is not None and leader.parent == joint.parent and isinstance(leader.flexible, type(station.material))
    if not (follows and fits and leader is not None and joint.motion.nv == leader.motion.nv):
        message = f"it is a place along {station.along!r}, and does not follow it on the same link"
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
                    " beam shear and turn, which is left out"
                )
                yield Finding("warning", where, message, "check its moments (m^4), or give modes of a finer model")


def _heavy_modes(where: str, joint: JointDescription, link: LinkInertia) -> Iterator[Finding]:
    """Of modal data: the link at rest less what its modes move, I - P m^-1 P^T, has to be some inertia again."""
    modal = joint.flexible
    second = np.asarray(modal.second, float)
    turned = second[:, [1, 2, 0], [2, 0, 1]] - second[:, [2, 0, 1], [1, 2, 0]]
    P = np.hstack([np.asarray(modal.first, float), turned])
    whole = _spatial(link.placed((joint.origin @ modal.tip_placement.inverse()).inverse()))
    unit = np.repeat([1.0, 1 / (modal.length or 1.0)], 3)  # of length, so that all are masses
    rest = (whole - P.T @ np.linalg.solve(modal.elastic.masses, P)) * np.outer(unit, unit)
    if np.linalg.eigvalsh(rest)[0] < -SAME * np.abs(whole * np.outer(unit, unit)).max():
        message = (
            f"its modes move more than there is of link {joint.parent!r}, {_told(link)}: the inertia matrix may be"
            " indefinite"
        )
        yield Finding("warning", where, message, "give the link the mass and inertia at rest of all that bends: modal "
                      "data add none; or check `first`, `second` and `products`")  # fmt: skip


def _large(where: str, joint: JointDescription, description: Description) -> Iterator[Finding]:
    given = np.atleast_1d(np.asarray(description.home.get(joint.name, 0.0), float))
    most = np.abs(given).max(initial=0.0)
    if LARGE * joint.flexible.length < most < math.inf:
        message = f"at home its modes are deflected by {most:.3g}, of a length of {joint.flexible.length:.3g} m"
        yield Finding("warning", where, message, "the modes are those of small deflections: start nearer to zero")


def require_beams(description: Description, links: Collection[str]) -> None:
    """Refuse those of ``links`` that are less than what bends of them."""
    for name, (whole, beam) in less_than_beams(description).items():
        if name in links:
            raise ModelError(
                LESS, where=f"link {name!r}", got=_told(whole),
                expected=f"no less, in all directions, than the straight beam: {_told(beam)}",
                fix="give the numbers of the link with its beam, or another beam (density, area) in the robot's file",
            )  # fmt: skip


def less_than_beams(description: Description) -> dict[str, tuple[LinkInertia, LinkInertia]]:
    """Link -> its inertia and that of its straight beams, where it has a negative mass or moment without them: with
    modes enough the inertia matrix is indefinite then."""
    found = {}
    for link in description.links:
        own = [joint for joint in description.joints if joint.parent == link.name and isinstance(joint.flexible, Beam)]
        if not own:
            continue
        whole = link.inertia or NOTHING
        beams = (joint.flexible.inertia.placed(joint.origin @ joint.flexible.tip_placement.inverse()) for joint in own)
        beam = sum(beams, start=NOTHING)
        unit = np.repeat([1.0, 1 / max(joint.flexible.length for joint in own)], 3)  # of length, so that all are masses
        all_of_it, bending = (_spatial(each) * np.outer(unit, unit) for each in (whole, beam))
        if np.linalg.eigvalsh(all_of_it - bending)[0] < -ROUNDING * np.abs(all_of_it).max():
            found[link.name] = whole, beam
    return found


def _spatial(body: LinkInertia) -> np.ndarray:
    """6 x 6: twice the kinetic energy by velocity of the frame's origin, and angular velocity."""
    (x, y, z), matrix = body.first_moment, np.zeros((6, 6))
    matrix[:3, :3], matrix[3:, 3:] = body.mass * np.eye(3), body.about_origin
    matrix[3:, :3] = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix[:3, 3:] = matrix[3:, :3].T
    return matrix


def _told(body: LinkInertia) -> str:
    center = ", ".join(f"{x:.4g}" for x in body.center)
    return f"{body.mass:.6g} kg at ({center}) m, principal moments {told(np.linalg.eigvalsh(body.central))}"
