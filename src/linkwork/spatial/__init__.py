"""Vectors, motions, forces, inertias and transforms over any scalar. Order of components and signs are fixed here."""

from .pose import Pose
from .screws import ArticulatedInertia, Force, Inertia, Motion, Screw, Transform
from .vectors import Matrix, Symmetric, Vector

__all__ = [
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
]
