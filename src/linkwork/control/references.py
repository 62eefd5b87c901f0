"""References: desired positions, velocities and accelerations over time.

A reference is called with a time (a number, an array, or a traced number) and returns a :class:`Point`. References that
are formulas (``traceable``) are written without branches and become part of a compiled program. A motion from one point
to another is at rest before it begins and after it ends.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import LinkworkError, ShapeError, UnsupportedError
from ..scalar.entrywise import clip, sign


class Point(NamedTuple):
    """Desired positions, velocities and accelerations.

    Attributes:
        q: Positions in rad (m), (n,), or (..., n) for an array of times.
        v: Velocities, in the same shape.
        a: Accelerations, in the same shape.

    Example:
        >>> hold = linkwork.control.Point(np.ones(7), np.zeros(7), np.zeros(7))
        >>> hold.q.shape
        (7,)
    """

    q: Any
    v: Any
    a: Any


class Reference(ABC):
    """Base class of references: objects that are called with a time in s and return a Point.

    Attributes:
        traceable: Whether it is a formula in t that can be compiled. Default: True.
        duration: Duration of one motion in s.

    Example:
        >>> isinstance(linkwork.control.Quintic([0.0], [1.0], 2.0), linkwork.control.Reference)
        True
    """

    traceable = True
    duration: float

    @abstractmethod
    def __call__(self, t: Any) -> Point: ...

    def sample(self, times: Any) -> Point:
        """Return the points at several times.

        Args:
            times: Times in s, (T,).

        Returns:
            Point of arrays (T, n).
        """
        return self(_numbers(times, f"{type(self).__name__}.sample", 1))


@dataclass(frozen=True, eq=False)
class _Straight(Reference):
    """A straight line from start to goal, on which all joints move together."""

    start: Any
    goal: Any
    begin: float = field(default=0.0, kw_only=True)

    def __post_init__(self):
        _tidy(self, "start", 1)
        _tidy(self, "goal", 1, like="start")
        _tidy(self, "begin", 0)

    def __call__(self, t: Any) -> Point:
        path = self.goal - self.start
        s, rate, change = (np.multiply.outer(x, path) for x in self._share(t - self.begin))
        return Point(self.start + s, rate, change)

    @abstractmethod
    def _share(self, t: Any) -> tuple[Any, Any, Any]:
        """Share of the path at a time after the begin, from 0 to 1, and its first two derivatives."""


@dataclass(frozen=True, eq=False)
class Quintic(_Straight):
    """Motion from start to goal by a polynomial of degree five in time, which starts and ends at rest.

    Args:
        start: Initial positions (n,).
        goal: Final positions (n,).
        duration: Duration in s.
        begin: Time of the start in s. Default: 0.

    Raises:
        LinkworkError: An argument is out of range.
        ShapeError: Start and goal have different shapes.

    Example:
        >>> linkwork.control.Quintic([0.0, 0.0], [1.0, 2.0], 2.0)(1.0).q
        array([0.5, 1. ])
    """

    duration: float

    def __post_init__(self):
        super().__post_init__()
        _tidy(self, "duration", 0, positive=True)

    def _share(self, t: Any) -> tuple[Any, Any, Any]:
        T = self.duration
        x = clip(t / T, 0.0, 1.0)
        y = 1 - x
        return x * x * x * (10 + x * (6 * x - 15)), 30 / T * (x * y) * (x * y), 60 / T**2 * (x * y) * (y - x)


@dataclass(frozen=True, eq=False)
class Trapezoidal(_Straight):
    """Fastest motion from start to goal within limits of velocity and acceleration (trapezoidal velocity profile).

    It has constant acceleration, constant velocity and constant deceleration; a short motion has no constant velocity.
    All joints start and arrive together, on a straight line in joint space. The joint that needs most
    time is at its limit. At a
    jump of the acceleration, the later value applies.

    Args:
        start: Initial positions (n,).
        goal: Final positions (n,).
        velocity: Largest velocities in rad/s (m/s), one number or one per joint (n,).
        acceleration: Largest accelerations in rad/s^2 (m/s^2), one number or one per joint (n,).
        begin: Time of the start in s. Default: 0.

    Example:
        >>> linkwork.control.Trapezoidal([0.0], [1.0], velocity=1.0, acceleration=2.0).duration
        1.5
    """

    velocity: Any = field(kw_only=True)
    acceleration: Any = field(kw_only=True)
    duration: float = field(init=False)
    _profile: tuple[float, float, float] = field(init=False, repr=False)  # largest rate, its change, time to reach it

    def __post_init__(self):
        super().__post_init__()
        for name in ("velocity", "acceleration"):
            _tidy(self, name, min(np.ndim(getattr(self, name)), 1), positive=True, like="start")
        path = np.abs(self.goal - self.start)
        with np.errstate(divide="ignore"):  # a joint that does not move has no limit
            fastest, strongest = (float(np.min(limit / path)) for limit in (self.velocity, self.acceleration))
        if not path.any():
            _set(self, _profile=(0.0, 0.0, 0.0), duration=0.0)
            return
        rate = min(fastest, math.sqrt(strongest))
        _set(self, _profile=(rate, strongest, rate / strongest), duration=rate / strongest + 1 / rate)

    def _share(self, t: Any) -> tuple[Any, Any, Any]:
        rate, change, ramp = self._profile
        slowing = self.duration - ramp
        up, level, down = clip(t, 0.0, ramp), clip(t - ramp, 0.0, slowing - ramp), clip(t - slowing, 0.0, ramp)
        done = rate * (level + down) + 0.5 * change * (up * up - down * down)
        pulses = unit_step(t) - unit_step(t - ramp) - unit_step(t - slowing) + unit_step(t - self.duration)
        return done, change * (up - down), change * pulses


def unit_step(t: Any) -> Any:
    """Return the unit step: 0 before zero, 1 from zero on."""
    return 0.5 + 0.5 * sign(sign(t) + 0.5)


@dataclass(frozen=True, eq=False)
class Fourier(Reference):
    """Periodic motion as a Fourier series.

    q_i = offset_i + sum over k = 1 ... K of sines_ik sin(k w t) + cosines_ik cos(k w t), with w = 2 pi ``frequency``.
    It does not end; ``duration`` is one period.

    Args:
        offset: Mean positions (n,).
        sines: Coefficients of the sines (n, K).
        cosines: Coefficients of the cosines (n, K).
        frequency: Frequency of the first harmonic in Hz.

    Example:
        >>> linkwork.control.Fourier([0.0], [[0.1]], [[0.2]], 0.5)(0.0).q
        array([0.2])
    """

    offset: Any
    sines: Any
    cosines: Any
    frequency: float
    duration: float = field(init=False)

    def __post_init__(self):
        _tidy(self, "offset", 1)
        _tidy(self, "sines", 2)
        _tidy(self, "cosines", 2, like="sines")
        _tidy(self, "frequency", 0, positive=True)
        _require(self, "sines", (len(self.offset), self.sines.shape[1]), "offset")
        _set(self, duration=1 / self.frequency)

    def __call__(self, t: Any) -> Point:
        w = 2 * math.pi * self.frequency
        S, C = np.sin(w * t), np.cos(w * t)
        zero = np.multiply.outer(0 * t, self.offset)
        q, v, a, s, c = self.offset + zero, zero, zero, S, C
        for k, (x, y) in enumerate(zip(self.sines.T, self.cosines.T, strict=True), 1):
            wave = np.multiply.outer(s, x) + np.multiply.outer(c, y)
            q, a = q + wave, a - (k * w) ** 2 * wave
            v = v + k * w * (np.multiply.outer(c, x) - np.multiply.outer(s, y))
            s, c = s * C + c * S, c * C - s * S  # sine and cosine of the next multiple of the angle
        return Point(q, v, a)


@dataclass(frozen=True, eq=False)
class Sampled(Reference):
    """Motion through samples, interpolated by polynomials; velocities and accelerations are their derivatives.

    Positions alone give the cubic spline that starts and ends at rest. Positions and velocities give cubic polynomials,
    with accelerations polynomials of degree five that pass through all samples. Before the first time and after the
    last it rests. It looks up times in a table, so it cannot be traced: a simulation samples it at its steps.

    Args:
        times: Increasing times in s, (T,).
        q: Positions (T, n).
        v: Velocities (T, n). Default: those of the spline.
        a: Accelerations (T, n); they need ``v``. Default: those of the polynomials.

    Raises:
        LinkworkError: Times do not increase, or accelerations are given without velocities.
        ShapeError: The arrays do not fit each other.

    Example:
        >>> linkwork.control.Sampled([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]])(1.0).q
        array([1.])
    """

    times: Any
    q: Any
    v: Any = None
    a: Any = None
    duration: float = field(init=False)
    _pieces: list[np.ndarray] = field(init=False, repr=False)

    traceable = False

    def __post_init__(self):
        _tidy(self, "times", 1)
        _tidy(self, "q", 2)
        h = np.diff(self.times)
        if not len(h) or not (h > 0).all():
            at = int(h.argmin()) if len(h) else 0
            raise LinkworkError(
                "times must increase",
                where="Sampled.times",
                got=f"{', '.join(f'{t:g}' for t in self.times[at : at + 2])} at index {at}",
                expected="two times or more, each later than the one before",
            )
        _require(self, "q", (len(self.times), self.q.shape[1]), "times")
        if self.v is None and self.a is not None:
            raise LinkworkError("accelerations need velocities", where="Sampled", fix="pass v as well")
        for name in ("v", "a"):
            if getattr(self, name) is not None:
                _tidy(self, name, 2, like="q")
        slopes = _slopes(h, self.q) if self.v is None else self.v
        pieces = _cubics(h, self.q, slopes) if self.a is None else _quintics(h, self.q, slopes, self.a)
        derivatives = [pieces]  # coefficients (degree, piece, joint), the constant one first
        for _ in range(2):
            derivatives.append(np.arange(1, len(derivatives[-1]))[:, None, None] * derivatives[-1][1:])
        _set(self, _pieces=derivatives, duration=float(self.times[-1] - self.times[0]))

    def __call__(self, t: Any) -> Point:
        t = np.asarray(t)
        if t.dtype == object:
            raise UnsupportedError(
                "a sampled reference cannot be traced",
                fix="sample it at the steps, as simulate and rollout do; or use Quintic, Trapezoidal or Fourier",
            )
        first, last = self.times[[0, -1]]
        at = np.clip(np.searchsorted(self.times, t.real, side="right") - 1, 0, len(self.times) - 2)
        x = (clip(t, first, last) - self.times[at])[..., None]
        moving = ((t.real >= first) & (t.real <= last))[..., None]
        q, v, a = (_horner(pieces[:, at], x) for pieces in self._pieces)
        return Point(q, v * moving, a * moving)


def _horner(coefficients: np.ndarray, x: Any) -> Any:
    value = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = value * x + c
    return value


def _slopes(h: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Velocities at the samples of the cubic spline that starts and ends at rest.

    Its accelerations are continuous if h_i v_i-1 + 2 (h_i-1 + h_i) v_i + h_i-1 v_i+1 = 3 (h_i d_i-1 + h_i-1 d_i), where
    d are the mean velocities.
    """
    v, d = np.zeros_like(q), np.diff(q, axis=0) / h[:, None]
    above = np.zeros(len(q))
    for i in range(1, len(h)):  # forward elimination, then back substitution
        pivot = 2 * (h[i - 1] + h[i]) - h[i] * above[i - 1]
        above[i] = h[i - 1] / pivot
        v[i] = (3 * (h[i] * d[i - 1] + h[i - 1] * d[i]) - h[i] * v[i - 1]) / pivot
    for i in range(len(h) - 1, 0, -1):
        v[i] -= above[i] * v[i + 1]
    return v


def _cubics(h: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    h = h[:, None]
    d = np.diff(q, axis=0) / h
    return np.array([q[:-1], v[:-1], (3 * d - 2 * v[:-1] - v[1:]) / h, (v[:-1] + v[1:] - 2 * d) / h**2])


def _quintics(h: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    h = h[:, None]
    D = (
        q[1:] - q[:-1] - v[:-1] * h - a[:-1] * h**2 / 2
    ) / h**3  # error at the end of each piece without terms of higher degree
    E = (v[1:] - v[:-1] - a[:-1] * h) / h**2
    F = (a[1:] - a[:-1]) / (2 * h)
    rest = [10 * D - 4 * E + F, (7 * E - 15 * D - 2 * F) / h, (6 * D - 3 * E + F) / h**2]
    return np.array([q[:-1], v[:-1], a[:-1] / 2, *rest])


# -- checks of arguments -----------------------------------------------------------------------------------------


def _set(owner: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def _tidy(owner: Any, name: str, ndim: int, *, positive: bool = False, like: str = "") -> None:
    """Convert a field to a number or an array of ``ndim`` axes; ``like`` names a field of the same shape."""
    value, where = getattr(owner, name), f"{type(owner).__name__}.{name}"
    array = _numbers(value, where, ndim)
    if positive and not (array > 0).all():
        raise LinkworkError("out of range", where=where, got=value, expected="above zero")
    _set(owner, **{name: array if ndim else float(array)})
    if like and ndim:
        _require(owner, name, getattr(owner, like).shape, like)


def _numbers(value: Any, where: str, ndim: int) -> np.ndarray:
    expected = ("a number", "a vector (n,)", "an array with two axes")[ndim]
    try:
        array = np.array(value, float)
    except (TypeError, ValueError) as error:
        raise ShapeError("not an array of numbers", where=where, got=repr(value), expected=expected) from error
    if array.ndim != ndim or (ndim and not array.size):
        raise ShapeError("wrong shape", where=where, got=array.shape, expected=expected)
    if not np.isfinite(array).all():
        raise LinkworkError("not finite", where=where, got=value, expected="finite numbers")
    return array


def _require(owner: Any, name: str, shape: tuple[int, ...], other: str) -> None:
    array = getattr(owner, name)
    if array.shape != shape:
        message, where = f"{name} does not fit {other}", type(owner).__name__
        raise ShapeError(message, where=where, got=array.shape, expected=f"{name} of shape {shape}")
