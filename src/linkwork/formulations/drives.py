"""Drives on tree vectors: springs of joints, and motors that transmissions join to several joints.

With T from the velocities of the joints to those of such motors:

  (1)  v_m = T v
  (2)  M_rotors = T^T Ia T         which couples the joints
  (3)  tau_rotors = T^T Ia T a
  (4)  tau_friction = T^T f(T v)
  (5)  tau_springs = T^T K (T q - rest)

Methods include the rotors of single joints only; quantities add these. A robot without transmissions has no additional
operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Joint, Model, Motor
from ..scalar import Scalar, Scalars, is_zero

Shares = list[tuple[int, float]]  # tree velocity indices of a motor's joints, and its entries of T


def motors(model: Model) -> Iterator[tuple[Motor, Shares]]:
    """Yield the motors of transmissions, driven or passive, with their entries of T."""
    at = {model.joint(i).name: model.freedoms(i).start for i, _ in model.outward()} if model.transmissions else {}
    for transmission in model.transmissions:
        for motor, row in zip(transmission.motors, transmission.matrix, strict=True):
            pairs = zip(transmission.joints, row, strict=True)
            yield motor, [(at[name], ratio) for name, ratio in pairs if not is_zero(ratio)]


def drives_of(model: Model) -> list[Joint | Motor]:
    """Return the drives of the joints, and the motors of transmissions."""
    return [*(body.joint for body in model.bodies), *(motor for motor, _ in motors(model))]


def friction_laws(model: Model) -> list[str]:
    """Return the formulas of the friction laws that act, without repetition."""
    orders: dict[str, int] = {}
    for drive in drives_of(model):
        width = drive.friction_width or model.friction_width
        for order, law in enumerate(drive.laws):
            smooth = law.formula.replace("sign(v)", "v / sqrt(v^2 + w^2)") + f", w = {width:g} rad/s (m/s)"
            if not law.vanishes:
                orders.setdefault(smooth if width and law.jumps else law.formula, order)
    return sorted(orders, key=lambda text: orders[text])


def motor_rate(shares: Shares, v: Scalars) -> Scalar:
    """Return the velocity of a motor from those of its joints, or the acceleration."""
    return sum((ratio * v[k] for k, ratio in shares), start=0)                        # (1)


def add_force(forces: list[Scalar], shares: Shares, force: Scalar) -> None:
    """Add the force of a motor to the forces of its joints."""
    for k, ratio in shares:
        forces[k] = forces[k] + ratio * force                                         # (3) (4) (5)


def with_rotors(model: Model, M: list[list[Scalar]]) -> list[list[Scalar]]:
    """Return the inertia matrix with the rotors of transmissions."""
    total = [list(row) for row in M] if model.transmissions else M
    for motor, shares in motors(model):
        for k, ratio in shares:
            add_force(total[k], shares, motor.rotor_inertia * ratio)                  # (2)
    return total


def with_rotor_forces(model: Model, tau: list[Scalar], a: Scalars) -> list[Scalar]:
    """Return the joint forces with those that accelerate the rotors of transmissions."""
    total = list(tau) if model.transmissions else tau
    for motor, shares in motors(model):
        add_force(total, shares, motor.rotor_inertia * motor_rate(shares, a))         # (3)
    return total


def stretches(model: Model, i: int, q: Scalars) -> list[Scalar]:
    """Return how far the spring of joint ``i`` is stretched along each of its freedoms."""
    joint = model.joint(i)
    return joint.kind.stretch([q[k] for k in model.positions(i)], joint.rest)


def motor_stretch(model: Model, motor: Motor, shares: Shares, q: Scalars) -> Scalar:
    """Return how far the spring of a motor is stretched at tree positions ``q``."""
    at = {model.freedoms(i).start: model.positions(i).start for i, _ in model.outward()}
    return motor.stretch(sum((ratio * q[at[k]] for k, ratio in shares), start=0))
