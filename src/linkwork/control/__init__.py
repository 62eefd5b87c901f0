"""Controllers, observers and references, compiled with the dynamics."""

from ..renamed import refusing
from ..scalar.entrywise import absolute, atan2, clip, exp, log, maximum, minimum, sign, tanh
from .gravity import GravityCompensation
from .impedance import Impedance
from .law import Law, with_memory
from .laws import PD, PID, ComputedTorque, PDGravity
from .observers import MomentumObserver, VelocityObserver
from .references import Fourier, Point, Quintic, Reference, Sampled, Trapezoidal

__all__ = [
    "PD",
    "PID",
    "ComputedTorque",
    "Fourier",
    "GravityCompensation",
    "Impedance",
    "Law",
    "MomentumObserver",
    "PDGravity",
    "Point",
    "Quintic",
    "Reference",
    "Sampled",
    "Trapezoidal",
    "VelocityObserver",
    "absolute",
    "atan2",
    "clip",
    "exp",
    "log",
    "maximum",
    "minimum",
    "sign",
    "tanh",
    "with_memory",
]

__getattr__ = refusing("linkwork.control")


def __dir__() -> list[str]:
    return __all__
