"""What is drawn of a robot without meshes of its own: solids made from its frames and inertias."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Model
from ..spatial import Pose
from .meshes import Mesh, box, cylinder, joined, plate, sphere, tube
from .shapes import Shape, matrix, poses, principal_axes

LINKS = (196, 204, 214), (233, 236, 240)  # by turns
JOINTS = {"active": (0, 121, 140), "passive": (150, 156, 164), "elastic": (235, 130, 40)}
GROUND = (120, 128, 138)
SAME = 1e-9  # m: closer points are the same
STILL = np.eye(3)


def reach(model: Model, q: Any) -> float:
    """How large the robot is: the diagonal of the box around its joints and centres of mass; one metre if it has no
    size."""
    points = []
    for i, (pose, own) in enumerate(zip(poses(model, q), _attachments(model, q), strict=True)):
        inside = [*own, _origin(model, i), principal_axes(model, i)[0]] if i else own
        points += [pose[:3, :3] @ point + pose[:3, 3] for point in inside]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) or 1.0 if points else 1.0


def primitives(model: Model, q: Any) -> list[Shape]:
    """Links as tapered tubes between their joints, or as plates where many meet; revolute joints as cylinders along
    their axes, prismatic ones as sleeves or boxes, cut joints of loops as spheres. At ``q`` prismatic joints are about
    half-way out."""
    points, radii = _attachments(model, q), _radii(model, reach(model, q))
    shapes = []
    for i, own in enumerate(points):
        if not (i and _virtual(model, i)) and (parts := _link(model, i, q, own, radii[i])):
            shapes.append(Shape(model.body(i).name if i else "ground", i, joined(parts), LINKS[i % 2] if i else GROUND))
    for i, p in model.outward():
        joint, r = model.joint(i), radii[i]
        if joint.prismatic and not (_virtual(model, i) or (p and _virtual(model, p) and joint.role == "passive")):
            shapes += _slide(model, i, p, q, r)
        elif not (joint.floating or joint.prismatic):
            solid = cylinder(1.45 * r, 3.2 * r).moved(STILL, _origin(model, i))
            shapes.append(Shape(joint.name, i, solid, JOINTS[joint.role]))
    for loop in model.loops:
        frame = loop.first if loop.first.body else loop.second
        ball = sphere(1.5 * min(radii[loop.first.body], radii[loop.second.body]))
        ball = ball.moved(STILL, np.array([*frame.pose.origin], float))
        shapes.append(Shape(loop.name, frame.body, ball, JOINTS["passive"]))
    return shapes


def _virtual(model: Model, i: int) -> bool:
    """Stands for a freedom of a platform, not for a thing."""
    joint = model.joint(i)
    return joint.prismatic and joint.role == "passive" and not model.inertia(i).mass


def _origin(model: Model, i: int) -> np.ndarray:
    """Of the body's own link frame, which is on the joint's axis."""
    return np.array([*model.link_pose(i).origin], float) if i else np.zeros(3)


def _placed(model: Model, i: int, q: Any) -> np.ndarray:
    """Where body i sits in its parent."""
    return matrix(Pose.identity().then(model.transform(i, model.expand([float(x) for x in q]))))


def _attachments(model: Model, q: Any) -> list[list[np.ndarray]]:
    """For each body, where others are joined to it, in its frame: joints, loops; of one that has neither, named
    frames."""
    points: list[list[np.ndarray]] = [[] for _ in range(model.n_bodies + 1)]
    for i, p in model.outward():
        joint = model.joint(i)
        if not (joint.floating or _virtual(model, i)):
            placed = _placed(model, i, q)
            at = placed[:3, :3] @ _origin(model, i) + placed[:3, 3]
            points[p].append(_foot(placed[:3, 2], at, _origin(model, p)) if joint.prismatic and p else at)
    for loop in model.loops:
        for frame in (loop.first, loop.second):
            points[frame.body].append(np.array([*frame.pose.origin], float))
    ends = [i for i, own in enumerate(points) if not own]
    for frame in model.frames.values():
        if frame.body in ends:
            points[frame.body].append(np.array([*frame.pose.origin], float))
    return points


def _foot(axis: np.ndarray, point: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """The point of a line that is nearest to ``origin``."""
    return point + axis * (axis @ (origin - point))


def _radii(model: Model, size: float) -> list[float]:
    """Of each body's tubes: those that carry more are thicker."""
    carried = [0.0, *(float(model.inertia(i).mass) for i, _ in model.outward())]
    for i, p in model.inward():
        carried[p] += carried[i]
    total = max(carried) or 1.0
    return [0.034 * size * max(mass / total, 0.02) ** 0.25 for mass in carried]


def _link(model: Model, i: int, q: Any, own: list[np.ndarray], r: float) -> list[Mesh]:
    free = i > 0 and model.joint(i).floating
    origin = _origin(model, i)
    ends = _distinct(own if free or not i else [point for point in own if np.linalg.norm(point - origin) > SAME])
    if len(ends) > 2:
        spread = np.array(ends if free or not i else [*ends, origin])
        normal = _normal(spread)
        if normal is not None and (i or not _planar(model, q, normal)):
            return [plate(spread, normal, 1.6 * r, 1.6 * r)]
        if not i:
            return [sphere(1.6 * r).moved(STILL, end) for end in ends]
    middle, squares, axes = principal_axes(model, i) if i else (origin, np.zeros(3), STILL)
    if free:
        solid = box(*np.sqrt(12 * squares)).moved(axes, middle)  # of even density with the body's inertia
        return [solid, *(tube(middle, end, r, 0.75 * r) for end in ends)]
    last = i > 0 and all(p != i for _, p in model.outward()) and not model.joint(i).prismatic
    if last and not ends and np.linalg.norm(middle - origin) > 2 * r:
        ends = [2 * middle - origin]  # a rod of even thickness, if nothing tells where it ends
    return [tube(origin, end, r, 0.75 * r) for end in ends if np.linalg.norm(end - origin) > SAME]


def _planar(model: Model, q: Any, normal: np.ndarray) -> bool:
    """Do the joints on the ground turn in this plane? A plate there would hide the robot."""
    axes = [_placed(model, i, q)[:3, 2] for i, p in model.outward() if not (p or model.joint(i).floating)]
    return any(abs(axis @ normal) > 0.99 for axis in axes)


def _slide(model: Model, i: int, p: int, q: Any, r: float) -> list[Shape]:
    """A prismatic joint: a sleeve on the parent that reaches half the way to where the body is, and the body's rod
    inside it; a box if there is no such way."""
    color, name = JOINTS[model.joint(i).role], model.joint(i).name
    placed, origin = _placed(model, i, q), _origin(model, i)
    axis, at = placed[:3, 2], placed[:3, :3] @ origin + placed[:3, 3]
    foot = _foot(axis, at, _origin(model, p)) if p else at
    way = float(axis @ (at - foot))
    if abs(way) < 6 * r:
        return [Shape(name, i, box(3 * r, 3 * r, 5 * r).moved(STILL, origin), color)]
    rod = tube(origin, origin - np.array([0.0, 0.0, way]), r, r)
    sleeve = tube(foot, foot + 0.55 * way * axis, 1.7 * r, 1.7 * r)
    return [Shape(name, p, sleeve, color), Shape(f"{name}_rod", i, rod, LINKS[i % 2])]


def _distinct(points: list[np.ndarray]) -> list[np.ndarray]:
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > SAME for other in kept):
            kept.append(point)
    return kept


def _normal(points: np.ndarray) -> np.ndarray | None:
    """Across the plane through points; nothing if they are on a line, or far from any plane."""
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return axes[2] if spread[1] > 0.15 * spread[0] and spread[2] < 0.5 * spread[1] else None
