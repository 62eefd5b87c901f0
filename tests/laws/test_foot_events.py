"""Feet that bounce, slide and stop by themselves, in cases that are hard: energy, and times of events."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import io
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement, foot_at
from linkwork.sim.contact.contact_modes import ContactDynamics, Ground


@pytest.mark.parametrize("kind", ["events", "coulomb"])
def test_bounces_make_no_energy(kind):
    """A rod at 45 degrees whose end comes down askew, so that it needs no friction to stop along the ground: there
    J M^-1 J^T = [[2.5, -1.5], [-1.5, 2.5]], and e = 0.9 would give 0.9^2 / (1 - 0.6^2) of the energy that goes into the
    end. What happens at the start is told."""
    rod = Link("rod", LinkInertia(1.0, np.array([0, 0, 0.5]), np.diag([1 / 12, 1 / 12, 1e-4])))
    foot = foot_at("end", "rod", friction=1.0, restitution=0.9)
    robot = linkwork.load(Description("rod", (rod,), (), floating=True, constraints=(foot,)))
    q = np.array([0, 0, 0, 0, np.sin(np.pi / 8), 0, np.cos(np.pi / 8)])
    v = np.array([*robot.pose("rod", q)[:3, :3].T @ [0.6, 0, -1.0], 0, 0, 0])
    into = 0.5 / 2.5  # u_n^2 / 2 over what the normal yields
    after = robot.impact(q, v, [1], [0.9]).v_after
    made = robot.kinetic_energy(q, after) - robot.kinetic_energy(q, v)
    np.testing.assert_allclose(made, into * (0.81 / 0.64 - 1), rtol=1e-12)
    run = robot.simulate(q, v, 1e-3, 1e-3, contacts=kind)
    np.testing.assert_allclose(run.kinetic_energy[0], robot.kinetic_energy(q, v), rtol=1e-9)
    assert robot.jacobian("rod", q)[2] @ run.v[0] > 0.7
    assert [(event.t, event.what, event.contact) for event in run.events] == [(0, "touchdown", "end")]


def test_sliding_soles_stop(monkeypatch):
    """Two joined boxes that slide and turn: at the end they stop, and do not go on in new directions in ever shorter
    times, of which some robots had more than fit into a step."""
    met, settled = [], Ground.choose_mode
    monkeypatch.setattr(Ground, "choose_mode", lambda *given: met.append(given) or settled(*given))
    boxes = tuple(Link(name, LinkInertia(1.0, np.array([0, 0, 0.1]), np.diag([0.02, 0.02, 0.01]))) for name in "ab")
    place, axis = Placement(np.eye(3), np.array([0.5, 0, 0])), np.array([0, 0, 1.0])
    hinge = JointDescription("hinge", "continuous", "a", "b", place, axis)
    feet = tuple(foot_at(f"under {name}", name, size=(0.2, 0.1), friction=0.3) for name in "ab")
    robot = linkwork.load(Description("boxes", boxes, (hinge,), floating=True, constraints=feet))
    run = robot.simulate([0, 0, 0, 0, 0, 0, 1, 0], [0.11, 0.09, 0, 0, 0, 0.03, 1.09], 0.3, 0.02, contacts="coulomb")
    assert [event.what for event in run.events] == ["stick"] * 8 and len(met) == 3
    assert np.abs(run.v[-1]).max() < 1e-12


def test_a_rod_falls_over_with_friction():
    """It sticks, slips backwards once its force leaves the cone, comes back, and strikes the ground. Times as an
    integration of its equations in the plane has them, with theta from the vertical, F = -mu N d along the ground,
    I theta'' = (N sin(theta) - F cos(theta)) / 2, N = g + z'', to 1e-11 by SciPy."""
    rod = Link("rod", LinkInertia(1.0, np.array([0, 0, 0.5]), np.diag([1 / 12, 1 / 12, 1e-4])))
    frames = {name: ("rod", Placement(np.eye(3), np.array([0, 0, z]))) for name, z in (("foot", 0.0), ("head", 1.0))}
    feet = tuple(foot_at(name, name, friction=0.1) for name in frames)
    robot = linkwork.load(Description("rod", (rod,), (), floating=True, frames=frames, constraints=feet))
    run = robot.simulate([0, 0, 0, 0, np.sin(0.05), 0, np.cos(0.05)], None, 0.81, 5e-3, contacts="coulomb")
    assert [(event.what, event.contact) for event in run.events] == [("slip", "foot"), ("touchdown", "head")]
    np.testing.assert_allclose([event.t for event in run.events], [0.207747355269, 0.807873613518], rtol=1e-8)


def test_a_box_that_slides_tips_over_and_stops_sliding():
    """The step in which it stops is as good as others: friction keeps its direction up to there."""
    box = Link("box", LinkInertia(2.0, np.array([0, 0, 0.5]), np.diag([0.4, 0.4, 0.1])))
    foot = foot_at("sole", "box", size=(0.3, 0.3), friction=0.8)
    robot = linkwork.load(Description("box", (box,), (), floating=True, constraints=(foot,)))
    run = robot.simulate([0, 0, 0, 0, 0, 0, 1], [1.0, 0, 0, 0, 0, 0], 0.2, 0.01, contacts="coulomb")
    assert [(event.what, event.contact) for event in run.events] == [("stick", "sole.1"), ("stick", "sole.2")]
    np.testing.assert_allclose(run.events[0].t, 0.058292463, rtol=1e-6)  # as with steps of 1 ms
    assert run.drift["energy"] < 1e-6


def test_corners_that_bounce_each_as_they_like():
    """Four points of one body cannot: what their impacts take is accounted for all the same."""
    box = Link("box", LinkInertia(2.0, np.array([0, 0, 0.1]), np.diag([0.04, 0.05, 0.06])))
    places = [(0.2, 0.2, 0), (0.2, -0.2, 0), (-0.2, 0.2, 0), (-0.2, -0.2, 0)]
    frames = {f"c{k}": ("box", Placement(np.eye(3), np.array(place))) for k, place in enumerate(places)}
    feet = tuple(foot_at(name, name, restitution=e) for name, e in zip(frames, (0.9, 0.1, 0.3, 0.6)))
    robot = linkwork.load(Description("box", (box,), (), floating=True, frames=frames, constraints=feet))
    run = robot.simulate([0, 0, 0.3, 0, 0, 0, 1], None, 0.9, 0.02, contacts="events")
    assert len(run.events) > 20 and run.drift["energy"] < 1e-6


def test_a_foot_glides_where_it_can_neither_stick_nor_leave():
    """One foot that friction without limits would hold by pulling, and that sinks if it leaves: M^-1 f along the normal
    is 2 - 15 < 0, and -f is the force that holds it. It is stopped where the impulse -M v pushes, and else goes on.
    Friction of 2 has no forces at all while it slides towards -x, where the foot yields 2 - 2 * 1.5 to the normal one:
    it is stopped."""
    M, f, none = np.linalg.inv([[2, 0, -1.5], [0, 1, 0], [-1.5, 0, 2]]), np.array([10.0, 0, 1]), np.zeros((0, 3))
    ground = Ground(np.zeros(1), np.zeros(1), [[0]], slides=False)
    rough = replace(ground, friction=np.array([2.0]), slides=True)
    for speed, after in ((0.0, 0), (0.5, 0.5), (-0.5, 0)):
        v = np.array([speed, 0, 0])
        here = ContactDynamics(M, f, v, none, np.zeros(0), np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 3)))
        np.testing.assert_allclose(ground.impact(here, [0]), [after, 0, 0], atol=1e-15)
        mode = ground.choose_mode(here, [0], [], [0], [])
        np.testing.assert_allclose(ground.accelerations(here, mode)[1], [[0, 0, 13 / 2]], rtol=1e-12, atol=1e-12)
        assert not speed or (rough.choose_mode(here, [0], [], [], []) is None) == (speed < 0)


@pytest.mark.parametrize("friction", [np.inf, 3.0])
def test_feet_go_on_where_friction_has_no_forces(friction):
    """A quadruped falls on its feet. At 0.292 s the front ones would have to be pulled down, and would sink without
    friction: those that never slip glide until they can be stopped, by 2 mm, where it was 10 cm. With large friction
    there is nothing right for them either, and the motion ended there. No foot leaves the ground twice."""
    feet = io.read("quadruped").constraints
    robot = linkwork.load(
        replace(
            io.read("quadruped"),
            constraints=tuple(replace(foot, kind=replace(foot.kind, friction=friction)) for foot in feet),
        )
    )
    never = friction == np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = robot.simulate(robot.standing_position(), None, 0.325, 5e-3, contacts="events" if never else "coulomb")
    for foot in feet:
        seen = [event.what for event in run.events if event.contact == foot.name]
        seen = [what for what in seen if what in ("lift-off", "touchdown")]
        assert ["lift-off"] * 2 not in [seen[k : k + 2] for k in range(len(seen))]
    assert run.drift["energy"] < 1e-2 and robot.contact_forces(run.q, forces=run.contact_forces).normal.min() > -1e-9
    if never:
        place = robot.pose(feet[0].second, run.q)[:, :2, 3]
        assert np.abs(place - place[0]).max() < 5e-3
        assert any("front_left for 0.0" in note and "glided" in note for note in run.notes)
        assert {event.what for event in run.events} == {"glide", "stick", "lift-off", "touchdown"}
