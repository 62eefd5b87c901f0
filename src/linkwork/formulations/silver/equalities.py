"""Silver's equalities (1981, AIM-622) between the angular velocity w and the rate Wd of the rotation matrix W, between
the inertia tensor I and the pseudo-inertia J, and from Lagrange's equations to those of Newton and Euler.

W takes components in the body's axes (primed in the memo) to fixed axes. Each function works over any scalar, so
that it can be differentiated by complex steps, counted or traced.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Matrix, Motion, Symmetric, Vector, Z
from ...spatial import pseudo_inertia as pseudo_inertia  # the inverse of (2.11)
from ..kinematics import body_poses
from ..rnea import acceleration_matrix

# -- section 2: one body, in two representations ------------------------------------------------------------------


def permutation(i: int, j: int, k: int) -> int:
    """Return P_ijk, the components of the cross product: 1, -1 for even and odd permutations of 0, 1, 2, otherwise 0.

    P_ijk P_ijl = 2 delta_kl (2.3) and P_ijk P_ilm = delta_jl delta_km - delta_jm delta_kl (2.4).
    """
    return (i - j) * (j - k) * (k - i) // 2


def rotation_rate(w: Vector, W: Matrix) -> Matrix:
    """Return Wd = w x W, column by column (2.5)."""
    return Matrix(*(w.cross(column) for column in W.columns)).T


def angular_velocity(W: Matrix, Wd: Matrix) -> Vector:
    """Return w_i = P_ijk W_jl Wd_kl / 2 (2.6), which is half the sum of W_l x Wd_l over the columns."""
    total = Vector()
    for column, rate in zip(W.columns, Wd.columns, strict=True):
        total = total + column.cross(rate)
    return 0.5 * total


def rotation_acceleration(w: Vector, wd: Vector, W: Matrix) -> Matrix:
    """Return Wdd = wd x W + w x (w x W): (2.5) differentiated."""
    return acceleration_matrix(w, wd) @ W


def second_moments(masses: Iterable[tuple[Scalar, Vector]]) -> Symmetric:
    """Return J_jk = sum of m r_j r_k over point masses (2.7)."""
    total = Symmetric()
    for m, r in masses:
        mr = m * r
        total = total + Symmetric(mr.x * r.x, mr.x * r.y, mr.x * r.z, mr.y * r.y, mr.y * r.z, mr.z * r.z)
    return total


def moments_of_inertia(masses: Iterable[tuple[Scalar, Vector]]) -> Symmetric:
    """Return I_ij = sum of m (r^2 delta_ij - r_i r_j) over point masses (2.9)."""
    total = Symmetric()
    for m, r in masses:
        x, y, z, mr = r.x, r.y, r.z, m * r
        xx, yy, zz = mr.x * x, mr.y * y, mr.z * z
        total = total + Symmetric(yy + zz, -mr.x * y, -mr.x * z, xx + zz, -mr.y * z, xx + yy)
    return total


def inertia_tensor(J: Symmetric) -> Symmetric:
    """Return I = tr(J) 1 - J (2.11), about any point and in any axes, as long as they are the same for both."""
    trace = J.xx + J.yy + J.zz
    return Symmetric(trace, 0, 0, trace, 0, trace) - J


def kinetic_energy_of_rotation(Wd: Matrix, J: Symmetric) -> Scalar:
    """Return K = tr(Wd J Wd^T) / 2 (2.8), J in the body's axes."""
    return 0.5 * _trace(Wd, J, Wd)


def kinetic_energy_of_spin(w: Vector, I: Symmetric) -> Scalar:
    """Return K = w.I.w / 2 (2.10), both in the same axes."""
    return 0.5 * w.dot(I @ w)


def generalized_force_of_rotation(dW: Matrix, J: Symmetric, Wdd: Matrix) -> Scalar:
    """Return tr(dW/dq J Wdd^T), the share of rotation in a generalized force (summary table, right column)."""
    return _trace(dW, J, Wdd)


def generalized_force_of_spin(dw: Vector, I: Symmetric, w: Vector, wd: Vector) -> Scalar:
    """Return [I.wd + w x (I.w)] . dw/dqd, the share of rotation in a generalised force, all in the same axes."""
    return (I @ wd + w.cross(I @ w)).dot(dw)


def _trace(A: Matrix, J: Symmetric, B: Matrix) -> Scalar:
    """Return tr(A J B^T)."""
    return sum((a.dot(J @ b) for a, b in zip(A.rows, B.rows, strict=True)), start=0)


def in_fixed_axes(W: Matrix, A: Symmetric) -> Symmetric:
    """Return W A W^T: a tensor's components in fixed axes from those in the body's."""
    rows = [A @ row for row in W.rows]
    entry = lambda i, j: W.rows[i].dot(rows[j])  # noqa: E731
    return Symmetric(entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2))


# -- section 3 and appendix: links of a chain, in fixed axes ---------------------------------------------------------


def inertia_rate(w: Vector, I: Symmetric) -> Symmetric:
    """Return w x I - I x w: how the tensor of a body turning with w changes in fixed axes.

    With w = w_i it is dI_i/dt (3.5), with dw_i/dqd_j it is dI_i/dq_j (3.10).
    """
    x, y, z = rotation_rate(w, Matrix(*I.rows)).rows
    return Symmetric(2 * x.x, x.y + y.x, x.z + z.x, 2 * y.y, y.z + z.y, 2 * z.z)


def partial_velocities(model: Model, q: Scalars, i: int, point: Vector) -> list[Motion]:
    """Return (dv_i/dqd_j, dw_i/dqd_j) for every joint j, v_i of the point of link i that is at ``point`` in its frame:

    z_j x p_ji and z_j for a rotational joint, z_j and 0 for a translational one (3.15), (3.16); 0 for j > i.
    """
    poses = body_poses(model, q)
    end = poses[i].origin + poses[i].outward(point)
    columns = [Motion()] * model.n_bodies
    for j in range(1, i + 1):
        z, p = poses[j].outward(Z), end - poses[j].origin
        columns[j - 1] = Motion(z, Vector()) if model.joint(j).prismatic else Motion(z.cross(p), z)
    return columns


def link_velocity(model: Model, q: Scalars, v: Scalars, i: int, point: Vector) -> Motion:
    """Return (v_i, w_i), the sums over the joints of the partial velocities times qd_j (3.13), (3.14)."""
    total = Motion()
    for column, qd in zip(partial_velocities(model, q, i, point), v, strict=True):
        total = total + column * qd
    return total
