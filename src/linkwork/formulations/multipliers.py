"""Forward dynamics of a closed mechanism as the tree that is left when its loops are cut, and forces at the cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..constraints import ConstraintEquations, RedundantSaddle, RegularSaddle, SwitchedEquations
from ..model import Model
from ..scalar import Scalar
from .method import Wrenches
from .total_inertia import whole_bias, whole_inertia

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class ByMultipliers:
    """Forward dynamics of all joints of a closed mechanism, from a method of the inertia matrix and one of the bias."""

    inertia: Callable[..., list[list[Scalar]]]
    bias: Callable[..., list[Scalar]]

    def system(self, model: Model, q: Scalars) -> RegularSaddle:
        return RegularSaddle(self.tree_inertia(model, q), ConstraintEquations.independent(model, q).J)

    def supports(self, model: Model, q: Scalars, rows: SwitchedEquations) -> RedundantSaddle:
        """The same with contacts on the ground."""
        return RedundantSaddle(self.tree_inertia(model, q), rows.J)

    def tree_inertia(self, model: Model, q: Scalars) -> list[list[Scalar]]:
        """Of the leading joints."""
        return model.collect_matrix(whole_inertia(self.inertia, model, q))

    def net(self, model: Model, q: Scalars, v: Scalars, force: Scalars, wrenches: Wrenches) -> list[Scalar]:
        """Forces ``force`` of the leading joints, less the bias at tree velocities ``v``."""
        b = model.collect(whole_bias(self.bias, model, q, v, wrenches))
        return [x - y for x, y in zip(force, b, strict=True)]

    def __call__(self, model: Model, q: Scalars, v: Scalars, force: Scalars, wrenches: Wrenches = None) -> Any:
        """Accelerations of the leading joints, and lambda, at tree positions and velocities."""
        gamma = ConstraintEquations.independent(model, q).drift(v)
        return self.system(model, q).accelerations(self.net(model, q, v, force, wrenches), gamma)
