"""Label: what a function says of itself beside its program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .program.program import Port, entry

LONGEST_NAME = 1000  # characters
SURROGATE = re.compile("[\ud800-\udfff]")  # JSON may hold halves of characters, which no file can
BEFORE_JOINTS = (0, 6, 7)  # entries of a joint vector that are of a floating body


@dataclass(frozen=True)
class Label:
    """What a function computes, of which robot and how; travels with it."""

    robot: str
    quantity: str
    method: str
    frame: str = ""
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # joint vectors -> joints they hold
    floating: str = ""  # name of what stands before the joints in a vector that holds more
    wrenches: tuple[str, ...] = ()  # frames of the rows of the input ``wrenches``
    axes: str = ""  # "world" or "local", of quantities that have the choice
    payload: str = ""  # frame that carries the input ``payload``


def read_label(data: dict[str, Any], ports: Mapping[str, Port]) -> Label:
    """The label that a JSON object tells of, if it fits the ports; a ValueError says what does not."""
    if unknown := [name for name in data if name not in Label.__dataclass_fields__]:
        raise ValueError(f"its label has an entry {unknown[0]!r}")
    for name in ("robot", "quantity", "method"):
        entry(data, name, str)
    held = data.get("entries", {})
    if not isinstance(held, dict):
        raise ValueError("the entries of its label are not told by port")
    entries = {name: _names(joints, f"the entries of {name!r}") for name, joints in held.items()}
    for name, joints in entries.items():
        if name not in ports or len(ports[name].shape) != 1 or ports[name].size - len(joints) not in BEFORE_JOINTS:
            raise ValueError(f"{len(joints)} joints do not fit its input or output {name!r}")
        if len(set(joints)) < len(joints):
            raise ValueError(f"two entries of {name!r} have the same name")
    wrenches = _names(data.get("wrenches", ()), "wrenches")
    if wrenches and ("wrenches" not in ports or ports["wrenches"].shape != (len(wrenches), 6)):
        raise ValueError(f"{len(wrenches)} frames do not fit its input 'wrenches'")
    texts = {name: read_name(value, name) for name, value in data.items() if name not in ("entries", "wrenches")}
    return Label(**texts, entries=entries, wrenches=wrenches)


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{what} are not a list of names")
    return tuple(read_name(name, what) for name in value)


def read_name(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME or SURROGATE.search(value):
        raise ValueError(f"{what}: {value!r} is not a name of at most {LONGEST_NAME} characters")
    return value
