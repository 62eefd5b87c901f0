"""Bundled robots: each loads, is a possible robot, and says where its values are from."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

import linkwork
from linkwork.io.mdh import TABLES, read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.model.validate import check

FILES = {path.stem: path for path in sorted((Path(linkwork.__file__).parent / "robots").glob("*.yaml"))}
JOINTS = {"planar2r": 2, "puma560": 6, "stanford": 6, "rx90": 6, "scara": 4, "panda": 7, "ur5e": 6, "quadruped": 12}
JOINTS |= {"flexible-arm": 4, "panda-elastic": 14, "space-arm": 6, "eel": 11, "four-bar": 3, "slider-crank": 3}
JOINTS |= {"five-bar": 4, "parallelogram": 6, "spatial-7r": 6, "3rrr": 7, "3rpr": 9, "delta": 12, "hybrid-3rpr": 18}
JOINTS |= {"macro-continuous-eel": 15, "flexible-beam": 2, "flexible-two-link": 4, "flexible-crane": 4}
JOINTS |= {"quadrotor": 0, "quadrotor-with-arm": 3}
JOINTS |= {"biped": 12}
JOINTS |= {"rolling-disc": 0, "differential-drive": 4, "car": 8, "mobile-manipulator": 9, "segway": 2, "snake": 5}
JOINTS |= {"gough-stewart": 19}  # with the platform's, which has six freedoms
FREEDOMS = {"four-bar": 1, "slider-crank": 1, "five-bar": 2, "parallelogram": 4, "spatial-7r": 1, "3rrr": 3, "3rpr": 3}
FREEDOMS |= {"delta": 3, "hybrid-3rpr": 6, "gough-stewart": 6}  # of those with loops
FREEDOMS |= {"rolling-disc": 3, "differential-drive": 2, "car": 2, "mobile-manipulator": 9, "segway": 3, "snake": 4}
MASSLESS = {  # slides under a platform; sides of a spring whose rotor has all the inertia there is
    ("3rpr", "platform_x"), ("3rpr", "platform_y"), ("delta", "platform_x"), ("delta", "platform_y"),
    *(("hybrid-3rpr", f"{module}_platform_{axis}") for module in ("lower", "upper") for axis in "xy"),
    *(("panda-elastic", f"panda_joint{k}_rotor") for k in range(1, 8)),
}  # fmt: skip
IMPOSSIBLE = {("puma560", "link3")}  # as published; the file says so


def read(name: str):
    return read_mdh(FILES[name].read_text(), FILES[name].name)


def test_all_are_there():
    assert set(FILES) == set(JOINTS)


@pytest.mark.parametrize("name", JOINTS)
class TestEach:
    def test_loads_and_checks(self, name):
        robot = read(name)
        assert robot.name == name
        assert sum(joint.kind != "fixed" for joint in robot.joints) == JOINTS[name]
        allowed = tuple(f"link {link!r}" for robot_name, link in IMPOSSIBLE if robot_name == name)
        assert [finding for finding in check(robot) if not finding.where.endswith(allowed or "none")] == []

    def test_every_link_is_a_possible_body(self, name):
        robot = read(name)
        moving = {joint.child for joint in robot.joints if joint.flexible is None}  # the tip of a beam needs no body
        for link in robot.links:
            assert link.inertia is not None or link.name not in moving
            if link.inertia is None or (name, link.name) in IMPOSSIBLE:
                continue
            assert (link.inertia.mass == 0) == ((name, link.name) in MASSLESS), link.name
            if link.inertia.mass == 0:
                assert not link.inertia.central.any()
                continue
            assert link.inertia.mass > 0
            moments = np.linalg.eigvalsh(link.inertia.central)
            assert moments[0] > 0
            assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9), link.name

    def test_every_value_has_a_source(self, name):
        top = yaml.safe_load(FILES[name].read_text())
        robot = read(name)
        keys = {"joints": "name", "links": "link", "drives": "joint", "frames": "name"}
        keys |= dict.fromkeys(("loops", "rolling", "gears"), "name")
        for table, key in keys.items():
            for j, row in enumerate(top.get(table, ()), 1):
                path = f"{table}.{row.get(key, f'joint{j}')}"
                for value in set(row) - {key, "link", "parent", "sigma", "source"}:
                    source = robot.sources.get(f"{path}.{value}", robot.sources.get(path, robot.sources.get(table)))
                    assert source, (path, value)
        if "leg" in top:  # what its legs become
            assert {"joints", "links", "drives", "loops", "home"} <= robot.sources.keys()
        if "home" in top:
            assert robot.sources["home"]
        referred = {source for path, source in robot.sources.items() if path.split(".")[0] in TABLES}
        assert referred >= set(top.get("sources", ()))  # none listed in vain
        assert robot.summary

    def test_written_and_read_back(self, name):
        text = write_mdh(read(name))
        assert write_mdh(read_mdh(text)) == text

    def test_accelerations_are_defined_at_home(self, name):
        """Forces for a motion, and the motion under them."""
        robot = linkwork.load(name)
        q = np.array(robot.home) if robot.home else np.full(robot.nq, 0.1)
        v, a = np.linspace(-0.2, 0.3, robot.nv), np.linspace(1, 2, robot.nv)
        tau = robot.inverse_dynamics(q, v, a)
        # rotors far lighter than what they turn: the inertia matrix has condition numbers up to 1e5
        np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-8)


@pytest.mark.parametrize("name", FREEDOMS)
def test_loops_close_at_home_and_leave_the_freedoms(name):
    robot = linkwork.load(name)
    assert robot.nv == FREEDOMS[name]
    assert np.abs(robot.loop_residual(robot.home)).max() < 1e-12
    known = [robot.home[robot.position_names.index(name)] for name in robot.joint_names]
    rolls = robot.model.n_configuration > robot.nv  # its velocities tell no positions
    if not (rolls or robot.coordinates.joints[0].kind.free):
        np.testing.assert_allclose(robot.assemble(known).require(), robot.home, rtol=0, atol=1e-12)


def test_robots_without_loops_have_no_home():
    standing = {"biped", "quadruped"}  # on bent legs
    assert all(not linkwork.load(name).model.home for name in set(JOINTS) - set(FREEDOMS) - standing)


def test_quadruped_is_mirror_symmetric():
    robot = read("quadruped")
    assert robot.floating
    at = {"trunk": (np.eye(3), np.zeros(3))}
    for joint in robot.joints:
        R, p = at[joint.parent]
        at[joint.child] = R @ joint.origin.rotation, R @ joint.origin.translation + p
    mirror = np.diag([1.0, -1.0, 1.0])
    inertia = {link.name: link.inertia for link in robot.links}
    for link in inertia:
        if "left" not in link:
            continue
        other = link.replace("left", "right")
        (R, p), (R2, p2) = at[link], at[other]
        left, right = inertia[link], inertia[other]
        assert left is not None and right is not None
        assert left.mass == right.mass
        np.testing.assert_allclose(mirror @ (R @ left.center + p), R2 @ right.center + p2, atol=1e-15)
        np.testing.assert_allclose(
            mirror @ R @ left.central @ R.T @ mirror, R2 @ right.central @ R2.T, atol=1e-18, rtol=1e-14
        )
    foot = (
        at["front_left_lower_leg"][0] @ robot.frames["front_left_foot"][1].translation + at["front_left_lower_leg"][1]
    )
    np.testing.assert_allclose(foot, [0.19, 0.13, -0.4], atol=1e-15)


@pytest.mark.parametrize("name", ["puma560", "ur5e", "panda"])
def test_reach_at_zero(name):
    """The last link's frame at position zero, added up by hand from the tables."""
    robot = read(name)
    R, p = np.eye(3), np.zeros(3)
    for joint in robot.joints:
        R, p = R @ joint.origin.rotation, R @ joint.origin.translation + p
    frames = {"puma560": "link6_dh", "ur5e": "tool0", "panda": "panda_link8"}
    p = p + R @ robot.frames[frames[name]][1].translation
    expected = {
        "puma560": [0.4318 + 0.0203, -0.15005, 0.672 + 0.4318],
        "ur5e": [-0.425 - 0.3922, -0.1333 - 0.0996, 0.1625 - 0.0997],
        "panda": [0.088, 0, 0.333 + 0.316 + 0.384 - 0.107],
    }
    np.testing.assert_allclose(p, expected[name], atol=1e-15)


def test_stanford_boom_slides():
    boom = read("stanford").joints[2]
    assert boom.kind == "prismatic" and boom.lower == pytest.approx(0.3048) and math.isfinite(boom.upper)
