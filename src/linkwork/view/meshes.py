"""Triangle meshes of simple solids: vertices (n, 3) and faces (m, 3), counter-clockwise seen from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

AROUND = 28  # corners of a circle

Color = tuple[int, int, int]  # red, green, blue from 0 to 255


class Mesh(NamedTuple):
    """Vertices (n, 3) and faces (m, 3), the latter as numbers of vertices."""

    vertices: np.ndarray
    faces: np.ndarray

    def moved(self, rotation: np.ndarray, origin: np.ndarray) -> Mesh:
        return Mesh(self.vertices @ np.asarray(rotation).T + origin, self.faces)

    def placed(self, pose: np.ndarray) -> Mesh:
        """Return the mesh moved by a 4 x 4 pose."""
        return self.moved(pose[:3, :3], pose[:3, 3])

    def scaled(self, factors: Any) -> Mesh:
        mirrored = np.prod(factors) < 0
        return Mesh(self.vertices * np.asarray(factors), self.faces[:, ::-1] if mirrored else self.faces)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]),
    )


def box(x: float, y: float, z: float) -> Mesh:
    """Return a box centred at the origin."""
    half = np.array([x, y, z]) / 2
    corners = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * half
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    vertices = np.concatenate([corners[list(side)] for side in sides])  # not shared by sides, so that edges stay sharp
    faces = [(4 * k + a, 4 * k + b, 4 * k + c) for k in range(6) for a, b, c in ((0, 1, 2), (0, 2, 3))]
    return Mesh(vertices, np.array(faces))


def turned(profile: Sequence[tuple[float, float]]) -> Mesh:
    """Return the surface of revolution about z of a line through points (radius, height), upward on the outside."""
    angles = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(AROUND, z)]) for r, z in profile]
    faces = [_band(AROUND, ring * AROUND) for ring in range(len(profile) - 1)]
    return Mesh(np.concatenate(rings), np.concatenate(faces))


def _band(n: int, first: int = 0) -> np.ndarray:
    """Return the faces between a ring of n vertices, from number ``first`` on, and the ring after it."""
    low, after = first + np.arange(n), first + (np.arange(n) + 1) % n
    return np.concatenate([np.column_stack([low, after, n + after]), np.column_stack([low, n + after, n + low])])


def cylinder(radius: float, height: float) -> Mesh:
    """Return a cylinder along z, centred at the origin, with slightly chamfered edges."""
    edge, half = min(radius, height) * 0.08, height / 2
    profile = [(0, -half), (radius - edge, -half), (radius, edge - half), (radius, half - edge), (radius - edge, half)]
    return turned([*profile, (0, half)])


def screw(radius: float, height: float) -> Mesh:
    """Return a cylinder that looks like a thread."""
    turns = 6
    rims = [(radius * (0.7, 1.0)[k % 2], height * (k / (2 * turns) - 0.5)) for k in range(2 * turns + 1)]
    return turned([(0, -height / 2), *rims, (0, height / 2)])


def sphere(radius: float) -> Mesh:
    angles = np.linspace(-np.pi / 2, np.pi / 2, AROUND // 2)
    return turned([(radius * np.cos(a), radius * np.sin(a)) for a in angles])


def tube(start: np.ndarray, end: np.ndarray, thick: float, thin: float) -> Mesh:
    """Return a tapered tube with round ends: radius ``thick`` at ``start``, ``thin`` at ``end``."""
    length = float(np.linalg.norm(np.subtract(end, start)))
    down, up = np.linspace(-np.pi / 2, 0, 7), np.linspace(0, np.pi / 2, 7)
    profile = [(thick * np.cos(a), thick * np.sin(a)) for a in down]
    profile += [(thin * np.cos(a), length + thin * np.sin(a)) for a in up]
    return turned(profile).moved(z_toward(np.subtract(end, start)), np.asarray(start))


def arrow(start: np.ndarray, end: np.ndarray, radius: float) -> Mesh:
    length = float(np.linalg.norm(np.subtract(end, start)))
    neck = max(length - 5 * radius, 0.4 * length)
    profile = [(0, 0), (radius, 0), (radius, neck), (2.4 * radius, neck), (0, length)]
    return turned(profile).moved(z_toward(np.subtract(end, start)), np.asarray(start))


def plate(points: np.ndarray, normal: np.ndarray, thickness: float, margin: float) -> Mesh:
    """Return a plate through the mean of points: their convex hull seen along ``normal``, widened by ``margin``."""
    basis = z_toward(normal)
    middle = points.mean(axis=0)
    flat = (points - middle) @ basis
    circle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rim = margin * np.column_stack([np.cos(circle), np.sin(circle)])
    outline = _hull((flat[:, None, :2] + rim).reshape(-1, 2))
    n = len(outline)
    levels = [np.column_stack([outline, np.full(n, z)]) for z in (-thickness / 2, thickness / 2)]
    fan = np.column_stack([np.zeros(n - 2, int), np.arange(1, n - 1), np.arange(2, n)])
    faces = np.concatenate([_band(n), 2 * n + fan[:, ::-1], 3 * n + fan])
    return Mesh(np.concatenate([*levels, *levels]), faces).moved(basis, middle)


def z_toward(direction: np.ndarray) -> np.ndarray:
    """Return a rotation that turns the z-axis into a direction."""
    z = np.asarray(direction, float)
    z = z / (np.linalg.norm(z) or 1.0) if z.any() else np.array([0.0, 0, 1])
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - z * (x @ z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull of planar points, counter-clockwise, by Andrew's monotone chain."""

    def chain(ordered_points: list[np.ndarray]) -> list[np.ndarray]:
        corners: list[np.ndarray] = []
        for p in ordered_points:
            while len(corners) > 1 and _left_turn(corners[-2], corners[-1], p) <= 0:
                corners.pop()
            corners.append(p)
        return corners[:-1]

    ordered_points = [points[k] for k in np.lexsort((points[:, 1], points[:, 0]))]
    return np.array(chain(ordered_points) + chain(ordered_points[::-1]))


def _left_turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
