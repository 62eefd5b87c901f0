"""Equations of which some may be redundant or switched off: over any scalar, and without branches."""

from __future__ import annotations

from collections.abc import Sequence

from . import Scalar, Scalars, positive_part, sign
from .orthogonal import dot, minus_scaled

LEAST = 1e-9  # a row of which less than this share of its length is left depends on the rows before it


class Independent:
    """A = R^T Q with orthogonal rows of Q, by the modified Gram-Schmidt method, as ``Orthogonal`` has it.

    A row of which nothing is left depends on those before it, or is zero. The numbers ``on``, 1 or 0, leave it out.
    Lengths are compared, not pivots of A W A^T, whose rounding hides what is shorter than 1e-8. With weights W,
    a diagonal:

      (1)  Q_k = A_k - sum over j < k of R_jk Q_j,   d_k = Q_k W Q_k
      (2)  on_k = 1 if d_k > LEAST^2 A_k W A_k, else 0;   1 / d_k where it is 1, else 0
      (3)  R_kk = on_k,   R_kj = Q_k W A_j / d_k,   A_j -= R_kj Q_k      for all j > k
      (4)  the nearest x to b with A W x = c:   x = b + Q^T t,   R^T s = c,   t_k = (s_k - Q_k W x) / d_k
      (5)  the shortest y with A^T y = Q^T t:   R y = t, which is (4) of the rows of R from the last one up
    """

    def __init__(self, rows: Sequence[Scalars], weights: Scalars | None = None, on: Scalars | None = None):
        """``on``: 1 for each row that counts, else 0; default: found by (2)."""
        m = len(rows)
        self.Q: list[list[Scalar]] = [list(row) for row in rows]
        self.W: list[list[Scalar]] = [[] for _ in rows]  # Q W
        self.R: list[list[Scalar]] = [[0] * m for _ in rows]
        self.on: list[Scalar] = [0] * m if on is None else list(on)
        self.inverse: list[Scalar] = [0] * m

        def weighted(row: Scalars) -> list[Scalar]:
            return list(row) if weights is None else [x * w for x, w in zip(row, weights, strict=True)]

        for k in range(m):
            self.W[k] = weighted(self.Q[k])
            d = dot(self.W[k], self.Q[k])  # (1)
            if on is None:
                self.on[k] = positive_part(sign(d - LEAST**2 * dot(weighted(rows[k]), rows[k])))  # (2)
            self.inverse[k] = self.on[k] / (d + (1 - self.on[k]))
            self.R[k][k] = self.on[k]
            for j in range(k + 1, m):
                self.R[k][j] = dot(self.W[k], self.Q[j]) * self.inverse[k]  # (3)
                self.Q[j] = minus_scaled(self.Q[j], self.R[k][j], self.Q[k])

    def nearest(self, c: Scalars, b: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """Return x and t of (4). First all rows of Q are taken out of b, then their targets are put in from the last
        one up: Bjorck and Paige (1992), "Loss and recapture of orthogonality in the modified Gram-Schmidt
        algorithm"."""
        x, s, rows = list(b), list(c), range(len(c))
        t: list[Scalar] = [0] * len(c)
        for k in rows:
            x = self._moved(x, k, 0, t)
            for j in rows[k + 1 :]:
                s[j] = s[j] - self.R[k][j] * s[k]
        for k in reversed(rows):
            x = self._moved(x, k, s[k], t)
        return x, t

    def _moved(self, x: list[Scalar], k: int, target: Scalar, t: list[Scalar]) -> list[Scalar]:
        """Return x moved along Q_k until Q_k W x is the target; the step is added to t[k]."""
        step = (target - dot(self.W[k], x)) * self.inverse[k]  # (4)
        t[k] = t[k] + step
        return minus_scaled(x, -step, self.Q[k])

    def shortest(self, t: Scalars) -> list[Scalar]:
        """Return y of (5) for the t of ``nearest``."""
        return Independent(self.R[::-1], on=self.on[::-1]).nearest(t[::-1], [0] * len(t))[0]  # (5)
