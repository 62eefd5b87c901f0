"""excite: the search for a motion within limits that identifies the parameters of a robot best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compose import compile
from ...control import Reference, Sampled
from ...errors import LinkworkError, ShapeError, UnknownNameError, option_at_door
from ...notes import Note
from ...options import ExciteOptions, one_of_names, takes_options
from ...progress import Progress
from .augmented_lagrangian import OBJECTIVES, Problem, descend
from .excitation import Excitation, Margin
from .fourier_from_rest import FourierFromRest, Grid
from .motion_limits import Rows, limits_of_dependents, limits_of_series, limits_of_torques
from .motion_path import Path
from .workspace_limits import limits_of_frames, limits_of_loops

if TYPE_CHECKING:
    from ...robot import Robot

DENSITY = 20  # times per harmonic and period at which limits are checked and the regressor is computed
FINER = 10  # factor by which the final check has more times
RESERVE = 1e-3  # of the allowed range, kept for what lies between these times
INSET = 5e-3  # of the allowed range, kept by the search for what lies between its own times
RANDOM = 20  # random motions to compare with
DRAWS = 25  # at most this many times as many motions are drawn, if most violate limits
SPREADS = (0.5, 0.8, 0.2, 0.05)  # shares of the range of positions in which the middle of a random motion lies
ROUNDS, STEPS = 7, 60  # rounds of the augmented Lagrangian, and steps of descent in each


@takes_options
def excite(robot: Robot, **options: Any) -> Excitation:
    """Search for a motion within limits that excites the base parameters of a robot.

    Each joint follows a finite Fourier series (Swevers), which begins and ends at rest by polynomials of degree five.
    Columns of the regressor are those of ``regressor(..., "minimal", drives)``, each scaled by its root mean square
    over random motions within the same limits. Robots with loops move by their motors, if these determine all joints,
    else by their independent joints, and stay away from singular positions. Collisions of links are not checked.

    Args:
        robot: The robot, with approximate parameters.

    Returns:
        The motion with its figures of merit and margins.

    Raises:
        LinkworkError: If no motion stays within the limits.
        UnsupportedError: If the base floats, joints have no motors, or the robot rolls on wheels.

    Example:
        >>> motion = linkwork.identify.excite(linkwork.load("planar2r"), starts=1, harmonics=2, period=2)
        >>> motion.q.shape
        (281, 2)
    """
    settings = ExciteOptions.from_arguments("excite", options)
    objective = one_of_names("objective", settings.objective, OBJECTIVES, where="excite")
    period, harmonics, ramp = settings.period, settings.harmonics, float(settings.ramp or 0.0)
    smooth = robot.with_model(
        replace(robot.model, friction_width=robot.model.friction_width or settings.friction_width)
    )
    path, notes = Path(smooth), []
    positions_held = _held_positions(path, settings.still)
    rows = limits_of_series(path, settings, positions_held, notes)
    derived = [
        *limits_of_dependents(path, settings.share),
        *limits_of_frames(path, settings.frames, settings.height, settings.box),
        *limits_of_loops(path),
    ]
    smooth_rows = [*rows, *derived, *limits_of_torques(smooth, settings, notes)]
    exact_rows = [*rows, *derived, *limits_of_torques(robot, settings, [])]  # with friction as it jumps

    moving = np.array([name not in positions_held for name in path.names])
    orders = np.arange(1, harmonics + 1)
    unit = np.outer(rows[0].scale, np.concatenate([[1.0], 1 / orders, 1 / orders]))
    rest = np.zeros_like(unit)
    rest[~moving, 0] = [positions_held[name] for name in path.names if name in positions_held]
    regressor = compile(smooth.model, "regressor", parameters="minimal", drives=settings.drives)
    count = max(DENSITY * harmonics, 3 * DENSITY)
    problem = Problem(path, smooth_rows, regressor, Grid.of(harmonics, period, ramp, count), moving, unit, rest)
    exact_problem = _Checked(problem, exact_rows, Grid.of(harmonics, period, ramp, FINER * count))

    rng = np.random.default_rng(settings.seed)
    random_motions = _random_motions(exact_problem, rng)
    idle = problem.scaled_by(random_motions)
    figures = np.array([problem.figures(each) for each in random_motions])
    objectives = []
    with Progress(settings.progress, min(settings.starts, len(random_motions)) * ROUNDS * STEPS) as progress:
        for k in np.argsort([_merit(each, objective) for each in figures])[: settings.starts]:
            z = problem.unknowns(random_motions[k])
            ways = descend(problem, z, OBJECTIVES[objective], (ROUNDS, STEPS), INSET, progress.advance)
            ends = [(tuple(figures[k]), random_motions[k])]
            ends += [(problem.figures(end), end) for end in map(exact_problem.largest, ways) if end is not None]
            objectives.append(min(ends, key=lambda end: _merit(end[0], objective)))
    (condition, determinant), coefficients = min(objectives, key=lambda end: _merit(end[0], objective))
    names = robot.parameter_names("minimal", settings.drives)
    if idle:
        text = f"{idle} of {len(names)} parameters, or combinations of them, act in no motion of these joints"
        notes.append(Note("inactive-parameters", text, values={"count": idle}))
    if not condition < 1e8:
        text, fix = "not all parameters are excited:", "more harmonics, or more joints that move, may help"
        notes.append(Note("not-excited", text, fix, values={"condition": float(condition)}))
    offset, sines, cosines = np.split(coefficients, [1, 1 + harmonics], axis=1)
    motion = FourierFromRest(offset[:, 0], sines, cosines, 1 / period, ramp, int(settings.periods))
    return Excitation(
        robot=robot,
        joints=path.names,
        motion=motion,
        reference=_reference(path, motion, settings.rate),
        objective=objective,
        rate=float(settings.rate),
        condition=float(condition),
        log_determinant=float(determinant),
        parameters=names,
        scaling=problem.columns,
        random=_summary(figures),
        starts=tuple({"condition": float(c), "log_determinant": float(d)} for (c, d), _ in objectives),
        margins=exact_problem.margins(coefficients),
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
    """Motions as they are judged in the end: with friction as it is, at many times."""

    problem: Problem
    rows: list[Rows]
    grid: Grid

    def excess(self, coefficients: np.ndarray, grid: Grid) -> np.ndarray | None:
        """Return how far each row is beyond its limits at most, relative to the allowed range; None with open loops."""
        robot_motion = self.problem.at(coefficients, grid)
        if robot_motion is None:
            return None
        excess = []
        for row in self.rows:
            values = row.values(robot_motion)
            excess.append(np.maximum(values.max(axis=0) - row.upper, row.lower - values.min(axis=0)) / row.scale)
        return np.concatenate(excess)

    def within(self, coefficients: np.ndarray) -> bool:
        for grid in (self.problem.grid, self.grid):  # the coarse grid rejects most motions
            excess = self.excess(coefficients, grid)
            if excess is None or not (excess <= -RESERVE).all():
                return False
        return True

    def largest(self, coefficients: np.ndarray) -> np.ndarray | None:
        """Return the motion, scaled down about its middle as far as limits require; None if that does not help."""
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
        robot_motion = self.problem.at(coefficients, self.grid)
        assert robot_motion is not None  # ``within`` has checked it
        margins = []
        for row in self.rows:
            values = row.values(robot_motion)
            ends = zip(row.lower, row.upper, values.min(axis=0), values.max(axis=0), strict=True)
            for name, unit, four in zip(row.names, row.units, ends, strict=True):
                margins.append(Margin(row.quantity, name, unit, *map(float, four)))
        return tuple(margins)


def _random_motions(exact_problem: _Checked, rng: np.random.Generator) -> list[np.ndarray]:
    """Return random motions with harmonics of equal velocity, as large as the limits allow."""
    problem = exact_problem.problem
    positions = problem.rows[0]
    path, moving, half = problem.path, problem.moving, positions.scale
    centre = positions.lower / 2 + positions.upper / 2
    if path.model.constrained:
        centre = np.clip(path.middle, positions.lower, positions.upper)
    motions: list[np.ndarray] = []
    least: tuple[float, str] = (math.inf, "the loops cannot be closed")
    for k in range(DRAWS * RANDOM):
        coefficients = problem.still.copy()
        coefficients[moving] = (problem.unit * rng.normal(size=problem.unit.shape))[moving]
        offset = centre + SPREADS[k % len(SPREADS)] * half * rng.uniform(-1, 1, len(half))
        coefficients[moving, 0] = np.clip(offset, positions.lower, positions.upper)[moving]
        motion = exact_problem.largest(coefficients)
        if motion is not None:
            motions.append(motion)
            if len(motions) == RANDOM:
                break
            continue
        resting = np.where(np.arange(coefficients.shape[1]) == 0, coefficients, 0.0)
        excess = exact_problem.excess(resting, problem.grid)
        if excess is not None and float(excess.max()) < least[0]:
            labels = [f"{row.quantity} of {name}" for row in exact_problem.rows for name in row.names]
            least = float(excess.max()), f"{labels[int(excess.argmax())]} is beyond its limit even at rest"
    if not motions:
        raise LinkworkError(
            "no motion within the limits was found",
            where=f"robot {path.robot.name!r}",
            got=f"{DRAWS * RANDOM} random middles; at the best of them {least[1]}",
            fix="loosen the limits, or keep fewer frames clear",
        )
    return motions


# -- joints and motors ---------------------------------------------------------------------------------------------


def _held_positions(path: Path, still: Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    """Return positions of the joints that stay still: at home, or as near to zero as their limits allow."""
    names = (still,) if isinstance(still, str) else tuple(still)
    for name in names:
        if name not in path.names:
            raise UnknownNameError("joint", str(name), path.names, where=option_at_door("still"))
    if len({*names}) == len(path.names):
        raise LinkworkError(
            "no joint is left to move", where=option_at_door("still"), got=", ".join(names), fix="name fewer"
        )
    positions = {}
    for name in names:
        k = path.names.index(name)
        place = path.places[k]
        low, high = path.model.coordinates.lower[place], path.model.coordinates.upper[place]
        position = still[name] if isinstance(still, Mapping) else float(np.clip(path.middle[k], low, high))
        if not (isinstance(position, (int, float, np.number)) and low <= position <= high):
            expected = f"a number from {low:g} to {high:g}"
            raise ShapeError(
                "a joint cannot stay there",
                where=f"{option_at_door('still')}, {name!r}",
                got=repr(position),
                expected=expected,
            )
        positions[name] = float(position)
    return positions


def _reference(path: Path, motion: FourierFromRest, rate: float) -> Reference:
    """Return the motion of the motors for controllers: a table if there are more motors than series."""
    motors = path.model.mobility.motors
    if motors == path.freedoms:
        return motion
    times = np.linspace(0.0, motion.duration, round(motion.duration * max(rate, 100.0)) + 1)
    robot_motion = path.at(*motion(times))
    assert robot_motion is not None
    rates = path.robot.joint_velocities(robot_motion.q, robot_motion.v)[:, list(motors)]
    changes = path.robot.joint_accelerations(robot_motion.q, robot_motion.v, robot_motion.a)[:, list(motors)]
    return Sampled(times, robot_motion.q[:, path.model.motor_places()], rates, changes)
