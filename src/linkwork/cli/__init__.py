"""The command line, ``linkwork COMMAND ...``: tables for people or, with ``--json``, data for programs."""

from __future__ import annotations

import os
import sys
from contextvars import copy_context
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..errors import COMMAND_LINE, LinkworkError
from ..renamed import OPTIONS

COMMANDS = {  # name -> module.function; what it does in one line
    "demo": ("demo.demo", "Check, count and time all formulations of a robot."),
    "robots": ("robots.robots", "List the bundled robots."),
    "inspect": ("robots.inspect", "Show a robot: joints, inertias, frames, methods that apply."),
    "check": ("files.check", "Report errors and warnings in a robot file."),
    "convert": ("files.convert", "Write a robot as URDF or YAML, and check its dynamics."),
    "count": ("count.count", "Count the operations of each quantity, by each method."),
    "eval": ("evaluate.evaluate", "Evaluate a quantity at one state, or at every state of a file."),
    "ik": ("inverse_kinematics.inverse_kinematics", "Solve for joint positions at which a frame has a pose."),
    "map": ("map.map_quantity", "Map where a frame can be, how well it moves, what it carries."),
    "simulate": ("simulate.simulate", "Simulate one motion, free or controlled."),
    "time-path": ("time_path.time_path", "Find the fastest motion along a path within limits."),
    "sweep": ("sweep.sweep", "Simulate thousands of variations, on all cores or a cluster."),
    "excite": ("excite.excite", "Find an exciting trajectory for identification."),
    "identify": ("identify.identify", "Identify dynamic parameters from recordings of a motion."),
    "report": ("report.report", "Write a report about a robot as one HTML page."),
    "view": ("view.view", "Show the robot in a browser: move it, push it, play motions."),
    "bench": ("bench.bench", "Measure the speed of a robot's native code."),
    "compare": ("compare.compare", "Compare all methods: operations, speed, agreement."),
    "tables": ("tables.tables", "Rebuild the complexity tables of the papers."),
    "cite": ("compare.cite", "Print the reference of a method as BibTeX."),
    "export": ("export.export", "Write a quantity as C, NumPy, CasADi or LaTeX."),
    "equations": ("equations.equations", "Print the equations of a quantity, in the papers' symbols."),
    "params": ("params.params", "Show the base parameters (minimal inertial parameters)."),
    "mdh": ("mdh.mdh", "Show the modified Denavit-Hartenberg table of a robot."),
}
LOOKS: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": "rich"}


class Commands(TyperGroup):
    """A command's module is imported when the command is used; to list or complete it, its line above is enough."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and _loaded(str(name)), rest


class Command(TyperCommand):
    """A command that answers an option of an earlier version with the new one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = {option for parameter in self.params for option in parameter.opts}
        renamed = {**OPTIONS[""], **OPTIONS.get(str(self.name), {})}
        for old in (word.partition("=")[0] for word in args):
            if old not in options and renamed.get(old, "").partition(" ")[0] in options:
                raise typer.BadParameter(f"it was renamed: use {renamed[old]}", ctx, param_hint=old)
        return super().parse_args(ctx, args)


def _loaded(name: str) -> Any:
    """Import a command and make it one that Typer runs."""
    module, _, function_name = COMMANDS[name][0].partition(".")
    function = getattr(import_module(f".{module}", __name__), function_name)
    paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
    text = "\n\n".join(p if p[0] == "\b" else p.replace("\n", " ") for p in paragraphs)  # \b keeps lines apart
    alone = typer.Typer(add_completion=False, **LOOKS)
    alone.command(name, cls=Command, help=text)(function)
    return typer.main.get_command(alone)


app = typer.Typer(name="linkwork", cls=Commands, no_args_is_help=True, **LOOKS)


def _print_version(value: bool) -> None:
    if value:
        print(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _linkwork(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A compiler for robot dynamics: a robot file in, native code for its dynamics out.

    All numbers are in SI units, angles in rad.

    \b
    linkwork demo                                      check, count and time a robot's dynamics
    linkwork robots                                    list the bundled robots
    linkwork check my_robot.urdf                       find mistakes in a robot file
    linkwork eval panda gravity --q panda_joint2=0.5   evaluate at one state, or at those of a file
    """


def main() -> None:
    """Run the command line; a mistake of the user ends with a message and exit code 1 (bad usage: 2), no traceback."""
    context = copy_context()
    context.run(COMMAND_LINE.set, True)
    try:
        try:
            context.run(app, prog_name="linkwork")
        finally:
            sys.stdout.flush()
    except LinkworkError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader (head, less) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
