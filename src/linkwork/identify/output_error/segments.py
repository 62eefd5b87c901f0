"""Recordings as a simulation sees them: measured columns in their places, initial states, the command at any delay.

They are cut into segments that are simulated in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, UnknownNameError, at_door
from ...formulations import layouts
from ...notes import Note
from ..logs.filters import even, without_flips
from ..logs.log import Log

if TYPE_CHECKING:
    from ...robot import Robot


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recording in the order of a robot.

    Attributes:
        period: Time between samples in s.
        q, v, tau: Measured values, NaN where nothing was measured.
        places, rates: Positions and velocities without gaps.
        command: tau, or for a controller the reference, (N, 3, motors).
        keep: Mask of the samples that count.
        notes: What was done.
    """

    period: float
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    places: np.ndarray
    rates: np.ndarray
    command: np.ndarray
    keep: np.ndarray
    notes: tuple[str, ...]


def recorded(robot: Robot, log: Log, closed: bool, where: str = "log") -> Recorded:
    """Return the recording; joints without a motor need not be measured, and are assumed to begin at rest."""
    model, layout, before = robot.model, layouts(robot.model), len(log.notes)
    log = even(log)
    reference = _reference(robot, log, where) if closed else np.zeros((0, 3, 0))
    if model.constrained:
        log_in_order = replace(log, reference=None).for_robot(robot)
        q, v, tau, notes = log_in_order.q, log_in_order.v, log_in_order.tau, log_in_order.notes
        places, rates = q, v
    else:
        names, motors = model.coordinates.names, model.coordinates.whole(model.mobility.motors).names
        q = _columns(log.q, log.joints, names, motors, f"{where}, q")
        q = without_flips(q, [at.start for at in model.coordinates.quaternions])
        tau = _columns(log.tau, log.forces, layout["tau"].names, layout["motors"].names, f"{where}, tau")
        places = np.where(np.isfinite(q), q, model.coordinates.neutral())
        if log.v is None:
            v = _differences(robot, places, log.rate)
        else:
            v = _columns(log.v, log.rates, layout["v"].names, layout["motors"].names, f"{where}, v")
        rates, notes = np.where(np.isfinite(v), v, 0.0), log.notes
    keep = np.ones(len(log), bool) if log.keep is None else log.keep
    command = reference if closed else np.where(np.isfinite(tau), tau, 0.0)
    return Recorded(1 / log.rate, q, v, tau, places, rates, command, keep, tuple(notes[before:]))


def _columns(
    array: np.ndarray, columns: Sequence[str], names: Sequence[str], motors: Sequence[str], where: str
) -> np.ndarray:
    """Return columns in the order of ``names``, NaN if missing; unnamed ones are all, or those of the motors."""
    if not columns:
        if array.shape[1] not in (len(names), len(motors)):
            expected = f"{len(names)} ({', '.join(names)})"
            if len(motors) not in (0, len(names)):
                expected += f" or {len(motors)} ({', '.join(motors)})"
            raise ShapeError(
                "the columns do not fit the robot", where=where, got=f"{array.shape[1]} columns", expected=expected
            )
        columns = names if array.shape[1] == len(names) else motors
    for name in columns:
        if name not in names:
            raise UnknownNameError("joint", name, names, where=where)
    for name in motors:
        if name not in columns:
            raise LinkworkError(f"the log has no column of {name!r}", where=where, got=", ".join(columns))
    result = np.full((len(array), len(names)), np.nan)
    result[:, [names.index(name) for name in columns]] = array
    return result


def _differences(robot: Robot, q: np.ndarray, rate: float) -> np.ndarray:
    """Return differences of positions, along the tangent of their coordinates."""
    steps = rate * np.asarray(robot.coordinates.difference(q[:-1], q[1:]))
    return np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])


def _reference(robot: Robot, log: Log, where: str) -> np.ndarray:
    """Return the reference (N, 3, motors); missing rates are differences."""
    if log.reference is None:
        raise LinkworkError(
            "the controller needs a reference", where=f"{where}, reference", got="none",
            fix="Log(..., reference=Point(q, v, a)), arrays over time",
        )  # fmt: skip
    model = robot.model
    motors = model.coordinates.whole(model.mobility.motors).names
    rows: list[np.ndarray] = []
    for name, part in zip(Point._fields, log.reference, strict=True):
        if part is None:
            rows.append(np.gradient(rows[-1], 1 / log.rate, axis=0))
            continue
        columns = log.joints if len(log.joints) == part.shape[1] else model.coordinates.names
        if part.shape[1] != len(motors):
            columns_in_order = _columns(part, columns, columns, motors, f"{where}, reference.{name}")
            part = columns_in_order[:, [columns.index(motor) for motor in motors]]
        elif set(columns) == set(motors):
            part = part[:, [columns.index(motor) for motor in motors]]
        rows.append(part)
    return np.stack(rows, axis=1)


UNEVEN = 1e-3  # largest relative difference of periods of one rate


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of recordings.

    Attributes:
        q0, v0: States at the starts.
        measured: Outputs by name, (segments, rows, entries), NaN where nothing was measured.
        command: The command (N, ...) over all recordings.
        first: Place of each segment in the command.
        ends: Where the recording of each segment begins and ends in the command, (segments, 2).
        period: Time between samples in s.
        rows: Number of sample intervals of a segment, its samples less one.
        parts: Steps per sample.
        notes: What was done.
    """

    q0: np.ndarray
    v0: np.ndarray
    measured: dict[str, np.ndarray]
    command: np.ndarray
    first: np.ndarray
    ends: np.ndarray
    period: float
    rows: int
    parts: int
    notes: tuple[Note, ...] = ()

    @property
    def dt(self) -> float:
        return self.period / self.parts

    @property
    def steps(self) -> int:
        return self.rows * self.parts

    def commanded(self, delay: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the command at each step, (segments, steps, ...), and its derivative with respect to the delay.

        Between samples it is linear, which is the mean over a step of a command held from sample to sample; beyond the
        ends it is constant.
        """
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
    logs: Sequence[Log],
    closed: bool,
    horizon: float,
    dt: float | None,
    outputs: Sequence[str] | None = None,
    lead: float = 0.0,
) -> Segments:
    """Return the segments of recordings.

    Args:
        robot: The robot.
        logs: Recordings at one rate.
        closed: Whether a controller makes the torque, which then is an output; else it is the command.
        horizon: Length of a segment in s.
        dt: Time step in s. Default: the period of the recordings.
        outputs: Outputs that are compared. Default: all that were measured.
        lead: Seconds of the command before the first segment, for a delayed one.
    """
    recordings = [recorded(robot, log, closed, f"log {k}" if len(logs) > 1 else "log") for k, log in enumerate(logs)]
    periods = [each.period for each in recordings]
    period = periods[0]
    if np.ptp(periods) > UNEVEN * period:
        got = f"periods from {min(periods):g} to {max(periods):g} s"
        fix = at_door("log.resampled(rate) of each", "give recordings of one rate")
        raise LinkworkError("recordings have different rates", where="logs", got=got, fix=fix)
    names = _outputs(logs, closed, outputs)
    lengths = [len(each.q) for each in recordings]
    begin = round(lead / period)
    rows = min(round(horizon / period), max(lengths) - begin - 1)
    if rows < 2:
        got = f"{rows + 1} samples at {1 / period:g} Hz"
        fix = at_door("use a longer horizon, or a longer recording", "give a longer recording")
        raise LinkworkError("a segment has too few samples", where="horizon", got=got, expected="3 or more", fix=fix)
    starts, at = [], 0
    for length in lengths:
        starts += [(at + k, at, at + length) for k in range(begin, length - rows, rows)]
        at += length
    first, low, high = (np.array(column) for column in zip(*starts, strict=True))

    def whole(name: str) -> np.ndarray:
        return np.concatenate([getattr(each, name) for each in recordings])

    window = first[:, None] + np.arange(rows + 1)
    mask = whole("keep")[window][..., None]
    measured = {name: np.where(mask, whole(name)[window], np.nan) for name in names}
    if "tau" in measured:
        measured["tau"][:, -1] = np.nan  # the last record is made with the command of the step before
    overlap = sum(lengths) - len(np.unique(window))
    notes = [Note("log", note) for each in recordings for note in each.notes]
    if overlap:
        text = f"{overlap} samples at the ends do not fill a segment, and are left out"
        notes.append(Note("samples-left-out", text, values={"samples": overlap}))
    q0, v0 = (np.concatenate([getattr(each, name) for each in recordings])[first] for name in ("places", "rates"))
    return Segments(
        q0, v0, measured, whole("command"), first, np.stack([low, high], axis=1),
        period, rows, 1 if dt is None else max(1, round(period / dt)), tuple(notes),
    )  # fmt: skip


def _outputs(logs: Sequence[Log], closed: bool, choice: Sequence[str] | None) -> tuple[str, ...]:
    measured = ["q", *["v"] * all(log.v is not None for log in logs), *["tau"] * closed]
    for name in choice or ():
        if name not in measured:
            raise UnknownNameError("measured output", name, measured, where="outputs")
    return tuple(name for name in measured if choice is None or name in choice)
