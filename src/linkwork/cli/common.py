"""What the verbs share: the robot with its load options, tables, JSON, signs of progress."""

from __future__ import annotations

import inspect
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from textwrap import fill
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ..formulations import METHODS, QUANTITIES
from ..io import bundled_robots
from ..quoting import in_json, printable
from ..robot import Robot, load
from ..table import Table

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
METHOD_NAMES = tuple(dict.fromkeys(method.name for method in METHODS))
LOADING = "How the robot is loaded"
LINES = "\n\t"  # control characters that texts of our own may hold


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes a word to one of these names, when the shell asks for it."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def quantity_option(help: str) -> Any:
    return typer.Option(metavar="QUANTITY", help=help, autocompletion=among(QUANTITIES))


def method_option(help: str = "auto: the one with the fewest operations.") -> Any:
    return typer.Option(metavar="METHOD", help=help, autocompletion=among(["auto", *METHOD_NAMES]))


@dataclass(frozen=True)
class Source:
    """A robot as the command line names it: a bundled robot or a file, and how to load it."""

    name: str
    options: Mapping[str, Any]
    warned: set[str] = field(default_factory=set)  # what was printed

    def load(self, **changes: Any) -> Robot:
        with printed_warnings(self.warned):
            return load(self.name, **{**self.options, **changes})


@contextmanager
def printed_warnings(before: set[str]) -> Iterator[None]:
    """Print Python's warnings to stderr, but for those printed ``before``, to which they are added."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(printable(warning.message, keep=LINES) for warning in caught):
        if message not in before:
            print(f"warning: {message}", file=sys.stderr)
        before.add(message)


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
    base: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="fixed or floating; default: what the file says.", rich_help_panel=LOADING),
    ] = None,
    gravity: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="Acceleration in m/s^2.", rich_help_panel=LOADING)
    ] = None,
    no_friction: Annotated[
        bool, typer.Option("--no-friction", help="Leave friction and damping out.", rich_help_panel=LOADING)
    ] = False,
    no_rotors: Annotated[
        bool, typer.Option("--no-rotors", help="Leave rotor inertias out.", rich_help_panel=LOADING)
    ] = False,
    no_mimic: Annotated[
        bool, typer.Option("--no-mimic", help="Keep mimic joints as joints of their own.", rich_help_panel=LOADING)
    ] = False,
    lock: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=POSITION", help="Fix a joint; may be repeated.", rich_help_panel=LOADING),
    ] = None,
    structure: Annotated[
        str | None, typer.Option(metavar="FILE", help="YAML with loops and roles of joints.", rich_help_panel=LOADING)
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="YAML or JSON with other masses, inertias, friction or payload of it.",
            rich_help_panel=LOADING,
        ),
    ] = None,
    outside: Annotated[
        bool,
        typer.Option("--outside", help="Let it take files from outside its folder.", rich_help_panel=LOADING),
    ] = False,
) -> Source:
    options = {
        "base": base,
        "gravity": None if gravity is None else numbers(gravity, "--gravity"),
        "friction": not no_friction,
        "rotors": not no_rotors,
        "mimic": not no_mimic,
        "lock": dict(_locked(text) for text in lock or ()),
        "structure": structure,
        "parameters": values,
        "outside": outside,
    }
    return Source(robot, options)


def takes_robot(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the argument ROBOT and the load options; it gets them as its first parameter, a Source."""
    source, *own = inspect.signature(verb, eval_str=True).parameters.values()
    robot, *options = inspect.signature(_source, eval_str=True).parameters.values()
    names = [robot.name, *(option.name for option in options)]

    def run(**given: Any) -> None:
        verb(_source(**{name: given.pop(name) for name in names}), **given)

    asked = [robot.replace(default=source.default), *own, *options]
    run.__signature__ = inspect.Signature([p.replace(kind=p.KEYWORD_ONLY) for p in asked])  # type: ignore[attr-defined]
    run.__doc__ = verb.__doc__
    return run


def numbers(text: str, option: str) -> list[float]:
    """Numbers separated by commas."""
    return [number(part, option) for part in text.split(",")]


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


# -- printing ----------------------------------------------------------------------------------------------------


def console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def say(text: str, style: str = "") -> None:
    """Paragraphs, wrapped between words to the width of the terminal."""
    screen = console()
    text = printable(text, keep=LINES)
    lines = (fill(line, screen.width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    screen.print("\n".join(lines), style=style or None, soft_wrap=True)


def show(table: Table) -> None:
    """Print a table, if it has rows, and its notes. A column without any value is left out. In a narrow terminal
    columns stand closer, those that can be spared are left out, text is wrapped between words, and no further: a table
    that does not fit is wider than the terminal."""
    if table.rows:
        _show_rows(table)
    for note in table.notes:
        say(note, "dim")
    if table.notes and table.title and not table.rows:  # they stand in its place
        print()


def _show_rows(table: Table) -> None:
    if table.title:
        say(table.title, "bold")
    columns = table.shown()
    shown_texts = ([column.head, *map(column.text, own)] for column, _, own in columns)
    texts = [[printable(text, keep=LINES) for text in own] for own in shown_texts]
    words = [max(map(cell_len, " ".join(own).split()), default=0) for own in texts]
    lines = [max(map(cell_len, "\n".join(own).split("\n"))) for own in texts]
    screen, every = console(), range(len(columns))
    needed = [k for k in every if not columns[k][0].spare]
    for shown, gap in ((every, 2), (every, 1), (needed, 2), (needed, 1)):
        room = screen.width - gap * (len(shown) - 1)
        if sum(words[k] for k in shown) <= room:
            break
    widths = {k: lines[k] for k in shown}
    while sum(widths.values()) > room and (longer := [k for k in shown if widths[k] > words[k]]):
        widths[max(longer, key=lambda k: widths[k])] -= 1
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for k in shown:
        grid.add_column(texts[k][0], justify="right" if columns[k][1] == "right" else "left", width=widths[k])
    for row in zip(*(texts[k][1:] for k in shown), strict=True):
        grid.add_row(*row)
    screen.width = max(screen.width, sum(widths.values()) + gap * len(shown))
    screen.print(grid)
    print()


def print_json(value: Any) -> None:
    print(in_json(json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=False)))


def plain(value: Any) -> Any:
    """Only what JSON knows: arrays become lists, numbers that are not finite null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def progress(text: str) -> AbstractContextManager[object]:
    """Says what is going on while it does, on stderr and only to a terminal."""
    screen = console(stderr=True)
    return screen.status(plain_status(text)) if screen.is_terminal else nullcontext()


def plain_status(text: str) -> Text:
    """What a status line shows, which else takes names in brackets for colours."""
    return Text(printable(text))
