"""Shape: a coloured mesh fixed to a body; where bodies are; ellipsoids of inertia."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..formulations.kinematics import body_poses
from ..model import Joint, Model
from ..spatial import Pose, Transform
from .meshes import Mesh, sphere, z_toward

ELLIPSOID = (124, 77, 200)
PIECES = 16  # straight ones, by which a link with modes is drawn


@dataclass(frozen=True, eq=False)
class Shape:
    """``body`` is the number of the body it is fixed to, 0 the ground; the mesh is in that body's frame. After the
    bodies come the pieces of links with modes."""

    name: str
    body: int
    mesh: Mesh
    color: tuple[int, int, int]


def freedoms(joint: Joint) -> tuple[int, int]:
    """How many turns and how many shifts: by these joints are drawn. One that moves by modes is drawn as if fixed."""
    if joint.kind.modes:
        return 0, 0
    turns = sum(joint.kind.turning)
    return turns, joint.kind.nv - turns


def matrix(pose: Pose) -> np.ndarray:
    """4 x 4."""
    result = np.eye(4)
    result[:3, :3] = [list(row) for row in pose.rotation.rows]
    result[:3, 3] = list(pose.origin)
    return result


def poses(model: Model, q: Any) -> np.ndarray:
    """4 x 4 pose of every body in the world, the ground first."""
    found = body_poses(model, model.expand([float(x) for x in q]))
    return np.array([matrix(found[i]) for i in range(model.n_bodies + 1)])


def placed(model: Model, q: Any) -> np.ndarray:
    """Those of all that is drawn: bodies, then the pieces of links with modes, each along z from its origin."""
    bodies = poses(model, q)
    pieces = []
    for _, p, points in curves(model, q):
        body = bodies[p]
        for begin, end in pairwise(points @ body[:3, :3].T + body[:3, 3]):
            pieces.append(np.eye(4))
            pieces[-1][:3, :3], pieces[-1][:3, 3] = z_toward(end - begin), begin
    return np.array([*bodies, *pieces])


def ground(model: Model) -> tuple[np.ndarray, np.ndarray] | None:
    """A point and the normal of the plane that the robot stands, rolls or falls on, if it has one; blades do not tell
    how high it is."""
    for each in (*model.switched, *model.permanent):
        if each.kind.shows_ground and not each.first.body:
            plane = matrix(each.first.pose)
            return plane[:3, 3], plane[:3, 2]
    for _, law in model.forces:
        if ground := getattr(law, "ground", None):
            height, normal = ground[0], np.array(ground[1]) / np.linalg.norm(ground[1])
            return height * normal, normal
    return None


def touching(model: Model, q: Any, close: float) -> np.ndarray:
    """1 for each contact whose origin is on the ground, z = 0, else 0."""
    bodies, frames = poses(model, q), [contact.second for contact in model.switched]
    heights = np.array([(bodies[each.body] @ [*map(float, each.pose.origin), 1.0])[2] for each in frames])
    return (np.abs(heights) < close).astype(float)


def curves(model: Model, q: Any) -> list[tuple[int, int, np.ndarray]]:
    """Links with modes, as (tip, body, points): the points lead to the tip along the body, in its frame."""
    tree, found = model.expand([float(x) for x in q]), []
    for i, p in model.outward():
        joint = model.joint(i)
        if joint.kind.modes and joint.leader is None:  # else it is a place along one
            root = matrix(Pose.identity().then(Transform(*(fixed.screw for fixed in joint.placement))))
            points = joint.kind.line(np.linspace(0, 1, PIECES + 1), [tree[k] for k in model.positions(i)])
            found.append((i, p, points @ root[:3, :3].T + root[:3, 3]))
    return found


def principal_axes(model: Model, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre of mass of a body, mean squares of its distances along its principal axes, and these axes as columns."""
    mass, center, central = model.inertia(i).central()
    moments, axes = np.linalg.eigh(np.array([list(row) for row in central.rows], float))
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    squares = np.maximum(moments.sum() / 2 - moments, 0.0) / (mass or 1.0)
    return np.array([*center], float), squares, axes


def ellipsoids(model: Model) -> list[Shape]:
    """Of even density, each with the inertia of its body."""
    shapes = []
    for i, body in enumerate(model.bodies, 1):
        center, squares, axes = principal_axes(model, i)
        if body.inertia.mass and squares.any():
            flattest = 1e-4 * squares.max()  # so that a rod is seen
            solid = sphere(1.0).scaled(np.sqrt(5 * np.maximum(squares, flattest)))
            shapes.append(Shape(body.name, i, solid.moved(axes, center), ELLIPSOID))
    return shapes


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """x, y, z, w: the eigenvector of Bar-Itzhack's matrix that belongs to its largest eigenvalue."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation
    K = np.array(
        [
            [xx - yy - zz, yx + xy, zx + xz, zy - yz],
            [yx + xy, yy - xx - zz, zy + yz, xz - zx],
            [zx + xz, zy + yz, zz - xx - yy, yx - xy],
            [zy - yz, xz - zx, yx - xy, xx + yy + zz],
        ]
    )
    largest = np.linalg.eigh(K)[1][:, -1]
    return largest if largest[3] >= 0 else -largest
