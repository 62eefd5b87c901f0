"""Every bundled robot moves for two seconds with default settings, from within its limits, and its energy balances."""

import warnings

import numpy as np
import pytest

import linkwork


@pytest.mark.parametrize("name", linkwork.bundled_robots())
def test_two_seconds_by_default(name):
    robot = linkwork.load(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = robot.simulate(duration=2.0)
    assert not [str(each.message) for each in caught if "balance is off" in str(each.message)]
    exchanged = max(motion.kinetic_energy.max(), np.ptp(motion.potential_energy), np.ptp(motion.work))
    assert motion.drift["energy"] <= 0.001 * exchanged
    assert np.isfinite(motion.q).all() and motion.t[-1] == pytest.approx(2.0)
    assert motion.drift.get("loop_residual", 0.0) < 1e-9
    start = motion.q[0]
    assert ((robot.coordinates.lower <= start) & (start <= robot.coordinates.upper)).all()
