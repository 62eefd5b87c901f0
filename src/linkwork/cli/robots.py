"""``linkwork robots`` and ``linkwork inspect``: what there is, and what a robot is made of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.tree import Tree

from .. import io
from ..formulations import METHODS, QUANTITIES, VARIABLES
from ..io.mdh import ILLUSTRATIVE
from ..io.rpy import rpy_from_rotation
from ..model import Joint, Model, describe
from ..robot import Robot, load
from .common import Json, Source, console, print_json, say, show, takes_robot
from .states import entries, unit

WIDEST = 10_000  # columns
JOINT_VALUES = (
    "lower", "upper", "velocity_limit", "effort_limit", "rotor_inertia", "coulomb", "viscous", "stiffness", "rest",
)  # fmt: skip


def robots(json: Json = False) -> None:
    """List the bundled robots.

    \b
    linkwork robots
    """
    rows = []
    for name in io.bundled_robots():
        model = load(name).model
        rows.append(
            {
                "robot": name,
                "joints": len(model.position_names),
                "freedoms": model.nv,
                "base": "floating" if model.moving_base else "fixed",
                "structure": structure(model),
                "description": model.summary,
                "sources": _references(model.sources),
            }
        )
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


def structure(model: Model) -> str:
    """In a few words: chain or tree, loops, elastic and passive joints, a moving base."""
    words = ["chain" if model.serial and not model.loops else "tree"]
    if model.loops:
        words = [f"{len(model.loops)} loop{'s' if len(model.loops) > 1 else ''}"]
    if any(joint.role == "elastic" for joint in model.leading_joints):
        words.append("elastic")
    if model.floating:
        words.append("floating base" if model.moving_base else "platform")
    return ", ".join(words)


def _references(sources: Mapping[str, str]) -> dict[str, str]:
    """The sources that values refer to: key -> reference."""
    keys = dict.fromkeys(key for key in sources.values() if key in sources or key == ILLUSTRATIVE)
    return {key: sources.get(key, "values of no real robot, plausible ones") for key in keys}


@takes_robot
def inspect(source: Source, json: Json = False) -> None:
    """Show what a robot is made of: tree, joints, inertias, frames, placements, and the methods that apply.

    \b
    linkwork inspect panda
    linkwork inspect my_robot.urdf --base floating --lock finger_joint=0.02
    """
    model = source.load().model
    facts = _facts(model)
    if json:
        print_json(facts)
        return
    _show_summary(model, facts)
    print(f"\n{_tree(model)}")
    _show_joints(model, facts["joints"])
    if model.loops or len(model.mobility.free) > (6 if model.moving_base else 0):
        _show_mobility(model)
    _show_inertias(facts["bodies"])
    _show_placements(model)
    _show_frames(model, facts["frames"])
    _show_methods(facts["methods"])
    alone = [name for name in QUANTITIES if name not in {m.quantity for m in METHODS}]
    say("Quantities with one form: " + ", ".join(alone), "dim")
    for key, reference in facts["sources"].items():
        say(f"Source {key}: {reference}", "dim")


def _tree(model: Model) -> str:
    """The bodies, each under the one that carries it, in lines as long as they are."""
    tree = Tree(_ground(model))
    branches = {0: tree}
    for i, body in enumerate(model.bodies, 1):
        joint = body.joint
        branches[i] = branches[body.parent].add(f"{body.name}  ({joint.name}: {joint.kind.name})")
    screen = console()
    screen.width = WIDEST
    with screen.capture() as captured:
        screen.print(tree)
    return "".join(f"  {line.rstrip()}\n" for line in captured.get().splitlines())


def _ground(model: Model) -> str:
    return "ground" if model.moving_base else model.root


def _carrier(model: Model, body: int) -> str:
    return model.body(body).name if body else _ground(model)


def _facts(model: Model) -> dict[str, Any]:
    """All there is to know, ready for JSON."""
    inertias = {link.name: link.inertia for link in describe(model).links}
    return {
        "robot": model.name,
        "description": model.summary,
        "base": "floating" if model.moving_base else "fixed",
        "structure": structure(model),
        "nq": model.nq,
        "nv": model.nv,
        "gravity": list(model.gravity),
        "total_mass": model.base_inertia.mass + sum(body.inertia.mass for body in model.bodies),
        "moving_mass": sum(body.inertia.mass for body in model.bodies),
        "joints": [_joint(body.joint) for body in model.bodies if not body.joint.floating],
        "bodies": [
            {
                "name": body.name,
                "parent": _carrier(model, body.parent),
                "joint": body.joint.name,
                "mass": body.inertia.mass,
                "center": inertia.center if (inertia := inertias[body.name]) else np.zeros(3),
                "central_inertia": inertia.central if inertia else np.zeros((3, 3)),
                "parameters": parameters,
                "placement": [_screw(*screw) for screw in _screws(body.joint)],
            }
            for body, parameters in zip(model.bodies, Robot(model).parameters, strict=True)
        ],
        "frames": [
            {
                "name": frame.name,
                "body": _carrier(model, frame.body),
                "origin": list(frame.pose.origin),
                "rpy": rpy_from_rotation(np.array([list(row) for row in frame.pose.rotation.rows], float)),
            }
            for frame in model.frames.values()
        ],
        "loops": [
            {
                "name": loop.name,
                "kind": loop.kind,
                "first": _carrier(model, loop.first.body),
                "second": _carrier(model, loop.second.body),
            }
            for loop in model.loops
        ],
        "home": list(model.home),
        "vectors": {vector: entries(model, vector) for vector in ("q", "v", "tau", "a_known", "tau_known")},
        "forces": [{"frame": frame.name, "law": repr(law)} for frame, law in model.forces],
        "methods": [
            {"quantity": m.quantity, "method": m.name, "summary": m.summary, "refusal": m.refusal(model)}
            for m in METHODS
        ],
        "sources": _references(model.sources),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    mimic = {"joint": joint.leader, "multiplier": joint.multiplier, "offset": joint.offset} if joint.leader else None
    return {
        "name": joint.name,
        "kind": joint.kind.name,
        "role": joint.role,
        **{name: getattr(joint, name) for name in JOINT_VALUES},
        "mimic": mimic,
    }


def _screws(joint: Joint) -> list[tuple[str, float, float, str]]:
    """Axis, angle, length and what the joint's position adds to, outward from the parent."""
    constant = [(screw.axis, screw.angle, screw.length, "") for screw in joint.placement]
    if joint.floating:
        return constant
    return [*constant, ("z", joint.angle, joint.length, "length" if joint.prismatic else "angle")]


def _screw(axis: str, angle: float, length: float, moves: str) -> dict[str, Any]:
    return {"axis": axis, "angle": angle, "length": length, "moves": moves or None}


# -- tables ------------------------------------------------------------------------------------------------------


def _show_summary(model: Model, facts: Mapping[str, Any]) -> None:
    say(f"{model.name}: {facts['description']}" if facts["description"] else model.name, "bold")
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    say(f"{facts['base']} base, {len(model.position_names)} joints, nq = {model.nq}, nv = {model.nv}")
    say(f"mass {facts['total_mass']:g} kg ({facts['moving_mass']:g} kg moving), gravity ({gravity}) m/s^2")


def _show_joints(model: Model, joints: list[dict[str, Any]]) -> None:
    position, speed, effort = (unit(model, VARIABLES[vector], base=False) for vector in ("q", "v", "tau"))
    bound = lambda value: float(value) if math.isfinite(value) else None  # noqa: E731
    limits = [f"lower\n{position}", f"upper\n{position}", f"speed\n{speed}", f"effort\n{effort}"]
    rows = [
        [j["name"], j["kind"], j["role"], *(bound(j[name]) for name in JOINT_VALUES[:4]), _follows(j["mimic"])]
        for j in joints
    ]
    show("Joints", ["joint", "kind", "role", *limits, "follows"], rows)
    own = ["rotor inertia\nkg m^2", f"Coulomb\n{effort}", f"viscous\n{effort} s", "stiffness\nSI", f"rest\n{position}"]
    shown = [[j["name"], *(j[name] or None for name in JOINT_VALUES[4:])] for j in joints]
    if any(value is not None for row in shown for value in row[1:]):
        show("Joints' own inertia, friction and springs", ["joint", *own], shown)
    else:
        say("No joint has rotor inertia, friction or a spring.\n")


def _show_mobility(model: Model) -> None:
    """Loops, home, and what stands in which vector."""
    if model.loops:
        rows = [[x.name, x.kind, _carrier(model, x.first.body), _carrier(model, x.second.body)] for x in model.loops]
        show("Loops: cut joints", ["loop", "kind", "first on", "second on"], rows)
    what = {
        "q": "positions of all joints",
        "v": "independent velocities, and accelerations a",
        "tau": "forces: motors, and what they leave free",
        "a_known": "driven: hybrid_dynamics is given their accelerations",
        "tau_known": "free: hybrid_dynamics is given the forces on them",
    }
    rows = [[name, len(held := entries(model, name)), text, ", ".join(held) or None] for name, text in what.items()]
    show("Vectors", ["vector", "size", "what", "entries"], rows)
    if model.loops:
        names = entries(model, "q")
        show("Home", ["", "q"], [[name, float(value)] for name, value in zip(names, model.home, strict=True)])


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
        [body["name"], *(float(body["central_inertia"][at]) for at in elements.values())] for body in bodies
    ])  # fmt: skip


def _show_placements(model: Model) -> None:
    """Rows of z-x-z screws, as in a modified Denavit-Hartenberg table, one more row for each pair beyond."""
    rows: list[list[object]] = []
    for body in model.bodies:
        if body.joint.floating:
            continue
        parent = _carrier(model, body.parent)
        chain = _screws(body.joint)
        if len(chain) == 1:
            chain.insert(0, ("x", 0.0, 0.0, ""))
        if chain[0][0] == "x":
            chain.insert(0, ("z", 0.0, 0.0, ""))
        pairs = [_pair(*screw) for screw in chain]
        while len(pairs) > 3:
            rows.append([body.name, parent, *pairs[0], *pairs[1], None, None])
            pairs, parent = pairs[2:], ""
        rows.append([body.name, parent, *pairs[0], *pairs[1], *pairs[2]])
    headers = ["body", "parent", "gamma\nrad", "b\nm", "alpha\nrad", "d\nm", "theta\nrad", "r\nm"]
    show("Placements: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)", headers, rows)


def _pair(axis: str, angle: float, length: float, moves: str) -> tuple[object, object]:
    plus = lambda value: f"q {'+' if value > 0 else '-'} {abs(value):.6g}" if value else "q"  # noqa: E731
    return (plus(angle) if moves == "angle" else angle, plus(length) if moves == "length" else length)


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
