"""Pictures of the page "Maps": the workspace and the payload of the Panda, singularities of parallel robots.

``make docs-tables`` runs this.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import styled
from linkwork.kinematics import Map, Pose, Position, Task

PICTURES = Path(__file__).parent / "pictures"
HAND = "panda_link8"


def panda() -> None:
    """Draw where the hand can be, and what it can lift."""
    robot = linkwork.load("panda")
    robot.workspace(HAND, cells=60, samples=10_000_000).plot(PICTURES / "map-workspace.png")
    section = {"plane": "xz", "cells": 100, "samples": 10_000_000}
    maps = [robot.workspace(HAND, quantity, **section) for quantity in ("payload", "dexterity")]
    with styled():
        figure = Figure((11, 4.6))
        for axes, each in zip(figure.subplots(1, 2), maps, strict=True):
            each.plot(axes=axes)
        figure.suptitle("panda: what it lifts in the plane y = 0, and in how many orientations")
        figure.savefig(PICTURES / "map-payload.png")


def branches(name: str, task: Task) -> list[Map]:
    """Return a map of the conditioning for each solution of a task."""
    robot = linkwork.load(name)
    starts = robot.inverse_kinematics(task, solutions="all").require()
    return [
        robot.workspace("tool", "conditioning", start=q, cells=150) for q in starts[np.isfinite(starts).all(axis=1)]
    ]


def draw(maps: Sequence[Map], columns: int, size: tuple[float, float], title: str, path: str) -> None:
    """Draw maps next to each other, with the same axes."""
    with styled():
        figure = Figure(size)
        panels = figure.subplots(-(-len(maps) // columns), columns, sharex=True, sharey=True)
        for axes, each in zip(panels.flat, maps, strict=True):
            each.plot(axes=axes)
        figure.suptitle(title)
        figure.savefig(PICTURES / path)


if __name__ == "__main__":
    panda()
    five_bar = branches("five-bar", Position("tool", [0.05, 0.3, 0]))
    draw(five_bar, 2, (10, 8), "five-bar: conditioning in each working mode; black: singular", "map-five-bar.png")
    middle = linkwork.load("3rrr")
    triangle = branches("3rrr", Pose("tool", middle.pose("tool", middle.home)))
    draw(triangle, 4, (15, 6.5), "3rrr: conditioning in each working mode; black: singular", "map-3rrr.png")
