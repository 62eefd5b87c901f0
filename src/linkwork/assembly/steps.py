"""Native functions that close loops: Newton steps, Levenberg-Marquardt steps, and strides along a solution curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..constraints import ConstraintEquations
from ..constraints.legs import LegSolver
from ..constraints.projection import closer, keeping
from ..function import Function, Label
from ..iteration import looped
from ..model import Coordinates, Model
from ..program import Port, trace
from ..program.passes import schedule
from ..scalar import sign, sqrt
from ..scalar.orthogonal import Orthogonal, dot

NEWTON = 4  # plain steps in one call
LEAP = 0.5  # radians or metres: a longer plain step may end in another assembly mode
STRIDE = 0.5  # radians or metres: longest stride of the known joints


def _unknown(model: Model, known: Sequence[int]) -> list[int]:
    return [k for k in range(model.coordinates.nv) if k not in known]


def _newton(model: Model, known: Sequence[int], q: Sequence[Any]) -> list[Any]:
    """Return the positions after a plain Newton step from q."""
    return closer(ConstraintEquations.closing(model, q), q, keeping(known))


def _quality(model: Model, known: Sequence[int], q: list[Any]) -> list[Any]:
    """Return the norm of the residual, a number that is zero unless an axis is reversed, and the conditioning."""
    equations = ConstraintEquations.closing(model, q)
    r = equations.residual
    wrong = sum((1 - sign(value) for value in equations.aligned), start=0)
    return [sqrt(dot(r, r)), wrong, Orthogonal(equations.columns(_unknown(model, known))).conditioning()]


def _beyond(limit: float, *distances: Any) -> Any:
    """Return a number that is zero if all distances are shorter than the limit."""
    return sum((1 - sign(limit * limit - x * x) for x in distances), start=0)


def _function(name: str, model: Model, run: Callable[..., Sequence[Any]], *inputs: Port) -> Function:
    """Function with all results in one vector, which saves time in Python for a single state."""
    program = schedule(trace(name, lambda *values: {"found": run(*values)}, [Port("q", (model.nq,)), *inputs]))
    return Function(program, Label(model.name, name, ""))


def evaluate_function(model: Model, known: Sequence[int]) -> Function:
    """Return the native function of the quality of q."""
    return _function("assembly_judge", model, lambda q: _quality(model, known, q))


def newton_function(model: Model, known: Sequence[int], places: Sequence[int], legs: LegSolver | None) -> Function:
    """Return the native function of plain Newton steps from q, with ``goal`` at the known places.

    Its results are the final positions, a number that is finite if all inputs are, and the quality of the positions. A
    leap, or legs that leave their assembly mode, count as an axis that points the wrong way.
    """

    def run(q: list[Any], goal: list[Any]) -> Sequence[Any]:
        start = _with(q, places, goal)
        at = looped(lambda x: _newton(model, known, x), None, start, NEWTON)
        residual, wrong, conditioning = _quality(model, known, at)
        for before, after in zip(*(legs.slopes(each) for each in (start, at)), strict=True) if legs else ():
            wrong = wrong + 1 - sign(before * after)
        wrong = wrong + _beyond(LEAP, *(y - x for x, y in zip(start, at, strict=True)))
        return [*at, sum((*q, *goal)), residual, wrong, conditioning]

    return _function("assembly_newton", model, run, Port("goal", (len(places),)))


def stride_function(model: Model, known: Sequence[int], places: Sequence[int], outside: Sequence[int]) -> Function:
    """Return the native function of a stride from closed positions q to those with ``goal`` at the known places.

    It goes along the tangent, then by Newton steps; ``outside`` has the indices of known places outside all loops. Its
    results are: the final positions; a number that is finite if all inputs are; the residual at q; a number that is
    zero unless the goal is farther than one stride; ``turn``; and the quality of the final positions. ``turn`` is
    ||A^-1 (B - A)|| with the Jacobians A and B of the unknown joints before and after, columns relative to those of A.
    """

    def run(q: list[Any], goal: list[Any]) -> Sequence[Any]:
        begin = _with(q, [places[k] for k in outside], [goal[k] for k in outside])
        equations, unknown = ConstraintEquations.closing(model, begin), _unknown(model, known)
        before, step = equations.columns(unknown), _rates(model, known, begin, dict(zip(places, goal, strict=True)))
        solver, gap = Orthogonal(before), equations.residual
        for k, value in zip(unknown, solver.solve([dot(row, step) for row in equations.J]), strict=True):
            step[k] = -value
        at = model.moved(begin, step)
        at = looped(lambda x: _newton(model, known, _with(x, places, goal)), None, at, NEWTON - 1)
        turn: Any = 0
        sizes = [dot(column, column) for column in before]
        for a, b, size in zip(before, ConstraintEquations.closing(model, at).columns(unknown), sizes, strict=True):
            x = solver.solve([y - z for y, z in zip(b, a, strict=True)])
            turn = turn + sum((value * value * other for value, other in zip(x, sizes, strict=True)), start=0) / size
        far = _beyond(STRIDE, *(x - begin[place] for place, x in zip(places, goal, strict=True)))
        quality = _quality(model, known, at)
        return [*_with(at, places, goal), sum((*q, *goal)), sqrt(dot(gap, gap)), far, sqrt(turn), *quality]

    return _function("assembly_stride", model, run, Port("goal", (len(places),)))


def unit_function(coordinates: Coordinates, robot: str) -> Function:
    """Return the native function that normalises quaternions."""
    size = coordinates.nq
    program = schedule(trace("assembly_unit", lambda q: {"q": coordinates.normalised(q)}, [Port("q", (size,))]))
    return Function(program, Label(robot, "assembly_unit", ""))


def _with(q: Sequence[Any], places: Sequence[int], goal: Sequence[Any]) -> list[Any]:
    """q with ``goal`` at these places."""
    replaced = dict(zip(places, goal, strict=True))
    return [replaced.get(k, x) for k, x in enumerate(q)]


def _rates(model: Model, known: Sequence[int], q: list[Any], goal: Mapping[int, Any]) -> list[Any]:
    """Return velocities that take the known joints from q to the goal in unit time; zero for the others."""
    change = [goal[k] - q[k] if k in goal else 0 for k in range(model.nq)]
    return [x if k in known else 0 for k, x in enumerate(model.coordinates.velocities_of(q, change))]


def step_function(model: Model, known: Sequence[int]) -> Function:
    """Return the native function of one damped step: from q and damping to the next q and the residual at q."""

    def run(q: list[Any], damping: list[Any]) -> Mapping[str, Any]:
        equations = ConstraintEquations.closing(model, q)
        return {"q": closer(equations, q, keeping(known, damping[0])), "r": equations.residual}

    program = schedule(trace("assembly_step", run, [Port("q", (model.nq,)), Port("damping", (1,))]))
    return Function(program, Label(model.name, "assembly_step", ""))
