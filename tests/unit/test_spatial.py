"""Vectors, screws, inertias and poses against 3x3, 4x4 and 6x6 matrices of NumPy."""

import numpy as np
import pytest

from linkwork.scalar import Tally, is_zero
from linkwork.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    Matrix,
    Motion,
    Pose,
    Screw,
    Symmetric,
    Transform,
    Vector,
    crosses,
    pseudo_inertia,
    steiner,
)
from support.evaluate import assert_close, cross_matrix, rotation_of

RNG = np.random.default_rng(0)
QUARTERS = [(1, 0), (0, 1), (-1, 0), (0, -1)]
ANGLES = [(np.cos(t), np.sin(t)) for t in (0.3, -2.0)]
SCREWS = [Screw(axis, c, s, t) for axis in "xz" for c, s in QUARTERS + ANGLES for t in (0, 0.7)]
CHAIN = Transform(Screw("x", *ANGLES[0], 0.4), Screw("z", *ANGLES[1], -0.6), Screw("x", 0, 1, 0.2))


def vector(x) -> Vector:
    return Vector(*(float(value) for value in x))


def array(x) -> np.ndarray:
    if isinstance(x, (Matrix, Symmetric)):
        return np.array([list(row) for row in x.rows])
    return np.array(list(x), float)


def rotation(screw: Screw) -> np.ndarray:
    c, s = screw.c, screw.s
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]] if screw.axis == "x" else [[c, -s, 0], [s, c, 0], [0, 0, 1]])


def homogeneous(transform: Transform) -> np.ndarray:
    total = np.eye(4)
    for screw in transform.screws:
        step = np.eye(4)
        step[:3, :3], step["xyz".index(screw.axis), 3] = rotation(screw), screw.t
        total = total @ step
    return total


def motion_map(T: np.ndarray) -> np.ndarray:
    """6x6, outer to inner components, linear first: v_inner = R^T (v - p x w)."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R.T, -R.T @ cross_matrix(p)], [np.zeros((3, 3)), R.T]])


def spatial(inertia: Inertia) -> np.ndarray:
    h = cross_matrix(array(inertia.h))
    return np.block([[inertia.mass * np.eye(3), -h], [h, array(inertia.J)]])


def spatial_articulated(a: ArticulatedInertia) -> np.ndarray:
    return np.block([[array(a.M), array(a.B)], [array(a.B).T, array(a.J)]])


def random_articulated() -> ArticulatedInertia:
    numbers = [float(x) for x in RNG.normal(size=21)]
    rows = (vector(numbers[6 + 3 * k : 9 + 3 * k]) for k in range(3))
    return ArticulatedInertia(Symmetric(*numbers[:6]), Matrix(*rows), Symmetric(*numbers[15:]))


def test_vectors():
    a, b = RNG.normal(size=(2, 3))
    u, v = vector(a), vector(b)
    assert_close(array(u + v), a + b)
    assert_close(array(u - v), a - b)
    assert_close(array(-u), -a)
    assert_close(array(2.5 * u), 2.5 * a)
    assert_close(array(u.cross(v)), np.cross(a, b))
    assert u.dot(v) == pytest.approx(a @ b) and u[2] == a[2]
    batch = np.array([2.0, 3.0]) * u  # an array times a vector is a vector of arrays
    assert isinstance(batch, Vector) and batch.y.tolist() == [2 * a[1], 3 * a[1]]


def test_matrices():
    A, v = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    M = Matrix(*(vector(row) for row in A))
    assert_close(array(M @ vector(v)), A @ v)
    assert_close(array(M.T), A.T)
    assert_close(array(M + M.T), A + A.T)
    S = Symmetric(*(A + A.T)[np.triu_indices(3)])
    assert_close(array(S), A + A.T)
    assert_close(array(S @ vector(v)), (A + A.T) @ v)
    assert_close(array(S - S), np.zeros((3, 3)))


@pytest.mark.parametrize("transform", [*map(Transform, SCREWS), CHAIN, Transform()])
def test_transforms(transform: Transform):
    T = homogeneous(transform)
    X = motion_map(T)
    v, six = RNG.normal(size=3), RNG.normal(size=6)
    assert_close(array(transform.origin), T[:3, 3])
    assert_close(array(transform.outward(vector(v))), T[:3, :3] @ v)
    assert_close(array(transform.inward(vector(v))), T[:3, :3].T @ v)
    assert_close(array(transform.motion_inward(Motion(vector(six[:3]), vector(six[3:])))), X @ six)
    assert_close(array(transform.force_outward(Force(vector(six[:3]), vector(six[3:])))), X.T @ six)
    inertia = Inertia(1.3, vector(RNG.normal(size=3)), Symmetric(*RNG.normal(size=6)))
    assert_close(spatial(transform.inertia_outward(inertia)), X.T @ spatial(inertia) @ X)
    a = random_articulated()
    assert_close(spatial_articulated(transform.articulated_outward(a)), X.T @ spatial_articulated(a) @ X)


def test_motions_forces_and_power():
    m, n, f = RNG.normal(size=(3, 6))
    motion, other, force = (
        Motion(vector(m[:3]), vector(m[3:])),
        Motion(vector(n[:3]), vector(n[3:])),
        Force(vector(f[:3]), vector(f[3:])),
    )
    w, v = cross_matrix(m[3:]), cross_matrix(m[:3])
    cross = np.block([[w, v], [np.zeros((3, 3)), w]])
    assert_close(array(motion.cross(other)), cross @ n)
    assert_close(array(motion.cross_force(force)), -cross.T @ f)
    assert motion.dot(force) == pytest.approx(m @ f)
    assert_close(array(motion * 2.0 + other), 2 * m + n)
    assert_close(array(-force * 2.0 - force), -3 * f)


def test_inertias():
    inertia = Inertia(2.0, vector(RNG.normal(size=3)), Symmetric(*RNG.normal(size=6)))
    six = RNG.normal(size=6)
    assert_close(array(inertia @ Motion(vector(six[:3]), vector(six[3:]))), spatial(inertia) @ six)
    assert array(Inertia.of(list(inertia))).tolist() == array(inertia).tolist()
    assert_close(spatial(inertia + inertia), 2 * spatial(inertia))
    rigid = ArticulatedInertia.rigid(inertia)
    assert_close(spatial_articulated(rigid), spatial(inertia))
    assert_close(array(rigid @ Motion(vector(six[:3]), vector(six[3:]))), spatial(inertia) @ six)
    force = Force(vector(six[:3]), vector(six[3:]))
    assert_close(
        spatial_articulated(rigid.minus_dyad([force], [force * 2.0])), spatial(inertia) - 2 * np.outer(six, six)
    )


def test_poses():
    quaternion, origin = RNG.normal(size=4), RNG.normal(size=3)
    pose = Pose.of_quaternion(origin.tolist(), quaternion.tolist())
    R = rotation_of(quaternion)
    assert_close(array(pose.rotation), R)
    T = np.block([[R, origin[:, None]], [np.zeros(3), 1]])
    for inner in (CHAIN, pose):
        total = pose.then(inner)
        expected = T @ (T if inner is pose else homogeneous(inner))
        assert_close(array(total.rotation), expected[:3, :3])
        assert_close(array(total.origin), expected[:3, 3])
    six = RNG.normal(size=6)
    X = motion_map(T)
    assert_close(array(pose.motion_inward(Motion(vector(six[:3]), vector(six[3:])))), X @ six)
    assert_close(array(pose.force_outward(Force(vector(six[:3]), vector(six[3:])))), X.T @ six)
    assert_close(array(Pose.identity().then(CHAIN).origin), array(CHAIN.origin))


def test_turning_a_vector_costs_what_the_docstring_says():
    """8 multiplications and 4 additions for two screws, 4 and 2 with a right angle, nothing for quarter turns."""
    for screws, expected in (
        ((Screw("x", 0.6, 0.8), "z"), {"mul": 8, "add": 4}),
        ((Screw("x", 0, 1), "z"), {"mul": 4, "add": 2}),
    ):
        tally = Tally()
        joint = Screw("z", tally.wrap(0.6), tally.wrap(0.8))
        Transform(screws[0], joint).outward(Vector(*map(tally.wrap, (1.0, 2.0, 3.0))))
        assert {name: tally[name] for name in ("mul", "add")} == expected


def test_structural_zeros_stay_structural():
    zero = CHAIN.motion_inward(Motion())
    assert all(is_zero(x) for x in zero) and all(is_zero(x) for x in CHAIN.force_outward(Force()))
    tally = Tally()
    along = Screw("z", tally.wrap(0.6), tally.wrap(0.8)).outward(Vector(0, 0, 1))
    assert list(along) == [0, 0, 1] and not tally


def full(J: Symmetric) -> np.ndarray:
    return np.array([list(row) for row in J.rows])


def test_tensors_against_matrices():
    a, b = RNG.normal(size=(2, 3))
    A, B = cross_matrix(a), cross_matrix(b)
    assert_close(full(steiner(2.5, vector(a))), -2.5 * A @ A)
    assert_close(full(crosses(vector(a), vector(b))), -A @ B - B @ A)
    points, masses = RNG.normal(size=(9, 3)), RNG.uniform(1, 2, 9)
    second = np.einsum("k,ki,kj->ij", masses, points, points)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.trace(second) * np.eye(3) - second
    assert_close(full(pseudo_inertia(Symmetric(xx, xy, xz, yy, yz, zz))), second)


def test_central_inertia_of_points():
    points, masses = RNG.normal(size=(9, 3)), RNG.uniform(1, 2, 9)
    about = lambda r: sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points - r))  # noqa: E731
    center = masses @ points / masses.sum()
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = about(np.zeros(3))
    inertia = Inertia(masses.sum(), vector(masses @ points), Symmetric(xx, xy, xz, yy, yz, zz))
    mass, c, J = inertia.central()
    assert mass == masses.sum()
    assert_close(list(c), center)
    assert_close(full(J), about(center))
    assert list(Inertia(0, Vector(), Symmetric(1.0, 0, 0, 1.0, 0, 1.0)).central()[1]) == [0, 0, 0]


def test_tensors_and_arms_through_a_transform():
    R = np.stack([list(CHAIN.outward(vector(e))) for e in np.eye(3)], axis=1)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = J = (lambda M: M + M.T)(RNG.normal(size=(3, 3)))
    assert_close(full(CHAIN.tensor_outward(Symmetric(xx, xy, xz, yy, yz, zz))), R @ J @ R.T)
    arm = RNG.normal(size=3)
    assert_close(list(CHAIN.arm_inward(vector(arm))), R.T @ (arm + list(CHAIN.origin)))
