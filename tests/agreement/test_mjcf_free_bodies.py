"""MJCF with balls, free bodies and several joints in a body, read by linkwork and by MuJoCo: the same dynamics."""

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import linkwork
from linkwork.io.mjcf import read_mjcf
from support.evaluate import assert_close, evaluate
from support.mujoco_file import assert_same_dynamics, unit
from support.random_robots import random_state

GEOM = '<geom type="ellipsoid" size=".1 .2 .3" pos=".05 .1 -.02" euler="10 20 30"/>'
MODELS = {
    "an arm and what it handles": f"""<mujoco><option gravity="1 2 -9"/><worldbody>
      <body name="cup" pos="1 2 3" euler="40 50 60"><freejoint name="cup"/>{GEOM}<site name="rim" pos="0 0 .1"/></body>
      <body name="upper" pos="0 0 .5" euler="0 30 0">
        <joint name="shoulder" type="ball" armature=".3" damping="1.5" frictionloss=".7" stiffness="20"/>{GEOM}
        <body name="fore" pos=".4 0 .1"><joint name="elbow" axis="0 1 .2" pos=".1 .2 .3" ref="30"/>{GEOM}</body>
      </body>
      <body name="table" pos=".5 0 0"><geom type="box" size=".5 .5 .02"/>
        <body name="drawer" pos=".1 0 0"><joint name="drawer" type="slide" axis="1 1 0" ref=".1"/>{GEOM}</body></body>
      <body name="lamp" pos="-1 0 .3" quat="1 2 3 4"><joint name="lamp" type="free" damping=".8"/>{GEOM}
        <body name="shade" pos=".2 0 0"><joint name="neck" type="ball" pos=".1 -.2 .3"/>{GEOM}</body></body>
    </worldbody></mujoco>""",
    "several joints in one body": f"""<mujoco><compiler angle="radian"/><worldbody>
      <body name="a" pos="0 .1 .2" euler=".1 .2 .3">
        <joint name="rail" type="slide" axis="1 .5 0" ref=".3"/>
        <joint name="yaw" axis="0 0 1" pos=".1 .2 .3" ref=".4" damping=".2"/>
        <joint name="wrist" type="ball" pos="-.1 .3 .2" stiffness="7" damping=".1" armature=".2"/>
        <joint name="lift" type="slide" axis="1 1 1" ref="-.2"/>{GEOM}
        <body name="b" pos=".2 0 0" euler="1 0 0"><joint type="ball" pos=".2 .3 .4"/>
          <joint name="out" type="slide" axis="0 1 .3"/>{GEOM}</body>
        <body name="c" pos="0 .2 0"><joint name="first" pos=".1 .2 0"/><joint name="then" type="ball"/>{GEOM}
          <body pos=".1 .1 .1"><geom type="box" size=".1 .2 .3"/></body></body>
      </body>
    </worldbody></mujoco>""",
    "balls on a floating base": f"""<mujoco><worldbody>
      <body name="trunk" pos="0 0 1" euler="10 20 30"><freejoint name="root"/>{GEOM}
        <body name="thigh" pos=".2 .1 0" euler="0 30 0"><joint name="hip" type="ball" pos="0 0 .02" damping=".3"/>{GEOM}
          <body name="shank" pos="0 .05 -.3"><joint name="knee" axis="0 1 0"/>{GEOM}</body></body>
      </body></worldbody></mujoco>""",
}


def shipped() -> str:
    """A model that comes with MuJoCo: a walker, one of whose wheels is a ball, and loose objects. Without what is left
    out, and without the weld that holds one of the objects."""
    root = ElementTree.parse(Path(mujoco.__file__).parent / "testdata" / "model.xml").getroot()
    for tag in ("equality", "sensor", "keyframe"):
        root.remove(root.find(tag))  # pyright: ignore[reportArgumentType]
    root.find("option").attrib.clear()  # pyright: ignore[reportOptionalMemberAccess]
    root.find("worldbody/body").attrib.pop("gravcomp")  # pyright: ignore[reportOptionalMemberAccess]
    return ElementTree.tostring(root, encoding="unicode")


MODELS["shipped_with_mujoco"] = shipped()


@pytest.mark.parametrize("name", MODELS)
def test_dynamics(name):
    robot = linkwork.load(read_mjcf(MODELS[name]))
    for seed in (1, 2, 3):
        assert_same_dynamics(robot, MODELS[name], *random_state(robot.model, seed))


def random_text(seed: int) -> str:
    """Several roots, some of them free; up to three joints in a body, each with a place of its own."""
    rng = np.random.default_rng(seed)
    count = 0

    def numbers(low: float, high: float, size: int = 3) -> str:
        return " ".join(map(repr, rng.uniform(low, high, size).tolist()))

    def joint(kind: str) -> str:
        nonlocal count
        count += 1
        terms = {"damping": 2.0, "armature": 0.5, "stiffness": 9.0, "frictionloss": 0.4}
        given = " ".join(f'{term}="{rng.uniform(0, most)!r}"' for term, most in terms.items() if rng.random() < 0.4)
        turned = "" if kind == "ball" else f'axis="{numbers(-1, 1)}" ref="{rng.uniform(-1, 1)!r}"'
        return f'<joint name="j{count}" type="{kind}" pos="{numbers(-0.3, 0.3)}" {turned} {given}/>'

    def body(depth: int) -> str:
        nonlocal count
        if depth == 0 and rng.random() < 0.5:
            count += 1
            joints = f'<joint name="j{count}" type="free" damping="{rng.uniform(0, 1)!r}"/>'
        else:
            kinds = rng.choice(["hinge", "slide"], rng.integers(0, 3)).tolist()
            joints = "".join(map(joint, kinds + ["ball"] * (rng.random() < 0.6)))
        inner = "".join(body(depth + 1) for _ in range(rng.integers(0, 3))) if depth < 2 else ""
        inertial = f'<geom type="ellipsoid" size="{numbers(0.1, 0.3)}" pos="{numbers(-0.2, 0.2)}"/>'
        return f'<body pos="{numbers(-0.5, 0.5)}" quat="{numbers(-1, 1, 4)}">{joints}{inertial}{inner}</body>'

    bodies = "".join(body(0) for _ in range(3))
    return f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody></mujoco>'


@pytest.mark.parametrize("seed", range(8))
def test_random_trees(seed):
    text = random_text(seed)
    robot = linkwork.load(read_mjcf(text))
    assert_same_dynamics(robot, text, *random_state(robot.model, seed))


def test_home_is_the_initial_position():
    """Of all joints, as soon as a free body needs a place."""
    text = MODELS["an arm and what it handles"]
    robot = linkwork.load(read_mjcf(text))
    q = np.array(robot.home)
    own = robot.coordinates.positions.to_dict(q)
    theirs = mujoco.MjModel.from_xml_string(text)
    for name, value in own.items():
        at = theirs.joint(name).qposadr[0]
        expected = theirs.qpos0[at : at + np.size(value)]
        if np.size(value) == 4:
            value = unit(np.array(value))
        elif np.size(value) == 7:
            value = [*value[:3], *unit(np.array(value[3:]))]
        np.testing.assert_allclose(np.atleast_1d(value), expected, rtol=0, atol=1e-15)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    assert_close(evaluate(robot.model, "pose", q, frame="rim")[:3, 3], data.site("rim").xpos)


def test_motion():
    """A robot and two free bodies, a second long from home: MuJoCo's own steps lead to the same place."""
    text = MODELS["an arm and what it handles"].replace('frictionloss=".7"', "")
    robot = linkwork.load(read_mjcf(text))
    theirs = mujoco.MjModel.from_xml_string(text)
    theirs.opt.timestep, theirs.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(theirs)
    for _ in range(1000):
        mujoco.mj_step(theirs, data)
    mujoco.mj_forward(theirs, data)
    motion = robot.rollout(np.array(robot.home), np.zeros(robot.nv), dt=1e-3, steps=1000, method="rk4")
    for frame in ("cup", "fore", "drawer", "shade"):
        pose = evaluate(robot.model, "pose", motion.q[-1], frame=frame)
        assert_close(pose[:3, 3], data.body(frame).xpos, scale=1.0, tolerance=1e-9)
        assert_close(pose[:3, :3], data.body(frame).xmat.reshape(3, 3), tolerance=1e-9)
