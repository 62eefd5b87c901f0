"""A model compiled by MuJoCo -> Description: bodies, hinges and slides, springs, friction and armature, limits, loops.

A position here is MuJoCo's ``qpos``, whatever ``ref`` the joint has. What would change the forces and cannot be said of
a tree is an error; what merely was not used is a warning.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..model.description import Description, Finding, JointDescription, Link, LinkInertia, Mimic, Placement
from ..model.drive import Transmission
from ..model.rotations import quaternion_from_rotation
from .mjcf_equalities import read_equalities
from .mjcf_tendons import read_tendons
from .mjcf_values import fresh, placement_of, rotation_of


class TreeReader:
    """Translates one compiled model. Equal warnings are said once, with the first place and the number of places."""

    def __init__(self, mujoco: Any, model: Any, source: str):
        self.mujoco, self.model, self.source = mujoco, model, source
        self.told: dict[tuple[str, str, str], list[str]] = {}
        self.links: list[Link] = []
        self.joints: list[JointDescription] = []
        given = [model.body(b).name for b in range(model.nbody)]
        self.link_names = set(given)
        self.bodies = [name or fresh(f"body{b}", self.link_names) for b, name in enumerate(given)]
        given = [model.joint(j).name for j in range(model.njnt)]
        self.joint_names = set(given)
        owners = [self.bodies[body] for body in model.jnt_bodyid]
        self.tendons: dict[int, np.ndarray] = {}  # what they add to a joint: K, K rest, Fv, Fs, Ia
        self.transmissions: list[Transmission] = []
        self.names = [name or fresh(f"{owners[j]}_joint", self.joint_names) for j, name in enumerate(given)]
        self.poses: dict[str, tuple[float, ...]] = {}  # of free bodies at home
        self.carriers: list[int] = []  # by body: itself or the nearest before it that has joints; 0: it stands still
        for b, parent in enumerate(model.body_parentid):
            self.carriers.append(b if model.body_jntnum[b] else self.carriers[parent] if b else 0)

    def description(self, name: str) -> Description:
        model, kinds = self.model, self.mujoco.mjtJoint
        free = [j for j in range(model.njnt) if model.jnt_type[j] == kinds.mjJNT_FREE]
        carriers = self.carriers
        self.trees = [b for b in range(1, model.nbody) if carriers[b] and not carriers[model.body_parentid[b]]]
        self.read_actuators()
        found = read_equalities(self)
        read_tendons(self, found)
        self.followers, self.held, self.loops = found.followers, found.held, found.loops
        self.floating = len(free) == len(self.trees) == 1 and not found.grounded
        self.platform = free[0] if self.loops and len(free) == 1 and not self.floating else None
        for b in range(model.nbody):
            if carriers[b] or not self.floating:
                self.read_body(b)
            elif b:
                self.tell("warning", "body", self.bodies[b], "it stands still beside a floating base: left out")
        self.read_the_rest()
        gravity = np.zeros(3) if self.disabled("GRAVITY") else model.opt.gravity
        return Description(
            name=name,
            links=tuple(self.links),
            joints=tuple(self.joints),
            gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
            floating=self.floating,
            frames=self.frames(),
            loops=tuple(self.loops),
            home=self.home(),
            transmissions=tuple(self.transmissions),
            findings=self.findings(),
            source=self.source,
        )

    def read_body(self, b: int) -> None:
        """A link for the body, on a chain of its joints. Links between joints, and those whose frame stands at a joint
        that is not in the body's origin, are massless."""
        model, kinds, name = self.model, self.mujoco.mjtJoint, self.bodies[b]
        mass, rotation = float(model.body_mass[b]), rotation_of(model.body_iquat[b])
        central = rotation @ np.diag(model.body_inertia[b]) @ rotation.T
        inertia = LinkInertia(mass, model.body_ipos[b].copy(), (central + central.T) / 2) if b else None
        parent, placement = self.bodies[model.body_parentid[b]], placement_of(model.body_pos[b], model.body_quat[b])
        first, count = model.body_jntadr[b], model.body_jntnum[b]
        for j in range(first, first + count):
            kind, axis = int(model.jnt_type[j]), model.jnt_axis[j].copy()
            if kind not in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE):
                self.check_free_or_ball(j)
                if j == self.platform:
                    joint = JointDescription(self.names[j], "floating", parent, name, role="passive")
                    self.poses[self.names[j]] = (
                        *placement.translation.tolist(), *quaternion_from_rotation(placement.rotation)
                    )  # fmt: skip
                    self.joints.insert(0, joint)  # its coordinates come first
                    parent = name
                continue
            hinge = kind == kinds.mjJNT_HINGE
            anchor = Placement(translation=_arm(model.jnt_pos[j], axis) if hinge else np.zeros(3))
            shift = self.held.get(j, 0.0) - model.qpos0[model.jnt_qposadr[j]]
            placement = placement @ anchor @ _moved(hinge, axis, shift)
            if j not in self.held:
                is_last = j == first + count - 1 and not anchor.translation.any()
                child = name if is_last else fresh(f"{name}_{self.names[j]}", self.link_names)
                if not is_last:
                    self.links.append(Link(child, LinkInertia(0.0, np.zeros(3), np.zeros((3, 3)))))
                self.joints.append(self.joint(j, hinge, parent, child, placement, axis))
                parent, placement = child, Placement()
            placement = placement @ anchor.inverse()
        self.links.append(Link(name, inertia))
        if b and parent != name and not (self.floating and model.body_parentid[b] == 0):
            joint = fresh(f"{name}_fixed", self.joint_names)
            self.joints.append(JointDescription(joint, "fixed", parent, name, placement))

    def joint(
        self, j: int, hinge: bool, parent: str, child: str, origin: Placement, axis: np.ndarray
    ) -> JointDescription:
        model, dof = self.model, self.model.jnt_dofadr[j]
        limited = bool(model.jnt_limited[j])
        lower, upper = map(float, model.jnt_range[j]) if limited else (-math.inf, math.inf)
        for array, index, what in (
            ("jnt_stiffnesspoly", j, "its spring is not linear"),
            ("dof_dampingpoly", dof, "its damping is not linear"),
            ("jnt_springyield", j, "its spring yields"),
        ):
            if np.any(getattr(model, array, np.zeros(model.nv))[index]):
                self.tell("error", "joint", self.names[j], what, "give one coefficient")
        spring, moment, damping, friction, armature = self.tendons.get(j, np.zeros(5)).tolist()
        damping += float(model.dof_damping[dof]) + self.damping.get(j, 0.0)
        stiffness, rest = float(model.jnt_stiffness[j]), float(model.qpos_spring[model.jnt_qposadr[j]])
        if spring:
            stiffness, rest = stiffness + spring, (stiffness * rest + moment) / (stiffness + spring)
        if self.disabled("SPRING", "PASSIVE"):
            stiffness = 0.0
        friction += float(model.dof_frictionloss[dof])
        follows = self.followers.get(j)
        return JointDescription(
            name=self.names[j],
            kind=("revolute" if limited else "continuous") if hinge else "prismatic",
            parent=parent,
            child=child,
            origin=origin,
            axis=axis,
            lower=lower,
            upper=upper,
            effort_limit=self.effort_limit(j),
            rotor_inertia=float(model.dof_armature[dof]) + self.armature.get(j, 0.0) + armature,
            coulomb=0.0 if self.disabled("FRICTIONLOSS", "CONSTRAINT") else friction,
            viscous=0.0 if self.disabled("DAMPER", "PASSIVE") else damping,
            stiffness=stiffness,
            rest=rest if stiffness else 0.0,
            role=self.role(j, stiffness),
            mimic=Mimic(self.names[follows[0]], *follows[1:]) if follows else None,
        )

    def role(self, j: int, stiffness: float) -> str:
        """Joints without an actuator are passive or elastic where loops move them, but motors for all of an open tree:
        many files of arms have no actuators."""
        followers = [k for k, (leader, *_) in self.followers.items() if leader == j]
        if not self.loops or j in self.followers or any(k in self.forces for k in (j, *followers)):
            return "active"
        return "elastic" if stiffness > 0 else "passive"

    def home(self) -> dict[str, float | tuple[float, ...]]:
        """Where MuJoCo closes the loops, unless the file gives it poses of its own."""
        own = {joint.name for joint in self.joints if joint.kind not in ("fixed", "floating") and not joint.mimic}
        at = {name: float(self.model.qpos0[self.model.jnt_qposadr[j]]) for j, name in enumerate(self.names)}
        return self.poses | {name: position for name, position in at.items() if self.loops and position and name in own}

    def check_free_or_ball(self, j: int) -> None:
        model, dof, name = self.model, self.model.jnt_dofadr[j], self.names[j]
        if model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_BALL:
            fix = "write three <joint type='hinge'> with axes at right angles in its place"
            self.tell("error", "joint", name, "ball joints are not supported", fix)
        elif not self.floating and j != self.platform:
            others = [self.bodies[b] for b in self.trees if b != model.jnt_bodyid[j]]
            beside = f"; beside it moves {others[0]!r}" if others else ""
            message = "a free joint is only supported where nothing else moves in the world, or loops hold the body"
            self.tell("error", "joint", name, message + beside, "keep one robot in the file, without loose objects")
        elif model.jnt_stiffness[j] or any(
            array[dof : dof + 6].any() for array in (model.dof_armature, model.dof_damping, model.dof_frictionloss)
        ):
            message = "armature, damping, friction and stiffness of a free joint are left out"
            self.tell("warning", "joint", name, message, "use <freejoint/>, which takes no defaults")

    def read_actuators(self) -> None:
        """What actuators add to joints, as rotor inertia and damping, and the forces they can give, as intervals."""
        model, mujoco = self.model, self.mujoco
        self.armature: dict[int, float] = {}
        self.damping: dict[int, float] = {}
        self.forces: dict[int, np.ndarray] = {}
        count = len(model.actuator_trntype)
        zeros = np.zeros(count)
        terms = [getattr(model, f"actuator_{name}", zeros) for name in ("armature", "damping", "dampingpoly")]
        for i in range(count):
            actuator, (armature, damping, further) = model.actuator(i), (term[i] for term in terms)
            joint, gear = int(actuator.trnid[0]), float(actuator.gear[0])
            on_joint = int(actuator.trntype[0]) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
            if actuator.dyntype[0] != mujoco.mjtDyn.mjDYN_NONE:
                self.tell("warning", "actuator", actuator.name, "its own dynamics is not part of the robot's")
            if not on_joint:
                self.tell("warning", "actuator", actuator.name, "it drives no single joint, so it is left out")
            if np.any(further) or (not on_joint and (armature or damping)):
                message = (
                    "its damping is not linear" if on_joint else "its armature and damping do not act on one joint"
                )
                self.tell("error", "actuator", actuator.name, message, "give the joint armature and damping instead")
            elif on_joint:
                self.armature[joint] = self.armature.get(joint, 0.0) + float(armature) * gear**2
                self.damping[joint] = self.damping.get(joint, 0.0) + float(damping) * gear**2
                self.forces[joint] = self.forces.get(joint, np.zeros(2)) + self.force(actuator, gear)

    def force(self, actuator: Any, gear: float) -> np.ndarray:
        """Least and greatest force of an actuator on its joint."""
        is_motor = actuator.gaintype[0] == self.mujoco.mjtGain.mjGAIN_FIXED
        is_motor &= actuator.biastype[0] == self.mujoco.mjtBias.mjBIAS_NONE
        if actuator.forcelimited[0]:
            return np.sort(gear * actuator.forcerange[:2])
        if is_motor and actuator.dyntype[0] == self.mujoco.mjtDyn.mjDYN_NONE and actuator.ctrllimited[0]:
            return np.sort(gear * actuator.gainprm[0] * actuator.ctrlrange)
        return np.array([-math.inf, math.inf])

    def effort_limit(self, j: int) -> float:
        low, high = self.forces.get(j, (-math.inf, math.inf))
        if self.model.jnt_actfrclimited[j]:
            least, most = self.model.jnt_actfrcrange[j]
            low, high = max(low, least), min(high, most)
        return float(max(abs(low), abs(high)))

    def read_the_rest(self) -> None:
        model = self.model
        for b, name in enumerate(self.bodies):
            if model.body_plugin[b] >= 0:
                self.tell("error", "body", name, "forces of plugins are not read", "remove the plugin")
            if model.body_gravcomp[b]:
                self.tell("warning", "body", name, "gravity compensation is not read: gravity acts in full")
            if model.body_mocapid[b] >= 0:
                self.tell("warning", "body", name, "a mocap body is taken as fixed")
        if model.opt.density or model.opt.viscosity:
            self.tell("warning", "<option>", "", "forces of the surrounding fluid are left out")
        if model.npair:
            self.tell("warning", "<contact>", "", "contacts are left out")

    def frames(self) -> dict[str, tuple[str, Placement]]:
        """Named sites."""
        model, frames = self.model, {}
        for s in range(model.nsite):
            name, b = model.site(s).name, model.site_bodyid[s]
            if name and (self.carriers[b] or not self.floating):
                name = fresh(f"{name}_site", self.link_names) if name in self.link_names else name
                frames[name] = self.bodies[b], placement_of(model.site_pos[s], model.site_quat[s])
        return frames

    def disabled(self, *names: str) -> bool:
        """Whether the file switches off one of these parts of the dynamics; versions of MuJoCo differ in the names."""
        bits = (getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in names)
        return any(int(self.model.opt.disableflags) & int(bit) for bit in bits)

    def tell(self, level: str, element: str, name: str, message: str, fix: str = "") -> None:
        place = f"{element} {name!r}" if name else f"unnamed {element}" if element.isalpha() else element
        where = f"{self.source}: {place}" if self.source else place
        self.told.setdefault((level, message, fix), []).append(where)

    def findings(self) -> tuple[Finding, ...]:
        findings = []
        for (level, message, fix), places in self.told.items():
            if level == "error":
                findings += [Finding(level, where, message, fix) for where in places]
            else:
                more = f" (the first of {len(places)} places)" if len(places) > 1 else ""
                findings.append(Finding(level, places[0], message + more, fix))
        return tuple(findings)


def _arm(point: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The point of the axis through ``point`` that is nearest to the origin."""
    nearest = point - axis * (axis @ point)
    return np.zeros(3) if np.abs(nearest).max() <= 1e-15 * np.abs(point).max() else nearest


def _moved(hinge: bool, axis: np.ndarray, by: float) -> Placement:
    if not hinge:
        return Placement(translation=axis * by)
    return Placement(rotation_of(np.array([math.cos(by / 2), *axis * math.sin(by / 2)])))
