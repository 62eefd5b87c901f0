"""Catalog of all methods: name, quantity, function, reference and what each supports."""

from __future__ import annotations

import re
from functools import cache, partial
from importlib.resources import files

from ..errors import UnknownNameError, UnsupportedError
from ..model import Model
from . import derivatives, hollerbach, khalil, lin1991, linfang, silver
from .aba import aba
from .crba import crba
from .forward import bias_by, solve_inertia_and_bias
from .method import Method
from .multipliers import ByMultipliers
from .parallel_axes import shared_axes
from .quantity_table import QUANTITIES
from .rnea import rnea

newton_euler = partial(bias_by, rnea)

METHODS = (
    Method(
        "rnea", "inverse_dynamics", rnea, "luh1980", "recursive Newton-Euler, three-vectors, O(n)", candidate=True
    ),
    Method(
        "shared-axes", "inverse_dynamics", shared_axes, "khalilkleinfinger1987",
        "khalil-kleinfinger and four steps further, for the fewest operations, O(n)", candidate=True,
    ),
    Method("crba", "inertia_matrix", crba, "walker1982", "composite rigid bodies, O(n d)", candidate=True),
    Method(
        "newton-euler", "bias", newton_euler, "luh1980", "Newton-Euler at zero acceleration, O(n)", candidate=True
    ),
    Method(
        "shared-axes", "bias", partial(bias_by, shared_axes), "khalilkleinfinger1987",
        "the same at zero acceleration, O(n)", candidate=True,
    ),
    Method(
        "crba-ldl", "forward_dynamics", partial(solve_inertia_and_bias, crba, newton_euler), "walker1982",
        "crba, newton-euler and L^T D L, O(n^3)", candidate=True,
    ),
    Method(
        "aba", "forward_dynamics", aba, "featherstone1983", "articulated bodies, O(n)",
        mimic=False, candidate=True, linear=True, loops=False, coupled=False,
    ),
    *hollerbach.METHODS,
    *silver.METHODS,
    *lin1991.METHODS,
    *linfang.METHODS,
    *khalil.METHODS,
    *derivatives.METHODS,
)


def methods(quantity: str) -> tuple[Method, ...]:
    """Return the methods of a quantity.

    Args:
        quantity: its name, such as "inverse_dynamics".

    Returns:
        The methods; empty for a quantity that has only one form (energies, poses, ...).

    Raises:
        UnknownNameError: there is no such quantity.

    Example:
        >>> [method.name for method in linkwork.methods("inertia_matrix")][:2]
        ['crba', 'unit-accelerations']
    """
    if quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    return tuple(method for method in METHODS if method.quantity == quantity)


def find_method(quantity: str, name: str, model: Model, **needs: bool) -> Method:
    """Return the method of that name, if it works for ``model`` and for what else is needed (see ``Method.refusal``).

    Forward dynamics also has every sum "A+B" of an inertia-matrix method A and a bias method B.
    """
    by_name = {method.name: method for method in methods(quantity)}
    if quantity == "forward_dynamics" and "+" in name:
        inertia, bias = (part.strip() for part in name.split("+", 1))
        inertia, bias = find_method("inertia_matrix", inertia, model), find_method("bias", bias, model, **needs)
        by_name[name] = by_inertia_and_bias(inertia, bias)
    if name not in by_name:
        raise UnknownNameError(f"method of {quantity}", name, by_name)
    if reason := by_name[name].refusal(model, **needs):
        usable = [other.name for other in by_name.values() if not other.refusal(model, **needs)]
        raise UnsupportedError(
            f"method {name!r} cannot be used for robot {model.name!r}: {reason}", fix=f"use one of: {', '.join(usable)}"
        )
    return by_name[name]


def by_inertia_and_bias(inertia: Method, bias: Method, quantity: str = "forward_dynamics") -> Method:
    """Return forward dynamics, or constrained dynamics, from any inertia matrix and any bias, by L^T D L."""
    solve = {"forward_dynamics": partial(partial, solve_inertia_and_bias), "constrained_dynamics": ByMultipliers}
    return Method(
        f"{inertia.name}+{bias.name}",
        quantity,
        solve[quantity](inertia.function, bias.function),
        inertia.reference,
        f"{inertia.name}, {bias.name} and L^T D L",
        serial=inertia.serial or bias.serial,
        fixed_base=inertia.fixed_base or bias.fixed_base,
        mimic=inertia.mimic and bias.mimic,
        wrenches=bias.wrenches,
        grouped=inertia.grouped and bias.grouped,
        loops=inertia.loops and bias.loops,
        coupled=inertia.coupled and bias.coupled,
        placed=inertia.placed and bias.placed,
        rigid=inertia.rigid or bias.rigid,
        kinds=inertia.kinds if bias.kinds is None else bias.kinds,  # all methods that restrict kinds allow the same
    )


@cache
def references() -> dict[str, str]:
    """Return the BibTeX entries by key."""
    text = (files(__name__.rpartition(".")[0]) / "references.bib").read_text(encoding="utf-8")
    entries = [part.strip() for part in re.split(r"(?m)^(?=@)", text) if part.strip()]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
