"""A picture of a robot as inline SVG, drawn from its frames: links as tubes, joints along their axes, loop joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from ..constraints.equations import in_loops
from ..formulations.energy import center_of_mass
from ..formulations.kinematics import body_poses
from ..model import Frame, Model
from ..model.places import marks_of_forces
from ..quoting import Safe, in_html
from ..spatial import Pose, Transform, Vector
from ..view.meshes import z_toward
from ..view.primitives import ROTOR, across, reach
from ..view.shapes import curves, freedoms, principal_axes

SIZE, MARGIN, CORNER = 620, 46, 24  # axes and scale are in the corner, below the robot
PARALLEL = 1e-6
BLADE = 0.03  # radius of the wheel drawn for a blade, relative to the robot's size
CORNERS = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])  # of a sole, in order
AZIMUTHS, ELEVATION = np.radians((-60, -35, 35, 60)), np.radians(24)
Item = tuple[float, str]  # nearness to the eye, and the SVG


@dataclass(frozen=True)
class View:
    """A parallel projection: rows of ``axes`` point right, up and towards the eye, of ``floor`` along the floor."""

    axes: np.ndarray
    floor: np.ndarray
    scale: float = 1.0  # pixels per metre
    shift: tuple[float, float] = (0.0, 0.0)
    height: float = SIZE

    def at(self, point: np.ndarray) -> tuple[float, float]:
        x, y, _ = self.axes @ point
        return self.scale * x + self.shift[0], self.shift[1] - self.scale * y

    def near(self, point: np.ndarray) -> float:
        return float(self.axes[2] @ point)


class Skeleton:
    """Points of a robot at positions q: origins and axes of its joints, and the end points of each body."""

    def __init__(self, model: Model, q: Sequence[float]):
        tree = model.expand(list(map(float, q)))
        poses = body_poses(model, tree)
        self.model = model
        self.origin = {i: np.array(list(pose.origin), float) for i, pose in poses.items()}
        self.turn = {i: np.array([list(row) for row in pose.rotation.rows], float) for i, pose in poses.items()}
        self.axis = {i: turn[:, 2] for i, turn in self.turn.items()}
        self.seat = dict(self.origin)  # where a joint begins on its parent; a prismatic one extends to its origin
        self.ends: dict[int, list[np.ndarray]] = {i: [] for i in poses}
        self.stands: list[tuple[np.ndarray, np.ndarray]] = []  # foot points of a robot, and the seats above them
        self.lines = {}  # along links with modes
        for i, parent, line in curves(model, q):
            self.lines[i] = [self._point(parent, point) for point in line]
            self.ends[parent].append(self.lines[i][0])
        for i, parent in model.outward():
            shifts = freedoms(model.joint(i))[1]
            if shifts < 3 and not model.joint(i).kind.modes:
                here = self._point(i, model.link_pose(i).origin) if parent else self.origin[i]
                begins = self._placement(i, parent) if shifts else here
                self.seat[i] = begins if shifts == 1 else here
                self.ends[parent].append(begins if parent else begins + self._rise(i))
                self.stands += [] if parent else [(self.ends[0][-1], begins)]
        self.motions = {  # unit motions of each joint: axes of rotation, directions of translation
            i: [tuple(self.turn[i] @ [*map(float, v)] for v in (S.angular, S.linear)) for S in model.subspace(i, tree)]
            for i, _ in model.outward()
        }
        self.cuts: list[np.ndarray] = []
        self.wheels: list[np.ndarray] = []  # wheels, rotors and soles: points of their rims
        for each in model.constraints:
            first, second = (self._point(frame.body, frame.pose.origin) for frame in (each.first, each.second))
            shape, size = each.kind.mark
            if shape == "ring":
                self.cuts.append(first)
                self.ends[each.first.body].append(first)
            if shape in ("rim", "pair"):
                self.wheels.append(self._rim(each.second, size[0] if size else BLADE * reach(model, q)))
            elif shape:
                self.ends[each.second.body].append(second)
            if shape == "sole":
                self.wheels.append(self._flat(each.second, np.array(size) / 2 * CORNERS))
        for frame, _, mark in marks_of_forces(model):
            if mark.shape == "propeller":
                self.ends[frame.body].append(self._point(frame.body, frame.pose.origin))
                self.wheels.append(self._rim(frame, ROTOR * reach(model, q)))
        loose = [i for i, _ in model.outward() if freedoms(model.joint(i))[1] > 1]
        flat = [i for i in loose if len(self.ends[i]) > 2 and across(np.array(self.ends[i])) is not None]
        self.boxes = {i: self._box(i) for i in loose if i not in flat}  # flat ones are drawn between their ends
        for i, _ in model.outward():
            if not self.ends[i]:
                self.ends[i] = self._tips(i)
        moving = any(body.inertia.mass for body in model.bodies)
        self.center = np.array(list(center_of_mass(model, tree)), float) if moving else None

    def _point(self, body: int, place: Iterable[float]) -> np.ndarray:
        return self.origin[body] + self.turn[body] @ np.array(list(place), float)

    def _rim(self, frame: Frame, radius: float) -> np.ndarray:
        angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
        return self._flat(frame, radius * np.column_stack([np.cos(angles), np.sin(angles)]))

    def _flat(self, frame: Frame, points: np.ndarray) -> np.ndarray:
        """Return points in the x-y plane of a frame."""
        x, y = (np.array(list(axis), float) for axis in frame.pose.rotation.columns[:2])
        return np.array([self._point(frame.body, frame.pose.origin + Vector(*p)) for p in points @ np.array([x, y])])

    def _placement(self, i: int, parent: int) -> np.ndarray:
        """Return the point where the motion of the joint begins."""
        pose = Pose.identity().then(Transform(*(fixed.screw for fixed in self.model.joint(i).placement)))
        return self._point(parent, pose.origin)

    def _rise(self, i: int) -> np.ndarray:
        """Return the offset of the link's frame along the axis of a joint on the ground."""
        return float(self.model.link_pose(i).origin.z) * self.axis[i]

    def _box(self, i: int) -> np.ndarray:
        """Return the corners of the homogeneous box with the body's inertia."""
        middle, squares, axes = principal_axes(self.model, i)
        corners = [np.sqrt(3 * squares) * signs for signs in product((-1, 1), repeat=3)]
        return np.array([self._point(i, middle + axes @ corner) for corner in corners])

    def _tips(self, i: int) -> list[np.ndarray]:
        """Return the end points of a last link: frames fixed to it, or twice the way to its centre of mass."""
        frames = [frame for frame in self.model.frames.values() if frame.body == i]
        reach = [self._point(i, frame.pose.origin) for frame in frames]
        far = [point for point in reach if np.linalg.norm(point - self.origin[i]) > 1e-3]
        inertia = self.model.inertia(i)
        if not far and inertia.mass and any(inertia.h):
            far = [self._point(i, [2 * h / inertia.mass for h in inertia.h])]
        return far[-1:]

    @property
    def points(self) -> np.ndarray:
        bodies = [point for i, point in self.origin.items() if i or not self.model.moving_base]
        positions = [*self.ends.values(), *self.boxes.values(), *self.lines.values(), *self.wheels]
        return np.array([*bodies, *(point for each in positions for point in each)])


def picture(model: Model, q: Sequence[float], ghosts: Sequence[Sequence[float]] = ()) -> Safe:
    """Draw a robot as SVG.

    Args:
        model: The Model, ``robot.model``.
        q: Positions (nq,).
        ghosts: Other positions, drawn as dashed lines; floating bodies stay in place.

    Returns:
        An ``<svg>`` element for a page with linkwork's style.

    Example:
        >>> linkwork.report.picture(robot.model, robot.home)[:4]
        '<svg'
    """
    here, others = Skeleton(model, q), [Skeleton(model, _in_place(model, q, each)) for each in ghosts]
    points = np.concatenate([here.points, *(each.points for each in others)])
    view = _fitted(_view(here), points)
    size = float(np.linalg.norm(np.ptp(here.points, axis=0))) or 1.0
    thick = min(max(0.018 * size * view.scale, 4.0), 9.0)
    items: list[Item] = [(-np.inf, part) for each in others for part in _ghost(view, each)]
    items += [(-np.inf, part) for part in _ground(view, here, size)]
    items += _links(view, here, thick)
    items += _joints(view, here, 1.1 * thick / view.scale)
    parts = [part for _, part in sorted(items, key=lambda item: item[0])]
    parts += [_circle("cut", view.at(cut), 0.62 * thick) for cut in here.cuts]
    if here.center is not None:
        parts.append(_mass(view.at(here.center), 0.75 * thick))
    parts += _names(view, here, 1.6 * thick) + _corner(view, size)
    name = in_html(f"Picture of {model.name}")
    box = f'viewBox="0 0 {SIZE} {view.height:.0f}" role="img" aria-label="{name}"'
    return Safe(f'<svg class="robot" {box}>{"".join(parts)}</svg>\n')


def unheld(model: Model) -> list[str]:
    """Return the joints of floating bodies that are in no loop: a floating base, objects; not a platform on legs."""
    looped = in_loops(model)
    return [joint.name for joint in model.coordinates.joints if joint.kind.free and joint.name not in looped]


def _in_place(model: Model, q: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the other positions, with floating bodies at their origins of ``q``."""
    units = model.coordinates.positions.units
    stays = {k for k in model.coordinates.places(unheld(model)) if units[k] == "m"}
    return [float(q[k] if k in stays else x) for k, x in enumerate(other)]


# -- the view ----------------------------------------------------------------------------------------------------------


def _view(robot: Skeleton) -> View:
    """Return the view: normal to the plane of a planar robot, otherwise obliquely from above; up is against gravity."""
    gravity = np.array(list(robot.model.gravity), float)
    up = -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0, 1])
    if (normal := _normal(robot)) is not None:
        upright = next(each for each in (up, *np.eye(3)[1:]) if abs(normal @ each) < 1 - PARALLEL)
        axes = _looking(normal if normal.sum() > 0 else -normal, upright)
        return View(axes, axes[:2])
    ahead = np.eye(3)[int(np.argmin(np.abs(up)))]
    side = np.cross(up, ahead) / np.linalg.norm(np.cross(up, ahead))
    floor = np.array([np.cross(side, up), side])
    around = np.cos(ELEVATION) * np.stack([np.cos(AZIMUTHS), np.sin(AZIMUTHS)], axis=-1) @ floor
    views = [_looking(each + np.sin(ELEVATION) * up, up) for each in around]
    return View(max(views, key=lambda axes: float(np.ptp(robot.points @ axes[0]))), floor)  # the widest


def _looking(towards: np.ndarray, up: np.ndarray) -> np.ndarray:
    right = np.cross(up, towards) / np.linalg.norm(np.cross(up, towards))
    return np.array([right, np.cross(towards, right), towards])


def _normal(robot: Skeleton) -> np.ndarray | None:
    """Return the normal of the plane of a planar robot, about which all joints rotate, or None."""
    motions = [motion for each in robot.motions.values() for motion in each]
    turns = [angular for angular, _ in motions if angular.any()]
    if not turns:
        return None
    normal = turns[0]
    flat = all(np.linalg.norm(np.cross(normal, axis)) < PARALLEL for axis in turns)
    return normal if flat and all(abs(normal @ linear) < PARALLEL for _, linear in motions) else None


def _fitted(view: View, points: np.ndarray) -> View:
    """Return the view scaled and shifted so that all points are in the picture."""
    projected = points @ view.axes[:2].T
    low, high = projected.min(axis=0), projected.max(axis=0)
    scale = (SIZE - 2 * MARGIN) / (float((high - low).max()) or 1.0)
    height = max(scale * float(high[1] - low[1]) + 2 * MARGIN + CORNER, 0.45 * SIZE)
    middle = scale * (low + high) / 2
    return replace(view, scale=scale, shift=(SIZE / 2 - middle[0], (height - CORNER) / 2 + middle[1]), height=height)


# -- parts -------------------------------------------------------------------------------------------------------------


def _line(kind: str, start: tuple[float, float], end: tuple[float, float], width: float | None = None) -> str:
    stroke = "" if width is None else f' stroke-width="{width:.1f}"'
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line class="{kind}" {ends}{stroke}/>'


def _circle(kind: str, at: tuple[float, float], radius: float) -> str:
    return f'<circle class="{kind}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:.1f}"/>'


def _polygon(kind: str, points: Sequence[tuple[float, float]]) -> str:
    return f'<polygon class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the convex hull, by monotone chains."""
    ordered = sorted(set(points))

    def chain(along: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        corners: list[tuple[float, float]] = []
        for p in along:
            while len(corners) > 1 and _turn(corners[-2], corners[-1], p) <= 0:
                corners.pop()
            corners.append(p)
        return corners

    return chain(ordered)[:-1] + chain(ordered[::-1])[:-1] if len(ordered) > 2 else list(ordered)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _links(view: View, robot: Skeleton, thick: float) -> list[Item]:
    items: list[Item] = []

    def tube(start: np.ndarray, end: np.ndarray, width: float) -> None:
        a, b = view.at(start), view.at(end)
        shapes = _line("edge", a, b, width + 1.6) + _line("tube", a, b, width)
        items.append((view.near((start + end) / 2), shapes))

    for i, ends in robot.ends.items():
        if i == 0 and len(ends) > 1:
            continue
        for end in ends:
            tube(robot.origin[i], end, thick)
        if i and len(ends) > 2 and i not in robot.boxes:
            items.append((view.near(np.mean(ends, axis=0)), _polygon("plate", _hull([view.at(end) for end in ends]))))
        if i and np.linalg.norm(robot.origin[i] - robot.seat[i]) > 0:
            tube(robot.seat[i], robot.origin[i], 0.55 * thick)
    for line in robot.lines.values():
        pieces = [(view.at(start), view.at(end)) for start, end in pairwise(line)]
        shapes = [
            _line(kind, *ends, width) for kind, width in (("edge", thick), ("tube", thick - 1.6)) for ends in pieces
        ]
        items.append((min(map(view.near, line)), "".join(shapes)))  # edges first: no seams
    for place, seat in robot.stands:
        tube(place, seat, thick)
    items += [(view.near(rim.mean(axis=0)), _polygon("plate", [view.at(p) for p in rim])) for rim in robot.wheels]
    for corners in robot.boxes.values():
        outline = [view.at(corner) for corner in corners]
        nearest = int(np.argmax([view.near(corner) for corner in corners]))
        edges = (_line("edge", outline[nearest], outline[nearest ^ side], 0.8) for side in (1, 2, 4))
        items.append((view.near(corners.mean(axis=0)), _polygon("plate", _hull(outline)) + "".join(edges)))
    return items


def _joints(view: View, robot: Skeleton, radius: float) -> list[Item]:
    """Draw joints: cylinders about axes of rotation, two for two axes, balls for three; longer square bars along axes
    of translation, longer cylinders for both; flat discs for planar joints."""
    items = []
    for i, _ in robot.model.outward():
        joint = robot.model.joint(i)
        turns, shifts = freedoms(joint)
        if shifts > 2 or joint.kind.modes:
            continue
        kind, at = f"joint {joint.role}", robot.seat[i]
        if turns == 3:
            shape = _circle(kind, view.at(at), 1.3 * radius * view.scale)
        elif turns == 2:
            axes = (z_toward(angular) for angular, _ in robot.motions[i])
            shape = "".join(_bar(view, at, axis, 0.5 * radius, 2.0 * radius, 20, kind) for axis in axes)
        else:
            long = 1.7 if joint.pitch else (1.0, 1.5, 0.3)[shifts]
            wide = 2.0 if shifts == 2 else 0.7 if turns and (shifts or joint.pitch) else 1.0
            sides = 20 if turns else 4
            shape = _bar(view, at, robot.turn[i], wide * radius, long * radius, sides, kind)
        items.append((view.near(at) + 2 * radius, shape))
    return items


def _bar(view: View, at: np.ndarray, turn: np.ndarray, radius: float, half: float, sides: int, kind: str) -> str:
    """Draw a prism along z of ``turn``, and its visible cap."""
    angles = (np.arange(sides) + 0.5) * 2 * np.pi / sides
    ring = radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ turn[:, :2].T
    along = half * turn[:, 2]
    top = along if view.near(along) > 0 else -along
    ends = [view.at(at + end + point) for end in (along, -along) for point in ring]
    return _polygon(kind, _hull(ends)) + _polygon("cap", [view.at(at + top + point) for point in ring])


def _ground(view: View, robot: Skeleton, size: float) -> list[str]:
    """Draw a disc under the base; for a robot on several legs, the area between them."""
    if robot.model.moving_base:
        return []
    places = robot.ends[0]
    if len(places) > 2:
        middle = np.mean(places, axis=0)
        return [_polygon("ground", _hull([view.at(middle + 1.12 * (place - middle)) for place in places]))]
    stands = places if len(places) > 1 else [robot.origin[0]]
    angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    ring = 0.07 * size * np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ view.floor
    return [_polygon("ground", [view.at(place + p) for p in ring]) for place in stands]


def _ghost(view: View, robot: Skeleton) -> list[str]:
    lines = []
    for i, ends in robot.ends.items():
        if i:
            lines += [_line("ghost", view.at(robot.origin[i]), view.at(end)) for end in ends]
            lines.append(_line("ghost", view.at(robot.seat[i]), view.at(robot.origin[i])))
    for line in robot.lines.values():
        lines += [_line("ghost", view.at(start), view.at(end)) for start, end in pairwise(line)]
    for corners in (*robot.boxes.values(), *robot.wheels):
        outline = _hull([view.at(corner) for corner in corners])
        lines += [_line("ghost", *ends) for ends in zip(outline, [*outline[1:], outline[0]], strict=True)]
    return lines


def _mass(at: tuple[float, float], radius: float) -> str:
    """Draw the quartered circle of a centre of mass."""
    x, y, r = *at, radius
    quarters = f"M{x:.1f} {y:.1f}v{-r:.1f}a{r:.1f} {r:.1f} 0 0 1 {r:.1f} {r:.1f}z"
    quarters += f"M{x:.1f} {y:.1f}v{r:.1f}a{r:.1f} {r:.1f} 0 0 1 {-r:.1f} {-r:.1f}z"
    return _circle("mass", at, radius) + f'<path class="quarter" d="{quarters}"/>'


def _names(view: View, robot: Skeleton, away: float) -> list[str]:
    """Draw the numbers of the joints, as in the table of frames; joints in one place share a label."""
    labels: dict[tuple[int, int], list[int]] = {}
    for i, _ in robot.model.outward():
        if not robot.model.joint(i).kind.free:
            x, y = view.at(robot.seat[i])
            near = next((key for key in labels if abs(key[0] - x) + abs(key[1] - y) < 14), (round(x), round(y)))
            labels.setdefault(near, []).append(i)
    return [
        f'<text class="name" x="{x + away:.0f}" y="{y - 0.6 * away:.0f}">{",".join(map(str, numbers))}</text>'
        for (x, y), numbers in labels.items()
    ]


def _corner(view: View, size: float) -> list[str]:
    """Draw the axes of the world, and a scale."""
    center, parts = (34.0, view.height - 34.0), []
    for k, letter in sorted(enumerate("xyz"), key=lambda each: view.axes[2][each[0]]):
        right, up = 26 * view.axes[0][k], 26 * view.axes[1][k]
        if np.hypot(right, up) > 4:
            parts.append(_line(f"arrow {letter}", center, (center[0] + right, center[1] - up)))
            parts.append(
                f'<text x="{center[0] + 1.25 * right - 3:.0f}" y="{center[1] - 1.25 * up + 4:.0f}">{letter}</text>'
            )
    length = 10.0 ** np.floor(np.log10(size / 3))
    length *= next((factor for factor in (5, 2) if factor * length < size / 3), 1)
    end = SIZE - 12.0
    parts.append(_line("scale", (end - length * view.scale, view.height - 10), (end, view.height - 10)))
    parts.append(f'<text x="{end:.0f}" y="{view.height - 18:.0f}" text-anchor="end">{length:g} m</text>')
    return parts
