"""Changed parameters of a robot, from a file, a mapping, or an identified model. The file is YAML or JSON:

    robot: arm                                   # a comment for the reader of the file
    links:                                       # moving links with all that is fixed to them, in the frame of the link
      upper: {mass: 4.2, center: [0.1, 0, 0.02], inertia: [0.02, 0, 0, 0.03, 0, 0.03]}    # about the centre of mass
      fore: {mass: 1.7}                          # other values stay; see ``with_parameters``
      hand: [1.2, 0.1, 0, 0, 0.02, 0, 0, 0.02, 0, 0.01]    # or ten numbers in the order of Robot.parameters
    joints:                                      # and motors of transmissions, with the keys of robot files
      elbow: {Ia: 0.3, Fs: 0.4, Fv: 0.1, friction: {offset: {offset: 0.01}}, K: 10, rest: 0.2}
    payload:                                     # bodies that are added to frames
      flange: {mass: 2, center: [0, 0, 0.05]}

Without sections, its keys are links and standard parameters: {fore: {mass: 1.7}, upper.MX: 0.3, elbow.FV: 0.1}.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import yaml

from ..errors import ModelError, at_door, counted
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
ASYMMETRY = 1e-9  # largest asymmetry of an inertia matrix that is accepted, relative

Values = dict[str, dict[str, Any]]


def with_parameters(model: Model, values: Any) -> Model:
    """Return the model with other parameters.

    ``values`` is a mapping, the path of a file, or an object with ``parameter_values``, a mapping by the names of
    standard parameters, and optionally ``drives``, one as for ``with_drives``. If only some of mass, centre and inertia
    of a link are given, the centre stays, and the inertia about it scales with the mass, as if the density changed. If
    standard parameters are given by name, all others of the link stay.
    """
    model = with_drives(model, getattr(values, "drives", {}))
    reader = _Reader(model, values)
    with reader.reading(values, "parameter_values", reader.bodies) as flat:
        reader.read_flat(flat)
    drives = reader.changes | {name: with_elements(reader.drives[name], x) for name, x in reader.elements.items()}
    return changed(model, reader.inertias, drives, reader.payload)


def with_friction(model: Model, values: Any) -> Model:
    """Return the model with other friction.

    ``values`` maps joints or motors to friction laws, by name or as objects, which replace all friction they have; or
    it is a file, or anything else that ``with_parameters`` takes, of which only friction is used.
    """
    identified = getattr(values, "drives", {})
    model = with_drives(model, {name: _among(fields, FRICTION) for name, fields in identified.items()})
    reader, friction = _Reader(model, values), {}
    if isinstance(values, Mapping):
        friction = {name: fields for name, value in values.items() if (fields := _from_objects(name, value))}
        values = {name: value for name, value in values.items() if name not in friction}
    with reader.reading(values, "parameter_values", reader.drives) as flat:
        rows: Row = {name: node for name, node in flat.items() if not isinstance(node, yaml.ScalarNode)}
        reader.read_flat({name: node for name, node in flat.items() if name not in rows})
        rows = {name: node for name, node in rows.items() if name in reader.drives or name not in reader.bodies}
        friction |= reader.frictions(rows) | reader.frictions_of_elements()
    changes = {name: _among(fields, FRICTION) for name, fields in reader.changes.items()}
    friction |= {name: NONE | fields for name, fields in changes.items() if fields}
    return changed(model, drives=friction)


def with_payload(model: Model, values: Any) -> Model:
    """Return the model with bodies added to frames.

    ``values`` maps frames to mass, center and inertia of a body; or it is a file with such a mapping or a section
    ``payload``, or an object with such a mapping as its ``payload``.
    """
    reader = _Reader(model, values)
    with reader.reading(values, "payload", model.frames) as flat:
        reader.read_payload(flat)
    return changed(model, payload=reader.payload)


def write_parameters(model: Model) -> str:
    """Return the text of a file with which ``with_parameters`` gives the same links and joints these parameters."""
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
    """Return all values, also zeros, since the robot that gets them may have others."""
    return {key: each.rule.plain(getattr(drive, each.name)) for key, each in _numbers(drive).items()}


def _numbers(drive: Drive) -> dict[str, ElementField]:
    """Return the fields of a joint or motor that the file has: numbers and friction laws, not roles and limits."""
    declared = (Motor if isinstance(drive, Motor) else Drive).declared()
    return {key: each for key, each in declared.items() if not isinstance(each.rule, Choice)}


class _Reader(Tables):
    """Reads one file or mapping.

    ``inertias``, ``changes`` and ``payload`` have the content of the sections ``links``, ``joints`` and ``payload``;
    ``inertias`` and ``elements`` have parameters that are given by name.
    """

    def __init__(self, model: Model, values: Any):
        super().__init__(str(values) if _is_path(values) else f"robot {model.name!r}")
        self.model = model
        self.bodies = {body.name: i for i, body in enumerate(model.bodies, 1)}
        self.drives: dict[str, Drive] = {body.joint.name: body.joint for body in model.bodies}
        self.drives |= {motor.name: motor for each in model.transmissions for motor in each.motors}
        self.inertias: Values = {}
        self.changes: Values = {}
        self.elements: dict[str, dict[str, float]] = {}
        self.payload: dict[str, LinkInertia] = {}

    @contextmanager
    def reading(self, values: Any, attribute: str, names: Collection[str]) -> Iterator[Row]:
        """Read the sections; without any, yield all rows. ``names``: those that are no sections, whatever they are."""
        with self.collecting_errors():
            rows = self.top(values, attribute)
            sections = any(key in rows and key not in names for key in SECTIONS)
            if sections:
                self.read_sections(rows)
            yield {} if sections else rows

    def top(self, values: Any, attribute: str) -> Row:
        if _is_path(values):
            fix = "give the path of a file" + at_door(", or a mapping", "")
            return self.mapping(self.root(read_text(values, **LIMITS, fix=fix)))
        mapping = getattr(values, attribute, values)
        if not isinstance(mapping, Mapping):
            expected = f"a mapping, the path of a file, or an object with {attribute}"
            raise ModelError("these are not parameters", where=self.source, got=repr(values), expected=expected)
        return self.mapping(self.root(mapping))

    def read_sections(self, top: Row) -> None:
        for key, node in top.items():
            self.label = key
            with self.keep_reading():
                if key not in SECTIONS:
                    raise self.unknown(node, "section", key, SECTIONS)
                if key == "robot":
                    self.text(node)
                else:
                    readers = {"links": self.read_links, "joints": self.read_joints, "payload": self.read_payload}
                    readers[key](self.mapping(node))
        self.label = ""

    def read_flat(self, top: Row) -> None:
        """Read links with their values, and parameters by name."""
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
                self.fail(node, f"link {owner!r} has values in two forms", fix="keep one form")
            self.inertias.setdefault(owner, {})[element] = self.number(node)
        elif owner in self.drives and element in (
            names := list({**self.drives[owner].elements, **dict.fromkeys(_of_friction())})
        ):
            self.elements.setdefault(owner, {})[element] = self.number(node)
        elif owner in self.drives:
            raise self.unknown(node, f"parameter of {owner!r},", element, names)
        else:
            names = [f"{each}.{letters}" for each in self.bodies for letters in ELEMENTS]
            names += [f"{each}.{letters}" for each, drive in self.drives.items() for letters in drive.parameters]
            raise self.unknown(node, "standard parameter", name, names)

    def moving(self, node: yaml.Node, name: str) -> None:
        """Refuse all but moving links. A link that is fixed to one of them is a part of it."""
        if name in self.bodies:
            return
        frame = self.model.frames.get(name)
        if frame is None:
            raise self.unknown(node, "moving link", name, self.bodies)
        if not frame.body:
            self.fail(node, f"{name!r} does not move, so its inertia has no effect", fix="leave it out")
        carrier = self.model.body(frame.body).name
        adds = at_door("`with_payload`", "`payload` in the file")
        fix = f"give the values of {carrier!r} as a whole, or add a body at {name!r} with {adds}"
        self.fail(node, f"{name!r} is fixed to link {carrier!r}, and has no separate parameters", fix=fix)

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
        """Return those of mass, centre and inertia that a row gives."""
        readers = {"mass": self.number, "center": self.vector, "inertia": self.inertia_matrix}
        return {key: readers[key](value) for key, value in self.mapping(node, BODY).items()}

    def vector(self, node: yaml.Node) -> np.ndarray:
        return np.array(self.numbers(node, 3))

    def inertia_matrix(self, node: yaml.Node) -> np.ndarray:
        """Return the matrix from 3 x 3, six (xx, xy, xz, yy, yz, zz) or three numbers on the diagonal."""
        parts = self.sequence(node)
        if not any(isinstance(part, yaml.SequenceNode) for part in parts):
            numbers = self.numbers(node, 6, 3)
            return np.diag(numbers) if len(numbers) == 3 else symmetric(numbers)
        if len(parts) != 3:
            self.fail(node, "wrong length", got=counted(len(parts), "row"), expected="3 rows of 3 numbers")
        matrix = np.array([self.numbers(part, 3) for part in parts])
        if np.abs(matrix - matrix.T).max() > ASYMMETRY * np.abs(matrix).max():
            self.fail(node, "the inertia is not symmetric", got=matrix.tolist(), expected="xy = yx, xz = zx, yz = zy")
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
                body = self.body(node)
                self.require(node, body, "mass", "in kg")
                center, central = body.get("center", np.zeros(3)), body.get("inertia", np.zeros((3, 3)))
                self.payload[name] = LinkInertia(body["mass"], center, central)

    # -- friction

    def frictions(self, rows: Row) -> Values:
        """Return the fields of drives from rows joint -> law -> its numbers, or its only number."""
        drives: Values = {}
        for name, node in rows.items():
            self.label = f"joint {name!r}"
            with self.keep_reading():
                self.drive(node, name)
                row = self.mapping(node, (*FrictionLaw.known, "width"))
                width = self.values(row, Drive)
                laws = [self.friction_law(law, value) for law, value in row.items() if law in FrictionLaw.known]
                drives[name] = _fields(laws) | width
        return drives

    def friction_law(self, name: str, node: yaml.Node) -> FrictionLaw:
        kind: Any = FrictionLaw.known[name]
        single = isinstance(node, yaml.ScalarNode) and len(kind.keys()) == 1
        return self.element(node, kind, {kind.keys()[0]: node} if single else None)

    def frictions_of_elements(self) -> Values:
        """Return the fields of drives whose friction parameters are given by name; the others of them are zero."""
        drives: Values = {}
        for name, elements in self.elements.items():
            drive, names = self.drives[name], _of_friction()
            if values := _among(elements, names):
                fields = with_elements(drive, dict.fromkeys(_among(drive.parameters, names), 0.0) | values)
                fields["friction"] = tuple(law for law in fields["friction"] if not law.vanishes)
                drives[name] = _among(fields, FRICTION)
        return drives


def _is_path(values: Any) -> bool:
    return isinstance(values, (str, os.PathLike))


def _among(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: x for name, x in values.items() if name in names}


def _of_friction() -> list[str]:
    """Return the names of all friction parameters, also of laws that the user has added."""
    return list({element: None for law in FrictionLaw.known.values() for element in law.elements})


def _from_objects(name: str, value: Any) -> dict[str, Any] | None:
    """Return the fields of a drive with these friction laws; None if they are no objects."""
    laws = [value] if isinstance(value, FrictionLaw) else value
    if not isinstance(laws, (list, tuple)):
        return None
    names = [getattr(law, "name", None) for law in laws]
    if not all(isinstance(law, FrictionLaw) for law in laws) or len({*names}) < len(names):
        got, expected = repr(value), "friction laws, each once"
        raise ModelError("these are not friction laws", where=f"joint {name!r}", got=got, expected=expected)
    return _fields(laws)


def _fields(laws: Iterable[FrictionLaw]) -> dict[str, Any]:
    """Return the fields of a Drive that has these friction laws and no others."""
    laws_by_name = {law.name: law for law in laws}
    built_in = {name: getattr(laws_by_name.pop(name), name) for name in BUILT_IN if name in laws_by_name}
    return NONE | built_in | {"friction": tuple(laws_by_name.values())}
