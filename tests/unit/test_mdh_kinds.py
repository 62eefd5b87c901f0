"""Kinds of joints in the YAML format: what their rows mean, every mistake, and that all are written and read back."""

import re

import numpy as np
import pytest

from linkwork import Robot, load
from linkwork.errors import ModelError
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.model import Model, build, describe
from linkwork.model.description import Description
from linkwork.model.joints import JOINT_KINDS
from linkwork.model.validate import check
from support.evaluate import evaluate
from support.mixed_trees import TREES, MixedRecipe, Places, mixed, shuffled

BODY = "{link: body, M: 2, center: [0.1, -0.2, 0.3], central: [0.3, 0.01, 0.02, 0.4, 0.03, 0.5]}"
PLACE = "gamma: 0.3, b: 0.1, alpha: 0.7, d: 0.2, theta: -0.4, r: 0.6"


def robot(rows: str, more: str = "") -> str:
    return f"name: r\ngravity: [1, 2, -9]\njoints: [{rows}]\nlinks: [{BODY}]\n{more}"


def test_every_kind_by_name():
    rows = [f"{{name: {kind}, link: {kind}_link, kind: {kind}}}" for kind in JOINT_KINDS]
    rows = [row.replace("}", ", pitch: 0.02/2/pi}") if "helical" in row else row for row in rows]
    description = read_mdh(f"name: r\njoints: [{', '.join(rows)}]\ndrives: [{{joint: revolute, limits: [-1, 1]}}]")
    assert [joint.kind for joint in description.joints] == [*JOINT_KINDS]
    assert [joint.name for joint in description.joints if joint.pitch] == ["helical"]
    assert description.joints[3].pitch == pytest.approx(0.02 / (2 * np.pi), rel=1e-15)
    for joint in description.joints:
        assert joint.axis.tolist() == [0, 0, 1] and joint.second_axis.tolist() == [1, 0, 0]
    assert [joint.kind for joint in read_mdh("{name: r, joints: [{kind: revolute}]}").joints] == ["continuous"]


def test_drives_home_and_independence_of_joints_with_several_freedoms():
    more = """
drives: [{joint: ball, role: passive, Ia: 0.1, Fs: 0.2, Fv: 0.3, weight: 2}, {joint: free, Fv: 0.4}]
home: {ball: [0, 0, 1, 0], flat: [1, 2, 90 deg], cross: [0.1, -pi/2]}
independent: [ball]
"""
    rows = "{name: ball, kind: spherical}, {name: flat, kind: planar}, {name: cross, kind: universal}"
    description = read_mdh(robot(rows + ", {name: free, link: body, kind: floating}", more))
    ball, *_, free = description.joints
    assert (ball.role, ball.rotor_inertia, ball.coulomb, ball.viscous, ball.weight) == ("passive", 0.1, 0.2, 0.3, 2)
    assert (free.role, free.viscous) == ("passive", 0.4)
    assert description.home == {"ball": (0, 0, 1, 0), "flat": (1, 2, np.pi / 2), "cross": (0.1, -np.pi / 2)}
    assert description.independent == ("ball",)
    text = write_mdh(description)
    assert "home: {ball: [0, 0, 1, 0], flat: [1, 2, pi/2], cross: [0.1, -pi/2]}" in text
    assert write_mdh(read_mdh(text)) == text
    model = build(description)
    assert model.home == (0, 0, 1, 0, 1, 2, np.pi / 2, 0.1, -np.pi / 2, 0, 0, 0, 0, 0, 0, 1)
    assert describe(model).home["ball"] == (0, 0, 1, 0)


# --- what rows mean: each beside revolute and prismatic ones that move the same way; z turned to x or y and back

ALONG_X, BACK_FROM_X = "gamma: pi/2, alpha: pi/2", "alpha: -pi/2, theta: -pi/2"
ALONG_Y, BACK_FROM_Y = "alpha: -pi/2", "alpha: pi/2"
ALIKE = {
    "universal": (
        f"{{link: body, kind: universal, {PLACE}}}",
        f"{{{PLACE}}}, {{{ALONG_X}}}, {{link: body, sigma: 2, {BACK_FROM_X}}}",
        "",
    ),
    "cylindrical": (
        f"{{link: body, kind: cylindrical, {PLACE}}}",
        f"{{sigma: 1, {PLACE}}}, {{link: body}}",
        "",
    ),
    "helical": (
        f"{{link: body, kind: helical, pitch: -0.07, {PLACE}}}",
        f"{{name: turn, {PLACE}}}, {{name: shift, sigma: 1, link: body}}",
        "drives: [{joint: shift, mimic: {joint: turn, multiplier: -0.07}}]",
    ),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_rows_mean_what_rows_of_one_freedom_do(kind):
    rows, simple, more = ALIKE[kind]
    here, there = load(read_mdh(robot(rows))), load(read_mdh(robot(simple, more)))
    rng = np.random.default_rng(0)
    q, v, a = (rng.uniform(-2, 2, (5, here.nv)) for _ in range(3))
    for quantity, inputs in {"inverse_dynamics": (q, v, a), "inertia_matrix": (q,), "potential_energy": (q,)}.items():
        ours, theirs = (each.compile(quantity, backend="interpreter")(*inputs) for each in (here, there))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    ours, theirs = (each.compile("pose", frame="body", backend="interpreter")(q) for each in (here, there))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)


def test_a_planar_row_is_in_x_and_y_of_its_frame():
    here = load(read_mdh(robot(f"{{link: body, kind: planar, {PLACE}}}")))
    rows = f"{{sigma: 2, {PLACE}}}, {{sigma: 1, {ALONG_X}}}, {{sigma: 2, {BACK_FROM_X}}}, "
    rows += f"{{sigma: 1, {ALONG_Y}}}, {{sigma: 2, {BACK_FROM_Y}}}, {{link: body}}"
    there = load(read_mdh(robot(rows)))
    q = np.random.default_rng(0).uniform(-2, 2, (5, 3))
    for quantity in ("pose", "potential_energy"):
        frame = {"frame": "body"} if quantity == "pose" else {}
        ours, theirs = (each.compile(quantity, **frame, backend="interpreter")(q) for each in (here, there))
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-14)


# --- mistakes: text, and what the message must say

MISTAKES = {
    "unknown kind": (robot("{link: body, kind: sperical}"), "no kind of joint 'sperical'.*did you mean 'spherical'"),
    "kind and sigma": (robot("{link: body, kind: fixed, sigma: 2}"), "by 'kind' and by 'sigma'.*keep one"),
    "sigma a name": (
        robot("{link: body, sigma: spherical}"),
        "sigma is a number.*0, 1 or 2.*kind: spherical",
    ),
    "no pitch": (robot("{link: body, kind: helical}"), "'pitch' is missing.*metres per radian"),
    "no pitch in the standard convention": (
        robot("{link: body, kind: helical}, {kind: spherical, a: 1}", "convention: standard"),
        "'pitch' is missing",
    ),
    "pitch of revolute": (robot("{link: body, pitch: 1}"), "a revolute joint has no pitch.*write kind: helical"),
    "pitch a word": (robot("{link: body, kind: helical, pitch: fine}"), "not a number"),
    "own frame off the centre": (
        robot("{link: body, kind: spherical}", "frames: [{name: body, link: body, r: 0.1}]"),
        "frame 'body': a link's own frame must have its origin in the joint's centre.*rename it",
    ),
    "own frame off the crossing": (
        robot("{link: body, kind: universal}", "frames: [{name: body, link: body, r: 0.1}]"),
        "origin in the joint's centre",
    ),
    "own frame off the axis": (
        robot("{link: body, kind: cylindrical}", "frames: [{name: body, link: body, d: 0.1}]"),
        "origin on the joint's axis",
    ),
    "own frame turned in the plane": (
        robot("{link: body, kind: planar}", "frames: [{name: body, link: body, theta: 0.1}]"),
        "axes from which x and y of a planar joint follow",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(ModelError) as caught:
        read_mdh(text, "bad.yaml")
    assert str(caught.value).startswith("bad.yaml")
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


def test_limits_of_several_freedoms_are_told():
    text = robot("{name: ball, link: body, kind: spherical}", "drives: [{joint: ball, limits: [-1, 1]}]")
    assert "limits have no effect on a spherical joint" in str(check(read_mdh(text))[0])


# --- writing


def assert_same(a: Description, b: Description) -> None:
    """But for limits that say nothing, and for revolute joints without limits, which are continuous."""
    assert {link.name for link in a.links} == {link.name for link in b.links}
    there = {joint.name: joint for joint in b.joints}
    for joint in a.joints:
        other = there[joint.name]
        assert other.kind in (joint.kind, "continuous") and (joint.parent, joint.child) == (other.parent, other.child)
        assert joint.pitch == other.pitch
        np.testing.assert_allclose(joint.origin.rotation, other.origin.rotation, rtol=0, atol=1e-14)
        np.testing.assert_allclose(joint.origin.translation, other.origin.translation, rtol=0, atol=1e-14)
        for axis in ("axis", "second_axis")[: joint.motion.directions]:
            ours, theirs = (getattr(each, axis) for each in (joint, other))
            np.testing.assert_allclose(ours / np.linalg.norm(ours), theirs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("tree", TREES)
def test_trees_of_all_kinds_are_read_back(tree):
    """As they are described, and as they are described from their Model."""
    description = mixed(TREES[tree])
    robot = load(description)
    for given in (description, describe(robot.model)):
        text = write_mdh(given)
        again = read_mdh(text)
        assert_same(given, again)
        back = load(again)
        assert back.coordinates.positions == robot.coordinates.positions
        assert back.coordinates.velocities == robot.coordinates.velocities
        q, v, a = Places(description, robot.coordinates.positions.joints).state()
        ours, theirs = (evaluate(each.model, "inverse_dynamics", q, v, a) for each in (robot, back))
        assert np.abs(ours - theirs).max() < 1e-12 * np.abs(ours).max()


def zeros(model: Model) -> list[list[bool]]:
    """Which constants of the bodies are there, in order: programs depend on it."""
    return [
        [bool(x) for x in (*body.inertia, *(x for s in body.joint.placement for x in (s.angle, s.length)))]
        for body in model.bodies
    ]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_zero_stays_zero(seed):
    recipe = MixedRecipe(seed, shuffled(seed), reach=3, coordinate=True, fixed=True, extras=True)
    model = build(mixed(recipe))
    assert zeros(build(read_mdh(write_mdh(describe(model))))) == zeros(model)


def test_quaternions_of_home_and_lock_get_length_one_or_are_refused():
    text = robot("{name: ball, link: body, kind: spherical}", "home: {ball: [0, 3, 0, 4]}")
    description = read_mdh(text)
    assert build(description).home == pytest.approx((0, 0.6, 0, 0.8), rel=1e-15)
    for nothing in ([0, 0, 0, 0], [0, 1e-170, 0, 0]):
        with pytest.raises(ModelError, match="joint 'ball': its home position is a quaternion of length zero"):
            build(read_mdh(text.replace("[0, 3, 0, 4]", str(nothing))))
        with pytest.raises(ModelError, match="lock of joint 'ball' is not a position"):
            build(description, lock={"ball": nothing})
    assert build(description, lock={"ball": [0, 0, 2, 0]}).nq == 0


# --- legs of parallel robots

SWING, TILT, LENGTH = -0.3309460219, 0.2385333629, 1.0881897305
TURNED_BACK = "{name: seat, link: cylinder, kind: fixed, gamma: -pi/2, alpha: -pi/2, theta: pi/2}"


def platform(joints: str, passive: str, homes: tuple[str, str], closure: str) -> Robot:
    """Six legs that are thin rods, so that nothing is felt of their turns about themselves."""
    legs = "\n".join(
        f"  - {{base: {{gamma: {base} deg, d: 0.65}}, platform: {{gamma: {held} deg, d: 0.4}}, home: {homes[k % 2]}}}"
        for k, (base, held) in enumerate(zip((10, 110, 130, 230, 250, 350), (50, 70, 170, 190, 290, 310), strict=True))
    )
    text = f"""name: platform
platform: {{freedoms: floating, at: {{xyz: [0, 0, 1]}}, M: 45, center: [0.01, 0, 0.06], central: [2.1, 2.3, 3.9]}}
leg:
  joints: [{joints}, {{name: slide, link: rod, sigma: 1, alpha: pi/2}}]
  links:
    - {{link: cylinder, M: 6.5, center: [0, -0.28, 0], central: [0.19, 0, 0.19]}}
    - {{link: rod, M: 2.4, center: [0, 0, -0.33], central: [0.075, 0.075, 0]}}
  drives: [{passive}]
  {closure}
legs:
{legs}"""
    return load(read_mdh(text))


def passive(*joints: str) -> str:
    return ", ".join(f"{{joint: {joint}, role: passive}}" for joint in joints)


def at_home(turns: str) -> tuple[str, str]:
    one, other = (turns.format(swing=SWING, tilt=tilt) for tilt in (-TILT, TILT))
    return f"{{{one}, slide: {LENGTH}}}", f"{{{other}, slide: {LENGTH}}}"


def quaternion(tilt: float) -> str:
    """Of a turn about z by the swing, and one about x by the tilt."""
    (cz, sz), (cx, sx) = ((np.cos(angle / 2), np.sin(angle / 2)) for angle in (SWING, tilt))
    return f"{{ball: {[float(x) for x in (cz * sx, sz * sx, sz * cx, cz * cx)]}, slide: {LENGTH}}}"


def test_universal_and_ball_joints_in_legs():
    """Legs of a Gough-Stewart platform with two revolute joints, with a universal one, and the other way round, with a
    ball joint on the base and a universal one under the platform: the same forces in the slides."""
    revolute = "{name: swing, alpha: -pi/2, theta: -pi/2}, {name: tilt, link: cylinder, alpha: -pi/2, theta: pi/2}"
    spherical = "closure: spherical"
    robots = [
        platform(revolute, passive("swing", "tilt"), at_home("swing: {swing}, tilt: {tilt}"), spherical),
        platform(
            f"{{name: hook, kind: universal, alpha: -pi/2}}, {TURNED_BACK}",
            passive("hook"),
            at_home("hook: [{swing}, {tilt}]"),
            spherical,
        ),
        platform(
            f"{{name: ball, kind: spherical, alpha: -pi/2}}, {TURNED_BACK}",
            passive("ball"),
            (quaternion(-TILT), quaternion(TILT)),
            "closure: universal\n  tip: {alpha: pi/2}",
        ),
    ]
    v, a = np.random.default_rng(0).normal(size=(2, 6))
    first, *others = (evaluate(robot.model, "inverse_dynamics", np.array(robot.model.home), v, a) for robot in robots)
    for forces in others:
        np.testing.assert_allclose(forces, first, rtol=1e-11)
    text = write_mdh(describe(robots[2].model))
    assert write_mdh(describe(load(read_mdh(text)).model)).count("kind: spherical") == 6


def test_part_of_a_ball_joint_may_be_independent():
    """The coupler of a spatial four-bar between two balls turns about itself, whatever the crank does."""
    bodies = ", ".join(f"{{link: {name}, M: 1, central: [0.1, 0.1, 0.1]}}" for name in ("wheel", "rod", "lever"))
    text = f"""name: bars
joints:
  - {{name: crank, link: wheel}}
  - {{name: ball, link: rod, kind: spherical, d: 0.1}}
  - {{name: rocker, link: lever, parent: base, xyz: [0.3, 0.1, 0.05], rpy: [0.3, 0.2, 0]}}
links: [{bodies}]
drives: [{{joint: ball, role: passive}}, {{joint: rocker, role: passive}}]
loops: [{{kind: spherical, first: {{link: rod, d: 0.3}}, second: {{link: lever, d: 0.2}}}}]
"""
    model = load(read_mdh(text)).model
    described = describe(model)
    assert described.independent == ("crank", "ball.rx")
    again = read_mdh(write_mdh(described))
    assert again.independent == described.independent
    assert load(again).model.mobility == model.mobility
