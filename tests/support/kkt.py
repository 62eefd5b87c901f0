"""Closed mechanisms solved another way: Pinocchio's tree, loops as Lagrange multipliers, everything by least squares.

Only the Description is shared with linkwork. Vectors are of the leading joints, in linkwork's coordinates; the
independent ones are told by the caller.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin

from linkwork.model import Description, Mimic
from support.mixed_trees import Places
from support.pinocchio_tree import PinocchioTree

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
    """The mechanism of a description. ``M``, ``nonlinear``, ``rows`` are of the leading joints, friction included.

    ``leading``: these joints as the vectors have them, depth first, "base" for a floating base.
    """

    def __init__(self, description: Description):
        ends = {loop.name + side: frame for loop in description.constraints for side, frame in _sides(loop)}
        self.description = description
        self.tree = PinocchioTree(replace(description, frames={**description.frames, **ends}))
        mimics = {joint.name: joint.mimic for joint in description.joints if joint.mimic is not None}
        every = self.tree.places
        self.leading = tuple(name for name in every.order if name not in mimics)
        self.places = Places(description, self.leading)
        self.E, self.offset = np.zeros((every.nv, self.places.nv)), np.zeros(every.nq)
        self.Q = np.zeros((every.nq, self.places.nq))
        for name in every.order:
            mimic = mimics.get(name, Mimic(name))
            for matrix, ours, leading in ((self.E, every.v, self.places.v), (self.Q, every.q, self.places.q)):
                matrix[ours[name], leading[mimic.joint]] = mimic.multiplier * np.eye(ours[name].stop - ours[name].start)
            self.offset[every.q[name]] = mimic.offset
        self.leads = np.concatenate([np.arange(every.nq)[every.q[name]] for name in self.leading])

    # -- the tree ------------------------------------------------------------------------------------------------

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Of all joints of the tree, from those of the leading ones."""
        return self.Q @ q + self.offset

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q of the leading joints after unit time at velocities ``step``."""
        at = self.positions(q)
        return self.tree.places.same(self.tree.integrate(at, self.E @ step), at)[self.leads]

    def inertia_matrix(self, q: np.ndarray) -> np.ndarray:
        return self.E.T @ self.tree.inertia_matrix(self.positions(q)) @ self.E

    def nonlinear(self, q: np.ndarray, v: np.ndarray, wrenches=None) -> np.ndarray:
        """Forces at zero acceleration: with friction, springs, and wrenches on named frames."""
        at, rates, places = self.positions(q), self.E @ v, self.tree.places
        force = self.tree.bias(at, rates)
        for joint in self.description.joints:
            if joint.name in places.v:
                u = rates[places.v[joint.name]]
                force[places.v[joint.name]] += joint.coulomb * np.sign(u) + joint.viscous * u
            if joint.stiffness:  # of a joint with one freedom
                force[places.v[joint.name]] += joint.stiffness * (at[places.q[joint.name]] - joint.rest)
        for frame, wrench in (wrenches or {}).items():
            force -= self.tree.jacobian(at, frame, "local").T @ wrench
        return self.E.T @ force

    def gravity(self, q: np.ndarray) -> np.ndarray:
        return self.E.T @ self.tree.gravity(self.positions(q))

    def frame(self, name: str, q: np.ndarray, v: np.ndarray, a: np.ndarray):
        """Pose, Jacobian, velocity and classical acceleration of a frame, in world axes."""
        at, rates = self.positions(q), self.E @ v
        pose, J = self.tree.pose(at, name), self.tree.jacobian(at, name) @ self.E
        return pose, J, J @ v, J @ a + self.tree.jacobian_drift(at, rates, name)

    # -- the loops -----------------------------------------------------------------------------------------------

    def rows(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each constraint's value, its Jacobian, and its second rate at zero accelerations.

        Shifts: components in the first frame of the way d between the origins. Turns: products u . w of a unit vector
        of each frame, with the rate (w_A - w_B) . (u x w).
        """
        values, jacobian, drift = [], [], []
        rest = np.zeros_like(v)
        for loop in self.description.constraints:
            (A, JA, VA, aA), (B, JB, VB, aB) = (self.frame(loop.name + side, q, v, rest) for side, _ in _sides(loop))
            d, w = (B - A)[:3, 3], VA[3:]
            slide = VB[:3] - VA[:3] - np.cross(w, d)  # seen from A
            second = aB[:3] - aA[:3] - np.cross(aA[3:], d) - np.cross(w, np.cross(w, d)) - 2 * np.cross(w, slide)
            moving = JB[:3] - JA[:3] - np.cross(JA[3:].T, d).T
            for k in HELD.get(loop.kind.name, (0, 1, 2)):
                axis = A[:3, k]
                values.append(axis @ d)
                jacobian.append(axis @ moving)
                drift.append(axis @ second)
            for i, j in PERPENDICULAR[loop.kind.name]:
                u, z = A[:3, i], B[:3, j]
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
        contacts, model = [], self.tree.model
        for loop in self.description.constraints:
            ends = [model.frames[model.getFrameId(loop.name + side)] for side, _ in _sides(loop)]
            kind = pin.ContactType.CONTACT_6D if loop.kind.name == "weld" else pin.ContactType.CONTACT_3D
            for height in (0.0, 0.3) if loop.kind.name == "revolute" else (0.0,):
                up = pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))
                (i, at_i), (j, at_j) = ((end.parentJoint, end.placement * up) for end in ends)
                contacts.append(pin.RigidConstraintModel(kind, model, i, at_i, j, at_j, pin.LOCAL))
        data, datas = model.createData(), [contact.createData() for contact in contacts]
        pin.initConstraintDynamics(model, data, contacts, datas)
        at, rates = self.positions(q), self.tree.velocities(v)
        own = self.nonlinear(q, v) - self.tree.bias(at, v)
        settings = pin.ProximalSettings(1e-14, 1e-9, 200)
        force = self.tree.velocities(forces - own)
        found = pin.constraintDynamics(model, data, self.tree.positions(at), rates, force, contacts, datas, settings)
        return found[self.tree.order]


def _sides(loop):
    return (".first", loop.first), (".second", loop.second)
