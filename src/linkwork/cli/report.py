"""``linkwork report``: all about a robot on one page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ..report.whole import TITLES, require_place, write
from .common import Source, progress, say, takes_robot


@takes_robot
def report(
    source: Source,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")] = Path("report.html"),
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Write all about a robot as one page: picture, frames, parameters, methods, torques, a simulated motion.

    The page needs no network and no script; it reads well on a screen, on a phone and on paper.

    \b
    linkwork report stanford -o stanford.html
    linkwork report my_robot.urdf --base floating
    """
    require_place(out, force)
    start = time.perf_counter()
    text = write(source.load(), out, overwrite=force, progress=progress)
    took = time.perf_counter() - start
    say(f"wrote {out}: {', '.join(TITLES).lower()}; {len(text) / 1e3:.0f} kB in {took:.0f} s")
