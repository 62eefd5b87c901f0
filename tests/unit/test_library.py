"""Robots made by a formula."""

import math

import numpy as np
import pytest

from linkwork import io
from linkwork.errors import ModelError
from linkwork.forces import Drag
from linkwork.library import WATER, eel, lumped_beam, macro_continuous_eel
from linkwork.model import build, check
from support.evaluate import assert_close, evaluate


@pytest.mark.parametrize("links", [1, 2, 5, 12, 64])
def test_eels_of_every_length(links):
    robot = eel(links)
    assert check(robot) == ()
    assert len(robot.links) == len(robot.forces) == links and len(robot.joints) == links - 1
    model = build(robot)
    assert model.moving_base and model.nv == 6 + links - 1
    assert [frame.name for frame, _ in model.forces] == ["head", *(f"link{j}" for j in range(2, links + 1))]
    straight = [0.0, 0, 0, 0, 0, 0, 1] + [0.0] * (links - 1)
    tail = evaluate(model, "pose", np.array(straight), frame=model.forces[-1][0].name)
    assert_close(tail[:3, 3] + tail[:3, 0] * 1.5 / links, np.array([1.5, 0, 0]))  # the tail's end
    a, b = (0.03, 0.04)  # the whole is a cone cut off at 0.4 of its width
    volume = math.pi * a * b * 1.5 * (1 + 0.4 + 0.16) / 3
    assert sum(link.inertia.mass for link in robot.links if link.inertia) == pytest.approx(WATER * volume, rel=1e-13)


def test_bends_by_turns_sideways_and_up_and_down():
    model = build(eel(5))
    assert model.joint_names == ("yaw2", "pitch3", "yaw4", "pitch5")
    q = np.array([0.0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    axes = [evaluate(model, "pose", q, frame=f"link{j}")[:3, 2] for j in range(2, 6)]
    np.testing.assert_array_equal(np.round(axes, 15), [[0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("links", [1, 3, 4])
def test_inertia_is_that_of_many_slices(links):
    """All links together, straight, about the nose: thin elliptic discs of a tapering body."""
    q = np.array([0.0, 0, 0, 0, 0, 0, 1] + [0.0] * (links - 1))
    M = evaluate(build(eel(links, taper=0.25)), "inertia_matrix", q)[:6, :6]
    n = 20_000
    x = (np.arange(n) + 0.5) * 1.5 / n
    s = 1 - 0.75 * x / 1.5
    dm = WATER * math.pi * 0.03 * 0.04 * s**2 * 1.5 / n
    y2, z2 = (s * 0.03) ** 2 / 4, (s * 0.04) ** 2 / 4
    moments = [dm @ (y2 + z2), dm @ (x**2 + z2), dm @ (x**2 + y2)]
    assert_close(np.diag(M), np.array([dm.sum()] * 3 + moments), tolerance=1e-8)  # of the slices
    assert M[1, 5] == pytest.approx(dm @ x, rel=1e-8)


def test_a_cylinder():
    link = eel(1, length=2, width=0.1, height=0.1, taper=1).links[0].inertia
    assert link is not None
    m, r = WATER * math.pi * 0.05**2 * 2, 0.05
    assert_close(link.mass, np.float64(m))
    assert_close(np.diag(link.central), np.array([m * r * r / 2, *[m * (4 / 12 + r * r / 4)] * 2]))


def test_drag_goes_with_the_thickness():
    (_, first), *_, (_, last) = eel(12).forces
    assert isinstance(first, Drag) and isinstance(last, Drag)
    assert first.length == last.length == 1.5 / 12
    assert last.k_normal / first.k_normal == pytest.approx((0.4 + 0.6 / 24) / (1 - 0.6 / 24))
    assert first.k_normal == pytest.approx(WATER / 2 * 1.1 * 0.07 * (1 - 0.6 / 24))
    assert first.k_axial == pytest.approx(WATER / 2 * 0.02 * math.pi * 0.07 * (1 - 0.6 / 24))


@pytest.mark.parametrize("make", [eel, macro_continuous_eel])
def test_bundled_eels_are_the_default_ones(make):
    """Last digits of inertias, which NumPy sums, may differ between processors."""
    made = make()
    bundled = io.read(made.name)
    assert (bundled.name, bundled.summary, bundled.floating) == (made.name, made.summary, made.floating)
    assert bundled.sources == made.sources and bundled.gravity == made.gravity
    for ours, theirs in zip(bundled.joints, made.joints, strict=True):
        for field in ("name", "kind", "parent", "child"):
            assert getattr(ours, field) == getattr(theirs, field)
        assert ours.values() == theirs.values()
        np.testing.assert_array_equal(ours.axis, theirs.axis)
        np.testing.assert_array_equal(ours.origin.rotation, theirs.origin.rotation)
        np.testing.assert_array_equal(ours.origin.translation, theirs.origin.translation)
    for ours, theirs in zip(bundled.links, made.links, strict=True):
        assert ours.name == theirs.name and ours.inertia and theirs.inertia
        np.testing.assert_allclose(ours.inertia.mass, theirs.inertia.mass, rtol=1e-14)
        np.testing.assert_allclose(ours.inertia.center, theirs.inertia.center, rtol=1e-14)
        np.testing.assert_allclose(ours.inertia.central, theirs.inertia.central, rtol=1e-14)
    assert bundled.forces == made.forces


def test_a_continuous_eel_bends_as_its_flesh_does():
    """A curvature is held by moments E I times it, whatever the number of links."""
    for links in (8, 50):
        robot = macro_continuous_eel(links, taper=1, youngs=3e4, damping=0.1)
        share, moments = 2 * 1.5 / links, [math.pi / 4 * 0.04 * 0.03**3, math.pi / 4 * 0.03 * 0.04**3]
        for k, joint in enumerate(robot.joints):
            assert joint.stiffness * 0.2 * share == pytest.approx(3e4 * moments[k % 2] * 0.2, rel=1e-13)
            assert joint.viscous == pytest.approx(0.1 * joint.stiffness, rel=1e-13)


def test_lumped_beams():
    """A slow bend under a force at the tip: the springs sum up the beam's bending, F L^3 / 3 EI, to second order."""
    errors = []
    for joints in (1, 4, 8, 16):
        robot = lumped_beam(joints, length=0.8, youngs=2e9, moment=3e-9, damping=0.01)
        assert check(robot) == ()
        model = build(robot)
        arms = [0.8 - (j + 0.5) * 0.8 / joints for j in range(joints)]
        assert_close(evaluate(model, "pose", np.zeros(joints), frame="tip")[:3, 3], np.array([0.8, 0, 0]))
        sag = sum(arm * arm / joint.stiffness for arm, joint in zip(arms, robot.joints, strict=True))
        errors.append(1 - sag / (0.8**3 / (3 * 6)))
        mass = sum(link.inertia.mass for link in robot.links if link.inertia)
        assert mass == pytest.approx(2700 * 2e-4 * 0.8 * (1 - 0.5 / joints), rel=1e-13)
    assert errors[0] == pytest.approx(0.25) and errors[1:] == pytest.approx([0.25 / 16, 0.25 / 64, 0.25 / 256])


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: eel(0), "eel(links=...)"),
        (lambda: eel(2.5), "eel(links=...)"),
        (lambda: eel(10**9), "eel(links=...)"),
        (lambda: eel("12"), "eel(links=...)"),
        (lambda: eel(3, length="1"), "eel(length=...)"),
        (lambda: eel(3, width=10**400), "eel(width=...)"),
        (lambda: eel(3, length=0), "eel(length=...)"),
        (lambda: eel(3, taper=-1), "eel(taper=...)"),
        (lambda: eel(3, width=math.nan), "eel(width=...)"),
        (lambda: eel(3, along=-1), "Drag.k_axial"),
        (lambda: macro_continuous_eel(0), "macro_continuous_eel(links=...)"),
        (lambda: macro_continuous_eel(4, youngs=0), "macro_continuous_eel(youngs=...)"),
        (lambda: lumped_beam(0), "lumped_beam(joints=...)"),
        (lambda: lumped_beam(4, moment=-1), "lumped_beam(moment=...)"),
    ],
)
def test_bad_sizes(make, where):
    with pytest.raises(ModelError) as caught:
        make()
    assert caught.value.where == where and caught.value.expected
