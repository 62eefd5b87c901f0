"""Can a body be? Its ten numbers belong to some distribution of mass if its pseudo-inertia has no negative eigenvalue.

Wensing, Kim & Slotine (2018), "Linear matrix inequalities for physically consistent inertial parameter identification".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .description import LinkInertia

ELEMENTS = ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")  # of a body, in the order of Robot.parameters
EXACT = 1e-9  # relative: what rounding makes of a plate, whose largest moment is the others' sum
NOISE = 1e-13  # of the inertia about the origin: what is left of it by rounding where a point has none


def body_of(ten: Any) -> LinkInertia:
    """The body with these numbers, in the order of ``Robot.parameters``. Without mass it has no first moments."""
    numbers = np.asarray(ten, float)
    return LinkInertia.about(float(numbers[0]), numbers[1:4], symmetric(numbers[4:]))


def ten_of(body: LinkInertia) -> list[float]:
    """The numbers of a body, in the order of ``Robot.parameters``."""
    return [float(x) for x in (body.mass, *body.first_moment, *body.about_origin[np.triu_indices(3)])]


def symmetric(six: Sequence[float] | np.ndarray) -> np.ndarray:
    """The matrix with the entries xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)


def pseudo_inertia(ten: Any) -> np.ndarray:
    """The integral of (r, 1) (r, 1)^T dm, 4 x 4, linear in the ten numbers of a body: second moments of mass, first
    moments, mass."""
    numbers = np.asarray(ten, float)
    J, matrix = symmetric(numbers[4:]), np.empty((4, 4))
    matrix[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    matrix[:3, 3] = matrix[3, :3] = numbers[1:4]
    matrix[3, 3] = numbers[0]
    return matrix


def margin(ten: Any) -> float:
    """How far a body is from what cannot be: the smallest eigenvalue of its pseudo-inertia about the centre of mass, in
    a unit of length in which the largest second moment is one. 1: a ball or a cube; 0: a plate, a rod or a point;
    negative: impossible."""
    numbers = np.asarray(ten, float)
    if not numbers.any():
        return 0.0
    if numbers[0] <= 0:  # about no centre; the sign is all that is told
        scaled = pseudo_inertia(numbers)
        return float(np.linalg.eigvalsh(scaled / np.abs(scaled).max())[0])
    moments = np.linalg.eigvalsh(body_of(numbers).central)
    if np.abs(moments).max() <= _noise(numbers):
        return 0.0
    second = 0.5 * moments.sum() - moments
    return float(second.min() / np.abs(second).max())


def unphysical(ten: Any) -> str:
    """Why no body has these ten numbers, in a sentence; empty if one has."""
    numbers = np.asarray(ten, float)
    if not np.isfinite(numbers).all():
        return "its numbers are not finite"
    if numbers[0] == 0 and numbers[1:4].any():
        return f"it has first moments but no mass: {numbers[1]:.6g}, {numbers[2]:.6g}, {numbers[3]:.6g} kg m"
    body = body_of(numbers)
    noise = _noise(numbers)
    wrong = impossible(body.mass, np.linalg.eigvalsh(body.central), EXACT, noise)
    if wrong and body.mass > 0 and not impossible(1.0, np.linalg.eigvalsh(body.about_origin), EXACT, noise):
        far = math.hypot(*body.center)
        wrong += f"; its centre of mass is {far:.6g} m from the origin, too far for its inertia about the origin"
    return wrong


def impossible(mass: float, moments: np.ndarray, rounding: float, noise: float = 0.0) -> str:
    """Why no body has this mass and these principal moments about its centre, in ascending order; empty if one has.
    ``rounding``, ``noise``: by which part of the largest moment, and by how much besides, they may be wrong."""
    listed, largest = told(moments), float(np.abs(moments).max())
    if mass < 0:
        return negative_mass(mass)
    if mass == 0:
        return f"it has inertia but no mass: principal moments {listed}" if largest > 0 else ""
    if moments[0] < -EXACT * largest - noise:
        return f"its inertia is indefinite: principal moments {listed} about the centre of mass, where none is negative"
    excess = float(moments[2] - moments[0] - moments[1])
    if excess > rounding * moments[2] + noise:
        more = f"the largest exceeds the others' sum by {excess:.3g} kg m^2 ({100 * excess / moments[2]:.2g} % of it)"
        return f"its inertia is impossible: principal moments {listed}, {more}"
    return ""


def negative_mass(masses: Any) -> str:
    """What is wrong with the least of one or more masses; empty if none is negative."""
    least = np.min(masses)
    return f"its mass is negative: {least:g} kg" if least < 0 else ""


def _noise(numbers: np.ndarray) -> float:
    return NOISE * float(np.abs(numbers[4:]).max())


def told(moments: np.ndarray) -> str:
    return ", ".join(f"{moment:.6g}" for moment in moments) + " kg m^2"
