"""What files say of rolling and gears: mistakes that are told, and files that are written as they were read."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork import ModelError
from linkwork.inspection import inspect
from linkwork.inspection.tables import element_tables
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.io.structure_file import apply, read_structure, write_structure
from linkwork.model import Blade, Mecanum, check, describe
from linkwork.report.skeleton import Skeleton
from support.evaluate import assert_close, evaluate

CART = """
name: cart
base: {kind: floating, link: body, M: 9, center: [0.1, 0, 0], central: [0.1, 0.1, 0.2]}
joints:
  - {name: left, link: left_wheel, parent: body, xyz: [0, 0.2, 0], rpy: [-pi/2, 0, 0]}
  - {name: right, link: right_wheel, parent: body, xyz: [0, -0.2, 0], rpy: [-pi/2, 0, 0]}
  - {name: motor, link: rotor, parent: body, xyz: [0.1, 0, 0]}
links:
  - {link: left_wheel, M: 0.8, central: [0.002, 0.002, 0.004]}
  - {link: right_wheel, M: 0.8, central: [0.002, 0.002, 0.004]}
  - {link: rotor, M: 0.2, central: [1e-4, 1e-4, 2e-4]}
drives: [{joint: left, role: passive}, {joint: right, role: passive}]
rolling:
  - {name: l, wheel: {link: left_wheel}, radius: 0.1, friction: 0.8}
  - {name: r, wheel: {link: right_wheel}, radius: 0.1}
  - {kind: glide, wheel: {link: body, xyz: [0.3, 0, -0.1]}, plane: {xyz: [0, 0, 0]}}
gears:
  - {name: both, joints: {left: 1, right: 1, motor: -0.5}, offset: 0.25}
actuation: redundant
"""


def cart(*changes: tuple[str, str]) -> linkwork.Robot:
    text = CART
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return linkwork.load(read_mdh(text, "cart.yaml"))


LEFT, SECOND = "wheel: {link: left_wheel}, radius: 0.1", "{name: r, wheel"
GLIDE = "  - {kind: glide, wheel: {link: body, xyz: [0.3, 0, -0.1]}, plane: {xyz: [0, 0, 0]}}\n"
MISTAKES = {
    "zero radius": ((LEFT, LEFT[:-3] + "0"), ["wheel 'l'", "its radius is 0", "positive"]),
    "no radius": ((LEFT, LEFT.partition(",")[0]), ["wheel 'l'", "'radius' is missing"]),
    "radius of a glide": (("kind: glide,", "kind: glide, radius: 0.1,"), ["a glide has no radius", "kind: wheel"]),
    "friction of a glide": (("kind: glide,", "kind: glide, friction: 0.5,"), ["glide 'glide3'", "in all directions"]),
    "on the ground": (("kind: floating", "kind: fixed"), ["glide 'glide3'", "sides are on the ground", "relative to"]),
    "gears that lock": (
        ("offset: 0.25}", "offset: 0.25}\n  - {joints: {left: 1, right: 1}}\n  - {joints: {left: 1, right: -1}}"),
        ["the wheels block each other", "gear 'both'", "gear 'gear5'", "gears that let them turn"],
    ),
    "negative friction": (("friction: 0.8", "friction: -1"), ["wheel 'l'", "friction is negative: -1"]),
    "unknown kind": (("kind: glide", "kind: skid"), ["kind of rolling", "'skid'", "glide"]),
    "unknown link": (("link: left_wheel}, radius", "link: left_weel}, radius"), ["'left_weel'", "left_wheel"]),
    "unknown joint": (("motor: -0.5", "moter: -0.5"), ["gear 'both'", "'moter' does not exist", "motor"]),
    "one joint": (("{left: 1, right: 1, motor: -0.5}", "{left: 1}"), ["gear 'both'", "two joints"]),
    "zero ratio": (("motor: -0.5", "motor: 0"), ["gear 'both'", "ratio of joint 'motor' is 0"]),
    "rollers in degrees": (
        (LEFT, f"kind: mecanum, roller_angle: 45, {LEFT}"),
        ["mecanum 'l'", "roller angle is 45", "deg"],
    ),
    "rollers of a wheel": ((LEFT, f"roller_angle: 45 deg, {LEFT}"), ["wheel 'l'", "a wheel has no roller_angle"]),
    "a name twice": ((SECOND, "{name: l, wheel"), ["used twice"]),
    "a wheel that lies flat": (("[0, 0.2, 0], rpy: [-pi/2, 0, 0]", "[0, 0.2, 0]"), ["wheel 'l'", "lies flat", "rpy"]),
    "not within reach": (
        ("{link: right_wheel}, radius: 0.1", "{link: right_wheel}, radius: 0.2, plane: {xyz: [0, 0, 0.9]}"),
        ["the loops cannot be closed", "off its plane by", "radius"],
    ),
    "axles that cross": (
        (
            GLIDE,
            GLIDE.replace("glide", "blade").replace("[0.3, 0, -0.1]", "[0.3, 0.1, -0.1], rpy: [0, pi/2, 0]")
            + GLIDE.replace("glide", "blade").replace("[0.3, 0, -0.1]", "[0.3, -0.1, -0.1], rpy: [0, pi/2, 0]"),
        ),
        ["the wheels block each other", "wheel 'l'", "parallel", "omni"],
    ),
    "contradicting gears": (
        ("offset: 0.25}", "offset: 0.25}\n  - {name: other, joints: {left: 2, right: 2, motor: -1}, offset: 0.7}"),
        ["the loops cannot be closed", "gear 'both'", "offset"],
    ),
}


@pytest.mark.parametrize("change, parts", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(change, parts):
    with pytest.raises(ModelError) as error:
        cart(change)
    for part in parts:
        assert part in str(error.value)


STEERED = """
name: synchro
base: {kind: floating, link: body, M: 9, central: [0.1, 0.1, 0.2]}
joints:
  - {name: s1, link: fork1, parent: body, xyz: [0.2, 0, 0]}
  - {name: w1, link: wheel1, rpy: [-pi/2, 0, 0]}
  - {name: s2, link: fork2, parent: body, xyz: [-0.1, 0.2, 0]}
  - {name: w2, link: wheel2, rpy: [-pi/2, 0, 0]}
  - {name: s3, link: fork3, parent: body, xyz: [-0.1, -0.2, 0]}
  - {name: w3, link: wheel3, rpy: [-pi/2, 0, 0]}
links:
  - {link: wheel1, M: 1, central: [0.002, 0.002, 0.004]}
  - {link: wheel2, M: 1, central: [0.002, 0.002, 0.004]}
  - {link: wheel3, M: 1, central: [0.002, 0.002, 0.004]}
rolling:
  - {wheel: {link: wheel1}, radius: 0.1}
  - {wheel: {link: wheel2}, radius: 0.1}
  - {wheel: {link: wheel3}, radius: 0.1}
actuation: redundant
"""


def test_steered_wheels_need_gears():
    """Three wheels that steer apart may go ahead only while they are parallel; together they may go anywhere."""
    with pytest.raises(ModelError, match="home is a singular position of the rolling constraints") as error:
        linkwork.load(read_mdh(STEERED))
    assert "near it" in str(error.value) and "gears" in str(error.value)
    robot = linkwork.load(read_mdh(STEERED + "gears: [{joints: {s1: 1, s2: -1}}, {joints: {s1: 1, s3: -1}}]"))
    assert robot.nv == 2


@pytest.mark.parametrize(
    "old, new, tied",
    [
        ("xyz: [0, -0.3, 0], rpy: [-pi/2, 0, 0]", "xyz: [0, -0.3, 0], rpy: [-pi/2, 0, 0.3]", "wheel 'left_tyre'"),
        ("rolling:", "gears: [{name: tie, joints: {left: 1, right: -1}}]\nrolling:", "gear 'tie'"),
    ],
)
def test_what_ties_motors_is_told(old, new, tied):
    """Two motors for two freedoms, of which one is the body's pitch: axles that meet, or a gear, leave the other."""
    text = (Path(linkwork.__file__).parent / "robots" / "segway.yaml").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(ModelError, match=f"depend on each other(.|\n)*2 degrees.* rank 1, coupled by {tied}"):
        linkwork.load(read_mdh(text.replace(old, new)))


def test_parts_of_a_base_are_suggested():
    """Where they are among the independent ones."""
    description = describe(linkwork.load("segway").model)
    with pytest.raises(ModelError, match=r"expected: 3 degrees of freedom(.|\n)*for example: base.ry, left, right"):
        linkwork.load(replace(description, independent=("left",)))
    with pytest.raises(ModelError, match=r"'base.rw', which does not exist(.|\n)*did you mean 'base.r[xyz]'"):
        linkwork.load(replace(description, independent=("base.rw", "left", "right")))


def test_brakes():
    """With its wheels locked the mobile manipulator is a Panda, and says that it stands."""
    with pytest.warns(UserWarning, match="no wheel can move along its plane"):
        braked = linkwork.load("mobile-manipulator", lock={"left": 0, "right": 0}).model
    q, v, tau = np.random.default_rng(0).normal(size=(3, 7))
    found = evaluate(braked, "forward_dynamics", np.append(braked.home[:7], q), v, tau)
    assert_close(found, evaluate(linkwork.load("panda").model, "forward_dynamics", q, v, tau))


@pytest.mark.parametrize("fine", [1.0, 1e6, 1e-6])
def test_gears_of_any_ratio(fine):
    """A fine screw beside a wheel: ranks are told by the ratios within each gear."""
    gear = f"\n  - {{joints: {{motor: {fine}, screw: {-fine}}}}}\n"
    nut = "  - {name: screw, link: nut, parent: body, sigma: 1}\nlinks:\n  - {link: nut, M: 1}\n"
    robot = cart(("offset: 0.25}\n", "offset: 0.25}" + gear), ("links:\n", nut))
    assert robot.nv == 2


def test_motors_of_what_cannot_move():
    """They have nothing to do, and all that they do cancels out."""
    robot = linkwork.load(read_mdh("""
name: locked
joints: [{name: a}, {name: b, d: 0.3}]
links: [{link: link1, M: 1, central: [1, 1, 1]}, {link: link2, M: 1, central: [1, 1, 1]}]
gears: [{joints: {a: 1, b: 2}}, {joints: {a: 1, b: -2}}]
actuation: redundant
"""))  # fmt: skip
    assert_close(robot.inverse_dynamics(robot.home, [], []), [0, 0])
    assert_close(robot.torque_projector(robot.home), np.eye(2))


def test_a_wobbling_wheel_is_told():
    wheel = "wheel: {link: left_wheel, rpy: [0.1, 0, 0]}, radius: 0.1"
    description = read_mdh(CART.replace(LEFT, wheel))
    assert any("wobbles" in str(finding) for finding in check(description))


def test_mecanum_wheels_in_files():
    """Read, written, shown and drawn by their fields alone; the default of the angle is not written."""
    right = "{name: r, wheel: {link: right_wheel}, radius: 0.1"
    robot = cart(
        (LEFT, f"kind: mecanum, roller_angle: -60 deg, {LEFT}"),
        (right, right.replace("wheel:", "kind: mecanum, wheel:")),
    )
    description = describe(robot.model)
    left, second, *_ = description.constraints
    assert_close(left.kind.roller_angle, -np.pi / 3)
    assert second.kind == Mecanum(0.1) and "roller_angle" not in second.kind.to_dict()
    bare = replace(description, constraints=())
    for again in (read_mdh(write_mdh(description)), apply(bare, read_structure(write_structure(description)))):
        kinds = {each.name: each.kind for each in again.constraints}
        assert_close(kinds["l"].roller_angle, -np.pi / 3)
        assert kinds["r"] == second.kind
    assert_close([loop["roller_angle"] for loop in inspect(robot)["loops"][:2]], [-np.pi / 3, np.pi / 4])
    assert any("roller_angle -1.0472" in str(table.rows) for table in element_tables(robot.model))
    assert len(Skeleton(robot.model, robot.home).wheels) == 2
    parallel = read_mdh(CART.replace(LEFT, f"kind: mecanum, roller_angle: 0, {LEFT}"))
    assert any("turning it moves nothing" in str(finding) for finding in check(parallel))


def test_files_are_written_as_they_were_read():
    """YAML, and the side file of a bare tree; planes on the ground and on links, all kinds."""
    description = read_mdh(CART)
    plane = replace(
        description.constraints[2], kind=Blade(), name="skate", second=("rotor", description.constraints[0].second[1])
    )
    description = replace(
        description, constraints=(*description.constraints, replace(plane, first=("body", plane.first[1])))
    )
    bare = replace(description, constraints=())
    for again in (read_mdh(write_mdh(description)), apply(bare, read_structure(write_structure(description)))):
        assert sorted(loop.name for loop in again.constraints) == ["both", "glide3", "l", "r", "skate"]
        for loop in description.constraints:
            other = next(each for each in again.constraints if each.name == loop.name)
            assert loop.kind == other.kind
            for side in ("first", "second"):
                (link, at), (same, there) = getattr(loop, side), getattr(other, side)
                assert link == same
                if not loop.kind.coordinates:
                    assert_close(there.rotation, at.rotation, scale=1)
                    assert_close(there.translation, at.translation, scale=1)


def test_a_plane_need_not_know_the_load():
    """In a plane nothing tells how it is pressed on."""
    robot = linkwork.load(read_mdh("""
name: sledge
joints: [{name: body, kind: planar}]
links: [{link: link1, M: 2, center: [0.3, 0, 0], central: [0.1, 0.1, 0.15]}]
drives: [{joint: body, role: passive}]
rolling: [{name: skate, kind: blade, wheel: {link: link1, alpha: -pi/2}, friction: 0.5}]
"""))  # fmt: skip
    loads = robot.contact_forces(robot.home, [1.0, 1.0], [0, 0])
    assert np.isnan(loads.normal).all() and abs(loads.across[0]) > 0.1
    assert not loads.slips.any() and not loads.lifts.any()
    with pytest.raises(linkwork.UnsupportedError, match="has no contacts with the ground"):
        linkwork.load("planar2r").contact_forces([0, 0], [0, 0], [0, 0])


def test_a_straight_snake_is_singular():
    """Its axles are parallel: refused as a home, and told of motions that pass."""
    description = describe(linkwork.load("snake").model)
    with pytest.raises(ModelError, match="the motors do not determine how the robot rolls there"):
        linkwork.load(replace(description, home={}, independent=()))
    robot = linkwork.load("snake")
    q = np.array(robot.home)
    q[3:] = 1e-3 * q[3:]
    assert robot.conditioning(q) < 1e-2
    with pytest.warns(linkwork.SimulationWarning, match="axles are nearly parallel there, or meet in a point"):
        robot.simulate(q, duration=0.01, method="rk4")


def test_contact_forces_know_thrusters_and_wrenches():
    """What lifts the body is taken from the wheels; commands that are not said are no zeros."""
    robot = linkwork.load("differential-drive")
    v, tau = [3.0, 5.0], [0.2, 0.3]
    alone = robot.contact_forces(robot.home, v, tau).normal.sum()
    pushed = robot.contact_forces(robot.home, v, tau, wrenches={"body": [0, 0, 4, 0, 0, 0]}).normal.sum()
    lifted = robot.with_forces({"body": linkwork.forces.Thruster(axis=(0, 0, 1))})
    with pytest.raises(linkwork.ShapeError, match=r"commands are missing(.|\n)*expected: commands \(1,\): body"):
        lifted.contact_forces(robot.home, v, tau)
    assert_close(pushed, alone - 4)
    assert_close(lifted.contact_forces(robot.home, v, tau, commands=[4.0]).normal.sum(), alone - 4)


def test_a_wheel_without_friction_slips_quietly():
    """NumPy has nothing to say of a division by its coefficient."""
    robot = cart(("friction: 0.8", "friction: 0"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = robot.simulate(v0=[1.0, -2.0], duration=0.01)
    assert {each.category for each in caught} == {linkwork.SimulationWarning}
    assert any("l would slip: l needs friction" in note and "and has 0," in note for note in motion.notes)
