"""Drives on tree vectors: springs of joints, and motors that transmissions join to several joints.

With T from the velocities of the joints to those of such motors:

  (1)  v_m = T v
  (2)  M_rotors = T^T Ia T         which couples the joints
  (3)  tau_rotors = T^T Ia T a
  (4)  tau_friction = T^T f(T v)
  (5)  tau_springs = T^T K (T q - rest)

A method knows the rotors of single joints alone; quantities add these. Robots without transmissions pay nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Joint, Model, Motor
from ..scalar import Scalar, Scalars

Shares = list[tuple[int, float]]  # tree velocity indices of a motor's joints, and its entries of T


def motors(model: Model) -> Iterator[tuple[Motor, Shares]]:
    """Motors of transmissions, driven or passive."""
    at = {model.joint(i).name: model.freedoms(i).start for i, _ in model.outward()} if model.transmissions else {}
    for transmission in model.transmissions:
        for motor, row in zip(transmission.motors, transmission.matrix, strict=True):
            yield motor, [(at[name], ratio) for name, ratio in zip(transmission.joints, row, strict=True) if ratio]


def drives_of(model: Model) -> list[Joint | Motor]:
    """Those of joints, and the motors of transmissions."""
    return [*(body.joint for body in model.bodies), *(motor for motor, _ in motors(model))]


def friction_laws(model: Model) -> list[str]:
    """Formulas of the laws that act."""
    told: dict[str, int] = {}
    for drive in drives_of(model):
        width = drive.friction_width or model.friction_width
        for order, law in enumerate(drive.laws):
            smooth = law.formula.replace("sign(v)", "v / sqrt(v^2 + w^2)") + f", w = {width:g} rad/s (m/s)"
            if not law.vanishes:
                told.setdefault(smooth if width and law.jumps else law.formula, order)
    return sorted(told, key=lambda text: told[text])


def motor_rate(shares: Shares, v: Scalars) -> Scalar:
    """Velocity of a motor, or acceleration."""
    return sum((ratio * v[k] for k, ratio in shares), start=0)                        # (1)


def add_force(forces: list[Scalar], shares: Shares, force: Scalar) -> None:
    """What a motor takes, from the forces of its joints."""
    for k, ratio in shares:
        forces[k] = forces[k] + ratio * force                                         # (3) (4) (5)


def with_rotors(model: Model, M: list[list[Scalar]]) -> list[list[Scalar]]:
    """The inertia matrix with the rotors of transmissions."""
    total = [list(row) for row in M] if model.transmissions else M
    for motor, shares in motors(model):
        for k, ratio in shares:
            add_force(total[k], shares, motor.rotor_inertia * ratio)                  # (2)
    return total


def with_rotor_forces(model: Model, tau: list[Scalar], a: Scalars) -> list[Scalar]:
    """Joint forces with those that accelerate the rotors of transmissions."""
    total = list(tau) if model.transmissions else tau
    for motor, shares in motors(model):
        add_force(total, shares, motor.rotor_inertia * motor_rate(shares, a))         # (3)
    return total


def stretches(model: Model, i: int, q: Scalars) -> list[Scalar]:
    """By how much the spring of joint ``i`` is stretched, along each of its freedoms."""
    joint = model.joint(i)
    return joint.kind.stretch([q[k] for k in model.positions(i)], joint.rest)


def motor_stretch(model: Model, motor: Motor, shares: Shares, q: Scalars) -> Scalar:
    """By how much the spring of a motor is stretched at tree positions ``q``."""
    at = {model.freedoms(i).start: model.positions(i).start for i, _ in model.outward()}
    return motor.stretch(sum((ratio * q[at[k]] for k, ratio in shares), start=0))
