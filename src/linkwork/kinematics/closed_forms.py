"""Closed forms of inverse kinematics: all positions of a six-joint arm that give a pose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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
from ..rotations import make_pose
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
ROTATION_STEPS = 2
NO_ROTATION = 2e-4  # entry of R^T R - 1
POINT = 1e-9  # m; below this there is no size
NO_NOISE = 1e-12  # entries of axes within this are whole numbers


class ClosedForm:
    """The inverse kinematics of a six-joint arm in closed form, as ``closed_form`` returns it.

    The structure gives equations in the sine and cosine of one joint after the other (Pieper 1968, Paul 1981). They are
    the subproblems of Paden and Kahan; Khalil and Dombre (2002) list the same as types of equations. Three joints
    without parallel or meeting axes need a quartic, which Pieper has. Newton steps with the robot's own pose and
    Jacobian then remove what rounding and a rounded robot file (1.5708 for pi/2) leave.

    Joint limits are not applied. Two solutions that coincide, at the border of the workspace, are both returned. Where
    infinitely many positions give the pose, each branch returns one of them:

    - Stretched spherical wrist, or a wrist with its centre on axis 1: any position of the joints whose axes coincide.
    - Axis 6 parallel to the three parallel axes: the position of joint 6 with the elbow nearest to a right angle.

    Axes that are parallel or meet only to the digits of a file may cost solutions next to such places and borders.

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

    def __init__(self, _chain: Chain, structure: str, _backwards: bool):
        self.structure = structure
        self._chain, self._axes, self._backwards = _chain, _chain.seen(_backwards), _backwards
        rounding = ROUNDING * float(np.abs(_chain.zero[:3, 3]).max()) / _chain.size
        self._exact, self._valid = EXACT + rounding, VALID + 8 * rounding
        self._solve = compile_function(_chain.model, self._solutions, name="closed_form", pose=(4, 4))
        self._refine = compile_function(_chain.model, self._refined, name="refined", pose=(4, 4), x=(6,))
        self.branches = self._solve.program.outputs[0].shape[0]

    def __repr__(self) -> str:
        return f"<ClosedForm of {self._chain.model.name!r}: {self.structure}, up to {self.branches} solutions>"

    def __call__(self, poses: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return all positions that give poses of the frame.

        Args:
            poses: Poses (..., 4, 4) of the frame in the world. The rotation next to a matrix counts, so rounded
                numbers are welcome. Matrices that differ from it by more than 1e-4, or hold NaN, have no solution.

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
            x, nearest = self._solve(poses)
            x, valid = self._refine(nearest[..., None, :, :], x)
        valid = valid.astype(bool)
        if self._chain.places == [*range(self._chain.model.nq)]:
            return x, valid
        q = np.where(valid[..., None], self._chain.neutral, np.nan)
        q[..., self._chain.places] = x
        return q, valid

    # -- traced ------------------------------------------------------------------------------------------------------

    def _solutions(self, robot: TracedRobot, pose: Any) -> dict[str, Any]:
        """Return the positions (branches, 6) of the structure's equations, and the pose with the nearest rotation."""
        R = pose[:3, :3]
        for _ in range(ROTATION_STEPS):  # Newton's steps of the polar decomposition
            excess = R.T @ R - np.eye(3)
            R = R - R @ excess / 2
            R = np.where(np.max(np.abs(excess)) < NO_ROTATION, R, np.nan)
        nearest = make_pose(R, pose[:3, 3])
        zero, origin, size = self._chain.zero, self._chain.origin, self._chain.size
        R = R @ zero[:3, :3].T
        t = (R @ (origin - zero[:3, 3]) + (pose[:3, 3] - origin)) / size
        G: Displacement = (R.T, -(R.T @ t)) if self._backwards else (R, t)
        rows = []
        for values in STRUCTURES[self.structure][1](self._axes, G):
            pairs = zip(self._axes, values, strict=True)
            row = [np.arctan2(value[1], value[0]) if axis.turns else value * size for axis, value in pairs]
            rows.append(np.stack(row[::-1] if self._backwards else row))
        return {"x": np.stack(rows), "pose": nearest}

    def _refined(self, robot: TracedRobot, pose: Any, x: Any) -> Any:
        """Return positions after a few damped Newton steps, and whether they give the pose."""
        chain = self._chain

        def error(x: Any) -> tuple[Any, Any]:
            """Return the pose's error for a small one, and the square of a residual for any."""
            now = robot.pose(chain.frame, chain.whole(x))
            shift, turn = (pose[:3, 3] - now[:3, 3]) / chain.size, pose[:3, :3] - now[:3, :3]
            w = sum(np.cross(now[:3, k], pose[:3, k]) for k in range(3)) / 2
            return np.concatenate([shift, w]), shift @ shift + np.sum(turn * turn) / 2

        def stepped(state: Any) -> Any:
            x, e, square = state
            J = chain.jacobian(robot, x)
            new = x + chain.units * (J.T @ solve_positive_definite(J @ J.T + square * np.eye(6), e))
            e_new, square_new = error(new)
            better = square_new < square
            return np.where(better, new, x), np.where(better, e_new, e), np.where(better, square_new, square)

        def done(state: Any) -> Any:
            return ~((state[2] > self._exact**2) & (state[2] < NEAR**2))

        x, _, square = repeat(stepped, (x, *error(x)), STEPS, until=done)
        whole_turns = np.where(x > pi, 2 * pi, np.where(x <= -pi, -2 * pi, 0))
        x = x - np.where(chain.turns, whole_turns, 0)
        valid = square < self._valid**2
        return {"x": np.where(valid, x, np.nan), "valid": valid}


@dataclass(frozen=True, eq=False)
class Chain:
    """The six joints between the base and a frame: where they are in q and v, and their axes at zero.

    ``size`` is the largest distance of an axis from ``origin``, a point amid the axes. The axes are in units of it.
    """

    model: Model
    frame: str
    turns: list[bool]
    places: list[int]
    freedoms: list[int]
    zero: np.ndarray
    origin: np.ndarray
    size: float
    axes: list[Axis]

    @classmethod
    def of(cls, model: Model, frame: str) -> Chain | None:
        """Return the chain, or None if it has other joints, mimic joints or closed loops."""
        body = model.frame(frame).body
        joints = [model.joint(i) for i in reversed([body, *model.ancestors(body)])] if body else []
        simple = all((joint.revolute or joint.prismatic) and joint.leader is None for joint in joints)
        if len(joints) != 6 or not simple or model.constrained:
            return None
        coordinates, turns = model.coordinates, [joint.revolute for joint in joints]
        order = [coordinates.positions.joints.index(joint.name) for joint in joints]
        places = [coordinates.position_ranges[k][0] for k in order]
        freedoms = [coordinates.velocity_ranges[k][0] for k in order]

        robot, neutral = TracedRobot(model), coordinates.neutral()
        zero = np.asarray(robot.pose(frame, neutral), float)
        moving = np.asarray(robot.jacobian(frame, neutral), float)[:, freedoms].T
        w = np.where(np.array(turns)[:, None], moving[:, 3:], moving[:, :3])
        points = np.cross(w, moving[:, :3]) * np.array(turns)[:, None]  # of turning joints, relative to the frame
        planes = [turn * (np.eye(3) - np.outer(axis, axis)) for axis, turn in zip(w, turns, strict=True)]
        middle = np.linalg.lstsq(np.sum(planes, axis=0), np.sum(points, axis=0), rcond=1e-9)[0]
        relative = points - [plane @ middle for plane in planes]
        size = float(np.linalg.norm(relative, axis=-1).max())
        size = size if size > POINT else 1.0
        axes = [Axis(plain(axis), plain(p), turn) for axis, p, turn in zip(w, relative / size, turns, strict=True)]
        return cls(model, frame, turns, places, freedoms, zero, zero[:3, 3] + middle, size, axes)

    def seen(self, backwards: bool) -> list[Axis]:
        """Return the axes from the base, or as they are seen from the frame."""
        return [axis.reversed() for axis in reversed(self.axes)] if backwards else self.axes

    @cached_property
    def neutral(self) -> np.ndarray:
        """The neutral position of all joints of the robot."""
        return self.model.coordinates.neutral()

    @cached_property
    def units(self) -> np.ndarray:
        """One radian for joints that turn, the size of the robot for joints that slide."""
        return np.where(self.turns, 1.0, self.size)

    def whole(self, x: Any) -> list[Any]:
        """Return the positions of all joints of the robot from those of the chain."""
        q: list[Any] = list(self.neutral)
        for place, value in zip(self.places, x, strict=True):
            q[place] = value
        return q

    def jacobian(self, robot: TracedRobot, x: Any) -> Any:
        """Return the Jacobian of the chain, with lengths in units of the size."""
        J = robot.jacobian(self.frame, self.whole(x))[:, self.freedoms]
        return J * np.outer([1 / self.size] * 3 + [1.0] * 3, self.units)

    @property
    def regular(self) -> bool:
        """Whether the frame can move in all directions in some position."""
        robot, tries = TracedRobot(self.model), np.random.default_rng(0).uniform(-1, 1, (8, 6)) * self.units
        return any(np.linalg.svd(self.jacobian(robot, x), compute_uv=False)[-1] > RANK for x in tries)


def plain(x: np.ndarray) -> np.ndarray:
    """Return a vector without the rounding of entries that are whole numbers."""
    whole = np.round(x)
    return np.where(np.abs(x - whole) < NO_NOISE, whole, x)


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
    chain = Chain.of(model_of(robot), frame)
    if chain is None or not chain.regular:
        return None
    for structure, (present, _) in STRUCTURES.items():
        for backwards in (False, True):
            if present(chain.seen(backwards)):
                return ClosedForm(chain, structure, backwards)
    return None
