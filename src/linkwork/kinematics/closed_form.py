"""Closed forms of inverse kinematics: all positions of a six-joint arm that give a pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..compose.compile_function import compile_function
from ..errors import ShapeError
from ..iteration import repeat
from ..linalg import solve_positive_definite
from ..model import Model
from ..pipeline import HasModel, model_of
from .structures import (
    Axis,
    Displacement,
    Values,
    has_parallel_axes,
    has_spherical_wrist,
    parallel_axes,
    spherical_wrist,
)

STRUCTURES: dict[str, tuple[Callable[..., bool], Callable[..., list[Values]]]] = {
    "spherical wrist": (has_spherical_wrist, spherical_wrist),
    "three parallel axes": (has_parallel_axes, parallel_axes),
}
EXACT = 1e-13  # residual, in rad and sizes of the robot, at which no Newton step follows
VALID = 1e-12  # largest residual of a solution
NEAR = 1e-3  # largest residual from which Newton steps are tried
STEPS = 4
ROUNDING = 4 * float(np.finfo(float).eps)
RANK = 1e-7  # smallest singular value of a Jacobian that counts as regular
NO_NOISE = 1e-12  # entries of axes within this are whole numbers


class ClosedForm:
    """The inverse kinematics of a six-joint arm in closed form, as ``closed_form`` returns it.

    Two sines and cosines that belong to one angle make linear and quadratic equations (Pieper 1968, Paul 1981). Which
    ones follows from the structure alone: the subproblems of Paden (1986) and Kahan, Paul's types of equations in Khalil
    and Dombre (2002), and for three joints without parallel or meeting axes Pieper's quartic. Newton steps with the
    robot's own pose and Jacobian then remove what rounding and small errors of the robot file (1.5708 for pi/2) leave.

    Joint limits are not applied. Two solutions that coincide, at the border of the workspace, are both returned. Where
    infinitely many positions give the pose, one of each branch is returned. If two axes coincide, as in a stretched
    wrist, one of their joints is at zero: joint 4 of a spherical wrist, joint 6 after three parallel axes, joint 1
    if the centre of the wrist is on its axis.

    Attributes:
        structure: "spherical wrist" or "three parallel axes".
        branches: The largest number of solutions of a pose, at most 8.

    References:
        D. L. Pieper, The Kinematics of Manipulators under Computer Control, Stanford 1968.
        R. P. Paul, Robot Manipulators: Mathematics, Programming, and Control, MIT Press 1981.
        B. Paden, Kinematics and Control of Robot Manipulators, Berkeley 1986; R. M. Murray, Z. Li and S. S. Sastry,
        A Mathematical Introduction to Robotic Manipulation, CRC Press 1994.
        W. Khalil and E. Dombre, Modeling, Identification and Control of Robots, Hermes Penton 2002.

    Example:
        >>> arm = linkwork.load("ur5e")
        >>> inverse = linkwork.kinematics.closed_form(arm, "tool0")
        >>> q, valid = inverse(arm.pose("tool0", [0.3, -1.2, 1.4, -0.8, 1.0, 0.2]))
        >>> inverse.structure, q.shape, int(valid.sum())
        ('three parallel axes', (8, 6), 8)
    """

    def __init__(self, model: Model, frame: str, structure: str, axes: Sequence[Axis], backwards: bool, **at: Any):
        self.structure = structure
        self._model, self._frame, self._axes, self._backwards = model, frame, tuple(axes), backwards
        self._places, self._freedoms = at["places"], at["freedoms"]
        self._origin, self._size, self._zero = at["origin"], at["size"], at["zero"]
        rounding = ROUNDING * float(np.abs(self._zero[:3, 3]).max()) / self._size
        self._exact, self._valid = EXACT + rounding, VALID + 8 * rounding
        self._solve = compile_function(model, self._solutions, name="closed_form", pose=(4, 4))
        self._refine = compile_function(model, self._refined, name="refined", pose=(4, 4), x=(6,))
        self.branches = self._solve.program.outputs[0].shape[0]

    def __repr__(self) -> str:
        return f"<ClosedForm of {self._model.name!r}: {self.structure}, up to {self.branches} solutions>"

    def __call__(self, poses: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return all positions that give poses of the frame.

        Args:
            poses: Poses (..., 4, 4) of the frame in the world. A pose whose rotation matrix is not one to about 1e-12,
                or with NaN, has no solution.

        Returns:
            q: (..., branches, nq), angles in (-pi, pi], NaN where ``valid`` is False. Joints that do not move the frame
                are at their neutral position.
            valid: (..., branches), whether q gives the pose.

        Raises:
            ShapeError: ``poses`` is no array of 4 x 4 matrices.

        Example:
            >>> arm = linkwork.load("puma560")
            >>> inverse = linkwork.kinematics.closed_form(arm, arm.model.link_names[-1])
            >>> T = arm.pose(arm.model.link_names[-1], np.full((10, 6), 0.5))
            >>> q, valid = inverse(T)
            >>> bool(np.allclose(arm.pose(arm.model.link_names[-1], q), T[:, None]))
            True
        """
        poses = np.asarray(poses, float)
        if poses.shape[-2:] != (4, 4):
            raise ShapeError("these are not poses", where="ClosedForm", got=poses.shape, expected="(..., 4, 4)")
        with np.errstate(all="ignore"):  # of positions that do not exist
            x, valid = self._refine(poses[..., None, :, :], self._solve(poses))
        valid = valid.astype(bool)
        if self._places == [*range(self._model.nq)]:
            return x, valid
        q = np.where(valid[..., None], self._model.coordinates.neutral(), np.nan)
        q[..., self._places] = x
        return q, valid

    # -- traced ------------------------------------------------------------------------------------------------------

    def _solutions(self, robot: TracedRobot, pose: Any) -> Any:
        """Return the positions (branches, 6) of the structure's equations."""
        R = pose[:3, :3] @ self._zero[:3, :3].T
        t = (R @ (self._origin - self._zero[:3, 3]) + (pose[:3, 3] - self._origin)) / self._size
        G: Displacement = (R.T, -(R.T @ t)) if self._backwards else (R, t)
        solve = STRUCTURES[self.structure][1]
        rows = [
            np.stack([self._position(axis, value) for axis, value in zip(self._axes, values, strict=True)])
            for values in solve(self._axes, G)
        ]
        return np.stack([row[::-1] for row in rows] if self._backwards else rows)

    def _position(self, axis: Axis, value: Any) -> Any:
        return np.arctan2(value[1], value[0]) if axis.turns else value * self._size

    def _refined(self, robot: TracedRobot, pose: Any, x: Any) -> Any:
        """Return positions after a few damped Newton steps, and whether they give the pose."""
        scale = np.array([1 / self._size] * 3 + [1.0] * 3)
        units = np.array([1.0 if axis.turns else self._size for axis in self._axes][:: -1 if self._backwards else 1])

        def error(x: Any) -> tuple[Any, Any]:
            """Return the pose's error for a small one, and the square of a residual for any."""
            now = robot.pose(self._frame, self._whole(x))
            shift, turn = (pose[:3, 3] - now[:3, 3]) / self._size, pose[:3, :3] - now[:3, :3]
            w = sum(np.cross(now[:3, k], pose[:3, k]) for k in range(3)) / 2
            return np.concatenate([shift, w]), shift @ shift + np.sum(turn * turn) / 2

        def stepped(state: Any) -> Any:
            x, e, square = state
            J = robot.jacobian(self._frame, self._whole(x))[:, self._freedoms] * np.outer(scale, units)
            new = x + units * (J.T @ solve_positive_definite(J @ J.T + square * np.eye(6), e))
            e_new, square_new = error(new)
            better = square_new < square
            return np.where(better, new, x), np.where(better, e_new, e), np.where(better, square_new, square)

        def done(state: Any) -> Any:
            return ~((state[2] > self._exact**2) & (state[2] < NEAR**2))

        x, _, square = repeat(stepped, (x, *error(x)), STEPS, until=done)
        turns = units == 1.0
        x = np.stack([np.where(a > pi, a - 2 * pi, np.where(a <= -pi, a + 2 * pi, a)) if turn else a
                      for a, turn in zip(x, turns, strict=True)])  # fmt: skip
        valid = square < self._valid**2
        return {"x": np.where(valid, x, np.nan), "valid": valid}

    def _whole(self, x: Any) -> list[Any]:
        """Return all positions from those of the chain."""
        q: list[Any] = list(self._model.coordinates.neutral())
        for place, value in zip(self._places, x, strict=True):
            q[place] = value
        return q


def closed_form(robot: Model | HasModel, frame: str) -> ClosedForm | None:
    """Return the inverse kinematics of a six-joint arm in closed form, if its structure has one.

    The structure is found from the joint axes. There are two:

    - Spherical wrist: the last three joints turn about axes that meet in a point. The first three turn or slide along
      any axes.
    - Three parallel axes: joints 2, 3 and 4 turn about parallel axes.

    Both are found from the other end of the arm too: the first three axes meet, or axes 3, 4 and 5 are parallel.

    Args:
        robot: A Robot, or its Model.
        frame: Name of the frame whose pose is given. It may be fixed to the last link in any way.

    Returns:
        The solver, or None: another structure, more or fewer than six joints, joints other than turning and sliding
        ones, closed loops, mimic joints in the arm, or an arm that cannot move its frame in all directions.

    Raises:
        UnknownNameError: There is no such frame.

    Example:
        >>> linkwork.kinematics.closed_form(linkwork.load("stanford"), "link6").structure
        'spherical wrist'
        >>> linkwork.kinematics.closed_form(robot, "panda_link8") is None  # seven joints
        True
    """
    model = model_of(robot)
    body = model.frame(frame).body
    chain = [*reversed([body, *model.ancestors(body)])] if body else []
    joints = [model.joint(i) for i in chain]
    followed = {joint.leader for joint in joints}
    if len(joints) != 6 or model.constrained or followed != {None}:
        return None
    if not all(joint.revolute or joint.prismatic for joint in joints):
        return None
    names = model.coordinates.positions.joints
    places = [model.coordinates.position_ranges[names.index(joint.name)][0] for joint in joints]
    freedoms = [model.coordinates.velocity_ranges[names.index(joint.name)][0] for joint in joints]

    arm, neutral = TracedRobot(model), model.coordinates.neutral()
    zero = np.asarray(arm.pose(frame, neutral), float)
    columns = np.asarray(arm.jacobian(frame, neutral), float)[:, freedoms].T
    origin, size, axes = axes_of(columns, [joint.revolute for joint in joints], zero[:3, 3])
    if not regular(arm, frame, neutral, places, freedoms, size):
        return None
    flipped = [axis.reversed() for axis in reversed(axes)]
    for structure, (present, _) in STRUCTURES.items():
        for seen in (axes, flipped):
            if present(seen):
                at = {"places": places, "freedoms": freedoms, "origin": origin, "size": size, "zero": zero}
                return ClosedForm(model, frame, structure, seen, seen is flipped, **at)
    return None


def axes_of(columns: np.ndarray, turns: Sequence[bool], at: np.ndarray) -> tuple[np.ndarray, float, list[Axis]]:
    """Return an origin near the axes, the size of the robot around it, and the axes in units of the size.

    Args:
        columns: Columns of the Jacobian (joints, 6): velocity of the frame at ``at``, angular velocity.
        turns: Which joints turn.
        at: Origin of the frame.
    """
    w = np.array([column[3:] if turn else column[:3] for column, turn in zip(columns, turns, strict=True)])
    points = np.cross(w, columns[:, :3])  # of turning joints, relative to the frame
    across = np.array([np.eye(3) - np.outer(axis, axis) for axis, turn in zip(w, turns, strict=True) if turn])
    center = np.zeros(3)
    if len(across):
        offsets = np.einsum("nij,nj->i", across, points[np.array(turns)])
        center = np.linalg.lstsq(across.sum(axis=0), offsets, rcond=1e-9)[0]
    relative = [across_axis(axis, point - center) if turn else np.zeros(3)
                for axis, point, turn in zip(w, points, turns, strict=True)]  # fmt: skip
    size = max(float(np.linalg.norm(each)) for each in relative)
    size = size if size > 1e-9 else 1.0
    return (
        at + center,
        size,
        [Axis(plain(axis), plain(point / size), turn) for axis, point, turn in zip(w, relative, turns, strict=True)],
    )


def across_axis(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x - w * (w @ x)


def plain(x: np.ndarray) -> np.ndarray:
    """Return a vector without the rounding of entries that are whole numbers."""
    whole = np.round(x)
    return np.where(np.abs(x - whole) < NO_NOISE, whole, x)


def regular(arm: TracedRobot, frame: str, neutral: np.ndarray, places: Any, freedoms: Any, size: float) -> bool:
    """Whether the frame can move in all directions in some position."""
    for x in np.random.default_rng(0).uniform(-1, 1, (8, 6)):
        q = neutral.copy()
        q[places] = x
        J = np.asarray(arm.jacobian(frame, q), float)[:, freedoms]
        J[:3] /= size
        if np.linalg.svd(J, compute_uv=False)[-1] > RANK:
            return True
    return False
