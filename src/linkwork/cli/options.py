"""Options of commands that are also options in Python: types, defaults and texts are those of ``linkwork.options``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass
from typing import Annotated, Any

import typer

from ..options import OPTIONS, default_of, text_of
from .common import as_command


@dataclass(frozen=True)
class Typed:
    """How an option is typed on the command line.

    Attributes:
        metavar: What stands for the value in the help.
        kind: Type of the value. Default: that of Python's default.
        parse: Function (text, "--option") -> the value for Python, if it is typed as text.
        repeated: The option may be repeated; ``parse`` gets a list.
    """

    metavar: str | None = None
    kind: Any = None
    parse: Callable[[Any, str], Any] | None = None
    repeated: bool = False

    def parameter(self, option: Field[Any], method: str) -> inspect.Parameter:
        """Return the parameter for Typer. Without a value, Python's default applies."""
        default = default_of(option, method)
        shown = ",".join(default) if self.parse and default else True
        kind = str if self.parse else self.kind or type(default)
        default = None if self.parse or self.repeated else default
        kind = list[kind] if self.repeated else kind
        typed = typer.Option(metavar=self.metavar, help=help_of(method, option.name), show_default=shown)
        annotation = Annotated[kind | None if default is None else kind, typed]
        return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def help_of(method: str, option: str) -> str:
    """Return the help of an option of a method on the command line."""
    return text_of(OPTIONS[method].taken_by(method)[option], method, "command")


def takes_options(method: str, options: Mapping[str, Typed]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options of a method of Robot, or of ``excite``, in place of its parameter ``options``, which gets
    a dict of the values that were typed, as Python takes them."""
    known = OPTIONS[method].taken_by(method)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        for each in inspect.signature(command, eval_str=True).parameters.values():
            if each.name == "options":
                parameters += [typed.parameter(known[name], method) for name, typed in options.items()]
            else:
                parameters.append(each)

        def run(*source: Any, **values: Any) -> None:
            parsed = {}
            for name, typed in options.items():
                if (value := values.pop(name)) is not None:
                    parsed[name] = typed.parse(value, f"--{name.replace('_', '-')}") if typed.parse else value
            command(*source, options=parsed, **values)

        return as_command(command, run, parameters)

    return decorate
