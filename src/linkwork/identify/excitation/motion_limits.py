"""What bounds an exciting motion: limits of joints and motors, by the file and by the caller."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...model import Joint
from ...options import ExciteOptions
from .motion_path import Moved, Path, Slopes

if TYPE_CHECKING:
    from ...robot import Robot

TURN, SHIFT = math.pi, 0.5  # to each side of home or zero, in radians and metres, where there are no limits
SPEED = (3.0, 1.0)  # rad/s and m/s, where there is no limit
RISE = 4.0  # per second: from rest to the largest velocity in a quarter of one, where no acceleration is given
UNITS = {
    "position": ("rad", "m"),
    "velocity": ("rad/s", "m/s"),
    "acceleration": ("rad/s^2", "m/s^2"),
    "torque": ("N m", "N"),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Numbers (N, m) of a motion that must stay between ``lower`` and ``upper``, (m,) each, infinite where nothing
    holds them. ``values`` computes them; ``pull`` adds to the slopes of the motion what slopes by them make of it."""

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    values: Callable[[Moved], np.ndarray] = field(repr=False)
    pull: Callable[[Moved, np.ndarray, Slopes], None] = field(repr=False)

    @property
    def scale(self) -> np.ndarray:
        """Half of what is allowed, or one where one side is open."""
        half = (self.upper - self.lower) / 2
        return np.where(np.isfinite(half) & (half > 0), half, 1.0)


def limits_of_series(path: Path, limits: ExciteOptions, still: Mapping[str, float], notes: list[str]) -> list[Rows]:
    """Of the joints that the series moves; ``still``: where those are that do not move. What is assumed where nothing
    is known is added to ``notes``."""
    names, turning = path.names, path.turning
    low, high, fast = _in_file(path)
    given = _by_joint(limits.position, names, "position", pair=True)
    for k, name in enumerate(names):
        if name in given:
            around = path.middle[k] + np.array([-1, 1]) * given[name] if np.ndim(given[name]) == 0 else given[name]
            low[k], high[k] = max(low[k], around[0]), min(high[k], around[1])
    _say(notes, "position: half a turn or half a metre to each side of home, or zero", names, np.maximum(-low, high))
    reach = np.where(turning, TURN, SHIFT)
    low, high = np.where(np.isinf(low), path.middle - reach, low), np.where(np.isinf(high), path.middle + reach, high)
    given = _by_joint(limits.velocity, names, "velocity")
    fast = np.minimum(fast, [given.get(name, np.inf) for name in names])
    _say(notes, f"velocity: {SPEED[0]:g} rad/s or {SPEED[1]:g} m/s", names, fast)
    fast = np.where(np.isinf(fast), np.where(turning, *SPEED), fast)
    given = _by_joint(limits.acceleration, names, "acceleration")
    rise = np.array([given.get(name, np.inf) for name in names])
    _say(notes, f"acceleration: the largest velocity within {1 / RISE:g} s", names, rise)
    rise = np.where(np.isinf(rise), RISE * fast, rise)
    middle, half = (low + high) / 2, limits.share * (high - low) / 2
    for k, name in enumerate(names):
        if name in still:
            middle[k], half[k] = still[name], 1.0  # any: where it is, is the caller's wish
        elif not low[k] < high[k]:
            got, expected = (
                f"{low[k]:g} to {high[k]:g}",
                "a lower limit below the upper one, or a joint that stays still",
            )
            raise LinkworkError("there is no room to move", where=f"position of {name!r}", got=got, expected=expected)
    return [
        _own(path, "position", "x", middle - half, middle + half),
        _own(path, "velocity", "xd", -limits.share * fast, limits.share * fast),
        _own(path, "acceleration", "xdd", -limits.share * rise, limits.share * rise),
    ]


def _own(path: Path, quantity: str, part: str, low: np.ndarray, high: np.ndarray) -> Rows:
    def values(moved: Moved) -> np.ndarray:
        return getattr(moved, part)

    def pull(moved: Moved, bar: np.ndarray, slopes: Slopes) -> None:
        setattr(slopes, part, getattr(slopes, part) + bar)

    units = tuple(UNITS[quantity][not turns] for turns in path.turning)
    return Rows(quantity, path.names, units, low, high, values, pull)


def _in_file(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper positions, and velocities; joints that follow others bound these."""
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


def _say(notes: list[str], what: str, names: Sequence[str], values: Any) -> None:
    """Which joints have no limit, as an infinite value tells, and what is taken."""
    if free := [name for name, value in zip(names, values, strict=True) if math.isinf(value)]:
        which = "any joint" if len(free) == len(names) else ", ".join(free)
        quantity, _, taken = what.partition(": ")
        notes.append(f"no limit of {quantity} is known of {which}: {taken}")


def _by_joint(given: Any, names: Sequence[str], what: str, *, pair: bool = False) -> dict[str, Any]:
    """Limits by name; one number counts for all."""
    if given is None:
        return {}
    found = dict(given) if isinstance(given, Mapping) else dict.fromkeys(names, given)
    for name, value in found.items():
        if name not in names:
            raise UnknownNameError("joint", str(name), names, where=what)
        try:
            numbers = np.array(value, float)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        right = numbers > 0 if numbers.ndim == 0 else pair and numbers.shape == (2,) and numbers[0] < numbers[1]
        if not right:
            where = f"{what} of {name!r}" if isinstance(given, Mapping) else what
            expected = "a number above zero" + " (to each side of home or zero), or (lower, upper)" * pair
            raise ShapeError("this is no limit", where=where, got=repr(value), expected=expected)
        found[name] = numbers if numbers.ndim else float(numbers)
    return found


# -- what follows from the joints of the series --------------------------------------------------------------------


def limits_of_dependents(path: Path, share: float) -> list[Rows]:
    """Positions and velocities of joints that loops move, where the file bounds them."""
    coordinates = path.model.coordinates
    rest = [k for k in range(coordinates.nv) if k not in path.freedoms and coordinates.position_of(k) is not None]
    if not path.model.constrained:
        return []

    def bounded(bounds: Callable[[Joint], tuple[float, float]]) -> tuple[list[int], np.ndarray, np.ndarray]:
        kept = [k for k in rest if any(map(math.isfinite, bounds(coordinates.joint_of(k))))]
        low, high = np.array([bounds(coordinates.joint_of(k)) for k in kept]).reshape(-1, 2).T
        inset = np.nan_to_num((1 - share) * (high - low) / 2, posinf=0.0)
        return kept, low + inset, high - inset

    found = []
    held, low, high = bounded(lambda joint: (joint.lower, joint.upper))
    if held:
        places = [place for place in map(coordinates.position_of, held) if place is not None]

        def positions(moved: Moved) -> np.ndarray:
            return moved.q[:, places]

        def pull(moved: Moved, bar: np.ndarray, slopes: Slopes) -> None:
            slopes.q += np.einsum("nmk,nm->nk", moved.G[:, held], bar)

        layout = coordinates.of_freedoms(held, UNITS["position"])
        found.append(Rows("position", layout.names, layout.units, low, high, positions, pull))
    quick, low, high = bounded(lambda joint: (-joint.velocity_limit, joint.velocity_limit))
    if quick:
        function = path.robot.joint_velocities
        back = function.vjp(("q", "v"))

        def velocities(moved: Moved) -> np.ndarray:
            return function(moved.q, moved.v)[:, quick]

        def pull_velocities(moved: Moved, bar: np.ndarray, slopes: Slopes) -> None:
            by_q, by_v = back(moved.q, moved.v, path.among_all(quick, bar))
            slopes.q += by_q
            slopes.v += by_v

        layout = coordinates.of_freedoms(quick, UNITS["velocity"])
        found.append(Rows("velocity", layout.names, layout.units, low, high, velocities, pull_velocities))
    return found


def limits_of_torques(robot: Robot, limits: ExciteOptions, notes: list[str]) -> list[Rows]:
    model = robot.model
    layout = model.coordinates.of_freedoms(model.mobility.forced, UNITS["torque"])
    given = _by_joint(limits.torque, layout.names, "torque")
    own = [model.coordinates.joint_of(k).effort_limit for k in model.mobility.forced]
    most = np.minimum(own, [given.get(name, np.inf) for name in layout.names]) * limits.share
    _say(notes, "torque: nothing bounds it", layout.names, most)
    forces = robot.inverse_dynamics
    back = forces.vjp(("q", "v", "a"))

    def values(moved: Moved) -> np.ndarray:
        return forces(moved.q, moved.v, moved.a)

    def pull(moved: Moved, bar: np.ndarray, slopes: Slopes) -> None:
        by_q, by_v, by_a = back(moved.q, moved.v, moved.a, bar)
        slopes.q += by_q
        slopes.v += by_v
        slopes.a += by_a

    return [Rows("torque", layout.names, layout.units, -most, most, values, pull)]
