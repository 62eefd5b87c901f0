"""MuJoCo's numbers and names as ours."""

from __future__ import annotations

import numpy as np

from ..model.description import Placement
from .rpy import rotation_from_quaternion


def fresh(name: str, taken: set[str]) -> str:
    """The name, with underscores added until no other has it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Of MuJoCo's quaternion w, x, y, z."""
    w, x, y, z = quaternion.tolist()
    return rotation_from_quaternion(x, y, z, w)


def placement_of(position: np.ndarray, quaternion: np.ndarray) -> Placement:
    return Placement(rotation_of(quaternion), position.copy())
