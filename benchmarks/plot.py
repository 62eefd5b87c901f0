"""The pictures: speed-up against Pinocchio per robot, targets marked; and growth with the number of links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from growth import ABA, BLOCK, LONG, RECURSION
from targets import SPEEDUP

SHIFT = {RECURSION: 0, BLOCK: -6, ABA: 7}  # points, up, of the exponents beside the curves
COLORS = {"inverse_dynamics": "#1f5fa8", "forward_dynamics": "#e0862a"}
LABELS = {
    "inverse_dynamics": "inverse dynamics, against rneaInParallel",
    "forward_dynamics": "forward dynamics, against abaInParallel",
}


def plot(results: dict[str, Any], path: Path):
    speedups = {(r["robot"], r["quantity"]): r for r in results["dynamics"]}
    robots = list(dict.fromkeys(robot for robot, _ in speedups))
    figure, axes = plt.subplots(figsize=(8.4, 4.3), dpi=160)
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
    axes.grid(axis="y", color="#d8d8d8", lw=0.8, zorder=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_title("Times faster than Pinocchio: batches of 4096 states, one core", loc="left", fontsize=13, pad=10)
    axes.legend(frameon=False, loc="upper center", ncols=3, fontsize=9.5, columnspacing=1.4, handlelength=1.4)
    machine, versions = results["machine"], results["versions"]
    foot = f"{machine['processor']}, {machine['lanes']} doubles per vector; Pinocchio {versions['Pinocchio']}"
    foot += "; logarithmic scale; ns per state in the bars"
    figure.text(0.99, 0.01, foot, ha="right", va="bottom", fontsize=8, color="#606060")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path)
    plt.close(figure)


def plot_growth(results: dict[str, Any], path: Path):
    """Operations and time of an eel against its links, with the exponents fitted."""
    rows, powers = results["growth"]["rows"], results["growth"]["exponents"]
    links = [row["links"] for row in rows]
    lines = {
        RECURSION: ("#1f5fa8", "o", "recursion (khalil-moving)"),
        BLOCK: ("#e0862a", "s", "inertia matrix and LDLᵀ (crba-ldl)"),
        ABA: ("#808080", "^", "Pinocchio, aba, one call per state"),
    }
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 4.1), dpi=160)
    for axes, what, title in (
        (panels[0], "operations", "mul + add per state"),
        (panels[1], "times", "ns per state, one core"),
    ):
        for name, power in powers[what].items():
            values = [row["times"][name]["ns"] if what == "times" else row["operations"][name] for row in rows]
            color, marker, label = lines[name]
            axes.plot(links, values, color=color, marker=marker, ms=4.5, lw=1.6, label=label)
            axes.annotate(
                f"$n^{{{power:.2f}}}$",
                (links[-1], values[-1]),
                (6, SHIFT[name]),
                textcoords="offset points",
                va="center",
                color=color,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(links[0] * 0.9, links[-1] * 1.6)
        axes.set_xticks(links, [str(n) for n in links])
        axes.minorticks_off()
        axes.set_xlabel("links of the eel")
        axes.set_title(title, loc="left", fontsize=11)
        axes.grid(color="#e0e0e0", lw=0.8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.suptitle("Forward dynamics on a floating base, against the number of links", x=0.01, ha="left", fontsize=13)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="lower center", ncols=3, fontsize=9, bbox_to_anchor=(0.5, 0.035))
    foot = f"exponents fitted from {LONG} links on; batches of 4096 states; {results['machine']['processor']}"
    figure.text(0.99, 0.01, foot, ha="right", va="bottom", fontsize=8, color="#606060")
    figure.tight_layout(rect=(0, 0.09, 1, 0.98))
    figure.savefig(path)
    plt.close(figure)
