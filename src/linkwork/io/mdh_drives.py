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

from typing import Any

from ..model.drive import Motor, Transmission
from .mdh_tables import Row, Tables


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
                motor = tables.mapping(each, ("name", "ratios", *Motor.keys()))
                tables.need(each, motor, "name", "its name")
                tables.need(each, motor, "ratios", f"{len(joints)} numbers")
                motors.append(Motor(tables.text(motor["name"]), **tables.values(motor, Motor)))
                matrix.append(tuple(tables.numbers(motor["ratios"], len(joints))))
            found.append(Transmission(name, joints, tuple(motors), tuple(matrix)))
    return found


def written_transmissions(transmissions: tuple[Transmission, ...]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "joints": list(each.joints),
            "motors": [
                {"name": motor.name, "ratios": list(row), **motor.to_dict()}
                for motor, row in zip(each.motors, each.matrix, strict=True)
            ],
        }
        for each in transmissions
    ]
