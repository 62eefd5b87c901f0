"""What a motor and its joint do: rotor, friction laws, spring, stops, and transmissions between motors and joints."""

from .drive import BUILT_IN, ROLES, Drive, JointValues, Motor
from .friction import Asymmetric, Coulomb, FrictionLaw, Offset, Sliding, Stribeck, Viscous, law_with
from .soft_limits import SoftLimits
from .transmission import Transmission, transmission_matrix

__all__ = [
    "BUILT_IN",
    "ROLES",
    "Asymmetric",
    "Coulomb",
    "Drive",
    "FrictionLaw",
    "JointValues",
    "Motor",
    "Offset",
    "Sliding",
    "SoftLimits",
    "Stribeck",
    "Transmission",
    "Viscous",
    "law_with",
    "transmission_matrix",
]
