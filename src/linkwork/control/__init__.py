"""Controllers and references: what a simulated robot is told to do, compiled with its dynamics."""

from ..scalar.entrywise import absolute, atan2, clip, exp, log, maximum, minimum, sign, tanh
from .equations import Equations
from .law import Law
from .laws import PD, ComputedTorque, PDGravity
from .references import Fourier, Point, Quintic, Reference, Sampled, Trapezoidal

__all__ = [
    "PD",
    "ComputedTorque",
    "Equations",
    "Fourier",
    "Law",
    "PDGravity",
    "Point",
    "Quintic",
    "Reference",
    "Sampled",
    "Trapezoidal",
    "absolute",
    "atan2",
    "clip",
    "exp",
    "log",
    "maximum",
    "minimum",
    "sign",
    "tanh",
]


def __dir__() -> list[str]:
    return __all__
