"""Frames and composite bodies of a serial robot, for the formulations of this family."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Force, Inertia, Matrix, Transform, Vector

Entries = dict[tuple[int, int], Scalar]  # of the inertia matrix, by (j, i) with j <= i


class Chain:
    """Frames E_1 .. E_n on the joints, z along their axes (Lin & Fang 1999):

      (1)  s_i = b_i + R_i (0, 0, d_i), the origin of E_i from that of E_{i-1}, in E_{i-1}
      (2)  R_i takes components from E_i to E_{i-1}

    b_i is constant; R_i is constant for a translational joint and d_i for a rotational one.
    """

    def __init__(self, model: Model, q: Scalars):
        self.n = model.n_bodies
        self.prismatic = {i: model.joint(i).prismatic for i in range(1, self.n + 1)}
        self.X: dict[int, Transform] = {i: model.transform(i, q) for i in range(1, self.n + 1)}

    def b(self, i: int) -> Vector:
        """Return b_i."""
        return Transform(*self.X[i].screws[:-1]).origin

    def d(self, i: int) -> Scalar:
        """Return d_i."""
        return self.X[i].screws[-1].t

    def s(self, i: int) -> Vector:
        """Return s_i."""
        return self.X[i].origin                                                                # (1)

    def outward(self, i: int, v: Vector) -> Vector:
        """Return R_i v."""
        return self.X[i].outward(v)                                                            # (2)

    def inward(self, i: int, v: Vector) -> Vector:
        """Return R_i^T v."""
        return self.X[i].inward(v)

    def reach(self, i: int, s: Vector) -> Vector:
        """Return R_i^T (s + b_i) + (0, 0, d_i): the arm s to the origin of E_{i-1}, continued to E_i, in E_i."""
        return self.X[i].arm_inward(s)

    @cached_property
    def s_2(self) -> Vector:
        """The origin of E_2 from that of E_1, in E_2."""
        return self.reach(2, Vector())

    def force_outward(self, i: int, f: Vector, t: Vector) -> tuple[Vector, Vector]:
        """Return R_i f, and R_i (t + d_i x f) + b_i x R_i f."""
        moved = self.X[i].force_outward(Force(f, t))
        return moved.linear, moved.angular

    def turned(self, A: Matrix, v: Vector) -> Vector:
        """Return A v for a matrix A whose entries were computed before."""
        return A @ v


def composite_bodies(model: Model, chain: Chain) -> dict[int, Inertia]:
    """Return links i to n moving as one: mass m^, first moment c^ and inertia J^ about the origin of E_i.

    They are (3) to (5) of Lin & Fang (1999), sums over the links with inertias about centres of mass, as a recursion:
    m^_i = m_i + m^,   c^_i = h_i + m^ s + c,   J^_i = J_i + R J^ R^T - [s x][c x] - [c x][s x] - m^ [s x][s x],
    c = R c^; all else on the right is of body i + 1.
    """
    body, n = {}, chain.n
    for i in range(n, 0, -1):
        carried = chain.X[i + 1].inertia_outward(body[i + 1]) if i < n else Inertia()
        body[i] = model.inertia(i) + carried
    return body


def complete(model: Model, D: Mapping[tuple[int, int], Scalar]) -> list[list[Scalar]]:
    """Return the whole symmetric matrix, rotor inertia Ia on its diagonal."""
    M: list[list[Scalar]] = [[0] * model.n_bodies for _ in range(model.n_bodies)]
    for (j, i), entry in D.items():
        M[j - 1][i - 1] = M[i - 1][j - 1] = entry + (model.joint(i).rotor_inertia if i == j else 0)
    return M
