"""Model: the robot the formulations see. Moving bodies only, every moving axis the z axis of its body's frame.

Bodies are numbered 1..n, parents before children; 0 is the ground (or the fixed base). The user's own links and
frames are named frames, each fixed to a body. A Model is immutable; methods that change something return a new one.

Joint vectors come in two kinds. The user's ``q`` (nq) and ``v`` (nv) hold the independent coordinates. A formulation
works on the *tree* vectors, one entry per joint freedom, where a mimic joint has an entry of its own:
``expand``/``expand_rates`` lead to them and ``collect``/``collect_matrix`` lead back. Without mimic joints they
are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..errors import UnknownNameError
from ..scalar import Scalar, cos, sin
from ..spatial import AXES, Inertia, Motion, Pose, Screw, Transform, Vector
from .description import JointValues
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

    # -- structure ---------------------------------------------------------------------------------------------

    @property
    def floating(self) -> bool:
        return bool(self.bodies) and self.bodies[0].joint.floating

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
    def _independent(self) -> dict[str, int]:
        """Joint name -> its index in the user's v, for independent joints with one freedom."""
        start = 6 if self.floating else 0
        names = [b.joint.name for b in self.bodies if not b.joint.floating and b.joint.leader is None]
        return {name: start + k for k, name in enumerate(names)}

    @property
    def nv(self) -> int:
        return len(self._independent) + (6 if self.floating else 0)

    @property
    def nq(self) -> int:
        return self.nv + (1 if self.floating else 0)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The independent one-freedom joints, in the order of ``v`` (after the base's six if it floats)."""
        return tuple(self._independent)

    @cached_property
    def independent_joints(self) -> tuple[Joint, ...]:
        return tuple(b.joint for b in self.bodies if b.joint.name in self._independent)

    @cached_property
    def _shares(self) -> list[tuple[int, float, float]]:
        """For each tree velocity index: (user's index, multiplier, offset)."""
        shares: list[tuple[int, float, float]] = []
        for body in self.bodies:
            joint = body.joint
            if joint.floating:
                shares += [(k, 1.0, 0.0) for k in range(6)]
            else:
                leader = joint.name if joint.leader is None else joint.leader
                shares.append((self._independent[leader], joint.multiplier, joint.offset))
        return shares

    def expand(self, q: Sequence[Scalar]) -> list[Scalar]:
        """Tree positions from the user's ``q``."""
        if not self.has_mimic:
            return list(q)
        start, extra = (6, 1) if self.floating else (0, 0)
        head = list(q[:7]) if self.floating else []
        return head + [multiplier * q[k + extra] + offset for k, multiplier, offset in self._shares[start:]]

    def expand_rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Tree velocities (or accelerations) from the user's."""
        return [multiplier * v[k] for k, multiplier, _ in self._shares]

    def collect(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """The user's joint forces from tree forces: a mimic joint adds its share to its leader."""
        total: list[Scalar] = [0] * self.nv
        for (k, multiplier, _), force in zip(self._shares, tau, strict=True):
            total[k] = total[k] + multiplier * force
        return total

    def collect_rows(self, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """``collect`` applied to every row: a matrix with tree columns gets the user's columns."""
        return [self.collect(row) for row in rows]

    def collect_matrix(self, M: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """G^T M G with the expansion matrix G."""
        if not self.has_mimic:
            return [list(row) for row in M]
        columns = [list(column) for column in zip(*self.collect_rows(M), strict=True)]
        return [list(row) for row in zip(*self.collect_rows(columns), strict=True)]

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
        """Index of an independent joint in ``v``."""
        try:
            return self._independent[name]
        except KeyError:
            raise UnknownNameError("joint", name, self._independent, where=f"robot {self.name!r}") from None

    def link_pose(self, i: int) -> Pose:
        """Where the frame of body ``i``'s own link sits in the body's frame."""
        name = self.body(i).name
        return self.frames[name].pose if name in self.frames else Pose.identity()

    def with_parameters(self, rows: Sequence[Sequence[Scalar]]) -> Model:
        """The same robot with other inertias, as in ``Robot.parameters``: ten for each body, in its link's frame."""
        return self.with_inertias([self.link_pose(i).inertia_outward(Inertia.of(row)) for i, row in enumerate(rows, 1)])

    def with_inertias(self, inertias: Sequence[Inertia]) -> Model:
        """The same robot with other inertias, body by body (numbers or scalars of any kind)."""
        bodies = tuple(replace(b, inertia=inertia) for b, inertia in zip(self.bodies, inertias, strict=True))
        return replace(self, bodies=bodies)
