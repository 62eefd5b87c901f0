"""Player: trajectories of a robot, and the moment of them that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..formulations import layouts
from ..model import Coordinates
from ..robot import Robot

MOST = 8  # samples of a batch that are shown


@dataclass(frozen=True, eq=False)
class Motion:
    """One motion: times (T,), positions (T, nq), velocities and accelerations (T, nv), commands of force laws and
    contacts, zero where they are not told; what one must know of it; of one with contacts joint forces, if
    told."""

    name: str
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    commands: np.ndarray
    contacts: np.ndarray
    coordinates: Coordinates
    notes: tuple[str, ...] = ()
    tau: np.ndarray | None = None

    def at(self, time: float) -> tuple[np.ndarray | None, ...]:
        """q, v, a, commands and tau between the two recorded moments, and the contacts from the first of them on, as
        ``State.follow`` takes them; at the ends beyond them."""
        k = int(np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, max(len(self.t) - 2, 0)))
        after = min(k + 1, len(self.t) - 1)
        span = self.t[after] - self.t[k]
        part = float(np.clip((time - self.t[k]) / span, 0.0, 1.0)) if span > 0 else 0.0
        own = self.v, self.a, self.commands, self.tau
        v, a, commands, tau = (None if x is None else (1 - part) * x[k] + part * x[after] for x in own)
        way = self.coordinates.difference(self.q[k], self.q[after])
        return self.coordinates.integrate(self.q[k], part * way), v, a, commands, self.contacts[k], tau


def motions(robot: Robot, trajectory: Any, name: str) -> list[Motion]:
    """The motions of a Trajectory: one, or the first few samples of a batch; a diverged one as long as it lasted."""
    t = np.asarray(trajectory.arrays["t"], float)
    entries = layouts(robot.model)
    widths = {key: entries[key].size for key in ("q", "v", "a", "commands", "contacts")}
    widths |= {"tau": entries["tau"].size} if {"contacts", "tau"} <= trajectory.arrays.keys() else {}
    known = {key: trajectory.arrays[key] for key in widths if key in trajectory.arrays}
    shapes = {key: tuple(x.shape) for key, x in known.items()}
    if "q" not in known or any(shape[-1] != widths[key] for key, shape in shapes.items()):
        raise ShapeError(
            "this trajectory is not one of this robot",
            where=name,
            got=f"arrays of shapes {shapes}, of robot {trajectory.robot!r}",
            expected=f"q of shape (..., times, {robot.nq}), v and a of (..., times, {robot.nv}), as {robot.name!r} has",
        )
    if not (len(t) and np.isfinite(t).all() and (np.diff(t) > 0).all()):
        raise ShapeError("these times cannot be played", where=name, got=t, expected="one or more that increase")
    rows = {key: _samples(x) for key, x in known.items()}
    rows = {key: np.zeros((*rows["q"].shape[:2], width)) for key, width in widths.items()} | rows
    found = []
    for k in range(len(rows["q"])):
        each = [rows[key][k] for key in widths]
        finite = np.all([np.isfinite(x).all(axis=-1) for x in each], axis=0)
        end = len(t) if finite.all() else int(finite.argmin())
        if end:
            ends = () if end == len(t) else (f"It diverges after t = {t[end - 1]:g} s.",)
            called = name if len(rows["q"]) == 1 else f"{name} [{k}]"
            told = *ends, *trajectory.notes
            own = {key: x[:end] for key, x in zip(widths, each, strict=True)}
            found.append(Motion(called, t[:end], **own, coordinates=robot.coordinates, notes=told))
    if not found:
        raise ShapeError("no motion of this trajectory begins with finite numbers", where=name, got=shapes)
    return found


def _samples(array: Any) -> np.ndarray:
    """The first few samples (samples, times, entries); of arrays on disk no more is read."""
    try:
        some = np.asarray(array[:MOST] if len(array.shape) > 2 else array, float)
    except (OSError, RuntimeError, ValueError) as error:  # of a damaged file
        raise ShapeError("the numbers of this trajectory cannot be read", got=error) from error
    return some.reshape(-1, *some.shape[-2:])[:MOST]


class Player:
    """Plays one motion, ``chosen``, beside the others, at ``speed`` times real time."""

    def __init__(self) -> None:
        self.motions: list[Motion] = []
        self.chosen = 0
        self.time, self.speed = 0.0, 1.0
        self.playing, self.repeat = False, True

    def add(self, added: list[Motion]) -> None:
        """The first of them is chosen, from its beginning."""
        self.chosen, self.time = len(self.motions), float(added[0].t[0])
        self.motions += added

    @property
    def motion(self) -> Motion | None:
        return self.motions[self.chosen] if self.motions else None

    @property
    def others(self) -> list[Motion]:
        return [motion for k, motion in enumerate(self.motions) if k != self.chosen]

    @property
    def span(self) -> tuple[float, float]:
        """From the beginning to the end of the chosen motion."""
        return (float(self.motion.t[0]), float(self.motion.t[-1])) if self.motion else (0.0, 0.0)

    def advance(self, elapsed: float) -> None:
        """Go on by ``elapsed`` seconds of the clock; at the end begin again, or stop there."""
        if not self.playing:
            return
        begin, end = self.span
        self.time += elapsed * self.speed
        if self.time > end:
            if self.repeat and end > begin:
                self.time = begin + (self.time - begin) % (end - begin)
            else:
                self.time, self.playing = end, False
