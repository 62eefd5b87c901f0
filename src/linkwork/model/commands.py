"""Commands: inputs of force laws, such as the thrust of a rotor.

A law with commands has an attribute ``commands``, command -> unit, and gets their values as a third argument. In the
vector of all commands of a robot, FRAME is the command of the law at that frame; FRAME.command if it has several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, ShapeError
from ..scalar import Scalar
from .coordinates import Layout, Segment

if TYPE_CHECKING:
    from .model import Frame, Model


def commands_of(robot: str, forces: Sequence[tuple[Frame, Any]]) -> Layout:
    """Return the layout of the commands of all laws, in order."""
    by_frame: dict[str, Mapping[str, str]] = {}
    for frame, law in forces:
        where, commands = f"{robot}: forces at {frame.name!r}", getattr(law, "commands", {})
        if isinstance(law, type) or not callable(law):
            fix = f"give a law with its numbers, {law.__name__}(...)" if isinstance(law, type) else ""
            expected = "a function of pose and velocity, such as linkwork.forces.Thruster()"
            raise ModelError("this is not a force law", where=where, got=repr(law)[:80], expected=expected, fix=fix)
        if not isinstance(commands, Mapping) or not all(isinstance(x, str) for pair in commands.items() for x in pair):
            expected = "command -> unit, {'force': 'N'}"
            raise ModelError("wrong commands of a force law", where=where, got=repr(commands)[:80], expected=expected)
        if commands and frame.name in by_frame:
            raise ModelError(
                "two force laws have commands at one frame",
                where=where,
                got=", ".join([*by_frame[frame.name], *commands]),
                expected="one law with commands at each frame",
                fix="give one of the laws another frame at the same place",
            )
        if commands:
            by_frame[frame.name] = commands
    parts = {frame: tuple(each) if len(each) > 1 else ("",) for frame, each in by_frame.items()}
    layout = Layout(tuple(Segment(at, parts[at], tuple(each.values())) for at, each in by_frame.items()))
    if twice := [name for name in layout.names if layout.names.count(name) > 1]:
        raise ModelError("two commands have the same name", where=robot, got=twice[0], fix="rename one of the frames")
    return layout


def command_vector(layout: Layout, commands: Any, where: str) -> np.ndarray:
    """Return the vector (n,) of any scalars, from commands in order or by name."""
    if isinstance(commands, Mapping):
        commands = layout.to_array(commands, where, lambda value, _: np.array(value, dtype=object), "command")
    array = np.array(commands, dtype=object)
    if array.shape != (layout.size,):
        expected = f"{layout.size} commands: {', '.join(layout.names) or 'none'}"
        raise ShapeError("commands do not fit the robot", where=where, got=f"shape {array.shape}", expected=expected)
    return array


@dataclass(frozen=True)
class Commanded:
    """A force law with the values of its commands: it has no commands itself."""

    law: Any
    values: Sequence[Scalar]

    @property
    def takes_gravity(self) -> bool:
        return getattr(self.law, "takes_gravity", False)

    def __call__(self, pose: Any, velocity: Any, **surroundings: Any) -> Any:
        return self.law(pose, velocity, self.values, **surroundings)


def commanded(model: Model, values: Sequence[Scalar]) -> Model:
    """Return the robot with fixed values of its commands, of any scalar."""
    places = model.commands.places
    forces = (
        (frame, Commanded(law, values[places[frame.name]]) if getattr(law, "commands", {}) else law)
        for frame, law in model.forces
    )
    return replace(model, forces=tuple(forces))
