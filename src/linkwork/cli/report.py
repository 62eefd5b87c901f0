"""``linkwork report``: all about a robot on one page."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import LinkworkError
from ..files import write_text
from ..model import Model
from ..report import Motion, sample_motion
from ..report.page import Safe, page
from ..robot import Robot
from . import report_sections as sections
from .bench import describe_host
from .common import Source, progress, say, takes_robot
from .robots import structure


@takes_robot
def report(
    source: Source,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")] = Path("report.html"),
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Write all about a robot as one page: picture, frames, parameters, methods, torques, a simulated motion.

    The page needs no network and no script; it reads well on a screen, on a phone and on paper.

    \b
    linkwork report stanford -o stanford.html
    linkwork report my_robot.urdf --base floating
    """
    _require_place(out, force)
    start = time.perf_counter()
    robot = source.load()
    if not robot.nv:
        raise LinkworkError("this robot does not move, so there is nothing to report", where=source.name)
    with progress("moving the robot"):
        motion = sample_motion(robot)
    makers: dict[str, Callable[[Robot, Motion], Safe]] = {
        "Picture": sections.picture,
        "Frames": sections.frames,
        "Parameters": sections.parameters,
        "Methods compared": sections.methods,
        "Torques of a sample motion": sections.torques,
        "Simulation": sections.simulation,
    }
    made = {}
    for title, make in makers.items():
        with nullcontext() if make is sections.methods else progress(title.lower()):  # which tells method by method
            made[title] = make(robot, motion)
    foot = f"linkwork {__version__}, {date.today().isoformat()}. Times on {describe_host()}."
    text = page(robot.name, robot.model.summary, _facts(robot.model), made, foot)
    write_text(out, text)
    took = time.perf_counter() - start
    say(f"wrote {out}: {', '.join(made).lower()}; {len(text) / 1e3:.0f} kB in {took:.0f} s")


def _require_place(out: Path, force: bool) -> None:
    """Told before the work, not after."""
    if out.is_dir():
        raise LinkworkError("this is a folder", where=str(out), fix="give the name of a file, such as report.html")
    if out.exists() and not force:
        raise LinkworkError("the file exists", where=str(out), fix="choose another name, or replace it with --force")
    if not out.parent.is_dir():
        raise LinkworkError("there is no such folder", where=str(out.parent), fix="make it, or choose another")


def _facts(model: Model) -> dict[str, Any]:
    mass = sum(body.inertia.mass for body in model.bodies)
    return {
        "structure": structure(model),
        "joints": len(model.position_names),
        "freedoms": model.nv,
        "motors": len(model.mobility.motors),
        "moving mass": f"{mass:.4g} kg",
        "gravity": f"({', '.join(f'{g:g}' for g in model.gravity)}) m/s²",
    }
