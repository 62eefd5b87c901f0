"""Steps towards closed loops as native code: Newton's, Levenberg and Marquardt's, and strides that follow a way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..constraints import LoopEquations
from ..constraints.closing import closer, keeping
from ..constraints.legs import LegSolver
from ..function import Function, Label
from ..model import Model
from ..program import Port, trace
from ..program.passes import schedule
from ..scalar import sign, sqrt
from ..scalar.orthogonal import Orthogonal, dot

NEWTON = 4  # plain steps taken at once, before anything is looked at


def _unknown(model: Model, known: Sequence[int]) -> list[int]:
    return [k for k in range(model.n_leading) if k not in known]


def _judged(model: Model, known: Sequence[int], q: list[Any]) -> dict[str, Any]:
    """The norm of the residual, a number that is zero unless an axis points the wrong way, and the conditioning."""
    equations = LoopEquations.at(model, q)
    r = equations.residual
    return {
        "residual": [sqrt(dot(r, r))],
        "wrong": [sum((1 - sign(value) for value in equations.aligned), start=0)],
        "conditioning": [Orthogonal(equations.columns(_unknown(model, known))).conditioning()],
    }


def newton_function(model: Model, known: Sequence[int], steps: int, legs: LegSolver | None = None) -> Function:
    """Native code that takes plain Newton steps from q and judges where they end; legs must stay in their way."""

    def run(q: list[Any]) -> Mapping[str, Any]:
        at = q
        for _ in range(steps):
            at = closer(LoopEquations.at(model, at), at, keeping(known))
        judged = _judged(model, known, at)
        for before, after in zip(*(legs.slopes(each) for each in (q, at)), strict=True) if legs else ():
            judged["wrong"][0] = judged["wrong"][0] + 1 - sign(before * after)
        return {"q": at, **judged}

    program = schedule(trace("assembly_newton", run, [Port("q", (model.nq,))]))
    return Function(program, Label(model.name, "assembly_newton", ""))


def stride_function(model: Model, known: Sequence[int], places: Sequence[int]) -> Function:
    """Native code from closed positions q to those with ``goal`` at the known places: along the tangent, then by
    Newton's steps. ``turn`` is ||A^-1 (B - A)|| with the Jacobians A and B of the unknown joints before and after,
    each in multiples of its column in A."""

    def run(q: list[Any], goal: list[Any]) -> Mapping[str, Any]:
        equations, unknown = LoopEquations.at(model, q), _unknown(model, known)
        before, step = equations.columns(unknown), _rates(model, known, q, dict(zip(places, goal, strict=True)))
        solver = Orthogonal(before)
        for k, value in zip(unknown, solver.solve([dot(row, step) for row in equations.J]), strict=True):
            step[k] = -value
        at = model.moved(q, step)
        for _ in range(NEWTON - 1):
            for place, value in zip(places, goal, strict=True):
                at[place] = value
            at = closer(LoopEquations.at(model, at), at, keeping(known))
        turn: Any = 0
        sizes = [dot(column, column) for column in before]
        for a, b, size in zip(before, LoopEquations.at(model, at).columns(unknown), sizes, strict=True):
            x = solver.solve([y - z for y, z in zip(b, a, strict=True)])
            turn = turn + sum((value * value * other for value, other in zip(x, sizes, strict=True)), start=0) / size
        return {"q": at, "turn": [sqrt(turn)], **_judged(model, known, at)}

    program = schedule(trace("assembly_stride", run, [Port("q", (model.nq,)), Port("goal", (len(places),))]))
    return Function(program, Label(model.name, "assembly_stride", ""))


def _rates(model: Model, known: Sequence[int], q: list[Any], goal: Mapping[int, Any]) -> list[Any]:
    """Velocities of the leading joints that take the known ones from q to the goal in unit time, to first order."""
    change = [goal[k] - q[k] if k in goal else 0 for k in range(model.nq)]
    return [x if k in known else 0 for k, x in enumerate(model.coordinates.velocities_of(q, change))]


def step_function(model: Model, known: Sequence[int]) -> Function:
    """Native code for one step: from q and damping to the next q, and the residual at q."""

    def run(q: list[Any], damping: list[Any]) -> Mapping[str, Any]:
        equations = LoopEquations.at(model, q)
        return {"q": closer(equations, q, keeping(known, damping[0])), "r": equations.residual}

    program = schedule(trace("assembly_step", run, [Port("q", (model.nq,)), Port("damping", (1,))]))
    return Function(program, Label(model.name, "assembly_step", ""))
