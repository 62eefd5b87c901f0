"""The methods there are: name, quantity, function, reference and what each supports."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import UnknownNameError, UnsupportedError
from ..model import Model
from .aba import aba
from .crba import crba
from .forward import crba_ldl
from .quantities import QUANTITIES
from .rnea import rnea


@dataclass(frozen=True)
class Method:
    """One published way to compute a quantity. ``reference`` is a key of references.bib."""

    name: str
    quantity: str
    function: Callable[..., Any]
    reference: str
    summary: str
    mimic: bool = True  # does it work with mimic joints?

    def refusal(self, model: Model) -> str:
        """Why it does not work for ``model``; empty if it does."""
        return "it does not work with mimic joints" if model.has_mimic and not self.mimic else ""


METHODS = (
    Method("rnea", "inverse_dynamics", rnea, "luh1980", "recursive Newton-Euler, O(n)"),
    Method("rnea", "bias", rnea, "luh1980", "recursive Newton-Euler at zero acceleration, O(n)"),
    Method("crba", "inertia_matrix", crba, "walker1982", "composite rigid bodies, O(n d)"),
    Method("crba-ldl", "forward_dynamics", crba_ldl, "walker1982", "inertia matrix, bias and L^T D L, sparse, O(n^3)"),
    Method("aba", "forward_dynamics", aba, "featherstone1983", "articulated bodies, O(n)", mimic=False),
)


def methods(quantity: str) -> tuple[Method, ...]:
    """The methods of a quantity; none for a quantity that has only one form (energies, poses, ...)."""
    if quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    return tuple(method for method in METHODS if method.quantity == quantity)


def find(quantity: str, name: str, model: Model) -> Method:
    """The method of that name, if it works for ``model``."""
    known = {method.name: method for method in methods(quantity)}
    if name not in known:
        raise UnknownNameError(f"method of {quantity}", name, ["auto", *known])
    if reason := known[name].refusal(model):
        able = [other.name for other in known.values() if not other.refusal(model)]
        raise UnsupportedError(
            f"method {name!r} cannot be used for robot {model.name!r}: {reason}", fix=f"use one of: {', '.join(able)}"
        )
    return known[name]


@cache
def references() -> dict[str, str]:
    """BibTeX entries by key."""
    text = (files(__name__.rpartition(".")[0]) / "references.bib").read_text(encoding="utf-8")
    entries = [part.strip() for part in re.split(r"(?m)^(?=@)", text) if part.strip()]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
