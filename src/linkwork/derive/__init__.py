"""Derivatives of programs by forward and reverse mode, each a program again; independent of robots."""

from .programs import jacobian, jvp, vjp
from .second import hessian, hvp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vjp"]
