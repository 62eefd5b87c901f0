"""Parts of a robot as tables: joints, links, drives, constraints, forces, contacts, vectors, frames, methods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..formulations import VARIABLES, drives_of
from ..model import ConstraintKind, Model
from ..table import Column, Table
from .facts import JOINT_VALUES, carrier, screws, with_modes
from .states import INERTIA, STIFFNESS, VISCOUS, entries, unit

ROUNDING = 1e-15  # SI: smaller values are shown as zero
METRES, RADIANS = [(axis, "m") for axis in "xyz"], [(angle, "rad") for angle in ("roll", "pitch", "yaw")]


def joint_tables(model: Model, joints: list[dict[str, Any]]) -> Iterator[Table]:
    """Yield the limits of joints, their rotor inertia, friction and springs, further friction laws, transmissions."""
    position, speed, effort = (unit(model, VARIABLES[vector].unit, base=False) for vector in ("q", "v", "tau"))
    inertia, viscous, stiffness = (unit(model, units, base=False) for units in (INERTIA, VISCOUS, STIFFNESS))
    limits = [("lower", position), ("upper", position), ("speed", speed), ("effort", effort)]
    rows = [
        [j["name"], j["kind"], j["role"], *(_finite(j[name]) for name in JOINT_VALUES[:4]), _follows(j["mimic"])]
        for j in joints
    ]
    yield Table("Joints", ["joint", "kind", "role", *limits, "follows"], rows)
    columns = [("rotor inertia", inertia), ("Coulomb", effort), ("viscous", viscous), ("stiffness", stiffness)]
    rows = [[j["name"], *(j[name] or None for name in JOINT_VALUES[4:])] for j in joints]
    rows = rows if any(value is not None for row in rows for value in row[1:]) else []
    others = dict.fromkeys(joint.kind.heading.lower() for joint in model.coordinates.joints if joint.kind.heading)
    but = f" but the {' and '.join(others)}" if others else ""
    notes = [f"No joint{but} has rotor inertia, friction or a spring."] if joints and not rows else []
    yield Table("Rotor inertia, friction and springs of joints", ["joint", *columns, ("rest", position)], rows, notes)
    yield _friction_laws(model)
    yield from _transmissions(model)


def element_tables(model: Model) -> Iterator[Table]:
    """Yield flexible links, constraints, force laws, contacts."""
    yield from _modes(model)
    yield from (_constraints(model), _forces(model), *_switched(model))


def _friction_laws(model: Model) -> Table:
    drives = [(drive, getattr(drive, "name", "")) for drive in drives_of(model)]
    rows = [
        [name, law.formula, ", ".join(f"{key} {x:g}" for key, x in law.values().items())]
        for drive, name in drives
        for law in drive.friction
    ]
    smooth = [(name, drive.friction_width) for drive, name in drives if drive.friction_width]
    rows += [[name, "smooth within a velocity", f"width {width:g}"] for name, width in smooth]
    return Table("Further friction laws", ["of", "law", ("numbers", "SI")], rows)


def _transmissions(model: Model) -> Iterator[Table]:
    """Yield the velocities of motors per velocity of joints, and the values of the motors, before the gears."""
    for each in model.transmissions:
        fields = {"rotor_inertia": "kg m^2", "coulomb": "N m", "viscous": "N m s"}
        if any(motor.stiffness or not motor.driven for motor in each.motors):
            fields |= {"stiffness": "N m", "rest": "rad", "slack": "rad", "role": ""}
        rows = [
            [motor.name, *map(float, row), *(getattr(motor, field) or None for field in fields)]
            for motor, row in zip(each.motors, each.matrix, strict=True)
        ]
        heads = [(name.replace("_", " ").replace("coulomb", "Coulomb"), unit) for name, unit in fields.items()]
        yield Table(f"Transmission {each.name}: motors per joint", ["motor", *each.joints, *heads], rows)


def _modes(model: Model) -> Iterator[Table]:
    rows = [
        [facts["joint"], facts["link"], facts["tip"], float(facts["length"]), mode, float(frequency), float(ratio)]
        for facts in with_modes(model)
        for mode, frequency, ratio in zip(facts["modes"], facts["frequencies"], facts["damping"], strict=True)
    ]
    numbers = [("length", "m"), "mode", ("alone, clamped", "Hz"), ("damping", "ratio")]
    kind = next((joint.kind for joint in model.coordinates.joints if joint.kind.modes), None)
    if kind:
        yield Table(kind.heading, ["joint", kind.deforms, "tip", *numbers], rows)


def _constraints(model: Model) -> Table:
    rows = [
        [x.name, x.kind.name, carrier(model, x.first.body), carrier(model, x.second.body), _numbers(x.kind)]
        for x in model.permanent
    ]
    loops_only = all(x.kind.closes_loop for x in model.permanent)
    title = "Loops: cut joints" if loops_only else "Loops, contacts (planes first) and gears"
    return Table(title, ["loop" if loops_only else "name", "kind", "first on", "second on", ("numbers", "SI")], rows)


def _numbers(kind: ConstraintKind) -> str | None:
    """Return the numbers of a contact or a gear, single ones first."""
    values = kind.to_dict()
    numbers = {key: value for key, value in values.items() if isinstance(value, float)}
    for ratios in (value for value in values.values() if isinstance(value, dict)):
        numbers |= ratios
    return ", ".join(f"{key} {value:g}" for key, value in numbers.items()) or None


def _forces(model: Model) -> Table:
    """Return the force laws and their command inputs."""
    commands = {
        s.name: ", ".join(f"{n}, {unit}" for n, unit in zip(s.names, s.units, strict=True))
        for s in model.commands.segments
    }
    rows = [
        [at.name, repr(law), commands.get(at.name) if getattr(law, "commands", {}) else None]
        for at, law in model.forces
    ]
    return Table("Forces of the surroundings", ["frame", "law", "command"], rows)


def _switched(model: Model) -> Iterator[Table]:
    """Yield a table for each kind of contact with a switch."""
    for kind in dict.fromkeys(type(each.kind) for each in model.switched):
        declared = kind.declared().values()
        rows = [
            [each.name, each.second.name, *(_listed(getattr(each.kind, one.name)) for one in declared)]
            for each in model.switched
            if type(each.kind) is kind
        ]
        columns = [(one.key, one.rule.unit) if one.rule.unit else one.key for one in declared]
        yield Table(kind.plural.capitalize(), [kind.word, "frame", *columns], rows)


def _listed(value: Any) -> Any:
    return " x ".join(f"{x:g}" for x in value) or None if isinstance(value, tuple) else value


def vector_tables(model: Model) -> Iterator[Table]:
    """Yield the contents of the vectors, and home."""
    texts = {
        "q": "positions of all joints",
        "v": "independent velocities, and accelerations a",
        "tau": "joint forces: driven and free joints",
        "a_known": "driven joints: hybrid_dynamics takes their accelerations",
        "tau_known": "free joints: hybrid_dynamics takes the forces on them",
        **({"commands": "inputs of thrusters, rotors, ..."} if model.commands.size else {}),
        **({"contacts": "1 for a contact on the ground, else 0"} if model.switched else {}),
    }
    rows = [[name, len(names := entries(model, name)), text, ", ".join(names) or None] for name, text in texts.items()]
    yield Table("Vectors", ["vector", "size", "what", "entries"], rows)
    home = zip(entries(model, "q"), model.home, strict=True) if model.home else ()
    yield Table("Home", ["", "q"], [[name, _clean(x)] for name, x in home])


def inertia_tables(bodies: list[dict[str, Any]]) -> Iterator[Table]:
    """Yield masses and inertias of the links, in their frames."""
    rows = [[body["name"], body["mass"], *map(float, body["center"])] for body in bodies]
    columns = ["body", ("mass", "kg"), *((f"centre {axis}", "m") for axis in "xyz")]
    yield Table("Masses, in link frames, with all that is fixed to the link", columns, rows)
    elements = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    rows = [[body["name"], *(_clean(body["central_inertia"][at]) for at in elements.values())] for body in bodies]
    columns = ["body", *((name, "kg m^2") for name in elements)]
    yield Table("Inertias about the centre of mass, in link axes", columns, rows)


def placements(model: Model) -> Table:
    """Return z-x-z screws, as in a modified Denavit-Hartenberg table, with one more row for each further pair."""
    rows: list[list[Any]] = []
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
        pairs += [(None, None)] * (3 - len(pairs))  # a joint without a z screw
        while len(pairs) > 3:
            rows.append([body.name, parent, *pairs[0], *pairs[1], None, None])
            pairs, parent = pairs[2:], ""
        rows.append([body.name, parent, *pairs[0], *pairs[1], *pairs[2]])
    names = [("gamma", "rad"), ("b", "m"), ("alpha", "rad"), ("d", "m"), ("theta", "rad"), ("r", "m")]
    return Table("Placements: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)", ["body", "parent", *names], rows)


def _pair(axis: str, angle: float, length: float, moves: str) -> tuple[Any, Any]:
    plus = lambda value: f"q {'+' if value > 0 else '-'} {abs(value):.6g}" if value else "q"  # noqa: E731
    return (
        plus(angle) if moves in ("angle", "both") else angle,
        plus(length) if moves in ("length", "both") else length,
    )


def frames(facts: list[dict[str, Any]]) -> Table:
    rows = [[f["name"], f["body"], *map(float, f["origin"]), *map(float, f["rpy"])] for f in facts]
    columns = ["frame", "fixed to", *METRES, *RADIANS]
    return Table("Frames, in the frame of the body they are fixed to", columns, rows)


def methods(facts: list[dict[str, Any]]) -> Table:
    """Return the methods that apply, and the reasons why others do not."""
    rows = [[m["quantity"], m["method"], m["summary"]] for m in facts if not m["refusal"]]
    refusals: dict[tuple[str, str], list[str]] = {}
    for m in facts:
        if m["refusal"]:
            refusals.setdefault((m["quantity"], m["refusal"]), []).append(m["method"])
    notes = [f"Not {quantity} by {', '.join(names)}: {refusal}." for (quantity, refusal), names in refusals.items()]
    return Table("Methods that apply", ["quantity", "method", "what"], rows, notes)


def robots_table(facts: list[dict[str, Any]]) -> Table:
    """Return the bundled robots, one row each."""
    rows = [
        [row["robot"], row["joints"], row["freedoms"], row["structure"], _brief(row["description"])] for row in facts
    ]
    notes = ["linkwork inspect ROBOT shows the values and the sources."]
    return Table("", ["robot", "joints", "freedoms", "structure", "description"], rows, notes)


def _brief(text: str) -> str:
    """Return the beginning of a text, up to the first punctuation mark."""
    return text[: min((k for mark in ";:." if (k := text.find(mark)) >= 0), default=len(text))]


def speed(title: str, rows: list[dict[str, Any]]) -> Table:
    """Return the speed of functions, and their operations."""
    columns = [
        "quantity", "method", Column("compile", "s", 3), Column("state", "ns", 3), Column("one call", "us", 3),
        "mul", "add", "div",
    ]  # fmt: skip
    columns_shown = [
        [
            row["quantity"], row["method"], round(row["compile_s"], 2), row["batch_ns_per_state"], row["one_call_us"],
            *(row["operations"][name] for name in ("mul", "add", "div")),
        ]
        for row in rows
    ]  # fmt: skip
    return Table(title, columns, columns_shown)


def comparison(title: str, methods: list[dict[str, Any]]) -> Table:
    """Return the comparison of methods, and the reasons why others do not apply."""
    counts = [("printed", "mul"), ("", "add"), ("written", "mul"), ("", "add")]
    counts += [("compiled", "mul"), ("", "add"), ("", "div")]
    columns = ["method", Column("reference", spare=True), *counts, Column("state", "ns", 3), "apart"]
    applicable = [row for row in methods if not row["refusal"]]
    rows = [
        [
            row["method"], row["reference"], *(row["printed"] or (None, None)),
            row["executed"]["mul"], row["executed"]["add"],
            row["operations"]["mul"], row["operations"]["add"], row["operations"]["div"] or None,
            row["batch_ns_per_state"], f"{row['deviation']:.1e}" if len(applicable) > 1 else None,
        ]
        for row in applicable
    ]  # fmt: skip
    return Table(title, columns, rows, [f"{row['method']}: {row['refusal']}" for row in methods if row["refusal"]])


def agreement(title: str, checks: list[dict[str, Any]]) -> Table:
    """Return whether formulations agree and laws of physics hold."""
    rows = [[c["check"], c["deviation"], c["tolerance"], "ok" if c["agrees"] else "FAILS"] for c in checks]
    return Table(title, ["check", Column("relative", "deviation", 2), "at most", ""], rows)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _clean(value: float) -> float:
    return float(value) if abs(value) > ROUNDING else 0.0


def _follows(mimic: dict[str, Any] | None) -> str | None:
    if mimic is None:
        return None
    times = f"{mimic['multiplier']:g} " if mimic["multiplier"] != 1 else ""
    return f"{times}{mimic['joint']}" + (f" + {mimic['offset']:g}" if mimic["offset"] else "")
