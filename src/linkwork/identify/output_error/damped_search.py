"""Levenberg-Marquardt steps of a fit by simulation, inside of what is physical.

A step treats the data as a quadratic form and the entropic prior exactly:

  (1)  minimise  g d + d H d / 2 + damping |F d|^2 / 2 + gamma D(z + d)    with z + d not below its least

Unknowns are taken along the eigenvectors of H in the metric F^T F, d = W y, so that the rounding of well identified
directions does not hide those that are hardly identified:

  (2)  minimise  c y + sum (l + damping) y^2 / 2 + gamma D(z + W y)

These are least squares over physical bodies. They cost little compared with a simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...control import Law
from ...errors import LinkworkError, at_door
from ..convex.newton import minimum
from ..regression.unknowns import TEN
from .rollout_error import OutputError, Residuals, Starts
from .search_variables import Searched

UNSEEN = 1e-14  # eigenvalues below this share of the largest, times their number, are rounding


@dataclass(frozen=True, eq=False)
class Directions:
    """Eigenvectors of normal equations in a metric: d = ``ways`` y, y = ``back`` d.

    ``seen`` is l of (2), zero for directions without information; ``slope`` is c.
    """

    ways: np.ndarray
    back: np.ndarray
    seen: np.ndarray
    slope: np.ndarray

    @staticmethod
    def of(H: np.ndarray, g: np.ndarray, F: np.ndarray) -> Directions:
        inside = np.linalg.solve(F.T, np.linalg.solve(F.T, H).T)
        values, V = np.linalg.eigh(0.5 * (inside + inside.T))
        nonzero = values > UNSEEN * len(values) * values[-1]
        ways = np.linalg.solve(F, V)
        return Directions(ways, V.T @ F, np.where(nonzero, values, 0.0), np.where(nonzero, ways.T @ g, 0.0))

    def gain(self, d: np.ndarray) -> float:
        """Return by how much less the quadratic form is at d."""
        y = self.back @ d
        return -float(self.slope @ y + 0.5 * self.seen @ y**2)

    @property
    def factor(self) -> np.ndarray:
        """R of H = R^T R."""
        nonzero = self.seen > 0
        return np.sqrt(self.seen[nonzero])[:, None] * self.back[nonzero]


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The problem (1)."""

    searched: Searched
    gamma: float
    H: np.ndarray
    g: np.ndarray
    F: np.ndarray
    damping: float

    @cached_property
    def directions(self) -> Directions:
        return Directions.of(self.H, self.g, self.F)

    def minimum(self, z: np.ndarray) -> np.ndarray:
        """Return z + d; unknowns that would go below their least stay there."""
        variables = self.searched
        fixed, d = np.zeros(len(z), bool), np.zeros(len(z))
        for _ in range(len(z) + 1):
            d = np.where(fixed, variables.least - z, 0.0)
            d[~fixed] = self._within(z, d, ~fixed)
            below = ~fixed & (z + d < variables.least)
            released = fixed & (self.g + self.H @ d + self.damping * self.F.T @ (self.F @ d) < 0)
            if not (below.any() or released.any()):
                break
            fixed = (fixed & ~released) | below
        return np.maximum(z + d, variables.least)

    def _within(self, z: np.ndarray, d: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the free entries of d; the fixed ones are not coupled with them in the metric."""
        directions = self.directions
        if not free.all():
            both = np.ix_(free, free)
            directions = Directions.of(
                self.H[both], self.g[free] + self.H[np.ix_(free, ~free)] @ d[~free], self.F[both]
            )
        if not self.searched.bodies:
            return directions.ways @ -(directions.slope / (directions.seen + self.damping))
        size = np.sqrt(directions.seen + self.damping)
        A = size[:, None] * directions.back
        prior = replace(self.searched.prior, start=self.searched.prior.start[free])
        return minimum(A, A @ z[free] - directions.slope / size, prior, self.gamma, z[free]).theta - z[free]


FLOOR = 1e-6  # least residual of an output, relative to its variation
SAME = 0.05  # change of the logarithm of weights at which they have converged
DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-15, 1e8  # initial, least and largest damping
ROUGH = 1.0  # gain of the cost, of which noise makes about one, below which weights are updated
DONE = 1e-4  # gain of the cost that ends the search
DIGITS = 1e-11  # relative accuracy of the cost
FARTHEST = 3.0  # largest step of a logarithm, by which a number grows twentyfold


class Search:
    """The search for the unknowns.

    Attributes:
        z: The current unknowns.
        starts: The current starts of the segments.
        now: The simulation with them.
        weights: Weights of the entries of the outputs, ``fixed_weights`` or from the residuals.
        history: Cost after each iteration.
    """

    def __init__(
        self,
        error: OutputError,
        gamma: float,
        weights: np.ndarray | None = None,
        iterations: int = 100,
        progress: Callable[[int, float], Any] | None = None,
    ):
        self.error, self.gamma, self.iterations, self.progress = error, gamma, iterations, progress
        self.variables = error.searched
        self.z = self.variables.start
        self.history: list[float] = []
        self.starts = starts_of(error)
        self.now = error.simulated(self.z, self.starts)
        if not self.now.finite:
            _refuse(error, self.now)
        self.fixed_weights = weights
        self.weights = self._weights() if weights is None else weights
        self.damping = DAMPING

    def run(self) -> None:
        """Search with the fixed weights, or update the weights from the residuals until they have converged."""
        worth = ROUGH if self.fixed_weights is None else DONE
        while len(self.history) < self.iterations:
            before = self.weights
            self._converge(worth)
            if self.fixed_weights is None:
                self.weights = self._weights()
            active = self.weights > 0
            same = np.abs(np.log(self.weights[active] / before[active])).max(initial=0.0) < SAME
            if same and worth == DONE:
                return
            worth = DONE if same else ROUGH

    def _weights(self) -> np.ndarray:
        """Return 1 / rms of the residual of each entry."""
        measured_mask = self.error.there
        count = np.maximum(measured_mask.sum(axis=(0, 1)), 1)
        rms = np.sqrt((self.now.differences**2).sum(axis=(0, 1)) / count)
        measured = np.where(measured_mask, self.error.measured, 0.0)
        mean = measured.sum(axis=(0, 1)) / count
        signal_rms = np.sqrt((np.where(measured_mask, measured - mean, 0.0) ** 2).sum(axis=(0, 1)) / count)
        sigma = np.maximum(rms, FLOOR * np.maximum(signal_rms, 1e-3 * signal_rms.max(initial=0.0)))
        return np.where(measured_mask.any(axis=(0, 1)) & (sigma > 0), 1 / np.maximum(sigma, 1e-300), 0.0)

    def cost(self, z: np.ndarray, residuals: Residuals) -> float:
        if not residuals.finite:
            return np.inf
        data = 0.5 * float(((self.weights * residuals.differences) ** 2).sum())
        return data + self._pull(z)

    def _pull(self, z: np.ndarray) -> float:
        prior = self.variables.prior
        return self.gamma * (prior.value(z) - prior.value(prior.start))

    def _converge(self, worth: float) -> None:
        cost = self.cost(self.z, self.now)
        while len(self.history) < self.iterations:
            after = self.iterate(cost, worth)
            self.history.append(cost if after is None else after)
            if self.progress is not None:
                self.progress(len(self.history), self.history[-1])
            if after is None:
                return
            gained, cost = cost - after, after
            if gained < worth:
                return

    def iterate(self, cost: float, worth: float = DONE) -> float | None:
        """Return the cost after a step, None where no step gains enough."""
        equations = self.error.equations(self.z, self.now, self.weights)
        while self.damping < MOST_DAMPING:
            H, g = equations.eliminated(self.damping)
            problem = Quadratic(self.variables, self.gamma, H, g, self.factor(H), self.damping)
            z = problem.minimum(self.z)
            if np.abs((z - self.z)[self.variables.logs]).max(initial=0.0) > FARTHEST:
                self.damping *= 10.0
                continue
            promised = problem.directions.gain(z - self.z) + self._pull(self.z) - self._pull(z)
            promised += equations.promised(self.damping)
            if promised <= max(0.1 * worth, DIGITS * cost):
                return None
            first = equations.starts(z - self.z, self.damping)
            starts = self.starts.moved(self.error.robot, first) if first.size else self.starts
            simulation = self.error.simulated(z, starts)
            after = self.cost(z, simulation)
            if after < cost:
                good = cost - after > 0.25 * promised
                self.z, self.starts, self.now = z, starts, simulation
                self.damping = max(self.damping * (0.1 if good else 2.0), LEAST_DAMPING)
                return after
            self.damping *= 10.0
        self.damping = DAMPING
        return None

    def factor(self, H: np.ndarray) -> np.ndarray:
        """Return F of the metric F^T F for steps: the mean information on a body, and that on each other unknown."""
        F, body = self.variables.factor(self.z), TEN * len(self.variables.bodies)
        if body:
            inside = np.linalg.solve(F[:body, :body].T, H[:body, :body])
            information = np.trace(np.linalg.solve(F[:body, :body].T, inside.T)) / body
            F[:body, :body] *= np.sqrt(max(information, np.finfo(float).tiny))
        others = np.arange(body, len(H))
        information = np.diag(H)[body:]
        F[others, others] = np.sqrt(np.where(information > 0, information, 1.0))
        return F


def starts_of(error: OutputError) -> Starts:
    memory = {}
    if error.controller is not None:
        law, count = Law(error.controller, error.robot.model), len(error.segments.q0)
        memory = {name: np.repeat(np.asarray(x, float)[None], count, axis=0) for name, x in law.memory.items()}
    return Starts(error.segments.q0, error.segments.v0, memory)


def _refuse(error: OutputError, residuals: Residuals) -> None:
    raise LinkworkError(
        "the simulation diverges with the initial parameters", where="fit_simulation",
        got=f"{int((~np.isfinite(residuals.differences)).any(axis=(1, 2)).sum())} of {len(error.segments.q0)} segments",
        fix=at_door(
            "use a smaller dt, a shorter horizon, or a robot that is nearer to the recorded one",
            "start from a robot that is nearer to the recorded one: --with-parameters FILE",
        ),
    )  # fmt: skip
