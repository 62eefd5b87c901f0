"""Consistent fits against semidefinite programs that CVXPY writes and Clarabel solves, from the definition: residuals
in deviations, P >= 0, and the divergence from the prior."""

import time
from dataclasses import dataclass

import cvxpy
import numpy as np
import pytest

import linkwork
from linkwork.errors import IdentificationWarning
from linkwork.identify import Log
from linkwork.identify.convex.consistent_fit import GAMMAS, Prior, minima_by_gamma, minimum_with_prior, typical_sizes
from linkwork.identify.convex.newton import covariance
from linkwork.identify.regression.least_squares import wls
from linkwork.identify.regression.stacked_regressor import collect
from linkwork.identify.regression.unknowns import Unknowns, payload_of, unknowns_of
from support.random_robots import Recipe, describe
from support.recordings import other, pseudo_inertia, recorded

SAME = 1e-6  # of the cost
TIGHT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
QUICK = 2.0  # seconds; it takes a tenth of it on a core that has nothing else to do


@dataclass
class Problem:
    """Least squares [R z] in deviations, and what is thought before."""

    unknowns: Unknowns
    prior: Prior
    R: np.ndarray

    @staticmethod
    def of(unknowns: Unknowns, log: Log) -> "Problem":
        information = collect(unknowns, [log.for_robot(unknowns.robot)])
        first = wls(information, unknowns.base_prior)
        thought = unknowns.prior if unknowns.prior.any() else first.x
        prior = Prior.of(unknowns, thought, typical_sizes(unknowns, first.x))
        return Problem(unknowns, prior, information.triangle(1 / first.sigma))

    def least(self, gamma: float) -> float:
        """The least cost, of a program in parameters over their sizes, with bodies in units of their prior's. Without
        gamma: of the squares alone, and bodies may be on the border."""
        start, R = self.prior.start, self.R
        size = np.where(start == 0, 1e-2, np.abs(start))
        x = cvxpy.Variable(len(start))
        cost = 0.5 * cvxpy.sum_squares((R[:, :-1] @ self.unknowns.matrix * size) @ x - R[:, -1])
        constraints = []
        for _, at in self.unknowns.bodies:
            L = np.linalg.cholesky(pseudo_inertia(start[at : at + 10]))
            back = np.linalg.inv(L)
            units = [back @ pseudo_inertia(unit) @ back.T for unit in np.eye(10)]
            P = sum(size[at + k] * x[at + k] * unit for k, unit in enumerate(units))
            constraints.append(P >> 0)
            if gamma:
                cost += gamma * (cvxpy.trace(P) - cvxpy.log_det(P) - 2 * np.log(np.diag(L)).sum())
        for k in self.unknowns.positive:
            constraints.append(x[k] >= 0)
            if gamma:
                cost += gamma * (size[k] * x[k] / start[k] - cvxpy.log(size[k] * x[k]))
        problem = cvxpy.Problem(cvxpy.Minimize(cost), constraints)
        problem.solve(solver=cvxpy.CLARABEL, **TIGHT)
        assert problem.status == "optimal"
        return float(problem.value)  # pyright: ignore[reportArgumentType]

    def squares(self, theta: np.ndarray) -> float:
        left = self.R @ np.append(self.unknowns.matrix @ theta, -1.0)
        return 0.5 * float(left @ left)

    def assert_physical(self, theta: np.ndarray) -> None:
        for name, at in self.unknowns.bodies:
            assert np.linalg.eigvalsh(pseudo_inertia(theta[at : at + 10])).min() > 0, name
        assert (theta[list(self.unknowns.positive)] > 0).all()

    def assert_same(self, gammas: tuple[float, ...]) -> None:
        for gamma in gammas:
            found = minimum_with_prior(self.R, self.prior, gamma)
            assert found.settled
            assert found.cost == pytest.approx(self.least(gamma), rel=SAME)
            self.assert_physical(found.theta)

    def assert_same_without_prior(self, gamma: float) -> None:
        """A pull so weak that it does not act."""
        found, least = minimum_with_prior(self.R, self.prior, gamma), self.least(0.0)
        assert least - SAME * least < self.squares(found.theta) < least + SAME * least
        self.assert_physical(found.theta)


def noisy(truth: linkwork.Robot, count: int, share: float = 0.03, reach: float = 2.0) -> Log:
    log = recorded(truth, count, reach=reach)
    return log.noisy(0, tau=share * np.abs(log.tau).max(axis=0))


@pytest.fixture(scope="module")
def panda() -> Problem:
    robot = linkwork.load("panda")
    return Problem.of(unknowns_of(robot), noisy(other(robot, 1), 300))


def test_panda(panda: Problem):
    """70 inertial parameters, rotors and friction, with as much noise as leaves many bodies at the border."""
    panda.assert_same((1e4, 1.0, 1e-3))
    panda.assert_same_without_prior(1e-8)
    plain = np.linalg.lstsq(panda.R[:, :-1], panda.R[:, -1], rcond=None)[0]
    left = 0.5 * float(np.sum((panda.R @ np.append(plain, -1.0)) ** 2))
    assert panda.least(0.0) > left * (1 + 1e-5)  # least squares are not physical


def test_it_is_quick(panda: Problem):
    began = time.perf_counter()
    minimum_with_prior(panda.R, panda.prior, 1e-2)
    assert time.perf_counter() - began < QUICK


def test_the_path_over_all_weights(panda: Problem):
    """Each from where the last one ended: the same minima, as far as they are compared."""
    for gamma, found in zip(GAMMAS, minima_by_gamma(panda.R, panda.prior), strict=True):
        expected = minimum_with_prior(panda.R, panda.prior, gamma)
        assert found.cost == pytest.approx(expected.cost, rel=1e-4)
        panda.assert_physical(found.theta)


def test_a_start_does_not_matter(panda: Problem):
    expected = minimum_with_prior(panda.R, panda.prior, 1.0)
    near = minimum_with_prior(panda.R, panda.prior, 1.0, minimum_with_prior(panda.R, panda.prior, 3.0).theta)
    assert near.cost == pytest.approx(expected.cost, rel=1e-9)
    assert near.theta == pytest.approx(expected.theta, rel=1e-5, abs=1e-8)


def test_deviations_are_those_of_the_curvature(panda: Problem):
    """Of the cost, by differences of second order along some directions."""
    gamma = 10.0
    found = minimum_with_prior(panda.R, panda.prior, gamma)
    rng = np.random.default_rng(0)
    spread = covariance(panda.R[:, :-1] @ panda.prior.unknowns.matrix, panda.prior, gamma, found.theta)
    roots = np.linalg.cholesky(spread)
    for _ in range(3):
        way = roots @ rng.normal(size=len(found.theta))
        way /= np.sqrt(way @ np.linalg.solve(spread, way))
        width = 0.02
        cost = [
            panda.squares(x) + gamma * panda.prior.value(x) for x in (found.theta + k * width * way for k in (-1, 0, 1))
        ]
        assert (cost[0] - 2 * cost[1] + cost[2]) / width**2 == pytest.approx(1.0, rel=1e-2)


def test_payload():
    """So much noise that least squares would have it thinner than nothing."""
    robot, frame = linkwork.load("panda"), "panda_link8"
    loaded = robot.with_payload({frame: {"mass": 2.0, "center": [0.05, 0.02, 0.1], "inertia": [0.01, 0.012, 0.002]}})
    own = Problem.of(payload_of(robot, frame), noisy(loaded, 100, 0.05))
    plain = np.linalg.lstsq(own.R[:, :-1], own.R[:, -1], rcond=None)[0]
    assert np.linalg.eigvalsh(pseudo_inertia(plain)).min() < 0
    own.assert_same((1.0, 1e-2))
    own.assert_same_without_prior(1e-7)


def test_a_prior_without_mass():
    """A body that weighs nothing before may weigh something afterwards."""
    robot = linkwork.load(describe(Recipe(7, joints=3, light=True)))
    assert any(ten[0] == 0 for ten in robot.parameters)
    own = Problem.of(unknowns_of(robot), noisy(other(robot, 1), 200, 0.1))
    own.assert_same((1.0, 1e-2))
    own.assert_same_without_prior(1e-7)


@pytest.fixture(scope="module")
def upside_down() -> Log:
    robot = linkwork.load("planar2r")
    log = noisy(robot, 200)
    return Log(log.t, log.q, -log.tau, log.v, log.a)


@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")
def test_data_of_the_wrong_sign(upside_down: Log):
    """No physical robot is near; the best one is found all the same, and it is said."""
    robot = linkwork.load("planar2r")
    own = Problem.of(unknowns_of(robot), upside_down)
    found = minimum_with_prior(own.R, own.prior, 1.0)
    assert own.least(1.0) == pytest.approx(found.cost, rel=SAME)
    own.assert_physical(found.theta)
    with pytest.warns(IdentificationWarning, match="other sign"):
        fit = robot.identify(upside_down)
    assert fit.is_physical and fit.warnings
    own.assert_physical(fit.standard.values)
