"""Limits of an exciting motion in space: above the ground, outside a box, and away from singular positions of loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compose import compile
from ...errors import LinkworkError, ShapeError, at_door, option_at_door
from .motion_limits import Rows
from .motion_path import Path, RobotMotion, Slopes

REGULAR = 0.2  # least regularity, relative to that at home


def limits_of_frames(path: Path, frames: str | Sequence[str], height: float | None, box: Any) -> list[Rows]:
    """Return limits that keep origins of frames above ``height`` along z of the world, and outside ``box``.

    A box is given by its lower and upper corner; a point is outside beyond one of its six faces.
    """
    names = tuple(path.model.frame(name).name for name in ([frames] if isinstance(frames, str) else frames))
    if (height is None and box is None) != (not names):
        message = "there is nothing to keep clear of" if names else "the frames that keep clear are missing"
        tip = path.robot.frame_names[-1]
        frames_fix = at_door(f"frames=[{tip!r}], or others", f"--frames {tip}, or others")
        fix = at_door("height=, box= or both", "--height, --box or both") if names else frames_fix
        raise LinkworkError(message, where=option_at_door("frames"), fix=fix)
    units, free = ("m",) * len(names), np.full(len(names), np.inf)
    places, pull = _places(path, names)
    rows = []
    if height is not None:
        if not math.isfinite(height):
            raise LinkworkError("not finite", where=option_at_door("height"), got=height, expected="a height in m")

        def heights(motion: RobotMotion) -> np.ndarray:
            return places(motion)[..., 2]

        def pull_heights(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
            pull(motion, bar[..., None] * [0.0, 0.0, 1.0], slopes)

        rows.append(Rows("height", names, units, np.full(len(names), float(height)), free, heights, pull_heights))
    if box is not None:
        lower, upper = _corners(box)

        def beyond(motion: RobotMotion) -> np.ndarray:
            at = places(motion)
            return np.concatenate([lower - at, at - upper], axis=-1)

        def clearances(motion: RobotMotion) -> np.ndarray:
            return beyond(motion).max(axis=-1)

        def pull_clearances(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
            face = np.eye(6)[beyond(motion).argmax(axis=-1)] * bar[..., None]
            pull(motion, face[..., 3:] - face[..., :3], slopes)

        rows.append(Rows("clearance", names, units, np.zeros(len(names)), free, clearances, pull_clearances))
    return rows


def _places(
    path: Path, names: Sequence[str]
) -> tuple[Callable[[RobotMotion], np.ndarray], Callable[[RobotMotion, np.ndarray, Slopes], None]]:
    """Return a function of the positions of frames, (N, frames, 3), and one that pulls derivatives back."""
    poses = [compile(path.model, "pose", frame=name) for name in names]
    backs = [pose.vjp() for pose in poses]

    def places(motion: RobotMotion) -> np.ndarray:
        return np.stack([pose(motion.q)[:, :3, 3] for pose in poses], axis=1)

    def pull(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
        for k, back in enumerate(backs):
            T_bar = np.zeros((len(bar), 4, 4))
            T_bar[:, :3, 3] = bar[:, k]
            slopes.q += back(motion.q, T_bar)

    return places, pull


def _corners(box: Any) -> np.ndarray:
    try:
        corners = np.array(box, float)
    except (TypeError, ValueError):
        corners = np.zeros(0)
    if corners.shape != (2, 3) or not np.isfinite(corners).all() or not (corners[0] < corners[1]).all():
        expected = "((x, y, z), (x, y, z)), its lower and its upper corner in the world"
        raise ShapeError("this is not a box", where=option_at_door("box"), got=repr(box), expected=expected)
    return corners


def limits_of_loops(path: Path) -> list[Rows]:
    """Return limits of the regularity of loops, relative to that at home.

    It is how well the independent joints determine the others, and the determinant by which the series' joints
    determine the independent ones.
    """
    if not path.model.constrained:
        return []
    home, freedoms = np.array(path.model.home), list(path.freedoms)
    low, high = np.array([REGULAR]), np.array([np.inf])
    conditioning = path.robot.conditioning
    at_home, back = float(conditioning(home)), conditioning.vjp()

    def regularity(motion: RobotMotion) -> np.ndarray:
        return conditioning(motion.q)[:, None] / at_home

    def pull_regularity(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
        slopes.q += back(motion.q, bar[:, 0] / at_home)

    rows = [Rows("regularity", ("loops",), ("",), low, high, regularity, pull_regularity)]
    if path.independent:
        return rows
    determinant = float(np.linalg.det(path.robot.velocity_map(home)[freedoms]))
    map_back = path.robot.velocity_map.vjp()

    def determinants(motion: RobotMotion) -> np.ndarray:
        return np.linalg.det(motion.G[:, freedoms])[:, None] / determinant

    def pull_determinants(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
        inverse = np.swapaxes(np.linalg.inv(motion.G[:, freedoms]), 1, 2)
        G_bar = np.zeros_like(motion.G)
        G_bar[:, freedoms] = inverse * (bar * determinants(motion))[..., None]
        slopes.q += map_back(motion.q, G_bar)

    return [*rows, Rows("regularity", ("motors",), ("",), low, high, determinants, pull_determinants)]
