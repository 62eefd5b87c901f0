"""Robots made by a formula, of as many links as one likes."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from .errors import ModelError
from .forces import AddedMass, Buoyancy, Drag
from .model import Description, JointDescription, Link, LinkInertia, Placement
from .model.description import MOST_LINKS, STANDARD_GRAVITY

__all__ = ["eel"]

WATER = 1000.0  # kg/m^3


def __dir__() -> list[str]:
    return __all__


def eel(
    links: int = 12,
    *,
    length: float = 1.5,
    width: float = 0.06,
    height: float = 0.08,
    taper: float = 0.4,
    across: float = 1.1,
    along: float = 0.02,
    buoyancy: bool = False,
    added_mass: bool = False,
) -> Description:
    """A swimmer of ``links`` bodies, the floating head among them, that bends at ``links - 1`` revolute joints by turns
    sideways (yaw2, yaw4, ...) and up and down (pitch3, pitch5, ...); joint j carries link j.

    x of every link's frame points from head to tail, z is the joint's axis (upward for the head). All links have the
    same share of ``length`` (m). Their sections are ellipses, ``width`` by ``height`` (m) at the nose and ``taper``
    times that at the end of the tail, filled with the density of water; so the eel neither sinks nor rises, and gravity
    is left out; with ``buoyancy`` both are there, the weight and what the water bears. On each link acts a quadratic
    Drag with the coefficients ``across`` (on its mean thickness) and ``along`` (on its circumference); with
    ``added_mass`` it carries water along, too, by strips. The values are illustrative.
    """
    _check(links, length=length, width=width, height=height, taper=taper)
    each = length / links
    bodies, joints, forces = [], [], []
    for j in range(1, links + 1):
        pitch = j % 2 == 1 and j > 1
        name = f"link{j}" if j > 1 else "head"
        nose, tail = (1 - (1 - taper) * x / links for x in (j - 1, j))
        flat, tall = width / 2, height / 2
        y, z = (tall, flat) if pitch else (flat, tall)  # semi-axes at the nose, along the link's own axes
        filled = _frustum(each, (nose, tail), y, z)
        bodies.append(Link(name, filled))
        if j > 1:
            turn = -1 if pitch else 1 if j > 2 else 0  # quarter turns about x, from the axis before to this one
            joints.append(
                JointDescription(
                    name=f"{'pitch' if pitch else 'yaw'}{j}",
                    kind="revolute",
                    parent=bodies[-2].name,
                    child=name,
                    origin=Placement(_quarter_turns(turn), np.array([each, 0.0, 0.0])),
                    lower=-1.0,
                    upper=1.0,
                )
            )
        scale = (nose + tail) / 2
        circumference = math.pi * (flat + tall) * scale
        drag = Drag(
            length=each,
            k_axial=WATER / 2 * along * circumference,
            k_normal=WATER / 2 * across * (flat + tall) * scale,
        )
        forces.append((name, drag))
        if added_mass:
            forces.append((name, AddedMass.slender(each, 2 * y * scale, 2 * z * scale, WATER)))
        if buoyancy:
            forces.append((name, Buoyancy(filled.mass / WATER, WATER, tuple(filled.center.tolist()))))
    return Description(
        name="eel",
        links=tuple(bodies),
        joints=tuple(joints),
        gravity=STANDARD_GRAVITY if buoyancy else (0.0, 0.0, 0.0),
        floating=True,
        forces=tuple(forces),
        summary=f"Swimmer of {links} slender links in water, bending by turns sideways and up and down.",
        sources={table: "illustrative" for table in ("base", "joints", "links", "drives", "forces", "gravity")},
    )


def _frustum(length: float, scales: tuple[float, float], y: float, z: float) -> LinkInertia:
    """Along x from the origin, full of water, with elliptic sections of semi-axes y and z times a scale that changes
    evenly. Three Gauss points integrate its moments, polynomials of degree four, exactly."""
    at, weights = np.polynomial.legendre.leggauss(3)
    at = (1 + at) / 2
    s = scales[0] + (scales[1] - scales[0]) * at
    slices = WATER * math.pi * y * z * s**2 * weights / 2 * length
    mass, x = slices.sum(), at * length
    center = slices @ x / mass
    second = [slices @ (x - center) ** 2, slices @ (s * y) ** 2 / 4, slices @ (s * z) ** 2 / 4]
    return LinkInertia(float(mass), np.array([center, 0.0, 0.0]), np.diag(sum(second) - np.array(second)))


def _quarter_turns(turns: int) -> np.ndarray:
    """About x."""
    c, s = (1, 0) if turns == 0 else (0, turns)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def _check(links: int, **sizes: float) -> None:
    if not isinstance(links, (int, np.integer)) or isinstance(links, bool) or not 1 <= links < MOST_LINKS:
        expected = f"a whole number, 1 or more, below {MOST_LINKS:,}"
        raise ModelError("an eel has links", where="eel(links=...)", got=links, expected=expected)
    for name, size in sizes.items():
        if not isinstance(size, Real) or isinstance(size, bool) or not 0 < size < 1e100:
            raise ModelError(
                "out of range", where=f"eel({name}=...)", got=size, expected="a number above zero, below 1e100"
            )
