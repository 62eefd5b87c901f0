"""Physics of closed mechanisms: energy, power, momentum, and what must not depend on how a mechanism is described."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import linkwork
from linkwork.model import CUT_JOINTS, ConstraintDescription, JointDescription, Link, Placement
from support.evaluate import STEP, assert_close, evaluate
from support.random_loops import LoopRecipe, along_x, closed_model, four_bar, loop_recipes, mechanism
from support.random_robots import Recipe, describe, inertia, random_rotation


class Moving:
    """A random mechanism at home in motion, and derivatives along that motion by complex steps."""

    def __init__(self, recipe: LoopRecipe, **changes):
        self.description = replace(mechanism(recipe), **changes)
        model = self.model = closed_model(self.description)
        rng = np.random.default_rng(recipe.seed)
        self.q, self.v = np.array(model.home), rng.uniform(-1, 1, model.nv)
        self.tau = rng.uniform(-5, 5, len(model.mobility.forced))
        self.a = evaluate(model, "forward_dynamics", self.q, self.v, self.tau)
        self.rates = evaluate(model, "joint_velocities", self.q, self.v)

    def ask(self, quantity: str, *inputs):
        return evaluate(self.model, quantity, self.q, *inputs)

    def along(self, quantity: str, rates, *inputs) -> np.ndarray:
        """Rate of a quantity while the joints move at ``rates``; further inputs are (value, rate)."""
        q = self.model.moved(self.q.tolist(), (1j * STEP * np.asarray(rates)).tolist())
        return evaluate(self.model, quantity, q, *(x + 1j * STEP * rate for x, rate in inputs)).imag / STEP


@given(loop_recipes())
@settings(max_examples=25)
def test_power(recipe: LoopRecipe):
    """The rate of the energy is the power of the motors and of what pushes the free joints, less friction."""
    case = Moving(recipe)
    model, rates = case.model, case.rates
    rate = case.along("kinetic_energy", rates, (case.v, case.a)) + case.along("potential_energy", rates)
    power = case.tau @ rates[list(model.mobility.forced)]
    lost = 0.0
    for body, speed in zip(model.bodies, model.expand_rates(rates)[-len(model.bodies) :], strict=True):
        if not body.joint.kind.free:
            lost += body.joint.coulomb * abs(speed) + body.joint.viscous * speed**2
    assert_close(rate, power - lost, tolerance=1e-10, scale=1)


@given(loop_recipes(elastic=True))
@settings(max_examples=25)
def test_forces_at_rest_are_the_slope_of_the_potential(recipe: LoopRecipe):
    case = Moving(recipe)
    G = case.ask("velocity_map")
    slope = np.array([case.along("potential_energy", column) for column in G.T])
    assert_close(case.ask("bias", 0 * case.v), slope, tolerance=1e-11, scale=1)
    stiff = [joint.stiffness for joint in case.model.coordinates.joints]
    if not any(stiff):
        assert_close(case.ask("gravity"), slope, tolerance=1e-11, scale=1)


@given(loop_recipes(floating=True))
@settings(max_examples=15)
def test_momentum(recipe: LoopRecipe):
    """Motors inside change neither momentum: it grows by the weight alone. The base itself is not pushed."""
    case = Moving(recipe)
    model = case.model
    tau = case.tau * (np.array(model.mobility.forced) >= 6)
    a = case.ask("forward_dynamics", case.v, tau)
    rate = case.along("momentum", case.rates, (case.v, a))
    mass = sum(body.inertia.mass for body in model.bodies)
    expected = np.append(mass * np.array(list(model.gravity)), np.zeros(3))
    assert_close(rate, expected, tolerance=1e-10, scale=1)


@pytest.mark.parametrize(
    "description",
    (
        four_bar(),
        replace(four_bar(), gravity=(1.0, -9.0, 2.0)),
        mechanism(LoopRecipe(seed=41, closures=("revolute",))),
        mechanism(LoopRecipe(seed=42, closures=("spherical", "universal"), freedoms=2)),
    ),
    ids=("four-bar", "four-bar aslant", "spatial", "two loops"),
)
def test_energy_is_kept_along_a_motion(description, deviations):
    """Sixteen motions at once, Runge and Kutta's fourth order, positions assembled anew at every stage."""
    robot = linkwork.load(description, friction=False)
    rng, h = np.random.default_rng(1), 1e-3
    independent = list(robot.model.mobility.independent)
    q = np.broadcast_to(robot.home, (16, robot.nq))
    v = rng.uniform(-0.5, 0.5, (16, robot.nv))
    rest = np.zeros((16, len(robot.model.mobility.forced)))

    def stage(q, position, v):
        q = robot.assemble(position, guess=q).require()
        return q, robot.forward_dynamics(q, v, rest)

    kinetic, potential = [], []
    for _ in range(150):
        kinetic.append(robot.kinetic_energy(q, v))
        potential.append(robot.potential_energy(q))
        x = q[:, independent]
        _, a1 = stage(q, x, v)
        q2, a2 = stage(q, x + h / 2 * v, v + h / 2 * a1)
        _, a3 = stage(q2, x + h / 2 * (v + h / 2 * a1), v + h / 2 * a2)
        v4 = v + h * a3
        q4, a4 = stage(q2, x + h * (v + h / 2 * a2), v4)
        q = robot.assemble(x + h * v + h**2 / 6 * (a1 + a2 + a3), guess=q4).require()
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    energies = np.array(kinetic) + np.array(potential)
    exchanged = np.ptp(kinetic, axis=0).min()
    assert exchanged > 1e-2  # joule
    drift = float(np.abs(energies - energies[0]).max() / exchanged)
    deviations("loops, energy", drift)
    assert drift < 1e-9


# -- the same mechanism told in other ways --------------------------------------------------------------------------


def test_any_independent_joint_tells_the_same():
    reference, rng = linkwork.load(four_bar()), np.random.default_rng(2)
    q = reference.assemble([[0.3], [2.0], [4.0]]).require()
    v, tau = rng.normal(size=(3, 1)), rng.normal(size=(3, 1))
    accelerations = reference.joint_accelerations(q, v, reference.forward_dynamics(q, v, tau))
    velocities = reference.joint_velocities(q, v)
    for k, name in enumerate(reference.position_names):
        robot = linkwork.load(four_bar(independent=(name,)))
        assert robot.joint_names == (name,) and robot.motor_names == ("crank",)
        own = velocities[:, k : k + 1]
        a = robot.forward_dynamics(q, own, tau)
        assert_close(robot.joint_accelerations(q, own, a), accelerations, tolerance=1e-11)
        assert_close(robot.inverse_dynamics(q, own, a), tau, tolerance=1e-11, scale=10)


def test_a_loop_may_be_cut_anywhere():
    """The four-bar as one chain that ends at the ground."""
    bar = four_bar()
    crank, coupler, rocker = bar.joints
    tip = JointDescription("tip", "revolute", "coupler_link", "tip_link", along_x(0.39), role="passive")
    pin = JointDescription("pin", "fixed", "tip_link", "rocker_link", along_x(-0.306))  # its frame is at the ground
    home = bar.home | {"tip": bar.home["rocker"] - bar.home["crank"] - bar.home["coupler"]}
    del home["rocker"]
    chain = replace(
        bar,
        links=(*bar.links, Link("tip_link")),
        joints=(crank, coupler, tip, pin),
        constraints=(
            ConstraintDescription(
                "ground", CUT_JOINTS["revolute"], ("base", along_x(0.504)), ("rocker_link", Placement())
            ),
        ),
        home=home,
    )
    bar = replace(bar, joints=(crank, coupler, replace(rocker, rotor_inertia=0.0)))
    cut, serial = linkwork.load(bar), linkwork.load(chain)
    positions, rng = np.linspace(-3, 3, 7)[:, None], np.random.default_rng(3)
    v, a = rng.normal(size=(2, 7, 1))
    q, other = cut.assemble(positions).require(), serial.assemble(positions).require()
    assert_close(other[:, :2], q[:, :2], tolerance=1e-11)
    tau = cut.inverse_dynamics(q, v, a)
    assert_close(serial.inverse_dynamics(other, v, a), tau, tolerance=1e-11)
    assert_close(serial.forward_dynamics(other, v, tau), a, tolerance=1e-11)


@pytest.mark.parametrize("platform", ("floating", "six joints"))
def test_a_body_welded_to_a_tree_is_part_of_it(platform: str):
    """A loop with its cut joint locked equals the tree."""
    rng = np.random.default_rng(4)
    arm = describe(Recipe(seed=5, joints=4, branches=True))
    held, grip = inertia(rng), Placement(random_rotation(rng), rng.uniform(-0.3, 0.3, 3))
    merged = replace(
        arm,
        links=(*arm.links, Link("body", held)),
        joints=(*arm.joints, JointDescription("grip", "fixed", "link4", "body", grip)),
    )
    weld = ConstraintDescription("weld", CUT_JOINTS["weld"], ("link4", grip), ("body", Placement()))
    tree, home = linkwork.load(merged), rng.uniform(-1, 1, 4)
    T = tree.pose("body", home)
    at = Placement(T[:3, :3], T[:3, 3])
    if platform == "floating":
        links, joints = [Link("body", held)], [JointDescription("free", "floating", "base", "body", at)]
    else:
        links, joints, parent = [], [], "base"
        for k, (kind, axis) in enumerate([("prismatic", e) for e in np.eye(3)] + [("revolute", e) for e in np.eye(3)]):
            child = "body" if k == 5 else f"part{k}"
            origin = at if k == 0 else Placement()
            joints.append(JointDescription(f"free{k}", kind, parent, child, origin, axis, role="passive"))
            links.append(Link(child, held if k == 5 else None))
            parent = child
    closed = replace(
        arm,
        links=(*arm.links, *links),
        joints=(*joints, *arm.joints),
        constraints=(weld,),
        home=dict(zip(tree.position_names, home.tolist(), strict=True)),
    )
    robot = linkwork.load(closed)
    assert robot.joint_names == tree.joint_names
    q = robot.assemble(home + rng.uniform(-0.3, 0.3, (5, 4))).require()
    own = q[:, [robot.nq - 4 + k for k in range(4)]]
    v, a = rng.normal(size=(2, 5, 4))
    tau = tree.inverse_dynamics(own, v, a)
    assert_close(robot.inverse_dynamics(q, v, a), tau, tolerance=1e-11)
    assert_close(robot.forward_dynamics(q, v, tau), tree.forward_dynamics(own, v, tau), tolerance=1e-10)
    assert_close(robot.inertia_matrix(q), tree.inertia_matrix(own), tolerance=1e-11)
    assert_close(robot.bias(q, v), tree.bias(own, v), tolerance=1e-11)


@pytest.mark.parametrize("locked", (("shoulder", "lever"), ("shoulder", "lever", "elbow", "rod")))
def test_a_loop_that_is_locked_is_a_link(locked: tuple[str, ...]):
    """The palletising arm with its parallelogram held still: waist and wrist move as those of a tree."""
    arm = linkwork.load("parallelogram")
    q = arm.assemble([0.2, 1.3, -0.4, 0.3]).require()
    held = dict(zip(arm.position_names, q.tolist(), strict=True))
    inner = {name: held[name] for name in ("shoulder", "elbow", "lever", "rod")}
    description = linkwork.io.read("parallelogram")
    tree = linkwork.load(replace(description, constraints=(), home={}), lock=inner)
    robot = linkwork.load(replace(description, home=held), lock={name: inner[name] for name in locked})
    assert robot.joint_names == tree.joint_names == ("waist", "wrist")
    q = robot.assemble(np.random.default_rng(6).uniform(-1, 1, (4, 2))).require()
    own = q[:, [robot.position_names.index(name) for name in tree.joint_names]]
    v, a = np.random.default_rng(7).normal(size=(2, 4, 2))
    tau = tree.inverse_dynamics(own, v, a)
    assert_close(robot.inverse_dynamics(q, v, a), tau, tolerance=1e-11)
    assert_close(robot.forward_dynamics(q, v, tau), a, tolerance=1e-11)
