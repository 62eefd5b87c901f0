"""Loops inside functions of your own: a body that repeats, and roots by Newton's steps.

The body runs once, on arrays of graph nodes of a graph of its own. What it makes of its values is one turn of a loop;
what it needs from outside, and makes of that alone, is computed once, before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .derive.modes import forward
from .errors import ShapeError, UnsupportedError
from .program.graph import Node, StrictGraph
from .program.loops import final_value, turn
from .program.program import MOST_DEPTH, MOST_TURNS, MOST_WORK, Loop, Program
from .program.replay import replay
from .program.traced_array import TracedArray
from .scalar import ldl, less, less_equal, sqrt, where
from .scalar.orthogonal import dot

DAMPING = 1e-3  # per square of the residual
_level: ContextVar[int] = ContextVar("level", default=0)  # number of bodies that are being traced, inside each other


class Root(NamedTuple):
    """Result of ``linkwork.find_root``.

    Attributes:
        x: The root, in the shape of the guess.
        solved: 1 where the residual is at most the tolerance, else 0.
        residual: Norm of the residual at ``x``.
        turns: Number of Newton's steps.

    Example:
        >>> float(linkwork.find_root(lambda x: x * x - 2, 1.0).solved)
        1.0
    """

    x: Any
    solved: Any
    residual: Any
    turns: Any


def repeat(body: Callable[[Any], Any], start: Any, turns: int, *, until: Callable[[Any], Any] | None = None) -> Any:
    """Return what is left of ``start`` after a body has run on it several times.

    In a function of your own (``Robot.function``) this makes a loop of the program instead of many copies of the body.
    The body runs once, on arrays without values. It may use arrays of the function around it. Plain numbers give plain
    numbers.

    Derivatives are those of the turns that are made; the condition itself counts as constant.

    Args:
        body: Takes the values and returns the next ones, in the same structure and shapes.
        start: Values before the first turn: an array, or a tuple, list or dict of them.
        turns: Number of turns, or with ``until`` the largest number.
        until: Takes the values and returns a condition, such as ``error < 1e-9``. Each state stops at the first values
            that fulfil it; also where they are not a number, if the condition is written as ``~(error > 1e-9)``.
            Default: all turns are made.

    Returns:
        The last values, in the structure of ``start``.

    Raises:
        ShapeError: The body changes structure or shapes.
        UnsupportedError: ``turns`` is not a whole number, or there are too many loops inside each other.

    Example:
        >>> def root(robot, a):
        ...     return linkwork.repeat(lambda x: 0.5 * (x + a / x), a, turns=8)
        >>> f = linkwork.load("planar2r").function(root, a=())
        >>> abs(float(f(2.0)) ** 2 - 2) < 1e-15, len(f.program.loops)
        (True, 1)
    """
    if isinstance(turns, bool) or not isinstance(turns, (int, np.integer)) or not 0 <= turns <= MOST_TURNS:
        expected = f"a whole number up to {MOST_TURNS}, known while tracing"
        raise UnsupportedError("wrong number of turns", where="repeat", got=repr(turns), expected=expected)
    values, shapes = [*_entries(start)], _shapes(start)

    def following(values: Sequence[Any]) -> list[Any]:
        after = body(_like(start, iter(values)))
        if (found := _shapes(after)) != shapes:
            expected = f"{_shown(shapes)}, as at the start"
            raise ShapeError("the body returns other values", where="repeat", got=_shown(found), expected=expected)
        return [*_entries(after)]

    def going(values: Sequence[Any]) -> Any:
        """1 where another turn follows, else 0."""
        if until is None:
            return 1
        entries = [*_entries(until(_like(start, iter(values))))]
        if len(entries) != 1:
            fix = "combine them by np.all or np.any"
            raise ShapeError("the condition is not one number", where="repeat", got=len(entries), fix=fix)
        return where(entries[0], 0, 1)

    for _ in range(turns):
        if any(isinstance(x, Node) for x in values):
            break
        go = going(values)
        after = following(values) if isinstance(go, Node) or go else values
        if isinstance(go, Node) or any(isinstance(x, Node) for x in after):
            break
        if not go:
            return _like(start, iter(values))
        values, turns = after, turns - 1
    if turns:
        values = looped(following, going if until else None, values, turns)
    return _like(start, iter(values))


def looped(
    following: Callable[[Sequence[Any]], list[Any]],
    going: Callable[[Sequence[Any]], Any] | None,
    start: Sequence[Any],
    turns: int,
    roots: Sequence[tuple[int, int]] = (),
) -> list[Any]:
    """Return the final values of a loop of flat values; ``roots`` as in ``Loop``."""
    guard = int(going is not None)

    def one_turn(values: Sequence[Any]) -> list[Any]:
        after = following(values[guard:])
        return [*([going(after)] if going else ()), *after]

    body, outside = _traced(one_turn, guard + len(start))
    if turns * body.work > MOST_WORK:
        got, expected = f"{turns} turns of {body.work} instructions", f"at most {MOST_WORK} instructions in all"
        raise UnsupportedError("the loop takes too long", where="a function with loops", got=got, expected=expected)
    loop = Loop(body, int(turns), going is not None, tuple((guard + k, guard + m) for k, m in roots))
    given = [*([going(start)] if going else ()), *start, *outside]
    return [final_value(loop, guard + k, given) for k in range(len(start))]


def _traced(function: Callable[[Sequence[Any]], Sequence[Any]], size: int) -> tuple[Program, list[Node]]:
    """Return a function of flat values as a program, and the nodes from outside that are its further inputs."""
    level = _level.get() + 1
    if level > MOST_DEPTH:
        raise UnsupportedError(f"more than {MOST_DEPTH} loops inside each other", where="a function with loops")
    token = _level.set(level)
    try:
        graph = StrictGraph(level)
        inputs = [graph.input(k) for k in range(size)]
        return turn(graph, inputs, function(inputs))
    finally:
        _level.reset(token)


# -- roots -------------------------------------------------------------------------------------------------------------


def find_root(
    residual: Callable[[Any], Any],
    guess: Any,
    *,
    turns: int = 50,
    tolerance: float = 1e-12,
    damping: float = DAMPING,
) -> Root:
    """Return x where a residual vanishes, by damped steps of Newton's method from a guess.

    The step is ``J^T (J J^T + damping r^2)^-1 r``, with the Jacobian J of the residual r. So it is the shortest of all
    steps if there are more unknowns than equations, and bounded where J is singular. Each state stops by itself.

    Derivatives are those of the root, by the implicit function theorem, of any order; the guess has none. With more
    unknowns than equations they are those of the shortest change of x, and only first derivatives make sense.

    Args:
        residual: Takes x, returns an array of as many numbers as x, or fewer. It runs on arrays without values.
        guess: Where to begin, an array or a number; its shape is that of x.
        turns: Largest number of steps. Default: 50.
        tolerance: Norm of the residual at which a state stops. Default: 1e-12; float32 reaches about 1e-6.
        damping: Share of the squared residual that damps a step; 0 gives plain steps. Default: 0.001.

    Returns:
        Root ``(x, solved, residual, turns)``.

    Raises:
        ShapeError: The residual is empty, or has more numbers than x.
        UnsupportedError: ``turns`` is not a whole number, or there are too many loops inside each other.

    Example:
        >>> root = linkwork.find_root(lambda x: np.cos(x) - x, 1.0)
        >>> float(root.x), int(root.turns)
        (0.7390851332151607, 4)
    """
    if isinstance(turns, bool) or not isinstance(turns, (int, np.integer)) or not 0 < turns < MOST_TURNS:
        raise UnsupportedError("wrong number of turns", where="find_root", got=repr(turns), expected="a whole number")
    guess = TracedArray(guess)
    start = [*_entries(guess)]
    n = len(start)

    def of(x: Sequence[Any]) -> list[Any]:
        r = [*_entries(residual(_like(guess, iter(x))))]
        if not 0 < len(r) <= n:
            expected = f"at least one number, and at most {n}, the number of unknowns"
            raise ShapeError("the residual has a wrong size", where="find_root", got=len(r), expected=expected)
        return r

    def step(x: Sequence[Any]) -> tuple[list[Any], Any]:
        r, rows = _linearised(of, x)
        size = dot(r, r)
        A = [[dot(a, b) + (damping * size if i == j else 0) for j, b in enumerate(rows[: i + 1])]
             for i, a in enumerate(rows)]  # fmt: skip
        y = ldl.solve(*ldl.factor([[*row, *[0] * (len(A) - len(row))] for row in A]), r)
        return [a - dot(column, y) for a, column in zip(x, zip(*rows, strict=True), strict=True)], size

    x, *others = root_of(step, start, turns, tolerance)
    return Root(_like(guess, iter(x)), *map(_array, others))


def root_of(
    step: Callable[[Sequence[Any]], tuple[Sequence[Any], Any]], start: Sequence[Any], turns: int, tolerance: float
) -> tuple[list[Any], Any, Any, Any]:
    """Return the root that steps of Newton's method lead to, as flat values: x, solved, residual, number of steps.

    ``step`` takes x, and returns the next x and the squared residual at x.
    """
    n = len(start)

    def following(values: Sequence[Any]) -> list[Any]:
        x = values[n : 2 * n]
        ahead, size = step(x)
        return [*x, *ahead, values[-2] + 1, size]

    def going(values: Sequence[Any]) -> Any:
        return less(tolerance * tolerance, values[-1])

    begin = [*[0] * n, *start, -1, np.inf]  # the first turn, which is always made, makes no step
    roots = [(place, n + k) for k in range(n) for place in (k, n + k)]
    *both, count, size = looped(following, going, begin, turns + 1, roots)
    residual = sqrt(size)
    return both[:n], less_equal(residual, tolerance), residual, count


def _linearised(function: Callable[[Sequence[Any]], list[Any]], x: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
    """Return a function of flat values at x, and its Jacobian by rows."""
    program, outside = _traced(function, len(x))
    values = replay(program, [*x, *outside])
    columns = forward(program, values, {k: {k: 1} for k in range(len(x))})
    return [values[k] for k in program.results], [[column.get(k, 0) for k in range(len(x))] for column in columns]


# -- structures of arrays ----------------------------------------------------------------------------------------------


def _parts(value: Any) -> list[tuple[Any, Any]] | None:
    """Return keys and parts of a structure, in an order of the keys alone; None of an array."""
    if isinstance(value, Mapping):
        return sorted(value.items(), key=lambda part: repr(part[0]))
    return [*enumerate(value)] if isinstance(value, (tuple, list)) else None


def _entries(value: Any) -> Iterator[Any]:
    """Yield the nodes and numbers of a structure."""
    if (parts := _parts(value)) is not None:
        for _, part in parts:
            yield from _entries(part)
        return
    for entry in TracedArray(value).view(np.ndarray).ravel().tolist():
        if not isinstance(entry, (Node, int, float, np.bool_, np.integer, np.floating)):
            expected = "arrays of real numbers, or a tuple, list or dict of them"
            raise ShapeError("these are not values of a loop", got=repr(value)[:80], expected=expected)
        yield entry if isinstance(entry, Node) else float(entry)


def _shapes(value: Any) -> Any:
    """Return the shapes of the arrays of a structure, in a structure of the same kind."""
    if (parts := _parts(value)) is not None:
        return type(value), [(key, _shapes(part)) for key, part in parts]
    return np.shape(value)


def _shown(shapes: Any) -> str:
    if shapes and isinstance(shapes[0], type):
        return f"{shapes[0].__name__}({', '.join(f'{key}: {_shown(part)}' for key, part in shapes[1])})"
    return f"shape {shapes}"


def _like(value: Any, entries: Iterator[Any]) -> Any:
    """Return a structure like another one of other entries."""
    if (parts := _parts(value)) is None:
        shape = np.shape(value)
        return _array([next(entries) for _ in range(prod(shape))], shape)
    made = {key: _like(part, entries) for key, part in parts}
    if isinstance(value, Mapping):
        return {key: made[key] for key in value}
    return type(value)(*made.values()) if hasattr(value, "_asdict") else type(value)(made.values())


def _array(entries: Any, shape: tuple[int, ...] = ()) -> Any:
    """Return an array of nodes, or of numbers if no entry is a node."""
    flat = entries if isinstance(entries, list) else [entries]
    if any(isinstance(x, Node) for x in flat):
        array = np.empty(len(flat), object)
        array[:] = flat
        return TracedArray(array.reshape(shape))
    return np.array(flat, float).reshape(shape)[()]
