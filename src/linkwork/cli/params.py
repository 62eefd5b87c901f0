"""``linkwork params``: the fewest parameters that tell all joint forces."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..parameters import BaseParameters, base_parameters
from .common import Json, Source, print_json, progress, say, show, takes_robot


@takes_robot
def params(
    source: Source,
    kind: Annotated[
        str,
        typer.Option(metavar="KIND", help="khalil: base parameters of Gautier and Khalil. lin: Lin's combinations."),
    ] = "khalil",
    drives: Annotated[
        str,
        typer.Option(
            metavar="WHICH",
            help="Rotors and friction that count: all, also where they are zero; none; or names, as IA,FS,FV,F0."
            " Default: those that are not zero.",
        ),
    ] = "",
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Lengths and angles as numbers instead of symbols.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the minimal inertia parameters: combinations of the standard ones, and which of these act.

    \b
    linkwork params puma560
    linkwork params stanford --kind lin --numbers
    linkwork params ur5e --drives all
    """
    model = source.load().model
    base = base_parameters(model, kind, {"": None, "all": True, "none": False}.get(drives, drives.split(",")))
    with progress("counting the rank of the regressor"):
        facts = _facts(base)
    if json:
        print_json(facts)
        return
    written = base.numeric_formulas if numbers else base.written
    rows = [[name, float(value), written[name]] for name, value in zip(base.names, base.values, strict=True)]
    show(f"{model.name}: base parameters ({kind})", ["parameter", "value\nSI", "combination"], rows)
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
    show("Standard parameters", ["", "body", "joint or motor", *statuses], of_body)
    count, every = len(base), len(base.standard)
    agrees = "the same" if base.rank == count else f"NOT the same: {base.rank}"
    say(f"{count} base parameters of {every} standard ones. Rank of the regressor at random states: {agrees}.")
    if model.loops or model.has_mimic or model.transmissions:
        say(
            "Loops, mimic joints and transmissions reduce them further, by numbers: other combinations may do as well.",
            "dim",
        )
    if base.ambiguity:
        say(f"Ambiguous: {base.ambiguity}.", "yellow")
    say("Parameters and symbols are those of the frames that `linkwork mdh` shows.", "dim")


def _facts(base: BaseParameters) -> dict[str, Any]:
    """All there is to know, ready for JSON."""
    return {
        "robot": base.model.name,
        "kind": base.kind,
        "count": len(base),
        "standard_count": len(base.standard),
        "rank": base.rank,
        "ambiguity": base.ambiguity,
        "parameters": [
            {
                "name": name,
                "value": float(value),
                "formula": base.formulas.get(name),
                "combination": base.combinations[name],
            }
            for name, value in zip(base.names, base.values, strict=True)
        ],
        "standard": [
            {"name": name, "value": float(value), "status": status, "in": list(found)}
            for (name, status, found), value in zip(base.table, base.standard_values, strict=True)
        ],
    }


def _listed(base: BaseParameters, body: int, status: str, motor: str = "") -> str | None:
    rows = zip(base.standard, base.table, strict=True)
    own = (name for each, (name, how, _) in rows if (each.body, each.motor, how) == (body, motor, status))
    return " ".join(own) or None
