"""Forces of the surroundings: laws that give the force on a frame from its pose and velocity.

A law is a function of any scalar, so it is traced and compiled with the dynamics it acts in. The classes here are ready
to use; any function with the signature of ``ForceLaw`` is a law too. Laws with ``commands`` are driven: thrusters,
rotors.
"""

from .fluid import AddedMass, Buoyancy, Drag, Plate
from .ground import Contact, Tyre
from .law import ForceLaw
from .spring import Spring
from .thruster import Rotor, Thruster

__all__ = ["AddedMass", "Buoyancy", "Contact", "Drag", "ForceLaw", "Plate", "Rotor", "Spring", "Thruster", "Tyre"]


def __dir__() -> list[str]:
    return __all__
