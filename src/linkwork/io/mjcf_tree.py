"""Reader of a model compiled by MuJoCo: bodies and joints, springs, friction and armature, limits, loops.

Positions are those of ``qpos`` in MuJoCo, whatever ``ref`` the joint has, but the real part of quaternions is last
here. A feature that would change the forces and is not supported is an error; anything else that is not read is a
warning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.description import Description, JointDescription, Link, LinkInertia, Mimic, Placement
from ..model.drive import Transmission
from ..model.rotations import quaternion_from_rotation
from .findings import Findings, unused_name
from .mjcf_actuators import UNLIMITED, read_actuators, read_tendon_actuators
from .mjcf_equalities import read_equalities
from .mjcf_tendons import Line, read_tendons
from .rpy import placement_from_mujoco, rotation_from_mujoco
from .xml import Element

LINEAR = "give one coefficient"
MOST_KEYFRAMES = 10  # that are tried


class TreeReader:
    """Reads one compiled model."""

    def __init__(self, mujoco: Any, model: Any, source: str):
        self.mujoco, self.model, self.source = mujoco, model, source
        self.findings = Findings()
        self.links: list[Link] = []
        self.joints: list[JointDescription] = []
        names = [model.body(b).name for b in range(model.nbody)]
        self.link_names = set(names)
        self.bodies = [name or unused_name(f"body{b}", self.link_names) for b, name in enumerate(names)]
        names = [model.joint(j).name for j in range(model.njnt)]
        self.joint_names = set(names)
        owners = [self.bodies[body] for body in model.jnt_bodyid]
        self.tendons: dict[int, np.ndarray] = {}  # terms that they add to a joint: K, K rest, Fv, Fs, Ia
        self.transmissions: list[Transmission] = []
        self.lines: list[Line] = []
        self.names = [name or unused_name(f"{owners[j]}_joint", self.joint_names) for j, name in enumerate(names)]
        self.addresses = dict(zip(self.names, model.jnt_qposadr, strict=True))  # of positions in ``qpos``
        self.poses: dict[str, tuple[float, ...]] = {}  # of free bodies at home
        self.carriers: list[int] = []  # by body: itself or the nearest ancestor that has joints; 0: it is fixed
        for b, parent in enumerate(model.body_parentid):
            self.carriers.append(b if model.body_jntnum[b] else self.carriers[parent] if b else 0)

    def description(self, name: str) -> Description:
        model, carriers = self.model, self.carriers
        trees = [b for b in range(1, model.nbody) if carriers[b] and not carriers[model.body_parentid[b]]]
        self.actuators = read_actuators(self)
        equalities = read_equalities(self)
        read_tendons(self, equalities)
        read_tendon_actuators(self, equalities)
        self.followers, self.held, self.constraints = equalities.followers, equalities.held, equalities.constraints
        free = [j for j in range(model.njnt) if self.is_free(j)]
        self.floating = len(free) == len(trees) == 1 and not equalities.grounded
        for b in range(model.nbody):
            if carriers[b] or not self.floating:
                self.read_body(b)
            elif b:
                self.report("warning", "body", self.bodies[b], "it is fixed to the world of a floating base: left out")
        self.report_unread()
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
            findings=tuple(self.findings.listed()),
            source=self.source,
        )

    def read_body(self, b: int) -> None:
        """Add a link for a body, on a chain of its joints.

        Links between joints, and at a joint that is not in the origin of the body, are massless.
        """
        model, name = self.model, self.bodies[b]
        mass, rotation = float(model.body_mass[b]), rotation_from_mujoco(model.body_iquat[b])
        with np.errstate(invalid="ignore"):  # ``check`` reports what is not finite
            central = rotation @ np.diag(model.body_inertia[b]) @ rotation.T
        inertia = LinkInertia(mass, model.body_ipos[b].copy(), (central + central.T) / 2) if b else None
        parent, placement = (
            self.bodies[model.body_parentid[b]],
            placement_from_mujoco(model.body_pos[b], model.body_quat[b]),
        )
        first, count = model.body_jntadr[b], model.body_jntnum[b]
        for j in range(first, first + count):
            if self.is_free(j):  # its positions count from the world, wherever the body is
                self.read_free(j, parent, name, placement)
                parent = name
                continue
            anchor = Placement(translation=self.anchor(j))
            placement = placement @ anchor @ self.moved(j)
            if j not in self.held:
                is_last = j == first + count - 1 and not anchor.translation.any()
                child = name if is_last else unused_name(f"{name}_{self.names[j]}", self.link_names)
                if not is_last:
                    self.links.append(Link(child, LinkInertia(0.0)))
                self.joints.append(self.joint(j, parent, child, placement))
                parent, placement = child, Placement()
            placement = placement @ anchor.inverse()
        self.links.append(Link(name, inertia))
        if b and parent != name:
            joint = unused_name(f"{name}_fixed", self.joint_names)
            self.joints.append(JointDescription(joint, "fixed", parent, name, placement))

    def is_free(self, j: int) -> bool:
        return self.model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_FREE

    def is_ball(self, j: int) -> bool:
        return self.model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_BALL

    def is_hinge(self, j: int) -> bool:
        return self.model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_HINGE

    def anchor(self, j: int) -> np.ndarray:
        """Return the point about which the body of a joint turns; zero for a slide joint."""
        point, axis = self.model.jnt_pos[j].copy(), self.model.jnt_axis[j]
        return point if self.is_ball(j) else _arm(point, axis) if self.is_hinge(j) else np.zeros(3)

    def moved(self, j: int) -> Placement:
        """Return the motion from the initial position of MuJoCo to zero, or to where the joint is held."""
        if self.is_ball(j):
            return Placement()
        by, axis = self.held.get(j, 0.0) - self.model.qpos0[self.model.jnt_qposadr[j]], self.model.jnt_axis[j]
        if not self.is_hinge(j):
            return Placement(translation=axis * by)
        half = by / 2 if math.isfinite(by) else math.nan  # which ``check`` reports
        return Placement(rotation_from_mujoco(np.array([math.cos(half), *axis * math.sin(half)])))

    def read_free(self, j: int, parent: str, child: str, at: Placement) -> None:
        """Add a floating joint, or report what is left out of a floating base.

        MuJoCo has its velocity in axes of the world; only damping is the same in the axes of the body.
        """
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
            self.report("warning", "joint", name, message, "use <freejoint/>, which takes no defaults", at_load=True)

    def joint(self, j: int, parent: str, child: str, origin: Placement) -> JointDescription:
        model, name, dof = self.model, self.names[j], self.model.jnt_dofadr[j]
        spring, moment, _, friction, armature = self.tendons.get(j, np.zeros(5)).tolist()
        friction += float(model.dof_frictionloss[dof])
        stiffness, rest = float(model.jnt_stiffness[j]), float(model.qpos_spring[model.jnt_qposadr[j]])
        for array, message in (("stiffnesspoly", "its spring is not linear"), ("springyield", "its spring yields")):
            if np.any(getattr(model, f"jnt_{array}", np.zeros(model.njnt))[j]):
                self.report("error", "joint", name, message, LINEAR)
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
                message = "its range is left out: only joints with one degree of freedom have limits"
                self.report("warning", "joint", name, message, "use three hinges if it must have limits")
            return JointDescription(name, "spherical", parent, child, origin, **drive)
        lower, upper = map(float, model.jnt_range[j]) if limited else (-math.inf, math.inf)
        leader = self.followers.get(j)
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
            mimic=Mimic(self.names[leader[0]], *leader[1:]) if leader else None,
            **drive,
        )

    def viscous(self, j: int) -> float:
        """Return the damping, the same for each degree of freedom."""
        model, dof = self.model, self.model.jnt_dofadr[j]
        if np.any(getattr(model, "dof_dampingpoly", np.zeros(model.nv))[dof]):
            self.report("error", "joint", self.names[j], "its damping is not linear", LINEAR)
        if self.disabled("DAMPER", "PASSIVE"):
            return 0.0
        of_tendons = float(self.tendons.get(j, np.zeros(5))[2])
        return of_tendons + (float(model.dof_damping[dof]) + self.actuators.damping.get(j, 0.0))

    def role(self, j: int, stiffness: float) -> str:
        """Return the role of a joint.

        With loops, joints without an actuator are passive or elastic. In an open tree all joints are active, since
        files of arms often have no actuators.
        """
        followers = [k for k, (leader, *_) in self.followers.items() if leader == j]
        if not self.constraints or j in self.followers or any(k in self.actuators.forces for k in (j, *followers)):
            return "active"
        return "elastic" if stiffness > 0 else "passive"

    def home(self) -> dict[str, float | tuple[float, ...]]:
        """Return the initial position of MuJoCo if there are loops or free bodies; other trees need none."""
        if not (self.constraints or self.poses):
            return {}
        joints = [joint for joint in self.joints if joint.motion.nq == 1 and self.moves(joint)]
        positions = {joint.name: self.position(joint, self.model.qpos0) for joint in joints}
        return self.poses | {name: position for name, position in positions.items() if position}

    def keyframes(self, keys: Sequence[Element]) -> dict[str, dict[str, float | tuple[float, ...]]]:
        """Return the positions of joints in the first keyframes, by name. Keyframes of another size are left out."""
        keyframes = {}
        for k, key in enumerate(keys[:MOST_KEYFRAMES], 1):
            words = key.attributes.get("qpos", "").split()
            if len(words) == self.model.nq:
                qpos = [key.parsed(word, "attribute 'qpos'") for word in words]
                name = key.attributes.get("name") or f"key{k}"
                keyframes[name] = {each.name: self.position(each, qpos) for each in self.joints if self.moves(each)}
        return keyframes

    def moves(self, joint: JointDescription) -> bool:
        """Return whether the joint has independent positions."""
        return bool(joint.motion.nq) and not joint.mimic

    def position(self, joint: JointDescription, qpos: Sequence[float]) -> float | tuple[float, ...]:
        """Return the part of ``qpos`` for this joint, where quaternions begin with w."""
        at, size = self.addresses[joint.name], joint.motion.nq
        if size == 1:
            return float(qpos[at])
        *point, w, x, y, z = qpos[at : at + size]
        return (*point, x, y, z, w)

    def effort_limit(self, j: int) -> float:
        low, high = self.actuators.forces.get(j, UNLIMITED)
        if self.model.jnt_actfrclimited[j]:
            least, most = self.model.jnt_actfrcrange[j]
            low, high = max(low, least), min(high, most)
        return float(max(abs(low), abs(high)))

    def report_unread(self) -> None:
        """Report what is not read from bodies, options and contacts."""
        model = self.model
        for b, name in enumerate(self.bodies):
            if model.body_plugin[b] >= 0:
                self.report("error", "body", name, "forces of plugins are not read", "remove the plugin")
            if model.body_gravcomp[b] and self.carriers[b] and not self.disabled("GRAVITY", "PASSIVE"):
                message = "gravity compensation is ignored: gravity acts in full"
                self.report("warning", "body", name, message, "remove gravcomp, or load without gravity", at_load=True)
            if model.body_mocapid[b] >= 0:
                self.report("warning", "body", name, "a mocap body is read as fixed")
        if (model.opt.density or model.opt.viscosity) and not self.disabled("PASSIVE"):
            message, fix = "forces of the surrounding fluid are left out", "remove density and viscosity"
            self.report("warning", "<option>", "", message, fix, at_load=True)
        if model.npair:
            self.report("warning", "<contact>", "", "contact pairs are left out")

    def site_names(self) -> dict[int, str]:
        """Return the names of the frames of sites that have a name or a spring."""
        model, names = self.model, {}
        taken_names = {model.site(s).name for s in range(model.nsite)} | self.link_names
        on_lines = {site for line in self.lines for site in line.sites}
        for s in range(model.nsite):
            name = model.site(s).name
            if (name or s in on_lines) and (self.carriers[model.site_bodyid[s]] or not self.floating):
                name = name or unused_name(f"site{s + 1}", taken_names)
                names[s] = unused_name(f"{name}_site", self.link_names) if name in self.link_names else name
        return names

    def site(self, s: int) -> tuple[str, Placement]:
        model = self.model
        return self.bodies[model.site_bodyid[s]], placement_from_mujoco(model.site_pos[s], model.site_quat[s])

    def disabled(self, *names: str) -> bool:
        """Return whether the file disables one of these parts of the dynamics; names differ between versions."""
        bits = (getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in names)
        return any(int(self.model.opt.disableflags) & int(bit) for bit in bits)

    def report(
        self, level: str, element: str, name: str, message: str, fix: str = "", *, at_load: bool = False
    ) -> None:
        """Report an error or warning about an element, by its tag and name."""
        place = f"{element} {name!r}" if name else f"unnamed {element}" if element.isalpha() else element
        where = f"{self.source}: {place}" if self.source else place
        self.findings.add(level, where, message, fix, at_load=at_load and level != "error")


def _arm(point: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the point of the axis through ``point`` that is nearest to the origin."""
    nearest = point - axis * (axis @ point)
    return np.zeros(3) if np.abs(nearest).max() <= 1e-15 * np.abs(point).max() else nearest
