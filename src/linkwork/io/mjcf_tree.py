"""A model compiled by MuJoCo -> Description: bodies and joints, springs, friction and armature, limits, loops.

A position here is MuJoCo's ``qpos``, whatever ``ref`` the joint has, but for quaternions, whose real part is last here.
What would change the forces and cannot be said of a tree is an error; what merely was not used is a warning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.description import Description, Finding, JointDescription, Link, LinkInertia, Mimic, Placement
from ..model.drive import Transmission
from ..model.rotations import quaternion_from_rotation
from .mjcf_actuators import UNLIMITED, read_actuators, read_pulling
from .mjcf_equalities import read_equalities
from .mjcf_tendons import Line, read_tendons
from .mjcf_values import fresh, placement_of, rotation_of
from .xml import Element

LINEAR = "give one coefficient"
MOST_KEYFRAMES = 10  # that are tried


class TreeReader:
    """Translates one compiled model. Equal warnings are said once, with the first place and the number of places."""

    def __init__(self, mujoco: Any, model: Any, source: str):
        self.mujoco, self.model, self.source = mujoco, model, source
        self.told: dict[tuple[str, str, str, bool], list[str]] = {}
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
        self.lines: list[Line] = []
        self.names = [name or fresh(f"{owners[j]}_joint", self.joint_names) for j, name in enumerate(given)]
        self.addresses = dict(zip(self.names, model.jnt_qposadr, strict=True))  # of positions in ``qpos``
        self.poses: dict[str, tuple[float, ...]] = {}  # of free bodies at home
        self.carriers: list[int] = []  # by body: itself or the nearest before it that has joints; 0: it stands still
        for b, parent in enumerate(model.body_parentid):
            self.carriers.append(b if model.body_jntnum[b] else self.carriers[parent] if b else 0)

    def description(self, name: str) -> Description:
        model, carriers = self.model, self.carriers
        trees = [b for b in range(1, model.nbody) if carriers[b] and not carriers[model.body_parentid[b]]]
        self.actuators = read_actuators(self)
        found = read_equalities(self)
        read_tendons(self, found)
        read_pulling(self, found)
        self.followers, self.held, self.constraints = found.followers, found.held, found.constraints
        free = [j for j in range(model.njnt) if self.is_free(j)]
        self.floating = len(free) == len(trees) == 1 and not found.grounded
        for b in range(model.nbody):
            if carriers[b] or not self.floating:
                self.read_body(b)
            elif b:
                self.tell("warning", "body", self.bodies[b], "it stands still beside a floating base: left out")
        self.read_the_rest()
        sites = self.site_names()
        gravity = np.zeros(3) if self.disabled("GRAVITY") else model.opt.gravity
        return Description(
            name=name,
            links=tuple(self.links),
            joints=tuple(self.joints),
            gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
            floating=self.floating,
            frames={name: self.site(s) for s, name in sites.items()},
            constraints=tuple(self.constraints),
            home=self.home(),
            forces=tuple(line.spring(sites) for line in self.lines),
            transmissions=tuple(self.transmissions),
            findings=self.findings(),
            source=self.source,
        )

    def read_body(self, b: int) -> None:
        """A link for the body, on a chain of its joints. Links between joints, and those whose frame stands at a joint
        that is not in the body's origin, are massless."""
        model, name = self.model, self.bodies[b]
        mass, rotation = float(model.body_mass[b]), rotation_of(model.body_iquat[b])
        with np.errstate(invalid="ignore"):  # what is not finite is told by ``check``
            central = rotation @ np.diag(model.body_inertia[b]) @ rotation.T
        inertia = LinkInertia(mass, model.body_ipos[b].copy(), (central + central.T) / 2) if b else None
        parent, placement = self.bodies[model.body_parentid[b]], placement_of(model.body_pos[b], model.body_quat[b])
        first, count = model.body_jntadr[b], model.body_jntnum[b]
        for j in range(first, first + count):
            if self.is_free(j):  # it counts from the world, whatever the body's place
                self.read_free(j, parent, name, placement)
                parent = name
                continue
            anchor = Placement(translation=self.anchor(j))
            placement = placement @ anchor @ self.moved(j)
            if j not in self.held:
                is_last = j == first + count - 1 and not anchor.translation.any()
                child = name if is_last else fresh(f"{name}_{self.names[j]}", self.link_names)
                if not is_last:
                    self.links.append(Link(child, LinkInertia(0.0)))
                self.joints.append(self.joint(j, parent, child, placement))
                parent, placement = child, Placement()
            placement = placement @ anchor.inverse()
        self.links.append(Link(name, inertia))
        if b and parent != name:
            joint = fresh(f"{name}_fixed", self.joint_names)
            self.joints.append(JointDescription(joint, "fixed", parent, name, placement))

    def is_free(self, j: int) -> bool:
        return self.model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_FREE

    def is_ball(self, j: int) -> bool:
        return self.model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_BALL

    def is_hinge(self, j: int) -> bool:
        return self.model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_HINGE

    def anchor(self, j: int) -> np.ndarray:
        """The point of a joint that its body turns about; where a slide is makes no difference."""
        point, axis = self.model.jnt_pos[j].copy(), self.model.jnt_axis[j]
        return point if self.is_ball(j) else _arm(point, axis) if self.is_hinge(j) else np.zeros(3)

    def moved(self, j: int) -> Placement:
        """From MuJoCo's initial position to zero, or to where the joint is held. That of a ball is no turn."""
        if self.is_ball(j):
            return Placement()
        by, axis = self.held.get(j, 0.0) - self.model.qpos0[self.model.jnt_qposadr[j]], self.model.jnt_axis[j]
        if not self.is_hinge(j):
            return Placement(translation=axis * by)
        half = by / 2 if math.isfinite(by) else math.nan  # which ``check`` tells
        return Placement(rotation_of(np.array([math.cos(half), *axis * math.sin(half)])))

    def read_free(self, j: int, parent: str, child: str, at: Placement) -> None:
        """A floating base, or a body on a joint of its own. Only damping is the same in axes that turn with the body
        and in those of the world, where MuJoCo has its velocity."""
        model, name, dof = self.model, self.names[j], self.model.jnt_dofadr[j]
        terms = {"armature": model.dof_armature[dof], "friction": model.dof_frictionloss[dof]}
        terms |= {"stiffness": model.jnt_stiffness[j]}
        if self.floating:
            terms |= {"damping": model.dof_damping[dof]}
        else:
            self.poses[name] = (*at.translation.tolist(), *quaternion_from_rotation(at.rotation))
            viscous = self.viscous(j)
            self.joints.append(JointDescription(name, "floating", parent, child, viscous=viscous, role="passive"))
        for term in (term for term, value in terms.items() if value):
            message = f"{term} of a free joint is left out"
            self.tell("warning", "joint", name, message, "use <freejoint/>, which takes no defaults", at_load=True)

    def joint(self, j: int, parent: str, child: str, origin: Placement) -> JointDescription:
        model, name, dof = self.model, self.names[j], self.model.jnt_dofadr[j]
        spring, moment, _, friction, armature = self.tendons.get(j, np.zeros(5)).tolist()
        friction += float(model.dof_frictionloss[dof])
        stiffness, rest = float(model.jnt_stiffness[j]), float(model.qpos_spring[model.jnt_qposadr[j]])
        for array, what in (("stiffnesspoly", "its spring is not linear"), ("springyield", "its spring yields")):
            if np.any(getattr(model, f"jnt_{array}", np.zeros(model.njnt))[j]):
                self.tell("error", "joint", name, what, LINEAR)
        if spring:
            stiffness, rest = stiffness + spring, (stiffness * rest + moment) / (stiffness + spring)
        if self.disabled("SPRING", "PASSIVE"):
            stiffness = 0.0
        drive: dict[str, Any] = {
            "rotor_inertia": float(model.dof_armature[dof]) + self.actuators.armature.get(j, 0.0) + armature,
            "coulomb": 0.0 if self.disabled("FRICTIONLOSS", "CONSTRAINT") else friction,
            "viscous": self.viscous(j),
            "stiffness": stiffness,
            "role": self.role(j, stiffness),
        }
        limited = bool(model.jnt_limited[j])
        if self.is_ball(j):
            if limited:
                message = "its range is left out: only joints with one freedom have limits"
                self.tell("warning", "joint", name, message, "write three hinges, if it must have limits")
            return JointDescription(name, "spherical", parent, child, origin, **drive)
        lower, upper = map(float, model.jnt_range[j]) if limited else (-math.inf, math.inf)
        follows = self.followers.get(j)
        return JointDescription(
            name=name,
            kind=("revolute" if limited else "continuous") if self.is_hinge(j) else "prismatic",
            parent=parent,
            child=child,
            origin=origin,
            axis=model.jnt_axis[j].copy(),
            lower=lower,
            upper=upper,
            effort_limit=self.effort_limit(j),
            rest=rest if stiffness else 0.0,
            mimic=Mimic(self.names[follows[0]], *follows[1:]) if follows else None,
            **drive,
        )

    def viscous(self, j: int) -> float:
        """Damping, of each freedom alike."""
        model, dof = self.model, self.model.jnt_dofadr[j]
        if np.any(getattr(model, "dof_dampingpoly", np.zeros(model.nv))[dof]):
            self.tell("error", "joint", self.names[j], "its damping is not linear", LINEAR)
        if self.disabled("DAMPER", "PASSIVE"):
            return 0.0
        of_tendons = float(self.tendons.get(j, np.zeros(5))[2])
        return of_tendons + (float(model.dof_damping[dof]) + self.actuators.damping.get(j, 0.0))

    def role(self, j: int, stiffness: float) -> str:
        """Joints without an actuator are passive or elastic where loops move them, but motors for all of an open tree:
        many files of arms have no actuators."""
        followers = [k for k, (leader, *_) in self.followers.items() if leader == j]
        if not self.constraints or j in self.followers or any(k in self.actuators.forces for k in (j, *followers)):
            return "active"
        return "elastic" if stiffness > 0 else "passive"

    def home(self) -> dict[str, float | tuple[float, ...]]:
        """MuJoCo's initial position, where it closes the loops and free bodies have their places. A tree without them
        needs none."""
        if not (self.constraints or self.poses):
            return {}
        own = [joint for joint in self.joints if joint.motion.nq == 1 and self.moves(joint)]
        at = {joint.name: self.position(joint, self.model.qpos0) for joint in own}
        return self.poses | {name: position for name, position in at.items() if position}

    def keyframes(self, keys: Sequence[Element]) -> dict[str, dict[str, float | tuple[float, ...]]]:
        """Positions of the joints in the first of the file's keyframes, by name; those of another size are left out."""
        found = {}
        for k, key in enumerate(keys[:MOST_KEYFRAMES], 1):
            words = key.attributes.get("qpos", "").split()
            if len(words) == self.model.nq:
                qpos = [key.parsed(word, "attribute 'qpos'") for word in words]
                name = key.attributes.get("name") or f"key{k}"
                found[name] = {joint.name: self.position(joint, qpos) for joint in self.joints if self.moves(joint)}
        return found

    def moves(self, joint: JointDescription) -> bool:
        """Whether it has positions of its own."""
        return bool(joint.motion.nq) and not joint.mimic

    def position(self, joint: JointDescription, qpos: Sequence[float]) -> float | tuple[float, ...]:
        """The part of MuJoCo's ``qpos`` that is of this joint; its quaternions begin with w."""
        at, size = self.addresses[joint.name], joint.motion.nq
        if size == 1:
            return float(qpos[at])
        *place, w, x, y, z = qpos[at : at + size]
        return (*place, x, y, z, w)

    def effort_limit(self, j: int) -> float:
        low, high = self.actuators.forces.get(j, UNLIMITED)
        if self.model.jnt_actfrclimited[j]:
            least, most = self.model.jnt_actfrcrange[j]
            low, high = max(low, least), min(high, most)
        return float(max(abs(low), abs(high)))

    def read_the_rest(self) -> None:
        model = self.model
        for b, name in enumerate(self.bodies):
            if model.body_plugin[b] >= 0:
                self.tell("error", "body", name, "forces of plugins are not read", "remove the plugin")
            if model.body_gravcomp[b] and self.carriers[b] and not self.disabled("GRAVITY", "PASSIVE"):
                message = "gravity compensation is not read: gravity acts in full"
                self.tell("warning", "body", name, message, "remove gravcomp, or load without gravity", at_load=True)
            if model.body_mocapid[b] >= 0:
                self.tell("warning", "body", name, "a mocap body is taken as fixed")
        if (model.opt.density or model.opt.viscosity) and not self.disabled("PASSIVE"):
            message, fix = "forces of the surrounding fluid are left out", "remove density and viscosity"
            self.tell("warning", "<option>", "", message, fix, at_load=True)
        if model.npair:
            self.tell("warning", "<contact>", "", "contacts are left out")

    def site_names(self) -> dict[int, str]:
        """Frames of the sites that have a name, or a spring."""
        model, names = self.model, {}
        taken = {model.site(s).name for s in range(model.nsite)} | self.link_names
        used = {site for line in self.lines for site in line.sites}
        for s in range(model.nsite):
            name = model.site(s).name
            if (name or s in used) and (self.carriers[model.site_bodyid[s]] or not self.floating):
                name = name or fresh(f"site{s + 1}", taken)
                names[s] = fresh(f"{name}_site", self.link_names) if name in self.link_names else name
        return names

    def site(self, s: int) -> tuple[str, Placement]:
        model = self.model
        return self.bodies[model.site_bodyid[s]], placement_of(model.site_pos[s], model.site_quat[s])

    def disabled(self, *names: str) -> bool:
        """Whether the file switches off one of these parts of the dynamics; versions of MuJoCo differ in the names."""
        bits = (getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in names)
        return any(int(self.model.opt.disableflags) & int(bit) for bit in bits)

    def tell(self, level: str, element: str, name: str, message: str, fix: str = "", *, at_load: bool = False) -> None:
        place = f"{element} {name!r}" if name else f"unnamed {element}" if element.isalpha() else element
        where = f"{self.source}: {place}" if self.source else place
        self.told.setdefault((level, message, fix, at_load), []).append(where)

    def findings(self) -> tuple[Finding, ...]:
        findings = []
        for (level, message, fix, at_load), places in self.told.items():
            if level == "error":
                findings += [Finding(level, where, message, fix) for where in places]
            else:
                more = f" (the first of {len(places)} places)" if len(places) > 1 else ""
                findings.append(Finding(level, places[0], message + more, fix, at_load))
        return tuple(findings)


def _arm(point: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The point of the axis through ``point`` that is nearest to the origin."""
    nearest = point - axis * (axis @ point)
    return np.zeros(3) if np.abs(nearest).max() <= 1e-15 * np.abs(point).max() else nearest
