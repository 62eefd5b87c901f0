"""RESULTS.md: all kinds of processors side by side, then kind by kind, the newest run first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinds import Results, kind
from robots import STATES
from table import Table
from tables import tables
from targets import words

HOW = """How it is measured:

- Results are compared first. They must agree to 1e-10 relative, for every joint.
- The libraries take turns, round by round. A number is the median of the rounds, ± half the interquartile range.
- A ratio is the median of the ratios within each round.
- Code on one thread is timed by the processor time of that thread, all other code by wall time.

The columns of a table are explained where it appears first."""


def markdown(runs: Sequence[Results]) -> str:
    """Return the page of all runs, the newest first."""
    head = f"""# Benchmark results

Compare the speed of linkwork with Pinocchio, MuJoCo and CasADi, on several processors. [Speed](../docs/speed.md)
explains the numbers.

`make bench` (`python benchmarks/run.py`) writes this page: do not edit it. It replaces the section of the processor on
which it runs and keeps the others. The raw numbers are in `benchmarks/results`.

![Speed-up against Pinocchio](speed.png)

{HOW}"""
    explained: set[str] = set()
    return "\n\n".join([head, summary(runs).markdown(level=2), *(_section(run, explained) for run in runs)]) + "\n"


def summary(runs: Sequence[Results]) -> Table:
    """Ratios of all kinds of processors side by side."""
    columns = [_ratios(run) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[*name, *(column.get(name, "-") for column in columns)] for name in names]
    text = f"""A ratio says how many times faster linkwork is in the same run. Batches have {STATES} states and run on
one thread."""
    header = ["", "against", *(kind(run).replace(", ", "<br>") for run in runs)]
    return Table("All processors", header, rows, text, texts=2)


def _ratios(run: Results) -> dict[tuple[str, str], str]:
    """By what is compared, and with what."""
    met = sum(row["met"] for row in run["targets"])
    shown = {("measured on", ""): run["date"][:10], ("targets met", ""): f"{met} of {len(run['targets'])}"}
    for r in run["dynamics"]:
        peer = r["reference"].split(", ")[1]
        shown[f"{r['robot']}, {words(r['quantity'])}, batches", f"Pinocchio, {peer}"] = f"**{r['speedup']:.1f}×**"
    for r in run["dynamics"]:
        if r["robot"] == "panda":
            what = f"panda, {words(r['quantity'])}"
            shown[f"{what}, one state per call", "Pinocchio, one call"] = f"{r['speedup_one_state']:.1f}×"
            if "speedup_float32" in r:
                shown[f"{what}, float32", "float64"] = f"{r['speedup_float32']:.2f}×"
    for r in run["rollouts"]["robots"]:
        shown[f"{r['robot']}, rollouts", "mujoco.rollout"] = f"**{r['speedup']:.1f}×**"
        shown[f"{r['robot']}, one trajectory", "mujoco.rollout"] = f"{r['speedup_alone']:.1f}×"
    for r in run.get("derivatives", ()):
        for states, speedup in r["speedup"].items():
            what = f"{r['robot']}, {words(r['quantity'])}, {r['form']}, batches of {states}"
            shown[what, "Pinocchio, loop of calls"] = f"**{speedup:.1f}×**"
    for r in run.get("gradients", ()):
        shown[f"{r['robot']}, gradient of a rollout, in rollouts", "linkwork"] = f"{1 / r['speedup']:.2f}"
    if r := run.get("identification"):
        what = f"{r['robot']}, fit by simulation, {r['unknowns']} unknowns, an iteration"
        shown[what, "mujoco.sysid"] = f"**{r['speedup']:.1f}×**"
    for r in run["peak"]:
        shown[f"{r['robot']}, {words(r['quantity'])}", "FMA peak of a core"] = f"{r['share']:.0%}"
    return shown


def _section(run: Results, explained: set[str]) -> str:
    """A heading, the machine, and all tables; a table is explained where it occurs first."""
    parts = [_head(run)]
    for table in tables(run):
        parts.append(table.markdown(text=table.title not in explained))
        explained.add(table.title)
    return "\n\n".join(parts)


def _head(run: Results) -> str:
    machine: dict[str, Any] = run["machine"]
    software = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    met, targets = sum(row["met"] for row in run["targets"]), len(run["targets"])
    missed = "; the table lists the missed ones last" if met < targets else ""
    parts = [
        f"## {kind(run)}",
        f"""- Measured on {run["date"][:10]} with {run["rounds"]} rounds, in {run["seconds"]:.0f} s
- Processor: {machine["processor"]}, {machine["lanes"]} doubles per vector
- {machine["cores"]} cores; one is used unless a table names more
- {machine["system"]}, Python {machine["python"]}, {software}""",
        run.get("note", ""),
        "**A quick run (`--quick`): few rounds, for trying the benchmark only.**" if run["quick"] else "",
        f"{met} of {targets} targets are met{missed}.",
    ]
    return "\n\n".join(part for part in parts if part)
