"""``linkwork demo``: a robot's dynamics by every formulation, checked against each other, counted and timed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import typer

from .. import inspection
from ..errors import LinkworkError, counted
from ..formulations import sizes
from ..inspection import tables
from ..inspection.agreement import STATES
from ..inspection.speed import TIMED, describe_host, host_facts, measure
from ..inspection.states import entries
from ..robot import Robot
from ..sim import rest
from .common import Json, Source, takes_robot
from .printing import print_json, progress, say, show

STILL = 1e-9  # N, N m, rad/s^2, m/s^2: less is rounding
SHOWN = 3  # motors that move


@takes_robot
def demo(source: Source = "panda", json: Json = False) -> None:  # type: ignore[assignment]
    """Check, count and time all formulations of a robot in a minute.

    \b
    linkwork demo
    linkwork demo my_robot.urdf
    """
    start = time.perf_counter()
    robot, loaded = source.load(), time.perf_counter() - start
    if not robot.nv:
        raise LinkworkError(
            "this robot does not move, so there is nothing to show", where=source.name, fix="choose a robot with joints"
        )
    with progress("compiling every formulation and comparing"):
        checks = inspection.checks(robot)
    speed = []
    for quantity in TIMED:
        with progress(f"timing {quantity}"):
            speed.append(measure(robot, quantity, 4096, repeats=5))
    failed = [check for check in checks if not check["agrees"]]
    if json:
        print_json({"robot": robot.name, "states": STATES, "checks": checks, "speed": speed, "host": host_facts()})
    else:
        size = f"{counted(len(robot.position_names), 'joint')}, {robot.model.base} base"
        say(f"{robot.name}: {size}, loaded in {1e3 * loaded:.0f} ms", "bold")
        show(tables.agreement(f"Agreement at {STATES} random states", checks))
        show(tables.speed("Operations per state, and native speed in batches of 4096", speed))
        say(describe_host() + "\n", "dim")
        _say_next(source.name, robot, time.perf_counter() - start, failed)
    if failed:
        raise typer.Exit(1)


def _say_next(name: str, robot: Robot, took: float, failed: list[dict[str, Any]]) -> None:
    say(f"{len(failed)} checks failed; see above." if failed else f"All agree. {took:.1f} s in all. What to try next:")
    if failed:
        return
    options, shows = showing(robot)
    commands = {
        f"linkwork eval {name} gravity": "joint forces that hold it up",
        f"linkwork inspect {name}": "joints, inertias, frames",
        f"linkwork compare {name}": "all methods compared",
        f"linkwork count {name}": "operations, method by method",
        f"linkwork simulate {name}{options}": shows,
        f"linkwork report {name}": "a report about it on one page",
        f"linkwork view {name}": "the robot in a browser",
        "linkwork check FILE.urdf": "mistakes in a robot file of your own",
        "linkwork --help": "all commands",
    }
    width = max(map(len, commands))
    for command, what in commands.items():
        print(f"  {command:{width}}  {what}")  # not by `say`: a path must not be wrapped


def showing(robot: Robot) -> tuple[str, str]:
    """Return options of ``linkwork simulate`` that show this robot in motion, and a description of that motion."""
    model, q, none = robot.model, rest(robot.model), np.zeros(robot.nv)
    names, motors = model.coordinates.names, model.motor_places()
    hold = f" --goal {names[motors[0]]}={q[motors[0]]:g}" if motors else ""  # the others stay, too
    if model.switched:
        return f" --contacts events --control pd --kp 1000{hold}", "let it stand on the ground"
    if n := model.commands.size:
        base = [k for k in range(robot.nv) if model.coordinates.joint_of(k).kind.free]
        weight, *ones = (robot.inverse_dynamics(q, none, none, commands=u)[base] for u in (np.zeros(n), *np.eye(n)))
        if not np.abs(weight).max(initial=0.0) > STILL:
            return f" --commands {model.commands.names[0]}=1", "let a thruster push it"
        lifting = np.linalg.lstsq(np.stack(ones, axis=-1) - weight[:, None], -weight)[0]
        return f" --commands {','.join(f'{u:.4g}' for u in lifting)}{hold}", "let it hover"
    if np.abs(robot.forward_dynamics(q, none, np.zeros(sizes(model)["tau"]))).max(initial=0.0) > STILL:
        return "", "let it fall"
    if not motors:
        return f" --v0 {','.join(f'{name}=1' for name in entries(model, 'v'))}", "give it a push"
    way = np.minimum(0.25 * (model.coordinates.upper - q), 1.0)
    goals = (f"{names[k]}={q[k] + way[k] / (1 + i):.3g}" for i, k in enumerate(motors[:SHOWN]))
    return f" --goal {','.join(goals)}", "let its motors move"
