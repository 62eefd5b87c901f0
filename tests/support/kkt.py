"""Closed mechanisms solved another way: Pinocchio's tree, loops as Lagrange multipliers, everything by least squares.

Only the Description is shared with linkwork. Vectors are of the leading joints, in the order of linkwork's q (a
floating body first); the independent ones are told by the caller.
"""

import numpy as np
import pinocchio as pin

from linkwork.model import Description, JointDescription, Placement

# Axes of the first and second frame that a cut joint keeps perpendicular; and directions in which it does not shift.
PERPENDICULAR = {
    "revolute": ((0, 2), (1, 2)),
    "prismatic": ((0, 1), (1, 2), (2, 0)),
    "universal": ((2, 0),),
    "spherical": (),
    "weld": ((0, 1), (1, 2), (2, 0)),
}
HELD = {"prismatic": (0, 1)}
SMALL = 1e-9  # of singular values, relative


class Reference:
    """The mechanism of a description. ``M``, ``nonlinear``, ``rows`` are of the leading joints, friction included."""

    def __init__(self, description: Description):
        self.description = description
        self.model, self.links = pin.Model(), {description.root: (0, pin.SE3.Identity())}
        self.model.gravity.linear = np.array(description.gravity)
        if description.floating:
            number = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
            self.links[description.root] = (number, pin.SE3.Identity())
        self.joints: list[JointDescription] = []  # moving ones with one freedom, in Pinocchio's order
        self._grow(description.root)
        for link in description.links:
            if link.inertia is not None:
                number, placement = self.links[link.name]
                own = pin.Inertia(link.inertia.mass, link.inertia.center, link.inertia.central)
                self.model.appendBodyToJoint(number, own, placement)
        ends = [(loop.name + side, *frame) for loop in description.loops for side, frame in _sides(loop)]
        for name, link, placement in [*ends, *((n, *f) for n, f in description.frames.items())]:
            number, at = self.links[link]
            self.model.addFrame(pin.Frame(name, number, at * _se3(placement), pin.FrameType.OP_FRAME))
        self.data = self.model.createData()
        self.lead = self.model.nv - len(self.joints)  # freedoms of a floating body
        self.leading = [joint.name for joint in self.joints if joint.mimic is None]
        self.E, self.offset = np.zeros((self.model.nv, self.lead + len(self.leading))), np.zeros(self.model.nq)
        self.E[: self.lead, : self.lead] = np.eye(self.lead)
        for k, joint in enumerate(self.joints):
            leader, multiplier, offset = joint.name, 1.0, 0.0
            if joint.mimic is not None:
                leader, multiplier, offset = joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset
            self.E[self.lead + k, self.index(leader)] = multiplier
            self.offset[self.lead + bool(self.lead) + k] = offset

    def _grow(self, link: str) -> None:
        for joint in self.description.outgoing()[link]:
            number, at = self.links[link]
            here = at * _se3(joint.origin)
            if joint.kind == "fixed":
                self.links[joint.child] = (number, here)
            elif joint.kind == "floating":
                number = self.model.addJoint(number, pin.JointModelFreeFlyer(), here, joint.name)
                self.links[joint.child] = (number, pin.SE3.Identity())
            else:
                kind = (
                    pin.JointModelPrismaticUnaligned if joint.kind == "prismatic" else pin.JointModelRevoluteUnaligned
                )
                axis = joint.axis / np.linalg.norm(joint.axis)
                self.links[joint.child] = (
                    self.model.addJoint(number, kind(axis), here, joint.name),
                    pin.SE3.Identity(),
                )
                self.joints.append(joint)
            self._grow(joint.child)

    def index(self, name: str) -> int:
        """Of a leading joint among their velocities."""
        return self.lead + self.leading.index(name)

    # -- the tree ------------------------------------------------------------------------------------------------

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's, from those of the leading joints."""
        head = self.lead + bool(self.lead)
        theirs = self.offset.copy()
        theirs[:head] = q[:head]
        if head:
            theirs[3:7] /= np.linalg.norm(theirs[3:7])
        theirs[head:] += self.E[self.lead :, self.lead :] @ q[head:]
        return theirs

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q of the leading joints after unit time at velocities ``step``."""
        head = self.lead + bool(self.lead)
        theirs = pin.integrate(self.model, self.positions(q), self.E @ step)
        return np.concatenate([theirs[:head], q[head:] + step[self.lead :]])

    def inertia_matrix(self, q: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(self.model, self.data, self.positions(q)))
        rotors = np.concatenate([np.zeros(self.lead), [joint.rotor_inertia for joint in self.joints]])
        return self.E.T @ (M + np.triu(M, 1).T + np.diag(rotors)) @ self.E

    def nonlinear(self, q: np.ndarray, v: np.ndarray, wrenches=None) -> np.ndarray:
        """Forces at zero acceleration: with friction, springs, and wrenches on named frames."""
        at, rates = self.positions(q), self.E @ v
        force = pin.nonLinearEffects(self.model, self.data, at, rates)
        for k, joint in enumerate(self.joints, self.lead):
            x, u = at[k + bool(self.lead)], rates[k]
            force[k] += joint.coulomb * np.sign(u) + joint.viscous * u + joint.stiffness * (x - joint.rest)
        for frame, wrench in (wrenches or {}).items():
            number = self.model.getFrameId(frame)
            force -= pin.computeFrameJacobian(self.model, self.data, at, number, pin.LOCAL).T @ wrench
        return self.E.T @ force

    def gravity(self, q: np.ndarray) -> np.ndarray:
        return self.E.T @ pin.computeGeneralizedGravity(self.model, self.data, self.positions(q))

    def frame(self, name: str, q: np.ndarray, v: np.ndarray, a: np.ndarray):
        """Pose, Jacobian, velocity and classical acceleration of a frame, in world axes."""
        number, at, axes = self.model.getFrameId(name), self.positions(q), pin.LOCAL_WORLD_ALIGNED
        J = pin.computeFrameJacobian(self.model, self.data, at, number, axes) @ self.E
        pin.forwardKinematics(self.model, self.data, at, self.E @ v, self.E @ a)
        pin.updateFramePlacement(self.model, self.data, number)
        velocity = pin.getFrameVelocity(self.model, self.data, number, axes).np
        acceleration = pin.getFrameClassicalAcceleration(self.model, self.data, number, axes).np
        return self.data.oMf[number].copy(), J, velocity, acceleration

    # -- the loops -----------------------------------------------------------------------------------------------

    def rows(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each constraint's value, its Jacobian, and its second rate at zero accelerations.

        Shifts: components in the first frame of the way d between the origins. Turns: products u . w of a unit vector
        of each frame, with the rate (w_A - w_B) . (u x w).
        """
        values, jacobian, drift = [], [], []
        rest = np.zeros_like(v)
        for loop in self.description.loops:
            (A, JA, VA, aA), (B, JB, VB, aB) = (self.frame(loop.name + side, q, v, rest) for side, _ in _sides(loop))
            d, w = B.translation - A.translation, VA[3:]
            slide = VB[:3] - VA[:3] - np.cross(w, d)  # seen from A
            second = aB[:3] - aA[:3] - np.cross(aA[3:], d) - np.cross(w, np.cross(w, d)) - 2 * np.cross(w, slide)
            moving = JB[:3] - JA[:3] - np.cross(JA[3:].T, d).T
            for k in HELD.get(loop.kind, (0, 1, 2)):
                axis = A.rotation[:, k]
                values.append(axis @ d)
                jacobian.append(axis @ moving)
                drift.append(axis @ second)
            for i, j in PERPENDICULAR[loop.kind]:
                u, z = A.rotation[:, i], B.rotation[:, j]
                normal, relative = np.cross(u, z), VA[3:] - VB[3:]
                turning = np.cross(np.cross(VA[3:], u), z) + np.cross(u, np.cross(VB[3:], z))
                values.append(u @ z)
                jacobian.append(normal @ (JA[3:] - JB[3:]))
                drift.append(normal @ (aA[3:] - aB[3:]) + relative @ turning)
        return np.array(values), np.array(jacobian), np.array(drift)

    def closed(self, q: np.ndarray, fixed: list[int]) -> np.ndarray:
        """The closed position next to ``q`` that has the same freedoms ``fixed``, by Newton's method; NaN if none."""
        free = [k for k in range(self.E.shape[1]) if k not in fixed]
        for _ in range(30):
            r, J, _ = self.rows(q, np.zeros(self.E.shape[1]))
            if np.abs(r).max() < 1e-14:
                break
            step = np.zeros(self.E.shape[1])
            step[free] = -np.linalg.lstsq(J[:, free], r, rcond=SMALL)[0]
            if not np.abs(step).max() < 0.5:
                return np.full_like(q, np.nan)
            q = self.moved(q, step)
        return q if np.abs(r).max() < 1e-12 else np.full_like(q, np.nan)

    def velocity_map(self, q: np.ndarray, independent) -> np.ndarray:
        """Velocities of all leading joints per independent one."""
        _, J, _ = self.rows(q, np.zeros(self.E.shape[1]))
        chosen = np.eye(self.E.shape[1])[list(independent)]
        right = np.vstack([np.zeros((len(J), len(chosen))), np.eye(len(chosen))])
        return np.linalg.lstsq(np.vstack([J, chosen]), right, rcond=SMALL)[0]

    def solve(self, q, v, *, accelerations, forces, unknown, weights=None, wrenches=None):
        """M a + n = f + J^T l,  J a + drift = 0: all accelerations a and all forces f of the leading joints.

        ``accelerations`` (freedom -> value) are prescribed, ``forces`` given but for those of the freedoms ``unknown``,
        whose weighted squares are made least where the equations leave a choice.
        """
        n, unknown = len(v), list(unknown)
        _, J, drift = self.rows(q, v)
        m = len(J)
        known = np.array(forces, float)
        known[unknown] = 0
        motion = np.eye(n)[list(accelerations)]
        pick = np.eye(n)[unknown].T
        A = np.block(
            [
                [self.inertia_matrix(q), -pick, -J.T],
                [J, np.zeros((m, len(unknown) + m))],
                [motion, np.zeros((len(motion), len(unknown) + m))],
            ]
        )
        b = np.concatenate([known - self.nonlinear(q, v, wrenches), -drift, list(accelerations.values())])
        x = np.linalg.lstsq(A, b, rcond=SMALL)[0]
        assert np.abs(A @ x - b).max() < 1e-8 * (1 + np.abs(b).max()), "the equations contradict each other"
        _, sizes, V = np.linalg.svd(A)
        null = V[int((sizes > SMALL * sizes[0]).sum()) :].T
        if null.size and unknown:
            scale = np.sqrt([1.0] * len(unknown) if weights is None else weights)[:, None]
            tau = slice(n, n + len(unknown))
            U, sizes, V = np.linalg.svd(scale * null[tau], full_matrices=False)
            kept = sizes > SMALL  # other directions change the multipliers alone
            x = x - null @ V[kept].T @ (U[:, kept].T @ (scale[:, 0] * x[tau]) / sizes[kept])
        known[unknown] = x[n : n + len(unknown)]
        return x[:n], known

    # -- Pinocchio's own ------------------------------------------------------------------------------------------

    def constraint_dynamics(self, q: np.ndarray, v: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Accelerations by pin.constraintDynamics: points for spherical cut joints, two on the axis for revolute ones
        (with what that repeats), six equations for welds. No mimic joints."""
        contacts = []
        for loop in self.description.loops:
            ends = [self.model.frames[self.model.getFrameId(loop.name + side)] for side, _ in _sides(loop)]
            kind = pin.ContactType.CONTACT_6D if loop.kind == "weld" else pin.ContactType.CONTACT_3D
            for height in (0.0, 0.3) if loop.kind == "revolute" else (0.0,):
                up = pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))
                (i, at_i), (j, at_j) = ((end.parentJoint, end.placement * up) for end in ends)
                contacts.append(pin.RigidConstraintModel(kind, self.model, i, at_i, j, at_j, pin.LOCAL))
        model = self.model.copy()
        model.armature = np.concatenate([np.zeros(self.lead), [joint.rotor_inertia for joint in self.joints]])
        data, datas = model.createData(), [contact.createData() for contact in contacts]
        pin.initConstraintDynamics(model, data, contacts, datas)
        own = self.nonlinear(q, v) - pin.nonLinearEffects(self.model, self.data, self.positions(q), v)
        settings = pin.ProximalSettings(1e-14, 1e-9, 200)
        return pin.constraintDynamics(model, data, self.positions(q), v, forces - own, contacts, datas, settings)


def _sides(loop):
    return (".first", loop.first), (".second", loop.second)


def _se3(placement: Placement) -> pin.SE3:
    return pin.SE3(placement.rotation, placement.translation)
