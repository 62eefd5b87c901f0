"""Reader of studies, YAML:

    name: payload of an arm
    seed: 1
    samples: 200                                  # random samples at each point of the grid; without it, one
    robot: panda                                  # or a file, or {load: arm.urdf, base: floating}, or a list of robots
    simulation: {dt: 0.001, duration: 1}          # and method, every
    initial:                                      # what is not named is at rest: at home, or zero
      q: {panda_joint2: {uniform: [-0.3, 0.3]}, panda_joint4: -90 deg}
      v: {normal: [0, 0.1]}
    controller: {kind: PDGravity, kp: {grid: [50, 200]}, kd: 20}          # or a list of controllers
    reference: {kind: Quintic, goal: {panda_joint4: -1}, duration: 0.8}
    vary:
      mass: {times: {uniform: [0.9, 1.1]}}
      payload: {frame: panda_link8, mass: {uniform: [0, 3]}, center: [0, 0, 0.1]}
    outputs: [final.q, peak.tau, rms.error]
    chunk: 1000                                   # rows of a file

A value is a number; drawn for each sample: {uniform: [low, high]}, {normal: [mean, deviation]}, {log_uniform: [low,
high]}, {choice: [...]}; an axis of the grid: {grid: [...]}; or such a value {times: ...} or {plus: ...} what the robot
has anyway. In the place of a vector stands one value for all its entries (drawn for each, but one axis of the grid), a
list, or values by name.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from .. import control, io
from ..control.laws import check_gain
from ..errors import LinkworkError
from ..files import read_bytes, read_text
from ..robot import Robot, load
from ..sim import Options, rest
from ..sim.schemes.integrators import schemes
from ..sim.trajectory.outputs import entries
from .sampling import Change, Vector
from .study import ARRAYS, STATISTICS, Case, Controller, Study, closed, started
from .values import MOST, Values

KEYS = ("name", "seed", "samples", "robot", "simulation", "initial", "controller", "reference", "vary", "commands")
KEYS += ("outputs", "chunk")
LOADING = ("load", "base", "gravity", "friction", "rotors", "mimic", "lock", "structure")
CONTROLLERS = {law.__name__: law for law in (control.PD, control.PDGravity, control.ComputedTorque, control.PID)}
REFERENCES = {
    "Quintic": (control.Quintic, ("start", "goal", "duration", "begin")),
    "Trapezoidal": (control.Trapezoidal, ("start", "goal", "velocity", "acceleration", "begin")),
    "Fourier": (control.Fourier, ("offset", "sines", "cosines", "frequency")),
    "Sampled": (control.Sampled, ("times", "q", "v", "a")),
}
VARIED = ("mass", "viscous", "coulomb", "gravity", "payload")
PAYLOAD = ("mass", "center.x", "center.y", "center.z", *(f"inertia.{k}" for k in ("xx", "xy", "xz", "yy", "yz", "zz")))
LONGEST = 2**20  # bytes of a file

Row = dict[str, yaml.Node]


def read_study(path: str | Path) -> Study:
    """The study in a file; its robots are loaded, and everything is checked."""
    path = Path(path)
    fix = "give the path of a study, see `linkwork sweep --help`"
    text = read_text(path, longest=LONGEST, fix=fix)
    return _Reader(path).study(text)


class _Reader(Values):
    def __init__(self, path: Path):
        super().__init__(str(path))
        self.folder = path.parent
        self.robots: dict[str, str] = {}

    def study(self, text: str) -> Study:
        top = self.mapping(self.root(text), KEYS)
        for key in ("robot", "simulation", "outputs"):
            if key not in top:
                self.fail(None, f"key {key!r} is missing", expected=f"keys: {', '.join(KEYS)}")
        seed = self.whole(top["seed"], 0, 2**63 - 1) if "seed" in top else 0
        samples = self.whole(top["samples"]) if "samples" in top else 1
        outputs, timed = self.read_outputs(top["outputs"])
        simulation = self.read_simulation(top["simulation"], timed)
        cases = []
        for robot_node in self.one_or_more(top["robot"]):
            name, robot = self.read_robot(robot_node)
            for node in self.one_or_more(top["controller"]) if "controller" in top else [None]:
                cases.append(self.read_case(top, name, robot, node, samples, seed))
        study = Study(
            name=self.text(top["name"]) if "name" in top else Path(self.source).stem,
            text=text,
            seed=seed,
            **simulation,
            chunk=self.whole(top["chunk"]) if "chunk" in top else 1000,
            outputs=outputs,
            cases=tuple(cases),
            robots=self.robots,
        )
        self.label = ""
        if study.rows > MOST:
            self.fail(None, "too many rows", got=f"{study.rows:,}", expected=f"at most {MOST:,}")
        if "seed" not in top and any(v.kind != "grid" for case in cases for v in case.plan.variables):
            self.fail(None, "random values need a seed", fix="add `seed: 1`, or any other whole number")
        if samples > 1 and all(v.kind == "grid" for case in cases for v in case.plan.variables):
            self.fail(top["samples"], "nothing is random, so all samples would be the same", fix="leave `samples` out")
        if "error" in {output.partition(".")[2] for output in outputs} and "reference" not in top:
            self.fail(top["outputs"], "an error needs a reference to differ from", fix="add `reference: ...`")
        return study

    def one_or_more(self, node: yaml.Node) -> list[yaml.Node]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not nodes:
            self.fail(node, "the list is empty")
        return nodes

    # -- parts of the file ----------------------------------------------------------------------------------------

    def read_outputs(self, node: yaml.Node) -> tuple[tuple[str, ...], bool]:
        """The outputs, and whether any is over time."""
        self.label = "outputs"
        known = [f"{statistic}.{array}" for statistic in STATISTICS for array in ARRAYS]
        outputs = tuple(dict.fromkeys(self.name(item, "output", known) for item in self.sequence(node)))
        if not outputs:
            self.fail(node, "nothing is to be kept", expected=f"some of: {', '.join(known)}")
        self.label = ""
        return outputs, any(not output.startswith("final.") for output in outputs)

    def read_simulation(self, node: yaml.Node, timed: bool) -> dict[str, Any]:
        self.label = "simulation"
        row = self.mapping(node, ("dt", "duration", "method", "every"))
        for key in ("dt", "duration"):
            if key not in row:
                self.fail(node, f"key {key!r} is missing", expected="seconds")
            if not self.number(row[key]) > 0:
                self.fail(row[key], "out of range", got=self.number(row[key]), expected="above zero")
        dt, duration = self.number(row["dt"]), self.number(row["duration"])
        steps = round(min(duration / dt, MOST + 1))
        if not 1 <= steps <= MOST or not math.isclose(steps * dt, duration, rel_tol=1e-6):
            expected = f"a multiple of dt, at most {MOST:,} of them"
            self.fail(
                row["duration"], "the duration does not fit the step", got=f"{duration / dt:g} dt", expected=expected
            )
        every = self.whole(row["every"]) if "every" in row else 1 if timed else steps
        if steps % every:
            self.fail(row["every"], "the last step would not be recorded", got=every, expected=f"a divisor of {steps}")
        method = self.name(row["method"], "method", schemes()) if "method" in row else "semi-implicit-euler"
        self.label = ""
        options = Options(method=method, every=every, progress=False, diverged="keep")
        return {"dt": dt, "steps": steps, "options": options}

    def read_robot(self, node: yaml.Node) -> tuple[str, Robot]:
        self.label = "robot"
        row = {"load": node} if isinstance(node, yaml.ScalarNode) else self.mapping(node, LOADING)
        if "load" not in row:
            self.fail(node, "which robot?", expected="load: a bundled robot or a file")
        name = self.text(row["load"])
        options: dict[str, Any] = {}
        for key in ("friction", "rotors", "mimic"):
            if key in row:
                options[key] = self.name(row[key], "value", ("true", "false")) == "true"
        if "base" in row:
            options["base"] = self.name(row["base"], "base", ("fixed", "floating"))
        if "gravity" in row:
            options["gravity"] = self.numbers(row["gravity"], 3)
        if "lock" in row:
            options["lock"] = {joint: self.number(at) for joint, at in self.mapping(row["lock"]).items()}
        if "structure" in row:
            options["structure"] = self.file(self.text(row["structure"]))
        source = self.file(name) if Path(name).suffix else name
        try:
            robot = load(source, **options)
        except LinkworkError as error:
            self.fail(row["load"], "this robot cannot be loaded", got=error)
        if not robot.nv:
            self.fail(row["load"], "this robot does not move", got=name)
        self.label = ""
        return name, robot

    def file(self, name: str) -> Path:
        """A file beside the study. What it holds is remembered, so that a study is not resumed with another."""
        path = self.folder / name
        if os.path.isfile(path):
            self.robots[name] = hashlib.sha256(read_bytes(path, **io.LIMITS)).hexdigest()
        return path

    def read_case(
        self, top: Row, name: str, robot: Robot, controller: yaml.Node | None, samples: int, seed: int
    ) -> Case:
        model, named = robot.model, entries(robot.model)
        home = dict(zip(named["q"], rest(model).tolist(), strict=True))
        home = {name: home[name] for name in started(model).names}  # the other joints follow
        initial = self.mapping(top["initial"], ("q", "v")) if "initial" in top else {}
        q = self.vector(initial.get("q"), "initial.q", tuple(home), tuple(home.values()))
        v = self.vector(initial.get("v"), "initial.v", named["v"], (0.0,) * model.nv)
        payload, vary = self.read_vary(top.get("vary"), robot)
        start = closed(robot, np.array([q.base]))[0].tolist()
        reference = self.read_reference(top.get("reference"), robot, dict(zip(named["q"], start, strict=True)))
        law = None if controller is None else self.read_controller(controller, robot)
        if reference is not None and law is None:
            self.fail(top["reference"], "a reference is for a controller", fix="add `controller: ...`")
        if law is not None and reference is None:
            self.fail(controller, "a controller needs a reference", fix="add `reference: ...`")
        told = model.commands.names
        if "commands" in top and not told:
            fix = "leave `commands` out, or give its file thrusters or rotors"
            self.fail(top["commands"], "this robot takes no commands", got=name, fix=fix)
        commands = self.vector(top.get("commands"), "commands", told, (0.0,) * len(told))
        return Case(name, robot, q, v, law, reference, vary, payload, commands, samples, seed)

    def read_controller(self, node: yaml.Node, robot: Robot) -> Controller:
        self.label = "controller"
        row = self.mapping(node)
        if "kind" not in row:
            self.fail(node, "key 'kind' is missing", expected=f"one of {', '.join(CONTROLLERS)}")
        kind = self.name(row["kind"], "controller", CONTROLLERS)
        needed = [each.name for each in fields(CONTROLLERS[kind]) if each.default is MISSING]
        perhaps = [each.name for each in fields(CONTROLLERS[kind]) if each.default is not MISSING]
        for key, value in row.items():
            if key not in ("kind", *needed, *perhaps):
                raise self.unknown(value, "key", key, ("kind", *needed, *perhaps))
        if missing := [key for key in needed if key not in row]:
            expected = f"kind, {', '.join(needed)} and perhaps {', '.join(perhaps)}"
            self.fail(node, f"key {missing[0]!r} is missing", expected=expected)
        motors = robot.motor_names
        gains = {
            key: self.vector(row[key], f"controller.{key}", motors, (math.nan,) * len(motors))
            for key in (*needed, *perhaps)
            if key in row
        }
        constants = {}
        for key, gain in gains.items():
            changed = {k for change in gain.changes if not change.operation for k in change.entries}
            if missing := [name for k, name in enumerate(motors) if math.isnan(gain.base[k]) and k not in changed]:
                self.fail(row[key], f"{key} of some motors is missing", got=f"none for {', '.join(missing)}")
            constants[key] = [0.0 if k in changed else x for k, x in enumerate(gain.base)]
            try:
                check_gain(key, np.array(constants[key]), "")
            except LinkworkError as error:
                self.label = f"controller.{key}"
                self.fail(row[key], "out of range", got=error.got, expected=error.expected)
        law = CONTROLLERS[kind](**constants)
        self.label = ""
        return Controller(kind, law, {key: gain for key, gain in gains.items() if gain.changes})

    def read_reference(
        self, node: yaml.Node | None, robot: Robot, home: Mapping[str, float]
    ) -> control.Reference | None:
        """Where nothing is said, it starts where the robot does, random changes aside."""
        if node is None:
            return None
        self.label = "reference"
        row = self.mapping(node)
        if "kind" not in row:
            self.fail(node, "key 'kind' is missing", expected=f"one of: {', '.join(REFERENCES)}")
        make, keys = REFERENCES[self.name(row["kind"], "reference", REFERENCES)]
        row = self.mapping(node, ("kind", *keys))
        motors = robot.motor_names
        start = [home[name] for name in motors]
        arguments: dict[str, Any] = {}
        for key in keys:
            if key in ("start", "goal", "offset", "velocity", "acceleration"):
                base = start if key != "goal" else arguments["start"]
                if key in row:
                    given = self.vector(row[key], f"reference.{key}", motors, base)
                    if given.changes:
                        self.fail(row[key], "a reference is the same in all rows", expected="numbers")
                    arguments[key] = list(given.base)
                elif key in ("start", "offset"):
                    arguments[key] = start
            elif key in row:
                arguments[key] = self.table(row[key])
        try:
            reference = make(**arguments)
        except (LinkworkError, TypeError) as error:
            self.fail(node, "these arguments do not make a reference", got=error, expected=", ".join(keys))
        self.label = ""
        return reference

    def read_vary(self, node: yaml.Node | None, robot: Robot) -> tuple[str, dict[str, Vector]]:
        model, frame, vary = robot.model, "", {}
        joints = [joint for joint in model.coordinates.joints if joint.name in model.position_names]
        own: dict[str, dict[str, float]] = {
            "mass": {body.name: body.inertia.mass for body in model.bodies},
            "viscous": {joint.name: joint.viscous for joint in joints},
            "coulomb": {joint.name: joint.coulomb for joint in joints},
            "gravity": dict(zip("xyz", model.gravity, strict=True)),
        }
        for name, value in (self.mapping(node, VARIED) if node is not None else {}).items():
            if name == "payload":
                frame, vary[name] = self.read_payload(value, robot)
            else:
                vary[name] = self.vector(value, f"vary.{name}", tuple(own[name]), tuple(own[name].values()))
        return frame, vary

    def read_payload(self, node: yaml.Node, robot: Robot) -> tuple[str, Vector]:
        self.label = "vary.payload"
        row = self.mapping(node, ("frame", "mass", "center", "inertia"))
        for key in ("frame", "mass"):
            if key not in row:
                self.fail(node, f"key {key!r} is missing", expected="frame, mass, and perhaps center, inertia")
        frame = self.name(row["frame"], "frame", robot.frame_names)
        parts = {"mass": PAYLOAD[:1], "center": PAYLOAD[1:4], "inertia": PAYLOAD[4:]}
        base, changes = [], []
        for key, names in parts.items():
            short = tuple(name.rpartition(".")[2] for name in names)
            own = self.vector(
                row.get(key), f"vary.payload{'' if key == 'mass' else '.' + key}", short, (0.0,) * len(names)
            )
            changes += [
                Change(tuple(k + len(base) for k in change.entries), change.variable, change.operation)
                for change in own.changes
            ]
            base += own.base
        return frame, Vector(PAYLOAD, tuple(base), tuple(changes))
