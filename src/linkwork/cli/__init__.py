"""The command line, ``linkwork VERB ...``: tables for people or, with ``--json``, data for programs."""

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

VERBS = {  # name -> where it is; what it does in one line
    "demo": ("demo.demo", "Do the main job in a minute: compare formulations, count, time."),
    "robots": ("robots.robots", "List the bundled robots."),
    "inspect": ("robots.inspect", "Show a robot: joints, inertias, frames, methods that apply."),
    "check": ("files.check", "Say what is wrong or suspicious in a robot file."),
    "convert": ("files.convert", "Write a robot as URDF or YAML, and confirm that it is the same."),
    "count": ("count.count", "Count the operations of each quantity, by each method."),
    "eval": ("evaluate.evaluate", "Evaluate a quantity at one state, or at every state of a file."),
    "simulate": ("simulate.simulate", "Simulate one motion from a state."),
    "sweep": ("sweep.sweep", "Simulate thousands of variations, on all cores or a cluster."),
    "excite": ("excite.excite", "Find a motion that shows a robot's parameters best."),
    "identify": ("identify.identify", "Find dynamic parameters from recordings of a motion."),
    "report": ("report.report", "Write all about a robot as one page."),
    "view": ("view.view", "Show the robot on a web page: move it, push it, play motions."),
    "bench": ("bench.bench", "Measure the native code of a robot."),
    "compare": ("compare.compare", "Put all methods side by side: operations, speed, agreement."),
    "tables": ("tables.tables", "Rebuild the complexity tables of the papers."),
    "cite": ("compare.cite", "Print the reference of a method as BibTeX."),
    "export": ("export.export", "Write a quantity as C, NumPy, CasADi or LaTeX."),
    "equations": ("equations.equations", "Print the equations of a quantity, in the letters of the papers."),
    "params": ("params.params", "Show the minimal inertia parameters."),
    "mdh": ("mdh.mdh", "Show the modified Denavit-Hartenberg table of a robot."),
}
LOOKS: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": "rich"}


class Verbs(TyperGroup):
    """A verb's module is imported when the verb is used; to be listed or completed, its line above is enough."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return TyperCommand(cmd_name, help=VERBS[cmd_name][1]) if cmd_name in VERBS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and _loaded(str(name)), rest


def _loaded(name: str) -> Any:
    module, _, function = VERBS[name][0].partition(".")
    verb = getattr(import_module(f".{module}", __name__), function)
    paragraphs = cleandoc(verb.__doc__ or "").split("\n\n")  # \b keeps the lines of the examples apart
    alone = typer.Typer(add_completion=False, **LOOKS)
    alone.command(name, help="\n\n".join(p if p[0] == "\b" else p.replace("\n", " ") for p in paragraphs))(verb)
    return typer.main.get_command(alone)


app = typer.Typer(name="linkwork", cls=Verbs, no_args_is_help=True, **LOOKS)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _linkwork(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A compiler for the dynamics of robots: a robot file in, native code for its dynamics out.

    \b
    linkwork demo                                      the main job, in a minute
    linkwork robots                                    what is bundled
    linkwork check my_robot.urdf                       what is wrong with a file
    linkwork eval panda gravity --q panda_joint2=0.5   one number or a million
    """


def main() -> None:
    """Run the command line; a mistake of the user ends with a message and exit code 1 (bad usage: 2), no traceback."""
    here = copy_context()
    here.run(COMMAND_LINE.set, True)
    try:
        try:
            here.run(app, prog_name="linkwork")
        finally:
            sys.stdout.flush()
    except LinkworkError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
