"""Robots made by a formula, of as many links as one likes."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .errors import ModelError
from .forces import Drag
from .model import Description, JointDescription, Link, LinkInertia, Placement
from .model.description import MOST_LINKS

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
) -> Description:
    """A swimmer of ``links`` bodies, the floating head among them, that bends at ``links - 1`` revolute joints by turns
    sideways (yaw2, yaw4, ...) and up and down (pitch3, pitch5, ...); joint j carries link j.

    x of every link's frame points from head to tail, z is the joint's axis (upward for the head). All links have the
    same share of ``length`` (m). Their sections are ellipses, ``width`` by ``height`` (m) at the nose and ``taper``
    times that at the end of the tail, filled with the density of water; so the eel neither sinks nor rises, and gravity
    is left out. On each link acts a quadratic Drag with the coefficients ``across`` (on its mean thickness) and
    ``along`` (on its circumference). The values are illustrative.
    """
    _check("eel", links, length=length, width=width, height=height, taper=taper)
    each = length / links
    bodies, joints, forces = [], [], []
    for j in range(1, links + 1):
        pitch = j % 2 == 1 and j > 1
        name = f"link{j}" if j > 1 else "head"
        nose, tail = (1 - (1 - taper) * x / links for x in (j - 1, j))
        flat, tall = width / 2, height / 2
        bodies.append(Link(name, _frustum(each, (nose, tail), *((tall, flat) if pitch else (flat, tall)))))
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
    return Description(
        name="eel",
        links=tuple(bodies),
        joints=tuple(joints),
        gravity=(0.0, 0.0, 0.0),
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
    """An ``eel`` of many short links as a continuous body in steps: its flesh is elastic (``youngs``, Pa), with
    Kelvin's and Voigt's ``damping`` (s), and muscles bend it against that.

    A joint bends for the two link lengths about it, D: its spring is E I / D, with the second moment I of the elliptic
    section there. A curvature c of the body is an angle c D. ``water``: what else an ``eel`` takes.
    """
    _check("macro_continuous_eel", links, youngs=youngs, length=length, width=width, height=height, taper=taper)
    made = eel(links, length=length, width=width, height=height, taper=taper, **water)
    share, joints = 2 * length / links, []
    for j, joint in enumerate(made.joints, 1):
        across, along = (height, width) if joint.name.startswith("pitch") else (width, height)
        moment = math.pi / 64 * along * across**3 * (1 - (1 - taper) * j / links) ** 4
        stiffness = youngs * moment / share
        joints.append(replace(joint, stiffness=stiffness, viscous=damping * stiffness))
    summary = f"Swimmer of {links} short links in water whose flesh is elastic: a continuous body in steps."
    return replace(made, name="macro-continuous-eel", joints=tuple(joints), summary=summary)


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
    """A beam, clamped at its root, as rigid segments with ``joints`` elastic joints between them: it lies along x and
    bends in y. ``moment``: of its section, resisting that (Iz, m^4). ``damping``: Kelvin's and Voigt's (s).

    Each joint sits in the middle of its share D of the length and has the spring E I / D. So the segments are D long,
    the first, which does not move, and the last half of it. They are thin rods, since Euler and Bernoulli's beam has
    no inertia of sections. The frame "tip" is at the end.
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


def _check(maker: str, count: int, counted: str = "links", **sizes: float) -> None:
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 1 <= count < MOST_LINKS:
        expected = f"a whole number, 1 or more, below {MOST_LINKS:,}"
        raise ModelError(f"it has {counted}", where=f"{maker}({counted}=...)", got=count, expected=expected)
    for name, size in sizes.items():
        if not isinstance(size, Real) or isinstance(size, bool) or not 0 < size < 1e100:
            raise ModelError(
                "out of range", where=f"{maker}({name}=...)", got=size, expected="a number above zero, below 1e100"
            )
