"""``linkwork export``: a quantity as source code to take away."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..errors import LinkworkError, UnknownNameError
from ..inspection.states import random_states
from ..targets import find, names
from ..targets.listing import name_of
from .common import Json, Source, among, method_option, print_json, progress, quantity_option, say, takes_robot

DERIVATIVES = ("derivative", "vjp", "jvp", "hessian", "hvp")
CANDIDATES = 50  # states for the test of the C code, of which it takes a few


LANGUAGES = names("write")


@takes_robot
def export(
    source: Source,
    quantity: Annotated[
        str, quantity_option("What to compute; `linkwork eval --help` lists them.")
    ] = "inverse_dynamics",
    language: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            help=" ".join(f"{name}: {find(name).summary}" for name in LANGUAGES),
            autocompletion=among(LANGUAGES),
        ),
    ] = "c",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A folder for C, else a file or a folder; default: named after robot and quantity, here.",
        ),
    ] = None,
    method: Annotated[str, method_option()] = "auto",
    frame: Annotated[str | None, typer.Option(metavar="FRAME", help="For poses and Jacobians.")] = None,
    axes: Annotated[str, typer.Option(metavar="AXES", help="world or local, for Jacobians.")] = "world",
    parameters: Annotated[
        str, typer.Option(metavar="HOW", help="minimal or standard, baked in; or input: as an input.")
    ] = "minimal",
    payload: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Adds an input: a body that this frame carries.")
    ] = None,
    wrenches: Annotated[
        list[str] | None,
        typer.Option(metavar="FRAME", help="Adds an input: forces and moments on this frame; may be repeated."),
    ] = None,
    derivative: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help=f"Its derivative instead: {', '.join(DERIVATIVES)}.",
            autocompletion=among(DERIVATIVES),
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Inputs of the derivative, e.g. q,v; default: the state.")
    ] = None,
    packed: Annotated[
        bool, typer.Option("--packed", help="Of each result the distinct entries that are no constants.")
    ] = False,
    dtype: Annotated[str, typer.Option(metavar="TYPE", help="float64 or float32.")] = "float64",
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of the function.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    json: Json = False,
) -> None:
    """Write a quantity of this robot as source code that needs linkwork no more.

    \b
    linkwork export panda --language c
    linkwork export quadruped --quantity forward_dynamics --language numpy --output quadruped.py
    linkwork export ur5e --quantity pose --frame tool0 --dtype float32 --output ur5e_pose
    linkwork export ur5e --payload tool0 --wrenches tool0 --parameters input
    linkwork export panda --quantity forward_dynamics --derivative vjp --by q,v
    linkwork export quadruped --quantity forward_dynamics_derivatives --packed
    """
    target = find(language, "write", where="--language")
    if derivative is not None and derivative not in DERIVATIVES:
        raise UnknownNameError("derivative", derivative, DERIVATIVES, where="--derivative")
    if by is not None and derivative is None:
        raise LinkworkError("only a derivative is by something", got=f"--by {by}", fix="say which, --derivative vjp")
    robot = source.load()
    with progress("tracing and writing"):
        function = robot.compile(
            quantity, method=method, frame=frame, axes=axes, parameters=parameters, payload=payload,
            wrenches=wrenches or (), dtype=dtype,
        )  # fmt: skip
        if derivative is not None:
            function = getattr(function, derivative)(by and tuple(by.split(",")))
        if packed:
            function = function.packed()
        name = name_of(function, name)
        options = {}
        if "states" in target.options:  # of a test that is written along
            inputs = {port.name for port in function.program.inputs}
            states = random_states(robot, CANDIDATES)
            options["states"] = {each: array for each, array in states.items() if each in inputs}
        files = function.export(language, output, name=name, overwrite=force, **options)
    if json:
        print_json(
            {"function": name, "files": [str(file) for file in files], "signature": function.signature,
             "method": function.label.method, "operations": asdict(function.operations)}
        )  # fmt: skip
        return
    say(f"wrote {', '.join(map(str, files))}")
    say(f"{name}: {function.signature}; {function.operations}")
    if target.usage:
        first = files[0]
        say(target.usage.format(folder=first.parent, file=first, stem=first.stem, name=name))
