"""Quaternions of rotation matrices: the same whatever the last bits of the matrix are."""

import math

import numpy as np
import pytest

from linkwork.model.rotations import frame_of_axis, quaternion_from_rotation
from linkwork.spatial import Pose
from support.evaluate import assert_close
from support.random_loops import spin
from support.random_robots import random_rotation


def matrix(quaternion) -> np.ndarray:
    return np.array([list(row) for row in Pose.of_quaternion((0, 0, 0), quaternion).rotation.rows])


@pytest.mark.parametrize("seed", range(20))
def test_there_and_back(seed: int):
    R = random_rotation(np.random.default_rng(seed))
    found = quaternion_from_rotation(R)
    assert math.hypot(*found) == pytest.approx(1, abs=1e-15) and found[3] >= 0
    assert_close(matrix(found), R)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 1, 0), (-1, 1, 1), (0.3, -0.4, 0.1)])
@pytest.mark.parametrize("angle", [0.0, math.pi / 2, -2.0, math.pi])
def test_last_bits_do_not_turn_it_round(axis, angle):
    """Quaternions of both signs stand for a half turn: one of them is taken."""
    R, rng = spin(np.array(axis) / np.linalg.norm(axis), angle), np.random.default_rng(0)
    found = quaternion_from_rotation(R)
    assert_close(matrix(found), R)
    for _ in range(10):
        assert_close(quaternion_from_rotation(R + rng.integers(-4, 5, (3, 3)) * 1e-16), found)


@pytest.mark.parametrize("axis", [(1, 1, 1), (1, 1, 2), (2, -1, 1), (0, 0, 1), (3, 0, 0), (-1, 2, -1)])
def test_last_bits_of_an_axis_do_not_turn_its_frame(axis):
    """x and y of a planar joint hang on it."""
    frame = frame_of_axis(np.array(axis, float))
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), rtol=0, atol=1e-15)
    np.testing.assert_allclose(frame[:, 2] * np.linalg.norm(axis), axis, rtol=0, atol=1e-15)
    for seed in range(20):
        noise = 1e-15 * np.random.default_rng(seed).normal(size=3)
        np.testing.assert_allclose(frame_of_axis(np.array(axis) + noise), frame, rtol=0, atol=1e-14)
