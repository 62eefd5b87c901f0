"""Assembling a robot with loops: positions of all joints from those of some, batched, by native Newton steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import LinkworkError, ShapeError, UnsupportedError
from .formulations import Orthogonal
from .function import Function, Label
from .model import Model, closure
from .program import Port, optimize, trace
from .scalar import sqrt

CLOSE = 1e-2  # below this residual, plain Newton steps
SINGULAR = 1e-5  # of the conditioning
STRIDE = 0.25  # radians or metres: how far the known joints go at once on the way from home


@dataclass(frozen=True)
class Assembly:
    """What ``Robot.assemble`` found, for each position asked for.

    ``q``: positions of all joints, NaN where there is no answer. ``solved``: whether there is one. ``residual``: by how
    much the loops are open at ``nearest``, the best positions found. ``conditioning``: how well the other joints are
    determined there, from 0 (singular) to 1. ``iterations``: Newton steps taken.
    """

    q: np.ndarray
    solved: np.ndarray
    residual: np.ndarray
    conditioning: np.ndarray
    iterations: np.ndarray
    nearest: np.ndarray
    robot: str = ""

    @property
    def singular(self) -> np.ndarray:
        """Closed, but there the known joints do not determine the others."""
        return self.conditioning < SINGULAR

    def require(self) -> np.ndarray:
        """``q`` if every position was solved; an error that tells the others apart if not."""
        if np.all(self.solved):
            return self.q
        singular = int(np.sum(self.singular & ~self.solved))
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
        if len(self.known) != model.nv or not self._determines():
            raise LinkworkError(
                "these joints do not determine the positions of the others",
                where=f"robot {model.name!r}",
                got=f"{', '.join(self.names) or 'none'} ({len(self.known)} freedoms)",
                expected=f"{model.nv} freedoms, such as {', '.join(self._names(model.mobility.independent))}",
            )
        self.step = _step_function(model, self.known)

    def _freedoms(self, names: Sequence[str]) -> tuple[int, ...]:
        model = self.model
        floating = {model.joint(1).name: range(6)} if model.floating else {}
        return tuple(sorted({k for name in names for k in floating.get(name) or (model.joint_index(name),)}))

    def _determines(self) -> bool:
        model = self.model
        J = np.array(model.collect_rows(closure.jacobian(model, model.expand(model.home))), float)
        others = [k for k in range(model.n_leading) if k not in self.known]
        return bool(np.linalg.matrix_rank(J[:, others], tol=1e-6 * np.linalg.norm(J, 2)) == len(others))

    def _names(self, freedoms: Sequence[int]) -> tuple[str, ...]:
        floating = self.model.floating and 0 in freedoms
        return ((self.model.joint(1).name,) if floating else ()) + self.model.names_of(freedoms)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names(self.known)

    @property
    def places(self) -> list[int]:
        """Where the known positions stand in q."""
        if not self.model.floating:
            return list(self.known)
        return (list(range(7)) if 0 in self.known else []) + [k + 1 for k in self.known if k >= 6]

    def __call__(self, known: Any, guess: Any = None, tolerance: float = 1e-12, iterations: int = 100) -> Assembly:
        model, places = self.model, self.places
        target = self._positions(known)
        if guess is None:
            q = self._walk(target, tolerance)
        else:
            q = np.array(np.broadcast_to(np.asarray(guess, float), (*target.shape[:-1], model.nq)))
            q[..., places] = target
        shape = q.shape[:-1]
        found = self._solve(q.reshape(-1, model.nq), tolerance, iterations)
        q, residual, conditioning, steps, right_way = (x.reshape(shape + x.shape[1:]) for x in found)
        solved = (residual <= tolerance) & right_way & (conditioning >= SINGULAR)
        answer = np.where(solved[..., None], q, np.nan)
        return Assembly(answer, solved, residual, conditioning, steps, q, model.name)

    def _positions(self, known: Any) -> np.ndarray:
        names, places = self.names, self.places
        if isinstance(known, Mapping):
            if set(known) != set(names):
                raise ShapeError(
                    "other joints", where="assemble", got=", ".join(map(str, known)), expected=", ".join(names)
                )
            parts = [np.asarray(known[name], float) for name in names]
            parts = [part if part.ndim and len(names) < len(places) and k == 0 else part[..., None]
                     for k, part in enumerate(parts)]  # fmt: skip
            batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
            known = np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)
        target = np.asarray(known, float)
        if target.shape[-1:] != (len(places),):
            raise ShapeError(
                "wrong number of known positions",
                where=f"assemble {self.model.name!r}",
                got=target.shape,
                expected=f"(..., {len(places)}): {', '.join(names)}",
            )
        if not np.isfinite(target).all():
            raise ShapeError("known positions must be finite", where=f"assemble {self.model.name!r}")
        return target

    def _walk(self, target: np.ndarray, tolerance: float) -> np.ndarray:
        """From home towards the target in strides, so as to stay in home's mode of assembly."""
        places, home = self.places, np.array(self.model.home)
        q = np.broadcast_to(home, (*target.shape[:-1], home.size)).reshape(-1, home.size).copy()
        goal = target.reshape(-1, len(places))
        strides = int(np.ceil(np.abs(goal - home[places]).max(initial=0.0) / STRIDE))
        for k in range(1, strides):
            q[:, places] = home[places] + (goal - home[places]) * (k / strides)
            q = self._solve(q, tolerance, 4)[0]
        q[:, places] = goal
        return q.reshape(*target.shape[:-1], home.size)

    def _solve(self, q: np.ndarray, tolerance: float, iterations: int) -> tuple[np.ndarray, ...]:
        """Levenberg and Marquardt's steps, Newton's near the solution; states that are done are left alone."""
        count = len(q)
        best, steps = q.copy(), np.zeros(count, int)
        residual, conditioning = np.full(count, np.inf), np.zeros(count)
        right_way = np.zeros(count, bool)
        damping, size = np.full((count, 1), 1e-4), np.full(count, np.inf)
        at, todo = q, np.arange(count)
        for iteration in range(iterations + 1):
            moved, r, pivots, facing = self.step(at, damping)
            gap, square = np.abs(r).max(axis=-1, initial=0.0), (r * r).sum(axis=-1)
            better = square <= size
            chosen = todo[better]
            best[chosen], residual[chosen], steps[chosen] = at[better], gap[better], iteration
            ratio = pivots[better].min(axis=-1, initial=np.inf) / pivots[better].max(axis=-1, initial=0.0)
            conditioning[chosen], right_way[chosen] = np.sqrt(ratio), (facing[better] > 0).all(axis=-1)
            size = np.where(better, square, size)
            damping = np.where(better[:, None], damping * 0.01, np.maximum(damping, 1e-8) * 100)
            damping[better & (gap < CLOSE)] = 0.0
            settled = (better & (gap <= tolerance)) | (damping[:, 0] > 1e12) | ~np.isfinite(square)
            if settled.all():
                break
            # a step that made it worse is taken again, shorter, from where it began
            at = np.where(better[:, None], moved, best[todo])
            again = ~better
            keep = ~settled
            at, todo, damping, size, again = at[keep], todo[keep], damping[keep], size[keep], again[keep]
            if again.any():
                at[again] = self.step(at[again], damping[again])[0]
        return best, residual, conditioning, steps, right_way


def _step_function(model: Model, known: Sequence[int]) -> Function:
    """Native code for one step: from q and damping to the next q, the residual, the pivots and whether axes point the
    right way at q."""
    movable = [k for k in range(model.n_leading) if k not in known]

    def run(q: list[Any], damping: list[Any]) -> Mapping[str, Any]:
        tree = model.expand(q)
        J, r = model.collect_rows(closure.jacobian(model, tree)), closure.residual(model, tree)
        damp = sqrt(damping[0])
        columns = [[row[k] for row in J] + [damp if k == m else 0 for m in movable] for k in movable]
        solver = Orthogonal(columns)
        step: list[Any] = [0] * model.n_leading
        for k, value in zip(movable, solver.solve([*r, *(0 for _ in movable)]), strict=True):
            step[k] = -value
        return {"q": model.moved(q, step), "r": r, "pivots": solver.d, "aligned": closure.aligned(model, tree)}

    program = optimize(trace("assembly_step", run, [Port("q", (model.nq,)), Port("damping", (1,))]))
    return Function(program, Label(model.name, "assembly_step", ""))
