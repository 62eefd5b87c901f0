"""Filters, derivatives and uneven times, against SciPy and closed forms."""

import time
import tracemalloc

import numpy as np
import pytest
from scipy import interpolate, signal

from linkwork.errors import LinkworkError, ShapeError
from linkwork.identify.logs import sample_times, signals
from linkwork.identify.logs.signals import derivative, motion_cutoff, settling, zero_phase

RATE = 100.0


def wandering(count, columns=3, seed=0):
    return np.cumsum(np.random.default_rng(seed).normal(size=(count, columns)), axis=0)


# -- low pass ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cutoff, order", [(5.0, 4), (7.5, 5), (40.0, 2), (1.0, 3), (20.0, 8)])
def test_low_pass_is_that_of_scipy(cutoff, order):
    x = wandering(3000)
    sections = signal.butter(order, cutoff, fs=RATE, output="sos")
    expected = signal.sosfiltfilt(sections, x, axis=0, padlen=2500)
    np.testing.assert_allclose(zero_phase(x, RATE, cutoff, order), expected, atol=1e-11 * np.abs(x).max())


def test_low_pass_in_the_usual_form():
    """With SciPy's own short reflections: the same in the interior."""
    x = wandering(4000, 1)
    expected = signal.filtfilt(*signal.butter(4, 0.15), x, axis=0)
    inside = slice(settling(RATE, 7.5, 4), -settling(RATE, 7.5, 4))
    np.testing.assert_allclose(zero_phase(x, RATE, 7.5, 4)[inside], expected[inside], atol=1e-9 * np.abs(x).max())


def test_blocks_change_nothing(monkeypatch):
    x = wandering(20000, 2)
    whole = zero_phase(x, RATE, 3.0, 4)
    monkeypatch.setattr(signals, "BLOCK", 4000)
    np.testing.assert_allclose(zero_phase(x, RATE, 3.0, 4), whole, atol=1e-11 * np.abs(x).max())
    assert len([*signals.blocks(20000, 2, 4 * settling(RATE, 3.0, 4))]) > 5


def test_axes_behind_the_first():
    x = wandering(500, 12).reshape(500, 3, 4)
    np.testing.assert_array_equal(zero_phase(x, RATE, 5, 4)[:, 1, 2], zero_phase(x[:, 1, 2:3], RATE, 5, 4)[:, 0])


def test_lines_pass():
    """A line is its own odd reflection, so that ends do not ring; short series are reflected again and again."""
    for count in (2, 3, 10, 1000):
        x = 5 + 0.3 * np.arange(count)[:, None]
        np.testing.assert_allclose(zero_phase(x, RATE, 0.5, 4), x, rtol=1e-9)
    np.testing.assert_array_equal(zero_phase(np.ones((1, 2)), RATE, 5, 4), np.ones((1, 2)))


def test_gain_is_half_at_the_cutoff():
    t = np.arange(4000) / RATE
    x = np.sin(2 * np.pi * 6 * t)[:, None]
    np.testing.assert_allclose(zero_phase(x, RATE, 6, 3)[1000:-1000], x[1000:-1000] / 2, atol=1e-10)


def test_it_reaches_as_far_as_it_says():
    x = np.zeros((4001, 1))
    x[2000] = 1
    y = np.abs(zero_phase(x, RATE, 2.0, 5)[:, 0])
    reach = settling(RATE, 2.0, 5)
    assert y[: 2000 - reach].max() < 1e-12 * y.max() < y[2000 - reach // 2 : 2000].max()


def test_long_series_need_little_memory_and_time():
    """10^7 samples: 0.7 s and 230 MB beside the input and the output."""
    count = 10**6
    x = np.zeros((count, 4))
    tracemalloc.start()
    begin = time.perf_counter()
    y = zero_phase(x, 1000, 20, 4)
    derivative(y, 1000)
    assert time.perf_counter() - begin < 5
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * x.nbytes + 2**26


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 50.0, 1000.0, np.nan, 1e-9])
def test_cutoffs_that_cannot_be(cutoff):
    with pytest.raises(LinkworkError, match="half the rate, 50 Hz"):
        zero_phase(np.zeros((9, 1)), RATE, cutoff, 4)


@pytest.mark.parametrize("order", [0, 13, 2.5])
def test_orders_that_cannot_be(order):
    with pytest.raises(ShapeError, match="1 to 12"):
        settling(RATE, 5, order)


# -- derivatives ---------------------------------------------------------------------------------------------------


def test_differences_are_exact_for_quartics():
    t = np.arange(12) / RATE
    x = np.stack([t**4 - 2 * t, 3 * t**3], axis=1)
    expected = np.stack([4 * t**3 - 2, 9 * t**2], axis=1), np.stack([12 * t**2, 18 * t], axis=1)
    np.testing.assert_allclose(derivative(x, RATE), expected[0], atol=1e-12)
    np.testing.assert_allclose(derivative(x, RATE, 2), expected[1], atol=1e-10)


@pytest.mark.parametrize("number", [1, 2])
def test_differences_are_of_fourth_order(number):
    errors = []
    for rate in (50.0, 100.0):
        t = np.arange(0, 2, 1 / rate)
        expected = np.cos(3 * t) * 3 if number == 1 else -np.sin(3 * t) * 9
        error = derivative(np.sin(3 * t)[:, None], rate, number)[:, 0] - expected
        errors.append(np.abs(error[2:-2]).max())
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.05)


def test_cubics_are_those_of_savitzky_and_golay():
    x = wandering(400)
    for number in (1, 2):
        half = signals._half_width(RATE, 4.0)
        expected = signal.savgol_filter(x, 2 * half + 1, 3, number, 1 / RATE, axis=0, mode="interp")
        np.testing.assert_allclose(
            derivative(x, RATE, number, 4.0), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()
        )


@pytest.mark.parametrize("cutoff", [5.0, 20.0, 60.0])
def test_cubics_lose_3_db_at_the_cutoff(cutoff):
    t, inside = np.arange(6000) / 1000, slice(1000, -1000)
    gains = []
    for share in (0.2, 0.95, 1.05):
        w = 2 * np.pi * share * cutoff
        gains.append(
            derivative(np.sin(w * t)[:, None], 1000, 1, cutoff)[inside].std() / (w * np.cos(w * t)[inside].std())
        )
    assert gains[0] > 0.98 and gains[1] > 0.5**0.5 > gains[2]


def test_blocks_of_derivatives(monkeypatch):
    x = wandering(5000)
    whole = derivative(x, RATE)
    monkeypatch.setattr(signals, "BLOCK", 1200)
    np.testing.assert_array_equal(derivative(x, RATE), whole)


def test_few_samples():
    assert derivative(np.array([[0.0], [1.0]]), 10.0).tolist() == pytest.approx(np.array([[10.0], [10.0]]))
    with pytest.raises(LinkworkError, match="too few samples"):
        derivative(np.zeros((2, 1)), 10.0, 2)


# -- what is motion ------------------------------------------------------------------------------------------------


def test_where_motion_ends():
    rng = np.random.default_rng(0)
    t = np.arange(20000) / 1000
    slow = sum(np.sin(2 * np.pi * 0.1 * k * t[:, None] + np.arange(3)) / k for k in range(1, 6))
    found = [motion_cutoff(slow + size * rng.normal(size=slow.shape), 1000) for size in (1e-2, 1e-4, 1e-6, 0.0)]
    assert found == sorted(found) and 1 < found[0] < found[1] < 15 and found[-1] <= 400
    fast = slow.copy()
    fast[:, 2] = 0.05 * np.sin(2 * np.pi * 8 * t)  # one joint of three
    assert 16 < motion_cutoff(fast + 1e-4 * rng.normal(size=fast.shape), 1000) < 64


@pytest.mark.parametrize("count", [2, 3, 100, 5000])
def test_without_motion_all_may_pass(count):
    assert motion_cutoff(np.zeros((count, 2)), RATE) == 40


# -- uneven times --------------------------------------------------------------------------------------------------


def test_splines_are_those_of_scipy(monkeypatch):
    rng = np.random.default_rng(3)
    t = np.cumsum(rng.uniform(0.002, 0.02, 800))
    x, grid = wandering(800), np.linspace(t[0], t[-1], 3001)
    slopes = interpolate.CubicSpline(t[:4], x[:4])(t[0], 1), interpolate.CubicSpline(t[-4:], x[-4:])(t[-1], 1)
    expected = interpolate.CubicSpline(t, x, bc_type=((1, slopes[0]), (1, slopes[1])))(grid)
    np.testing.assert_allclose(sample_times.interpolated(t, x, grid), expected, atol=1e-11 * np.abs(x).max())
    monkeypatch.setattr(signals, "BLOCK", 5000)
    np.testing.assert_allclose(sample_times.interpolated(t, x, grid), expected, atol=1e-11 * np.abs(x).max())


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_splines_of_few_samples(count):
    t = np.arange(count) * 0.1
    np.testing.assert_allclose(sample_times.interpolated(t, 2 * t[:, None], t + 0.0)[:, 0], 2 * t, atol=1e-15)


def test_how_even_times_are():
    t = np.arange(1000) / 250
    assert sample_times.spacing(t) == pytest.approx((0.004, 0), abs=1e-9)
    assert sample_times.spacing(np.round(t, 6)).jitter < 1e-3
    jittering = t + 0.001 * np.sin(np.arange(1000))
    found = sample_times.spacing(jittering)
    assert found.step == pytest.approx(0.004, rel=1e-3) and 0.2 < found.jitter < 0.6 and not found.even
    gap = np.concatenate([t, t + 8])
    assert sample_times.spacing(gap).step == pytest.approx(0.004) and not sample_times.spacing(gap).even
