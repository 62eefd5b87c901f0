"""All about a robot on one page."""

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
from ..robot import Robot
from . import sections
from .motion import sample_motion

TITLES = (
    "Picture", "Frames", "Parameters", "Methods compared", "Torques of a sample motion", "Simulation",
)  # fmt: skip


def html(robot: Robot, *, progress: Progress = nullcontext) -> str:
    """All about a robot as one page of HTML, without script and network: picture, frames, parameters, methods compared,
    torques of a sample motion, a simulation."""
    if not robot.nv:
        raise LinkworkError("this robot does not move, so there is nothing to report", where=f"robot {robot.name!r}")
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
    made = {}
    for title, make in zip(TITLES, makers, strict=True):
        with nullcontext() if title == "Methods compared" else progress(title.lower()):  # which tells of each method
            made[title] = make()
    footer = f"linkwork {__version__}, {date.today().isoformat()}. Times on {describe_host()}."
    return page(robot.name, robot.model.summary, _facts(robot.model), made, footer)


def write(robot: Robot, out: str | Path, *, overwrite: bool = False, progress: Progress = nullcontext) -> str:
    """Write the page of ``html`` to a file; it is returned, too."""
    require_place(Path(out), overwrite)
    text = html(robot, progress=progress)
    write_text(Path(out), text)
    return text


def require_place(out: Path, overwrite: bool) -> None:
    """Told before the work, not after."""
    if out.is_dir():
        raise LinkworkError("this is a folder", where=str(out), fix="give the name of a file, such as report.html")
    if out.exists() and not overwrite:
        raise LinkworkError(
            "the file exists",
            where=str(out),
            fix=f"choose another name, or replace it with {at_door('overwrite=True', '--force')}",
        )
    if not out.parent.is_dir():
        raise LinkworkError("there is no such folder", where=str(out.parent), fix="make it, or choose another")


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
