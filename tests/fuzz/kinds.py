"""Every kind of file that linkwork reads: good examples to start from, and how each is opened."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from mutations import mutated_bytes, mutated_tree, parsed, written

import linkwork
from linkwork.identify.logs.log import Log
from linkwork.io import BUNDLED
from linkwork.sweep import read_study

Files = dict[str, bytes]  # by path in a folder of their own

STANDARD = b"""
name: standard
convention: standard
joints:
  - {name: waist, link: column, d: 0.4, alpha: pi/2}
  - {name: slide, sigma: 1, a: 0.2, theta: 90 deg}
  - {name: flange, sigma: 2, parent: column, alpha: -pi/2}
links: [{link: column, M: 3, center: [0, 0.1, 0], central: [0.1, 0.2, 0.1]}]
frames: [{name: tool, link: link2, xyz: [0, 0, 0.1], rpy: [0, 0.3, 0]}]
"""
KINDS_OF_JOINTS = b"""
name: every kind
joints:
  - {name: screw, link: nut, kind: helical, pitch: 0.01/2/pi, alpha: 0.3}
  - {name: rod, link: piston, kind: cylindrical, d: 0.2}
  - {name: cross, link: shaft, kind: universal, parent: nut, alpha: pi/2, d: 0.3}
  - {name: ball, link: hand, kind: spherical, xyz: [0.1, 0.2, 0.3]}
  - {name: slab, link: slab, kind: planar, parent: base, theta: 0.2}
  - {name: box, link: box, kind: floating, parent: base, xyz: [1, 0, 0]}
  - {name: lid, link: lid, kind: floating, origin: {r: 0.2}, rpy: [0, 0.1, 0]}
  - {name: weld, link: tool, kind: fixed, parent: hand}
links:
  - {link: nut, M: 1, central: [0.1, 0.1, 0.1]}
  - {link: shaft, M: 1, center: [0, 0.1, 0], central: [0.1, 0.1, 0.1]}
  - {link: hand, M: 1, XX: 0.1, YY: 0.1, ZZ: 0.1}
  - {link: lid, M: 1, central: [0.1, 0.1, 0.1]}
drives: [{joint: ball, role: passive, Fv: 0.2}, {joint: box, Fv: 0.1}, {joint: cross, Ia: 0.1, weight: 2}]
frames: [{name: hand, link: hand, rpy: [0, 0.3, 0]}]
home: {ball: [0, 0, 1, 0], slab: [0.1, 0.2, 90 deg], cross: [0.1, 0.2], lid: [0, 0, 1, 0, 0, 0, 1]}
"""
BENDING = b"""
name: bending
joints:
  - {name: hub, link: hub}
  - name: bend
    link: tip
    d: 0.1
    flexible: {length: 0.5, density: 2710, area: 1e-4, youngs: 7e10, shear: 2.7e10, moments: {y: 2e-10, z: 8e-10},
      modes: {y: 2, twist: 1}, damping: [0.01, 0.02, 0.01], polar: 1e-9, torsion: 3e-10, stiffening: true}
  - name: other
    link: end
    parent: hub
    flexible: {length: 1, density: 1, area: 1, youngs: 5, moments: [1, 2], shapes: {z: [[0, 0, 3, -1], [0, 0, 0, 1]]}}
  - name: found
    link: far
    flexible:
      modal: {tip: [1, 0, 0], shifts: [[0, 1, 0]], turns: [[0, 0, 1]], first: [[0, 0.3, 0]], frequencies: [2],
        second: [[[0, 0.2, 0], [0, 0, 0], [0, 0, 0]]], products: [[[[0, 0, 0], [0, 0.25, 0], [0, 0, 0]]]]}
links: [{link: hub, M: 1, central: [0.1, 0.1, 0.1]}, {link: far, M: 1, central: [0.1, 0.1, 0.1]}]
home: {bend: [0.01, 0, 0.1]}
"""
BODY = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
OBJECTS = f"""<robot name="objects"><link name="world"/><link name="slab">{BODY}</link><link name="arm">{BODY}</link>
<link name="box">{BODY}</link>
<joint name="on" type="planar"><origin xyz="0 0 1" rpy="0.1 0 0"/><parent link="world"/><child link="slab"/>
<axis xyz="0 1 1"/><dynamics damping="0.1"/></joint>
<joint name="turn" type="continuous"><parent link="slab"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<joint name="free" type="floating"><origin xyz="0 0.3 0"/><parent link="arm"/><child link="box"/></joint></robot>"""
MJCF = b"""<mujoco model="arm"><compiler angle="radian"/><option gravity="0 0 -9.81"/>
<default><joint damping="0.1"/></default>
<worldbody><body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" range="-1 1"/><geom type="capsule"
size=".05" fromto="0 0 0 0 0 .4"/><body name="fore" pos="0 0 .4"><joint name="elbow" axis="0 1 0" armature="0.2"/>
<inertial pos="0 0 .1" mass="2" diaginertia=".1 .1 .02"/><site name="tip" pos="0 0 .3"/></body></body></worldbody>
<equality><joint joint1="elbow" joint2="shoulder" polycoef="0 1 0 0 0"/></equality>
<actuator><motor joint="shoulder"/></actuator></mujoco>"""
MJCF_OBJECTS = b"""<mujoco><compiler angle="radian"/><worldbody>
<body name="arm" pos="0 0 1"><joint name="shoulder" type="ball" pos="0 .1 0" damping=".1" stiffness="2" range="0 1"/>
<geom type="capsule" size=".05" fromto="0 0 0 0 0 .4"/><body name="fore" pos="0 0 .4"><joint type="slide" axis="0 1 0"/>
<joint name="elbow" axis="0 1 0" pos=".1 0 0" ref=".3"/><geom size=".1"/></body></body>
<body name="cup" pos="1 0 0" quat="1 0 0 1"><freejoint name="cup"/><geom type="box" size=".1 .2 .1"/></body>
<body name="plate" pos="1 0 1"><joint name="plate" type="free" damping=".2"/><geom size=".2"/></body>
</worldbody><equality><connect body1="fore" body2="plate" anchor="0 0 .1"/></equality>
<actuator><motor joint="shoulder" gear="0 1 0"/><motor joint="elbow"/></actuator></mujoco>"""
MJCF_TENDONS = b"""<mujoco><compiler angle="radian"/><worldbody><site name="wall" pos="0 1 0"/>
<body name="palm" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom size=".1"/><site name="p" pos=".1 0 0"/>
<body name="one" pos="0 0 .2"><joint name="b" axis="0 1 0"/><geom size=".1"/><site pos="0 .1 0"/></body>
<body name="two" pos="0 .2 .2"><joint name="c" axis="1 1 0"/><geom name="bone" size=".1"/><site name="t"/></body></body>
</worldbody><tendon><fixed name="f" stiffness="3" springlength="-.1 .2" armature=".1" range="0 1" limited="true">
<joint joint="a" coef="2"/><joint joint="b" coef="1"/></fixed><fixed name="g"><joint joint="a" coef="1"/>
<joint joint="b" coef="1"/><joint joint="c" coef="-2"/></fixed><spatial name="s" stiffness="5" damping="1">
<site site="wall"/><site site="p"/><pulley divisor="2"/><site site="p"/><site site="t"/></spatial></tendon>
<equality><tendon tendon1="g" polycoef=".1 0 0 0 0"/></equality>
<actuator><motor tendon="f" gear="2" forcerange="-1 1"/></actuator></mujoco>"""
TENDONS = b"""
name: tendons
base: floating
joints: [{name: a, link: one, d: 0.1}, {name: b, link: two, alpha: pi/2, d: 0.3}]
links: [{link: one, M: 1, ZZ: 0.1, XX: 0.1, YY: 0.1}, {link: two, M: 1, ZZ: 0.1, XX: 0.1, YY: 0.1}]
forces:
  - {frame: two, law: spring, to: [base, [0, 0, 1]], stiffness: 20, damping: 1, rest: 0.2, slack: 0.1, shares: [1, 2]}
transmissions:
  - {joints: [a, b], motors: [{name: t, ratios: [1, -2], K: 3, rest: 0.1, slack: 0.2, Fv: 1, role: passive}]}
"""
STUDY = b"""
seed: 7
samples: 5
robot: {load: arm.yaml, friction: false, lock: {}}
simulation: {dt: 0.01, duration: 0.2}
initial: {q: {elbow: {uniform: [-1, 1]}}, v: {normal: [0, 0.1]}}
controller: {kind: PDGravity, kp: {grid: [100, 300]}, kd: [60, {log_uniform: [10, 40]}]}
reference: {kind: Quintic, goal: {shoulder: 0.5}, duration: 0.15}
vary:
  mass: {forearm: {times: {uniform: [0.8, 1.2]}}}
  payload: {frame: tip, mass: {choice: [1, 2, 5]}, center: [0.1, 0, 0]}
  viscous: {elbow: {grid: {from: 0, to: 4, count: 3}}}
outputs: [final.q, peak.tau, rms.error]
chunk: 4
"""
PARAMETERS = b"""
robot: planar2r
links:
  upper_arm: {mass: 40, center: [0.5, 0, 0.01], inertia: [[0.2, 0, 0], [0, 10, 0.1], [0, 0.1, 10]]}
  forearm: [4, 2, 0, 0.1, 0.1, 0, 0, 1.2, 0, 1.2]
joints:
  shoulder: {Ia: 90, Fs: 0.4, Fv: 0.1, width: 1e-3, K: 10, rest: 90 deg}
  elbow: {friction: {stribeck: {excess: 0.2, velocity: 0.05}, offset: {offset: 0.01}}}
payload: {tip: {mass: 2, center: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1]}}
"""
BY_NAME = b"forearm: {mass: 3}\nupper_arm.MX: 20\nupper_arm.YY: pi\nelbow.FV: 0.3\nelbow.F0: -0.1\n"
LAWS = b'{"elbow": {"coulomb": 0.3, "asymmetric": {"viscous_forward": 1}, "width": 0.1}, "shoulder.FS": 2}'
PLAIN_LOG = b"""time; q1; q2; tau1; tau2
0,0; 0,5; 1e-3; 7; 8
# a pause
0,1; 0,6; 2e-3; 7; 8
0,2; 0,7;"3"; 7; 8
0,3; 0,9; 4e-3; 8; 8
"""


class Kind(NamedTuple):
    examples: Callable[[Path], list[Files]]  # made in a folder that may be used
    open: Callable[[Path], Any]  # of the folder with the files of a case


def case(kind: str, examples: list[Files], number: int) -> Files:
    """Hostile files, the same for the same number."""
    random = Random(f"{kind} {number}")
    files = dict(random.choice(examples))
    name = random.choice(list(files))
    data, others = files[name], [data for other in examples for data in other.values()]
    files[name] = _packed(random, data, others) if name.endswith(".npz") else _mutated(random, name, data, others)
    return files


def _mutated(random: Random, name: str, data: bytes, others: list[bytes]) -> bytes:
    if not name.endswith((".json", ".yaml", ".urdf", ".xml", ".csv")) or random.random() < 0.4:
        return mutated_bytes(random, data, others)
    first, line, rest = data.partition(b"\n") if name.endswith(".csv") else (b"", b"", b"")
    text = first[2:] if line else data  # of a table: its metadata
    tree = mutated_tree(random, parsed(".json" if line else name, text.decode()))
    text = written(tree).encode(errors="replace")
    return b"# " + text + line + rest if line else text


def _packed(random: Random, data: bytes, others: list[bytes]) -> bytes:
    """A zip file changed as it is, or one of its members."""
    if random.random() < 0.3:
        return mutated_bytes(random, data, others)
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    name = random.choice(list(members))
    if name == "linkwork.npy":
        about = str(np.load(io.BytesIO(members[name])))
        buffer = io.BytesIO()
        np.save(buffer, np.array(_mutated(random, ".json", about.encode(), others).decode(errors="replace")))
        members[name] = buffer.getvalue()
    else:
        members[name] = mutated_bytes(random, members[name], others)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    return packed.getvalue()


# -- examples ------------------------------------------------------------------------------------------------------


def bundled(*names: str) -> Callable[[Path], list[Files]]:
    return lambda _: [{"robot.yaml": (BUNDLED / f"{name}.yaml").read_bytes()} for name in names]


def urdf(folder: Path) -> list[Files]:
    linkwork.load("puma560").write(folder / "robot.urdf")
    every = Path(__file__).parent.parent / "unit" / "urdf" / "every_element.urdf"
    files = [path.read_bytes() for path in (folder / "robot.urdf", every)]
    return [{"robot.urdf": data} for data in (*files, OBJECTS.encode())]


def with_structure(folder: Path) -> list[Files]:
    examples = []
    for name in ("four-bar", "parallelogram"):
        linkwork.load(name).write(folder / "robot.urdf")
        examples.append({name: (folder / name).read_bytes() for name in ("robot.urdf", "robot.loops.yaml")})
    side = b"roles: {passive: [on]}\nhome: {on: [1, 2, 0.3], free: [0, 0, 1, 0, 0, 0, 1]}\nweights: {on: 2}\n"
    return [*examples, {"robot.urdf": OBJECTS.encode(), "robot.loops.yaml": side}]


def function(folder: Path) -> list[Files]:
    """Run in NumPy, so that a case takes milliseconds."""
    robot = linkwork.load("planar2r")
    made = [robot.compile("inverse_dynamics", backend="interpreter", **how) for how in ({}, {"inputs": ["parameters"]})]
    made.append(robot.function(looping, a=2, backend="interpreter"))
    for each in made:
        each.save(folder / str(id(each)))
    return [{"function.json": (folder / str(id(each))).read_bytes()} for each in made]


def looping(robot, a):
    inner = lambda x: linkwork.repeat(lambda y: y + robot.gravity(x), x, 2)  # noqa: E731
    return linkwork.repeat(inner, a, 3, until=lambda x: x[0] > 1)


def open_function(folder: Path) -> None:
    function = linkwork.Function.load(folder / "function.json")
    function(*(np.ones(port.shape) for port in function.program.inputs))


def sampled_function(folder: Path) -> list[Files]:
    """With initial values from the state, from numbers, and without memory."""
    robot, options = linkwork.load("planar2r"), {"period": 1e-3, "backend": "interpreter"}
    observer = linkwork.control.MomentumObserver()
    count = lambda robot, q, memory: (q, {"n": memory["n"] + 1})  # noqa: E731
    made = [robot.function(observer, **options), robot.function(count, memory={"n": 0.0}, **options)]
    made.append(robot.function(lambda robot, q: robot.gravity(q), **options))
    for each in made:
        each.save(folder / str(id(each)))
    return [{"sampled.json": (folder / str(id(each))).read_bytes()} for each in made]


def open_sampled_function(folder: Path) -> None:
    step = linkwork.SampledFunction.load(folder / "sampled.json")
    shapes = {port.name: port.shape for port in step.program.inputs}
    inputs = {name: np.ones(shapes[name]) for name in step.arguments if name != "memory"}
    memory = {name: np.ones(shape) for name, shape in step.memory.items()}
    step(**inputs, **({"memory": memory} if memory else {}))


def trajectory(suffix: str) -> Callable[[Path], list[Files]]:
    """Of one motion and of a batch, in a file or, without a suffix or as .zarr, in a folder."""

    def examples(folder: Path) -> list[Files]:
        robot, made = linkwork.load("planar2r"), []
        for batch in ((), (3,)):
            path = folder / f"{len(batch)}{suffix}"
            streamed = suffix in ("", ".zarr")
            options = {"dt": 0.01, "steps": 4, "outputs": ("q", "tau", "work"), "to": path if streamed else None}
            motion = robot.rollout(np.zeros((*batch, 2)), np.zeros((*batch, 2)), **options)
            if streamed:
                parts = [part for part in sorted(path.rglob("*")) if part.is_file()]
                made.append({f"motion{suffix}/{part.relative_to(path)}": part.read_bytes() for part in parts})
            else:
                motion.save(path)
                made.append({f"motion{suffix}": path.read_bytes()})
        return made

    return examples


def opened_trajectory(suffix: str) -> Callable[[Path], Any]:
    return lambda folder: linkwork.Trajectory.load(folder / f"motion{suffix}")


def log(suffix: str) -> Callable[[Path], list[Files]]:
    """As linkwork writes it, and as others do."""

    def examples(folder: Path) -> list[Files]:
        t = np.arange(6) / 10
        q = np.stack([np.sin(t), np.cos(t)], axis=1)
        made = Log(t, q, -q, joints=("a", "b"), keep=t < 0.5, wrenches={"tip": np.zeros((6, 6))}).banded(2, decimate=1)
        made.save(folder / f"log{suffix}")
        return [{f"log{suffix}": (folder / f"log{suffix}").read_bytes()}]

    return examples


def open_log(suffix: str) -> Callable[[Path], Any]:
    return lambda folder: Log.read(folder / f"log{suffix}").smoothed(2)


def yaml_robot(folder: Path) -> Any:
    return linkwork.load(folder / "robot.yaml")


def parameters(folder: Path) -> None:
    robot = linkwork.load("planar2r")
    robot.with_parameters(folder / "parameters.yaml")
    robot.with_friction(folder / "friction.json")


KINDS = {
    "urdf": Kind(urdf, lambda folder: linkwork.load(folder / "robot.urdf")),
    "structure": Kind(
        with_structure, lambda folder: linkwork.load(folder / "robot.urdf", structure=folder / "robot.loops.yaml")
    ),
    "mjcf": Kind(
        lambda _: [{"robot.xml": text} for text in (MJCF, MJCF_OBJECTS, MJCF_TENDONS)],
        lambda folder: linkwork.load(folder / "robot.xml"),
    ),
    "tree": Kind(bundled("planar2r", "puma560", "flexible-arm", "eel"), yaml_robot),
    "kinds of joints": Kind(lambda _: [{"robot.yaml": KINDS_OF_JOINTS}], yaml_robot),
    "tendons": Kind(lambda _: [{"robot.yaml": TENDONS}], yaml_robot),
    "links that bend": Kind(lambda _: [{"robot.yaml": BENDING}], yaml_robot),
    "standard": Kind(lambda _: [{"robot.yaml": STANDARD}], yaml_robot),
    "loops": Kind(bundled("four-bar", "slider-crank", "parallelogram", "spatial-7r"), yaml_robot),
    "parallel": Kind(bundled("3rpr", "delta", "hybrid-3rpr", "gough-stewart"), yaml_robot),
    "study": Kind(
        lambda _: [{"study.yaml": STUDY, "arm.yaml": (BUNDLED / "planar2r.yaml").read_bytes()}],
        lambda folder: read_study(folder / "study.yaml"),
    ),
    "parameters": Kind(
        lambda _: [{"parameters.yaml": text, "friction.json": LAWS} for text in (PARAMETERS, BY_NAME)], parameters
    ),
    "function": Kind(function, open_function),
    "sampled function": Kind(sampled_function, open_sampled_function),
    "npz": Kind(trajectory(".npz"), opened_trajectory(".npz")),
    "csv": Kind(trajectory(".csv"), opened_trajectory(".csv")),
    "parquet": Kind(trajectory(".parquet"), opened_trajectory(".parquet")),
    "npy folder": Kind(trajectory(""), opened_trajectory("")),
    "log npz": Kind(log(".npz"), open_log(".npz")),
    "log csv": Kind(log(".csv"), open_log(".csv")),
    "log parquet": Kind(log(".parquet"), open_log(".parquet")),
    "log txt": Kind(lambda _: [{"log.txt": PLAIN_LOG}], open_log(".txt")),
    "zarr": Kind(trajectory(".zarr"), opened_trajectory(".zarr")),
}
