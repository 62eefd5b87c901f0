"""``linkwork mdh``: the modified Denavit-Hartenberg table of a robot, in the frames that its dynamics uses."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import UnknownNameError
from ..inspection.frames import FORMATS, mdh_tables
from .common import Source, among, show, takes_robot


def _formats(incomplete: str) -> list[str]:
    return among(FORMATS)(incomplete)


@takes_robot
def mdh(
    source: Source,
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="markdown, latex or yaml; default: tables.", autocompletion=_formats),
    ] = None,
) -> None:
    """Show the modified Denavit-Hartenberg table of a robot, and where its frames sit in the links' own.

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
