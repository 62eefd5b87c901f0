"""Physical consistency of inertias: a mass distribution exists if the pseudo-inertia has no negative eigenvalue.

Wensing, Kim & Slotine (2018), "Linear matrix inequalities for physically consistent inertial parameter identification".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .description import LinkInertia

ELEMENTS = ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")  # of a body, in the order of Robot.parameters
EXACT = 1e-9  # relative rounding error of a plate, whose largest moment is the sum of the others
NOISE = 1e-13  # rounding error of the inertia of a point mass, relative to its inertia about the origin


def body_of(ten: Any) -> LinkInertia:
    """Return the body with these ten numbers, in the order of ``Robot.parameters``."""
    numbers = np.asarray(ten, float)
    return LinkInertia.about(float(numbers[0]), numbers[1:4], symmetric(numbers[4:]))


def ten_of(body: LinkInertia) -> list[float]:
    """Return the ten numbers of a body, in the order of ``Robot.parameters``."""
    return [float(x) for x in (body.mass, *body.first_moment, *body.about_origin[np.triu_indices(3)])]


def symmetric(six: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the symmetric matrix with the entries xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)


def pseudo_inertia(ten: Any) -> np.ndarray:
    """Return the integral of (r, 1) (r, 1)^T dm (4, 4), which is linear in the ten numbers of a body: second moments of
    mass, first moments, mass."""
    numbers = np.asarray(ten, float)
    J, matrix = symmetric(numbers[4:]), np.empty((4, 4))
    matrix[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    matrix[:3, 3] = matrix[3, :3] = numbers[1:4]
    matrix[3, 3] = numbers[0]
    return matrix


def margin(ten: Any) -> float:
    """Return how far a body is from being impossible: the smallest eigenvalue of its pseudo-inertia about the centre of
    mass, relative to the largest second moment. 1: a ball or a cube; 0: a plate, a rod or a point; negative:
    impossible."""
    numbers = np.asarray(ten, float)
    if not numbers.any():
        return 0.0
    if numbers[0] <= 0:  # there is no centre of mass; only the sign has a meaning
        matrix = pseudo_inertia(numbers)
        return float(np.linalg.eigvalsh(matrix / np.abs(matrix).max())[0])
    moments = np.linalg.eigvalsh(body_of(numbers).central)
    if np.abs(moments).max() <= _noise(numbers):
        return 0.0
    second = 0.5 * moments.sum() - moments
    return float(second.min() / np.abs(second).max())


def unphysical(ten: Any) -> str:
    """Return why the ten numbers are physically impossible, in a sentence; empty if they are possible."""
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
    """Return why a mass and principal moments about its centre, in ascending order, are impossible; empty if possible.
    ``rounding``, ``noise``: relative and absolute errors that are allowed."""
    principal, largest = moments_text(moments), float(np.abs(moments).max())
    if mass < 0:
        return negative_mass(mass)
    if mass == 0:
        return f"it has inertia but no mass: principal moments {principal}" if largest > 0 else ""
    if moments[0] < -EXACT * largest - noise:
        return (
            f"its inertia is indefinite: principal moments {principal} about the centre of mass, where none is negative"
        )
    excess = float(moments[2] - moments[0] - moments[1])
    if excess > rounding * moments[2] + noise:
        more = f"the largest exceeds the others' sum by {excess:.3g} kg m^2 ({100 * excess / moments[2]:.2g} % of it)"
        return f"its inertia is impossible: principal moments {principal}, {more}"
    return ""


def negative_mass(masses: Any) -> str:
    """Return the message for the smallest of one or more masses; empty if none is negative."""
    least = np.min(masses)
    return f"its mass is negative: {least:g} kg" if least < 0 else ""


def _noise(numbers: np.ndarray) -> float:
    return NOISE * float(np.abs(numbers[4:]).max())


def moments_text(moments: np.ndarray) -> str:
    """Return principal moments in words."""
    return ", ".join(f"{moment:.6g}" for moment in moments) + " kg m^2"
