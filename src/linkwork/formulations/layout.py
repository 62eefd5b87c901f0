"""Layouts of the vectors that quantities take and return: which joint has which entries, and all sizes of shapes."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from ..constraints import row_names
from ..model import Layout, Model, Segment
from .quantity import ACCELERATION, FORCE, VARIABLES, VELOCITY, Quantity
from .regressor import standard_parameters

_cache: WeakKeyDictionary[Model, dict[str, Layout]] = WeakKeyDictionary()  # a model does not change


def layouts(model: Model) -> Mapping[str, Layout]:
    """Return the layout of each kind of joint vector."""
    if model not in _cache:
        _cache[model] = _layouts(model)
    return _cache[model]


def _layouts(model: Model) -> dict[str, Layout]:
    mobility, coordinates = model.mobility, model.coordinates
    everything = range(coordinates.nv)
    freedoms = {
        "v": (mobility.independent, VELOCITY),
        "v_joints": (everything, VELOCITY),
        "a": (mobility.independent, ACCELERATION),
        "v_ref": (mobility.independent, VELOCITY),
        "a_ref": (mobility.independent, ACCELERATION),
        "a_known": (mobility.driven, ACCELERATION),
        "tau": (mobility.forced, FORCE),
        "tau_known": (mobility.free, FORCE),
        "motors": (mobility.motors, FORCE),
        "joints": (everything, VELOCITY),
        "dq": (mobility.configuration, VELOCITY),
    }
    by_kind = {kind: coordinates.of_freedoms(*entries) for kind, entries in freedoms.items()}
    contacts = Layout(tuple(Segment(contact.name, ("",), ("",)) for contact in model.switched))
    others = {"q": coordinates.positions, "commands": model.commands, "contacts": contacts, "restitution": contacts}
    known = coordinates.whole(mobility.known).positions
    return by_kind | others | {"positions": known, "guess": coordinates.positions}


def sizes(model: Model) -> dict[str, int]:
    """Return the sizes in shapes, by name: of each kind of vector, and others."""
    others = {"residual": len(row_names(model)), "frames": len(model.frames)}
    others |= {"whole": min(6, model.nv), "part": min(3, model.nv)}  # singular values of a Jacobian
    others["parameters"] = len(standard_parameters(model))
    others["adaptive"] = len(standard_parameters(model, ("IA",)))
    return {kind: layout.size for kind, layout in layouts(model).items()} | others


def joint_vectors(model: Model, quantity: Quantity) -> dict[str, Layout]:
    """Return the layouts of those inputs and outputs of a quantity that are joint vectors, by name."""
    by_kind = layouts(model)
    inputs = {name: by_kind[name] for name in quantity.inputs if VARIABLES[name].shape}
    outputs = {each.name: each.shape for each in quantity.outputs if len(each.shape) == 1}
    return inputs | {name: by_kind[str(kind)] for name, (kind,) in outputs.items() if kind in by_kind}
