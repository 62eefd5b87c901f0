"""Robots whose constants are symbols: inertias, lengths, angles, friction and gravity are inputs of a graph.

Zeros and multiples of a quarter turn stay exact numbers, so terms that vanish because of them do not appear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from ..model import ELEMENTS, Frame, Joint, Model
from ..model.model import FixedScrew
from ..model.rotations import cos_sin, rotation
from ..program.graph import Graph
from ..quoting import identifier
from ..scalar import Scalar, cos, sin
from ..spatial import Inertia, Matrix, Pose, Screw, Vector
from .names import AT_JOINT, SCREWS, Names

NOISE = 1e-15  # rounding error of a rotation and its inverse


class Symbols:
    """Symbols that are inputs of the graph, from number ``first`` on, with their values."""

    def __init__(self, graph: Graph, first: int, names: Names):
        self.graph, self.first, self.names = graph, first, names
        self.values: dict[str, float] = {}

    def new(self, name: str, value: float, zeros: bool = False) -> Scalar:
        """Return a symbol for a number; zero stays zero unless ``zeros`` get symbols, too."""
        if value == 0 and not zeros:
            return 0
        self.values[self.names.new(name)] = float(value)
        return self.graph.input(self.first + len(self.values) - 1)


@dataclass(frozen=True)
class SymbolicScrew(FixedScrew):
    """A screw with ``turn``: the cosine and sine of its angle, which may be a symbol."""

    turn: tuple[Scalar, Scalar] = (1.0, 0.0)

    @cached_property
    def screw(self) -> Screw:
        return Screw(self.axis, *self.turn, self.length)


@dataclass(frozen=True, eq=False)
class SymbolicJoint(Joint):
    """A joint with ``turn``: a symbol that is added to the position of a revolute joint."""

    turn: Scalar = 0


class Visit:
    """The body that a formulation works on: the last one that ``outward`` or ``inward`` yielded; 0 after the end."""

    body = 0


@dataclass(frozen=True, eq=False)
class SymbolicRobot(Model):
    """A Model with SymbolicJoints that records in ``visit`` which body a formulation works on."""

    visit: Visit = field(default_factory=Visit)

    def _visiting(self, bodies: Any) -> Iterator[tuple[int, int]]:
        for i, p in bodies:
            self.visit.body = i
            yield i, p
        self.visit.body = 0

    def outward(self) -> Iterator[tuple[int, int]]:
        return self._visiting(super().outward())

    def inward(self) -> Iterator[tuple[int, int]]:
        return self._visiting(reversed(list(super().outward())))

    def transform(self, i: int, q: Any) -> Any:
        turn = getattr(self.joint(i), "turn", 0)
        positions = list(q)
        positions[self.positions(i).start] += turn
        return super().transform(i, positions)


def with_plain_tips(model: Model) -> Model:
    """Return the robot with theta = 0 in the last frames of its branches.

    The compiler turns these frames towards the centre of mass, so that MY vanishes. This saves operations with numbers,
    but would be a strange angle among symbols.
    """
    carriers = {body.parent for body in model.bodies}
    turn = {
        j: Pose(Matrix(*(Vector(*row) for row in rotation("z", body.joint.angle).tolist())), Vector())
        for j, body in enumerate(model.bodies, 1)
        if j not in carriers and any(body.joint.kind.turning) and body.joint.angle
    }

    def placed(frame: Frame) -> Frame:
        if frame.body not in turn:
            return frame
        pose = turn[frame.body].then(frame.pose)
        return replace(frame, pose=Pose(Matrix(*(_clean(row) for row in pose.rotation.rows)), _clean(pose.origin)))

    return replace(
        model,
        bodies=tuple(
            replace(body, joint=replace(body.joint, angle=0.0), inertia=_turned(body.inertia, turn[j]))
            if j in turn
            else body
            for j, body in enumerate(model.bodies, 1)
        ),
        frames={name: placed(frame) for name, frame in model.frames.items()},
        constraints=tuple(
            replace(each, first=placed(each.first), second=placed(each.second)) for each in model.constraints
        ),
        forces=tuple((placed(frame), law) for frame, law in model.forces),
    )


def _clean(v: Vector) -> Vector:
    """Return a vector without the rounding errors of exact zeros and ones."""
    return Vector(*(float(round(x)) if abs(x - round(x)) < NOISE else x for x in v))


def _turned(inertia: Inertia, pose: Pose) -> Inertia:
    mass, *rest = pose.inertia_outward(inertia)
    largest = max(map(abs, rest[:3])), max(map(abs, rest[3:]))
    return Inertia.of([mass, *(0.0 if abs(x) <= NOISE * largest[k > 2] else x for k, x in enumerate(rest))])


def with_symbols(
    model: Model, symbols: Symbols, *, geometry: bool, inertias: bool, gravity: bool, friction: bool, zeros: bool
) -> SymbolicRobot:
    """Return the robot with symbols for the constants whose switch is True."""

    def symbolic_drive(drive: Any, suffix: object) -> Any:
        values = {name: x for name, x in drive.parameters.items() if (inertias if name == "IA" else friction)}
        drive_of_symbols = drive.with_parameters(
            {name: symbols.new(f"{name}{suffix}", x) for name, x in values.items()}
        )
        if drive_of_symbols.stiffness is drive.stiffness:
            return drive_of_symbols
        return replace(drive_of_symbols, rest=symbols.new(f"rest{suffix}", drive.rest))

    bodies = []
    for j, body in enumerate(model.bodies, 1):
        joint, inertia = body.joint, body.inertia
        if geometry:
            joint = _with_geometry(joint, j, symbols)
        if inertias:
            inertia = Inertia.of(symbols.new(f"{n}{j}", x, zeros) for n, x in zip(ELEMENTS, inertia, strict=True))
        joint = symbolic_drive(joint, j)
        bodies.append(replace(body, joint=joint, inertia=inertia))
    g = model.gravity
    if gravity:
        g = Vector(*(symbols.new(f"G{k}", x) for k, x in enumerate(g, 1)))
    transmissions = tuple(
        replace(each, motors=tuple(symbolic_drive(motor, f"_{identifier(motor.name)}") for motor in each.motors))
        for each in model.transmissions
    )
    values = {each.name: getattr(model, each.name) for each in fields(Model)}
    values |= {"bodies": tuple(bodies), "gravity": g, "transmissions": transmissions}
    return SymbolicRobot(**values)


def _with_geometry(joint: Joint, j: int, symbols: Symbols) -> Joint:
    """Return the joint with Khalil's letters: gamma, b and alpha, d before the joint, theta, r at the joint."""
    joint_angle, joint_length = AT_JOINT

    def screw(fixed: FixedScrew, angle: str, length: str) -> SymbolicScrew:
        return SymbolicScrew(
            fixed.axis,
            fixed.angle,
            symbols.new(f"{length}{j}", fixed.length),
            _turn(fixed.angle, f"{angle}{j}", symbols),
        )

    placement = [screw(fixed, *SCREWS[fixed.axis]) for fixed in reversed(joint.placement)][::-1]
    values = {each.name: getattr(joint, each.name) for each in fields(Joint)}
    if not _is_quarter(joint.angle):
        values["angle"] = 0.0
        if joint.revolute:
            values["turn"] = symbols.new(f"{joint_angle}{j}", joint.angle)
        else:
            placement.append(screw(FixedScrew("z", joint.angle), *AT_JOINT))
    values |= {"placement": tuple(placement), "length": symbols.new(f"{joint_length}{j}", joint.length)}
    return SymbolicJoint(**values)


def _is_quarter(angle: float) -> bool:
    return 0 in cos_sin(angle)


def _turn(angle: float, name: str, symbols: Symbols) -> tuple[Scalar, Scalar]:
    if _is_quarter(angle):
        return cos_sin(angle)
    symbol = symbols.new(name, angle)
    return cos(symbol), sin(symbol)


def with_symbolic_origin(frame: Frame, symbols: Symbols) -> Frame:
    """Return a frame with symbols for its origin, such as (tool6x, tool6y, tool6z); its rotation stays in numbers."""
    entries = zip("xyz", frame.pose.origin, strict=True)
    origin = Vector(*(symbols.new(f"tool{frame.body}{axis}", x) for axis, x in entries))
    return replace(frame, pose=type(frame.pose)(frame.pose.rotation, origin))
