"""The laws of mechanics on random trees that mix every kind of joint.

Derivatives along tangents are complex steps through the formulations; how q changes with v is written down in
``support.mixed_trees``, not asked of linkwork.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import linkwork
from linkwork.formulations import methods
from linkwork.model import build
from support.evaluate import assert_close, cross_matrix, derivative, evaluate
from support.mixed_trees import MixedRecipe, Places, joint_order, mixed, mixed_recipes


class Mechanism:
    """A robot of a recipe in a random state."""

    def __init__(self, recipe: MixedRecipe, **options):
        self.description = mixed(recipe)
        self.model = build(self.description, **options)
        self.places = Places(self.description, joint_order(self.model.coordinates.names))
        self.q, self.v, self.a = self.places.state(recipe.seed)
        self.tangents = np.array([self.places.rates(self.q, e) for e in np.eye(self.places.nv)])  # rows

    def per_freedom(self, field: str) -> np.ndarray:
        return self.places.per_freedom({joint.name: getattr(joint, field) for joint in self.description.joints})

    def ask(self, quantity: str, *inputs, **options):
        return evaluate(self.model, quantity, *inputs, **options)

    def along(self, quantity: str, **options) -> np.ndarray:
        """The rate of what depends on q alone, as the robot moves with v."""
        return derivative(lambda q: self.ask(quantity, q, **options), self.q, self.v @ self.tangents)

    def rate(self, quantity: str, a: np.ndarray) -> np.ndarray:
        """The rate of what depends on q and v, as the robot moves with v and a."""
        n, state = self.places.nq, np.concatenate([self.q, self.v])
        direction = np.concatenate([self.v @ self.tangents, a])
        return derivative(lambda s: self.ask(quantity, s[..., :n], s[..., n:]), state, direction)


@given(mixed_recipes())
def test_inertia_matrix(recipe: MixedRecipe):
    """It is the slope of force by acceleration, symmetric, positive definite, and twice the kinetic energy."""
    one = Mechanism(recipe)
    M, bias = one.ask("inertia_matrix", one.q), one.ask("bias", one.q, one.v)
    slope = derivative(lambda a: one.ask("inverse_dynamics", one.q, one.v, a), one.a, np.eye(one.places.nv))
    assert_close(slope, M)
    assert_close(M, M.T, tolerance=0)
    assert (np.linalg.eigvalsh(M) > 0).all()
    assert_close(one.ask("kinetic_energy", one.q, one.v), one.v @ M @ one.v / 2)
    tau = one.ask("inverse_dynamics", one.q, one.v, one.a)
    assert_close(tau, M @ one.a + bias, scale=np.abs(bias).max())


@given(mixed_recipes())
def test_gravity_is_the_gradient_of_potential_energy(recipe: MixedRecipe):
    one = Mechanism(recipe)
    gradient = derivative(lambda q: one.ask("potential_energy", q), one.q, one.tangents)
    mass = sum(body.inertia.mass for body in one.model.bodies)
    assert_close(one.ask("gravity", one.q), gradient, scale=mass * np.abs(one.description.gravity).max())


@given(mixed_recipes())
def test_coriolis_matrix(recipe: MixedRecipe):
    """C v is the force of the velocities alone, and Mdot - 2 C is skew-symmetric."""
    one = Mechanism(recipe, gravity=(0, 0, 0), friction=False)
    C = one.ask("coriolis_matrix", one.q, one.v)
    scale = np.abs(one.ask("inertia_matrix", one.q)).max() * np.abs(one.v).max()
    assert_close(C @ one.v, one.ask("bias", one.q, one.v), scale=scale)
    assert_close(C + C.T, one.along("inertia_matrix"), scale=scale)


@given(mixed_recipes())
def test_forward_dynamics_undoes_inverse_dynamics(recipe: MixedRecipe):
    """By every method that does not refuse."""
    one = Mechanism(recipe)
    wrenches = {"tool": one.a[:1] * np.ones(6), "link1": np.arange(6.0)}
    tau = one.ask("inverse_dynamics", one.q, one.v, one.a, wrenches=wrenches)
    condition = np.linalg.cond(one.ask("inertia_matrix", one.q))
    able = [method.name for method in methods("forward_dynamics") if not method.refusal(one.model, wrenches=True)]
    for method in able:
        found = one.ask("forward_dynamics", one.q, one.v, tau, method=method, wrenches=wrenches)
        assert_close(found, one.a, tolerance=1e-12 + 1e-14 * condition)


@given(mixed_recipes())
def test_power_goes_into_energy_and_heat(recipe: MixedRecipe):
    """tau . v = d/dt (T + V) + power of friction."""
    one = Mechanism(recipe)
    tau = one.ask("inverse_dynamics", one.q, one.v, one.a)
    heat = one.per_freedom("viscous") @ one.v**2 + one.per_freedom("coulomb") @ np.abs(one.v)
    assert (heat > 0) == recipe.extras
    change = one.rate("kinetic_energy", one.a) + one.along("potential_energy")
    assert_close(change + heat, tau @ one.v, scale=np.abs(tau * one.v).sum())


@given(mixed_recipes(extras=True))
def test_friction_and_rotors_act_on_every_freedom_of_a_joint(recipe: MixedRecipe):
    one = Mechanism(recipe)
    full = one.ask("inverse_dynamics", one.q, one.v, one.a)
    smooth = evaluate(build(one.description, friction=False), "inverse_dynamics", one.q, one.v, one.a)
    friction = one.per_freedom("viscous") * one.v + one.per_freedom("coulomb") * np.sign(one.v)
    assert_close(full - smooth, friction, scale=np.abs(full).max())
    bare = evaluate(build(one.description, rotors=False), "inverse_dynamics", one.q, one.v, one.a)
    assert_close(full - bare, one.per_freedom("rotor_inertia") * one.a, scale=np.abs(full).max())


@given(mixed_recipes(floating=True))
def test_momentum_changes_by_the_outer_wrench_only(recipe: MixedRecipe):
    """Joint forces and friction inside the robot move no momentum, whatever the joints; gravity and a push do."""
    recipe = replace(recipe, rotors=False, extras=False)  # rotors count in no momentum
    one, wrench = Mechanism(recipe), np.arange(1.0, 7.0)
    tau = one.a.copy()
    tau[one.places.v["base"]] = 0  # nothing acts on the base from outside
    a = one.ask("forward_dynamics", one.q, one.v, tau, wrenches={"tool": wrench})
    mass = sum(body.inertia.mass for body in one.model.bodies)
    tool, center = one.ask("pose", one.q, frame="tool"), one.ask("center_of_mass", one.q)
    force, moment = tool[:3, :3] @ wrench[:3], tool[:3, :3] @ wrench[3:]
    net = [force + mass * np.array(one.description.gravity), moment + np.cross(tool[:3, 3] - center, force)]
    M = one.ask("inertia_matrix", one.q)
    # rounding of the accelerations is enlarged by the condition of M
    tolerance = 1e-12 + 1e-15 * np.linalg.cond(M)
    assert_close(one.rate("momentum", a), np.concatenate(net), scale=(np.abs(M) @ np.abs(a)).max(), tolerance=tolerance)


@given(mixed_recipes())
def test_center_of_mass_moves_by_the_linear_momentum(recipe: MixedRecipe):
    one = Mechanism(recipe)
    mass = sum(body.inertia.mass for body in one.model.bodies)
    velocity = one.along("center_of_mass")
    assert_close(mass * velocity, one.ask("momentum", one.q, one.v)[:3], scale=mass)


@given(mixed_recipes())
def test_jacobian_is_the_derivative_of_the_pose(recipe: MixedRecipe):
    one = Mechanism(recipe)
    for frame in ("tool", "link1", "base"):
        J, pose, change = (
            one.ask("jacobian", one.q, frame=frame),
            one.ask("pose", one.q, frame=frame),
            one.along("pose", frame=frame),
        )
        assert_close(change[:3, 3], J[:3] @ one.v, scale=np.abs(one.v).max())
        assert_close(change[:3, :3], cross_matrix(J[3:] @ one.v) @ pose[:3, :3], scale=np.abs(one.v).max())
        for axes in ("world", "local"):
            Jdot = one.along("jacobian", frame=frame, axes=axes)
            drift = one.ask("jacobian_drift", one.q, one.v, frame=frame, axes=axes)
            assert_close(drift, Jdot @ one.v, scale=max(1.0, np.abs(Jdot).max()))


@given(mixed_recipes())
def test_wrenches_act_through_the_jacobian(recipe: MixedRecipe):
    one = Mechanism(recipe)
    rng = np.random.default_rng(recipe.seed)
    wrenches = {name: rng.uniform(-5, 5, 6) for name in ("tool", "link1", "base")}
    pushed = sum(one.ask("jacobian", one.q, frame=name, axes="local").T @ w for name, w in wrenches.items())
    free = one.ask("inverse_dynamics", one.q, one.v, one.a)
    loaded = one.ask("inverse_dynamics", one.q, one.v, one.a, wrenches=wrenches)
    assert_close(free - loaded, pushed, scale=np.abs(free).max())


@given(mixed_recipes())
def test_quaternions_of_any_length_and_sign_are_the_same_rotation(recipe: MixedRecipe):
    one = Mechanism(recipe)
    tau = one.ask("inverse_dynamics", one.q, one.v, one.a)
    unit = one.places.normalised(one.q)
    opposite = unit.copy()
    for name in one.places.quaternions:
        opposite[one.places.quaternion(name)] *= -1
    for q in (unit, opposite):
        assert_close(one.ask("inverse_dynamics", q, one.v, one.a), tau)


MOVING = {
    "planar, ball, cylinder": MixedRecipe(31, ("planar", "spherical", "cylindrical")),
    "helix, universal, ball": MixedRecipe(32, ("helical", "universal", "spherical"), reach=2, rotors=True),
    "several floating": MixedRecipe(33, ("floating", "spherical", "floating"), reach=2, floating=True),
    "friction": MixedRecipe(34, ("universal", "planar"), extras=True),
}


@pytest.mark.parametrize("name", MOVING)
def test_energy_along_a_motion(name: str):
    """Work and energy balance to the order of the integrator, and quaternions stay of length one."""
    robot = linkwork.load(mixed(MOVING[name]))
    places = Places(mixed(MOVING[name]), joint_order(robot.coordinates.names))
    q, v, _ = places.state(5, unit=True)
    tau, drifts = np.random.default_rng(1).uniform(-3, 3, places.nv), []
    for dt in (8e-3, 4e-3, 2e-3):
        motion = robot.simulate(q, 0.5 * v, 0.128, dt, method="rk4", torque=tau, friction_width=1.0)
        drifts.append(motion.drift["energy"])
        assert np.abs(motion.q - np.array([places.normalised(x) for x in motion.q])).max() < 1e-14
    assert np.abs(motion.work).max() > 0.1
    assert np.log2([one / other for one, other in pairwise(drifts)])[-1] == pytest.approx(4, abs=0.4), drifts
