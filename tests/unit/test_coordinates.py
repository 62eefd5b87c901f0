"""Positions and tangents of every kind of joint: steps, differences, rates, names, and vectors by name.

Pinocchio's integrate and difference are the reference, through the maps of ``support.pinocchio_tree``.
"""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import linkwork
from linkwork.errors import ShapeError, UnknownNameError, UnsupportedError
from linkwork.model import build
from support.evaluate import assert_close, cross_matrix, deviation, rotation_of
from support.mixed_trees import KINDS, PARTS, SIZES, TREES, MixedRecipe, joint_order, mixed
from support.pinocchio_tree import PinocchioTree

TINY = (1e-300, 1e-160, 1e-100, 1e-20, 1e-12, 1e-8, 1e-6, 1e-4)
TURNS = (1e-3, 0.1, 1.0, 2.0, 3.0, 3.14, np.pi - 1e-6, np.pi - 1e-9, np.pi - 1e-13)
LARGE = (np.pi + 1e-9, 4.0, 6.28, 2 * np.pi, 7.0, 100.0)


@cache
def both(recipe: MixedRecipe):
    """Our coordinates, and Pinocchio's tree."""
    coordinates = build(mixed(recipe)).coordinates
    return coordinates, PinocchioTree(mixed(recipe), joint_order(coordinates.names))


def alone(kind: str):
    return both(MixedRecipe(1, (kind,)))


def directed(kind: str, turn: float, seed: int) -> np.ndarray:
    """A random velocity whose angular part has this size."""
    v = np.random.default_rng(seed).uniform(-1, 1, SIZES[kind][1])
    angular = {"planar": slice(2, 3), "spherical": slice(0, 3), "floating": slice(3, 6)}.get(kind, slice(0))
    v[angular] *= turn / max(np.linalg.norm(v[angular]), 1e-9)
    return v


every_kind = pytest.mark.parametrize("kind", KINDS)


# -- steps and differences -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES)
def test_equal_to_pinocchio(tree: str):
    """On whole trees, where the layout counts too. Theirs keeps angles within half a turn."""
    coordinates, peer = both(TREES[tree])
    for seed in range(3):
        q, v, _ = peer.places.state(seed, unit=True)
        other, _, _ = peer.places.state(seed + 100, unit=True)
        found = coordinates.integrate(q, v)
        assert_close(found, peer.places.same(peer.integrate(q, v), found))
        near = peer.places.same(peer.integrate(q, 0.5 * v), q)
        assert_close(coordinates.difference(q, near), 0.5 * v)
        assert_close(coordinates.difference(q, near), peer.difference(q, near))
        back = coordinates.integrate(q, coordinates.difference(q, other))
        assert_close(back, peer.places.same(other, back))


def pose(kind: str, q: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    if kind == "planar":
        c, s = np.cos(q[2]), np.sin(q[2])
        T[:2, :2], T[:2, 3] = [[c, -s], [s, c]], q[:2]
    else:
        T[:3, :3], T[:3, 3] = rotation_of(q[-4:]), q[:-4] if kind == "floating" else 0
    return T


def exponential(kind: str, v: np.ndarray) -> np.ndarray:
    """The motion of unit time as a 4 x 4 matrix, in fifty digits."""
    linear, angular = {"planar": ([*v[:2], 0], [0, 0, v[-1]]), "spherical": ([0] * 3, v), "floating": (v[:3], v[3:])}[
        kind
    ]
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = cross_matrix(angular), linear
    with mpmath.workdps(50):
        return np.array(mpmath.expm(mpmath.matrix(twist.tolist())).tolist(), float)


@pytest.mark.parametrize("turn", (0.0, *TINY, *TURNS, *LARGE))
@pytest.mark.parametrize("kind", ["planar", "spherical", "floating"])
def test_steps_of_any_size(kind: str, turn: float):
    """Arcs and screws of tiny, half and many turns. (Pinocchio's arc is off by 1e-5 at a turn of 1e-12.)"""
    coordinates, peer = alone(kind)
    for seed in range(4):
        start, v = peer.places.state(seed, unit=True)[0], directed(kind, turn, seed)
        found, expected = pose(kind, coordinates.integrate(start, v)), pose(kind, start) @ exponential(kind, v)
        assert_close(found, expected, tolerance=2e-15 * max(1.0, turn))


@pytest.mark.parametrize("turn", (*TINY, *TURNS))
@pytest.mark.parametrize("kind", ["planar", "spherical", "floating"])
def test_difference_undoes_a_step(kind: str, turn: float):
    """From the neutral position to the last digits of the smallest turn; from elsewhere to those of q."""
    coordinates, peer = alone(kind)
    q, _, _ = peer.places.state(2, unit=True)
    for seed in range(4):
        v = directed(kind, turn, seed)
        assert_close(coordinates.difference(q, coordinates.integrate(q, v)), v, scale=1.0, tolerance=1e-14)
        turning = v.copy()
        if kind != "spherical":
            turning[: 2 if kind == "planar" else 3] *= turn  # of a size with the turn
        neutral = coordinates.neutral()
        assert_close(coordinates.difference(neutral, coordinates.integrate(neutral, turning)), turning, tolerance=1e-13)


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_quaternions_of_the_other_sign(kind: str):
    """The shorter way is taken, whichever sign either quaternion has; the sign of the first is kept by a step."""
    coordinates, peer = alone(kind)
    (q, v, _), (other, *_) = peer.places.state(3, unit=True), peer.places.state(4, unit=True)
    (name,) = peer.places.order
    at = peer.places.quaternion(name)

    def opposite(x):
        x = x.copy()
        x[at] *= -1
        return x

    expected = peer.difference(q, other)
    for one in (q, opposite(q)):
        for two in (other, opposite(other)):
            assert_close(coordinates.difference(one, two), expected)
    assert np.linalg.norm(expected[-3:]) < np.pi
    assert_close(
        coordinates.integrate(opposite(q), v), opposite(coordinates.integrate(q, v)), scale=1.0, tolerance=1e-15
    )


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_half_turns(kind: str):
    """Of exactly half a turn either direction will do, but it is found."""
    coordinates, peer = alone(kind)
    q = coordinates.neutral()
    (name,) = peer.places.order
    for axis in np.vstack([np.eye(3), [[0.6, 0, 0.8]], [[0, -1, 0]]]):
        half = q.copy()
        half[peer.places.quaternion(name)] = [*axis, 0.0]
        found = coordinates.difference(q, half)
        assert np.linalg.norm(found[-3:]) == pytest.approx(np.pi, rel=1e-15)
        assert_close(peer.places.same(coordinates.integrate(q, found), half), half, tolerance=1e-15)


def test_angles_count_whole_turns():
    """An angle is a number: seven is not seven less a turn. But a planar joint goes the shorter way, as some arcs of
    more than half a turn have no end."""
    for kind in ("revolute", "continuous", "helical", "cylindrical", "universal"):
        coordinates, _ = alone(kind)
        q = coordinates.neutral()
        v = coordinates.difference(q, q + 7.0)
        assert np.array_equal(v, np.full(coordinates.nv, 7.0))
        assert np.array_equal(coordinates.integrate(q, v), q + 7.0)
    coordinates, _ = alone("planar")
    v = coordinates.difference(np.zeros(3), np.array([1.0, 2.0, 7.0]))
    assert_close(coordinates.integrate(np.zeros(3), v), [1.0, 2.0, 7.0 - 2 * np.pi], tolerance=1e-15)


@every_kind
def test_rates_are_the_derivative_of_steps(kind: str):
    """By differences of steps, extrapolated; and against what is written down in ``support``."""
    coordinates, peer = alone(kind)
    q, v, _ = peer.places.state(5, unit=True)

    def slope(h: float) -> np.ndarray:
        return (coordinates.integrate(q, h * v) - coordinates.integrate(q, -h * v)) / (2 * h)

    table = [slope(0.2 / 2**k) for k in range(6)]
    for power in range(1, 6):
        table = [(4**power * fine - coarse) / (4**power - 1) for coarse, fine in pairwise(table)]
    assert_close(coordinates.rates(q, v), table[0], scale=1.0)
    assert_close(coordinates.rates(q, v), peer.places.rates(q, v), scale=1.0, tolerance=1e-15)
    both, twice = np.stack([q, coordinates.integrate(q, v)]), np.stack([v, -v])
    T = coordinates.tangent(both)
    assert T.shape == (2, coordinates.nq, coordinates.nv)
    assert_close(np.einsum("bij,bj->bi", T, twice), coordinates.rates(both, twice), scale=1.0, tolerance=1e-15)
    assert_close(coordinates.velocities_of(both, coordinates.rates(both, twice)), twice, scale=1.0, tolerance=1e-14)


# -- batches ---------------------------------------------------------------------------------------------------------


def test_batches():
    coordinates, peer = both(TREES["floating base"])
    q = np.array([peer.places.state(seed, unit=True)[0] for seed in range(6)]).reshape(3, 2, -1)
    v = np.array([peer.places.state(seed)[1] for seed in range(2)])
    moved = coordinates.integrate(q, v)
    assert moved.shape == q.shape
    for i in range(3):
        for j in range(2):
            assert_close(moved[i, j], coordinates.integrate(q[i, j], v[j]), tolerance=0)
            assert_close(coordinates.rates(q, v)[i, j], coordinates.rates(q[i, j], v[j]), tolerance=0)
            assert_close(
                coordinates.difference(q, moved)[i, j], coordinates.difference(q[i, j], moved[i, j]), tolerance=0
            )
            assert_close(coordinates.normalised(2 * q)[i, j], coordinates.normalised(2 * q[i, j]), tolerance=0)
    one = coordinates.integrate(q[0, 0], v)  # one position, many velocities
    assert_close(one, [coordinates.integrate(q[0, 0], each) for each in v], tolerance=0)
    assert coordinates.integrate(q[:0], v).shape == (0, 2, peer.places.nq)


def test_inputs_are_left_as_they_are():
    coordinates, peer = both(TREES["deep"])
    q, v, _ = peer.places.state(1, unit=True)
    before = q.copy(), v.copy()
    coordinates.integrate(q, v)
    coordinates.difference(q, coordinates.neutral())
    coordinates.normalised(q)
    coordinates.rates(q, v)
    assert np.array_equal(q, before[0]) and np.array_equal(v, before[1])


# -- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES)
def test_neutral_and_normalised(tree: str):
    coordinates, peer = both(TREES[tree])
    neutral = coordinates.neutral()
    expected = np.zeros(peer.places.nq)
    for name in peer.places.quaternions:
        expected[peer.places.quaternion(name).stop - 1] = 1
    assert neutral.shape == (coordinates.nq,) and np.array_equal(neutral, expected)
    q, *_ = peer.places.state(1)  # quaternions of other lengths
    assert_close(coordinates.normalised(q), peer.places.normalised(q), tolerance=4e-16)


def test_random_positions():
    """Within limits, angles without them anywhere in a turn, rotations evenly; the same for the same generator."""
    coordinates, peer = both(MixedRecipe(3, KINDS, extras=True))
    places, joints = peer.places, {joint.name: joint for joint in peer.description.joints}
    many = coordinates.random(np.random.default_rng(1), 4000)
    assert many.shape == (4000, coordinates.nq)
    assert np.array_equal(many, coordinates.random(np.random.default_rng(1), 4000))
    assert not np.array_equal(many, coordinates.random(np.random.default_rng(2), 4000))
    assert_close(many, coordinates.normalised(many), tolerance=1e-15)
    for name, kind in places.kinds.items():
        own = many[:, places.q[name]]
        if kind in ("revolute", "prismatic"):
            lower, upper = joints[name].lower, joints[name].upper
            assert np.isfinite([lower, upper]).all() and (own >= lower).all() and (own <= upper).all()
            assert own.min() < lower + 0.01 * (upper - lower) and own.max() > upper - 0.01 * (upper - lower)
        if kind == "continuous":
            assert -np.pi <= own.min() < -3 and 3 < own.max() <= np.pi
        assert (own.std(axis=0) > 0.1).all()
    for name in places.quaternions:
        x = many[:, places.quaternion(name)]
        assert_close(x.T @ x / len(x), np.eye(4) / 4, scale=1.0, tolerance=0.03)


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES)
def test_names(tree: str):
    coordinates, peer = both(TREES[tree])
    assert (coordinates.nq, coordinates.nv) == (peer.places.nq, peer.places.nv)
    for side, names in enumerate((coordinates.names, coordinates.velocity_names)):
        expected = [
            f"{joint}.{part}".rstrip(".")
            for joint in peer.places.order
            for part in PARTS.get(peer.places.kinds[joint], ("", ""))[side].split(" ")
        ]
        assert list(names) == expected


def test_of_a_robot():
    robot = linkwork.load(mixed(TREES["deep"]))
    assert robot.coordinates.names == robot.model.coordinates.names
    assert (robot.nq, robot.nv) == (robot.coordinates.nq, robot.coordinates.nv)
    assert deviation(robot.coordinates.neutral(), robot.model.coordinates.neutral()) == 0


def test_positions_of_velocities():
    """Where they are rates of positions; also of the motors, for controllers."""
    description = mixed(MixedRecipe(2, ("spherical", "revolute", "cylindrical", "planar", "universal")))
    passive = ("spherical", "planar")
    joints = tuple(replace(j, role="passive") if j.kind in passive else j for j in description.joints)
    robot = linkwork.load(replace(description, joints=joints))
    coordinates = robot.coordinates
    q, names = coordinates.random(1), [*robot.motor_names]
    assert names == ["joint2", "joint3.shift", "joint3.turn", "joint5.first", "joint5.second"]
    expected = [q[coordinates.names.index(name)] for name in names]
    assert linkwork.TracedRobot(robot).motor_positions(q).tolist() == expected
    for name in ("joint1.rx", "joint4.x", "joint4.rz"):
        assert coordinates.position_of(coordinates.velocity_names.index(name)) is None
    with pytest.raises(UnsupportedError, match=r"joint 'joint1': .*\n  got: a spherical joint with a motor"):
        linkwork.TracedRobot(linkwork.load(description)).motor_positions(q)


# -- vectors by name -------------------------------------------------------------------------------------------------


def test_dicts_and_arrays():
    """By joint, by entry, or both; a batch of some with one of others; and back."""
    coordinates, peer = both(TREES["floating base"])
    q = coordinates.random(1, 5)
    by_joint = coordinates.positions.to_dict(q)
    assert [*by_joint] == list(peer.places.order)
    for name, kind in peer.places.kinds.items():
        size = SIZES[kind][0]
        assert by_joint[name].shape == ((5,) if size == 1 else (5, size))
    assert np.array_equal(coordinates.positions.to_array(by_joint), q)
    by_entry = dict(zip(coordinates.names, q.T))
    assert np.array_equal(coordinates.positions.to_array(by_entry), q)
    ball = next(name for name, kind in peer.places.kinds.items() if kind == "spherical")
    some = {name: x for name, x in by_joint.items() if name != ball}
    some |= {name: 0.5 for name in coordinates.names if name.startswith(f"{ball}.")}
    q[:, peer.places.q[ball]] = 0.5
    assert np.array_equal(coordinates.positions.to_array(some), q)
    v = np.arange(1.0, 1 + coordinates.nv)
    assert np.array_equal(coordinates.velocities.to_array(coordinates.velocities.to_dict(v)), v)
    assert_close(
        coordinates.integrate(some, coordinates.velocities.to_dict(v)), coordinates.integrate(q, v), tolerance=0
    )
    assert_close(coordinates.integrate(q[0].tolist(), v.tolist()), coordinates.integrate(q[0], v), tolerance=0)
    assert_close(coordinates.integrate(q.tolist(), v.tolist()), coordinates.integrate(q, v), tolerance=0)


def test_entries_that_are_missing_are_named():
    coordinates, _ = both(MixedRecipe(kinds=("revolute", "planar", "spherical")))
    given = {"joint1": 0.0, "joint2.x": 1.0}
    with pytest.raises(ShapeError, match=r"expected: also joint2\.y, joint2\.rz, joint3$"):
        coordinates.velocities.to_array(given)


def refused(error, message: str, act, *inputs) -> None:
    with pytest.raises(error, match=message):
        act(*inputs)


def test_what_does_not_fit_is_told():
    coordinates, peer = both(MixedRecipe(1, ("revolute", "spherical", "planar")))
    q, v = coordinates.random(1), np.ones(7)
    joints = coordinates.positions.to_dict(q)
    first, ball, plane = peer.places.order
    shape = r"coordinates: wrong shape\n  got: \({}\)\n  expected: \(\.\.\., {}\)"
    refused(ShapeError, shape.format("7,", 8), coordinates.integrate, q[:-1], v)
    refused(ShapeError, shape.format("9,", 8), coordinates.integrate, [*q, 1.0], [*v])
    refused(ShapeError, shape.format("2, 8", 7), coordinates.rates, q, np.ones((2, 8)))
    refused(ShapeError, shape.format("8, 1", 8), coordinates.difference, q, q[:, None])
    refused(ShapeError, shape.format("", 8), coordinates.normalised, np.array(1.0))
    message = r"batch axes do not fit together\n  got: \(3, 8\) and \(2, 7\)"
    refused(ShapeError, message, coordinates.integrate, np.tile(q, (3, 1)), np.ones((2, 7)))
    refused(ShapeError, "a quaternion is zero", coordinates.integrate, np.zeros(8), v)
    refused(UnknownNameError, "there is no joint 'elbow'", coordinates.integrate, joints | {"elbow": 1.0}, v)
    del joints[plane]
    message = rf"joints are missing\n  got: {first}, {ball}\n  expected: also {plane}"
    refused(ShapeError, message, coordinates.integrate, joints, v)
    short = joints | {plane: [1.0, 2.0]}
    refused(
        ShapeError,
        rf"'{plane}': wrong shape\n  got: \(2,\)\n  expected: \(\.\.\., 3\)",
        coordinates.positions.to_array,
        short,
    )
    unlike = {first: np.zeros(3), ball: np.ones((2, 4)), plane: np.zeros(3)}
    refused(ShapeError, "batch axes do not fit together", coordinates.positions.to_array, unlike)
    refused(UnknownNameError, "there is no entry 'x'", coordinates.positions.at, "x")
    refused(ShapeError, "a quaternion is zero", coordinates.normalised, [0.0] * 8)
    refused(ShapeError, "these are not real numbers", coordinates.integrate, q.astype(str), v)
    refused(ShapeError, "these are not real numbers", coordinates.difference, q, 1j * q)
    refused(ShapeError, "this is not a rectangular array", coordinates.normalised, [q.tolist(), q[1:].tolist()])
    twice = coordinates.positions.to_dict(q) | {f"{ball}.qx": 0.5}
    refused(ShapeError, f"'{ball}' is given as a whole\n  got: also {ball}.qx", coordinates.integrate, twice, v)
