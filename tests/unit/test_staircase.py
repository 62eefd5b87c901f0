"""Equations in steps: the same solutions as of least squares, and fewer operations."""

import numpy as np
import pytest

from linkwork.scalar import Counted, Tally
from linkwork.scalar.staircase import Staircase


def matrix(shape: str, rng: np.random.Generator) -> list[list[float]]:
    """Rows of structural zeros (0) and random numbers (x)."""
    return [[rng.uniform(1, 2) if x == "x" else 0 for x in row] for row in shape.split()]


@pytest.mark.parametrize(
    ("shape", "steps"),
    [
        ("x00 0x0 00x", 3),
        ("00x xx0 x0x", 3),
        ("x000 xxx0 xxx0 xxxx", 1),  # two unknowns are left that only least squares part; the last waits for them
        ("0x0x x000 x0x0 0xxx", 2),
        ("xx xx", 0),
        ("x0 0x xx", 0),  # one equation too many: which divisor is sound, numbers would have to tell
        ("x0 00 xx", 2),
    ],
)
def test_solutions(shape: str, steps: int):
    rng = np.random.default_rng(3)
    A = matrix(shape, rng)
    stairs = Staircase([list(column) for column in zip(*A)])
    assert len(stairs.steps) == steps
    full, x = np.array(A, float), rng.normal(size=len(A[0]))
    np.testing.assert_allclose(stairs.solve((full @ x).tolist()), x, rtol=1e-12)
    y = np.array(stairs.shortest(x.tolist()))
    np.testing.assert_allclose(y, np.linalg.pinv(full.T) @ x, rtol=1e-11, atol=1e-13)


def test_a_triangle_costs_what_substitution_costs():
    tally = Tally()
    rng = np.random.default_rng(0)
    A = [[Counted(x, tally) if x else 0 for x in row] for row in matrix("x00 xx0 xxx", rng)]
    b = [Counted(x, tally) for x in rng.normal(size=3)]
    stairs = Staircase([list(column) for column in zip(*A)])
    assert (tally["mul"], tally["add"], tally["div"]) == (0, 0, 3)
    stairs.solve(b)
    assert (tally["mul"], tally["add"], tally["div"]) == (6, 3, 3)
