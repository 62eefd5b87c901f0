"""Parameters that dynamics is linear in: the standard ones of each body, and the base parameters."""

from .base import KINDS, BaseParameters, base_parameters
from .vector import ParameterVector, parameter_vector

__all__ = ["KINDS", "BaseParameters", "ParameterVector", "base_parameters", "parameter_vector"]
