"""``linkwork count``: operations of compiled programs."""

from __future__ import annotations

from typing import Annotated, Any

from .. import inspection
from ..errors import LinkworkError
from ..inspection.counts import count_tables, derivative_tables, pass_tables
from .common import Inputs, Json, Source, flag, method_option, option, quantity_option, takes_robot
from .printing import print_json, progress, show


@takes_robot
def count(
    source: Source,
    quantity: Annotated[
        list[str] | None,
        quantity_option(
            "Only this quantity, e.g. inverse_dynamics. Default: all. Repeated: each alone, and all in one program;"
            " pose:hand is the pose of the frame hand."
        ),
    ] = None,
    method: Annotated[str | None, method_option("Only this method, e.g. rnea or aba. Default: all.")] = None,
    frame: Annotated[
        str | None, option("FRAME", "Frame of pose and Jacobians. Default: the robot's last frame.")
    ] = None,
    parameters: Annotated[
        str,
        option(
            "HOW",
            "Inertial parameters. minimal: grouped into base parameters. standard: not grouped.",
        ),
    ] = "minimal",
    passes: Annotated[
        bool,
        flag(
            "--passes",
            "Show what each compiler pass saves. Default: only inverse and forward dynamics and inertia matrix.",
        ),
    ] = False,
    derivatives: Annotated[
        bool, flag("--derivatives", "Count derivatives instead. Default quantities: the dynamics.")
    ] = False,
    inputs: Inputs = None,
    json: Json = False,
) -> None:
    """Count the operations that each quantity takes for this robot, by each method.

    \b
    linkwork count panda
    linkwork count rx90 --passes
    linkwork count panda --quantity forward_dynamics --derivatives
    linkwork count panda --quantity inertia_matrix --quantity bias
    linkwork count puma560 --quantity forward_dynamics --method aba --inputs parameters
    linkwork count panda --quantity inverse_dynamics --inputs payload:panda_link8 --inputs gravity
    """
    if passes and derivatives:
        raise LinkworkError("choose one of these tables", got="--passes and --derivatives", fix="leave one of them out")
    robot, count_rows, tables = source.load(), inspection.count, count_tables
    if passes:
        count_rows, tables = inspection.passes, pass_tables
    elif derivatives:
        count_rows, tables = inspection.derivatives, derivative_tables
    several = quantity if quantity and len(quantity) > 1 else None
    if several and (passes or derivatives):
        got = ", ".join(several)
        raise LinkworkError("--passes and --derivatives take one quantity", got=got, fix="leave one --quantity")
    with progress("tracing"):
        request: Any = several or (quantity[0] if quantity else None)
        facts = count_rows(robot, request, method, frame=frame, parameters=parameters, inputs=inputs or ())
    if json:
        print_json(facts)
    else:
        for table in tables(facts):
            show(table)
