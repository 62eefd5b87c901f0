"""The robot with other values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..formulations.regressor import Parameter
from ..model import ELEMENTS, Model
from ..scalar import Scalar
from ..spatial import Inertia


def with_values(model: Model, values: Mapping[Parameter, Scalar]) -> Model:
    """The same robot with these inertia parameters and rotor inertias, scalars of any kind."""
    bodies = tuple(
        replace(
            body,
            inertia=Inertia.of(values[Parameter(i, element)] for element in ELEMENTS),
            joint=replace(body.joint, rotor_inertia=values.get(Parameter(i, "IA"), 0.0)),
        )
        for i, body in enumerate(model.bodies, 1)
    )
    return replace(model, bodies=bodies)
