"""Simple solids for robots without meshes, made from their frames and inertias."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Frame, Joint, Model
from ..model.element import Mark
from ..model.places import marks_of_forces, places_of
from ..spatial import Pose
from .meshes import Mesh, box, cylinder, joined, plate, screw, sphere, tube, turned, z_toward
from .shapes import Shape, curves, freedoms, matrix, poses, principal_axes

LINKS = (196, 204, 214), (233, 236, 240)  # alternating colours
JOINTS = {"active": (0, 121, 140), "passive": (150, 156, 164), "elastic": (235, 130, 40)}
GROUND = (120, 128, 138)
SAME = 1e-9  # m: closer points are considered equal
STILL = np.eye(3)
WIDTH = 0.25  # width of a wheel relative to its radius
ROTOR = 0.24  # radius of a rotor relative to the size of the robot


def reach(model: Model, q: Any) -> float:
    """Return the size of the robot: the diagonal of the box around its joints and centres of mass, by default 1 m."""
    points = []
    rims = {frame.body: _rim(frame, radius) for _, frame, radius in wheels(model)}
    for i, (pose, ends) in enumerate(zip(poses(model, q), _attachments(model, q), strict=True)):
        inside = [*ends, _origin(model, i), principal_axes(model, i)[0], *rims.get(i, [])] if i else ends
        points += [pose[:3, :3] @ point + pose[:3, 3] for point in inside]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) or 1.0 if points else 1.0


def primitives(model: Model, q: Any) -> list[Shape]:
    """Return the shapes of a robot at positions ``q``, where prismatic joints should be about half-way out.

    - Links are tapered tubes between their joints, or plates where many joints meet. Flexible links are short pieces.
    - Bodies that move in a plane or freely, and tips of flexible links, are boxes.
    - Joints are drawn according to their degrees of freedom (see ``_joint``). Wheels and soles have their true size,
      blades are pairs of small wheels.
    - Cut joints of loops and other contacts are spheres, rotors are discs on arms, thrusters are nozzles, and the ends
      of springs are small spheres.
    """
    size = reach(model, q)
    points, radii = _attachments(model, q), _radii(model, size)
    shapes = []
    for i, ends in enumerate(points):
        if not (i and _virtual(model, i)) and (parts := _link(model, i, q, ends, radii[i])):
            shapes.append(Shape(model.body(i).name if i else "ground", i, joined(parts), LINKS[i % 2] if i else GROUND))
    last = model.n_bodies
    for i, p, line in curves(model, q):
        r = 0.75 * radii[p]
        for k, length in enumerate(np.linalg.norm(np.diff(line, axis=0), axis=1), 1):
            piece = tube(np.zeros(3), np.array([0.0, 0.0, length]), r, r)
            shapes.append(Shape(f"{model.joint(i).name}_{k}", last + k, piece, LINKS[p % 2]))
        last += len(line) - 1
    for i, p in model.outward():
        joint = model.joint(i)
        hidden = not joint.kind.drivable or _virtual(model, i) or _roams(joint, p)
        if not (hidden or (p and _virtual(model, p) and _passive_slide(joint))):
            shapes += _joint(model, i, p, q, radii[i])
    for frame, mark in _driving(model):
        solid = _propeller(ROTOR * size, radii[frame.body])
        if mark.shape == "nozzle":
            solid = _nozzle(np.array(mark.size), radii[frame.body])
        shapes.append(Shape(frame.name, frame.body, solid.placed(matrix(frame.pose)), JOINTS["active"]))
    springs = [
        list(places_of(model, frame, law)) for frame, law, mark in marks_of_forces(model) if mark.shape == "spring"
    ]
    for n, places in enumerate(springs, 1):
        for k, place in enumerate(places, 1):
            solid = sphere(0.8 * radii[place.body]).moved(STILL, np.array([*place.pose.origin], float))
            shapes.append(Shape(f"spring{n}_{k}", place.body, solid, JOINTS["elastic"]))
    for name, frame, radius in wheels(model):
        disc, bar = cylinder(radius, WIDTH * radius), box(1.5 * radius, 0.15 * radius, 1.1 * WIDTH * radius)
        for part, solid, color in ((name, disc, JOINTS["passive"]), (f"{name}_bar", bar, LINKS[1])):  # shows the turn
            shapes.append(Shape(part, frame.body, solid.placed(matrix(frame.pose)), color))
    for each in model.constraints:
        shape, lengths = each.kind.mark
        if shape in ("", "rim"):
            continue
        frame = each.first if shape == "ring" and each.first.body else each.second
        r = radii[frame.body]
        solid = sphere(1.3 * r if shape == "ball" else r)
        if shape == "ring":
            solid = sphere(1.5 * min(radii[each.first.body], radii[each.second.body]))
        elif shape == "pair":
            solid = _pair(1.6 * r)
        elif shape == "sole":
            solid = box(lengths[0], lengths[1], r).moved(STILL, np.array([0, 0, r / 2]))
        shapes.append(Shape(each.name, frame.body, solid.placed(matrix(frame.pose)), JOINTS["passive"]))
    return shapes


def _driving(model: Model) -> list[tuple[Frame, Mark]]:
    """Return the marks of rotors and thrusters, with their frames."""
    return [(frame, mark) for frame, _, mark in marks_of_forces(model) if mark.shape in ("propeller", "nozzle")]


def _propeller(radius: float, r: float) -> Mesh:
    return joined([cylinder(radius, 0.3 * r).moved(STILL, np.array([0, 0, r])), cylinder(r, 2.5 * r)])


def _nozzle(axis: np.ndarray, r: float) -> Mesh:
    """Return a nozzle that opens in the direction opposite to its force."""
    return turned([(0, 0), (0.6 * r, 0), (1.2 * r, 2.5 * r), (0, 2.5 * r)]).moved(z_toward(-axis), np.zeros(3))


def wheels(model: Model) -> list[tuple[str, Frame, float]]:
    """Return the name, frame (z is the axle) and radius of each wheel, rolling or with a tyre."""
    marks = [(each, each.kind.mark) for each in model.constraints]
    rolling = [(each.name, each.second, mark.size[0]) for each, mark in marks if mark.shape == "rim"]
    return rolling + [
        (frame.name, frame, mark.size[0]) for frame, _, mark in marks_of_forces(model) if mark.shape == "rim"
    ]


def _pair(r: float) -> Mesh:
    """Return a pair of wheels on an axle along z, on both sides of a link."""
    sides = [cylinder(r, WIDTH * r).moved(STILL, np.array([0, 0, z])) for z in (-r, r)]
    return joined([cylinder(0.2 * r, 2 * r), *sides])


def _rim(frame: Frame, r: float) -> list[np.ndarray]:
    """Return points around a wheel, in the frame of the body that carries it."""
    pose = matrix(frame.pose)
    return [pose[:3, :3] @ [x, y, 0.0] + pose[:3, 3] for x, y in ((r, 0), (0, r), (-r, 0), (0, -r))]


def _joint(model: Model, i: int, p: int, q: Any, r: float) -> list[Shape]:
    """Return the shapes of a joint.

    A revolute joint is a cylinder, a screw joint a threaded one, a universal joint two cylinders, a spherical joint a
    ball, a prismatic joint a sleeve or a box, and a planar joint a disc on a plate.
    """
    joint, origin = model.joint(i), _origin(model, i)
    color, (turns, shifts) = JOINTS[joint.role], freedoms(joint)
    pose = _placed(model, i, q)

    def on_body(solid: Mesh) -> Shape:
        return Shape(joint.name, i, solid.moved(STILL, origin), color)

    if turns == 2:
        axis = pose[:3, :3] @ [*model.subspace(i, _tree(model, q))[0].angular]  # the first axis, fixed to the parent
        first = cylinder(0.75 * r, 5 * r).moved(z_toward(axis), pose[:3, :3] @ origin + pose[:3, 3])
        return [on_body(cylinder(0.75 * r, 5 * r)), Shape(f"{joint.name}_first", p, first, color)]
    if turns == 3:
        return [on_body(sphere(2 * r))]
    if shifts == 2:
        seat = _neutral(model, i)
        base = cylinder(6 * r, 0.4 * r).moved(seat[:3, :3], seat[:3, :3] @ origin + seat[:3, 3])
        return [on_body(cylinder(3 * r, r)), Shape(f"{joint.name}_plate", p, base, GROUND)]
    if shifts:
        return _slide(model, i, p, q, r)
    return [on_body(screw(1.45 * r, 4.8 * r) if joint.pitch else cylinder(1.45 * r, 3.2 * r))]


def _roams(joint: Joint, p: int) -> bool:
    """Return whether a joint lets the robot move in a plane of the ground, where only contacts act on it."""
    return not p and joint.role == "passive" and freedoms(joint)[1] == 2


def _passive_slide(joint: Joint) -> bool:
    return joint.prismatic and joint.role == "passive"


def _virtual(model: Model, i: int) -> bool:
    """Return whether a body is massless and only stands for a dof of a platform."""
    return _passive_slide(model.joint(i)) and not model.inertia(i).mass


def _origin(model: Model, i: int) -> np.ndarray:
    """Return the origin of the body's link frame, which is on the joint's axis."""
    return np.array([*model.link_pose(i).origin], float) if i else np.zeros(3)


def _tree(model: Model, q: Any) -> list[Any]:
    return model.expand([float(x) for x in q])


def _placed(model: Model, i: int, q: Any) -> np.ndarray:
    """Return the 4 x 4 pose of body i in its parent."""
    return matrix(Pose.identity().then(model.transform(i, _tree(model, q))))


def _neutral(model: Model, i: int) -> np.ndarray:
    """Return the pose of body i in its parent with the joint at zero."""
    return _placed(model, i, model.coordinates.neutral())


def _attachments(model: Model, q: Any) -> list[list[np.ndarray]]:
    """Return the points at which each body is connected, in its frame.

    These are joints, the starts of flexible links, loops, rotors and thrusters. A body without any has its named
    frames.
    """
    points: list[list[np.ndarray]] = [[] for _ in range(model.n_bodies + 1)]
    for _, p, line in curves(model, q):
        points[p].append(line[0])
    for i, p in model.outward():
        joint = model.joint(i)
        if joint.kind.drivable and not _virtual(model, i):
            shifts = freedoms(joint)[1]
            poses = _neutral(model, i) if shifts > 1 else _placed(model, i, q)
            at = poses[:3, :3] @ _origin(model, i) + poses[:3, 3]
            points[p].append(_foot(poses[:3, 2], at, _origin(model, p)) if shifts == 1 and p else at)
    frames = []
    for each in model.constraints:
        shape = each.kind.mark.shape
        skipped = shape in ("", "pair")  # a pair of wheels may be anywhere on its link
        frames += (each.first, each.second) if shape == "ring" else () if skipped else (each.second,)
    for frame in (*frames, *(frame for frame, _ in _driving(model))):
        points[frame.body].append(np.array([*frame.pose.origin], float))
    unconnected = [i for i, connections in enumerate(points) if not connections]
    for frame in model.frames.values():
        if frame.body in unconnected:
            points[frame.body].append(np.array([*frame.pose.origin], float))
    return points


def _foot(axis: np.ndarray, point: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the point of a line that is nearest to ``origin``."""
    return point + axis * (axis @ (origin - point))


def _radii(model: Model, size: float) -> list[float]:
    """Return the radius of each body's tubes: those that carry more mass are thicker."""
    masses = [0.0, *(float(model.inertia(i).mass) for i, _ in model.outward())]
    for i, p in model.inward():
        masses[p] += masses[i]
    total = max(masses) or 1.0
    return [0.034 * size * max(mass / total, 0.02) ** 0.25 for mass in masses]


def _link(model: Model, i: int, q: Any, points: list[np.ndarray], r: float) -> list[Mesh]:
    """Return the meshes of body i, which is connected to others at ``points``."""
    tip = i > 0 and model.joint(i).kind.modes
    free = i > 0 and freedoms(model.joint(i))[1] > 1  # in a plane at least
    origin = _origin(model, i)
    ends = _distinct(points if free or not i else [point for point in points if np.linalg.norm(point - origin) > SAME])
    if free and any(mark.shape == "propeller" and frame.body == i for frame, mark in _driving(model)):
        middle = np.mean(ends, axis=0)
        return [sphere(2.5 * r).moved(STILL, middle), *(tube(middle, end, 1.2 * r, 0.75 * r) for end in ends)]
    if len(ends) > 2:
        ends_of_shaft = np.array(ends if free or not i else [*ends, origin])
        normal = across(ends_of_shaft)
        if normal is not None and (i or not _planar(model, q, normal)):
            corners = [_next_to_wheel(model, i, q, point, 1.7 * r) for point in ends_of_shaft]
            edges = [pair for pair in zip(corners, ends_of_shaft, strict=True) if np.ptp(pair, axis=0).any()]
            axles = [tube(*pair, 0.5 * r, 0.5 * r) for pair in edges]
            return [plate(np.array(corners), normal, 1.6 * r, 1.6 * r), *axles]
        if not i:
            return [sphere(1.6 * r).moved(STILL, end) for end in ends]
    middle, squares, axes = principal_axes(model, i) if i else (origin, np.zeros(3), STILL)
    if tip:
        sides = np.sqrt(12 * squares)
        if squares.any() and sides.min() < 0.1 * sides.max():  # a sheet: planar models give no inertia across the plane
            sides = np.full(3, min(float(np.sqrt(12 * squares.mean())), 4 * r))
        solids = [box(*sides).moved(axes, middle)] if squares.any() else []
        return [*solids, *(tube(origin, end, r, 0.75 * r) for end in ends)]
    if any(frame.body == i for _, frame, _ in wheels(model)):
        return [tube(origin, end, r, 0.75 * r) for end in ends if np.linalg.norm(end - origin) > SAME]
    if free:
        solid = box(*np.sqrt(12 * squares)).moved(axes, middle)  # of uniform density with the body's inertia
        return [solid, *(tube(middle, end, r, 0.75 * r) for end in ends)]
    last = i > 0 and all(p != i for _, p in model.outward()) and not freedoms(model.joint(i))[1]
    if last and not ends and np.linalg.norm(middle - origin) > 2 * r:
        ends = [2 * middle - origin]  # the end is unknown: a uniform rod with this centre of mass ends here
    return [tube(origin, end, r, 0.75 * r) for end in ends if np.linalg.norm(end - origin) > SAME]


def _next_to_wheel(model: Model, i: int, q: Any, point: np.ndarray, margin: float) -> np.ndarray:
    """Move a point of body i that is inside another body's wheel along the axle, out of the wheel."""
    at = poses(model, q)
    for _, frame, radius in wheels(model):
        pose = np.linalg.inv(at[i]) @ at[frame.body] @ matrix(frame.pose)
        axle, center = pose[:3, 2], pose[:3, 3]
        if frame.body != i and np.linalg.norm(point - center) < radius / 2:
            inward = axle @ (principal_axes(model, i)[0] - center)
            shift = np.sign(inward) * min(abs(inward), margin + WIDTH / 2 * radius)
            return point + axle * (shift - axle @ (point - center))
    return point


def _planar(model: Model, q: Any, normal: np.ndarray) -> bool:
    """Return whether the joints on the ground turn in this plane: a plate there would hide the robot."""
    axes = [_placed(model, i, q)[:3, 2] for i, p in model.outward() if not (p or model.joint(i).kind.free)]
    return any(abs(axis @ normal) > 0.99 for axis in axes)


def _slide(model: Model, i: int, p: int, q: Any, r: float) -> list[Shape]:
    """Return the shapes of a prismatic joint: a sleeve on the parent, half-way to the body, and a rod inside it.

    A joint that is not extended is a box, or a long cylinder if it also turns.
    """
    color, name = JOINTS[model.joint(i).role], model.joint(i).name
    pose, origin = _placed(model, i, q), _origin(model, i)
    axis, at = pose[:3, 2], pose[:3, :3] @ origin + pose[:3, 3]
    end = _foot(axis, at, _origin(model, p)) if p else at
    way = float(axis @ (at - end))
    if abs(way) < 6 * r:
        turns, _ = freedoms(model.joint(i))
        solid = joined([cylinder(0.8 * r, 7 * r), cylinder(1.45 * r, 3.2 * r)]) if turns else box(3 * r, 3 * r, 5 * r)
        return [Shape(name, i, solid.moved(STILL, origin), color)]
    rod = tube(origin, origin - np.array([0.0, 0.0, way]), r, r)
    sleeve = tube(end, end + 0.55 * way * axis, 1.7 * r, 1.7 * r)
    return [Shape(name, p, sleeve, color), Shape(f"{name}_rod", i, rod, LINKS[i % 2])]


def _distinct(points: list[np.ndarray]) -> list[np.ndarray]:
    result: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > SAME for other in result):
            result.append(point)
    return result


def across(points: np.ndarray) -> np.ndarray | None:
    """Return the normal of the plane through points; None if they are on a line, or far from any plane."""
    _, sizes, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return axes[2] if sizes[1] > 0.15 * sizes[0] and sizes[2] < 0.5 * sizes[1] else None
