"""``linkwork check`` and ``linkwork convert``: robot files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import inspection, io
from ..table import Table
from .common import Json, Source, print_json, say, show, takes_robot

MOST_ROWS = 100  # findings shown in a table


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A URDF, MJCF or YAML file, or a bundled robot by name.")],
    structure: Annotated[
        str | None, typer.Option(metavar="FILE", help="YAML with loops and roles of joints beside it.")
    ] = None,
    values: Annotated[
        str | None, typer.Option(metavar="FILE", help="YAML or JSON with other numbers of the robot.")
    ] = None,
    outside: Annotated[bool, typer.Option("--outside", help="Let it take files from outside its folder.")] = False,
    json: Json = False,
) -> None:
    """Say what is wrong or suspicious in a robot file. Exit code 1 if there are errors, 0 if only warnings.

    \b
    linkwork check my_robot.urdf
    linkwork check my_robot.urdf --values identified.yaml
    """
    found = inspection.check(file, structure, parameters=values, outside=outside)
    errors, warnings, findings = found["errors"], found["warnings"], found["findings"]
    if json:
        print_json(found)
    elif findings:
        rows = [
            [f["level"], f["where"].removeprefix(f"{file}: "), f["message"], f["fix"] or None]
            for f in findings[:MOST_ROWS]
        ]
        more = len(findings) - MOST_ROWS
        notes = [f"and {more} more: --json has all of them"] if more > 0 else []
        show(Table(file, ["level", "where", "what", "fix"], rows, notes))
        say(f"{_some(errors, 'error')}, {_some(warnings, 'warning')}: it {'does not load' if errors else 'loads'}.")
    else:
        say(f"{file} is clean: no errors, no warnings.")
    if errors:
        raise typer.Exit(1)


def _some(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


@takes_robot
def convert(
    source: Source,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: .urdf, .yaml or .yml.")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    json: Json = False,
) -> None:
    """Write a robot as URDF or YAML, and confirm that the file has the same inverse dynamics.

    \b
    linkwork convert my_robot.urdf my_robot.yaml
    linkwork convert panda panda.urdf --lock panda_joint7=0
    """
    robot = source.load()
    described = io.read(source.name, source.options["structure"], allow_external_files=source.options["outside"])
    found = inspection.convert(robot, out, overwrite=force, file=source.name, description=described)
    if json:
        print_json(found)
        return
    say(f"wrote {' and '.join(found['files'])}: {len(found['joints'])} joints")
    say(f"read back: torques and poses agree at 100 random states, relative deviation {found['deviation']:.1e}")
    for what in found["dropped"]:
        say(f"not in the file: {what}")
