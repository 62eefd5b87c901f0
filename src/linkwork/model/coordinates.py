"""Coordinates: where the entries of each joint are in the vectors of a robot. Only this file defines it.

A vector is a row of segments, one for each joint, in order. A joint with one degree of freedom has one entry, with the
name of the joint; others have several, JOINT.part. A joint may have more positions than velocities: a quaternion has
four numbers and three velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError, UnknownNameError
from ..scalar import Scalar, is_zero

if TYPE_CHECKING:
    from .model import Joint

Scalars = Sequence[Scalar]


def real_numbers(value: Any, where: str) -> np.ndarray:
    """Return an array of floats; raises ShapeError for anything else."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError("this is not a rectangular array", where=where, got=error) from error
    if array.dtype.kind not in "fiub":
        got = f"dtype {array.dtype}" if array.ndim or array.dtype != object else type(value).__name__
        raise ShapeError("these are not real numbers", where=where, got=got)
    return array.astype(float, copy=False)


@dataclass(frozen=True)
class Segment:
    """The entries of one joint in a vector. ``meaning``: of several parts, in words."""

    name: str
    parts: tuple[str, ...]
    units: tuple[str, ...]
    meaning: str = ""

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.parts)

    @property
    def single(self) -> bool:
        """Whether it is one number, with the name of the joint."""
        return self.parts == ("",)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its entries."""
        return tuple(f"{self.name}.{part}" if part else self.name for part in self.parts)


def kind_of(vector: str) -> str:
    """Return what the segments of a vector belong to: "joint", "command" or "contact"."""
    return {"commands": "command", "contacts": "contact", "restitution": "contact"}.get(vector, "joint")


@dataclass(frozen=True)
class Layout:
    """The layout of a vector: its segments in order, one for each joint.

    Args:
        segments: with the names and units of their entries.

    Example:
        >>> robot.coordinates.positions.names[:2]
        ('panda_joint1', 'panda_joint2')
    """

    segments: tuple[Segment, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all entries."""
        return tuple(name for segment in self.segments for name in segment.names)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units of all entries."""
        return tuple(unit for segment in self.segments for unit in segment.units)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(segment.name for segment in self.segments)

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.names)

    def __str__(self) -> str:
        """The joints, with the number of their entries where it is not one."""
        return ", ".join(s.name if s.single else f"{s.name} ({s.size})" for s in self.segments)

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where the entries of each joint are: name -> slice."""
        ends = np.cumsum([0, *(segment.size for segment in self.segments)]).tolist()
        return {s.name: slice(*ends[k : k + 2]) for k, s in enumerate(self.segments)}

    def at(self, name: str) -> int:
        """Return the index of an entry.

        Args:
            name: of the entry.

        Returns:
            Its index.

        Raises:
            UnknownNameError: if there is no such entry.
        """
        if name not in self.names:
            raise UnknownNameError("entry", name, self.names)
        return self.names.index(name)

    def filled(self, values: Mapping[str, Any], free: Collection[str]) -> dict[str, Any]:
        """Return values by name, with zeros for optional entries that are missing.

        Args:
            values: by joint or entry.
            free: names of the optional entries.

        Returns:
            The values with zeros added.
        """
        filled = dict(values)
        for segment in self.segments:
            if segment.name not in filled:
                filled |= {name: 0.0 for name in segment.names if name in free and name not in filled}
        return filled

    def to_dict(self, array: np.ndarray) -> dict[str, np.ndarray]:
        """Split a vector by joint.

        Args:
            array: (..., n).

        Returns:
            joint -> (...) for one number, (..., k) for several.
        """
        return {s.name: array[..., self.places[s.name]][..., 0 if s.single else slice(None)] for s in self.segments}

    def to_array(
        self,
        values: Mapping[str, Any],
        where: str = "",
        read: Callable[[Any, str], np.ndarray] = real_numbers,
        kind: str = "joint",
    ) -> np.ndarray:
        """Return the vector of values by name; batches broadcast.

        Args:
            values: by joint, or by entry.
            where: place for messages.
            read: converts a value to an array; default: real numbers.
            kind: what a segment belongs to, "joint" (default) or "command". A missing command is zero.

        Returns:
            The vector (..., n).

        Raises:
            ShapeError: if a value is missing or has the wrong shape.
            UnknownNameError: if a name is not in the layout.
        """
        if kind == "command":
            values = self.filled(values, self.names)
        names = dict.fromkeys(name for segment in self.segments for name in (segment.name, *segment.names))
        for name in values:
            if name not in names:
                raise UnknownNameError(kind, name, self.joints, where=where)
        missing: list[str] = []
        for segment in self.segments:
            absent = [name for name in segment.names if name not in values and segment.name not in values]
            missing += [segment.name] if len(absent) == segment.size else absent
        if missing:
            expected = f"also {', '.join(missing)}"
            raise ShapeError(f"{kind}s are missing", where=where, got=", ".join(values), expected=expected)
        parts: dict[str, np.ndarray] = {}
        for segment in self.segments:
            several = segment.name in values and not segment.single
            if several and (twice := [name for name in segment.names if name in values]):
                raise ShapeError(f"{segment.name!r} is given as a whole", where=where, got=f"also {', '.join(twice)}")
            for name in (segment.name,) if several else segment.names:
                at = f"{where}, {name!r}".removeprefix(", ")
                part = read(values[name], at)
                if several and part.shape[-1:] != (segment.size,):
                    raise ShapeError("wrong shape", where=at, got=part.shape, expected=f"(..., {segment.size})")
                parts[name] = part if several else part[..., None]
        try:
            batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts.values()))
        except ValueError:
            got = ", ".join(f"{name} {part.shape[:-1]}" for name, part in parts.items())
            raise ShapeError("batch axes do not fit together", where=where, got=got) from None
        if not parts:
            return np.zeros(0)
        return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts.values()], axis=-1)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Positions and velocities of joints, and the conversions between them.

    Methods take and return arrays (..., n), or sequences of scalars of any kind, as in formulations.

    Args:
        joints: in the order of the vectors.

    Example:
        >>> q0, q1 = robot.coordinates.random(0, size=2)
        >>> v = robot.coordinates.difference(q0, q1)
        >>> bool(np.allclose(robot.coordinates.integrate(q0, v), q1))
        True
    """

    joints: tuple[Joint, ...]

    # -- layout --------------------------------------------------------------------------------------------------------

    @cached_property
    def positions(self) -> Layout:
        """Layout of q."""
        kinds = ((joint.name, joint.kind) for joint in self.joints)
        return Layout(tuple(Segment(n, k.position_parts, k.position_units, k.position_meaning) for n, k in kinds))

    @cached_property
    def velocities(self) -> Layout:
        """Layout of v."""
        return self.of_freedoms(range(self.nv))

    def of_freedoms(self, freedoms: Iterable[int], units: tuple[str, str] = ("rad/s", "m/s")) -> Layout:
        """Return the layout of a vector that holds only some velocities, accelerations or forces.

        Args:
            freedoms: indices into the velocities, in order.
            units: of rotations and of translations; default rad/s and m/s.

        Returns:
            The layout.
        """
        by_joint: dict[str, list[int]] = {}
        for k in freedoms:
            by_joint.setdefault(self._freedoms[k][0].name, []).append(k)
        segments = []
        for name, entries in by_joint.items():
            kind, parts = self._freedoms[entries[0]][0].kind, [self._freedoms[k][1] for k in entries]
            names = tuple(kind.velocity_parts[part] for part in parts)
            segments.append(
                Segment(name, names, tuple(units[not kind.turning[part]] for part in parts), kind.velocity_meaning)
            )
        return Layout(tuple(segments))

    @cached_property
    def _freedoms(self) -> list[tuple[Joint, int]]:
        return [(joint, part) for joint in self.joints for part in range(joint.kind.nv)]

    def joint_of(self, freedom: int) -> Joint:
        """Return the joint that a velocity belongs to.

        Args:
            freedom: index into the velocities.

        Returns:
            The joint.
        """
        return self._freedoms[freedom][0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        return self.positions.names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of v."""
        return self.velocities.names

    @cached_property
    def nq(self) -> int:
        """Number of positions."""
        return sum(joint.kind.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """Number of velocities."""
        return sum(joint.kind.nv for joint in self.joints)

    @cached_property
    def position_ranges(self) -> list[range]:
        """Where the positions of each joint are."""
        return [*_ranges(joint.kind.nq for joint in self.joints)]

    @cached_property
    def velocity_ranges(self) -> list[range]:
        """Where the velocities of each joint are."""
        return [*_ranges(joint.kind.nv for joint in self.joints)]

    def whole(self, freedoms: Collection[int]) -> Coordinates:
        """Return the coordinates of those joints whose velocities are all in a list.

        Args:
            freedoms: indices into the velocities.

        Returns:
            Coordinates of these joints.
        """
        joints = zip(self.joints, self.velocity_ranges, strict=True)
        return Coordinates(tuple(joint for joint, entries in joints if entries and {*entries} <= {*freedoms}))

    def places(self, joints: Iterable[str]) -> list[int]:
        """Return where some joints are in q.

        Args:
            joints: their names.

        Returns:
            Indices into q.
        """
        return [k for name in joints for k in range(self.nq)[self.positions.places[name]]]

    @cached_property
    def quaternions(self) -> list[slice]:
        """Where unit quaternions are in q: their entries are those without a unit."""
        slices = []
        for joint, at in zip(self.joints, self.position_ranges, strict=True):
            entries = [k for k, unit in zip(at, joint.kind.position_units, strict=True) if not unit]
            slices += [slice(entries[0], entries[-1] + 1)] if entries else []
        return slices

    def position_of(self, freedom: int) -> int | None:
        """Return the position whose rate a velocity is.

        Args:
            freedom: index into the velocities.

        Returns:
            Index into q; None for joints whose velocities are not rates of positions.
        """
        joint, part = self._freedoms[freedom]
        at = self.position_ranges[self.joints.index(joint)]
        return at[part] if joint.kind.straight else None

    @cached_property
    def lower(self) -> np.ndarray:
        """Lower limits of the entries of q; -inf where there are none."""
        return self._limits("lower", -np.inf)

    @cached_property
    def upper(self) -> np.ndarray:
        """Upper limits of the entries of q; inf where there are none."""
        return self._limits("upper", np.inf)

    def _limits(self, side: str, none: float) -> np.ndarray:
        limits = ([getattr(j, side) if j.kind.bounded else none] * j.kind.nq for j in self.joints)
        return np.array([x for each in limits for x in each], float)

    # -- positions and velocities --------------------------------------------------------------------------------------

    def _joint_by_joint(self, act: Callable[..., Iterable[Scalar]], *vectors: tuple[list[range], Any]) -> Any:
        """Apply ``act(joint, ...)`` to each joint's parts of the vectors, and join the results."""
        values, sizes = [value for _, value in vectors], [places[-1].stop if places else 0 for places, _ in vectors]
        many = any(isinstance(value, np.ndarray) for value in values)
        shapes = [np.shape(value) if many else (len(value),) for value in values]
        for shape, size in zip(shapes, sizes, strict=True):
            if shape[-1:] != (size,):
                raise ShapeError("wrong shape", where="coordinates", got=shape, expected=f"(..., {size})")
        if not many:
            parts = ([[value[k] for k in places[n]] for places, value in vectors] for n in range(len(self.joints)))
            return [x for joint, part in zip(self.joints, parts, strict=True) for x in act(joint, *part)]
        try:
            batch = np.broadcast_shapes(*(shape[:-1] for shape in shapes))
        except ValueError:
            got = " and ".join(map(str, shapes))
            raise ShapeError("batch axes do not fit together", where="coordinates", got=got) from None
        arrays = [np.moveaxis(np.asarray(value, float), -1, 0) for value in values]
        entries = self._joint_by_joint(act, *zip((p for p, _ in vectors), map(list, arrays), strict=True))
        return np.stack([np.broadcast_to(x, batch) for x in entries], axis=-1) if entries else np.zeros((*batch, 0))

    def _q(self, q: Any) -> tuple[list[range], Any]:
        q = _array_of(self.positions, q)
        if isinstance(q, np.ndarray):
            zero = q.shape[-1:] == (self.nq,) and not all(q[..., at].any(axis=-1).all() for at in self.quaternions)
        else:
            zero = len(q) == self.nq and any(all(map(is_zero, q[at])) for at in self.quaternions)
        if zero:
            raise ShapeError("a quaternion is zero", where="coordinates", expected="x, y, z, w of length one")
        return self.position_ranges, q

    def _v(self, v: Any) -> tuple[list[range], Any]:
        return self.velocity_ranges, _array_of(self.velocities, v)

    def rates(self, q: Any, v: Any) -> Any:
        """Return dq/dt.

        Args:
            q: positions (..., nq).
            v: velocities (..., nv).

        Returns:
            Rates of the positions (..., nq).
        """
        return self._joint_by_joint(lambda joint, q, v: joint.kind.rates(q, v), self._q(q), self._v(v))

    def tangent(self, q: Any) -> np.ndarray:
        """Return the matrix T with dq/dt = T v.

        Args:
            q: positions (..., nq).

        Returns:
            T (..., nq, nv).
        """
        q = real_numbers(_array_of(self.positions, q), "coordinates")
        columns = [self.rates(q, np.broadcast_to(e, (*q.shape[:-1], self.nv))) for e in np.eye(self.nv)]
        return np.stack(columns, axis=-1) if columns else np.zeros((*q.shape, 0))

    def velocities_of(self, q: Any, rates: Any) -> Any:
        """Return the velocities at which positions change with given rates.

        Args:
            q: positions (..., nq).
            rates: dq/dt (..., nq).

        Returns:
            Velocities (..., nv).
        """
        dq = (self.position_ranges, _array_of(self.positions, rates))
        return self._joint_by_joint(lambda joint, q, rates: joint.kind.velocities(q, rates), self._q(q), dq)

    def integrate(self, q: Any, v: Any) -> Any:
        """Return the positions after unit time at constant velocities.

        Args:
            q: positions (..., nq).
            v: velocities, or the step along the tangent (..., nv).

        Returns:
            Positions (..., nq).
        """
        return self._joint_by_joint(lambda joint, q, v: joint.kind.step(q, v), self._q(q), self._v(v))

    def difference(self, q0: Any, q1: Any) -> Any:
        """Return v with ``integrate(q0, v) = q1``, by the shortest rotations; for numbers only.

        Args:
            q0: first positions (..., nq).
            q1: second positions (..., nq).

        Returns:
            The difference (..., nv).
        """
        q0, q1 = (real_numbers(_array_of(self.positions, q), "coordinates") for q in (q0, q1))
        return self._joint_by_joint(lambda joint, a, b: joint.kind.difference(a, b), self._q(q0), self._q(q1))

    def advanced(self, q: Any, v: Any, dt: Scalar) -> Any:
        """Return the positions after a short time, to first order; quaternions keep their length.

        Args:
            q: positions (..., nq).
            v: velocities (..., nv).
            dt: time, s.

        Returns:
            Positions (..., nq).
        """
        return self._joint_by_joint(lambda joint, q, v: joint.kind.advanced(q, v, dt), self._q(q), self._v(v))

    def normalised(self, q: Any) -> Any:
        """Return positions with quaternions of length one.

        Args:
            q: positions (..., nq).

        Returns:
            Positions (..., nq).
        """
        return self._joint_by_joint(lambda joint, q: joint.kind.normalised(q), self._q(q))

    def neutral(self) -> np.ndarray:
        """Return zero positions; quaternions are those without rotation.

        Returns:
            Positions (nq,).
        """
        return np.array([x for joint in self.joints for x in joint.kind.neutral()], float)

    def random(self, rng: np.random.Generator | int | None = None, size: int | tuple[int, ...] | None = None) -> Any:
        """Return random positions, uniform within the limits of the joints.

        Without limits, rotations are uniform over all angles and translations within a metre.

        Args:
            rng: a generator or its seed; default: a new seed.
            size: batch shape; default: one vector.

        Returns:
            Positions (*size, nq).
        """
        generator = np.random.default_rng(rng)
        shape = () if size is None else (int(size),) if isinstance(size, (int, np.integer)) else tuple(size)
        samples = [joint.kind.random(generator, shape, joint.lower, joint.upper) for joint in self.joints]
        return np.concatenate(samples, axis=-1) if samples else np.zeros((*shape, 0))


def _ranges(sizes: Iterable[int]) -> Iterator[range]:
    start = 0
    for size in sizes:
        yield range(start, start + size)
        start += size


def _array_of(layout: Layout, value: Any) -> Any:
    """Return values by name, and lists of lists, as an array; a sequence of scalars stays as it is."""
    if isinstance(value, Mapping):
        return layout.to_array(value, "coordinates")
    nested = isinstance(value, (list, tuple)) and any(isinstance(row, (list, tuple)) for row in value)
    return real_numbers(value, "coordinates") if nested or isinstance(value, np.ndarray) else value
