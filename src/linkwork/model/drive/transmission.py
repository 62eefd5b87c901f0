"""Transmission: motors that move several joints together, as in the wrists of many arms."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..element import Element, Entry, Number
from .drive import Motor


@dataclass(frozen=True, eq=False)
class Transmission(Element):
    """Motors that move several joints together: motor velocities are ``matrix`` T times joint velocities.

    Rotor inertia Ia, friction f and springs K are those of the motors, so the joints have T^T Ia T, T^T f(T v) and
    T^T K (T q - rest). Joint forces ``tau`` are T^T times those of the motors.

    Args:
        name: of the transmission.
        joints: names of its joints, the columns of the matrix.
        motors: its motors, the rows of the matrix.
        matrix: gear ratios, a row for each motor and a column for each joint.

    Example:
        >>> motors = (linkwork.model.Motor("m1"), linkwork.model.Motor("m2"))
        >>> wrist = linkwork.model.Transmission("wrist", ("pitch", "roll"), motors, ((50, 50), (50, -50)))
        >>> wrist.has_rotors
        False
    """

    name: str
    joints: tuple[str, ...]
    motors: tuple[Motor, ...]
    matrix: tuple[tuple[float, ...], ...]

    def entries(self) -> list[Entry]:
        return [
            Entry(f"{motor.name}.ratios.{joint}", ratio, Number())
            for motor, row in zip(self.motors, self.matrix, strict=True)
            for joint, ratio in zip(self.joints, row, strict=True)
        ]

    def with_entries(self, numbers: Iterator[Any]) -> Transmission:
        return replace(self, matrix=tuple(tuple(next(numbers) for _ in row) for row in self.matrix))

    @property
    def has_rotors(self) -> bool:
        """Whether one of its motors has rotor inertia."""
        return any(motor.rotor_inertia for motor in self.motors)

    def among(self, joints: Container[str], position_of: Callable[[str], float]) -> Transmission:
        """Return the transmission without those of its joints that are locked.

        Args:
            joints: names of the joints that move.
            position_of: gives the position at which another joint is locked, rad or m.

        Returns:
            The transmission of the joints that move, with the rest positions of springs shifted.
        """
        indices = [k for k, name in enumerate(self.joints) if name in joints]
        locked = {k: position_of(name) for k, name in enumerate(self.joints) if k not in indices}
        matrix = tuple(tuple(row[k] for k in indices) for row in self.matrix)
        motors = tuple(
            replace(motor, rest=motor.rest - sum(row[k] * at for k, at in locked.items())) if motor.stiffness else motor
            for motor, row in zip(self.motors, self.matrix, strict=True)
        )
        return replace(self, joints=tuple(self.joints[k] for k in indices), motors=motors, matrix=matrix)


def transmission_matrix(
    velocities: Sequence[str], transmissions: Sequence[Transmission]
) -> tuple[tuple[str, ...], list[list[float]]]:
    """Return T of a whole robot, from the names of its velocities: the names of its rows, and the rows. A joint that
    no motor of a transmission drives has a row of its own; the other rows are motors, in the places of their joints."""
    coupled = {joint for each in transmissions for joint in each.joints if any(motor.driven for motor in each.motors)}
    rows = [
        (k, name, [float(other == k) for other in range(len(velocities))])
        for k, name in enumerate(velocities)
        if name not in coupled
    ]
    for each in transmissions:
        for i, (motor, row) in enumerate(zip(each.motors, each.matrix, strict=True)):
            if not motor.driven:
                continue
            share = dict(zip(each.joints, row, strict=True))
            place = velocities.index(each.joints[min(i, len(each.joints) - 1)])
            rows.append((place, motor.name, [share.get(name, 0.0) for name in velocities]))
    rows.sort(key=lambda row: row[0])
    return tuple(name for _, name, _ in rows), [row for _, _, row in rows]
