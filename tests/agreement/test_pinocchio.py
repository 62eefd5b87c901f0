"""Every URDF of the package example-robot-data against Pinocchio, with fixed and with floating base.

Pinocchio knows no friction in these quantities and reads no rotor inertia from URDF, so linkwork leaves them out here;
what they add is the subject of the last tests.
"""

import math
import re
from collections.abc import Callable
from functools import partial
from importlib.metadata import files
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

import linkwork
from linkwork.formulations import methods
from linkwork.model import Model
from support.evaluate import deviation, evaluate
from support.pinocchio_robot import PinocchioRobot

TOLERANCE = 1e-10  # what a relative deviation stays below; the summary of the run shows the worst ones


def name_of(path: Path) -> str:
    return "/".join(path.parts[-3:])


PATHS = [Path(str(file.locate())) for file in files("example-robot-data") or () if file.suffix == ".urdf"]
EVERY = {name_of(path): path for path in PATHS}
REFUSED = {"ur_description/urdf/ur3.urdf": "an empty <robot>"}  # by Pinocchio too
ROBOTS = sorted(EVERY.keys() - REFUSED)
# Robots with moving links of no inertia. Their acceleration is undefined, Pinocchio's is not a number.
SINGULAR = {"romeo_description/urdf/romeo.urdf", "romeo_description/urdf/romeo_laas_small.urdf"}
REPRESENTATIVE = {
    "panda_description/urdf/panda.urdf": "fixed",
    "ur_description/urdf/ur5_robot.urdf": "fixed",
    "anymal_b_simple_description/robots/anymal.urdf": "floating",
    "talos_data/robots/talos_reduced.urdf": "floating",
}

MIMIC = (
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "panda_description/urdf/panda_collision.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_full_v2_box.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
)

# Fingers of alex_psyonic_hands follow joints that are not there.
pytestmark = pytest.mark.filterwarnings("ignore:.*so <mimic> is ignored:linkwork.ModelWarning")
every_robot = pytest.mark.parametrize("name", ROBOTS)
both_bases = pytest.mark.parametrize("base", ["fixed", "floating"])


def load(name: str, base: str = "fixed", **options):
    return linkwork.load(EVERY[name], base=base, **({"friction": False, "rotors": False, "mimic": False} | options))


def text_of(name: str) -> str:
    return re.sub(r"<!--.*?-->", "", EVERY[name].read_text(), flags=re.DOTALL)


def tags_of_joints(name: str, tag: str) -> dict[str, dict[str, str]]:
    """Attributes of an element of every joint, read by no reader of ours."""
    joints = ElementTree.fromstring(text_of(name)).findall("joint")
    return {joint.attrib["name"]: {} if (found := joint.find(tag)) is None else found.attrib for joint in joints}


def exact_quarter_turns(urdf: str) -> str:
    """Angles within 1e-10 of a quarter turn written in full, as linkwork takes them."""

    def exact(angle: str) -> str:
        nearest = round(float(angle) / (math.pi / 2)) * (math.pi / 2)
        return repr(nearest) if abs(float(angle) - nearest) < 1e-10 else angle

    return re.sub(r'rpy="([^"]*)"', lambda m: f'rpy="{" ".join(map(exact, m[1].split()))}"', urdf)


def state(model, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, model.nq), rng.uniform(-2, 2, model.nv), rng.uniform(-5, 5, model.nv)


def assert_agree(
    deviations, what: str, actual, expected, scale: float = 0.0, tolerance: float = TOLERANCE, of: str = ""
) -> None:
    off = deviation(actual, expected, scale)
    deviations(what, off)
    assert off <= tolerance, f"{what} {of}"


def test_every_file_is_loaded_or_known_to_be_refused():
    assert len(EVERY) >= 69 and EVERY.keys() >= REFUSED.keys()
    for name in REFUSED:
        with pytest.raises(ValueError, match="does not contain a valid URDF"):
            pin.buildModelFromUrdf(str(EVERY[name]))
        with pytest.raises(linkwork.ModelError, match="there are no links"):
            linkwork.load(EVERY[name])


@both_bases
@every_robot
def test_every_quantity(name: str, base: str, deviations):
    """One test of each robot, which is loaded once: straight from the formulations, and what is compiled."""
    robot = load(name, base)
    model, agree = robot.model, partial(assert_agree, deviations)
    peer = PinocchioRobot(text_of(name), model)
    exact = PinocchioRobot(exact_quarter_turns(text_of(name)), model)
    forces_and_energies(model, peer, agree)
    poses(model, peer, agree)
    jacobians(model, peer, agree)
    if model.nv:
        programs(robot, exact, agree)
        if name not in SINGULAR:
            accelerations(model, exact, agree)


def forces_and_energies(model: Model, peer: PinocchioRobot, agree: Callable) -> None:
    q, v, a = state(model)
    agree("kinetic energy", evaluate(model, "kinetic_energy", q, v), peer.kinetic_energy(q, v))
    agree("potential energy", evaluate(model, "potential_energy", q), peer.potential_energy(q), scale=1.0)
    if model.nv:
        agree("inverse dynamics", evaluate(model, "inverse_dynamics", q, v, a), peer.inverse_dynamics(q, v, a))
        agree("bias", evaluate(model, "bias", q, v), peer.bias(q, v))
        agree("gravity", evaluate(model, "gravity", q), peer.gravity(q), scale=1.0)
        agree("inertia matrix", evaluate(model, "inertia_matrix", q), peer.inertia_matrix(q))
        agree("centre of mass", evaluate(model, "center_of_mass", q), peer.center_of_mass(q))
        agree("momentum", evaluate(model, "momentum", q, v), peer.momentum(q, v))


def accelerations(model: Model, peer: PinocchioRobot, agree: Callable) -> None:
    """The condition of the inertia matrix (1e6 and more among these robots) enlarges rounding, and any difference
    between two models, so Pinocchio gets quarter turns as exact as linkwork takes them."""
    q, v, a = state(model)
    tau = peer.inverse_dynamics(q, v, a)
    expected = peer.forward_dynamics(q, v, tau)
    allowed = TOLERANCE + 1e-16 * np.linalg.cond(peer.inertia_matrix(q))
    for method in (method for method in methods("forward_dynamics") if not method.serial):
        if method.refusal(model):
            with pytest.raises(linkwork.UnsupportedError, match="use one of"):
                linkwork.compile(model, "forward_dynamics", method=method.name)
        else:
            found = evaluate(model, "forward_dynamics", q, v, tau, method=method.name)
            agree(f"forward dynamics, {method.name}", found, expected, tolerance=allowed)


def poses(model: Model, peer: PinocchioRobot, agree: Callable) -> None:
    q, *_ = state(model)
    theirs = peer.poses(q)
    assert theirs.keys() == set(model.link_names)
    for link, pose in theirs.items():
        agree("poses", evaluate(model, "pose", q, frame=link), pose, scale=1.0, of=link)


def jacobians(model: Model, peer: PinocchioRobot, agree: Callable) -> None:
    q, v, _ = state(model)
    links = model.link_names
    for frame in {*links[:: len(links) // 8 + 1], links[-1]}:
        for axes in ("world", "local"):
            found, expected = evaluate(model, "jacobian", q, frame=frame, axes=axes), peer.jacobian(q, frame, axes)
            agree(f"Jacobians, {axes}", found, expected, scale=1.0, of=frame)
            found = evaluate(model, "jacobian_drift", q, v, frame=frame, axes=axes)
            expected = peer.jacobian_drift(q, v, frame, axes)
            agree(f"Jacobian drifts, {axes}", found, expected, scale=1.0, of=frame)


def programs(robot: linkwork.Robot, peer: PinocchioRobot, agree: Callable) -> None:
    """What is compiled, with its grouped parameters and after all passes, run by the interpreter."""
    q, v, a = state(robot)
    inverse = robot.compile("inverse_dynamics", backend="interpreter")
    agree("inverse dynamics, program", inverse(q, v, a), peer.inverse_dynamics(q, v, a))
    inertia = robot.compile("inertia_matrix", backend="interpreter")
    agree("inertia matrix, program", inertia(q), peer.inertia_matrix(q))


@pytest.mark.parametrize("name", sorted(SINGULAR))
def test_singular_robots_are_singular(name: str):
    model = load(name).model
    q, v, tau = state(model)
    peer = PinocchioRobot(text_of(name), model)
    assert min(np.diag(peer.inertia_matrix(q))) == 0
    assert not np.isfinite(peer.forward_dynamics(q, v, tau)).all()
    with pytest.raises(linkwork.LinkworkError, match="singular"):
        linkwork.compile(model, "forward_dynamics")


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_compiled(name: str, deviations):
    robot = load(name, REPRESENTATIVE[name])
    peer = PinocchioRobot(exact_quarter_turns(text_of(name)), robot.model)
    states = [state(robot, seed) for seed in range(9)]
    q, v, a = (np.array(column) for column in zip(*states, strict=True))
    tau = np.array([peer.inverse_dynamics(*s) for s in states])
    assert_agree(deviations, "inverse dynamics, native", robot.inverse_dynamics(q, v, a), tau)
    expected = [peer.forward_dynamics(*s[:2], t) for s, t in zip(states, tau, strict=True)]
    assert_agree(deviations, "forward dynamics, native", robot.forward_dynamics(q, v, tau), expected)
    expected = [peer.inertia_matrix(s[0]) for s in states]
    assert_agree(deviations, "inertia matrix, native", robot.inertia_matrix(q), expected)


@every_robot
def test_friction_is_what_the_file_says(name: str):
    """With friction, the difference is exactly damping times velocity and friction times its sign."""
    robot = load(name, friction=True)
    q, v, a = state(robot)
    tags = tags_of_joints(name, "dynamics")
    own = [
        float(tags[joint].get("damping", 0)) * u + float(tags[joint].get("friction", 0)) * np.sign(u)
        for joint, u in zip(robot.joint_names, v, strict=True)
    ]
    frictionless = evaluate(load(name).model, "inverse_dynamics", q, v, a)
    actual = evaluate(robot.model, "inverse_dynamics", q, v, a)
    assert deviation(actual, frictionless + own, scale=1.0) < 1e-13


@pytest.mark.parametrize("name", MIMIC)
def test_mimic_joints(name: str, deviations):
    """Against the joints of Pinocchio's full robot, projected on the independent ones."""
    model, full = load(name, mimic=True).model, load(name).model
    peer = PinocchioRobot(text_of(name), full)
    tags = tags_of_joints(name, "mimic")
    G, o = np.zeros((full.nv, model.nv)), np.zeros(full.nv)
    for k, joint in enumerate(full.joint_names):
        G[k, model.joint_names.index(tags[joint].get("joint", joint))] = float(tags[joint].get("multiplier", 1))
        o[k] = float(tags[joint].get("offset", 0))
    assert model.nv < full.nv
    q, v, a = state(model)
    expected = G.T @ peer.inverse_dynamics(G @ q + o, G @ v, G @ a)
    assert_agree(deviations, "inverse dynamics, mimic", evaluate(model, "inverse_dynamics", q, v, a), expected)
    M = G.T @ peer.inertia_matrix(G @ q + o) @ G
    assert_agree(deviations, "inertia matrix, mimic", evaluate(model, "inertia_matrix", q), M)


def test_every_robot_with_mimic_joints_is_tested():
    assert [name for name in ROBOTS if linkwork.load(EVERY[name]).model.has_mimic] == sorted(MIMIC)
