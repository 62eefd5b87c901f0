"""Model: the robot the formulations see. Moving bodies only, every moving axis the z axis of its body's frame.

Bodies are numbered 1..n, parents before children; 0 is the ground (or the fixed base). The user's own links and
frames are named frames, each fixed to a body. A Model is immutable; methods that change something return a new one.

Joint vectors come in three kinds. A formulation works on the *tree* vectors, one entry per joint freedom. The vectors
of the *leading* joints leave out the mimic joints, which follow: ``expand``/``expand_rates`` lead from them to the tree
and ``collect``/``collect_matrix`` lead back; the user's ``q`` (nq) is of this kind. The user's ``v`` (nv) holds the
*independent* coordinates: where loops are closed, those of the leading joints that tell all others (``Mobility``).
Without mimic joints and loops all three are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..errors import ModelError, UnknownNameError, UnsupportedError
from ..scalar import Scalar
from ..spatial import Inertia, Motion, Pose, Screw, Transform, Vector
from .commands import commands_of
from .constraints import ConstraintKind
from .coordinates import Coordinates, Layout
from .description import Finding
from .drive import JointValues, SoftLimits, Transmission
from .joints import JointKind, Prismatic, Revolute
from .rotations import cos_sin


@dataclass(frozen=True)
class FixedScrew:
    """Constant elementary screw: turn by ``angle`` about x or z, shift by ``length`` along it."""

    axis: str
    angle: float = 0.0
    length: float = 0.0

    @cached_property
    def screw(self) -> Screw:
        return Screw(self.axis, *cos_sin(self.angle), self.length)


@dataclass(frozen=True, eq=False)
class Joint(JointValues):
    """How a body moves against its parent: constant screws, then what its kind says.

    Kinds with one axis move on a z screw of angle ``angle`` and length ``length``, to which positions are added.
    """

    name: str
    kind: JointKind
    placement: tuple[FixedScrew, ...] = ()
    angle: float = 0.0
    length: float = 0.0
    pitch: float = 0.0  # of a screw, metres per radian
    leader: str | None = None  # the joint it mimics: position = multiplier * position(leader) + offset
    multiplier: float = 1.0
    offset: float = 0.0

    def without_friction(self) -> Joint:
        return replace(super().without_friction(), kind=self.kind.undamped())

    def without_spring(self) -> Joint:
        return replace(super().without_spring(), kind=self.kind.limp())

    @property
    def elastic(self) -> bool:
        """Does a spring act in it, or that of elastic modes?"""
        return bool(self.kind.modes or self.stiffness)

    @property
    def revolute(self) -> bool:
        """Is it a turn about z alone?"""
        return isinstance(self.kind, Revolute)

    @property
    def prismatic(self) -> bool:
        """Is it a shift along z alone?"""
        return isinstance(self.kind, Prismatic)

    @property
    def driven(self) -> bool:
        """Does a motor move it?"""
        return self.role == "active" and not self.kind.free


@dataclass(frozen=True)
class Body:
    name: str
    parent: int
    joint: Joint
    inertia: Inertia


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body: a user's link, a tool."""

    name: str
    body: int
    pose: Pose


@dataclass(frozen=True)
class Constraint:
    """What ties two frames, or joints: a cut joint, a contact, a gear; see ``ConstraintDescription``."""

    name: str
    kind: ConstraintKind
    first: Frame
    second: Frame


@dataclass(frozen=True)
class Mobility:
    """Which freedoms are which: indices into the velocities of the leading joints."""

    independent: tuple[int, ...]  # they tell all others; v and a hold them
    motors: tuple[int, ...]  # active joints, independent or not
    driven: tuple[int, ...]  # independent ones the motors can accelerate as they are told
    free: tuple[int, ...]  # the other independent ones: a moving base, elastic and passive joints
    rows: tuple[int, ...] = ()  # the equations of the loops that do not follow from others
    located: tuple[int, ...] = ()  # they tell all positions: the independent ones and, where something rolls, others

    @property
    def forced(self) -> tuple[int, ...]:
        """What ``tau`` holds: the motors, and the freedoms they leave free."""
        return tuple(sorted({*self.motors, *self.free}))


@dataclass(frozen=True, eq=False)
class Model:
    name: str
    bodies: tuple[Body, ...]
    frames: Mapping[str, Frame]
    link_names: tuple[str, ...]
    gravity: Vector
    root: str = "ground"  # the link whose frame is the world's on a fixed base, and the floating body else
    base_inertia: Inertia = field(default_factory=Inertia)  # of a fixed base, for its potential energy and for writers
    summary: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()  # loops, what rolls, gears, contacts with a switch
    home: tuple[float, ...] = ()  # the user's q where loops are closed and floating bodies have their places; or empty
    closed_mobility: Mobility | None = None  # of a robot with loops, where it is a matter of numbers
    forces: tuple[tuple[Frame, Any], ...] = ()  # laws of interaction with the surroundings, each at a frame
    friction_width: float = 0.0  # velocities within which Coulomb friction is smooth, for simulation; 0: it jumps
    soft_limits: SoftLimits | None = None
    transmissions: tuple[Transmission, ...] = ()  # motors that move several joints together
    findings: tuple[Finding, ...] = ()  # what ``load`` warns of

    # -- structure ---------------------------------------------------------------------------------------------

    @property
    def moving_base(self) -> bool:
        """Does the robot as a whole move freely? (A parallel robot's platform does so against its base.)"""
        return self.root in self.frames and self.frames[self.root].body > 0

    @property
    def joints_on_base(self) -> tuple[Joint, ...]:
        """Of the tree, all but the one by which a base floats."""
        return self.tree.joints[self.moving_base :]

    @property
    def base(self) -> str:
        """As it is asked for where a robot is loaded."""
        return "floating" if self.moving_base else "fixed"

    @property
    def n_bodies(self) -> int:
        return len(self.bodies)

    def body(self, i: int) -> Body:
        return self.bodies[i - 1]

    def joint(self, i: int) -> Joint:
        return self.bodies[i - 1].joint

    def inertia(self, i: int) -> Inertia:
        return self.bodies[i - 1].inertia

    def outward(self) -> Iterator[tuple[int, int]]:
        """(body, parent), every parent before its children."""
        return ((i, body.parent) for i, body in enumerate(self.bodies, 1))

    def inward(self) -> Iterator[tuple[int, int]]:
        """(body, parent), every child before its parent."""
        return reversed(list(self.outward()))

    def ancestors(self, i: int) -> Iterator[int]:
        """The bodies from the parent of ``i`` down to the ground, ground excluded."""
        while (i := self.bodies[i - 1].parent) > 0:
            yield i

    @cached_property
    def serial(self) -> bool:
        """Is it one chain, no branches?"""
        return all(body.parent == i for i, body in enumerate(self.bodies))

    @cached_property
    def has_modes(self) -> bool:
        """Does a link deform?"""
        return any(body.joint.kind.modes for body in self.bodies)

    @cached_property
    def has_mimic(self) -> bool:
        return any(body.joint.leader is not None for body in self.bodies)

    @cached_property
    def permanent(self) -> tuple[Constraint, ...]:
        """The constraints that are always on: loops, what rolls, gears."""
        return tuple(each for each in self.constraints if not each.kind.switched)

    @cached_property
    def switched(self) -> tuple[Constraint, ...]:
        """The constraints that are on or off, by the input ``contacts``: where the robot may stand."""
        return tuple(each for each in self.constraints if each.kind.switched)

    @property
    def constrained(self) -> bool:
        """Do constraints tie its joints at all times?"""
        return bool(self.permanent)

    def with_permanent(self, constraints: Iterable[Constraint]) -> Model:
        """The same robot with other constraints that are always on."""
        return replace(self, constraints=(*constraints, *self.switched))

    # -- coordinates -------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Coordinates:
        """Of all joints, mimic joints included."""
        return Coordinates(tuple(body.joint for body in self.bodies))

    @cached_property
    def coordinates(self) -> Coordinates:
        """Of the leading joints: the user's q, and the velocities of all that move by themselves."""
        return Coordinates(tuple(body.joint for body in self.bodies if body.joint.leader is None))

    @property
    def n_tree(self) -> int:
        """Number of joint freedoms, mimic joints included."""
        return self.tree.nv

    def freedoms(self, i: int) -> range:
        """The tree velocity indices of joint ``i``."""
        return self.tree.velocity_ranges[i - 1]

    def positions(self, i: int) -> range:
        """The tree position indices of joint ``i``."""
        return self.tree.position_ranges[i - 1]

    @cached_property
    def commands(self) -> Layout:
        """What the force laws of the surroundings take beside motion."""
        return commands_of(self.name, self.forces)

    @property
    def n_leading(self) -> int:
        """Number of velocities of the leading joints."""
        return self.coordinates.nv

    @property
    def nv(self) -> int:
        return len(self.mobility.independent)

    @property
    def n_located(self) -> int:
        """Number of directions in which positions can change: nv, and more where something rolls."""
        return len(self.mobility.located)

    @property
    def nq(self) -> int:
        return self.coordinates.nq

    @cached_property
    def mobility(self) -> Mobility:
        if self.closed_mobility is not None:
            return self.closed_mobility
        if self.constrained:
            message, fix = "the loops of this model are still cut", "linkwork.constraints.closed(model, description)"
            raise ModelError(message, where=f"robot {self.name!r}", fix=fix)
        everything = tuple(range(self.n_leading))
        active = tuple(k for k in everything if self.coordinates.joint_of(k).driven)
        free = tuple(k for k in everything if k not in active)
        return Mobility(everything, active, active, free, located=everything)

    def names_of(self, freedoms: Sequence[int]) -> tuple[str, ...]:
        """Entries of these freedoms of the leading joints, but for those of floating bodies."""
        held = [k for k in freedoms if not self.coordinates.joint_of(k).kind.free]
        return self.coordinates.of_freedoms(held).names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints whose velocities ``v`` holds, in its order, but for floating bodies."""
        return self._held(self.coordinates.of_freedoms(self.mobility.independent).joints)

    @property
    def position_names(self) -> tuple[str, ...]:
        """The joints whose positions ``q`` holds, in its order, but for floating bodies."""
        return self._held(self.coordinates.positions.joints)

    def _held(self, names: Sequence[str]) -> tuple[str, ...]:
        free = {joint.name for joint in self.coordinates.joints if joint.kind.free}
        return tuple(name for name in names if name not in free)

    @cached_property
    def _shares(self) -> list[tuple[int, float]]:
        """For each tree velocity index: (index among the leading, multiplier)."""
        first = dict(zip(self.coordinates.positions.joints, self.coordinates.velocity_ranges, strict=True))
        return [
            (k, joint.multiplier)
            for joint in self.tree.joints
            for k in first[joint.name if joint.leader is None else joint.leader]
        ]

    def expand(self, q: Sequence[Scalar]) -> list[Scalar]:
        """Tree positions from the user's ``q``."""
        if not self.has_mimic:
            return list(q)
        first = dict(zip(self.coordinates.positions.joints, self.coordinates.position_ranges, strict=True))
        tree: list[Scalar] = []
        for joint in self.tree.joints:
            if joint.leader is None:
                tree += [q[k] for k in first[joint.name]]
            else:
                tree += [joint.multiplier * q[k] + joint.offset for k in first[joint.leader]]
        return tree

    def expand_rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Tree velocities (or accelerations) from those of the leading joints."""
        return [multiplier * v[k] for k, multiplier in self._shares]

    def collect(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Forces of the leading joints from tree forces: a mimic joint adds its share to its leader."""
        total: list[Scalar] = [0] * self.n_leading
        for (k, multiplier), force in zip(self._shares, tau, strict=True):
            total[k] = total[k] + multiplier * force
        return total

    def collect_rows(self, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """``collect`` applied to every row: a matrix with tree columns gets those of the leading joints."""
        return [self.collect(row) for row in rows]

    def collect_matrix(self, M: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """G^T M G with the expansion matrix G."""
        if not self.has_mimic:
            return [list(row) for row in M]
        columns = [list(column) for column in zip(*self.collect_rows(M), strict=True)]
        return [list(row) for row in zip(*self.collect_rows(columns), strict=True)]

    def moved(self, q: Sequence[Scalar], step: Sequence[Scalar]) -> list[Scalar]:
        """The user's q after unit time at the velocities ``step`` of the leading joints, to first order; a quaternion
        gets length one."""
        rates = self.coordinates.rates(q, step)
        return self.coordinates.normalised([x + y for x, y in zip(q, rates, strict=True)])

    # -- kinematics of one joint, over any scalar ------------------------------------------------------------------

    def transform(self, i: int, q: Sequence[Scalar]) -> Transform:
        """Places body ``i`` in its parent at tree positions ``q``."""
        joint = self.joint(i)
        own = joint.kind.transform(joint, [q[k] for k in self.positions(i)])
        return Transform(*(fixed.screw for fixed in joint.placement), *own)

    def subspace(self, i: int, q: Sequence[Scalar]) -> list[Motion]:
        """Unit motions of joint ``i`` in the frame of body ``i``, one per freedom."""
        joint = self.joint(i)
        return joint.kind.subspace(joint, [q[k] for k in self.positions(i)])

    def joint_motion(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar]) -> Motion:
        """Motion of body ``i`` against its parent at tree velocities ``v``."""
        motions = zip(self.freedoms(i), self.subspace(i, q), strict=True)
        return sum((S * v[k] for k, S in motions), Motion())

    def subspace_rates(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Motion]:
        """How the unit motions of joint ``i`` change at tree velocities ``v``, in the frame of body ``i``."""
        joint = self.joint(i)
        return joint.kind.subspace_rates(joint, [q[k] for k in self.positions(i)], [v[k] for k in self.freedoms(i)])

    def joint_drift(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar]) -> Motion:
        """What the change of the subspace of joint ``i`` adds to its acceleration at tree velocities ``v``."""
        joint = self.joint(i)
        return joint.kind.drift(joint, [q[k] for k in self.positions(i)], [v[k] for k in self.freedoms(i)])

    # -- lookup and change ------------------------------------------------------------------------------------------

    def frame(self, name: str) -> Frame:
        try:
            return self.frames[name]
        except KeyError:
            raise UnknownNameError("frame", name, self.frames, where=f"robot {self.name!r}") from None

    def motor_places(self) -> list[int]:
        """The entries of q that are the positions of the motors."""
        found = {k: self.coordinates.position_of(k) for k in self.mobility.motors}
        if curved := [k for k, place in found.items() if place is None]:
            joint = self.coordinates.joint_of(curved[0])
            raise UnsupportedError(
                "a motor's position is one number, whose rate is the motor's velocity",
                where=f"robot {self.name!r}, joint {joint.name!r}",
                got=f"a {joint.kind.name} joint with a motor",
                fix="mark the joint passive, or write a controller of your own, a function (t, q, v, reference) -> tau",
            )
        return [place for place in found.values() if place is not None]

    def joint_freedoms(self, name: str) -> range:
        """Indices of a leading joint, or of one of its entries, among their velocities."""
        joints, entries = self.coordinates.positions.joints, self.coordinates.velocity_names
        if name in joints:
            return self.coordinates.velocity_ranges[joints.index(name)]
        if name in entries:
            return range(entries.index(name), entries.index(name) + 1)
        raise UnknownNameError("joint", name, joints, where=f"robot {self.name!r}")

    def link_pose(self, i: int) -> Pose:
        """Where the frame of body ``i``'s own link sits in the body's frame."""
        name = self.body(i).name
        return self.frames[name].pose if name in self.frames else Pose.identity()

    def parameters(self) -> list[list[Scalar]]:
        """Ten for each body, in its link's frame: see ``Robot.parameters``."""
        bodies = range(1, self.n_bodies + 1)
        return [list(self.link_pose(i).inverse().inertia_outward(self.inertia(i))) for i in bodies]

    def with_parameters(self, rows: Sequence[Sequence[Scalar]]) -> Model:
        """The same robot with other inertias, as in ``Robot.parameters``: ten for each body, in its link's frame."""
        return self.with_inertias([self.link_pose(i).inertia_outward(Inertia.of(row)) for i, row in enumerate(rows, 1)])

    def with_inertias(self, inertias: Sequence[Inertia]) -> Model:
        """The same robot with other inertias, body by body (numbers or scalars of any kind)."""
        bodies = tuple(replace(b, inertia=inertia) for b, inertia in zip(self.bodies, inertias, strict=True))
        return replace(self, bodies=bodies)
