"""Where force laws act: at their frames and, if a law names further places in ``to``, at these; and their marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..spatial import Matrix, Pose, Vector
from .element import Mark
from .model import Frame, Model


def places_of(model: Model, frame: Frame, law: Any) -> Iterator[Frame]:
    """The frames at which a law acts, its own first. A point of the world is a frame of the ground."""
    yield frame
    for place in getattr(law, "to", ()):
        if isinstance(place, str):
            yield model.frame(place)
        else:
            yield Frame("", 0, Pose(Matrix.identity(), Vector(*place)))


def marks_of_forces(model: Model) -> Iterator[tuple[Frame, Any, Mark]]:
    """Return frame, law and mark of each force law; functions of the user have an empty mark."""
    return ((frame, law, getattr(law, "mark", Mark())) for frame, law in model.forces)


def check_places(model: Model) -> None:
    """Raise UnknownNameError for a law with a place that does not exist."""
    for frame, law in model.forces:
        for _ in places_of(model, frame, law):
            pass
