"""Springs: energy of an elastic arm, its equilibrium, and what is left of elasticity when the springs get stiff."""

from dataclasses import replace

import numpy as np
import pytest

from linkwork.formulations.khalil.blocks import khalil_blocks
from linkwork.formulations.khalil.elastic import khalil_elastic
from linkwork.formulations.khalil.hybrid import khalil_hybrid
from linkwork.formulations.passive_forces import passive_forces
from linkwork.formulations.rnea import rnea
from linkwork.model import build
from linkwork.model.elastic_drive import ElasticDrive, with_elastic_drives
from support.evaluate import assert_close, evaluate, rates
from support.random_robots import Recipe, describe, random_state

METHODS = [khalil_elastic, khalil_hybrid, khalil_blocks]
ROTOR = 0.7


def arm(**more):
    """Three joints, one of them prismatic, in a tree."""
    kinds = {"to_link1": "revolute", "to_link2": "prismatic", "to_link3": "revolute"}
    plain = describe(Recipe(seed=11, joints=3, branches=True, **more))
    return replace(plain, joints=tuple(replace(joint, kind=kinds[joint.name]) for joint in plain.joints))


def elastic(stiffness: float, **more):
    """The arm on elastic drives."""
    description = arm(**more)
    drive = ElasticDrive(stiffness, ROTOR)
    return build(with_elastic_drives(description, {joint.name: drive for joint in description.joints}))


def told_apart(model) -> tuple[list[bool], np.ndarray, np.ndarray]:
    """The mask of the motors, and the tree freedoms of motors and springs."""
    known = [
        model.joint(i).role == "active" and not model.joint(i).kind.free
        for i, _ in model.outward()
        for _ in model.freedoms(i)
    ]
    return known, np.flatnonzero(known), np.flatnonzero([not each for each in known])


def hybrid(method, model, q, v, a) -> tuple[np.ndarray, np.ndarray]:
    """Forces of all joints (springs do theirs by themselves), accelerations of all joints."""
    known, *_ = told_apart(model)
    q, v, a = (list(x) for x in (q, v, a))
    tau = [-x for x in passive_forces(model, q, v)]
    tau, a = method(model, q, v, a, tau, known)
    return np.array(tau), np.array(a)


@pytest.mark.parametrize("floating", [False, True])
def test_energy_is_what_the_motors_put_in(floating: bool):
    """T + V, springs included, grows by the motors' work; nothing is lost in the springs, or to the base."""
    model = elastic(30.0, floating=floating)
    _, motors, springs = told_apart(model)
    q, v, _ = random_state(model, 2)
    q[:7] = [0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5] if floating else q[:7]
    v *= 0.3

    def energy(state):
        q, v = state[: model.nq], state[model.nq : -1]
        return evaluate(model, "kinetic_energy", q, v) + evaluate(model, "potential_energy", q) - state[-1]

    def rate(t, state):
        q, v = state[: model.nq], state[model.nq : -1]
        given = np.zeros(model.nv)
        given[motors] = 4 * np.sin(6 * t + motors)
        tau, a = hybrid(khalil_hybrid, model, q.tolist(), v.tolist(), given)
        return np.concatenate([rates(model, q) @ v, a, [tau[motors] @ v[motors]]])

    def gained(steps: int, duration: float = 0.3) -> float:
        state, h = np.concatenate([q, v, [0.0]]), duration / steps
        for t in np.arange(steps) * h:
            k1 = rate(t, state)
            k2 = rate(t + h / 2, state + h / 2 * k1)
            k3 = rate(t + h / 2, state + h / 2 * k2)
            k4 = rate(t + h, state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        assert abs(state[-1]) > 0.1 and np.abs(state[: model.nq] - q)[-1] > 0.01  # there was work, and motion
        return abs(energy(state) - energy(np.concatenate([q, v, [0.0]])))

    coarse, fine = gained(30), gained(60)
    assert fine < 1e-4 and coarse > 10 * fine  # the rest is the integrator's, of fourth order
    assert len(springs) == 3 + 6 * floating


@pytest.mark.parametrize("method", METHODS)
def test_springs_hold_the_weight(method):
    """At rest, where K (q - rest) balances gravity, nothing moves, and the motors hold the weight."""
    model = elastic(200.0)
    _, motors, springs = told_apart(model)
    q, _, _ = random_state(model, 3)
    weight = evaluate(model, "gravity", q)
    rest = {model.joint(k + 1).name: q[k] + weight[k] / 200.0 for k in springs}
    bodies = (replace(b, joint=replace(b.joint, rest=rest.get(b.joint.name, b.joint.rest))) for b in model.bodies)
    tau, a = hybrid(method, replace(model, bodies=tuple(bodies)), q, np.zeros(6), np.zeros(6))
    assert np.abs(a).max() < 1e-12 * np.abs(weight).max()
    assert_close(tau[motors], weight[motors])
    moved, _ = hybrid(method, model, q, np.zeros(6), np.zeros(6))
    assert np.abs(moved - tau).max() > 1.0  # not so elsewhere


def trajectory(t):
    """Link positions, velocities and accelerations that any complex time has."""
    k = np.arange(3)
    amplitude, rate = np.array([0.5, 0.2, 0.9]), np.array([2.0, 3.0, 2.5])
    angle = rate * t + k
    return amplitude * np.sin(angle), amplitude * rate * np.cos(angle), -amplitude * rate**2 * np.sin(angle)


def taylor(function, t: float, radius: float = 0.05, points: int = 32) -> np.ndarray:
    """Value and first two derivatives, from values on a circle in the complex plane (Cauchy); exact to rounding."""
    circle = radius * np.exp(2j * np.pi * np.arange(points) / points)
    coefficients = np.fft.fft([function(t + z) for z in circle], axis=0) / points
    return np.array([coefficients[0], coefficients[1] / radius, 2 * coefficients[2] / radius**2]).real


@pytest.mark.parametrize("method", METHODS)
def test_stiff_springs_tend_to_the_rigid_arm(method):
    """Let the links follow a given motion. The springs then are deflected by what the links need: with tau the inverse
    dynamics of the rigid arm without rotors, s = -tau / K, and s'', the deflection's second derivative, is what hybrid
    dynamics must find when the motors (at link position minus s) are accelerated accordingly. The motors' forces are
    tau + rotor * (link acceleration - s''): those of the rigid arm with its rotors, but for rotor * s'' ~ 1 / K."""
    bare = build(arm())
    rotors = build(replace(arm(), joints=tuple(replace(joint, rotor_inertia=ROTOR) for joint in arm().joints)))
    t = 0.4
    tau = taylor(lambda time: np.array(rnea(bare, *(list(x) for x in trajectory(time)))), t)
    link = np.array(trajectory(t))
    rigid = rnea(rotors, *(x.tolist() for x in link))
    errors = []
    for stiffness in (1e3, 1e4, 1e5, 1e6):
        model = elastic(stiffness)
        _, motors, springs = told_apart(model)
        state = np.zeros((3, 6))
        state[:, springs] = -tau / stiffness
        state[:, motors] = link - state[:, springs]
        q, v, a = state
        found_tau, found_a = hybrid(
            method, model, q.tolist(), v.tolist(), np.where(np.isin(range(6), motors), a, 0.0).tolist()
        )
        # K times the rounding of positions is force; it grows with K and accelerates the links
        assert_close(found_a, a, tolerance=1e-12 + 1e-15 * stiffness)
        assert_close(found_tau[motors], rigid + ROTOR * (a[motors] - link[2]), tolerance=1e-11)
        errors.append(np.abs(found_tau[motors] - rigid).max())
    assert_close(np.divide(errors[:-1], errors[1:]), [10.0] * 3, tolerance=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_joints_without_motors(method):
    """Remark in 6.2: a joint that nothing drives is an elastic one without a spring."""
    model = build(describe(Recipe(seed=4, joints=5, branches=True)))
    q, v, a = (x.tolist() for x in random_state(model))
    known = [True, False, True, False, True]
    tau, found = method(model, q, v, a, [0.0] * 5, known)
    assert tau[1] == tau[3] == 0.0
    assert_close(rnea(model, q, v, found), tau, scale=np.abs(tau).max())
