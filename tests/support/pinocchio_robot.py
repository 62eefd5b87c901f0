"""Pinocchio's model of a URDF, asked and answering in linkwork's order of joints and in its coordinates."""

import numpy as np
import pinocchio as pin


class PinocchioRobot:
    """``urdf`` is the text of the file; the joints of ``linkwork_model`` tell the order."""

    def __init__(self, urdf: str, linkwork_model, **options):
        root = (pin.JointModelFreeFlyer(),) if linkwork_model.floating else ()
        self.model = pin.buildModelFromXML(urdf, *root, **options)
        self.data = self.model.createData()
        base = 6 if linkwork_model.floating else 0
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
            theirs[joint.idx_q : joint.idx_q + joint.nq] = (
                value if joint.nq == 1 else (np.cos(value), np.sin(value))
            )
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
        M = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return (M + np.triu(M, 1).T)[np.ix_(self.order, self.order)]

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

    def frames(self, q, v):
        """For every link: pose, world and local Jacobian, world and local drift."""
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), np.zeros(self.model.nv))
        pin.computeJointJacobians(self.model, self.data, self.q(q))
        pin.updateFramePlacements(self.model, self.data)
        for k, frame in enumerate(self.model.frames):
            if frame.type == pin.FrameType.BODY:
                world, local = pin.LOCAL_WORLD_ALIGNED, pin.LOCAL
                jacobians = (pin.getFrameJacobian(self.model, self.data, k, axes)[:, self.order] for axes in (world, local))
                drifts = (
                    pin.getFrameClassicalAcceleration(self.model, self.data, k, world).np,
                    pin.getFrameAcceleration(self.model, self.data, k, local).np,
                )
                yield frame.name, self.data.oMf[k].homogeneous, *jacobians, *drifts
