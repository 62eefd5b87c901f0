"""Recordings cut into segments that are simulated side by side, and what was commanded, at any delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import LinkworkError, UnknownNameError
from ..logs.log import Log
from .recorded import recorded

if TYPE_CHECKING:
    from ...robot import Robot

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
    logs: Sequence[Log],
    closed: bool,
    horizon: float,
    dt: float | None,
    outputs: Sequence[str] | None = None,
    lead: float = 0.0,
) -> Segments:
    """``closed``: a controller makes the torque, which then is an output; else it is the command. ``lead``: seconds of
    the command before the first segment, for one that acts later."""
    found = [recorded(robot, log, closed, f"log {k}" if len(logs) > 1 else "log") for k, log in enumerate(logs)]
    periods = [each.period for each in found]
    period = periods[0]
    if np.ptp(periods) > UNEVEN * period:
        got = f"periods from {min(periods):g} to {max(periods):g} s"
        raise LinkworkError("recordings have different rates", where="logs", got=got, fix="log.resampled(rate) of each")
    names = _outputs(logs, closed, outputs)
    lengths = [len(each.q) for each in found]
    begin = round(lead / period)
    rows = min(round(horizon / period), max(lengths) - begin - 1)
    if rows < 2:
        got = f"{rows + 1} samples at {1 / period:g} Hz"
        fix = "a longer horizon, or a longer recording"
        raise LinkworkError("a segment has too few samples", where="horizon", got=got, expected="3 or more", fix=fix)
    starts, at = [], 0
    for length in lengths:
        starts += [(at + k, at, at + length) for k in range(begin, length - rows, rows)]
        at += length
    first, low, high = (np.array(column) for column in zip(*starts, strict=True))

    def whole(name: str) -> np.ndarray:
        return np.concatenate([getattr(each, name) for each in found])

    window = first[:, None] + np.arange(rows + 1)
    kept = whole("keep")[window][..., None]
    measured = {name: np.where(kept, whole(name)[window], np.nan) for name in names}
    if "tau" in measured:
        measured["tau"][:, -1] = np.nan  # the last record is made with the command of the step before
    left = sum(lengths) - len(np.unique(window))
    notes = [note for each in found for note in each.notes]
    notes += [f"{left} samples at the ends do not fill a segment, and are left out"] * bool(left)
    q0, v0 = (np.concatenate([getattr(each, name) for each in found])[first] for name in ("places", "rates"))
    return Segments(
        q0, v0, measured, whole("command"), first, np.stack([low, high], axis=1),
        period, rows, 1 if dt is None else max(1, round(period / dt)), tuple(notes),
    )  # fmt: skip


def _outputs(logs: Sequence[Log], closed: bool, asked: Sequence[str] | None) -> tuple[str, ...]:
    there = ["q", *["v"] * all(log.v is not None for log in logs), *["tau"] * closed]
    for name in asked or ():
        if name not in there:
            raise UnknownNameError("measured output", name, there, where="outputs")
    return tuple(name for name in there if asked is None or name in asked)
