"""The pictures: speed-up against Pinocchio per robot, targets marked; and growth with the number of links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from growth import ABA, BLOCK, LONG, RECURSION
from matplotlib.figure import Figure
from targets import SPEEDUP

from linkwork.drawing import name_lines, styled

COLORS = {"inverse_dynamics": "C0", "forward_dynamics": "C1"}
LABELS = {
    "inverse_dynamics": "inverse dynamics, against rneaInParallel",
    "forward_dynamics": "forward dynamics, against abaInParallel",
}


def plot(results: dict[str, Any], path: Path):
    """Bars of both quantities for each robot."""
    with styled():
        _speed(results).savefig(path, dpi=160)


def plot_growth(results: dict[str, Any], path: Path):
    """Operations and time of an eel against its links, with the exponents fitted."""
    with styled():
        _growth(results).savefig(path, dpi=160)


def _speed(results: dict[str, Any]) -> Figure:
    speedups = {(r["robot"], r["quantity"]): r for r in results["dynamics"]}
    robots = list(dict.fromkeys(robot for robot, _ in speedups))
    figure = Figure((8.4, 4.3))
    axes = figure.subplots()
    width = 0.38
    for side, quantity in ((-0.5, "inverse_dynamics"), (0.5, "forward_dynamics")):
        places = [k + side * (width + 0.02) for k in range(len(robots))]
        shown = [speedups[robot, quantity] for robot in robots]
        heights = [r["speedup"] for r in shown]
        axes.bar(places, heights, width, color=COLORS[quantity], label=LABELS[quantity], zorder=2)
        targets = [SPEEDUP[robot, quantity] for robot in robots]
        for place, height, target, r in zip(places, heights, targets, shown, strict=True):
            nanoseconds = r["times"]["linkwork"]["ns"]
            text = f"{height:.0f}×"
            axes.text(place, height * 1.04, text, ha="center", va="bottom", fontsize=12, fontweight="bold")
            axes.text(
                place, 1.1, f"{nanoseconds:.0f} ns", ha="center", va="bottom", fontsize=9, color="white", zorder=3
            )
            for color, thickness, layer in (("white", 3.4, 3), ("black", 1.6, 4)):
                axes.hlines(target, place - width / 2, place + width / 2, color, lw=thickness, zorder=layer)
    axes.plot([], [], color="black", lw=1.6, label="target")
    axes.set_yscale("log")
    axes.set_ylim(1, 260)
    axes.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1×", "2×", "5×", "10×", "20×", "50×", "100×"])
    axes.minorticks_off()
    joints = results["joints"]
    axes.set_xticks(range(len(robots)), [f"{robot}\n{joints[robot]}" for robot in robots], fontsize=11)
    axes.tick_params(length=0)
    axes.grid(axis="x", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(-0.5, len(robots) - 0.5)
    axes.set_title("Times faster than Pinocchio: batches of 4096 states, one core", fontsize=12, pad=10)
    axes.legend(loc="upper center", ncols=3, fontsize=9.5, columnspacing=1.4, handlelength=1.4)
    machine, versions = results["machine"], results["versions"]
    foot = f"{machine['processor']}, {machine['lanes']} doubles per vector; Pinocchio {versions['Pinocchio']}"
    foot += "; logarithmic scale; ns per state in the bars"
    figure.supxlabel(foot, x=0.99, ha="right", fontsize=8, color="#606060")
    return figure


def _growth(results: dict[str, Any]) -> Figure:
    rows, powers = results["growth"]["rows"], results["growth"]["exponents"]
    links = [row["links"] for row in rows]
    lines = {
        RECURSION: ("C0", "o", "recursion (khalil-moving)"),
        BLOCK: ("C1", "s", "inertia matrix, LDLᵀ (crba-ldl)"),
        ABA: ("C6", "^", "Pinocchio, aba, one by one"),
    }
    figure = Figure((10.5, 4.1))
    panels = figure.subplots(1, 2)
    for axes, what, title in (
        (panels[0], "operations", "mul + add per state"),
        (panels[1], "times", "ns per state, one core"),
    ):
        for name, power in powers[what].items():
            values = [row["times"][name]["ns"] if what == "times" else row["operations"][name] for row in rows]
            color, marker, label = lines[name]
            axes.plot(links, values, color=color, marker=marker, ms=4, label=f"$n^{{{power:.2f}}}$ {label}")
        axes.set(xscale="log", yscale="log", xlim=(links[0] * 0.92, links[-1] * 1.05))
        axes.set_xticks(links, [str(n) for n in links])
        axes.minorticks_off()
        axes.set_xlabel("links of the eel")
        axes.set_title(title)
        name_lines(axes)
    figure.suptitle("Forward dynamics on a floating base, against the number of links", x=0.01, ha="left", fontsize=12)
    foot = f"exponents fitted from {LONG} links on; batches of 4096 states; {results['machine']['processor']}"
    figure.supxlabel(foot, x=0.99, ha="right", fontsize=8, color="#606060")
    return figure
