"""A formulation gives the same on floats, complex numbers, arrays, counted numbers and graph nodes."""

import numpy as np
import pytest
from hypothesis import given

from linkwork.formulations import METHODS, QUANTITIES, Request
from linkwork.model import build
from linkwork.program import Port, count, interpret, optimize, trace
from linkwork.scalar import Counted, Tally
from support.evaluate import assert_close, evaluate, gathered, is_refused
from support.random_robots import Recipe, describe, random_state, recipes

CASES = [(quantity, "") for quantity in QUANTITIES if not any(m.quantity == quantity for m in METHODS)]
CASES += [(method.quantity, method.name) for method in METHODS]
IDENTITY = [f"{quantity} {method}".strip() for quantity, method in CASES]


@pytest.mark.parametrize("quantity, method", CASES, ids=IDENTITY)
@given(recipe=recipes(joints=4, light=False, mimic=False))
def test_same_on_every_scalar(quantity: str, method: str, recipe: Recipe):
    model = build(describe(recipe))
    if is_refused(model, quantity, method):
        return
    asked = QUANTITIES[quantity]
    states = [dict(zip("qva", random_state(model, recipe.seed + k), strict=True)) for k in range(3)]
    batch = [np.array([{**s, "tau": s["a"]}[name] for s in states]) for name in asked.inputs]
    options = {"method": method, "frame": "tool" if asked.of_frame else ""}

    expected = evaluate(model, quantity, *(x[0] for x in batch), **options)
    scale = max(1.0, np.abs(expected).max())
    every = evaluate(model, quantity, *batch, **options)
    assert every.shape == (3, *expected.shape)
    # sine and cosine of arrays and of single numbers come from different libraries
    assert_close(every[0], expected, scale=scale, tolerance=1e-13 if quantity != "forward_dynamics" else 1e-11)
    assert_close(evaluate(model, quantity, *(x[0] + 0j for x in batch), **options), expected, scale=scale)

    function = next((m.function for m in METHODS if (m.quantity, m.name) == (quantity, method)), None)
    request = Request(method=function, frame=model.frame("tool") if asked.of_frame else None)
    tally = Tally()
    counted = asked.function(model, request, *([tally.wrap(x) for x in column[0]] for column in batch))
    assert_close(_values(counted), expected, scale=scale)

    ports = [Port(name, x.shape[1:]) for name, x in zip(asked.inputs, batch, strict=True)]
    program = trace(quantity, lambda *inputs: {asked.output: asked.function(model, request, *inputs)}, ports)
    for made in (program, optimize(program)):
        assert_close(interpret(made, [x[0] for x in batch])[0], expected, scale=scale)
        left = count(made)  # tracing only ever removes operations; it may turn a + a into 2 a
        assert left.mul + left.add + left.div <= tally["mul"] + tally["add"] + tally["div"]
        assert left.div <= tally["div"]
        assert 2 * left.sincos <= tally["sin"] + tally["cos"]


def _values(result):
    """Plain numbers from counted ones, structural zeros and ones among them."""
    if isinstance(result, list):
        return gathered([_values(part).tolist() for part in result])
    return np.asarray(result.value if isinstance(result, Counted) else result)
