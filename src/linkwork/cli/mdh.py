"""``linkwork mdh``: the modified Denavit-Hartenberg table of a robot, in the frames that its dynamics uses."""

from __future__ import annotations

from typing import Annotated

import typer

from ..about.frames import FORMATS, HEADERS, SEATED, SEATS, seats, table
from ..errors import UnknownNameError
from .common import Source, among, say, show, takes_robot


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
    show(f"{model.name}: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)", HEADERS, table(model))
    show(SEATED, SEATS, seats(model))
    kinds = "0 revolute, 1 prismatic" + (", else the kind" if any(row[3].isalpha() for row in table(model)) else "")
    say(f"Lengths in m, angles in rad. sigma: {kinds}. z of a frame is the axis of its joint.", "dim")
    for joint in (body.joint for body in model.bodies if body.joint.kind.modes):
        say(
            f"{joint.name} leads on by the length of its link, {joint.kind.material.length:g} m, and by its bending.",
            "dim",
        )
    if any(not row[0] for row in table(model)):
        say("A row without a number leads on from the one above: the axes are almost parallel.", "dim")
