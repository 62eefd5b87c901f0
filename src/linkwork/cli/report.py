"""``linkwork report``: a report about a robot on one page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from ..report.whole import TITLES, require_place, write
from .common import Overwrite, Source, option, takes_robot
from .printing import progress, say


@takes_robot
def report(
    source: Source,
    output: Annotated[Path, option("FILE", "HTML file to write.", "--output", "-o")] = Path("report.html"),
    overwrite: Overwrite = False,
) -> None:
    """Write a report on a robot as one HTML page: picture, frames, parameters, methods, torques, a simulated motion.

    The page needs no network and no script, and is laid out for screens, phones and paper.

    \b
    linkwork report stanford -o stanford.html
    linkwork report my_robot.urdf --base floating
    """
    require_place(output, overwrite)
    start = time.perf_counter()
    text = write(source.load(), output, overwrite=overwrite, progress=progress)
    seconds = time.perf_counter() - start
    say(f"wrote {output}: {', '.join(TITLES).lower()}; {len(text) / 1e3:.0f} kB in {seconds:.0f} s")
