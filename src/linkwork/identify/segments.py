"""Recordings cut into segments that are simulated side by side, and what was commanded, at any delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..control import Point
from ..errors import LinkworkError, ShapeError, UnknownNameError
from ..sim.inputs import of_motors, torques

if TYPE_CHECKING:
    from ..robot import Robot

UNEVEN = 1e-3  # of a period: times further off are not those of one rate


@dataclass(frozen=True, eq=False)
class Segments:
    """``q0``, ``v0``: states at their starts. ``measured``: output -> (segments, rows, entries), NaN where nothing was.
    The command is one array (N, ...) over all recordings, with places of each segment in it."""

    q0: np.ndarray
    v0: np.ndarray
    measured: dict[str, np.ndarray]
    command: np.ndarray
    first: np.ndarray  # of each segment: its place in the command
    ends: np.ndarray  # (segments, 2): where its recording begins and ends there
    period: float
    rows: int  # of a segment, less one
    parts: int  # steps of a period
    notes: tuple[str, ...] = ()

    @property
    def dt(self) -> float:
        return self.period / self.parts

    @property
    def steps(self) -> int:
        return self.rows * self.parts

    def commanded(self, delay: float) -> tuple[np.ndarray, np.ndarray]:
        """What acts at each step, (segments, steps, ...), and its slope by the delay: between samples it is linear, as
        the mean over a step of what is held from sample to sample is; beyond the ends it stays."""
        place = self.first[:, None] + np.arange(self.steps) / self.parts - delay / self.period
        low, high = self.ends[:, :1], self.ends[:, 1:] - 1
        inside = (place > low) & (place <= high)
        place = np.clip(place, low, high)
        before = np.clip(np.ceil(place).astype(int) - 1, low, np.maximum(high - 1, low))
        share = (place - before).reshape(*place.shape, *[1] * (self.command.ndim - 1))
        u, ahead = self.command[before], self.command[np.minimum(before + 1, high)]
        slope = np.where(inside.reshape(share.shape), (u - ahead) / self.period, 0.0)
        return (1 - share) * u + share * ahead, slope


def cut(
    robot: Robot,
    logs: Sequence[Any],
    closed: bool,
    horizon: float,
    dt: float | None,
    outputs: Sequence[str] | None = None,
) -> Segments:
    """``closed``: a controller makes the torque, which then is an output; else it is the command."""
    named = [(f"log {k}" if len(logs) > 1 else "log", log) for k, log in enumerate(logs)]
    periods = [_period(log, where) for where, log in named]
    period = periods[0]
    if np.ptp(periods) > UNEVEN * period:
        got = f"periods from {min(periods):g} to {max(periods):g} s"
        raise LinkworkError("recordings have different rates", where="logs", got=got, fix="log.resampled(rate) of each")
    names = _outputs(logs, closed, outputs)
    parts = [_arrays(robot, log, closed, period, names, where) for where, log in named]
    lengths = [len(log.t) for log in logs]
    rows = min(round(horizon / period), max(lengths) - 1)
    if rows < 2:
        got = f"{rows + 1} samples at {1 / period:g} Hz"
        fix = "a longer horizon, or a longer recording"
        raise LinkworkError("a segment has too few samples", where="horizon", got=got, expected="3 or more", fix=fix)
    starts, at = [], 0
    for length in lengths:
        starts += [(at + k, at, at + length) for k in range(0, length - rows, rows)]
        at += length
    first, low, high = (np.array(column) for column in zip(*starts, strict=True))
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    window = first[:, None] + np.arange(rows + 1)
    kept = whole["keep"][window][..., None]
    measured = {name: np.where(kept, whole[f"measured {name}"][window], np.nan) for name in names}
    if "tau" in measured:
        measured["tau"][:, -1] = np.nan  # the last record is made with the command of the step before
    left = sum(lengths) - len(np.unique(window))
    return Segments(
        whole["q"][first], whole["v"][first], measured, whole["command"], first, np.stack([low, high], axis=1),
        period, rows, 1 if dt is None else max(1, round(period / dt)),
        (f"{left} samples at the ends do not fill a segment, and are left out",) if left else (),
    )  # fmt: skip


def _period(log: Any, where: str) -> float:
    t = np.asarray(log.t, float)
    if len(t) < 3:
        raise LinkworkError("a recording is too short", where=where, got=f"{len(t)} samples", expected="3 or more")
    period = (t[-1] - t[0]) / (len(t) - 1)
    if not (period > 0 and np.abs(np.diff(t) - period).max() < 0.5 * period):
        fix = "log.resampled(rate)"
        raise LinkworkError("a simulation needs times of one rate", where=f"{where}, t", got="uneven times", fix=fix)
    return float(period)


def _outputs(logs: Sequence[Any], closed: bool, asked: Sequence[str] | None) -> tuple[str, ...]:
    there = ["q"]
    if all(log.v is not None for log in logs):
        there.append("v")
    if closed and all(log.tau is not None for log in logs):
        there.append("tau")
    for name in asked or ():
        if name not in there:
            raise UnknownNameError("measured output", name, there, where="outputs")
    return tuple(name for name in there if asked is None or name in asked)


def _arrays(
    robot: Robot, log: Any, closed: bool, period: float, names: Sequence[str], where: str
) -> dict[str, np.ndarray]:
    """Of all samples: what was measured, states to start from, the command, and which samples count."""
    model, q, count = robot.model, np.asarray(log.q, float), len(log.t)
    _fits(q, (count, model.nq), f"{where}, q")
    known = np.where(np.isfinite(q), q, model.coordinates.neutral())  # where nothing was measured, at rest
    if log.v is None:
        rates = model.coordinates.difference(known[:-1], known[1:]) / period
        v = np.concatenate([rates[:1], 0.5 * (rates[1:] + rates[:-1]), rates[-1:]])
        if model.loops:
            v = v[:, list(model.mobility.independent)]
    else:
        v = np.asarray(log.v, float)
        _fits(v, (count, model.nv), f"{where}, v")
    keep = np.ones(count, bool) if getattr(log, "keep", None) is None else np.asarray(log.keep, bool)
    found = {"q": known, "v": np.where(np.isfinite(v), v, 0.0), "keep": keep}
    found["command"] = _reference(robot, log, period, where) if closed else _torque(robot, log, where)
    values = {"q": q, "v": v}
    if "tau" in names:
        values["tau"] = _forces(robot, log, np.nan, where)
    return found | {f"measured {name}": values[name] for name in names}


def _torque(robot: Robot, log: Any, where: str) -> np.ndarray:
    if log.tau is None:
        raise LinkworkError("without torques or a controller nothing drives the simulation", where=f"{where}, tau",
                            fix="Log(..., tau=...), or controller=... with log.reference")  # fmt: skip
    tau = _forces(robot, log, 0.0, where)
    if not np.isfinite(tau).all():
        raise LinkworkError("torques that drive the simulation must be numbers", where=f"{where}, tau", got="NaN")
    return tau


def _forces(robot: Robot, log: Any, filler: float, where: str) -> np.ndarray:
    """Of all forced joints; those of motors alone are filled up."""
    model, tau = robot.model, np.asarray(log.tau, float)
    full = torques(model, tau, f"{where}, tau").copy()
    if full.shape != tau.shape:
        others = sorted({*range(full.shape[1])} - {*of_motors(model)})
        full[:, others] = filler
    _fits(full, (len(log.t), len(model.mobility.forced)), f"{where}, tau")
    return full


def _reference(robot: Robot, log: Any, period: float, where: str) -> np.ndarray:
    """(N, 3, motors); rates that are missing are differences."""
    if log.reference is None:
        raise LinkworkError("a controller follows a reference", where=f"{where}, reference", got="none",
                            fix="Log(..., reference=Point(q, v, a)), arrays over time")  # fmt: skip
    shape = (len(log.t), len(robot.model.mobility.motors))
    rows: list[np.ndarray] = []
    for name, part in zip(Point._fields, Point(*log.reference), strict=True):
        rows.append(np.asarray(part, float) if part is not None else np.gradient(rows[-1], period, axis=0))
        _fits(rows[-1], shape, f"{where}, reference.{name}")
    return np.stack(rows, axis=1)


def _fits(array: Any, shape: tuple[int, ...], where: str) -> None:
    if np.shape(array) != shape:
        raise ShapeError("wrong shape", where=where, got=np.shape(array), expected=str(shape))
