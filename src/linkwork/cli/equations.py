"""``linkwork equations``: a robot's quantities in symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UnknownNameError
from ..files import write_text
from ..formulations import QUANTITIES
from ..symbolic import symbolic
from ..targets import find, names
from ..targets.listing import refuse_existing
from .common import Source, among, method_option, progress, quantity_option, say, takes_robot

FORMATS = names("write", "equations")


@takes_robot
def equations(
    source: Source,
    quantity: Annotated[str, quantity_option("What to write down.")] = "inverse_dynamics",
    method: Annotated[str, method_option("By which method, e.g. khalil.")] = "auto",
    frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="For pose and Jacobians; default: the robot's last frame.")
    ] = None,
    axes: Annotated[str, typer.Option(metavar="AXES", help="world or local, for Jacobians.")] = "world",
    parameters: Annotated[
        str,
        typer.Option(metavar="HOW", help="minimal: inertias grouped into the fewest that act; or standard."),
    ] = "minimal",
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"One of: {', '.join(FORMATS)}.", autocompletion=among(FORMATS))
    ] = "text",
    numbers: Annotated[bool, typer.Option("--numbers", help="Put the numbers in place of the constants.")] = False,
    expand: Annotated[
        bool, typer.Option("--expand", help="No intermediate results but sines and cosines; for small robots.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Print the equations of a quantity of this very robot, step by step, in the letters of the papers.

    \b
    linkwork equations planar2r --quantity inertia_matrix --expand
    linkwork equations rx90 --method khalil --format latex --output rx90.tex
    """
    if format not in FORMATS:
        raise UnknownNameError("format", format, FORMATS)
    write = find(format).load("write")
    refuse_existing([output] if output else [], force)
    robot = source.load()
    if frame is None and quantity in QUANTITIES and QUANTITIES[quantity].of_frame:
        frame = robot.frame_names[-1]
    kept = not numbers
    with progress("tracing"):
        model = symbolic(
            robot, quantity, method=method, frame=frame, axes=axes, parameters=parameters, expand=expand,
            geometry=kept, inertias=kept, friction=kept, gravity=kept,
        )  # fmt: skip
        text = write(model)
    if output is None:
        print(text, end="")
        return
    write_text(output, text)
    say(f"wrote {output}: {len(model.equations)} equations")
