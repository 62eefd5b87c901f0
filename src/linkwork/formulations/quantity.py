"""Quantity: what linkwork computes for a robot, with its documentation; Variable: an input or output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from ..model import Model

Unit = str | tuple[str, str]  # joint vectors have two: for a joint that turns, for one that slides

POSITION, VELOCITY, ACCELERATION, FORCE = ("rad", "m"), ("rad/s", "m/s"), ("rad/s^2", "m/s^2"), ("N m", "N")
BUILT_IN = ("gravity", "friction", "rotors", "springs", "surroundings")  # what a quantity may include besides links
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")  # names of rows
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
SIZES = {"q": "nq", "v": "nv", "a": "nv", "tau": "forces", "v_joints": "joints"}  # as documented; others are words
SIZES |= {"v_ref": "nv", "a_ref": "nv"}
SIZES |= {"whole": "min(6, nv)", "part": "min(3, nv)"}
SIZES |= {"a_known": "driven", "tau_known": "free", "contacts": "contacts", "restitution": "contacts"}
WIDTH = 112  # characters of a line of text


def in_section(text: str) -> str:
    """Return a text as lines of a docstring's section."""
    if len(text) <= WIDTH - 4:  # most texts are short, and filling them would slow down the import of linkwork
        return f"    {text}"
    return fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)


FRAME = in_section("frame (str): name of a frame, one of ``robot.frame_names``")
AXES = in_section('axes (str): axes of the result, "world" (default) or "local", those of the frame')
WRENCHES = in_section(
    "wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N m"
)
CALL = in_section("**how: options of the call, such as ``out`` and ``threads`` (see ``Function``)")


@dataclass(frozen=True)
class Variable:
    """Input or output of quantities.

    Attributes:
        name: its name as argument or output.
        shape: numbers, or names of ``layout.sizes``.
        unit: unit; for joint vectors a pair, for joints that turn and for joints that slide.
        meaning: what it is; default: described by its quantity.
        letter: letter of its entries in printed equations; default: its name.
        labels: names along those axes that are not of joints.
    """

    name: str
    shape: tuple[int | str, ...]
    unit: Unit
    meaning: str = ""
    letter: str = ""
    labels: tuple[tuple[str, ...] | None, ...] = ()

    @property
    def unit_text(self) -> str:
        """The unit as text; for joint vectors that of a revolute joint, then that of a prismatic one."""
        return self.unit if isinstance(self.unit, str) else f"{self.unit[0]} ({self.unit[1]} for a prismatic joint)"

    @property
    def documentation(self) -> str:
        """Name, shape, meaning and unit, as lines of a docstring's section."""
        shape = ", ".join(["...", *(SIZES.get(str(size), str(size)) for size in self.shape)])
        return in_section(f"{self.name} ({shape}): {', '.join(filter(None, (self.meaning, self.unit_text)))}")

    def along(self, axis: int) -> tuple[str, ...] | None:
        """Return the names along an axis; None if they are those of joints."""
        return self.labels[axis] if self.labels else None


VARIABLES = {
    variable.name: variable
    for variable in (
        Variable("q", ("q",), POSITION, "positions", "q"),
        Variable("v", ("v",), VELOCITY, "velocities", "qd"),
        Variable("a", ("a",), ACCELERATION, "accelerations", "qdd"),
        Variable("tau", ("tau",), FORCE, "joint forces", "tau"),
        Variable("v_ref", ("v_ref",), VELOCITY, "reference velocities", "qdr"),
        Variable("a_ref", ("a_ref",), ACCELERATION, "reference accelerations", "qddr"),
        Variable("v_joints", ("v_joints",), VELOCITY, "velocities of all joints", "vj"),
        Variable("a_joints", ("joints",), ACCELERATION, "accelerations of all joints", "aj"),
        Variable("a_known", ("a_known",), ACCELERATION, "accelerations of the driven joints", "qdd"),
        Variable(
            "tau_known", ("tau_known",), FORCE, "forces on joints without motors, besides springs and friction", "tau"
        ),
        Variable(
            "forces",
            ("residual",),
            "N, N m",
            "constraint forces at the cut joints, of the first frame on the second in the axes of the first",
        ),
        Variable("positions", ("positions",), POSITION, "positions of the known joints"),
        Variable("guess", ("guess",), POSITION, "positions of all joints, near the result"),
        Variable("damping", (), "m, rad", "damping, 0 or more, in the unit of the Jacobian"),
        Variable("commands", ("commands",), "SI", "command inputs of force laws, such as thrusts", "u"),
        Variable(
            "contacts",
            ("contacts",),
            "dimensionless",
            "1 for each contact on the ground, otherwise 0; larger numbers are weights if the forces are not unique",
            "on",
        ),
        Variable("restitution", ("restitution",), "dimensionless", "coefficient of restitution, 0 to 1", "e"),
        Variable(
            "wrenches",
            ("wrenches", 6),
            "N, N m",
            "on the frames below, a row each: force, then moment about the frame's origin, in its axes",
        ),
    )
}


@dataclass(frozen=True)
class Quantity:
    """Quantity of a robot: its name, its function, and all that documentation and checks need.

    Attributes:
        name: its name.
        summary: one line on what it is.
        function: the function of a model and the input vectors, over any scalar.
        inputs: names of VARIABLES.
        outputs: what the function returns.
        built_in: those of BUILT_IN that the value includes.
        of_frame: it is a quantity of a frame.
        has_axes: it can be expressed in world or local axes.
        takes_wrenches: it takes wrenches on frames.
        of_joints: inputs and outputs are joint forces and motions only, so that grouping inertia parameters does not
            change the result.
        of_loops: it says something of robots with loops alone.
        decides_rank: it decides which of its equations follow from others, which takes float64.
        details: further sentences of its documentation.
        options: further arguments of the robot's function, as they are documented.
    """

    name: str
    summary: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[Variable, ...]
    built_in: tuple[str, ...] = ()
    of_frame: bool = False
    has_axes: bool = False
    takes_wrenches: bool = False
    of_joints: bool = False
    of_loops: bool = False
    decides_rank: bool = False
    details: str = ""
    options: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    def applies_to(self, model: Model) -> bool:
        """Return whether it says something of a robot: about its loops, and about contacts that are switched."""
        return (model.constrained or not self.of_loops) and (bool(model.switched) or "contacts" not in self.inputs)

    def meaning(self, variable: Variable) -> str:
        """Return the meaning of an input or output, with its unit."""
        return f"{variable.meaning or self.summary}, {variable.unit_text}"

    @property
    def documentation(self) -> str:
        """Summary, call, and inputs and outputs with shapes and units, as a docstring."""
        inputs = [VARIABLES[name] for name in self.inputs]
        call = f"``{', '.join(each.name for each in self.outputs)} = robot.{self.name}({', '.join(self.called_with)})``"
        arguments = [FRAME] * self.of_frame + [each.documentation for each in inputs]
        arguments += [AXES] * self.has_axes + [*map(in_section, self.options)] + [WRENCHES] * self.takes_wrenches
        arguments += [CALL] * (self.of_frame or bool(self.options))  # of others help shows the call itself
        ports = ["Args:", *arguments, "", "Returns:", *(each.documentation for each in self.outputs)]
        head = [f"{self.summary[0].upper()}{self.summary[1:]}.", call]
        return "\n\n".join([*head, *[fill(self.details, WIDTH)] * bool(self.details), "\n".join(ports)])

    @property
    def called_with(self) -> tuple[str, ...]:
        """The arguments of the robot's function."""
        return *["frame"] * self.of_frame, *self.inputs, *['axes="world"'] * self.has_axes
