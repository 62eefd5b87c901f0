"""Description: a robot as its file tells it, links and joints in the user's own frames, before anything is merged.

Every reader makes one, ``check`` judges it, ``build`` turns it into the Model that the formulations see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

import numpy as np

from ..errors import ModelError, short
from .constraints import ConstraintKind, Foot
from .coordinates import Segment
from .drive import JointValues, Transmission
from .joints import FIXED, FLOATING, JointKind, joint_kind

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
MOST_LINKS = 10_000  # and joints
LONGEST_NAME = 500  # characters: quoted, it is still short enough for a key of YAML


@dataclass(frozen=True)
class Finding:
    """Something ``check`` reports. An error keeps the robot from loading, a warning does not."""

    level: str  # "error" or "warning"
    where: str  # e.g. "panda.urdf: link 'hand'"
    message: str
    fix: str = ""
    at_load: bool = False  # whether ``load`` warns of it: the dynamics differs from what the file says
    unread: bool = False  # whether the file says something that is left out

    def __post_init__(self):
        for name in ("where", "message", "fix"):  # what comes from files may be of any length
            object.__setattr__(self, name, short(getattr(self, name)))

    @staticmethod
    def of(error: ModelError) -> Finding:
        """An error that was raised, told like the others."""
        details = (f"{name}: {value}" for name, value in error.details.items() if name != "fix")
        return Finding("error", error.where, "; ".join([error.message, *details]), error.fix)

    @property
    def text(self) -> str:
        """Where, what and the fix."""
        return f"{self.where}: {self.message}" + (f"\n  fix: {self.fix}" if self.fix else "")

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a frame sits in another: ``x_outer = rotation @ x_inner + translation``."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, inner: Placement) -> Placement:
        return Placement(self.rotation @ inner.rotation, self.rotation @ inner.translation + self.translation)

    def inverse(self) -> Placement:
        return Placement(self.rotation.T, -self.rotation.T @ self.translation)


@dataclass(frozen=True, eq=False)
class LinkInertia:
    """Mass, centre of mass and inertia about the centre of mass, all in the link's own frame and axes."""

    mass: float
    center: np.ndarray  # (3,)
    central: np.ndarray  # (3, 3)

    @property
    def first_moment(self) -> np.ndarray:
        return self.mass * self.center

    @property
    def about_origin(self) -> np.ndarray:
        c = self.center
        return self.central + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def placed(self, placement: Placement) -> LinkInertia:
        """The same body seen from the outer frame of ``placement``."""
        R = placement.rotation
        return LinkInertia(self.mass, R @ self.center + placement.translation, R @ self.central @ R.T)

    def __add__(self, other: LinkInertia) -> LinkInertia:
        """Of both bodies together, in the same frame."""
        return self._with(other, 1.0)

    def __sub__(self, other: LinkInertia) -> LinkInertia:
        """Of what is left without a part."""
        return self._with(other, -1.0)

    def _with(self, other: LinkInertia, share: float) -> LinkInertia:
        return LinkInertia.about(
            self.mass + share * other.mass,
            self.first_moment + share * other.first_moment,
            self.about_origin + share * other.about_origin,
        )

    @staticmethod
    def about(mass: float, first_moment: np.ndarray, about_origin: np.ndarray) -> LinkInertia:
        """From Khalil's parameters M, MS and J about the frame's origin."""
        c = np.asarray(first_moment, float) / mass if mass else np.zeros(3)
        return LinkInertia(mass, c, np.asarray(about_origin, float) - mass * (c @ c * np.eye(3) - np.outer(c, c)))


@dataclass(frozen=True)
class Link:
    """``inertia`` is None where the file gives none."""

    name: str
    inertia: LinkInertia | None = None


@dataclass(frozen=True)
class Mimic:
    """This joint follows another: ``position = multiplier * position(joint) + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class JointDescription(JointValues):
    """``origin`` places the child link's frame in the parent link's frame at position zero; ``axis`` is in the
    child's frame (as in URDF), of any length but zero. What else a kind needs: a universal joint turns about ``axis``,
    which is fixed in the parent, and then about ``second_axis``, fixed in the child and at right angles to it; a
    helical joint shifts along its axis by ``pitch`` metres per radian. A spherical or floating joint needs no axis.

    A joint of kind "flexible" is a link that bends: the child is the tip of the parent's beam ``flexible`` (Beam or
    Modal), which lies along x from its root to the straight tip at ``origin``. Its role is elastic, and its mass and
    inertia when straight are part of the parent's. With a Station it is another place along such a link, and it mimics
    the joint of the tip.
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
        flexible = self.flexible.undamped() if self.flexible else None
        return replace(super().without_friction(), flexible=flexible)

    def locked(self, origin: Placement) -> JointDescription:
        """The joint as a fixed one, which places the child there."""
        return replace(self, kind=FIXED.name, flexible=None, origin=origin, mimic=None)

    @property
    def motion(self) -> JointKind:
        """How the child moves."""
        return joint_kind(self.kind, self.flexible)

    @property
    def freedoms(self) -> tuple[str, ...]:
        """Names of its entries in velocities."""
        return Segment(self.name, self.motion.velocity_parts, ()).names


def floating_joint(joints: Iterable[str], root: str) -> JointDescription:
    """The one between the ground and a floating base, beside joints of these names."""
    taken = {part for name in joints for part in (name, name.partition(".")[0])}
    names = chain(("base", "floating_base"), (f"floating_base{k}" for k in count(2)))
    return JointDescription(next(name for name in names if name not in taken), FLOATING.name, "", root)


@dataclass(frozen=True, eq=False)
class ConstraintDescription:
    """A constraint of a ``kind`` (``CUT_JOINTS``, ``Wheel``, ``Gear``, ``Foot`` ...) between the frames ``first`` and
    ``second``, each (link, placement in that link). The ground has the empty name as its link. The ``second`` of a foot
    is the name of a link or frame. The frames of a gear are those of two of the links that its joints move."""

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
        """The frames that are placed in links."""
        return {key: side for key in ("first", "second") if not isinstance(side := getattr(self, key), str)}


def foot_at(name: str, frame: str, **values: Any) -> ConstraintDescription:
    """A foot: ``frame`` is the link or frame that may stand on the ground; ``values``: see ``Foot``."""
    return ConstraintDescription(name, Foot(**values), ("", Placement()), frame)


@dataclass(frozen=True, eq=False)
class Description:
    """``frames`` are extra named frames: name -> (link, placement in that link).

    ``home`` gives positions of joints near which the loops close, a number or, of a joint with several (a floating base
    is "base" here), as many as it has; zero where it gives none. ``keyframes`` are other such positions by name, taken
    in their order where the loops cannot be closed at ``home`` or are singular there. ``independent`` names the joints
    whose velocities determine all others, or entries of them; of a floating base, which is independent as a whole
    unless something holds it, entries alone (base.rz). By default they are chosen, active ones first. ``redundant``
    allows more active joints than freedoms. ``forces`` are laws of interaction with the surroundings: (frame, law).
    ``transmissions`` are motors that move several joints together. ``constraints``: loops, what rolls, gears, feet.
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
    summary: str = ""  # what the robot is, in a sentence
    sources: Mapping[str, str] = field(default_factory=dict)  # where the values come from
    findings: tuple[Finding, ...] = ()  # what the reader itself noticed (unknown tags, odd values)
    source: str = ""  # the file it came from, for messages

    @property
    def root(self) -> str:
        """The link that no joint carries; there is one if ``check`` finds no error."""
        inner = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in inner)

    @property
    def permanent(self) -> tuple[ConstraintDescription, ...]:
        """The constraints that are always on."""
        return tuple(each for each in self.constraints if not each.kind.switched)

    @property
    def switched(self) -> tuple[ConstraintDescription, ...]:
        """The constraints that are on or off."""
        return tuple(each for each in self.constraints if each.kind.switched)

    def link_of(self, name: str) -> str:
        """The link that is, or carries, a frame of this name; empty if there is none."""
        return self.frames[name][0] if name in self.frames else name if any(x.name == name for x in self.links) else ""

    def moves(self, link: str) -> bool:
        """Does any joint, or a floating base, move the link?"""
        inner = {joint.child: joint for joint in self.joints}
        for _ in self.joints:  # a tree that is none may have no end
            if link in inner and inner[link].motion.nv:
                return True
            link = inner[link].parent if link in inner else link
        return self.floating

    def all_joints(self) -> dict[str, JointDescription]:
        """By name, with that of a floating base, which the file does not list."""
        joints = {joint.name: joint for joint in self.joints}
        base = floating_joint(joints, "")
        return {base.name: base, **joints} if self.floating else joints

    def outgoing(self) -> dict[str, list[JointDescription]]:
        """The joints by parent link, in the file's order."""
        joints: dict[str, list[JointDescription]] = {link.name: [] for link in self.links}
        for joint in self.joints:
            joints[joint.parent].append(joint)
        return joints
