"""Derivatives of the dynamics by published forms, and by dual numbers."""

from functools import partial
from typing import Any

from ...model import Model
from ..method import Method
from ..parallel_axes import shared_axes
from .carpentier import carpentier_mansard
from .singh import singh_russell_wensing

QUANTITIES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def changing_axes(successive: bool, model: Model) -> str:
    """Return the reason if the unit motions of a joint depend on its position; ``successive`` joints may be allowed."""
    for joint in model.tree.joints:
        if joint.kind.changes and not (successive and joint.kind.successive):
            return f"it is for joints whose axes do not change, and those of {joint.name!r} ({joint.kind.name}) do"
    return ""


def _both(name: str, *fields: Any, **options: Any) -> list[Method]:
    """Return the Methods of this name for derivatives of inverse and of forward dynamics."""
    return [Method(name, quantity, *fields, **options) for quantity in QUANTITIES]


METHODS: tuple[Method, ...] = (
    *_both(
        "singh-russell-wensing", singh_russell_wensing, "singh2022", "closed form, in Khalil's parameters, O(n d)",
        candidate=True, linear=True, loops=False, rigid=True, fits=partial(changing_axes, True),
    ),
    *_both(
        "carpentier-mansard", carpentier_mansard, "carpentier2018", "chain rule along the recursion, O(n d)",
        loops=False, rigid=True, fits=partial(changing_axes, False),
    ),
    *_both(
        "automatic", shared_axes, "khalilkleinfinger1987", "shared-axes on dual numbers, O(n d); for loops too",
        candidate=True, closed=True,
    ),
)
