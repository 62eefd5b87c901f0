"""Traced arrays behave as NumPy's: the same code on arrays of numbers, and traced, gives the same numbers."""

import numpy as np
import pytest

import linkwork
from linkwork import rotations
from linkwork.derive import jacobian
from linkwork.program import Port, interpret, optimize, trace
from linkwork.program.graph import StrictGraph
from linkwork.program.traced_array import ELEMENTWISE, TracedArray
from linkwork.scalar import linear_algebra

RNG = np.random.default_rng(0)
X, A = RNG.normal(size=3), RNG.normal(size=(3, 3))


def traced(function, *arrays):
    """The results of a function that is traced on arrays of these shapes, then run on their numbers."""

    def run(*values):
        results = function(*map(TracedArray, values))
        return {f"y{k}": TracedArray(value).nodes() for k, value in enumerate(results)}

    ports = [Port(f"x{k}", np.shape(x)) for k, x in enumerate(arrays)]
    program = trace("f", run, ports)
    outputs = interpret(program, arrays)
    for once, again in zip(outputs, interpret(optimize(program), arrays)):
        assert np.allclose(once, again, rtol=1e-13, atol=1e-13, equal_nan=True)
    return outputs


def same(function, *arrays, tolerance=4e-15):
    for ours, theirs in zip(traced(function, *arrays), function(*arrays), strict=True):
        assert ours.shape == np.shape(theirs)
        assert np.allclose(ours, np.asarray(theirs, float), rtol=tolerance, atol=tolerance, equal_nan=True)


DOMAIN = {"arccosh": 1.5 + np.abs(X), "sqrt": np.abs(X), "log": np.abs(X), "log2": np.abs(X), "log10": np.abs(X)}
OF_TWO = {"arctan2", "hypot", "maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal"}
OF_TWO |= {"not_equal", "heaviside", "power", "float_power"}
MASKS = {"bitwise_and", "bitwise_or", "invert", "logical_and", "logical_or", "logical_not"}


@pytest.mark.parametrize("name", sorted(set(ELEMENTWISE) - OF_TWO - MASKS))
def test_functions_of_one(name):
    function = getattr(np, name)
    same(lambda x: [function(x)], DOMAIN.get(name, X / 3))
    same(lambda x: [function(x)], DOMAIN.get(name, X / 3) * (1e-9 if name not in DOMAIN else 1))


@pytest.mark.parametrize("name", sorted(OF_TWO))
def test_functions_of_two(name):
    function = getattr(np, name)
    positive = np.abs(X) if "power" in name else X
    same(lambda x, y: [function(x, y), function(x, x), function(x, 0.5)], positive, np.round(A[0], 1))


def test_masks():
    def run(x):
        low, high = x > -0.5, x <= 0.5
        masks = [low & high, low | high, ~low, np.logical_and(low, high), np.logical_or(low, high), np.logical_not(low)]
        return [*masks, np.any(low), np.all(low), np.where(low & high, x, -x), np.where(x[0] > 0, 1.0, x), low * 2.0]

    same(run, X)
    same(run, np.array([-0.5, 0.5, np.nan]))


def test_shapes():
    def run(x, A):
        block = np.block([[A, np.zeros((3, 1))]])
        stacked = [np.stack([x, A[1]]), np.concatenate([x, np.ones(2)]), np.array([x[0], 2 * x[1], 3.0]), block]
        sums = [x.sum(), A.mean(axis=0), np.sum(A, axis=1), np.prod(x), np.cumsum(x), sum(y * y for y in x)]
        products = [A @ x, x @ A, x.dot(x), np.outer(x, x), np.cross(x, A[0]), np.einsum("ij,j", A, x), np.kron(x, x)]
        ends = [A.max(axis=1), np.min(x), np.clip(x, -0.2, 0.3), np.clip(x, None, 0.1), x.clip(0.0, 1.0), abs(x)]
        parts = [A.T, A[1:, ::-1], A[:, 1], np.diag(x), np.trace(A), np.reshape(A, 9), A[[0, 2]], -x, x / 2, 2 / x]
        powers = [x**2, x**3, x**-2, np.abs(x) ** 0.5, np.abs(x) ** 1.7, [1.0, 2.0, 3.0] @ A]
        return [*stacked, *sums, *products, *ends, *parts, *powers]

    same(run, X, A)


def test_linear_algebra():
    def run(x, A):
        B, low = A @ A.T + np.eye(3), A[:, :2]
        solved = [np.linalg.solve(A, x), np.linalg.solve(A, A.T), np.linalg.inv(A), np.linalg.det(A)]
        pseudo = [np.linalg.pinv(A[:2]), np.linalg.pinv(low), np.linalg.cholesky(B), np.linalg.norm(x)]
        return [*solved, *pseudo, np.linalg.norm(A), np.linalg.norm(x, 1), np.linalg.norm(A, axis=1)]

    same(run, X, A, tolerance=1e-13)
    Q, R = traced(lambda A: list(np.linalg.qr(A)), A)
    assert np.allclose(Q @ R, A, rtol=1e-14) and np.allclose(Q.T @ Q, np.eye(3), atol=1e-15)
    assert (np.diag(R) > 0).all() and np.allclose(np.tril(R, -1), 0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_linear_algebra_of_numbers(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    S = A @ A.T + np.eye(n)
    close = lambda x, y: np.allclose(x, y, rtol=1e-11, atol=1e-11)  # noqa: E731
    assert close(linear_algebra.inverse(A.tolist()), np.linalg.inv(A))
    assert close(linear_algebra.determinant(A.tolist()), np.linalg.det(A))
    assert close(linear_algebra.solve(A.tolist(), b.tolist()), np.linalg.solve(A, b))
    L, D = map(np.array, linear_algebra.ldl_factors(S.tolist()))
    assert close(L @ np.diag(D) @ L.T, S) and close(np.diag(L), 1)
    wide = rng.normal(size=(n, n + 2))
    damped = wide.T @ np.linalg.inv(wide @ wide.T + 0.01 * np.eye(n))
    assert close(linear_algebra.pseudo_inverse(wide.tolist(), 0.1), damped)
    assert close(linear_algebra.pseudo_inverse(wide.T.tolist(), 0.1), damped.T)


@pytest.mark.parametrize("n", [4, 5, 7, 18])
def test_determinants_with_any_pivots(n):
    A = np.random.default_rng(n).normal(size=(40, n, n))
    A[0], A[1], A[2] = np.eye(n)[::-1], np.kron(np.eye(n), [[0, 1], [1, 0]])[:n, :n], 0
    A[3, :, 0], A[4, 1], A[5, :, -1], A[6, ::2] = 0, 0, A[5, :, 0], 1.0
    A[7:10] = np.triu(A[7:10])[:, ::-1]
    det = linkwork.load("planar2r").function(lambda robot, A: np.linalg.det(A), A=(n, n), name="det")
    largest = np.prod(np.linalg.norm(A, axis=1), axis=1)  # by Hadamard's inequality
    assert np.allclose(det(A) / np.where(largest, largest, 1), np.linalg.det(A) / np.where(largest, largest, 1), 1e-12)
    if n < 8:  # the derivatives are the cofactors, also of singular matrices
        minors = [[np.delete(np.delete(A, i, 1), j, 2) for j in range(n)] for i in range(n)]
        cofactors = np.linalg.det(np.array(minors)) * ((-1.0) ** np.add.outer(range(n), range(n)))[..., None]
        assert np.allclose(det.derivative("A")(A), np.moveaxis(cofactors, -1, 0), rtol=1e-12, atol=1e-12)


BAD = {
    "branch": (lambda x: 1 if x[0] > 0 else 2, "decide a branch"),
    "python max": (lambda x: max(x), "decide a branch"),
    "float": (lambda x: float(x[0]), "not known while tracing"),
    "sort": (lambda x: np.sort(x), "decide a branch"),
    "floor": (lambda x: np.floor(x), "np.floor cannot be traced"),
    "eigenvalues": (lambda x: np.linalg.eigvals(np.diag(x)), "np.linalg.eigvals cannot be traced"),
    "mask as index": (lambda x: x[x > 0], "cannot be an index"),
    "filled floats": (lambda x: np.zeros(3).__setitem__(0, x[0]), "np.stack"),
    "where alone": (lambda x: np.where(x > 0), "a condition and two choices"),
    "norm": (lambda x: np.linalg.norm(np.outer(x, x), 2), "ord=2"),
    "stack of matrices": (lambda x: np.linalg.inv(np.stack([np.diag(x)])), "one square matrix"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_needs_a_value_is_refused(name):
    function, message = BAD[name]
    with pytest.raises(TypeError, match=message):
        traced(lambda x: [function(x)], X)


def test_rotations():
    w = RNG.normal(size=(200, 3))
    w *= (RNG.uniform(0, np.pi, 200) / np.linalg.norm(w, axis=1))[:, None]
    w[0], w[1:4] = 0, w[1:4] * 1e-9
    R = rotations.exp(w)
    assert np.allclose(R @ np.swapaxes(R, -1, -2), np.eye(3), atol=1e-14) and np.allclose(np.linalg.det(R), 1)
    axis = np.cross(w, RNG.normal(size=3))
    turned = axis * np.cos(np.linalg.norm(w, axis=1))[:, None]  # Rodrigues' formula, for what is normal to the axis
    turned += np.cross(w, axis) * np.sinc(np.linalg.norm(w, axis=1) / np.pi)[:, None]
    assert np.allclose(np.einsum("bij,bj->bi", R, axis), turned, atol=1e-13)
    assert np.allclose(rotations.log(R), w, atol=1e-13)
    q = rotations.to_quaternion(R)
    assert np.allclose(rotations.from_quaternion(q), R, atol=1e-14) and np.allclose(np.linalg.norm(q, axis=1), 1)
    assert np.allclose(rotations.from_quaternion(-3 * q), R, atol=1e-14) and (q[:, 3] >= 0).all()
    for axis in np.eye(3):  # half a turn
        assert np.allclose(np.abs(rotations.log(rotations.exp(np.pi * axis))), np.pi * axis, atol=1e-15)
    for one in w[:20]:
        results = traced(lambda w: [rotations.exp(w), rotations.log(rotations.exp(w))], one)
        assert np.allclose(results[0], rotations.exp(one), atol=1e-15) and np.allclose(results[1], one, atol=1e-14)


def test_pose_error_leads_to_the_target():
    T, target = np.eye(4), np.eye(4)
    T[:3, :3], T[:3, 3] = rotations.exp([0.1, 0.2, -0.3]), [1, 2, 3]
    target[:3, :3], target[:3, 3] = rotations.exp([0.5, -0.2, 0.4]), [-1, 0, 2]
    error = rotations.pose_error(target, T)
    assert np.allclose(T[:3, 3] + error[:3], target[:3, 3]) and np.allclose(
        rotations.exp(error[3:]) @ T[:3, :3], target[:3, :3], atol=1e-15
    )
    made = rotations.make_pose(T[:3, :3], T[:3, 3])
    assert np.array_equal(made, T) and np.allclose(rotations.inverse_pose(T) @ T, np.eye(4), atol=1e-15)


# -- what was once silently wrong --------------------------------------------------------------------------------------


def test_single_numbers_are_immutable():
    """As NumPy's are: += rebinds a name, and does not change what else refers to the number."""

    def partial_sums(x):
        total, sums = 0.0, []
        for entry in x:
            total += entry
            sums.append(total)
        first = x[0]
        other = first
        other *= -10
        return [np.stack(sums), first, other]

    same(partial_sums, X)


def test_arrays_change_in_place():
    def run(x):
        y = x
        y += 1
        z = np.stack([x, x])
        z[0] = 2 * x
        return [x, y, z]

    same(lambda x: run(x * 1.0), X)


def test_clip_takes_its_limits_by_name():
    same(lambda x: [x.clip(min=0), x.clip(min=0, max=0.1), np.clip(x, min=-0.1, max=0.1), x.clip(None, 0.2)], X)


def test_ends_of_a_matrix():
    same(lambda A: [np.max(A), A.min(), np.max(A, axis=0), A.max(keepdims=True), np.ptp(A), np.ptp(A, axis=1)], A)


def test_reductions_along_several_axes():
    def run(x):
        ends = [
            np.max(x, axis=(0, 1)),
            x.min(axis=(-1, 0)),
            np.max(x, axis=(0, 2), keepdims=True),
            np.min(x, initial=0.1),
        ]
        masks = [np.any(x > 1, axis=(0, 1)), (x < 1).all(), np.all(x < 1, axis=(0, 2), keepdims=True), (x > 5).any()]
        spreads = [np.var(x), x.var(axis=(0, 1), ddof=1), np.std(x, axis=1, keepdims=True), x.std(axis=0)]
        return [
            *ends,
            np.min(x, initial=0.1),
            *masks,
            *spreads,
            np.mean(x, axis=(0, 2)),
            np.prod(x, axis=(0, 1)),
            np.vdot(x, x),
        ]

    same(run, RNG.normal(size=(3, 4, 2)))


def test_a_quotient_by_zero_is_that_of_numpy():
    constants = np.array([0.0, 2.0, 1e-310])
    with np.errstate(all="ignore"):
        same(lambda x: [x / 0.0, x / constants, np.where(constants != 0, x / constants, 0), 0 * x[0] + 1 / x], X)


def test_powers_of_whole_numbers():
    same(lambda x: [x**n for n in range(-9, 20)], X, tolerance=2e-14)
    same(lambda x: [x**1_000_000], 1 + X / 1e6, tolerance=1e-9)  # the rounding of x is multiplied by the exponent


def test_entries_of_lists_are_traced():
    same(lambda x: [np.where(x.tolist()[0] == x[0], 1.0, 2.0), np.where(x.item(1) == 5, 1.0, 2.0)], X)


@pytest.mark.parametrize("name", ["arcsinh", "arctanh", "log1p", "expm1"])
def test_functions_at_their_ends(name):
    function = getattr(np, name)
    far = {"arcsinh": [1e200, -1e200, np.inf], "arctanh": [-1 + 1e-13, 0.0, 1 - 1e-13]}.get(name, [1e15, 0.0, -0.5])
    same(lambda x: [function(x)], np.array(far) if name != "expm1" else np.array([50.0, 0.0, -50.0]), tolerance=1e-13)


SLOPES = {
    "log1p": lambda x: (1 / (1 + x), -((1 + x) ** -2), 2 / (1 + x) ** 3),
    "arctanh": lambda x: (1 / (1 - x * x), 2 * x / (1 - x * x) ** 2, (2 + 6 * x * x) / (1 - x * x) ** 3),
    "arcsinh": lambda x: ((1 + x * x) ** -0.5, -x * (1 + x * x) ** -1.5, (2 * x * x - 1) * (1 + x * x) ** -2.5),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_all_orders_near_zero(name):
    """Where the digits of 1 + x are lost."""
    program = trace("f", lambda x: {"y": getattr(np, name)(TracedArray(x)).nodes()}, [Port("x", ())])
    x = np.array([0, 1e-17, -3e-16, 1e-12, -1e-8, 1e-5, 0.1, -0.7, 0.9])
    for order, exact in enumerate(SLOPES[name](x)):
        program = optimize(jacobian(program, ["x"], [program.outputs[0].name]))
        (slope,) = interpret(program, [x])
        assert np.allclose(np.ravel(slope), exact, rtol=1e-13, atol=1e-15), order


def test_arrays_of_nodes_are_not_compared():
    """Nodes are equal to themselves alone, whatever their values are."""

    def careless(x):
        x = TracedArray(x)
        return {"y": np.where(np.asarray(x) == np.asarray(2 * x), 1.0, 2.0)}

    with pytest.raises(TypeError, match=r"np\.equal"):
        trace("f", careless, [Port("x", (3,))], StrictGraph())
