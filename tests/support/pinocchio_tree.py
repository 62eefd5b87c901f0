"""A Description in Pinocchio's own joints, spoken to in linkwork's coordinates (those of ``mixed_trees``).

Planar joints are in the plane of the joint frame's x and y there, and their q has cosine and sine; a cylindrical joint
is composed of a prismatic and a revolute one. All else agrees but for the order of the joints.
"""

from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from linkwork.model import Description, JointDescription, Placement
from support.mixed_trees import Places

AXES = {"world": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL}


def frame_of_axis(axis: np.ndarray) -> np.ndarray:
    """The axes of a planar joint's q: the third is its normal; x the coordinate axis that is farthest from the normal
    (the first of several), less its part along it. The convention written down once more."""
    z = axis / np.linalg.norm(axis)
    x = np.eye(3)[np.argmin(np.abs(z))]
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def se3(placement: Placement) -> pin.SE3:
    return pin.SE3(placement.rotation, placement.translation)


def joint_model(joint: JointDescription):
    """Pinocchio's joint, for a frame that ``turned_into`` has turned."""
    axis = joint.axis / np.linalg.norm(joint.axis)
    match joint.kind:
        case "revolute" | "continuous":
            return pin.JointModelRevoluteUnaligned(axis)
        case "prismatic":
            return pin.JointModelPrismaticUnaligned(axis)
        case "helical":
            return pin.JointModelHelicalUnaligned(axis, joint.pitch)
        case "universal":
            return pin.JointModelUniversal(axis, joint.second_axis / np.linalg.norm(joint.second_axis))
        case "cylindrical":
            both = pin.JointModelComposite(pin.JointModelPrismaticUnaligned(axis))
            both.addJoint(pin.JointModelRevoluteUnaligned(axis))
            return both
        case "planar":
            return pin.JointModelPlanar()
        case "spherical":
            return pin.JointModelSpherical()
        case "floating":
            return pin.JointModelFreeFlyer()
    raise ValueError(joint.kind)


def turned_into(joint: JointDescription) -> pin.SE3:
    """From the child's frame to the one in which Pinocchio's joint has the axes it must have."""
    R = frame_of_axis(joint.axis) if joint.kind == "planar" else np.eye(3)
    return pin.SE3(R, np.zeros(3))


def grown(description: Description) -> tuple[pin.Model, dict[str, tuple[int, pin.SE3]]]:
    """The model, and for each link the joint that carries it and its place there. Frames have the links' names."""
    model, links = pin.Model(), dict.fromkeys(("", description.root), (0, pin.SE3.Identity()))  # "" is the ground
    model.gravity.linear = np.array(description.gravity)
    if description.floating:
        number = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        links[description.root] = (number, pin.SE3.Identity())

    def grow(link: str) -> None:
        for joint in description.outgoing()[link]:
            number, at = links[link]
            here, turn = at * se3(joint.origin), turned_into(joint)
            if joint.kind == "fixed":
                links[joint.child] = (number, here)
            else:
                number = model.addJoint(number, joint_model(joint), here * turn, joint.name)
                links[joint.child] = (number, turn.inverse())
            grow(joint.child)

    grow(description.root)
    for link in description.links:
        number, place = links[link.name]
        if link.inertia is not None:
            own = link.inertia
            model.appendBodyToJoint(number, pin.Inertia(own.mass, own.center, own.central), place)
        model.addFrame(pin.Frame(link.name, number, place, pin.FrameType.BODY))
    for name, (link, place) in description.frames.items():
        number, at = links[link]
        model.addFrame(pin.Frame(name, number, at * se3(place), pin.FrameType.OP_FRAME))
    return model, links


class PinocchioTree:
    """``order``: the joints as linkwork's vectors have them, "base" for a floating base. ``model``: what Pinocchio has
    read itself, if not the description grown here."""

    def __init__(self, description: Description, order: Iterable[str] = (), model: pin.Model | None = None):
        self.description, self.places = description, Places(description, order)
        self.model = grown(description)[0] if model is None else model
        joints = {name: self.model.joints[self.model.getJointId(name)] for name in self.places.order}
        self.at_q = {name: slice(joint.idx_q, joint.idx_q + joint.nq) for name, joint in joints.items()}
        self.order = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in joints.values()])
        assert sorted(self.order) == list(range(self.model.nv))
        rotors = {joint.name: joint.rotor_inertia for joint in description.joints}
        self.model.armature = self.velocities(self.places.per_freedom(rotors))
        self.data = self.model.createData()

    # -- coordinates -----------------------------------------------------------------------------------------------

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Theirs, from ours."""
        theirs, q = np.zeros(self.model.nq), self.places.normalised(q)
        for name, kind in self.places.kinds.items():
            own = q[self.places.q[name]]
            theirs[self.at_q[name]] = [*own[:2], np.cos(own[2]), np.sin(own[2])] if kind == "planar" else own
        return theirs

    def ours(self, theirs: np.ndarray) -> np.ndarray:
        """Positions back again; angles of planar joints within half a turn of zero."""
        q = np.zeros(self.places.nq)
        for name, kind in self.places.kinds.items():
            own = theirs[self.at_q[name]]
            q[self.places.q[name]] = [*own[:2], np.arctan2(own[3], own[2])] if kind == "planar" else own
        return q

    def velocities(self, v: np.ndarray) -> np.ndarray:
        theirs = np.zeros(self.model.nv)
        theirs[self.order] = v
        return theirs

    def integrate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.ours(pin.integrate(self.model, self.positions(q), self.velocities(v)))

    def difference(self, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
        return pin.difference(self.model, self.positions(q0), self.positions(q1))[self.order]

    # -- what linkwork calls the same --------------------------------------------------------------------------------

    def inverse_dynamics(self, q, v, a):
        at, rates = self.positions(q), map(self.velocities, (v, a))
        return pin.rnea(self.model, self.data, at, *rates)[self.order]

    def forward_dynamics(self, q, v, tau):
        at, rates = self.positions(q), map(self.velocities, (v, tau))
        return pin.aba(self.model, self.data, at, *rates)[self.order]

    def inertia_matrix(self, q):
        M = np.triu(pin.crba(self.model, self.data, self.positions(q)))
        return (M + np.triu(M, 1).T)[np.ix_(self.order, self.order)]

    def bias(self, q, v):
        return self.inverse_dynamics(q, v, 0 * v)

    def gravity(self, q):
        still = np.zeros(self.places.nv)
        return self.inverse_dynamics(q, still, still)

    def kinetic_energy(self, q, v):
        """Body by body: computeKineticEnergy of 4.1 counts the rotors of some kinds of joints and not of others."""
        pin.forwardKinematics(self.model, self.data, self.positions(q), self.velocities(v))
        twice = sum(I.vtiv(V) for I, V in zip(self.model.inertias[1:], self.data.v[1:]))
        return (twice + v @ (self.model.armature[self.order] * v)) / 2

    def potential_energy(self, q):
        return pin.computePotentialEnergy(self.model, self.data, self.positions(q))

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.positions(q)).copy()

    def momentum(self, q, v):
        return pin.computeCentroidalMomentum(self.model, self.data, self.positions(q), self.velocities(v)).np

    def pose(self, q, frame: str) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.positions(q))
        return self.data.oMf[self.model.getFrameId(frame)].homogeneous

    def jacobian(self, q, frame: str, axes: str = "world") -> np.ndarray:
        number = self.model.getFrameId(frame)
        return pin.computeFrameJacobian(self.model, self.data, self.positions(q), number, AXES[axes])[:, self.order]

    def jacobian_drift(self, q, v, frame: str, axes: str = "world") -> np.ndarray:
        """Jdot v, the rate of the Jacobian in these axes."""
        number, still = self.model.getFrameId(frame), np.zeros(self.model.nv)
        pin.forwardKinematics(self.model, self.data, self.positions(q), self.velocities(v), still)
        acceleration = pin.getFrameAcceleration if axes == "local" else pin.getFrameClassicalAcceleration
        return acceleration(self.model, self.data, number, AXES[axes]).np
