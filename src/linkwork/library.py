"""Robots that are generated, with any number of links."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .errors import ModelError
from .forces import AddedMass, Buoyancy, Drag
from .model import Description, JointDescription, Link, LinkInertia, Placement
from .model.description import MOST_LINKS, STANDARD_GRAVITY

__all__ = ["eel", "lumped_beam", "macro_continuous_eel"]

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
    """Describe a swimmer that bends at revolute joints, alternately sideways and up and down.

    Joints yaw2, yaw4, ... bend sideways, pitch3, pitch5, ... up and down; joint j carries link j. The base is the
    floating head. x of every link frame points from head to tail, and z is the axis of its joint (upward for the head).
    All links are equally long, with elliptic sections and the density of water. The values are illustrative.

    Args:
        links: Number of links, the head included; default 12.
        length: Length of the body, m; default 1.5.
        width: Width of the section at the nose, m; default 0.06.
        height: Height of the section at the nose, m; default 0.08.
        taper: Size of the section at the end of the tail relative to the nose; default 0.4.
        across: Coefficient of the quadratic drag across a link, on its mean thickness; default 1.1.
        along: Coefficient of the quadratic drag along a link, on its circumference; default 0.02.
        buoyancy: Whether gravity and buoyancy act, which balance; default False: neither acts.
        added_mass: Whether links carry added mass of water, by strip theory; default False.

    Returns:
        The Description, for ``linkwork.load``.

    Raises:
        ModelError: A number is out of range.

    Example:
        >>> eel = linkwork.load(linkwork.library.eel(4))
        >>> eel.joint_names
        ('yaw2', 'pitch3', 'yaw4')
    """
    _check("eel", links, length=length, width=width, height=height, taper=taper)
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


def macro_continuous_eel(
    links: int = 16,
    *,
    length: float = 1.5,
    width: float = 0.06,
    height: float = 0.08,
    taper: float = 0.4,
    youngs: float = 5e5,
    damping: float = 0.05,
    **water: Any,
) -> Description:
    """Describe an ``eel`` of many short links that approximates a continuous elastic body.

    A joint bends for the two link lengths around it, D. Its spring is E I / D, with the second moment of area I of the
    elliptic section there. A curvature c of the body is a joint angle c D.

    Args:
        links: Number of links, the head included; default 16.
        length: Length of the body, m; default 1.5.
        width: Width of the section at the nose, m; default 0.06.
        height: Height of the section at the nose, m; default 0.08.
        taper: Size of the section at the end of the tail relative to the nose; default 0.4.
        youngs: Young's modulus E, Pa; default 5e5.
        damping: Kelvin-Voigt damping, relative to the stiffness, s; default 0.05.
        **water: Other arguments of ``eel``: across, along, buoyancy, added_mass.

    Returns:
        The Description, for ``linkwork.load``.

    Raises:
        ModelError: A number is out of range.

    Example:
        >>> eel = linkwork.load(linkwork.library.macro_continuous_eel(8, buoyancy=True))
        >>> eel.nv
        13
    """
    _check("macro_continuous_eel", links, youngs=youngs, length=length, width=width, height=height, taper=taper)
    rigid = eel(links, length=length, width=width, height=height, taper=taper, **water)
    share, joints = 2 * length / links, []
    for j, joint in enumerate(rigid.joints, 1):
        across, along = (height, width) if joint.name.startswith("pitch") else (width, height)
        moment = math.pi / 64 * along * across**3 * (1 - (1 - taper) * j / links) ** 4
        stiffness = youngs * moment / share
        joints.append(replace(joint, stiffness=stiffness, viscous=damping * stiffness))
    summary = f"Swimmer of {links} short links in water whose flesh is elastic: a continuous body in steps."
    return replace(rigid, name="macro-continuous-eel", joints=tuple(joints), summary=summary)


def lumped_beam(
    joints: int = 16,
    *,
    length: float = 1.0,
    density: float = 2700.0,
    area: float = 2e-4,
    youngs: float = 7e10,
    moment: float = 7e-10,
    damping: float = 0.0,
) -> Description:
    """Describe a clamped beam along x that bends in y, as rigid segments with elastic joints between them.

    Each joint is in the middle of its share D of the length and has the spring E I / D. So the segments are D long,
    except the first, which is fixed, and the last: these are D / 2 long. They are thin rods, since an Euler-Bernoulli
    beam has no rotary inertia of sections. The frame "tip" is at the end.

    Args:
        joints: Number of joints; default 16.
        length: Length, m; default 1.
        density: Density, kg/m^3; default 2700.
        area: Area of the section, m^2; default 2e-4.
        youngs: Young's modulus E, Pa; default 7e10.
        moment: Second moment of area about z, I, m^4; default 7e-10.
        damping: Kelvin-Voigt damping, relative to the stiffness, s; default 0.

    Returns:
        The Description, for ``linkwork.load``.

    Raises:
        ModelError: A number is out of range.

    Example:
        >>> beam = linkwork.load(linkwork.library.lumped_beam(4))
        >>> beam.joint_names
        ('bend1', 'bend2', 'bend3', 'bend4')
    """
    sizes = {"length": length, "density": density, "area": area, "youngs": youngs, "moment": moment}
    _check("lumped_beam", joints, "joints", **sizes)
    share, stiffness = length / joints, youngs * moment * joints / length
    bodies, bends = [Link("root")], []
    for j in range(1, joints + 1):
        size = share if j < joints else share / 2
        across = density * area * size**3 / 12
        rod = LinkInertia(density * area * size, np.array([size / 2, 0.0, 0.0]), np.diag([0.0, across, across]))
        bodies.append(Link(f"segment{j}", rod))
        bends.append(
            JointDescription(
                name=f"bend{j}",
                kind="revolute",
                parent=bodies[-2].name,
                child=bodies[-1].name,
                origin=Placement(np.eye(3), np.array([share if j > 1 else share / 2, 0.0, 0.0])),
                role="elastic",
                stiffness=stiffness,
                viscous=damping * stiffness,
            )
        )
    return Description(
        name="lumped-beam",
        links=tuple(bodies),
        joints=tuple(bends),
        frames={"tip": (bodies[-1].name, Placement(np.eye(3), np.array([share / 2, 0.0, 0.0])))},
        summary=f"A clamped beam as rigid segments with {joints} elastic joints between them.",
        sources={table: "illustrative" for table in ("joints", "links", "drives", "gravity")},
    )


def _frustum(length: float, scales: tuple[float, float], y: float, z: float) -> LinkInertia:
    """Return the inertia of a frustum of water along x, with elliptic sections of semi-axes y and z times a scale.

    The scale changes linearly. Three Gauss points integrate the moments, polynomials of degree four, exactly.
    """
    at, weights = np.polynomial.legendre.leggauss(3)
    at = (1 + at) / 2
    s = scales[0] + (scales[1] - scales[0]) * at
    slices = WATER * math.pi * y * z * s**2 * weights / 2 * length
    mass, x = slices.sum(), at * length
    center = slices @ x / mass
    second = [slices @ (x - center) ** 2, slices @ (s * y) ** 2 / 4, slices @ (s * z) ** 2 / 4]
    return LinkInertia(float(mass), np.array([center, 0.0, 0.0]), np.diag(sum(second) - np.array(second)))


def _quarter_turns(turns: int) -> np.ndarray:
    """Return the rotation about x by -1, 0 or 1 quarter turns."""
    c, s = (1, 0) if turns == 0 else (0, turns)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def _check(maker: str, count: int, counted: str = "links", **sizes: float) -> None:
    """Refuse numbers that are out of range."""
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 1 <= count < MOST_LINKS:
        expected = f"an integer, 1 or more, below {MOST_LINKS:,}"
        raise ModelError("out of range", where=f"{maker}({counted}=...)", got=count, expected=expected)
    for name, size in sizes.items():
        if not isinstance(size, Real) or isinstance(size, bool) or not 0 < size < 1e100:
            expected = "a number above zero, below 1e100"
            raise ModelError("out of range", where=f"{maker}({name}=...)", got=size, expected=expected)
