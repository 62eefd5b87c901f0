"""Serial robots of generic geometry, for counting operations: no constant is zero, one, or equal to another."""

from __future__ import annotations

import math
from collections.abc import Collection

from ..model import Body, Joint, Model, joint_kind
from ..model.model import FixedScrew
from ..spatial import Inertia, Symmetric, Vector


def generic_chain(n: int, prismatic: Collection[int] = (), parallel: Collection[int] = ()) -> Model:
    """Return a chain of n joints in modified Denavit-Hartenberg frames.

    Joints numbered in ``prismatic`` are prismatic, others revolute. The axes of joints numbered in ``parallel`` are
    parallel to the axes before them.
    """
    bodies = []
    for i in range(1, n + 1):
        wobble = 0.1 * math.sin(3.0 * i)
        alpha = 0.0 if i in parallel else 0.7 + wobble
        joint = Joint(
            f"joint{i}",
            joint_kind("prismatic" if i in prismatic else "revolute"),
            placement=(FixedScrew("x", alpha, 0.31 + wobble),),
            angle=0.4 + wobble if i in prismatic else 0.0,
            length=0.0 if i in prismatic else 0.23 - wobble,
        )
        mass = 2.0 + wobble
        h = Vector(0.3 + wobble, -0.2 + wobble, 0.25 - wobble)
        J = Symmetric(
            0.9 + wobble, 0.05 + wobble / 9, -0.04 + wobble / 7, 0.8 - wobble, 0.03 + wobble / 8, 0.7 + wobble
        )
        bodies.append(Body(f"link{i}", i - 1, joint, Inertia(mass, h, J)))
    return Model(f"generic {n}", tuple(bodies), {}, (), Vector(0.3, -0.5, -9.7))
