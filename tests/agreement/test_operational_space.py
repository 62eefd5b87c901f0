"""Operational-space dynamics and singularity of frames: against NumPy and Pinocchio, and by the laws that define them,
on robots of every structure, at singular positions, far from the origin."""

import shutil
import subprocess
from functools import cache
from importlib.metadata import files

import numpy as np
import pinocchio as pin
import pytest

import linkwork
from linkwork import linalg
from linkwork.errors import LinkworkError, UnsupportedError
from linkwork.formulations import QUANTITIES
from linkwork.inspection import random_states
from linkwork.io import read
from linkwork.model import Description, Placement
from linkwork.rotations import exp
from support.evaluate import assert_close, deviation, evaluate
from support.mixed_trees import MixedRecipe, mixed
from support.pinocchio_robot import PinocchioRobot
from support.placed import placed
from support.random_loops import LoopRecipe, mechanism
from support.random_robots import Recipe, describe, serial

AT = Placement(exp([0.4, -1.1, 2.0]), np.array([900.0, -700.0, 400.0]))  # metres away, and turned
DESCRIBED: dict[str, Description] = {
    "skew 6R": serial("RRRRRR", extras=True),
    "prismatic": serial("PRPPRPR", seed=3),
    "branches": describe(Recipe(seed=8, joints=9, branches=True, fixed=True, extras=True)),
    "floating branches": describe(Recipe(seed=4, joints=5, branches=True, floating=True)),
    "follows": describe(Recipe(seed=5, joints=8, mimic=True)),
    "every joint": mixed(MixedRecipe(4, ("spherical", "universal", "cylindrical", "helical"), 2, extras=True)),
    "planar 4R": serial("RRRR", seed=1, relations=("parallel",)),
    "gantry": serial("PPPP", seed=2),
    "loop": mechanism(LoopRecipe(seed=1, closures=("spherical",), freedoms=2, elastic=True, mimic=True)),
    "floating loop": mechanism(LoopRecipe(seed=3, closures=("revolute",), planar=True, floating=True)),
    "still": mechanism(LoopRecipe(seed=2, closures=("revolute", "weld"), planar=True, motors="some")),
    "far panda": placed(read("panda"), AT),
    "far delta": placed(read("delta"), AT),
}
BUNDLED = ["panda", "puma560", "scara", "planar2r", "stanford", "quadruped", "eel", "quadrotor-with-arm", "four-bar"]
BUNDLED += ["delta", "gough-stewart", "car", "flexible-two-link", "mobile-manipulator", "3rpr"]
ROBOTS = [*BUNDLED, *DESCRIBED]
AXES = ("world", "local")
ROUNDING = 1e-14  # of the entries of a Jacobian; far away, lengths of 1000 m lose three digits


@cache
def robot(name: str) -> linkwork.Robot:
    return linkwork.load(DESCRIBED.get(name, name))


def value(name: str, quantity: str, *inputs, **options):
    """By the formulation, without compiling it."""
    of_frame = {"frame": frame_of(name)} if QUANTITIES[quantity].of_frame else {}
    return evaluate(robot(name).model, quantity, *inputs, **of_frame, **options)


@cache
def state(name: str, seed: int = 0) -> tuple[np.ndarray, ...]:
    states = random_states(robot(name), 1, seed)
    return tuple(states[key][0] for key in ("q", "v", "a", "tau"))


def frame_of(name: str) -> str:
    names = robot(name).frame_names
    return "tool" if "tool" in names else names[-1]


class Expected:
    """By NumPy's singular values of B = J C^-T, where M = C C^T: what is below 1e-8 of the largest counts as zero."""

    def __init__(self, J, M):
        C = np.linalg.inv(np.linalg.cholesky(M))
        left, sizes, right = np.linalg.svd(J @ C.T, full_matrices=False)
        kept = sizes > 1e-8 * sizes.max(initial=0) if np.abs(J).max(initial=0) > 1e-13 else np.zeros(len(sizes), bool)
        self.left, sizes, right = left[:, kept], sizes[kept], right[kept]
        self.condition = sizes.max(initial=1) / sizes.min(initial=1) * np.linalg.cond(M) ** 0.5
        self.rank = len(sizes)
        self.inertia = self.left / sizes**2 @ self.left.T
        self.inverse = C.T @ right.T / sizes @ self.left.T
        self.reached = self.left @ self.left.T


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", ROBOTS)
def test_against_numpy(name, axes, deviations):
    q, v, *_ = state(name)
    J = value(name, "jacobian", q, axes=axes)
    expected = Expected(J, value(name, "inertia_matrix", q))
    bias, drift = value(name, "bias", q, v), value(name, "jacobian_drift", q, v, axes=axes)
    found = [value(name, "operational_inertia", q, axes=axes), value(name, "operational_bias", q, v, axes=axes),
             value(name, "consistent_inverse", q, axes=axes)]  # fmt: skip
    mu = expected.inverse.T @ bias - expected.inertia @ drift
    scale = np.abs(expected.inverse).max() * np.abs(bias).max() + np.abs(expected.inertia).max() * np.abs(drift).max()
    for what, theirs, size in zip(found, (expected.inertia, mu, expected.inverse), (0, scale, 0), strict=True):
        off = deviation(what, theirs, size) / expected.condition
        deviations("operational space, over the condition", off)
        assert off < 5e-15
    assert np.array_equal(found[0], found[0].T)
    damped = value(name, "damped_inverse", q, 0.3, axes=axes)
    stacked = np.vstack([J.T, 0.3 * np.eye(6)])  # the shortest solution of [J, 0.3] x = b, by an orthogonal factor
    assert_close(damped, np.linalg.pinv(stacked.T)[: J.shape[1]], scale=1, tolerance=1e-13)


def test_ranks():
    """The robots above reach six directions, fewer, and none."""
    ranks = {"panda": 6, "planar2r": 2, "planar 4R": 3, "scara": 4, "gantry": 3, "delta": 3, "four-bar": 1, "still": 0}
    for name, rank in ranks.items():
        assert Expected(value(name, "jacobian", state(name)[0]), np.eye(robot(name).nv)).rank == rank, name
    q = state("still")[0]
    assert not value("still", "operational_inertia", q).any()
    assert not value("still", "consistent_inverse", q).any()


@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in ("still", "eel")])
def test_a_force_gives_the_asked_acceleration(name):
    """Joint forces J^T (Lambda A + mu), and any that the frame does not feel, by forward dynamics. Directions that the
    frame cannot take keep the acceleration that they have anyway."""
    q, v, a, tau = state(name)
    J, M, drift = value(name, "jacobian", q), value(name, "inertia_matrix", q), value(name, "jacobian_drift", q, v)
    inertia, mu = value(name, "operational_inertia", q), value(name, "operational_bias", q, v)
    inverse, expected = value(name, "consistent_inverse", q), Expected(J, M)
    A = np.random.default_rng(1).normal(size=6)
    unfelt = tau - J.T @ (inverse.T @ tau)
    forces = J.T @ (inertia @ A + mu) + unfelt
    if robot(name).model.mobility.forced != robot(name).model.mobility.independent:  # the motors are on the legs
        forces = np.linalg.solve(value(name, "motor_jacobian", q).T, forces)
    got = J @ value(name, "forward_dynamics", q, v, forces) + drift
    wanted = expected.reached @ (A - drift) + drift
    assert_close(got, wanted, scale=1 + np.abs(drift).max(), tolerance=1e-13 * expected.condition**2)
    assert_close(J @ inverse @ J, J, scale=1, tolerance=1e-14 * expected.condition)
    assert_close(inverse.T @ M @ inverse, inertia, tolerance=1e-14 * expected.condition**2)
    other, least = np.linalg.pinv(J) @ J @ a, inverse @ J @ a  # as fast in the frame, and in all joints the slowest
    assert least @ M @ least <= other @ M @ other * (1 + 1e-9)


def test_everything_that_is_in_the_bias_is_in_that_of_the_frame():
    own, (q, v, *_), wrench = robot("skew 6R"), state("skew 6R"), np.arange(1.0, 7)
    inverse = own.consistent_inverse("tool", q, axes="local")
    more = own.operational_bias("tool", q, v, axes="local", wrenches={"tool": wrench})
    assert_close(more - own.operational_bias("tool", q, v, axes="local"), -wrench, tolerance=1e-11)
    floating = own.compile("operational_bias", frame="tool", inputs=["gravity"])
    weight = own.operational_bias("tool", q, v) - floating(q, v, [0, 0, 0])
    assert_close(weight, own.consistent_inverse("tool", q).T @ own.gravity(q), tolerance=1e-11)
    assert inverse.shape == (6, 6)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("urdf", ["panda_description/urdf/panda.urdf", "ur_description/urdf/ur5_robot.urdf",
                                  "anymal_b_simple_description/robots/anymal.urdf"])  # fmt: skip
def test_against_pinocchio(urdf, base):
    path = next(file.locate() for file in files("example-robot-data") or () if str(file).endswith(urdf))
    own = linkwork.load(path, base=base, friction=False, rotors=False, mimic=False)
    peer, rng = PinocchioRobot(path.read_text(), own.model), np.random.default_rng(2)
    q, v = own.coordinates.random(rng), rng.normal(size=own.nv)
    frame = own.link_names[-1]
    for axes in AXES:
        J = peer.jacobian(q, frame, axes)
        M, drift = peer.inertia_matrix(q), peer.jacobian_drift(q, v, frame, axes)
        expected = Expected(J, M)
        mu = expected.inverse.T @ peer.bias(q, v) - expected.inertia @ drift
        limit = 1e-14 * expected.condition
        assert_close(own.operational_inertia(frame, q, axes=axes), expected.inertia, tolerance=limit)
        assert_close(own.consistent_inverse(frame, q, axes=axes), expected.inverse, tolerance=limit)
        assert_close(own.operational_bias(frame, q, v, axes=axes), mu, scale=np.abs(mu).max(), tolerance=10 * limit)
    if expected.rank == 6:  # by their inverse of M, which comes from a recursion
        half = np.triu(pin.computeMinverse(peer.model, peer.data, peer.q(q)))
        inverse = (half + np.triu(half, 1).T)[np.ix_(peer.order, peer.order)]
        theirs = np.linalg.inv(J @ inverse @ J.T)
        assert_close(own.operational_inertia(frame, q, axes="local"), theirs, tolerance=limit * expected.condition)


# -- singularity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_singular_values_and_manipulability(name):
    q, limit = state(name)[0], ROUNDING * (1000 if "far" in name else 1)
    J = value(name, "jacobian", q)
    parts = (J, J[:3], J[3:])
    values, volumes = value(name, "singular_values", q), value(name, "manipulability", q)
    for found, volume, part in zip(values, volumes, parts, strict=True):
        expected = np.linalg.svd(part, compute_uv=False)
        assert found.shape == expected.shape and (np.diff(found) <= 0).all() and (found >= 0).all()
        assert_close(found, expected, scale=np.linalg.norm(J, 2), tolerance=limit)
        size = np.linalg.norm(J, 2) ** min(part.shape)
        assert_close(volume, expected.prod(), scale=size, tolerance=limit)
        if J.shape[1] >= len(part):
            assert abs(volume**2 - np.linalg.det(part @ part.T)) < 10 * limit * size**2


def test_textbook():
    """Yoshikawa's planar arm: w = l1 l2 |sin q2|."""
    arm = robot("planar2r")
    stretched, folded = (arm.pose("tip", [0.0, bend])[0, 3] for bend in (0.0, np.pi))
    l1, l2 = (stretched + folded) / 2, (stretched - folded) / 2
    for bend in (0.0, 0.3, -1.2, np.pi / 2, 3.0):
        assert arm.manipulability("tip", [0.7, bend]).translation == pytest.approx(
            l1 * l2 * abs(np.sin(bend)), abs=1e-15
        )


SINGULAR = {
    "stretched panda": ("panda", np.zeros(7), 5),
    "stretched arm": ("planar2r", np.array([0.4, 0.0]), 2),
    "puma, aligned wrist": ("puma560", np.array([0.3, -0.4, 0.8, 0.5, 0.0, -0.7]), 5),
    "stanford, aligned wrist": ("stanford", np.array([0.3, -0.4, 0.8, 0.5, 0.0, -0.7]), 5),
    "scara, stretched": ("scara", np.array([0.3, 0.0, 0.1, 0.5]), 3),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_singular_positions(case):
    name, q, rank = SINGULAR[case]
    own, frame = robot(name), frame_of(name)
    J, v = own.jacobian(frame, q), np.linspace(-1, 1, own.nv)
    expected = Expected(J, own.inertia_matrix(q))
    assert expected.rank == rank and np.isfinite(expected.condition)
    assert_close(own.operational_inertia(frame, q), expected.inertia, tolerance=1e-14 * expected.condition)
    assert_close(own.consistent_inverse(frame, q), expected.inverse, tolerance=1e-14 * expected.condition)
    mu = expected.inverse.T @ own.bias(q, v) - expected.inertia @ own.jacobian_drift(frame, q, v)
    assert_close(own.operational_bias(frame, q, v), mu, scale=1, tolerance=1e-13 * expected.condition)
    assert own.manipulability(frame, q).whole < 1e-14 or rank == own.nv
    assert (own.singular_values(frame, q).whole[rank:] < 1e-15).all()
    assert np.linalg.norm(own.damped_inverse(frame, q, 0.05), 2) <= 1 / 0.1 * (1 + 1e-12)


@pytest.mark.parametrize("bend", [1e-2, 1e-4, 1e-6])
def test_near_singular_positions(bend):
    """The smallest singular value, and the inertia, which grows with the square of its inverse."""
    own, frame, q = robot("panda"), "panda_link8", np.array([0.2, 0, 0, -bend, 0, 0.5, 0.3])
    J, M = own.jacobian(frame, q), own.inertia_matrix(q)
    expected = Expected(J, M)
    assert expected.rank == 6
    assert_close(own.singular_values(frame, q).whole, np.linalg.svd(J, compute_uv=False), tolerance=1e-15)
    found = own.operational_inertia(frame, q)
    assert_close(found, expected.inertia, tolerance=1e-15 * expected.condition)
    lost = np.linalg.inv(J @ np.linalg.solve(M, J.T))  # the formula as it stands loses the square of what this loses
    if bend < 1e-5:
        assert deviation(lost, expected.inertia) > 100 * deviation(found, expected.inertia)


@pytest.mark.parametrize("name", ["planar2r", "scara", "panda", "delta", "four-bar", "3rpr"])
def test_moved_and_turned(name):
    """The inertia turns with the robot, and a kilometre away no direction is taken for another, also where J is
    singular."""
    own, other = robot(name).model, linkwork.load(placed(read(name), AT)).model
    turn, frame = np.kron(np.eye(2), AT.rotation), frame_of(name)
    for q in [np.array(own.home)] if own.constrained else [np.zeros(own.nq), np.linspace(-1, 1, own.nq)]:
        here, there = (evaluate(model, "operational_inertia", q, frame=frame) for model in (own, other))
        assert_close(there, turn @ here @ turn.T, tolerance=3e-12)


# -- derivatives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560", "panda", "scara", "planar 4R", "3rpr"])
def test_derivatives_of_singular_values(name):
    """d sigma_k = u_k dJ v_k, and d w = w tr(J^+ dJ): of the values that are not zero."""
    own, frame, (q, *_) = robot(name), frame_of(name), state(name)
    J, dJ = own.jacobian(frame, q), own.compile("jacobian", frame=frame, backend="interpreter").derivative("q")(q)
    values = own.compile("singular_values", frame=frame, backend="interpreter").derivative("q")(q)
    volumes = own.compile("manipulability", frame=frame, backend="interpreter").derivative("q")(q)
    for value, volume, rows in zip(values, volumes, (slice(6), slice(3), slice(3, 6)), strict=True):
        left, sizes, right = np.linalg.svd(J[rows], full_matrices=False)
        expected = np.einsum("ik,ijd,kj->kd", left, dJ[rows], right)
        gaps = np.abs(np.subtract.outer(sizes, sizes)) + np.eye(len(sizes))
        simple = (sizes > 1e-6) & (gaps.min(axis=1) > 1e-6)
        assert_close(value[simple], expected[simple], scale=1, tolerance=1e-12)
        if (sizes > 1e-6).all():
            trace = np.einsum("ji,ijd->d", np.linalg.pinv(J[rows]), dJ[rows])
            assert_close(volume, sizes.prod() * trace, scale=1, tolerance=1e-12)


@pytest.mark.parametrize("name", ["panda", "planar 4R", "quadruped", "delta"])
def test_derivatives_against_differences(name):
    """Central differences of fourth order, also where J never has full rank."""
    own, frame, (q, *_), h = robot(name), frame_of(name), state(name), 1e-4
    function = own.compile("operational_inertia", frame=frame, backend="interpreter")
    found, direction = function.derivative("q")(q), np.linspace(-1, 1, own.nv)

    def at(step):
        if own.model.constrained:
            places = own.coordinates.places(
                own.model.coordinates.whole(own.model.mobility.independent).positions.joints
            )
            return function(own.assemble(q[places] + step * direction, q).require())
        return function(own.coordinates.integrate(q, step * direction))

    slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    assert_close(found @ direction, slope, scale=np.abs(found).max(), tolerance=1e-8)


def test_a_robot_without_joints():
    fixed = linkwork.load("planar2r", lock={"shoulder": 0.1, "elbow": 0.2})
    none = np.zeros(0)
    assert not fixed.operational_inertia("tip", none).any() and not fixed.operational_bias("tip", none, none).any()
    assert fixed.consistent_inverse("tip", none).shape == fixed.damped_inverse("tip", none, 0.1).shape == (0, 6)
    assert fixed.manipulability("tip", none) == (0, 0, 0) and fixed.singular_values("tip", none).whole.shape == (0,)


# -- everything that functions do --------------------------------------------------------------------------------------


def test_batches_own_functions_and_wrong_input():
    arm, frame = robot("panda"), "panda_link8"
    states = random_states(arm, 5)
    q, v = states["q"], states["v"]
    one = [arm.operational_bias(frame, *each) for each in zip(q, v, strict=True)]
    assert np.array_equal(arm.operational_bias(frame, q, v), one)
    damping = np.linspace(0.1, 0.5, 5)
    assert arm.damped_inverse(frame, q, damping).shape == (5, 7, 6)
    for k, each in enumerate(damping):
        assert np.array_equal(arm.damped_inverse(frame, q[k], each), arm.damped_inverse(frame, q, damping)[k])
        assert_close(arm.damped_inverse(frame, q[k], each), linalg.damped_pinv(arm.jacobian(frame, q[k]), each))
    mine = arm.function(
        lambda robot, q, v: {
            "F": robot.operational_inertia(frame, q, axes="local") @ np.ones(6)
            + robot.operational_bias(frame, q, v, axes="local"),
            "near": robot.singular_values(frame, q).whole[-1],
            "rows": linalg.singular_values(robot.jacobian(frame, q)[:2]),
        }
    )
    found = mine(q, v)
    expected = arm.operational_inertia(frame, q, axes="local").sum(axis=-1)
    expected += arm.operational_bias(frame, q, v, axes="local")
    assert_close(found.F, expected, tolerance=1e-12)
    assert_close(found.near, arm.singular_values(frame, q).whole[:, -1])
    assert_close(found.rows, np.linalg.svd(arm.jacobian(frame, q)[:, :2], compute_uv=False), tolerance=1e-14)
    several = arm.compile([f"manipulability:{frame}", f"damped_inverse:{frame}"])
    assert several.signature.startswith("q(7), damping() -> manipulability_whole(), manipulability_translation()")
    broken = q.copy()
    broken[2] = np.nan
    kept = np.arange(5) != 2
    assert np.array_equal(np.isnan(arm.operational_inertia(frame, broken)).all(axis=(1, 2)), ~kept)
    assert np.array_equal(arm.operational_inertia(frame, broken)[kept], arm.operational_inertia(frame, q)[kept])
    with pytest.raises(UnsupportedError, match="more digits than this type has"):
        arm.compile("operational_inertia", frame=frame, dtype="float32")
    single = arm.compile("singular_values", frame=frame, dtype="float32")(q.astype("float32"))
    assert_close(single.whole, arm.singular_values(frame, q).whole, tolerance=3e-6)
    with pytest.raises(LinkworkError, match="operational_inertia needs a frame"):
        arm.compile("operational_inertia")
    with pytest.raises(LinkworkError, match="manipulability has no choice of axes"):
        arm.compile("manipulability", frame=frame, axes="local")


@pytest.mark.parametrize("quantity", ["operational_bias", "consistent_inverse", "damped_inverse", "singular_values"])
def test_numbers_as_inputs_and_c(quantity, tmp_path):
    arm, frame = robot("panda"), "panda_link8"
    own = arm.compile(quantity, frame=frame)
    states = random_states(arm, 3)
    given = [states[port.name] for port in own.program.inputs]
    expected = own(*given)
    varied = arm.compile(quantity, frame=frame, inputs=["geometry", "parameters", "gravity"], backend="interpreter")
    whole, parts = ([*each] if isinstance(each, tuple) else [each] for each in (varied(*given), expected))
    for one, other in zip(whole, parts, strict=True):
        assert_close(one, other, tolerance=1e-12)
    if compiler := shutil.which("cc"):
        own.to_c(tmp_path)
        subprocess.run(
            [compiler, "-std=c99", *map(str, tmp_path.glob("*.c")), "-lm", "-o", "check"], cwd=tmp_path, check=True
        )
        checked = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=True)
        assert "0 wrong entries" in checked.stdout
