"""The formulations of Lin and Fang 1999 against linkwork's own inertia matrix and Pinocchio's."""

from dataclasses import replace

import numpy as np
import pytest

from linkwork.formulations.crba import crba
from linkwork.formulations.linfang import METHODS, joint_classes
from linkwork.formulations.linfang.chain import Chain, composite_bodies
from linkwork.formulations.linfang.minimal import minimal_combinations
from linkwork.formulations.linfang.moments import composite_moments
from linkwork.model import build, grouped
from linkwork.spatial import Vector
from support.evaluate import assert_close, deviation
from support.random_robots import random_state, serial

TOLERANCE = 1e-13
NAMES = [method.name for method in METHODS]


def assert_all_equal_crba(model, q, deviations):
    M = crba(model, q)
    for method in METHODS:
        for seen in (model, grouped(model)):
            off = deviation(method.function(seen, q), M)
            deviations(method.name, off)
            assert off < TOLERANCE, method.name


@pytest.mark.parametrize("pattern", ["R", "PR", "RP", "RR", "PRPR", "RPR", "RPPRR", "RRPRR"])
def test_gravity_along_parallel_axes(pattern: str, deviations):
    """There first moments drop out of the minimal set, and the inertia matrix is still exact."""
    for seed, relations in enumerate((("coaxial",), ("coaxial", "coaxial", "parallel"), ("parallel",))):
        described = serial(pattern, seed, relations)
        model = build(replace(described, gravity=(0.0, 0.0, -9.81)))  # all axes are the base's z
        first = joint_classes(model).r
        assert joint_classes(model).delta[first] == 0
        assert_all_equal_crba(model, random_state(model, seed)[0].tolist(), deviations)


@pytest.mark.parametrize("pattern", ["RPRR", "RPRPRS", "PRPPRPS", "RPPRRPSP", "RRPRPPR", "PPRPPR"])
def test_parallel_rotational_joints_with_sliding_ones_between(pattern: str, deviations):
    """R is parallel or antiparallel to the first axis, S and P are not."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        described = serial(pattern.replace("S", "R"), seed, ("skew",))
        common, R, joints = rng.normal(size=3), np.eye(3), []
        for kind, joint in zip(pattern, described.joints):
            R = R @ joint.origin.rotation
            direction = rng.choice([-1.0, 1.0]) * common if kind == "R" else rng.normal(size=3)
            joints.append(replace(joint, axis=R.T @ direction))
        model = build(
            replace(described, joints=tuple(joints), gravity=tuple(common) if seed % 2 else described.gravity)
        )
        classes = joint_classes(model)
        assert (classes.r, classes.s) == (pattern.index("R") + 1, pattern.find("S") % (len(pattern) + 1) + 1)
        assert_all_equal_crba(model, random_state(model, seed)[0].tolist(), deviations)


def test_rotors_stand_on_the_diagonal(deviations):
    model = build(serial("RPRR", 5, ("skew",), extras=True))
    assert model.joint(1).rotor_inertia
    assert_all_equal_crba(model, random_state(model)[0].tolist(), deviations)


@pytest.mark.parametrize("pattern", ["RR", "PRR", "RPR", "RPPR", "RRPR", "PRPRPR", "RPPRRR", "RRRPR"])
def test_minimal_combinations_give_the_moments_of_composite_bodies(pattern: str):
    """What Formulations 1 and 2 need, element by element: first moments, third columns, and u_r.t_ii before s."""
    for seed, relations in enumerate((("skew",), ("skew", "parallel", "antiparallel"), ("parallel", "right angle"))):
        model = build(serial(pattern, seed, relations))
        q = random_state(model, seed)[0].tolist()
        chain, classes = Chain(model, q), joint_classes(model)
        true, found = composite_bodies(model, chain), composite_moments(chain, minimal_combinations(model))
        for i in range(classes.r, model.n_bodies + 1):
            c, J = true[i].h, true[i].J
            rotational = not chain.prismatic[i]
            if rotational or i > classes.s:
                assert_close([*found.body[i].h][:2], [c.x, c.y], scale=1)
            if rotational and i >= classes.s:
                assert_close([found.body[i].J.xz, found.body[i].J.yz, found.body[i].J.zz], [J.xz, J.yz, J.zz], scale=1)
            if i < classes.s:
                t = Vector(J.xz, J.yz, J.zz) if rotational else Vector(c.y, -c.x, 0)
                assert_close(found.t[i], classes.u[i].dot(t), scale=1)
