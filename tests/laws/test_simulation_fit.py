"""Fits by simulation: slopes against differences and the adjoint, and numbers found again that made the recordings."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork.control import PD, PID, ComputedTorque, Fourier, Point
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError
from linkwork.identify.convex.entropic import Entropic, make_physical, parameters_of, pseudo_inertia
from linkwork.identify.logs.log import Log
from linkwork.identify.output_error.damped_search import starts_of
from linkwork.identify.output_error.rollout_error import OutputError
from linkwork.identify.output_error.search_variables import KINDS, searched
from linkwork.identify.output_error.segments import cut
from linkwork.identify.output_error.simulation_fit import fit_simulation
from linkwork.model import Offset, Stribeck
from support.random_robots import Recipe, describe

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.SimulationWarning")
DT = 2e-3


def changed(robot, **values):
    """With other values of all joints."""
    bodies = [replace(b, joint=replace(b.joint, **{k: x[i] for k, x in values.items()})) for i, b in
              enumerate(robot.model.bodies)]  # fmt: skip
    return type(robot)(replace(robot.model, bodies=tuple(bodies)))


@cache
def arm(**values):
    own = {"coulomb": (1.0, 0.6), "viscous": (0.5, 0.3), "rotor_inertia": (0.2, 0.1), "friction_width": (0.1, 0.2)}
    return changed(linkwork.load("planar2r"), **{**own, **values})


def waves(robot, duration, dt, seed=0, size=0.25, middle=None):
    """A reference of the motors, sampled."""
    n, rng = len(robot.model.mobility.motors), np.random.default_rng(seed)
    sines, cosines = size * rng.normal(size=(2, n, 4))
    path = Fourier(np.zeros(n) if middle is None else middle, sines, cosines, frequency=0.5)
    return Point(*(np.asarray(part) for part in path.sample(dt * np.arange(round(duration / dt) + 1))))


def record(robot, law, reference, dt=DT, late=0, **options):
    """A log of the robot that follows a reference, ``late`` steps behind it."""
    acting = Point(*(np.concatenate([np.repeat(x[:1], late, axis=0), x[: len(x) - late]]) for x in reference))
    q0 = robot.coordinates.neutral()
    v0 = np.zeros(robot.nv)
    motors = list(robot.model.mobility.motors)
    q0[motors], v0[motors] = acting.q[0], acting.v[0]
    run = robot.rollout(
        q0, v0, law, dt, len(acting.q) - 1, reference=Point(*(x[:-1] for x in acting)), outputs=("q", "v", "tau"),
        **options,
    )  # fmt: skip
    return Log(t=run.t, q=run.q, tau=run.tau, v=run.v, reference=reference)


# -- bodies --------------------------------------------------------------------------------------------------------


def test_pseudo_inertias():
    """The pull has its gradient and Hessian; bodies that are not physical are moved inside, others left."""
    rng = np.random.default_rng(0)
    G = np.eye(4) + 0.3 * rng.normal(size=(5, 4, 4))
    rows = parameters_of(G @ G.transpose(0, 2, 1))
    rows[0] = [1, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.5]  # thinner than thin
    assert np.linalg.eigvalsh(pseudo_inertia(rows))[0, 0] < 0
    moved = make_physical(rows)
    assert np.linalg.eigvalsh(pseudo_inertia(moved)).min() > 0 and np.array_equal(moved[1:], rows[1:])
    assert np.allclose(parameters_of(pseudo_inertia(rows)), rows, rtol=0, atol=1e-14)
    inside = make_physical(1.2 * moved + 0.01 * rng.normal(size=rows.shape))
    step = rng.normal(size=rows.shape)
    step[0] *= 1e-3
    forth = np.linalg.solve(pseudo_inertia(inside), pseudo_inertia(step))
    border = -1 / np.linalg.eigvals(forth).real.min()
    prior, here, way = (np.array([2.0, *x.ravel(), 0.3]) for x in (moved, inside, step))  # a sign, bodies, neither
    pull = Entropic(tuple(range(1, 51, 10)), (0,), prior, 0.0)
    here[0], way[0] = 1.5, 0.1
    slope = central(lambda h: pull.value(here + h * way), 1e-3)
    bend = np.asarray(central(lambda h: pull.slopes(here + h * way)[0], 1e-3))
    gradient, J = pull.slopes(here)
    assert slope == pytest.approx(gradient @ way, rel=1e-7)
    assert np.allclose(J.T @ (J @ way), bend, rtol=0, atol=1e-7 * abs(bend).max())
    assert abs(pull.slopes(prior)[0]).max() < 1e-9 * abs(pull.linear_term).max()
    assert abs(pull.divergences(prior)).max() < 1e-9 and (pull.divergences(here) > 0).all()
    more = pull.divergences(here).sum() + here[0] / 2 - np.log(here[0] / 2) - 1
    assert pull.value(here) - pull.value(prior) == pytest.approx(more, rel=1e-9)
    assert np.isfinite(pull.value(here + 0.999 * border * way)) and pull.value(here + 1.001 * border * way) == np.inf
    assert pull.value(here - 15.01 * np.eye(len(here))[0] / 10) == np.inf


# -- slopes --------------------------------------------------------------------------------------------------------


@cache
def problem(method, controlled, initial=True):
    """Everything at once that can be searched for, away from where it fits."""
    friction = ((Stribeck(0.4, 0.3), Offset(0.2)), (Stribeck(0.3, 0.2),))
    robot = arm(friction=friction, stiffness=(5.0, 3.0))
    law = PID(80.0, 40.0, 8.0) if controlled else None
    log = record(robot, PD(80.0, 8.0), waves(robot, 0.06, DT, size=0.4))
    unknowns = dict.fromkeys(KINDS) | {"payload": list(robot.model.frames)[-1]}
    own = searched(robot, unknowns)
    segments = cut(robot, [log], controlled, 0.03, DT / 2)
    error = OutputError(own, segments, law, {"method": method, "friction_width": 0.05}, initial)
    rng = np.random.default_rng(1)
    z = own.start + 0.02 * np.abs(own.start) * rng.normal(size=len(own))
    z[-1] = 0.6e-3  # between two samples
    weights = rng.uniform(0.5, 1.5, error.measured.shape[2])
    starts = starts_of(error)
    n = 2 * robot.nv + (robot.nv if controlled else 0)
    starts = starts.moved(robot, 1e-2 * rng.normal(size=(len(segments.q0), n)))
    residuals = error.simulated(z, starts)
    return error, z, starts, weights, residuals, error.equations(z, residuals, weights)


def cost(error, z, starts, weights):
    return 0.5 * ((weights * error.simulated(z, starts).differences) ** 2).sum()


def central(function, width):
    """Of fourth order, so that differences are good to six digits and more."""
    near, far = ((function(k * width) - function(-k * width)) / (2 * k * width) for k in (1, 2))
    return (4 * near - far) / 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "controlled"), [("semi-implicit-euler", True), ("rk4", False)])
def test_gradients_of_each_kind(method, controlled, kind):
    error, z, starts, weights, _, equations = problem(method, controlled)
    own, at = error.searched, 0
    places = {}
    for name, entries in own.constants.items():
        places["inertial" if name == "parameters" else name] = range(at, at := at + len(entries))
    places["delay"] = [at]
    largest = abs(equations.g[list(places[kind])]).max()
    assert largest > 0
    for k in places[kind]:
        width = 1e-4 if kind == "delay" else 2e-3 * max(abs(z[k]), 0.05)
        slope = central(lambda h, k=k: cost(error, z + h * (np.arange(len(z)) == k), starts, weights), width)
        assert equations.g[k] == pytest.approx(slope, rel=1e-6, abs=1e-6 * largest), own.labels[k]


@pytest.mark.parametrize(("method", "controlled"), [("semi-implicit-euler", True), ("rk4", False)])
def test_gradients_by_the_starts(method, controlled):
    """The memory of a controller among them; and the normal equations are those of the whole problem."""
    error, z, starts, weights, _, equations = problem(method, controlled)
    segments, n = equations.g0.shape
    assert n == (6 if controlled else 4)
    for k in range(n):
        for s in range(segments):
            way = np.zeros((segments, n))
            way[s, k] = 1.0
            slope = central(lambda h, w=way: cost(error, z, starts.moved(error.robot, h * w), weights), 1e-3)
            assert equations.g0[s, k] == pytest.approx(slope, rel=1e-6, abs=1e-6 * abs(equations.g0).max())
    p = len(z)
    whole = np.zeros((p + segments * n,) * 2)
    whole[:p, :p], right = equations.H, np.concatenate([equations.g, equations.g0.ravel()])
    for s in range(segments):
        own = slice(p + s * n, p + (s + 1) * n)
        whole[own, own], whole[own, :p], whole[:p, own] = equations.H0[s], equations.B[s], equations.B[s].T
    damping = 1e-3
    scales = np.concatenate([np.einsum("sii->si", equations.H0).ravel() * damping])
    whole[range(p, len(whole)), range(p, len(whole))] += scales
    H, g = equations.eliminated(damping)
    some = np.linspace(0, 1, p)
    step = equations.starts(some, damping)
    expected = np.linalg.solve(whole[p:, p:], -right[p:] - whole[p:, :p] @ some)
    assert np.allclose(step.ravel(), expected, rtol=1e-6, atol=1e-9 * abs(expected).max())
    assert np.allclose(H @ some + g, whole[:p, :p] @ some + whole[:p, p:] @ expected + right[:p], rtol=1e-6,
                       atol=1e-9 * abs(equations.g).max())  # fmt: skip


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_slopes_forward_are_those_of_the_adjoint(method):
    error, z, _, weights, residuals, equations = problem(method, method == "semi-implicit-euler")
    weighted = weights**2 * residuals.differences
    cuts = np.cumsum([x.shape[2] for x in error.segments.measured.values()])[:-1]
    back = residuals.run.pullback(**dict(zip(error.outputs, np.split(weighted, cuts, axis=2), strict=True)))
    found = {**back.vary, "payload": back.vary["payload"][error.searched.payload]}
    expected = np.concatenate([np.ravel(found[k])[list(at)] for k, at in error.searched.constants.items()])
    slopes = error.searched.input_slopes(z)[:-1, :-1]
    assert np.allclose(equations.g[:-1], expected @ slopes, rtol=1e-10, atol=1e-12 * abs(expected).max())
    _, along = error.segments.commanded(z[-1])
    late = back.torque if back.reference is None else np.stack(back.reference, axis=2)
    assert equations.g[-1] == pytest.approx((late * along).sum(), rel=1e-10)
    assert np.allclose(equations.g0[:, : 2 * 2], np.concatenate([back.q0, back.v0], axis=1), rtol=1e-10, atol=1e-12)


# -- numbers found again -------------------------------------------------------------------------------------------


@cache
def panda():
    """A Panda, one that is off by a third, and what the first did under a PD law."""
    robot, rng = linkwork.load("panda"), np.random.default_rng(0)
    P = pseudo_inertia(np.array(robot.parameters))
    off = np.eye(4) + 0.2 * rng.normal(size=(7, 4, 4)) * np.array([[1, 1, 1, 0.05]] * 3 + [[0, 0, 0, 1]])
    start = type(robot)(robot.model.with_parameters(parameters_of(off @ P @ off.transpose(0, 2, 1)).tolist()))
    law = PD(np.array([600.0, 600, 600, 600, 250, 150, 50]), np.array([15.0, 15, 15, 15, 9, 7.5, 4.5]))
    middle = np.array([0, -0.3, 0, -1.8, 0, 1.8, 0.8])
    return robot, start, law, record(robot, law, waves(robot, 3.0, 1e-3, size=0.15, middle=middle), 1e-3)


def base(robot):
    """Base parameters, from forces alone."""
    rng = np.random.default_rng(5)
    q, v, a = rng.uniform(-2, 2, (3, 100, robot.nv))
    own = linkwork.load("panda").compile("regressor", parameters="minimal", drives=False)
    W, tau = own(q, v, a), robot.inverse_dynamics(q, v, a)
    return np.linalg.lstsq(W.reshape(-1, W.shape[2]), tau.ravel(), rcond=None)[0]


@pytest.mark.parametrize("outputs", [("q", "v", "tau"), ("q",)])
def test_all_inertias_of_a_panda_from_closed_loop_data(outputs):
    """Without accelerations, and from positions alone. The 43 combinations that forces depend on are found; of the
    other 27 the data tell nothing, and there bodies are as near to the prior's as they can be."""
    robot, start, law, log = panda()
    fit = fit_simulation(start, replace(log, v=None if outputs == ("q",) else log.v), controller=law, outputs=outputs)
    expected, found, before = base(robot), base(fit.robot), base(start)
    assert len(fit.names) == 70 and fit.rank == len(expected) == 43
    assert np.linalg.norm(before - expected) > 0.1 * np.linalg.norm(expected)
    assert abs(found - expected).max() < 1e-6 * abs(expected).max()
    assert np.linalg.eigvalsh(pseudo_inertia(fit.parameters)).min() > 0
    assert np.allclose(fit.parameters, fit.robot.parameters, rtol=0, atol=1e-12)
    rng = np.random.default_rng(1)
    q, v, a = rng.uniform(-1, 1, (3, 50, 7))
    tau = robot.inverse_dynamics(q, v, a)
    assert abs(fit.robot.inverse_dynamics(q, v, a) - tau).max() < 1e-6 * abs(tau).max()
    W = robot.compile("regressor", parameters="standard", drives=False)(q, v, a).reshape(-1, 70)
    unseen = np.linalg.svd(W)[2][43:]
    entropic = Entropic(tuple(range(0, 70, 10)), (), np.array(start.parameters).ravel(), 0.0)
    pull, J = entropic.slopes(fit.parameters.ravel())
    # No step along them would bring bodies nearer: what Newton's would gain, of a pull of hundreds.
    slope = unseen @ pull
    assert slope @ np.linalg.solve(unseen @ J.T @ J @ unseen.T, slope) < 1e-3


def test_a_payload_and_some_links():
    robot, start, law, log = panda()
    load = np.array([1.2, 0.02, -0.03, 0.1, 0.02, 0.001, 0, 0.025, -0.001, 0.015])
    assert log.reference is not None
    held = Point(*(x[:-1] for x in log.reference))
    run = robot.rollout(log.q[0], log.v[0], law, 1e-3, len(held.q), reference=held, outputs=("q", "v", "tau"),
                        vary={"payload": {"panda_link8": load}})  # fmt: skip
    loaded = replace(log, q=run.q, v=run.v, tau=run.tau)
    fit = fit_simulation(robot, loaded, {"payload": "panda_link8"}, controller=law)
    assert fit.payload is not None and np.allclose(fit.payload, load, rtol=0, atol=1e-7)
    own = [*robot.parameters[:-1], start.parameters[-1]]
    partly = fit_simulation(
        type(robot)(robot.model.with_parameters(own)), log, {"inertial": ["panda_link7"]}, controller=law
    )
    assert np.allclose(partly.parameters, robot.parameters, rtol=0, atol=1e-6)
    assert partly.robot.parameters[:-1] == robot.parameters[:-1]


def test_springs_of_elastic_joints_from_the_motors_alone():
    """Nothing is measured behind the springs; motors and their torques tell."""
    robot = linkwork.load("flexible-arm", friction=False)
    law = PD(np.array([900.0, 400]), np.array([20.0, 8]))
    log = record(robot, law, waves(robot, 1.0, 1e-3, seed=2, size=0.4), 1e-3)
    motors = list(robot.model.mobility.motors)
    seen = Log(t=log.t, q=log.q[:, motors], v=log.v[:, motors], tau=log.tau[:, motors], reference=log.reference)
    start = changed(robot, stiffness=(0.0, 3500.0, 0.0, 800.0))
    unknowns = {"stiffness": None, "rotor_inertia": ["shoulder_motor"]}
    fit = fit_simulation(start, seen, unknowns, controller=law, horizon=0.25)
    assert fit.names == ("shoulder_motor.IA", "shoulder.K", "elbow.K")
    assert fit.values == pytest.approx([0.9, 2500.0, 1100.0], rel=1e-6)
    assert {b.joint.name: b.joint.stiffness for b in fit.robot.model.bodies}["elbow"] == pytest.approx(1100, rel=1e-6)


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_friction_with_its_width(method):
    """Of three numbers each: the width is what no regressor can find."""
    robot = arm()
    law = PD(300.0, 30.0)
    log = record(robot, law, waves(robot, 2.0, DT, seed=3, size=0.15), method=method)
    start = arm(coulomb=(0.7, 0.9), viscous=(0.0, 0.0), friction_width=(0.05, 0.05))
    fit = fit_simulation(start, log, ("viscous", "coulomb", "friction_width"), controller=law, method=method)
    assert fit.values == pytest.approx([0.5, 0.3, 1.0, 0.6, 0.1, 0.2], rel=1e-6)
    assert fit.drives["elbow"] == pytest.approx({"viscous": 0.3, "coulomb": 0.6, "friction_width": 0.2}, rel=1e-6)


@pytest.mark.parametrize("closed", [True, False], ids=["reference", "torque"])
def test_delays(closed):
    robot, law = arm(), ComputedTorque(200.0, 20.0)
    reference = waves(robot, 1.0, DT, seed=4, size=0.3)
    log = record(robot, law, reference, late=3 if closed else 0)
    if not closed:  # the torques act 3 samples after they were recorded
        log = replace(log[:-3], tau=log.tau[3:])
    fit = fit_simulation(robot, log, ("delay", "viscous"), controller=law if closed else None, horizon=0.2)
    assert fit.delay == pytest.approx(3 * DT, abs=1e-8)
    assert fit.values[:2] == pytest.approx([0.5, 0.3], abs=1e-6)


def test_a_robot_with_loops():
    robot = linkwork.load("four-bar")
    q0, steps = np.array(robot.home), 400
    rng = np.random.default_rng(0)
    tau = np.cumsum(rng.normal(size=(steps + 1, len(robot.model.mobility.forced))), axis=0)
    viscous = np.array([0.4, 0.1, 0.2])
    run = robot.rollout(q0, [0.0], tau[:-1], DT, steps, vary={"viscous": viscous})
    log = Log(t=run.t, q=run.q, v=run.v, tau=tau)
    fit = fit_simulation(robot, log, {"viscous": ["crank"]}, horizon=0.1)
    crank = robot.model.position_names.index("crank")
    assert "robots with loops" in " ".join(fit.notes) and fit.names == ("crank.FV",)
    others = changed(robot, viscous=[0.0 if k == crank else x for k, x in enumerate(viscous)])
    again = fit_simulation(others, log, {"viscous": ["crank"]}, horizon=0.1)
    # A segment starts with closed loops, where the recorded motion was open by as much as a step leaves them.
    assert again.values[0] == pytest.approx(viscous[crank], rel=1e-4)
    assert fit.rms["q"].max() > again.rms["q"].max()


def test_a_floating_base():
    """Positions with a quaternion, whose sign jumps in the recording; starts are searched for along its tangent."""
    robot = linkwork.load(describe(Recipe(seed=5, joints=2, floating=True)))
    rng, steps = np.random.default_rng(0), 300
    tau = np.cumsum(0.05 * rng.normal(size=(steps + 1, robot.nv)), axis=0)
    q0 = robot.coordinates.random(rng)
    true = changed(robot, viscous=[0.0, 0.3, 0.2])
    run = true.rollout(q0, 0.2 * rng.normal(size=robot.nv), tau[:-1], DT, steps)
    q = run.q.copy()
    q[100:, 3:7] *= -1
    fit = fit_simulation(robot, Log(t=run.t, q=q, v=run.v, tau=tau), ("viscous",), horizon=0.1)
    assert fit.values == pytest.approx([0.3, 0.2], rel=1e-6)
    off = np.array(run.q[0])
    off[:3] += 1e-3
    moved = Log(t=run.t, q=np.vstack([off, run.q[1:]]), v=run.v, tau=tau, keep=np.arange(steps + 1) > 0)
    again = fit_simulation(robot, moved, ("viscous",), horizon=0.1)
    assert again.values == pytest.approx([0.3, 0.2], rel=1e-6)
    assert np.allclose(again.q0[0], run.q[0], rtol=0, atol=1e-8)


def test_deviations_with_noise():
    """Errors of twenty recordings with noise on positions alone are as large as they are said to be."""
    robot, law = arm(), PD(300.0, 30.0)
    log = record(robot, law, waves(robot, 1.0, DT, seed=5, size=0.3))
    expected, off, said = np.array([0.5, 0.3, 1.0, 0.6]), [], []
    for seed in range(20):
        noisy = log.q + 1e-4 * np.random.default_rng(seed).normal(size=log.q.shape)
        fit = fit_simulation(
            robot, replace(log, q=noisy, v=None), ("viscous", "coulomb"), controller=law, outputs=("q",)
        )
        off.append((fit.values - expected) / fit.deviations)
        said.append(fit.rms["q"])
    assert 0.7 < np.sqrt(np.mean(np.square(off))) < 1.4
    assert np.mean(said) == pytest.approx(1e-4, rel=0.05)


def test_several_recordings_gaps_and_given_weights():
    robot, law = arm(), PD(300.0, 30.0)
    logs = [record(robot, law, waves(robot, 0.5, DT, seed=k, size=0.3)) for k in (6, 7)]
    broken = replace(logs[0], q=np.where(np.arange(251)[:, None] == 100, 9.0, logs[0].q), keep=np.arange(251) != 100)
    told = []
    fit = fit_simulation(
        arm(viscous=(0.1, 0.9)), [broken, logs[1]], ("viscous", "offset"), controller=law, outputs=("q",), horizon=0.2,
        weight={"q": [1e4, 2e4]}, progress=lambda k, cost: told.append((k, cost)),
    )  # fmt: skip
    assert fit.values == pytest.approx([0.5, 0.3, 0.0, 0.0], abs=1e-4)
    assert (
        len(fit.q0) == 4 and np.array_equal(fit.weights["q"], [1e4, 2e4]) and told[-1] == (len(told), fit.history[-1])
    )
    assert "100 samples at the ends do not fill a segment" in fit.notes[0] and "4 unknowns, 4 seen" in repr(fit)


def test_what_would_be_negative_ends_at_zero():
    robot, law = arm(viscous=(0.0, 0.3)), PD(300.0, 30.0)
    log = record(changed(robot, viscous=(-0.05, 0.3)), law, waves(robot, 0.5, DT, seed=8, size=0.3))
    fit = fit_simulation(arm(viscous=(0.2, 0.2)), log, ("viscous",), controller=law)
    assert fit.values[0] == 0.0 and fit.notes == ("at zero, and would be negative: shoulder.FV",)


# -- what is refused -----------------------------------------------------------------------------------------------

MISTAKES = {
    "a wrong name": ({"unknowns": ["masses"]}, UnknownNameError, "there is no unknown of a simulation"),
    "nothing": ({"unknowns": []}, LinkworkError, "there is nothing to identify"),
    "a wrong joint": ({"unknowns": {"viscous": ["knee"]}}, UnknownNameError, "there is no joint 'knee'"),
    "no springs": ({"unknowns": ["stiffness"]}, LinkworkError, "no joint has it"),
    "a spring of zero": ({"unknowns": {"stiffness": ["elbow"]}}, LinkworkError, "the initial value is zero"),
    "a payload nowhere": ({"unknowns": ["payload"]}, LinkworkError, "a payload is carried by a frame"),
    "no reference": ({"log": {"reference": None}}, LinkworkError, "the controller needs a reference"),
    "no controller": ({"controller": 3.0}, LinkworkError, "not a controller"),
    "a short horizon": ({"horizon": 1e-3}, LinkworkError, "a segment has too few samples"),
    "no such output": ({"outputs": ["a"]}, UnknownNameError, "measured output 'a'"),
    "weights of others": ({"weight": {"v": 1.0}}, LinkworkError, "an output has no weight"),
    "another method": ({"method": "euler"}, UnknownNameError, "there is no integrator 'euler'"),
    "a method that looks back": ({"method": "adams-bashforth-4"}, LinkworkError, "depends on earlier steps"),
    "columns": ({"log": {"q": np.zeros((51, 3))}}, ShapeError, "the columns do not fit the robot"),
    "too long a step": ({"controller": PD(1e9, 1e3)}, LinkworkError, "diverges with the initial parameters"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    given, error, message = MISTAKES[name]
    robot, law = arm(), PD(300.0, 30.0)
    log = replace(record(robot, law, waves(robot, 0.1, DT)), **given.get("log", {}))
    given = {"unknowns": ("viscous",), "controller": law, **{k: x for k, x in given.items() if k != "log"}}
    with pytest.raises(error, match=message):
        fit_simulation(robot, log, **given)


# -- as a Fit ------------------------------------------------------------------------------------------------------


def rubbing(frame=None):
    """From a robot without friction: positions alone, of one that rubs, and what there is to find."""
    robot, law = linkwork.load("planar2r"), PD(np.array([8000.0, 3000]), np.array([800.0, 300]))
    friction = {"shoulder": {"coulomb": 60.0, "viscous": 20.0}, "elbow": {"coulomb": 30.0, "viscous": 10.0}}
    there = robot.with_payload("tip", 3.0) if frame else robot
    widths = {"shoulder": {"friction_width": 0.1}, "elbow": {"friction_width": 0.2}}
    log = record(there.with_friction(friction).with_drives(widths), law, waves(robot, 2.0, DT, seed=3, size=0.15))
    unknowns = {name: ["shoulder", "elbow"] for name in ("viscous", "coulomb", "friction_width")}
    unknowns |= {"payload": frame} if frame else {}
    return robot, replace(log, v=None), {"controller": law, "simulation": {"unknowns": unknowns}}


def test_a_payload_at_a_frame_beside_friction():
    """The robot of the fit has both, and a variant of the robot the friction with its widths."""
    robot, log, options = rubbing("tip")
    fit = robot.identify(log, "simulation", **options)
    assert fit.simulation is not None
    assert fit.simulation.drives["elbow"] == pytest.approx(
        {"viscous": 10.0, "coulomb": 30.0, "friction_width": 0.2}, rel=1e-4
    )
    assert fit.payload["tip"]["mass"] == pytest.approx(3.0, rel=1e-4)
    q, v, a = np.random.default_rng(0).normal(size=(3, 9, 2))
    expected = fit.simulation.robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), expected, rtol=1e-9)
    assert (fit.errors["fitted"] < 0.1).all()  # of positions that are smoothed; differences of noise would be all
    assert any("smoothed" in note for note in fit.notes)


def test_friction_of_one_joint_by_its_name_and_with_parameters():
    robot, log, options = rubbing()
    fit = robot.identify(log, "simulation", **options)
    given = robot.with_parameters(fit)
    assert [b.joint.friction_width for b in given.model.bodies] == pytest.approx([0.1, 0.2], rel=1e-5)
    options["simulation"] = {"unknowns": {"viscous": "elbow"}}
    one = given.with_friction({"elbow": {"coulomb": 30.0, "viscous": 1.0}}).identify(log, "simulation", **options)
    assert one.standard.names == ("elbow.FV",) and one.standard["elbow.FV"] == pytest.approx(10, rel=1e-3)


def test_widths_of_friction_that_the_data_hardly_tell():
    """Steps of logarithms are bounded, where a controller that holds no torque and forces of thousands hide it."""
    robot, _, options = rubbing("tip")
    there = robot.with_friction({"shoulder": {"coulomb": 8.0, "viscous": 4.0}, "elbow": {"coulomb": 5.0, "viscous": 2}})
    swing = Fourier(np.zeros(2), [[0.5, 0.2], [0.3, 0.4]], [[0.2, 0.1], [0.1, 0.2]], frequency=0.5)
    run = there.simulate(swing(0.0).q, swing(0.0).v, 2.0, DT, torque=options["controller"], reference=swing)
    log = Log(run.t, run.q, run.tau, reference=swing.sample(run.t + 0.006)).noisy(0, q=1e-5, tau=0.5)
    options["simulation"]["unknowns"]["delay"] = None
    fit = robot.identify(log, "simulation", **options)
    assert fit.simulation is not None and np.isfinite(fit.simulation.values).all()
    assert fit.simulation.delay == pytest.approx(0.006, abs=5e-4)
