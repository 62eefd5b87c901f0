"""Khalil's recursive Newton-Euler (2010) and Khalil & Kleinfinger's organisation of it (1987)."""

from functools import partial

from ..forward import bias_by
from ..method import Method
from .direct import khalil_direct
from .inverse import khalil
from .kleinfinger import khalil_kleinfinger

__all__ = ["METHODS", "khalil", "khalil_direct", "khalil_kleinfinger"]

METHODS: tuple[Method, ...] = (
    Method(
        "khalil",
        "inverse_dynamics",
        khalil,
        "khalil2010",
        "Newton-Euler in three-vectors, as printed, O(n)",
        fixed_base=True,
    ),
    Method(
        "khalil-kleinfinger",
        "inverse_dynamics",
        khalil_kleinfinger,
        "khalilkleinfinger1987",
        "Newton-Euler for the fewest operations, O(n)",
        candidate=True,
    ),
    Method(
        "khalil-kleinfinger",
        "bias",
        partial(bias_by, khalil_kleinfinger),
        "khalilkleinfinger1987",
        "the same at zero acceleration, O(n)",
        candidate=True,
    ),
    Method(
        "khalil",
        "forward_dynamics",
        khalil_direct,
        "khalil2010",
        "recursive direct model, O(n)",
        fixed_base=True,
        mimic=False,
    ),
)
