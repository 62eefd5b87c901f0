"""``linkwork robots`` and ``linkwork inspect``: the bundled robots, and the parts of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.tree import Tree

from .. import inspection
from ..errors import counted
from ..formulations import METHODS, QUANTITIES
from ..inspection import tables
from ..inspection.facts import ground
from ..model import Model
from ..quoting import printable
from .common import Json, Source, takes_robot
from .printing import console, print_json, say, show

WIDEST = 10_000  # columns


def robots(json: Json = False) -> None:
    """List the bundled robots.

    \b
    linkwork robots
    """
    rows = inspection.robots()
    if json:
        print_json(rows)
        return
    show(tables.robots_table(rows))


@takes_robot
def inspect(source: Source, json: Json = False) -> None:
    """Show a robot: its tree, joints, inertias, frames and placements, and the methods that work for it.

    \b
    linkwork inspect panda
    linkwork inspect my_robot.urdf --base floating --lock finger_joint=0.02
    """
    robot = source.load()
    model, facts = robot.model, inspection.inspect(robot)
    if json:
        print_json(facts)
        return
    _show_summary(model, facts)
    print(f"\n{_tree(model)}")
    for table in (
        *tables.joint_tables(model, facts["joints"]),
        *tables.element_tables(model),
        *tables.vector_tables(model),
        *tables.inertia_tables(facts["bodies"]),
        tables.placements(model),
        tables.frames(facts["frames"]),
        tables.methods(facts["methods"]),
    ):
        show(table)
    several = {m.quantity for m in METHODS}
    alone = [name for name, each in QUANTITIES.items() if name not in several and each.applies_to(model)]
    say("Quantities with one method: " + ", ".join(alone), "dim")
    for key, reference in facts["sources"].items():
        say(f"Source {key}: {reference}", "dim")


def _tree(model: Model) -> str:
    """Draw the tree of bodies, in lines that are not wrapped."""
    tree = Tree(printable(ground(model)))
    branches = {0: tree}
    for i, body in enumerate(model.bodies, 1):
        joint = body.joint
        branches[i] = branches[body.parent].add(printable(f"{body.name}  ({joint.name}: {joint.kind.name})"))
    screen = console()
    screen.width = WIDEST
    with screen.capture() as captured:
        screen.print(tree)
    return "".join(f"  {line.rstrip()}\n" for line in captured.get().splitlines())


def _show_summary(model: Model, facts: Mapping[str, Any]) -> None:
    say(f"{model.name}: {facts['description']}" if facts["description"] else model.name, "bold")
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    bodies = sum(joint.kind.free for joint in model.coordinates.joints) - model.moving_base
    floating = f", {bodies} floating bod{'y' if bodies == 1 else 'ies'}" if bodies and not model.constrained else ""
    joints = counted(len(model.position_names), "joint")
    say(f"{facts['base']} base, {joints}{floating}, nq = {model.nq}, nv = {model.nv}")
    say(f"mass {facts['total_mass']:g} kg ({facts['moving_mass']:g} kg moving), gravity ({gravity}) m/s^2")
