"""ParameterVector: the theta of tau = Y theta, with the names of its entries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import UnknownNameError
from ..formulations.regressor import Columns, Drives, Parameter, parameter_values, standard_parameters
from ..model import Model
from .base import base_parameters

KINDS = {"minimal": "khalil", "lin": "lin"}
CHOICES = ("standard", *KINDS)


@dataclass(frozen=True, eq=False)
class ParameterVector(Columns):
    """Names and values of the parameters, with the columns of their regressor."""

    names: tuple[str, ...] = ()
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))


def parameter_vector(model: Model, parameters: str = "standard", drives: Drives = None) -> ParameterVector:
    """Return the parameters of a robot.

    "standard": those of ``Robot.parameters`` in a row, in the links' frames and named after links, then those of the
    joints. "minimal": the base parameters of Gautier and Khalil. "lin": Lin's combinations.
    """
    if parameters not in CHOICES:
        raise UnknownNameError("kind of parameters", parameters, CHOICES)
    if parameters in KINDS:
        base = base_parameters(model, KINDS[parameters], drives)
        return ParameterVector(base.columns, False, base.mixing, base.names, base.values)
    columns = standard_parameters(model, drives)
    values = np.array(parameter_values(model, columns, in_links=True), float)
    names = tuple(_name(model, each) for each in columns)
    return ParameterVector(columns, True, names=names, values=values)


def _name(model: Model, parameter: Parameter) -> str:
    i = parameter.body
    owner = parameter.motor or (model.body(i).name if parameter.of_body else model.joint(i).name)
    return f"{owner}.{parameter.element}"
