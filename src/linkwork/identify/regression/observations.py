"""Observations: the equations of recordings with their noise; and an Estimate of the unknowns from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..logs.log import Log
from ..logs.signals import fastest_of
from .friction_smoothing import widened
from .least_squares import Solution
from .noise_floor import Unexcited, noise_triangles, unexcited
from .stacked_regressor import Information, collect
from .unknowns import Unknowns

if TYPE_CHECKING:
    from ...robot import Robot

ROUNDED = 1e-9  # of the largest entry of a direction that data do not tell: less is rounding


@dataclass(frozen=True, eq=False)
class Observations:
    unknowns: Unknowns
    given: Sequence[Log]
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
class Estimate:
    """What a method found: ``solution`` in the base parameters, ``theta``: the standard parameters, ``spread``: their
    covariance; ``gamma``, ``pull``, ``notes``, ``doubts`` and ``simulation`` as in ``Fit``."""

    solution: Solution
    theta: np.ndarray
    spread: np.ndarray
    gamma: float | None = None
    pull: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    simulation: Any = None
    doubts: tuple[str, ...] = ()

    def robot(self, unknowns: Unknowns) -> Robot:
        return unknowns.changed(dict(zip(unknowns.standard, self.theta.tolist(), strict=True)))
