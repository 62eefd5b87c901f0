"""The subproblems of closed-form inverse kinematics: every root, and nothing else."""

import numpy as np
import pytest

import linkwork
from linkwork.kinematics.subproblems import rotated, turns_on_conic, turns_on_line, two_links, two_turns

NUMBER = 2000


def compiled(function, **shapes):
    return linkwork.load("planar2r").function(function, **shapes)


CONIC = compiled(lambda robot, Q: np.stack([np.stack(turn) for turn in turns_on_conic(Q)]), Q=(3, 3))


def symmetric(rng: np.random.Generator) -> np.ndarray:
    Q = rng.normal(size=(NUMBER, 3, 3))
    return Q + Q.swapaxes(1, 2)


def on_circle(Q: np.ndarray) -> np.ndarray:
    """The roots as complex numbers of length one: those of a polynomial of degree four, after scaling."""
    a, b, c, d, e, f = Q[1, 1], Q[1, 2], Q[2, 2], Q[0, 1], Q[0, 2], Q[0, 0]
    square, line = (a - c) / 4 - 0.5j * b, d - 1j * e
    z = np.roots([square, line, f + (a + c) / 2, np.conj(line), np.conj(square)])
    return z[np.abs(np.abs(z) - 1) < 1e-6]


def assert_roots(Q: np.ndarray, tolerance: float = 1e-7) -> None:
    turns = CONIC(Q) @ [1, 1j]
    for k in range(0, len(Q), 10):
        expected, found = on_circle(Q[k]), turns[k][~np.isnan(turns[k])]
        assert len(expected) == len(found)
        if len(expected):
            distance = np.abs(expected[:, None] - found)
            assert distance.min(0).max() < tolerance and distance.min(1).max() < tolerance


@pytest.mark.parametrize("quadratic", (1, 1e3, 1e-3, 1e-6))
def test_conics(quadratic: float):
    Q = symmetric(np.random.default_rng(0))
    Q[:, 1:, 1:] *= quadratic
    assert_roots(Q)


def test_symmetric_conics():
    Q = symmetric(np.random.default_rng(1))
    Q[:, 0, 2] = Q[:, 2, 0] = Q[:, 1, 2] = Q[:, 2, 1] = 0
    assert_roots(Q)


def test_conics_that_are_lines():
    Q = symmetric(np.random.default_rng(2))
    Q[:, 1:, 1:] = np.eye(3)[1:, 1:] * np.random.default_rng(3).normal(size=(NUMBER, 1, 1))
    turns = CONIC(Q)
    line = np.stack([Q[:, 0, 0] + Q[:, 1, 1], 2 * Q[:, 0, 1], 2 * Q[:, 0, 2]], axis=-1)
    there = np.abs(line[:, 0]) < np.hypot(line[:, 1], line[:, 2])
    assert np.array_equal((~np.isnan(turns[..., 0])).sum(-1), np.where(there, 2, 0))
    residual = line[:, None, 0] + (line[:, None, 1:] * turns).sum(-1)
    assert np.nanmax(np.abs(residual)) < 1e-12


@pytest.mark.parametrize("apart", (0, 1e-12, 1e-9, 1e-6))
def test_double_roots(apart: float):
    """Conics through four chosen points of the circle, two of them together."""
    rng = np.random.default_rng(4)
    angles = rng.uniform(-np.pi, np.pi, (NUMBER, 4))
    angles[:, 1] = angles[:, 0] + apart
    lines = []  # through points 0 and 1, and through 2 and 3: c cos m + s sin m = cos h
    for k in (0, 2):
        middle, half = (angles[:, k] + angles[:, k + 1]) / 2, (angles[:, k] - angles[:, k + 1]) / 2
        lines.append(np.stack([-np.cos(half), np.cos(middle), np.sin(middle)], axis=-1))
    Q = np.einsum("ni,nj->nij", *lines)
    Q = Q + Q.swapaxes(1, 2) + rng.normal(size=(NUMBER, 1, 1)) * np.diag([-1, 1, 1])
    turns = CONIC(Q)
    distance = np.abs(np.exp(1j * angles)[:, :, None] - (turns @ [1, 1j])[:, None])
    assert not np.isnan(turns[:, :, 0]).any()
    well = np.abs(np.exp(1j * angles[:, 2:]) - np.exp(1j * angles[:, :1])).min(-1) > 0.1  # no third root there
    nearest = distance[well].min(-1)
    assert nearest[:, 2:].max() < 1e-11
    assert np.median(nearest) < 1e-6 and nearest.max() < 1e-5  # the square root of rounding, times 1 / slope


def test_lines():
    solve = compiled(lambda robot, k: np.stack([np.stack(turn) for turn in turns_on_line(k)]), k=(3,))
    k = np.random.default_rng(5).normal(size=(NUMBER, 3))
    turns = solve(k)
    there = np.abs(k[:, 0]) < np.hypot(k[:, 1], k[:, 2])
    assert np.array_equal(~np.isnan(turns).any((1, 2)), there)
    assert np.abs(k[there, None, 0] + (k[there, None, 1:] * turns[there]).sum(-1)).max() < 1e-14
    angles = np.array([0.3, -2.0])  # a tangent, and one that touches to rounding
    for share in (1, 1 + 1e-15, 1 - 1e-15):
        touching = np.stack([-share * np.ones(2), np.cos(angles), np.sin(angles)], axis=-1)
        near = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        np.testing.assert_allclose(solve(touching), np.stack([near, near], axis=1), atol=1e-7)


@pytest.mark.parametrize("tilt", (0.0, 1e-9, 1e-3, 0.5))
def test_two_turns(tilt: float):
    """From u by two turns to n, also where n is nearly on the first axis."""
    rng = np.random.default_rng(6)
    first, second = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0])
    u = np.array([0.0, np.sin(tilt), np.cos(tilt)])
    n = [rotated(first, (np.cos(a), np.sin(a)), rotated(second, (np.cos(b), np.sin(b)), u))
         for a, b in rng.uniform(-3, 3, (200, 2))]  # fmt: skip
    n = np.array([*n, rotated(first, (0.6, 0.8), first)] if tilt == 0.0 else n)
    solve = compiled(lambda robot, n: np.stack([np.stack([*a, *b]) for a, b in two_turns(first, second, u, n)]), n=(3,))
    for solutions, target in zip(solve(n), n, strict=True):
        for ca, sa, cb, sb in solutions:
            np.testing.assert_allclose(rotated(first, (ca, sa), rotated(second, (cb, sb), u)), target, atol=1e-14)


def test_two_links():
    w, a, b = np.array([0.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.0]), np.array([0.0, 0.3, 0.0])
    solve = compiled(
        lambda robot, target: np.stack([np.stack([*x, *y]) for x, y in two_links(w, a, b, target)]), target=(3,)
    )
    radii = np.array([0.2, 0.2 + 1e-12, 0.3, 0.7, 0.8 - 1e-12, 0.8, 0.19, 0.81, 0.0])
    targets = np.stack([radii * np.cos(radii), radii * np.sin(radii), 0 * radii], axis=-1)
    solutions = solve(targets)
    reached = (radii >= 0.2) & (radii <= 0.8)
    assert np.array_equal(~np.isnan(solutions).any((1, 2)), reached)
    for both, target in zip(solutions[reached], targets[reached], strict=True):
        for cx, sx, cy, sy in both:
            np.testing.assert_allclose(rotated(w, (cx, sx), a + rotated(w, (cy, sy), b)), target, atol=1e-15)
