"""ConstraintKind: what a constraint between two frames, or between joints, answers for itself.

Its equations hold over any scalar. Everything is seen from the frame ``first`` and in its axes; ``end`` is where
``second`` is, and motions are those of ``second``. An equation holds velocities; most come from one that holds
positions, and those that do not (a wheel that does not slip) have no residual. Of a kind that ties coordinates rather
than frames, ``end`` are their positions and motions are their velocities, in the order of ``coordinates``.
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

ALONG_AND_ACROSS = {"along": (1.0, 0.0), "across": (0.0, 1.0)}


@dataclass(frozen=True)
class End:
    """One of the two frames of a constraint in files: its ``key``, empty if files do not give it.

    ``ground``: it is on the ground by default. ``named``: it is a link or frame by name, not a placement in a link.
    """

    key: str = ""
    ground: bool = False
    named: bool = False
    what: str = "{link: its name, ...} or {frame: its name}"


@dataclass(frozen=True)
class ConstraintKind(Element):
    """A kind of constraint: a frozen dataclass whose fields are its numbers.

    name          in files, where it is listed in the table ``section``
    word, plural  what one and several are called in messages and counts
    default       is it the kind of a row that names none?
    first, second how files give its frames
    closes_loop   does it join two links as a joint does, where a loop was cut?
    switched      is it on or off, by an input, rather than always on?
    touches       does it bear on a plane, z = 0 of ``first``, so that its rows are a load and friction?
    load          the row of what touches along the normal of the plane
    shows_ground  does that plane show where the ground is?
    friction      the coefficient of a contact, beyond which it would slip
    restitution   the share of the velocity along the normal with which a contact with a switch bounces
    rows          names of the equations, with r for turns
    lacks         what to do about keys of its section that it does not have
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
    load: ClassVar[str] = "normal"
    shows_ground: ClassVar[bool] = False
    lacks: ClassVar[dict[str, str]] = {}
    known: ClassVar[dict[str, type[ConstraintKind]]] = {}  # all kinds, by name

    friction = float("inf")  # without annotations, which would put them before the fields of kinds that have more
    restitution = 0.0

    def __init_subclass__(cls, *, name: str = "", word: str = "", plural: str = "", **own: Any):
        super().__init_subclass__(**own)
        if name:
            cls.name, cls.word = name, word or name
            cls.plural = plural or f"{cls.word}s"
            ConstraintKind.known[name] = cls

    @property
    def rows(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Which equations hold positions."""
        return (True,) * len(self.rows)

    @property
    def turning(self) -> tuple[bool, ...]:
        """Which equations hold turns, in radians; the others hold shifts."""
        return (False,) * len(self.rows)

    @property
    def holds_turns(self) -> bool:
        return any(self.turning)

    @property
    def reach(self) -> float:
        """How far it reaches from the origin of ``second``, in m."""
        return 0.0

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Entries of velocities that it ties together rather than frames."""
        return ()

    def locked(self, positions: Mapping[str, float]) -> ConstraintKind | None:
        """The same where some of its ``coordinates`` stand still at these positions; None if nothing is left to tie."""
        del positions
        return self

    def residual(self, end: Any) -> list[Scalar]:
        """By how much it is open: metres and, for small ones, radians; zero of equations that hold no positions."""
        raise NotImplementedError

    def aligned(self, end: Any) -> Scalar:
        """A number that is positive if no axis, and no frame, is turned by more than a right angle."""
        del end
        return 1

    def held(self, end: Any, moving: Any) -> list[Scalar]:
        """The components of a motion that it does not allow."""
        raise NotImplementedError

    def drift(self, end: Any, moving: Any, accelerating: Any) -> list[Scalar]:
        """Rates of what is held: those of an acceleration, and of directions and points that move with ``moving``."""
        raise NotImplementedError

    @property
    def always(self) -> ConstraintKind:
        """The same constraint without its switch, which has the equations."""
        return self

    @property
    def scales(self) -> list[float]:
        """Factors of its equations with which the shortest multipliers are the least forces."""
        return [1.0] * len(self.rows)

    @property
    def points(self) -> list[tuple[float, float]]:
        """Where it touches the ground, in x and y of its frame."""
        return [(0.0, 0.0)]

    @property
    def at_point(self) -> ConstraintKind:
        """The same where it touches by one of its ``points`` alone."""
        return self

    def tips(self, centre: np.ndarray) -> np.ndarray:
        """Whether it tips over under centres of pressure (..., 2) in x and y of its frame."""
        return np.zeros(centre.shape[:-1], bool)

    @property
    def slip_directions(self) -> dict[str, tuple[float, float]]:
        """The equations of a contact that hold slip: the parts of their directions along and across."""
        return {row: parts for row, parts in ALONG_AND_ACROSS.items() if row in self.rows}

    def lean(self, end: Any) -> tuple[Scalar, Scalar] | None:
        """The axle along the plane, which must not vanish; None if it has none."""
        del end

    def gap(self, called: str, size: float) -> tuple[str, str]:
        """What to say if it stays open by ``size`` at best, and a fix, if it has one of its own."""
        return f"{called} stays open by {size:.2g} at best", ""

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        """What is wrong with its values and its place in a robot."""
        del description, constraint
        yield from self.faults()


def kinds_in(section: str) -> dict[str, type[ConstraintKind]]:
    """The kinds that a table of files may list, by name."""
    return {name: kind for name, kind in ConstraintKind.known.items() if kind.section == section}


def in_words(kinds: Iterable[ConstraintKind]) -> str:
    """How many there are of each: 1 loop, 4 wheels, 1 gear."""
    counts = Counter((kind.word, kind.plural) for kind in kinds)
    return ", ".join(f"{count} {plural if count > 1 else word}" for (word, plural), count in counts.items())
