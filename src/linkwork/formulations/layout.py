"""Which joint stands where in each kind of vector, and how many entries it has."""

from __future__ import annotations

from ..model import Model, closure
from .quantity import Quantity
from .regressor import standard_parameters


def vectors(model: Model) -> dict[str, tuple[str, ...]]:
    """The one-freedom joints that each kind of vector holds, in order; a floating body stands before them."""
    mobility = model.mobility
    return {
        "q": model.position_names,
        "v": model.joint_names,
        "v_joints": model.position_names,
        "a": model.joint_names,
        "tau": model.names_of(mobility.forced),
        "a_known": model.names_of(mobility.driven),
        "tau_known": model.names_of(mobility.free),
        "motors": model.names_of(mobility.motors),
        "joints": model.position_names,
    }


def sizes(model: Model) -> dict[str, int]:
    """The robot's numbers: of the entries of each kind of vector, and of what else shapes are made of."""
    mobility, nv = model.mobility, model.nv
    known = {"a_known": len(mobility.driven), "tau_known": len(mobility.free), "motors": len(mobility.motors)}
    others = {"tau": len(mobility.forced), "residual": len(closure.row_names(model)), "bodies": model.n_bodies}
    joints = {"joints": model.n_leading, "v_joints": model.n_leading}
    return {"q": model.nq, "v": nv, "a": nv, "parameters": len(standard_parameters(model))} | known | others | joints


def entries(model: Model, quantity: Quantity) -> tuple[dict[str, tuple[str, ...]], str]:
    """The joints that each input and output vector of a quantity holds, and the name of the floating body in them."""
    joints = vectors(model)
    held = {name: joints[name] for name in quantity.inputs}
    for output in quantity.outputs:
        if len(output.shape) == 1 and output.shape[0] in joints:
            held[output.name] = joints[str(output.shape[0])]
    return held, model.floating_name
