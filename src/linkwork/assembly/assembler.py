"""Assembling a robot with loops: positions of all joints from those of some, batched, by native Newton steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from ..constraints import ConstraintEquations, determines
from ..constraints.equations import in_loops
from ..constraints.independent_rows import NOTHING, ROUNDINGS, closing_jacobian, lengths
from ..constraints.legs import LegSolver
from ..constraints.projection import search
from ..errors import LinkworkError, ShapeError, UnsupportedError
from ..function import Function
from ..model import Coordinates, Model
from ..model.coordinates import real_numbers
from .steps import NEWTON, STRIDE, judge_function, newton_function, step_function, stride_function, unit_function

PLAIN, FLOAT = {float, int, np.float64}, np.dtype(float)
TAKEN, TRUE, FALSE = np.int64(NEWTON), np.True_, np.False_
OPEN = 1e-6  # metres and radians: a guess that is open by less is a position of the mechanism, and followed from
SINGULAR = 1e-5  # of the conditioning
SLACK = 10  # times the residual that is left at home
BITS = 8  # of rounding
SHORTEST = 1e-6  # of the longest stride: shorter ones are not tried
TURN = 0.5  # of the Jacobian, relative: from one on it may have been singular in between


@dataclass(frozen=True)
class Assembly:
    """What ``Robot.assemble`` found, for each position asked for.

    ``q``: positions of all joints, NaN where there is no answer. ``solved``: whether there is one. ``singular``: the
    loops are closed, but the known joints do not determine the others. ``lost``: they are closed at ``nearest``, but
    a singular position stands on the way from home (or from a closed guess), so it may be another way of assembly.
    ``residual``: by how much the loops are open at ``nearest``, the best positions found. ``conditioning``: how well
    the other joints are determined there, from 0 (singular) to 1. ``iterations``: Newton steps taken. Of one position
    they are NumPy's scalars, but for the arrays ``q`` and ``nearest``.
    """

    q: np.ndarray
    solved: np.ndarray
    singular: np.ndarray
    lost: np.ndarray
    residual: np.ndarray
    conditioning: np.ndarray
    iterations: np.ndarray
    nearest: np.ndarray
    robot: str = ""

    def require(self) -> np.ndarray:
        """``q`` if every position was solved; an error that tells the others apart if not."""
        if np.all(self.solved):
            return self.q
        unsolved, singular, lost = (int(np.sum(each)) for each in (~self.solved, self.singular, self.lost))
        reach = f"{unsolved - singular - lost} out of reach (loops open by up to {np.max(self.residual):.3g})"
        raise LinkworkError(
            f"{unsolved} of {self.solved.size} positions cannot be assembled",
            where=f"robot {self.robot!r}",
            got=f"{reach}, {singular} singular, {lost} beyond a singular position, where the way of home is lost",
            fix="look at .solved, .lost, .residual and .nearest; a guess in the way of assembly that you want may help",
        )


class Assembler:
    """Finds the positions of all joints from those ``known``: names of joints, as many as there are freedoms."""

    def __init__(self, model: Model, known: Sequence[str] | None = None):
        if not model.constrained:
            raise UnsupportedError(
                "there is nothing to assemble: the robot has no loops",
                where=f"robot {model.name!r}",
                fix="use q as it is",
            )
        self.model = model
        self.known = located = model.mobility.configuration
        if known is not None:
            self.known = tuple(sorted({k for name in known for k in model.joint_freedoms(name)}))
        if len(self.known) != len(located) or not determines(model, self.known):
            raise LinkworkError(
                "these joints do not determine the positions of the others",
                where=f"robot {model.name!r}",
                got=f"{', '.join(self.names) or 'none'} ({len(self.known)} freedoms)",
                expected=f"{len(located)} freedoms, such as {model.coordinates.of_freedoms(located)}",
            )
        self.legs = LegSolver.of(model) if self.known == model.mobility.independent else None  # in closed form

    @cached_property
    def newton(self) -> Function:
        return newton_function(self.model, self.known, self.places, self.legs)

    @cached_property
    def judge(self) -> Function:
        return judge_function(self.model, self.known)

    @cached_property
    def stride(self) -> Function:
        return stride_function(self.model, self.known, self.places, self._aside)

    @cached_property
    def _unit(self) -> Function | None:
        """Makes quaternions among the known positions unit ones, if there are any."""
        return unit_function(self.given, self.model.name) if self.given.quaternions else None

    @cached_property
    def step(self) -> Function:
        return step_function(self.model, self.known)

    @cached_property
    def tolerance(self) -> float:
        """Rounded numbers may keep redundant equations from agreeing; they leave a residual at home, too. Far from the
        origin, and of large robots, all positions are rounded."""
        equations = ConstraintEquations.closing(self.model, self.model.home)
        return max(1e-12, SLACK * float(np.linalg.norm(equations.residual)), ROUNDINGS * lengths(equations)[1])

    @cached_property
    def _rounding(self) -> float:
        """What the last bits of positions do to the residual, by the size of these: turned a long way, they are large
        numbers."""
        slopes = ConstraintEquations.closing(self.model, self.model.home).J
        return BITS * float(np.finfo(float).eps * np.abs(slopes).max(initial=1.0))

    @cached_property
    def given(self) -> Coordinates:
        """Of the joints whose positions are known. One that is known in part keeps that part of the guess."""
        return self.model.coordinates.whole(self.known)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.given.positions.joints

    @cached_property
    def places(self) -> list[int]:
        """Where the known positions stand in q."""
        return self.model.coordinates.places(self.names)

    @cached_property
    def _aside(self) -> list[int]:
        """Places of those whose joints are in no loop, such as a moving base, among the known positions."""
        within = in_loops(self.model)
        joints = zip(self.given.joints, self.given.position_ranges, strict=True)
        return [k for joint, own in joints if joint.name not in within for k in own]

    @cached_property
    def _bending(self) -> list[int]:
        """Entries of a way of the known joints that change the Jacobian, themselves or by unknown ones that they move:
        not those of wheels and gears, which may turn a long way at once."""
        model, n = self.model, self.model.coordinates.nv
        somewhere = model.moved(model.home, np.random.default_rng(0).normal(size=n).tolist())
        J = closing_jacobian(model, np.array(somewhere))
        ahead = [closing_jacobian(model, np.array(model.moved(somewhere, unit))) for unit in np.eye(n).tolist()]
        bends, held = {k for k, other in enumerate(ahead) if np.abs(other - J).max() > NOTHING}, J != 0
        found = []
        for entry, k in enumerate(k for joint in self.given.joints for k in model.joint_freedoms(joint.name)):
            moved = {k}
            while more := {*np.flatnonzero(held[held[:, [*moved]].any(axis=1)].any(axis=0))} - moved - {*self.known}:
                moved |= more
            found += [entry] if moved & bends else []
        return found

    def __call__(
        self, known: Any, guess: Any = None, tolerance: float | None = None, iterations: int = 100
    ) -> Assembly:
        model, places = self.model, self.places
        limit = self.tolerance if tolerance is None else _tolerance(tolerance)
        if (one := self._one(known, guess, limit)) is not None:
            return one
        target = self._positions(known)
        start = np.array(model.home) if guess is None else self._guess(guess, target.shape[:-1])
        batch = np.broadcast_shapes(target.shape[:-1], start.shape[:-1])
        q = np.array(np.broadcast_to(start, (*batch, model.nq))).reshape(-1, model.nq)
        goal = np.array(np.broadcast_to(target, (*batch, len(places)))).reshape(len(q), len(places))
        if tolerance is None:
            limit += self._rounding * float(np.abs(goal).max(initial=0.0))
        with np.errstate(all="ignore"):
            if self.legs is None:
                begun = guess is None or self._told(q)[0] <= OPEN
                q, (residual, wrong, conditioning), steps, lost = self._follow(q, goal, begun, limit, iterations)
            else:
                q[:, places] = goal
                q, (residual, wrong, conditioning), steps, lost = self._solve(q, limit, iterations)
        closed = (residual <= limit) & (wrong == 0)
        singular = closed & ~(conditioning >= SINGULAR)
        lost = lost & closed & ~singular
        solved = closed & ~singular & ~lost
        answer = q.copy() if solved.all() else np.where(solved[:, None], q, np.nan)
        conditioning = np.where(conditioning > 0, conditioning, 0.0)  # not a number where it is exactly singular
        found = (answer, solved, singular, lost, residual, conditioning, steps, q)
        return Assembly(*(x.reshape(batch + x.shape[1:])[()] for x in found), robot=model.name)

    def _one(self, known: Any, guess: Any, tolerance: float) -> Assembly | None:
        """One position in plain numbers, if one stride or a few plain Newton steps do for it; it is for ``__call__`` to
        look closer at everything else. The bits are the same, and there is little Python on the way to them."""
        goal, start = _row(known), self._home if guess is None else _row(guess)
        if goal is None or start is None or (goal.shape, start.shape) != self._shapes or not self._short:
            return None
        if self.legs is None:
            found = self.stride(start, goal)
            *_, given, open_by, far, turn, residual, wrong, conditioning = found.tolist()
            if guess is None or open_by <= OPEN:
                if far != 0 or not turn <= TURN:
                    return None
            else:
                found = self.newton(start, goal)
                *_, given, residual, wrong, conditioning = found.tolist()
        else:
            found = self.newton(start, goal if self._unit is None else self._unit(goal))
            *_, given, residual, wrong, conditioning = found.tolist()
        if not (residual <= tolerance and wrong == 0 and conditioning >= SINGULAR and isfinite(given)):
            return None
        q, one = found[: start.size], object.__new__(Assembly)
        fields = {
            "q": q, "solved": TRUE, "singular": FALSE, "lost": FALSE, "residual": found[-3],
            "conditioning": found[-1], "iterations": TAKEN, "nearest": q.copy(), "robot": self.model.name,
        }  # fmt: skip
        object.__setattr__(one, "__dict__", fields)  # a frozen class sets one after the other, which takes a while
        return one

    @cached_property
    def _home(self) -> np.ndarray:
        return np.array(self.model.home)

    @cached_property
    def _shapes(self) -> tuple[tuple[int], tuple[int]]:
        return (len(self.places),), (self.model.nq,)

    @cached_property
    def _short(self) -> bool:
        """Whether ``_one`` can tell the way between two positions, and calls without NumPy, which would warn of what
        ``__call__`` is about to find words for."""
        within = in_loops(self.model)
        straight = all(joint.kind.straight for joint in self.given.joints if joint.name in within)
        functions = (self.newton, self.stride if self.legs is None else self._unit)
        return (straight or self.legs is not None) and all(f is None or f.calls == "direct" for f in functions)

    def _guess(self, guess: Any, batch: tuple[int, ...]) -> np.ndarray:
        where, nq = f"assemble {self.model.name!r}", self.model.nq
        start = numbers(guess, f"{where}, guess")
        if start.shape[-1:] != (nq,):
            expected = f"(..., {nq}): positions of all joints"
            raise ShapeError("this guess does not fit", where=where, got=start.shape, expected=expected)
        try:
            np.broadcast_shapes(batch, start.shape[:-1])
        except ValueError:
            expected = f"batch axes that fit {batch}"
            raise ShapeError("this guess does not fit", where=where, got=start.shape, expected=expected) from None
        return start

    def _positions(self, known: Any) -> np.ndarray:
        layout = self.given.positions
        if isinstance(known, Mapping):
            if {*known} - {*layout.joints, *layout.names}:
                got = ", ".join(map(str, known))
                raise ShapeError("other joints", where="assemble", got=got, expected=str(layout))
            known = layout.to_array(known, "assemble", numbers)
        target = numbers(known, f"assemble {self.model.name!r}")
        if target.shape[-1:] != (layout.size,):
            raise ShapeError(
                "wrong number of known positions",
                where=f"assemble {self.model.name!r}",
                got=target.shape,
                expected=f"(..., {layout.size}): {layout}",
            )
        normalised = self.given.normalised(target)  # says what cannot be
        return normalised if self._unit is None else self._unit(target)

    def _follow(
        self, q: np.ndarray, goal: np.ndarray, begun: Any, tolerance: float, iterations: int
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
        """As ``_solve``, along the shortest way from closed positions ``q`` to the goal (where they have ``begun``).

        A stride counts if Newton's steps close the loops from where the tangent leads, and the Jacobian of the unknown
        joints has turned so little that it was singular nowhere between; if not, a shorter one is tried.
        """
        begin, end = q[:, self.places], goal
        if self._aside:
            begin[:, self._aside] = end[:, self._aside]
            q[:, self.places] = begin
        way = self.given.difference(begin, end)
        if not all(joint.kind.straight for joint in self.given.joints):
            end = self.given.integrate(begin, way)  # the same place by other numbers: whole turns, a quaternion's sign
        size = np.abs(way).max(axis=-1, initial=0.0)
        if (size > STRIDE).any():
            size = np.abs(way[:, self._bending]).max(axis=-1, initial=0.0)
        if np.all(begun) and (size <= STRIDE).all():  # most often one stride does for all
            near, told, _, good = self._strode(q, end, tolerance)
            if good.all():
                near[:, self.places] = goal
                return near, told, np.full(len(q), NEWTON), ~good
        longest = STRIDE / np.maximum(size, STRIDE)
        done, length, steps = np.zeros(len(q)), longest.copy(), np.zeros(len(q), int)
        told = [np.full(len(q), np.nan) for _ in range(3)]
        todo = np.flatnonzero(np.broadcast_to(begun, len(q)))
        while todo.size:
            ahead = np.minimum(done[todo] + length[todo], 1.0)
            between = self.given.integrate(begin[todo], way[todo] * ahead[:, None])
            target = np.where(ahead[:, None] == 1, end[todo], between)
            near, found, turn, good = self._strode(q[todo], target, tolerance)
            change = np.clip(0.7 * TURN / turn, 0.25, 2.0)  # the turn grows with the stride
            change[~good] = np.fmin(change[~good], 0.5)
            length[todo] = np.minimum(length[todo] * change, longest[todo])
            on = todo[good]
            q[on], done[on] = near[good], ahead[good]
            for values, value in zip(told, found, strict=True):
                values[on] = value[good]
            steps[todo] += NEWTON
            todo = todo[(done[todo] < 1) & (length[todo] > SHORTEST * longest[todo])]
        q[:, self.places] = goal
        lost = done < 1
        if lost.any():
            rest = np.flatnonzero(lost)
            q[rest], others, more, _ = self._solve(q[rest], tolerance, iterations)
            for values, value in zip(told, others, strict=True):
                values[rest] = value
            steps[rest] += more
        return q, told, steps, lost & begun

    def _strode(
        self, q: np.ndarray, target: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
        """Positions after a stride, what is to be said of them, by how much the Jacobian turned, and if it counts."""
        found = self.stride(q, target)
        near, (turn, residual, wrong, conditioning) = found[:, : self.model.nq], found[:, -4:].T
        good = (residual <= tolerance) & (wrong == 0) & (turn <= TURN) & (conditioning >= SINGULAR)
        return near, [residual, wrong, conditioning], turn, good

    def _solve(
        self, q: np.ndarray, tolerance: float, iterations: int
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
        """Positions near ``q`` that close the loops, what is to be said of them, the steps it took, and whether legs
        have left their way of assembly.

        Most are a few plain Newton steps away, which is one call; the others go the careful way.
        """
        found = self.newton(q, q[:, self.places])
        near, told = found[:, : self.model.nq], [*found[:, -3:].T]
        steps, lost = np.full(len(q), NEWTON), np.zeros(len(q), bool)
        rest = np.flatnonzero(~(told[0] <= tolerance) | (told[1] != 0))
        if rest.size:
            start = q[rest] if self.legs is None else self.legs(q[rest])
            near[rest], steps[rest] = search(self.step, start, tolerance, iterations)
            for values, found in zip(told, self._told(near[rest]), strict=True):
                values[rest] = found
            if self.legs is not None:
                lost[rest] = self.legs.differ(start, near[rest])
        return near, told, steps, lost

    def _told(self, q: np.ndarray) -> list[np.ndarray]:
        """Residual, zero unless an axis points the wrong way, conditioning."""
        return [*self.judge(q).T]


def _row(value: Any) -> np.ndarray | None:
    """A plain vector; None of what has to be looked at."""
    if type(value) is np.ndarray:
        return value if value.dtype is FLOAT else None
    if type(value) in (list, tuple) and {*map(type, value)} <= PLAIN:
        return np.array(value, float)
    return None


def _tolerance(value: Any) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 <= value < np.inf:
        expected = "a number, zero or more, in metres and radians"
        raise ShapeError("out of range", where="assemble, tolerance", got=value, expected=expected)
    return float(value)


def numbers(value: Any, where: str) -> np.ndarray:
    """A finite array."""
    array = real_numbers(value, where)
    if not np.isfinite(array).all():
        raise ShapeError("the numbers must be finite", where=where, got="NaN or infinity")
    return array
