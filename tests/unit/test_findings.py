"""What a simulation says of itself: energy, limits, steps; and which method it takes where none is asked for."""

import copy
import json
import pickle

import numpy as np
import pytest

import linkwork
from linkwork import SoftLimits
from linkwork.control import PD, ComputedTorque, Quintic
from linkwork.errors import COMMAND_LINE, SimulationWarning
from linkwork.model import Description, JointDescription, Link, LinkInertia
from linkwork.notes import Note


def pendulum(**more):
    bob = LinkInertia(1.0, np.array([0.5, 0.0, 0.0]), 0.01 * np.eye(3))
    joint = JointDescription("joint", "revolute", "base", "bob", axis=np.array([0.0, 1.0, 0.0]), **more)
    return linkwork.load(Description("pendulum", (Link("base"), Link("bob", bob)), (joint,), gravity=(0, 0, -9.81)))


def said(motion):
    return [note for note in motion.notes if note.startswith("warning: ")]


def test_energy_that_does_not_balance():
    robot = pendulum()
    with pytest.warns(
        SimulationWarning, match=r"energy balance is off by \S+ J, \d+% of the \S+ J exchanged"
    ) as caught:
        motion = robot.simulate([0.0], [0.0], 2.0, 0.1, method="semi-implicit-euler")
    assert caught[0].filename == __file__
    assert said(motion) == [f"warning: {caught[0].message}"]
    off = float(str(caught[0].message).split("off by ")[1].split()[0])
    assert off == pytest.approx(motion.drift["energy"], rel=0.05)
    assert not said(robot.simulate([0.0], [0.0], 2.0, 1e-3, method="semi-implicit-euler"))
    assert not said(robot.simulate([np.pi / 2], [0.0], 2.0))  # it hangs, and nothing is exchanged


def test_energy_of_batches_names_the_sample():
    outputs = ("q", "kinetic_energy", "potential_energy", "work")
    q = np.array([[np.pi / 2], [0.0]])
    with pytest.warns(SimulationWarning, match=r"\(sample 1; 1 of 2 samples\)"):
        pendulum().rollout(q, np.zeros((2, 1)), None, 0.1, 20, outputs=outputs)


def test_fast_places_on_the_way():
    """Loops that are nearly singular make joints fast, long after the start: by default, a method is taken that follows
    them; the one that is asked for is told the step that it needs."""
    robot = linkwork.load("3rrr")
    motion = robot.simulate(duration=1.0)
    exchanged = np.ptp(motion.potential_energy)
    assert motion.method == "rk4" and motion.drift["energy"] < 1e-5 * exchanged and not said(motion)
    assert any("adams-bashforth-4, dt = 0.001 s" in note and "used instead: rk4" in note for note in motion.notes)
    alone = robot.simulate(duration=1.0, outputs=("q",))  # judged alike, whatever is recorded
    assert np.array_equal(alone.q, motion.q) and alone.notes == motion.notes and {*alone.arrays} == {"t", "q"}
    pattern = r"0\.26% of .* about t = 0\.25\d s \(conditioning .* 0\.003, at t = 0\.24 s\): use dt = 0\.0006 s or less"
    with pytest.warns(SimulationWarning, match=pattern):
        robot.simulate(duration=1.0, dt=1e-3)
    assert not said(robot.simulate(duration=0.9, dt=6e-4, method="adams-bashforth-4"))
    q, outputs = np.tile(robot.home, (2, 1)), ("q", "kinetic_energy", "potential_energy", "work")
    with pytest.warns(SimulationWarning, match=r"about t = 0\.2\d+ s \(sample 0; 2 of 2 samples\)"):
        robot.rollout(q, np.zeros((2, 3)), None, 1e-3, 500, method="adams-bashforth-4", outputs=outputs)


def test_notes_that_cast_no_doubt():
    """What is worth knowing of a motion that is right is noted, without a warning."""
    links = [{"link": "arm", "M": 1, "central": [0.1, 0.1, 0.1]}]
    drives = [{"joint": "hinge", "effort": 2}]
    robot = linkwork.load(
        {"name": "weak", "joints": [{"name": "hinge", "link": "arm"}], "links": links, "drives": drives}
    )
    way = Quintic([0.0], [10.0], 1.0)
    motion = robot.simulate(torque=ComputedTorque(100.0, 20.0), reference=way)
    (note,) = motion.notes
    assert (note.code, note.severity) == ("efforts-exceeded", "note")
    assert note.values == {"hinge": np.abs(motion.tau).max()}
    motion = robot.simulate(torque=PD(0.01, 0.01), reference=way)
    (note,) = motion.notes
    assert (note.code, note.severity) == ("goal-missed", "note")
    assert note.values == {"off": 10.0 - motion.q[-1, 0]} and note.message.endswith("; use larger kp and kd")
    assert not robot.simulate(duration=0.5, torque=PD(0.01, 0.01), reference=way).notes  # still on its way
    (note,) = robot.simulate(duration=0.01).notes
    assert note.code == "nothing-moves" and note.message == "nothing moves: give q0, v0 or torque"
    assert not robot.simulate([0.0], [1.0], duration=0.01).notes


@pytest.mark.filterwarnings("default:joint limits are off")
def test_joints_beyond_limits_that_do_not_act():
    robot = pendulum(lower=-0.5, upper=0.5)
    with pytest.warns(
        SimulationWarning, match=r"joint goes beyond its own: joint by up to 2\.6, from t = 0\.\d+ s on;"
    ):
        motion = robot.simulate(duration=1.0)
    assert len(said(motion)) == 1
    assert not said(robot.simulate(duration=1.0, limits=SoftLimits(1000.0, 10.0)))
    assert not said(robot.simulate(duration=0.1))
    with pytest.warns(SimulationWarning, match=r"\(sample 0; 1 of 2 samples\)"):
        robot.rollout([[0.0], [0.0]], [[5.0], [0.0]], None, 1e-3, 150)


@pytest.mark.filterwarnings("default:joint limits are off")
def test_limits_beside_samples_that_left_the_numbers():
    robot, cubic = pendulum(lower=-0.5, upper=0.5), lambda t, q, v, reference: v * v * v
    with pytest.warns(SimulationWarning, match=r"by up to 1\.5, from t = 0 s on \(sample 2; 1 of 3 samples\)"):
        robot.rollout([[0.0], [0.0], [2.0]], [[0.0], [1e200], [0.0]], cubic, 1e-3, 5, diverged="keep")


# -- steps and methods ---------------------------------------------------------------------------------------------


def stiff(**more):
    return pendulum(role="elastic", **more)


def test_a_method_is_taken_that_bears_the_modes():
    slow, fast = pendulum(), stiff(stiffness=5e5)
    assert slow.simulate(duration=0.1).method == "adams-bashforth-4"
    motion = fast.simulate([0.01], duration=0.1)
    assert motion.method in ("adams-bashforth-4", "rk4") and motion.dt < 1e-3
    assert len(motion.t) == 101 and motion.t[1] == pytest.approx(1e-3)  # records as they were asked for
    assert any("too long for adams-bashforth-4" in note and "used instead" in note for note in motion.notes)
    assert not said(motion) and motion.drift["energy"] < 1e-3 * motion.kinetic_energy.max()


def test_the_fastest_of_the_modes_is_told():
    (note,) = linkwork.load("flexible-beam").simulate(duration=2e-3).notes
    assert "as fast as 1.1e+03 1/s" in note  # of four that the step is too long for


def test_what_is_asked_for_is_kept():
    fast = stiff(stiffness=5e6)
    assert fast.simulate([0.01], duration=0.1, method="rk4").method == "rk4"
    with pytest.warns(SimulationWarning, match="energy balance"):  # which the step asked for cannot keep
        assert fast.simulate([0.01], duration=0.1, dt=1e-3).dt == 1e-3
    with pytest.warns(SimulationWarning, match=r"too long for rk4.*; use method='rk4' with dt = 2e-05"):
        stiff(stiffness=5e6).rollout([0.01], [0.0], None, 1e-3, 10, method="rk4", diverged="keep")


def test_friction_that_no_explicit_method_bears():
    """A linearly implicit one does, with the step that is asked for and without."""
    rough = pendulum(viscous=2000.0)
    assert rough.simulate(duration=0.1, dt=1e-3).method == "rosenbrock"
    assert not said(rough.simulate(duration=0.1))


# -- torques -------------------------------------------------------------------------------------------------------


def test_torques_of_the_motors_alone():
    """Arrays and dicts may leave out what no motor drives, as controllers do."""
    robot = linkwork.load("space-arm")
    motors = len(robot.motor_names)
    tau = np.linspace(0.1, 0.3, motors)
    full = np.concatenate([np.zeros(6), tau])
    q = np.concatenate([np.zeros(6), [1], 0.1 * np.ones(robot.nq - 7)])
    run = {"duration": 0.02, "method": "rk4"}
    expected = robot.simulate(q, torque=full, **run)
    for given in (tau, dict(zip(robot.motor_names, tau, strict=True)), np.tile(tau, (20, 1))):
        assert np.array_equal(robot.simulate(q, torque=given, **run).q, expected.q)
    assert np.array_equal(robot.simulate(q, torque=lambda t, q, v, reference: tau, **run).q, expected.q)
    with pytest.raises(linkwork.ShapeError, match="torque"):
        robot.simulate(q, torque=tau[:-1], **run)


# -- notes as data -------------------------------------------------------------------------------------------------


def test_notes_are_data_and_read_as_text():
    robot = pendulum(lower=-0.5, upper=0.5)
    with pytest.warns(SimulationWarning, match="switches them on") as caught:
        motion = robot.simulate([0.0], [0.0], 1.0)
    (note,) = (note for note in motion.notes if note.code == "limits-left")
    assert note.severity == "warning" and note == f"warning: {note.message}" and note.message == str(caught[0].message)
    assert note.message == f"{note.text} {note.fix}" and note.fix.startswith("limits=linkwork.SoftLimits")
    assert note.values["beyond"] == pytest.approx(np.abs(motion.q).max() - 0.5, rel=1e-6)
    door = COMMAND_LINE.set(True)  # made in Python, shown on the command line
    assert note.message == f"{note.text} --limits STIFFNESS switches them on"
    COMMAND_LINE.reset(door)
    steps = robot.simulate([0.0], [0.0], 0.1, method="dormand-prince", tolerance=1e-6).notes[0]
    assert (steps.code, steps.severity) == ("adaptive-steps", "note")
    assert f"{steps.values['evaluations']} evaluations" in steps


def test_notes_are_copied_and_kept(tmp_path):
    note = Note("singular", "close;", "turn back", "--q", "warning", {"t": 1.0})
    assert note == "warning: close; turn back" and json.loads(json.dumps([note])) == [note]
    for other in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
        assert other == note and vars(other) == vars(note)
    motion = pendulum().simulate([0.1], duration=0.01)
    motion.notes = (note,)
    motion.save(tmp_path / "motion.npz")
    (kept,) = linkwork.Trajectory.load(tmp_path / "motion.npz").notes
    assert kept == kept.message == note and (kept.code, kept.severity) == ("", "")


# -- the command line ----------------------------------------------------------------------------------------------


def test_the_command_line_warns(tmp_path, run_linkwork):
    path = tmp_path / "robot.yaml"
    pendulum(lower=-0.5, upper=0.5).write(path)
    code, out, _ = run_linkwork("simulate", path)
    assert code == 0 and "Warning: joint limits are off" in " ".join(out.split())
    code, out, _ = run_linkwork("simulate", path, "--dt", 0.05, "--method", "semi-implicit-euler")
    assert code == 0 and "Warning: the energy balance is off by" in " ".join(out.split())


def test_controlled_motions_are_silent():
    robot = linkwork.load("puma560")
    way = Quintic(np.zeros(6), [0.3, -0.2, 0.1, 0.2, 0.1, 0.0], 1.0)
    motion = robot.simulate(duration=1.0, torque=PD(1000.0, 100.0), reference=way)
    assert not [note for note in said(motion) if "energy" in note]
