"""Readers and writers of robot files. Every message names the file, the element and the remedy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import ModelError, UnknownNameError, at_door, short
from ..files import read_bytes, read_text, write_text
from ..model import Description
from ..model.description import Finding
from .dh import dh_rows
from .mdh import read_mdh
from .mdh_writer import write_mdh
from .mjcf import read_mjcf
from .other_formats import OTHERS
from .structure_file import Structure, apply, read_structure, write_structure
from .urdf import read_urdf
from .urdf_writer import write_urdf
from .xml import parse_xml
from .yaml_nodes import LIMITS

READERS = {".urdf": read_urdf, ".xml": read_urdf, ".mjcf": read_mjcf, ".yaml": read_mdh, ".yml": read_mdh}
WRITERS = {".urdf": write_urdf, ".yaml": write_mdh, ".yml": write_mdh}
BUNDLED = Path(__file__).parent.parent / "robots"

__all__ = ["dh_rows", "read", "write"]


def __dir__() -> list[str]:
    return __all__


def bundled_robots() -> tuple[str, ...]:
    """Names of the robots that come with linkwork."""
    return tuple(sorted(path.stem for path in BUNDLED.glob("*.yaml")))


def side_file(path: str | Path) -> Path:
    """Where ``write`` puts what a URDF cannot say: arm.loops.yaml beside arm.urdf."""
    return Path(path).with_suffix(".loops.yaml")


def parse(text: str, *, allow_external_files: bool = False) -> Description:
    """The description in the text of a robot file: URDF, MJCF or YAML."""
    if not isinstance(text, str):
        raise ModelError("text is the text of a robot file", got=short(repr(text)), expected="URDF, MJCF or YAML")
    if len(text) > LIMITS["longest"]:
        raise ModelError("the text is too long", got=f"{len(text):,}", expected=f"{LIMITS['longest']:,} characters")
    bare = text.lstrip("\ufeff \t\r\n")
    if not bare.startswith("<"):
        return read_mdh(text, "text")
    text = bare if bare.startswith("<?xml") else text  # which must be first, and is not in a text between quotes
    if parse_xml(text, "text").tag == "mujoco":
        return read_mjcf(text, "text", allow_external_files=allow_external_files)
    return read_urdf(text, "text")


def read(
    robot: str | Path | Mapping[str, Any],
    structure: str | Path | Mapping[str, Any] | None = None,
    *,
    allow_external_files: bool = False,
) -> Description:
    """The description in a file, of a bundled robot by name, or in data that hold what a YAML file would, with the
    loops, roles and home of ``structure``, a side file or such data. ``outside``: an MJCF file may take files from
    outside its folder. Nothing is judged yet: see ``linkwork check``."""
    if isinstance(robot, Mapping):
        description = read_mdh(robot)
        return description if structure is None else apply(description, structure_of(structure))
    try:
        path = Path(robot)
    except TypeError as error:
        expected = "the path of a robot file, a name of `linkwork robots`, a dict or a Description"
        raise ModelError("this is not a robot", got=repr(robot), expected=expected) from error
    if not path.suffix and not os.path.exists(path):
        if str(robot) not in bundled_robots():
            raise UnknownNameError("bundled robot", str(robot), bundled_robots())
        path = BUNDLED / f"{robot}.yaml"
    description = _read(path, allow_external_files)
    if structure is not None:
        return apply(description, structure_of(structure))
    if path.suffix.lower() == ".urdf" and os.path.isfile(side := side_file(path)):
        message = f"{side.name} is beside it, but was not read"
        fix = "to have its loops, load with " + at_door('structure="{}"', "--structure {}").format(side)
        unread = Finding("warning", str(path), message, fix, at_load=True, unread=True)
        return replace(description, findings=(*description.findings, unread))
    return description


def structure_of(path: str | Path | Mapping[str, Any]) -> Structure:
    """The structure in a side file, or in data that hold what it would."""
    if isinstance(path, Mapping):
        return read_structure(path, "structure")
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError("structure is a file", got=repr(path), expected="the path of a side file, or a dict")
    return read_structure(read_text(path, **LIMITS, fix="give the path of a side file"), str(path))


def _read(path: Path, allow_external_files: bool) -> Description:
    suffix, fix = path.suffix.lower(), "give the path of a robot file, or a name of `linkwork robots`"
    reader = READERS.get(suffix)
    if reader is None:
        kind, remedy = OTHERS.get(suffix, ("", ""))
        raise ModelError(
            f"this is {kind}" if kind else "this kind of robot file is not known",
            where=str(path),
            got=path.suffix or "no suffix",
            expected="one of: " + ", ".join(READERS),
            fix=remedy,
        )
    if reader is read_mdh:
        name = path.name if path.parent == BUNDLED else str(path)
        return read_mdh(read_text(path, **LIMITS, fix=fix), name)
    data = read_bytes(path, **LIMITS, fix=fix)
    if reader is read_mjcf or (suffix == ".xml" and parse_xml(data, str(path)).tag == "mujoco"):
        return read_mjcf(data, str(path), path.parent, allow_external_files=allow_external_files)
    return read_urdf(data, str(path))


def texts(description: Description, path: str | Path) -> dict[Path, str]:
    """The files that ``write`` makes, and what they say: the one asked for, and the side file of a URDF if needed."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ModelError(
            "linkwork does not write this kind of file",
            where=str(path),
            got=path.suffix or "no suffix",
            expected="one of: " + ", ".join(WRITERS),
        )
    files = {path: writer(description)}
    if writer is write_urdf and (structure := write_structure(description)):
        files[side_file(path)] = structure
    return files


def write(description: Description, path: str | Path) -> None:
    """Write a description in the format its suffix names; an existing file is replaced in one step.

    A URDF has no words for loops, roles of joints and forces: a robot that has any gets a side file, arm.loops.yaml
    beside arm.urdf, to be read with ``structure=``. Nothing is written if either cannot be.
    """
    for file, text in reversed(texts(description, path).items()):  # the robot's own file last
        write_text(file, text)
