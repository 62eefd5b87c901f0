"""The dynamics of a fixed-base robot from first principles, sharing nothing with linkwork but its Description.

Energies are summed over the links in world coordinates, and Lagrange's equations do the rest. Slow, short, and right
for complex numbers too, so that derivatives are complex steps.
"""

from collections.abc import Sequence

import numpy as np

from linkwork.model import Description, JointDescription
from support.evaluate import STEP, cross_matrix, derivative


def moving(description: Description) -> list[JointDescription]:
    """The joints that move, mimic joints included: the order of *tree* vectors here."""
    return [joint for joint in description.joints if joint.kind != "fixed"]


def coupling(description: Description, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """G and o in ``tree positions = G q + o``, for independent joints in the order of ``names``."""
    joints = {joint.name: joint for joint in description.joints}

    def row(joint: JointDescription) -> tuple[np.ndarray, float]:
        if joint.mimic is None:
            return np.eye(len(names))[names.index(joint.name)], 0.0
        leader, offset = row(joints[joint.mimic.joint])
        return joint.mimic.multiplier * leader, joint.mimic.multiplier * offset + joint.mimic.offset

    rows = [row(joint) for joint in moving(description)]
    return np.array([r for r, _ in rows]), np.array([o for _, o in rows])


def bodies(description: Description, x: np.ndarray):
    """For every link: its inertia, rotation, origin, and Jacobian (linear rows first) at tree positions ``x``."""
    children = {joint.child for joint in description.joints}
    root = next(link.name for link in description.links if link.name not in children)
    inertia = {link.name: link.inertia for link in description.links}
    index = {joint.name: k for k, joint in enumerate(moving(description))}
    found = {root: (inertia[root], np.eye(3), np.zeros(3), np.zeros((6, len(index))))}
    for joint in description.joints:
        _, R, p, J = found[joint.parent]
        J = J.astype(complex)
        R, arm = R @ joint.origin.rotation, R @ joint.origin.translation
        if joint.kind != "fixed":
            value, local = x[index[joint.name]], joint.axis / np.linalg.norm(joint.axis)
            axis = R @ local
            if joint.kind == "prismatic":
                arm = arm + value * axis
            else:
                K = cross_matrix(local)
                R = R @ (np.eye(3) + np.sin(value) * K + (1 - np.cos(value)) * K @ K)
        J[:3] -= cross_matrix(arm) @ J[3:]
        if joint.kind != "fixed":
            J[:3, index[joint.name]] += axis if joint.kind == "prismatic" else 0
            J[3:, index[joint.name]] += 0 if joint.kind == "prismatic" else axis
        found[joint.child] = inertia[joint.child], R, p + arm, J
    return found


def inertia_matrix(description: Description, x: np.ndarray) -> np.ndarray:
    """Sum of J^T I J over the links, and the rotors, on tree vectors."""
    M = np.diag([joint.rotor_inertia + 0j for joint in moving(description)])
    for inertia, R, _, J in bodies(description, x).values():
        if inertia is not None:
            to_center = np.block([[np.eye(3), -cross_matrix(R @ inertia.center)], [np.zeros((3, 3)), np.eye(3)]])
            spatial = np.block(
                [[inertia.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), R @ inertia.central @ R.T]]
            )
            M = M + (to_center @ J).T @ spatial @ to_center @ J
    return M


def potential_energy(description: Description, x: np.ndarray) -> np.ndarray:
    """Of gravity and springs, on tree positions."""
    total = sum(
        joint.stiffness * (value - joint.rest) ** 2 / 2 for joint, value in zip(moving(description), x, strict=True)
    )
    for inertia, R, p, _ in bodies(description, x).values():
        if inertia is not None:
            total = total - inertia.mass * np.dot(description.gravity, p + R @ inertia.center)
    return np.asarray(total)


def inverse_dynamics(description: Description, names: Sequence[str], q, v, a) -> np.ndarray:
    """d/dt dT/dv - dT/dq + dV/dq + friction, for the independent joints ``names``."""
    G, o = coupling(description, names)

    def M(q: np.ndarray) -> np.ndarray:
        return G.T @ inertia_matrix(description, G @ q + o) @ G

    joints, rate = moving(description), G @ v
    friction = [j.viscous * u + j.coulomb * np.sign(u) for j, u in zip(joints, rate, strict=True)]
    tau = M(q).real @ a + derivative(M, q, v) @ v + G.T @ friction
    for k, e in enumerate(np.eye(len(names))):
        varied = q + 1j * STEP * e
        lagrangian = v @ M(varied) @ v / 2 - potential_energy(description, G @ varied + o)
        tau[k] -= lagrangian.imag / STEP
    return tau
