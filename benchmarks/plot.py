"""The pictures: speed-up against Pinocchio per robot, growth with the number of links, and time against lanes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from growth import ABA, BLOCK, LONG, RECURSION
from matplotlib.figure import Figure
from parts import PARTS
from targets import BATCH, words

from linkwork.drawing import name_lines, styled

COLORS = {"inverse_dynamics": "C0", "forward_dynamics": "C1"}
LABELS = {
    "inverse_dynamics": "inverse dynamics, against rneaInParallel",
    "forward_dynamics": "forward dynamics, against abaInParallel",
}


def draw(results: dict[str, Any], folder: Path):
    """All pictures of one run."""
    with styled():
        _speed(results).savefig(folder / "speed.png", dpi=160)
        _growth(results).savefig(folder / "growth.png", dpi=160)
        if "parts" in results:
            _lanes(results).savefig(folder / "lanes.png", dpi=160)


def _speed(results: dict[str, Any]) -> Figure:
    speedups = {(r["robot"], r["quantity"]): r for r in results["dynamics"]}
    robots = list(dict.fromkeys(robot for robot, _ in speedups))
    targets = BATCH.get(results["machine"]["lanes"])
    figure = Figure((8.4, 4.3))
    axes = figure.subplots()
    width = 0.38
    for side, quantity in ((-0.5, "inverse_dynamics"), (0.5, "forward_dynamics")):
        places = [k + side * (width + 0.02) for k in range(len(robots))]
        shown = [speedups[robot, quantity] for robot in robots]
        heights = [r["speedup"] for r in shown]
        axes.bar(places, heights, width, color=COLORS[quantity], label=LABELS[quantity], zorder=2)
        for place, height, robot, r in zip(places, heights, robots, shown, strict=True):
            nanoseconds = r["times"]["linkwork"]["ns"]
            target = targets[robot][list(COLORS).index(quantity)] if targets else 0
            top, text = 1.04 * max(height, target), f"{height:.0f}×"
            axes.text(place, top, text, ha="center", va="bottom", fontsize=12, fontweight="bold")
            axes.text(
                place, 1.1, f"{nanoseconds:.0f} ns", ha="center", va="bottom", fontsize=9, color="white", zorder=3
            )
            for color, thickness, layer in (("white", 3.4, 3), ("black", 1.6, 4)) if targets else ():
                axes.hlines(target, place - width / 2, place + width / 2, color, lw=thickness, zorder=layer)
    if targets:
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


def _lanes(results: dict[str, Any]) -> Figure:
    """Stacked bars of what each part adds, for each width; a mark where the arithmetic alone would end."""
    figure = Figure((10.5, 4.3))
    panels = figure.subplots(1, 2)
    for axes, row in zip(panels, results["parts"], strict=True):
        widths = row["widths"][::-1]
        for place, width in enumerate(widths):
            begin = 0.0
            for color, part in enumerate(PARTS):
                long = max(0.0, width["parts"][part])  # a part may hide behind the others
                label = part if axes is panels[0] and place == 0 else None
                axes.barh(place, long, 0.62, begin, color=f"C{color}", label=label, zorder=2)
                begin += long
            axes.text(begin, place, f" {width['ns']:.1f} ns", va="center", fontsize=10, fontweight="bold")
            limit = width["limit"] + width["limit_sines"]
            for color, thickness, layer in (("white", 3.4, 3), ("black", 1.6, 4)):
                axes.vlines(limit, place - 0.36, place + 0.36, color, lw=thickness, zorder=layer)
            axes.text(limit, place + 0.37, f"{limit:.1f}", ha="center", va="bottom", fontsize=8)
        axes.set_yticks(range(len(widths)), [f"{width['lanes']} lanes" for width in widths])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
        axes.set_xlim(0, 1.16 * max(width["ns"] for width in widths))
        axes.set_ylim(-0.5, len(widths) - 0.3)
        axes.set_xlabel("ns per state")
        axes.set_title(f"{row['robot']}, {words(row['quantity'])}")
    panels[0].plot([], [], color="black", lw=1.6, label="arithmetic instructions alone, at the rate of the peak")
    figure.legend(loc="outside upper left", ncols=len(PARTS) + 1, fontsize=9.5, columnspacing=1.2, handlelength=1.2)
    foot = f"{results['machine']['processor']} ({results['machine']['llvm_name']}); batches of 4096 states, one core"
    figure.supxlabel(foot, x=0.99, ha="right", fontsize=8, color="#606060")
    return figure
