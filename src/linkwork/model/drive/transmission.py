"""Transmission: motors that move several joints together, as in the wrists of many arms."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

from .drive import Motor


@dataclass(frozen=True, eq=False)
class Transmission:
    """Velocities of the motors are ``matrix`` times those of the joints: a row for each motor, a column for each joint.

    Rotor inertia Ia, friction f and springs K stand on the motors' side, so that the joints feel T^T Ia T, T^T f(T v)
    and T^T K (T q - rest). Forces of the joints, ``tau``, are T^T times those of the motors.
    """

    name: str
    joints: tuple[str, ...]
    motors: tuple[Motor, ...]
    matrix: tuple[tuple[float, ...], ...]

    @property
    def has_rotors(self) -> bool:
        return any(motor.rotor_inertia for motor in self.motors)

    def among(self, joints: Container[str], stands: Callable[[str], float]) -> Transmission:
        """With those of its joints that are among these; the others are held where each ``stands``."""
        kept = [k for k, name in enumerate(self.joints) if name in joints]
        held = {k: stands(name) for k, name in enumerate(self.joints) if k not in kept}
        matrix = tuple(tuple(row[k] for k in kept) for row in self.matrix)
        motors = tuple(
            replace(motor, rest=motor.rest - sum(row[k] * at for k, at in held.items())) if motor.stiffness else motor
            for motor, row in zip(self.motors, self.matrix, strict=True)
        )
        return replace(self, joints=tuple(self.joints[k] for k in kept), motors=motors, matrix=matrix)


def transmission_matrix(
    velocities: Sequence[str], transmissions: Sequence[Transmission]
) -> tuple[tuple[str, ...], list[list[float]]]:
    """T of a whole robot from the names of its velocities: names of its rows, and these. A joint that no motor of a
    transmission drives has a row of its own; such motors stand in the places of their joints."""
    coupled = {joint for each in transmissions for joint in each.joints if any(motor.driven for motor in each.motors)}
    found = [
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
            found.append((place, motor.name, [share.get(name, 0.0) for name in velocities]))
    found.sort(key=lambda row: row[0])
    return tuple(name for _, name, _ in found), [row for _, _, row in found]
