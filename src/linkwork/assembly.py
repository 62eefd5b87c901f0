"""Assembling a robot with loops: positions of all joints from those of some, batched, by native Newton steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .errors import LinkworkError, ShapeError, UnsupportedError
from .formulations import Orthogonal, dot
from .function import Function, Label
from .legs import LegSolver
from .model import Model, closure, determines
from .program import Port, trace
from .program.passes import schedule
from .scalar import sign, sqrt

CLOSE = 1e-2  # below this residual, plain Newton steps
SINGULAR = 1e-5  # of the conditioning
NEWTON = 4  # plain steps taken at once, before anything is looked at
LEAP = 0.5  # radians or metres: a plain step that goes farther may end in another mode of assembly
SLACK = 10  # times the residual that is left at home
STRIDE = 0.25  # radians or metres: how far the known joints go at once on the way from home


@dataclass(frozen=True)
class Assembly:
    """What ``Robot.assemble`` found, for each position asked for.

    ``q``: positions of all joints, NaN where there is no answer. ``solved``: whether there is one. ``singular``: the
    loops are closed, but the known joints do not determine the others. ``residual``: by how much the loops are open at
    ``nearest``, the best positions found. ``conditioning``: how well the other joints are determined there, from 0
    (singular) to 1. ``iterations``: Newton steps taken.
    """

    q: np.ndarray
    solved: np.ndarray
    singular: np.ndarray
    residual: np.ndarray
    conditioning: np.ndarray
    iterations: np.ndarray
    nearest: np.ndarray
    robot: str = ""

    def require(self) -> np.ndarray:
        """``q`` if every position was solved; an error that tells the others apart if not."""
        if np.all(self.solved):
            return self.q
        singular = int(np.sum(self.singular))
        unreachable = int(np.sum(~self.solved)) - singular
        raise LinkworkError(
            f"{unreachable + singular} of {self.solved.size} positions cannot be assembled",
            where=f"robot {self.robot!r}",
            got=f"{unreachable} out of reach (loops open by up to {np.max(self.residual):.3g}), {singular} singular",
            fix="look at .solved, .residual and .nearest; another guess may reach them",
        )


class Assembler:
    """Finds the positions of all joints from those ``known``: names of joints, as many as there are freedoms."""

    def __init__(self, model: Model, known: Sequence[str] | None = None):
        if not model.loops:
            raise UnsupportedError(
                "there is nothing to assemble: the robot has no loops",
                where=f"robot {model.name!r}",
                fix="use q as it is",
            )
        self.model = model
        self.known = model.mobility.independent if known is None else self._freedoms(known)
        if len(self.known) != model.nv or not determines(model, self.known):
            raise LinkworkError(
                "these joints do not determine the positions of the others",
                where=f"robot {model.name!r}",
                got=f"{', '.join(self.names) or 'none'} ({len(self.known)} freedoms)",
                expected=f"{model.nv} freedoms, such as {', '.join(self._names(model.mobility.independent))}",
            )
        self.step = _step_function(model, self.known)
        self.newton, self.state = (_newton_function(model, self.known, steps) for steps in (NEWTON, 0))
        self.legs = LegSolver.of(model) if self.known == model.mobility.independent else None  # in closed form

    @cached_property
    def tolerance(self) -> float:
        """Rounded numbers may keep redundant equations from agreeing; they leave a residual at home, too."""
        model = self.model
        return max(1e-12, SLACK * float(np.linalg.norm(closure.residual(model, model.expand(model.home)))))

    def _freedoms(self, names: Sequence[str]) -> tuple[int, ...]:
        model = self.model
        floating = {model.joint(1).name: range(6)} if model.floating else {}
        return tuple(sorted({k for name in names for k in floating.get(name) or (model.joint_index(name),)}))

    def _names(self, freedoms: Sequence[int]) -> tuple[str, ...]:
        floating = self.model.floating and 0 in freedoms
        return ((self.model.joint(1).name,) if floating else ()) + self.model.names_of(freedoms)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self._names(self.known)

    @cached_property
    def places(self) -> list[int]:
        """Where the known positions stand in q."""
        if not self.model.floating:
            return list(self.known)
        return (list(range(7)) if 0 in self.known else []) + [k + 1 for k in self.known if k >= 6]

    def __call__(
        self, known: Any, guess: Any = None, tolerance: float | None = None, iterations: int = 100
    ) -> Assembly:
        model, places = self.model, self.places
        tolerance = self.tolerance if tolerance is None else tolerance
        target = self._positions(known)
        start = np.array(model.home) if guess is None else self._guess(guess, target.shape[:-1])
        batch = np.broadcast_shapes(target.shape[:-1], start.shape[:-1])
        q = np.array(np.broadcast_to(start, (*batch, model.nq))).reshape(-1, model.nq)
        goal = np.broadcast_to(target, (*batch, len(places))).reshape(len(q), len(places))
        if guess is None and self.legs is None:
            q = self._walk(q, goal, tolerance)
        q[:, places] = goal
        if model.floating and 0 in self.known:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=-1, keepdims=True)
        q, (residual, wrong, conditioning), steps = self._solve(q, tolerance, iterations)
        closed = (residual <= tolerance) & (wrong == 0)
        singular = closed & ~(conditioning >= SINGULAR)
        solved = closed & ~singular
        answer = q.copy() if solved.all() else np.where(solved[:, None], q, np.nan)
        conditioning = np.where(conditioning > 0, conditioning, 0.0)  # not a number where it is exactly singular
        found = (x.reshape(batch + x.shape[1:]) for x in (answer, solved, singular, residual, conditioning, steps, q))
        return Assembly(*found, robot=model.name)

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
        names, places = self.names, self.places
        if isinstance(known, Mapping):
            if set(known) != set(names):
                raise ShapeError(
                    "other joints", where="assemble", got=", ".join(map(str, known)), expected=", ".join(names)
                )
            arrays = [numbers(known[name], f"assemble, {name!r}") for name in names]
            pose = len(places) > len(names)  # of a platform: seven numbers, first
            parts = [np.atleast_1d(x) if pose and k == 0 else x[..., None] for k, x in enumerate(arrays)]
            batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
            known = np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)
        target = numbers(known, f"assemble {self.model.name!r}")
        if target.shape[-1:] != (len(places),):
            raise ShapeError(
                "wrong number of known positions",
                where=f"assemble {self.model.name!r}",
                got=target.shape,
                expected=f"(..., {len(places)}): {', '.join(names)}",
            )
        if self.model.floating and 0 in self.known and not target[..., 3:7].any(axis=-1).all():
            where = f"assemble {self.model.name!r}"
            raise ShapeError("a quaternion is zero", where=where, expected="x, y, z, w of length one")
        return target

    def _walk(self, q: np.ndarray, goal: np.ndarray, tolerance: float) -> np.ndarray:
        """From home towards the goal in strides, so as to stay in home's mode of assembly."""
        home = q[:, self.places].copy()
        way = goal - home
        strides = np.ceil(np.abs(way).max(axis=-1, initial=0.0) / STRIDE)
        for k in range(1, int(strides.max(initial=0.0))):
            on = np.flatnonzero(k < strides)
            at = q[on]
            at[:, self.places] = home[on] + way[on] * (k / strides[on, None])
            q[on] = self._solve(at, tolerance, 4)[0]
        return q

    def _solve(
        self, q: np.ndarray, tolerance: float, iterations: int
    ) -> tuple[np.ndarray, tuple[Any, ...], np.ndarray]:
        """Positions near ``q`` that close the loops, what is to be said of them, and the steps it took.

        Most are a few plain Newton steps away, which is one call; the others go the careful way.
        """
        with np.errstate(all="ignore"):
            near, *told = self.newton(q)
            told, steps = [x[:, 0] for x in told], np.full(len(q), NEWTON)
            rest, far = ~(told[0] <= tolerance), np.abs(near - q) > LEAP
            if far.any():  # sums along short rows are slow
                rest |= far.any(axis=-1)
            rest = np.flatnonzero(rest)
            if rest.size:
                start = q[rest] if self.legs is None else self.legs(q[rest])
                near[rest], steps[rest] = self._search(start, tolerance, iterations)
                for values, found in zip(told, self.state(near[rest])[1:], strict=True):
                    values[rest] = found[:, 0]
        return near, tuple(told), steps

    def _search(self, q: np.ndarray, tolerance: float, iterations: int) -> tuple[np.ndarray, np.ndarray]:
        """Levenberg and Marquardt's steps, Newton's near the solution; states that are done are left alone."""
        best, steps = q.copy(), np.zeros(len(q), int)
        todo, at, damping, least = np.arange(len(q)), q, np.full((len(q), 1), 1e-4), np.full(len(q), np.inf)
        for iteration in range(iterations + 1):
            moved, r = self.step(at, damping)
            square = (r * r).sum(axis=-1)
            better = square <= least
            best[todo[better]], steps[todo[better]] = at[better], iteration
            least = np.where(better, square, least)
            damping = np.where(better[:, None], 0.01 * damping, 100 * np.maximum(damping, 1e-8))
            damping[better & (square < CLOSE**2)] = 0.0
            keep = ~((better & (square <= tolerance**2)) | (damping[:, 0] > 1e12) | ~np.isfinite(square))
            if not keep.any():
                break
            # a step that made it worse is taken again, shorter, from where it began
            worse = keep & ~better
            if worse.any():
                moved[worse] = self.step(best[todo[worse]], damping[worse])[0]
            todo, at, damping, least = todo[keep], moved[keep], damping[keep], least[keep]
        return best, steps


def numbers(value: Any, where: str) -> np.ndarray:
    """A finite array."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError("this is not a rectangular array", where=where, got=error) from error
    if array.dtype.kind not in "fiub":
        raise ShapeError("these are not real numbers", where=where, got=f"dtype {array.dtype}")
    if not np.isfinite(array).all():
        raise ShapeError("the numbers must be finite", where=where, got="NaN or infinity")
    return array.astype(float, copy=False)


def _unknown_columns(model: Model, known: Sequence[int], q: list[Any]) -> list[list[Any]]:
    """Rates of the residual per velocity of each unknown joint."""
    J = model.collect_rows(closure.jacobian(model, model.expand(q)))
    return [[row[k] for row in J] for k in range(model.n_leading) if k not in known]


def _newton_function(model: Model, known: Sequence[int], steps: int) -> Function:
    """Native code that takes plain Newton steps from q and judges where they end: the norm of the residual, a number
    that is zero unless an axis points the wrong way, and the conditioning.

    ||A|| ||A^-1|| is at least the number n of unknowns, and infinite where they are not determined.
    """

    def run(q: list[Any]) -> Mapping[str, Any]:
        for _ in range(steps):
            q = newton_step(model, known, q)
        tree, columns = model.expand(q), _unknown_columns(model, known, q)
        solver, n = Orthogonal(columns), len(columns)
        size = sum((x * x for column in columns for x in column), start=0)
        inverse: Any = 0
        for k in range(n):  # rows of R^-1; the inverse is R^-1 D^-1 Q^T with orthogonal columns of Q
            inverse = inverse + sum(
                (x * x * d for x, d in zip(solver.inverse_row(k), solver.inverse, strict=True)), start=0
            )
        r = closure.residual(model, tree)
        wrong = sum((1 - sign(value) for value in closure.aligned(model, tree)), start=0)
        return {
            "q": q,
            "residual": [sqrt(dot(r, r))],
            "wrong": [wrong],
            "conditioning": [n / sqrt(size * inverse) if n else 1],
        }

    program = schedule(trace("assembly_newton", run, [Port("q", (model.nq,))]))
    return Function(program, Label(model.name, "assembly_newton", ""))


def newton_step(model: Model, known: Sequence[int], q: list[Any]) -> list[Any]:
    """Positions after one of Newton's steps towards closed loops, over any scalar; the known ones stay."""
    solver = Orthogonal(_unknown_columns(model, known, q))
    return _moved(model, known, q, solver, closure.residual(model, model.expand(q)))


def _moved(model: Model, known: Sequence[int], q: list[Any], solver: Orthogonal, b: Sequence[Any]) -> list[Any]:
    """Positions after the step that takes the residual ``b`` away."""
    step: list[Any] = [0] * model.n_leading
    movable = [k for k in range(model.n_leading) if k not in known]
    for k, value in zip(movable, solver.solve(b), strict=True):
        step[k] = -value
    return model.moved(q, step)


def _step_function(model: Model, known: Sequence[int]) -> Function:
    """Native code for one step: from q and damping to the next q, and the residual at q."""

    def run(q: list[Any], damping: list[Any]) -> Mapping[str, Any]:
        r, damp = closure.residual(model, model.expand(q)), sqrt(damping[0])
        columns = _unknown_columns(model, known, q)
        damped = [[*column, *(damp if i == j else 0 for j in range(len(columns)))] for i, column in enumerate(columns)]
        return {"q": _moved(model, known, q, Orthogonal(damped), [*r, *(0 for _ in columns)]), "r": r}

    program = schedule(trace("assembly_step", run, [Port("q", (model.nq,)), Port("damping", (1,))]))
    return Function(program, Label(model.name, "assembly_step", ""))
