"""The modified Denavit-Hartenberg table of a robot, in the frames that its dynamics uses."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..io.mdh_writer import write_mdh
from ..io.rpy import rpy_from_rotation
from ..model import Description, Frame, Joint, Model, Placement, describe
from ..quoting import in_latex
from ..robot import Robot
from ..table import Table, escaped, markdown

HEADERS = ("j", "joint", "parent", "sigma", "gamma", "b", "alpha", "d", "theta", "r")
SYMBOLS = ("$j$", "joint", "parent", *(rf"$\{name}_j$" if len(name) > 1 else f"${name}_j$" for name in HEADERS[3:]))
SEATS = ("j", "link", "x", "y", "z", "roll", "pitch", "yaw")
SEATED = "Pose of each frame in the frame of its link"
Rows = list[list[str]]


def mdh_tables(model: Model) -> tuple[Table, Table]:
    """Return the modified Denavit-Hartenberg table, and the poses of its frames in the links' frames."""
    title = f"{model.name}: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)"
    rows = table(model)
    kinds = "0 revolute, 1 prismatic" + (", else the kind" if any(row[3].isalpha() for row in rows) else "")
    notes = [f"Lengths in m, angles in rad. sigma: {kinds}. z of a frame is the axis of its joint."]
    notes += [
        f"{joint.name} extends {joint.kind.leads_on}."
        for joint in (body.joint for body in model.bodies if body.joint.kind.leads_on)
    ]
    if any(not row[0] for row in rows):
        notes.append("A row without a number continues the one above: the axes are almost parallel.")
    return Table(title, HEADERS, rows), Table(SEATED, SEATS, seats(model), notes)


def mdh(robot: Robot) -> dict[str, list[dict[str, str]]]:
    """Return the modified Denavit-Hartenberg table of a robot.

    Args:
        robot: The robot.

    Returns:
        "table", a dict for each row, and "frames", the pose of each frame in the frame of its link. Lengths in m,
        angles in rad; sigma: 0 revolute, 1 prismatic, otherwise the kind of joint; z of a frame is the joint axis.

    Example:
        >>> linkwork.inspection.mdh(robot)["table"][1]["alpha"]
        '-pi/2'
    """
    parts = {"table": (HEADERS, table(robot.model)), "frames": (SEATS, seats(robot.model))}
    return {name: [dict(zip(headers, row, strict=True)) for row in rows] for name, (headers, rows) in parts.items()}


def table(model: Model) -> Rows:
    """Return a row for each joint, one more for each pair of screws beyond three; 0 is the ground."""
    rows = []
    for i, body in enumerate(model.bodies, 1):
        joint = body.joint
        if joint.kind.free and not joint.placement:
            continue
        *further, last = _pairs(joint)
        sigma = "0" if joint.revolute else "1" if joint.prismatic else joint.kind.name
        head = [str(i), joint.name, str(body.parent), sigma]
        for pairs in further:
            rows.append([*head, *pairs, "", ""])
            head = [""] * 4
        rows.append([*head, *last])
    return rows


def _pairs(joint: Joint) -> list[list[str]]:
    """Return angle and length of z, x (and z) screws, by rows; the last row has those of the joint itself."""
    chain = [(screw.axis, angle_text(screw.angle), f"{screw.length:.6g}") for screw in joint.placement]
    own_angle, own_length = angle_text(joint.angle), f"{joint.length:.6g}"
    turn, shift = ("turn", "shift") if joint.kind.nv > 1 else ("q", f"{joint.pitch:.6g} q" if joint.pitch else "q")
    if joint.kind.axial and any(joint.kind.turning):
        own_angle = _moved(turn, own_angle)
    if joint.kind.axial and (joint.pitch or not all(joint.kind.turning)):
        own_length = _moved(shift, own_length)
    if len(chain) % 2:  # it begins with an x screw
        chain.insert(0, ("z", "0", "0"))
    if not chain:
        chain = [("z", "0", "0"), ("x", "0", "0")]
    rows = [[text for _, *pair in chain[k : k + 2] for text in pair] for k in range(0, len(chain), 2)]
    rows[-1] += [own_angle, own_length]
    return rows


def _moved(by: str, constant: str) -> str:
    return by if constant == "0" else f"{by} - {constant[1:]}" if constant.startswith("-") else f"{by} + {constant}"


def seats(model: Model) -> Rows:
    """Return origin and roll, pitch, yaw of each body's frame in the frame of its link."""
    rows = []
    for i, body in enumerate(model.bodies, 1):
        seat = _placement(model.link_pose(i).inverse())
        angles = rpy_from_rotation(seat.rotation)
        rows.append([str(i), body.name, *(f"{x + 0.0:.6g}" for x in seat.translation), *map(angle_text, angles)])
    return rows


def angle_text(value: float) -> str:
    """Format an angle in radians; simple fractions of pi by name."""
    for part in (1, 2, 3, 4, 6):
        whole = round(value * part / math.pi)
        if whole and abs(value - whole * math.pi / part) < 1e-12:
            times = {1: "", -1: "-"}.get(whole, f"{whole} ")
            return f"{times}pi" + (f"/{part}" if part > 1 else "")
    return f"{value + 0.0:.6g}"


def normalised(model: Model) -> Description:
    """Describe the robot in the frames of its bodies; the links' frames become extra frames of the same name."""
    bodies = {body.name for body in model.bodies}
    aligned = {
        name: replace(frame, pose=frame.pose.identity()) if name in bodies else frame
        for name, frame in model.frames.items()
    }
    extra = {name: (name, _placement(frame.pose)) for name, frame in model.frames.items() if _moved_link(bodies, frame)}
    description = describe(replace(model, frames=aligned))
    return replace(description, frames=extra | dict(description.frames))


def _moved_link(bodies: set[str], frame: Frame) -> bool:
    """Return whether a frame is that of a link, and differs from the frame of its body."""
    placement = _placement(frame.pose)
    return frame.name in bodies and not (
        np.array_equal(placement.rotation, np.eye(3)) and not placement.translation.any()
    )


def _placement(pose: Any) -> Placement:
    return Placement(np.array([list(row) for row in pose.rotation.rows], float), np.array(list(pose.origin), float))


# -- formats ---------------------------------------------------------------------------------------------------------


def _markdown(model: Model) -> str:
    table, seats = (markdown(escaped(each)) for each in mdh_tables(model))
    return f"{table}\n\n{SEATED}:\n\n{seats}\n"


def _latex(model: Model) -> str:
    def cell(header: str, text: str) -> str:
        if header in ("link", "joint"):
            return in_latex(text)
        symbols = re.sub("[a-z]{3,}", r"\\mathrm{\g<0>}", text).replace("pi", r"\pi")
        return f"${symbols}$" if symbols else ""

    def lines(headers: Sequence[str], rows: Rows) -> str:
        whole = [headers, *([cell(*pair) for pair in zip(headers, row, strict=True)] for row in rows)]
        head, *body = (" & ".join(row) + " \\\\\n" for row in whole)
        return f"\\begin{{tabular}}{{{'l' * len(headers)}}}\n{head}\\hline\n{''.join(body)}\\end{{tabular}}\n"

    return f"{lines(SYMBOLS, table(model))}\n% {SEATED}\n{lines(SEATS, seats(model))}"


FORMATS = {"markdown": _markdown, "latex": _latex, "yaml": lambda model: write_mdh(normalised(model))}
