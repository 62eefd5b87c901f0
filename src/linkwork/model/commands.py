"""Commands: numbers that force laws of the surroundings take, such as the thrust of a rotor.

A law that takes some has an attribute ``commands``, what each is -> its unit, and gets their values as a third
argument. In the vector of all commands of a robot they are called after the frame the law acts at: FRAME where a law
has one, FRAME.part where it has several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..scalar import Scalar
from .coordinates import Layout, Segment

if TYPE_CHECKING:
    from .model import Frame, Model


def commands_of(robot: str, forces: Sequence[tuple[Frame, Any]]) -> Layout:
    """Of all laws, in order."""
    found: dict[str, Mapping[str, str]] = {}
    for frame, law in forces:
        own: Mapping[str, str] = getattr(law, "commands", {})
        if own and frame.name in found:
            raise ModelError(
                "two force laws take commands at one frame",
                where=f"{robot}: forces at {frame.name!r}",
                got=", ".join([*found[frame.name], *own]),
                expected="commands that are told apart by their frames",
                fix="give one of the laws a frame of its own, at the same place",
            )
        if own:
            found[frame.name] = own
    return Layout(
        tuple(Segment(at, tuple(own) if len(own) > 1 else ("",), tuple(own.values())) for at, own in found.items())
    )


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
