"""Parameters of a Stäubli TX-40 from its motors' positions and torques, against those that its recorders published."""

from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.identify import Log

FOLDER = Path(__file__).parent / "tx40"
RATIOS = np.array([32.0, 32, 45, -48, 45, 32])

# of the joints 1 to 6, the last column of the motor that turns 5 and 6; N m, SI
PUBLISHED = {
    "FV": [8.05, 5.53, 1.97, 1.11, 1.86, 0.65, 0.616],
    "FS": [7.14, 8.26, 6.34, 2.48, 3.03, 0.282, 1.95],
    "IA": [0.362, 0.362, 0.0988, 0.0313, 0.0468, 0.0105, 0.00964],
    "F0": [0.392, 1.37, 0.326, -0.102, -0.0288, 0.127, np.nan],
}


@pytest.fixture(scope="module")
def robot():
    return linkwork.load(FOLDER / "tx40.yaml")


@pytest.fixture(scope="module")
def log(robot):
    log = Log.read(FOLDER / "tx40.csv.gz", q="q", tau="tau").from_drives(robot)
    return log.smoothed(30).banded(15).without_standstill()


@pytest.fixture(scope="module")
def fit(robot, log):
    return robot.identify(log, "wls", width=0.02)


def test_recorded_torques_are_explained(fit):
    assert (fit.errors["fitted"][:4] < 0.10).all()
    assert (fit.errors["fitted"] < 0.12).all()
    assert not fit.unidentifiable


def test_friction_rotors_and_offsets_are_those_published(fit):
    """Limits: of the values that other filters and spans of the whole recording give."""
    found, deviations = _as_published(fit)
    far = {kind: np.abs(found[kind] / PUBLISHED[kind] - 1) for kind in found}
    assert (far["FV"] < 0.03).all()
    assert (far["FS"][:5] < 0.04).all()
    assert (far["IA"][2:] < 0.05).all()  # rotors 1 and 2 act as inertias of their links do
    assert max(far[kind][6] for kind in ("FV", "FS", "IA")) < 0.04
    for kind, values in found.items():
        told = ~np.isnan(values)
        assert (np.abs(values - PUBLISHED[kind]) < 3 * deviations[kind])[told].all(), kind


def test_bodies_can_be_made_physical_at_little_cost(robot, log, fit):
    physical = robot.identify(log, width=0.02)
    assert physical.is_physical
    assert not fit.is_physical
    assert (physical.errors["fitted"] < 1.15 * fit.errors["fitted"]).all()
    assert (physical.errors["held out"] < 1.05 * fit.errors["held out"]).all()


def _as_published(fit):
    """Of the joints' side, where motor 6 counts for the joints 5 and 6, and of motor 6; with deviations. Rotors 1 and 2
    are not told apart from inertias of links, and offsets of motor 6 not from those of the joints."""
    names, squares = fit.base.names, RATIOS**2
    rows = {
        "FV": [{f"FV_motor{k + 1}": squares[k]} for k in range(5)] + [{"FV6": 1.0}, {}],
        "FS": [{f"FS_motor{k + 1}": abs(RATIOS[k])} for k in range(5)] + [{"FS6": 1.0}, {"FS_motor6": RATIOS[5]}],
        "IA": [{}, {}, *({f"IAR_motor{k + 1}": squares[k]} for k in (2, 3, 4)), {"IA6": 1.0}, {}],
        "F0": [{f"F0{'R' * (k == 4)}_motor{k + 1}": RATIOS[k]} for k in range(5)] + [{"F0R6": 1.0}, {}],
    }
    for kind in ("FV", "IA"):
        for k in (4, 5, 6):
            rows[kind][k][f"{kind}_motor6"] = squares[5]
    found, deviations = {}, {}
    for kind, all_of_it in rows.items():
        way = np.array([[row.get(name, 0.0) for name in names] for row in all_of_it])
        told = way.any(axis=1)
        found[kind] = np.where(told, way @ fit.base.values, np.nan)
        deviations[kind] = np.sqrt(np.diag(way @ fit.covariance @ way.T))
    return found, deviations
