"""``linkwork check`` and ``linkwork convert``: robot files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import inspection, io
from ..errors import counted
from ..table import Table
from .common import EXTERNAL, PARAMETERS, STRUCTURE, Json, Overwrite, Source, takes_robot
from .printing import print_json, say, show

MOST_ROWS = 100  # findings shown in a table


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A URDF, MJCF or YAML file, or a bundled robot by name.")],
    structure: Annotated[str | None, STRUCTURE] = None,
    with_parameters: Annotated[str | None, PARAMETERS] = None,
    allow_external_files: Annotated[bool, EXTERNAL] = False,
    json: Json = False,
) -> None:
    """Report errors and warnings in a robot file. Errors stop loading. The exit code is 1 if there are errors, else 0.

    \b
    linkwork check my_robot.urdf
    linkwork check my_robot.urdf --with-parameters identified.yaml
    """
    facts = inspection.check(
        file, structure, with_parameters=with_parameters, allow_external_files=allow_external_files
    )
    errors, warnings, findings = facts["errors"], facts["warnings"], facts["findings"]
    if json:
        print_json(facts)
    elif findings:
        rows = [
            [f["level"], f["where"].removeprefix(f"{file}: "), f["message"], f["fix"] or None]
            for f in findings[:MOST_ROWS]
        ]
        more = len(findings) - MOST_ROWS
        notes = [f"and {more} more: --json lists all of them"] if more > 0 else []
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
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file to write: .urdf, .yaml or .yml.")],
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write a robot as URDF or YAML, read the file back, and check that its inverse dynamics is the same.

    \b
    linkwork convert my_robot.urdf my_robot.yaml
    linkwork convert panda panda.urdf --lock panda_joint7=0
    """
    robot = source.load()
    original = io.read(
        source.name, source.options["structure"], allow_external_files=source.options["allow_external_files"]
    )
    facts = inspection.convert(robot, path, overwrite=overwrite, file=source.name, description=original)
    if json:
        print_json(facts)
        return
    say(f"wrote {' and '.join(facts['files'])}: {counted(len(facts['joints']), 'joint')}")
    say(f"read back: torques and poses agree at 100 random states, relative deviation {facts['deviation']:.1e}")
    for what in facts["dropped"]:
        say(f"not in the file: {what}")
