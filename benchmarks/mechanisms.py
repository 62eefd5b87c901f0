"""Mechanisms for linkwork and Pinocchio alike: loops, springs, floating bases, and laws of force.

Pinocchio reads the robot from the URDF that linkwork writes; what a URDF cannot say is added here.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from peers import CHECKED, TOLERANCE, agree
from robots import STATES, Case
from timing import Contender

import linkwork
from linkwork.model import describe
from linkwork.spatial import Motion, Pose, Vector

WORLD = pin.LOCAL_WORLD_ALIGNED
NEAR = 0.1  # rad: the guess of an assembly is off by up to this
PROXIMAL = (1e-12, 1e-10, 2)  # accuracy, mu, steps: plane loops repeat an equation, which mu = 0 does not bear


# -- the same robot for Pinocchio --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Own:
    """A robot of linkwork's own with a floating base, for a Case: without friction, rotors and force laws."""

    name: str
    robot: Any  # as linkwork.load takes it
    floating: bool = True

    def load(self) -> linkwork.Robot:
        robot = linkwork.load(self.robot, friction=False, rotors=False)
        return linkwork.Robot(replace(robot.model, forces=()))

    def load_pinocchio(self) -> pin.Model:
        return pinocchio_tree(self.load())


def pinocchio_tree(robot: linkwork.Robot) -> pin.Model:
    """The robot without its loops and without friction. Joints that turn on and on are read as others, so that each has
    one position."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.urdf")
        robot.write(file)
        text = file.read_text(encoding="utf-8").replace('"continuous"', '"revolute"')
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.array(list(robot.model.gravity))
    model.armature[:], model.damping[:] = 0, 0
    for k in range(1, model.njoints):
        if model.joints[k].nv == 6:  # the pose in the world determines a floating body
            model.jointPlacements[k] = pin.SE3.Identity()
    return model


# -- loops -------------------------------------------------------------------------------------------------------------


@dataclass
class Loops:
    """A robot with loops at random closed positions; in Pinocchio its tree, with contacts between the ends of loops."""

    name: str
    robot: linkwork.Robot
    q: np.ndarray
    random: np.random.Generator

    def __post_init__(self):
        robot, random = self.robot, self.random
        self.v, self.a = (random.uniform(-1, 1, (STATES, robot.nv)) for _ in range(2))
        self.tau = random.uniform(-5, 5, (STATES, len(robot.motor_names)))
        if (gap := max(np.abs(ends).max() for _, ends, _ in self.closures)) > TOLERANCE:
            raise SystemExit(f"{self.name}: Pinocchio sees the loops open by {gap:.1e}; nothing was timed")

    def guesses(self) -> tuple[np.ndarray, np.ndarray]:
        """Known positions, and guesses of all near them."""
        return self.q[:, :1].copy(), self.q + self.random.uniform(-NEAR, NEAR, self.q.shape)

    @cached_property
    def model(self) -> pin.Model:
        return pinocchio_tree(self.robot)

    @cached_property
    def contacts(self) -> list[Any]:
        """Points of both sides that stay together. So revolute cut joints of plane loops are closed, too."""
        model, contacts = self.model, []
        for loop in describe(self.robot.model).constraints:
            ends = []
            for link, at in (loop.first, loop.second):
                frame = model.frames[model.getFrameId(link)]
                ends += [frame.parentJoint, frame.placement * pin.SE3(at.rotation, at.translation)]
            contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends, pin.LOCAL))
        return contacts

    @cached_property
    def joints(self) -> list[Any]:
        """Pinocchio's in the order of linkwork's q."""
        joints = list(self.model.joints)
        platform = [joint for joint in joints if joint.nv == 6]
        return platform + [joints[self.model.getJointId(name)] for name in self.robot.position_names]

    @cached_property
    def states(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Positions and velocities of Pinocchio's tree."""
        model, v = self.model, self.robot.compile("joint_velocities")(self.q, self.v)[:CHECKED]
        positions, velocities = np.empty((CHECKED, model.nq)), np.empty((CHECKED, model.nv))
        positions[:, [k for joint in self.joints for k in range(joint.idx_q, joint.idx_q + joint.nq)]] = self.q[
            :CHECKED
        ]
        velocities[:, self.freedoms] = v
        return list(zip(positions, velocities, strict=True))

    @cached_property
    def freedoms(self) -> list[int]:
        """Where the velocities of linkwork's joints stand in Pinocchio's."""
        return [k for joint in self.joints for k in range(joint.idx_v, joint.idx_v + joint.nv)]

    @cached_property
    def independent(self) -> list[int]:
        return [self.freedoms[k] for k in self.robot.model.mobility.independent]

    @cached_property
    def motors(self) -> list[int]:
        return [self.model.joints[self.model.getJointId(name)].idx_v for name in self.robot.motor_names]

    def motor_forces(self) -> np.ndarray:
        """For the accelerations a, by rnea and the Jacobians of the loops."""
        model, data, results = self.model, self.model.createData(), []
        chosen = np.eye(model.nv)[self.independent]
        for state, a, (jacobian, _, drift) in zip(self.states, self.a, self.closures, strict=False):
            asked = np.column_stack(
                [np.concatenate([-drift, a]), np.vstack([0 * jacobian[:, : len(a)], np.eye(len(a))])]
            )
            motion = np.linalg.lstsq(np.vstack([jacobian, chosen]), asked, rcond=1e-9)[0]
            acceleration, G = motion[:, 0].copy(), motion[:, 1:]
            force = pin.rnea(model, data, *state, acceleration)
            results.append(np.linalg.solve(G[self.motors].T, G.T @ force))
        return np.array(results)

    @cached_property
    def rows(self) -> list[tuple[np.ndarray, ...]]:
        """State and forces of Pinocchio's joints."""
        forces = np.zeros((CHECKED, self.model.nv))
        forces[:, self.motors] = self.tau[:CHECKED]
        return [(*state, force) for state, force in zip(self.states, forces, strict=True)]

    def constraint_dynamics(self) -> tuple[Contender, np.ndarray]:
        """A Python loop of constraintDynamics calls; and the accelerations of all joints."""
        model, data, contacts, rows = self.model, self.model.createData(), self.contacts, self.rows
        datas, settings = [contact.createData() for contact in contacts], pin.ProximalSettings(*PROXIMAL)
        pin.initConstraintDynamics(model, data, contacts, datas)

        def loop():
            for q, v, force in rows:
                pin.constraintDynamics(model, data, q, v, force, contacts, datas, settings)

        results = [pin.constraintDynamics(model, data, *row, contacts, datas, settings).copy() for row in rows]
        return Contender("Pinocchio, constraintDynamics calls", loop, (), CHECKED), np.array(results)

    @cached_property
    def closures(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For every state the Jacobian of the ways between loop ends, those ways, and their drift."""
        model, data, rows = self.model, self.model.createData(), []
        for q, v in self.states:
            pin.computeJointJacobians(model, data, q)
            pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
            jacobian, way, drift = [], [], []
            for contact in self.contacts:
                ends = (contact.joint1_id, contact.joint1_placement), (contact.joint2_id, contact.joint2_placement)
                first, second = (pin.getFrameJacobian(model, data, *end, WORLD)[:3] for end in ends)
                jacobian.append(second - first)
                first, second = ((data.oMi[k] * at).translation for k, at in ends)
                way.append(second - first)
                first, second = (pin.getFrameClassicalAcceleration(model, data, *end, WORLD).linear for end in ends)
                drift.append(second - first)
            rows.append((np.vstack(jacobian), np.concatenate(way), np.concatenate(drift)))
        return rows

    def forward_dynamics(self) -> tuple[Contender, np.ndarray]:
        """The same with forwardDynamics, which takes the Jacobian and drift of the loops: made before. Equations of no
        effect are left out, because it does not bear them."""
        model, data = self.model, self.model.createData()
        kept = np.any([np.abs(jacobian).max(axis=1) > TOLERANCE for jacobian, _, _ in self.closures], axis=0)
        loops = [(jacobian[kept].copy(), drift[kept].copy()) for jacobian, _, drift in self.closures]
        rows = [(*row, *loop) for row, loop in zip(self.rows, loops, strict=True)]

        def loop():
            for q, v, force, jacobian, drift in rows:
                pin.forwardDynamics(model, data, q, v, force, jacobian, drift)

        results = [pin.forwardDynamics(model, data, *row).copy() for row in rows]
        return Contender("Pinocchio, forwardDynamics calls", loop, (), CHECKED), np.array(results)


def four_bar() -> Loops:
    random = np.random.default_rng(3)
    robot = linkwork.load("four-bar", friction=False, rotors=False)
    q = robot.assemble(random.uniform(-np.pi, np.pi, (STATES, 1))).require()
    return Loops("four-bar", robot, q, random)


def gough_stewart() -> Loops:
    """The platform within 10 cm of its home, and turned by up to some 20 degrees."""
    random = np.random.default_rng(4)
    robot = linkwork.load("gough-stewart", friction=False, rotors=False)
    platform = np.tile(robot.home[:7], (STATES, 1)) + random.uniform(-0.1, 0.1, (STATES, 7))
    platform[:, 3:] /= np.linalg.norm(platform[:, 3:], axis=1, keepdims=True)
    return Loops("gough-stewart", robot, robot.assemble(platform).require(), random)


# -- springs, and water ------------------------------------------------------------------------------------------------


class Elastic:
    """panda-elastic, rotors and damping included, at random states with small deflections."""

    def __init__(self):
        self.robot = linkwork.load("panda-elastic")
        self.joints = [joint for joint in describe(self.robot.model).joints if joint.name in self.robot.joint_names]
        self.spring = np.array([joint.role == "elastic" for joint in self.joints])
        random = np.random.default_rng(5)
        q = random.uniform(-np.pi, np.pi, (STATES, self.robot.nq)) * np.where(self.spring, 1e-2, 1)
        v = random.uniform(-2, 2, q.shape) * np.where(self.spring, 1e-1, 1)
        motors = int(np.sum(~self.spring))
        self.inputs = q, v, random.uniform(-2, 2, (STATES, motors)), np.zeros((STATES, len(self.joints) - motors))

    def check(self, tau: np.ndarray, a: np.ndarray) -> dict[str, float]:
        """By rnea: the forces of this motion are those of motors and springs."""
        model = pinocchio_tree(self.robot)
        data, order = model.createData(), [model.joints[model.getJointId(joint.name)].idx_v for joint in self.joints]
        model.armature[order] = [joint.rotor_inertia for joint in self.joints]
        stiffness, rest, viscous, coulomb = (
            np.array([getattr(joint, field) for joint in self.joints])
            for field in ("stiffness", "rest", "viscous", "coulomb")
        )
        q, v, driven, _ = self.inputs
        acceleration, force = np.empty(q.shape), np.zeros(q.shape)
        acceleration[:, ~self.spring], acceleration[:, self.spring] = driven, a
        force[:, ~self.spring] = tau
        force -= stiffness * (q - rest) + viscous * v + coulomb * np.sign(v)
        states = np.stack([q, v, acceleration], axis=1)[:CHECKED]
        theirs = np.empty(states.shape)
        theirs[..., order] = states
        expected = np.array([pin.rnea(model, data, *state).copy() for state in theirs])[:, order]
        return agree("panda-elastic, hybrid_dynamics", expected, force[:CHECKED])


def in_water(case: Case, swimmer: linkwork.Robot) -> np.ndarray:
    """Accelerations by aba, with the forces of the swimmer's laws where Pinocchio sees its links."""
    model, data, results = case.pinocchio, case.pinocchio.createData(), []
    laws = [(model.frames[model.getFrameId(frame.name)], law) for frame, law in swimmer.model.forces]
    states = [np.ascontiguousarray(case.for_pinocchio(array).T)[:CHECKED] for array in case.inputs("forward_dynamics")]
    for q, v, tau in zip(*states, strict=True):
        pin.forwardKinematics(model, data, q, v)
        applied = [pin.Force.Zero() for _ in range(model.njoints)]
        for frame, law in laws:
            velocity = frame.placement.actInv(data.v[frame.parentJoint])
            force = law(Pose.identity(), Motion(Vector(*velocity.linear.tolist()), Vector(*velocity.angular.tolist())))
            wrench = pin.Force(np.array([*force.linear], float), np.array([*force.angular], float))
            applied[frame.parentJoint] += frame.placement.act(wrench)
        results.append(pin.aba(model, data, q, v, tau, applied).copy())
    accelerations = np.empty((CHECKED, model.nv))
    accelerations[:, case.order] = np.array(results)
    return accelerations
