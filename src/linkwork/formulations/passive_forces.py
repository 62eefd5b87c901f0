"""Forces that do not come from motors: friction, springs and joint limits (stops), and force laws (external forces)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ..errors import ModelError
from ..model import Frame, Model, changed_drives
from ..model.places import places_of
from ..scalar import Scalar, Scalars, is_zero, positive_part
from ..spatial import Force, Vector
from .drives import add_force, motor_rate, motor_stretch, motors, stretches
from .kinematics import body_poses, body_velocities

WrenchRows = Sequence[Scalars]  # one row of six for each loaded frame


def passive_forces(model: Model, q: Scalars, v: Scalars, springs: bool = True) -> list[Scalar]:
    """Return the tree forces against friction, springs and stops of joints and motors, and elastic modes."""
    width = model.friction_width
    forces: list[Scalar] = [0] * model.n_tree
    for i, _ in model.outward():
        joint, stretched = model.joint(i), stretches(model, i, q)
        of_kind = joint.kind.own_forces([q[k] for k in model.positions(i)], [v[k] for k in model.freedoms(i)])
        for k, stretch, elastic, damping in zip(model.freedoms(i), stretched, *of_kind, strict=True):
            forces[k] = joint.friction_force(v[k], width) + damping
            if springs:
                forces[k] = forces[k] + joint.stiffness * stretch + elastic
        if model.soft_limits is not None and joint.kind.bounded:
            (k,), (at,) = model.freedoms(i), model.positions(i)
            forces[k] = forces[k] + model.soft_limits.force(joint.lower, joint.upper, q[at], v[k])
    for motor, shares in motors(model):
        add_force(forces, shares, motor.friction_force(motor_rate(shares, v), width))
        if springs and not is_zero(motor.stiffness):
            add_force(forces, shares, motor.stiffness * motor_stretch(model, motor, shares, q))
    return forces


def with_implicit_friction(model: Model, v: Scalars, dt: Scalar) -> Model:
    """Return the robot with friction treated implicitly: its acceleration a obeys (M + dt D) a = f.

    So friction is that at the velocity v + dt a, to first order. D is the derivative of friction, which must be smooth.
    Each rotor gets dt D more inertia. A joint has one rotor for all its freedoms, so D is the largest of theirs.
    """
    width = model.friction_width
    rates = {model.joint(i).name: [v[k] for k in model.freedoms(i)] for i, _ in model.outward()}
    rates |= {motor.name: [motor_rate(shares, v)] for motor, shares in motors(model)}

    def with_damping(drive: Any) -> Any:
        if not drive.acting:
            return drive
        slopes = [drive.friction_damping(rate, width) for rate in rates[drive.name]]
        return replace(drive, rotor_inertia=drive.rotor_inertia + dt * reduce(_larger, slopes))

    return changed_drives(model, with_damping)


def _larger(x: Scalar, y: Scalar) -> Scalar:
    """Return the larger of two scalars."""
    return x + positive_part(y - x)


def body_wrenches(
    model: Model, q: Scalars, v: Scalars, loaded: Sequence[Frame], rows: WrenchRows, springs: bool = True
) -> dict[int, Force]:
    """Return the forces on bodies: those of the model's force laws, and wrenches at frames (force, then moment about
    the frame's origin, in its axes)."""
    total: dict[int, Force] = {}

    def add(frame: Frame, wrench: Force) -> None:
        total[frame.body] = total.get(frame.body, Force()) + frame.pose.force_outward(wrench)

    for frame, row in zip(loaded, rows, strict=True):
        add(frame, Force(Vector(*row[:3]), Vector(*row[3:])))
    if model.forces:
        poses, velocities = body_poses(model, q), body_velocities(model, q, v)
        for frame, law in model.forces:
            if not springs and hasattr(law, "energy"):
                law = law.without_spring()
            places = list(places_of(model, frame, law))
            at = [poses[place.body].then(place.pose) for place in places]
            moving = [place.pose.motion_inward(velocities[place.body]) for place in places]
            surroundings = {"gravity": model.gravity} if getattr(law, "takes_gravity", False) else {}
            several = hasattr(law, "to")
            forces = law(at, moving, **surroundings) if several else [law(at[0], moving[0], **surroundings)]
            for place, force in zip(places, forces, strict=True):
                if not isinstance(force, Force):
                    where, got = f"force law at {frame.name!r}", type(force).__name__
                    expected = "linkwork.spatial.Force(...)"
                    raise ModelError("this is not a force", where=where, got=got, expected=expected)
                add(place, force)
    return total
