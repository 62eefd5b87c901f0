"""Flexible links, wheels, flyers and feet: forward dynamics compared with the nearest function of Pinocchio.

States and what else a peer needs (Jacobians of constraints, forces of rotors) are made before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from mechanisms import Own, pinocchio_tree
from peers import CHECKED, agree
from robots import STATES, Case
from timing import Contender

import linkwork
from linkwork.constraints import ConstraintEquations
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement

WORLD = pin.LOCAL_WORLD_ALIGNED
PROXIMAL = (1e-12, 1e-10, 2)  # accuracy, mu, steps


@dataclass(frozen=True)
class System:
    """``inputs`` of linkwork's function, and a peer's call on each of the first states, with its results."""

    robot: str
    what: str
    function: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]
    peer: str
    call: Callable[..., np.ndarray]
    rows: list[tuple[Any, ...]]
    error: dict[str, float]

    @property
    def contender(self) -> Contender:
        def loop():
            for row in self.rows:
                self.call(*row)

        return Contender(self.peer, loop, (), CHECKED)


def systems() -> Iterator[System]:
    yield flexible_arm()
    yield car()
    yield flyer()
    yield walker()


def results(call: Callable[..., np.ndarray], rows: Sequence[tuple[Any, ...]], order: Sequence[int]) -> np.ndarray:
    """In linkwork's order, where Pinocchio's entries stand in ``order``."""
    found = np.array([call(*row).copy() for row in rows])
    ordered = np.empty_like(found)
    ordered[:, order] = found
    return ordered


# -- a link that bends -------------------------------------------------------------------------------------------------


def flexible_arm() -> System:
    """De Luca and Siciliano's arm. Pinocchio has no links that bend: its aba gets an arm of as many freedoms, each link
    in three pieces on springs, whose forces are made before. What linkwork computes is held against another
    formulation of its own."""
    robot, random = linkwork.load("flexible-two-link"), np.random.default_rng(6)
    q = robot.coordinates.random(random, STATES)
    v, tau = random.uniform(-1, 1, (2, STATES, robot.nv))
    function = robot.forward_dynamics
    other = robot.compile("forward_dynamics", method="aba" if function.label.method != "aba" else "crba-ldl")
    error = agree("flexible-two-link", other(q, v, tau), function(q, v, tau))
    model = pinocchio_tree(linkwork.load(in_pieces()))
    data = model.createData()
    rows = list(zip(*random.uniform(-1, 1, (3, CHECKED, model.nv)), strict=True))
    peer = f"Pinocchio, aba calls, {model.nv} joints"
    return System(
        "flexible-two-link", "forward dynamics", function, (q, v, tau), peer, partial(pin.aba, model, data), rows, error
    )


def in_pieces() -> Description:
    """An arm of two links of three pieces each."""
    rod = LinkInertia(0.033, np.array([1 / 12, 0.0, 0.0]), np.diag([0.0, 8e-5, 8e-5]))
    links = [Link("base"), *(Link(f"piece{k}", rod) for k in range(6))]
    joints = [
        JointDescription(f"joint{k}", "revolute", links[k].name, links[k + 1].name,
                         Placement(np.eye(3), np.array([1 / 6 if k else 0.0, 0.0, 0.0])), lower=-9.0, upper=9.0)
        for k in range(6)
    ]  # fmt: skip
    return Description("pieces", tuple(links), tuple(joints))


# -- wheels ------------------------------------------------------------------------------------------------------------


def car() -> System:
    """Pinocchio's forwardDynamics, given Jacobian and drift of what rolls, of the gears and of the loop."""
    robot, random = linkwork.load("car", friction=False, rotors=False), np.random.default_rng(7)
    model = robot.model
    turned = {name: random.uniform(-3, 3, STATES) for name in ("engine", "rear_right", "front_left", "front_right")}
    q = robot.assemble(turned | {"steer": random.uniform(-0.5, 0.5, STATES)}).require()
    v, tau = random.uniform(-1, 1, (STATES, robot.nv)), random.uniform(-50, 50, (STATES, len(robot.motor_names)))
    function = robot.forward_dynamics
    peer = pinocchio_tree(robot)
    data = peer.createData()
    base = [joint for joint in peer.joints if joint.nv == 6]
    joints = base + [peer.joints[peer.getJointId(name)] for name in robot.position_names]
    freedoms = [k for joint in joints for k in range(joint.idx_v, joint.idx_v + joint.nv)]
    places = [k for joint in joints for k in range(joint.idx_q, joint.idx_q + joint.nq)]
    rows = []
    for at, rates, force in zip(q[:CHECKED], robot.joint_velocities(q, v), tau, strict=False):
        equations = ConstraintEquations.independent(model, model.expand(at.tolist()))
        J = np.array(equations.J, float)
        drift = np.array(equations.drift(model.expand_rates(rates.tolist())), float)
        position, velocity, acting = np.empty(peer.nq), np.empty(peer.nv), np.zeros(peer.nv)
        position[places], velocity[freedoms] = at, rates
        acting[[freedoms[k] for k in model.mobility.forced]] = force
        jacobian = np.empty_like(J)
        jacobian[:, freedoms] = J
        rows.append((position, velocity, acting, jacobian, drift))
    call = partial(pin.forwardDynamics, peer, data)
    independent = [freedoms[k] for k in model.mobility.independent]
    error = agree("car", results(call, rows, range(peer.nv))[:, independent], function(q, v, tau)[:CHECKED])
    return System(
        "car", "forward dynamics", function, (q, v, tau), "Pinocchio, forwardDynamics calls", call, rows, error
    )


# -- rotors ------------------------------------------------------------------------------------------------------------


def flyer() -> System:
    """Pinocchio's aba, given the forces of the rotors."""
    robot = linkwork.load("quadrotor-with-arm", friction=False, rotors=False)
    case = Case(Own("quadrotor-with-arm", "quadrotor-with-arm"), seed=8)
    peer = case.pinocchio
    data, random = peer.createData(), np.random.default_rng(8)
    q, v, tau = case.inputs("forward_dynamics")
    commands = random.uniform(2, 10, (STATES, robot.model.commands.size))
    states = [np.ascontiguousarray(case.for_pinocchio(array).T)[:CHECKED] for array in (q, v, tau)]
    rows = []
    for position, velocity, force, thrusts in zip(*states, commands, strict=False):
        applied = pin.StdVec_Force()
        wrench = pin.Force.Zero()
        for (frame, law), thrust in zip(robot.model.forces, thrusts, strict=True):
            at = peer.frames[peer.getFrameId(frame.name)].placement
            wrench += at.act(pin.Force(np.array([0, 0, thrust]), np.array([0, 0, -law.spin * law.drag * thrust])))
        applied.extend([wrench if k == 1 else pin.Force.Zero() for k in range(peer.njoints)])
        rows.append((position, velocity, force, applied))
    call = partial(pin.aba, peer, data)
    function = robot.forward_dynamics
    expected = results(call, rows, case.order)
    error = agree("quadrotor-with-arm", expected, function(q, v, tau, commands)[:CHECKED])
    name, what = "quadrotor-with-arm", "forward dynamics under commands"
    return System(name, what, function, (q, v, tau, commands), "Pinocchio, aba calls with forces", call, rows, error)


# -- feet --------------------------------------------------------------------------------------------------------------


def walker() -> System:
    """Pinocchio's constraintDynamics, with both soles held. Feet are at rest, since it has another idea of the
    acceleration of one that moves."""
    robot, random = linkwork.load("biped", friction=False, rotors=False), np.random.default_rng(9)
    case = Case(Own("biped", "biped"), seed=9)
    peer = case.pinocchio
    q = case.q = np.tile(robot.standing_position(), (STATES, 1))
    q[:, 7:] += random.uniform(-0.2, 0.2, (STATES, robot.nq - 7))
    contacts = np.ones((STATES, 2))
    v, _ = robot.impact(q, random.uniform(-1, 1, (STATES, robot.nv)), contacts, 0 * contacts)
    tau = random.uniform(-5, 5, (STATES, robot.nv))
    tau[:, :6] = 0
    held = []
    for foot in robot.model.switched:
        frame = peer.frames[peer.getFrameId(foot.second.name)]
        held.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, peer, frame.parentJoint, frame.placement, pin.LOCAL)
        )
    data, datas, settings = peer.createData(), [each.createData() for each in held], pin.ProximalSettings(*PROXIMAL)
    pin.initConstraintDynamics(peer, data, held, datas)
    states = [np.ascontiguousarray(case.for_pinocchio(array).T)[:CHECKED] for array in (q, v, tau)]
    rows = list(zip(*states, strict=True))

    def call(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return pin.constraintDynamics(peer, data, q, v, tau, held, datas, settings)

    function = robot.compile("contact_dynamics")
    expected = results(call, rows, case.order)
    error = agree("biped", expected, function(q, v, tau, contacts)[0][:CHECKED])
    inputs = q, v, tau, contacts
    return System(
        "biped", "contact dynamics", function, inputs, "Pinocchio, constraintDynamics calls", call, rows, error
    )
