"""Assembly of a robot with loops: positions of all joints from those of some, in batches, by Newton steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from ..constraints import ConstraintEquations
from ..constraints.assembly_loop import closing_tolerance, known_freedoms
from ..constraints.equations import in_loops
from ..constraints.independent_rows import NOTHING, closing_jacobian
from ..constraints.legs import LegSolver
from ..constraints.projection import search
from ..errors import LinkworkError, ShapeError
from ..function import Function
from ..model import Coordinates, Model
from ..model.coordinates import real_numbers
from .steps import NEWTON, STRIDE, evaluate_function, newton_function, step_function, stride_function, unit_function

PLAIN, FLOAT = {float, int, np.float64}, np.dtype(float)
STEPS, TRUE, FALSE = np.int64(NEWTON), np.True_, np.False_
OPEN = 1e-6  # metres and radians: a guess with a smaller residual is a closed position, from which to continue
SINGULAR = 1e-5  # conditioning below which a position is singular
BITS = 8  # factor on the rounding error of positions
SHORTEST = 1e-6  # shortest stride, relative to the longest
TURN = 0.5  # largest relative change of the Jacobian in a stride; from 1 on it may have been singular in between


@dataclass(frozen=True)
class Assembly:
    """Result of ``Robot.assemble``, for each requested position.

    For a single position, all but ``q`` and ``nearest`` are NumPy scalars.

    Attributes:
        q: Positions of all joints, (..., nq); NaN where there is no solution.
        solved: Whether there is a solution.
        singular: The loops are closed at ``nearest``, but the known joints do not determine the others.
        lost: The loops are closed at ``nearest``, but a singular position lies between it and home (or a closed guess),
            so that it may be another assembly mode.
        residual: Residual of the loops at ``nearest``, in m and rad.
        conditioning: How well the known joints determine the others at ``nearest``, from 0 (singular) to 1.
        iterations: Number of Newton steps.
        nearest: Positions of all joints with the smallest residual, (..., nq).
        robot: Name of the robot, for messages.

    Example:
        >>> four_bar = linkwork.load("four-bar")
        >>> assembly = four_bar.assemble([[0.5], [0.6]])
        >>> assembly.solved, assembly.q.shape
        (array([ True,  True]), (2, 3))
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
        """Return ``q`` if every position was solved.

        Returns:
            Positions of all joints, (..., nq).

        Raises:
            LinkworkError: Some positions are out of reach, singular or in another assembly mode; it has their numbers.
        """
        if np.all(self.solved):
            return self.q
        unsolved, singular, lost = (int(np.sum(each)) for each in (~self.solved, self.singular, self.lost))
        reach = f"{unsolved - singular - lost} out of reach (loops open by up to {np.max(self.residual):.3g})"
        raise LinkworkError(
            f"{unsolved} of {self.solved.size} positions cannot be assembled",
            where=f"robot {self.robot!r}",
            got=f"{reach}, {singular} singular, {lost} beyond a singular position, perhaps in another assembly mode",
            fix="check .solved, .lost, .residual and .nearest; give a guess in the assembly mode that you want",
        )


class Assembler:
    """Solver for the positions of all joints from those of the ``known`` ones.

    Args:
        model: The robot, with loops.
        known: Names of joints that together have as many dofs as the robot. Default: the independent joints.
    """

    def __init__(self, model: Model, known: Sequence[str] | None = None):
        self.model, self.known = model, known_freedoms(model, known, model.mobility.configuration)
        self.legs = LegSolver.of(model) if self.known == model.mobility.independent else None  # solved in closed form

    @cached_property
    def newton(self) -> Function:
        """Native plain Newton steps."""
        return newton_function(self.model, self.known, self.places, self.legs)

    @cached_property
    def evaluate(self) -> Function:
        """Native residual, alignment and conditioning of positions."""
        return evaluate_function(self.model, self.known)

    @cached_property
    def stride(self) -> Function:
        """Native step along the solution curve."""
        return stride_function(self.model, self.known, self.places, self._outside)

    @cached_property
    def _unit(self) -> Function | None:
        """Native normalisation of the quaternions among the known positions; None if there are none."""
        return unit_function(self.coordinates, self.model.name) if self.coordinates.quaternions else None

    @cached_property
    def step(self) -> Function:
        """Native damped step."""
        return step_function(self.model, self.known)

    @cached_property
    def tolerance(self) -> float:
        """Default tolerance of the residual, in m and rad."""
        return closing_tolerance(self.model)

    @cached_property
    def _rounding(self) -> float:
        """Effect of rounding errors of positions on the residual, per unit of position."""
        slopes = ConstraintEquations.closing(self.model, self.model.home).J
        return BITS * float(np.finfo(float).eps * np.abs(slopes).max(initial=1.0))

    @cached_property
    def coordinates(self) -> Coordinates:
        """Coordinates of the known joints, with all their dofs."""
        return self.model.coordinates.whole(self.known)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the known joints."""
        return self.coordinates.positions.joints

    @cached_property
    def places(self) -> list[int]:
        """Indices of the known positions in q."""
        return self.model.coordinates.places(self.names)

    @cached_property
    def _outside(self) -> list[int]:
        """Indices, among the known positions, of joints outside all loops, such as a moving base."""
        inside = in_loops(self.model)
        joints = zip(self.coordinates.joints, self.coordinates.position_ranges, strict=True)
        return [k for joint, entries in joints if joint.name not in inside for k in entries]

    @cached_property
    def _bending(self) -> list[int]:
        """Entries of a displacement of the known joints that change the Jacobian, directly or by joints that they move.

        Wheels and gears do not: they may turn by any angle in one stride.
        """
        model, n = self.model, self.model.coordinates.nv
        somewhere = model.moved(model.home, np.random.default_rng(0).normal(size=n).tolist())
        J = closing_jacobian(model, np.array(somewhere))
        ahead = [closing_jacobian(model, np.array(model.moved(somewhere, unit))) for unit in np.eye(n).tolist()]
        bends, coupled = {k for k, other in enumerate(ahead) if np.abs(other - J).max() > NOTHING}, J != 0
        entries = []
        for entry, k in enumerate(k for joint in self.coordinates.joints for k in model.joint_freedoms(joint.name)):
            moved = {k}
            while (
                more := {*np.flatnonzero(coupled[coupled[:, [*moved]].any(axis=1)].any(axis=0))} - moved - {*self.known}
            ):
                moved |= more
            entries += [entry] if moved & bends else []
        return entries

    def __call__(
        self, known: Any, guess: Any = None, tolerance: float | None = None, iterations: int = 100
    ) -> Assembly:
        """Solve for positions of all joints; see ``Robot.assemble``."""
        model, places = self.model, self.places
        limit = self.tolerance if tolerance is None else _tolerance(tolerance)
        if (assembly := self._fast_path(known, guess, limit)) is not None:
            return assembly
        target = self._positions(known)
        start = np.array(model.home) if guess is None else self._guess(guess, target.shape[:-1])
        batch = np.broadcast_shapes(target.shape[:-1], start.shape[:-1])
        q = np.array(np.broadcast_to(start, (*batch, model.nq))).reshape(-1, model.nq)
        goal = np.array(np.broadcast_to(target, (*batch, len(places)))).reshape(len(q), len(places))
        if tolerance is None:
            limit += self._rounding * float(np.abs(goal).max(initial=0.0))
        with np.errstate(all="ignore"):
            if self.legs is None:
                closed = guess is None or self._evaluated(q)[0] <= OPEN
                q, (residual, wrong, conditioning), steps, lost = self._follow(q, goal, closed, limit, iterations)
            else:
                q[:, places] = goal
                q, (residual, wrong, conditioning), steps, lost = self._solve(q, limit, iterations)
        closed = (residual <= limit) & (wrong == 0)
        singular = closed & ~(conditioning >= SINGULAR)
        lost = lost & closed & ~singular
        solved = closed & ~singular & ~lost
        answer = q.copy() if solved.all() else np.where(solved[:, None], q, np.nan)
        conditioning = np.where(conditioning > 0, conditioning, 0.0)  # NaN where it is exactly singular
        arrays = (answer, solved, singular, lost, residual, conditioning, steps, q)
        return Assembly(*(x.reshape(batch + x.shape[1:])[()] for x in arrays), robot=model.name)

    def _fast_path(self, known: Any, guess: Any, tolerance: float) -> Assembly | None:
        """Solve for one position with little Python, if one stride or a few Newton steps suffice; else return None.

        The bits are those of the general way in ``__call__``.
        """
        goal, start = _row(known), self._home if guess is None else _row(guess)
        if goal is None or start is None or (goal.shape, start.shape) != self._shapes or not self._has_fast_path:
            return None
        if self.legs is None:
            result = self.stride(start, goal)
            *_, finite, gap, far, turn, residual, wrong, conditioning = result.tolist()
            if guess is None or gap <= OPEN:
                if far != 0 or not turn <= TURN:
                    return None
            else:
                result = self.newton(start, goal)
                *_, finite, residual, wrong, conditioning = result.tolist()
        else:
            result = self.newton(start, goal if self._unit is None else self._unit(goal))
            *_, finite, residual, wrong, conditioning = result.tolist()
        if not (residual <= tolerance and wrong == 0 and conditioning >= SINGULAR and isfinite(finite)):
            return None
        q, assembly = result[: start.size], object.__new__(Assembly)
        fields = {
            "q": q, "solved": TRUE, "singular": FALSE, "lost": FALSE, "residual": result[-3],
            "conditioning": result[-1], "iterations": STEPS, "nearest": q.copy(), "robot": self.model.name,
        }  # fmt: skip
        object.__setattr__(assembly, "__dict__", fields)  # the constructor of a frozen class is slower
        return assembly

    @cached_property
    def _home(self) -> np.ndarray:
        return np.array(self.model.home)

    @cached_property
    def _shapes(self) -> tuple[tuple[int], tuple[int]]:
        return (len(self.places),), (self.model.nq,)

    @cached_property
    def _has_fast_path(self) -> bool:
        """Whether the fast path applies: positions differ by subtraction, and functions are called without NumPy, which
        would warn before ``__call__`` raises an error."""
        inside = in_loops(self.model)
        straight = all(joint.kind.straight for joint in self.coordinates.joints if joint.name in inside)
        functions = (self.newton, self.stride if self.legs is None else self._unit)
        return (straight or self.legs is not None) and all(f is None or f.calls == "direct" for f in functions)

    def _guess(self, guess: Any, batch: tuple[int, ...]) -> np.ndarray:
        """Check a guess."""
        where, nq = f"assemble {self.model.name!r}", self.model.nq
        start = finite_array(guess, f"{where}, guess")
        expected = "" if start.shape[-1:] == (nq,) else f"(..., {nq}): positions of all joints"
        try:
            np.broadcast_shapes(batch, start.shape[:-1])
        except ValueError:
            expected = expected or f"batch axes that fit {batch}"
        if expected:
            raise ShapeError("the guess has a wrong shape", where=where, got=start.shape, expected=expected)
        return start

    def _positions(self, known: Any) -> np.ndarray:
        """Check the known positions; return them with unit quaternions."""
        layout = self.coordinates.positions
        if isinstance(known, Mapping):
            if {*known} - {*layout.joints, *layout.names}:
                got = ", ".join(map(str, known))
                raise ShapeError("these are not the known joints", where="assemble", got=got, expected=str(layout))
            known = layout.to_array(known, "assemble", finite_array)
        target = finite_array(known, f"assemble {self.model.name!r}")
        if target.shape[-1:] != (layout.size,):
            raise ShapeError(
                "wrong number of known positions",
                where=f"assemble {self.model.name!r}",
                got=target.shape,
                expected=f"(..., {layout.size}): {layout}",
            )
        normalised = self.coordinates.normalised(target)  # raises if a quaternion is zero
        return normalised if self._unit is None else self._unit(target)

    def _follow(
        self, q: np.ndarray, goal: np.ndarray, closed: Any, tolerance: float, iterations: int
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
        """Return the results of ``_solve``, by continuation on the shortest path from ``q`` (where closed) to the goal.

        A stride is accepted if Newton steps from the end of the tangent close the loops, and the Jacobian of the
        unknown joints changed so little that it was not singular in between. Otherwise a shorter stride is tried.
        """
        begin, end = q[:, self.places], goal
        if self._outside:
            begin[:, self._outside] = end[:, self._outside]
            q[:, self.places] = begin
        path = self.coordinates.difference(begin, end)
        if not all(joint.kind.straight for joint in self.coordinates.joints):
            end = self.coordinates.integrate(begin, path)  # the same position up to whole turns and a quaternion's sign
        size = np.abs(path).max(axis=-1, initial=0.0)
        if (size > STRIDE).any():
            size = np.abs(path[:, self._bending]).max(axis=-1, initial=0.0)
        if np.all(closed) and (size <= STRIDE).all():  # in most cases one stride suffices
            near, quality, _, good = self._take_stride(q, end, tolerance)
            if good.all():
                near[:, self.places] = goal
                return near, quality, np.full(len(q), NEWTON), ~good
        longest = STRIDE / np.maximum(size, STRIDE)
        done, length, steps = np.zeros(len(q)), longest.copy(), np.zeros(len(q), int)
        quality = [np.full(len(q), np.nan) for _ in range(3)]
        todo = np.flatnonzero(np.broadcast_to(closed, len(q)))
        while todo.size:
            ahead = np.minimum(done[todo] + length[todo], 1.0)
            between = self.coordinates.integrate(begin[todo], path[todo] * ahead[:, None])
            target = np.where(ahead[:, None] == 1, end[todo], between)
            near, stride_quality, turn, good = self._take_stride(q[todo], target, tolerance)
            change = np.clip(0.7 * TURN / turn, 0.25, 2.0)  # the change of the Jacobian is proportional to the stride
            change[~good] = np.fmin(change[~good], 0.5)
            length[todo] = np.minimum(length[todo] * change, longest[todo])
            accepted = todo[good]
            q[accepted], done[accepted] = near[good], ahead[good]
            for values, value in zip(quality, stride_quality, strict=True):
                values[accepted] = value[good]
            steps[todo] += NEWTON
            todo = todo[(done[todo] < 1) & (length[todo] > SHORTEST * longest[todo])]
        q[:, self.places] = goal
        lost = done < 1
        if lost.any():
            rest = np.flatnonzero(lost)
            q[rest], rest_quality, more, _ = self._solve(q[rest], tolerance, iterations)
            for values, value in zip(quality, rest_quality, strict=True):
                values[rest] = value
            steps[rest] += more
        return q, quality, steps, lost & closed

    def _take_stride(
        self, q: np.ndarray, target: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
        """Return positions after a stride, their quality, the change of the Jacobian, and whether it is accepted."""
        result = self.stride(q, target)
        near, (turn, residual, wrong, conditioning) = result[:, : self.model.nq], result[:, -4:].T
        good = (residual <= tolerance) & (wrong == 0) & (turn <= TURN) & (conditioning >= SINGULAR)
        return near, [residual, wrong, conditioning], turn, good

    def _solve(
        self, q: np.ndarray, tolerance: float, iterations: int
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, np.ndarray]:
        """Return positions near ``q`` that close the loops, their quality, steps, and whether legs changed their mode.

        The quality is residual, a number that is zero unless an axis points the wrong way, and conditioning. A few
        plain Newton steps, in one call, suffice for most; damped steps follow for the others.
        """
        result = self.newton(q, q[:, self.places])
        near, quality = result[:, : self.model.nq], [*result[:, -3:].T]
        steps, lost = np.full(len(q), NEWTON), np.zeros(len(q), bool)
        rest = np.flatnonzero(~(quality[0] <= tolerance) | (quality[1] != 0))
        if rest.size:
            start = q[rest] if self.legs is None else self.legs(q[rest])
            near[rest], steps[rest] = search(self.step, start, tolerance, iterations)
            for values, value in zip(quality, self._evaluated(near[rest]), strict=True):
                values[rest] = value
            if self.legs is not None:
                lost[rest] = self.legs.differ(start, near[rest])
        return near, quality, steps, lost

    def _evaluated(self, q: np.ndarray) -> list[np.ndarray]:
        """Quality of positions, as in ``_solve``."""
        return [*self.evaluate(q).T]


def _row(value: Any) -> np.ndarray | None:
    """A vector of floats, or None for values that need checks."""
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


def finite_array(value: Any, where: str) -> np.ndarray:
    """Return an array of finite real numbers, or raise an error."""
    array = real_numbers(value, where)
    if not np.isfinite(array).all():
        raise ShapeError("the numbers must be finite", where=where, got="NaN or infinity")
    return array
