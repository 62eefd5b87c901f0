"""The path from the ground to one frame, as a robot by itself."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from ..errors import ModelError
from .drive import Transmission
from .model import Frame, Model
from .places import places_of


def chain(model: Model, tip: str) -> Model:
    """Return the robot of the bodies that carry the frame ``tip``, without the other branches and their inertia."""
    end = model.frame(tip).body
    if model.constrained:
        message = "the chain to a frame is only for robots without loops"
        raise ModelError(message, where=f"robot {model.name!r}", got=", ".join(each.name for each in model.permanent))
    path = sorted((end, *model.ancestors(end))) if end else []
    number = {0: 0} | {i: k for k, i in enumerate(path, 1)}
    bodies = tuple(replace(model.body(i), parent=number[model.body(i).parent]) for i in path)
    names = {body.joint.name for body in bodies}
    for body in bodies:
        if body.joint.leader is not None and body.joint.leader not in names:
            untie = "" if body.joint.kind.tied else "load with mimic=False, or "
            raise ModelError(
                f"joint {body.joint.name!r} follows {body.joint.leader!r}, which is not on the way to {tip!r}",
                where=f"robot {model.name!r}",
                fix=f"{untie}lock {body.joint.leader!r}",
            )
    frames = {
        name: replace(frame, body=number[frame.body]) for name, frame in model.frames.items() if frame.body in number
    }
    for each in model.transmissions:
        _require_whole(model, tip, each, names)
    forces = [(at, law) for at, law in model.forces if _on_the_way(model, tip, at, law, number)]
    transmissions = [each.among(names, lambda _: 0.0) for each in model.transmissions]
    places = model.coordinates.positions.places
    home = [x for joint, at in places.items() if joint in names for x in model.home[at]]
    return replace(
        model,
        name=f"{model.name}:{tip}",
        bodies=bodies,
        frames=frames,
        link_names=tuple(name for name in model.link_names if name in frames),
        home=tuple(home),
        geometry=model.geometry and model.geometry.among(frames),
        forces=tuple((replace(at, body=number[at.body]), law) for at, law in forces),
        transmissions=tuple(each for each in transmissions if each.joints),
        constraints=tuple(
            replace(each, second=frames[each.second.name]) for each in model.switched if each.second.name in frames
        ),
    )


def _require_whole(model: Model, tip: str, transmission: Transmission, names: Container[str]) -> None:
    """Raise ModelError for a spring that is also stretched by joints outside the chain."""
    for motor, row in zip(transmission.motors, transmission.matrix, strict=True):
        joints = [name for name, ratio in zip(transmission.joints, row, strict=True) if ratio]
        outside = [name for name in joints if name not in names]
        if motor.stiffness and outside and len(outside) < len(joints):
            raise ModelError(
                f"the spring of {motor.name!r} is stretched by joint {outside[0]!r}, which is not in the chain",
                where=f"robot {model.name!r}, chain to {tip!r}",
                fix=f"lock {outside[0]!r}",
            )


def _on_the_way(model: Model, tip: str, frame: Frame, law: Any, number: Container[int]) -> bool:
    """Return whether a law acts only in the chain; raises ModelError if it also acts on other branches."""
    places = list(places_of(model, frame, law))
    outside = [place.name for place in places if place.body not in number]
    if outside and any(place.body in number and place.body for place in places):
        raise ModelError(
            f"a force law at {frame.name!r} reaches {outside[0]!r}, which is not on the way to {tip!r}",
            where=f"robot {model.name!r}",
            fix="take the chain of a robot without this law",
        )
    return not outside
