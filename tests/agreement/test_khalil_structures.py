"""Khalil's recursions for elastic joints and moving bases, against each other and against blocks of Pinocchio's M."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork
from linkwork.formulations.aba import aba
from linkwork.formulations.crba import crba
from linkwork.formulations.khalil.blocks import khalil_blocks, newton_euler
from linkwork.formulations.khalil.elastic import khalil_elastic
from linkwork.formulations.khalil.hybrid import khalil_hybrid
from linkwork.formulations.khalil.moving_direct import khalil_moving_direct
from linkwork.formulations.khalil.moving_inverse import (
    component_rates,
    khalil_moving_inverse,
    only_moving,
    only_moving_with_motors,
    point_acceleration,
)
from linkwork.formulations.rnea import rnea
from linkwork.io.urdf_writer import write_urdf
from linkwork.model import Description, JointDescription, Link, build, grouped
from linkwork.program import Port, count, optimize, trace
from linkwork.spatial import Force, Motion, Vector
from support.evaluate import assert_close, deviation
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import RELATIONS, Recipe, describe, inertia, random_state, recipes

TOLERANCE = 1e-12


def methods_for(model, known) -> list:
    """The hybrid methods that can do it."""
    able = [khalil_hybrid, khalil_blocks]
    if not model.coordinates.joints[0].kind.free:
        able.append(khalil_elastic)
    elif known == moving(model):
        able.append(khalil_moving_inverse)
    return able


def moving(model) -> list[bool]:
    """The mask of a moving base with all joints known."""
    return [k >= 6 for k in range(model.n_tree)]


def masks(model, seed: int) -> list[list[bool]]:
    """All, nothing, everything but the base, and random freedoms, also some of a base's six."""
    n, rng = model.n_tree, np.random.default_rng(seed)
    fixed = [[True] * n, [False] * n, *([moving(model)] if model.coordinates.joints[0].kind.free else [])]
    return fixed + [(rng.random(n) < share).tolist() for share in (0.3, 0.5, 0.7)]


def solved_by_blocks(M, b, a, tau, known) -> tuple[np.ndarray, np.ndarray]:
    """M a + b = tau, for what is missing on both sides."""
    r = np.array(known, bool)
    f = ~r
    a, tau = np.where(r, a, 0.0), np.where(f, tau, 0.0)
    a[f] = np.linalg.solve(M[np.ix_(f, f)], tau[f] - b[f] - M[np.ix_(f, r)] @ a[r])
    tau[r] = (M @ a + b)[r]
    return tau, a


def lists(*vectors) -> list[list[float]]:
    return [list(map(float, vector)) for vector in vectors]


def hidden(given, is_given) -> list[float]:
    """What a method must not look at is not a number."""
    return [float(x) if yes else np.nan for x, yes in zip(given, is_given)]


class Peer(PinocchioRobot):
    """With rotors, and wrenches on links; each is six numbers at the link's frame."""

    def __init__(self, description: Description, model):
        super().__init__(write_urdf(replace(description, floating=False)), model)
        self.model.armature[self.order] = [
            model.joint(i).rotor_inertia for i, _ in model.outward() for _ in model.freedoms(i)
        ]

    def forces(self, wrenches):
        total = [pin.Force.Zero() for _ in self.model.joints]
        for link, wrench in wrenches.items():
            frame = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]
            total[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
        return total

    def bias_under(self, q, v, wrenches):
        still = np.zeros(self.model.nv)
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), still, self.forces(wrenches))[self.order]

    def direct(self, q, v, tau, wrenches):
        return pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(tau), self.forces(wrenches))[self.order]


def robot_and_peer(seed: int, **more):
    recipe = Recipe(
        seed=seed,
        joints=1 + seed % 9,
        relations=("skew", *RELATIONS[seed % 6 :][:2]),
        branches=seed % 2 == 0,
        fixed=seed % 5 == 0,
        extras=seed % 4 > 0,
        **({"floating": seed % 3 > 0} | more),
    )
    description = describe(recipe)
    model = build(description)
    rng = np.random.default_rng(seed)
    links = [name for name in model.link_names if model.frame(name).body]
    wrenches = {name: rng.normal(size=6) for name in links}
    on_bodies = {}
    for name, row in wrenches.items():
        frame = model.frame(name)
        force = frame.pose.force_outward(Force(Vector(*row[:3]), Vector(*row[3:])))
        on_bodies[frame.body] = on_bodies.get(frame.body, Force()) + force
    return model, Peer(description, model), wrenches, on_bodies


@pytest.mark.parametrize("seed", range(30))
def test_hybrid_methods_against_blocks_of_pinocchio(seed: int, deviations):
    model, peer, wrenches, on_bodies = robot_and_peer(seed)
    q, v, a = random_state(model, seed)
    M, b = peer.inertia_matrix(q), peer.bias_under(q, v, wrenches)
    force = np.random.default_rng(seed).uniform(-9, 9, model.n_tree)
    for known in masks(model, seed):
        tau, acc = solved_by_blocks(M, b, a, force, known)
        given_a, given_tau = hidden(a, known), hidden(force, np.logical_not(known))
        for method in methods_for(model, known):
            for seen in (model, grouped(model)):
                found_tau, found_a = method(seen, *lists(q, v), given_a, given_tau, known, on_bodies)
                # Forces are as large as their terms, which may cancel.
                worst = max(deviation(found_tau, tau, scale=np.abs(M @ acc).max()), deviation(found_a, acc))
                deviations(method.__name__, worst)
                assert worst <= TOLERANCE, (method.__name__, known)


@pytest.mark.parametrize("seed", range(20))
def test_direct_model_on_a_moving_base(seed: int, deviations):
    model, peer, wrenches, on_bodies = robot_and_peer(seed, floating=True)
    q, v, tau = random_state(model, seed)
    expected = peer.direct(q, v, tau, wrenches)
    for method in (aba, khalil_moving_direct):
        off = deviation(method(model, *lists(q, v, tau), on_bodies), expected)
        deviations(f"{method.__name__} on a moving base", off)
        assert off <= TOLERANCE
    _, all_unknown = khalil_hybrid(model, *lists(q, v, v, tau), [False] * model.n_tree, on_bodies)
    assert_close(all_unknown, khalil_moving_direct(model, *lists(q, v, tau), on_bodies), tolerance=1e-13)


@given(recipes(joints=7, mimic=False), st.integers(0, 1000))
def test_methods_agree_on_random_trees(recipe: Recipe, seed: int):
    """What inverse dynamics says of a motion is found again, whichever of its forces and accelerations are asked."""
    model = build(describe(recipe))
    q, v, a = lists(*random_state(model, recipe.seed))
    tau = rnea(model, q, v, a)
    M = np.array(crba(model, q))
    for known in masks(model, seed):
        free = [k for k in range(model.n_tree) if not known[k]]
        condition = np.linalg.cond(M[np.ix_(free, free)]) if free else 1.0
        for method in methods_for(model, known):
            found_tau, found_a = method(model, q, v, hidden(a, known), hidden(tau, np.logical_not(known)), known)
            tolerance = 1e-12 + 1e-15 * condition
            assert_close(found_a, a, tolerance=tolerance)
            assert_close(found_tau, tau, scale=(np.abs(M) @ np.abs(a)).max(), tolerance=tolerance)


@given(recipes(joints=5, mimic=False))
def test_both_ways_to_treat_the_base_give_the_same(recipe: Recipe):
    """7.1: base as initial conditions and the recursion continued to it; or a virtual link that carries it."""
    model = build(describe(recipe))
    q, v, a = lists(*random_state(model, recipe.seed))
    wrenches = {1: Force(Vector(1.0, 2.0, 3.0), Vector(-1.0, 0.5, 0.0))}
    first, second = (newton_euler(model, q, v, a, wrenches, virtual=virtual) for virtual in (False, True))
    assert_close(first, second, tolerance=1e-15)
    expected = rnea(model, q, v, a, wrenches)
    assert_close(first, expected, scale=max(1.0, np.abs(expected).max()), tolerance=1e-13)


def test_the_two_accelerations_of_a_base():
    model, peer, *_ = robot_and_peer(4)
    q, v, a = random_state(model, 4)
    rates, velocity = model.joint_motion(1, q.tolist(), a.tolist()), model.joint_motion(1, q.tolist(), v.tolist())
    point = point_acceleration(rates, velocity)
    pin.forwardKinematics(peer.model, peer.data, peer.q(q), peer.v(v), peer.v(a))
    assert_close(list(point), pin.getClassicalAcceleration(peer.model, peer.data, 1, pin.LOCAL).np, tolerance=1e-14)
    assert_close(list(rates), pin.getAcceleration(peer.model, peer.data, 1, pin.LOCAL).np, tolerance=1e-14)
    assert_close(list(component_rates(point, velocity)), a[:6], tolerance=1e-15)
    assert np.abs(np.subtract(list(point), a[:6])).max() > 0.1  # they do differ


def test_a_spinning_body_thrown_by_nobody():
    """Without gravity its centre goes straight; the point acceleration of a base off the centre is w x (w x r)."""
    model = build(describe(Recipe(seed=3, joints=1, floating=True)), gravity=(0, 0, 0), lock={"to_link1": 0.0})
    q, v = [0.0] * 6 + [1.0], [0.3, -0.2, 0.1, 1.0, -2.0, 0.5]
    rates = khalil_moving_direct(model, q, v, [0.0] * 6)
    velocity = model.joint_motion(1, q, v)
    point = point_acceleration(Motion(Vector(*rates[:3]), Vector(*rates[3:])), velocity)
    c, w, wd = model.inertia(1).h * (1 / model.inertia(1).mass), velocity.angular, point.angular
    assert_close(list(point.linear), list(-(wd.cross(c) + w.cross(w.cross(c)))), tolerance=1e-12)


def test_a_platform_beside_an_arm():
    """A floating joint is not always the base: here the ground carries an arm, too."""
    arm = describe(Recipe(seed=5, joints=3, extras=True))
    platform = JointDescription("free", "floating", "base", "platform", role="passive")
    links = (*arm.links, Link("platform", inertia(np.random.default_rng(1))))
    model = build(replace(arm, links=links, joints=(platform, *arm.joints)))
    assert model.coordinates.joints[0].kind.free and not model.moving_base
    q, v, a = lists(*random_state(model))
    tau = rnea(model, q, v, a)
    for known in masks(model, 3):
        for method in (khalil_hybrid, khalil_blocks):
            found_tau, found_a = method(model, q, v, hidden(a, known), hidden(tau, np.logical_not(known)), known)
            assert_close(found_tau, tau)
            assert_close(found_a, a)
    assert only_moving(model)


@pytest.mark.parametrize("method", [khalil_hybrid, khalil_blocks, khalil_elastic, khalil_moving_inverse])
def test_arrays_and_complex_numbers(method):
    floating = method is not khalil_elastic
    model = build(describe(Recipe(seed=6, joints=4, branches=True, floating=floating, extras=True)))
    known = moving(model) if method is khalil_moving_inverse else [k % 2 == 0 for k in range(model.n_tree)]
    states = [random_state(model, seed) for seed in range(3)]
    q, v, a = (np.array([state[k] for state in states]) for k in range(3))
    alone = [method(model, *lists(q[k], v[k], a[k], a[k]), known) for k in range(3)]
    columns = [list(x.T) for x in (q, v, a, a)]
    batched = [np.array([np.broadcast_to(x, 3) for x in part]) for part in method(model, *columns, known)]
    for k in range(3):
        for part in (0, 1):
            assert_close(batched[part][:, k], alone[k][part])
    complexes = method(model, *([x + 0j for x in vector] for vector in lists(q[0], v[0], a[0], a[0])), known)
    assert_close(complexes[0], alone[0][0])
    assert_close(complexes[1], alone[0][1])


@pytest.mark.parametrize("floating", [False, True])
def test_massless_link_behind_an_elastic_joint(floating: bool):
    description = describe(Recipe(seed=2, joints=3, floating=floating))
    bare = tuple(link if link.name != "link3" else Link("link3") for link in description.links)
    model = build(replace(description, links=bare))
    q, v, a = lists(*random_state(model))
    known = [k < model.n_tree - 1 for k in range(model.n_tree)]
    for method in methods_for(model, known):
        with pytest.raises(ZeroDivisionError):
            method(model, q, v, a, a, known)
    known = [not each for each in known]  # its acceleration is given: nothing is missing
    tau = rnea(model, q, v, a)
    for method in methods_for(model, known):
        assert_close(method(model, q, v, a, tau, known)[1], a, tolerance=1e-11)


def test_what_the_moving_inverse_model_refuses():
    model = build(describe(Recipe(seed=1, joints=2, floating=True)))
    q, v, a = lists(*random_state(model))
    for known in ([False] * 8, [True] * 8, [False] * 7 + [True]):
        with pytest.raises(linkwork.UnsupportedError, match="khalil_hybrid takes any mix"):
            khalil_moving_inverse(model, q, v, a, a, known)
    fixed = build(describe(Recipe(seed=1, joints=8)))
    with pytest.raises(linkwork.UnsupportedError, match="for a moving base"):
        khalil_moving_inverse(fixed, *lists(*random_state(fixed)), a, [False] * 6 + [True] * 2)
    assert not only_moving(model) and not only_moving_with_motors(model)
    assert only_moving(fixed) == only_moving_with_motors(fixed) == "it is for a moving base, and the base is fixed"
    loose = tuple(replace(body, joint=replace(body.joint, role="elastic")) for body in model.bodies[1:])
    elastic = replace(model, bodies=(model.bodies[0], *loose))
    assert "elastic or passive" in only_moving_with_motors(elastic)


def operations(model, method, known) -> int:
    """Multiplications and additions in the program of what is missing."""
    n = model.n_tree

    def run(q, v, x):
        tau, a = method(model, q, v, x, x, known)
        return {"missing": [tau[k] if known[k] else a[k] for k in range(n)]}

    ports = [Port("q", (n + model.coordinates.joints[0].kind.free,)), Port("v", (n,)), Port("x", (n,))]
    total = count(optimize(trace("missing", run, ports)))
    return total.mul + total.add


def direct_operations(model, method) -> int:
    ports = [Port("q", (model.nq,)), Port("v", (model.nv,)), Port("tau", (model.nv,))]
    total = count(optimize(trace("a", lambda q, v, tau: {"a": method(model, q, v, tau)}, ports)))
    return total.mul + total.add


def test_recursions_take_fewer_operations():
    """Linear growth against the cubic one of the blocks; rigid composite links against articulated ones."""
    chains = {
        n: grouped(build(describe(Recipe(seed=1, joints=n, kinds=("revolute",), floating=True)))) for n in (3, 6, 9)
    }
    direct = {n: direct_operations(model, khalil_moving_direct) for n, model in chains.items()}
    inverse = {n: operations(model, khalil_moving_inverse, moving(model)) for n, model in chains.items()}
    assert direct[9] - direct[6] == direct[6] - direct[3]
    assert inverse[9] - inverse[6] == inverse[6] - inverse[3]
    assert inverse[9] - inverse[6] < 0.7 * (direct[9] - direct[6])
    model = chains[6]
    assert direct[6] < direct_operations(model, aba)
    assert direct[6] < 0.6 * operations(model, khalil_blocks, [False] * 12)
    assert inverse[6] < 0.8 * operations(model, khalil_blocks, moving(model))
    assert inverse[6] <= operations(model, khalil_hybrid, moving(model)) < 1.02 * inverse[6]
