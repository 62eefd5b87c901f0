"""Feet in files, contacts as users give them, and what is said where they are wrong."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import io
from linkwork.control import PD, Point
from linkwork.io.mdh import read_mdh
from linkwork.model import Description, Link, LinkInertia, check, describe, foot_at

WALKER = """
name: walker
base: {kind: floating, link: trunk, M: 2, central: [0.1, 0.1, 0.1]}
joints:
  - {name: knee, link: shin, d: 0.1}
links:
  - {link: shin, M: 1, center: [0.1, 0, 0], central: [0.01, 0.01, 0.01]}
frames:
  - {name: toe, link: shin, d: 0.2}
feet:
FEET
"""


def walker(*feet: str) -> str:
    return WALKER.replace("FEET", "\n".join(f"  - {{{foot}}}" for foot in feet))


def told(feet):
    return [(foot.name, foot.second, foot.kind) for foot in feet]


def test_a_table_of_feet(tmp_path):
    """Through YAML, and through URDF with its side file."""
    text = walker("name: heel, frame: shin, size: [0.2, 0.1], friction: 0.7, restitution: 0.1", "frame: toe")
    description = read_mdh(text)
    feet = foot_at("heel", "shin", size=(0.2, 0.1), friction=0.7, restitution=0.1), foot_at("toe", "toe")
    assert told(description.constraints) == told(feet) and feet[0].kind.size and not feet[1].kind.size
    robot = linkwork.load(description)
    for name, structure in (("walker.yaml", None), ("walker.urdf", "walker.loops.yaml")):
        robot.write(tmp_path / name)
        again = linkwork.load(tmp_path / name, structure=structure and tmp_path / structure)
        assert told(describe(again.model).constraints) == told(feet)
    assert told(describe(robot.chain("toe").model).constraints) == told(feet)
    with pytest.warns(linkwork.ModelWarning, match="there is a side file walker.loops.yaml, which was not read"):
        assert not linkwork.load(tmp_path / "walker.urdf").model.switched


@pytest.mark.parametrize(
    ("foot", "said"),
    [
        ("name: heel", "'frame' is missing"),
        ("frame: toes", "there is no link or frame 'toes'"),
        ("frame: toe, size: [0.2]", "2"),
        ("frame: toe, size: [0.2, 0]", "its size is 0.2, 0"),
        ("frame: toe, size: [0.2, 0.1], friction: -1", "its friction is negative: -1"),
        ("frame: toe, restitution: 1.5", "its restitution is 1.5"),
        ("frame: toe, kind: sole", "there is no key 'kind'"),
    ],
)
def test_rows_that_are_wrong(foot, said):
    with pytest.raises(linkwork.ModelError, match=said):
        linkwork.load(read_mdh(walker(foot), "walker.yaml"))


def test_feet_that_cannot_stand():
    with pytest.raises(linkwork.ModelError, match="2 feet have this name"):
        linkwork.load(read_mdh(walker("name: a, frame: toe", "name: a, frame: shin")))
    fixed = read_mdh(walker("frame: trunk").replace("kind: floating", "kind: fixed"))
    assert [each.message for each in check(fixed) if each.level == "error"] == [
        "its frame 'trunk' is fixed to the ground"
    ]


def test_contacts_that_are_wrong():
    robot, arm = linkwork.load(read_mdh(walker("frame: toe", "frame: shin"))), linkwork.load("planar2r")
    start = robot.standing_position()
    assert robot.pose("toe", start)[2, 3] == 0
    with pytest.raises(linkwork.LinkworkError, match="has no contacts"):
        arm.simulate(contacts=[])
    with pytest.raises(linkwork.UnsupportedError, match="only a floating robot with contacts stands"):
        arm.standing_position()
    with pytest.raises(linkwork.ShapeError, match="0 or 1 for each contact"):
        robot.simulate(start, contacts=[1, 0.5])
    with pytest.raises(linkwork.ShapeError, match=r"\(2,\)"):
        robot.simulate(start, contacts=[1])
    with pytest.raises(linkwork.UnknownNameError, match="choice of contacts 'event'"):
        robot.simulate(start, contacts="event")
    with pytest.raises(linkwork.UnsupportedError, match="rk4"):
        robot.simulate(start, contacts=[1, 1], method="adams-bashforth-4")
    with pytest.raises(linkwork.UnsupportedError, match="does not stop at events"):
        robot.simulate(start, contacts="events", method="rosenbrock")
    with pytest.raises(linkwork.LinkworkError, match=r"contacts are below the ground(.|\n)*robot.standing"):
        robot.simulate(start - [0, 0, 0.01, *[0] * 5], contacts="events")
    with pytest.raises(linkwork.UnsupportedError, match="no gradients"):
        robot.simulate(start, contacts="events", checkpoint_every=1)
    with pytest.raises(linkwork.UnsupportedError, match=r"contacts=\[1, 0"):
        robot.stepper(1, backend="interpreter").contacts  # noqa: B018
    with pytest.raises(linkwork.ShapeError, match="do not fit"):
        robot.contact_forces(start, forces=np.zeros((3, 6)))


def test_it_is_said_that_nothing_holds_a_robot_with_feet():
    robot = linkwork.load(read_mdh(walker("frame: toe")))
    assert any("no contact is on" in note for note in robot.simulate(duration=2e-3, backend="interpreter").notes)
    named = robot.simulate(robot.standing_position(), duration=2e-3, contacts={"toe": 1}, backend="interpreter")
    assert named.contacts.all() and not any("no contact is on" in note for note in named.notes)
    assert str(robot.contact_forces(named.q[0], forces=named.contact_forces[0])).splitlines()[0].startswith("toe")


def test_bundled_robots_stand():
    for name in ("biped", "quadruped"):
        robot = linkwork.load(io.read(name))
        q = robot.standing_position()
        inverse = linkwork.compile(robot, "contact_inverse_dynamics", backend="interpreter")
        tau, forces = inverse(q, np.zeros(18), np.zeros(18), np.ones(len(robot.model.switched)))
        np.testing.assert_allclose(tau[:6], 0, atol=1e-9)
        loads = robot.contact_forces(q, forces=forces)
        np.testing.assert_allclose(loads.normal.sum(), 9.81 * sum(row[0] for row in robot.parameters), rtol=1e-12)
        assert not (loads.slips | loads.tips | loads.lifts).any()


def test_what_events_say():
    """Of a step that is too long for the gains, and of links without inertia that nothing holds."""
    robot = linkwork.load(read_mdh(walker("frame: toe")))
    start = robot.standing_position() + 0.1 * (np.arange(8) == 2)
    with pytest.warns(linkwork.SimulationWarning, match="dt = 0.01 s is too long for rk4"):
        robot.simulate(
            start, None, 0.01, 0.01, torque=PD(10.0, 100.0), reference=Point([0.0], [0.0], [0.0]), contacts="events"
        )
    rod = Description("rod", (Link("rod"),), (), floating=True, constraints=(foot_at("rod", "rod"),))
    with pytest.raises(linkwork.LinkworkError, match="no contact holds them"):
        linkwork.load(rod).simulate([0, 0, 1, 0, 0, 0, 1], contacts="events", backend="interpreter")


def test_events_are_kept_and_feet_drawn(tmp_path):
    ball = Description("ball", (Link("ball", LinkInertia(1.0, np.zeros(3), np.eye(3))),), (), floating=True)
    robot = linkwork.load(replace(ball, constraints=(foot_at("ball", "ball", restitution=0.5),)))
    run = robot.simulate([0, 0, 0.01, 0, 0, 0, 1], None, 0.1, 0.01, contacts="events")
    assert run.events and str(run.events[0]).startswith("ball touchdown at t = 0.0451")
    for name in ("run.npz", "run.csv"):
        run.save(tmp_path / name)
        assert linkwork.Trajectory.load(tmp_path / name).events == run.events
    lying = robot.simulate([0, 0, 0, 0, 0, 0, 1], None, 0.02, 0.01, contacts="events")
    load, needed = lying.plot("contacts").axes
    assert (load.get_ylabel(), needed.get_ylabel()) == ("load [N]", "friction needed")
    np.testing.assert_allclose(load.get_lines()[0].get_ydata(), 9.81)
