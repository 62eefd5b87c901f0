"""Drives in files, on the command line and in exports, and how mistakes about them are told."""

import json
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import io
from linkwork.errors import ModelError, UnknownNameError, UnsupportedError
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.io.structure_file import apply, read_structure, write_structure
from linkwork.io.urdf import read_urdf
from linkwork.io.urdf_writer import write_urdf
from linkwork.model import (
    Asymmetric,
    Coulomb,
    Description,
    JointDescription,
    Link,
    LinkInertia,
    Motor,
    Offset,
    Placement,
    Stribeck,
    Transmission,
    check,
)
from linkwork.model.drive import JointValues
from support.driven_robots import LAWS, coupled, rubbing, with_tendons
from support.evaluate import assert_close
from support.random_robots import Recipe, random_state

ARM = """
name: arm
joints: [{name: a}, {name: b, alpha: pi/2}, {name: c, alpha: -pi/2}]
links: [{link: link1, M: 1, ZZ: 1}, {link: link2, M: 1, ZZ: 1, XX: 1}, {link: link3, M: 1, ZZ: 1, XX: 1}]
"""
DRIVEN = """
sources: {sheet: a data sheet}
drives:
  - {joint: a, Fs: 0.4, width: 0.02, friction: {stribeck: {excess: 0.2, velocity: 0.05}, offset: {offset: -0.1}}}
  - {joint: b, friction: {asymmetric: {coulomb_forward: 0.3, coulomb_backward: 0.2}}}
transmissions:
  - name: wrist
    joints: [b, c]
    source: sheet
    motors:
      - {name: m1, ratios: [50, 0], Ia: 2e-5, Fv: 1e-4}
      - {name: m2, ratios: [-10, 40], Fs: 0.01, width: 0.5, friction: {offset: {offset: 0.001}}}
"""


def test_a_yaml_file_says_all():
    description = read_mdh(ARM + DRIVEN)
    a, b, c = description.joints
    assert (a.coulomb, a.friction_width, a.friction) == (0.4, 0.02, (Stribeck(0.2, 0.05), Offset(-0.1)))
    assert b.friction == (Asymmetric(0.3, 0.2, 0.0, 0.0),) and c.friction == ()
    (wrist,) = description.transmissions
    assert (wrist.name, wrist.joints, wrist.matrix) == ("wrist", ("b", "c"), ((50, 0), (-10, 40)))
    m1, m2 = wrist.motors
    assert (m1.name, m1.rotor_inertia, m1.viscous, m1.friction) == ("m1", 2e-5, 1e-4, ())
    assert (m2.coulomb, m2.friction_width, m2.friction) == (0.01, 0.5, (Offset(0.001),))
    assert description.sources["transmissions.wrist"] == "sheet"


def described(description):
    """What drives are made of, to compare."""
    joints = {j.name: JointValues.values(j) for j in description.joints if j.kind != "fixed"}
    motors = [
        (
            t.name,
            t.joints,
            t.matrix,
            [(m.name, m.parameters, m.friction_width, m.rest, m.slack, m.role) for m in t.motors],
        )
        for t in description.transmissions
    ]
    return joints, motors


COUPLED = coupled(rubbing(Recipe(seed=2, joints=6), LAWS["all"]))


@pytest.mark.parametrize("text", [ARM + DRIVEN, write_mdh(COUPLED), write_mdh(with_tendons(COUPLED))])
def test_writers_keep_it(text, tmp_path):
    description = read_mdh(text)
    assert described(read_mdh(write_mdh(description))) == described(description)
    again = apply(read_urdf(write_urdf(description)), read_structure(write_structure(description)))
    assert described(again) == described(description)
    robot, written = linkwork.load(description), tmp_path / "robot.yaml"
    robot.write(written)
    state = random_state(robot.model, 1)
    assert_close(linkwork.load(written).inverse_dynamics(*state), robot.inverse_dynamics(*state))


MISTAKES = {
    "unknown law": ("drives: [{joint: a, friction: {stick: {}}}]", "there is no key 'stick'"),
    "missing number": ("drives: [{joint: a, friction: {stribeck: {excess: 1}}}]", "'velocity' is missing"),
    "unknown number": ("drives: [{joint: a, friction: {offset: {ofset: 1}}}]", "did you mean 'offset'?"),
    "velocity of zero": (
        "drives: [{joint: a, friction: {stribeck: {excess: 1, velocity: 0}}}]",
        "line 5: joint 'a': velocity: out of range.*got: 0.0.*a finite number above zero",
    ),
    "built in": ("drives: [{joint: a, friction: {viscous: {viscous: 1}}}]", "Fs and Fv are keys of the row"),
    "negative width": ("drives: [{joint: a, width: -1}]", "its friction width is negative: -1"),
    "weight zero": ("drives: [{joint: a, weight: 0}]", "joint 'a': its weight is 0.*above zero"),
    "weight negative": ("drives: [{joint: a, weight: -1}]", "joint 'a': its weight is negative: -1"),
    "no ratios": ("transmissions: [{joints: [a], motors: [{name: m}]}]", "transmission1.*'ratios' is missing"),
    "few ratios": ("transmissions: [{joints: [a, b], motors: [{name: m, ratios: [1]}]}]", "expected: 2 numbers"),
    "unknown joint": ("transmissions: [{joints: [d], motors: [{name: m, ratios: [1]}]}]", "there is no joint 'd'"),
    "no motors": ("transmissions: [{joints: [a], motors: []}]", "0 motors and 1 joints"),
    "joint twice": (
        "transmissions: [{name: w, joints: [a, a], motors: [{name: m, ratios: [1, 2]}]}]",
        "transmission 'w': it names joint 'a' 2 times",
    ),
    "motor twice": (
        "transmissions: [{joints: [a, b], motors: [{name: m, ratios: [1, 2]}, {name: m, ratios: [1, 0]}]}]",
        "motor 'm': 2 motors have this name",
    ),
    "name of a joint": ("transmissions: [{joints: [a], motors: [{name: b, ratios: [1]}]}]", "a joint has this name"),
    "two transmissions": (
        "transmissions: [{name: w, joints: [a], motors: [{name: m, ratios: [1]}]},"
        " {name: w, joints: [b], motors: [{name: n, ratios: [1]}]}]",
        "2 transmissions have this name",
    ),
    "a follower": (
        "drives: [{joint: b, mimic: {joint: a}}]\ntransmissions: [{joints: [b], motors: [{name: m, ratios: [1]}]}]",
        "its joint 'b' follows another one",
    ),
    "negative slack": (
        "transmissions: [{joints: [a, b], motors: [{name: m, ratios: [1, 2], K: 3, slack: -1}]}]",
        "motor 'm': its slack is negative: -1",
    ),
    "no such role": (
        "transmissions: [{joints: [a, b], motors: [{name: m, ratios: [1, 2], role: elastic}]}]",
        "there is no role 'elastic'.*'?active'?",
    ),
    "infinite stiffness": (
        "transmissions: [{joints: [a, b], motors: [{name: m, ratios: [1, 2], K: 1e200}]}]",
        "motor 'm': its stiffness is not finite",
    ),
    "negative rotor": (
        "transmissions: [{joints: [a], motors: [{name: m, ratios: [1], Ia: -1}]}]",
        "motor 'm': its rotor inertia is negative",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_told(case):
    text, message = MISTAKES[case]
    with pytest.raises(ModelError, match=f"(?s){message}"):
        linkwork.load(read_mdh(ARM + text, "arm.yaml"))


def test_warnings_of_check():
    text = """
drives: [{joint: a, Fv: 1, friction: {stribeck: {excess: -0.5, velocity: 1}}}]
transmissions: [{joints: [b, c], motors: [{name: m, ratios: [1, 2]}, {name: n, ratios: [2, 4], Fs: -1}]}]
"""
    told = " ".join(map(str, check(read_mdh(ARM + text))))
    assert "joint 'a': its friction would feed energy in: Stribeck(excess=-0.5" in told
    assert "its motors cannot move independently" in told
    assert "motor 'n': its Coulomb friction is negative" in told
    quiet = "drives: [{joint: a, Fs: 1, friction: {stribeck: {excess: -0.5, velocity: 1}, offset: {offset: 9}}}]"
    assert not any("feed" in finding.message for finding in check(read_mdh(ARM + quiet)))


def test_laws_are_objects_each_once():
    for friction in ((Offset(1), Offset(2)), (Coulomb(1),), (3,)):
        with pytest.raises(
            ModelError,
            match=r"(?s)friction is a list of laws .*each at most once.*expected: Asymmetric, Offset, Stribeck",
        ):
            JointDescription("a", "revolute", "x", "y", friction=friction)
    with pytest.raises(ModelError, match=r"Stribeck.velocity"):
        Stribeck(1.0, -1.0)


def test_choice_of_drives_is_checked():
    robot = linkwork.load(read_mdh(ARM))
    with pytest.raises(UnknownNameError, match=r"(?s)no parameter of drives 'FX'.*IA"):
        robot.parameter_names(drives=("FX",))
    with pytest.raises(ModelError, match=r"FST depends on the velocity of the law 'stribeck'"):
        robot.base_parameters(drives=("FST",))
    with pytest.raises(UnknownNameError, match="choice of drives 'FS'"):
        robot.regressor(*np.zeros((3, 3)), drives="FS")
    assert robot.parameter_names(drives=("K",))[-3:] == ("a.K", "b.K", "c.K")


def test_friction_and_rotors_can_be_left_out():
    full, bare = read_mdh(ARM + DRIVEN), read_mdh(ARM)
    state = random_state(linkwork.load(full).model, 1)
    without = linkwork.load(full, friction=False, rotors=False)
    assert_close(without.inverse_dynamics(*state), linkwork.load(bare).inverse_dynamics(*state))
    assert without.compile("inverse_dynamics").label.assumed[1:] == (
        "Friction of the joints: none.",
        "Rotor inertias: none.",
    )


def test_exports_say_the_laws():
    told = linkwork.load(read_mdh(ARM + DRIVEN)).inverse_dynamics.label.assumed
    friction = next(text for text in told if text.startswith("Friction"))
    assert "Stribeck, Fst v / sqrt(v^2 + w^2) / (1 + (v / vs)^2), w = 0.02" in friction
    assert "offset, F0" in friction and "asymmetric" in friction


def test_methods_that_know_single_rotors_refuse():
    robot = linkwork.load(read_mdh(ARM + DRIVEN))
    for quantity, method in (("forward_dynamics", "aba"), ("hybrid_dynamics", "khalil")):
        with pytest.raises(UnsupportedError, match="rotors of single joints, and transmissions couple them"):
            robot.compile(quantity, method=method)


def test_elastic_drives_take_the_place_in_a_transmission():
    drive = linkwork.ElasticDrive(stiffness=100, motor_inertia=0.1)
    robot = linkwork.load(read_mdh(ARM + DRIVEN), elastic={"c": drive})
    assert robot.model.transmissions[0].joints == ("b", "c_motor")


def test_names_of_parameters_of_motors():
    robot = linkwork.load(read_mdh(ARM + DRIVEN))
    assert {"m1.IA", "m1.FV", "m2.FS", "m2.F0", "a.FST", "b.FSP"} <= set(robot.parameter_names())
    names = robot.base_parameters().names
    assert "IA_m1" in names or "IAR_m1" in names


def test_inspect(tmp_path, run_linkwork):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM + DRIVEN)
    code, out, _ = run_linkwork("inspect", str(path))
    assert code == 0
    assert "Transmission wrist" in out and "m2" in out and "Stribeck" in out and "width 0.02" in out


def test_reading_from_python():
    motor = Transmission("t", ("a",), (Motor("m", coulomb=1.0),), ((2.0,),))
    description = replace(read_mdh(ARM), transmissions=(motor,))
    robot = linkwork.load(description)
    assert robot.drive_names == ("m", "b", "c")
    assert_close(robot.transmission, np.diag([2.0, 1, 1]))
    still, turning = np.zeros(3), np.array([1.0, 0, 0])
    bare = linkwork.load(read_mdh(ARM)).inverse_dynamics(still, turning, still)
    assert_close(robot.inverse_dynamics(still, turning, still) - bare, [2.0, 0, 0])
    with pytest.raises(ModelError, match="its ratios are not finite"):
        linkwork.load(replace(description, transmissions=(replace(motor, matrix=((np.inf,),)),)))
    assert io.read("puma560").transmissions == ()


def test_drives_can_be_changed():
    robot = linkwork.load(read_mdh(ARM + DRIVEN))
    changed = robot.with_drives({"a": {"coulomb": 2.0, "friction": ()}, "m1": {"rotor_inertia": 1.0}})
    assert (changed.model.joint(1).coulomb, changed.model.joint(1).friction) == (2.0, ())
    assert changed.model.transmissions[0].motors[0].rotor_inertia == 1.0
    assert robot.model.transmissions[0].motors[0].rotor_inertia == 2e-5
    for values, message in (
        ({"d": {}}, "no joint or motor 'd'"),
        ({"a": {"coulom": 1}}, "did you mean 'coulomb'"),
        ({"m1": {"weight": 1}}, "no value of drive 'm1' 'weight'"),
        ({"m1": {"name": "m3"}}, "no value of drive 'm1' 'name'"),
        ({"m1": {"slack": -1.0}}, "m1: its slack is negative: -1"),
        ({"m1": {"role": "elastic"}}, "there is no role 'elastic'.*active, passive"),
        ({"m1": {"rest": np.nan}}, "its rest is not finite"),
        ({"a": {"rotor_inertia": -1.0}}, "its rotor inertia is negative"),
        ({"a": {"viscous": np.inf}}, "its viscous friction is not finite"),
        ({"a": {"friction": Offset(1)}}, "friction is a list of laws|these are not values"),
    ):
        with pytest.raises((ModelError, UnknownNameError), match=f"(?s){message}"):
            robot.with_drives(values)


def test_params_and_symbols_name_the_motors(tmp_path, run_linkwork):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM + DRIVEN)
    code, out, _ = run_linkwork("params", str(path))
    assert code == 0 and "FS_m2" in out and "IA" in out and "the same" in out
    robot = linkwork.load(path)
    written = str(robot.symbolic("inverse_dynamics"))
    assert "2500*IA_m1*qdd2" in written and "FST1" in written and "F0_m2" in written


def test_rotors_of_transmissions_are_inertia_enough():
    text = (
        ARM.replace("M: 1, ZZ: 1}", "M: 0}", 1)
        + "transmissions: [{joints: [a], motors: [{name: m, ratios: [9], Ia: 1}]}]"
    )
    assert not any("singular" in finding.message for finding in check(read_mdh(text)))


@pytest.mark.parametrize(("which", "count"), [("", 40), ("none", 40), ("all", 52), ("IA,FS", 48)])
def test_params_of_drives_that_are_zero(run_linkwork, which, count):
    code, out, _ = run_linkwork("params", "scara", "--no-friction", "--no-rotors", "--drives", which, "--json")
    facts = json.loads(out)
    assert (code, facts["standard_count"], facts["rank"]) == (0, count, facts["count"])


def test_a_chain_keeps_what_is_on_it():
    """Home, force laws and motors of its own joints: as if the other branch had not been described."""
    inertia = LinkInertia(1.0, np.array([0.1, 0.2, 0.3]), np.diag([0.3, 0.4, 0.5]))
    away = Placement(np.eye(3), np.array([0.5, 0.0, 0.1]))
    kinds = {"other": "spherical", "one": "revolute", "two": "prismatic", "side": "revolute"}
    parents = {"other": "base", "one": "base", "two": "link_one", "side": "link_one"}
    joints = {name: JointDescription(name, kind, parents[name], f"link_{name}", away) for name, kind in kinds.items()}
    motors = tuple(Motor(f"motor{k}", rotor_inertia=0.2, viscous=0.5, coulomb=0.1 * k) for k in range(2))
    moved = Transmission("coupling", ("side", "one", "two"), motors, ((1.0, 2.0, -1.0), (0.5, 0.0, 3.0)))
    law = linkwork.forces.Drag(0.3, c_axial=1.0, c_normal=5.0)
    home = {"other": (0.6, 0.0, 0.0, 0.8), "one": 0.5, "two": 0.25, "side": 1.0}
    whole = Description(
        "whole",
        (Link("base"), *(Link(f"link_{name}", inertia) for name in kinds)),
        tuple(joints.values()),
        home=home,
        forces=(("link_side", law), ("link_two", law)),
        transmissions=(moved,),
    )
    part = replace(
        whole,
        links=(Link("base"), *(Link(f"link_{name}", inertia) for name in ("one", "two"))),
        joints=(joints["one"], joints["two"]),
        home={name: home[name] for name in ("one", "two")},
        forces=(("link_two", law),),
        transmissions=(replace(moved, joints=moved.joints[1:], matrix=((2.0, -1.0), (0.0, 3.0))),),
    )
    chain, expected = linkwork.load(whole).chain("link_two"), linkwork.load(part)
    assert chain.home == expected.home == (0.5, 0.25)
    assert np.array_equal(chain.transmission, expected.transmission)
    state = np.random.default_rng(0).normal(size=(3, 2))
    assert_close(chain.inverse_dynamics(*state), expected.inverse_dynamics(*state))
    assert_close(chain.simulate(duration=0.01).q, expected.simulate(duration=0.01).q)


def test_drives_of_joints_with_several_freedoms_in_yaml():
    text = """
name: balls
joints: [{name: ball, kind: spherical, link: arm}, {name: cross, kind: universal, link: tip, xyz: [0.3, 0, 0]}]
links: [{link: arm, M: 1, MX: 0.1, XX: 0.1, YY: 0.1, ZZ: 0.1}, {link: tip, M: 1, XX: 0.1, YY: 0.1, ZZ: 0.1}]
drives:
  - {joint: ball, Ia: 0.1, K: 5, Fv: 0.2, friction: {stribeck: {excess: 0.1, velocity: 0.3}}}
  - {joint: cross, K: 3, rest: 0.1}
"""
    description = read_mdh(text)
    assert described(read_mdh(write_mdh(description))) == described(description)
    robot = linkwork.load(description)
    q, v, a = [0.0, 0.0, np.sin(0.2), np.cos(0.2), 0.4, 0.5], np.zeros(5), np.zeros(5)
    slack = robot.with_drives({name: {"stiffness": 0.0} for name in ("ball", "cross")})
    springs = robot.inverse_dynamics(q, v, a) - slack.inverse_dynamics(q, v, a)
    assert_close(springs, [0, 0, 5 * 0.4, 3 * 0.3, 3 * 0.4], scale=10.0)
    with pytest.raises(ModelError, match="a planar joint cannot have a spring"):
        linkwork.load(read_mdh(text.replace("kind: universal", "kind: planar").replace(", rest: 0.1", "")))
