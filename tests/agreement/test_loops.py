"""Closed loops against an independent constrained solve on Pinocchio's tree, and against Pinocchio's own constraints.

Tolerance 1e-9: random loops are conditioned as badly as 1e4, and both sides lose those digits.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

import linkwork
from linkwork.errors import UnsupportedError
from linkwork.formulations import Method, Problem, methods
from support.evaluate import assert_close, deviation, evaluate, scalars
from support.kkt import Reference
from support.random_loops import CLOSURES, PLANAR_RANK, LoopRecipe, closed_model, loop_recipes, mechanism

TOLERANCE = 1e-9
PLANAR = ("four-bar", "slider-crank", "five-bar", "parallelogram", "3rrr", "3rpr", "hybrid-3rpr")
SPATIAL = ("spatial-7r", "gough-stewart", "delta")


class Case:
    """A mechanism, its reference, and a state: not home, but closed, by the reference's own Newton steps."""

    def __init__(self, description, seed=0):
        rng = np.random.default_rng(seed + 17)
        self.model, self.reference = closed_model(description), Reference(description)
        model, reference = self.model, self.reference
        assert reference.leading == model.coordinates.positions.joints
        self.independent = list(model.mobility.independent)
        home = np.array(model.home)
        for stride in (0.3, 0.1, 0.03, 0):
            step = reference.velocity_map(home, self.independent) @ rng.uniform(-stride, stride, model.nv)
            self.q = reference.closed(reference.moved(home, step), self.independent)
            if np.isfinite(self.q).all() and np.abs(reference.velocity_map(self.q, self.independent)).max() < 100:
                break
        self.v, self.a = rng.uniform(-1, 1, model.nv), rng.uniform(-3, 3, model.nv)
        self.tau = rng.uniform(-5, 5, len(model.mobility.forced))
        self.wrenches = {"tool": rng.uniform(-5, 5, 6)} if "tool" in model.frames else {}
        self.G = reference.velocity_map(self.q, self.independent)
        self.rates = self.G @ self.v
        weights = {"base": 1.0} | {joint.name: joint.weight for joint in description.joints}
        self.weights = reference.places.per_freedom(weights)

    def ask(self, quantity, *inputs, **how):
        return evaluate(self.model, quantity, self.q, *inputs, **how)

    def by(self, method: Method, *inputs, wrenches=None):
        """By a method that may work on the mechanism's own vectors, and may have several results."""
        problem = Problem(self.model, method.quantity, method, wrenches=tuple(wrenches or ()), parameters="standard")
        rows = [[scalars(w) for w in wrenches.values()]] if wrenches else []
        results = tuple(problem.evaluate(*map(scalars, (self.q, *inputs)), *rows).values())
        return results if len(results) > 1 else results[0]

    def methods(self, quantity: str) -> list[Method]:
        return [m for m in methods(quantity) if not m.refusal(self.model, wrenches=bool(self.wrenches))]

    def accelerations(self, values, freedoms) -> dict[int, float]:
        return dict(zip(freedoms, values, strict=True))

    def forces(self, tau, freedoms) -> np.ndarray:
        total = np.zeros(self.model.coordinates.nv)
        total[list(freedoms)] = tau
        return total

    def accelerating(self, a) -> np.ndarray:
        """Accelerations of all joints, by the reference."""
        _, J, drift = self.reference.rows(self.q, self.rates)
        chosen = np.eye(self.model.coordinates.nv)[self.independent]
        return np.linalg.lstsq(np.vstack([J, chosen]), np.append(-drift, a), rcond=1e-9)[0]

    @property
    def drivable(self) -> bool:
        """Is there a motor for every passive freedom?"""
        return not any(self.model.coordinates.joint_of(k).role == "passive" for k in self.model.mobility.free)

    def inverse(self, a, wrenches=None) -> np.ndarray:
        """The reference's, of the forced joints."""
        forced = list(self.model.mobility.forced)
        given = self.accelerations(a, self.independent)
        none = np.zeros(self.model.coordinates.nv)
        _, forces = self.reference.solve(
            self.q,
            self.rates,
            accelerations=given,
            forces=none,
            unknown=forced,
            weights=self.weights[forced],
            wrenches=wrenches,
        )
        return forces[forced]


def check_motion(case: Case, deviations) -> None:
    model, v, a = case.model, case.v, case.a
    _, J, _ = case.reference.rows(case.q, case.rates)
    assert model.nv == model.coordinates.nv - np.linalg.matrix_rank(J, tol=1e-7)
    assert np.abs(case.ask("loop_residual")).max() < 1e-12
    for what, actual, expected in (
        ("G", case.ask("velocity_map"), case.G),
        ("velocities", case.ask("joint_velocities", v), case.rates),
        ("accelerations", case.ask("joint_accelerations", v, a), case.accelerating(a)),
    ):
        deviations(f"loops, {what}", deviation(actual, expected))
        assert_close(actual, expected, tolerance=TOLERANCE)


def check_dynamics(case: Case, deviations) -> None:
    model, reference, q, v, a, G = case.model, case.reference, case.q, case.v, case.a, case.G
    forced = list(model.mobility.forced)
    M = G.T @ reference.inertia_matrix(q) @ G
    still = case.reference.inertia_matrix(q) @ case.accelerating(0 * a) + reference.nonlinear(
        q, case.rates, case.wrenches
    )
    under, _ = reference.solve(
        q, case.rates, accelerations={}, forces=case.forces(case.tau, forced), unknown=(), wrenches=case.wrenches
    )
    found = {
        "inertia_matrix": (case.ask("inertia_matrix"), M),
        "bias": (case.ask("bias", v, wrenches=case.wrenches), G.T @ still),
        "gravity": (case.ask("gravity"), G.T @ reference.gravity(q)),
        "forward_dynamics": (
            case.ask("forward_dynamics", v, case.tau, wrenches=case.wrenches),
            under[case.independent],
        ),
    }
    if case.drivable:
        expected = case.inverse(a, case.wrenches)
        for method in case.methods("inverse_dynamics"):
            found[f"inverse_dynamics, {method.name}"] = case.by(method, v, a, wrenches=case.wrenches), expected
    else:
        with pytest.raises(UnsupportedError, match=r"needs a motor for every freedom(.|\n)*fix: hybrid_dynamics gives"):
            case.ask("inverse_dynamics", v, a)
    for what, (actual, expected) in found.items():
        deviations(f"loops, {what}", deviation(actual, expected, scale=1e-3))
        assert_close(actual, expected, tolerance=TOLERANCE, scale=1e-3)


def check_hybrid(case: Case, deviations) -> None:
    """Missing forces and accelerations are the reference's; and moved by those forces, it moves like that."""
    mobility = case.model.mobility
    known, pushed, motors = case.a[: len(mobility.driven)], case.tau[: len(mobility.free)], list(mobility.motors)
    accelerations, forces = case.reference.solve(
        case.q,
        case.rates,
        accelerations=case.accelerations(known, mobility.driven),
        forces=case.forces(pushed, mobility.free),
        unknown=motors,
        weights=case.weights[motors],
        wrenches=case.wrenches,
    )
    for method in case.methods("hybrid_dynamics"):
        tau, a = case.by(method, case.v, known, pushed, wrenches=case.wrenches)
        for what, actual, expected in (("tau", tau, forces[motors]), ("a", a, accelerations[list(mobility.free)])):
            deviations(f"loops, hybrid {what}", deviation(actual, expected, scale=1e-3))
            assert_close(actual, expected, tolerance=TOLERANCE, scale=1e-3)
        total = case.forces(tau, motors) + case.forces(pushed, mobility.free)
        moved = case.ask("forward_dynamics", case.v, total[list(mobility.forced)], wrenches=case.wrenches)
        expected = case.forces(known, mobility.driven) + case.forces(a, mobility.free)
        assert_close(moved, expected[case.independent], tolerance=TOLERANCE)
    assert case.methods("hybrid_dynamics")


def check_sharing(case: Case, deviations) -> None:
    """Forces of the null space move nothing; what inverse dynamics gives is the least of all that do the same."""
    N = case.ask("torque_projector")
    assert_close(N @ N, N, tolerance=TOLERANCE, scale=1)
    assert round(np.trace(N)) == len(case.model.mobility.forced) - case.model.nv
    z = np.random.default_rng(5).normal(size=len(N))
    moved = case.ask("forward_dynamics", case.v, case.tau)
    assert_close(case.ask("forward_dynamics", case.v, case.tau + N @ z), moved, tolerance=TOLERANCE)
    if case.drivable:
        tau, weights = case.ask("inverse_dynamics", case.v, case.a), case.weights[list(case.model.mobility.forced)]
        slope = N @ (weights * tau)
        deviations("loops, optimality", deviation(slope, 0 * slope, scale=np.abs(weights * tau).max()))
        assert_close(slope, 0 * slope, scale=np.abs(weights * tau).max(), tolerance=TOLERANCE)


def check_frame(case: Case, deviations) -> None:
    _, J, _, _ = case.reference.frame("tool", case.q, case.rates, 0 * case.rates)
    at, _, velocity, acceleration = case.reference.frame("tool", case.q, case.rates, case.accelerating(0 * case.a))
    R = np.kron(np.eye(2), at[:3, :3].T)
    turning = np.concatenate([np.cross(velocity[3:], part) for part in (velocity[:3], velocity[3:])])
    for what, actual, expected in (
        ("jacobian", case.ask("jacobian", frame="tool"), J @ case.G),
        ("local jacobian", case.ask("jacobian", frame="tool", axes="local"), R @ J @ case.G),
        ("jacobian_drift", case.ask("jacobian_drift", case.v, frame="tool"), acceleration),
        ("local drift", case.ask("jacobian_drift", case.v, frame="tool", axes="local"), R @ (acceleration - turning)),
    ):
        deviations(f"loops, {what}", deviation(actual, expected, scale=1))
        assert_close(actual, expected, tolerance=TOLERANCE, scale=1)


def check(case: Case, deviations) -> None:
    check_motion(case, deviations)
    check_dynamics(case, deviations)
    check_hybrid(case, deviations)
    check_sharing(case, deviations)
    if "tool" in case.model.frames:
        check_frame(case, deviations)


@pytest.mark.parametrize("kind", CLOSURES)
def test_each_kind_of_closure(kind: str, deviations):
    check(Case(mechanism(LoopRecipe(seed=11, closures=(kind,)))), deviations)


@pytest.mark.parametrize("kind", PLANAR_RANK)
def test_redundant_equations(kind: str, deviations):
    """Mechanisms in a plane, which lies anyhow in space."""
    check(Case(mechanism(LoopRecipe(seed=12, closures=(kind, kind), freedoms=2, planar=True))), deviations)


@given(recipe=loop_recipes())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(recipe=LoopRecipe(seed=1, closures=("revolute",), floating=True))
@example(recipe=LoopRecipe(seed=2, closures=("spherical", "universal"), freedoms=2, motors="all"))
@example(recipe=LoopRecipe(seed=3, closures=("weld",), freedoms=3, motors="some", elastic=True, floating=True))
@example(recipe=LoopRecipe(seed=4, closures=("prismatic", "revolute"), freedoms=2, mimic=True, fixed=True))
def test_random_mechanisms(recipe: LoopRecipe, deviations):
    check(Case(mechanism(recipe), recipe.seed), deviations)


@pytest.mark.parametrize("kind", ("spherical", "weld", "revolute"))
@pytest.mark.parametrize("floating", (False, True))
def test_constraint_dynamics_of_pinocchio(kind: str, floating: bool, deviations):
    case = Case(mechanism(LoopRecipe(seed=21, closures=(kind,), freedoms=2, floating=floating)))
    forces = case.forces(case.tau, case.model.mobility.forced)
    expected = case.reference.constraint_dynamics(case.q, case.rates, forces)
    actual = case.ask("forward_dynamics", case.v, case.tau)
    deviations("loops, constraintDynamics", deviation(actual, expected[case.independent]))
    assert_close(actual, expected[case.independent], tolerance=TOLERANCE)


def test_motors_that_push_free_joints(deviations):
    """A five-bar whose left elbow is a spring and independent by name: the right motor moves it, too."""
    bar = linkwork.io.read("five-bar")
    left, elbow, right, other = bar.joints
    elbow = replace(elbow, role="elastic", stiffness=20.0, rest=-1.0)
    joints = left, elbow, replace(right, weight=3.0), other
    case = Case(replace(bar, joints=joints, independent=("left", "left_elbow"), redundant=True))
    assert case.model.mobility.free == (1,) and abs(case.G[2, 1]) > 0.1
    check(case, deviations)


@pytest.mark.parametrize("name", (*PLANAR, *SPATIAL))
def test_bundled_robots(name: str, deviations):
    """Every method, and what is compiled, with a batch of the same state."""
    case = Case(linkwork.io.read(name))
    check(case, deviations)
    robot, q, v, a = linkwork.load(name), *([x] * 3 for x in (case.q, case.v, case.a))
    inverse, forward = robot.inverse_dynamics(q, v, a), robot.forward_dynamics(q, v, [case.tau] * 3)
    for actual, expected in (
        (inverse[1], case.inverse(case.a)),
        (forward[1], case.ask("forward_dynamics", case.v, case.tau)),
        (robot.joint_accelerations(q, v, a)[1], case.accelerating(case.a)),
    ):
        deviations("bundled loops, compiled", deviation(actual, expected))
        assert_close(actual, expected, tolerance=TOLERANCE)


@pytest.mark.parametrize(
    "recipe", (LoopRecipe(5, ("universal",), 2, motors="all"), LoopRecipe(6, ("weld",), 1, floating=True))
)
def test_compiled(recipe: LoopRecipe):
    """Native code gives what the formulations give on plain numbers."""
    case = Case(mechanism(recipe))
    robot, mobility = linkwork.Robot(case.model), case.model.mobility
    for quantity, *inputs in (
        ("velocity_map",),
        ("joint_velocities", case.v),
        ("joint_accelerations", case.v, case.a),
        ("torque_projector",),
        ("inertia_matrix",),
        ("bias", case.v),
        ("gravity",),
        ("inverse_dynamics", case.v, case.a),
        ("forward_dynamics", case.v, case.tau),
    ):
        assert_close(
            getattr(robot, quantity)(case.q, *inputs), case.ask(quantity, *inputs), tolerance=1e-11, scale=1e-3
        )
    known, pushed = case.a[: len(mobility.driven)], case.tau[: len(mobility.free)]
    (method, *_) = case.methods("hybrid_dynamics")
    for actual, expected in zip(
        robot.hybrid_dynamics(case.q, case.v, known, pushed), case.by(method, case.v, known, pushed), strict=True
    ):
        assert_close(actual, expected, tolerance=1e-11)
    assert_close(robot.loop_residual(case.q), 0 * case.ask("loop_residual"), scale=1)


@pytest.mark.parametrize(
    "recipe",
    (
        LoopRecipe(seed=31, closures=("revolute",)),
        LoopRecipe(seed=32, closures=("universal", "prismatic"), freedoms=2),
        LoopRecipe(seed=33, closures=("revolute", "weld"), freedoms=2, planar=True, mimic=True),
    ),
)
def test_finite_differences_of_assembled_positions(recipe: LoopRecipe, deviations):
    """Five positions along a motion of the independent joints; differences of fourth order leave about 1e-8."""
    robot = linkwork.load(mechanism(recipe))
    rng, h = np.random.default_rng(recipe.seed), 2e-3
    v, a = rng.uniform(-1, 1, (2, robot.nv))
    t = h * np.arange(-2, 3)[:, None]
    start = np.array(robot.home)[list(robot.model.mobility.independent)]
    found = robot.assemble(start + v * t + a * t**2 / 2, guess=robot.home, tolerance=1e-15)
    q = found.nearest
    assert found.residual.max() < 1e-14
    first, second = np.array([1, -8, 0, 8, -1]) / (12 * h), np.array([-1, 16, -30, 16, -1]) / (12 * h**2)
    T = robot.pose("tool", q)
    speed, acceleration = first @ T[:, :3, 3], second @ T[:, :3, 3]
    J, drift = robot.jacobian("tool", q[2]), robot.jacobian_drift("tool", q[2], v)
    for what, actual, expected in (
        ("velocities", robot.joint_velocities(q[2], v), first @ q),
        ("accelerations", robot.joint_accelerations(q[2], v, a), second @ q),
        ("frame velocity", (J @ v)[:3], speed),
        ("frame acceleration", (J @ a + drift)[:3], acceleration),
    ):
        deviations(f"loops, differences of {what}", deviation(actual, expected, scale=0.1))
        assert_close(actual, expected, tolerance=1e-6, scale=0.1)
