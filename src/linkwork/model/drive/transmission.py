"""Transmission: motors that move several joints together, as in the wrists of many arms."""

from __future__ import annotations

from dataclasses import dataclass

from .drive import Motor


@dataclass(frozen=True, eq=False)
class Transmission:
    """Velocities of the motors are ``matrix`` times those of the joints: a row for each motor, a column for each joint.

    Rotor inertia Ia and friction f stand on the motors' side, so that the joints feel T^T Ia T and T^T f(T v). Forces
    of the joints, ``tau``, are T^T times those of the motors.
    """

    name: str
    joints: tuple[str, ...]
    motors: tuple[Motor, ...]
    matrix: tuple[tuple[float, ...], ...]
