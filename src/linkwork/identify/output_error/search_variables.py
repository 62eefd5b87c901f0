"""Unknowns of a fit by simulation: numbers that rollouts vary, as one vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, UnknownNameError
from ...model import ELEMENTS, Joint, Model, body_of, carrying
from ...model.number_inputs import LAWS, OF_JOINTS, value_of, with_value
from ...sim.plant.randomisation import POSITIVE, varied
from ..convex.entropic import Entropic, make_physical
from ..regression.unknowns import TEN

if TYPE_CHECKING:
    from ...robot import Robot

KINDS = ("inertial", "payload", *OF_JOINTS, "delay")
SIGNED = ("offset",)  # all others cannot be negative
LOGARITHMS = (*POSITIVE, "stiffness")  # never zero, so their logarithms are searched for
LETTERS = {"rotor_inertia": "IA", "viscous": "FV", "coulomb": "FS", "offset": "F0", "stribeck": "FST", "stiffness": "K"}
PAYLOAD = np.array([1.0, 0, 0, 0, 2e-3, 0, 0, 2e-3, 0, 2e-3])  # initial payload: 1 kg, about 10 cm wide


@dataclass(frozen=True, eq=False)
class Searched:
    """The unknowns, in this order: ten of each of ``bodies``, those of joints, the ``delay``.

    Attributes:
        robot: The robot.
        labels: Names of the unknowns, as those of the regressor where it has them.
        bodies: Links, then the frame of a ``payload``.
        payload: Frame of the payload, or "".
        delay: Whether the delay is unknown.
        constants: Entries of each input of a rollout that are unknown.
        values: Initial values of these inputs.
        start: Initial unknowns.
        logs: Which unknowns are logarithms.
        least: Lower bounds of the unknowns.
        prior: Entropic term of the bodies.
    """

    robot: Robot
    labels: tuple[str, ...]
    bodies: tuple[str, ...]
    payload: str
    delay: bool
    constants: Mapping[str, Sequence[int]]
    values: Mapping[str, np.ndarray]
    start: np.ndarray
    logs: np.ndarray
    least: np.ndarray
    prior: Entropic

    def __len__(self) -> int:
        return len(self.labels)

    def numbers(self, z: np.ndarray) -> np.ndarray:
        """Return the unknowns themselves, without logarithms."""
        return np.where(self.logs, np.exp(np.where(self.logs, z, 0.0)), z)

    def slopes(self, z: np.ndarray) -> np.ndarray:
        return np.where(self.logs, self.numbers(z), 1.0)

    def input_slopes(self, z: np.ndarray) -> np.ndarray:
        """Return derivatives d(inputs)/d(unknowns); inputs of a payload are its centre and central inertia."""
        slopes = np.diag(self.slopes(z))
        if self.payload:
            at = TEN * (len(self.bodies) - 1)
            slopes[at : at + TEN, at : at + TEN] = _central_slopes(z[at : at + TEN])
        return slopes

    def factor(self, z: np.ndarray) -> np.ndarray:
        """Return F of the metric F^T F that the entropic term has for bodies; zero elsewhere."""
        F = np.zeros((len(self), len(self)))
        F[: TEN * len(self.bodies)] = self.prior.slopes(z)[1]
        return F

    def seconds(self, z: np.ndarray) -> float:
        return float(z[-1]) if self.delay else 0.0

    def inputs(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return values of the inputs of a rollout."""
        numbers, at, inputs = self.numbers(z), 0, {}
        for name, entries in self.constants.items():
            inputs[name] = self.values[name].copy()
            inputs[name].ravel()[list(entries)] = numbers[at : (at := at + len(entries))]
        if self.payload:
            body = body_of(inputs["payload"])
            inputs["payload"] = np.array([body.mass, *body.center, *body.central[np.triu_indices(3)]])
        return inputs

    def vary(self, z: np.ndarray) -> dict[str, Any]:
        """Return the inputs as the option ``vary`` of a rollout."""
        inputs: dict[str, Any] = self.inputs(z)
        if "payload" in inputs:
            inputs["payload"] = {self.payload: inputs["payload"]}
        return inputs

    def model(self, z: np.ndarray) -> Model:
        """Return the model with these numbers; what is not unknown keeps its numbers to the last bit."""
        model, inputs = self.robot.model, self.inputs(z)
        if "parameters" in inputs:
            changed_model = varied(model, {"parameters": inputs["parameters"].tolist()})
            sources = [changed_model if body.name in self.bodies else model for body in model.bodies]
            model = model.with_inertias([each.bodies[i].inertia for i, each in enumerate(sources)])
        if "payload" in inputs:
            model = carrying(model, self.payload, inputs["payload"].tolist())
        drives, bodies = self.drives(z), []
        for body in model.bodies:
            joint = body.joint
            for name, value in drives.get(joint.name, {}).items():
                joint = with_value(joint, name, value)
            bodies.append(replace(body, joint=joint))
        return replace(model, bodies=tuple(bodies))

    def drives(self, z: np.ndarray) -> dict[str, dict[str, float]]:
        """Return values of what is unknown, by joint and name."""
        drives: dict[str, dict[str, float]] = {}
        inputs, names = self.inputs(z), self.robot.model.position_names
        for name in OF_JOINTS:
            for k in self.constants.get(name, ()):
                drives.setdefault(names[k], {})[name] = float(inputs[name][k])
        return drives


def _central_slopes(ten: np.ndarray) -> np.ndarray:
    """Return derivatives of mass, centre of mass and inertia about it by the ten parameters of a body.

    With mass m, first moments h and inertia J about the origin: c = h / m, J_c = J - (h.h 1 - h h^T) / m.
    """
    m, h = ten[0], ten[1:4]
    upper, slopes = np.triu_indices(3), np.eye(TEN)
    slopes[1:4, 0], slopes[1:4, 1:4] = -h / m**2, np.eye(3) / m
    slopes[4:, 0] = ((h @ h * np.eye(3) - np.outer(h, h)) / m**2)[upper]
    for k, e in enumerate(np.eye(3)):
        slopes[4:, 1 + k] = -((2 * h[k] * np.eye(3) - np.outer(e, h) - np.outer(h, e)) / m)[upper]
    return slopes


def searched(
    robot: Robot,
    unknowns: Iterable[str] | Mapping[str, Any],
    prior: Robot | None = None,
    friction_width: float = 0.05,
) -> Searched:
    """Return the unknowns with these names.

    Args:
        robot: The robot.
        unknowns: Names, or links or joints by name (None: all that have it).
        prior: A robot to which inertias are drawn and where the search begins. Default: ``robot``.
        friction_width: Initial width of friction for joints without one.
    """
    names = named(unknowns)
    for name in names:
        if name not in KINDS:
            raise UnknownNameError("unknown of a simulation", name, KINDS, where="unknowns")
    if not names:
        raise LinkworkError("there is nothing to identify", where="unknowns", expected=", ".join(KINDS))
    model, initial = robot.model, (prior or robot).model
    labels, constants, values, start = [], {}, {}, []
    bodies: list[str] = []
    if "inertial" in names:
        values["parameters"] = np.array(robot.parameters, float)
        rows = np.array(initial.parameters(), float)
        links = _chosen(names["inertial"], [body.name for body in model.bodies], rows[:, 0] > 0, "link", "inertial")
        constants["parameters"] = [TEN * i + k for i in links for k in range(TEN)]
        bodies += [model.bodies[i].name for i in links]
        start += [make_physical(rows[links])]
    if "payload" in names:
        frame = names["payload"]
        if not isinstance(frame, str):
            raise LinkworkError(
                "a payload is carried by a frame", where="unknowns['payload']", got=repr(frame),
                expected="its name", fix=f"{{'payload': {list(model.frames)[-1]!r}}}",
            )  # fmt: skip
        model.frame(frame)
        values["payload"], constants["payload"] = PAYLOAD.copy(), list(range(TEN))
        bodies.append(frame)
        start.append(PAYLOAD[None])
    labels += [f"{name}.{element}" for name in bodies for element in ELEMENTS]
    tens = np.concatenate(start) if start else np.zeros((0, TEN))
    z, logs, least = list(tens.ravel()), [False] * tens.size, [-np.inf] * tens.size
    joints = {body.joint.name: body.joint for body in initial.bodies}
    ordered_joints = [joints[name] for name in model.position_names]
    for name in OF_JOINTS:
        if name not in names:
            continue
        values[name] = np.array([value_of(joint, name) for joint in ordered_joints], float)
        if name in POSITIVE:
            values[name][values[name] == 0] = friction_width if name == "friction_width" else 1.0
        having = [_has(joint, name, "coulomb" in names) for joint in ordered_joints]
        constants[name] = _chosen(names[name], model.position_names, having, "joint", name)
        labels += [f"{model.position_names[k]}.{LETTERS.get(name, name)}" for k in constants[name]]
        first = values[name][constants[name]]
        logarithm = name in LOGARITHMS
        if logarithm and not (first > 0).all():
            fix = f"set a {name.replace('_', ' ')} of these joints in the robot"
            raise LinkworkError("the initial value is zero", where=f"unknowns[{name!r}]", got=0.0, fix=fix)
        z += list(np.log(first) if logarithm else first)
        logs += [logarithm] * len(first)
        least += [-np.inf if logarithm or name in SIGNED else 0.0] * len(first)
    delay = "delay" in names
    if delay:
        labels, z, logs, least = [*labels, "delay"], [*z, 0.0], [*logs, False], [*least, -np.inf]
    return Searched(
        robot, tuple(labels), tuple(bodies), names.get("payload") or "", delay, constants, values,
        np.array(z), np.array(logs), np.array(least), Entropic(tuple(range(0, tens.size, TEN)), (), np.array(z), 0.0),
    )  # fmt: skip


def named(unknowns: Iterable[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return links or joints by name of the unknown, None for all."""
    return dict(unknowns) if isinstance(unknowns, Mapping) else dict.fromkeys(_listed(unknowns))


def _listed(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _has(joint: Joint, name: str, coulomb: bool) -> bool:
    """Return whether the parameter ``name`` of a joint is unknown by default."""
    if name == "stiffness":
        return bool(joint.stiffness)
    if name == "friction_width":
        return joint.driven and (coulomb or any(law.jumps for law in joint.acting))
    if name in LAWS and name != "offset":
        return any(isinstance(law, LAWS[name][0]) for law in joint.friction)
    return joint.driven


def _chosen(names: Any, known: Sequence[str], having: Any, kind: str, where: str) -> list[int]:
    if names is None or names is True:
        places = [k for k, has in enumerate(having) if has]
        if not places:
            raise LinkworkError(f"no {kind} has it", where=f"unknowns[{where!r}]", fix=f"name the {kind}s that have it")
        return places
    for name in (choice := _listed(names)):
        if name not in known:
            raise UnknownNameError(kind, name, known, where=f"unknowns[{where!r}]")
    return [k for k, name in enumerate(known) if name in choice]
