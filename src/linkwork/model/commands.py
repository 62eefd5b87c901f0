"""Commands: numbers that force laws of the surroundings take, such as the thrust of a rotor.

A law that takes some has an attribute ``commands``, what each is -> its unit, and gets their values as a third
argument. In the vector of all commands of a robot they are called after the frame the law acts at: FRAME where a law
has one, FRAME.part where it has several.
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
    """Of all laws, in order."""
    found: dict[str, Mapping[str, str]] = {}
    for frame, law in forces:
        where, own = f"{robot}: forces at {frame.name!r}", getattr(law, "commands", {})
        if isinstance(law, type) or not callable(law):
            fix = f"give one with its numbers, {law.__name__}(...)" if isinstance(law, type) else ""
            expected = "a function of pose and velocity, such as linkwork.forces.Thruster()"
            raise ModelError("this is no force law", where=where, got=repr(law)[:80], expected=expected, fix=fix)
        if not isinstance(own, Mapping) or not all(isinstance(x, str) for pair in own.items() for x in pair):
            expected = "what each is -> its unit, {'force': 'N'}"
            raise ModelError("these are no commands of a law", where=where, got=repr(own)[:80], expected=expected)
        if own and frame.name in found:
            raise ModelError(
                "two force laws take commands at one frame",
                where=where,
                got=", ".join([*found[frame.name], *own]),
                expected="commands that are told apart by their frames",
                fix="give one of the laws a frame of its own, at the same place",
            )
        if own:
            found[frame.name] = own
    layout = Layout(
        tuple(Segment(at, tuple(own) if len(own) > 1 else ("",), tuple(own.values())) for at, own in found.items())
    )
    if twice := [name for name in layout.names if layout.names.count(name) > 1]:
        raise ModelError("two commands are called the same", where=robot, got=twice[0], fix="rename one of the frames")
    return layout


def command_vector(layout: Layout, commands: Any, where: str) -> np.ndarray:
    """(n,) of any scalars, from commands in order or by name."""
    if isinstance(commands, Mapping):
        commands = layout.to_array(commands, where, lambda value, _: np.array(value, dtype=object), "command")
    array = np.array(commands, dtype=object)
    if array.shape != (layout.size,):
        expected = f"{layout.size} commands: {', '.join(layout.names) or 'none'}"
        raise ShapeError("commands do not fit the robot", where=where, got=f"shape {array.shape}", expected=expected)
    return array


@dataclass(frozen=True)
class Commanded:
    """A law under commands: it takes none any more."""

    law: Any
    values: Sequence[Scalar]

    @property
    def takes_gravity(self) -> bool:
        return getattr(self.law, "takes_gravity", False)

    def __call__(self, pose: Any, velocity: Any, **surroundings: Any) -> Any:
        return self.law(pose, velocity, self.values, **surroundings)


def commanded(model: Model, values: Sequence[Scalar]) -> Model:
    """The robot under these commands, of any scalar."""
    places = model.commands.places
    forces = (
        (frame, Commanded(law, values[places[frame.name]]) if getattr(law, "commands", {}) else law)
        for frame, law in model.forces
    )
    return replace(model, forces=tuple(forces))
