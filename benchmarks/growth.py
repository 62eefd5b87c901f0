"""Operations and time against the number of links: a swimming eel by a recursion, by the inertia matrix, and by aba."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
from mechanisms import Own
from peers import CHECKED, agree, pinocchio_call
from robots import STATES, Case
from timing import Contender, race

from linkwork.library import eel

LINKS = (4, 8, 12, 16, 24, 32, 48, 64)
LONG = 16  # links from which exponents are fitted
RECURSION, BLOCK, ABA = "khalil-moving", "crba-ldl", "Pinocchio, one aba call"
QUICK = 32  # links at most of a quick run: the matrix form of 64 takes most of a minute to compile


def growth(quick: bool, rounds: int, budget: float) -> Iterator[dict[str, Any]]:
    """Forward dynamics without drag, for more and more links."""
    for links in LINKS:
        if quick and links > QUICK:
            return
        case = Case(Own(f"eel of {links} links", replace(eel(links), forces=())))
        inputs = case.inputs("forward_dynamics")
        functions = {method: case.robot.compile("forward_dynamics", method=method) for method in (RECURSION, BLOCK)}
        expected = aba_results(case)
        errors = {
            method: agree(f"{case.source.name}, {method}", expected, function(*inputs)[:CHECKED])["joint"]
            for method, function in functions.items()
        }
        contenders = [Contender(method, function, inputs, STATES) for method, function in functions.items()]
        times = race([*contenders, pinocchio_call(case, "forward_dynamics")], rounds, budget)
        counts = {method: function.operations for method, function in functions.items()}
        yield {
            "links": links,
            "freedoms": case.robot.nv,
            "operations": {method: count.mul + count.add for method, count in counts.items()},
            "error": errors,
            "times": times,
        }


def aba_results(case: Case) -> np.ndarray:
    """By one aba call after the other (abaInParallel, which works in world axes, is off by 7e-11 at 64 links)."""
    model, data = case.pinocchio, case.pinocchio.createData()
    states = [np.ascontiguousarray(case.for_pinocchio(array).T)[:CHECKED] for array in case.inputs("forward_dynamics")]
    results = np.empty((CHECKED, model.nv))
    results[:, case.order] = [pin.aba(model, data, *state).copy() for state in zip(*states, strict=True)]
    return results


def exponents(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """p of values ~ links^p for operations and times, by least squares through the logarithms from LONG links on."""
    chosen = [row for row in rows if row["links"] >= LONG]

    def fit(values: list[float]) -> float:
        return float(np.polyfit(np.log([row["links"] for row in chosen]), np.log(values), 1)[0])

    return {
        "operations": {method: fit([row["operations"][method] for row in chosen]) for method in (RECURSION, BLOCK)},
        "times": {name: fit([row["times"][name]["ns"] for row in chosen]) for name in (RECURSION, BLOCK, ABA)},
    }


def polynomial(rows: Sequence[dict[str, Any]], method: str) -> np.ndarray:
    """Coefficients c_3, ..., c_0 of the cubic nearest to the operations from eight links on (fewer links save more)."""
    chosen = [(row["links"], row["operations"][method]) for row in rows if row["links"] >= 8]
    return np.polyfit(*np.array(chosen, float).T, 3)
