"""Kinetic and potential energy, momentum, centre of mass."""

from __future__ import annotations

from ..model import Model
from ..model.places import places_of
from ..scalar import Scalar, Scalars, is_zero
from ..spatial import Force, Vector
from .drives import motor_rate, motor_stretch, motors, stretches
from .kinematics import body_poses, body_velocities
from .link_modes import deformed, link_modes
from .total_inertia import added_masses


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    """Return the kinetic energy T = 1/2 sum of V . I V over the deformed bodies and the fluid they carry
    + 1/2 Ia v^2 of the rotors of joints and motors + V . sum P_j d_j' + 1/2 sum m_jk d_j' d_k' of modes."""
    velocity, twice = body_velocities(model, q, v), 0
    for link in link_modes(model, q):
        for term in link.energies(velocity[link.parent], v):
            twice = twice + term
    model = deformed(model, q)
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


def potential_energy(model: Model, q: Scalars) -> Scalar:
    """Return the potential energy V = -g . (sum of m p) over the moving bodies as they are deformed
    + 1/2 K (q - rest)^2 of springs and modes + the energy of force laws that have one."""
    poses, total = body_poses(model, q), 0
    for link in link_modes(model, q):
        if not link.parent:  # a link fixed to the ground is no moving body, but its deformation moves mass
            total = total - model.gravity.dot(link.inertia.h)
    model = deformed(model, q)
    for i, _ in model.outward():
        inertia = model.inertia(i)
        moment = poses[i].origin * inertia.mass + poses[i].outward(inertia.h)
        total = total - model.gravity.dot(moment)
        for stretch in stretches(model, i, q):
            total = total + 0.5 * model.joint(i).stiffness * (stretch * stretch)
        total = total + model.joint(i).kind.own_energy([q[k] for k in model.positions(i)])
    for motor, shares in motors(model):
        if not is_zero(motor.stiffness):
            stretch = motor_stretch(model, motor, shares, q)
            total = total + 0.5 * motor.stiffness * (stretch * stretch)
    for frame, law in model.forces:
        if hasattr(law, "energy"):
            at = [poses[place.body].then(place.pose) for place in places_of(model, frame, law)]
            total = total + law.energy(at)
    return total


def momentum(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return linear momentum, and angular momentum about the centre of mass, in world axes (moving bodies only)."""
    poses, velocity, total = body_poses(model, q), body_velocities(model, q, v), Force()
    centre = center_of_mass(model, q)
    for link in link_modes(model, q):
        if link.parent:
            total = total + poses[link.parent].force_outward(link.root.force_outward(link.momentum(v)))
    model = deformed(model, q)
    for i, _ in model.outward():
        total = total + poses[i].force_outward(model.inertia(i) @ velocity[i])  # about the world's origin
    return [*total.linear, *(total.angular - centre.cross(total.linear))]


def center_of_mass(model: Model, q: Scalars) -> Vector:
    """Return the centre of mass of all moving bodies as they are deformed, in the world."""
    model = deformed(model, q)
    poses, mass, moment = body_poses(model, q), 0, Vector()
    for i, _ in model.outward():
        inertia = model.inertia(i)
        mass = mass + inertia.mass
        moment = moment + poses[i].origin * inertia.mass + poses[i].outward(inertia.h)
    return moment * (1 / mass)

