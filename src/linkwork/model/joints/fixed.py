"""No degree of freedom. Bodies on fixed joints are merged with their parents, so no Model has one."""

from __future__ import annotations

from .kind import JointKind


class Fixed(JointKind):
    name = "fixed"
    position_parts = velocity_parts = ()

    def transform(self, joint, q):
        return ()

    def subspace(self, joint, q):
        return []

    def grouped(self, inertia):
        return type(inertia)(), inertia
