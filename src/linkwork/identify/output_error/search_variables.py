"""What a fit by simulation searches for: numbers that rollouts vary, as one vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, UnknownNameError
from ...model import ELEMENTS, Joint, Model, body_of, carrying
from ...sim.plant.randomisation import LAWS, OF_JOINTS, POSITIVE, value_of, varied, with_value
from ..convex.entropic import Entropic
from ..convex.inertia_cone import made_physical
from ..regression.unknowns import TEN

if TYPE_CHECKING:
    from ...robot import Robot

KINDS = ("inertial", "payload", *OF_JOINTS, "delay")
SIGNED = ("offset",)  # the others cannot be negative
LOGARITHMS = (*POSITIVE, "stiffness")  # never zero, and known to a share
LETTERS = {"rotor_inertia": "IA", "viscous": "FV", "coulomb": "FS", "offset": "F0", "stribeck": "FST", "stiffness": "K"}
PAYLOAD = np.array([1.0, 0, 0, 0, 2e-3, 0, 0, 2e-3, 0, 2e-3])  # what a payload is thought to be: 1 kg, some 10 cm wide


@dataclass(frozen=True, eq=False)
class Searched:
    """``labels`` of the unknowns, as the regressor names them where it knows them. They are in this order: ten of each
    of ``bodies`` (links, then the frame of a ``payload``), those of joints, the ``delay``.

    ``constants``: entries that are searched for of each input of a rollout, whose ``values`` at the start are all
    there. Some unknowns are logarithms (``logs``), some cannot be less than ``least``.
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
        """The unknowns themselves, without logarithms."""
        return np.where(self.logs, np.exp(np.where(self.logs, z, 0.0)), z)

    def slopes(self, z: np.ndarray) -> np.ndarray:
        return np.where(self.logs, self.numbers(z), 1.0)

    def input_slopes(self, z: np.ndarray) -> np.ndarray:
        """Of the entries of inputs that are searched for, by the unknowns: the inputs of a payload are its centre and
        the inertia about it."""
        found = np.diag(self.slopes(z))
        if self.payload:
            at = TEN * (len(self.bodies) - 1)
            found[at : at + TEN, at : at + TEN] = _central_slopes(z[at : at + TEN])
        return found

    def factor(self, z: np.ndarray) -> np.ndarray:
        """F of the metric F^T F that the entropic pull has for bodies; zero elsewhere."""
        found = np.zeros((len(self), len(self)))
        found[: TEN * len(self.bodies)] = self.prior.slopes(z)[1]
        return found

    def seconds(self, z: np.ndarray) -> float:
        return float(z[-1]) if self.delay else 0.0

    def inputs(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Values of the inputs of a rollout."""
        numbers, at, found = self.numbers(z), 0, {}
        for name, entries in self.constants.items():
            found[name] = self.values[name].copy()
            found[name].ravel()[list(entries)] = numbers[at : (at := at + len(entries))]
        if self.payload:
            body = body_of(found["payload"])
            found["payload"] = np.array([body.mass, *body.center, *body.central[np.triu_indices(3)]])
        return found

    def vary(self, z: np.ndarray) -> dict[str, Any]:
        """As a rollout takes them."""
        found: dict[str, Any] = self.inputs(z)
        if "payload" in found:
            found["payload"] = {self.payload: found["payload"]}
        return found

    def model(self, z: np.ndarray) -> Model:
        """The robot with these numbers. What is not searched for keeps its numbers to the last bit."""
        model, found = self.robot.model, self.inputs(z)
        if "parameters" in found:
            moved = varied(model, {"parameters": found["parameters"].tolist()})
            chosen = [moved if body.name in self.bodies else model for body in model.bodies]
            model = model.with_inertias([own.bodies[i].inertia for i, own in enumerate(chosen)])
        if "payload" in found:
            model = carrying(model, self.payload, found["payload"].tolist())
        joints = {name: found[name].tolist() for name in OF_JOINTS if name in found}
        searched = {name: {model.position_names[k] for k in self.constants[name]} for name in joints}
        changed = varied(model, joints)
        bodies = []
        for own, other in zip(model.bodies, changed.bodies, strict=True):
            names = [name for name in joints if own.joint.name in searched[name]]
            bodies.append(replace(own, joint=varied_joint(own.joint, other.joint, names)))
        return replace(model, bodies=tuple(bodies))

    def drives(self, z: np.ndarray) -> dict[str, dict[str, float]]:
        """Joint -> name -> value, of what is searched for."""
        found: dict[str, dict[str, float]] = {}
        inputs, names = self.inputs(z), self.robot.model.position_names
        for name in OF_JOINTS:
            for k in self.constants.get(name, ()):
                found.setdefault(names[k], {})[name] = float(inputs[name][k])
        return found


def _central_slopes(ten: np.ndarray) -> np.ndarray:
    """Of mass, centre of mass and inertia about it by mass m, first moments h and inertia J about the origin:
    c = h / m, J_c = J - (h.h 1 - h h^T) / m."""
    m, h = ten[0], ten[1:4]
    upper, found = np.triu_indices(3), np.eye(TEN)
    found[1:4, 0], found[1:4, 1:4] = -h / m**2, np.eye(3) / m
    found[4:, 0] = ((h @ h * np.eye(3) - np.outer(h, h)) / m**2)[upper]
    for k, e in enumerate(np.eye(3)):
        found[4:, 1 + k] = -((2 * h[k] * np.eye(3) - np.outer(e, h) - np.outer(h, e)) / m)[upper]
    return found


def varied_joint(joint: Joint, other: Joint, names: Iterable[str]) -> Joint:
    """With those values of another that are named."""
    for name in names:
        joint = with_value(joint, name, value_of(other, name))
    return joint


def searched(
    robot: Robot,
    unknowns: Iterable[str] | Mapping[str, Any],
    prior: Robot | None = None,
    friction_width: float = 0.05,
) -> Searched:
    """``unknowns``: names, or name -> of which links or joints (None: all that have it). ``prior``: another robot, to
    which inertias are drawn and where the search begins."""
    asked = dict(unknowns) if isinstance(unknowns, Mapping) else dict.fromkeys(_listed(unknowns))
    for name in asked:
        if name not in KINDS:
            raise UnknownNameError("unknown of a simulation", name, KINDS, where="unknowns")
    if not asked:
        raise LinkworkError("nothing is to be found", where="unknowns", expected=", ".join(KINDS))
    model, known = robot.model, (prior or robot).model
    labels, constants, values, start = [], {}, {}, []
    bodies: list[str] = []
    if "inertial" in asked:
        values["parameters"] = np.array(robot.parameters, float)
        rows = np.array(known.parameters(), float)
        chosen = _chosen(asked["inertial"], [body.name for body in model.bodies], rows[:, 0] > 0, "link", "inertial")
        constants["parameters"] = [TEN * i + k for i in chosen for k in range(TEN)]
        bodies += [model.bodies[i].name for i in chosen]
        start += [made_physical(rows[chosen])]
    if "payload" in asked:
        frame = asked["payload"]
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
    joints = {body.joint.name: body.joint for body in known.bodies}
    own = [joints[name] for name in model.position_names]
    for name in OF_JOINTS:
        if name not in asked:
            continue
        values[name] = np.array([value_of(joint, name) for joint in own], float)
        if name in POSITIVE:
            values[name][values[name] == 0] = friction_width if name == "friction_width" else 1.0
        having = [_has(joint, name, "coulomb" in asked) for joint in own]
        constants[name] = _chosen(asked[name], model.position_names, having, "joint", name)
        labels += [f"{model.position_names[k]}.{LETTERS.get(name, name)}" for k in constants[name]]
        begins = values[name][constants[name]]
        logarithm = name in LOGARITHMS
        if logarithm and not (begins > 0).all():
            fix = f"give these joints a {name.replace('_', ' ')} to begin with"
            raise LinkworkError("there is nothing to begin with", where=f"unknowns[{name!r}]", got=0.0, fix=fix)
        z += list(np.log(begins) if logarithm else begins)
        logs += [logarithm] * len(begins)
        least += [-np.inf if logarithm or name in SIGNED else 0.0] * len(begins)
    delay = "delay" in asked
    if delay:
        labels, z, logs, least = [*labels, "delay"], [*z, 0.0], [*logs, False], [*least, -np.inf]
    return Searched(
        robot, tuple(labels), tuple(bodies), asked.get("payload") or "", delay, constants, values,
        np.array(z), np.array(logs), np.array(least), Entropic(tuple(range(0, tens.size, TEN)), (), np.array(z), 0.0),
    )  # fmt: skip


def _listed(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _has(joint: Joint, name: str, coulomb: bool) -> bool:
    """Is this asked of the joint, if nothing is said?"""
    if name == "stiffness":
        return bool(joint.stiffness)
    if name == "friction_width":
        return joint.driven and (coulomb or any(law.jumps for law in joint.acting))
    if name in LAWS and name != "offset":
        return any(isinstance(law, LAWS[name][0]) for law in joint.friction)
    return joint.driven


def _chosen(names: Any, known: Sequence[str], having: Any, kind: str, where: str) -> list[int]:
    if names is None or names is True:
        found = [k for k, has in enumerate(having) if has]
        if not found:
            raise LinkworkError(f"no {kind} has it", where=f"unknowns[{where!r}]", fix=f"name the {kind}s that have it")
        return found
    for name in (asked := _listed(names)):
        if name not in known:
            raise UnknownNameError(kind, name, known, where=f"unknowns[{where!r}]")
    return [k for k, name in enumerate(known) if name in asked]
