"""Samples, steps and entries are told apart by the places of their axes, also where all are equally many: here three.

What a batch does is what its samples do one by one.
"""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import TracedRobot
from linkwork.control import PD, Point, with_memory
from linkwork.errors import ShapeError
from linkwork.forces import Thruster
from linkwork.model import foot_at
from support.random_robots import Recipe, describe

N, DT = 3, 5e-3
RNG = np.random.default_rng(0)
CHAIN = describe(Recipe(seed=3, joints=N, kinds=("revolute",)))
BARE = linkwork.load(CHAIN)
LINKS = [body.name for body in BARE.model.bodies]
ARM = BARE.with_forces({link: Thruster() for link in LINKS})  # as many commands as joints
FEET = linkwork.load(replace(CHAIN, constraints=tuple(foot_at(link, link) for link in LINKS)))
OWN = TracedRobot(BARE)
Q, V = RNG.normal(size=(2, N, N))
TABLE, CUBE, CELL = RNG.normal(size=(N, N)), RNG.normal(size=(N, N, N)), RNG.normal(size=(N, N, 6))
STIFF = np.array([1.0, 10.0, 100.0])  # along x, y and z
GOAL = Point(np.zeros(N), np.zeros(N), np.zeros(N))


def cartesian(default=None):
    """A spring at the tip, with a stiffness along each axis."""

    def pulled(q, v, k):
        pose, J = OWN.pose(LINKS[-1], q), OWN.jacobian(LINKS[-1], q)[:3]
        return J.T @ (k * (np.array([0.3, 0.2, 0.1]) - pose[:3, 3])) - v

    def undeclared(t, q, v, reference, *, k):
        return pulled(q, v, k)

    def declared(t, q, v, reference, *, k=default):
        return pulled(q, v, k)

    return undeclared if default is None else declared


def matrix(t, q, v, reference, *, K=TABLE):
    return -K @ q - v


@with_memory(z=np.zeros(N))
def remembering(t, q, v, reference, memory):
    return -memory["z"], {"z": q - memory["z"]}


def same(robot, options, each):
    """Three samples and three steps, and the same one by one; ``each``: options of sample k alone."""
    many = robot.rollout(Q, V, dt=DT, steps=N, **options)
    for k in range(N):
        one = robot.rollout(Q[k], V[k], dt=DT, steps=N, **each(k))
        assert np.abs(many.q[k] - one.q).max() < 1e-12 and np.abs(many.v[k] - one.v).max() < 1e-12
    return many


CASES = {  # what is given to the batch, what of it is that of sample k
    "gain, declared, one for all": ({"torque": cartesian(STIFF), "gains": {"k": STIFF}}, lambda g, k: STIFF),
    "gain, declared, of each": ({"torque": cartesian(STIFF), "gains": {"k": TABLE}}, lambda g, k: TABLE[k]),
    "gain, declared a number": ({"torque": cartesian(1.0), "gains": {"k": STIFF}}, lambda g, k: STIFF[k]),
    "gain, undeclared": ({"torque": cartesian(), "gains": {"k": TABLE}}, lambda g, k: TABLE[k]),
    "gain, undeclared, one for all": ({"torque": cartesian(), "gains": {"k": STIFF[None]}}, lambda g, k: STIFF),
    "gain, undeclared, a number": ({"torque": cartesian(), "gains": {"k": STIFF[:, None]}}, lambda g, k: STIFF[k]),
    "matrix, one for all": ({"torque": matrix, "gains": {"K": TABLE}}, lambda g, k: TABLE),
    "matrix, of each": ({"torque": matrix, "gains": {"K": CUBE}}, lambda g, k: CUBE[k]),
    "PD, of each": ({"torque": PD(1, 1), "gains": {"kp": TABLE**2}}, lambda g, k: TABLE[k] ** 2),
    "PD, one for all": ({"torque": PD(1, 1), "gains": {"kp": STIFF[None]}}, lambda g, k: STIFF),
    "PD, a number for all": ({"torque": PD(1, 1), "gains": {"kp": STIFF[None, :1]}}, lambda g, k: STIFF[0]),
    "PD, a number of each": ({"torque": PD(1, 1), "gains": {"kp": STIFF[:, None]}}, lambda g, k: STIFF[k]),
    "memory, one for all": ({"torque": remembering, "memory": {"z": STIFF}}, lambda g, k: STIFF),
    "memory, of each": ({"torque": remembering, "memory": {"z": TABLE}}, lambda g, k: TABLE[k]),
}


@pytest.mark.parametrize("case", CASES)
def test_gains_and_memory(case):
    options, of = CASES[case]
    options = {"reference": GOAL, **options} if isinstance(options["torque"], PD) else options
    (kind,) = {"gains", "memory"} & set(options)
    ((name, value),) = options[kind].items()
    same(BARE, options, lambda k: options | {kind: {name: of(value, k)}})


SCHEDULES = {  # controller, name of its gain, table (samples, steps, own)
    "a number": (cartesian(1.0), "k", CUBE[..., 0]),
    "a vector": (cartesian(STIFF), "k", CUBE),
    "a matrix": (matrix, "K", RNG.normal(size=(N, N, N, N))),
    "PD": (PD(1, 1), "kp", CUBE**2),
    "PD, a number": (PD(1, 1), "kp", CUBE[..., :1] ** 2),
}


@pytest.mark.parametrize("case", SCHEDULES)
def test_gains_over_time(case):
    """Gains for each sample and step, each sample, each step, or all; in steppers, as they are written."""
    law, name, table = SCHEDULES[case]
    more = {"torque": law, "reference": GOAL} if isinstance(law, PD) else {"torque": law}
    for a, b in ((N, N), (1, N), (N, 1)):
        part = table[:a, :b]
        rows = np.broadcast_to(part, table.shape)
        run = same(BARE, more | {"gains": {name: part}}, lambda k, rows=rows: more | {"gains": {name: rows[k]}})
        stepper = BARE.stepper(N, DT, q0=Q, v0=V, **more, gains={name: rows[:, 0]})
        for k in range(N):
            assert np.array_equal(stepper.q, run.q[:, k])
            stepper.gains[name] = rows[:, k].reshape(stepper.gains[name].shape)
            stepper.step()
    wrong = table[:, :2]
    with pytest.raises(ShapeError, match="wrong shape"):
        BARE.rollout(Q, V, dt=DT, steps=N, **more, gains={name: wrong})
    with pytest.raises(ShapeError, match="wrong shape"):
        BARE.rollout(Q[0], V[0], dt=DT, steps=N, **more, gains={name: table[0, :2]})


@pytest.mark.parametrize("method", ["semi-implicit-euler", "heun"])
def test_gains_over_time_are_held_over_steps(method):
    """Against a controller with the formula, which is that of the samples at the beginning of a step."""
    steps, times = 40, DT * np.arange(40)

    def formula(t, q, v, reference):
        return -(3 + np.sin(20 * t)) * q - np.exp(-t) * v

    def scheduled(t, q, v, reference, *, kp=1.0, kd=STIFF):
        return -kp * q - kd * v

    gains = {"kp": 3 + np.sin(20 * times), "kd": np.exp(-times)[:, None] * np.ones(N)}
    run = BARE.rollout(Q[0], V[0], scheduled, DT, steps, gains=gains, method=method)
    exact = BARE.rollout(Q[0], V[0], formula, DT, steps, method=method)
    error = np.abs(run.q - exact.q).max()
    assert error < 1e-13 if method == "semi-implicit-euler" else 1e-6 < error < 1e-2
    motion = BARE.simulate(Q[0], V[0], steps * DT, DT, torque=scheduled, gains=gains, method=method)
    assert np.array_equal(motion.q, run.q)


def test_gradients_by_gains_over_time():
    schedule, step = 5 + CUBE, 1e-6
    for lead in ((N, N), (1, N), (N, 1), (1, 1)):
        gains = schedule[: lead[0], : lead[1]]

        def ends(gains, **options):
            run = BARE.rollout(Q, V, PD(1, 1), DT, N, reference=GOAL, gains={"kp": gains}, **options)
            return run, run.q[:, -1].sum()

        run, _ = ends(gains, checkpoint_every=1)
        weights = np.zeros_like(run.q)
        weights[:, -1] = 1
        found = run.pullback(q=weights).gains["kp"]
        assert found.shape == gains.shape
        direction = RNG.normal(size=gains.shape)
        slope = (ends(gains + step * direction)[1] - ends(gains - step * direction)[1]) / (2 * step)
        assert abs((found * direction).sum() - slope) < 1e-8 * (1 + abs(slope))


@pytest.mark.parametrize("samples", [2, N, 5])
@pytest.mark.parametrize(
    ("law", "gains"), [(PD(1, 1), {"kp": STIFF}), (PD(1, 1, limit=2), {"limit": STIFF}), (cartesian(), {"k": STIFF})]
)
def test_a_vector_that_may_mean_either_is_refused_for_every_length(law, gains, samples):
    q = np.zeros((samples, N))
    said = r"gains\['\w+'\]: the first axis may mean samples or entries.*\n  got: \(3,\)\n  expected: "
    said += rf"\({samples}, 1\).*\(1, n\)"
    with pytest.raises(ShapeError, match=said):
        BARE.rollout(q, q, law, DT, N, gains=gains, reference=GOAL)
    with pytest.raises(ShapeError, match=said):
        BARE.stepper(samples, DT, torque=law, gains=gains, reference=GOAL)


@pytest.mark.parametrize("wrong", [STIFF, CUBE])
def test_gains_have_the_shape_of_their_default(wrong):
    expected = r"expected: \(\) or \(4,\) or \(1, 1\) or \(1, 5\) or \(4, 1\) or \(4, 5\)\n"
    with pytest.raises(ShapeError, match=rf"{expected}  fix: give k a default of another shape"):
        BARE.rollout(np.zeros((4, N)), np.zeros((4, N)), cartesian(1.0), DT, 5, gains={"k": wrong})
    with pytest.raises(ShapeError, match=r"expected: \(\) or \(5,\) or \(1, 1\) or \(1, 5\)\n"):
        BARE.rollout(np.zeros(N), np.zeros(N), cartesian(1.0), DT, 5, gains={"k": wrong})


OVER_TIME = {  # name of the option, robot, table (samples, steps, own)
    "torque": (BARE, lambda x: {"torque": x}, CUBE),
    "reference": (BARE, lambda x: {"torque": PD(9, 1), "reference": Point(x, 0, 0)}, CUBE),
    "velocity": (BARE, lambda x: {"torque": PD(9, 1), "reference": Point(STIFF, x, 0)}, CUBE),
    "commands": (ARM, lambda x: {"torque": None, "commands": x}, CUBE),
    "by name": (ARM, lambda x: {"torque": None, "commands": dict(zip(ARM.command_names, np.moveaxis(x, -1, 0)))}, CUBE),
    "wrench": (BARE, lambda x: {"torque": None, "wrenches": {LINKS[-1]: x}}, CELL),
    "contacts": (FEET, lambda x: {"torque": None, "contacts": x}, (CUBE > 0) * 1.0),
}


@pytest.mark.parametrize("name", OVER_TIME)
def test_inputs_over_time(name):
    """Of each sample and step, of each sample, of each step, one for all; three numbers alone are never the samples."""
    robot, given, table = OVER_TIME[name]
    for a, b in ((N, N), (N, 1), (1, N), (1, 1)):
        part = table[:a, :b]
        rows = np.broadcast_to(part, table.shape)
        same(robot, given(part), lambda k, rows=rows: given(rows[k]))
    if name != "by name":
        same(robot, given(table[0, 0]), lambda k: given(table[0, 0]))
    with pytest.raises(ShapeError, match="the numbers of samples and steps are equal"):
        robot.rollout(Q, V, dt=DT, steps=N, **given(table[0]))


def test_names_with_other_axes_are_refused():
    commands = {ARM.command_names[0]: STIFF, ARM.command_names[1]: TABLE}
    with pytest.raises(ShapeError, match="may mean samples or steps"):
        ARM.rollout(Q, V, None, DT, N, commands=commands)


def test_varied_parameters():
    own = np.array([body.inertia.mass for body in BARE.model.bodies])
    each = own * RNG.uniform(1, 3, (N, N))
    for masses in (each[0], each):
        rows = np.broadcast_to(masses, (N, N))
        of = [{"torque": None, "vary": {"mass": row}} for row in rows]
        runs = same(BARE, {"torque": None, "vary": {"mass": masses}}, of.__getitem__)
    assert np.abs(runs.q[1] - BARE.rollout(Q[1], V[1], None, DT, N).q).max() > 1e-6


def test_numbers_of_samples_beside_shared_vectors():
    """One number of each sample, and vectors that all share, in one table for native code."""
    down = np.array([0.0, 0.0, -9.81])
    options = {"torque": cartesian(1.0), "vary": {"gravity": down}}
    same(BARE, options | {"gains": {"k": STIFF}}, lambda k: options | {"gains": {"k": STIFF[k]}})


@pytest.mark.parametrize("lead", [(), (1, N), (N, 1), (N, N)])
def test_gradients_have_the_shapes_that_were_given(lead):
    """Of a reference, by differences; parts with other axes at the same time."""
    goal, rates, step = RNG.normal(size=(*lead, N)), RNG.normal(size=(N, 1, N)), 1e-6

    def ends(goal, **options):
        run = BARE.rollout(Q, V, PD(9, 1), DT, N, reference=Point(goal, rates, 0), **options)
        return run, run.q[:, -1].sum()

    run, _ = ends(goal, checkpoint_every=1)
    weights = np.zeros_like(run.q)
    weights[:, -1] = 1
    found = run.pullback(q=weights).reference
    assert found.q.shape == goal.shape and found.v.shape == rates.shape and found.a.shape == ()
    direction = RNG.normal(size=goal.shape)
    slope = (ends(goal + step * direction)[1] - ends(goal - step * direction)[1]) / (2 * step)
    assert abs((found.q * direction).sum() - slope) < 1e-8 * (1 + abs(slope))


def test_gradients_by_gains_have_the_shapes_that_were_given():
    run = BARE.rollout(Q, V, PD(1, 1), DT, N, reference=GOAL, gains={"kp": STIFF[:, None], "kd": TABLE[:1] ** 2},
                       checkpoint_every=1)  # fmt: skip
    found = run.pullback(q=np.ones_like(run.q)).gains
    assert found["kp"].shape == (N, 1) and found["kd"].shape == (1, N)
