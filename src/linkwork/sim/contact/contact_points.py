"""Contact points of a robot: corners of soles, and positions at which it stands on the ground."""

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


def with_contact_points(model: Model) -> Model:
    """Return the robot with a point contact at each corner of a sole."""
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
    """Return positions with the lowest contact on the ground; see ``Robot.standing_position``."""
    if not (model.switched and model.moving_base):
        got = "a fixed base" if model.switched else "no contacts that can be switched on"
        fix, where = "load it with base='floating', and describe its contacts", f"robot {model.name!r}"
        raise UnsupportedError("only a floating robot with contacts stands", where=where, got=got, fix=fix)
    q = np.array(rest(model) if q is None else vector(model, "q", q, "q"))
    heights = places_at(with_contact_points(model), q)[..., 2::3]
    q[..., 2] -= heights.min(axis=-1)
    return q
