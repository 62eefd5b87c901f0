"""Positions at which maps are evaluated: low-discrepancy samples of the joints, or cells solved one from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from ..constraints import ConstraintEquations
from ..errors import LinkworkError, UnsupportedError, at_door
from ..workspace import Workspace
from .map_values import RANK, WHERE
from .problem import Problem, problem_of, sequence
from .steps import position_limits
from .tasks import OnPlane, Pose, Position

CHUNK = 2**16  # samples at once
TOLERANCE = np.array(1e-9)
TURN = 2 * np.pi


class Sampler:
    """Positions all over the joint limits, at which loops are closed and the frame is on a plane, if there is one.

    Positions of loops on another side than home of the positions at which the motors, or the independent joints, do not
    determine the others are left out: they belong to other assembly modes.

    Args:
        robot: The robot.
        frame: Name of the frame.
        plane: Index of the axis of the world normal to the plane, and its coordinate; None for the whole space.
    """

    def __init__(self, robot: Workspace, frame: str, plane: tuple[int, float] | None):
        model = robot.model
        self.robot, self.home = robot, np.array(model.home or model.coordinates.neutral(), float)
        through, normal = np.zeros(3), np.zeros(3)
        if plane is not None:
            through[plane[0]], normal[plane[0]] = plane[1], 1.0
        self.targets = through, normal
        weight = 0.0 if plane is None else 1.0
        self.problem = problem_of(robot, [OnPlane(frame, through, normal, weight=weight)], True, False)
        loops = bool(np.any(ConstraintEquations.closing(model, self.home.tolist()).J))
        self.moves, self.chunk = plane is not None or loops, CHUNK // 8 if loops else CHUNK
        known = {model.mobility.motors, model.mobility.configuration} if loops else ()
        self.sides = [closing_side(self.problem, self.home, self.targets, joints) for joints in known]
        self.places, self.low, self.span, self.rotations = _ranges(robot, frame, loops)

    def __call__(self, first: int, count: int) -> np.ndarray:
        """Return the positions (n, nq) of ``count`` samples, without those that cannot be closed or moved there."""
        points = sequence(len(self.places) + 3 * len(self.rotations), np.arange(first, first + count))
        q = np.tile(self.home, (count, 1))
        q[:, self.places] = self.low + points[:, : len(self.places)] * self.span
        for number, at in enumerate(self.rotations):
            q[:, at] = _rotation(*points[:, len(self.places) + 3 * number :][:, :3].T)
        if self.moves:
            with np.errstate(all="ignore"):
                q, solved, *_ = self.problem.steps(q, *self.targets, TOLERANCE)
            q = q[(solved > 0) & np.isfinite(q).all(axis=1)]
        if self.sides:
            slopes = self.problem.slopes(q, *self.targets)
            q = q[np.all([side(slopes) > 0 for side in self.sides], axis=0)]
        return q


def _ranges(robot: Workspace, frame: str, loops: bool) -> tuple[list[int], np.ndarray, np.ndarray, list[slice]]:
    """Return where sampled positions are in q, where their ranges begin, their lengths, and where quaternions are.

    These are the positions that move the frame; in loops all may. Joints of loops without limits keep their positions
    at home, from which they move as the loops are closed.
    """
    model, coordinates = robot.model, robot.model.coordinates
    acting = problem_of(robot, [Pose(frame, np.eye(4))], True, False).acting | loops
    lower, upper = position_limits(model)
    units, places, ranges, endless = coordinates.positions.units, [], [], []
    quaternions = [] if loops else [at for at in coordinates.quaternions if acting[at].any()]
    turned = {k for at in coordinates.quaternions for k in range(coordinates.nq)[at]}
    for joint, at in zip(coordinates.joints, coordinates.position_ranges, strict=True):
        for k in at:
            if not acting[k] or k in turned or joint.kind.modes or joint.role == "elastic":
                continue
            if units[k] == "rad":
                low = min(max(-np.pi, lower[k]), upper[k] - TURN) if upper[k] - lower[k] > TURN else lower[k]
                places.append(k)
                ranges.append((low, min(upper[k] - low, TURN)))
            elif np.isfinite(upper[k] - lower[k]):
                places.append(k)
                ranges.append((lower[k], upper[k] - lower[k]))
            elif not loops:
                endless.append(joint.name)
    if endless:
        raise UnsupportedError(
            "the workspace has no end", where=f"{WHERE}, robot {model.name!r}",
            got=f"joints that shift without limits: {', '.join(endless)}",
            fix="write limits of these joints in the file, or lock them: "
            + at_door("linkwork.load(..., lock={joint: position})", "--lock JOINT=POSITION"),
        )  # fmt: skip
    low, span = np.array(ranges).reshape(-1, 2).T
    return places, low, span, quaternions


def _rotation(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return unit quaternions (n, 4), uniform over all rotations, from three numbers from 0 to 1 (Shoemake 1992)."""
    r, s, b, c = np.sqrt(1 - a), np.sqrt(a), TURN * b, TURN * c
    return np.stack([r * np.sin(b), r * np.cos(b), s * np.sin(c), s * np.cos(c)], axis=1)


class Flood:
    """Positions for the centres of cells, solved from cell to neighbouring cell on one branch of inverse kinematics.

    The orientation is that at the start, unless the position of the frame determines all joints. A solution beyond a
    position where joints do not follow from the frame (a stretched leg) belongs to another branch and is left out.

    Args:
        robot: The robot.
        frame: Name of the frame.
        start: Positions q (nq,) at which the map begins.
    """

    def __init__(self, robot: Workspace, frame: str, start: np.ndarray):
        self.robot, self.frame = robot, frame
        self.pose = robot.compiled("pose", frame=frame)(start)
        position = problem_of(robot, [Position(frame, np.zeros(3))], True, False)
        self.oriented = not position.determined
        self.problem = problem_of(robot, [Pose(frame, np.eye(4))], True, False) if self.oriented else position
        if not self.problem.determined:
            raise UnsupportedError(
                "the pose of the frame leaves joints free, so it has no branches", where=f"{WHERE}, start",
                got=f"robot {robot.model.name!r}, frame {frame!r}", fix="leave start out, or lock joints",
            )  # fmt: skip
        self.start = start
        self.reference: tuple[Side, ...] = ()  # at the first solution

    def length(self) -> float:
        """Return the length in m that counts as one rad: the translations at the start over its rotations."""
        J = self.robot.compiled("jacobian", frame=self.frame)(self.start)
        return float(np.linalg.norm(J[:3]) / np.linalg.norm(J[3:])) if self.oriented else 0.0

    def solve(self, points: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions (n, nq) for points (n, 3), whether they are solutions on this branch, and on which side.

        The side is -1 where the motors have passed a singular position from the start on, otherwise 1.
        """
        target = points
        if self.oriented:
            target = np.tile(self.pose, (len(points), 1, 1))
            target[:, :3, 3] = points
        with np.errstate(all="ignore"):
            q, solved, *_ = self.problem.steps(guess, target, TOLERANCE)
            good = (solved > 0) & np.isfinite(q).all(axis=1)
            slopes = self.problem.slopes(np.where(good[:, None], q, self.start), target)
        if not self.reference:
            branch = Side(slopes[0], range(slopes.shape[2]), range(slopes.shape[1]))
            self.reference = (
                branch,
                closing_side(self.problem, q[0], (target[0],), self.problem.robot.model.mobility.motors),
            )
        branch, side = (reference(slopes) for reference in self.reference)
        return q, good & (branch > 0), side


class Side:
    """Sign of the determinant of some columns of matrices, relative to that of a first one.

    Of dependent rows those are chosen that are most independent in the first matrix.
    """

    def __init__(self, first: np.ndarray, columns: Iterable[int], rows: Iterable[int]):
        self.columns, self.rows, self.sign = [*columns], [], 1.0
        left = np.zeros((len(first), len(self.columns)))
        left[[*rows]] = first[[*rows]][:, self.columns]
        least = RANK * np.linalg.norm(left)
        for _ in self.columns:
            sizes = np.linalg.norm(left, axis=1)
            row = int(np.argmax(sizes))
            if not sizes[row] > least:  # the first matrix is singular
                self.rows = []
                return
            self.rows.append(row)
            unit = left[row] / sizes[row]
            left -= np.outer(left @ unit, unit)
        self.sign = float(self(first[None])[0])

    def __call__(self, matrices: np.ndarray) -> np.ndarray:
        """Return 1 on the side of the first matrix, -1 on the other; always 1 if the first one is singular."""
        if not self.rows:
            return np.ones(len(matrices))
        return np.sign(np.linalg.det(matrices[:, self.rows][:, :, self.columns])) * self.sign


def closing_side(problem: Problem, q: np.ndarray, targets: Sequence[np.ndarray], known: Iterable[int]) -> Side:
    """Return the side of the positions at which the known joints do not hold the others."""
    slopes = problem.slopes(q, *targets)
    rows = range(sum(np.count_nonzero(task.weights()) for task in problem.tasks), len(slopes))
    return Side(slopes, [k for k in range(slopes.shape[1]) if k not in known], rows)


def flooded(
    flood: Flood, axes: list[int], corner: np.ndarray, size: float, most: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield centres of cells (n, 3), positions and sides, wave after wave of neighbours, from the start on."""
    origin = flood.pose[:3, 3]

    def centres(cells: np.ndarray) -> np.ndarray:
        points = np.tile(origin, (len(cells), 1))
        points[:, axes] = corner + (cells + 0.5) * size
        return points

    cells = np.floor((origin[axes] - corner) / size).astype(int)[None]
    q, good, side = flood.solve(centres(cells), flood.start[None])
    if not good[0]:
        raise LinkworkError(
            "the frame cannot move to the centre of its cell", where=f"{WHERE}, start",
            fix="start farther from singular positions and joint limits, or take more cells",
        )  # fmt: skip
    known = {tuple(cells[0].tolist())}
    steps = [np.array(step) for step in product((-1, 0, 1), repeat=len(axes)) if sum(map(abs, step)) == 1]
    while len(cells):
        yield centres(cells), q, side
        guesses = {}
        for step in steps:
            for cell, guess in zip(map(tuple, (cells + step).tolist()), q, strict=True):
                if cell not in known:
                    guesses.setdefault(cell, guess)
        if not guesses:
            return
        if len(known) > most:
            raise LinkworkError("the workspace has no end", where=WHERE, fix="give limits to joints that shift")
        cells = np.array([*guesses])
        q, good, side = flood.solve(centres(cells), np.array([*guesses.values()]))
        cells, q, side = cells[good], q[good], side[good]
        known.update(map(tuple, cells.tolist()))
