"""``linkwork count``: operations of compiled programs."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import inspection
from ..errors import LinkworkError
from ..inspection.counts import count_tables, derivative_tables, pass_tables
from .common import Json, Source, method_option, print_json, progress, quantity_option, show, takes_robot


@takes_robot
def count(
    source: Source,
    quantity: Annotated[str | None, quantity_option("Only this one, e.g. inverse_dynamics; default: all.")] = None,
    method: Annotated[str | None, method_option("Only this method, e.g. rnea or aba.")] = None,
    frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="For pose and Jacobians; default: the robot's last frame.")
    ] = None,
    parameters: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="minimal: inertias grouped into the fewest that act. standard: as they are. input: as inputs of the"
            " function, with the off-line work told apart.",
        ),
    ] = "minimal",
    passes: Annotated[
        bool, typer.Option("--passes", help="What each pass saves, alone and in turn; default: of the dynamics.")
    ] = False,
    derivatives: Annotated[
        bool, typer.Option("--derivatives", help="Of derivatives, beside published forms; default: of the dynamics.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the operations that each quantity takes for this very robot, by each method.

    \b
    linkwork count panda
    linkwork count rx90 --passes
    linkwork count panda --quantity forward_dynamics --derivatives
    linkwork count puma560 --quantity forward_dynamics --method aba --parameters input
    """
    if passes and derivatives:
        raise LinkworkError("one table at a time", got="--passes and --derivatives", fix="leave one of them out")
    robot, how = source.load(), {"frame": frame, "parameters": parameters}
    counted = inspection.passes if passes else inspection.derivatives if derivatives else inspection.count
    with progress("tracing"):
        found = counted(robot, quantity, method, **how)
    if json:
        print_json(found)
    else:
        tables = pass_tables if passes else derivative_tables if derivatives else count_tables
        for table in tables(found):
            show(table)
