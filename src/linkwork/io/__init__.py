"""Readers and writers of robot files. Every message names the file, the element and the remedy."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError, UnknownNameError
from ..files import write_text
from ..model import Description
from .mdh import read_mdh
from .mdh_writer import write_mdh
from .mjcf import read_mjcf
from .urdf import read_urdf
from .urdf_writer import write_urdf
from .xml import parse_xml

READERS = {".urdf": read_urdf, ".xml": read_urdf, ".yaml": read_mdh, ".yml": read_mdh}
WRITERS = {".urdf": write_urdf, ".yaml": write_mdh, ".yml": write_mdh}
BUNDLED = Path(__file__).parent.parent / "robots"


def bundled_robots() -> tuple[str, ...]:
    """Names of the robots that come with linkwork."""
    return tuple(sorted(path.stem for path in BUNDLED.glob("*.yaml")))


def read(robot: str | Path) -> Description:
    """The description in a file, or of a bundled robot by name. Nothing is judged yet: see ``linkwork check``."""
    path = Path(robot)
    if not path.suffix and not path.exists():
        if str(robot) not in bundled_robots():
            raise UnknownNameError("bundled robot", str(robot), bundled_robots())
        path = BUNDLED / f"{robot}.yaml"
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ModelError(
            "this kind of robot file is not known",
            where=str(path),
            got=path.suffix or "no suffix",
            expected="one of: " + ", ".join(READERS),
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"the file cannot be read: {error.strerror}",
            where=str(path),
            fix="give the path of a robot file, or a name of `linkwork robots`",
        ) from error
    if path.suffix.lower() == ".xml" and parse_xml(data, str(path)).tag == "mujoco":
        return read_mjcf(data, str(path), path.parent)
    if reader is read_urdf:
        return read_urdf(data, str(path))
    try:
        return read_mdh(data.decode(), path.name if path.parent == BUNDLED else str(path))
    except UnicodeDecodeError as error:
        raise ModelError(f"the file is not UTF-8 text: {error}", where=str(path)) from error


def write(description: Description, path: str | Path) -> None:
    """Write a description in the format its suffix names; an existing file is replaced in one step."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ModelError(
            "linkwork does not write this kind of file",
            where=str(path),
            got=path.suffix or "no suffix",
            expected="one of: " + ", ".join(WRITERS),
        )
    write_text(path, writer(description))
