"""Where a force law acts: at its frame and, if it names further places in ``to``, at these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..spatial import Matrix, Pose, Vector
from .model import Frame, Model


def places_of(model: Model, frame: Frame, law: Any) -> Iterator[Frame]:
    """The frame itself first. A point of the world is a frame of the ground."""
    yield frame
    for place in getattr(law, "to", ()):
        if isinstance(place, str):
            yield model.frame(place)
        else:
            yield Frame("", 0, Pose(Matrix.identity(), Vector(*place)))


def check_places(model: Model) -> None:
    """Refuse laws with places that there are not."""
    for frame, law in model.forces:
        for _ in places_of(model, frame, law):
            pass
