"""Other numbers of a robot: against the regressor, Pinocchio and a link that is fixed; in files; what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, ModelError, UnknownNameError, UnsupportedError
from linkwork.formulations.regressor import regressor
from linkwork.io import read
from linkwork.io.parameter_file import write_parameters
from linkwork.io.urdf_writer import write_urdf
from linkwork.model import (
    Asymmetric,
    Coulomb,
    JointDescription,
    Link,
    LinkInertia,
    Offset,
    Placement,
    Stribeck,
    describe,
)
from linkwork.parameters import parameter_vector
from linkwork.robot import Robot
from support.driven_robots import LAWS, coupled, rubbing
from support.evaluate import assert_close, evaluate
from support.random_robots import Recipe

CENTRAL = np.array([[0.02, 0.003, -0.001], [0.003, 0.03, 0.002], [-0.001, 0.002, 0.04]])
BODY = LinkInertia(1.7, np.array([0.05, 0.02, 0.1]), CENTRAL)
VALUES = {"mass": 1.7, "center": [0.05, 0.02, 0.1], "inertia": CENTRAL}
FULL = {"forearm": {"mass": 2.5, "center": [0.3, 0.1, 0], "inertia": [0.1, 0, 0, 0.2, 0, 0.25]}}


@pytest.fixture(scope="module")
def arm() -> Robot:
    return linkwork.load("planar2r")


@pytest.fixture(scope="module")
def panda() -> Robot:
    return linkwork.load("panda")


def motions(robot: Robot, count: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    q = np.broadcast_to(robot.home, (count, robot.nq)) if robot.home else rng.normal(size=(count, robot.nq))
    return [np.array(q), *rng.normal(size=(2, count, robot.nv))]


def torques(robot: Robot, states: list[np.ndarray]) -> np.ndarray:
    return evaluate(robot.model, "inverse_dynamics", *states)


def same(one: Robot, two: Robot, tolerance: float = 1e-12) -> None:
    states = motions(one)
    assert_close(torques(one, states), torques(two, states), tolerance=tolerance)


def with_transmissions() -> Robot:
    return linkwork.load(coupled(rubbing(Recipe(seed=7, joints=6), LAWS["stribeck"], viscous=0.3)))


# -- links and drives, by the names of their parameters ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "quadruped", "delta", "puma560", "transmissions"])
def test_forces_are_the_regressor_times_the_new_parameters(name: str):
    """All at once by name, as a fit gives them; Y is that of the robot before."""
    robot = with_transmissions() if name == "transmissions" else linkwork.load(name)
    vector = parameter_vector(robot.model, "standard", ("IA", "FS", "FV", "F0"))
    rng = np.random.default_rng(5)
    values = dict(zip(vector.names, vector.values + rng.uniform(0.1, 0.5, len(vector.values)), strict=True))
    fit = SimpleNamespace(parameter_values=values)
    dropped = robot.with_friction({drive: {} for drive in _drives(robot)})  # Y has no columns of other laws
    with_laws = dropped.with_parameters(fit)
    for state in zip(*motions(robot), strict=True):
        q, v, a = (x.tolist() for x in state)
        Y = np.array(regressor(robot.model, q, v, a, vector.columns, in_links=True), float)
        expected = Y @ np.array([values[each] for each in vector.names])
        assert_close(
            torques(with_laws, [x[None] for x in state])[0], expected, tolerance=1e-11 if robot.home else 1e-12
        )
    assert robot.parameter_values("standard").tolist() != with_laws.parameter_values("standard").tolist()


def _drives(robot: Robot) -> list[str]:
    motors = [motor.name for each in robot.model.transmissions for motor in each.motors]
    return [*(body.joint.name for body in robot.model.bodies if not body.joint.kind.free), *motors]


def test_what_is_not_named_stays(panda: Robot):
    before = dict(zip(panda.parameter_names(drives=True), panda.parameter_values(drives=True), strict=True))
    after = panda.with_parameters({"panda_link2.MX": 0.7, "panda_joint3.IA": 0.25, "panda_joint3.FV": 4})
    told = dict(zip(after.parameter_names(drives=True), after.parameter_values(drives=True), strict=True))
    changed = {name: value for name, value in told.items() if abs(value - before[name]) > 1e-12}
    assert changed == pytest.approx({"panda_link2.MX": 0.7, "panda_joint3.IA": 0.25, "panda_joint3.FV": 4}, rel=1e-14)


# -- mass, centre, inertia ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [VALUES, {"mass": 5.0}, {"center": [0, 0.2, 0.1]}, {"inertia": [0.1, 0.2, 0.3]}])
def test_inertias_against_pinocchio(given: dict):
    """In part, too: the centre stays, and the inertia about it grows with the mass."""
    pin = pytest.importorskip("pinocchio")  # not on Windows
    from support.pinocchio_robot import PinocchioRobot

    panda = linkwork.load("panda", friction=False, rotors=False)
    peer = PinocchioRobot(write_urdf(describe(panda.model)), panda.model)
    i = peer.model.getJointId("panda_joint5")
    old = peer.model.inertias[i]
    mass, center = given.get("mass", old.mass), given.get("center", old.lever)
    inertia = np.array(given.get("inertia", old.inertia * (mass / old.mass)))
    peer.model.inertias[i] = pin.Inertia(mass, np.array(center), np.diag(inertia) if inertia.ndim == 1 else inertia)
    changed = panda.with_parameters({"panda_link5": given})
    for state in zip(*motions(panda), strict=True):
        assert_close(torques(changed, [x[None] for x in state])[0], peer.inverse_dynamics(*state), tolerance=1e-10)


def test_forms_of_a_link(arm: Robot):
    ten = arm.with_parameters(FULL).parameters[1]
    assert arm.with_parameters({"forearm": ten}).parameters[1] == ten
    full = {**FULL["forearm"], "inertia": [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.25]]}
    assert arm.with_parameters({"forearm": full}).parameters[1] == ten
    assert arm.with_parameters({"links": {"forearm": np.array(ten)}}).parameters[1] == ten
    assert_close(ten, [2.5, 0.75, 0.25, 0, 0.125, -0.075, 0, 0.425, 0, 0.5])


# -- friction ----------------------------------------------------------------------------------------------------------


def test_friction_is_all_that_a_joint_has_then(arm: Robot):
    v = np.array([[0.7, -0.4], [-0.1, 0.2]])
    q, a = np.zeros((2, 2)), np.zeros((2, 2))
    bare = torques(arm.with_friction({"shoulder": {}, "elbow": ()}), [q, v, a])
    named = {"coulomb": 0.3, "viscous": 0.5, "offset": 0.2, "stribeck": {"excess": 2, "velocity": 0.1}}
    sense = np.sign(v[:, 1])
    expected = 0.3 * sense + 0.5 * v[:, 1] + 0.2 + 2 * sense / (1 + (v[:, 1] / 0.1) ** 2)
    laws = [Coulomb(0.3), Offset(0.2), Stribeck(2, 0.1), linkwork.model.Viscous(0.5)]
    rough = arm.with_friction({"shoulder": {}, "elbow": Asymmetric(9, 9, 9, 9)})
    for given in ({"elbow": named}, {"elbow": laws}):
        changed = rough.with_friction(given)
        assert_close((torques(changed, [q, v, a]) - bare)[:, 1], expected, tolerance=1e-12)
        assert_close((torques(changed, [q, v, a]) - bare)[:, 0] + 1, np.ones(2))
    assert rough.with_friction({"elbow": {"width": 0.1}}).model.joint(2).friction_width == 0.1
    assert (
        rough.with_friction({"elbow": {"viscous": 1}}).model.joint(2).rotor_inertia == arm.model.joint(2).rotor_inertia
    )


def test_friction_of_a_fit_and_of_a_file(arm: Robot, tmp_path):
    rough = arm.with_friction({"elbow": [Asymmetric(9, 9, 9, 9), Stribeck(1, 0.3)]})
    values = {"elbow.FS": 0.2, "elbow.FST": 0.6, "elbow.IA": 5.0, "forearm.M": 7.0}
    joint = rough.with_friction(SimpleNamespace(parameter_values=values)).model.joint(2)
    assert (joint.coulomb, joint.viscous, joint.friction) == (0.2, 0.0, (Stribeck(0.6, 0.3),))
    assert joint.rotor_inertia == arm.model.joint(2).rotor_inertia
    (tmp_path / "laws.json").write_text(json.dumps({"elbow": {"offset": 0.2}, "shoulder": {"viscous": 3}}))
    joints = [body.joint for body in rough.with_friction(tmp_path / "laws.json").model.bodies]
    assert [(joint.viscous, joint.friction) for joint in joints] == [(3.0, ()), (0.0, (Offset(0.2),))]
    assert rough.with_friction({"forearm": {"mass": 2}, "elbow.F0": 1.5}).model.joint(2).friction == (Offset(1.5),)
    (tmp_path / "all.yaml").write_text(
        "links: {forearm: {mass: 2}}\njoints: {elbow: {Fv: 2, Ia: 7}, shoulder: {Ia: 8}}"
    )
    joints = [body.joint for body in rough.with_friction(tmp_path / "all.yaml").model.bodies]
    assert [(joint.viscous, joint.rotor_inertia) for joint in joints] == [(arm.model.joint(1).viscous, 100), (2, 100)]
    drives = {"elbow": {"coulomb": 0.9, "friction": (Stribeck(0.1, 0.7),), "rotor_inertia": 3.0}}
    fit = SimpleNamespace(parameter_values={"elbow.FST": 0.4}, drives=drives)
    joint = arm.with_parameters(fit).model.joint(2)
    assert (joint.coulomb, joint.rotor_inertia, joint.friction) == (0.9, 3.0, (Stribeck(0.4, 0.7),))


# -- payload -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, frame", [("panda", "panda_link8"), ("quadruped", "trunk"), ("delta", "platform")])
def test_payload_is_a_fixed_link(name: str, frame: str, tmp_path):
    said = read(name)
    link, placement = said.frames[frame] if frame in said.frames else (frame, Placement())
    fixed = JointDescription("hold", "fixed", link, "load", placement)
    loaded = linkwork.load(replace(said, links=(*said.links, Link("load", BODY)), joints=(*said.joints, fixed)))
    robot = linkwork.load(name)
    carrying = robot.with_payload(frame, **VALUES)
    same(carrying, loaded, 1e-11)
    same(robot.with_payload({frame: VALUES}), loaded, 1e-11)
    same(robot.with_payload(SimpleNamespace(payload={frame: VALUES})), loaded, 1e-11)
    same(robot.with_parameters({"payload": {frame: VALUES}}), loaded, 1e-11)
    for suffix in (".yaml", ".urdf"):
        carrying.write(tmp_path / f"loaded{suffix}")
        side = tmp_path / "loaded.loops.yaml"
        back = linkwork.load(
            tmp_path / f"loaded{suffix}", structure=side if suffix == ".urdf" and side.exists() else None
        )
        same(back, loaded, 1e-9 if robot.home else 1e-11)  # loops are closed anew, to within their tolerance


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*linkwork.bundled_robots(), "transmissions"])
def test_files_give_the_numbers_back(name: str, tmp_path):
    robot = with_transmissions() if name == "transmissions" else linkwork.load(name)
    (tmp_path / "all.yaml").write_text(write_parameters(robot.model))
    drives = {each: {"coulomb": 3.0, "friction": (Offset(9.0),)} for each in _drives(robot)}
    others = robot.with_parameters({body.name: {"mass": 900.0} for body in robot.model.bodies}).with_drives(drives)
    back = others.with_parameters(tmp_path / "all.yaml")
    assert_close(back.parameters, robot.parameters)
    assert back.parameter_names(drives=True) == robot.parameter_names(drives=True)
    assert_close(back.parameter_values(drives=True), robot.parameter_values(drives=True))


def test_load_and_the_command_line(arm: Robot, tmp_path, run_linkwork):
    path = tmp_path / "values.yaml"
    path.write_text("links: {forearm: {inertia: [0.001, 0.002, 0.1]}}\njoints: {elbow: {Ia: 7, Fv: 5}}")
    robot = linkwork.load("planar2r", with_parameters=path)
    same(robot, arm.with_parameters(path))
    bare = linkwork.load("planar2r", with_parameters=path, friction=False, rotors=False).model.joint(2)
    assert (bare.viscous, bare.rotor_inertia) == (0, 0)
    same(linkwork.load("planar2r", with_parameters=FULL), arm.with_parameters(FULL))
    code, out, _ = run_linkwork("check", "planar2r", "--with-parameters", path, "--json")
    (finding,) = (each for each in json.loads(out)["findings"] if "impossible" in each["message"])
    assert code == 0 and finding["where"] == "link 'forearm'"
    assert "the largest exceeds the others' sum by 0.097 kg m^2 (97 % of it)" in finding["message"]
    assert "--with-parameters FILE" in finding["fix"] and "`linkwork identify`" in finding["fix"]
    assert run_linkwork("convert", "planar2r", tmp_path / "changed.yaml", "--with-parameters", path)[0] == 0
    same(linkwork.load(tmp_path / "changed.yaml"), robot)
    path.write_text("links: {forarm: {mass: 1}}")
    code, out, err = run_linkwork("convert", "planar2r", tmp_path / "none.yaml", "--with-parameters", path)
    assert (
        code == 1 and "line 1: link 'forarm': there is no moving link" in err and not (tmp_path / "none.yaml").exists()
    )


# -- what is refused -------------------------------------------------------------------------------------------------

REFUSED = [
    ({"panda_link9": {"mass": 1}}, r"link 'panda_link9': there is no moving link .*\n.*\n  fix: did you mean"),
    ({"panda_link8": {"mass": 1}}, r"'panda_link8' is fixed to link 'panda_link7', and has .*\n.*'panda_link7' as a"),
    ({"panda_link8.M": 1}, r"'panda_link8' is fixed to link 'panda_link7'"),
    ({"panda_link0": {"mass": 1}}, r"'panda_link0' does not move.*\n  fix: leave it out"),
    ({"panda_link7": {"mas": 1}}, r"there is no key 'mas'\n  expected: one of: mass, center, inertia"),
    ({"panda_link7": {"mass": -1}}, r"link 'panda_link7': its mass is negative: -1 kg"),
    ({"panda_link7": {"mass": float("nan")}}, r"link 'panda_link7': not a number"),
    ({"panda_link7": {"mass": True}}, r"not a number\n  got: 'true'"),
    ({"panda_link7": {"mass": 1e200}}, r"its inertia is not finite"),
    ({"panda_link7": {"center": [1, 2]}}, r"wrong length\n  got: 2 numbers\n  expected: 3 numbers"),
    ({"panda_link7": {"inertia": [[1, 2], [3]]}}, r"wrong length\n  got: 2 rows"),
    ({"panda_link7": {"inertia": [[1, 2, 3], [0, 1, 0], [0, 0, 1]]}}, r"the inertia is not symmetric"),
    ({"panda_link7": [1, 2, 3]}, r"got: 3 numbers\n  expected: 10 numbers"),
    ({"panda_link7": [0, 1, 0, 0, 1, 0, 0, 1, 0, 1]}, r"link 'panda_link7': first moments without a mass"),
    ({"panda_link7.MQ": 1}, r"there is no standard parameter 'panda_link7.MQ'"),
    ({"panda_joint7.F9": 1}, r"there is no parameter of 'panda_joint7', 'F9'"),
    ({"panda_joint7.FST": 1}, r"FST depends on the velocity of the law 'stribeck'"),
    ({"panda_joint7.IA": -1}, r"its rotor inertia is negative"),
    ({"panda_link7": {"mass": 1}, "panda_link7.MX": 1}, r"has values in two forms\n  fix: keep one form"),
    ({"links": {}, "x": {}}, r"there is no section 'x'"),
    ({"joints": {"panda_joint9": {"Fv": 1}}}, r"there is no joint or motor 'panda_joint9'"),
    ({"joints": {"panda_joint1": {"velocity": 1}}}, r"there is no key 'velocity'"),
    ({"payload": {"panda_link8": {"center": [0, 0, 1]}}}, r"payload at 'panda_link8': 'mass' is missing"),
    ({"payload": {"hand": {"mass": 1}}}, r"there is no frame 'hand'"),
    ({"payload": {"panda_link0": {"mass": 1}}}, r"a payload needs a moving link"),
    ([1, 2], r"these are not parameters\n  got: \[1, 2\]"),
    ("nowhere.yaml", r"nowhere.yaml: the file cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize("values, message", REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_mistakes_are_told(panda: Robot, values, message: str):
    with pytest.raises(LinkworkError, match=message):
        panda.with_parameters(values)


def test_mistakes_of_files_have_their_lines(panda: Robot, tmp_path):
    path = tmp_path / "values.yaml"
    path.write_text("links:\n  panda_link7: {mass: heavy}\njoints:\n  panda_joint1: {Fs: 1, friction: {glue: {}}}\n")
    with pytest.raises(ModelError) as error:
        panda.with_parameters(path)
    assert [f"{path}: line {line}" in str(error.value) for line in (2, 4)] == [True, True]
    assert "link 'panda_link7': not a number" in str(error.value)


def test_mistakes_of_friction_and_payload(panda: Robot):
    joint = "panda_joint1"
    for values, message in [
        ({"panda_joint9": {"viscous": 1}}, "there is no joint or motor 'panda_joint9'"),
        ({joint: {"glue": 1}}, "there is no key 'glue'"),
        ({joint: {"stribeck": 1}}, "wrong type"),
        ({joint: {"stribeck": {"excess": 1, "velocity": -1}}}, "velocity: out of range"),
        ({joint: [Offset(1), Offset(2)]}, "these are not friction laws"),
        ({joint: [3]}, "these are not friction laws"),
        ({joint: 3}, "there is no standard parameter 'panda_joint1'"),
    ]:
        with pytest.raises(ModelError, match=message):
            panda.with_friction(values)
    with pytest.raises(UnknownNameError, match="there is no joint or motor 'elbow'"):
        panda.with_friction({"elbow": Offset(1)})
    with pytest.raises(UnsupportedError, match="a payload needs a moving link"):
        panda.with_payload("panda_link0", 1)
    with pytest.raises(ModelError, match="its mass is negative"):
        panda.with_payload("panda_link8", -100)
    with pytest.raises(ModelError, match="panda_link8: the file cannot be read"):
        panda.with_payload("panda_link8")
