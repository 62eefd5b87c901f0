"""Problem: a quantity of a robot, by a method, of a frame, with its options: all that is asked, bound in one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import LinkworkError, UnknownNameError, one_of
from ..model import Layout, Model, carrying, commanded, grouped
from .drives import drives_of, friction_laws
from .layout import joint_vectors, sizes
from .method import Method
from .quantity import VARIABLES, Quantity, Variable
from .quantity_table import OF_SLOPES, quantity_of
from .regressor import Columns

AXES = ("world", "local")
PARAMETERS = ("minimal", "standard", "input")
OFF_LINE = ("parameters", "payload")  # inputs that are constant while the robot moves


@dataclass(frozen=True, eq=False)
class Problem:
    """``evaluate`` takes vectors of any scalar, in the order of ``inputs``, and gives the ``outputs`` by name.

    ``method``: may be told later (``dataclasses.replace``), but before a quantity is evaluated that has methods.
    ``wrenches``: frames; adds the input of this name, a row of six for each. ``parameters``: "minimal" groups the
    inertias where quantity and method allow it, "standard" leaves them, "input" adds an input, and groups.
    ``payload``: a frame; adds an input. ``columns``: of a regressor; none: the standard parameters, of the links.
    """

    model: Model
    quantity: str
    method: Method | None = None
    frame: str | None = None
    axes: str = "world"
    wrenches: tuple[str, ...] = ()
    parameters: str = "minimal"
    payload: str | None = None
    columns: Columns | None = None

    def __post_init__(self) -> None:
        asked, name, where = self.asked, self.quantity, self.model.name
        if self.axes not in AXES:
            raise UnknownNameError("choice of axes", self.axes, AXES)
        if self.columns is None and self.parameters not in PARAMETERS:
            raise UnknownNameError("treatment of parameters", self.parameters, PARAMETERS)
        if asked.of_frame and self.frame is None:
            expected = "frame=, " + one_of("", list(self.model.frames))
            raise LinkworkError(f"{name} needs a frame", where=where, expected=expected)
        if self.frame is not None and not asked.of_frame:
            raise LinkworkError(f"{name} has no frame", where=where, got=f"frame={self.frame!r}")
        if self.axes != "world" and not asked.has_axes:
            raise LinkworkError(f"{name} has no choice of axes", where=where, got=f"axes={self.axes!r}")
        if self.wrenches and not asked.takes_wrenches:
            raise LinkworkError(f"{name} takes no wrenches", where=where, got=", ".join(self.wrenches))
        for frame in (self.frame, *self.wrenches, self.payload):
            if frame is not None:
                self.model.frame(frame)  # or it says which there are

    @cached_property
    def asked(self) -> Quantity:
        return quantity_of(self.model, self.quantity)

    # -- what goes in and out ----------------------------------------------------------------------------------------

    @property
    def variables(self) -> Iterator[Variable]:
        """The inputs, then the outputs."""
        more = {"wrenches": bool(self.wrenches), "parameters": self.parameters == "input", "payload": self.payload}
        yield from (VARIABLES[name] for name in (*self.asked.inputs, *(name for name, there in more.items() if there)))
        yield from self.asked.outputs

    @cached_property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes by name; those of OFF_LINE come last."""
        return self._shapes(list(self.variables)[: -len(self.asked.outputs)])

    @cached_property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes by name."""
        return self._shapes(self.asked.outputs)

    def _shapes(self, variables: Sequence[Variable]) -> dict[str, tuple[int, ...]]:
        size = sizes(self.model) | {"wrenches": len(self.wrenches)}
        if self.columns is not None:
            size["parameters"] = len(self.columns.columns)
        return {each.name: tuple(size[n] if isinstance(n, str) else n for n in each.shape) for each in variables}

    @property
    def layouts(self) -> dict[str, Layout]:
        """Of the joint vectors among them, by name."""
        return joint_vectors(self.model, self.asked)

    @property
    def meanings(self) -> dict[str, str]:
        """What each input and output is, with its unit."""
        return {each.name: self.asked.meaning(each) for each in self.variables}

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences on what is built in, beside the links."""
        found = (_SENTENCES[topic](self.model) for topic in self.asked.built_in)
        return tuple(sentence for sentence in found if sentence)

    @property
    def needs(self) -> dict[str, bool]:
        """What a method must bear (see ``Method.refusal``)."""
        as_input = self.parameters == "input" or self.payload is not None
        return {"wrenches": bool(self.wrenches), "as_input": as_input}

    # -- its value ---------------------------------------------------------------------------------------------------

    def evaluate(self, *values: Any) -> dict[str, Any]:
        """The outputs by name: scalars, or nested lists of them."""
        given = dict(zip(self.inputs, values, strict=True))
        vectors = [given[name] for name in self.asked.inputs if name != "commands"]
        model, options = self._model(given), {}
        if "commands" in given and self.quantity in OF_SLOPES:
            options["commands"] = given["commands"]
        elif "commands" in given:
            model = commanded(model, given["commands"])
        if self.method is not None:
            options["method"] = self.method
        if self.frame is not None:
            options["frame"] = model.frame(self.frame)
        if self.asked.has_axes:
            options["axes"] = self.axes
        if self.wrenches:
            options["loads"] = [model.frame(name) for name in self.wrenches], given["wrenches"]
        if self.columns is not None:
            options["columns"] = self.columns
        result = self.asked.function(model, *vectors, **options)
        return dict(zip(self.outputs, result if len(self.outputs) > 1 else (result,), strict=True))

    def _model(self, given: dict[str, Any]) -> Model:
        """The robot with the parameters given, as the method wants it."""
        if not any(name in given for name in OFF_LINE):
            return self.prepared
        model = self.model.with_parameters(given["parameters"]) if "parameters" in given else self.model
        if self.payload is not None:
            model = carrying(model, self.payload, given["payload"])
        return grouped(model) if self._groups else model

    @cached_property
    def prepared(self) -> Model:
        """The robot as the method wants it: with inertias grouped, or as they are."""
        return grouped(self.model) if self._groups else self.model

    @property
    def _groups(self) -> bool:
        allowed = self.asked.of_joints and (self.method is None or self.method.grouped)
        return allowed and self.parameters != "standard"


# -- what is built in ------------------------------------------------------------------------------------------------


def _gravity(model: Model) -> str:
    return f"Gravity: {' '.join(f'{g:g}' for g in model.gravity)} m/s^2, in axes of the world."


def _friction(model: Model) -> str:
    return f"Friction of the joints: {'; '.join(friction_laws(model)) or 'none'}."


def _rotors(model: Model) -> str:
    return f"Rotor inertias: {'included' if any(drive.rotor_inertia for drive in drives_of(model)) else 'none'}."


def _springs(model: Model) -> str:
    sentences = ["Springs at joints: included."] if any(drive.stiffness for drive in drives_of(model)) else []
    names: dict[str, list[str]] = {}
    for body in model.bodies:
        names.setdefault(body.joint.kind.heading, []).append(body.joint.name)
    sentences += [f"{title}, with stiffness and damping: {', '.join(own)}." for title, own in names.items() if title]
    return " ".join(sentences)


def _surroundings(model: Model) -> str:
    names = ", ".join(frame.name for frame, _ in model.forces)
    told = ", ".join(f"{n} ({unit})" for n, unit in zip(model.commands.names, model.commands.units, strict=True))
    return f"Forces of the surroundings on: {names}." + (f" Commands: {told}." if told else "") if names else ""


_SENTENCES = {
    "gravity": _gravity, "friction": _friction, "rotors": _rotors, "springs": _springs, "surroundings": _surroundings,
}  # fmt: skip
