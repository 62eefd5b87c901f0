"""Limits of an exciting motion: of joints and motors, from the robot file and from the caller."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, ShapeError, UnknownNameError, option_at_door
from ...function import Function
from ...model import Joint
from ...notes import Note
from ...options import ExciteOptions
from .motion_path import Path, RobotMotion, Slopes

if TYPE_CHECKING:
    from ...robot import Robot

TURN, SHIFT = math.pi, 0.5  # default range to each side of home or zero, in radians and metres
SPEED = (3.0, 1.0)  # default limits in rad/s and m/s
RISE = 4.0  # default limit of acceleration: the largest velocity is reached in 1 / 4 s
UNITS = {
    "position": ("rad", "m"),
    "velocity": ("rad/s", "m/s"),
    "acceleration": ("rad/s^2", "m/s^2"),
    "torque": ("N m", "N"),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Numbers (N, m) of a motion that must stay within limits.

    Attributes:
        quantity: Which quantity.
        names, units: Joints or frames, and units, of the columns.
        lower, upper: Limits (m,), infinite where there are none.
        values: Function that computes the numbers.
        pull: Function that pulls derivatives with respect to the numbers back to the motion, and adds them up.
    """

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    values: Callable[[RobotMotion], np.ndarray] = field(repr=False)
    pull: Callable[[RobotMotion, np.ndarray, Slopes], None] = field(repr=False)

    @property
    def scale(self) -> np.ndarray:
        """Half of the allowed range, or one where one side is open."""
        half = (self.upper - self.lower) / 2
        return np.where(np.isfinite(half) & (half > 0), half, 1.0)


def limits_of_series(path: Path, limits: ExciteOptions, still: Mapping[str, float], notes: list[Note]) -> list[Rows]:
    """Return limits of the joints that the series moves; assumed ones are added to ``notes``.

    ``still`` are the positions of joints that do not move.
    """
    names, turning = path.names, path.turning
    low, high, fast = _in_file(path)
    limit_of = _by_joint(limits.position, names, "position", pair=True)
    for k, name in enumerate(names):
        if name in limit_of:
            around = (
                path.middle[k] + np.array([-1, 1]) * limit_of[name] if np.ndim(limit_of[name]) == 0 else limit_of[name]
            )
            low[k], high[k] = max(low[k], around[0]), min(high[k], around[1])
    assumed = "half a turn or half a metre to each side of home, or zero"
    _note_assumed(notes, "position", assumed, names, np.maximum(-low, high))
    reach = np.where(turning, TURN, SHIFT)
    low, high = np.where(np.isinf(low), path.middle - reach, low), np.where(np.isinf(high), path.middle + reach, high)
    limit_of = _by_joint(limits.velocity, names, "velocity")
    fast = np.minimum(fast, [limit_of.get(name, np.inf) for name in names])
    _note_assumed(notes, "velocity", f"{SPEED[0]:g} rad/s or {SPEED[1]:g} m/s", names, fast)
    fast = np.where(np.isinf(fast), np.where(turning, *SPEED), fast)
    limit_of = _by_joint(limits.acceleration, names, "acceleration")
    rise = np.array([limit_of.get(name, np.inf) for name in names])
    _note_assumed(notes, "acceleration", f"the largest velocity within {1 / RISE:g} s", names, rise)
    rise = np.where(np.isinf(rise), RISE * fast, rise)
    middle, half = (low + high) / 2, limits.share * (high - low) / 2
    for k, name in enumerate(names):
        if name in still:
            middle[k], half[k] = still[name], 1.0  # an arbitrary range, since the caller sets the position
        elif not low[k] < high[k]:
            got, expected = f"{low[k]:g} to {high[k]:g}", "a lower limit below the upper one, or the joint in still="
            raise LinkworkError("the joint cannot move", where=f"position of {name!r}", got=got, expected=expected)
    return [
        _of_series(path, "position", "x", middle - half, middle + half),
        _of_series(path, "velocity", "xd", -limits.share * fast, limits.share * fast),
        _of_series(path, "acceleration", "xdd", -limits.share * rise, limits.share * rise),
    ]


def of_function(function: Function, names: Sequence[str]) -> tuple[Callable[..., np.ndarray], Callable[..., None]]:
    """Return ``values`` and ``pull`` of a robot's function of some of q, v and a."""
    back = function.vjp(tuple(names))

    def values(motion: RobotMotion) -> np.ndarray:
        return function(*(getattr(motion, name) for name in names))

    def pull(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
        for name, part in zip(names, back(*(getattr(motion, name) for name in names), bar), strict=True):
            setattr(slopes, name, getattr(slopes, name) + part)

    return values, pull


def _of_series(path: Path, quantity: str, part: str, low: np.ndarray, high: np.ndarray) -> Rows:
    def values(motion: RobotMotion) -> np.ndarray:
        return getattr(motion, part)

    def pull(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
        setattr(slopes, part, getattr(slopes, part) + bar)

    units = tuple(UNITS[quantity][not turns] for turns in path.turning)
    return Rows(quantity, path.names, units, low, high, values, pull)


def _in_file(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lower and upper positions, and velocities, of the file; mimic joints bound those they follow."""
    coordinates = path.model.coordinates
    low, high = (np.array(each)[path.places] for each in (coordinates.lower, coordinates.upper))
    fast = np.array([coordinates.joint_of(k).velocity_limit for k in path.freedoms])
    for joint in path.model.tree.joints:
        if joint.leader in path.names and joint.multiplier:
            k = path.names.index(joint.leader)
            ends = sorted((end - joint.offset) / joint.multiplier for end in (joint.lower, joint.upper))
            low[k], high[k] = max(low[k], ends[0]), min(high[k], ends[1])
            fast[k] = min(fast[k], joint.velocity_limit / abs(joint.multiplier))
    return low, high, fast


def _note_assumed(notes: list[Note], quantity: str, assumed: str, names: Sequence[str], values: Any) -> None:
    """Add a note on joints without a limit, whose value is infinite, and on what is assumed for them."""
    if free := [name for name, value in zip(names, values, strict=True) if math.isinf(value)]:
        which = "any joint" if len(free) == len(names) else ", ".join(free)
        notes.append(Note("assumed-limit", f"no limit of {quantity} is known of {which}: {assumed}"))


def _by_joint(limits: Any, names: Sequence[str], what: str, *, pair: bool = False) -> dict[str, Any]:
    """Return limits by name; one number counts for all."""
    if limits is None:
        return {}
    by_name = dict(limits) if isinstance(limits, Mapping) else dict.fromkeys(names, limits)
    for name, value in by_name.items():
        if name not in names:
            raise UnknownNameError("joint", str(name), names, where=option_at_door(what))
        try:
            numbers = np.array(value, float)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        right = numbers > 0 if numbers.ndim == 0 else pair and numbers.shape == (2,) and numbers[0] < numbers[1]
        if not right:
            where = f"{what} of {name!r}" if isinstance(limits, Mapping) else option_at_door(what)
            expected = "a number above zero" + " (to each side of home or zero), or (lower, upper)" * pair
            raise ShapeError("this is not a limit", where=where, got=repr(value), expected=expected)
        by_name[name] = numbers if numbers.ndim else float(numbers)
    return by_name


# -- other joints, and forces --------------------------------------------------------------------------------------


def limits_of_dependents(path: Path, share: float) -> list[Rows]:
    """Return limits of positions and velocities of joints that loops move, where the file has limits."""
    coordinates = path.model.coordinates
    dependent = [k for k in range(coordinates.nv) if k not in path.freedoms and coordinates.position_of(k) is not None]
    if not path.model.constrained:
        return []

    def bounded(bounds: Callable[[Joint], tuple[float, float]]) -> tuple[list[int], np.ndarray, np.ndarray]:
        places = [k for k in dependent if any(map(math.isfinite, bounds(coordinates.joint_of(k))))]
        low, high = np.array([bounds(coordinates.joint_of(k)) for k in places]).reshape(-1, 2).T
        inset = np.nan_to_num((1 - share) * (high - low) / 2, posinf=0.0)
        return places, low + inset, high - inset

    rows = []
    bounded_positions, low, high = bounded(lambda joint: (joint.lower, joint.upper))
    if bounded_positions:
        places = [place for place in map(coordinates.position_of, bounded_positions) if place is not None]

        def positions(motion: RobotMotion) -> np.ndarray:
            return motion.q[:, places]

        def pull(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
            slopes.q += np.einsum("nmk,nm->nk", motion.G[:, bounded_positions], bar)

        layout = coordinates.of_freedoms(bounded_positions, UNITS["position"])
        rows.append(Rows("position", layout.names, layout.units, low, high, positions, pull))
    bounded_velocities, low, high = bounded(lambda joint: (-joint.velocity_limit, joint.velocity_limit))
    if bounded_velocities:
        all_velocities, pull_all = of_function(path.robot.joint_velocities, ("q", "v"))

        def velocities(motion: RobotMotion) -> np.ndarray:
            return all_velocities(motion)[:, bounded_velocities]

        def pull_velocities(motion: RobotMotion, bar: np.ndarray, slopes: Slopes) -> None:
            pull_all(motion, path.among_all(bounded_velocities, bar), slopes)

        layout = coordinates.of_freedoms(bounded_velocities, UNITS["velocity"])
        rows.append(Rows("velocity", layout.names, layout.units, low, high, velocities, pull_velocities))
    return rows


def limits_of_torques(robot: Robot, limits: ExciteOptions, notes: list[Note]) -> list[Rows]:
    """Return limits of the joint forces."""
    model = robot.model
    layout = model.coordinates.of_freedoms(model.mobility.forced, UNITS["torque"])
    limit_of = _by_joint(limits.torque, layout.names, "torque")
    efforts = [model.coordinates.joint_of(k).effort_limit for k in model.mobility.forced]
    most = np.minimum(efforts, [limit_of.get(name, np.inf) for name in layout.names]) * limits.share
    _note_assumed(notes, "torque", "nothing bounds it", layout.names, most)
    functions = of_function(robot.inverse_dynamics, ("q", "v", "a"))
    return [Rows("torque", layout.names, layout.units, -most, most, *functions)]
