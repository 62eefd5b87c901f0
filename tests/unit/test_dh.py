"""Denavit-Hartenberg geometry, and standard tables against kinematics and energies computed straight from them."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.io.dh import from_standard_dh
from linkwork.io.mdh import read_mdh
from linkwork.model.description import Description, Placement
from linkwork.model.placement import ModifiedParameters, modified_parameters
from linkwork.model.rotations import cos_sin, rotation_from_rpy

ROBOTS = Path(linkwork.__file__).parent / "robots"


def screw(axis: str, angle: float, length: float) -> np.ndarray:
    """Rotation about and translation along x or z, as a 4x4 matrix by Rodrigues' formula."""
    u = np.array({"x": [1.0, 0, 0], "z": [0, 0, 1.0]}[axis])
    T = np.eye(4)
    T[:3, :3] = rodrigues(u, angle)
    T[:3, 3] = length * u
    return T


def rodrigues(u: np.ndarray, angle: float) -> np.ndarray:
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def matrix(placement: Placement) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = placement.rotation, placement.translation
    return T


def moved(description: Description, q: dict[str, float], v: dict[str, float]):
    """Pose, angular velocity and velocity of the origin of each link, in the base frame."""
    state = {description.links[0].name: (np.eye(4), np.zeros(3), np.zeros(3))}
    for joint in description.joints:
        T, w, u = state[joint.parent]
        before = T @ matrix(joint.origin)
        z = before[:3, :3] @ joint.axis
        u = u + np.cross(w, before[:3, 3] - T[:3, 3])
        step = np.eye(4)
        if joint.kind == "prismatic":
            step[:3, 3] = q[joint.name] * joint.axis
            u = u + np.cross(w, q[joint.name] * z) + v[joint.name] * z
        elif joint.kind != "fixed":
            step[:3, :3] = rodrigues(joint.axis, q[joint.name])
            w = w + v[joint.name] * z
        state[joint.child] = before @ step, w, u
    return state


def energies(description: Description, q, v) -> tuple[float, float]:
    """Kinetic, rotors included, and potential."""
    state = moved(description, q, v)
    kinetic = sum(joint.rotor_inertia * v[joint.name] ** 2 / 2 for joint in description.joints)
    potential = 0.0
    for link in description.links:
        if link.inertia is not None:
            T, w, u = state[link.name]
            arm = T[:3, :3] @ link.inertia.center
            center_velocity, turning = u + np.cross(w, arm), T[:3, :3].T @ w
            kinetic += (link.inertia.mass * center_velocity @ center_velocity) / 2
            kinetic += (turning @ link.inertia.central @ turning) / 2
            potential -= link.inertia.mass * np.dot(description.gravity, T[:3, 3] + arm)
    return float(kinetic), float(potential)


def test_placement_is_the_product_of_the_six_factors():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gamma, b, alpha, d, theta, r = parameters = rng.uniform(-3, 3, 6)
        product = screw("z", gamma, b) @ screw("x", alpha, d) @ screw("z", theta, r)
        np.testing.assert_allclose(matrix(ModifiedParameters(*parameters).placement()), product, atol=4e-15)


@pytest.mark.parametrize("quarters", [-5, -2, -1, 0, 1, 2, 3, 4, 7])
def test_quarter_turns_are_exact(quarters):
    angle = quarters * math.pi / 2
    assert cos_sin(angle) == (round(math.cos(angle)), round(math.sin(angle)))
    R = ModifiedParameters(gamma=angle, alpha=-angle, theta=math.pi / 2).placement().rotation
    assert set(np.abs(R).flat) <= {0.0, 1.0}
    assert not np.signbit(R[R == 0]).any()


def test_rpy_is_roll_first_about_fixed_axes():
    roll, pitch, yaw = 0.3, -0.5, 1.1
    x, y, z = np.eye(3)
    product = rodrigues(z, yaw) @ rodrigues(y, pitch) @ rodrigues(x, roll)
    np.testing.assert_allclose(rotation_from_rpy(roll, pitch, yaw), product, atol=1e-15)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (ModifiedParameters(alpha=math.pi / 2, d=0.2, theta=0.3, r=0.4), None),
        (ModifiedParameters(alpha=-math.pi / 2, d=-0.2, theta=-2.0, r=-0.4), None),
        (ModifiedParameters(d=-0.5, theta=1.0, r=0.25), None),
        (ModifiedParameters(alpha=math.pi, d=0.5, theta=1.0, r=0.25), None),
        (ModifiedParameters(gamma=0.7, b=0.3, alpha=1.2, d=0.2, theta=0.3, r=0.4), None),
        (ModifiedParameters(b=0.1, r=0.2, gamma=0.4, theta=0.6), ModifiedParameters(theta=1.0, r=0.1 + 0.2)),
        (ModifiedParameters(), None),
    ],
    ids=["serial", "serial, negative", "parallel", "antiparallel", "tree", "coaxial", "neutral"],
)
def test_parameters_are_found_again(parameters, expected):
    found = modified_parameters(parameters.placement())
    assert found is not None
    np.testing.assert_allclose(found, expected or parameters, atol=1e-15)


def test_random_placements_are_found_again():
    rng = np.random.default_rng(1)
    for _ in range(50):
        placement = Placement(rotation_from_rpy(*rng.uniform(-3, 3, 3)), rng.normal(size=3))
        found = modified_parameters(placement)
        if found is not None:
            np.testing.assert_allclose(matrix(found.placement()), matrix(placement), atol=1e-14)


def test_nearly_parallel_axes_have_no_good_parameters():
    assert modified_parameters(Placement(rotation_from_rpy(1e-6, 0, 0), np.array([0.1, 0.2, 0.3]))) is None


def test_standard_table_shifts_into_modified_rows():
    rows, distal = from_standard_dh(theta=[0.1, 0.2], d=[0.3, 0.4], a=[0.5, 0.6], alpha=[0.7, 0.8])
    assert rows[0] == ModifiedParameters(theta=0.1, r=0.3)
    assert rows[1] == ModifiedParameters(alpha=0.7, d=0.5, theta=0.2, r=0.4)
    np.testing.assert_allclose(matrix(distal[1]), screw("x", 0.8, 0.6), atol=1e-16)


def random_standard(rng, n: int):
    table = rng.uniform(-1.5, 1.5, (n, 4))
    sigma = rng.integers(0, 2, n)
    masses, centers = rng.uniform(0.5, 3, n), rng.normal(size=(n, 3))
    roots = rng.normal(size=(n, 3, 3))
    inertias = np.einsum("nij,nkj->nik", roots, roots) + np.eye(3)
    rows = [
        f"  - {{sigma: {s}, theta: {t}, d: {d}, a: {a}, alpha: {al}}}"
        for s, (t, d, a, al) in zip(sigma, table, strict=True)
    ]
    links = [
        f"  - {{link: link{i + 1}, M: {masses[i]}, center: {centers[i].tolist()},"
        f" central: {inertias[i][np.triu_indices(3)].tolist()}}}"
        for i in range(n)
    ]
    text = "\n".join(["name: random", "convention: standard", "joints:", *rows, "links:", *links])
    return read_mdh(text), table, sigma, masses, centers, inertias


def distal_pose(table, sigma, q, n: int) -> np.ndarray:
    """Straight from the convention: Rz(theta) Tz(d) Tx(a) Rx(alpha)."""
    T = np.eye(4)
    for (theta, d, a, alpha), prismatic, position in list(zip(table, sigma, q, strict=True))[:n]:
        T = T @ screw("z", theta + position * (1 - prismatic), d + position * prismatic) @ screw("x", alpha, a)
    return T


@pytest.mark.parametrize("seed", range(5))
def test_standard_table_keeps_poses_and_energy(seed):
    rng = np.random.default_rng(seed)
    n = 5
    description, table, sigma, masses, centers, inertias = random_standard(rng, n)
    q, v = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    names = [joint.name for joint in description.joints]
    at, rate = dict(zip(names, q, strict=True)), dict(zip(names, v, strict=True))

    state = moved(description, at, rate)
    for i in range(n):
        link, placement = description.frames[f"link{i + 1}_dh"]
        expected = distal_pose(table, sigma, q, i + 1)
        np.testing.assert_allclose(state[link][0] @ matrix(placement), expected, atol=1e-13)

    kinetic, potential = 0.0, 0.0  # by finite differences of the distal poses
    step = 1e-6
    for i in range(n):
        T = distal_pose(table, sigma, q, i + 1)
        rate_T = (distal_pose(table, sigma, q + step * v, i + 1) - distal_pose(table, sigma, q - step * v, i + 1)) / (
            2 * step
        )
        W = T[:3, :3].T @ rate_T[:3, :3]
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        velocity = rate_T[:3, 3] + rate_T[:3, :3] @ centers[i]
        kinetic += (masses[i] * velocity @ velocity + w @ inertias[i] @ w) / 2
        potential += 9.81 * masses[i] * (T[:3, 3] + T[:3, :3] @ centers[i])[2]
    found = energies(description, at, rate)
    assert found[0] == pytest.approx(kinetic, rel=1e-8)  # what the finite differences allow
    assert found[1] == pytest.approx(potential, rel=1e-12)


def test_standard_tree():
    """Two fingers on one arm: each starts from the arm's distal frame."""
    text = """
name: fork
convention: standard
joints:
  - {link: arm, d: 0.3, a: 0.5, alpha: 0.4}
  - {link: left, theta: 0.2, a: 0.1}
  - {link: right, parent: arm, theta: -0.2, a: 0.1}
"""
    description = read_mdh(text)
    state = moved(
        description,
        dict.fromkeys(["joint1", "joint2", "joint3"], 0.0),
        dict.fromkeys(["joint1", "joint2", "joint3"], 0.0),
    )
    arm = screw("z", 0, 0.3) @ screw("x", 0.4, 0.5)
    for link, theta in (("left", 0.2), ("right", -0.2)):
        expected = arm @ screw("z", theta, 0) @ screw("x", 0, 0.1)
        np.testing.assert_allclose(state[link][0] @ matrix(description.frames[f"{link}_dh"][1]), expected, atol=1e-15)


# Printed to four decimals for qn = (0, pi/4, pi, 0, pi/4, 0): the expected values of test_inertia, test_gravload and
# test_rne among the unit tests of github.com/petercorke/robotics-toolbox-python; the first two also in P. Corke,
# Robotics, Vision and Control, chapter 9.
PUMA_INERTIA = [
    [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, 0.0000],
    [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
    [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
    [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
    [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
    [0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
]
PUMA_GRAVITY = [0.0000, 31.6399, 6.0351, 0.0000, 0.0283, 0.0000]
PUMA_FORCES = [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196]  # at velocities of one, accelerations of zero
PUMA_COULOMB = [(0.395, 0.435), (0.126, 0.071), (0.132, 0.105), (0.0112, 0.0169), (0.00926, 0.0145), (0.00396, 0.0105)]
PUMA_GEAR = [62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686]


def test_puma560_against_printed_numbers():
    puma = read_mdh((ROBOTS / "puma560.yaml").read_text())
    names = [joint.name for joint in puma.joints]
    qn = np.array([0, math.pi / 4, math.pi, 0, math.pi / 4, 0])
    e, ones, step = np.eye(6), np.ones(6), 1e-5

    def energy(q, v):
        return np.array(energies(puma, dict(zip(names, q, strict=True)), dict(zip(names, v, strict=True))))

    def inertia_matrix(q):
        alone = [energy(q, a)[0] for a in e]
        return np.array([[energy(q, e[i] + e[j])[0] - alone[i] - alone[j] for j in range(6)] for i in range(6)])

    np.testing.assert_allclose(inertia_matrix(qn), PUMA_INERTIA, atol=5.1e-5)
    kinetic, gravity = np.transpose(
        [(energy(qn + step * a, ones) - energy(qn - step * a, ones)) / (2 * step) for a in e]
    )
    np.testing.assert_allclose(gravity, PUMA_GRAVITY, atol=5.1e-5)
    momentum_rate = (inertia_matrix(qn + step * ones) - inertia_matrix(qn - step * ones)) @ ones / (2 * step)
    # the toolbox's friction is not symmetric, the file has the mean of both directions
    asymmetry = [gear * (plus - minus) / 2 for gear, (plus, minus) in zip(PUMA_GEAR, PUMA_COULOMB, strict=True)]
    friction = [joint.coulomb + joint.viscous for joint in puma.joints] + np.array(asymmetry)
    np.testing.assert_allclose(momentum_rate - kinetic + gravity + friction, PUMA_FORCES, atol=5.1e-5)
