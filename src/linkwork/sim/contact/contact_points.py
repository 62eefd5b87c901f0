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
    """The robot with a contact at each point of those that touch the ground by several, as soles by their corners."""
    contacts, frames = [], dict(model.frames)
    for contact in model.switched:
        if len(contact.kind.points) == 1:
            contacts.append(contact)
            continue
        body, pose = contact.second.body, contact.second.pose
        for k, (x, y) in enumerate(contact.kind.points, 1):
            name = f"{contact.name}.{k}"
            frames[name] = Frame(name, body, Pose(pose.rotation, pose.origin + pose.outward(Vector(x, y, 0))))
            contacts.append(Constraint(name, contact.kind.at_point, contact.first, frames[name]))
    return replace(model, constraints=(*model.permanent, *contacts), frames=frames)


def standing_position(model: Model, q: Any = None) -> np.ndarray:
    """See ``Robot.standing_position``."""
    if not (model.switched and model.moving_base):
        got, fix = (
            "no contacts with a switch" if not model.switched else "a fixed base",
            "load it with base='floating', and name its contacts",
        )
        raise UnsupportedError(
            "only a floating robot with contacts stands", where=f"robot {model.name!r}", got=got, fix=fix
        )
    q, points = np.array(rest(model) if q is None else vector(model, "q", q, "q")), on_corners(model)
    heights = places_at(points, q)[..., 2::3]
    q[..., 2] -= heights.min(axis=-1)
    return q
