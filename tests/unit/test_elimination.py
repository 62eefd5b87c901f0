"""Elimination without pivots: against NumPy, and what it leaves zero."""

import numpy as np
import pytest

from linkwork.program import Port, count, trace
from linkwork.scalar.elimination import Elimination


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("skew", [0.0, 1.0, 30.0])
def test_positive_symmetric_part(seed, skew, deviations):
    """Any order will do, also where what is skew is much larger."""
    rng = np.random.default_rng(seed)
    n = 7
    root, odd = rng.normal(size=(2, n, n))
    A = root @ root.T + np.eye(n) + skew * (odd - odd.T)
    b = rng.normal(size=n)
    x = Elimination(A.tolist(), rng.permutation(n)).solve(b.tolist())
    expected = np.linalg.solve(A, b)
    apart = np.abs(x - expected).max() / np.abs(expected).max()
    deviations("elimination", apart)
    assert apart < 1e-15 * np.linalg.cond(A)


def test_stiff_blocks_keep_their_digits():
    """Springs of any strength on the diagonal: what is scaled by rows and columns alike is solved as before."""
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 5))
    A, scale = root @ root.T + np.eye(5), 10.0 ** np.array([0, 8, -3, 5, 0])
    x = np.array(Elimination((scale[:, None] * A * scale).tolist(), range(5)).solve((scale * A.sum(axis=1)).tolist()))
    np.testing.assert_allclose(x * scale, 1.0, rtol=1e-13)


def test_branches_stay_apart():
    """Four branches on one trunk, eliminated from their ends: no entry comes up that was none."""

    def run(diagonal, up, down):
        A = [[0] * 5 for _ in range(5)]
        for k in range(5):
            A[k][k] = diagonal[k]
        for k in range(1, 5):
            A[0][k], A[k][0] = up[k - 1], down[k - 1]
        made = Elimination(A, range(4, -1, -1))
        assert all(made.A[i][j] == 0 for i in range(1, 5) for j in range(1, 5) if i != j)
        return {"x": made.solve(diagonal)}

    program = trace("arrow", run, [Port("diagonal", (5,)), Port("up", (4,)), Port("down", (4,))])
    assert count(program).div == 5
