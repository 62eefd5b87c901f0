"""Problem: a quantity of a robot with its method, frame and all other options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..constraints.assembly_loop import closing_tolerance, known_freedoms
from ..errors import LinkworkError, UnknownNameError, UnsupportedError, at_door, one_of
from ..model import Layout, Model, NumberInput, commanded, grouped, number_inputs, with_numbers
from ..renamed import refuse_value
from .drives import drives_of, friction_laws
from .layout import joint_vectors, sizes
from .method import Method
from .quantity import VARIABLES, Quantity, Variable
from .quantity_table import OF_SLOPES, quantity_of
from .regressor import Columns

AXES = ("world", "local")
PARAMETERS = ("minimal", "standard")
SINGLE = 1e-5  # metres and radians, at which loops are closed in float32


def check_parameters(choice: str) -> None:
    """Raise an error for what is no treatment of inertial parameters."""
    refuse_value("parameters", choice)
    if choice not in PARAMETERS:
        raise UnknownNameError("treatment of parameters", choice, PARAMETERS)


@dataclass(frozen=True, eq=False)
class Problem:
    """A quantity of a robot. ``evaluate`` takes vectors of any scalar and returns the outputs by name.

    Attributes:
        model: the robot.
        quantity: name of the quantity.
        method: required when a quantity that has methods is evaluated; may be set later (``dataclasses.replace``).
        frame: name of the frame, for quantities of a frame.
        axes: "world" (default) or "local", for Jacobians.
        wrenches: frames with wrenches; adds the input of this name, a row of six for each frame.
        parameters: "minimal" (default) groups inertias where quantity and method allow it, "standard" does not.
        columns: columns of a regressor; default: the standard parameters of the links.
        as_inputs: numbers of the robot that are inputs (see ``number_inputs``).
        known: names of the joints whose positions ``assemble`` takes. Default: the motors if they determine all joints,
            else the independent joints.
        turns: largest number of steps of ``assemble``.
        tolerance: residual at which it ends, in m and rad. Default: that of the robot, or 1e-5 in float32.
        dtype: number type for which it is compiled.
    """

    model: Model
    quantity: str
    method: Method | None = None
    frame: str | None = None
    axes: str = "world"
    wrenches: tuple[str, ...] = ()
    parameters: str = "minimal"
    columns: Columns | None = None
    as_inputs: tuple[str, ...] = ()
    known: tuple[str, ...] | None = None
    turns: int = 30
    tolerance: float | None = None
    dtype: str = "float64"

    def __post_init__(self) -> None:
        definition, name, where = self.definition, self.quantity, self.model.name
        if self.axes not in AXES:
            raise UnknownNameError("choice of axes", self.axes, AXES)
        if self.columns is None:
            check_parameters(self.parameters)
        if definition.of_frame and self.frame is None:
            expected = at_door("frame=, ", f"{name}:FRAME, ") + one_of("", list(self.model.frames))
            raise LinkworkError(f"{name} needs a frame", where=where, expected=expected)
        if self.frame is not None and not definition.of_frame:
            got = at_door(f"frame={self.frame!r}", f"--frame {self.frame}")
            raise LinkworkError(f"{name} has no frame", where=where, got=got, fix="leave the frame out")
        if self.axes != "world" and not definition.has_axes:
            got = at_door(f"axes={self.axes!r}", f"--axes {self.axes}")
            raise LinkworkError(f"{name} has no choice of axes", where=where, got=got, fix="leave the axes out")
        if self.wrenches and not definition.takes_wrenches:
            raise LinkworkError(
                f"{name} takes no wrenches", where=where, got=", ".join(self.wrenches), fix="leave the wrenches out"
            )
        if self.known is not None and "positions" not in definition.inputs:
            raise UnsupportedError(f"{name} has no known joints", where=where, got=f"known={[*self.known]}")
        if definition.decides_rank and self.dtype != "float64":
            message = "which equations follow from others is decided by more digits than this type has"
            raise UnsupportedError(message, where=name, got=self.dtype, expected="float64")
        for frame in (self.frame, *self.wrenches):
            if frame is not None:
                self.model.frame(frame)  # raises if there is none of this name
        _ = self.numbers, self.layouts  # raises if there are no such numbers, or no such known joints

    @cached_property
    def definition(self) -> Quantity:
        """The quantity as it is for this robot."""
        return quantity_of(self.model, self.quantity)

    # -- inputs and outputs ----------------------------------------------------------------------------------------

    @property
    def variables(self) -> Iterator[Variable]:
        """The inputs, then the outputs."""
        yield from (VARIABLES[name] for name in (*self.definition.inputs, *["wrenches"] * bool(self.wrenches)))
        for port, each in self.numbers.items():
            yield Variable(port, each.shape, each.unit, each.meaning)
        yield from self.definition.outputs

    @cached_property
    def numbers(self) -> dict[str, NumberInput]:
        """The numbers of the robot that are inputs, by the names of the inputs."""
        return {each.port: each for each in number_inputs(self.model, self.as_inputs)}

    @cached_property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs by name; those of ``numbers`` come last."""
        return self._shapes(list(self.variables)[: -len(self.definition.outputs)])

    @cached_property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the outputs by name."""
        return self._shapes(self.definition.outputs)

    def _shapes(self, variables: Sequence[Variable]) -> dict[str, tuple[int, ...]]:
        size = sizes(self.model) | {"wrenches": len(self.wrenches)}
        if self.columns is not None:
            size["parameters"] = len(self.columns.columns)
        if "positions" in self.layouts:
            size["positions"] = self.layouts["positions"].size
        return {each.name: tuple(size[n] if isinstance(n, str) else n for n in each.shape) for each in variables}

    @cached_property
    def layouts(self) -> dict[str, Layout]:
        """Layouts of the inputs and outputs that are joint vectors, by name."""
        found = joint_vectors(self.model, self.definition)
        if "positions" in found:
            found["positions"] = self.model.coordinates.whole(self._freedoms).positions
        return found

    @cached_property
    def _freedoms(self) -> tuple[int, ...]:
        """The dofs of the known joints."""
        return known_freedoms(self.model, self.known, self.model.mobility.known)

    @property
    def meanings(self) -> dict[str, str]:
        """Meaning of each input and output, with its unit."""
        return {each.name: self.definition.meaning(each) for each in self.variables}

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences on what is built in besides the links."""
        sentences = (_SENTENCES[topic](self.model) for topic in self.definition.built_in)
        inputs = ", ".join(each.name for each in self.numbers.values() if not each.inertial)
        return (*filter(None, sentences), *([f"Inputs replace these numbers: {inputs}."] if inputs else []))

    @property
    def needs(self) -> dict[str, bool]:
        """What a method must support (see ``Method.refusal``)."""
        as_input = any(each.inertial for each in self.numbers.values())
        placed = any(each.placed for each in self.numbers.values())
        return {"wrenches": bool(self.wrenches), "as_input": as_input, "placed": placed}

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def evaluate(self, *values: Any) -> dict[str, Any]:
        """Return the outputs by name: scalars, or nested lists of them."""
        by_name = dict(zip(self.inputs, values, strict=True))
        vectors = [by_name[name] for name in self.definition.inputs if name != "commands"]
        model, options = self._model(by_name), {}
        if "commands" in by_name and self.quantity in OF_SLOPES:
            options["commands"] = by_name["commands"]
        elif "commands" in by_name:
            model = commanded(model, by_name["commands"])
        if self.method is not None:
            options["method"] = self.method
        if self.frame is not None:
            options["frame"] = model.frame(self.frame)
        if self.definition.has_axes:
            options["axes"] = self.axes
        if self.wrenches:
            options["loads"] = [model.frame(name) for name in self.wrenches], by_name["wrenches"]
        if self.columns is not None:
            options["columns"] = self.columns
        if "positions" in by_name:
            options |= {"known": self._freedoms, "turns": self.turns, "tolerance": self._tolerance}
        result = self.definition.function(model, *vectors, **options)
        return dict(zip(self.outputs, result if len(self.outputs) > 1 else (result,), strict=True))

    @property
    def _tolerance(self) -> float:
        """The residual at which loops are closed; numbers that are inputs do not change it."""
        if self.tolerance is not None:
            return self.tolerance
        return max(closing_tolerance(self.model), SINGLE if self.dtype == "float32" else 0)

    def _model(self, inputs: dict[str, Any]) -> Model:
        """Return the robot with the numbers of the inputs, grouped if the method allows it."""
        if not self.numbers:
            return self.prepared
        model = with_numbers(self.model, self.numbers, inputs)
        return grouped(model) if self._groups else model

    @cached_property
    def prepared(self) -> Model:
        """The robot for the method: with grouped inertias, or as they are."""
        return grouped(self.model) if self._groups else self.model

    @property
    def _groups(self) -> bool:
        allowed = self.definition.of_joints and (self.method is None or self.method.grouped)
        return allowed and self.parameters != "standard"


# -- sentences on what is built in -------------------------------------------------------------------------------------


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
    headed = [(title, ', '.join(joints)) for title, joints in names.items() if title]
    sentences += [f"{title}, with stiffness and damping: {joints}." for title, joints in headed]
    return " ".join(sentences)


def _surroundings(model: Model) -> str:
    names = ", ".join(frame.name for frame, _ in model.forces)
    commands = ", ".join(f"{n} ({unit})" for n, unit in zip(model.commands.names, model.commands.units, strict=True))
    return f"Forces of the surroundings on: {names}." + (f" Commands: {commands}." if commands else "") if names else ""


_SENTENCES = {
    "gravity": _gravity, "friction": _friction, "rotors": _rotors, "springs": _springs, "surroundings": _surroundings,
}  # fmt: skip
