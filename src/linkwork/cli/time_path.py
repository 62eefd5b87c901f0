"""``linkwork time-path``: the fastest motion along a path, its file and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..errors import ShapeError
from ..kinematics.timed_path import Limits, TimedPath
from ..table import Column, Table
from .common import PICTURES, Json, Plot, Source, named_numbers, number, numbers, option, require_suffix, takes_robot
from .printing import print_json, progress, say, show
from .simulate import TRAJECTORIES
from .states import SUFFIXES, read_states


def _limits(text: str | None, option: str) -> Any:
    """Parse one number, numbers in the order of the joints, or numbers by joint."""
    if text is None:
        return None
    if "=" in text:
        return {
            name.strip(): number(value, option) for name, _, value in (each.rpartition("=") for each in text.split(","))
        }
    values = numbers(text, option)
    return values if len(values) > 1 else values[0]


def _limit(what: str, default: str) -> Any:
    return option("LIMITS", f"Largest {what}: one number, one per joint, or joint1=1,... Default: {default}.")


@takes_robot
def time_path(
    source: Source,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="Points of the path: .csv, .npz or .npy.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ],
    velocity: Annotated[str | None, _limit("velocities, rad/s (m/s)", "those of the robot")] = None,
    acceleration: Annotated[str | None, _limit("accelerations, rad/s^2 (m/s^2)", "none")] = None,
    torque: Annotated[str | None, _limit("joint forces, N m (N)", "those of the robot")] = None,
    inputs: Annotated[
        list[str] | None,
        option("NAME=VALUES", "Other numbers of the robot: payload:FRAME=..., gravity=0,0,-1.62; may be repeated."),
    ] = None,
    degree: Annotated[int, option(None, "Degree of the spline through the points: 3 or 5.")] = 3,
    gridpoints: Annotated[
        int | None,
        option(None, "Number of equal steps plus one, on which limits hold. Default: 100 or more, and finer ends."),
    ] = None,
    dt: Annotated[float, option("SECONDS", "Time step of the file.")] = 1e-3,
    output: Annotated[
        Path | None, option("FILE", f"File for the motion: {', '.join(TRAJECTORIES)}.", "--output", "-o")
    ] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Find the fastest motion along a path within limits of velocity, acceleration and torque.

    PATH has one row per point, as eval reads states: in CSV with a column q:JOINT for each joint, in NPZ an array q. A
    spline passes through the points.

    \b
    linkwork time-path panda path.csv -o motion.npz --plot motion.png
    linkwork time-path ur5e path.csv --acceleration 20 --torque shoulder_pan_joint=80
    linkwork time-path ur5e path.csv --inputs payload:tool0=3,0,0,0.05,0,0,0,0,0,0
    """
    require_suffix("PATH", path, SUFFIXES)
    require_suffix("--output", output, TRAJECTORIES)
    require_suffix("--plot", plot, PICTURES)
    robot = source.load()
    points = read_states(path, robot.model, ["q"])["q"]
    if points.ndim != 2:
        raise ShapeError("this is not one path", where=str(path), got=points.shape, expected=f"(points, {robot.nq})")
    options: dict[str, Any] = {
        "velocity": _limits(velocity, "--velocity"),
        "acceleration": _limits(acceleration, "--acceleration"),
        "torque": _limits(torque, "--torque"),
        "inputs": dict(named_numbers(text) for text in inputs or ()),
    }
    with progress("compiling and timing"):
        timed = robot.time_path(points, degree=degree, gridpoints=gridpoints, **options).require()
    motion = timed.trajectory(dt)
    if output is not None:
        motion.save(output)
    if plot is not None:
        timed.plot(plot)
    if json:
        print_json(summary(timed))
        return
    show_motion(timed)
    for file in (output, plot):
        if file is not None:
            say(f"wrote {file}")


def summary(timed: TimedPath) -> dict[str, Any]:
    """Return the data that ``--json`` prints."""
    joints = timed.robot.coordinates.velocity_names
    steps = np.diff(timed.t)
    names, places = np.unique(timed.limiting, return_inverse=True)
    shares = np.bincount(places, weights=steps) / steps.sum()
    largest = timed.shares.max(axis=0)
    return {
        "robot": timed.robot.name,
        "duration": timed.duration,
        "limiting": dict(zip(names.tolist(), shares.tolist(), strict=True)),
        "shares": {kind: dict(zip(joints, largest[k].tolist(), strict=True)) for k, kind in enumerate(Limits._fields)},
    }


def show_motion(timed: TimedPath) -> None:
    """Show the duration, and how far each joint uses its limits."""
    found = summary(timed)
    kinds = Limits._fields
    title = f"{timed.robot.name}: {timed.duration:.4g} s; largest shares of limits, and of the time at one of them"
    columns = ["", *(Column(kind, digits=3) for kind in (*kinds, "limiting"))]
    rows = []
    for joint in timed.robot.coordinates.velocity_names:
        limiting = sum(found["limiting"].get(f"{kind} {joint}", 0.0) for kind in kinds)
        rows.append([joint, *(found["shares"][kind][joint] for kind in kinds), limiting])
    show(Table(title, columns, rows))
