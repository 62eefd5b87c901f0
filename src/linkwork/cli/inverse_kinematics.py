"""``linkwork ik``: joint positions at which a frame has a pose."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from ..errors import LinkworkError
from ..inspection.states import entries, unit
from ..kinematics import Orientation, Pose, Position
from ..rotations import exp, make_pose
from ..table import Table
from .common import Json, Source, flag, numbers, option, takes_robot
from .printing import print_json, progress, say, show
from .states import parse


@takes_robot
def inverse_kinematics(
    source: Source,
    *,
    frame: Annotated[str, option("FRAME", "The link or frame that moves to the target.")],
    xyz: Annotated[str | None, option("X,Y,Z", "Position of the frame in the world, m.")] = None,
    rpy: Annotated[str | None, option("R,P,Y", "Orientation: rotations about the fixed axes x, y, z, rad.")] = None,
    guess: Annotated[str | None, option("VALUES", "Positions q at which to start. Default: home.")] = None,
    every: Annotated[bool, flag("--all", "Print all solutions, nearest to the guess first.")] = False,
    limits: Annotated[bool, typer.Option("--limits/--no-limits", help="Keep joints within their limits.")] = True,
    json: Json = False,
) -> None:
    """Solve for joint positions at which a frame has a position, an orientation or both.

    If the target is out of reach, the nearest positions are printed, and the exit code is 1.

    \b
    linkwork ik panda --frame panda_link8 --xyz 0.4,0.1,0.5 --rpy 3.14,0,0
    linkwork ik ur5e --frame tool0 --xyz 0.4,0.1,0.5 --rpy 3.14,0,0 --all
    linkwork ik quadruped --frame front_left_foot --xyz 0.2,0.1,-0.3
    """
    if xyz is None and rpy is None:
        raise LinkworkError("there is no target", where="ik", fix="give --xyz X,Y,Z, --rpy R,P,Y, or both")
    robot = source.load()
    names = entries(robot.model, "q")
    p, angles = (None if text is None else _three(text, name) for text, name in ((xyz, "--xyz"), (rpy, "--rpy")))
    R = None if angles is None else exp(angles * [0, 0, 1]) @ exp(angles * [0, 1, 0]) @ exp(angles * [1, 0, 0])
    task = Orientation(frame, R) if p is None else Position(frame, p) if R is None else Pose(frame, make_pose(R, p))
    start = None if guess is None else parse(robot.model, "q", guess, "--guess")
    with progress("solving"):
        result = robot.inverse_kinematics(task, guess=start, limits=limits, solutions="all" if every else "one")
    solutions, reached = np.atleast_2d(result.q), np.atleast_1d(result.solved)
    if json:
        print_json({
            "robot": robot.name, "frame": frame, "target": task.targets["target"], "labels": names, "q": result.q,
            "solved": result.solved, "error": result.error, "iterations": result.iterations, "unseen": result.unseen,
        })  # fmt: skip
    else:
        shown = [(str(number), unit(robot.model, ("rad", "m"))) for number in range(1, len(solutions) + 1)]
        heads = shown if every else [("q", shown[0][1])]
        rows = [[name, *column] for name, column in zip(names, solutions.T.tolist(), strict=True)]
        show(Table(f"{robot.name}: joint positions for {frame}", ["", *heads], rows))
        if not reached.any():
            say(f"Out of reach: these are the nearest positions, with an error of {np.min(result.error):.3g} (m, rad).")
        elif every and result.unseen:
            say(f"At most {100 * result.unseen:.2g} % of starts lead to other solutions (95 % confidence).", "dim")
    if not reached.any():
        raise typer.Exit(1)


def _three(text: str, name: str) -> np.ndarray:
    values = np.array(numbers(text, name))
    if values.shape != (3,) or not np.isfinite(values).all():
        raise LinkworkError("wrong values", where=name, got=text, expected="three finite numbers")
    return values
