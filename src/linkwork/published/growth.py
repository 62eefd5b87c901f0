"""Growth of the operations of each method with the number of joints."""

from __future__ import annotations

import math
from pathlib import Path

from ..drawing import name_lines, styled
from ..errors import LinkworkError
from ..formulations import METHODS, Method, executed_operations
from .chains import generic_chain

JOINTS = range(2, 13)
QUARTIC = {"uicker-kahn": range(2, 9)}  # n^4 operations: fewer joints show the growth
LINEAR = 1.3  # largest slope of recursive methods between 2 and 12 joints
RATIOS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 2.5, 3, 4)  # ticks


def measure(method: Method) -> dict[int, int]:
    """Return the multiplications and additions executed for n revolute joints of generic geometry, by n."""
    tallies = {n: executed_operations(method, generic_chain(n)) for n in QUARTIC.get(method.name, JOINTS)}
    return {n: tally["mul"] + tally["add"] for n, tally in tallies.items()}


def slope(counts: dict[int, int]) -> float:
    """Return the power of n with which the counts grow between the last two points."""
    (n1, c1), (n2, c2) = list(counts.items())[-2:]
    return math.log(c2 / c1) / math.log(n2 / n1)


def draw(path: Path) -> None:
    """Plot the operations of inverse dynamics, and those of inertia matrices relative to ``crba``."""
    able = [method for method in METHODS if not method.refusal(generic_chain(2))]
    inverse = {method.name: measure(method) for method in able if method.quantity == "inverse_dynamics"}
    matrices = {method: measure(method) for method in able if method.quantity == "inertia_matrix"}
    crba = next(counts for method, counts in matrices.items() if method.name == "crba")
    ratios = {method: {n: count / crba[n] for n, count in counts.items()} for method, counts in matrices.items()}
    with styled():
        from matplotlib.figure import Figure

        figure = Figure((11.5, 4.6))
        first, *others = figure.subplots(1, 3, width_ratios=(1.1, 1, 1))
        for name, counts in inverse.items():
            color = "C0" if slope(counts) < LINEAR else "C1"
            label = f"{name}  $n^{{{slope(counts):.1f}}}$"
            first.plot(list(counts), list(counts.values()), "o-", ms=3, color=color, label=label)
        first.set(title="Inverse dynamics", ylabel="multiplications and additions executed", yscale="log")
        for panel, lin_fang in zip(others, (True, False), strict=True):
            panel.plot(JOINTS, [1] * len(JOINTS), color="black", label="crba")
            rows = [m for m in ratios if m.name.startswith("lin-fang") == lin_fang and m.name != "crba"]
            for k, method in enumerate(sorted(rows, key=lambda m: -ratios[m][JOINTS[-1]])):
                label = f"{method.name}  $n^{{{slope(matrices[method]):.1f}}}$"
                panel.plot(list(ratios[method]), list(ratios[method].values()), "o-", ms=3, color=f"C{k}", label=label)
            panel.set(yscale="log", xlim=(JOINTS[0] - 0.2, JOINTS[-1] + 0.1))
            low, high = panel.get_ylim()
            ticks = [ratio for ratio in RATIOS if low < ratio < high]
            panel.set_yticks(ticks, [f"{ratio:g}" for ratio in ticks])
        first.set(xscale="log", xlim=(JOINTS[0] * 0.95, JOINTS[-1] * 1.02))
        others[0].set(title="Inertia matrix: forms of Lin and Fang", ylabel="times the operations of crba")
        others[1].set_title("Inertia matrix: others")
        for panel in figure.axes:
            panel.set_xlabel("joints n")
            ticks = [n for n in JOINTS if n in ((2, 3, 4, 6, 8, 12) if panel is first else JOINTS[::2])]
            panel.set_xticks(ticks, map(str, ticks))
            panel.minorticks_off()
            name_lines(panel)
        try:
            figure.savefig(path)
        except (OSError, ValueError) as error:
            raise LinkworkError(f"the picture cannot be written: {error}", where=str(path)) from error
