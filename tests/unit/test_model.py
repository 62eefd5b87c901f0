"""From Description to Model: frames and names, joints merged, options, what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.errors import ModelError, UnknownNameError
from linkwork.model import Description, JointDescription, Link, LinkInertia, Mimic, Placement, build
from linkwork.model.grouping import grouped
from linkwork.model.placement import placement_of, screws
from support.evaluate import assert_close, evaluate
from support.random_robots import RELATIONS, Recipe, describe, inertia, random_rotation, random_state, recipes, turned

RNG = np.random.default_rng(0)


def robot(*joints: JointDescription, **more) -> Description:
    names = dict.fromkeys(name for joint in joints for name in (joint.parent, joint.child))
    return Description("robot", tuple(Link(name, inertia(RNG)) for name in names), joints, **more)


def hinge(name: str, parent: str, child: str, **more) -> JointDescription:
    return JointDescription(name, more.pop("kind", "revolute"), parent, child, **more)


def test_depth_first_in_the_order_of_the_file():
    model = build(
        robot(
            hinge("left_tip", "left", "left_end"),
            hinge("to_right", "body", "right"),
            hinge("to_left", "body", "left"),
            hinge("right_tip", "right", "right_end"),
        )
    )
    assert model.joint_names == ("to_right", "right_tip", "to_left", "left_tip")
    assert model.link_names == ("left", "left_end", "body", "right", "right_end")  # in the order of the file
    assert [model.body(i).parent for i, _ in model.outward()] == [0, 1, 0, 3]
    assert list(model.ancestors(4)) == [3] and [i for i, _ in model.inward()] == [4, 3, 2, 1]


def test_sizes_of_fixed_and_floating_robots():
    description = describe(Recipe(seed=1, joints=4, fixed=True))
    fixed, floating = build(description), build(description, base="floating")
    assert (fixed.nq, fixed.nv, fixed.n_bodies) == (4, 4, 4) and not fixed.moving_base
    assert (floating.nq, floating.nv, floating.n_bodies) == (11, 10, 5) and floating.moving_base
    assert fixed.joint_names == floating.joint_names and list(fixed.joint_freedoms("to_link2")) == [1]
    assert list(floating.joint_freedoms("to_link2")) == [7]
    assert set(fixed.frames) == {link.name for link in description.links} | {"tool"}


def test_fixed_joints_are_merged_and_their_mass_is_kept():
    description = describe(Recipe(seed=2, joints=3, fixed=True))
    model = build(description, base="floating")
    assert model.n_bodies == 4
    total = sum(link.inertia.mass for link in description.links if link.inertia is not None)
    assert sum(body.inertia.mass for body in model.bodies) == pytest.approx(total, rel=1e-15)


def test_axis_of_any_length():
    description = describe(Recipe(seed=3, joints=3))
    longer = replace(description, joints=tuple(replace(j, axis=j.axis * 1e3) for j in description.joints))
    model, other = build(description), build(longer)
    q, v, a = random_state(model)
    assert_close(evaluate(other, "inverse_dynamics", q, v, a), evaluate(model, "inverse_dynamics", q, v, a))


@pytest.mark.parametrize("relation", RELATIONS)
def test_placements_as_screws(relation: str):
    """Any placement is a chain of screws, to rounding, however the two z axes lie to each other."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        z = turned(np.array([0.0, 0.0, 1.0]), relation, rng)
        x = np.cross(z, rng.normal(size=3))
        x /= np.linalg.norm(x)
        R = np.stack([x, np.cross(z, x) / np.linalg.norm(z), z / np.linalg.norm(z)], axis=1)
        p = rng.uniform(-1, 1, 3) * (1, 1, rng.integers(2)) if relation != "coaxial" else np.array([0, 0, 0.5])
        chain = screws(Placement(R, p))
        made = placement_of(chain)
        assert_close(made.rotation, R, tolerance=1e-13)
        assert_close(made.translation, p, scale=1.0, tolerance=1e-13)
        assert len(chain) <= 5 and all(screw.axis in "xz" for screw in chain)


@pytest.mark.parametrize("p", [(0, 0, 0), (0, 0, 0.3), (0.1, 0.2, 0.3)])
@given(st.floats(1e-14, 1e-9), st.sampled_from([1, -1]))
def test_placements_of_axes_that_are_parallel_but_for_rounding(p, angle: float, side: int):
    """Angles below 1e-12 are taken as rounding; the chain is never farther off than that, and never not a number."""
    c, s = side * math.cos(angle), math.sin(angle)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    made = placement_of(screws(Placement(R, np.array(p, float))))
    assert_close(made.rotation, R, tolerance=2.1e-12)
    assert_close(made.translation, np.array(p, float), scale=1.0, tolerance=2.1e-12)


def test_quarter_turns_leave_exact_zeros():
    """A planar robot of coordinate axes has no transform constants but lengths."""
    turn = Placement(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), np.array([0.3, 0, 0]))
    model = build(robot(hinge("a", "0", "1", origin=turn), hinge("b", "1", "2", origin=turn), hinge("c", "2", "3")))
    for i, _ in model.outward():
        for screw in model.joint(i).placement:
            assert screw.screw.c * screw.screw.s == 0


@given(recipes())
def test_grouped_parameters_have_the_same_forces(recipe: Recipe):
    model = build(describe(recipe))
    fewer = grouped(model)
    q, v, a = random_state(model, recipe.seed)
    M = evaluate(model, "inertia_matrix", q)
    assert_close(evaluate(fewer, "inertia_matrix", q), M)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    assert_close(evaluate(fewer, "inverse_dynamics", q, v, a), tau, scale=(np.abs(M) @ np.abs(a)).max())
    for body in fewer.bodies[model.moving_base :]:
        mass, h, J = body.inertia.mass, body.inertia.h, body.inertia.J
        assert set(J if body.joint.prismatic else (mass, h.z, J.yy)) == {0}


def test_link_inertia_about_its_origin():
    c, own = RNG.normal(size=3), inertia(RNG)
    body = LinkInertia(2.0, c, own.central)
    again = LinkInertia.about(2.0, body.first_moment, body.about_origin)
    assert_close(again.center, c)
    assert_close(again.central, own.central)
    assert LinkInertia.about(0.0, np.zeros(3), own.central).center.tolist() == [0, 0, 0]


def test_placements_compose_and_invert():
    P, Q = (Placement(random_rotation(RNG), RNG.normal(size=3)) for _ in range(2))
    x = RNG.normal(size=3)
    through = P.rotation @ (Q.rotation @ x + Q.translation) + P.translation
    assert_close((P @ Q).rotation @ x + (P @ Q).translation, through)
    assert_close((P @ P.inverse()).rotation, np.eye(3))
    assert np.abs((P @ P.inverse()).translation).max() < 1e-15


def test_mimic_of_a_fixed_or_locked_joint_stays():
    follower = hinge("b", "1", "2", mimic=Mimic("a", 2.0, 0.5))
    model = build(robot(hinge("a", "0", "1", kind="fixed"), follower))
    assert model.nv == 0
    free = build(robot(hinge("a", "0", "1", kind="fixed"), replace(follower, mimic=None)))
    assert_close(evaluate(model, "pose", [], frame="2"), evaluate(free, "pose", [0.5], frame="2"))


PAIR = robot(hinge("a", "0", "1"), hinge("b", "1", "2", mimic=Mimic("a")), hinge("c", "2", "3"))
REFUSED = {
    "base": (
        lambda: build(PAIR, base="flying"),
        UnknownNameError,
        "there is no kind of base 'flying'\n  expected: one of: fixed, floating",
    ),
    "gravity": (lambda: build(PAIR, gravity=(0, 9.81)), ModelError, "gravity has three components"),
    "gravity nan": (lambda: build(PAIR, gravity=(0, 0, math.nan)), ModelError, "gravity must be finite numbers"),
    "gravity number": (lambda: build(PAIR, gravity=9.81), ModelError, r"got: 9.81\n  expected: an acceleration vector"),
    "lock nan": (lambda: build(PAIR, lock={"a": math.nan}), ModelError, "lock of joint 'a' must be finite"),
    "lock text": (lambda: build(PAIR, lock={"a": "x"}), ModelError, "expected: a position in rad or m"),
    "lock unknown": (lambda: build(PAIR, lock={"d": 0}), UnknownNameError, "there is no joint 'd'"),
    "lock follower": (
        lambda: build(PAIR, lock={"b": 0}),
        ModelError,
        "'b' follows 'a'(.|\n)*fix: lock 'a', or load with mimic=False",
    ),
    "frame": (lambda: build(PAIR).frame("4"), UnknownNameError, "robot 'robot': there is no frame '4'"),
    "joint": (lambda: build(PAIR).joint_freedoms("b"), UnknownNameError, "there is no joint 'b'"),
    "axis": (lambda: build(robot(hinge("a", "0", "1", axis=np.zeros(3)))), ModelError, "joint 'a': its axis is zero"),
    "cycle": (lambda: build(robot(hinge("a", "0", "1"), hinge("b", "1", "0"))), ModelError, "its own ancestor"),
    "two parents": (lambda: build(robot(hinge("a", "0", "1"), hinge("b", "0", "1"))), ModelError, "child of 2 joints"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str):
    call, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "names", [("base", "floating_base"), ("base.x", "floating_base.rx"), ("floating_base2", "base")]
)
def test_a_floating_base_has_a_name_of_its_own(names):
    links = tuple(Link(f"link{k}", LinkInertia(1.0, np.zeros(3), np.eye(3))) for k in range(3))
    joints = tuple(JointDescription(name, "revolute", f"link{k}", f"link{k + 1}") for k, name in enumerate(names))
    model = build(Description("names", links, joints, floating=True))
    assert len(set(model.coordinates.names)) == model.nq == 9
