"""Slopes of the dynamics by published forms, and by dual numbers."""

from ..method import Method
from ..shared_axes import shared_axes
from .singh import singh_russell_wensing

FORMS = {
    "singh-russell-wensing": (
        singh_russell_wensing,
        "singh2022",
        "closed form in Khalil's parameters, O(n d)",
        {"candidate": True, "linear": True, "loops": False},
    ),
    "automatic": (
        shared_axes,
        "khalilkleinfinger1987",
        "shared-axes run on dual numbers, O(n d)",
        {"candidate": True, "closed": True},
    ),
}

METHODS = tuple(
    Method(name, quantity, function, reference, summary, **how)
    for quantity in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
    for name, (function, reference, summary, how) in FORMS.items()
)
