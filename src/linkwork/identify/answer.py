"""From what was found to a Fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..model import Model, describe, unphysical
from ..model.flexible.checks import LESS, less_than_beams
from .convex.inertia_cone import TEN
from .fit import Fit, Values
from .logs.log import Log
from .logs.signals import fastest_of
from .output_error.simulation_fit import SimulationFit
from .regression.friction_at_rest import Squares
from .regression.friction_smoothing import widened
from .regression.least_squares import Solution
from .regression.noise_floor import Unexcited, noise_triangles, unexcited
from .regression.stacked_regressor import HELD, Information, collect, relative
from .regression.unknowns import Unknowns

if TYPE_CHECKING:
    from ..robot import Robot

ROUNDED = 1e-9  # of the largest entry of a direction that data do not tell: less is rounding


@dataclass(frozen=True, eq=False)
class Data:
    unknowns: Unknowns
    given: list[Log]
    logs: list[Log]  # in the robot's order
    information: Information
    held: Information | None

    @cached_property
    def noise(self) -> np.ndarray | None:
        """What noise of the recordings makes of the regressor."""
        return noise_triangles(self.unknowns, self.logs)

    @cached_property
    def excited(self) -> Information:
        """The equations without what they show no more of than their noise would."""
        return self.without_noise(self.unknowns.base_prior)

    @cached_property
    def fastest(self) -> np.ndarray:
        """The largest measured velocities."""
        rates = [fastest_of(log.v) for log in self.logs]
        return np.max(rates or [np.full(self.unknowns.robot.nv, np.inf)], axis=0)

    def without_noise(self, prior: np.ndarray) -> Information:
        return self.unexcited.cleaned(self.information, prior)

    @cached_property
    def unexcited(self) -> Unexcited:
        wide = widened(self.unknowns, self.logs)
        if wide is self.unknowns:
            return unexcited(self.information, self.noise)
        return unexcited(collect(wide, self.logs), noise_triangles(wide, self.logs))


@dataclass(frozen=True, eq=False)
class Found:
    """``spread``: covariance of the standard parameters."""

    solution: Solution
    theta: np.ndarray
    spread: np.ndarray
    gamma: float | None = None
    pull: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    simulation: SimulationFit | None = None
    doubts: tuple[str, ...] = ()

    def robot(self, unknowns: Unknowns) -> Robot:
        return unknowns.changed(dict(zip(unknowns.standard, self.theta.tolist(), strict=True)))


def fit_of(
    data: Data,
    found: Found,
    robot: Robot,
    method: str,
    squares: Squares | None,
    unseen: Sequence[str],
    notes: Sequence[str],
    doubts: Sequence[str],
) -> Fit:
    """``squares``: of moving and standing samples."""
    unknowns, information, solution = data.unknowns, data.information, found.solution
    errors = {"fitted": information.error(solution.x)} if information.count.any() else {}
    if data.held is not None:
        errors["held out"] = data.held.error(solution.x)
    elif solution.refit is not None:
        left = sum(information.only(folds).squares(solution.refit(folds)) for folds in HELD)
        errors["held out"] = relative(np.asarray(left), information.power.sum(axis=0))
    errors |= squares.errors() if squares else {}
    sizes = np.abs(solution.unseen)
    hidden = np.any(sizes > ROUNDED * sizes.max(axis=0, initial=0.0), axis=1)
    base = Values(
        unknowns.names, solution.x, solution.deviations, unknowns.base_prior,
        tuple("untold" if each else "alone" for each in hidden),
    )  # fmt: skip
    told = _told(unknowns.matrix, hidden)
    deviations = np.sqrt(np.maximum(np.diag(found.spread), 0.0))
    for k in (k for k, word in enumerate(told) if word == "alone"):
        row = int(np.flatnonzero(unknowns.matrix[:, k])[0])
        deviations[k] = solution.deviations[row] / abs(unknowns.matrix[row, k])
    standard = Values(unknowns.standard, found.theta, deviations, unknowns.prior, tuple(told))
    return Fit(
        robot=robot,
        method=method,
        base=base,
        standard=standard,
        forces=unknowns.forces,
        errors=errors,
        sigma=solution.sigma,
        covariance=solution.covariance,
        condition=solution.condition,
        unseen=tuple(unseen),
        physical=_physical(unknowns, found.theta, robot.model),
        fastest=data.fastest,
        unknowns=unknowns,
        logs=tuple(data.given),
        gamma=found.gamma,
        pull=found.pull or {},
        notes=tuple(notes),
        doubts=tuple(doubts),
        simulation=found.simulation,
    )


def _told(K: np.ndarray, hidden: np.ndarray) -> list[str]:
    """Of each standard parameter: by itself, with others only, or not at all."""
    words = []
    for column in K.T:
        rows = np.flatnonzero(column)
        alone = len(rows) == 1 and np.count_nonzero(K[rows[0]]) == 1
        seen = len(rows) and not hidden[rows].all()
        words.append("untold" if not seen else "alone" if alone else "grouped")
    return words


def _physical(unknowns: Unknowns, theta: np.ndarray, fitted: Model) -> dict[str, str]:
    less = dict.fromkeys(less_than_beams(describe(fitted)), LESS)
    return {name: unphysical(theta[at : at + TEN]) or less.get(name, "") for name, at in unknowns.bodies}
