"""Composite-body methods compared in Lin (1991), and the method that they improve on: columns by Newton-Euler."""

from functools import partial

from ..method import ONE_AXIS, Method
from . import composite, fijany_bejczy, renaud, unit_accelerations, walker_orin
from .composite import bias_coefficients, inertia_and_bias

__all__ = ["METHODS", "bias_coefficients", "inertia_and_bias"]

METHODS: tuple[Method, ...] = (
    Method(
        "unit-accelerations", "inertia_matrix", unit_accelerations.inertia_matrix, "walker1982",
        "columns by Newton-Euler, O(n^2)",
    ),
    Method(
        "walker-orin", "inertia_matrix", walker_orin.inertia_matrix, "walker1982",
        "composite bodies about their centres of mass, O(n^2)", serial=True, kinds=ONE_AXIS, grouped=False,
    ),
    Method(
        "renaud", "inertia_matrix", renaud.inertia_matrix, "renaud1984",
        "composite bodies about the joints, with invariant sums, O(n^2)", serial=True, kinds=ONE_AXIS,
    ),
    Method(
        "fijany-bejczy", "inertia_matrix", fijany_bejczy.inertia_matrix, "fijany1990",
        "Renaud's bodies, forces carried in frame 2, O(n^2)", serial=True, kinds=ONE_AXIS,
    ),
    *(
        Method(
            f"fijany-bejczy-{name}", "inertia_matrix", partial(fijany_bejczy.inertia_matrix, frame=frame), "fijany1990",
            f"Renaud's bodies, forces carried in {where}, O(n^2)", serial=True, kinds=ONE_AXIS,
        )
        for name, frame, where in (
            ("0", 0, "the ground's frame"),
            ("n", None, "the last frame"),
        )
    ),
    Method(
        "lin-1991", "inertia_matrix", composite.inertia_matrix, "lin1991",
        "composite bodies seen from one base point, O(n^2)", serial=True, kinds=ONE_AXIS,
    ),
    Method(
        "lin-1991", "bias", composite.bias, "lin1991",
        "composite bodies seen from one base point, O(n^2)", serial=True, kinds=ONE_AXIS, wrenches=False, loops=False,
    ),
)  # fmt: skip
