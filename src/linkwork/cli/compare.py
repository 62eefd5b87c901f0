"""``linkwork compare``: all methods of a quantity side by side; ``linkwork cite``: their references."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import inspection
from ..inspection.comparison import WITH_METHODS
from ..inspection.speed import describe_host
from ..inspection.tables import comparison
from .common import METHOD_NAMES, Json, Source, among, print_json, progress, say, show, takes_robot


@takes_robot
def compare(
    source: Source,
    quantity: Annotated[
        str | None,
        typer.Option(
            metavar="QUANTITY",
            help=f"One of {', '.join(WITH_METHODS)}; default: all.",
            autocompletion=among(WITH_METHODS),
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put all methods that work for this robot side by side: operations, speed, agreement.

    Printed: what a paper's table has for this many rotary joints. Written: what the method as it is written executes
    for this robot, constants off line and structural zeros free. Compiled: what is left in the final program. Apart:
    the largest deviation from any other method, relative, over random states. `linkwork cite` has the references.

    \b
    linkwork compare puma560
    linkwork compare stanford --quantity inertia_matrix
    """
    robot = source.load()
    found = inspection.compare(robot, quantity, progress=progress)
    if json:
        print_json(found)
        return
    for name, methods in found["quantities"].items():
        show(comparison(f"{robot.name}: {name}", methods))
    say(describe_host(), "dim")


def cite(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="Such as lin-1991.", autocompletion=among(METHOD_NAMES))
    ],
    json: Json = False,
) -> None:
    """Print the reference of a method as BibTeX.

    \b
    linkwork cite crba
    """
    entries = inspection.cite(method)
    if json:
        print_json(entries)
    else:
        print("\n\n".join(entries.values()))
