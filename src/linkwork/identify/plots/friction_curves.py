"""Friction over velocity, as it was found, and what the data say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...formulations import drives_of
from ...model import Model
from ..regression.unknowns import split
from .force_curves import FEWEST, Curves

if TYPE_CHECKING:
    from ..fit import Fit

BEYOND = 1.2  # of the measured velocities: how far friction is drawn
POINTS = 121  # to either side


@dataclass(frozen=True, eq=False)
class FrictionCurve:
    """``force`` and the one ``before`` the fit over ``v``; ``fastest``: the data reach so far. ``seen_v``, ``seen``:
    what was measured less all else that is predicted, on average in classes of velocity; empty for motors, whose
    friction acts on several joints."""

    name: str
    v: np.ndarray
    force: np.ndarray
    before: np.ndarray
    fastest: float
    seen_v: np.ndarray
    seen: np.ndarray


def friction_curves(fit: Fit, data: Sequence[Curves]) -> list[FrictionCurve]:
    """Of the joints and motors whose friction was to be found; none where no data tell which velocities matter."""
    if not data:
        return []
    model = fit.robot.model
    thought = {drive.name: drive for drive in drives_of(fit.unknowns.changed(_prior(fit)).model)}
    owners = {owner for owner, element in map(split, fit.standard) if element not in ("IA", "K")}
    reached = dict(zip((motor.name for each in model.transmissions for motor in each.motors),
                       np.max([each.motors for each in data], axis=0), strict=True))  # fmt: skip
    forces = _forces(fit)
    found = []
    for drive in drives_of(model):
        if drive.name not in owners or not (drive.name in forces or drive.name in reached):
            continue
        classes = np.zeros((0, 3))
        fastest = reached.get(drive.name, 0.0)
        if drive.name in forces:
            k, rate = forces[drive.name]
            fastest, classes = float(fit.fastest[rate]), np.sum([each.classes[k] for each in data], axis=0)
            classes = classes[classes[:, 0] >= FEWEST]
        if not fastest > 0:
            continue
        half = np.linspace(0, BEYOND * fastest, POINTS)[1:]
        v = np.concatenate([-half[::-1], [-1e-9 * fastest, 1e-9 * fastest], half])  # either side of a jump at zero
        seen_v, left = classes[:, 1] / classes[:, 0], classes[:, 2] / classes[:, 0]
        curves = _force(drive, v, model), _force(thought[drive.name], v, model)
        found.append(FrictionCurve(drive.name, v, *curves, float(fastest), seen_v, left + _force(drive, seen_v, model)))
    return found


def _prior(fit: Fit) -> dict[str, float]:
    return dict(zip(fit.standard.names, fit.standard.prior.tolist(), strict=True))


def _force(drive: Any, v: np.ndarray, model: Model) -> np.ndarray:
    return drive.friction_force(v, model.friction_width) + np.zeros(len(v))


def _forces(fit: Fit) -> dict[str, tuple[int, int]]:
    """Joints with one force and one velocity of their own -> which of the forces, and of the velocities."""
    coordinates, mobility = fit.robot.coordinates, fit.robot.model.mobility
    places = {freedom: k for k, freedom in enumerate(mobility.independent)}
    return {
        coordinates.joint_of(freedom).name: (k, places[freedom])
        for k, freedom in enumerate(mobility.forced)
        if freedom in places and coordinates.position_of(freedom) is not None
    }
