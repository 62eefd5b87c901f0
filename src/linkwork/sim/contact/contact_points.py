"""Points at which a robot touches the ground: soles as their corners, and positions at which it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...model import Constraint, Frame, Model
from ...spatial import Pose, Vector
from ..plant.constrained import places_at
from ..plant.initial_state import rest
from ..plant.inputs import vector


def on_corners(model: Model) -> Model:
    """The robot with four points in place of each sole."""
    feet, frames = [], dict(model.frames)
    for foot in model.switched:
        if not foot.kind.sole:
            feet.append(foot)
            continue
        own, point = foot.second, replace(foot.kind, size=())
        for k, (x, y) in enumerate(foot.kind.points, 1):
            name, corner = f"{foot.name}.{k}", Vector(x, y, 0)
            frames[name] = Frame(name, own.body, Pose(own.pose.rotation, own.pose.origin + own.pose.outward(corner)))
            feet.append(Constraint(name, point, foot.first, frames[name]))
    return replace(model, constraints=(*model.permanent, *feet), frames=frames)


def standing_position(model: Model, q: Any = None) -> np.ndarray:
    """See ``Robot.standing_position``."""
    if not (model.switched and model.moving_base):
        got, fix = (
            "no feet" if not model.switched else "a fixed base",
            "load it with base='floating', and name its feet",
        )
        raise UnsupportedError(
            "only a floating robot with feet stands", where=f"robot {model.name!r}", got=got, fix=fix
        )
    q, points = np.array(rest(model) if q is None else vector(model, "q", q, "q")), on_corners(model)
    heights = places_at(points, q)[..., 2::3]
    q[..., 2] -= heights.min(axis=-1)
    return q
