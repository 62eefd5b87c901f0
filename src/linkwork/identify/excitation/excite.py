"""excite: a motion from which the parameters of a robot can be told best, within its limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compose import compile
from ...control import Reference, Sampled
from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...options import ExciteOptions, one_of_names, takes_options
from ...progress import Progress
from .augmented_lagrangian import OBJECTIVES, Problem, descend
from .excitation import Excitation, Margin
from .fourier_from_rest import FourierFromRest, Grid
from .motion_limits import Rows, limits_of_dependents, limits_of_series, limits_of_torques
from .motion_path import Path
from .workspace_limits import room_of_frames, room_of_loops

if TYPE_CHECKING:
    from ...robot import Robot

DENSITY = 20  # times of a period per harmonic at which limits are watched and the regressor is taken
FINER = 10  # as many times more of them are looked at in the end
RESERVE = 1e-3  # of what is allowed, kept for what lies between these times
INSET = 5e-3  # of what is allowed, which the search keeps for what lies between its own times
RANDOM = 20  # random motions to compare with
DRAWS = 25  # as many times more are drawn, if limits refuse where they are
SPREADS = (0.5, 0.8, 0.2, 0.05)  # of the range of positions, from which the middle of a random motion is drawn
ROUNDS, STEPS = 7, 60  # of the augmented Lagrangian, and of descent in each


@takes_options
def excite(robot: Robot, **options: Any) -> Excitation:
    """Find a motion within limits that excites the base parameters of a robot, and return an Excitation.

    Each joint follows a finite Fourier series (Swevers), which begins and ends at rest by polynomials of degree five.
    Columns of the regressor are those of ``regressor(..., "minimal", drives)``, each scaled by its root mean square
    over random motions within the same limits. Robots with loops move by their motors, if these determine all joints,
    else by their independent joints, and stay away from singular positions. Collisions of links are not checked.

    Args:
        robot: The robot, as it is thought to be.
    """
    asked = ExciteOptions.from_arguments("excite", options)
    objective = one_of_names("objective", asked.objective, OBJECTIVES, where="excite")
    period, harmonics, ramp = asked.period, asked.harmonics, float(asked.ramp or 0.0)
    smooth = robot.with_model(replace(robot.model, friction_width=robot.model.friction_width or asked.friction_width))
    path, notes = Path(smooth), []
    held = _held(path, asked.still)
    rows = limits_of_series(path, asked, held, notes)
    room = room_of_frames(path, asked.frames, asked.height, asked.box)
    others = [*limits_of_dependents(path, asked.share), *room, *room_of_loops(path)]
    smooth_rows = [*rows, *others, *limits_of_torques(smooth, asked, notes)]
    exact_rows = [*rows, *others, *limits_of_torques(robot, asked, [])]  # with friction as it jumps

    moving = np.array([name not in held for name in path.names])
    orders = np.arange(1, harmonics + 1)
    unit = np.outer(rows[0].scale, np.concatenate([[1.0], 1 / orders, 1 / orders]))
    rest = np.zeros_like(unit)
    rest[~moving, 0] = [held[name] for name in path.names if name in held]
    regressor = compile(smooth.model, "regressor", parameters="minimal", drives=asked.drives)
    count = max(DENSITY * harmonics, 3 * DENSITY)
    problem = Problem(path, smooth_rows, regressor, Grid.of(harmonics, period, ramp, count), moving, unit, rest)
    checked = _Checked(problem, exact_rows, Grid.of(harmonics, period, ramp, FINER * count))

    rng = np.random.default_rng(asked.seed)
    drawn = _random_motions(checked, rng)
    idle = problem.scaled_by(drawn)
    figures = np.array([problem.figures(each) for each in drawn])
    reached = []
    with Progress(asked.progress, min(asked.starts, len(drawn)) * ROUNDS * STEPS) as shown:
        for k in np.argsort([_merit(each, objective) for each in figures])[: asked.starts]:
            z = problem.unknowns(drawn[k])
            ways = descend(problem, z, OBJECTIVES[objective], (ROUNDS, STEPS), INSET, shown.advance)
            ends = [(tuple(figures[k]), drawn[k])]
            ends += [(problem.figures(end), end) for end in map(checked.largest, ways) if end is not None]
            reached.append(min(ends, key=lambda end: _merit(end[0], objective)))
    (condition, determinant), coefficients = min(reached, key=lambda end: _merit(end[0], objective))
    names = robot.parameter_names("minimal", asked.drives)
    if idle:
        notes.append(f"{idle} of {len(names)} parameters, or combinations of them, act in no motion of these joints")
    if not condition < 1e8:
        notes.append("not all parameters are excited: more harmonics, or more joints that move, may help")
    offset, sines, cosines = np.split(coefficients, [1, 1 + harmonics], axis=1)
    motion = FourierFromRest(offset[:, 0], sines, cosines, 1 / period, ramp, int(asked.periods))
    return Excitation(
        robot=robot,
        joints=path.names,
        motion=motion,
        reference=_reference(path, motion, asked.rate),
        objective=objective,
        rate=float(asked.rate),
        condition=float(condition),
        log_determinant=float(determinant),
        parameters=names,
        scaling=problem.columns,
        random=_summary(figures),
        starts=tuple({"condition": float(c), "log_determinant": float(d)} for (c, d), _ in reached),
        margins=checked.margins(coefficients),
        notes=tuple(notes),
        path=path,
    )


def _merit(figures: Sequence[float], objective: str) -> float:
    return figures[0] if objective == "condition" else -figures[1]


def _summary(figures: np.ndarray) -> dict[str, Any]:
    conditions, determinants = figures.T
    return {
        "count": len(figures),
        "condition": {"best": float(conditions.min()), "median": float(np.median(conditions))},
        "log_determinant": {"best": float(determinants.max()), "median": float(np.median(determinants))},
    }


# -- within limits -------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Checked:
    """Motions as they will be judged: by friction as it is, at many times."""

    problem: Problem
    rows: list[Rows]
    grid: Grid

    def excess(self, coefficients: np.ndarray, grid: Grid) -> np.ndarray | None:
        """How far each row is beyond its limits at most, relative to what is allowed; none where loops are open."""
        moved = self.problem.at(coefficients, grid)
        if moved is None:
            return None
        found = []
        for row in self.rows:
            values = row.values(moved)
            found.append(np.maximum(values.max(axis=0) - row.upper, row.lower - values.min(axis=0)) / row.scale)
        return np.concatenate(found)

    def within(self, coefficients: np.ndarray) -> bool:
        for grid in (self.problem.grid, self.grid):  # most motions that leave their limits do so at few times, too
            excess = self.excess(coefficients, grid)
            if excess is None or not (excess <= -RESERVE).all():
                return False
        return True

    def largest(self, coefficients: np.ndarray) -> np.ndarray | None:
        """The motion, made smaller about its middle as far as limits ask for it; none if that does not help."""
        middle = coefficients.copy()
        middle[:, 1:] = 0.0
        low, high = 0.0, 1.0
        if self.within(coefficients):
            return coefficients
        if not self.within(middle):
            return None
        while high - low > 2e-3 * high and high > 1e-3:
            trial = (low + high) / 2
            low, high = (trial, high) if self.within(middle + trial * (coefficients - middle)) else (low, trial)
        return middle + low * (coefficients - middle) if low else None

    def margins(self, coefficients: np.ndarray) -> tuple[Margin, ...]:
        moved = self.problem.at(coefficients, self.grid)
        assert moved is not None  # it was checked
        found = []
        for row in self.rows:
            values = row.values(moved)
            ends = zip(row.lower, row.upper, values.min(axis=0), values.max(axis=0), strict=True)
            for name, unit, four in zip(row.names, row.units, ends, strict=True):
                found.append(Margin(row.quantity, name, unit, *map(float, four)))
        return tuple(found)


def _random_motions(checked: _Checked, rng: np.random.Generator) -> list[np.ndarray]:
    """Random coefficients, harmonics of equal velocity, as large as the limits allow."""
    problem = checked.problem
    positions = problem.rows[0]
    path, moving, half = problem.path, problem.moving, positions.scale
    centre = positions.lower / 2 + positions.upper / 2
    if path.model.constrained:
        centre = np.clip(path.middle, positions.lower, positions.upper)
    found: list[np.ndarray] = []
    least: tuple[float, str] = (math.inf, "the loops cannot be closed")
    for k in range(DRAWS * RANDOM):
        coefficients = problem.still.copy()
        coefficients[moving] = (problem.unit * rng.normal(size=problem.unit.shape))[moving]
        offset = centre + SPREADS[k % len(SPREADS)] * half * rng.uniform(-1, 1, len(half))
        coefficients[moving, 0] = np.clip(offset, positions.lower, positions.upper)[moving]
        motion = checked.largest(coefficients)
        if motion is not None:
            found.append(motion)
            if len(found) == RANDOM:
                break
            continue
        resting = np.where(np.arange(coefficients.shape[1]) == 0, coefficients, 0.0)
        excess = checked.excess(resting, problem.grid)
        if excess is not None and float(excess.max()) < least[0]:
            labels = [f"{row.quantity} of {name}" for row in checked.rows for name in row.names]
            least = float(excess.max()), f"{labels[int(excess.argmax())]} is beyond its limit even at rest"
    if not found:
        raise LinkworkError(
            "no motion within the limits was found",
            where=f"robot {path.robot.name!r}",
            got=f"{DRAWS * RANDOM} random middles; at the best of them {least[1]}",
            fix="loosen the limits, or keep fewer frames clear",
        )
    return found


# -- what is asked for ---------------------------------------------------------------------------------------------


def _held(path: Path, still: Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    """Where the joints are that stay still: at home, or as near to zero as their limits allow."""
    names = (still,) if isinstance(still, str) else tuple(still)
    for name in names:
        if name not in path.names:
            raise UnknownNameError("joint", str(name), path.names, where="still")
    if len({*names}) == len(path.names):
        raise LinkworkError("no joint is left to move", where="still", got=", ".join(names))
    found = {}
    for name in names:
        k = path.names.index(name)
        place = path.places[k]
        low, high = path.model.coordinates.lower[place], path.model.coordinates.upper[place]
        given = still[name] if isinstance(still, Mapping) else float(np.clip(path.middle[k], low, high))
        if not (isinstance(given, (int, float, np.number)) and low <= given <= high):
            expected = f"a number from {low:g} to {high:g}"
            raise ShapeError("a joint cannot stay there", where=f"still, {name!r}", got=repr(given), expected=expected)
        found[name] = float(given)
    return found


def _reference(path: Path, motion: FourierFromRest, rate: float) -> Reference:
    """Of the motors, as controllers want it: the motion itself, or a table where there are more of them than it has."""
    motors = path.model.mobility.motors
    if motors == path.freedoms:
        return motion
    times = np.linspace(0.0, motion.duration, round(motion.duration * max(rate, 100.0)) + 1)
    moved = path.at(*motion(times))
    assert moved is not None
    rates = path.robot.joint_velocities(moved.q, moved.v)[:, list(motors)]
    changes = path.robot.joint_accelerations(moved.q, moved.v, moved.a)[:, list(motors)]
    return Sampled(times, moved.q[:, path.model.motor_places()], rates, changes)
