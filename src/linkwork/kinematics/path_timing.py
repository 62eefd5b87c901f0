"""The fastest motion along joint paths within limits: Bobrow, Dubowsky and Gibson (1985); reachability analysis, Pham
and Pham (2018).

A path is q(s), with q' and q'' its derivatives by s. With x = s'^2 and u = s'' (by time), every limit is linear:
v = q' sqrt(x), a = q' u + q'' x, tau = A u + B x + C. On a grid of s, u is constant from point to point. Backward, the
largest interval of x is found at each point from which a motion reaches the end; forward, the largest u is taken that
leads into the next interval. Limits hold at both ends of each step.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, memory_reported, require_mapping
from ..iteration import repeat
from ..model import Drive, Model, changed_drives
from ..model.drive import Sliding
from ..workspace import Cache, Workspace
from .splines import Splines
from .timed_path import Limits, TimedPath, timed

if TYPE_CHECKING:
    from ..robot import Robot

Array = np.ndarray
FASTEST = 1e12  # largest x, for a path of length one: where nothing else limits it, as where a path stops
FAR = 1e9  # a limit that does not act, relative to those that do
NEAR_ENDS = np.array([1 / 16, 1 / 8, 1 / 4, 1 / 2])  # further points of the default grid, in the first and last step
NEAR = 1e-12  # distance of equal points, as a part of the length of the path
FLAT = 1e-9  # part of the largest coefficient of u, below which a coefficient of u is replaced: the limit is one of x
ROUNDS = 6  # of timing with viscous friction, each from the speeds of the one before
CHUNK = 512  # paths whose limits are in memory at the same time
NO_INPUTS = (
    "friction", "coulomb", "viscous", "offset", "stribeck", "stribeck_velocity", "friction_width", "force_laws",
)  # fmt: skip


def time_path(
    robot: Robot,
    path: Any,
    *,
    s: Any = None,
    degree: int = 3,
    gridpoints: Any = None,
    speeds: Any = (0.0, 0.0),
    velocity: Any = None,
    acceleration: Any = None,
    torque: Any = None,
    inputs: Mapping[str, Any] | None = None,
) -> TimedPath:
    """Return the fastest motion along joint paths; ``Robot.time_path`` explains the arguments."""
    model = robot.model
    _require_supported(model)
    limits = _limits(model, velocity, acceleration, torque)
    points = _numbers(path, "path", f"(..., points, {model.nq})")
    if points.ndim < 2 or points.shape[-1] != model.nq or points.shape[-2] < 2:
        expected = f"(..., points, {model.nq}), two points or more"
        raise ShapeError("wrong shape", where="path", got=points.shape, expected=expected)
    if degree not in (3, 5):
        raise LinkworkError("wrong degree of the spline", where="degree", got=degree, expected="3 or 5")
    batch, number = points.shape[:-2], prod(points.shape[:-2])
    ends = np.broadcast_to(_numbers(speeds, "speeds", "(..., 2)"), (*batch, 2)).reshape(number, 2)
    if not (ends >= 0).all():
        raise LinkworkError("out of range", where="speeds", got=ends.min(), expected="rates of s, not negative")
    require_mapping(inputs or {}, "time_path, inputs", "{name: values}")
    if unfit := [name for name in inputs or () if name.partition(":")[0] in NO_INPUTS]:
        fix = "use a robot with other friction, robot.with_friction(...)"
        raise UnsupportedError("this is no input of time_path", where="inputs", got=unfit[0], fix=fix)
    points = points.reshape(number, *points.shape[-2:])
    problems = _unusable(points)
    points[[*problems]] = np.linspace(0.0, 1.0, points.shape[1])[:, None]  # a path whose motion is not returned
    with memory_reported("these paths", where="time_path", fix="time fewer paths, or on fewer points"):
        at = _parameter(points, limits.velocity, s)
        splines, grid = Splines(at, points, degree), _grid(gridpoints, at, points.shape[1])
        timing = _Timing(robot, limits, inputs or {}, batch)
        x = np.empty((number, grid.shape[1]))
        for start in range(0, number, CHUNK):
            part = slice(start, start + CHUNK)
            places = grid[part] if len(grid) > 1 else grid
            squares, failed = timing.squared_rates(splines[part], places, ends[part], part)
            x[part] = squares.T
            problems = {start + k: text for k, text in failed.items()} | problems
        x[[*problems]] = np.nan
        return timed(robot, batch, splines, grid, np.sqrt(x), timing.inverse_dynamics, timing.inputs, limits, problems)


# -- what is asked -----------------------------------------------------------------------------------------------------


def _require_supported(model: Model) -> None:
    """Raise an error for robots whose forces are not determined by the motion of their motors along a path."""
    reasons = {
        "a floating base moves as its joints do": model.moving_base,
        "its loops determine how joints move together": model.constrained,
        "no motor drives " + ", ".join(model.names_of(model.mobility.free)): model.mobility.free,
        "splines do not pass through rotations that are quaternions": model.nq != model.nv,
        "its force laws may depend on velocity in any way": model.forces,
        "its transmissions have friction of their own": any(m.acting for t in model.transmissions for m in t.motors),
    }
    for reason, applies in reasons.items():
        if applies:
            expected = "a robot on a fixed base, with a motor for each joint"
            raise UnsupportedError(reason, where=f"time_path of {model.name!r}", expected=expected)


def _numbers(value: Any, where: str, expected: str) -> Array:
    try:
        return np.array(value, float)
    except (TypeError, ValueError) as error:
        raise ShapeError("not an array of numbers", where=where, got=repr(value)[:80], expected=expected) from error


def _limits(model: Model, velocity: Any, acceleration: Any, torque: Any) -> Limits:
    joints = model.coordinates.joints
    fast = np.array([joint.velocity_limit for joint in joints])
    for joint in model.tree.joints:
        if joint.leader is not None and joint.multiplier:
            k = model.coordinates.velocity_names.index(joint.leader)
            fast[k] = min(fast[k], joint.velocity_limit / abs(joint.multiplier))
    names = model.coordinates.velocity_names
    limits = Limits(
        _two_sided(velocity, fast, names, "velocity"),
        _two_sided(acceleration, np.full(len(names), np.inf), names, "acceleration"),
        _two_sided(torque, np.array([joint.effort_limit for joint in joints]), names, "torque"),
    )
    if not np.isfinite(np.stack(limits)).any():
        raise LinkworkError(
            "nothing limits the motion", where="time_path", fix="give velocity=, acceleration= or torque="
        )
    return limits


def _two_sided(value: Any, default: Array, names: tuple[str, ...], what: str) -> Array:
    """Return lower and upper limits (2, n)."""
    if isinstance(value, Mapping):
        if unknown := [name for name in value if name not in names]:
            raise UnknownNameError("joint", str(unknown[0]), names, where=what)
        value = [value.get(name, most) for name, most in zip(names, default, strict=True)]
    n = len(names)
    expected = f"a positive number, one for each of {n} joints, lower and upper ones (2, {n}), or a dict by joint"
    most = _numbers(default if value is None else value, what, expected)
    if most.shape not in ((), (n,), (2, n)):
        raise ShapeError("wrong shape", where=what, got=most.shape, expected=expected)
    both = most if most.ndim == 2 else np.broadcast_to(np.stack([-most, most]).reshape(2, -1), (2, n))
    if not ((both[0] < 0) & (both[1] > 0)).all():
        got, fix = f"{most}" if value is None else repr(value)[:80], f"give {what}="
        raise ShapeError("this is not a limit", where=what, got=got, expected=expected, fix=fix)
    return both


def _unusable(points: Array) -> dict[int, str]:
    """Return what is wrong with the points of paths."""
    finite = np.isfinite(points).all(axis=(1, 2), keepdims=True)
    steps = np.abs(np.diff(np.where(finite, points, 0.0), axis=1)).max(axis=2)
    still = steps <= NEAR * steps.sum(axis=1, keepdims=True)
    problems = {}
    for k in np.flatnonzero(still.any(axis=1)):
        first = int(still[k].argmax())
        problems[int(k)] = f"points {first} and {first + 1} of the path are equal: remove one of them"
    return problems | {int(k): "a point of the path is not finite" for k in np.flatnonzero(~finite)}


def _parameter(points: Array, velocity: Array, s: Any) -> Array:
    """Return s at the points, (P, W) or (1, W). Default: from 0 to 1, by the time at the largest velocities."""
    if s is None:
        fast = np.minimum(-velocity[0], velocity[1])
        steps = np.abs(np.diff(points, axis=1)) / np.where(np.isfinite(fast), fast, 1.0)
        at = np.cumsum(np.pad(steps.max(axis=2), ((0, 0), (1, 0))), axis=1)
        return at / at[:, -1:]
    at = _numbers(s, "s", "(points,)")
    if at.shape != points.shape[1:2] or not np.isfinite(at).all() or not (np.diff(at) > 0).all():
        expected = f"increasing numbers, one for each of {points.shape[1]} points"
        raise ShapeError("wrong parameter of the points", where="s", got=repr(s)[:80], expected=expected)
    return at[None]


def _grid(gridpoints: Any, at: Array, count: int) -> Array:
    """Return s at the points of the grid, (P, G) or (1, G)."""
    expected = "a whole number from 2 on, or increasing shares of the path from 0 to 1"
    if gridpoints is None:
        gridpoints = np.linspace(0.0, 1.0, max(100, 2 * count - 1))
        ends = gridpoints[1] * NEAR_ENDS  # a motion from rest is at its largest speed early in the first step
        gridpoints = np.sort([*gridpoints, *ends, *(1 - ends)])
    shares = _numbers(gridpoints, "gridpoints", expected)
    if shares.ndim == 0 and shares >= 2 and shares % 1 == 0:
        shares = np.linspace(0.0, 1.0, int(shares))
    if shares.ndim != 1 or len(shares) < 2 or shares[0] != 0 or shares[-1] != 1 or not (np.diff(shares) > 0).all():
        raise ShapeError("wrong points of the grid", where="gridpoints", got=repr(gridpoints)[:80], expected=expected)
    return at[:, :1] + (at[:, -1:] - at[:, :1]) * shares


# -- friction ----------------------------------------------------------------------------------------------------------


def _friction(robot: Workspace) -> Array:
    """Return rows (4, n): Coulomb friction forward and backward, viscous friction forward and backward.

    Friction that is neither is refused.
    """
    columns = []
    for joint in robot.model.coordinates.joints:
        v = np.outer([1.0, -1.0], [1.0, 2.0, 3.0])
        force = sum((law.force(Sliding(v)) for law in joint.acting), start=0 * v)
        slope = (force[:, 1] - force[:, 0]) / (v[:, 1] - v[:, 0])
        constant = force[:, 0] - slope * v[:, 0]
        error = np.abs(constant + slope * v[:, 2] - force[:, 2]).max()
        if error > 1e-12 * np.abs(force).max() or (slope < 0).any():
            got = ", ".join(law.formula for law in joint.acting)
            fix = f'give it other friction: robot.with_friction({{"{joint.name}": {{"coulomb": 1, "viscous": 1}}}})'
            raise UnsupportedError("this friction is not constant and viscous", where=joint.name, got=got, fix=fix)
        columns.append([*constant, *slope])
    return np.array(columns).T


# -- compiled functions ------------------------------------------------------------------------------------------------


def _grid_limits(
    robot: Any, q: Any, slope: Any, bend: Any, velocity: Any, torque: Any, scale: Any, friction: Any, fastest: Any,
    *, acceleration: Any = None, before: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the limits at a point of a path: rows a, b, lower, upper with lower <= a u + b x <= upper; the largest x.

    Rows are multiplied by ``scale``. Without viscous friction, ``before``, an earlier x, has no influence.
    """
    still = 0 * slope
    C = robot.inverse_dynamics(q, still, still)
    A = robot.inverse_dynamics(q, still, slope) - C
    B = robot.inverse_dynamics(q, slope, bend) - C
    small = 1e-9 * np.max(np.abs(slope))  # of joints that do not move but for rounding
    forward, backward = 1 * (slope > small), 1 * (slope < -small)
    C = C + friction[0] * forward + friction[1] * backward
    rate = np.where(slope < 0, velocity[0], velocity[1]) / np.where(slope == 0, 1, slope)
    top = np.min(np.where(slope == 0, fastest, np.minimum(rate * rate, fastest)))
    limits = [(A, B, torque[0] - C, torque[1] - C)]
    if before is not None:
        D = (friction[2] * forward + friction[3] * backward) * slope
        limits = [*_with_viscous(A, B, C, D, torque, np.sqrt(before), np.sqrt(top))]
    limits = [tuple(part * scale[0] for part in each) for each in limits]
    if acceleration is not None:
        limits.append(tuple(part * scale[1] for part in (slope, bend, acceleration[0], acceleration[1])))
    return {"rows": np.stack([np.concatenate(parts) for parts in zip(*limits, strict=True)]), "top": top}


def _with_viscous(A: Any, B: Any, C: Any, D: Any, torque: Any, root: Any, most: Any) -> Any:
    """Yield limits of tau = A u + B x + C + D sqrt(x), never wider than they are, and exact where sqrt(x) = ``root``.

    The square root is below its tangent, and above two chords that end at ``root`` and at ``most``.
    """
    rate, far = 1 / (root + most), 0 * C + FAR
    tangent, chords = (0.5 / root, 0.5 * root), [(1 / root, 0 * root), (rate, root - rate * root * root)]
    for (slope, constant), driving in ((tangent, D >= 0), *((chord, D < 0) for chord in chords)):
        offset = C + D * constant
        lower = np.where(driving, -far, torque[0] - offset)
        yield A, B + D * slope, lower, np.where(driving, torque[1] - offset, far)


def _lines(here: Any, ahead: Any, span: Any, flat: Any, interval: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return limits of u as lines over x: lower and upper ends at x = 0, and slopes.

    ``ahead`` has the limits after a step, where x has grown by ``span`` times u.
    """
    a = np.concatenate([here[0], ahead[0] + span * ahead[1]])
    b, lower, upper = (np.concatenate([here[k], ahead[k]]) for k in (1, 2, 3))
    inverse = 1 / np.where(np.abs(a) < flat, flat, a)
    one, other, slope = lower * inverse, upper * inverse, -b * inverse
    low, high = np.minimum(one, other), np.maximum(one, other)
    return [interval[0] / span, *low], [interval[1] / span, *high], [-1 / span, *slope]


def _tightest(ends: list[Any], slopes: list[Any], x: Any, side: int) -> tuple[Any, Any]:
    """Return end and slope of the lowest of upper lines at x (side 1), or of the highest of lower ones (side -1)."""
    lines = [(side * (end + slope * x), end, slope) for end, slope in zip(ends, slopes, strict=True)]
    while len(lines) > 1:
        pairs = zip(lines[::2], lines[1::2], strict=False)
        chosen = [[np.where(one[0] <= two[0], p, q) for p, q in zip(one, two, strict=True)] for one, two in pairs]
        lines = [*chosen, *lines[2 * len(chosen) :]]
    return lines[0][1], lines[0][2]


def _backward(robot: Any, here: Any, ahead: Any, span: Any, flat: Any, interval: Any, top: Any) -> Any:
    """Return the interval of x at a point from which a step leads into the next interval; reversed if there is none.

    The width of the interval of u is a concave function of x, made of straight pieces. Newton's method from the left
    and from the right finds its zeros exactly, in a few steps.
    """
    low, high, slopes = _lines(here, ahead, span, flat, interval)

    def closer(x: Any, inward: int, beyond: Any) -> Any:
        upper, rising = _tightest(high, slopes, x, 1)
        lower, falling = _tightest(low, slopes, x, -1)
        width, slope = upper - lower, rising - falling
        zero = np.where(slope * inward > 0, -width / np.where(slope == 0, 1, slope), beyond)
        inside = width + slope * x >= 0
        return np.where(inside, x, np.maximum(x, zero) if inward > 0 else np.minimum(x, zero))

    def body(values: Any) -> Any:
        left, right, _ = values
        first, last = closer(left, 1, 2 * top + 1), closer(right, -1, -1)
        return first, last, 1 * (((first == left) & (last == right)) | ~(first <= last))

    left, right, _ = repeat(body, (0 * top, top, 0 * top), 4 * len(slopes), until=lambda values: values[2] > 0)
    return np.stack([left, right])


def _forward(robot: Any, here: Any, ahead: Any, span: Any, flat: Any, interval: Any, x: Any) -> Any:
    """Return the largest x after a step."""
    _, high, slopes = _lines(here, ahead, span, flat, interval)
    end, slope = _tightest(high, slopes, x, 1)
    return np.clip(x + span * (end + slope * x), interval[0], interval[1])


def _cache(robot: Workspace) -> Cache[Any, Any]:
    return Cache()


# -- timing ------------------------------------------------------------------------------------------------------------


class _Timing:
    """The compiled functions of a robot, limits and values of inputs, (P, ...) or as they are for all paths."""

    def __init__(self, robot: Robot, limits: Limits, inputs: Mapping[str, Any], batch: tuple[int, ...]):
        model, n, names = robot.model, robot.nv, tuple(inputs)
        self.robot, self.limits, self.batch = robot, limits, batch
        self.friction = robot.derived(_friction)
        self.viscous = bool(self.friction[2:].any())
        self.numbers = {"velocity": limits.velocity, "torque": limits.torque}
        if np.isfinite(limits.acceleration).any():
            self.numbers["acceleration"] = limits.acceleration
        cache = robot.derived(_cache)
        key = names, self.viscous, "acceleration" in self.numbers
        if key not in cache:
            smooth = robot.with_model(changed_drives(model, Drive.without_friction))
            shapes: dict[str, Any] = {"slope": n, "bend": n, **dict.fromkeys((*self.numbers, "scale"), (2, n))}
            shapes |= {"friction": (4, n), "fastest": (), **({"before": ()} if self.viscous else {})}
            count = n * (1 + 2 * self.viscous + ("acceleration" in self.numbers))
            step: dict[str, Any] = {"here": (4, count), "ahead": (4, count), "span": (), "flat": (), "interval": 2}
            cache[key] = (
                smooth.function(_grid_limits, name="grid_limits", inputs=names, **shapes),
                robot.function(_backward, name="interval", **step, top=()),
                robot.function(_forward, name="following", **step, x=()),
                robot.compile("inverse_dynamics", inputs=names),
            )
        self.grid_limits, self.backward, self.forward, self.inverse_dynamics = cache[key]
        largest = np.abs([limits.torque, limits.acceleration]).max(axis=1)
        self.numbers["scale"] = 1 / np.where(np.isfinite(largest), largest, 1.0)
        self.inputs = self._inputs(inputs)
        self.rows = self.backward.program.inputs[0].shape[1]

    def _inputs(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """Return values of inputs by port, with one axis of paths."""
        values = {}
        ports = [port for port in self.inverse_dynamics.program.inputs if port.name not in ("q", "v", "a")]
        for port, (name, value) in zip(ports, inputs.items(), strict=True):
            shape = self.inverse_dynamics.label.nominal[port.name].array(port).shape
            expected = f"{shape}, or one for each path {(*self.batch, *shape)}"
            array = _numbers(value, f"inputs, {name}", expected)
            try:
                array = np.broadcast_to(array, (*self.batch, *shape)).reshape(prod(self.batch), *shape)
            except ValueError as error:
                raise ShapeError("wrong shape", where=f"inputs, {name}", got=array.shape, expected=expected) from error
            values[port.name] = array
        return values

    def squared_rates(self, splines: Splines, grid: Array, ends: Array, part: slice) -> tuple[Array, dict[int, str]]:
        """Return x at the points of the grid (G, P), and why paths have no motion, of the paths of a part."""
        q, slope, bend = (np.ascontiguousarray(each.swapaxes(0, 1)) for each in splines(grid))
        fastest = FASTEST / (grid[:, -1] - grid[:, 0]) ** 2
        known = {**self.numbers, **{name: value[part] for name, value in self.inputs.items()}}

        def passes(friction: Array, **before: Any) -> tuple[Array, dict[int, str]]:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # paths without a motion
                rows, top = self.grid_limits(
                    q=q, slope=slope, bend=bend, friction=friction, fastest=fastest, **known, **before
                )
                return self._passes(grid, rows, top, ends**2)

        if not self.viscous:
            return passes(self.friction)
        x, _ = passes(self.friction * [[1], [1], [0], [0]], before=1.0)
        problems: dict[int, str] = {}
        for share in (1e-3, *[1.0] * ROUNDS):
            least = np.maximum(1e-6 * x.max(axis=0), fastest / FASTEST * 1e-6)  # where the root has a finite tangent
            x, problems = passes(self.friction, before=np.maximum(share * x, least))
        return x, problems

    def _passes(self, grid: Array, rows: Array, top: Array, ends: Array) -> tuple[Array, dict[int, str]]:
        """Go backward and forward over the grid."""
        spans = 2 * np.diff(grid, axis=1).T
        flat = FLAT * np.abs(rows[:, :, 0]).max(axis=(0, 2))
        last, problems = len(top) - 1, {}

        def report(paths: Array, i: int, why: Any) -> None:
            for k in map(int, np.flatnonzero(paths)):
                if k not in problems:
                    text = why if isinstance(why, str) else why(k)
                    problems[k] = f"at s = {grid[k % len(grid), i]:.6g}, {text}"

        report(~np.isfinite(rows[:, :, :2].sum(axis=(0, 2, 3))), 0, "the forces are too large for numbers")
        intervals = np.empty((*top.shape, 2))
        intervals[-1] = ends[:, 1:]
        report(ends[:, 1] > top[-1], last, "the speed at the end exceeds a limit of velocity")
        for i in reversed(range(last)):
            step = rows[i], rows[i + 1], spans[i], flat, intervals[i + 1]
            intervals[i] = self.backward(*step, top[i])
            left, right = intervals[i].T
            if not (left <= right).all():
                rounded = (left > right) & (left <= right * (1 + 1e-9))
                left[rounded] = right[rounded]
                empty = ~(left <= right)
                report(empty, i, lambda k, i=i, step=step: self._conflict(k, step, top[i]))
                left[empty], right[empty] = 0.0, top[i, empty]
        x = np.empty(top.shape)
        low, high = intervals[0].T
        report(ends[:, 0] > high * (1 + 1e-9), 0, "the speed at the start is too large")
        report(ends[:, 0] < low * (1 - 1e-9), 0, "the speed at the start is too small")
        x[0] = np.clip(ends[:, 0], low, high)
        for i in range(last):
            x[i + 1] = self.forward(rows[i], rows[i + 1], spans[i], flat, intervals[i + 1], x[i])
        stopped = (x[:-1] == 0) & (x[1:] == 0)
        for i in np.flatnonzero(stopped.any(axis=1)):
            report(stopped[i], int(i), "the limits allow no motion")
        return x, problems

    def _conflict(self, k: int, step: tuple[Array, ...], top: Array) -> str:
        """Return which limits leave no motion at a point of path k: those that are nearest to it together."""
        here, ahead, span, flat, interval = (each[k % len(each)] for each in step)
        low, high, slopes = (np.array(each) for each in _lines(here, ahead, span, flat, interval))
        least, most = 0.0, top[k]
        for _ in range(200):  # the width of the interval of u is concave: bisection by its slope
            x = (least + most) / 2
            upper, lower = int((high + slopes * x).argmin()), int((low + slopes * x).argmax())
            if slopes[upper] == slopes[lower]:
                break
            least, most = (x, most) if slopes[upper] > slopes[lower] else (least, x)
        return "no motion is within the limits of " + " and ".join(dict.fromkeys(map(self._row_name, (upper, lower))))

    def _row_name(self, line: int) -> str:
        names = self.robot.coordinates.velocity_names
        if line == 0:
            return "the speeds further on"
        row, torques = (line - 1) % self.rows, self.rows - len(names) * ("acceleration" in self.numbers)
        return f"{'torque' if row < torques else 'acceleration'} of {names[row % len(names)]}"
