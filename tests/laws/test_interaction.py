"""Robots in their surroundings: the laws' forces act where and as wrenches do; momentum, energy and known motions."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import linkwork
from linkwork.forces import Contact, Drag
from linkwork.formulations import methods
from linkwork.library import eel
from linkwork.model import Description, Link, LinkInertia, Model, Placement, build
from linkwork.spatial import Force, Matrix, Motion, Pose, Vector
from support.evaluate import assert_close, derivative, evaluate, is_refused, rates
from support.random_robots import Recipe, describe, inertia, random_state, recipes

DRAG = Drag(0.7, c_axial=0.3, c_normal=1.1, k_axial=0.2, k_normal=2.3)
FLOW = replace(DRAG, current=(0.5, -1.0, 0.3))
GROUND = Contact(20, damping=3, friction=0.6, slip=0.1, height=3, normal=(1, -2, 3))


def spring(pose: Pose, velocity: Motion) -> Force:
    """A law of one's own: a spring of 5 N/m to the point (1, 2, 3) of the world."""
    return Force(pose.inward(Vector(1, 2, 3) - pose.origin) * 5.0)


LAWS = (("tool", FLOW), ("link1", GROUND), ("tool", spring))  # two of them at one frame


def wrenches(model: Model, q: np.ndarray, v: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """What the laws of a robot say, from poses and Jacobians."""
    found = []
    for frame, law in model.forces:
        T = evaluate(model, "pose", q, frame=frame.name)
        V = evaluate(model, "jacobian", q, frame=frame.name, axes="local") @ v
        pose = Pose(Matrix(*(Vector(*row) for row in T[:3, :3])), Vector(*T[:3, 3]))
        found.append((frame.name, np.array(list(law(pose, Motion(Vector(*V[:3]), Vector(*V[3:])))), float)))
    return found


def summed(each: list[tuple[str, np.ndarray]]) -> dict[str, np.ndarray]:
    total: dict[str, np.ndarray] = {}
    for frame, wrench in each:
        total[frame] = total.get(frame, np.zeros(6)) + wrench
    return total


def built(recipe: Recipe, laws=LAWS, **options):
    description = replace(describe(recipe), forces=laws)
    model = build(description, **options)
    return model, build(replace(description, forces=()), **options), *random_state(model, recipe.seed)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias"])
@given(recipe=recipes())
def test_laws_are_wrenches(quantity: str, recipe: Recipe):
    """By every method, and on top of wrenches that are given."""
    model, bare, q, v, a = built(recipe)
    laws, push = wrenches(model, q, v), np.arange(6.0)
    condition = np.linalg.cond(evaluate(model, "inertia_matrix", q)) if quantity == "forward_dynamics" else 1
    for method in methods(quantity):
        if is_refused(model, quantity, method.name, wrenches=True):
            continue
        inputs = (q, v) if quantity == "bias" else (q, v, a)
        expected = evaluate(bare, quantity, *inputs, method=method.name, wrenches=summed([*laws, ("base", push)]))
        found = evaluate(model, quantity, *inputs, method=method.name, wrenches={"base": push})
        assert_close(found, expected, scale=1.0, tolerance=1e-12 + 1e-14 * condition)  # which enlarges rounding


@pytest.mark.parametrize("floating", [False, True])
def test_compiled_robot_in_its_surroundings(floating: bool):
    """``with_forces`` adds laws to those a robot has; native code agrees with the formulations, batched."""
    recipe = Recipe(seed=3, joints=4, branches=True, fixed=True, floating=floating)
    model, _, q, v, a = built(recipe)
    robot = linkwork.load(replace(describe(recipe), forces=LAWS[:1]))
    robot = robot.with_forces({"link1": GROUND}).with_forces({"tool": spring, "base": FLOW})
    states = [x + np.random.default_rng(0).normal(size=(5, x.size)) for x in (q, v, a)]
    model = replace(model, forces=(*model.forces, (model.frame("base"), FLOW)))
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        assert_close(getattr(robot, quantity)(*states), evaluate(model, quantity, *states))
    assert pickle.loads(pickle.dumps(linkwork.load(eel(3)))).model.forces[0][1] == eel(3).forces[0][1]


@given(recipes(floating=True))
def test_momentum_changes_by_the_laws_forces(recipe: Recipe):
    model, _, q, v, tau = built(recipe)
    tau[:6] = 0
    a = evaluate(model, "forward_dynamics", q, v, tau)
    state, direction = np.concatenate([q, v]), np.concatenate([rates(model, q) @ v, a])
    change = derivative(lambda s: evaluate(model, "momentum", s[: model.nq], s[model.nq :]), state, direction)
    mass, center = sum(body.inertia.mass for body in model.bodies), evaluate(model, "center_of_mass", q)
    net = np.concatenate([mass * np.array(list(model.gravity)), np.zeros(3)])
    for frame, wrench in wrenches(model, q, v):
        T = evaluate(model, "pose", q, frame=frame)
        force, moment = T[:3, :3] @ wrench[:3], T[:3, :3] @ wrench[3:]
        net += np.concatenate([force, moment + np.cross(T[:3, 3] - center, force)])
    M = evaluate(model, "inertia_matrix", q)
    assert_close(change, net, scale=(np.abs(M) @ np.abs(a)).max())


@given(recipes(extras=False))
def test_energy_goes_into_still_fluid(recipe: Recipe):
    """Energy changes by the power of the laws' forces, and drag only takes."""
    model, _, q, v, _ = built(recipe, laws=(("tool", DRAG), ("link1", DRAG)))
    a = evaluate(model, "forward_dynamics", q, v, np.zeros(model.nv))

    def energy(state):
        q, v = state[: model.nq], state[model.nq :]
        return evaluate(model, "kinetic_energy", q, v) + evaluate(model, "potential_energy", q)

    change = derivative(energy, np.concatenate([q, v]), np.concatenate([rates(model, q) @ v, a]))
    power = 0.0
    for frame, wrench in wrenches(model, q, v):
        power += wrench @ evaluate(model, "jacobian", q, frame=frame, axes="local") @ v
    M = evaluate(model, "inertia_matrix", q)
    scale = np.abs(v) @ np.abs(M) @ np.abs(a) + abs(evaluate(model, "potential_energy", q)) + abs(power)
    assert_close(change, power, scale=scale)
    assert power <= 0


# -- known motions of a single body ---------------------------------------------------------------------------------


def body(*laws, mass: float = 2.0, center=(0.0, 0, 0), frames=(), gravity=(0.0, 0, -9.81)) -> Model:
    """A free body of full inertia, with laws at its own frame and at further points."""
    central = inertia(np.random.default_rng(1)).central
    points = {f"p{k}": ("body", Placement(translation=np.array(at))) for k, at in enumerate(frames)}
    forces = [(name, law) for name in points or ["body"] for law in laws]
    link = Link("body", LinkInertia(mass, np.array(center), central))
    return build(Description("body", (link,), (), gravity, floating=True, frames=points, forces=tuple(forces)))


def simulate(model: Model, q, v, seconds: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """By the classical Runge-Kutta method."""
    x, h, tau = np.concatenate([q, v]), seconds / steps, np.zeros(model.nv)

    def slope(x):
        q, v = x[: model.nq], x[model.nq :]
        return np.concatenate([rates(model, q) @ v, evaluate(model, "forward_dynamics", q, v, tau)])

    for _ in range(steps):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[: model.nq], x[model.nq :]


def at(x=0.0, y=0.0, z=0.0, turn=(0.0, 0.0, 0.0)) -> np.ndarray:
    return np.array([x, y, z, *turn, 1.0])


def test_fall_through_a_fluid():
    """A level rod: v = c tanh(g t / c) with c^2 = m g / (k L) in fast flow, c (1 - exp(-g t / c)) with c = m g / (c L)
    in slow flow. Its mass lies at the middle, where the drag acts too, so it does not turn."""
    g, m, L = 9.81, 2.0, 0.8
    fast, slow = np.sqrt(m * g / (3.0 * L)), m * g / (5.0 * L)
    for law, expected in (
        (Drag(L, k_normal=3.0), lambda t: fast * np.tanh(g * t / fast)),
        (Drag(L, c_normal=5.0), lambda t: slow * (1 - np.exp(-g * t / slow))),
    ):
        rod = body(law, mass=m, center=(L / 2, 0, 0))
        for seconds in (0.2, 4.0):
            q, v = simulate(rod, at(), np.zeros(6), seconds, 200)
            assert_close(v, np.array([0, 0, -expected(seconds), 0, 0, 0]), tolerance=1e-7)  # of the integration
            np.testing.assert_allclose(q[3:], [0, 0, 0, 1], atol=1e-13)


def test_current_carries_along():
    rod = body(Drag(0.8, c_axial=1.0, c_normal=5.0, current=(0.3, -0.2, 0.1)), center=(0.4, 0, 0), gravity=(0.0, 0, 0))
    _, v = simulate(rod, at(), np.zeros(6), 60.0, 600)
    assert_close(v, np.array([0.3, -0.2, 0.1, 0, 0, 0]), tolerance=1e-9)  # 1 - exp(-t c L / m) is not yet 1


CORNERS = [(0.2, 0.1, -0.05), (-0.2, 0.1, -0.05), (0.2, -0.1, -0.05), (-0.2, -0.1, -0.05)]


def test_block_rests_on_the_ground():
    m, g, k = 2.0, 9.81, 5000.0
    block = body(Contact(k, damping=60, friction=0.5, slip=0.01), mass=m, frames=CORNERS)
    rest = at(z=0.05 - m * g / (4 * k))
    a = evaluate(block, "forward_dynamics", rest, np.zeros(6), np.zeros(6))
    assert np.abs(a).max() < 1e-12 * g * 100  # the corners' pushes cancel in the moments
    dropped = at(z=0.1, turn=(0.05, 0.03, 0))  # from above and not level
    q, v = simulate(block, dropped, np.zeros(6), 2.0, 1000)
    np.testing.assert_allclose(v, 0, atol=1e-6)
    np.testing.assert_allclose(q[2], rest[2], atol=1e-7)
    np.testing.assert_allclose(q[3:5] / q[6], 0, atol=1e-6)


def test_sliding_friction():
    """a = mu g v / sqrt(v^2 + s^2): a point slows down evenly and stops after v^2 / (2 mu g)."""
    g, mu, s, k = 9.81, 0.4, 5e-3, 5000.0
    block = body(Contact(k, damping=200, friction=mu, slip=s), mass=2.0)
    rest = at(z=-2.0 * g / k)
    for speed in (2.0, s):
        a = evaluate(block, "forward_dynamics", rest, np.array([speed, 0, 0, 0, 0, 0]), np.zeros(6))
        expected = -mu * g * speed / np.hypot(speed, s)
        np.testing.assert_allclose(a, [expected, 0, 0, 0, 0, 0], atol=1e-12 * g)
    q, v = simulate(block, rest, np.array([1.0, 0, 0, 0, 0, 0]), 0.5, 1000)
    assert abs(v[0]) < 1e-6
    assert q[0] == pytest.approx(1 / (2 * mu * g), rel=2e-3)


def test_custom_law_swings():
    """A mass on a spring to a point of the world: a harmonic motion."""
    ball = body(spring, mass=2.0, gravity=(0.0, 0, 0))
    w = np.sqrt(5.0 / 2.0)
    q, v = simulate(ball, at(), np.zeros(6), 1.3, 400)
    target = np.array([1.0, 2, 3])
    assert_close(q[:3], target * (1 - np.cos(1.3 * w)), tolerance=1e-9)  # of the integration
    assert_close(v[:3], target * w * np.sin(1.3 * w), tolerance=1e-9)


# -- the swimmer ----------------------------------------------------------------------------------------------------


def test_eel_slows_down():
    """Without motors its energy falls at every step."""
    model = build(eel(4))
    rng = np.random.default_rng(0)
    q, v = np.concatenate([at(), rng.uniform(-0.5, 0.5, 3)]), rng.uniform(-1, 1, model.nv)
    energies = []
    for _ in range(20):
        energies.append(float(evaluate(model, "kinetic_energy", q, v)))
        q, v = simulate(model, q, v, 0.05, 10)
    assert all(after < before for before, after in pairwise(energies))
    assert energies[-1] < 0.2 * energies[0]


def test_eel_driven_by_its_joints():
    """Forces of the joints and acceleration of the head, as hybrid dynamics gives them, make that very motion."""
    robot = linkwork.load(eel(5))
    rng = np.random.default_rng(2)
    q, v, a = np.concatenate([at(), rng.normal(size=4)]), rng.normal(size=robot.nv), rng.normal(size=4)
    tau, head = robot.hybrid_dynamics(q, v, a, np.zeros(6))
    found = robot.forward_dynamics(q, v, np.concatenate([np.zeros(6), tau]))
    assert_close(found, np.concatenate([head, a]))
    assert_close(robot.inverse_dynamics(q, v, found)[6:], tau)


def test_eel_that_holds_still_is_carried_by_the_current():
    description = eel(5)
    current = (0.3, -0.1, 0.2)
    flowing = replace(
        description, forces=tuple((frame, replace(law, current=current)) for frame, law in description.forces)
    )
    model = build(flowing)
    q = np.concatenate([at(), [0.3, -0.2, 0.4, 0.1]])
    v = np.concatenate([current, np.zeros(model.nv - 3)])
    assert np.abs(evaluate(model, "bias", q, v)).max() < 1e-13
