"""Numbers of a robot that may be inputs: of compiled functions, and of simulations that vary them.

A name is a kind of numbers, or a kind and an element: "gravity", "friction", "friction:elbow", "payload:hand". Each
kind says which numbers these are, with their nominal values, and returns the robot with others, of any scalar. So a
formulation, which reads nothing but the model, is traced with them like any other number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import LinkworkError, UnknownNameError, UnsupportedError
from ..quoting import identifier
from ..scalar import Scalar, is_zero
from ..spatial import Inertia, Vector
from .description import Lead, Mimic
from .drive import Drive, FrictionLaw, Offset, Stribeck
from .element import Element, ElementField
from .geometry import posed, written
from .model import Joint, Model
from .pseudo_inertia import ELEMENTS
from .with_parameters import carrying, changed_drives

BODY = ("M", "X", "Y", "Z", "XX", "XY", "XZ", "YY", "YZ", "ZZ")  # of a payload: about its centre of mass
LAWS = {"offset": (Offset, "offset"), "stribeck": (Stribeck, "excess"), "stribeck_velocity": (Stribeck, "velocity")}
OF_JOINTS = ("rotor_inertia", "viscous", "coulomb", *LAWS, "friction_width", "stiffness")
OF_DRIVES = (*OF_JOINTS, "rest")
BUILT_IN = ("coulomb", "viscous", "friction_width")  # fields of drives that are part of their friction
LONGEST_PORT = 64  # characters

Change = Callable[[Model, Any], Model]


@dataclass(frozen=True, eq=False)
class NumberInput:
    """Numbers of a robot as one input.

    Attributes:
        name: kind, or kind and element, such as "payload:hand".
        shape: of the input.
        unit: unit; several if entries differ.
        meaning: what it is.
        rows: names of the entries, or of the rows, along the first axis.
        nominal: values of the robot itself, flat.
        claims: what it sets; two inputs must not set the same.
        change: function of the robot and new values, of any scalar, that returns the robot with them.
        inertial: whether it changes masses, by which some methods divide.
        placed: whether it changes placements or what couples joints: some methods use zeros there, and loops close
            elsewhere.
        rules: of the entries, where these are numbers of elements; default: none.
    """

    name: str
    shape: tuple[int, ...]
    unit: str
    meaning: str
    rows: tuple[str, ...]
    nominal: tuple[float, ...]
    claims: frozenset[tuple[str, ...]]
    change: Change
    inertial: bool = False
    placed: bool = False
    rules: tuple[Any, ...] = ()

    @property
    def port(self) -> str:
        """The name of the input of a function: letters, digits and underscores."""
        return identifier(self.name)


def number_inputs(model: Model, names: Iterable[str]) -> list[NumberInput]:
    """Return the inputs of these names; raises if two set the same number."""
    inputs = [number_input(model, name) for name in names]
    for each in inputs:
        if 0 in each.shape:
            fix = "leave it out"
            raise UnsupportedError("the robot has no such numbers", where=_where(model), got=each.name, fix=fix)
        if each.name.partition(":")[0] == "friction_width" and not all(each.nominal):
            fix = "give joints a width in the file, or robot.with_drives({joint: {'friction_width': 0.01}})"
            where, got = _where(model), "a joint without width, whose friction jumps at rest"
            raise UnsupportedError("its width cannot be an input where friction jumps", where=where, got=got, fix=fix)
    require_apart(model, inputs)
    return inputs


def require_apart(model: Model, inputs: Sequence[NumberInput]) -> None:
    """Raise LinkworkError if two inputs set the same number, or would have the same name."""
    for first, second in combinations(inputs, 2):
        if first.claims & second.claims:
            got, fix = f"{first.name!r} and {second.name!r}", "leave one of them out"
            raise LinkworkError("two inputs set the same numbers", where=_where(model), got=got, fix=fix)
        if first.port == second.port:
            got, fix = f"{first.name!r} and {second.name!r}", "rename one of the frames, links or joints"
            raise LinkworkError("two inputs would have the same name", where=_where(model), got=got, fix=fix)


def number_input(model: Model, name: str) -> NumberInput:
    """Return the input of this name.

    Args:
        model: the robot.
        name: kind, or kind and element.

    Returns:
        The input.

    Raises:
        UnknownNameError: if there is no such kind or element.
        UnsupportedError: if the robot has no such numbers.
    """
    if not isinstance(name, str):
        raise UnsupportedError("an input is a name", where=_where(model), got=repr(name), expected=f"{HINT}")
    kind, _, of = name.partition(":")
    if kind not in KINDS:
        raise UnknownNameError("input", kind, KINDS, where=_where(model))
    made = KINDS[kind](model, kind, of)
    if len(made.port) > LONGEST_PORT:
        expected, fix = f"{LONGEST_PORT} characters", "give the frame, link or joint a shorter name"
        raise LinkworkError("the name of this input is too long", got=name, expected=expected, fix=fix)
    return made


def with_numbers(model: Model, inputs: Mapping[str, NumberInput], values: Mapping[str, Any]) -> Model:
    """Return the robot with the values of ``inputs``, both by name, of any scalar."""
    order = [*KINDS]
    for name, each in sorted(inputs.items(), key=lambda pair: order.index(pair[1].name.partition(":")[0])):
        model = each.change(model, values[name])
    return model


def _where(model: Model) -> str:
    return f"robot {model.name!r}, inputs"


def _known(model: Model, kind: str, name: str, known: Iterable[str]) -> None:
    if name not in (names := [*known]):
        raise UnknownNameError(kind, name, names, where=_where(model))


def _whole(model: Model, kind: str, of: str) -> None:
    if of:
        raise UnsupportedError(f"{kind} is one input", where=_where(model), got=f"{kind}:{of}", fix=f"write {kind!r}")


# -- geometry ----------------------------------------------------------------------------------------------------------


def _geometry(model: Model, kind: str, of: str) -> NumberInput:
    """The six values that place each joint, frame and cut joint, or one of them, as files write them."""
    geometry = model.geometry
    if geometry is None or not geometry.placements:
        raise UnsupportedError("the robot has no such numbers", where=_where(model), got="a robot without a file")
    if of:
        _known(model, "joint, frame or cut joint", of, geometry.placements)
    chosen = {of: geometry.placements[of]} if of else geometry.placements

    def change(model: Model, values: Any) -> Model:
        rows = [values] if of else values
        poses = {name: posed(placement, row) for (name, placement), row in zip(chosen.items(), rows, strict=True)}
        return model.geometry.placed(model, poses)  # type: ignore[union-attr]

    ways = {name: written(placement) for name, placement in chosen.items()}
    nominal = _flat([way.values for way in ways.values()])
    rows = tuple(f"{name} ({' '.join(way.convention.entries)})" for name, way in ways.items())
    claims = frozenset(("geometry", name) for name in chosen)
    if of:
        meaning, entries = f"placement of {of}", ways[of].convention.entries
        return NumberInput(f"{kind}:{of}", (6,), "m, rad", meaning, entries, nominal, claims, change, placed=True)
    meaning = "placements of joints, frames and cut joints"
    return NumberInput(kind, (len(rows), 6), "m, rad", meaning, rows, nominal, claims, change, placed=True)


# -- inertia -----------------------------------------------------------------------------------------------------------


def _parameters(model: Model, kind: str, of: str) -> NumberInput:
    rows, names = np.array(model.parameters(), float).reshape(-1, 10), [body.name for body in model.bodies]
    unit = "kg, kg m, kg m^2"
    if of:
        _known(model, "moving link", of, names)
        i = names.index(of)

        def change_one(model: Model, row: Sequence[Scalar]) -> Model:
            inertia = model.link_pose(i + 1).inertia_outward(Inertia.of(row))
            return model.with_inertias([inertia if k == i else body.inertia for k, body in enumerate(model.bodies)])

        meaning = f"inertial parameters of {of}, with all that is fixed to it, as in Robot.parameters"
        claims = frozenset({("inertia", of)})
        return NumberInput(kind + ":" + of, (10,), unit, meaning, ELEMENTS, _flat(rows[i]), claims, change_one, True)
    meaning = (
        "a row for each moving link, with all that is fixed to it, as below: mass, first moments x y z,"
        " inertia xx xy xz yy yz zz about the origin of the link's frame, in its axes"
    )
    claims = frozenset(("inertia", name) for name in names)
    change = Model.with_parameters
    return NumberInput(kind, rows.shape, unit, meaning, tuple(names), _flat(rows), claims, change, True)


def _mass(model: Model, kind: str, of: str) -> NumberInput:
    _whole(model, kind, of)
    names = tuple(body.name for body in model.bodies)

    def change(model: Model, masses: Sequence[Scalar]) -> Model:
        pairs = zip(model.bodies, masses, strict=True)
        return model.with_inertias([_with_mass(body.inertia, mass) for body, mass in pairs])

    nominal = _flat([body.inertia.mass for body in model.bodies])
    meaning = "mass of each moving link; its inertia grows with it, as if the density did"
    claims = frozenset(("inertia", name) for name in names)
    return NumberInput(kind, (len(names),), "kg", meaning, names, nominal, claims, change, True)


def _with_mass(inertia: Inertia, mass: Scalar) -> Inertia:
    """Inertia of a body of the same shape and another density; a massless body stays massless."""
    if is_zero(inertia.mass):
        return inertia
    share = mass / inertia.mass
    return Inertia.of(share * value for value in inertia)


def _payload(model: Model, kind: str, of: str) -> NumberInput:
    if not of:
        fix = f"name the frame that carries it: 'payload:{next(iter([*model.frames][::-1]), 'hand')}'"
        raise UnsupportedError("a payload is carried by a frame", where=_where(model), got=kind, fix=fix)
    if not model.frame(of).body:
        raise UnsupportedError("a payload needs a moving link", where=model.name, got=f"frame {of!r}")
    meaning = f"payload at {of}: mass, centre of mass in its frame, inertia about the centre of mass in its axes"
    claims = frozenset({("payload", of)})
    change: Change = lambda model, values: carrying(model, of, values)  # noqa: E731
    return NumberInput(
        f"{kind}:{of}", (10,), "kg, m, kg m^2", meaning, BODY, (0.0,) * 10, claims, change, inertial=True
    )


# -- gravity -----------------------------------------------------------------------------------------------------------


def _gravity(model: Model, kind: str, of: str) -> NumberInput:
    _whole(model, kind, of)
    change: Change = lambda model, values: replace(model, gravity=Vector(*values))  # noqa: E731
    meaning, claims = "acceleration of gravity in the world", frozenset({("gravity",)})
    return NumberInput(kind, (3,), "m/s^2", meaning, ("x", "y", "z"), _flat(list(model.gravity)), claims, change)


# -- drives ------------------------------------------------------------------------------------------------------------


def _drives(model: Model) -> list[Any]:
    """The drives of joints, and the motors of transmissions."""
    motors = [motor for each in model.transmissions for motor in each.motors]
    return [*(body.joint for body in model.bodies if not body.joint.kind.modes), *motors]


def _drive_value(model: Model, kind: str, of: str) -> NumberInput:
    """A value of every joint whose positions q has, or of one joint or motor."""
    every = {drive.name: drive for drive in _drives(model)}
    joints = {body.joint.name: body.joint for body in model.bodies}
    owner, field = LAWS.get(kind, (Drive, kind))
    rule = next(each.rule for each in owner.declared().values() if each.name == field)
    if of:
        _known(model, "joint or motor", of, every)
    chosen = {of: every[of]} if of else {name: joints[name] for name in model.position_names}
    if owner is Stribeck and not any(isinstance(law, Stribeck) for drive in chosen.values() for law in drive.friction):
        fix = "give joints this friction law: friction=(Stribeck(...),)"
        raise UnsupportedError("no joint has the friction law 'stribeck'", where=_where(model), got=kind, fix=fix)

    def change(model: Model, values: Any) -> Model:
        by_name = dict(zip(chosen, [values] if of else values, strict=True))
        return changed_drives(
            model, lambda drive: with_value(drive, kind, by_name[drive.name]) if drive.name in by_name else drive
        )

    unit = ", ".join(dict.fromkeys(_unit(drive, rule.unit) for drive in chosen.values()))
    meaning = f"{kind.replace('_', ' ')} of {of or 'each joint'}"
    claims = frozenset(("drive", name, kind) for name in chosen)
    nominal = _flat([value_of(drive, kind) for drive in chosen.values()])
    shape = () if of else (len(chosen),)
    return NumberInput(f"{kind}:{of}" if of else kind, shape, unit, meaning, tuple(chosen), nominal, claims, change)


def with_value(drive: Any, name: str, value: Scalar) -> Any:
    """Return a joint or motor with another value of a parameter, one of OF_DRIVES.

    A drive without the friction law in question gets an offset, and stays without the other laws.
    """
    if name not in LAWS:
        return replace(drive, **{name: value})
    kind, field = LAWS[name]
    if kind is Offset and not any(isinstance(law, Offset) for law in drive.friction):
        return replace(drive, friction=(*drive.friction, Offset(value)))
    laws: list[Any] = list(drive.friction)
    laws = [law.with_numbers({field: value}) if isinstance(law, kind) else law for law in laws]
    return replace(drive, friction=tuple(laws))


def value_of(drive: Any, name: str) -> float:
    """Return the value that ``with_value`` replaces; zero if the drive does not have the law."""
    if name not in LAWS:
        return getattr(drive, name)
    kind, field = LAWS[name]
    return next((getattr(law, field) for law in drive.friction if isinstance(law, kind)), 0.0)


def _friction(model: Model, kind: str, of: str) -> NumberInput:
    """All numbers of the friction laws of all joints and motors, or of one, as files name them."""
    every = _drives(model)
    if of:
        _known(model, "joint or motor", of, [drive.name for drive in every])
    drives = [drive for drive in every if (drive.name == of if of else not _floats(drive))]
    listed = [(drive, law, each) for drive in drives for law, each in _friction_fields(drive)]
    places = [(drive.name, law.name if law else "", each.name) for drive, law, each in listed]
    names = (["" if of else drive.name, law.name if law else "", each.key] for drive, law, each in listed)
    rows = [".".join(filter(None, parts)) for parts in names]

    def change(model: Model, values: Sequence[Scalar]) -> Model:
        by_law: dict[tuple[str, str], dict[str, Any]] = {}
        for (drive, law, field), x in zip(places, values, strict=True):
            by_law.setdefault((drive, law), {})[field] = x

        def with_friction(drive: Any) -> Any:
            laws = tuple(law.with_numbers(by_law.get((drive.name, law.name), {})) for law in drive.friction)
            return replace(drive, **by_law.get((drive.name, ""), {}), friction=laws)

        return changed_drives(model, with_friction)

    unit = ", ".join(dict.fromkeys(_unit(drive, each.rule.unit) for drive, _, each in listed))
    claims = frozenset(("drive", name, NAMES_OF_LAWS.get((law, field), field)) for name, law, field in places)
    nominal = _flat([getattr(law or drive, each.name) for drive, law, each in listed])
    meaning = f"friction of {of}" if of else "friction of joints and motors"
    name, rules = f"{kind}:{of}" if of else kind, tuple(each.rule for _, _, each in listed)
    return NumberInput(name, (len(rows),), unit, meaning, tuple(rows), nominal, claims, change, rules=rules)


NAMES_OF_LAWS = {(law.name, field): kind for kind, (law, field) in LAWS.items()}


def _friction_fields(drive: Any) -> Iterator[tuple[FrictionLaw | None, ElementField]]:
    """The numbers of the friction of a drive: its own fields, then those of further laws."""
    yield from ((None, each) for each in drive.number_fields() if each.name in BUILT_IN)
    yield from ((law, each) for law in drive.friction for each in law.number_fields())


def _floats(drive: Any) -> bool:
    """Whether this is the joint of a floating body, which has no friction."""
    return isinstance(drive, Joint) and drive.kind.free


def _unit(drive: Any, unit: str | tuple[str, str]) -> str:
    """The unit of a value of a joint: the first of two for one that turns."""
    return unit if isinstance(unit, str) else unit[isinstance(drive, Joint) and not any(drive.kind.turning)]


# -- elements ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Elements:
    """Elements of a robot whose numbers are one input.

    Attributes:
        owner: what such an element belongs to.
        meaning: what the numbers are.
        listed: function of the robot that returns, for each element, its owner, its name there, and the element.
        changed: function of the robot and new elements, in the order of ``listed``, that returns the robot with them.
        placed: as of NumberInput.
        fix: how to get such elements.
    """

    owner: str
    meaning: str
    listed: Callable[[Model], list[tuple[str, str, Element]]]
    changed: Callable[[Model, Sequence[Any]], Model]
    placed: bool = True
    fix: str = "leave it out"


def _numbers_of(model: Model, kind: str, of: str) -> NumberInput:
    """All numbers that elements declare, of those with one owner or of all, as files name them."""
    how = ELEMENTS_OF[kind]
    listed = how.listed(model)
    if of:
        _known(model, how.owner, of, dict.fromkeys(owner for owner, _, _ in listed))
    chosen = [k for k, (owner, _, element) in enumerate(listed) if of in ("", owner) and element.entries()]
    if not chosen:
        got = f"no {how.meaning}" + (f" of {of!r}" if of else "")
        raise UnsupportedError("the robot has no such numbers", where=_where(model), got=got, fix=how.fix)

    def change(model: Model, values: Iterable[Scalar]) -> Model:
        numbers, elements = iter(values), [element for _, _, element in how.listed(model)]
        for k in chosen:
            elements[k] = elements[k].with_entries(numbers)
        return how.changed(model, elements)

    entries = [("" if of else listed[k][0], listed[k][1], entry) for k in chosen for entry in listed[k][2].entries()]
    rows = tuple(".".join(filter(None, (owner, name, entry.name))) for owner, name, entry in entries)
    units = dict.fromkeys(str(entry.rule.unit or "1") for _, _, entry in entries)
    meaning, nominal = how.meaning + (f" of {of}" if of else ""), _flat([entry.value for _, _, entry in entries])
    claims, rules = frozenset((kind, str(k)) for k in chosen), tuple(entry.rule for _, _, entry in entries)
    return NumberInput(
        f"{kind}:{of}" if of else kind, (len(rows),), ", ".join(units), meaning, rows, nominal, claims, change,
        placed=how.placed, rules=rules,
    )  # fmt: skip


def _listed_laws(model: Model) -> list[tuple[str, str, Element]]:
    """The force laws with declared numbers; laws of one kind at one frame are numbered."""
    laws = [(frame.name, law) for frame, law in model.forces if isinstance(law, Element)]
    listed = []
    for k, (frame, law) in enumerate(laws):
        same = [n for n, (other, each) in enumerate(laws) if other == frame and type(each) is type(law)]
        number = str(same.index(k) + 1) if len(same) > 1 else ""
        listed.append((frame, f"{law.name}{number}", law))  # type: ignore[attr-defined]
    return listed


def _with_laws(model: Model, laws: Iterable[Any]) -> Model:
    new = iter(laws)
    pairs = ((frame, next(new) if isinstance(law, Element) else law) for frame, law in model.forces)
    return replace(model, forces=tuple(pairs))


def _with_kinds(model: Model, kinds: Iterable[Any]) -> Model:
    pairs = zip(model.constraints, kinds, strict=True)
    return replace(model, constraints=tuple(replace(each, kind=kind) for each, kind in pairs))


def _motion(joint: Joint) -> Element | None:
    """What the motion of a joint depends on besides its own position; None for most joints."""
    if joint.leader is not None and not joint.kind.modes:
        return Mimic(joint.leader, joint.multiplier, joint.offset)
    return Lead(joint.pitch) if joint.kind.pitched else None


def _listed_motions(model: Model) -> list[tuple[str, str, Element]]:
    motions = ((body.joint.name, _motion(body.joint)) for body in model.bodies)
    return [(name, "", motion) for name, motion in motions if motion is not None]


def _with_motions(model: Model, motions: Iterable[Any]) -> Model:
    new, bodies = iter(motions), []
    for body in model.bodies:
        if _motion(body.joint) is not None:
            motion = next(new)
            numbers = {each.name: getattr(motion, each.name) for each in motion.number_fields()}
            body = replace(body, joint=replace(body.joint, **numbers))
        bodies.append(body)
    return replace(model, bodies=tuple(bodies))


ELEMENTS_OF = {
    "constraints": _Elements(
        "constraint",
        "numbers of wheels and gears",
        lambda model: [(each.name, "", each.kind) for each in model.constraints],
        _with_kinds,
    ),
    "joints": _Elements(
        "joint with a pitch or a leader",
        "pitch of helical joints, ratio and offset of mimic joints",
        _listed_motions,
        _with_motions,
    ),
    "transmissions": _Elements(
        "transmission",
        "gear ratios of transmissions",
        lambda model: [(each.name, "", each) for each in model.transmissions],
        lambda model, transmissions: replace(model, transmissions=tuple(transmissions)),
    ),
    "force_laws": _Elements(
        "frame with a force law", "numbers of the force laws", _listed_laws, _with_laws, False, "robot.with_forces"
    ),
}


def _flat(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, float).ravel().tolist())


def _material(model: Model, kind: str, of: str) -> NumberInput:
    raise UnsupportedError(
        "the material of flexible links cannot be an input: number and shape of their modes follow from it",
        where=_where(model),
        got=f"{kind}:{of}" if of else kind,
        fix="load the robot with another material",
    )


KINDS: dict[str, Callable[[Model, str, str], NumberInput]] = {  # in the order in which they act
    "geometry": _geometry,
    **dict.fromkeys(ELEMENTS_OF, _numbers_of),
    "parameters": _parameters,
    "mass": _mass,
    "payload": _payload,
    "gravity": _gravity,
    **dict.fromkeys(OF_DRIVES, _drive_value),
    "friction": _friction,
    "material": _material,
}
HINT = ", ".join(map(repr, ("gravity", "friction:JOINT", "payload:FRAME")))
