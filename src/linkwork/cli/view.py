"""``linkwork view``: the robot on a web page."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ..sim import Trajectory
from ..view import show
from .common import Source, progress, say, takes_robot


@takes_robot
def view(
    source: Source,
    trajectory: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A saved trajectory to play; more than one is overlaid. May be repeated."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to serve on; 0.0.0.0 lets in other machines that know the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8080,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:
    """Show the robot on a web page: move it, push it, see its torques, play trajectories. Ctrl-C ends it.

    \b
    linkwork view panda
    linkwork view my_robot.urdf --trajectory run.npz --trajectory other.npz
    """
    with progress("loading, compiling and drawing"):
        robot = source.load()
        trajectories = {str(path): Trajectory.load(path) for path in trajectory or ()}
        allow = source.options["outside"]
        page = show(robot, trajectories, visuals=source.name, allow_external_files=allow, host=host, port=port)
    say(f"serving {robot.name} (Ctrl-C to stop) at")
    print(page.url, flush=True)  # in one piece, however narrow the terminal
    if not no_open:
        webbrowser.open(page.url)
    try:
        threading.Event().wait()
    finally:
        page.stop()
