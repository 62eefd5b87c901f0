"""Model: the robot as formulations use it. It has moving bodies only; every joint axis is z of its body's frame.

Bodies are numbered 1..n, parents before children; 0 is the ground (or the fixed base). The user's links and
frames are named frames, each fixed to a body. A Model is immutable; methods that change something return a new one.

There are three kinds of joint vectors. Formulations work on *tree* vectors, with one entry per degree of freedom of
each joint. Vectors of the *non-mimic* joints leave out the mimic joints: ``expand`` and ``expand_rates`` lead from them
to the tree, ``collect`` and ``collect_matrix`` lead back; the user's ``q`` (nq) is of this kind. The user's ``v`` (nv)
holds the *independent* velocities: with closed loops, those of non-mimic joints that determine all others (see
``Mobility``). Without mimic joints and constraints all three are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

from ..errors import ModelError, UnknownNameError, UnsupportedError
from ..renamed import refuse
from ..scalar import Scalar
from ..spatial import Inertia, Motion, Pose, Screw, Transform, Vector
from .commands import commands_of
from .constraints import ConstraintKind
from .coordinates import Coordinates, Layout
from .description import Finding
from .drive import JointValues, SoftLimits, Transmission
from .geometry import Geometry
from .joints import JointKind, Prismatic, Revolute
from .rotations import cos_sin


@dataclass(frozen=True)
class FixedScrew:
    """A constant elementary screw: rotation by ``angle`` about x or z, translation by ``length`` along it."""

    axis: str
    angle: float = 0.0
    length: float = 0.0

    @cached_property
    def screw(self) -> Screw:
        return Screw(self.axis, *cos_sin(self.angle), self.length)


@dataclass(frozen=True, eq=False)
class Joint(JointValues):
    """How a body moves relative to its parent: constant screws, then the motion of its kind.

    Kinds with one axis move on a z screw of angle ``angle`` and length ``length``, to which positions are added.
    """

    name: str
    kind: JointKind
    placement: tuple[FixedScrew, ...] = ()  # where geometry is an input, a FixedPose
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
        """Whether it has a spring, or the stiffness of elastic modes."""
        return bool(self.kind.modes or self.stiffness)

    @property
    def revolute(self) -> bool:
        """Whether it is a rotation about z alone."""
        return isinstance(self.kind, Revolute)

    @property
    def prismatic(self) -> bool:
        """Whether it is a translation along z alone."""
        return isinstance(self.kind, Prismatic)

    @property
    def driven(self) -> bool:
        """Whether a motor drives it."""
        return self.role == "active" and not self.kind.free


@dataclass(frozen=True)
class Body:
    """A moving body: its parent's number, the joint between them, and its inertia in its frame."""

    name: str
    parent: int
    joint: Joint
    inertia: Inertia


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body: a link of the file, a tool.

    Args:
        name: of the frame.
        body: number of the body; 0 is the ground.
        pose: of the frame in the body's frame.

    Example:
        >>> robot.model.frame("panda_link8").body
        7
    """

    name: str
    body: int
    pose: Pose


@dataclass(frozen=True)
class Constraint:
    """A constraint between two frames, or between joints; see ``ConstraintDescription``."""

    name: str
    kind: ConstraintKind
    first: Frame
    second: Frame


@dataclass(frozen=True)
class Mobility:
    """The roles of the degrees of freedom: indices into the velocities of the non-mimic joints."""

    independent: tuple[int, ...]  # they determine all others; v and a hold them
    motors: tuple[int, ...]  # active joints, independent or not
    driven: tuple[int, ...]  # independent velocities whose accelerations the motors can command
    free: tuple[int, ...]  # the other independent ones: a moving base, elastic and passive joints
    rows: tuple[int, ...] = ()  # the constraint equations that do not follow from others
    configuration: tuple[int, ...] = ()  # they determine all positions: the independent ones and, with rolling, others
    known: tuple[int, ...] = ()  # of ``assemble``: the motors if they determine all positions, else ``configuration``

    @property
    def forced(self) -> tuple[int, ...]:
        """The entries of ``tau``: the motors, and the independent freedoms that no motor drives."""
        return tuple(sorted({*self.motors, *self.free}))


@dataclass(frozen=True, eq=False)
class Model:
    """A robot as formulations use it: bodies in a tree, numbered 1 to n from the base outward; 0 is the ground.

    ``linkwork.load`` builds it, and ``robot.model`` holds it.

    Args:
        name: of the robot.
        bodies: the moving bodies, parents before children.
        frames: named frames, each fixed to a body.
        link_names: names of the links of the file.
        gravity: acceleration of gravity in the world, m/s^2.
        root: the link whose frame is the world's on a fixed base; on a floating base, the body that floats.
        base_inertia: of a fixed base, for its potential energy and for writers.
        summary: what the robot is, in a sentence.
        sources: where the values come from.
        constraints: loops, wheels, gears, and contacts with a switch.
        home: the user's q where loops are closed and floating bodies have their places; or empty.
        closed_mobility: of a robot with constraints, for which it is computed from numbers.
        forces: force laws of the surroundings, each at a frame.
        friction_width: velocities within which Coulomb friction is smooth, for simulation; default 0: it jumps.
        soft_limits: stops at the limits of joints; default none.
        transmissions: motors that move several joints together.
        findings: warnings of ``load``.
        geometry: the placements of the file, so that other numbers may replace them.

    Example:
        >>> model = robot.model
        >>> model.n_bodies, model.serial
        (7, True)
    """

    name: str
    bodies: tuple[Body, ...]
    frames: Mapping[str, Frame]
    link_names: tuple[str, ...]
    gravity: Vector
    root: str = "ground"
    base_inertia: Inertia = field(default_factory=Inertia)
    summary: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    home: tuple[float, ...] = ()
    closed_mobility: Mobility | None = None
    forces: tuple[tuple[Frame, Any], ...] = ()
    friction_width: float = 0.0
    soft_limits: SoftLimits | None = None
    transmissions: tuple[Transmission, ...] = ()
    findings: tuple[Finding, ...] = ()
    geometry: Geometry | None = None

    def __getattr__(self, name: str) -> NoReturn:
        refuse("Model", name)

    # -- structure ---------------------------------------------------------------------------------------------

    @property
    def moving_base(self) -> bool:
        """Whether the robot as a whole moves freely. The platform of a parallel robot moves relative to its base."""
        return self.root in self.frames and self.frames[self.root].body > 0

    @property
    def joints_on_base(self) -> tuple[Joint, ...]:
        """The joints of the tree without that of a floating base."""
        return self.tree.joints[self.moving_base :]

    @property
    def base(self) -> str:
        """The kind of base, "floating" or "fixed"."""
        return "floating" if self.moving_base else "fixed"

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies."""
        return len(self.bodies)

    def body(self, i: int) -> Body:
        """Return a body.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            The body.
        """
        return self.bodies[i - 1]

    def joint(self, i: int) -> Joint:
        """Return the joint between a body and its parent.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            The joint.
        """
        return self.bodies[i - 1].joint

    def inertia(self, i: int) -> Inertia:
        """Return the inertia of a body.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            Its mass, first moments and inertia about the origin, in its frame.
        """
        return self.bodies[i - 1].inertia

    def outward(self) -> Iterator[tuple[int, int]]:
        """Iterate over the bodies, every parent before its children.

        Returns:
            Pairs (body, parent).
        """
        return ((i, body.parent) for i, body in enumerate(self.bodies, 1))

    def inward(self) -> Iterator[tuple[int, int]]:
        """Iterate over the bodies, every child before its parent.

        Returns:
            Pairs (body, parent).
        """
        return reversed(list(self.outward()))

    def ancestors(self, i: int) -> Iterator[int]:
        """Iterate over the bodies from the parent of ``i`` to the ground, which is left out.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            Numbers of bodies.
        """
        while (i := self.bodies[i - 1].parent) > 0:
            yield i

    @cached_property
    def serial(self) -> bool:
        """Whether the bodies make one chain without branches."""
        return all(body.parent == i for i, body in enumerate(self.bodies))

    @cached_property
    def has_modes(self) -> bool:
        """Whether a link deforms."""
        return any(body.joint.kind.modes for body in self.bodies)

    @cached_property
    def has_mimic(self) -> bool:
        """Whether there are mimic joints."""
        return any(body.joint.leader is not None for body in self.bodies)

    @cached_property
    def permanent(self) -> tuple[Constraint, ...]:
        """The constraints that are always on: loops, wheels, gears."""
        return tuple(each for each in self.constraints if not each.kind.switched)

    @cached_property
    def switched(self) -> tuple[Constraint, ...]:
        """The constraints that the input ``contacts`` switches on and off: feet."""
        return tuple(each for each in self.constraints if each.kind.switched)

    @property
    def constrained(self) -> bool:
        """Whether it has constraints that are always on."""
        return bool(self.permanent)

    def with_permanent(self, constraints: Iterable[Constraint]) -> Model:
        """Return the same robot with other constraints that are always on.

        Args:
            constraints: the new ones.

        Returns:
            The model; its contacts with a switch stay.
        """
        return replace(self, constraints=(*constraints, *self.switched))

    # -- coordinates -------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Coordinates:
        """Coordinates of all joints, mimic joints included."""
        return Coordinates(tuple(body.joint for body in self.bodies))

    @cached_property
    def coordinates(self) -> Coordinates:
        """Coordinates of the non-mimic joints: the user's ``q``, and all velocities that may be independent."""
        return Coordinates(tuple(body.joint for body in self.bodies if body.joint.leader is None))

    @property
    def n_tree(self) -> int:
        """Number of degrees of freedom of all joints, mimic joints included."""
        return self.tree.nv

    def freedoms(self, i: int) -> range:
        """Return where a joint is in tree velocities.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            Its indices.
        """
        return self.tree.velocity_ranges[i - 1]

    def positions(self, i: int) -> range:
        """Return where a joint is in tree positions.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            Its indices.
        """
        return self.tree.position_ranges[i - 1]

    @cached_property
    def commands(self) -> Layout:
        """Command inputs of the force laws."""
        return commands_of(self.name, self.forces)

    @property
    def nv(self) -> int:
        """Number of independent velocities."""
        return len(self.mobility.independent)

    @property
    def n_configuration(self) -> int:
        """Number of directions in which positions can change: nv, and more where something rolls."""
        return len(self.mobility.configuration)

    @property
    def nq(self) -> int:
        """Number of positions."""
        return self.coordinates.nq

    @cached_property
    def mobility(self) -> Mobility:
        """The roles of the degrees of freedom: independent, driven, free."""
        if self.closed_mobility is not None:
            return self.closed_mobility
        if self.constrained:
            message, fix = "the loops of this model are still open", "linkwork.constraints.closed(model, description)"
            raise ModelError(message, where=f"robot {self.name!r}", fix=fix)
        every = tuple(range(self.coordinates.nv))
        active = tuple(k for k in every if self.coordinates.joint_of(k).driven)
        free = tuple(k for k in every if k not in active)
        return Mobility(every, active, active, free, configuration=every, known=every)

    def names_of(self, freedoms: Sequence[int]) -> tuple[str, ...]:
        """Return the names of velocities, without those of floating bodies.

        Args:
            freedoms: indices into the velocities of the non-mimic joints.

        Returns:
            Names of entries.
        """
        listed = [k for k in freedoms if not self.coordinates.joint_of(k).kind.free]
        return self.coordinates.of_freedoms(listed).names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints whose velocities ``v`` holds, in its order, without floating bodies."""
        return self._without_floating(self.coordinates.of_freedoms(self.mobility.independent).joints)

    @property
    def position_names(self) -> tuple[str, ...]:
        """The joints whose positions ``q`` holds, in its order, without floating bodies."""
        return self._without_floating(self.coordinates.positions.joints)

    def _without_floating(self, names: Sequence[str]) -> tuple[str, ...]:
        free = {joint.name for joint in self.coordinates.joints if joint.kind.free}
        return tuple(name for name in names if name not in free)

    @cached_property
    def _shares(self) -> list[tuple[int, float]]:
        """For each tree velocity: the index of the non-mimic velocity that it follows, and the multiplier."""
        first = dict(zip(self.coordinates.positions.joints, self.coordinates.velocity_ranges, strict=True))
        return [
            (k, joint.multiplier)
            for joint in self.tree.joints
            for k in first[joint.name if joint.leader is None else joint.leader]
        ]

    def expand(self, q: Sequence[Scalar]) -> list[Scalar]:
        """Return the tree positions.

        Args:
            q: positions of the non-mimic joints.

        Returns:
            Positions of all joints.
        """
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
        """Return the tree velocities, or accelerations.

        Args:
            v: velocities, or accelerations, of the non-mimic joints.

        Returns:
            Those of all joints.
        """
        return [multiplier * v[k] for k, multiplier in self._shares]

    def collect(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Return the forces of the non-mimic joints: a mimic joint adds its share to the joint it follows.

        Args:
            tau: forces of the tree.

        Returns:
            Forces of the non-mimic joints.
        """
        total: list[Scalar] = [0] * self.coordinates.nv
        for (k, multiplier), force in zip(self._shares, tau, strict=True):
            total[k] = total[k] + multiplier * force
        return total

    def collect_rows(self, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """Apply ``collect`` to every row of a matrix.

        Args:
            rows: with columns of the tree.

        Returns:
            Rows with columns of the non-mimic joints.
        """
        return [self.collect(row) for row in rows]

    def collect_matrix(self, M: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """Return G^T M G with the expansion matrix G.

        Args:
            M: matrix of the tree.

        Returns:
            Matrix of the non-mimic joints.
        """
        if not self.has_mimic:
            return [list(row) for row in M]
        columns = [list(column) for column in zip(*self.collect_rows(M), strict=True)]
        return [list(row) for row in zip(*self.collect_rows(columns), strict=True)]

    def moved(self, q: Sequence[Scalar], step: Sequence[Scalar]) -> list[Scalar]:
        """Return positions after a small step, to first order; quaternions are normalised.

        Args:
            q: positions of the non-mimic joints.
            step: their velocities times time.

        Returns:
            The new positions.
        """
        rates = self.coordinates.rates(q, step)
        return self.coordinates.normalised([x + y for x, y in zip(q, rates, strict=True)])

    # -- kinematics of one joint, over any scalar ------------------------------------------------------------------

    def transform(self, i: int, q: Sequence[Scalar]) -> Transform:
        """Return the transform that places a body in its parent.

        Args:
            i: number of the body or joint, 1 to n.
            q: positions of the tree.

        Returns:
            The transform.
        """
        joint = self.joint(i)
        motion = joint.kind.transform(joint, [q[k] for k in self.positions(i)])
        return Transform(*(fixed.screw for fixed in joint.placement), *motion)

    def subspace(self, i: int, q: Sequence[Scalar]) -> list[Motion]:
        """Return the unit motions of a joint.

        Args:
            i: number of the body or joint, 1 to n.
            q: positions of the tree.

        Returns:
            One motion per degree of freedom, in the frame of the body.
        """
        joint = self.joint(i)
        return joint.kind.subspace(joint, [q[k] for k in self.positions(i)])

    def joint_motion(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar]) -> Motion:
        """Return the velocity of a body relative to its parent.

        Args:
            i: number of the body or joint, 1 to n.
            q: positions of the tree.
            v: velocities of the tree.

        Returns:
            The motion, in the frame of the body.
        """
        motions = zip(self.freedoms(i), self.subspace(i, q), strict=True)
        return sum((S * v[k] for k, S in motions), Motion())

    def subspace_rates(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Motion]:
        """Return the rates of the unit motions of a joint.

        Args:
            i: number of the body or joint, 1 to n.
            q: positions of the tree.
            v: velocities of the tree.

        Returns:
            One rate per degree of freedom, in the frame of the body.
        """
        joint = self.joint(i)
        return joint.kind.subspace_rates(joint, [q[k] for k in self.positions(i)], [v[k] for k in self.freedoms(i)])

    def joint_drift(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar]) -> Motion:
        """Return what the rate of the unit motions adds to the acceleration of a joint.

        Args:
            i: number of the body or joint, 1 to n.
            q: positions of the tree.
            v: velocities of the tree.

        Returns:
            The acceleration, in the frame of the body.
        """
        joint = self.joint(i)
        return joint.kind.drift(joint, [q[k] for k in self.positions(i)], [v[k] for k in self.freedoms(i)])

    # -- lookup and change ------------------------------------------------------------------------------------------

    def frame(self, name: str) -> Frame:
        """Return a frame.

        Args:
            name: of a link or frame.

        Returns:
            The frame.

        Raises:
            UnknownNameError: if there is no such frame.
        """
        try:
            return self.frames[name]
        except KeyError:
            raise UnknownNameError("frame", name, self.frames, where=f"robot {self.name!r}") from None

    def motor_places(self) -> list[int]:
        """Return where the positions of the motors are in q.

        Returns:
            Indices into q.

        Raises:
            UnsupportedError: if the position of a motor is not one number.
        """
        places = {k: self.coordinates.position_of(k) for k in self.mobility.motors}
        if curved := [k for k, place in places.items() if place is None]:
            joint = self.coordinates.joint_of(curved[0])
            raise UnsupportedError(
                "a motor's position is one number, whose rate is the motor's velocity",
                where=f"robot {self.name!r}, joint {joint.name!r}",
                got=f"a {joint.kind.name} joint with a motor",
                fix="mark the joint passive, or write your own controller, a function (t, q, v, reference) -> tau",
            )
        return [place for place in places.values() if place is not None]

    def joint_freedoms(self, name: str) -> range:
        """Return where a joint, or one of its entries, is in the velocities of the non-mimic joints.

        Args:
            name: of the joint or entry.

        Returns:
            Its indices.

        Raises:
            UnknownNameError: if there is no such joint.
        """
        joints, entries = self.coordinates.positions.joints, self.coordinates.velocity_names
        if name in joints:
            return self.coordinates.velocity_ranges[joints.index(name)]
        if name in entries:
            return range(entries.index(name), entries.index(name) + 1)
        raise UnknownNameError("joint", name, joints, where=f"robot {self.name!r}")

    def link_pose(self, i: int) -> Pose:
        """Return the pose of a body's link frame in the body's frame.

        Args:
            i: number of the body or joint, 1 to n.

        Returns:
            The pose.
        """
        name = self.body(i).name
        return self.frames[name].pose if name in self.frames else Pose.identity()

    def parameters(self) -> list[list[Scalar]]:
        """Return the inertial parameters, as ``Robot.parameters`` orders them.

        Returns:
            Ten numbers for each body, in its link's frame.
        """
        bodies = range(1, self.n_bodies + 1)
        return [list(self.link_pose(i).inverse().inertia_outward(self.inertia(i))) for i in bodies]

    def with_parameters(self, rows: Sequence[Sequence[Scalar]]) -> Model:
        """Return the same robot with other inertial parameters.

        Args:
            rows: ten numbers for each body, in its link's frame, as ``Robot.parameters`` orders them.

        Returns:
            The model.
        """
        return self.with_inertias([self.link_pose(i).inertia_outward(Inertia.of(row)) for i, row in enumerate(rows, 1)])

    def with_inertias(self, inertias: Sequence[Inertia]) -> Model:
        """Return the same robot with other inertias.

        Args:
            inertias: one for each body, in its frame; numbers or scalars of any kind.

        Returns:
            The model.
        """
        bodies = tuple(replace(b, inertia=inertia) for b, inertia in zip(self.bodies, inertias, strict=True))
        return replace(self, bodies=bodies)
