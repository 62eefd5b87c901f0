"""Levenberg and Marquardt's steps of a fit by simulation, inside of what is physical."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...control import Law
from ...errors import LinkworkError
from ..regression.unknowns import TEN
from .quadratic import Quadratic
from .rollout_error import OutputError, Residuals, Starts

FLOOR = 1e-6  # of how much an output changes: what is left of it counts as no less
SAME = 0.05  # logarithm by which weights change at most when they are done
DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-15, 1e8  # the first of these to begin with
ROUGH = 1.0  # of the cost, of which noise makes about one: a step that gains less is the last before weights change
DONE = 1e-4  # the same of the last step of all
DIGITS = 1e-11  # of the cost that can be trusted
FARTHEST = 3.0  # that a logarithm goes in a step, by which a number grows to its twentyfold


class Search:
    """``z``: the unknowns now; ``starts`` of the segments; ``now``: what is simulated with them. ``weights``: of the
    entries of the outputs, from what is left where they are not ``given``. ``history``: cost after each iteration."""

    def __init__(
        self,
        error: OutputError,
        gamma: float,
        weights: np.ndarray | None = None,
        iterations: int = 100,
        progress: Callable[[int, float], Any] | None = None,
    ):
        self.error, self.gamma, self.iterations, self.progress = error, gamma, iterations, progress
        self.own = error.searched
        self.z = self.own.start
        self.history: list[float] = []
        self.starts = starts_of(error)
        self.now = error.simulated(self.z, self.starts)
        if not self.now.finite:
            _refuse(error, self.now)
        self.given = weights
        self.weights = self._weights() if weights is None else weights
        self.damping = DAMPING

    def run(self) -> None:
        """With given weights, or with those of what is left, until these do not change any more."""
        worth = ROUGH if self.given is None else DONE
        while len(self.history) < self.iterations:
            before = self.weights
            self._converge(worth)
            if self.given is None:
                self.weights = self._weights()
            used = self.weights > 0
            same = np.abs(np.log(self.weights[used] / before[used])).max(initial=0.0) < SAME
            if same and worth == DONE:
                return
            worth = DONE if same else ROUGH

    def _weights(self) -> np.ndarray:
        """1 / rms of what is left of each entry."""
        there = self.error.there
        count = np.maximum(there.sum(axis=(0, 1)), 1)
        left = np.sqrt((self.now.differences**2).sum(axis=(0, 1)) / count)
        measured = np.where(there, self.error.measured, 0.0)
        mean = measured.sum(axis=(0, 1)) / count
        spread = np.sqrt((np.where(there, measured - mean, 0.0) ** 2).sum(axis=(0, 1)) / count)
        sigma = np.maximum(left, FLOOR * np.maximum(spread, 1e-3 * spread.max(initial=0.0)))
        return np.where(there.any(axis=(0, 1)) & (sigma > 0), 1 / np.maximum(sigma, 1e-300), 0.0)

    def cost(self, z: np.ndarray, residuals: Residuals) -> float:
        if not residuals.finite:
            return np.inf
        data = 0.5 * float(((self.weights * residuals.differences) ** 2).sum())
        return data + self._pull(z)

    def _pull(self, z: np.ndarray) -> float:
        prior = self.own.prior
        return self.gamma * (prior.value(z) - prior.value(prior.start))

    def _converge(self, worth: float) -> None:
        cost = self.cost(self.z, self.now)
        while len(self.history) < self.iterations:
            found = self.iterate(cost, worth)
            self.history.append(cost if found is None else found)
            if self.progress is not None:
                self.progress(len(self.history), self.history[-1])
            if found is None:
                return
            gained, cost = cost - found, found
            if gained < worth:
                return

    def iterate(self, cost: float, worth: float = DONE) -> float | None:
        """The cost after a step that was made; None where none is worth it."""
        equations = self.error.equations(self.z, self.now, self.weights)
        while self.damping < MOST_DAMPING:
            H, g = equations.eliminated(self.damping)
            problem = Quadratic(self.own, self.gamma, H, g, self.factor(H), self.damping)
            z = problem.minimum(self.z)
            if np.abs((z - self.z)[self.own.logs]).max(initial=0.0) > FARTHEST:
                self.damping *= 10.0
                continue
            promised = problem.directions.gain(z - self.z) + self._pull(self.z) - self._pull(z)
            promised += equations.promised(self.damping)
            if promised <= max(0.1 * worth, DIGITS * cost):
                return None
            first = equations.starts(z - self.z, self.damping)
            starts = self.starts.moved(self.error.robot, first) if first.size else self.starts
            ahead = self.error.simulated(z, starts)
            after = self.cost(z, ahead)
            if after < cost:
                good = cost - after > 0.25 * promised
                self.z, self.starts, self.now = z, starts, ahead
                self.damping = max(self.damping * (0.1 if good else 2.0), LEAST_DAMPING)
                return after
            self.damping *= 10.0
        self.damping = DAMPING
        return None

    def factor(self, H: np.ndarray) -> np.ndarray:
        """F of the metric F^T F in which steps are measured: as much as the data tell on average of a body, and of each
        other unknown."""
        found, body = self.own.factor(self.z), TEN * len(self.own.bodies)
        if body:
            inside = np.linalg.solve(found[:body, :body].T, H[:body, :body])
            told = np.trace(np.linalg.solve(found[:body, :body].T, inside.T)) / body
            found[:body, :body] *= np.sqrt(max(told, np.finfo(float).tiny))
        others = np.arange(body, len(H))
        told = np.diag(H)[body:]
        found[others, others] = np.sqrt(np.where(told > 0, told, 1.0))
        return found


def starts_of(error: OutputError) -> Starts:
    memory = {}
    if error.controller is not None:
        law, count = Law(error.controller, error.robot.model), len(error.segments.q0)
        memory = {name: np.repeat(np.asarray(x, float)[None], count, axis=0) for name, x in law.memory.items()}
    return Starts(error.segments.q0, error.segments.v0, memory)


def _refuse(error: OutputError, residuals: Residuals) -> None:
    raise LinkworkError(
        "the simulation leaves the numbers from where the search begins", where="fit_simulation",
        got=f"{int((~np.isfinite(residuals.differences)).any(axis=(1, 2)).sum())} of {len(error.segments.q0)} segments",
        fix="a smaller dt, a shorter horizon, or a robot that is nearer to the one recorded",
    )  # fmt: skip
