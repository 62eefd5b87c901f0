"""Fits of what is odd and yet may come: files without inertias, references without measured rates, loads at frames."""

from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork.control import PD, Fourier, Point
from linkwork.errors import LinkworkError
from linkwork.identify import Log, drive_gains
from linkwork.identify.convex.consistent_fit import Prior, consistent_fit, typical_sizes
from linkwork.identify.regression.least_squares import wls
from linkwork.identify.regression.observations import Observations
from linkwork.identify.regression.stacked_regressor import collect
from linkwork.identify.regression.unknowns import unknowns_of

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.IdentificationWarning")
LOAD = {"tip": {"mass": 1.5, "center": [0.1, 0.0, 0.02], "inertia": [0.01, 0.01, 0.01]}}


@cache
def motion():
    path = Fourier([0.0, 0.4], [[0.5, -0.2], [0.2, 0.3]], [[0.1, 0.2], [-0.3, 0.2]], frequency=0.5)
    t = np.arange(1000) * 4e-3
    return t, Point(*(np.asarray(x) for x in path.sample(t)))


def recorded(robot):
    t, path = motion()
    return Log(t, path.q, np.asarray(robot.inverse_dynamics(*path)), path.v, path.a)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_robot_without_inertias(noise):
    """Whose bodies are far from what they are thought to be: the fit is consistent and as good as least squares."""
    robot = linkwork.load("planar2r")
    empty = type(robot)(robot.model.with_parameters(np.zeros((2, 10)).tolist()))
    log = recorded(robot).noisy(0, tau=noise)
    fit, plain = (empty.identify(log, method, width=0.0) for method in ("consistent", "wls"))
    assert fit.is_physical and not [note for note in fit.warnings if note.code == "not-converged"]
    assert (fit.errors["fitted"] < 1.02 * plain.errors["fitted"] + 1e-9).all()


def test_deviations_where_noise_lasts():
    """Noise that changes slowly tells less than its samples promise: of standard parameters as of base parameters."""
    robot, rng = linkwork.load("planar2r"), np.random.default_rng(0)
    log = recorded(robot)
    noise = np.array([rng.normal(size=2)] * len(log))
    for k in range(1, len(log)):
        noise[k] = 0.98 * noise[k - 1] + 0.2 * rng.normal(size=2)
    log = Log(log.t, log.q, log.tau + noise, log.v, log.a)
    unknowns = unknowns_of(robot)
    own = log.for_robot(unknowns.robot)
    data = Observations(unknowns, [log], [own], collect(unknowns, [own]), None)
    plain = wls(data.information, unknowns.base_prior)
    found = consistent_fit(data, plain, Prior.of(unknowns, unknowns.prior, typical_sizes(unknowns, plain.x)), 1e-6)
    K = unknowns.matrix
    assert plain.lasting > 4
    assert np.median(np.sqrt(np.diag(K @ found.covariance @ K.T)) / plain.deviations) == pytest.approx(1, rel=0.1)


def test_a_reference_with_rates_that_were_not_measured():
    robot, (t, path) = linkwork.load("planar2r"), motion()
    tau = np.asarray(robot.inverse_dynamics(*path))
    for names in ((), robot.coordinates.names[::-1]):
        order = slice(None, None, -1) if names else slice(None)
        columns = [x[:, order] for x in (path.q, tau, *path)]
        log = Log(t, *columns[:2], joints=names, reference=Point(*columns[2:])).for_robot(robot)
        assert all(np.array_equal(x, y) for x, y in zip(log.reference, path, strict=True))
        assert np.allclose(log.v, path.v, atol=1e-5)


def test_a_load_at_a_frame_by_simulation():
    """One that is no link of its own."""
    robot, law, (t, path) = linkwork.load("planar2r"), PD(200.0, 20.0), motion()
    reference = Point(*(x[:-1] for x in path))
    run = robot.with_payload(LOAD).rollout(
        path.q[0], path.v[0], law, t[1], len(t) - 1, reference=reference, outputs=("q", "v", "tau")
    )
    log = Log(run.t, run.q, run.tau, run.v, reference=path)
    fit = robot.identify(log, "simulation", payload="tip", controller=law)
    assert fit.standard["tip.M"] == pytest.approx(1.5, rel=1e-3)
    assert fit.payload["tip"]["mass"] == fit.standard["tip.M"] and not fit.divergence


def test_gains_of_a_drive_that_was_not_recorded():
    robot = linkwork.load("planar2r")
    logs = [recorded(each) for each in (robot, robot.with_payload(LOAD))]
    logs = [Log(log.t, log.q, log.tau * [1.0, 0.0], log.v, log.a) for log in logs]
    with pytest.raises(LinkworkError, match=r"always zero(.|\n)*elbow"):
        drive_gains(robot, logs, [None, LOAD])
