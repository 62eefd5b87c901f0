"""Controllers and references: what a simulated robot is told to do, compiled with its dynamics."""

from ..scalar.choices import absolute, clip, maximum, minimum, sign
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
    "clip",
    "maximum",
    "minimum",
    "sign",
]


def __dir__() -> list[str]:
    return __all__
