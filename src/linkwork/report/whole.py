"""The report about a robot on one page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import LinkworkError, at_door
from ..files import write_text
from ..html import page
from ..inspection.facts import structure
from ..inspection.measure import Progress
from ..inspection.speed import describe_host
from ..model import Model
from ..quoting import Safe
from ..renamed import renamed_arguments
from ..robot import Robot
from . import sections
from .motion import sample_motion

TITLES = (
    "Picture", "Frames", "Parameters", "Methods compared", "Torques of a sample motion", "Simulation",
)  # fmt: skip


def html(robot: Robot, *, progress: Progress = nullcontext) -> str:
    """Return a report about a robot as one HTML page, without script and network.

    It has a picture, frames, parameters, a comparison of methods, torques of a sample motion, and a simulation.

    Args:
        robot: The robot.
        progress: Context manager called with a text for each part. Default: none.

    Returns:
        The page.

    Raises:
        LinkworkError: The robot has no degrees of freedom.

    Example:
        >>> page = linkwork.report.html(linkwork.load("planar2r"))  # doctest: +SKIP
    """
    if not robot.nv:
        raise LinkworkError(
            "this robot does not move, so there is nothing to report", where=f"robot {robot.name!r}",
            fix="choose a robot with joints",
        )  # fmt: skip
    with progress("moving the robot"):
        motion = sample_motion(robot)
    makers: tuple[Callable[[], Safe], ...] = (
        lambda: sections.picture(robot, motion),
        lambda: sections.frames(robot),
        lambda: sections.parameters(robot),
        lambda: sections.methods(robot, progress),
        lambda: sections.torques(robot, motion),
        lambda: sections.simulation(robot, motion),
    )
    parts = {}
    for title, make in zip(TITLES, makers, strict=True):
        with nullcontext() if title == "Methods compared" else progress(title.lower()):  # it reports each method
            parts[title] = make()
    footer = f"linkwork {__version__}, {date.today().isoformat()}. Times on {describe_host()}."
    return page(robot.name, robot.model.summary, _facts(robot.model), parts, footer)


@renamed_arguments(out="path")
def write(robot: Robot, path: str | Path, *, overwrite: bool = False, progress: Progress = nullcontext) -> str:
    """Write the report of ``html`` to a file.

    Args:
        robot: The robot.
        path: The HTML file.
        overwrite: True replaces a file that exists.
        progress: Context manager called with a text for each part. Default: none.

    Returns:
        The page.

    Raises:
        LinkworkError: The file exists, its folder does not, or the robot has no degrees of freedom.

    Example:
        >>> page = linkwork.report.write(linkwork.load("planar2r"), "report.html")  # doctest: +SKIP
    """
    require_place(Path(path), overwrite)
    text = html(robot, progress=progress)
    write_text(Path(path), text)
    return text


def require_place(path: Path, overwrite: bool) -> None:
    """Raise an error if the file cannot be written, before the report is made."""
    if path.is_dir():
        raise LinkworkError("this is a folder", where=str(path), fix="give the name of a file, such as report.html")
    if path.exists() and not overwrite:
        fix = f"choose another name, or replace it with {at_door('overwrite=True', '--overwrite')}"
        raise LinkworkError("the file exists", where=str(path), fix=fix)
    if not path.parent.is_dir():
        raise LinkworkError("there is no such folder", where=str(path.parent), fix="make it, or choose another")


def _facts(model: Model) -> dict[str, Any]:
    mass = sum(body.inertia.mass for body in model.bodies)
    return {
        "structure": structure(model),
        "joints": len(model.position_names),
        "freedoms": model.nv,
        "motors": len(model.mobility.motors),
        **({"commands": ", ".join(model.commands.names)} if model.commands.size else {}),
        "moving mass": f"{mass:.4g} kg",
        "gravity": f"({', '.join(f'{g:g}' for g in model.gravity)}) m/s²",
    }
