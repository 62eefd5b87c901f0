"""ConstraintKind: what a constraint between two frames, or between joints, defines.

Its equations hold over any scalar. All vectors are relative to the frame ``first`` and in its axes; ``end`` is the pose
of ``second``, and motions are those of ``second``. Every equation constrains velocities. Most are derivatives of
equations of positions; those that are not (a wheel that does not slip) have no residual. For a kind that couples
coordinates rather than frames, ``end`` holds their positions and motions are their velocities, in the order of
``coordinates``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...scalar import Scalar
from ..element import Element, Fault

if TYPE_CHECKING:
    from ..description import ConstraintDescription, Description


@dataclass(frozen=True)
class End:
    """One of the two frames of a constraint in files: its ``key``, empty if files do not give it.

    ``ground``: whether it is on the ground by default. ``named``: whether it is the name of a link or frame, and not a
    placement in a link.
    """

    key: str = ""
    ground: bool = False
    named: bool = False
    what: str = "{link: its name, ...} or {frame: its name}"


@dataclass(frozen=True)
class ConstraintKind(Element):
    """A kind of constraint: a frozen dataclass whose fields are its numbers.

    Class attributes, which a subclass sets where they differ:

    - ``name``: in files, where it is listed in the table ``section``
    - ``word``, ``plural``: what one and several are called in messages and counts
    - ``default``: whether it is the kind of a row that names none
    - ``first``, ``second``: how files give its frames
    - ``closes_loop``: whether it joins two links as a joint does, where a loop was cut
    - ``switched``: whether an input switches it on and off; else it is always on
    - ``touches``: whether it is a contact with a plane, z = 0 of ``first``, with a normal force and friction
    - ``load``: the row of the normal force of a contact
    - ``shows_ground``: whether that plane is the ground
    - ``friction``: coefficient of a contact, beyond which it would slip
    - ``restitution``: coefficient of restitution of a contact with a switch
    - ``rows``: names of the equations, with r for rotations
    - ``lacks``: fixes for keys of its section that this kind does not have

    Example:
        >>> linkwork.model.CUT_JOINTS["revolute"].rows
        ('x', 'y', 'z', 'rx', 'ry')
    """

    name: ClassVar[str]
    word: ClassVar[str]
    plural: ClassVar[str]
    section: ClassVar[str]
    default: ClassVar[bool] = False
    first: ClassVar[End] = End()
    second: ClassVar[End] = End()
    closes_loop: ClassVar[bool] = False
    switched: ClassVar[bool] = False
    touches: ClassVar[bool] = False
    load: ClassVar[str] = ""
    shows_ground: ClassVar[bool] = False
    lacks: ClassVar[dict[str, str]] = {}
    known: ClassVar[dict[str, type[ConstraintKind]]] = {}  # all kinds, by name

    friction = float("inf")  # not annotated, because that would put them before the fields of subclasses
    restitution = 0.0

    def __init_subclass__(cls, *, name: str = "", word: str = "", plural: str = "", **options: Any):
        super().__init_subclass__(**options)
        if name:
            cls.name, cls.word = name, word or name
            cls.plural = plural or f"{cls.word}s"
            ConstraintKind.known[name] = cls

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the equations, with r for rotations."""
        raise NotImplementedError

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """For each equation, whether it constrains positions, and not velocities alone."""
        return (True,) * len(self.rows)

    @property
    def turning(self) -> tuple[bool, ...]:
        """For each equation, whether it constrains a rotation, in rad; the others are translations, in m."""
        return (False,) * len(self.rows)

    @property
    def holds_turns(self) -> bool:
        """Whether an equation constrains a rotation."""
        return any(self.turning)

    @property
    def reach(self) -> float:
        """How far it extends from the origin of ``second``, m."""
        return 0.0

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the velocities that it couples; empty if it is between frames."""
        return ()

    def locked(self, positions: Mapping[str, float]) -> ConstraintKind | None:
        """Return the constraint with some of its ``coordinates`` locked.

        Args:
            positions: coordinate -> position at which it is locked.

        Returns:
            The constraint between the others; None if none is left.
        """
        del positions
        return self

    def residual(self, end: Any) -> list[Scalar]:
        """Return by how much the constraint is violated.

        Args:
            end: pose of ``second``, or positions of ``coordinates``.

        Returns:
            One number per equation, m or (small) rad; zero for equations of velocities alone.
        """
        raise NotImplementedError

    def aligned(self, end: Any) -> Scalar:
        """Return a number that is positive if no axis is turned by more than a right angle.

        Args:
            end: pose of ``second``, or positions of ``coordinates``.

        Returns:
            The number.
        """
        del end
        return 1

    def held(self, end: Any, moving: Any) -> list[Scalar]:
        """Return the components of a velocity that the constraint does not allow.

        Args:
            end: pose of ``second``, or positions of ``coordinates``.
            moving: velocity of ``second``, or of ``coordinates``.

        Returns:
            One component per equation.
        """
        raise NotImplementedError

    def drift(self, end: Any, moving: Any, accelerating: Any) -> list[Scalar]:
        """Return the rates of ``held`` at an acceleration, including those from moving directions and points.

        Args:
            end: pose of ``second``, or positions of ``coordinates``.
            moving: velocity of ``second``, or of ``coordinates``.
            accelerating: acceleration of ``second``, or of ``coordinates``.

        Returns:
            One rate per equation.
        """
        raise NotImplementedError

    @property
    def always(self) -> ConstraintKind:
        """The constraint that holds while the switch is on; it has the equations."""
        return self

    @property
    def scales(self) -> list[float]:
        """Factors of its equations for which the shortest multipliers are the smallest forces."""
        return [1.0] * len(self.rows)

    @property
    def points(self) -> list[tuple[float, float]]:
        """Contact points, in x and y of its frame, m."""
        return [(0.0, 0.0)]

    @property
    def at_point(self) -> ConstraintKind:
        """The same contact at one of its ``points`` alone."""
        return self

    def tips(self, centre: np.ndarray) -> np.ndarray:
        """Return whether a contact tips over.

        Args:
            centre: centres of pressure (..., 2), in x and y of its frame, m.

        Returns:
            Booleans (...).
        """
        return np.zeros(centre.shape[:-1], bool)

    @property
    def slip_directions(self) -> dict[str, tuple[float, float]]:
        """The equations of a contact against slip: row -> components of its direction along and across."""
        return {}

    def lean(self, end: Any) -> tuple[Scalar, Scalar] | None:
        """Return the components of the axle along the plane, which must not vanish.

        Args:
            end: pose of ``second``, or positions of ``coordinates``.

        Returns:
            Two components; None without an axle.
        """
        del end

    def gap(self, label: str, size: float) -> tuple[str, str]:
        """Return the message for a constraint that cannot be satisfied.

        Args:
            label: its name in messages.
            size: of the smallest residual, m or rad.

        Returns:
            The message, and a fix if it has a special one.
        """
        return f"{label} stays open by {size:.2g} at best", ""

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        """Check its values and its place in a robot.

        Args:
            description: of the robot.
            constraint: with its frames.

        Returns:
            What is wrong.
        """
        del description, constraint
        yield from self.faults()


def kinds_in(section: str) -> dict[str, type[ConstraintKind]]:
    """Return the kinds that a table of files may list, by name."""
    return {name: kind for name, kind in ConstraintKind.known.items() if kind.section == section}


def in_words(kinds: Iterable[ConstraintKind]) -> str:
    """Count constraints by kind: "1 loop, 4 wheels, 1 gear"."""
    counts = Counter((kind.word, kind.plural) for kind in kinds)
    return ", ".join(f"{count} {plural if count > 1 else word}" for (word, plural), count in counts.items())
