"""Links that bend: all methods agree, energy and momentum keep their laws, in trees, on floating bases and in loops."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.formulations import METHODS, methods
from linkwork.io.mdh import read_mdh
from linkwork.model import build
from support.evaluate import assert_close, derivative, evaluate
from support.flexible_robots import FOUR_BAR, bending_tree, bent_state

TREES = {
    "serial": bending_tree(1, ("revolute", "flexible", "revolute", "flexible", "prismatic")),
    "stiffening": bending_tree(2, ("flexible", "spherical", "flexible", "revolute"), stiffening=True),
    "floating": bending_tree(3, ("revolute", "flexible", "flexible", "helical"), floating=True),
    "floating and stiffening": bending_tree(4, ("flexible", "revolute"), floating=True, stiffening=True),
}


@pytest.mark.parametrize("name", TREES)
def test_methods_agree(name, deviations):
    model = build(TREES[name])
    q, v, a = bent_state(model)
    tau = evaluate(model, "inverse_dynamics", q, v, a, method="rnea")
    M = evaluate(model, "inertia_matrix", q)
    for method in methods("inverse_dynamics"):
        if not method.refusal(model):
            assert_close(evaluate(model, "inverse_dynamics", q, v, a, method=method.name), tau)
    assert_close(M @ a + evaluate(model, "bias", q, v), tau)
    columns = evaluate(model, "inverse_dynamics", q, 0 * v, np.eye(model.nv)) - evaluate(
        model, "inverse_dynamics", q, 0 * v, 0 * a
    )
    assert_close(columns, M)
    able = [method.name for method in methods("forward_dynamics") if not method.refusal(model)]
    assert {"aba", "crba-ldl"} <= {*able}
    for method in able:
        found = evaluate(model, "forward_dynamics", q, v, tau, method=method)
        deviations("accelerations of links that bend", np.abs(found - a).max())
        assert_close(found, a, tolerance=1e-11)  # of masses that differ by 1e6
    mobility = model.mobility
    for method in ("khalil", "blocks"):
        forces, found = evaluate(
            model, "hybrid_dynamics", q, v, a[list(mobility.driven)], tau[list(mobility.free)], method=method
        )
        assert_close(forces, tau[list(mobility.motors)], scale=np.abs(tau).max())
        assert_close(found, a[list(mobility.free)], tolerance=1e-11)


def test_those_for_rigid_links_refuse():
    for name, what in (("serial", "'link1' bends"), ("floating", "'link1' bends")):
        model = build(TREES[name])
        reasons = {(method.name, method.quantity): method.refusal(model) for method in METHODS if method.rigid}
        assert all(reasons.values())
        told = [reason for reason in reasons.values() if "bends" in reason]
        assert told and {*told} == {f"it is for rigid links alone, and {what}"}


@pytest.mark.parametrize("name", TREES)
def test_coriolis_matrix(name):
    """C v is the force of the velocities alone, and Mdot = C + C^T, which is Mdot - 2 C skew-symmetric."""
    model = undamped(build(replace(TREES[name], gravity=(0.0, 0.0, 0.0))))
    q, v, _ = bent_state(model, 6)
    C, scale = evaluate(model, "coriolis_matrix", q, v), np.abs(evaluate(model, "bias", q, v)).max()
    assert_close(C @ v, evaluate(model, "bias", q, v) - evaluate(model, "bias", q, 0 * v), scale=scale)
    moved = model.coordinates.rates(q, v)
    assert_close(C + C.T, derivative(lambda x: evaluate(model, "inertia_matrix", x), q, moved), scale=np.abs(C).max())


def assert_energy_is_kept(model, q, v, a):
    """d(T + V)/dt is the power of the forces less what damping takes; time passes by a complex step."""
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    damped = evaluate(model, "inverse_dynamics", q, v, 0 * a) - evaluate(
        undamped(model), "inverse_dynamics", q, v, 0 * a
    )
    moved = model.coordinates.rates(q, v)
    kinetic = lambda x: evaluate(model, "kinetic_energy", x[: model.nq], x[model.nq :])  # noqa: E731
    gained = derivative(kinetic, np.concatenate([q, v]), np.concatenate([moved, a]))
    gained += derivative(lambda x: evaluate(model, "potential_energy", x), q, moved)
    assert_close(gained, tau @ v - damped @ v, scale=np.abs(tau * v).max())


def undamped(model):
    return replace(model, bodies=tuple(replace(body, joint=body.joint.without_friction()) for body in model.bodies))


@pytest.mark.parametrize("name", TREES)
def test_energy_and_gravity(name):
    model = build(TREES[name])
    q, v, a = bent_state(model, 2)
    assert_energy_is_kept(model, q, v, a)
    limp = replace(model, bodies=tuple(replace(body, joint=body.joint.without_spring()) for body in model.bodies))
    slopes = derivative(lambda x: evaluate(limp, "potential_energy", x), q, model.coordinates.tangent(q).T)
    assert_close(evaluate(model, "gravity", q), slopes)


@pytest.mark.parametrize("name", ["floating", "floating and stiffening"])
def test_momentum_is_kept(name):
    """Whatever joints and modes do, without forces from outside momentum stays, and moves the centre of mass."""
    model = build(replace(TREES[name], gravity=(0.0, 0.0, 0.0)))
    q, v, _ = bent_state(model, 3)
    tau = np.random.default_rng(5).normal(size=model.nv)
    tau[:6] = 0.0
    a = evaluate(model, "forward_dynamics", q, v, tau)
    moved = model.coordinates.rates(q, v)
    momentum = lambda x: evaluate(model, "momentum", x[: model.nq], x[model.nq :])  # noqa: E731
    p = evaluate(model, "momentum", q, v)
    change = derivative(momentum, np.concatenate([q, v]), np.concatenate([moved, a]))
    assert_close(change, 0 * p, scale=np.abs(p).max() * np.abs(a).max())
    mass = sum(body.inertia.mass for body in model.bodies)
    assert_close(mass * derivative(lambda x: evaluate(model, "center_of_mass", x), q, moved), p[:3])


def test_a_loop_that_bends():
    robot = linkwork.load(read_mdh(FOUR_BAR))
    model = robot.model
    home = dict(zip(model.coordinates.names, model.home, strict=True))
    assert home["bend.y1"] == home["bend.y2"] == home["bend.stretch1"] == 0.0  # nothing is bent to close it
    _, v, a = bent_state(model, 4)
    own = dict(zip(model.coordinates.names, np.array(model.home) + 0.01, strict=True))
    q = robot.assemble(np.array([own[name] for name in ("crank", "bend.y1", "bend.y2", "bend.stretch1")])).require()
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    assert_close(evaluate(model, "forward_dynamics", q, v, tau), a, tolerance=1e-11)
    forces, free = evaluate(model, "hybrid_dynamics", q, v, a[:1], tau[1:])
    assert_close(np.append(forces, free), np.append(tau[:1], a[1:]), tolerance=1e-11)
    run = robot.simulate(np.array(model.home), 0 * v, duration=0.2, dt=1e-4, method="rk4")
    assert np.abs(run.v).max() > 0.5
    assert np.abs(run.energy - run.energy[0] - run.work).max() < 1e-6


def test_stiff_beams_tend_to_rigid_ones():
    """With ten times the stiffness a tenth of the bending is left: in the limit that of the locked robot."""
    description = TREES["serial"]
    off = []
    for factor in (1e3, 1e4, 1e5):
        joints = [
            replace(j, flexible=replace(j.flexible, youngs=7e7 * factor, shear=2.7e7 * factor)) if j.flexible else j
            for j in description.joints
        ]
        model = build(replace(description, joints=tuple(joints)))
        rigid = build(description, lock={j.name: [0.0] * j.motion.nv for j in joints if j.flexible})
        q, v, a = bent_state(rigid, 5)
        tau = evaluate(rigid, "inverse_dynamics", q, v, a)
        modes = [k for k in range(model.nv) if model.coordinates.joint_of(k).kind.modes]
        whole_q, whole_v, whole_a = (np.zeros(model.nv) for _ in range(3))
        for whole, own in ((whole_q, q), (whole_v, v), (whole_a, a)):
            whole[[k for k in range(model.nv) if k not in modes]] = own
        push = evaluate(model, "inverse_dynamics", whole_q, whole_v, whole_a)[modes]
        K = np.zeros((model.nv,) * 2)
        for joint, at in zip(model.coordinates.joints, model.coordinates.velocity_ranges, strict=True):
            K[np.ix_(at, at)] = joint.kind.own_stiffness()
        whole_q[modes] = -np.linalg.solve(K[np.ix_(modes, modes)], push)  # where the beams hold what they carry
        found = evaluate(model, "inverse_dynamics", whole_q, whole_v, whole_a)
        off.append(np.abs(np.delete(found, modes) - tau).max() / np.abs(tau).max())
    assert off[0] < 0.1 and np.allclose(np.divide(off[:-1], off[1:]), 10, rtol=0.1)


def test_long_implicit_steps():
    """A beam whose fastest modes no step follows, by the implicit integrator: slow ones are there, nothing grows."""
    robot = linkwork.load("flexible-beam", friction=False)
    q = robot.coordinates.neutral()
    q[1] = 0.02
    run = robot.simulate(q, np.zeros(5), duration=0.4, dt=2e-3, method="rosenbrock")
    fine = robot.simulate(q, np.zeros(5), duration=0.4, dt=5e-5, method="rk4")
    assert np.abs(run.q[-1, :2] - fine.q[-1, :2]).max() < 1e-5
    assert np.abs(run.q[:, 3:]).max() < 1e-2


def test_motions_beyond_small_deflections_are_told():
    """A chain of joints would bend otherwise, so what simulations tell is no longer the beam."""
    robot = linkwork.load("flexible-two-link")
    assert not robot.simulate(duration=0.2, dt=2e-3, method="rk4", torque=[0.05, 0]).notes
    with pytest.warns(linkwork.SimulationWarning, match=r"tip of bend1 deflects by up to \d+% .* at t = 0\.\d+ s"):
        robot.simulate(duration=0.6, dt=2e-3, method="rk4", torque=[3.0, 0])
