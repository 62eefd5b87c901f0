"""References: their velocities and accelerations are derivatives, they rest at their ends, they keep limits."""

import pickle

import numpy as np
import pytest

from linkwork.control import Fourier, Point, Quintic, Sampled, Trapezoidal
from linkwork.errors import LinkworkError, ShapeError, UnsupportedError
from linkwork.program import Port, interpret, optimize, trace
from support.evaluate import STEP, assert_close

rng = np.random.default_rng(0)
START, GOAL = rng.normal(size=3), rng.normal(size=3)
TIMES = np.array([0.0, 0.3, 0.5, 1.1, 1.2, 2.0])
KNOTS, SLOPES, BENDS = rng.normal(size=(3, 6, 3))
REFERENCES = {
    "quintic": Quintic(START, GOAL, 1.7),
    "late": Quintic(START, GOAL, 0.4, begin=0.8),
    "trapezoid": Trapezoidal(START, GOAL, velocity=[1.0, 2.0, 0.5], acceleration=3.0),
    "triangle": Trapezoidal(START, GOAL, velocity=50.0, acceleration=[3.0, 9.0, 4.0], begin=0.25),
    "fourier": Fourier(START, rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), 0.7),
    "spline": Sampled(TIMES, KNOTS),
    "cubics": Sampled(TIMES, KNOTS, SLOPES),
    "quintics": Sampled(TIMES, KNOTS, SLOPES, BENDS),
}
TRACEABLE = [name for name, reference in REFERENCES.items() if reference.traceable]
AT = rng.uniform(-0.5, 3.0, 60)


@pytest.mark.parametrize("name", REFERENCES)
def test_velocity_and_acceleration_are_derivatives(name):
    reference = REFERENCES[name]
    moved = reference(AT + 1j * STEP)
    point = reference.sample(AT)
    assert all(part.shape == (len(AT), 3) and part.dtype == float for part in point)
    assert_close(moved.q.imag / STEP, point.v)
    assert_close(moved.v.imag / STEP, point.a)
    assert np.abs(point.v).max() > 0.1 and np.abs(point.a).max() > 0.1


@pytest.mark.parametrize("name", REFERENCES)
def test_one_time_and_many_are_the_same(name):
    reference = REFERENCES[name]
    one = [reference(t) for t in AT.tolist()]
    assert isinstance(one[0], Point) and all(part.shape == (3,) for part in one[0])
    for alone, together in zip(zip(*one, strict=True), reference.sample(AT), strict=True):
        assert np.array_equal(alone, together)
    again = pickle.loads(pickle.dumps(reference))
    assert np.array_equal(again.sample(AT).a, reference.sample(AT).a)


@pytest.mark.parametrize("name", TRACEABLE)
def test_traced_as_evaluated(name):
    reference = REFERENCES[name]
    program = trace("reference", lambda t: reference(t)._asdict(), [Port("t", ())])
    for made in (program, optimize(program)):
        for traced, plain in zip(interpret(made, [AT]), reference.sample(AT), strict=True):
            assert_close(traced, plain)


@pytest.mark.parametrize("name", ["quintic", "late", "trapezoid", "triangle"])
def test_rests_at_start_and_goal(name):
    reference = REFERENCES[name]
    end = reference.begin + reference.duration
    before, after = (
        reference.sample([reference.begin - 7.0, reference.begin - 1e-9]),
        reference.sample([end + 1e-9, 99]),
    )
    assert np.array_equal(before.q, [START, START])
    assert_close(after.q, np.array([GOAL, GOAL]))
    for point in (before, after):
        assert_close(point.v, np.zeros((2, 3)), scale=1.0)
        assert_close(point.a, np.zeros((2, 3)), scale=1.0)
    assert_close(reference(reference.begin + reference.duration / 2).q, (START + GOAL) / 2)


def test_quintic_starts_and_ends_smoothly():
    reference = REFERENCES["quintic"]
    ends = reference.sample([1e-6, reference.duration - 1e-6])
    assert np.abs(ends.v).max() < 1e-9 and np.abs(ends.a).max() < 1e-3
    assert_close(reference(reference.duration / 2).v, 1.875 * (GOAL - START) / reference.duration)  # the largest


def test_trapezoid_keeps_its_limits_and_meets_one():
    for name, velocity, acceleration in (
        ("trapezoid", np.array([1.0, 2.0, 0.5]), np.full(3, 3.0)),
        ("triangle", np.full(3, 50.0), np.array([3.0, 9.0, 4.0])),
    ):
        reference = REFERENCES[name]
        point = reference.sample(np.linspace(reference.begin, reference.begin + reference.duration, 1001))
        v, a = np.abs(point.v).max(axis=0) / velocity, np.abs(point.a).max(axis=0) / acceleration
        assert max(v.max(), a.max()) <= 1 + 1e-12 and a.max() > 1 - 1e-12
        assert (v.max() > 1 - 1e-12) == (name == "trapezoid")
        share = (point.q - START) / (GOAL - START)
        assert np.allclose(share, share[:, :1], atol=1e-12)  # together, on a straight line


def test_trapezoid_by_hand():
    reference = Trapezoidal([0.0], [3.0], velocity=1.0, acceleration=0.5)
    assert reference.duration == 5.0  # 2 s up, 1 s level, 2 s down
    point = reference.sample([0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0])
    assert point.q[:, 0].tolist() == [0, 0.25, 1, 1.5, 2, 2.75, 3]
    assert point.v[:, 0].tolist() == [0, 0.5, 1, 1, 1, 0.5, 0]
    assert point.a[:, 0].tolist() == [0.5, 0.5, 0, 0, -0.5, -0.5, 0]
    assert Trapezoidal([0.0], [1.0], velocity=9.0, acceleration=4.0).duration == 1.0


def test_trapezoid_without_a_way():
    reference = Trapezoidal([1.0, 2.0], [1.0, 2.0], velocity=1.0, acceleration=1.0)
    assert reference.duration == 0 and reference(0.5).q.tolist() == [1, 2] and not reference(0.5).v.any()
    half = Trapezoidal([1.0, 2.0], [1.0, 3.0], velocity=1.0, acceleration=1.0)  # a joint that stays limits nothing
    assert half.duration == 2 and half(2.0).q.tolist() == [1, 3]


def test_fourier_by_its_sum():
    reference = REFERENCES["fourier"]
    k = 2 * np.pi * 0.7 * np.arange(1, 5)
    expected = START + np.sin(np.outer(AT, k)) @ reference.sines.T + np.cos(np.outer(AT, k)) @ reference.cosines.T
    assert_close(reference.sample(AT).q, expected)
    assert_close(reference(0.3 + reference.duration).q, reference(0.3).q)


def test_spline_is_smooth_and_rests():
    spline = REFERENCES["spline"]
    assert_close(spline.sample(TIMES).q, KNOTS)
    assert_close(spline.sample(TIMES[[0, -1]]).v, np.zeros((2, 3)), scale=1.0)
    beside = 1e-9
    left, right = spline.sample(TIMES[1:-1] - beside), spline.sample(TIMES[1:-1] + beside)
    assert_close(left.v, right.v, tolerance=1e-6)  # a step of 2e-9 times the acceleration
    assert_close(left.a, right.a, tolerance=1e-6)
    assert np.array_equal(spline(-1.0).q, KNOTS[0]) and not spline(-1.0).a.any()
    assert_close(spline(5.0).q, KNOTS[-1])
    # between two points: the cubic 3 x^2 - 2 x^3
    assert_close(Sampled([0, 2], [[0.0], [1.0]])(0.5).q, np.array([0.15625]))


def test_sampled_meets_what_is_given():
    for name, orders in (("cubics", 2), ("quintics", 3)):
        for part, given in list(zip(REFERENCES[name].sample(TIMES), (KNOTS, SLOPES, BENDS), strict=True))[:orders]:
            assert_close(part, given)
    outside = REFERENCES["quintics"].sample([-1e-6, 2.0 + 1e-6])
    assert not outside.v.any() and not outside.a.any()
    t = np.linspace(0, 1, 7)
    fifth = Sampled(t, *(np.c_[x] for x in (t**5, 5 * t**4, 20 * t**3)))  # a polynomial that it must know exactly
    assert_close(fifth.sample(AT.clip(0, 1)).q[:, 0], AT.clip(0, 1) ** 5)


def test_sampled_is_not_traced():
    assert not Sampled.traceable
    with pytest.raises(UnsupportedError, match=r"cannot be traced\n  fix: sample it"):
        trace("f", lambda t: REFERENCES["spline"](t)._asdict(), [Port("t", ())])


WRONG = {
    "goal of another length": (lambda: Quintic([0, 1], [1], 1.0), ShapeError, r"goal does not fit start\n.*\(1,\)"),
    "a table": (lambda: Quintic([[0, 1]], [[1, 2]], 1.0), ShapeError, r"Quintic.start: wrong shape"),
    "nothing": (lambda: Quintic([], [], 1.0), ShapeError, "wrong shape"),
    "words": (lambda: Quintic(["a"], [1], 1.0), ShapeError, r"not an array of numbers"),
    "not finite": (lambda: Quintic([0.0], [np.nan], 1.0), LinkworkError, r"Quintic.goal: not finite"),
    "no time": (lambda: Quintic([0], [1], 0.0), LinkworkError, r"Quintic.duration: out of range"),
    "for ever": (lambda: Quintic([0], [1], np.inf), LinkworkError, r"not finite"),
    "no velocity": (
        lambda: Trapezoidal([0, 0], [1, 1], velocity=[1, 0], acceleration=1),
        LinkworkError,
        r"Trapezoidal.velocity: out of range\n  got: \[1, 0\]\n  expected: above zero",
    ),
    "limits of another length": (
        lambda: Trapezoidal([0, 0], [1, 1], velocity=1, acceleration=[1, 2, 3]),
        ShapeError,
        "acceleration does not fit start",
    ),
    "rows": (lambda: Fourier([0], np.ones((2, 3)), np.ones((2, 3)), 1.0), ShapeError, r"sines does not fit offset"),
    "other cosines": (lambda: Fourier([0], np.ones((1, 3)), np.ones((1, 2)), 1.0), ShapeError, "cosines does not fit"),
    "frequency": (lambda: Fourier([0], [[1]], [[1]], -1.0), LinkworkError, "frequency: out of range"),
    "times": (
        lambda: Sampled([0, 1, 1], np.zeros((3, 1))),
        LinkworkError,
        r"times must increase\n  got: 1, 1 at index 1",
    ),
    "one time": (lambda: Sampled([0], np.zeros((1, 1))), LinkworkError, "times must increase"),
    "fewer points": (lambda: Sampled([0, 1, 2], np.zeros((2, 1))), ShapeError, r"q does not fit times"),
    "other velocities": (lambda: Sampled([0, 1], np.zeros((2, 1)), np.zeros((2, 2))), ShapeError, "v does not fit q"),
    "a alone": (lambda: Sampled([0, 1], np.zeros((2, 1)), a=np.zeros((2, 1))), LinkworkError, "need velocities"),
    "times to sample": (lambda: REFERENCES["quintic"].sample(0.5), ShapeError, r"Quintic.sample: wrong shape"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what):
    make, kind, message = WRONG[what]
    with pytest.raises(kind, match=message):
        make()
