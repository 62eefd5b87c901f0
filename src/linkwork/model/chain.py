"""The path from the ground to one frame, as a robot of its own."""

from __future__ import annotations

from dataclasses import replace

from ..errors import ModelError
from .flexible.station import Station
from .model import Model


def chain(model: Model, tip: str) -> Model:
    """The bodies that carry the frame ``tip``. Other branches are left out, with their inertia."""
    end = model.frame(tip).body
    if model.loops:
        message = "the chain to a frame is for robots without loops, whose other branches can be left out"
        raise ModelError(message, where=f"robot {model.name!r}", got=", ".join(loop.name for loop in model.loops))
    path = sorted((end, *model.ancestors(end))) if end else []
    number = {0: 0} | {i: k for k, i in enumerate(path, 1)}
    bodies = tuple(replace(model.body(i), parent=number[model.body(i).parent]) for i in path)
    names = {body.joint.name for body in bodies}
    for body in bodies:
        if body.joint.leader is not None and body.joint.leader not in names:
            untied = "" if isinstance(body.joint.kind.material, Station) else "load with mimic=False, or "
            raise ModelError(
                f"joint {body.joint.name!r} follows {body.joint.leader!r}, which is not on the way to {tip!r}",
                where=f"robot {model.name!r}",
                fix=f"{untied}lock {body.joint.leader!r}",
            )
    frames = {
        name: replace(frame, body=number[frame.body]) for name, frame in model.frames.items() if frame.body in number
    }
    transmissions = [each.among(names) for each in model.transmissions]
    places = model.coordinates.positions.places
    home = [x for joint, at in places.items() if joint in names for x in model.home[at]]
    return replace(
        model,
        name=f"{model.name}:{tip}",
        bodies=bodies,
        frames=frames,
        link_names=tuple(name for name in model.link_names if name in frames),
        home=tuple(home),
        forces=tuple((replace(at, body=number[at.body]), law) for at, law in model.forces if at.body in number),
        transmissions=tuple(each for each in transmissions if each.joints),
        feet=tuple(foot for foot in model.feet if foot.frame in frames),
    )
