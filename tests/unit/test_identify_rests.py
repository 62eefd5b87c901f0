"""Recordings with rests: noise at standstill hides no friction that motion excites."""

import warnings

import numpy as np
import pytest

import linkwork
from linkwork.identify import Log


@pytest.fixture(scope="module")
def rests():
    """Half of the time both joints stand still; positions and velocities have noise."""
    robot = linkwork.load("planar2r").with_friction(
        {name: {"coulomb": force, "viscous": 20, "width": 0.01} for name, force in (("shoulder", 120), ("elbow", 40))}
    )
    t = np.arange(0, 12, 0.01)
    moving = (t % 3.0 < 1.5)[:, None]
    turn = 2 * np.pi * np.minimum(t % 3.0, 1.5)[:, None] / 1.5
    ways = np.array([[0.5, -0.4], [-0.7, 0.6], [0.3, 0.7], [0.6, -0.5]])[(t // 3.0).astype(int)]
    q = ways * (1 - np.cos(turn)) / 2
    v = ways * np.pi / 1.5 * np.sin(turn) * moving
    a = ways * 2 * (np.pi / 1.5) ** 2 * np.cos(turn) * moving
    return Log(t, q, robot.inverse_dynamics(q, v, a), v, a).noisy(0, q=1e-5, v=1e-3, tau=0.5)


@pytest.mark.parametrize("width", [None, 0])
def test_rests_do_not_hide_coulomb_friction(rests, width):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit = linkwork.load("planar2r").identify(rests, "wls", width=width)
    assert not any("FS" in text for text in fit.unidentifiable)
    if width is None:  # jumps leave rests in the fit to be explained, and come out too small
        np.testing.assert_allclose([fit.standard["shoulder.FS"], fit.standard["elbow.FS"]], [120, 40], rtol=0.1)
    assert {each.category for each in said} <= {linkwork.IdentificationWarning}


def test_a_simulation_keeps_what_the_data_do_not_show():
    robot = linkwork.load("planar2r")
    t = np.arange(0, 2, 0.01)
    q = np.stack([0.6 * np.sin(2.5 * t), np.full(len(t), 0.7)], axis=1)  # the elbow stands still
    moved = Log(t, q, 0 * q).for_robot(robot)
    log = Log(t, q, robot.inverse_dynamics(moved.q, moved.v, moved.a))
    asked = {"unknowns": {"viscous": ["shoulder", "elbow"]}, "iterations": 20}
    with pytest.warns(linkwork.IdentificationWarning, match="these keep their prior values: elbow.FV"):
        fit = robot.identify(log, "simulation", simulation=asked)
    assert fit.standard["elbow.FV"] == robot.model.joint(2).viscous == fit.robot.model.joint(2).viscous


def test_late_velocities_are_one_sentence_and_differentiated_accelerations_none():
    robot = linkwork.load("planar2r")
    t = np.arange(0, 6, 0.01)
    q = np.stack([0.6 * np.sin(2.5 * t) + 0.2 * np.sin(4 * t), 0.4 * np.sin(3 * t)], axis=1)
    moved = Log(t, q, 0 * q).for_robot(robot)
    late = Log(t, q, robot.inverse_dynamics(moved.q, moved.v, moved.a), np.roll(moved.v, 20, axis=0))
    with pytest.warns(linkwork.IdentificationWarning):
        fit = robot.identify(late, "wls", width=0.05)
    (note,) = [note for note in fit.warnings if note.code == "delayed-column"]
    assert note.text.startswith("v of shoulder, elbow comes 0.2 s (20 samples) behind")
    assert note.values["delay"] == pytest.approx(0.2) and note.fix == "is it delayed?"
    assert not any(note.text.startswith("a of") for note in fit.warnings)
