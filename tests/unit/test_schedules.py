"""Feet by a schedule: a state is what the steps before it made of the robot, in rollouts and steppers alike."""

import numpy as np
import pytest

import linkwork
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement, foot_at
from linkwork.sim.schemes.integrators import schemes

DT, STEPS = 4e-3, 8
OFFERED = [name for name, scheme in schemes().items() if not scheme.history and name != "rosenbrock"]
SCHEDULES = {
    "touches down": [[0, 0]] * 3 + [[1, 1]] * 5,
    "lifts off": [[1, 1]] * 3 + [[0, 1]] * 5,
    "to and fro": [[1, 0], [0, 1]] * 4,
    "lands last": [[1, 0]] * 7 + [[1, 1]],
    "lands at once": [[1, 1]] * 8,
}


def chain():
    """Three links in a row, with a foot at the second and one at the third."""
    inertia = LinkInertia(1.0, np.array([0.2, 0.05, 0.0]), np.diag([0.01, 0.03, 0.03]))
    links = (Link("base"), *(Link(f"l{k}", inertia) for k in range(3)))
    joints = tuple(
        JointDescription(f"j{k}", "revolute", links[k].name, f"l{k}", Placement(np.eye(3), np.array([0.4, 0, 0])), axis)
        for k, axis in enumerate(np.eye(3))
    )
    return linkwork.load(Description("chain", links, joints, constraints=(foot_at("near", "l1"), foot_at("far", "l2"))))


ROBOT = chain()
Q, V, TAU = np.array([0.3, -0.4, 0.5]), np.array([1.0, -2.0, 1.5]), np.array([0.1, 0.2, -0.3])


def roll(schedule, method, **options):
    schedule = np.array(schedule, float)
    return ROBOT.rollout(Q, V, TAU, DT, len(schedule), contacts=schedule, method=method, **options)


@pytest.mark.parametrize("method", OFFERED)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_steppers_make_the_bits_of_rollouts(schedule, method):
    """All rows, and every third; also what else is recorded of the state."""
    contacts = np.array(SCHEDULES[schedule], float)
    outputs = ("kinetic_energy", "work")
    runs = {every: roll(contacts, method, every=every, outputs=("q", "v", *outputs)) for every in (1, 3)}
    stepper = ROBOT.stepper(1, DT, q0=Q, v0=V, torque=TAU, contacts=contacts[0], method=method, outputs=outputs)
    for k in range(STEPS + 1):
        seen = {"q": stepper.q, "v": stepper.v, **stepper.outputs}
        for every, run in runs.items():
            if k % every == 0:
                for name, values in seen.items():
                    assert np.array_equal(values[0], run[name][k // every]), (k, name)
        if k < STEPS:
            stepper.contacts = contacts[k]
            stepper.step()
    jumps = np.abs(np.diff(runs[1].v, axis=0)).max()
    assert jumps > 0.5 or schedule == "lifts off"  # an impact is among them


@pytest.mark.parametrize("method", OFFERED)
def test_rows_do_not_know_what_follows(method):
    """Also where it is the contacts of the next step, whose impact belongs to that step."""
    one, other = (roll([[0, 0]] * 4 + [after] * 4, method) for after in ([0, 0], [1, 1]))
    assert np.array_equal(one.q[:5], other.q[:5]) and np.array_equal(one.v[:5], other.v[:5])
    assert np.abs(one.v[5] - other.v[5]).max() > 0.5
    assert np.array_equal(one.v[0], V) and np.array_equal(roll([[1, 1]] * 4, method).v[0], V)


@pytest.mark.parametrize("method", OFFERED)
def test_forces_follow_the_impact(method):
    """Of the row where a contact begins: those at the velocities that the impact leaves."""
    contacts = np.array([[0, 0]] * 4 + [[0, 1]] * 4, float)
    run = roll(contacts, method, outputs=("q", "v", "a", "contact_forces"))
    after = ROBOT.impact(run.q[4], run.v[4], [0, 1], [0, 0]).v_after
    a, forces = ROBOT.contact_dynamics(run.q[4], after, TAU, [0, 1])
    assert np.abs(after - run.v[4]).max() > 0.5
    np.testing.assert_allclose(run.a[4], a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.contact_forces[4], forces.ravel(), rtol=1e-9, atol=1e-9)


def test_gradients_and_linear_steps_are_of_these_states():
    """Through an impact: the rows before it and after it, by differences."""
    schedule, step = np.array([[0, 0]] * 3 + [[0, 1]] * 2, float), 1e-6

    def roll(v):
        return ROBOT.rollout(Q, v, TAU, DT, 5, contacts=schedule, method="semi-implicit-euler", checkpoint_every=1)

    run, pairs = roll(V), [(roll(V + step * e), roll(V - step * e)) for e in np.eye(3)]
    A, _ = run.linearised()
    for row in (3, 4):
        slopes = np.array([(one.v[row] - other.v[row]) / (2 * step) for one, other in pairs]).T
        back = [run.pullback(v=np.outer(np.arange(6) == row, e)).v0 for e in np.eye(3)]
        np.testing.assert_allclose(back, slopes, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(np.linalg.multi_dot(A[:row][::-1])[3:, 3:], slopes, rtol=1e-6, atol=1e-7)
