"""Handles: the numbers by which a user moves joints: their positions, but roll, pitch and yaw in place of a
quaternion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.equations import in_loops
from ..io.rpy import rotation_from_quaternion, rpy_from_rotation
from ..model import Coordinates, Joint, Model
from ..model.rotations import quaternion_from_rotation, rotation_from_rpy

ANGLES = ("roll", "pitch", "yaw")


@dataclass(frozen=True)
class Handle:
    """One number a user moves the robot by."""

    name: str
    unit: str
    lower: float
    upper: float


def handles_of(model: Model, moved: Coordinates, home: Any, size: float) -> list[Handle]:
    """Of the joints that are ``moved``: within their limits, or within what suits a robot of this ``size`` about
    ``home``, the positions of these joints."""
    owners = [joint for joint in moved.joints for _ in range(joint.kind.nq)]
    rows = (
        _replaced(moved, moved.names, lambda own: [own[0].removesuffix("qx") + angle for angle in ANGLES]),
        _replaced(moved, moved.positions.units, lambda _: ["rad"] * 3),
        _replaced(moved, moved.lower.tolist(), lambda _: [-math.pi] * 3),
        _replaced(moved, moved.upper.tolist(), lambda _: [math.pi] * 3),
        _replaced(moved, owners, lambda own: own[:3]),
        handle_values(moved, home),
    )
    return [_handle(model, size, *row) for row in zip(*rows, strict=True)]


def _handle(model: Model, size: float, name: str, unit: str, lower: float, upper: float, joint: Joint, home: float):
    width = math.pi if unit == "rad" else size
    if joint.kind.modes and unit == "m":
        width = 0.2 * joint.kind.material.length
    elif joint.role == "elastic":
        width = 0.5
    elif joint.kind.free and unit == "m":
        width = (0.4 if joint.name in in_loops(model) else 1.5) * size
    low, high = (x if math.isfinite(x) else y for x, y in ((lower, home - width), (upper, home + width)))
    return Handle(name, unit, min(low, home), max(high, home))


def handle_values(moved: Coordinates, q: Any) -> list[float]:
    """Of the handles at positions q of these joints."""
    return [float(x) for x in _replaced(moved, q, lambda own: rpy_from_rotation(rotation_from_quaternion(*own)))]


def handle_positions(moved: Coordinates, values: Sequence[float]) -> np.ndarray:
    """The positions q of these joints at values of the handles."""
    q = list(values)
    for at in moved.quaternions:  # those before are in their places again
        angles = slice(at.start, at.start + len(ANGLES))
        q[angles] = quaternion_from_rotation(rotation_from_rpy(*q[angles]))
    return np.array(q, float)


def _replaced(moved: Coordinates, entries: Sequence[Any], angles: Callable[[Any], Sequence[Any]]) -> list[Any]:
    """What belongs to the entries of q, with three in place of the four of each quaternion."""
    kept = list(entries)
    for at in reversed(moved.quaternions):
        kept[at] = angles(kept[at])
    return kept
