"""``linkwork view``: the robot in a browser."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

from ..sim import Trajectory
from ..view import show
from .common import Source, flag, option, takes_robot
from .printing import progress, say


@takes_robot
def view(
    source: Source,
    trajectories: Annotated[
        list[Path] | None, option("FILE", "Saved trajectory to play. May be repeated: further ones are overlaid.")
    ] = None,
    host: Annotated[
        str,
        option(None, "Address to serve on. With 0.0.0.0, other machines can connect if they know the printed token."),
    ] = "127.0.0.1",
    port: Annotated[int, option(None, "Port to serve on; 0: any free port.", min=0, max=65535)] = 8080,
    no_open: Annotated[bool, flag("--no-open", "Do not open a browser.")] = False,
) -> None:
    """Show the robot in a browser: move it, push it, see its torques, play trajectories. Ctrl-C stops it.

    \b
    linkwork view panda
    linkwork view my_robot.urdf --trajectories run.npz --trajectories other.npz
    """
    with progress("loading, compiling and drawing"):
        robot = source.load()
        motions = {str(path): Trajectory.load(path) for path in trajectories or ()}
        allow = source.options["allow_external_files"]
        page = show(robot, motions, visuals=source.name, allow_external_files=allow, host=host, port=port)
    say(f"serving {robot.name} (Ctrl-C to stop) at")
    print(page.url, flush=True)  # in one piece, however narrow the terminal
    if not no_open:
        webbrowser.open(page.url)
    try:
        threading.Event().wait()
    finally:
        page.stop()
