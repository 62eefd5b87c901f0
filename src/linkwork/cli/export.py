"""``linkwork export``: a quantity as source code to take away."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..codegen.sources.c_project import write_c
from ..codegen.sources.casadi_source import to_casadi
from ..codegen.sources.listing import name_of, refuse_existing
from ..codegen.sources.numpy_source import write_numpy
from ..errors import LinkworkError, UnknownNameError
from ..files import write_bytes, write_text
from ..function import Function
from ..inspection.states import random_states
from ..robot import Robot
from .common import Json, Source, among, method_option, print_json, progress, quantity_option, say, takes_robot

DERIVATIVES = ("derivative", "vjp", "jvp", "hessian", "hvp")
CANDIDATES = 50  # states for the test of the C code, of which it takes a few


@dataclass(frozen=True)
class Request:
    """What to write, and where: a folder, a file, or wherever the language puts it."""

    robot: Robot
    function: Function
    name: str
    output: Path | None
    overwrite: bool

    def file(self, suffix: str) -> Path:
        """The file asked for; in a folder, or where nothing is asked for, it is named after the function."""
        if self.output is None or self.output.is_dir():
            return (self.output or Path()) / f"{self.name}{suffix}"
        return self.output


def _c(request: Request) -> list[Path]:
    states = random_states(request.robot, CANDIDATES)
    inputs = {port.name for port in request.function.program.inputs}
    given = {name: array for name, array in states.items() if name in inputs}
    folder = request.output or Path(request.name)
    return write_c(request.function, folder, name=request.name, states=given, overwrite=request.overwrite)


def _numpy(request: Request) -> list[Path]:
    file = request.file(".py")
    write_numpy(request.function, file, name=request.name, overwrite=request.overwrite)
    return [file]


def _casadi(request: Request) -> list[Path]:
    file = request.file(".casadi")
    refuse_existing([file], request.overwrite)
    function = to_casadi(request.function, request.name)
    with tempfile.TemporaryDirectory() as folder:
        function.save(f"{folder}/function")
        write_bytes(file, Path(folder, "function").read_bytes())
    return [file]


@dataclass(frozen=True)
class Language:
    write: Callable[[Request], list[Path]]
    then: str  # what to do with the files


def _latex(request: Request) -> list[Path]:
    file = request.file(".tex")
    refuse_existing([file], request.overwrite)
    write_text(file, request.function.to_latex())
    return [file]


LANGUAGES = {
    "c": Language(
        _c, "build and test:\n  cmake -S {folder} -B {folder}/build\n  cmake --build {folder}/build\n"
        "  ctest --test-dir {folder}/build",
    ),
    "numpy": Language(_numpy, "use it: from {stem} import {name}"),
    "casadi": Language(_casadi, 'use it: casadi.Function.load("{file}")'),
    "latex": Language(_latex, "use it: \\input{{{file}}}, with \\usepackage{{amsmath}}"),
}  # fmt: skip


@takes_robot
def export(
    source: Source,
    quantity: Annotated[
        str, quantity_option("What to compute; `linkwork eval --help` lists them.")
    ] = "inverse_dynamics",
    language: Annotated[
        str, typer.Option(metavar="LANGUAGE", help=f"One of: {', '.join(LANGUAGES)}.", autocompletion=among(LANGUAGES))
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

    c: C99 without allocation, with a test of its own and a CMake file. numpy: a Python file that needs NumPy alone and
    takes batches. casadi: a file that casadi.Function.load reads, and CasADi differentiates (needs casadi installed).

    \b
    linkwork export panda --language c
    linkwork export quadruped --quantity forward_dynamics --language numpy --output quadruped.py
    linkwork export ur5e --quantity pose --frame tool0 --dtype float32 --output ur5e_pose
    linkwork export ur5e --payload tool0 --wrenches tool0 --parameters input
    linkwork export panda --quantity forward_dynamics --derivative vjp --by q,v
    linkwork export quadruped --quantity forward_dynamics_derivatives --packed
    """
    if language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES, where="--language")
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
        files = LANGUAGES[language].write(Request(robot, function, name, output, force))
    if json:
        print_json(
            {"function": name, "files": [str(file) for file in files], "signature": function.signature,
             "method": function.label.method, "operations": asdict(function.operations)}
        )  # fmt: skip
        return
    say(f"wrote {', '.join(map(str, files))}")
    say(f"{name}: {function.signature}; {function.operations}")
    first = files[0]
    say(LANGUAGES[language].then.format(folder=first.parent, file=first, stem=first.stem, name=name))
