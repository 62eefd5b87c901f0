"""Reader of studies, YAML:

    name: payload of an arm
    seed: 1
    samples: 200                                  # random samples at each point of the grid; default: 1
    robot: panda                                  # or a file, or {load: arm.urdf, base: floating}, or a list of robots
    simulation: {dt: 0.001, duration: 1}          # and method, every
    initial:                                      # default: the home position, or zero, at rest
      q: {panda_joint2: {uniform: [-0.3, 0.3]}, panda_joint4: -90 deg}
      v: {normal: [0, 0.1]}
    controller: {kind: PDGravity, kp: {grid: [50, 200]}, kd: 20}          # or a list of controllers
    reference: {kind: Quintic, goal: {panda_joint4: -1}, duration: 0.8}
    vary:
      mass: {times: {uniform: [0.9, 1.1]}}
      payload: {frame: panda_link8, mass: {uniform: [0, 3]}, center: [0, 0, 0.1]}
    outputs: [final.q, peak.tau, rms.error]
    chunk: 1000                                   # rows of a file

A value is one of these:

- a number;
- a random number, drawn for each sample: {uniform: [low, high]}, {normal: [mean, deviation]}, {log_uniform: [low,
  high]}, {choice: [...]};
- an axis of the grid: {grid: [...]}, or {grid: {from: ..., to: ..., count: ...}};
- a factor or summand of the value that the robot has: {times: VALUE}, {plus: VALUE}.

A vector is a list of values, values by name, or one value for all entries. A random value is then drawn for each entry.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
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
from .sampling import Vector
from .study import ARRAYS, STATISTICS, Case, Controller, Study, closed, initial_coordinates
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
    """Read a study from a YAML file, load its robots and check everything.

    Args:
        path: Path of the file. Robot files are relative to its folder.

    Returns:
        The study, for ``run`` or ``compute``.

    Raises:
        LinkworkError: The file cannot be read.
        ModelError: A value is wrong, or a robot cannot be loaded.

    Example:
        >>> from pathlib import Path
        >>> text = "{robot: planar2r, simulation: {dt: 0.01, duration: 0.1}, outputs: [final.q]}"
        >>> _ = Path("study.yaml").write_text(text)
        >>> linkwork.sweep.read_study("study.yaml").rows
        1
    """
    path = Path(path)
    fix = "give the path of a study, see `linkwork sweep --help`"
    text = read_text(path, longest=LONGEST, fix=fix)
    return _Reader(path).study(text)


class _Reader(Values):
    """Reads one file."""

    def __init__(self, path: Path):
        super().__init__(str(path))
        self.folder = path.parent
        self.robots: dict[str, str] = {}

    def study(self, text: str) -> Study:
        top = self.mapping(self.root(text), KEYS)
        for key in ("robot", "simulation", "outputs"):
            self.require(None, top, key, f"... (keys: {', '.join(KEYS)})")
        seed = self.integer(top["seed"], 0, 2**63 - 1) if "seed" in top else 0
        samples = self.integer(top["samples"]) if "samples" in top else 1
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
            chunk=self.integer(top["chunk"]) if "chunk" in top else 1000,
            outputs=outputs,
            cases=tuple(cases),
            robots=self.robots,
        )
        self.label = ""
        if study.rows > MOST:
            self.fail(None, "too many rows", got=f"{study.rows:,}", expected=f"at most {MOST:,}")
        if "seed" not in top and any(v.kind != "grid" for case in cases for v in case.plan.variables):
            self.fail(None, "random values need a seed", fix="add `seed: 1`, or any other integer")
        if samples > 1 and all(v.kind == "grid" for case in cases for v in case.plan.variables):
            message = "no value is random, so all samples would be the same"
            self.fail(top["samples"], message, fix="leave `samples` out")
        if "error" in {output.partition(".")[2] for output in outputs} and "reference" not in top:
            self.fail(top["outputs"], "the output `error` needs a reference", fix="add `reference: ...`")
        return study

    def one_or_more(self, node: yaml.Node) -> list[yaml.Node]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not nodes:
            self.fail(node, "the list is empty")
        return nodes

    # -- parts of the file ----------------------------------------------------------------------------------------

    def read_outputs(self, node: yaml.Node) -> tuple[tuple[str, ...], bool]:
        """Return the outputs, and whether any of them needs the whole trajectory."""
        self.label = "outputs"
        names = [f"{statistic}.{array}" for statistic in STATISTICS for array in ARRAYS]
        outputs = tuple(dict.fromkeys(self.name(item, "output", names) for item in self.sequence(node)))
        if not outputs:
            self.fail(node, "there are no outputs", expected=f"some of: {', '.join(names)}")
        self.label = ""
        return outputs, any(not output.startswith("final.") for output in outputs)

    def read_simulation(self, node: yaml.Node, timed: bool) -> dict[str, Any]:
        self.label = "simulation"
        row = self.mapping(node, ("dt", "duration", "method", "every"))
        for key in ("dt", "duration"):
            self.require(node, row, key, "a time in s")
            if not self.number(row[key]) > 0:
                self.fail(row[key], "out of range", got=self.number(row[key]), expected="above zero")
        dt, duration = self.number(row["dt"]), self.number(row["duration"])
        steps = round(min(duration / dt, MOST + 1))
        if not 1 <= steps <= MOST or not math.isclose(steps * dt, duration, rel_tol=1e-6):
            message, expected = "the duration does not fit the step", f"a multiple of dt, at most {MOST:,} of them"
            self.fail(row["duration"], message, f"{duration / dt:g} dt", expected)
        every = self.integer(row["every"]) if "every" in row else 1 if timed else steps
        if steps % every:
            self.fail(row["every"], "the last step would not be recorded", got=every, expected=f"a divisor of {steps}")
        method = self.name(row["method"], "method", schemes()) if "method" in row else "semi-implicit-euler"
        self.label = ""
        options = Options(method=method, every=every, progress=False, diverged="keep")
        return {"dt": dt, "steps": steps, "options": options}

    def read_robot(self, node: yaml.Node) -> tuple[str, Robot]:
        self.label = "robot"
        row = {"load": node} if isinstance(node, yaml.ScalarNode) else self.mapping(node, LOADING)
        self.require(node, row, "load", "a bundled robot or a file")
        name = self.text(row["load"])
        options: dict[str, Any] = {key: self.boolean(row[key]) for key in ("friction", "rotors", "mimic") if key in row}
        if "base" in row:
            options["base"] = self.name(row["base"], "base", ("fixed", "floating"))
        if "gravity" in row:
            options["gravity"] = self.numbers(row["gravity"], 3)
        if "lock" in row:
            options["lock"] = {joint: self.number(position) for joint, position in self.mapping(row["lock"]).items()}
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
        """Return the path of a file, and note its checksum, so that a study is not resumed with another content."""
        path = self.folder / name
        if os.path.isfile(path):
            self.robots[name] = hashlib.sha256(read_bytes(path, **io.LIMITS)).hexdigest()
        return path

    def read_case(
        self, top: Row, name: str, robot: Robot, controller: yaml.Node | None, samples: int, seed: int
    ) -> Case:
        model, names = robot.model, entries(robot.model)
        home = dict(zip(names["q"], rest(model).tolist(), strict=True))
        home = {name: home[name] for name in initial_coordinates(model).names}  # the other joints follow
        initial = self.mapping(top["initial"], ("q", "v")) if "initial" in top else {}
        q = self.vector(initial.get("q"), "initial.q", tuple(home), tuple(home.values()))
        v = self.vector(initial.get("v"), "initial.v", names["v"], (0.0,) * model.nv)
        payload, vary = self.read_vary(top.get("vary"), robot)
        start = closed(robot, np.array([q.base]))[0].tolist()
        reference = self.read_reference(top.get("reference"), robot, dict(zip(names["q"], start, strict=True)))
        law = None if controller is None else self.read_controller(controller, robot)
        if reference is not None and law is None:
            self.fail(top["reference"], "a reference needs a controller", fix="add `controller: ...`")
        if law is not None and reference is None:
            self.fail(controller, "a controller needs a reference", fix="add `reference: ...`")
        inputs = model.commands.names
        if "commands" in top and not inputs:
            fix = "leave `commands` out, or add thrusters or rotors to the robot file"
            self.fail(top["commands"], "this robot has no command inputs", got=name, fix=fix)
        commands = self.vector(top.get("commands"), "commands", inputs, (0.0,) * len(inputs))
        return Case(name, robot, q, v, law, reference, vary, payload, commands, samples, seed)

    def read_controller(self, node: yaml.Node, robot: Robot) -> Controller:
        self.label = "controller"
        kind = self.kind(node, "controller", CONTROLLERS)
        names = [each.name for each in fields(CONTROLLERS[kind])]
        row = self.mapping(node, ("kind", *names))
        for each in fields(CONTROLLERS[kind]):
            if each.default is MISSING:
                self.require(node, row, each.name, f"a gain (keys: kind, {', '.join(names)})")
        motors = robot.motor_names
        gains = {
            key: self.vector(row[key], f"controller.{key}", motors, (math.nan,) * len(motors))
            for key in names
            if key in row
        }
        constants = {}
        for key, gain in gains.items():
            entries_changed = {k for change in gain.changes if not change.operation for k in change.entries}
            if missing := [
                name for k, name in enumerate(motors) if math.isnan(gain.base[k]) and k not in entries_changed
            ]:
                self.fail(row[key], f"{key} is missing for some motors", got=f"none for {', '.join(missing)}")
            constants[key] = [0.0 if k in entries_changed else x for k, x in enumerate(gain.base)]
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
        """Return the reference. By default it starts where the robot does, without random changes."""
        if node is None:
            return None
        self.label = "reference"
        make, keys = REFERENCES[self.kind(node, "reference", REFERENCES)]
        row = self.mapping(node, ("kind", *keys))
        motors = robot.motor_names
        start = [home[name] for name in motors]
        arguments: dict[str, Any] = {}
        for key in keys:
            if key in ("start", "goal", "offset", "velocity", "acceleration"):
                base = start if key != "goal" else arguments["start"]
                if key in row:
                    vector = self.vector(row[key], f"reference.{key}", motors, base)
                    if vector.changes:
                        self.fail(row[key], "a reference is the same in all rows", expected="numbers")
                    arguments[key] = list(vector.base)
                elif key in ("start", "offset"):
                    arguments[key] = start
            elif key in row:
                arguments[key] = self.nested(row[key])
        try:
            reference = make(**arguments)
        except (LinkworkError, TypeError) as error:
            self.fail(node, "these values do not define a reference", got=error, expected=", ".join(keys))
        self.label = ""
        return reference

    def kind(self, node: yaml.Node, name: str, kinds: Iterable[str]) -> str:
        """Return the required `kind` of a controller or reference."""
        row = self.mapping(node)
        self.require(node, row, "kind", f"one of {', '.join(kinds)}")
        return self.name(row["kind"], name, list(kinds))

    def read_vary(self, node: yaml.Node | None, robot: Robot) -> tuple[str, dict[str, Vector]]:
        model, frame, vary = robot.model, "", {}
        joints = [joint for joint in model.coordinates.joints if joint.name in model.position_names]
        nominal: dict[str, dict[str, float]] = {
            "mass": {body.name: body.inertia.mass for body in model.bodies},
            "viscous": {joint.name: joint.viscous for joint in joints},
            "coulomb": {joint.name: joint.coulomb for joint in joints},
            "gravity": dict(zip("xyz", model.gravity, strict=True)),
        }
        for name, value in (self.mapping(node, VARIED) if node is not None else {}).items():
            if name == "payload":
                frame, vary[name] = self.read_payload(value, robot)
            else:
                vary[name] = self.vector(value, f"vary.{name}", tuple(nominal[name]), tuple(nominal[name].values()))
        return frame, vary

    def read_payload(self, node: yaml.Node, robot: Robot) -> tuple[str, Vector]:
        self.label = "vary.payload"
        row = self.mapping(node, ("frame", "mass", "center", "inertia"))
        self.require(node, row, "frame", "the frame that carries it")
        self.require(node, row, "mass", "in kg")
        frame = self.name(row["frame"], "frame", robot.frame_names)
        parts = {"mass": PAYLOAD[:1], "center": PAYLOAD[1:4], "inertia": PAYLOAD[4:]}
        base, changes = [], []
        for key, names in parts.items():
            entries, where = tuple(name.rpartition(".")[2] for name in names), "" if key == "mass" else f".{key}"
            vector = self.vector(row.get(key), f"vary.payload{where}", entries, (0.0,) * len(names))
            shift = len(base)
            changes += [replace(each, entries=tuple(k + shift for k in each.entries)) for each in vector.changes]
            base += vector.base
        return frame, Vector(PAYLOAD, tuple(base), tuple(changes))
