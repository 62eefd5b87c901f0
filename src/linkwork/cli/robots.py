"""``linkwork robots`` and ``linkwork inspect``: what there is, and what a robot is made of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from rich.tree import Tree

from .. import inspection
from ..formulations import METHODS, QUANTITIES, VARIABLES, drives_of
from ..inspection.facts import JOINT_VALUES, carrier, ground, screws
from ..inspection.states import INERTIA, STIFFNESS, VISCOUS, entries, unit
from ..inspection.tables import further_tables
from ..io.mdh_drives import written_friction
from ..model import Model
from ..quoting import printable
from .common import Json, Source, console, print_json, say, show, takes_robot

WIDEST = 10_000  # columns
ROUNDING = 1e-15  # SI: less is none
OF_LOOPS = (
    "platform_jacobian", "constraint_forces", "conditioning", "loop_rates", "loop_residual", "torque_projector",
)  # fmt: skip


def robots(json: Json = False) -> None:
    """List the bundled robots.

    \b
    linkwork robots
    """
    rows = inspection.robots()
    if json:
        print_json(rows)
        return
    brief = [re.split(r"[;:]|\.", row["description"])[0] for row in rows]
    shown = [
        [row["robot"], row["joints"], row["freedoms"], row["structure"], what]
        for row, what in zip(rows, brief, strict=True)
    ]
    show("", ["robot", "joints", "freedoms", "structure", "description"], shown)
    say("linkwork inspect ROBOT shows the values, and the sources in full.", "dim")


@takes_robot
def inspect(source: Source, json: Json = False) -> None:
    """Show what a robot is made of: tree, joints, inertias, frames, placements, and the methods that apply.

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
    _show_joints(model, facts["joints"])
    _show_further_friction(model)
    _show_transmissions(model)
    for table in further_tables(model):
        show(*table)
    _show_vectors(model)
    _show_inertias(facts["bodies"])
    _show_placements(model)
    _show_frames(model, facts["frames"])
    _show_methods(facts["methods"])
    several, lacks = {m.quantity for m in METHODS}, () if model.loops else OF_LOOPS
    alone = [
        name
        for name, quantity in QUANTITIES.items()
        if name not in (*several, *lacks) and (model.feet or "contacts" not in quantity.inputs)
    ]
    say("Quantities with one form: " + ", ".join(alone), "dim")
    for key, reference in facts["sources"].items():
        say(f"Source {key}: {reference}", "dim")


def _tree(model: Model) -> str:
    """The bodies, each under the one that carries it, in lines as long as they are."""
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


# -- tables ------------------------------------------------------------------------------------------------------


def _show_summary(model: Model, facts: Mapping[str, Any]) -> None:
    say(f"{model.name}: {facts['description']}" if facts["description"] else model.name, "bold")
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    bodies = sum(joint.kind.free for joint in model.coordinates.joints) - model.moving_base
    beside = f", {bodies} floating bod{'y' if bodies == 1 else 'ies'}" if bodies and not model.loops else ""
    say(f"{facts['base']} base, {len(model.position_names)} joints{beside}, nq = {model.nq}, nv = {model.nv}")
    say(f"mass {facts['total_mass']:g} kg ({facts['moving_mass']:g} kg moving), gravity ({gravity}) m/s^2")


def _show_joints(model: Model, joints: list[dict[str, Any]]) -> None:
    position, speed, effort = (unit(model, VARIABLES[vector].unit, base=False) for vector in ("q", "v", "tau"))
    inertia, viscous, stiffness = (unit(model, own, base=False) for own in (INERTIA, VISCOUS, STIFFNESS))
    bound = lambda value: float(value) if math.isfinite(value) else None  # noqa: E731
    limits = [f"lower\n{position}", f"upper\n{position}", f"speed\n{speed}", f"effort\n{effort}"]
    rows = [
        [j["name"], j["kind"], j["role"], *(bound(j[name]) for name in JOINT_VALUES[:4]), _follows(j["mimic"])]
        for j in joints
    ]
    show("Joints", ["joint", "kind", "role", *limits, "follows"], rows)
    own = [f"rotor inertia\n{inertia}", f"Coulomb\n{effort}", f"viscous\n{viscous}", f"stiffness\n{stiffness}"]
    shown = [[j["name"], *(j[name] or None for name in JOINT_VALUES[4:])] for j in joints]
    if any(value is not None for row in shown for value in row[1:]):
        show("Joints' own inertia, friction and springs", ["joint", *own, f"rest\n{position}"], shown)
    elif joints:
        but = " but the links that bend" if any(j["role"] == "elastic" for j in joints) else ""
        say(f"No joint{but} has rotor inertia, friction or a spring.\n")


def _show_further_friction(model: Model) -> None:
    drives = [(drive, getattr(drive, "name", "")) for drive in drives_of(model)]
    rows = [
        [name, law.formula, ", ".join(f"{key} {x:g}" for key, x in written_friction(drive)[law.name].items())]
        for drive, name in drives
        for law in drive.friction
    ]
    smooth = [(name, drive.friction_width) for drive, name in drives if drive.friction_width]
    rows += [[name, "smooth within a velocity", f"width {width:g}"] for name, width in smooth]
    if rows:
        show("Further laws of friction", ["of", "law", "numbers\nSI"], rows)


def _show_transmissions(model: Model) -> None:
    """Velocities of motors per velocity of joints, and what the motors have of their own, before the gears."""
    for each in model.transmissions:
        own = {"rotor inertia\nkg m^2": "rotor_inertia", "Coulomb\nN m": "coulomb", "viscous\nN m s": "viscous"}
        if any(motor.stiffness or not motor.driven for motor in each.motors):
            own |= {"stiffness\nN m": "stiffness", "rest\nrad": "rest", "slack\nrad": "slack", "role": "role"}
        rows = [
            [motor.name, *map(float, row), *(getattr(motor, field) or None for field in own.values())]
            for motor, row in zip(each.motors, each.matrix, strict=True)
        ]
        show(f"Transmission {each.name}: motors per joint", ["motor", *each.joints, *own], rows)


def _show_vectors(model: Model) -> None:
    """What stands in which vector, and home."""
    what = {
        "q": "positions of all joints",
        "v": "independent velocities, and accelerations a",
        "tau": "forces: motors, and what they leave free",
        "a_known": "driven: hybrid_dynamics is given their accelerations",
        "tau_known": "free: hybrid_dynamics is given the forces on them",
        **({"commands": "of thrusters, rotors, ..."} if model.commands.size else {}),
        **({"contacts": "1 for a foot on the ground, else 0"} if model.feet else {}),
    }
    rows = [[name, len(held := entries(model, name)), text, ", ".join(held) or None] for name, text in what.items()]
    show("Vectors", ["vector", "size", "what", "entries"], rows)
    if model.home:
        show("Home", ["", "q"], [[name, _clean(x)] for name, x in zip(entries(model, "q"), model.home, strict=True)])


def _clean(value: float) -> float:
    return float(value) if abs(value) > ROUNDING else 0.0


def _follows(mimic: dict[str, Any] | None) -> str | None:
    if mimic is None:
        return None
    times = f"{mimic['multiplier']:g} " if mimic["multiplier"] != 1 else ""
    return f"{times}{mimic['joint']}" + (f" + {mimic['offset']:g}" if mimic["offset"] else "")


def _show_inertias(bodies: list[dict[str, Any]]) -> None:
    headers = ["body", "mass\nkg", *(f"centre {axis}\nm" for axis in "xyz")]
    show("Masses, in link frames, with all that is fixed to the link", headers, [
        [body["name"], body["mass"], *map(float, body["center"])] for body in bodies
    ])  # fmt: skip
    elements = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    show("Inertias about the centre of mass, in link axes", ["body", *(f"{name}\nkg m^2" for name in elements)], [
        [body["name"], *(_clean(body["central_inertia"][at]) for at in elements.values())] for body in bodies
    ])  # fmt: skip


def _show_placements(model: Model) -> None:
    """Rows of z-x-z screws, as in a modified Denavit-Hartenberg table, one more row for each pair beyond."""
    rows: list[list[object]] = []
    for body in model.bodies:
        parent = carrier(model, body.parent)
        chain = screws(body.joint)
        if not chain:
            continue
        if len(chain) == 1 and chain[0][0] == "z":
            chain.insert(0, ("x", 0.0, 0.0, ""))
        if chain[0][0] == "x":
            chain.insert(0, ("z", 0.0, 0.0, ""))
        pairs = [_pair(*screw) for screw in chain]
        pairs += [(None, None)] * (3 - len(pairs))  # a joint without a z axis of its own
        while len(pairs) > 3:
            rows.append([body.name, parent, *pairs[0], *pairs[1], None, None])
            pairs, parent = pairs[2:], ""
        rows.append([body.name, parent, *pairs[0], *pairs[1], *pairs[2]])
    headers = ["body", "parent", "gamma\nrad", "b\nm", "alpha\nrad", "d\nm", "theta\nrad", "r\nm"]
    show("Placements: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)", headers, rows)


def _pair(axis: str, angle: float, length: float, moves: str) -> tuple[object, object]:
    plus = lambda value: f"q {'+' if value > 0 else '-'} {abs(value):.6g}" if value else "q"  # noqa: E731
    return (
        plus(angle) if moves in ("angle", "both") else angle,
        plus(length) if moves in ("length", "both") else length,
    )


def _show_frames(model: Model, frames: list[dict[str, Any]]) -> None:
    headers = ["frame", "fixed to", "x\nm", "y\nm", "z\nm", "roll\nrad", "pitch\nrad", "yaw\nrad"]
    rows = [[f["name"], f["body"], *map(float, f["origin"]), *map(float, f["rpy"])] for f in frames]
    show("Frames, in the frame of the body they are fixed to", headers, rows)


def _show_methods(methods: list[dict[str, Any]]) -> None:
    """Those that apply; of the others, why not."""
    able = [[m["quantity"], m["method"], m["summary"]] for m in methods if not m["refusal"]]
    show("Methods that apply", ["quantity", "method", "what"], able)
    refused: dict[tuple[str, str], list[str]] = {}
    for m in methods:
        if m["refusal"]:
            refused.setdefault((m["quantity"], m["refusal"]), []).append(m["method"])
    for (quantity, refusal), names in refused.items():
        say(f"Not {quantity} by {', '.join(names)}: {refusal}.", "dim")
