"""The command line, ``linkwork VERB ...``: tables for people or, with ``--json``, data for programs."""

from __future__ import annotations

import os
import sys
from inspect import cleandoc
from typing import Annotated

import typer

from .. import __version__
from ..errors import LinkworkError
from . import (
    bench,
    compare,
    count,
    demo,
    equations,
    evaluate,
    export,
    files,
    mdh,
    params,
    report,
    robots,
    simulate,
    sweep,
    tables,
    view,
)

app = typer.Typer(
    name="linkwork", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich"
)


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


VERBS = {
    "demo": demo.demo,
    "robots": robots.robots,
    "inspect": robots.inspect,
    "check": files.check,
    "convert": files.convert,
    "count": count.count,
    "eval": evaluate.evaluate,
    "simulate": simulate.simulate,
    "sweep": sweep.sweep,
    "report": report.report,
    "view": view.view,
    "bench": bench.bench,
    "compare": compare.compare,
    "tables": tables.tables,
    "cite": compare.cite,
    "export": export.export,
    "equations": equations.equations,
    "params": params.params,
    "mdh": mdh.mdh,
}
for _name, _verb in VERBS.items():
    _paragraphs = cleandoc(_verb.__doc__ or "").split("\n\n")  # \b keeps the lines of the examples apart
    app.command(_name, help="\n\n".join(p if p[0] == "\b" else p.replace("\n", " ") for p in _paragraphs))(_verb)


def main() -> None:
    """Run the command line; a mistake of the user ends with a message and exit code 1 (bad usage: 2), no traceback."""
    try:
        try:
            app(prog_name="linkwork")
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
