"""The exciting motion: Swevers' Fourier series, with polynomials that lead into it from rest and out of it again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...control import Fourier, Point, Reference, clip
from ...control.references import unit_step
from ...errors import LinkworkError


@dataclass(frozen=True, eq=False)
class FourierFromRest(Reference):
    """A periodic reference from rest to rest: a ramp to a Fourier series, its periods, and a ramp back.

    On the ramps polynomials of degree five match position, velocity and acceleration of the series and of rest, so all
    three are continuous.

    Args:
        offset: Positions at rest, (n,).
        sines: Coefficients as in ``linkwork.control.Fourier``, (n, K).
        cosines: Coefficients, (n, K).
        frequency: Frequency of the first harmonic in Hz.
        ramp: Duration of each ramp in s.
        periods: Number of periods. Default: 1.

    Raises:
        LinkworkError: If a number is out of range, or shapes differ.

    Example:
        >>> motion = linkwork.identify.FourierFromRest([0.0], [[0.3]], [[0.1]], frequency=0.5, ramp=1.0)
        >>> motion.duration, motion(0.0).v
        (4.0, array([0.]))
    """

    offset: Any
    sines: Any
    cosines: Any
    frequency: float
    ramp: float
    periods: int = 1
    duration: float = field(init=False)

    def __post_init__(self):
        for name in ("ramp", "periods"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and value > 0 and math.isfinite(value)):
                where = f"FourierFromRest.{name}"
                raise LinkworkError("out of range", where=where, got=value, expected="above zero")
        series = self._series
        for name in ("offset", "sines", "cosines", "frequency"):
            object.__setattr__(self, name, getattr(series, name))
        object.__setattr__(self, "duration", self.periods * series.duration + 2 * self.ramp)

    @cached_property
    def _series(self) -> Fourier:
        return Fourier(self.offset, self.sines, self.cosines, self.frequency)

    @cached_property
    def _begin(self) -> tuple[np.ndarray, ...]:
        """Distance from rest, velocity and acceleration where the series begins and ends, for a ramp of 1 s."""
        at = self._series(0.0)
        return at.q - self.offset, at.v * self.ramp, at.a * self.ramp**2

    def __call__(self, t: Any) -> Point:
        R, end = self.ramp, self.duration - self.ramp
        ones = np.ones(len(self.offset))
        q, v, a = self._series(clip(t - R, 0.0, end - R))
        on = np.multiply.outer(unit_step(t - R) - unit_step(t - end), ones)  # 1 while the series goes on
        v, a = v * on, a * on
        ramps = (
            (1 - clip(t / R, 0.0, 1.0), -1, unit_step(t) - unit_step(t - R)),
            (clip((t - end) / R, 0.0, 1.0), 1, unit_step(t - end) - unit_step(t - self.duration)),
        )
        for s, sense, moving in ramps:  # s: 0 where the series is met, 1 at rest
            p, rate, change = self._ramp(s, sense)
            moving = np.multiply.outer(moving, ones)
            q, v, a = q + p - self._begin[0], v + moving * rate * (sense / R), a + moving * change / R**2
        return Point(q, v, a)

    def _ramp(self, s: Any, sense: int) -> tuple[Any, Any, Any]:
        """Return the distance from rest and its derivatives with respect to s: Hermite polynomials that end at rest."""
        d, v, a = self._begin
        v = sense * v

        def mixed(x: Any, y: Any, z: Any) -> Any:
            return np.multiply.outer(x, d) + np.multiply.outer(y, v) + np.multiply.outer(z, a)

        r = 1 - s
        cube, square = r * r * r, r * r
        place = mixed(cube * (1 + s * (3 + 6 * s)), cube * s * (1 + 3 * s), 0.5 * cube * s * s)
        rate = mixed(-30 * square * s * s, square * (1 + s * (2 - 15 * s)), 0.5 * square * s * (2 - 5 * s))
        change = mixed(-60 * r * s * (1 - 2 * s), r * s * (60 * s - 36), r * (1 + s * (10 * s - 8)))
        return place, rate, change


@dataclass(frozen=True, eq=False)
class Grid:
    """Times, and the motion there per coefficient: x = ``q`` @ c, where c has the offset, sines and cosines of a joint.

    ``inside`` are the evenly spaced times of the period itself; the others are on ramps.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    inside: slice

    @staticmethod
    def of(harmonics: int, period: float, ramp: float, count: int) -> Grid:
        """Return ``count`` times on a period, and as many on the ramps as their length requires."""
        unit = np.eye(2 * harmonics + 1)
        parts = FourierFromRest(unit[:, 0], unit[:, 1 : harmonics + 1], unit[:, harmonics + 1 :], 1 / period, ramp)
        few = max(6, math.ceil(2 * count * ramp / period))  # the polynomials may be quicker than the series
        up = ramp * np.arange(1, few) / few
        t = np.concatenate([up, ramp + period * np.arange(count) / count, ramp + period + up])
        return Grid(t, *parts(t), inside=slice(len(up), len(up) + count))
