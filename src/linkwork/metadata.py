"""Label: the metadata of a function (robot, quantity, names, units), read from files that may hold anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from math import isfinite
from typing import Any

import numpy as np

from .errors import UnknownNameError
from .model.coordinates import Layout, Segment
from .program.program import Port, Program, entry
from .quoting import unprintable
from .sparsity import Pattern, read_patterns
from .targets import names as targets

FORMAT = "linkwork-function-3"
DTYPES = ("float64", "float32")
PORT_NAME = re.compile("[A-Za-z][0-9A-Za-z_]{0,63}")  # one that Python, C and CasADi take
LONGEST_NAME = 1000  # characters


@dataclass(frozen=True)
class Nominal:
    """An input that holds numbers of the robot: their name, names of entries or rows, and the robot's own values."""

    name: str  # as ``compile(inputs=...)`` takes it
    rows: tuple[str, ...]  # along the first axis
    values: tuple[float, ...]  # flat

    def array(self, port: Port) -> np.ndarray:
        """Return the values in the shape of the input."""
        return np.array(self.values, float).reshape(port.shape)


@dataclass(frozen=True)
class Label:
    """What a function computes, for which robot and by which method. It is saved with the function."""

    robot: str
    quantity: str
    method: str
    frame: str = ""
    layouts: Mapping[str, Layout] = field(default_factory=dict)  # joint vectors -> what their entries are
    wrenches: tuple[str, ...] = ()  # frames of the rows of the input ``wrenches``
    axes: str = ""  # "world" or "local", of quantities that have the choice
    assumed: tuple[str, ...] = ()  # sentences on what is built in: gravity, friction, rotors, springs, surroundings
    nominal: Mapping[str, Nominal] = field(default_factory=dict)  # inputs that hold numbers of the robot
    meanings: Mapping[str, str] = field(default_factory=dict)  # input or output -> what it is, with its unit
    patterns: Mapping[str, Pattern] = field(default_factory=dict)  # of packed outputs


def dtype_name(dtype: Any) -> str:
    """Return the name of a number type; raise UnknownNameError if it is none of DTYPES."""
    try:
        name = np.dtype(dtype).name
    except (TypeError, ValueError):
        name = repr(dtype)  # refused below
    if name not in DTYPES:
        raise UnknownNameError("dtype", name, DTYPES)
    return name


def read_document(document: Any) -> tuple[Program, Label, str, str, dict[str, Program]]:
    """Return program, label, dtype, backend and tangents that ``Function.save`` wrote; raise ValueError or
    LinkworkError if the document is anything else."""
    if (version := entry(document, "format", str)) != FORMAT:
        raise ValueError(f"unknown format {version!r}")
    for name, choices in (("dtype", DTYPES), ("backend", targets("run"))):
        if entry(document, name, str) not in choices:
            raise ValueError(f"{name!r} is {document[name]!r}, not one of: {', '.join(choices)}")
    program = Program.from_json(entry(document, "program", str))
    _name(program.name, "the program's name")
    for ports in (program.inputs, program.outputs):
        names = [port.name for port in ports]
        if len(set(names)) < len(names):
            raise ValueError("two inputs or two outputs have the same name")
        for name in names:
            if not PORT_NAME.fullmatch(name) or iskeyword(name):
                raise ValueError(f"{name!r} cannot be the name of an input or output")
    label = _label(entry(document, "label", dict), program)
    texts = entry(document, "tangents", dict) if "tangents" in document else {}  # earlier files have none
    tangents = {name: _tangent(text, name, program) for name, text in texts.items()}
    return program, label, document["dtype"], document["backend"], tangents


def _tangent(text: Any, name: str, program: Program) -> Program:
    """Return the program of the directions in which an input can change."""
    ports = {port.name: port for port in program.inputs}
    if not isinstance(text, str) or name not in ports:
        raise ValueError(f"the tangent of {name!r} is not one of its inputs")
    tangent = Program.from_json(text)
    rows = [port.shape[0] if len(port.shape) == 2 else None for port in tangent.outputs]
    if not {*tangent.inputs} <= {*program.inputs} or rows != [ports[name].size]:
        raise ValueError(f"the tangent of {name!r} does not fit its inputs")
    return tangent


def _label(data: dict[str, Any], program: Program) -> Label:
    ports = {port.name: port for port in (*program.inputs, *program.outputs)}
    if unknown := [name for name in data if name not in Label.__dataclass_fields__]:
        raise ValueError(f"its label has an entry {unknown[0]!r}")
    for name in ("robot", "quantity", "method"):
        entry(data, name, str)
    rows = data.get("layouts", {})
    if not isinstance(rows, dict):
        raise ValueError("the layouts of its label are not given by port")
    layouts = {name: _layout(layout, f"the layout of {name!r}") for name, layout in rows.items()}
    for name, layout in layouts.items():
        if name not in ports or ports[name].shape != (layout.size,):
            raise ValueError(f"{layout.size} entries do not fit its input or output {name!r}")
        if len(set(layout.joints)) < len(layout.joints) or len(set(layout.names)) < layout.size:
            raise ValueError(f"two entries of {name!r} have the same name")
    wrenches = _names(data.get("wrenches", ()), "wrenches")
    if wrenches and ("wrenches" not in ports or ports["wrenches"].shape != (len(wrenches), 6)):
        raise ValueError(f"{len(wrenches)} frames do not fit its input 'wrenches'")
    lists = {"layouts": layouts, "wrenches": wrenches, "assumed": _names(data.get("assumed", ()), "assumed")}
    lists["nominal"] = _nominals(data.get("nominal", {}), {port.name: port for port in program.inputs})
    lists["meanings"] = _meanings(data.get("meanings", {}), ports)
    lists["patterns"] = read_patterns(data.get("patterns", {}), program.outputs)
    texts = {name: _name(value, name) for name, value in data.items() if name not in lists}
    return Label(**texts, **lists)


def _layout(data: Any, what: str) -> Layout:
    rows = data.get("segments") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{what} is not a list of segments")
    segments = []
    for row in rows:
        name, meaning = (_name(row.get(key, ""), what) for key in ("name", "meaning"))
        parts, units = (_names(row.get(key), what) for key in ("parts", "units"))
        if odd := [part for part in parts if part and not PORT_NAME.fullmatch(part)]:
            raise ValueError(f"{what}: {odd[0]!r} cannot be the name of a part")
        if not parts or len(parts) != len(units):
            raise ValueError(f"{what}: parts and units of {name!r} do not fit together")
        segments.append(Segment(name, parts, units, meaning))
    return Layout(tuple(segments))


def _nominals(data: Any, ports: Mapping[str, Port]) -> dict[str, Nominal]:
    if not isinstance(data, dict) or not data.keys() <= ports.keys():
        raise ValueError("the nominal values of its label are not those of its inputs")
    return {name: _nominal(entry, ports[name]) for name, entry in data.items()}


def _nominal(data: Any, port: Port) -> Nominal:
    what = f"the nominal values of {port.name!r}"
    if not isinstance(data, dict) or data.keys() != Nominal.__dataclass_fields__.keys():
        raise ValueError(f"{what} have no name, rows and values")
    values, rows = data["values"], _names(data["rows"], what)
    numbers = isinstance(values, (list, tuple)) and all(type(x) in (int, float) and isfinite(x) for x in values)
    if not numbers or len(values) != port.size or len(rows) != (port.shape[0] if port.shape else len(rows)):
        raise ValueError(f"{what} are not {port.size} numbers with names")
    return Nominal(_name(data["name"], what), rows, tuple(map(float, values)))


def _meanings(data: Any, ports: Mapping[str, Port]) -> dict[str, str]:
    if not isinstance(data, dict) or not data.keys() <= ports.keys():
        raise ValueError("the meanings of its label are not those of its inputs and outputs")
    return {name: _name(value, f"the meaning of {name!r}") for name, value in data.items()}


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{what} are not a list of names")
    return tuple(_name(name, what) for name in value)


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise ValueError(f"{what}: {value!r} is not a name of at most {LONGEST_NAME} characters")
    if bad := unprintable(value):
        raise ValueError(f"{what}: {value!r} holds the character {bad}, which cannot be printed")
    return value
