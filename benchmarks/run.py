"""linkwork against Pinocchio, CasADi and MuJoCo: ``python benchmarks/run.py [--quick] [--output DIR]``.

Checks that all of them agree, times them in turn, keeps the results of this kind of processor in results/, and writes
RESULTS.md and its pictures from those of all kinds. ``--report`` does only the last.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import warnings
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the peers are imported

from counts import operations
from customised import customised
from derivatives import QUANTITIES as DERIVATIVES
from derivatives import cold, derivatives, instructions
from export import exported
from gradients import gradients, step_back
from growth import exponents, growth
from identification import available, identification
from kinds import keep, kept
from large import LENGTHS, large
from measure import dynamics, inertia_matrix
from parts import time_of_parts
from plot import draw
from ports import PROCESSORS, ports
from report import markdown
from rich.console import Console
from robots import SOURCES, Case
from rollouts import STREAMED, growth_of_time, memory, rollouts, sweep
from startup import startup
from stepping import stepping
from structures import structures
from tables import tables
from targets import FORWARD, INVERSE, judge
from threads import threads
from timing import CORES, cores, use_cores

import linkwork
from linkwork.codegen.native.target import host

PACKAGES = {
    "Pinocchio": "pin", "CasADi": "casadi", "MuJoCo": "mujoco", "example-robot-data": "example-robot-data",
    "NumPy": "numpy", "llvmlite": "llvmlite",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: to try the benchmark, not to quote it")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="folder for the results")
    parser.add_argument(
        "--report", action="store_true", help="measure nothing: RESULTS.md and pictures of what is kept"
    )
    options = parser.parse_args()
    if not options.report:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["LINKWORK_CACHE"] = cache
            results = measure(options.quick)
        console = Console() if sys.stdout.isatty() else Console(width=140)
        for table in tables(results):
            table.show(console)
        keep(results, options.output / "results")
    runs = kept(options.output / "results")
    (options.output / "RESULTS.md").write_text(markdown(runs), encoding="utf-8")
    draw(runs[0], options.output)
    print(f"Wrote RESULTS.md and its pictures to {options.output}")


def measure(quick: bool) -> dict[str, Any]:
    """Everything, as plain data."""
    warnings.filterwarnings("ignore", "joint limits are off")  # the robots fall as far as they like
    rounds, budget, processes = (3, 0.005, 2) if quick else (15, 0.03, 7)
    began = perf_counter()

    def tell(what: str):
        print(f"{perf_counter() - began:6.1f} s  {what}", file=sys.stderr, flush=True)

    use_cores(1)
    tell("time to the first result")
    results: dict[str, Any] = {
        "date": datetime.now().isoformat(timespec="minutes"), "quick": quick, "rounds": rounds, "machine": machine(),
        "versions": {"linkwork": linkwork.__version__} | {name: version(package) for name, package in PACKAGES.items()},
        "startup": startup(processes),
    }  # fmt: skip
    cases = {name: Case(source) for name, source in SOURCES.items()}
    results["joints"] = {
        name: f"{len(case.robot.joint_names)} joints{', floating' if case.source.floating else ''}"
        for name, case in cases.items()
    }
    results["parts"] = []
    for quantity in (INVERSE, FORWARD):
        tell(f"panda, {quantity}, where the time goes")
        results["parts"].append(time_of_parts(cases["panda"], quantity, rounds, budget))
    results["peak"] = [row.pop("peak") for row in results["parts"]]
    results["threads"] = []  # first of all that has threads: they keep to the cores they are started on
    for quantity in (INVERSE, FORWARD):
        for row in threads(cases["panda"], quantity, rounds, budget):
            tell(f"panda, {quantity}, {row['states']} states, threads")
            results["threads"].append(row)
    results["dynamics"] = []
    for quantity in (INVERSE, FORWARD):
        for name, case in cases.items():
            tell(f"{name}, {quantity}")
            results["dynamics"].append(dynamics(case, quantity, rounds, budget))
    tell("panda, inertia_matrix")
    results["inertia_matrix"] = inertia_matrix(cases["panda"], rounds, budget)
    results["structures"] = []
    for row in structures(rounds, budget):
        tell(f"{row['robot']}, {row['what']}")
        results["structures"].append(row)
    rows = []
    for row in growth(quick, rounds, budget):
        tell(f"eel of {row['links']} links")
        rows.append(row)
    results["growth"] = {"rows": rows, "exponents": exponents(rows)}
    motion: dict[str, Any] = {"robots": []}
    for name in ("panda", "ur5", "anymal"):
        tell(f"{name}, rollouts")
        motion["robots"].append(rollouts(cases[name], rounds, budget))
    tell("rollouts, growth and memory")
    motion["growth"] = growth_of_time(cases["panda"], budget)
    motion["memory"] = memory(100_000 if quick else STREAMED)
    tell("a sweep")
    with cores(len(CORES) or 1):
        motion["sweep"] = sweep(1000 if quick else 100_000, min(2, len(CORES) or 1))
    results["rollouts"] = motion
    tell("panda, step by step")
    results["stepping"] = stepping(cases["panda"], rounds, budget)
    results["customised"] = []
    for row in customised(cases, rounds, budget):
        tell(f"{row['robot']}, {row['quantity']}, parameters and passes")
        results["customised"].append(row)
    results["derivatives"] = rows = []
    for name, case in cases.items():
        for quantity in DERIVATIVES:
            tell(f"{name}, {quantity}")
            rows.append(derivatives(case, quantity, rounds, budget, compiled=not quick or name != "talos"))
    results["gradients"] = []
    for name in ("panda", "anymal"):
        tell(f"{name}, gradients of rollouts")
        results["gradients"].append(gradients(cases[name], rounds, budget))
    if available():
        tell("panda, a fit by simulation")
        results["identification"] = identification(cases["panda"], rounds, budget, whole=not quick)
    else:
        tell("no fit by simulation: pip install 'mujoco[sysid]'")
    tell("derivatives, instructions and compilation")
    results["derivative_programs"] = instructions(cases)
    results["steps_back"] = [step_back(case) for case in cases.values()]
    results["derivative_compilation"] = cold(SOURCES)
    tell("exported C")
    results["export"] = exported(cases["panda"], rounds, budget)
    tell("other processors, predicted")
    programs = {quantity: getattr(cases["panda"].robot, quantity).program for quantity in (INVERSE, FORWARD)}
    if shutil.which("llvm-mca"):
        results["ports"] = [
            {"quantity": quantity, **ports(program, processor)}
            for quantity, program in programs.items()
            for processor in PROCESSORS
        ]
    tell("large programs")
    results["large"] = large(LENGTHS[:2] if quick else LENGTHS)
    tell("operations")
    results["operations"] = operations(cases)
    results["targets"] = judge(results)
    results["seconds"] = perf_counter() - began
    tell("done")
    return results


def machine() -> dict[str, Any]:
    target = host()
    return {
        "processor": _processor(), "llvm_name": target.cpu, "lanes": target.lanes("float64"),
        "fused": target.fused, "cores": len(CORES) or os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}", "python": platform.python_version(),
    }  # fmt: skip


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
