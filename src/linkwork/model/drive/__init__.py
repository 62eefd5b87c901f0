"""What a motor and its joint do: rotor, friction laws, spring, stops, and transmissions between motors and joints."""

from .asymmetric import Asymmetric
from .coulomb import Coulomb
from .drive import BUILT_IN, Drive, Motor
from .joint_values import ROLES, JointValues
from .law import FrictionLaw, Sliding, law_with
from .offset import Offset
from .soft_limits import SoftLimits
from .stribeck import Stribeck
from .transmission import Transmission, transmission_matrix
from .viscous import Viscous

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
