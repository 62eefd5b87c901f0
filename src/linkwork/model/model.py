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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..errors import UnknownNameError
from ..scalar import Scalar, cos, sin, sqrt
from ..spatial import AXES, Inertia, Motion, Pose, Screw, Transform, Vector
from .description import Finding
from .drive import JointValues, SoftLimits, Transmission
from .rotations import cos_sin


def quaternion_product(p: Sequence[Scalar], r: Sequence[Scalar]) -> list[Scalar]:
    """p r, both x, y, z, w: first turn by r, in the axes that p gives."""
    x, y, z, w = p
    a, b, c, d = r
    return [
        d * x + w * a + y * c - z * b,
        d * y + w * b + z * a - x * c,
        d * z + w * c + x * b - y * a,
        d * w - x * a - y * b - z * c,
    ]


@dataclass(frozen=True)
class FixedScrew:
    """Constant elementary screw: turn by ``angle`` about x or z, shift by ``length`` along it."""

    axis: str
    angle: float = 0.0
    length: float = 0.0

    @cached_property
    def screw(self) -> Screw:
        return Screw(self.axis, *cos_sin(self.angle), self.length)


def _cos_sin_of_sum(value: Scalar, constant: float) -> tuple[Scalar, Scalar]:
    """Of ``value + constant``; whole quarter turns only exchange sine and cosine and cost nothing."""
    c, s = cos_sin(constant)
    if c * s == 0:
        C, S = cos(value), sin(value)
        return c * C - s * S, s * C + c * S
    return cos(value + constant), sin(value + constant)


@dataclass(frozen=True, eq=False)
class Joint(JointValues):
    """How a body moves against its parent: constant screws, then its own z screw by ``position``.

    The z screw has angle ``position + angle`` and length ``length`` for a revolute joint, angle ``angle`` and length
    ``position + length`` for a prismatic one. A floating joint has neither.
    """

    name: str
    kind: str  # revolute, continuous, prismatic or floating
    placement: tuple[FixedScrew, ...] = ()
    angle: float = 0.0
    length: float = 0.0
    leader: str | None = None  # the joint it mimics: position = multiplier * position(leader) + offset
    multiplier: float = 1.0
    offset: float = 0.0

    @property
    def floating(self) -> bool:
        return self.kind == "floating"

    @property
    def prismatic(self) -> bool:
        return self.kind == "prismatic"


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
class Loop:
    """A cut joint that holds two frames together; see ``LoopDescription``."""

    name: str
    kind: str
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
    loops: tuple[Loop, ...] = ()
    home: tuple[float, ...] = ()  # the user's q at which the loops are closed; empty without loops
    closed_mobility: Mobility | None = None  # of a robot with loops, where it is a matter of numbers
    forces: tuple[tuple[Frame, Any], ...] = ()  # laws of interaction with the surroundings, each at a frame
    friction_width: float = 0.0  # velocities within which Coulomb friction is smooth, for simulation; 0: it jumps
    soft_limits: SoftLimits | None = None
    transmissions: tuple[Transmission, ...] = ()  # motors that move several joints together
    findings: tuple[Finding, ...] = ()  # what is to be said of home, where closing the loops has led

    # -- structure ---------------------------------------------------------------------------------------------

    @property
    def floating(self) -> bool:
        return bool(self.bodies) and self.bodies[0].joint.floating

    @property
    def moving_base(self) -> bool:
        """Does the robot as a whole move freely? (A parallel robot's platform does so against its base.)"""
        return self.floating and self.frames[self.root].body == 1

    @property
    def floating_name(self) -> str:
        """What the floating body is called in joint vectors: the base, or a platform by its joint."""
        return ("base" if self.moving_base else self.joint(1).name) if self.floating else ""

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
    def has_mimic(self) -> bool:
        return any(body.joint.leader is not None for body in self.bodies)

    # -- coordinates -------------------------------------------------------------------------------------------

    @cached_property
    def _first(self) -> list[int]:
        """First tree velocity index of each body's joint; the last entry is their number."""
        first = [0]
        for body in self.bodies:
            first.append(first[-1] + (6 if body.joint.floating else 1))
        return first

    @property
    def n_tree(self) -> int:
        """Number of joint freedoms, mimic joints included."""
        return self._first[-1]

    def freedoms(self, i: int) -> range:
        """The tree velocity indices of joint ``i``."""
        return range(self._first[i - 1], self._first[i])

    def coordinates(self, i: int) -> range:
        """The tree position indices of joint ``i``."""
        shift = 1 if self.floating and i > 1 else 0
        start = self._first[i - 1] + shift
        return range(start, start + (7 if self.joint(i).floating else 1))

    @cached_property
    def _leading(self) -> dict[str, int]:
        """Joint name -> its index among the velocities of the leading joints, for those with one freedom."""
        start = 6 if self.floating else 0
        names = [b.joint.name for b in self.bodies if not b.joint.floating and b.joint.leader is None]
        return {name: start + k for k, name in enumerate(names)}

    @property
    def n_leading(self) -> int:
        """Number of velocities of the leading joints."""
        return len(self._leading) + (6 if self.floating else 0)

    @property
    def nv(self) -> int:
        return len(self.mobility.independent)

    @property
    def nq(self) -> int:
        return self.n_leading + (1 if self.floating else 0)

    @cached_property
    def mobility(self) -> Mobility:
        if self.closed_mobility is not None:
            return self.closed_mobility
        everything = tuple(range(self.n_leading))
        active = tuple(self._leading[joint.name] for joint in self.leading_joints if joint.role == "active")
        return Mobility(everything, active, active, tuple(k for k in everything if k not in active))

    def names_of(self, freedoms: Sequence[int]) -> tuple[str, ...]:
        """The one-freedom joints among freedoms of the leading joints (a floating body has no name there)."""
        return tuple(name for name, k in self._leading.items() if k in freedoms)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The independent one-freedom joints, in the order of ``v`` (after the six of a floating body)."""
        return self.names_of(self.mobility.independent)

    @property
    def position_names(self) -> tuple[str, ...]:
        """The one-freedom joints of ``q``, in its order (after the seven of a floating body)."""
        return tuple(self._leading)

    @cached_property
    def leading_joints(self) -> tuple[Joint, ...]:
        return tuple(b.joint for b in self.bodies if b.joint.name in self._leading)

    @cached_property
    def _shares(self) -> list[tuple[int, float, float]]:
        """For each tree velocity index: (index among the leading, multiplier, offset)."""
        shares: list[tuple[int, float, float]] = []
        for body in self.bodies:
            joint = body.joint
            if joint.floating:
                shares += [(k, 1.0, 0.0) for k in range(6)]
            else:
                leader = joint.name if joint.leader is None else joint.leader
                shares.append((self._leading[leader], joint.multiplier, joint.offset))
        return shares

    def expand(self, q: Sequence[Scalar]) -> list[Scalar]:
        """Tree positions from the user's ``q``."""
        if not self.has_mimic:
            return list(q)
        start, extra = (6, 1) if self.floating else (0, 0)
        head = list(q[:7]) if self.floating else []
        return head + [multiplier * q[k + extra] + offset for k, multiplier, offset in self._shares[start:]]

    def expand_rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Tree velocities (or accelerations) from those of the leading joints."""
        return [multiplier * v[k] for k, multiplier, _ in self._shares]

    def collect(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Forces of the leading joints from tree forces: a mimic joint adds its share to its leader."""
        total: list[Scalar] = [0] * self.n_leading
        for (k, multiplier, _), force in zip(self._shares, tau, strict=True):
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
        return self.normalised([x + y for x, y in zip(q, self.position_rates(q, step), strict=True)])

    def position_rates(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        """dq/dt at velocities ``rates`` of the leading joints; those of a floating body are in its own axes."""
        if not self.floating:
            return list(rates)
        origin = self.transform(1, q).outward(Vector(*rates[:3]))
        return [*origin, *quaternion_product(q[3:7], [*(0.5 * value for value in rates[3:6]), 0]), *rates[6:]]

    def normalised(self, q: Sequence[Scalar]) -> list[Scalar]:
        """q with a quaternion of length one."""
        if not self.floating:
            return list(q)
        scale = 1 / sqrt(sum((value * value for value in q[3:7]), start=0))
        return [*q[:3], *(scale * value for value in q[3:7]), *q[7:]]

    # -- kinematics of one joint, over any scalar ------------------------------------------------------------------

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        """Places body ``i`` in its parent at tree positions ``q``: a Transform, or a Pose if the base floats (which
        carries vectors, motions and forces alike; inertias never go from a base to the ground)."""
        joint = self.joint(i)
        at = self.coordinates(i)
        if joint.floating:
            values = [q[k] for k in at]
            return Pose.of_quaternion(values[:3], values[3:])
        value = q[at.start]
        if joint.prismatic:
            last = Screw("z", *cos_sin(joint.angle), value + joint.length)
        else:
            last = Screw("z", *_cos_sin_of_sum(value, joint.angle), joint.length)
        return Transform(*(fixed.screw for fixed in joint.placement), last)

    def subspace(self, i: int) -> list[Motion]:
        """Unit motions of joint ``i`` in the frame of body ``i``, one per freedom."""
        joint = self.joint(i)
        if joint.floating:
            return [Motion(linear=e) for e in AXES] + [Motion(angular=e) for e in AXES]
        return [Motion(linear=AXES[2]) if joint.prismatic else Motion(angular=AXES[2])]

    def joint_motion(self, i: int, v: Sequence[Scalar]) -> Motion:
        """Motion of body ``i`` against its parent at tree velocities ``v``."""
        values = [v[k] for k in self.freedoms(i)]
        if len(values) == 6:
            return Motion(Vector(*values[:3]), Vector(*values[3:]))
        axis = Vector(0, 0, values[0])
        return Motion(linear=axis) if self.joint(i).prismatic else Motion(angular=axis)

    # -- lookup and change ------------------------------------------------------------------------------------------

    def frame(self, name: str) -> Frame:
        try:
            return self.frames[name]
        except KeyError:
            raise UnknownNameError("frame", name, self.frames, where=f"robot {self.name!r}") from None

    def joint_index(self, name: str) -> int:
        """Index of a leading joint among their velocities."""
        try:
            return self._leading[name]
        except KeyError:
            raise UnknownNameError("joint", name, self._leading, where=f"robot {self.name!r}") from None

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
