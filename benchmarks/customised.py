"""What minimal parameters and the customising passes are worth: native batches with and without them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from mechanisms import Own
from peers import agree
from robots import STATES, Case
from timing import Contender, race, ratio

from linkwork import Function
from linkwork.pipeline import traced
from linkwork.program.passes import absorb_signs, fuse_multiply_add, order_for_registers

METHODS = {"inverse_dynamics": "rnea", "forward_dynamics": "crba-ldl", "inertia_matrix": "crba"}
PLAIN, PASSES, MINIMAL, BOTH, AUTO = "standard", "standard, passes", "minimal", "minimal, passes", "auto"
BUNDLED = ("puma560", "stanford")


def customised(cases: dict[str, Case], rounds: int, budget: float) -> Iterator[dict[str, Any]]:
    """Yield rows: one textbook method with each kind of parameters, with and without passes, and the default of
    linkwork."""
    own = {name: Case(Own(name, name, floating=False)) for name in BUNDLED}
    for name in ("panda", "ur5", *BUNDLED, "anymal"):
        case = (cases | own)[name]
        for quantity, method in METHODS.items():
            functions = {
                PLAIN: _without_passes(case, quantity, method, "standard"),
                PASSES: case.robot.compile(quantity, method=method, parameters="standard"),
                MINIMAL: _without_passes(case, quantity, method, "minimal"),
                BOTH: case.robot.compile(quantity, method=method),
                AUTO: getattr(case.robot, quantity),
            }
            inputs = case.inputs(quantity)
            expected = functions[PLAIN](*inputs)
            for variant, function in functions.items():
                agree(f"{name}, {quantity}, {variant}", expected, function(*inputs))
            out = np.empty_like(expected)  # so that no contender is slowed by where its results happen to lie
            calls = {variant: partial(function, out=out) for variant, function in functions.items()}
            times = race([Contender(each, call, inputs, STATES) for each, call in calls.items()], rounds, budget)
            yield {
                "robot": name,
                "quantity": quantity,
                "method": method,
                "auto": functions[AUTO].label.method,
                "instructions": {variant: each.operations.instructions for variant, each in functions.items()},
                "speedup": {variant: ratio(times[PLAIN], times[variant]) for variant in functions},
                "times": times,
            }


def _without_passes(case: Case, quantity: str, method: str, parameters: str) -> Function:
    """Optimised as every program is, but not customised."""
    function = case.robot.compile(quantity, method=method, parameters=parameters)
    _, program = traced(case.robot, quantity, method=method, parameters=parameters)
    return Function(order_for_registers(fuse_multiply_add(absorb_signs(program))), function.label)
