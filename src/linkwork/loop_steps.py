"""Steps towards closed loops as native code: Newton's, Levenberg and Marquardt's, and strides that follow a way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .formulations import Orthogonal, dot
from .function import Function, Label
from .legs import LegSolver
from .model import Model, closure
from .program import Port, trace
from .program.passes import schedule
from .scalar import sign, sqrt
from .spatial import Vector, quaternion_product

NEWTON = 4  # plain steps taken at once, before anything is looked at


def _jacobian(model: Model, q: list[Any]) -> list[list[Any]]:
    """Rates of the residual per velocity of each leading joint."""
    return model.collect_rows(closure.jacobian(model, model.expand(q)))


def _unknown_columns(model: Model, known: Sequence[int], J: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [[row[k] for row in J] for k in range(model.n_leading) if k not in known]


def _judged(model: Model, known: Sequence[int], q: list[Any]) -> dict[str, Any]:
    """The norm of the residual, a number that is zero unless an axis points the wrong way, and the conditioning."""
    tree, columns = model.expand(q), _unknown_columns(model, known, _jacobian(model, q))
    r = closure.residual(model, tree)
    wrong = sum((1 - sign(value) for value in closure.aligned(model, tree)), start=0)
    return {
        "residual": [sqrt(dot(r, r))],
        "wrong": [wrong],
        "conditioning": [Orthogonal(columns).conditioning()],
    }


def newton_function(model: Model, known: Sequence[int], steps: int, legs: LegSolver | None = None) -> Function:
    """Native code that takes plain Newton steps from q and judges where they end; legs must stay in their way."""

    def run(q: list[Any]) -> Mapping[str, Any]:
        at = q
        for _ in range(steps):
            at = newton_step(model, known, at)
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
        J = _jacobian(model, q)
        before, rates = _unknown_columns(model, known, J), _rates(model, known, q, dict(zip(places, goal, strict=True)))
        solver = Orthogonal(before)
        at = _moved(model, known, q, solver, [dot(row, rates) for row in J], rates)
        for _ in range(NEWTON - 1):
            for place, value in zip(places, goal, strict=True):
                at[place] = value
            at = newton_step(model, known, at)
        turn: Any = 0
        sizes = [dot(column, column) for column in before]
        for a, b, size in zip(before, _unknown_columns(model, known, _jacobian(model, at)), sizes, strict=True):
            x = solver.solve([y - z for y, z in zip(b, a, strict=True)])
            turn = turn + sum((value * value * other for value, other in zip(x, sizes, strict=True)), start=0) / size
        return {"q": at, "turn": [sqrt(turn)], **_judged(model, known, at)}

    program = schedule(trace("assembly_stride", run, [Port("q", (model.nq,)), Port("goal", (len(places),))]))
    return Function(program, Label(model.name, "assembly_stride", ""))


def _rates(model: Model, known: Sequence[int], q: list[Any], goal: Mapping[int, Any]) -> list[Any]:
    """Velocities of the leading joints that take the known ones from q to the goal in unit time, to first order."""
    rates: list[Any] = [0] * model.n_leading
    shift = 1 if model.floating else 0
    for k in known:
        if k >= 6 * shift:
            rates[k] = goal[k + shift] - q[k + shift]
    if 0 in goal and model.floating:
        x, y, z, w = q[3:7]
        rates[:3] = model.transform(1, q).inward(Vector(*(goal[k] - q[k] for k in range(3))))
        rates[3:6] = [2 * value for value in quaternion_product([-x, -y, -z, w], [goal[k] for k in range(3, 7)])[:3]]
    return rates


def newton_step(model: Model, known: Sequence[int], q: list[Any]) -> list[Any]:
    """Positions after one of Newton's steps towards closed loops, over any scalar; the known ones stay."""
    solver = Orthogonal(_unknown_columns(model, known, _jacobian(model, q)))
    return _moved(model, known, q, solver, closure.residual(model, model.expand(q)))


def _moved(
    model: Model, known: Sequence[int], q: list[Any], solver: Orthogonal, b: Sequence[Any], rates: Sequence[Any] = ()
) -> list[Any]:
    """Positions after the step of the unknown joints that takes the residual ``b`` away, and ``rates`` of the known."""
    step: list[Any] = [*rates] or [0] * model.n_leading
    movable = [k for k in range(model.n_leading) if k not in known]
    for k, value in zip(movable, solver.solve(b), strict=True):
        step[k] = -value
    return model.moved(q, step)


def step_function(model: Model, known: Sequence[int]) -> Function:
    """Native code for one step: from q and damping to the next q, and the residual at q."""

    def run(q: list[Any], damping: list[Any]) -> Mapping[str, Any]:
        r, damp = closure.residual(model, model.expand(q)), sqrt(damping[0])
        columns = _unknown_columns(model, known, _jacobian(model, q))
        damped = [[*column, *(damp if i == j else 0 for j in range(len(columns)))] for i, column in enumerate(columns)]
        return {"q": _moved(model, known, q, Orthogonal(damped), [*r, *(0 for _ in columns)]), "r": r}

    program = schedule(trace("assembly_step", run, [Port("q", (model.nq,)), Port("damping", (1,))]))
    return Function(program, Label(model.name, "assembly_step", ""))
