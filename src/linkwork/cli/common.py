"""Options that commands share: the robot and how to load it, files, numbers."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import LinkworkError
from ..formulations import METHODS, QUANTITIES
from ..io import bundled_robots
from ..quoting import printable
from ..robot import Robot, load
from .printing import LINES

PICTURES = (".png", ".svg", ".pdf")
METHOD_NAMES = tuple(dict.fromkeys(method.name for method in METHODS))


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that completes a word to one of these names, for the shell."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def option(metavar: str | None, help: str, *names: str, **settings: Any) -> Any:
    """Declare an option with a value; its name is that of the parameter unless ``names`` are given."""
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def flag(name: str, help: str, **settings: Any) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=help, **settings)


def quantity_option(help: str) -> Any:
    return option("QUANTITY", help, autocompletion=among(QUANTITIES))


def method_option(help: str = "Method by name; auto: the one with the fewest operations.") -> Any:
    return option("METHOD", help, autocompletion=among(["auto", *METHOD_NAMES]))


Inputs = Annotated[
    list[str] | None,
    option("NAME", "Make numbers an input, e.g. gravity, friction:JOINT, payload:FRAME, geometry; may be repeated."),
]
Json = Annotated[bool, flag("--json", "Print JSON instead of tables.")]
Plot = Annotated[Path | None, option("FILE", "File for a picture: .png, .svg or .pdf.")]
Overwrite = Annotated[bool, flag("--overwrite", "Replace files that exist.")]


@dataclass(frozen=True)
class Source:
    """A robot as the command line names it: a bundled robot or a file, and how to load it."""

    name: str
    options: Mapping[str, Any]
    printed: set[str] = field(default_factory=set)  # warnings

    def load(self, **changes: Any) -> Robot:
        with printed_warnings(self.printed):
            return load(self.name, **{**self.options, **changes})


@contextmanager
def printed_warnings(printed: set[str]) -> Iterator[None]:
    """Print Python's warnings to stderr, except those already in ``printed``, and add them to it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(printable(warning.message, keep=LINES) for warning in caught):
        if message not in printed:
            print(f"warning: {message}", file=sys.stderr)
        printed.add(message)


LOADING = {"rich_help_panel": "Loading the robot"}
STRUCTURE = option(
    "FILE", "YAML side file of a URDF: closed loops, and which joints are active, passive or elastic.", **LOADING
)
PARAMETERS = option("FILE", "YAML or JSON file with other masses, inertias, friction or payload.", **LOADING)
EXTERNAL = flag(
    "--allow-external-files", "Allow an MJCF file to include files and meshes from outside its folder.", **LOADING
)


def _source(
    *,
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT",
            help="A bundled robot by name, or a URDF, MJCF or YAML file.",
            autocompletion=among(bundled_robots()),
        ),
    ],
    base: Annotated[str | None, option("KIND", "fixed or floating. Default: as in the file.", **LOADING)] = None,
    gravity: Annotated[
        str | None,
        option("X,Y,Z", "Gravity in m/s^2, in the base frame. Default: as in the file, or 0,0,-9.81.", **LOADING),
    ] = None,
    no_friction: Annotated[bool, flag("--no-friction", "Ignore friction and damping of the file.", **LOADING)] = False,
    no_rotors: Annotated[bool, flag("--no-rotors", "Ignore the rotor inertias of the file.", **LOADING)] = False,
    no_mimic: Annotated[bool, flag("--no-mimic", "Treat mimic joints as independent joints.", **LOADING)] = False,
    lock: Annotated[
        list[str] | None, option("JOINT=POSITION", "Fix a joint at this position, rad (m). May be repeated.", **LOADING)
    ] = None,
    structure: Annotated[str | None, STRUCTURE] = None,
    with_parameters: Annotated[str | None, PARAMETERS] = None,
    allow_external_files: Annotated[bool, EXTERNAL] = False,
) -> Source:
    options = {
        "base": base,
        "gravity": None if gravity is None else numbers(gravity, "--gravity"),
        "friction": not no_friction,
        "rotors": not no_rotors,
        "mimic": not no_mimic,
        "lock": dict(_locked(text) for text in lock or ()),
        "structure": structure,
        "with_parameters": with_parameters,
        "allow_external_files": allow_external_files,
    }
    return Source(robot, options)


def takes_robot(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument ROBOT and the load options; it gets them as its first parameter, a Source."""
    source, *others = inspect.signature(command, eval_str=True).parameters.values()
    robot, *options = inspect.signature(_source, eval_str=True).parameters.values()
    names = [robot.name, *(option.name for option in options)]

    def run(**values: Any) -> None:
        command(_source(**{name: values.pop(name) for name in names}), **values)

    parameters = [robot.replace(default=source.default), *others, *options]
    return _as_command(command, run, [p.replace(kind=p.KEYWORD_ONLY) for p in parameters])


def takes_several(
    name: str, parameters: Sequence[inspect.Parameter], collect: Callable[[dict[str, Any]], Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the parameter ``name`` of a command by several; it gets ``collect(values)``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True).parameters.values()
        groups = [parameters if each.name == name else [each] for each in signature]

        def run(*source: Any, **values: Any) -> None:
            collected = collect({each.name: values.pop(each.name) for each in parameters})
            command(*source, **values, **{name: collected})

        return _as_command(command, run, [each for group in groups for each in group])

    return decorate


def _as_command(
    command: Callable[..., None], run: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """Return ``run`` with the help of ``command`` and these parameters, as Typer reads them."""
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__doc__ = command.__doc__
    return run


def numbers(text: str, option: str) -> list[float]:
    """Return the numbers of a text that are separated by commas."""
    return [number(part, option) for part in text.split(",")]


def named_numbers(text: str) -> tuple[str, list[float]]:
    """Return the name and the numbers of NAME=VALUES, the value of ``--inputs``."""
    name, equals, values = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not of the form NAME=VALUES", param_hint="--inputs")
    return name.strip(), numbers(values, "--inputs")


def number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text.strip()!r} is not a number", param_hint=option) from None


def _locked(text: str) -> tuple[str, float | list[float]]:
    name, equals, position = text.rpartition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not of the form JOINT=POSITION", param_hint="--lock")
    values = numbers(position, "--lock")
    return name.strip(), values if len(values) > 1 else values[0]


def require_suffix(option: str, path: Path | None, suffixes: Sequence[str]) -> None:
    """Raise an error if the file of an option, if there is one, has another suffix than these."""
    if path is not None and path.suffix.lower() not in suffixes:
        got = path.suffix or "no suffix"
        raise LinkworkError("unknown file format", where=f"{option} {path}", got=got, expected=", ".join(suffixes))
