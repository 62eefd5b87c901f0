"""Pose: where a frame sits in the world (or in any outer frame), as a rotation matrix and an origin."""

from __future__ import annotations

from collections.abc import Sequence

from ..scalar import Scalar
from .screws import Force, Inertia, Motion, Screw, Transform
from .vectors import Matrix, Symmetric, Vector, crosses


class Pose:
    """``rotation`` takes inner to outer components; ``origin`` is the inner origin in outer components."""

    __slots__ = ("origin", "rotation")

    def __init__(self, rotation: Matrix, origin: Vector):
        self.rotation, self.origin = rotation, origin

    @staticmethod
    def identity() -> Pose:
        return Pose(Matrix.identity(), Vector())

    @staticmethod
    def of_quaternion(origin: Sequence[Scalar], quaternion: Sequence[Scalar]) -> Pose:
        """From a quaternion (x, y, z, w) of any length but zero: dividing by its square makes the rotation exact."""
        x, y, z, w = quaternion
        scale = 2 / (x * x + y * y + z * z + w * w)
        X, Y, Z = scale * x, scale * y, scale * z
        xx, yy, zz, xy, xz, yz = x * X, y * Y, z * Z, x * Y, x * Z, y * Z
        wx, wy, wz = w * X, w * Y, w * Z
        return Pose(
            Matrix(
                Vector(1 - (yy + zz), xy - wz, xz + wy),
                Vector(xy + wz, 1 - (xx + zz), yz - wx),
                Vector(xz - wy, yz + wx, 1 - (xx + yy)),
            ),
            Vector(*origin),
        )

    def outward(self, v: Vector) -> Vector:
        return self.rotation @ v

    def inward(self, v: Vector) -> Vector:
        return self.rotation.T @ v

    def motion_inward(self, m: Motion) -> Motion:
        return Motion(self.inward(m.linear + m.angular.cross(self.origin)), self.inward(m.angular))

    def force_outward(self, f: Force) -> Force:
        force = self.outward(f.linear)
        return Force(force, self.outward(f.angular) + self.origin.cross(force))

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        """Parallel axes: with u = R h + m p / 2, J grows by 2 (p.u) 1 - p u^T - u p^T."""
        m, p, h = inertia.mass, self.origin, self.outward(inertia.h)
        turned = self.rotation @ (self.rotation @ Matrix(*inertia.J.rows)).T  # R (R J)^T = R J R^T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = turned.rows
        J = Symmetric(xx, xy, xz, yy, yz, zz) + crosses(p, h + p * (m * 0.5))
        return Inertia(m, h + p * m, J)

    def inverse(self) -> Pose:
        return Pose(self.rotation.T, -self.inward(self.origin))

    def then(self, inner: Transform | Pose) -> Pose:
        """The pose of a frame placed by ``inner`` in this one."""
        origin = self.origin + self.outward(inner.origin)
        if isinstance(inner, Pose):
            return Pose(self.rotation @ inner.rotation, origin)
        columns = list(self.rotation.columns)
        for screw in inner.screws:
            columns = _turn_columns(screw, columns)
        return Pose(Matrix(*columns).T, origin)


def _turn_columns(screw: Screw, columns: list[Vector]) -> list[Vector]:
    """Columns of R times an elementary rotation: they mix as (a, b) -> (a c + b s, b c - a s)."""
    c, s = screw.c, screw.s
    i, j = (1, 2) if screw.axis == "x" else (0, 1)
    turned = list(columns)
    turned[i] = columns[i] * c + columns[j] * s
    turned[j] = columns[j] * c - columns[i] * s
    return turned
