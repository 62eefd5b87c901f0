"""A force that is always there, whichever way the joint moves: of a cable, of an amplifier that is not adjusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar
from .law import FrictionLaw, Sliding


@dataclass(frozen=True)
class Offset(FrictionLaw, name="offset", elements={"F0": "offset"}, formula="offset, F0", jumps=False):
    """F0, in N m (N): what the joint's force is larger by."""

    offset: Any

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"F0": 1}
