"""Operations that a method executes before any simplification, counted while it runs."""

from __future__ import annotations

from typing import Any

from ..model import Model
from ..scalar import Counted, Tally
from .method import Method
from .problem import Problem


def executed_operations(method: Method, model: Model) -> Tally:
    """Run ``method`` once on counting numbers for ``model`` and return the operations.

    Closing loops is included for a robot with loops. Friction and springs are included for methods that treat them, and
    for methods of a part of their quantity. Operations on constants alone are done beforehand (off line) and are not
    counted, nor are operations with a structural 0 or +-1, and sign changes.
    """
    tally, problem = Tally(), Problem(model, method.quantity, method, parameters="standard")

    def vector(size: int) -> list[Counted]:
        return [tally.wrap(0.3 + 0.1 * k) for k in range(size)]

    if model.constrained or method.closed or method.quantity == "forward_dynamics_derivatives":
        problem.evaluate(*(vector(size) for (size,) in problem.inputs.values()))
        return tally
    lengths = {"q": model.tree.nq, "tau": model.coordinates.nv}  # mimic joints have no forces of their own
    vectors: list[Any] = [vector(lengths.get(name, model.n_tree)) for name in problem.inputs if name != "commands"]
    if method.quantity == "hybrid_dynamics":
        vectors.append([k in model.mobility.driven for k in range(model.n_tree)])
    wrenches = () if method.quantity == "inertia_matrix" else ({},)
    method.function(model, *vectors, *wrenches)
    return tally
