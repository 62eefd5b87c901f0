"""Vectors, motions, forces, inertias and transforms over any scalar. Order of components and signs are fixed here."""

from .pose import Pose
from .screws import ArticulatedInertia, Force, Inertia, Motion, Screw, Transform
from .vectors import AXES, Matrix, Symmetric, Vector, X, Y, Z, crosses, pseudo_inertia, steiner

__all__ = [
    "AXES",
    "ArticulatedInertia",
    "Force",
    "Inertia",
    "Matrix",
    "Motion",
    "Pose",
    "Screw",
    "Symmetric",
    "Transform",
    "Vector",
    "X",
    "Y",
    "Z",
    "crosses",
    "pseudo_inertia",
    "steiner",
]


def __dir__() -> list[str]:
    return __all__
