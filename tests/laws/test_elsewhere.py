"""A robot is the same wherever it stands and whatever its size: mobility, choices, and the numbers of its dynamics."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork.io import bundled_robots, read, write
from linkwork.model import Placement, describe
from linkwork.model.rotations import rotation
from support.evaluate import evaluate
from support.placed import carried, placed, scaled
from support.random_loops import closed_model, four_bar
from support.random_robots import random_rotation

FAR = np.array([1000.0, 700.0, 0.0])  # metres, whose last digit is 1e-13
CLOSE = 3e-11  # of the largest entry: what 1e-13 m do to forces of links of some decimetres
MECHANISMS = tuple(name for name in bundled_robots() if read(name).constraints)
CART = """
name: cart
joints:
  - {name: body, link: body, kind: planar, r: 0.1}
  - {name: right, link: rw, parent: body, xyz: [0, -0.25, 0], rpy: [-pi/2, 0, 0]}
  - {name: left, link: lw, parent: body, xyz: [0, 0.25, 0], rpy: [-pi/2, 0, 0]}
links: [{link: body, M: 8, central: [0.3, 0.3, 0.3]}, {link: rw, M: 0.6, central: [0.002, 0.002, 0.004]},
        {link: lw, M: 0.6, central: [0.002, 0.002, 0.004]}]
drives: [{joint: body, role: passive}]
rolling: [{wheel: {link: rw}, radius: 0.1, name: a}, {wheel: {link: lw}, radius: 0.1, name: b}]
"""


@cache
def bundled(name: str):
    return linkwork.load(name).model


def state(model):
    rng = np.random.default_rng(0)
    return np.array(model.home or model.coordinates.neutral()), *rng.normal(size=(2, model.nv))


def numbers(model, q, v, a):
    """What does not depend on the axes of the world."""
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    found = {"M": evaluate(model, "inertia_matrix", q), "tau": tau, "K": evaluate(model, "kinetic_energy", q, v)}
    if model.permanent:
        found["a"] = evaluate(model, "forward_dynamics", q, v, tau)
        found["conditioning"] = evaluate(model, "conditioning", q)
        found["rates"] = evaluate(model, "joint_velocities", q, v)
    return found


@pytest.mark.parametrize("name", [name for name in bundled_robots() if not read(name).forces])
def test_bundled_robots_far_away(name):
    description, model = read(name), bundled(name)
    turn = rotation("z", 0.7) if description.constraints else random_rotation(np.random.default_rng(1))
    at = Placement(turn, FAR)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = linkwork.load(placed(description, at)).model
    assert other.mobility == model.mobility
    q, v, a = state(model)
    there = np.array([*carried(q[:7], at), *q[7:]]) if description.floating else q
    expected = numbers(model, q, v, a)
    for what, value in numbers(other, there, v, a).items():
        off = np.abs(value - expected[what]).max(initial=0.0)
        assert off <= CLOSE * np.abs(expected[what]).max(initial=1.0), (what, off)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("by", [1e-3, 1e3])
def test_bundled_mechanisms_of_another_size(name, by):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = closed_model(scaled(read(name), by))
    assert other.mobility == bundled(name).mobility


@pytest.mark.parametrize(("x", "yaw"), [(1.0, 0.6), (1.0, 2.2), (1e4, -2.8)])
def test_a_cart_at_any_place(tmp_path, x, yaw):
    """Its wheels cannot leave the plane, and rounding of their normal rows is no rank."""
    file = tmp_path / "cart.yaml"
    file.write_text(CART)
    here = linkwork.load(file)
    file.write_text(f"{CART}home: {{body: [{x}, {-0.3 * x}, {yaw}]}}\n")
    there = linkwork.load(file)
    assert there.model.mobility == here.model.mobility
    assert there.contact_forces(there.home, [1.0, 2.0], [0.1, 0.2]).verdicts == ("load not known",) * 2


def test_a_snake_on_a_slope():
    snake = read("snake")
    for seed in range(4):
        at = Placement(random_rotation(np.random.default_rng(seed)), 0.01 * FAR)
        assert len(closed_model(placed(snake, at)).mobility.configuration) == 7


def test_loops_far_away_are_assembled():
    description = four_bar()
    here, there = (linkwork.load(each) for each in (description, placed(description, Placement(np.eye(3), 10 * FAR))))
    angles = np.linspace(0, 6, 20)[:, None]
    np.testing.assert_allclose(there.assemble(angles).require(), here.assemble(angles).require(), atol=1e-10)


@pytest.mark.parametrize("name", ["rolling-disc", "biped"])
@pytest.mark.parametrize("suffix", ["yaml", "urdf"])
def test_the_home_of_a_floating_base_is_written_and_read(tmp_path, name, suffix):
    pose = (3.0, -2.0, 0.3, 0.0, 0.0, np.sin(0.3), np.cos(0.3))
    described = replace(describe(linkwork.load(name).model), home={"base": pose})
    home = linkwork.load(described).home
    file = tmp_path / f"robot.{suffix}"
    write(described, file)
    side = {"structure": tmp_path / "robot.loops.yaml"} if suffix == "urdf" else {}
    read_again = linkwork.load(file, **side)
    np.testing.assert_allclose(read_again.home[:2], pose[:2], rtol=1e-15)
    np.testing.assert_allclose(read_again.home, home, rtol=0, atol=1e-14)
    write(describe(read_again.model), tmp_path / "again.yaml")
    np.testing.assert_allclose(linkwork.load(tmp_path / "again.yaml").home, home, rtol=0, atol=1e-14)
