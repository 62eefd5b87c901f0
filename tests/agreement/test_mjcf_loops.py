"""Loops in MJCF against MuJoCo: the same constraints, at MuJoCo's own poses.

MuJoCo linearises each equality in the rows of ``efc_J``. The same must come from the two frames of our loop: from the
rate at which they part, by central differences of poses that MuJoCo computes for their bodies. MuJoCo turns the rows
its own way (and halves the turns of a weld), so the spaces that the rows span are compared.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.constraints import ConstraintEquations
from linkwork.io.mjcf import read_mjcf
from linkwork.model.description import Placement

GEOM = '<geom type="capsule" size=".03" fromto="0 0 0 .3 .02 0"/>'
FOUR_BAR = f"""<mujoco><worldbody>
<body name="crank"><joint name="crank" axis="0 1 0" ref="-60"/>{GEOM}
  <body name="rod" pos=".3 0 0"><joint name="rod" axis="0 1 0" pos=".02 0 0"/>{GEOM}</body></body>
<body name="rocker" pos=".7 0 .1" euler="0 -100 0"><joint name="rocker" axis="0 1 0"/>{GEOM}</body>
</worldbody><equality>%s</equality><actuator><motor joint="crank"/></actuator></mujoco>"""
SPATIAL = f"""<mujoco><worldbody>
<body name="a" pos=".1 .2 .3" euler="10 20 30">{GEOM}
  <joint name="a1" axis="0 1 0" ref="20"/><joint name="a2" axis="1 0 .2"/>
  <body name="b" pos=".3 0 0" euler="0 0 40"><joint name="b1" axis="1 2 3" pos="0 .1 0"/><joint name="b2"/>{GEOM}
  <site name="sb" pos=".1 .2 0" euler="10 20 30"/></body></body>
<body name="c" pos=".5 .2 .3" euler="-10 50 30">{GEOM}
  <joint name="c1" type="slide" axis="0 1 0" ref=".3"/><joint axis="1 0 0"/>
  <body name="d" pos=".2 0 0"><joint axis="0 1 1"/><joint axis="1 0 1"/>{GEOM}
  <site name="sd" pos="0 .2 .1"/></body></body>
</worldbody><equality>%s</equality></mujoco>"""
PLATFORM = f"""<mujoco><worldbody>
<body name="leg" pos=".3 0 0"><joint axis="0 1 0"/><joint axis="1 0 0"/><joint type="slide" axis="0 0 1"/>{GEOM}</body>
<body name="top" pos=".2 0 1" euler="10 0 90"><freejoint/>{GEOM}</body>
</worldbody><equality>%s</equality></mujoco>"""

MORE = f'<body name="more" pos=".3 .4 1" euler="20 30 40"><freejoint/>{GEOM}</body></worldbody>'
SLEEVE = '<joint name="rod"'  # a joint more, or a chain that is pulled straight is held by the world
CASES = {
    "four-bar": FOUR_BAR % '<connect body1="rod" body2="rocker" anchor=".3 0 0"/>',
    "four-bar by the world": FOUR_BAR.replace(SLEEVE, f'<joint name="slip" type="slide" axis="1 0 1"/>{SLEEVE}', 1)
    % '<connect body1="rod" anchor=".3 0 0"/>',
    "connect": SPATIAL % '<connect body1="b" body2="d" anchor=".1 -.2 .3"/>',
    "weld": SPATIAL % '<weld body1="b" body2="d"/>',
    "weld at an anchor": SPATIAL % '<weld body1="d" body2="b" anchor=".1 .2 -.3" torquescale="2"/>',
    "weld to the world": SPATIAL % '<weld body1="b"/>',
    "two": SPATIAL % '<connect body1="b" body2="d" anchor="0 0 0"/><connect body1="a" body2="c" anchor="0 .2 0"/>',
    "platform": PLATFORM % '<connect body1="leg" body2="top" anchor="0 0 1"/>',
    "weld of a ball": SPATIAL.replace('name="b2"', 'name="b2" type="ball"') % '<weld body1="b" body2="d"/>',
    "two platforms": PLATFORM.replace("</worldbody>", MORE)
    % '<connect body1="leg" body2="top" anchor="0 0 1"/><connect body1="top" body2="more" anchor="0 0 .3"/>',
    "platform welded": PLATFORM % '<weld body1="top" body2="leg"/>',
}


class Theirs:
    def __init__(self, text: str):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.data = mujoco.MjData(self.model)

    def rows(self, q: np.ndarray) -> np.ndarray:
        """The gradients of all equalities."""
        self.data.qpos[:] = q
        mujoco.mj_forward(self.model, self.data)
        return self.data.efc_J.reshape(-1, self.model.nv)[: self.data.ne].copy()

    def moved(self, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        q = q.copy()
        mujoco.mj_integratePos(self.model, q, velocity, 1.0)
        return q

    def placement(self, q: np.ndarray, body: str) -> Placement:
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)
        there = self.data.body(body)
        return Placement(there.xmat.reshape(3, 3).copy(), there.xpos.copy())

    def gap(self, q: np.ndarray, loop) -> Placement:
        """The second frame of a loop seen from the first."""
        first, second = (self.placement(q, link) @ placement for link, placement in (loop.first, loop.second))
        return first.inverse() @ second


def own_rows(theirs: Theirs, q: np.ndarray, loop, step: float = 1e-5) -> np.ndarray:
    columns = []
    for unit in np.eye(theirs.model.nv):
        ahead, behind = (theirs.gap(theirs.moved(q, sign * step * unit), loop) for sign in (1, -1))
        turn = (ahead.rotation - behind.rotation) @ theirs.gap(q, loop).rotation.T
        turns = [turn[2, 1], turn[0, 2], turn[1, 0]] if loop.kind.name == "weld" else []
        columns.append(np.array([*(ahead.translation - behind.translation), *turns]) / (2 * step))
    return np.array(columns).T


def directions(rows: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the rows span."""
    _, sizes, basis = np.linalg.svd(rows)
    return basis[: int((sizes > 1e-7 * sizes[0]).sum())]


def assert_same_span(ours: np.ndarray, theirs: np.ndarray, tolerance: float):
    a, b = directions(ours), directions(theirs)
    assert len(a) == len(b)
    np.testing.assert_allclose(a.T @ a, b.T @ b, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_at_home(name: str):
    """The loops are closed at MuJoCo's qpos0, which is our home, and the rows span the same space there."""
    description, theirs = read_mjcf(CASES[name]), Theirs(CASES[name])
    q = theirs.model.qpos0.copy()
    for loop in description.constraints:
        gap = theirs.gap(q, loop)
        np.testing.assert_allclose(gap.translation, 0, atol=1e-14)
        if loop.kind.name == "weld":
            np.testing.assert_allclose(gap.rotation, np.eye(3), atol=1e-14)
    for joint in description.joints:
        if joint.kind not in ("fixed", "floating") and joint.name in description.home:
            assert description.home[joint.name] == q[theirs.model.joint(joint.name).qposadr[0]]
    rows = np.vstack([own_rows(theirs, q, loop) for loop in description.constraints])
    assert_same_span(rows, theirs.rows(q), 1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if "weld" not in name])
def test_of_points_elsewhere(name: str):
    """Away from closed positions too, where MuJoCo tells how far points are apart."""
    description, theirs = read_mjcf(CASES[name]), Theirs(CASES[name])
    random = np.random.default_rng(4)
    for _ in range(5):
        q = theirs.moved(theirs.model.qpos0, random.normal(size=theirs.model.nv))
        own = [own_rows(theirs, q, loop) for loop in description.constraints]
        given, rows = theirs.rows(q), []
        for loop, apart in zip(description.constraints, own):
            # Ours turn with the first frame; in the world's axes the turning of the gap is added.
            first = theirs.placement(q, loop.first[0]) @ loop.first[1]
            turning = np.zeros((3, theirs.model.nv))
            mujoco.mj_jacBody(theirs.model, theirs.data, None, turning, theirs.model.body(loop.first[0]).id)
            gap = first.rotation @ theirs.gap(q, loop).translation
            rows.append(first.rotation @ apart + np.cross(turning.T, gap).T)
        np.testing.assert_allclose(-np.vstack(rows), given, atol=1e-8)  # theirs: the first less the second


@pytest.mark.parametrize("name", CASES)
def test_of_the_model(name: str):
    """The loop equations of the Model that is built: the same span at home."""
    description, theirs = read_mjcf(CASES[name]), Theirs(CASES[name])
    if name == "platform welded":  # it takes part of the platform's freedoms, so others must be named
        description = replace(description, independent=tuple(joint.name for joint in description.joints[:-1]))
    model = linkwork.load(description).model
    rows = np.array(ConstraintEquations.at(model, model.home).J, float)
    given = theirs.rows(theirs.model.qpos0)
    for j in np.flatnonzero(theirs.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        linear = slice(theirs.model.jnt_dofadr[j], theirs.model.jnt_dofadr[j] + 3)  # in the world's axes
        body = theirs.model.body(theirs.model.jnt_bodyid[j]).name
        given[:, linear] = given[:, linear] @ theirs.placement(theirs.model.qpos0, body).rotation
    assert_same_span(rows, given, 1e-9)


@pytest.mark.parametrize(
    "equality", ['<connect site1="sb" site2="sd"/>', '<weld site1="sb" site2="sd"/>', '<weld site1="sd" site2="sb"/>']
)
def test_sites(equality: str):
    """Sites need not meet at qpos0; their loop is open by what MuJoCo says."""
    text = SPATIAL % equality
    (loop,), theirs = read_mjcf(text).constraints, Theirs(text)
    q = theirs.model.qpos0.copy()
    theirs.rows(q)
    first = theirs.placement(q, loop.first[0]) @ loop.first[1]
    gap = theirs.gap(q, loop)
    np.testing.assert_allclose(first.rotation @ gap.translation, -theirs.data.efc_pos[:3], atol=1e-14)
    for site, (link, placement) in (("sb", loop.first), ("sd", loop.second)):
        if equality.index("sb") > equality.index("sd"):
            link, placement = loop.second if site == "sb" else loop.first
        there = theirs.data.site(site)
        here = theirs.placement(q, link) @ placement
        np.testing.assert_allclose(here.rotation, there.xmat.reshape(3, 3), atol=1e-14)
        np.testing.assert_allclose(here.translation, there.xpos, atol=1e-14)
