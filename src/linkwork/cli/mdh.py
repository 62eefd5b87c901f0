"""``linkwork mdh``: the modified Denavit-Hartenberg table of a robot, in the frames that its dynamics uses."""

from __future__ import annotations

from typing import Annotated

from ..errors import UnknownNameError
from ..inspection.frames import FORMATS, mdh_tables
from .common import Source, among, option, takes_robot
from .printing import show


@takes_robot
def mdh(
    source: Source,
    format: Annotated[
        str | None,
        option(
            "FORMAT",
            "markdown, latex or yaml (a robot file). Default: tables for the terminal.",
            autocompletion=among(FORMATS),
        ),
    ] = None,
) -> None:
    """Show the modified Denavit-Hartenberg table of a robot, and the pose of each of its frames in its link's frame.

    Lengths in m, angles in rad.

    \b
    linkwork mdh panda
    linkwork mdh my_robot.urdf --format yaml > my_robot.yaml
    """
    if format not in (None, *FORMATS):
        raise UnknownNameError("format", str(format), FORMATS)
    model = source.load().model
    if format:
        print(FORMATS[format](model), end="")
        return
    for table in mdh_tables(model):
        show(table)
