"""Feet as a simulation takes them: soles as corners, robots put on the ground, and what their forces mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..constraints.feet import numbers_of
from ..errors import ShapeError, UnsupportedError
from ..model import Foot, Frame, Model
from ..model.coordinates import real_numbers
from ..spatial import Pose, Vector
from .plant.initial_state import rest
from .plant.inputs import vector
from .supported import places_at

CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
NOTHING = 1e-9  # of the largest force, and of a sole: less is none


def on_corners(model: Model) -> Model:
    """The robot with four points in place of each sole."""
    feet, frames = [], dict(model.frames)
    for foot in model.feet:
        if not foot.sole:
            feet.append(foot)
            continue
        own = model.frame(foot.frame)
        for k, (x, y) in enumerate(CORNERS, 1):
            name, corner = f"{foot.name}.{k}", Vector(x * foot.size[0] / 2, y * foot.size[1] / 2, 0)
            frames[name] = Frame(name, own.body, Pose(own.pose.rotation, own.pose.origin + own.pose.outward(corner)))
            feet.append(Foot(name, name, (), foot.friction, foot.restitution))
    return replace(model, feet=tuple(feet), frames=frames)


def standing(model: Model, q: Any = None) -> np.ndarray:
    """See ``Robot.standing``."""
    if not (model.feet and model.moving_base):
        got, fix = "no feet" if not model.feet else "a fixed base", "load it with base='floating', and name its feet"
        raise UnsupportedError(
            "only a floating robot with feet stands", where=f"robot {model.name!r}", got=got, fix=fix
        )
    q, points = np.array(rest(model) if q is None else vector(model, "q", q, "q")), on_corners(model)
    heights = places_at(points, q)[..., 2::3]
    q[..., 2] -= heights.min(axis=-1)
    return q


@dataclass(frozen=True)
class FootLoads:
    """What forces on the feet mean, arrays (..., feet): ``normal`` and ``tangential`` force in N, positive where the
    ground pushes; ``needed``: the friction that keeps a foot from slipping, tangential over normal; ``centre``
    (..., feet, 2): of pressure, in the axes of a sole in m, not a number of points and of feet without load."""

    feet: tuple[Foot, ...]
    normal: np.ndarray
    tangential: np.ndarray
    centre: np.ndarray

    @cached_property
    def needed(self) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.loaded, self.tangential / np.where(self.loaded, self.normal, 1.0), 0.0)

    @cached_property
    def loaded(self) -> np.ndarray:
        """Does the ground push?"""
        return self.normal > NOTHING * np.abs(self.normal).max(initial=1e-300)

    @cached_property
    def pulls(self) -> np.ndarray:
        """Would the ground have to pull? Then the foot lifts off."""
        return self.normal < -NOTHING * np.abs(self.normal).max(initial=1e-300)

    @cached_property
    def slips(self) -> np.ndarray:
        """Is the force outside the cone of friction? One that slides is on it."""
        largest = np.abs(self.normal).max(initial=1e-300)
        outside = self.needed > (1 + NOTHING) * np.array([foot.friction for foot in self.feet])
        return outside & (self.tangential > NOTHING * largest)

    @cached_property
    def tips(self) -> np.ndarray:
        """Is the centre of pressure outside the sole?"""
        half = np.array([foot.size or (np.inf, np.inf) for foot in self.feet]) / 2
        return np.any(np.abs(self.centre) > half * (1 + NOTHING), axis=-1)

    def __str__(self) -> str:
        if self.normal.ndim > 1:
            return f"loads of {', '.join(foot.name for foot in self.feet)} at {self.normal[..., 0].size} states"
        lines = [f"{'foot':12} {'normal N':>10} {'along N':>10} {'needs mu':>9} {'has':>6}  centre of pressure m"]
        for k, foot in enumerate(self.feet):
            centre = ", ".join(f"{x:.4f}" for x in self.centre[k]) if np.isfinite(self.centre[k]).all() else "-"
            said = [word for word in ("pulls", "slips", "tips") if getattr(self, word)[k]]
            lines.append(
                f"{foot.name:12} {self.normal[k]:10.3f} {self.tangential[k]:10.3f} {self.needed[k]:9.3f}"
                f" {foot.friction:6.3g}  {centre}{'  ' + ', '.join(said) if said else ''}"
            )
        return "\n".join(lines)


def foot_loads(model: Model, q: Any, forces: Any) -> FootLoads:
    """See ``Robot.foot_loads``."""
    q, forces, n = real_numbers(q, "q"), real_numbers(forces, "forces"), len(model.feet)
    if forces.shape[-1:] == (6 * n,) and forces.shape[-2:] != (n, 6):
        forces = forces.reshape(*forces.shape[:-1], n, 6)
    if forces.shape[-2:] != (n, 6) or forces.shape[:-2] != q.shape[:-1] or q.shape[-1:] != (model.nq,):
        got, expected = (
            f"{q.shape} and {forces.shape}",
            f"(..., {model.nq}) and (..., {n}, 6), with the same axes first",
        )
        raise ShapeError("positions and forces on the feet do not fit", where="foot_loads", got=got, expected=expected)
    places, ends = places_at(model, q), np.cumsum(numbers_of(model))
    centre = np.full((*forces.shape[:-1], 2), np.nan)
    normal = forces[..., 2]
    for k, foot in enumerate(model.feet):
        if foot.sole:
            R = places[..., ends[k] - 9 : ends[k]].reshape(*q.shape[:-1], 3, 3)
            moment = np.einsum("...ji,...j->...i", R, forces[..., k, 3:])
            push = np.where(normal[..., k] > 0, normal[..., k], np.nan)
            centre[..., k, 0], centre[..., k, 1] = -moment[..., 1] / push, moment[..., 0] / push
    return FootLoads(model.feet, normal, np.hypot(forces[..., 0], forces[..., 1]), centre)
