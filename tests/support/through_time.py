"""Gradients of rollouts beside differences of sixth order of rollouts, which know nothing of them.

What a run is given is a dict of ``Robot.rollout``'s arguments, in which every number may be moved: q0 along
``coordinates.integrate`` or, where loops are closed, along mechanisms assembled again; all else in straight lines.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import linkwork
from linkwork import Trajectory
from linkwork.control import Point
from linkwork.sim.derivatives.gradient import Gradient

OFFSETS = {3: 1 / 60, 2: -9 / 60, 1: 45 / 60, -1: -45 / 60, -2: 9 / 60, -3: -1 / 60}
STEP = 2e-3  # beside the largest number of what is moved; its sixth power is beyond rounding
TOLERANCE = 1e-8  # beside the largest entry: what differences are worth where forces bend sharply

Path = tuple[str, ...]


def independent(own: linkwork.Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Positions of the independent joints after a step of their velocities."""
    whole = np.zeros((*step.shape[:-1], own.model.coordinates.nv))
    whole[..., list(own.model.mobility.independent)] = step
    joints = own.coordinates.of_freedoms(own.model.mobility.independent).joints
    return own.coordinates.integrate(q, whole)[..., own.coordinates.places(joints)]


def integrated(robot: linkwork.Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q after a step of the independent velocities."""
    if robot.model.permanent:
        return robot.assemble(independent(robot, q, step), q, tolerance=1e-14).q
    return robot.coordinates.integrate(q, step)


def leaves(given: Any, path: Path = ()) -> Iterator[tuple[Path, np.ndarray]]:
    """All arrays that a run is given, and the names that lead to them, the same in a Gradient."""
    if isinstance(given, Point):
        given = given._asdict()
    if not isinstance(given, Mapping):
        yield path, np.asarray(given, float)
        return
    for name, value in given.items():
        yield from leaves(value, (*path, name))


def replaced(given: Any, path: Path, value: np.ndarray) -> Any:
    if not path:
        return value
    if isinstance(given, Point):
        return given._replace(**{path[0]: replaced(getattr(given, path[0]), path[1:], value)})
    return {**given, path[0]: replaced(given[path[0]], path[1:], value)}


def part(gradient: Gradient | Any, path: Path) -> np.ndarray:
    for name in path:
        gradient = gradient[name] if isinstance(gradient, Mapping) else getattr(gradient, name)
    return np.asarray(gradient)


def random_weights(motion: Trajectory, seed: int = 0) -> dict[str, np.ndarray]:
    """Of all that was recorded at all times."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=motion[name].shape) for name in motion if name != "t"}


class Differences:
    """Of a sum of records times ``weights``, along one random direction for each array that a run is given."""

    def __init__(self, robot: linkwork.Robot, given: Mapping[str, Any], weights: Mapping[str, Any], **options: Any):
        rng = np.random.default_rng(1)
        self.weights, self.directions, self.slopes = weights, {}, {}
        for path, value in leaves(given):
            shape = value.shape if path != ("q0",) else (*value.shape[:-1], robot.nv)
            self.directions[path] = direction = rng.normal(size=shape)
            h = STEP * (np.abs(value).max() or 1.0)
            slope = 0.0
            for offset, share in OFFSETS.items():
                step = offset * h * direction
                moved = integrated(robot, value, step) if path == ("q0",) else value + step
                motion = robot.rollout(**replaced(given, path, moved), **options)
                slope += share / h * sum((weights[name] * motion[name]).sum() for name in weights)
            self.slopes[path] = slope

    def check(self, gradient: Gradient, zero: tuple[Path, ...] = ()) -> None:
        """``zero``: of what makes no difference."""
        for path, slope in self.slopes.items():
            own, direction = part(gradient, path), self.directions[path]
            assert own.shape == direction.shape, path
            largest = np.abs(own).max()
            assert (largest == 0) == (path in zero), path
            off = abs((own * direction).sum() - slope) / (largest or 1.0)
            assert off < TOLERANCE, f"{'.'.join(path)}: {off:.1e} off, largest entry {largest:.3g}"
