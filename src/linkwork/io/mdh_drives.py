"""Friction laws and transmissions of the YAML format.

    drives:                                      # beside Fs and Fv, laws by name with their numbers, each once
      - {joint: waist, Fs: 0.4, Fv: 0.1, friction: {stribeck: {excess: 0.2, velocity: 0.05}, offset: {offset: 0.01}}}
    transmissions:                               # motors that move several joints together
      - name: wrist
        joints: [pitch, roll]
        motors:                                  # ratios: velocity of the motor per velocity of each joint
          - {name: motor5, ratios: [72, 0], Ia: 2e-5, Fv: 1e-4}
          - {name: motor6, ratios: [13.5, 76.7], Ia: 2e-5, Fs: 0.01}
      - {joints: [hip, knee], motors: [{name: tendon, ratios: [0.03, -0.02], K: 4e3, rest: 0.01, role: passive}]}

`width` makes friction that jumps at rest smooth within this velocity. Ia, Fs, Fv, `friction`, `width` and the spring K,
`rest`, `slack` of a motor are its own, before the gears; the joints feel T^T Ia T, T^T f(T v) and T^T K (T q - rest),
where T has the ratios of a motor in each row. Within `slack` above `rest` the spring has no force. What is passive
couples the joints but is not driven: a tendon, an anti-roll bar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import yaml

from ..errors import ModelError
from ..model.drive import Drive, FrictionLaw, Motor, Transmission
from ..model.drive_checks import MOTOR_ROLES

if TYPE_CHECKING:
    from .mdh_tables import Row, Tables

SPRING = {"K": "stiffness", "rest": "rest"}
OF_MOTORS = SPRING | {"slack": "slack"}  # in addition to NUMBERS
NUMBERS = {"Ia": "rotor_inertia", "Fs": "coulomb", "Fv": "viscous", "width": "friction_width"}  # of any drive


def read_drive_values(tables: Tables, row: Row) -> dict[str, Any]:
    """Fields of a Drive that a row gives."""
    values: dict[str, Any] = {field: tables.number(row[key]) for key, field in NUMBERS.items() if key in row}
    if "friction" in row:
        values["friction"] = read_friction(tables, row["friction"])
    return values


def read_friction(tables: Tables, node: yaml.Node) -> tuple[FrictionLaw, ...]:
    laws = []
    for name, given in tables.mapping(node, FrictionLaw.known).items():
        law: Any = FrictionLaw.known[name]
        laws.append(tables.law(given, tables.mapping(given, [each.name for each in fields(law)]), law))
    try:
        return Drive(friction=tuple(laws)).friction
    except ModelError as error:
        tables.fail(node, "Fs and Fv stand beside `friction`, not in it", error.got, error.expected)


def read_transmissions(tables: Tables, top: Row) -> list[Transmission]:
    found: list[Transmission] = []
    for node, row in tables.rows(top, "transmissions", ("name", "joints", "motors", "source")):
        with tables.going_on():
            name = tables.text(row.pop("name")) if "name" in row else f"transmission{len(found) + 1}"
            tables.label = f"transmission {name!r}"
            tables.need(node, row, "joints", "the names of its joints")
            tables.need(node, row, "motors", "a row for each motor")
            tables.note_source(row, f"transmissions.{name}")
            joints = tuple(tables.name(each, "joint", tables.joints) for each in tables.sequence(row["joints"]))
            motors, matrix = [], []
            for each in tables.sequence(row["motors"]):
                motor = tables.mapping(each, ("name", "ratios", *NUMBERS, *OF_MOTORS, "friction", "role"))
                tables.need(each, motor, "name", "its name")
                tables.need(each, motor, "ratios", f"{len(joints)} numbers")
                own = read_drive_values(tables, motor)
                own |= {field: tables.number(motor[key]) for key, field in OF_MOTORS.items() if key in motor}
                if "role" in motor:
                    own["role"] = tables.name(motor["role"], "role", MOTOR_ROLES)
                motors.append(Motor(tables.text(motor["name"]), **own))
                matrix.append(tuple(tables.numbers(motor["ratios"], len(joints))))
            found.append(Transmission(name, joints, tuple(motors), tuple(matrix)))
    return found


def written_friction(drive: Drive) -> dict[str, dict[str, float]]:
    """Laws by name, with their numbers."""
    return {law.name: {each.name: getattr(law, each.name) for each in fields(law)} for law in drive.friction}  # type: ignore[arg-type]


def written_transmissions(transmissions: tuple[Transmission, ...]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "joints": list(each.joints),
            "motors": [_motor(motor, row) for motor, row in zip(each.motors, each.matrix, strict=True)],
        }
        for each in transmissions
    ]


def _motor(motor: Motor, row: tuple[float, ...]) -> Mapping[str, Any]:
    numbers = (NUMBERS | OF_MOTORS).items()
    own = {key: getattr(motor, field) for key, field in numbers if getattr(motor, field)}
    laws = {"friction": written_friction(motor)} if motor.friction else {}
    role = {"role": motor.role} if motor.role != Motor.role else {}
    return {"name": motor.name, "ratios": list(row), **own, **laws, **role}
