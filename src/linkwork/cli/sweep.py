"""``linkwork sweep``: a study of many simulations on all cores, or on a cluster."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..sweep import Summary, read_study, run
from ..table import Table
from .common import Json, flag, option, printed_warnings
from .printing import print_json, progress, say, show

MOST = 16  # outputs that are shown


def sweep(
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY", help="The study, a YAML file such as examples/sweep.yaml; docs/sweeps.md lists its keys."
        ),
    ],
    output: Annotated[
        Path | None, option("FOLDER", "Folder for the results. Default: STUDY-results.", "--output", "-o")
    ] = None,
    workers: Annotated[
        int | None, option("N", "Number of processes on this machine. Default: one per core.", min=1)
    ] = None,
    scheduler: Annotated[
        str | None, option("ADDRESS", "Address of a Dask scheduler whose workers run the study.")
    ] = None,
    resume: Annotated[
        bool, flag("--resume", "Continue an interrupted study: compute only the rows missing in the folder.")
    ] = False,
    json: Json = False,
) -> None:
    """Simulate thousands of variations: Monte Carlo samples and grids of states, parameters, gains and robots.

    \b
    linkwork sweep study.yaml -o results
    linkwork sweep study.yaml -o results --resume
    linkwork sweep study.yaml --scheduler tcp://10.0.0.1:8786
    """
    folder = output or Path(f"{study.stem}-results")
    with progress("reading the study and its robots"), printed_warnings(set()):
        contents = read_study(study)
    summary = run(contents, folder, workers=workers, scheduler=scheduler, resume=resume)
    if json:
        print_json(_facts(summary))
    else:
        _say(contents.name, summary)
    if summary.stopped:
        words = ["linkwork", "sweep", str(study), "-o", str(folder), "--resume"]
        words += [] if workers is None else ["--workers", str(workers)]
        words += [] if scheduler is None else ["--scheduler", scheduler]
        if not json:
            print(f"Stopped; finished rows are kept. Continue with:\n  {shlex.join(words)}")
        raise typer.Exit(130)


def _facts(summary: Summary) -> dict[str, Any]:
    names = ("rows", "existing", "done", "diverged", "workers", "seconds", "computing", "overhead", "stopped", "notes")
    return {"folder": str(summary.folder), **{name: getattr(summary, name) for name in names}}


def _say(name: str, summary: Summary) -> None:
    before = f", {summary.existing} from an earlier run" if summary.existing else ""
    say(f"{name}: {summary.existing + summary.done} of {summary.rows} rows{before}", "bold")
    if summary.done:
        rate = summary.done / summary.seconds
        lost = "" if summary.stopped else f", {100 * summary.overhead:.1f} % of their time lost to Dask"
        say(f"{summary.done} rows in {summary.seconds:.1f} s, {rate:,.0f} a second; workers: {summary.workers}{lost}")
    for note in summary.notes:
        say(f"Note: {note}", "yellow")
    if summary.diverged:
        say(f"{summary.diverged} of these motions diverged: see the column diverged, the step it happened at", "yellow")
    print()
    if summary.existing + summary.done:
        show(_spread(summary.folder))
    say(f"Tables: {summary.folder / 'rows'}, for example pandas.read_parquet({str(summary.folder / 'rows')!r})")


def _spread(folder: Path) -> Table:
    from pyarrow import parquet

    files = sorted((folder / "rows").glob("*.parquet"))
    names = [
        name for name in parquet.read_schema(files[0]).names if name.startswith(("final.", "peak.", "rms.", "mean."))
    ]
    table = parquet.read_table(folder / "rows", columns=[*names[:MOST], "diverged"])
    finite = table["diverged"].to_numpy() < 0
    rows: list[list[Any]] = []
    for name in names[:MOST]:
        column = table[name].to_numpy()[finite]
        column = column[np.isfinite(column)]
        if len(column):
            rows.append([name, *np.percentile(column, [5, 50, 95]).tolist()])
    rows += [[f"and {len(names) - MOST} more", None, None, None]] * (len(names) > MOST)
    return Table("Outputs of the rows that did not diverge", ["output", "5 %", "median", "95 %"], rows)
