"""Readers and writers of robot files. Every message names the file, the element and the fix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
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
    """Return the names of the robots that come with linkwork.

    Returns:
        The names, sorted.

    Example:
        >>> "panda" in linkwork.bundled_robots()
        True
    """
    return tuple(sorted(path.stem for path in BUNDLED.glob("*.yaml")))


def side_file(path: str | Path) -> Path:
    """Return the path of the side file of a URDF: arm.loops.yaml next to arm.urdf."""
    return Path(path).with_suffix(".loops.yaml")


def parse(text: str, *, allow_external_files: bool = False) -> Description:
    """Return the description in the text of a robot file: URDF, MJCF or YAML."""
    if not isinstance(text, str):
        raise ModelError("this is not the text of a robot file", got=short(repr(text)), expected="URDF, MJCF or YAML")
    if len(text) > LIMITS["longest"]:
        raise ModelError("the text is too long", got=f"{len(text):,}", expected=f"{LIMITS['longest']:,} characters")
    bare = text.lstrip("\ufeff \t\r\n")
    if not bare.startswith("<"):
        return read_mdh(text, "text")
    text = bare if bare.startswith("<?xml") else text  # the declaration must be first; triple quotes add white space
    if parse_xml(text, "text").tag == "mujoco":
        return read_mjcf(text, "text", allow_external_files=allow_external_files)
    return read_urdf(text, "text")


def read(
    robot: str | Path | Mapping[str, Any],
    structure: str | Path | Mapping[str, Any] | None = None,
    *,
    allow_external_files: bool = False,
) -> Description:
    """Read a robot file without checking the robot.

    Args:
        robot: Path of a URDF, MJCF or YAML file, name of a bundled robot, or a dict with the content of a YAML file.
        structure: Path of a side file with loops, roles of joints and home, or a dict with its content; default None.
        allow_external_files: Whether an MJCF file may use files outside its folder; default False.

    Returns:
        The Description. ``linkwork.inspection.check`` lists what is wrong with it, ``linkwork.load`` refuses it then.

    Raises:
        ModelError: The file cannot be read, or its format is wrong.
        UnknownNameError: There is no bundled robot of this name.

    Example:
        >>> description = linkwork.io.read("panda")
        >>> len(description.joints)
        7
        >>> description.joints[0].kind
        'revolute'
    """
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
        message = f"there is a side file {side.name}, which was not read"
        fix = "to read its loops, load with " + at_door('structure="{}"', "--structure {}").format(side)
        unread = Finding("warning", str(path), message, fix, at_load=True, unread=True)
        return replace(description, findings=(*description.findings, unread))
    return description


def structure_of(path: str | Path | Mapping[str, Any]) -> Structure:
    """Return the structure in a side file, or in a dict with the content of one."""
    if isinstance(path, Mapping):
        return read_structure(path, "structure")
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError("this is not a side file", got=repr(path), expected="the path of a side file, or a dict")
    return read_structure(read_text(path, **LIMITS, fix="give the path of a side file"), str(path))


def _read(path: Path, allow_external_files: bool) -> Description:
    suffix, fix = path.suffix.lower(), "give the path of a robot file, or a name of `linkwork robots`"
    reader = READERS.get(suffix)
    if reader is None:
        kind, fix = OTHERS.get(suffix, ("", ""))
        raise _format_error(path, f"this is {kind}" if kind else "this format is not supported", READERS, fix)
    if reader is read_mdh:
        name = path.name if path.parent == BUNDLED else str(path)
        return read_mdh(read_text(path, **LIMITS, fix=fix), name)
    data = read_bytes(path, **LIMITS, fix=fix)
    if reader is read_mjcf or (suffix == ".xml" and parse_xml(data, str(path)).tag == "mujoco"):
        return read_mjcf(data, str(path), path.parent, allow_external_files=allow_external_files)
    return read_urdf(data, str(path))


def texts(description: Description, path: str | Path) -> dict[Path, str]:
    """Return the texts that ``write`` writes, by path: of the robot file, and of its side file if it needs one."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise _format_error(path, "linkwork does not write this format", WRITERS)
    files = {path: writer(description)}
    if writer is write_urdf and (structure := write_structure(description)):
        files[side_file(path)] = structure
    return files


def write(description: Description, path: str | Path) -> None:
    """Write a description to a robot file; an existing file is replaced in one step.

    URDF cannot express loops, roles of joints and forces. A robot with any of them gets a side file, arm.loops.yaml
    next to arm.urdf, for the argument ``structure`` of ``load``. If either text cannot be made, nothing is written.

    Args:
        description: The robot.
        path: Path of the file; its suffix is the format, .urdf or .yaml.

    Raises:
        ModelError: The format is unknown, or the robot has errors.
        UnsupportedError: The format has no such joints.
        LinkworkError: The file cannot be written.

    Example:
        >>> linkwork.io.write(linkwork.io.read("four-bar"), "bar.urdf")
        >>> linkwork.load("bar.urdf", structure="bar.loops.yaml").nv
        1
    """
    for file, text in reversed(texts(description, path).items()):  # the robot file last
        write_text(file, text)


def _format_error(path: Path, message: str, formats: Iterable[str], fix: str = "") -> ModelError:
    got, expected = path.suffix or "no suffix", f"one of: {', '.join(formats)}"
    return ModelError(message, where=str(path), got=got, expected=expected, fix=fix)
