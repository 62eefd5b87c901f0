"""The motion that excites: Swevers' Fourier series, and polynomials that lead into it from rest and out of it again."""

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
    """Rests at ``offset``, comes to speed within ``ramp`` seconds, follows the series of ``Fourier`` for so many
    ``periods``, and comes back to rest at ``offset`` within ``ramp`` seconds.

    ``offset`` (n,), ``sines`` and ``cosines`` (n, K), ``frequency`` in hertz. On the ramps polynomials of degree five
    meet the position, velocity and acceleration of the series, and those of rest, so all three are continuous.
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
        tidy = {
            "offset": series.offset,
            "sines": series.sines,
            "cosines": series.cosines,
            "frequency": series.frequency,
        }
        for name, value in {**tidy, "duration": self.periods * series.duration + 2 * self.ramp}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def _series(self) -> Fourier:
        return Fourier(self.offset, self.sines, self.cosines, self.frequency)

    @cached_property
    def _begin(self) -> tuple[np.ndarray, ...]:
        """Of the series, where it begins and ends: distance from rest, velocity, acceleration, for a unit ramp."""
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
        """Distance from rest and its derivatives by s: Hermite's polynomials that end at rest."""
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
    """Times, and what the motion is there per coefficient: x = ``q`` @ c and so on, where c has the offset, the sines
    and the cosines of a joint. ``inside``: the times of the period itself, evenly spread; the others are on ramps."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    inside: slice

    @staticmethod
    def of(harmonics: int, period: float, ramp: float, count: int) -> Grid:
        """``count`` times on a period, and as many on the ramps as their length asks for."""
        unit = np.eye(2 * harmonics + 1)
        parts = FourierFromRest(unit[:, 0], unit[:, 1 : harmonics + 1], unit[:, harmonics + 1 :], 1 / period, ramp)
        few = max(6, math.ceil(2 * count * ramp / period))  # the polynomials may be quicker than the series
        up = ramp * np.arange(1, few) / few
        t = np.concatenate([up, ramp + period * np.arange(count) / count, ramp + period + up])
        return Grid(t, *parts(t), inside=slice(len(up), len(up) + count))
