"""Description: a robot as its file gives it, with links and joints in the user's frames, before links are merged.

Every reader makes one, ``check`` checks it, ``build`` turns it into the Model that the formulations use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

import numpy as np

from ..errors import ModelError, short
from ..spatial import Pose
from .constraints import ConstraintKind, Foot
from .conventions import Convention
from .coordinates import Segment
from .drive import JointValues, Transmission
from .element import Element, number
from .joints import FIXED, FLOATING, JointKind, joint_kind

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
MOST_LINKS = 10_000  # and joints
LONGEST_NAME = 500  # characters: quoted, it is still short enough for a key of YAML


@dataclass(frozen=True)
class Finding:
    """A finding of ``check``: an error, which stops loading, or a warning, which does not.

    Args:
        level: "error" or "warning".
        where: the place, such as "panda.urdf: link 'hand'".
        message: what is wrong.
        fix: how to fix it.
        at_load: whether ``load`` warns of it, because the dynamics differ from what the file says; default False.
        unread: whether something in the file is left out; default False.

    Example:
        >>> str(linkwork.model.Finding("warning", "link 'hand'", "its mass is zero"))
        "warning: link 'hand': its mass is zero"
    """

    level: str
    where: str
    message: str
    fix: str = ""
    at_load: bool = False
    unread: bool = False

    def __post_init__(self):
        for name in ("where", "message", "fix"):  # what comes from files may be of any length
            object.__setattr__(self, name, short(getattr(self, name)))

    @staticmethod
    def of(error: ModelError) -> Finding:
        """Return a finding for an error that was raised.

        Args:
            error: the error.

        Returns:
            A finding with its place, message, details and fix.
        """
        details = (f"{name}: {value}" for name, value in error.details.items() if name != "fix")
        return Finding("error", error.where, "; ".join([error.message, *details]), error.fix)

    @property
    def text(self) -> str:
        """The place, the message and the fix."""
        return f"{self.where}: {self.message}" + (f"\n  fix: {self.fix}" if self.fix else "")

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


@dataclass(frozen=True, eq=False)
class Written:
    """Six values by which a file places a frame, between two constant placements."""

    convention: Convention
    values: tuple[float, ...]
    before: Placement = field(default_factory=lambda: Placement())
    after: Placement = field(default_factory=lambda: Placement())


@dataclass(frozen=True, eq=False)
class Placement:
    """The placement of a frame in another: ``x_outer = rotation @ x_inner + translation``.

    Args:
        rotation: matrix (3, 3); default: identity.
        translation: of the origin (3,), m; default: zero.
        written: how a file writes it; default: unknown.

    Example:
        >>> outer = linkwork.model.Placement(translation=np.array([0, 0, 1.0]))
        >>> (outer @ outer).translation.tolist()
        [0.0, 0.0, 2.0]
    """

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    written: Written | None = None

    @staticmethod
    def of(pose: Pose) -> Placement:
        """Return the placement of a pose.

        Args:
            pose: with numbers as entries.

        Returns:
            The same as arrays.
        """
        return Placement(np.array([list(row) for row in pose.rotation.rows], float), np.array(list(pose.origin), float))

    def __matmul__(self, inner: Placement) -> Placement:
        written = None
        if self.written is None and inner.written is not None:
            written = replace(inner.written, before=self @ inner.written.before)
        elif self.written is not None and inner.written is None:
            written = replace(self.written, after=self.written.after @ inner)
        return Placement(self.rotation @ inner.rotation, self.rotation @ inner.translation + self.translation, written)

    def inverse(self) -> Placement:
        """Return the placement of the outer frame in the inner one.

        Returns:
            The inverse placement.
        """
        return Placement(self.rotation.T, -self.rotation.T @ self.translation)


@dataclass(frozen=True, eq=False)
class LinkInertia:
    """Mass, centre of mass and inertia about the centre of mass, in the frame and the axes of the link.

    Args:
        mass: kg.
        center: centre of mass (3,), m; default: the frame's origin.
        central: inertia matrix about the centre of mass (3, 3), kg m^2; default: zero.

    Example:
        >>> linkwork.model.LinkInertia(2.0, np.array([0, 0, 0.5])).first_moment.tolist()
        [0.0, 0.0, 1.0]
    """

    mass: float
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    central: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def first_moment(self) -> np.ndarray:
        """Mass times centre of mass (3,), kg m."""
        return self.mass * self.center

    @property
    def about_origin(self) -> np.ndarray:
        """Inertia matrix about the frame's origin (3, 3), kg m^2."""
        c = self.center
        return self.central + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def placed(self, placement: Placement) -> LinkInertia:
        """Return the same body in the outer frame of a placement.

        Args:
            placement: of the link's frame in the outer frame.

        Returns:
            The inertia in the outer frame.
        """
        R = placement.rotation
        return LinkInertia(self.mass, R @ self.center + placement.translation, R @ self.central @ R.T)

    def __add__(self, other: LinkInertia) -> LinkInertia:
        """Both bodies together, in the same frame."""
        return self._with(other, 1.0)

    def __sub__(self, other: LinkInertia) -> LinkInertia:
        """The body without a part of it."""
        return self._with(other, -1.0)

    def _with(self, other: LinkInertia, share: float) -> LinkInertia:
        return LinkInertia.about(
            self.mass + share * other.mass,
            self.first_moment + share * other.first_moment,
            self.about_origin + share * other.about_origin,
        )

    @staticmethod
    def about(mass: float, first_moment: np.ndarray, about_origin: np.ndarray) -> LinkInertia:
        """Return the inertia with Khalil's parameters M, MS and J about the frame's origin.

        Args:
            mass: M, kg.
            first_moment: MS (3,), kg m.
            about_origin: J (3, 3), kg m^2.

        Returns:
            The inertia about the centre of mass; without mass the centre is the origin.
        """
        c = np.asarray(first_moment, float) / mass if mass else np.zeros(3)
        return LinkInertia(mass, c, np.asarray(about_origin, float) - mass * (c @ c * np.eye(3) - np.outer(c, c)))


@dataclass(frozen=True)
class Link:
    """A link of a robot.

    Args:
        name: of the link, which is also the name of its frame.
        inertia: None (default) if the file gives none: the link is massless.

    Example:
        >>> linkwork.model.Link("base").inertia is None
        True
    """

    name: str
    inertia: LinkInertia | None = None


@dataclass(frozen=True)
class Mimic(Element):
    """A mimic joint follows another: ``position = multiplier * position(joint) + offset``.

    Args:
        joint: name of the joint that it follows.
        multiplier: of the position; default 1.
        offset: added to the position, rad or m; default 0.

    Example:
        >>> linkwork.model.Mimic("finger1", multiplier=-1.0).offset
        0.0
    """

    joint: str
    multiplier: float = number(1.0)
    offset: float = number(0.0, unit="rad, m")


@dataclass(frozen=True)
class Lead(Element):
    """How far a helical joint moves along its axis, m/rad."""

    pitch: float = number(unit="m/rad")


@dataclass(frozen=True, eq=False)
class JointDescription(JointValues):
    """A joint between two links, as a file gives it.

    Args:
        name: of the joint.
        kind: one of ``linkwork.model.JOINT_KINDS``, or "flexible" (see ``flexible``).
        parent: name of the parent link.
        child: name of the child link.
        origin: placement of the child link's frame in the parent link's frame at position zero.
        axis: (3,) in the child's frame (as in URDF), of any length except zero; default z. Not used by spherical and
            floating joints.
        mimic: the joint that it follows; default None.
        second_axis: (3,), of a universal joint: it turns about ``axis``, fixed in the parent, then about
            ``second_axis``, fixed in the child and perpendicular to the first.
        pitch: of a helical joint, metres per radian.
        flexible: a Beam or Modal: the child is the tip of a flexible link along x, from its root to the undeformed tip
            at ``origin``. The joint's role is elastic, and the mass and inertia of the undeformed beam are part of the
            parent's. A Station is another place along such a link, and mimics the joint of the tip.
        lower: limit of the position, rad or m; default -inf.
        upper: limit of the position, rad or m; default inf.
        velocity_limit: rad/s or m/s; default inf.
        effort_limit: N m or N; default inf.
        role: "active" (default) if a motor drives it, "passive" if nothing does, "elastic" if only its spring does.
        weight: where motors share the work, the sum of weight * force^2 is minimal; default 1.
        rotor_inertia: Ia, rotor inertia times the gear ratio squared, kg m^2 or kg.
        coulomb: Coulomb friction Fs, N m or N.
        viscous: viscous friction Fv, N m s/rad or N s/m.
        friction_width: velocities within which Coulomb friction is smooth; default 0: that of the robot.
        stiffness: of the spring, K, N m/rad or N/m.
        rest: position of the spring without force, rad or m.
        friction: further friction laws, such as ``Stribeck``.

    Example:
        >>> joint = linkwork.model.JointDescription("hinge", "revolute", "base", "arm", viscous=0.1)
        >>> joint.freedoms
        ('hinge',)
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Placement = field(default_factory=Placement)
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    mimic: Mimic | None = None
    second_axis: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    pitch: float = 0.0
    flexible: Any = None  # Beam, Modal or Station

    def without_friction(self) -> JointDescription:
        """Return the same joint without friction, and without the damping of a flexible link.

        Returns:
            The joint.
        """
        flexible = self.flexible.undamped() if self.flexible else None
        return replace(super().without_friction(), flexible=flexible)

    def locked(self, origin: Placement) -> JointDescription:
        """Return the joint as a fixed one.

        Args:
            origin: placement of the child link's frame in the parent link's frame.

        Returns:
            The fixed joint.
        """
        return replace(self, kind=FIXED.name, flexible=None, origin=origin, mimic=None)

    @property
    def motion(self) -> JointKind:
        """The kind of joint: how the child moves."""
        return joint_kind(self.kind, self.flexible)

    @property
    def freedoms(self) -> tuple[str, ...]:
        """Names of its entries in velocity vectors."""
        return Segment(self.name, self.motion.velocity_parts, ()).names


def floating_joint(joints: Iterable[str], root: str) -> JointDescription:
    """Return the joint between the ground and a floating base; ``joints``: names that it must not have."""
    taken_names = {part for name in joints for part in (name, name.partition(".")[0])}
    names = chain(("base", "floating_base"), (f"floating_base{k}" for k in count(2)))
    return JointDescription(next(name for name in names if name not in taken_names), FLOATING.name, "", root)


@dataclass(frozen=True, eq=False)
class ConstraintDescription:
    """A constraint between two frames, each given as (link, placement in that link).

    Args:
        name: of the constraint.
        kind: such as ``CUT_JOINTS["revolute"]``, ``Wheel(...)``, ``Gear(...)`` or ``Foot(...)``.
        first: frame on the first link; the empty name is the ground.
        second: frame on the second link; for a foot the name of a link or frame. The frames of a gear are those of two
            of the links that its joints move.

    Raises:
        ModelError: if ``kind`` is not a kind of constraint.

    Example:
        >>> here = linkwork.model.Placement()
        >>> weld = linkwork.model.CUT_JOINTS["weld"]
        >>> linkwork.model.ConstraintDescription("loop", weld, ("rod", here), ("base", here)).sides.keys()
        dict_keys(['first', 'second'])
    """

    name: str
    kind: ConstraintKind
    first: tuple[str, Placement]
    second: Any

    def __post_init__(self):
        if not isinstance(self.kind, ConstraintKind):
            expected = "a kind of constraint, such as CUT_JOINTS['revolute'] or Wheel(radius=0.1)"
            raise ModelError("wrong type", where=f"constraint {self.name!r}", got=repr(self.kind), expected=expected)

    @property
    def sides(self) -> dict[str, tuple[str, Placement]]:
        """The frames that are placed in links, by "first" and "second"."""
        return {key: side for key in ("first", "second") if not isinstance(side := getattr(self, key), str)}


def foot_at(name: str, frame: str, **values: Any) -> ConstraintDescription:
    """Return the description of a foot.

    Args:
        name: of the foot.
        frame: the link or frame that may stand on the ground.
        **values: see ``Foot``.

    Returns:
        A constraint for ``Description.constraints``.

    Example:
        >>> linkwork.model.foot_at("left", "left_sole", size=(0.2, 0.1)).kind.size
        (0.2, 0.1)
    """
    return ConstraintDescription(name, Foot(**values), ("", Placement()), frame)


@dataclass(frozen=True, eq=False)
class Description:
    """A robot as its file gives it; ``linkwork.load`` takes it in place of a file.

    Args:
        name: of the robot.
        links: its links; exactly one of them, the root, is not the child of a joint.
        joints: its joints, which make a tree of the links.
        gravity: acceleration of gravity in the world, m/s^2; default (0, 0, -9.81).
        floating: whether the base floats; default False.
        frames: further frames: name -> (link, placement in that link).
        constraints: loops, wheels, gears and feet.
        home: positions of joints near which the loops close, rad or m: a number, or several for a joint with several
            coordinates (a floating base is "base"); default zero.
        keyframes: other such positions by name, tried in order if the loops cannot be closed at ``home`` or are
            singular there.
        independent: the joints, or entries of them (base.rz), whose velocities determine all others. By default they
            are chosen, active joints first. A floating base is independent unless a constraint holds it.
        redundant: whether there may be more active joints than degrees of freedom; default False.
        forces: force laws of the surroundings: (frame, law).
        transmissions: motors that move several joints together.
        summary: what the robot is, in a sentence.
        sources: where the values come from.
        findings: what the reader noticed, such as unknown tags and odd values.
        source: the file it came from, for messages.

    Example:
        >>> from linkwork.model import Description, JointDescription, Link, LinkInertia
        >>> arm = Link("arm", LinkInertia(1.0, np.array([0.5, 0, 0])))
        >>> hinge = JointDescription("hinge", "revolute", "base", "arm")
        >>> linkwork.load(Description("pendulum", (Link("base"), arm), (hinge,))).nv
        1
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[JointDescription, ...]
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    floating: bool = False
    frames: Mapping[str, tuple[str, Placement]] = field(default_factory=dict)
    constraints: tuple[ConstraintDescription, ...] = ()
    home: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    keyframes: Mapping[str, Mapping[str, float | tuple[float, ...]]] = field(default_factory=dict)
    independent: tuple[str, ...] = ()
    redundant: bool = False
    forces: tuple[tuple[str, Any], ...] = ()
    transmissions: tuple[Transmission, ...] = ()
    summary: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    source: str = ""

    @property
    def root(self) -> str:
        """The link that is not the child of a joint; there is one if ``check`` finds no error."""
        children = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    def place(self, element: str = "", name: str = "") -> str:
        """Return the place of a finding: the file, and the robot or one of its elements.

        Args:
            element: such as "link" or "joint"; default: the whole robot.
            name: of the element.

        Returns:
            Such as "panda.urdf: link 'hand'".
        """
        element = f"{element} {name!r}" if element else f"robot {self.name!r}"
        return f"{self.source}: {element}" if self.source else element

    @property
    def permanent(self) -> tuple[ConstraintDescription, ...]:
        """The constraints that are always on."""
        return tuple(each for each in self.constraints if not each.kind.switched)

    @property
    def switched(self) -> tuple[ConstraintDescription, ...]:
        """The constraints that are on or off."""
        return tuple(each for each in self.constraints if each.kind.switched)

    def link_of(self, name: str) -> str:
        """Return the link that has, or carries, a frame of this name.

        Args:
            name: of a link or frame.

        Returns:
            The link's name; empty if there is no such frame.
        """
        return self.frames[name][0] if name in self.frames else name if any(x.name == name for x in self.links) else ""

    def moves(self, link: str) -> bool:
        """Return whether a joint, or a floating base, moves the link.

        Args:
            link: its name.

        Returns:
            False for links that are fixed to the ground.
        """
        to_link = {joint.child: joint for joint in self.joints}
        for _ in self.joints:  # a graph with a cycle has no root to end at
            if link in to_link and to_link[link].motion.nv:
                return True
            link = to_link[link].parent if link in to_link else link
        return self.floating

    def all_joints(self) -> dict[str, JointDescription]:
        """Return the joints by name, with that of a floating base, which the file does not list.

        Returns:
            name -> joint.
        """
        joints = {joint.name: joint for joint in self.joints}
        base = floating_joint(joints, "")
        return {base.name: base, **joints} if self.floating else joints

    def outgoing(self) -> dict[str, list[JointDescription]]:
        """Return the joints by parent link, in the file's order.

        Returns:
            link -> its joints to child links.
        """
        joints: dict[str, list[JointDescription]] = {link.name: [] for link in self.links}
        for joint in self.joints:
            joints[joint.parent].append(joint)
        return joints
