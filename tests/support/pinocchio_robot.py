"""Pinocchio's model of a URDF, asked and answering in linkwork's order of joints and in its coordinates."""

import numpy as np
import pinocchio as pin


class PinocchioRobot:
    """``urdf`` is the text of the file; the joints of ``linkwork_model`` tell the order."""

    def __init__(self, urdf: str, linkwork_model, **options):
        root = (pin.JointModelFreeFlyer(),) if linkwork_model.moving_base else ()
        self.model = pin.buildModelFromXML(urdf, *root, **options)
        self.data = self.model.createData()
        base = 6 if linkwork_model.moving_base else 0
        self.joints = [self.model.joints[self.model.getJointId(name)] for name in linkwork_model.joint_names]
        self.order = [*range(base), *(joint.idx_v for joint in self.joints)]  # where linkwork's entries are
        assert sorted(self.order) == list(range(self.model.nv))
        self.model.gravity.linear = np.array(list(linkwork_model.gravity))

    def q(self, q: np.ndarray) -> np.ndarray:
        """Their configuration: a unit quaternion, and (cos, sin) of continuous joints."""
        theirs = np.zeros(self.model.nq)
        start = len(q) - len(self.joints)
        theirs[:start] = q[:start]
        if start:
            theirs[3:7] /= np.linalg.norm(theirs[3:7])
        for joint, value in zip(self.joints, q[start:], strict=True):
            theirs[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return theirs

    def v(self, v: np.ndarray) -> np.ndarray:
        theirs = np.zeros(self.model.nv)
        theirs[self.order] = v
        return theirs

    # -- what linkwork calls the same ----------------------------------------------------------------------------

    def inverse_dynamics(self, q, v, a):
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a))[self.order]

    def forward_dynamics(self, q, v, tau):
        return pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(tau))[self.order]

    def inertia_matrix(self, q):
        return self._symmetric(pin.crba(self.model, self.data, self.q(q)))

    def inverse_dynamics_derivatives(self, q, v, a):
        dq, dv, M = pin.computeRNEADerivatives(self.model, self.data, self.q(q), self.v(v), self.v(a))
        return self.inverse_dynamics(q, v, a), self._ordered(dq), self._ordered(dv), self._symmetric(M)

    def forward_dynamics_derivatives(self, q, v, tau):
        dq, dv, inverse = pin.computeABADerivatives(self.model, self.data, self.q(q), self.v(v), self.v(tau))
        return self.forward_dynamics(q, v, tau), self._ordered(dq), self._ordered(dv), self._symmetric(inverse)

    def _ordered(self, matrix):
        return np.array(matrix)[np.ix_(self.order, self.order)]

    def _symmetric(self, matrix):
        upper = np.triu(matrix)
        return self._ordered(upper + np.triu(upper, 1).T)

    def bias(self, q, v):
        return pin.nonLinearEffects(self.model, self.data, self.q(q), self.v(v))[self.order]

    def gravity(self, q):
        return pin.computeGeneralizedGravity(self.model, self.data, self.q(q))[self.order]

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.q(q))

    def kinetic_energy(self, q, v):
        return pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v))

    def potential_energy(self, q):
        return pin.computePotentialEnergy(self.model, self.data, self.q(q))

    def momentum(self, q, v):
        return pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v)).np

    def poses(self, q) -> dict[str, np.ndarray]:
        """Of every link."""
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return {frame.name: self.data.oMf[k].homogeneous for k, frame in enumerate(self.model.frames) if is_link(frame)}

    def jacobian(self, q, frame: str, axes: str) -> np.ndarray:
        # Pinocchio crashes on a Jacobian without columns.
        if not self.model.nv:
            return np.zeros((6, 0))
        number = self.model.getFrameId(frame, pin.FrameType.BODY)
        return pin.computeFrameJacobian(self.model, self.data, self.q(q), number, AXES[axes])[:, self.order]

    def jacobian_drift(self, q, v, frame: str, axes: str) -> np.ndarray:
        number = self.model.getFrameId(frame, pin.FrameType.BODY)
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), np.zeros(self.model.nv))
        acceleration = pin.getFrameAcceleration if axes == "local" else pin.getFrameClassicalAcceleration
        return acceleration(self.model, self.data, number, AXES[axes]).np


AXES = {"world": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL}


def is_link(frame) -> bool:
    return frame.type == pin.FrameType.BODY and frame.name != "universe"
