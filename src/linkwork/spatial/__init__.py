"""Vectors, motions, forces, inertias and transforms over any scalar, with one order of components and signs."""

from .motions import ArticulatedInertia, Force, Inertia, Motion
from .quaternions import quaternion_product
from .transforms import Pose, Screw, Transform
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
    "quaternion_product",
    "steiner",
]


def __dir__() -> list[str]:
    return __all__
