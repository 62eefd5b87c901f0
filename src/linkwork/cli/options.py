"""Options of commands that are options in Python, too: types, defaults and texts are those of ``linkwork.options``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass
from typing import Annotated, Any

import typer

from ..options import OPTIONS, default_of, text_of


@dataclass(frozen=True)
class Typed:
    """How an option is typed on the command line.

    Attributes:
        metavar: What stands for the value in the help.
        kind: Type of the value. Default: that of Python's default.
        parse: Function (text, "--option") -> the value for Python, if it is typed as text.
        repeated: The option may be repeated; ``parse`` gets a list.
        flag: Name of the option, where it is not that of Python.
    """

    metavar: str | None = None
    kind: Any = None
    parse: Callable[[Any, str], Any] | None = None
    repeated: bool = False
    flag: str = ""

    def name(self, option: str) -> str:
        return self.flag or f"--{option.replace('_', '-')}"

    def parameter(self, option: Field[Any], method: str) -> inspect.Parameter:
        """What Typer asks for. Text that is not given is left to Python's default."""
        default = default_of(option, method)
        shown = ",".join(default) if self.parse and default else True
        kind = str if self.parse else self.kind or type(default)
        default = None if self.parse or self.repeated else default
        kind = list[kind] if self.repeated else kind
        asked = typer.Option(
            self.name(option.name), metavar=self.metavar, help=help_of(method, option.name), show_default=shown
        )
        annotation = Annotated[kind | None if default is None else kind, asked]
        return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def help_of(method: str, option: str) -> str:
    """The text of an option of a method, as the command line has it."""
    return text_of(OPTIONS[method].taken_by(method)[option], method, "command")


def takes_options(method: str, options: Mapping[str, Typed]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options of a method of Robot, or of ``excite``, in the place of its parameter ``options``,
    which gets those that were given, as Python takes them."""
    known = OPTIONS[method].taken_by(method)

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(verb, eval_str=True)
        asked = [each.parameter(known[name], method) for name, each in options.items()]
        parts = [asked if each.name == "options" else [each] for each in signature.parameters.values()]

        def run(*source: Any, **given: Any) -> None:
            values = {name: given.pop(name) for name in options}
            parsed = {
                name: each.parse(values[name], each.name(name)) if each.parse else values[name]
                for name, each in options.items()
                if values[name] is not None
            }
            verb(*source, options=parsed, **given)

        run.__signature__ = signature.replace(parameters=[each for part in parts for each in part])  # type: ignore[attr-defined]
        run.__doc__ = verb.__doc__
        return run

    return decorate
