"""Where closing the loops leads home: a platform stays where the file puts it; what moved or fits badly is told."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.constraints.initial_assembly import check_home
from linkwork.model import Placement, check
from support.random_loops import closed_model, four_bar, spin

HEXAPOD, DELTA = (linkwork.io.read(name) for name in ("gough-stewart", "delta"))


def low_hexapod(**home: float):
    """Its platform at 0.8 m, where the legs' joints at home do not take it, and some of those elsewhere."""
    low = {HEXAPOD.joints[0].name: (0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0)}
    return replace(HEXAPOD, home={**HEXAPOD.home, **low, **home})


def test_the_platform_is_held_and_the_legs_follow():
    robot = linkwork.load(low_hexapod())
    np.testing.assert_array_equal(robot.home[:7], [0, 0, 0.8, 0, 0, 0, 1])
    assert np.abs(robot.loop_residual(robot.home)).max() < 1e-11 and not robot.model.findings
    slides = np.array(robot.home)[9::3]
    np.testing.assert_allclose(slides, slides[0], rtol=1e-11)


def test_home_where_the_file_tells_none():
    assert linkwork.load("quadrotor").home == (0, 0, 0, 0, 0, 0, 1) and not linkwork.load("quadrotor").model.home


def test_a_leg_that_is_put_together_otherwise(tmp_path, run_linkwork):
    """Tilted by more than a right angle it closes upside down, its length negative: the platform is not blamed."""
    wrong = low_hexapod(leg2_tilt=2.385333629)
    with pytest.warns(
        UserWarning, match=r"'leg2_slide': with the loops closed it is at -0.9\d+, outside its limits 0.85"
    ):
        robot = linkwork.load(wrong)
    np.testing.assert_array_equal(robot.home[:3], [0, 0, 0.8])
    assert not check(wrong)  # nothing to be seen before the loops are closed
    path = tmp_path / "wrong.yaml"
    linkwork.io.write(wrong, path)
    code, out, _ = run_linkwork("check", str(path), "--json")
    told = json.loads(out)
    assert code == 0 and told["warnings"] == 1 and "outside its limits" in told["findings"][0]["message"]
    code, out, err = run_linkwork("eval", str(path), "gravity")
    assert code == 0 and out and err.startswith(f"warning: {path}: joint 'leg2_slide': with the loops closed")


def test_a_platform_out_of_reach_is_told():
    """The legs of the delta robot do not reach 1.6 m down, so the platform comes up."""
    low = replace(DELTA, home={**DELTA.home, "z": -1.6})
    with pytest.warns(UserWarning, match=r"'z': at home it is not where the file puts it(.|\n)*instead of -1.6"):
        robot = linkwork.load(low)
    assert robot.home[2] > -1.2


def test_a_floating_platform_that_moved_is_told():
    model = closed_model(HEXAPOD)
    turn = [0.0, 0.0, math.sin(0.25), math.cos(0.25)]
    given = replace(model, home=(0.0, 0.0, 0.75, *turn, *model.home[7:]))
    (finding,) = check_home(HEXAPOD, given, model)
    assert finding.level == "warning" and "joint 'platform_joint'" in finding.where
    assert "moved by 0.25 m, turned by 28.6 degrees" in finding.message
    given = replace(model, home=(0.0, 0.0, 1.0005, *model.home[3:]))
    assert not list(check_home(HEXAPOD, given, model))


def tilted(angle: float):
    """The four-bar with one axis of its loop off by this angle, which no position can close."""
    bar = four_bar()
    crank, coupler, rocker = bar.joints
    tilt = Placement(spin(np.array([1.0, 0.0, 0.0]), angle), rocker.origin.translation)
    return replace(bar, joints=(crank, coupler, replace(rocker, origin=tilt)))


@pytest.mark.parametrize("angle", (1e-8, 9e-7))
def test_loops_open_by_rounded_numbers(angle, tmp_path, run_linkwork):
    """Less than a micrometre: it is taken as closed, and told."""
    with pytest.warns(
        UserWarning, match=r"the loops stay open by [\d.e-]+ \(m, rad\) at best; they are treated as closed"
    ):
        robot = linkwork.load(tilted(angle))
    assert robot.nv == 1 and robot.assemble([[0.3], [2.0]]).solved.all()
    exact = linkwork.load(four_bar())
    expected = exact.inverse_dynamics(exact.assemble(robot.home[:1]).require(), [1.0], [2.0])
    np.testing.assert_allclose(robot.inverse_dynamics(robot.home, [1.0], [2.0]), expected, rtol=1e-5)
    path = tmp_path / "rounded.yaml"
    linkwork.io.write(tilted(angle), path)
    code, out, _ = run_linkwork("check", str(path))
    assert code == 0 and "1 warning: it loads" in out and "stay open" in " ".join(out.split())
