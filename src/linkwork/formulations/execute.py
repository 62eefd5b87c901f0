"""Operations a method executes as it is written, before any simplification, counted while it runs."""

from __future__ import annotations

from ..model import Model
from ..scalar import Tally
from .method import Method
from .quantities import QUANTITIES


def executed(method: Method, model: Model) -> Tally:
    """Run ``method`` once on counting numbers for ``model``.

    Convention: what depends on constants alone is off line and free, so are structural 0 and +-1 and sign changes.
    """
    tally = Tally()
    vectors = []
    for name in QUANTITIES[method.quantity].inputs:
        size = model.n_tree + (1 if name == "q" and model.floating else 0)
        vectors.append([tally.wrap(0.3 + 0.1 * k) for k in range(size)])
    wrenches = () if method.quantity == "inertia_matrix" else ({},)
    method.function(model, *vectors, *wrenches)
    return tally
