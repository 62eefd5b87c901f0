"""Linear algebra of small matrices: against NumPy and SciPy, the defining equations, complex steps, and traced."""

import numpy as np
import pytest
import scipy.linalg

import linkwork
from linkwork import linalg
from linkwork.errors import ShapeError
from linkwork.scalar import linear_algebra

RNG = np.random.default_rng(11)
ROBOT = linkwork.load("planar2r")
SHAPES = [(1, 1), (2, 3), (3, 2), (3, 7), (6, 7), (7, 6), (6, 6)]
CONDITIONS = [1e1, 1e4, 1e8, 1e12]


def matrix(m, n, condition=10.0):
    """A matrix with singular values from 1 / condition to 1."""
    left, right = (np.linalg.qr(RNG.normal(size=(k, k)))[0] for k in (m, n))
    small = min(m, n)
    return left[:, :small] * np.geomspace(1, 1 / condition, small) @ right[:small]


def positive(n, condition=10.0):
    factor = matrix(n, n, condition**0.5)
    return factor @ factor.T


def norm(x):
    return np.linalg.norm(x, axis=(-2, -1))


def traced(function, *arrays):
    """The same as a compiled function, and its outputs for these arrays."""
    names = "ABC"[: len(arrays)]
    text = f"lambda robot, {', '.join(names)}: function({', '.join(names)})"
    compiled = ROBOT.function(
        eval(text, {"function": function}), **{name: np.shape(x) for name, x in zip(names, arrays)}
    )
    return compiled, compiled(*arrays)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_ldl(n, condition):
    A = positive(n, condition)
    L, d = linalg.ldl(A)
    assert norm(L * d @ L.T - A) < 1e-15 * n * norm(A)
    assert np.array_equal(np.tril(L), L) and (np.diag(L) == 1).all() and (d > 0).all()
    if condition < 1e5:
        _, D, _ = scipy.linalg.ldl(A)  # which pivots, so L differs; the determinant does not
        assert np.isclose(np.prod(d), np.linalg.det(D), rtol=1e-11)
        root = np.linalg.cholesky(A)
        assert np.allclose(L * np.sqrt(d), root, rtol=0, atol=1e-15 * condition)
    _, (L2, d2) = traced(lambda A: dict(zip("Ld", linalg.ldl(A), strict=True)), A)
    assert norm(L2 * d2 @ L2.T - A) < 1e-15 * n * norm(A)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("n", [1, 3, 6, 9])
def test_solve_positive_definite(n, condition):
    A, B = positive(n, condition), RNG.normal(size=(n, 2))
    low = np.tril(A) + np.triu(np.full((n, n), np.nan), 1)  # the upper triangle is not used
    x, X = linalg.solve_positive_definite(low, B[:, 0]), linalg.solve_positive_definite(low, B)
    assert x.shape == (n,) and X.shape == (n, 2) and np.allclose(X[:, 0], x, rtol=1e-15)
    for solution in (X, traced(linalg.solve_positive_definite, A, B)[1]):
        assert norm(A @ solution - B) < 3e-15 * n * norm(A) * norm(solution)
        assert norm(solution - np.linalg.solve(A, B)) < 1e-15 * condition * n * norm(solution)
    if condition < 1e5:
        expected = scipy.linalg.solve(A, B, assume_a="pos")
        assert norm(X - expected) < 1e-15 * condition * n * norm(expected)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("damping", [1.0, 0.03, 1e-6])
def test_damped_pinv(shape, condition, damping):
    A = matrix(*shape, condition)
    left, sizes, right = np.linalg.svd(A, full_matrices=False)
    expected = right.T * (sizes / (sizes**2 + damping**2)) @ left.T
    for X in (linalg.damped_pinv(A, damping), traced(linalg.damped_pinv, A, damping)[1]):
        assert X.shape == shape[::-1] and np.linalg.norm(X, 2) <= 0.5 / damping * (1 + 1e-9)
        # Rounding of A, of a size of 1e-16, changes the result by up to that over damping^2. Products of A with itself
        # would lose as many digits again.
        assert norm(X - expected) < 1e-15 * (sum(shape) * norm(expected) + 1 / damping**2)
    if shape[0] > shape[1]:
        assert np.array_equal(linalg.damped_pinv(A.T, damping).T, linalg.damped_pinv(A, damping))


def test_without_damping_it_is_the_pseudo_inverse():
    for shape in SHAPES:
        A = matrix(*shape)
        assert np.allclose(linalg.damped_pinv(A, 0), np.linalg.pinv(A), rtol=1e-13, atol=1e-13)


def test_singular_matrices_of_numbers():
    assert np.array_equal(linalg.damped_pinv(np.zeros((2, 3)), 0.1), np.zeros((3, 2)))
    A = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, -1.0, 2.0])
    expected = A.T @ np.linalg.inv(A @ A.T + 0.01 * np.eye(3))
    assert np.allclose(linalg.damped_pinv(A, 0.1), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", [*SHAPES, (6, 30), (9, 9), (12, 12)])
def test_singular_values(shape):
    """Also of graded and singular matrices, in which order soever, and where all are equal."""
    small, large = min(shape), max(shape)
    equal = (
        np.linalg.qr(RNG.normal(size=(large, large)))[0][: shape[0], : shape[1]] if small != large else np.eye(small)
    )
    cases = [equal, np.zeros(shape), np.ones(shape), *(matrix(*shape, condition) for condition in CONDITIONS)]
    rows, columns = (10.0 ** -RNG.uniform(0, 9, (5, n)) for n in shape)
    cases += [RNG.normal(size=shape) * row[:, None] * column for row, column in zip(rows, columns, strict=True)]
    cases.append(RNG.normal(size=shape) * np.geomspace(1e-10, 1, shape[0])[:, None])
    for A in cases:
        expected = np.linalg.svd(A, compute_uv=False)
        assert np.abs(linalg.singular_values(A) - expected).max() <= 3e-15 * expected[0]
    function, values = traced(linalg.singular_values, A)
    assert values.shape == (small,) and np.abs(values - expected).max() <= 3e-15 * expected[0]
    if small < 7:
        many = np.stack(cases)
        assert np.allclose(function(many), linalg.singular_values(many), rtol=0, atol=1e-14)


def test_singular_values_of_large_matrices_converge():
    for k in range(40):
        A = RNG.normal(size=(12, 12)) * (10.0 ** -RNG.uniform(0, 8, (12, 1)) if k % 2 else 1)
        A[-1] = A[0] + 1e-5 * A[-1]
        expected = np.linalg.svd(A, compute_uv=False)
        assert np.abs(linalg.singular_values(A) - expected).max() <= 5e-15 * expected[0]


def test_rank_where_the_first_rows_are_nearly_dependent():
    """A nearly stretched arm of two links: rounding of the short second row must not make the third one independent."""
    for bend in (1e-5, 1e-6, 1e-7):
        A = np.array([[0, 0], [-bend, -bend / 3], [2.0, 1.0], [0, 0], [0, 0], [1.0, 1.0]])
        A[:3] = np.linalg.qr(RNG.normal(size=(3, 3)))[0] @ A[:3]
        W = np.array([0.3, 2.0])
        X, _ = linear_algebra.weighted_inverse(A.tolist(), W.tolist())
        half = np.linalg.pinv(A * np.sqrt(W))
        assert norm(np.array(X) - half.T @ half) <= 1e-14 * norm(half.T @ half)


@pytest.mark.parametrize("shape", [*SHAPES, (6, 1), (6, 4)])
@pytest.mark.parametrize("rank", [0, 1, 2, 3, 6])
def test_pseudo_inverse_by_weights(shape, rank):
    """That of A W A^T, and W A^T times it; what counts as zero are rows of 1e-8 and less."""
    m, n = shape
    W = RNG.uniform(0.1, 10, n)
    A = RNG.normal(size=(m, min(rank, *shape))) @ RNG.normal(size=(min(rank, *shape), n))
    noise = 1e-10 * RNG.normal(size=shape) if rank else np.zeros(shape)
    X, Y = map(np.array, linear_algebra.weighted_inverse((A + noise).tolist(), W.tolist()))
    half = np.linalg.pinv(A * np.sqrt(W), rcond=1e-9) if rank else np.zeros((n, m))
    condition = np.linalg.norm(half, 2) * np.linalg.norm(A * np.sqrt(W), 2) + 1
    expected = half.T @ half
    assert norm(X - expected) <= 1e-8 * condition**2 * norm(expected)
    assert norm(Y - W[:, None] * A.T @ expected) <= 1e-8 * condition**2 * norm(half)
    X, Y = map(np.array, linear_algebra.weighted_inverse(A.tolist(), W.tolist()))
    assert norm(X - expected) <= 1e-14 * condition * norm(expected) and np.array_equal(X, X.T)
    assert norm(Y - W[:, None] * A.T @ expected) <= 1e-14 * condition * norm(half)


def test_volume():
    for shape in SHAPES:
        A = matrix(*shape, 1e6)
        expected = np.linalg.svd(A, compute_uv=False).prod()
        assert np.isclose(linear_algebra.volume(A.tolist()), expected, rtol=1e-9, atol=1e-16)
    A = RNG.normal(size=(4, 5))
    assert np.isclose(linear_algebra.volume(A.tolist()), np.sqrt(np.linalg.det(A @ A.T)), rtol=1e-13)
    assert linear_algebra.volume([[0.0, 0.0], [1.0, 2.0]]) == linear_algebra.volume([[1.0, 2.0], [0.0, 0.0]]) == 0
    assert linear_algebra.volume([[1.0, 2.0], [2.0, 4.0]]) < 1e-15


def test_batches_and_kinds_of_numbers():
    A, B = np.stack([positive(3) for _ in range(4)]), RNG.normal(size=(5, 4, 3, 3))
    b, damping = RNG.normal(size=(4, 3)), np.linspace(0.1, 1, 4)
    L, d = linalg.ldl(A)
    X, x = linalg.solve_positive_definite(A[None], B), linalg.solve_positive_definite(A, b)
    P = linalg.damped_pinv(B[..., :2], damping)
    assert (L.shape, d.shape, X.shape, x.shape, P.shape) == (A.shape, b.shape, B.shape, b.shape, (5, 4, 2, 3))
    for k in range(4):
        assert all(np.allclose(a[k], one, rtol=1e-14) for a, one in zip((L, d), linalg.ldl(A[k])))
        assert np.allclose(x[k], linalg.solve_positive_definite(A[k], b[k]), rtol=1e-14)
        assert np.allclose(X[2, k], linalg.solve_positive_definite(A[k], B[2, k]), rtol=1e-13, atol=1e-14)
        assert np.allclose(P[2, k], linalg.damped_pinv(B[2, k, :, :2], damping[k]), rtol=1e-13)
    whole = np.array([[4, 2], [2, 3]], np.uint8)
    assert linalg.solve_positive_definite(whole, np.array([8, 8], np.uint8)).tolist() == [1.0, 2.0]


def test_stacks_are_traced():
    A, b = np.stack([positive(2), positive(2)]), RNG.normal(size=(2, 2))
    for function, *arrays in (
        (linalg.solve_positive_definite, A, b),
        (linalg.damped_pinv, A, 0.1),
        (lambda A: linalg.ldl(A)[0], A),
    ):
        assert np.allclose(traced(function, *arrays)[1], function(*arrays), rtol=1e-14)


CASES = {
    "ldl": (lambda A: dict(zip("Ld", linalg.ldl(A), strict=True)), positive(4)),
    "solve": (linalg.solve_positive_definite, positive(4, 1e4), RNG.normal(size=4)),
    "wide": (linalg.damped_pinv, matrix(3, 4), 0.2),
    "tall": (linalg.damped_pinv, matrix(4, 3, 1e6), 0.2),
    "undamped": (lambda A: linalg.damped_pinv(A, 0), matrix(2, 3)),
    "singular values": (linalg.singular_values, matrix(4, 5)),
    "tall singular values": (linalg.singular_values, matrix(5, 2)),
}


@pytest.mark.parametrize("case", CASES)
def test_derivatives(case):
    """With respect to every entry, against complex steps of the same formula and the derivative of the definition."""
    function, *arrays = CASES[case]
    compiled, _ = traced(function, *arrays)
    names = [port.name for port in compiled.program.inputs]
    slopes = compiled.derivative(names)(*arrays)
    slopes = list(slopes) if isinstance(slopes, tuple) else [slopes]
    expected = []
    outputs = function(*arrays)
    for name in outputs if isinstance(outputs, dict) else (None,):
        for k, array in enumerate(arrays):
            columns = []
            for place in np.ndindex(np.shape(array)):
                moved = [np.array(x, complex) for x in arrays]
                moved[k][place] += 1e-30j
                result = function(*moved)
                columns.append(np.imag(result if name is None else result[name]) / 1e-30)
            shape = np.shape(columns[0])
            expected.append(np.reshape(np.moveaxis(columns, 0, -1), shape + np.shape(array)))
    for ours, theirs in zip(slopes, expected, strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=1e-12 * (1 + np.abs(theirs).max()))


def test_derivative_of_the_damped_pseudo_inverse():
    """X (A A^T + damping^2 1) = A^T, differentiated along dA and along the damping."""
    A, damping, dA = matrix(3, 5), 0.3, RNG.normal(size=(3, 5))
    compiled, X = traced(linalg.damped_pinv, A, damping)
    by_A, by_damping = compiled.derivative(["A", "B"])(A, damping)
    S = A @ A.T + damping**2 * np.eye(3)
    expected = (dA.T - X @ (dA @ A.T + A @ dA.T)) @ np.linalg.inv(S)
    assert np.allclose(np.einsum("ijkl,kl", by_A, dA), expected, rtol=0, atol=1e-12)
    assert np.allclose(by_damping, -2 * damping * X @ np.linalg.inv(S), rtol=0, atol=1e-12)


def test_zeros_of_branches_cost_nothing():
    robot = linkwork.load("quadruped")
    mine = robot.function(
        lambda robot, q, v, tau: linalg.solve_positive_definite(robot.inertia_matrix(q), tau - robot.bias(q, v))
    )
    assert mine.operations.instructions <= robot.forward_dynamics.operations.instructions
    q, (v, tau) = robot.coordinates.random(RNG), RNG.normal(size=(2, 18))
    assert np.allclose(mine(q, v, tau), robot.forward_dynamics(q, v, tau), rtol=1e-11)


BAD = {
    "vector": (lambda: linalg.ldl(np.ones(3)), r"not a matrix[\s\S]*got: \(3,\)"),
    "rectangle": (lambda: linalg.ldl(np.ones((2, 3))), r"not square[\s\S]*got: \(2, 3\)"),
    "solve, rectangle": (lambda: linalg.solve_positive_definite(np.ones((2, 3)), np.ones(2)), "not square"),
    "solve, length": (lambda: linalg.solve_positive_definite(np.eye(2), np.ones(3)), r"got: \(3,\)"),
    "solve, rows": (lambda: linalg.solve_positive_definite(np.eye(2), np.ones((3, 2))), r"expected: \(\.\.\., 2\)"),
    "solve, axes": (lambda: linalg.solve_positive_definite(np.eye(2), np.ones((4, 2, 2))), "does not fit"),
    "singular values, vector": (lambda: linalg.singular_values(np.ones(3)), "singular_values: not a matrix"),
    "empty": (lambda: linalg.damped_pinv(np.ones((0, 3)), 0.1), r"damped_pinv: not a matrix"),
}


@pytest.mark.parametrize("what", BAD)
def test_wrong_shapes_are_refused(what):
    function, message = BAD[what]
    with pytest.raises(ShapeError, match=message):
        function()
