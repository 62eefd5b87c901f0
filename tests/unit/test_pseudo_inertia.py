"""Whether a body can be: against clouds of points, which are, and eigenvalues of 4 x 4 matrices."""

import numpy as np
import pytest

from linkwork.model.pseudo_inertia import ELEMENTS, margin, pseudo_inertia, unphysical


def cloud(rng: np.random.Generator, points: int) -> tuple[np.ndarray, np.ndarray]:
    """The ten numbers of a few points with mass, and the integral of (r, 1) (r, 1)^T."""
    at, masses = rng.normal(size=(points, 3)) + rng.normal(size=3), rng.uniform(0.1, 1, points)
    J = np.sum([m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, at, strict=True)], axis=0)
    ones = np.hstack([at, np.ones((points, 1))])
    return np.array([masses.sum(), *(masses @ at), *J[np.triu_indices(3)]]), ones.T * masses @ ones


def test_clouds_of_points_can_be():
    rng = np.random.default_rng(0)
    for points in (1, 2, 3, 5, 20):
        for _ in range(20):
            ten, moments = cloud(rng, points)
            assert np.abs(pseudo_inertia(ten) - moments).max() < 1e-12 * np.abs(moments).max()
            assert unphysical(ten) == ""
            assert margin(ten) > 1e-4 if points == 20 else margin(ten) > -1e-9


def test_it_is_the_sign_of_the_smallest_eigenvalue():
    rng = np.random.default_rng(1)
    told = []
    for _ in range(300):
        ten = cloud(rng, 6)[0]
        ten = ten + rng.normal(size=10) * 0.3 * np.abs(ten)
        smallest = np.linalg.eigvalsh(pseudo_inertia(ten))[0]
        if abs(smallest) > 1e-6:
            told.append(bool(unphysical(ten)))
            assert told[-1] == (smallest < 0) == (margin(ten) < 0), ten
    assert 30 < sum(told) < 270


def test_margins():
    ball, plate, rod = [2, 0, 0, 0, 1, 0, 0, 1, 0, 1], [2, 0, 0, 0, 1, 0, 0, 1, 0, 2], [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert [margin(ten) for ten in (ball, plate, rod)] == [1, 0, 0]
    far = np.array([2, 60, 0, 0, 1, 0, 0, 1801, 0, 1801.0])  # the ball, 30 m away
    assert margin(far) == pytest.approx(1)
    assert margin(np.zeros(10)) == 0 and unphysical(np.zeros(10)) == ""
    assert margin([-1, *ball[1:]]) < 0 and margin([0, 1, 0, 0, 1, 0, 0, 1, 0, 1]) < 0


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"M": -1}, "its mass is negative: -1 kg"),
        ({"M": 0}, "it has inertia but no mass: principal moments 1, 1, 1 kg m^2"),
        ({"M": 0, "MX": 1}, "it has first moments but no mass: 1, 0, 0 kg m"),
        ({"M": np.inf}, "its numbers are not finite"),
        ({"ZZ": 2.5}, "the largest exceeds the others' sum by 0.5 kg m^2 (20 % of it)"),
        ({"XX": -0.2}, "its inertia is indefinite: principal moments -0.2, 1, 1 kg m^2"),
        ({"MX": 3}, "its centre of mass is 1.5 m from the origin, too far for its inertia about the origin"),
    ],
)
def test_what_is_wrong(changes: dict, message: str):
    ball = dict(zip(ELEMENTS, (2, 0, 0, 0, 1, 0, 0, 1, 0, 1), strict=True))
    assert message in unphysical(list((ball | changes).values()))
    assert "origin" not in unphysical(list((ball | {"ZZ": 2.5}).values()))
