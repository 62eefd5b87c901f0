"""``linkwork compare``: all methods of a quantity; ``linkwork cite``: their references."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import inspection
from ..inspection.comparison import WITH_METHODS
from ..inspection.speed import describe_host
from ..inspection.tables import comparison
from .common import METHOD_NAMES, Json, Source, among, option, takes_robot
from .printing import print_json, progress, say, show


@takes_robot
def compare(
    source: Source,
    quantity: Annotated[
        str | None,
        option("QUANTITY", f"One of {', '.join(WITH_METHODS)}. Default: all.", autocompletion=among(WITH_METHODS)),
    ] = None,
    json: Json = False,
) -> None:
    """Compare all methods that work for this robot: operations, speed, agreement.

    Columns. Printed: operations in the paper's table for as many revolute joints. Written: operations that the
    published algorithm executes for this robot, without those of constants and structural zeros. Compiled: operations
    of the final program. State: time per state in a batch, in ns. Apart: the largest relative deviation from the
    results of other methods, over random states. `linkwork cite METHOD` prints the reference.

    \b
    linkwork compare puma560
    linkwork compare stanford --quantity inertia_matrix
    """
    robot = source.load()
    facts = inspection.compare(robot, quantity, progress=progress)
    if json:
        print_json(facts)
        return
    for name, methods in facts["quantities"].items():
        show(comparison(f"{robot.name}: {name}", methods))
    say(describe_host(), "dim")


def cite(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="A method by name, such as lin-1991.", autocompletion=among(METHOD_NAMES)
        ),
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
