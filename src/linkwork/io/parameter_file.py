"""Other numbers of a robot: from a file, a mapping of Python, or what was identified. The file is YAML, or JSON:

    robot: arm                                   # whose they are, for the reader
    links:                                       # of moving links, each with all that is fixed to it, in its own frame
      upper: {mass: 4.2, center: [0.1, 0, 0.02], inertia: [0.02, 0, 0, 0.03, 0, 0.03]}    # about the centre of mass
      fore: {mass: 1.7}                          # what is not given stays; see ``with_parameters``
      hand: [1.2, 0.1, 0, 0, 0.02, 0, 0, 0.02, 0, 0.01]    # or ten numbers in the order of Robot.parameters
    joints:                                      # and motors of transmissions, in the words of robot files
      elbow: {Ia: 0.3, Fs: 0.4, Fv: 0.1, friction: {offset: {offset: 0.01}}, K: 10, rest: 0.2}
    payload:                                     # bodies that frames carry, beside what is there
      flange: {mass: 2, center: [0, 0, 0.05]}

or has no sections but links and names of standard parameters: {fore: {mass: 1.7}, upper.MX: 0.3, elbow.FV: 0.1}.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import yaml

from ..errors import ModelError, at_door
from ..files import read_text
from ..model import ELEMENTS, Drive, FrictionLaw, LinkInertia, Model, Motor, changed, with_drives, with_elements
from ..model.drive import BUILT_IN
from ..model.element import Choice, ElementField
from ..model.pseudo_inertia import body_of, symmetric
from ..quoting import in_yaml
from .mdh_tables import Row, Tables
from .yaml_nodes import LIMITS

SECTIONS = ("robot", "links", "joints", "payload")
BODY = ("mass", "center", "inertia")
NONE: dict[str, Any] = dict.fromkeys(BUILT_IN, 0.0) | {"friction": ()}
FRICTION = (*NONE, "friction_width")  # fields of a Drive
ASYMMETRY = 1e-9  # of a matrix, relative

Values = dict[str, dict[str, Any]]


def with_parameters(model: Model, values: Any) -> Model:
    """``values``: a mapping; the path of a file; or what has ``parameter_values``, a mapping by the names of standard
    parameters, and perhaps ``drives``, one as of ``with_drives``.

    Where a part of mass, centre and inertia is given, the centre stays, and the inertia about it grows with the mass,
    as if the density did. Of standard parameters by name, all others of the link stay.
    """
    model = with_drives(model, getattr(values, "drives", {}))
    reader = _Reader(model, values)
    with reader.collecting_errors():
        top = reader.top(values, "parameter_values")
        if reader.is_parted(top, reader.bodies):
            reader.read_sections(top)
        else:
            reader.read_flat(top)
    drives = reader.changes | reader.of_elements()
    return changed(model, reader.inertias, drives, reader.carried)


def with_friction(model: Model, values: Any) -> Model:
    """``values``: joint or motor -> its laws of friction, by name or as objects, which are all that it has then; or a
    file, or what else ``with_parameters`` takes, of which friction alone is taken."""
    fitted = getattr(values, "drives", {})
    model = with_drives(model, {name: _among(own, FRICTION) for name, own in fitted.items()})
    reader, objects = _Reader(model, values), {}
    if isinstance(values, Mapping):
        objects = {name: laws for name, given in values.items() if (laws := _laws(name, given))}
        values = {name: given for name, given in values.items() if name not in objects}
    with reader.collecting_errors():
        top = reader.top(values, "parameter_values")
        if reader.is_parted(top, reader.drives):
            reader.read_sections(top)
            told = {name: _among(own, FRICTION) for name, own in reader.changes.items()}
            objects |= {name: NONE | own for name, own in told.items() if own}
        else:
            rows: Row = {name: node for name, node in top.items() if not isinstance(node, yaml.ScalarNode)}
            reader.read_flat({name: node for name, node in top.items() if name not in rows})
            of_drives = {
                name: node for name, node in rows.items() if name in reader.drives or name not in reader.bodies
            }
            objects |= reader.frictions(of_drives) | reader.frictions_of_elements()
    return changed(model, drives=objects)


def with_payload(model: Model, values: Any) -> Model:
    """``values``: frame -> mass, center and inertia of what it carries; a file that has this, or a section ``payload``;
    or what has such a mapping as its ``payload``."""
    reader = _Reader(model, values)
    with reader.collecting_errors():
        top = reader.top(values, "payload")
        if reader.is_parted(top, model.frames):
            reader.read_sections(top)
        else:
            reader.read_payload(top)
    return changed(model, payload=reader.carried)


def write_parameters(model: Model) -> str:
    """The text of a file from which ``with_parameters`` gives a robot of the same links and joints these numbers."""
    names = [body.name for body in model.bodies]
    joints = [body.joint for body in model.bodies]
    joints = [joint for joint in joints if not joint.kind.free or any(joint.parameters.values())]
    motors = [motor for each in model.transmissions for motor in each.motors]
    drives = {drive.name: _written(drive) for drive in (*joints, *motors)}
    links = {name: _body(body_of(ten)) for name, ten in zip(names, model.parameters(), strict=True)}
    return "\n".join([f"robot: {in_yaml(model.name)}", "links:", *_rows(links), "joints:", *_rows(drives)]) + "\n"


def _rows(values: Values) -> list[str]:
    flow: Any = {"sort_keys": False, "default_flow_style": True, "width": 10**9}
    return [f"  {in_yaml(name)}: {yaml.safe_dump(row, **flow).strip()}" for name, row in values.items()] or ["  {}"]


def _body(body: LinkInertia) -> dict[str, Any]:
    numbers = body.center.tolist(), body.central[np.triu_indices(3)].tolist()
    return dict(zip(BODY, (float(body.mass), *numbers), strict=True))


def _written(drive: Drive) -> dict[str, Any]:
    """Zeros too: the robot that gets them may have others."""
    return {key: each.rule.plain(getattr(drive, each.name)) for key, each in _numbers(drive).items()}


def _numbers(drive: Drive) -> dict[str, ElementField]:
    """What the file gives of a joint or motor: numbers and friction laws, not roles and limits."""
    declared = (Motor if isinstance(drive, Motor) else Drive).declared()
    return {key: each for key, each in declared.items() if not isinstance(each.rule, Choice)}


class _Reader(Tables):
    """What is read of ``links``, ``joints`` and ``payload`` stands in inertias, changes and carried; of parameters by
    name in inertias and elements."""

    def __init__(self, model: Model, values: Any):
        super().__init__(str(values) if _is_path(values) else f"robot {model.name!r}")
        self.model = model
        self.bodies = {body.name: i for i, body in enumerate(model.bodies, 1)}
        self.drives: dict[str, Drive] = {body.joint.name: body.joint for body in model.bodies}
        self.drives |= {motor.name: motor for each in model.transmissions for motor in each.motors}
        self.inertias: Values = {}
        self.changes: Values = {}
        self.elements: dict[str, dict[str, float]] = {}
        self.carried: dict[str, LinkInertia] = {}

    def top(self, values: Any, attribute: str) -> Row:
        if _is_path(values):
            fix = "give the path of a file" + at_door(", or a mapping", "")
            return self.mapping(self.root(read_text(values, **LIMITS, fix=fix)))
        given = getattr(values, attribute, values)
        if not isinstance(given, Mapping):
            expected = f"a mapping, the path of a file, or what has {attribute}"
            raise ModelError("these are no values of a robot", where=self.source, got=repr(values), expected=expected)
        return self.mapping(self.node_of(given))

    def node_of(self, value: Any) -> yaml.Node:
        """Values of Python as a file would have them."""
        if isinstance(value, Mapping):
            return yaml.MappingNode("", [(self.node_of(key), self.node_of(x)) for key, x in value.items()])
        if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
            return yaml.SequenceNode("", [self.node_of(x) for x in value])
        if isinstance(value, (Real, np.ndarray)) and not isinstance(value, bool):
            return yaml.ScalarNode("", repr(float(value)))  # type: ignore[arg-type]
        return yaml.ScalarNode("", str(value))

    def is_parted(self, top: Row, names: Collection[str]) -> bool:
        """Does it have sections? A name that is one of the robot's own is none by itself."""
        return any(key in top and key not in names for key in SECTIONS)

    def read_sections(self, top: Row) -> None:
        for key, node in top.items():
            self.label = key
            with self.keep_reading():
                if key not in SECTIONS:
                    raise self.unknown(node, "section", key, SECTIONS)
                if key == "robot":
                    self.text(node)
                else:
                    read = {"links": self.read_links, "joints": self.read_joints, "payload": self.read_payload}
                    read[key](self.mapping(node))
        self.label = ""

    def read_flat(self, top: Row) -> None:
        """Links with their values, and parameters by name."""
        self.read_links({name: node for name, node in top.items() if not isinstance(node, yaml.ScalarNode)})
        whole = {*self.inertias}
        for name, node in top.items():
            if isinstance(node, yaml.ScalarNode):
                self.label = name
                with self.keep_reading():
                    self.read_element(name, node, whole)
        self.label = ""

    def read_element(self, name: str, node: yaml.Node, whole: Collection[str]) -> None:
        owner, _, element = name.rpartition(".")
        if element in ELEMENTS:
            self.moving(node, owner)
            if owner in whole:
                self.fail(node, f"link {owner!r} is given with its values, too", fix="keep one form")
            self.inertias.setdefault(owner, {})[element] = self.number(node)
        elif owner in self.drives and element in (
            known := list({**self.drives[owner].elements, **dict.fromkeys(_of_friction())})
        ):
            self.elements.setdefault(owner, {})[element] = self.number(node)
        elif owner in self.drives:
            raise self.unknown(node, f"parameter of {owner!r},", element, known)
        else:
            known = [f"{each}.{letters}" for each in self.bodies for letters in ELEMENTS]
            known += [f"{each}.{letters}" for each, drive in self.drives.items() for letters in drive.parameters]
            raise self.unknown(node, "standard parameter", name, known)

    def moving(self, node: yaml.Node, name: str) -> None:
        """Refuses all but the links whose inertia a robot has: those fixed to them count as parts of them."""
        if name in self.bodies:
            return
        frame = self.model.frames.get(name)
        if frame is None:
            raise self.unknown(node, "moving link", name, self.bodies)
        if not frame.body:
            self.fail(node, f"{name!r} does not move, so its inertia is in no force", fix="leave it out")
        carrier = self.model.body(frame.body).name
        adds = at_door("`with_payload`", "`payload` in the file")
        fix = f"give those of {carrier!r} as a whole; or {adds} adds a body at {name!r}"
        self.fail(node, f"{name!r} is fixed to link {carrier!r}, and has no values of its own", fix=fix)

    # -- sections

    def read_links(self, rows: Row) -> None:
        for name, node in rows.items():
            self.label = f"link {name!r}"
            with self.keep_reading():
                self.moving(node, name)
                if isinstance(node, yaml.SequenceNode):
                    self.inertias[name] = dict(zip(ELEMENTS, self.numbers(node, len(ELEMENTS)), strict=True))
                else:
                    self.inertias[name] = self.body(node)

    def body(self, node: yaml.Node) -> dict[str, Any]:
        """What is given of mass, centre and inertia."""
        row = self.mapping(node, BODY)
        found: dict[str, Any] = {"mass": self.number(row["mass"])} if "mass" in row else {}
        if "center" in row:
            found["center"] = np.array(self.numbers(row["center"], 3))
        if "inertia" in row:
            found["inertia"] = self.inertia_matrix(row["inertia"])
        return found

    def inertia_matrix(self, node: yaml.Node) -> np.ndarray:
        """From 3 x 3, six (xx, xy, xz, yy, yz, zz) or three numbers on the diagonal."""
        parts = self.sequence(node)
        if not any(isinstance(part, yaml.SequenceNode) for part in parts):
            numbers = self.numbers(node, 6, 3)
            return np.diag(numbers) if len(numbers) == 3 else symmetric(numbers)
        if len(parts) != 3:
            self.fail(node, "wrong length", got=f"{len(parts)} rows", expected="3 rows of 3 numbers")
        matrix = np.array([self.numbers(part, 3) for part in parts])
        if np.abs(matrix - matrix.T).max() > ASYMMETRY * np.abs(matrix).max():
            self.fail(node, "an inertia is symmetric", got=matrix.tolist(), expected="xy = yx, xz = zx, yz = zy")
        return matrix

    def read_joints(self, rows: Row) -> None:
        for name, node in rows.items():
            self.label = f"joint {name!r}"
            with self.keep_reading():
                drive = self.drive(node, name)
                self.changes[name] = self.values(self.mapping(node, _numbers(drive)), type(drive))

    def drive(self, node: yaml.Node, name: str) -> Drive:
        if name not in self.drives:
            raise self.unknown(node, "joint or motor", name, self.drives)
        return self.drives[name]

    def read_payload(self, rows: Row) -> None:
        for name, node in rows.items():
            self.label = f"payload at {name!r}"
            with self.keep_reading():
                if name not in self.model.frames:
                    raise self.unknown(node, "frame", name, self.model.frames)
                given = self.body(node)
                self.require(node, given, "mass", "in kg")
                center, central = given.get("center", np.zeros(3)), given.get("inertia", np.zeros((3, 3)))
                self.carried[name] = LinkInertia(given["mass"], center, central)

    # -- friction

    def frictions(self, rows: Row) -> Values:
        """Joint -> law -> its numbers, or its only number."""
        found: Values = {}
        for name, node in rows.items():
            self.label = f"joint {name!r}"
            with self.keep_reading():
                self.drive(node, name)
                row = self.mapping(node, (*FrictionLaw.known, "width"))
                width = self.values(row, Drive)
                laws = [self.own_law(law, given) for law, given in row.items() if law in FrictionLaw.known]
                found[name] = _fields(laws) | width
        return found

    def own_law(self, name: str, node: yaml.Node) -> FrictionLaw:
        kind: Any = FrictionLaw.known[name]
        only = isinstance(node, yaml.ScalarNode) and len(kind.keys()) == 1
        return self.element(node, kind, {kind.keys()[0]: node} if only else None)

    def of_elements(self) -> Values:
        """Fields of the drives whose parameters are given by name."""
        return {name: with_elements(self.drives[name], own) for name, own in self.elements.items()}

    def frictions_of_elements(self) -> Values:
        """The same of friction, where that is given, and all that is not given zero."""
        found: Values = {}
        for name, own in self.elements.items():
            drive, known = self.drives[name], _of_friction()
            if given := _among(own, known):
                fields = with_elements(drive, dict.fromkeys(_among(drive.parameters, known), 0.0) | given)
                fields["friction"] = tuple(law for law in fields["friction"] if not law.vanishes)
                found[name] = _among(fields, FRICTION)
        return found


def _is_path(values: Any) -> bool:
    return isinstance(values, (str, os.PathLike))


def _among(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: x for name, x in values.items() if name in names}


def _of_friction() -> list[str]:
    """Names of all parameters of friction, also of laws that the user has added."""
    return list({element: None for law in FrictionLaw.known.values() for element in law.elements})


def _laws(name: str, given: Any) -> dict[str, Any] | None:
    """Fields of a drive with these laws, if they are given as objects."""
    laws = [given] if isinstance(given, FrictionLaw) else given
    if not isinstance(laws, (list, tuple)):
        return None
    names = [getattr(law, "name", None) for law in laws]
    if not all(isinstance(law, FrictionLaw) for law in laws) or len({*names}) < len(names):
        expected = "laws of friction, each once"
        raise ModelError("this is no friction", where=f"joint {name!r}", got=repr(given), expected=expected)
    return _fields(laws)


def _fields(laws: Iterable[FrictionLaw]) -> dict[str, Any]:
    """Of a Drive that has these laws and no others."""
    named = {law.name: law for law in laws}
    built_in = {name: getattr(named.pop(name), name) for name in BUILT_IN if name in named}
    return NONE | built_in | {"friction": tuple(named.values())}
