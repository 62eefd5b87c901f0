"""A Description as MJCF, compiled by MuJoCo and spoken to in linkwork's coordinates (those of ``mixed_trees``).

MuJoCo has hinges, slides, balls and free bodies on the world. A joint of another kind is several of these in one body,
each carried by the ones before, and a floating body in the middle of the tree is three slides and a ball. So their
velocities are ``T(q) v``: linear velocities in axes that do not turn with the child, a helical joint's slide and hinge
of one rate. Then ``tau = T^T tau'``, ``M = T^T M' T`` and ``a' = T a + Tdot v``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from linkwork.model import Description, JointDescription, LinkInertia, Placement
from support.evaluate import rotation_of
from support.mixed_trees import Places
from support.pinocchio_tree import frame_of_axis

HEAD = (
    '<mujoco><compiler angle="radian" autolimits="false" balanceinertia="false" boundmass="0" boundinertia="0"'
    ' fusestatic="false"/><option gravity="{}"><flag constraint="disable" contact="disable"/></option><worldbody>'
)


def numbers(values) -> str:
    return " ".join(repr(float(x)) for x in values)


def quaternion(R: np.ndarray) -> np.ndarray:
    """w first."""
    result = np.zeros(4)
    mujoco.mju_mat2Quat(result, np.ascontiguousarray(R, float).reshape(9))
    return result


def placed(placement: Placement) -> str:
    return f'pos="{numbers(placement.translation)}" quat="{numbers(quaternion(placement.rotation))}"'


def inertial(own: LinkInertia) -> str:
    moments, axes = np.linalg.eigh(own.central)
    at = placed(Placement(axes * np.linalg.det(axes), own.center))
    return f'<inertial {at} mass="{own.mass!r}" diaginertia="{numbers(moments)}"/>'


def elements(joint: JointDescription, free: bool) -> str:
    """The joints of MuJoCo that make this one, in the order of their velocities."""

    def of(kind: str, number: int, axis: Iterable[float]) -> str:
        return f'<joint name="{joint.name}.{number}" type="{kind}" axis="{numbers(axis)}"/>'

    match joint.kind:
        case "revolute" | "continuous":
            return of("hinge", 0, joint.axis)
        case "prismatic":
            return of("slide", 0, joint.axis)
        case "helical" | "cylindrical":
            return of("slide", 0, joint.axis) + of("hinge", 1, joint.axis)
        case "universal":
            return of("hinge", 0, joint.axis) + of("hinge", 1, joint.second_axis)
        case "planar":
            x, y, z = frame_of_axis(joint.axis).T
            return of("slide", 0, x) + of("slide", 1, y) + of("hinge", 2, z)
        case "spherical":
            return f'<joint name="{joint.name}.0" type="ball"/>'
        case "floating" if free:
            return f'<freejoint name="{joint.name}.0"/>'
        case "floating":
            slides = (of("slide", k, axis) for k, axis in enumerate(np.eye(3)))
            return "".join(slides) + f'<joint name="{joint.name}.3" type="ball"/>'
    raise ValueError(joint.kind)


@dataclass(frozen=True)
class Theirs:
    """How their numbers come from ours. ``outer`` is where our q counts from if theirs counts from the world's origin,
    as that of a free body does."""

    kind: str
    pitch: float
    outer: Placement

    def positions(self, q: np.ndarray) -> np.ndarray:
        match self.kind:
            case "helical":
                return np.array([self.pitch * q[0], q[0]])
            case "spherical":
                return np.roll(q / np.linalg.norm(q), 1)
            case "floating":
                pose = self.outer @ Placement(rotation_of(q[3:]), q[:3])
                return np.concatenate([pose.translation, quaternion(pose.rotation)])
        return q

    def turn(self, q: np.ndarray) -> np.ndarray:
        """T."""
        match self.kind:
            case "helical":
                return np.array([[self.pitch], [1.0]])
            case "planar":
                c, s = np.cos(q[2]), np.sin(q[2])
                return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            case "floating":
                T = np.eye(6)
                T[:3, :3] = self.outer.rotation @ rotation_of(q[3:])
                return T
            case "spherical":
                return np.eye(3)
        return np.eye(len(q))

    def drift(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Tdot v: axes that turn with the child have rates of their own."""
        result = np.zeros(len(self.turn(q)))
        if self.kind == "planar":
            result[:2] = self.turn(q)[:2, :2] @ [-v[2] * v[1], v[2] * v[0]]
        elif self.kind == "floating":
            result[:3] = self.turn(q)[:3, :3] @ np.cross(v[3:], v[:3])
        return result


class MujocoTree:
    """``order``: the joints as linkwork's vectors have them, "base" for a floating base."""

    def __init__(self, description: Description, order: Iterable[str] = ()):
        self.description, self.places = description, Places(description, order)
        self.inertias = {link.name: link.inertia for link in description.links}
        self.joints: dict[str, Theirs] = {}
        root = description.root
        if description.floating:
            bodies = self._moving(JointDescription("base", "floating", "world", root), Placement(), on_world=True)
        else:
            bodies = self._still(root, Placement())
        self.text = HEAD.format(numbers(description.gravity)) + bodies + "</worldbody></mujoco>"
        self.model = mujoco.MjModel.from_xml_string(self.text)
        self.data = mujoco.MjData(self.model)
        self.at = {name: self.model.joint(f"{name}.0") for name in self.places.order}
        self.rotors = self.places.per_freedom({joint.name: joint.rotor_inertia for joint in description.joints})

    def _still(self, link: str, at: Placement) -> str:
        """A link that cannot move, without mass, and beside it what it carries: free bodies must be on the world."""
        text = f'<body name="{link}" {placed(at)}/>'
        for joint in self.description.outgoing()[link]:
            fixed = joint.kind == "fixed"
            text += self._still(joint.child, at @ joint.origin) if fixed else self._moving(joint, at, on_world=True)
        return text

    def _moving(self, joint: JointDescription, around: Placement, on_world: bool = False) -> str:
        """The body that a joint carries, and in it those that it carries itself."""
        text = f'<body name="{joint.child}" {placed(around @ joint.origin)}>'
        if joint.kind != "fixed":
            free = joint.kind == "floating" and on_world
            outer = around @ joint.origin if free else Placement()
            self.joints[joint.name] = Theirs(joint.kind, getattr(joint, "pitch", 0.0), outer)
            text += elements(joint, free)
        if (own := self.inertias[joint.child]) is not None:
            text += inertial(own)
        inner = (self._moving(each, Placement()) for each in self.description.outgoing()[joint.child])
        return text + "".join(inner) + "</body>"

    def moved(self, q, v, a) -> tuple[np.ndarray, np.ndarray]:
        """Sets their state; gives T and Tdot v."""
        T, drift = np.zeros((self.model.nv, self.places.nv)), np.zeros(self.model.nv)
        for name, joint in self.joints.items():
            own, rate, there = q[self.places.q[name]], self.places.v[name], self.at[name]
            positions, turn = joint.positions(own), joint.turn(own)
            start, first = there.qposadr[0], there.dofadr[0]
            self.data.qpos[start : start + len(positions)] = positions
            T[first : first + len(turn), rate] = turn
            drift[first : first + len(turn)] = joint.drift(own, v[rate])
        self.data.qvel[:], self.data.qacc[:] = T @ v, T @ a + drift
        mujoco.mj_inverse(self.model, self.data)
        return T, drift

    def _at_rest(self, q) -> np.ndarray:
        still = np.zeros(self.places.nv)
        return self.moved(q, still, still)[0]

    # -- what linkwork calls the same --------------------------------------------------------------------------------

    def inverse_dynamics(self, q, v, a):
        T, _ = self.moved(q, v, a)
        return T.T @ self.data.qfrc_inverse + self.rotors * a

    def forward_dynamics(self, q, v, tau):
        return np.linalg.solve(self.inertia_matrix(q), tau - self.bias(q, v))

    def inertia_matrix(self, q):
        T, M = self._at_rest(q), np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return T.T @ M @ T + np.diag(self.rotors)

    def bias(self, q, v):
        return self.inverse_dynamics(q, v, 0 * v)

    def gravity(self, q):
        return self._at_rest(q).T @ self.data.qfrc_inverse

    def kinetic_energy(self, q, v):
        self.moved(q, v, 0 * v)
        mujoco.mj_energyVel(self.model, self.data)
        return self.data.energy[1] + v @ (self.rotors * v) / 2

    def potential_energy(self, q):
        self._at_rest(q)
        mujoco.mj_energyPos(self.model, self.data)
        return self.data.energy[0]

    def center_of_mass(self, q):
        self._at_rest(q)
        return self.data.subtree_com[0].copy()

    def momentum(self, q, v):
        self.moved(q, v, 0 * v)
        mujoco.mj_subtreeVel(self.model, self.data)
        mass = self.model.body_subtreemass[0]
        return np.concatenate([mass * self.data.subtree_linvel[0], self.data.subtree_angmom[0]])

    def pose(self, q, link: str) -> np.ndarray:
        self._at_rest(q)
        body, T = self.data.body(link), np.eye(4)
        T[:3, :3], T[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        return T

    def jacobian(self, q, link: str) -> np.ndarray:
        """In world axes."""
        T, J = self._at_rest(q), np.zeros((6, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, J[:3], J[3:], self.model.body(link).id)
        return J @ T

    def jacobian_drift(self, q, v, link: str) -> np.ndarray:
        """Jdot v, in world axes."""
        T, drift = self.moved(q, v, 0 * v)
        number, J, rate = self.model.body(link).id, np.zeros((6, self.model.nv)), np.zeros((6, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, J[:3], J[3:], number)
        mujoco.mj_jacDot(self.model, self.data, rate[:3], rate[3:], self.data.xpos[number], number)
        return rate @ T @ v + J @ drift
