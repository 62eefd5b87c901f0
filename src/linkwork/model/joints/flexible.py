"""The tip of a flexible link relative to its root, with a degree of freedom for each mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...scalar import Scalar, cos, is_zero, sin
from ...spatial import Matrix, Motion, Pose, Screw, Transform, Vector, X
from .kind import JointKind, Scalars

if TYPE_CHECKING:
    from ..flexible.beam import Beam
    from ..flexible.modal import Modal
    from ..flexible.station import Station

RANDOM = 0.03  # of the length, or radians: largest random deflection, divided by the number of the mode


class Flexible(JointKind):
    """Positions are the displacement of each mode at the tip: a translation in metres, a twist in radians.

    The tip is at r0 + sum phi_a eta_a (see ``ElasticModes``), and its frame is rotated by Rz(c) Ry(b) Rx(a), where the
    angles (a, b, c) are the sums of twist, -du_z/dx and du_y/dx of the modes.
    """

    name = "flexible"
    position_meaning = "what each mode adds at the tip"
    velocity_meaning = "rates of what each mode adds at the tip"
    has_spring = False
    deforms = "bends"
    heading = "Links that bend"

    def __init__(self, material: Beam | Modal | Station, stiff: bool = True):
        self.material = material
        self.modes = material.elastic
        self.tied = bool(material.along)
        self.stiff = stiff
        self.position_parts = self.velocity_parts = self.modes.parts
        self.turning = self.modes.turning
        self.position_units = tuple("rad" if turn else "m" for turn in self.turning)

    def __reduce__(self) -> Any:
        return Flexible, (self.material, self.stiff)

    @property
    def fields(self):
        return {"kind": self.name, "flexible": self.material}

    @property
    def leads_on(self) -> str:
        return f"by the length of its link, {self.material.length:g} m, and by its bending"

    def undamped(self):
        return Flexible(self.material.undamped(), self.stiff)

    def limp(self):
        return Flexible(self.material, False)

    def transform(self, joint, q):
        at: Vector = self.modes.tip
        for shift, x in zip(self.modes.shifts, self.modes.amplitudes(q), strict=True):
            at = at + shift * x
        straight = is_zero(at.y) and is_zero(at.z)
        aside = [] if straight else [Pose(Matrix.identity(), Vector(0, at.y, at.z))]
        return (Screw("x", 1, 0, at.x), *aside, *self._turned(q).screws)

    def _angles(self, q: Scalars) -> Vector:
        return sum((turn * x for turn, x in zip(self.modes.turns, q, strict=True)), Vector())

    def _turned(self, q: Scalars) -> Transform:
        """Return Rz Ry Rx, without rotations that no mode has; Ry is Rz between quarter turns about x."""
        a, b, c = self._angles(q)
        screws = [] if is_zero(c) else [Screw("z", cos(c), sin(c))]
        if not is_zero(b):
            screws += [Screw("x", 0, -1), Screw("z", cos(b), sin(b)), Screw("x", 0, 1)]
        return Transform(*screws, *([] if is_zero(a) else [Screw("x", cos(a), sin(a))]))

    def subspace(self, joint, q):
        """Return phi_j and the rotation, in the axes of the tip."""
        inward = self._turned(q).inward
        linear = map(inward, self.modes.by_coordinates(self.modes.shifts, q))
        return [Motion(u, self._turning(q, turn)) for u, turn in zip(linear, self.modes.turns, strict=True)]

    def _turning(self, q: Scalars, rates: Vector) -> Vector:
        """Return the angular velocity at these rates of the angles, in the axes of the tip."""
        a, b, _ = self._angles(q)
        ca, sa, cb, sb = cos(a), sin(a), cos(b), sin(b)
        y, z = Vector(0, ca, -sa), Vector(-sb, sa * cb, ca * cb)
        return X * rates.x + y * rates.y + z * rates.z

    def subspace_rates(self, joint, q, v):
        columns = self._turned(q)
        (a, b, _), (da, db, _) = self._angles(q), self._angles(v)
        ca, sa, cb, sb = cos(a), sin(a), cos(b), sin(b)
        y = Vector(0, -sa, -ca) * da
        z = Vector(-cb * db, ca * cb * da - sa * sb * db, -(sa * cb * da) - ca * sb * db)
        w = self._turning(q, self._angles(v))
        linear = map(columns.inward, self.modes.by_coordinates(self.modes.shifts, q))
        grown = map(columns.inward, self.modes.by_coordinates_rates(self.modes.shifts, v))
        return [
            Motion(more - w.cross(u), y * turn.y + z * turn.z)
            for u, more, turn in zip(linear, grown, self.modes.turns, strict=True)
        ]

    def line(self, s: np.ndarray, q: Scalars) -> np.ndarray:
        return self.material.line(s, np.asarray(q, float))

    def deflection(self, q):
        shifts = np.array([[*shift] for shift in self.modes.shifts[: self.nq]], float)
        return np.linalg.norm(q @ shifts, axis=-1) / (self.material.length or np.inf)

    def facts(self):
        frequencies, damping = self.modes.clamped
        return {
            "length": self.material.length,
            "modes": list(self.modes.parts),
            "frequencies": frequencies,
            "damping": damping,
            "given": self.material.to_dict(),
        }

    def added_inertia(self, q):
        return self.modes.inertia(q)

    def own_forces(self, q, v):
        elastic = _product(self.modes.stiffness, q) if self.stiff else [0] * self.nv
        return elastic, _product(self.modes.damping, v)

    def own_stiffness(self):
        return self.stiff * np.array(self.modes.stiffness)

    def own_energy(self, q):
        return 0.5 * sum((x * y for x, y in zip(q, self.own_forces(q, q)[0], strict=True)), start=0)

    def random(self, rng, shape, lower, upper):
        """Return small positions, for which the modes are valid."""
        most = [RANDOM * (1.0 if turn else self.material.length) for turn in self.turning]
        return np.stack([rng.uniform(-x / (k + 1), x / (k + 1), shape) for k, x in enumerate(most)], axis=-1)


def _product(matrix: tuple[tuple[float, ...], ...], x: Scalars) -> list[Scalar]:
    return [sum((entry * y for entry, y in zip(row, x, strict=True)), start=0) for row in matrix]
