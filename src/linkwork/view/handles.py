"""Handles: the numbers by which a user moves joints, with roll, pitch and yaw in place of a quaternion."""

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
    """One number by which a user moves the robot, with its unit and bounds."""

    name: str
    unit: str
    lower: float
    upper: float


def handles_of(model: Model, coordinates: Coordinates, home: Any, size: float) -> list[Handle]:
    """Return the handles of the joints of ``coordinates``.

    Their bounds are the joint limits. A joint without limits gets bounds about ``home``, its position there, that suit
    a robot of this ``size``.
    """
    owners = [joint for joint in coordinates.joints for _ in range(joint.kind.nq)]
    rows = (
        _replaced(
            coordinates, coordinates.names, lambda names: [names[0].removesuffix("qx") + angle for angle in ANGLES]
        ),
        _replaced(coordinates, coordinates.positions.units, lambda _: ["rad"] * 3),
        _replaced(coordinates, coordinates.lower.tolist(), lambda _: [-math.pi] * 3),
        _replaced(coordinates, coordinates.upper.tolist(), lambda _: [math.pi] * 3),
        _replaced(coordinates, owners, lambda joints: joints[:3]),
        handle_values(coordinates, home),
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


def handle_values(coordinates: Coordinates, q: Any) -> list[float]:
    """Return the values of the handles at positions q of the joints of ``coordinates``."""
    return [
        float(x) for x in _replaced(coordinates, q, lambda xyzw: rpy_from_rotation(rotation_from_quaternion(*xyzw)))
    ]


def handle_positions(coordinates: Coordinates, values: Sequence[float]) -> np.ndarray:
    """Return the positions q of the joints of ``coordinates`` at values of the handles."""
    q = list(values)
    for at in coordinates.quaternions:  # in order: the quaternions before this one already have their four entries
        angles = slice(at.start, at.start + len(ANGLES))
        q[angles] = quaternion_from_rotation(rotation_from_rpy(*q[angles]))
    return np.array(q, float)


def _replaced(coordinates: Coordinates, entries: Sequence[Any], angles: Callable[[Any], Sequence[Any]]) -> list[Any]:
    """Return ``entries``, one for each entry of q, with three in place of the four of each quaternion."""
    result = list(entries)
    for at in reversed(coordinates.quaternions):
        result[at] = angles(result[at])
    return result
