"""Options of commands that are also options in Python: types, defaults and texts are those of ``linkwork.options``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass
from typing import Annotated, Any

import typer

from ..options import OPTIONS, default_of, text_of
from .common import takes_several


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
        default_text = ",".join(default) if self.parse and default else True
        kind = str if self.parse else self.kind or type(default)
        default = None if self.parse or self.repeated else default
        kind = list[kind] if self.repeated else kind
        typed = typer.Option(metavar=self.metavar, help=help_of(method, option.name), show_default=default_text)
        annotation = Annotated[kind | None if default is None else kind, typed]
        return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def help_of(method: str, option: str) -> str:
    """Return the help of an option of a method on the command line."""
    return text_of(OPTIONS[method].taken_by(method)[option], method, "command")


def takes_options(method: str, options: Mapping[str, Typed]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options of a method of Robot, or of ``excite``, in place of its parameter ``options``, which gets
    a dict of the values that were typed, as Python takes them."""
    table = OPTIONS[method].taken_by(method)

    def parse(values: dict[str, Any]) -> dict[str, Any]:
        parsed = {name: value for name, value in values.items() if value is not None}
        for name, value in parsed.items():
            if parse_one := options[name].parse:
                parsed[name] = parse_one(value, f"--{name.replace('_', '-')}")
        return parsed

    return takes_several("options", [typed.parameter(table[name], method) for name, typed in options.items()], parse)
