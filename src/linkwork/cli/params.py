"""``linkwork params``: the base parameters, the fewest that determine all joint forces."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from .. import inspection
from ..parameters import BaseParameters
from ..table import Table
from .common import Json, Source, flag, option, takes_robot
from .printing import print_json, progress, say, show


@takes_robot
def params(
    source: Source,
    kind: Annotated[
        str, option("KIND", "khalil: grouping of Gautier and Khalil. lin: linear combinations of Lin.")
    ] = "khalil",
    drives: Annotated[
        str,
        option(
            "WHICH",
            "Rotor and friction parameters to include: all, even if zero; none; or names, such as IA,FS,FV,F0."
            " Default: those that are not zero.",
        ),
    ] = "",
    numbers: Annotated[bool, flag("--numbers", "Print lengths and angles as numbers instead of symbols.")] = False,
    json: Json = False,
) -> None:
    """Show the base parameters (minimal inertial parameters) as combinations of the standard ones.

    \b
    linkwork params puma560
    linkwork params stanford --kind lin --numbers
    linkwork params ur5e --drives all
    """
    robot, included = source.load(), {"": None, "all": True, "none": False}.get(drives, drives.split(","))
    with progress("computing the rank of the regressor"):
        facts = inspection.params(robot, kind, included)
    if json:
        print_json(facts)
        return
    model, base = robot.model, robot.base_parameters(kind, included)
    show(replace(base.as_table(numbers), title=f"{model.name}: base parameters ({kind})"))
    statuses = ("alone", "grouped", "no effect")
    of_body = [
        [i, body.name, body.joint.name, *(_listed(base, i, status) for status in statuses)]
        for i, body in enumerate(model.bodies, 1)
    ]
    of_body += [
        [None, None, motor.name, *(_listed(base, 0, status, motor.name) for status in statuses)]
        for each in model.transmissions
        for motor in each.motors
    ]
    show(Table("Standard parameters", ["", "body", "joint or motor", *statuses], of_body))
    count, every = len(base), len(base.standard)
    agrees = "the same" if base.rank == count else f"NOT the same: {base.rank}"
    say(f"{count} base parameters of {every} standard ones. Rank of the regressor at random states: {agrees}.")
    if model.constrained or model.has_mimic or model.transmissions:
        say(
            "Loops, mimic joints and transmissions reduce them further, numerically: other combinations are possible.",
            "dim",
        )
    if base.ambiguity:
        say(f"Ambiguous: {base.ambiguity}.", "yellow")
    say("Parameters and symbols are those of the frames that `linkwork mdh` shows.", "dim")


def _listed(base: BaseParameters, body: int, status: str, motor: str = "") -> str | None:
    rows = zip(base.standard, base.table, strict=True)
    names = (name for each, (name, how, _) in rows if (each.body, each.motor, how) == (body, motor, status))
    return " ".join(names) or None
