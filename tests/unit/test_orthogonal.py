"""Least squares by orthogonal columns against NumPy."""

import numpy as np
import pytest

from linkwork.program import Port, optimize, trace
from linkwork.scalar.orthogonal import Orthogonal, dot

RNG = np.random.default_rng(0)


def columns(A: np.ndarray) -> list[list[float]]:
    return A.T.tolist()


@pytest.mark.parametrize("shape", ((1, 1), (3, 3), (6, 4), (11, 7)))
def test_least_squares(shape: tuple[int, int]):
    A, b = RNG.normal(size=shape), RNG.normal(size=shape[0])
    np.testing.assert_allclose(Orthogonal(columns(A)).solve(b.tolist()), np.linalg.lstsq(A, b)[0], rtol=1e-11)


@pytest.mark.parametrize("shape", ((1, 1), (3, 3), (6, 4), (11, 7)))
def test_shortest(shape: tuple[int, int]):
    A, c = RNG.normal(size=shape), RNG.normal(size=shape[1])
    np.testing.assert_allclose(Orthogonal(columns(A)).shortest(c.tolist()), np.linalg.lstsq(A.T, c)[0], rtol=1e-11)


@pytest.mark.parametrize("shape", ((2, 1), (4, 4), (5, 3)))
def test_projector(shape: tuple[int, int]):
    A = RNG.normal(size=shape)
    expected = np.eye(len(A)) - A @ np.linalg.pinv(A)
    np.testing.assert_allclose(Orthogonal(columns(A)).projector(), expected, atol=1e-12)


def test_redundant_equations():
    """Six equations of rank three, as of a planar loop, are no harder than three."""
    A = RNG.normal(size=(6, 3)) @ RNG.normal(size=(3, 3))
    x = RNG.normal(size=3)
    twice = np.vstack([A, A, np.zeros((2, 3))])
    np.testing.assert_allclose(Orthogonal(columns(twice)).solve((twice @ x).tolist()), x, rtol=1e-11)


def test_digits_lost_are_those_of_the_problem():
    """Hilbert's matrix of order six has a condition of 1e7; its normal equations would leave two digits of sixteen."""
    A = 1 / (np.arange(6)[:, None] + np.arange(6) + 1)
    x = np.ones(6)
    np.testing.assert_allclose(Orthogonal(columns(A)).solve((A @ x).tolist()), x, rtol=1e-8)


def test_no_columns():
    empty = Orthogonal([])
    assert empty.solve([1.0, 2.0]) == [] and empty.shortest([]) == [] and empty.projector() == []


def test_complex_numbers_differentiate():
    A, B, b = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2)), RNG.normal(size=4)
    step = Orthogonal(columns(A + 1e-30j * B)).solve(b.tolist())
    h = 1e-5
    differences = (np.linalg.lstsq(A + h * B, b)[0] - np.linalg.lstsq(A - h * B, b)[0]) / (2 * h)
    np.testing.assert_allclose(np.imag(step) / 1e-30, differences, rtol=1e-6)


def test_blocks_stay_apart():
    """Unknowns of different loops share no equation, and so no operation."""

    def run(x):
        blocks = [[x[0], x[1], 0, 0], [x[2], x[3], 0, 0], [0, 0, x[4], x[5]]]
        return {"R": Orthogonal(blocks).R[0]}

    program = optimize(trace("blocks", run, [Port("x", (6,))]))
    zero = Orthogonal([[1.0, 2.0, 0, 0], [3.0, 4.0, 0, 0], [0, 0, 5.0, 6.0]]).R[0][2]
    assert zero == 0 and program.outputs[0].shape == (3,)
    assert dot([0, 2.0], [5.0, 0]) == 0
