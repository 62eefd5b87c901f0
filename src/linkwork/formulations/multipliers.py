"""Forward dynamics of robots with closed loops by Lagrange multipliers: spanning tree, and forces at the cut joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..constraints import ConstraintEquations, RedundantSaddle, RegularSaddle, SwitchedEquations
from ..model import Model
from ..scalar import Scalar, Scalars
from .method import Wrenches
from .total_inertia import total_bias, total_inertia_matrix


@dataclass(frozen=True)
class ByMultipliers:
    """Forward dynamics of all joints of a robot with loops, from a method of the inertia matrix and one of the bias."""

    inertia: Callable[..., list[list[Scalar]]]
    bias: Callable[..., list[Scalar]]

    def system(self, model: Model, q: Scalars) -> RegularSaddle:
        """Return the saddle-point system of inertia matrix and loop Jacobian."""
        return RegularSaddle(self.tree_inertia(model, q), ConstraintEquations.independent(model, q).J)

    def supports(self, model: Model, q: Scalars, rows: SwitchedEquations) -> RedundantSaddle:
        """Return the saddle-point system of inertia matrix, loops and contacts on the ground."""
        return RedundantSaddle(self.tree_inertia(model, q), rows.J)

    def tree_inertia(self, model: Model, q: Scalars) -> list[list[Scalar]]:
        """Return the inertia matrix of the non-mimic joints of the tree."""
        return model.collect_matrix(total_inertia_matrix(self.inertia, model, q))

    def net(self, model: Model, q: Scalars, v: Scalars, force: Scalars, wrenches: Wrenches) -> list[Scalar]:
        """Return the forces ``force`` on the non-mimic joints less the bias at tree velocities ``v``."""
        b = model.collect(total_bias(self.bias, model, q, v, wrenches))
        return [x - y for x, y in zip(force, b, strict=True)]

    def __call__(self, model: Model, q: Scalars, v: Scalars, force: Scalars, wrenches: Wrenches = None) -> Any:
        """Return accelerations of the non-mimic joints and the multipliers, at tree positions and velocities."""
        gamma = ConstraintEquations.independent(model, q).drift(v)
        return self.system(model, q).accelerations(self.net(model, q, v, force, wrenches), gamma)
