"""A log as a simulation of a robot sees it: measured columns in their places, states to start from, the command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...formulations import layouts
from ..logs.filters import even
from ..logs.log import Log

if TYPE_CHECKING:
    from ...robot import Robot


@dataclass(frozen=True, eq=False)
class Recorded:
    """``q``, ``v``, ``tau``: NaN where nothing was measured; ``places`` and ``rates`` have no gaps. ``command``: tau,
    or of a controller the reference, (N, 3, motors)."""

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
    """Springs and other joints without a motor need not be measured; they are thought to begin at rest."""
    model, own, told = robot.model, layouts(robot.model), len(log.notes)
    log = even(log)
    reference = _reference(robot, log, where) if closed else np.zeros((0, 3, 0))
    if model.constrained:
        placed = replace(log, reference=None).for_robot(robot)
        q, v, tau, notes = placed.q, placed.v, placed.tau, placed.notes
        places, rates = q, v
    else:
        names, motors = model.coordinates.names, model.coordinates.whole(model.mobility.motors).names
        q = _continuous(_columns(log.q, log.joints, names, motors, f"{where}, q"), model.coordinates.quaternions)
        tau = _columns(log.tau, log.forces, own["tau"].names, own["motors"].names, f"{where}, tau")
        places = np.where(np.isfinite(q), q, model.coordinates.neutral())
        if log.v is None:
            v = _differences(robot, places, log.rate)
        else:
            v = _columns(log.v, log.rates, own["v"].names, own["motors"].names, f"{where}, v")
        rates, notes = np.where(np.isfinite(v), v, 0.0), log.notes
    keep = np.ones(len(log), bool) if log.keep is None else log.keep
    command = reference if closed else np.where(np.isfinite(tau), tau, 0.0)
    return Recorded(1 / log.rate, q, v, tau, places, rates, command, keep, tuple(notes[told:]))


def _columns(
    array: np.ndarray, given: Sequence[str], names: Sequence[str], motors: Sequence[str], where: str
) -> np.ndarray:
    """In the order of ``names``, NaN where there is none. Without names they are all, or those of the motors."""
    if not given:
        if array.shape[1] not in (len(names), len(motors)):
            expected = f"{len(names)} ({', '.join(names)})"
            if len(motors) not in (0, len(names)):
                expected += f" or {len(motors)} ({', '.join(motors)})"
            raise ShapeError(
                "the columns do not fit the robot", where=where, got=f"{array.shape[1]} columns", expected=expected
            )
        given = names if array.shape[1] == len(names) else motors
    for name in given:
        if name not in names:
            raise UnknownNameError("joint", name, names, where=where)
    for name in motors:
        if name not in given:
            raise LinkworkError(f"the log has nothing of {name!r}", where=where, got=", ".join(given))
    found = np.full((len(array), len(names)), np.nan)
    found[:, [names.index(name) for name in given]] = array
    return found


def _continuous(q: np.ndarray, quaternions: Iterable[Any]) -> np.ndarray:
    """With signs of quaternions that do not jump, as those of a simulation do not."""
    for at in quaternions:
        part = q[:, at]
        turned = np.where((part[1:] * part[:-1]).sum(axis=1) < 0, -1.0, 1.0)
        q[1:, at] *= np.cumprod(turned)[:, None]
    return q


def _differences(robot: Robot, q: np.ndarray, rate: float) -> np.ndarray:
    """Of positions, along the tangent of their coordinates."""
    steps = rate * np.asarray(robot.coordinates.difference(q[:-1], q[1:]))
    return np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])


def _reference(robot: Robot, log: Log, where: str) -> np.ndarray:
    """(N, 3, motors); rates that are missing are differences."""
    if log.reference is None:
        raise LinkworkError(
            "a controller follows a reference", where=f"{where}, reference", got="none",
            fix="Log(..., reference=Point(q, v, a)), arrays over time",
        )  # fmt: skip
    model = robot.model
    motors = model.coordinates.whole(model.mobility.motors).names
    rows: list[np.ndarray] = []
    for name, part in zip(Point._fields, log.reference, strict=True):
        if part is None:
            rows.append(np.gradient(rows[-1], 1 / log.rate, axis=0))
            continue
        given = log.joints if len(log.joints) == part.shape[1] else model.coordinates.names
        if part.shape[1] != len(motors):
            found = _columns(part, given, given, motors, f"{where}, reference.{name}")
            part = found[:, [given.index(motor) for motor in motors]]
        elif set(given) == set(motors):
            part = part[:, [given.index(motor) for motor in motors]]
        rows.append(part)
    return np.stack(rows, axis=1)
