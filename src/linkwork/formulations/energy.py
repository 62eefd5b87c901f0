"""Kinetic and potential energy, momentum."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Model
from ..scalar import Scalar
from ..spatial import Force, Motion
from .drives import motor_rate, motors, stretches
from .kinematics import body_poses, center_of_mass
from .whole import added_masses


def body_velocities(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[int, Motion]:
    """Velocity of every body in its own frame; 0 is the ground."""
    velocity = {0: Motion()}
    for i, p in model.outward():
        velocity[i] = model.transform(i, q).motion_inward(velocity[p]) + model.joint_motion(i, q, v)
    return velocity


def kinetic_energy(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """T = 1/2 sum of V . I V over bodies and the fluid they carry + 1/2 Ia v^2 of the rotors of joints and motors."""
    velocity, twice = body_velocities(model, q, v), 0
    for i, _ in model.outward():
        twice = twice + velocity[i].dot(model.inertia(i) @ velocity[i])
        for k in model.freedoms(i):
            twice = twice + model.joint(i).rotor_inertia * (v[k] * v[k])
    for i, A in added_masses(model).items():
        twice = twice + velocity[i].dot(A @ velocity[i])
    for motor, shares in motors(model):
        rate = motor_rate(shares, v)
        twice = twice + motor.rotor_inertia * (rate * rate)
    return 0.5 * twice


def potential_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """V = -g . (sum of m p) over the moving bodies + 1/2 K (q - rest)^2 of the springs."""
    poses, total = body_poses(model, q), 0
    for i, _ in model.outward():
        inertia = model.inertia(i)
        moment = poses[i].origin * inertia.mass + poses[i].outward(inertia.h)
        total = total - model.gravity.dot(moment)
        for stretch in stretches(model, i, q):
            total = total + 0.5 * model.joint(i).stiffness * (stretch * stretch)
    return total


def momentum(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Linear momentum and angular momentum about the centre of mass, in world axes (the moving bodies only)."""
    poses, velocity, total = body_poses(model, q), body_velocities(model, q, v), Force()
    for i, _ in model.outward():
        total = total + poses[i].force_outward(model.inertia(i) @ velocity[i])  # about the world's origin
    return [*total.linear, *(total.angular - center_of_mass(model, q).cross(total.linear))]
