"""Observations: the equations of recordings with their noise; and an Estimate of the unknowns from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...notes import Note
from ..logs.log import Log
from ..logs.signals import max_speeds
from .friction_smoothing import widened
from .least_squares import Solution
from .noise_floor import Unexcited, noise_triangles, unexcited
from .stacked_regressor import Information, collect
from .unknowns import Unknowns

ROUNDED = 1e-9  # of the largest entry of an unidentifiable direction: less is rounding


@dataclass(frozen=True, eq=False)
class Observations:
    """The recordings as they were passed and in the robot's order, and their equations."""

    unknowns: Unknowns
    recordings: Sequence[Log]
    logs: list[Log]  # in the robot's order
    information: Information
    validation: Information | None

    @cached_property
    def noise(self) -> np.ndarray | None:
        """What noise of the recordings adds to the regressor."""
        return noise_triangles(self.unknowns, self.logs)

    @cached_property
    def excited(self) -> Information:
        """The equations without directions that are not excited above the noise."""
        return self.without_noise(self.unknowns.base_prior)

    @cached_property
    def max_velocities(self) -> np.ndarray:
        """The largest measured velocities."""
        rates = [max_speeds(log.v) for log in self.logs]
        return np.max(rates or [np.full(self.unknowns.robot.nv, np.inf)], axis=0)

    def without_noise(self, prior: np.ndarray) -> Information:
        return self.unexcited.cleaned(self.information, prior)

    @cached_property
    def unexcited(self) -> Unexcited:
        smooth = widened(self.unknowns, self.logs)
        if smooth is self.unknowns:
            return unexcited(self.information, self.noise)
        return unexcited(collect(smooth, self.logs), noise_triangles(smooth, self.logs))


@dataclass(frozen=True, eq=False)
class Estimate:
    """The result of a method.

    Attributes:
        solution: The base parameters.
        theta: The standard parameters.
        covariance: Covariance of the standard parameters.
        gamma, divergence, notes, simulation: As in ``Fit``.
    """

    solution: Solution
    theta: np.ndarray
    covariance: np.ndarray
    gamma: float | None = None
    divergence: Mapping[str, float] | None = None
    notes: tuple[Note, ...] = ()
    simulation: Any = None
