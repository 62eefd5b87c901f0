"""``linkwork equations``: a robot's quantities in symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..errors import UnknownNameError
from ..files import write_text
from ..formulations import QUANTITIES
from ..symbolic import symbolic
from ..targets import find, names
from ..targets.listing import refuse_existing
from .common import Overwrite, Source, among, flag, method_option, option, quantity_option, takes_robot
from .printing import progress, say

FORMATS = names("write", "equations")


@takes_robot
def equations(
    source: Source,
    quantity: Annotated[
        str, quantity_option("The quantity to print; `linkwork eval --help` lists them.")
    ] = "inverse_dynamics",
    method: Annotated[
        str, method_option("Method by name, e.g. khalil; auto: the one with the fewest operations.")
    ] = "auto",
    frame: Annotated[
        str | None, option("FRAME", "Frame of pose and Jacobians. Default: the robot's last frame.")
    ] = None,
    axes: Annotated[str, option("AXES", "Axes of Jacobians: world or local.")] = "world",
    parameters: Annotated[
        str, option("HOW", "Inertial parameters: minimal (base parameters) or standard.")
    ] = "minimal",
    format: Annotated[str, option("FORMAT", f"One of: {', '.join(FORMATS)}.", autocompletion=among(FORMATS))] = "text",
    numbers: Annotated[bool, flag("--numbers", "Print numbers instead of symbols for the robot's constants.")] = False,
    expand: Annotated[
        bool, flag("--expand", "Expand all intermediate results but sines and cosines; for small robots.")
    ] = False,
    output: Annotated[Path | None, option("FILE", "File to write. Default: printed.", "--output", "-o")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Print the equations of a quantity of this robot, step by step, in the symbols of the papers.

    \b
    linkwork equations planar2r --quantity inertia_matrix --expand
    linkwork equations rx90 --method khalil --format latex --output rx90.tex
    """
    if format not in FORMATS:
        raise UnknownNameError("format", format, FORMATS)
    write = find(format).load("write")
    refuse_existing([output] if output else [], overwrite)
    robot = source.load()
    if frame is None and quantity in QUANTITIES and QUANTITIES[quantity].of_frame:
        frame = robot.frame_names[-1]
    symbols = not numbers
    with progress("tracing"):
        model = symbolic(
            robot, quantity, method=method, frame=frame, axes=axes, parameters=parameters, expand=expand,
            geometry=symbols, inertias=symbols, friction=symbols, gravity=symbols,
        )  # fmt: skip
        text = write(model)
    if output is None:
        print(text, end="")
        return
    write_text(output, text)
    say(f"wrote {output}: {len(model.equations)} equations")
