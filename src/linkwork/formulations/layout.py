"""The kinds of vectors that quantities take and give: which joints stand where in each, and what else shapes are of."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from ..constraints import row_names
from ..model import Layout, Model, Segment
from .quantity import ACCELERATION, FORCE, VELOCITY, Quantity
from .regressor import standard_parameters

_made: WeakKeyDictionary[Model, dict[str, Layout]] = WeakKeyDictionary()  # a model does not change


def layouts(model: Model) -> Mapping[str, Layout]:
    """Of each kind of joint vector."""
    if model not in _made:
        _made[model] = _layouts(model)
    return _made[model]


def _layouts(model: Model) -> dict[str, Layout]:
    mobility, coordinates = model.mobility, model.coordinates
    everything = range(coordinates.nv)
    freedoms = {
        "v": (mobility.independent, VELOCITY),
        "v_joints": (everything, VELOCITY),
        "a": (mobility.independent, ACCELERATION),
        "a_known": (mobility.driven, ACCELERATION),
        "tau": (mobility.forced, FORCE),
        "tau_known": (mobility.free, FORCE),
        "motors": (mobility.motors, FORCE),
        "joints": (everything, VELOCITY),
        "dq": (mobility.configuration, VELOCITY),
    }
    found = {kind: coordinates.of_freedoms(*what) for kind, what in freedoms.items()}
    contacts = Layout(tuple(Segment(contact.name, ("",), ("",)) for contact in model.switched))
    own = {"q": coordinates.positions, "commands": model.commands, "contacts": contacts, "restitution": contacts}
    return found | own


def sizes(model: Model) -> dict[str, int]:
    """The robot's numbers: of the entries of each kind of vector, and of what else shapes are made of."""
    others = {"residual": len(row_names(model)), "bodies": model.n_bodies}
    others["parameters"] = len(standard_parameters(model))
    return {kind: layout.size for kind, layout in layouts(model).items()} | others


def joint_vectors(model: Model, quantity: Quantity) -> dict[str, Layout]:
    """Layouts of those inputs and outputs of a quantity that are joint vectors, by name."""
    known = layouts(model)
    held = {name: known[name] for name in quantity.inputs}
    outputs = {each.name: each.shape for each in quantity.outputs if len(each.shape) == 1}
    return held | {name: known[str(kind)] for name, (kind,) in outputs.items() if kind in known}
