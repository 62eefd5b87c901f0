"""Player: the trajectories of a robot, and the time at which they are shown."""

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
    """One recorded motion: times (T,), positions (T, nq), velocities and accelerations (T, nv).

    Commands of force laws and contacts are zero by default. ``tau`` has the joint forces of a motion with contacts, if
    they were recorded.
    """

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
        """Return q, v, a, commands, contacts and tau at a time, in the order of the arguments of ``State.follow``.

        Values are interpolated between two recorded times, except for contacts, which hold from the first of them on.
        Before the first and after the last time they stay constant.
        """
        k = int(np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, max(len(self.t) - 2, 0)))
        after = min(k + 1, len(self.t) - 1)
        span = self.t[after] - self.t[k]
        part = float(np.clip((time - self.t[k]) / span, 0.0, 1.0)) if span > 0 else 0.0
        arrays = self.v, self.a, self.commands, self.tau
        v, a, commands, tau = (None if x is None else (1 - part) * x[k] + part * x[after] for x in arrays)
        way = self.coordinates.difference(self.q[k], self.q[after])
        return self.coordinates.integrate(self.q[k], part * way), v, a, commands, self.contacts[k], tau


def motions(robot: Robot, trajectory: Any, name: str) -> list[Motion]:
    """Return the motions of a Trajectory: one, or the first samples of a batch.

    A diverged motion ends where it diverged.
    """
    t = np.asarray(trajectory.arrays["t"], float)
    entries = layouts(robot.model)
    widths = {key: entries[key].size for key in ("q", "v", "a", "commands", "contacts")}
    widths |= {"tau": entries["tau"].size} if {"contacts", "tau"} <= trajectory.arrays.keys() else {}
    arrays = {key: trajectory.arrays[key] for key in widths if key in trajectory.arrays}
    shapes = {key: tuple(x.shape) for key, x in arrays.items()}
    if "q" not in arrays or any(shape[-1] != widths[key] for key, shape in shapes.items()):
        raise ShapeError(
            "this trajectory does not fit this robot",
            where=name,
            got=f"arrays of shapes {shapes}, of robot {trajectory.robot!r}",
            expected=f"q (..., times, {robot.nq}), v and a (..., times, {robot.nv}), the sizes of robot {robot.name!r}",
        )
    if not (len(t) and np.isfinite(t).all() and (np.diff(t) > 0).all()):
        raise ShapeError("these times cannot be played", where=name, got=t, expected="one or more increasing times")
    rows = {key: _samples(x) for key, x in arrays.items()}
    rows = {key: np.zeros((*rows["q"].shape[:2], width)) for key, width in widths.items()} | rows
    playable = []
    for k in range(len(rows["q"])):
        sample = {key: rows[key][k] for key in widths}
        finite = np.all([np.isfinite(x).all(axis=-1) for x in sample.values()], axis=0)
        end = len(t) if finite.all() else int(finite.argmin())
        if end:
            notes = *(() if end == len(t) else (f"It diverges after t = {t[end - 1]:g} s.",)), *trajectory.notes
            title = name if len(rows["q"]) == 1 else f"{name} [{k}]"
            sample = {key: x[:end] for key, x in sample.items()}
            playable.append(Motion(title, t[:end], **sample, coordinates=robot.coordinates, notes=notes))
    if not playable:
        raise ShapeError("no motion of this trajectory begins with finite numbers", where=name, got=shapes)
    return playable


def _samples(array: Any) -> np.ndarray:
    """Return the first samples (samples, times, entries) and read no others from an array on disk."""
    try:
        samples = np.asarray(array[:MOST] if len(array.shape) > 2 else array, float)
    except (OSError, RuntimeError, ValueError) as error:  # a damaged file
        raise ShapeError("the numbers of this trajectory cannot be read", got=error) from error
    return samples.reshape(-1, *samples.shape[-2:])[:MOST]


class Player:
    """Plays the motion with number ``chosen`` at ``speed`` times real time; the others are shown as ghosts."""

    def __init__(self) -> None:
        self.motions: list[Motion] = []
        self.chosen = 0
        self.time, self.speed = 0.0, 1.0
        self.playing, self.repeat = False, True

    def add(self, motions: list[Motion]) -> None:
        """Add motions, and choose the first of them."""
        self.chosen, self.time = len(self.motions), float(motions[0].t[0])
        self.motions += motions

    @property
    def motion(self) -> Motion | None:
        return self.motions[self.chosen] if self.motions else None

    @property
    def others(self) -> list[Motion]:
        return [motion for k, motion in enumerate(self.motions) if k != self.chosen]

    @property
    def span(self) -> tuple[float, float]:
        """First and last time of the chosen motion."""
        return (float(self.motion.t[0]), float(self.motion.t[-1])) if self.motion else (0.0, 0.0)

    def advance(self, elapsed: float) -> None:
        """Play on for ``elapsed`` seconds of the clock; at the end start again, or stop."""
        if not self.playing:
            return
        begin, end = self.span
        self.time += elapsed * self.speed
        if self.time > end:
            if self.repeat and end > begin:
                self.time = begin + (self.time - begin) % (end - begin)
            else:
                self.time, self.playing = end, False
