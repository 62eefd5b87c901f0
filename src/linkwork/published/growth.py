"""How the operations of every method grow with the number of joints."""

from __future__ import annotations

import math
from pathlib import Path

from ..errors import LinkworkError
from ..formulations import METHODS, Method, executed
from .chains import generic_chain

JOINTS = range(2, 13)
QUARTIC = {"uicker-kahn": range(2, 9)}  # n^4 operations: enough is seen with fewer joints


def measure(method: Method) -> dict[int, int]:
    """n -> multiplications and additions executed for n revolute joints of generic geometry."""
    counts = {}
    for n in QUARTIC.get(method.name, JOINTS):
        tally = executed(method, generic_chain(n))
        counts[n] = tally["mul"] + tally["add"]
    return counts


def slope(counts: dict[int, int]) -> float:
    """Of the last two points on log-log paper: the power of n that the counts grow with there."""
    (n1, c1), (n2, c2) = list(counts.items())[-2:]
    return math.log(c2 / c1) / math.log(n2 / n1)


def draw(path: Path) -> None:
    """Two panels, inverse dynamics and inertia matrix; measured points, slopes written."""
    try:
        import matplotlib
    except ImportError as error:
        raise LinkworkError("drawing needs matplotlib", fix="pip install matplotlib") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(13, 7), layout="constrained")
    for panel, quantity in zip(panels, ("inverse_dynamics", "inertia_matrix"), strict=True):
        able = [m for m in METHODS if m.quantity == quantity and not m.refusal(generic_chain(2))]
        series = {m.name: measure(m) for m in able}
        ranked = sorted(series.items(), key=lambda item: -max(item[1].values()))
        for k, (name, counts) in enumerate(ranked):
            style = {"marker": "osD^v<>pPX*h"[k % 12], "markersize": 4, "linewidth": 1}
            panel.loglog(counts.keys(), counts.values(), label=f"{name}: n^{slope(counts):.1f}", **style)
        panel.set(title=quantity.replace("_", " "), xlabel="joints n", ylabel="multiplications and additions executed")
        panel.set_xticks(ticks := list(JOINTS)[::2], [str(t) for t in ticks])
        panel.minorticks_off()
        panel.grid(True, which="major", alpha=0.3)
        panel.legend(fontsize=8, title="slope at the largest n")
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as error:
        raise LinkworkError(f"the picture cannot be written: {error}", where=str(path)) from error
    finally:
        pyplot.close(figure)
