"""A formulation gives the same on floats, complex numbers, arrays, counted numbers and graph nodes."""

import numpy as np
import pytest
from hypothesis import given

from linkwork.formulations import METHODS, QUANTITIES, Problem
from linkwork.model import build
from linkwork.program import Port, count, interpret, optimize, trace
from linkwork.scalar import Counted, Tally
from support.evaluate import assert_close, evaluate, gathered, is_refused
from support.random_robots import Recipe, describe, half_driven, random_vectors, recipes

OF_LOOPS = {"assemble"}  # trees have no loops to close
CASES = [(q, "") for q in QUANTITIES if q not in OF_LOOPS and not any(m.quantity == q for m in METHODS)]
CASES += [(method.quantity, method.name) for method in METHODS]
IDENTITY = [f"{quantity} {method}".strip() for quantity, method in CASES]


@pytest.mark.parametrize("quantity, method", CASES, ids=IDENTITY)
@given(recipe=recipes(joints=4, light=False, mimic=False))
def test_same_on_every_scalar(quantity: str, method: str, recipe: Recipe):
    hybrid = quantity == "hybrid_dynamics"
    model = build(half_driven(describe(recipe), recipe.seed) if hybrid else describe(recipe))
    if is_refused(model, quantity, method) or is_undefined(model, quantity):
        return
    asked = QUANTITIES[quantity]
    states = [random_vectors(model, recipe.seed + k) for k in range(3)]
    batch = [np.array([state[name] for state in states]) for name in asked.inputs]
    options = {"method": method, "frame": "tool" if asked.of_frame else ""}

    expected = tuple_of(evaluate(model, quantity, *(x[0] for x in batch), **options))
    scale = [max(1.0, np.abs(x).max(initial=0.0)) for x in expected]
    solved = "forward_dynamics" in quantity or hybrid

    def check(found, tolerance: float = 1e-12) -> None:
        for x, y, size in zip(tuple_of(found), expected, scale, strict=True):
            assert_close(x, y, scale=size, tolerance=tolerance)

    every = tuple_of(evaluate(model, quantity, *batch, **options))
    assert [x.shape for x in every] == [(3, *x.shape) for x in expected]
    # sine and cosine of arrays and of single numbers come from different libraries
    check(tuple(x[0] for x in every), tolerance=1e-11 if solved else 1e-13)
    check(evaluate(model, quantity, *(x[0] + 0j for x in batch), **options))

    chosen = next((m for m in METHODS if (m.quantity, m.name) == (quantity, method)), None)
    problem = Problem(model, quantity, chosen, "tool" if asked.of_frame else None, parameters="standard")
    assert problem.inputs == {name: x.shape[1:] for name, x in zip(asked.inputs, batch, strict=True)}
    assert list(problem.outputs.values()) == [x.shape for x in expected]
    tally = Tally()
    wrapped = ([tally.wrap(x) for x in column[0]] if column[0].shape else tally.wrap(column[0]) for column in batch)
    counted = problem.evaluate(*wrapped)
    check(tuple(_values(part) for part in counted.values()))

    program = trace(quantity, problem.evaluate, [Port(*port) for port in problem.inputs.items()])
    for made in (program, optimize(program)):
        check(tuple(interpret(made, [x[0] for x in batch])))
        left = count(made)  # tracing only ever removes operations; it may turn a + a into 2 a
        assert left.mul + left.add + left.div <= tally["mul"] + tally["add"] + tally["div"]
        assert left.div <= tally["div"]
        assert 2 * left.sincos <= tally["sin"] + tally["cos"]


def is_undefined(model, quantity: str) -> bool:
    """Velocities of motors determine those of the robot only if there is a motor for every degree of freedom;
    Christoffel symbols need velocities that are rates of the positions."""
    curved = not all(joint.kind.straight for joint in model.coordinates.joints)
    return (quantity == "platform_jacobian" and bool(model.mobility.free)) or (
        quantity == "christoffel_symbols" and curved
    )


def tuple_of(result) -> tuple:
    """One output or several."""
    return result if isinstance(result, tuple) else (result,)


def _values(result):
    """Plain numbers from counted ones, structural zeros and ones among them."""
    if isinstance(result, list):
        return gathered([_values(part).tolist() for part in result])
    return np.asarray(result.value if isinstance(result, Counted) else result)
