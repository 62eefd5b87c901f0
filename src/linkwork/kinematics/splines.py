"""Splines through points, for batches of paths: B-splines with not-a-knot ends (de Boor 1978)."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


class Splines:
    """Splines of a degree through points, one for each path; fewer points give the polynomial through them.

    Args:
        at: increasing values of the parameter at the points, (P, W), or (1, W) for all paths.
        points: (P, W, n).
        degree: odd.

    Example:
        >>> splines = Splines(np.array([[0.0, 1.0, 2.0]]), np.array([[[0.0], [1.0], [4.0]]]), 3)
        >>> splines(np.array([[1.5]]))[0].item()
        2.25
    """

    def __init__(self, at: Array, points: Array, degree: int):
        W = points.shape[1]
        p = self.degree = min(degree, W - 1)
        inner = at[:, (p + 1) // 2 : W - (p + 1) // 2] if p < W - 1 else at[:, :0]  # the others are no knots
        ends = np.repeat(at[:, [0, -1]], p + 1, axis=1)
        self.knots = np.concatenate([ends[:, : p + 1], inner, ends[:, p + 1 :]], axis=1)
        first = _first(self.knots, at, p)
        self.coefficients = _solve(_basis(self.knots, at, p, first), first, points)

    def __getitem__(self, part: slice | Array) -> Splines:
        """Return the splines of some paths.

        Args:
            part: which ones, a slice or their numbers.

        Returns:
            The splines.
        """
        some = object.__new__(Splines)
        some.degree, some.coefficients = self.degree, self.coefficients[part]
        some.knots = self.knots[part] if len(self.knots) > 1 else self.knots
        return some

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """Return the points and their first two derivatives.

        Args:
            s: parameter, (P, G) or (1, G).

        Returns:
            Three arrays (P, G, n).
        """
        knots, c, results = self.knots, self.coefficients, []
        first = _first(knots, s, self.degree)  # the same for derivatives, which have fewer outer knots
        for p in range(self.degree, self.degree - 3, -1):
            if p < 0:  # all is zero beyond the last derivative
                results.append(np.zeros_like(results[0]))
                continue
            weights = _basis(knots, s, p, first)
            results.append(sum(weights[..., k, None] * _entries(c, first + k) for k in range(p + 1)))
            if p:
                m = c.shape[1]
                c = p * np.diff(c, axis=1) / (knots[:, p + 1 : p + m] - knots[:, 1:m])[..., None]
                knots = knots[:, 1:-1]
        return results[0], results[1], results[2]


def _first(knots: Array, s: Array, p: int) -> Array:
    """Return the number of the first basis function that is not zero at s, (P, G)."""
    return (knots[:, None, p + 1 : -p - 1] <= s[..., None]).sum(-1)


def _basis(knots: Array, s: Array, p: int, first: Array) -> Array:
    """Return the p + 1 basis functions from the first one on at s, (P, G, p + 1)."""
    at = [_entries(knots, first + k) for k in range(2 * p + 2)]
    values = [np.ones(first.shape)]
    for d in range(1, p + 1):
        carried, following = 0.0, []
        for k, value in enumerate(values):
            left, right = at[p + 1 + k - d], at[p + 1 + k]
            share = value / (right - left)
            following.append(carried + (right - s) * share)
            carried = (s - left) * share
        values = [*following, carried]
    return np.stack(values, axis=-1)


def _entries(values: Array, places: Array) -> Array:
    """Return the entries at ``places`` (P or 1, G) along the second axis of values (P or 1, m, ...)."""
    paths, m = values.shape[:2]
    return values.reshape(paths * m, *values.shape[2:]).take(places + m * np.arange(paths)[:, None], axis=0)


def _solve(weights: Array, first: Array, points: Array) -> Array:
    """Return coefficients with which the splines pass through the points.

    The matrix has a band and is totally positive, so it needs no pivots.
    """
    (P, W, width), p = weights.shape, weights.shape[2] - 1
    band = np.zeros((P, W, 2 * p + 1 + p))  # entry (i, j) at j - i + p, with space for the last rows
    paths, rows = np.ogrid[:P, :W]
    for k in range(width):
        band[paths, rows, first + k - rows + p] = weights[..., k]
    c = np.array(np.broadcast_to(points, (max(P, len(points)), *points.shape[1:])))
    for i in range(W):
        for r in range(i + 1, min(i + p + 1, W)):
            factor = band[:, r, i - r + p] / band[:, i, p]
            band[:, r, i - r + p : i - r + 2 * p + 1] -= factor[:, None] * band[:, i, p : 2 * p + 1]
            c[:, r] -= factor[:, None] * c[:, i]
    for i in reversed(range(W)):
        for j in range(i + 1, min(i + p + 1, W)):
            c[:, i] -= band[:, i, j - i + p, None] * c[:, j]
        c[:, i] /= band[:, i, p, None]
    return c
