"""Assembly as a loop of a program: positions of all joints from those of some, by Newton's steps from a guess.

Joints of one constraint alone, as those of a leg, are eliminated from its equations; the other joints follow from what
is left of all equations, in the least-squares sense, and then each constraint gives its own joints. So the work grows
with the number of legs, not with its cube.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import LinkworkError, UnsupportedError
from ..iteration import DAMPING, root_of
from ..model import Model
from ..scalar import Scalar, is_one, is_zero, ldl, less, maximum, where
from ..scalar.orthogonal import Orthogonal, dot, minus_scaled
from ..spatial import Vector
from .equations import ConstraintEquations
from .independent_rows import ROUNDINGS, lengths
from .mobility import determines
from .projection import closer

SLACK = 10  # factor on the residual at home that rounding may cause elsewhere
Solve = Callable[[list[Scalar]], list[Scalar]]
WRONG = 1.0  # square of the residual, in m and rad, that an axis in the wrong direction counts for


def known_freedoms(model: Model, names: Sequence[str] | None, default: tuple[int, ...]) -> tuple[int, ...]:
    """Return the dofs of the joints from which a robot with loops is assembled."""
    if not model.constrained:
        raise UnsupportedError(
            "there is nothing to assemble: the robot has no loops",
            where=f"robot {model.name!r}",
            fix="q has no dependent positions: use it without assembling",
        )
    configuration = model.mobility.configuration
    known = default if names is None else tuple(sorted({k for name in names for k in model.joint_freedoms(name)}))
    if len(known) != len(configuration) or not determines(model, known):
        joints = ", ".join(model.coordinates.whole(known).positions.joints)
        raise LinkworkError(
            "these joints do not determine the positions of the others",
            where=f"robot {model.name!r}",
            got=f"{joints or 'none'} ({len(known)} dofs)",
            expected=f"{len(configuration)} dofs, such as {model.coordinates.of_freedoms(configuration)}",
        )
    return known


def closing_tolerance(model: Model) -> float:
    """Return the residual, in m and rad, below which loops are closed.

    Redundant equations with rounded parameters have no exact solution, and leave a residual at home as well. Large
    lengths add rounding errors.
    """
    equations = ConstraintEquations.closing(model, model.home)
    residual = dot(equations.residual, equations.residual) ** 0.5
    return max(1e-12, SLACK * float(residual), ROUNDINGS * lengths(equations)[1])


def assemble(
    model: Model,
    positions: Sequence[Any],
    guess: Sequence[Any],
    *,
    known: Sequence[int],
    turns: int,
    tolerance: float,
) -> tuple[list[Any], Any, Any, Any]:
    """Return the positions of all joints, 1 where they close the loops, the residual, and the number of steps.

    ``known``: dofs whose ``positions`` are given; ``guess``: positions of all joints.
    """
    places = model.coordinates.places(model.coordinates.whole(known).positions.joints)
    start = [*model.coordinates.normalised(guess)]
    for place, value in zip(places, positions, strict=True):
        start[place] = value
    free = [k for k in range(model.nq) if k not in places]

    def whole(unknown: Sequence[Any]) -> list[Any]:
        values = dict(zip(free, unknown, strict=True))
        return [values.get(k, x) for k, x in enumerate(start)]

    def step(unknown: Sequence[Any]) -> tuple[list[Any], Any]:
        at = whole(unknown)
        equations = ConstraintEquations.closing(model, at)
        size = dot(equations.residual, equations.residual)
        ahead = closer(equations, at, lambda each: damped_step(each, known, DAMPING * size))
        for value in equations.aligned:
            size = size if is_one(value) else where(less(0, value), size, maximum(size, WRONG))
        return [ahead[k] for k in free], size

    found, *others = root_of(step, [start[k] for k in free], turns, tolerance)
    return (whole(found), *others)


def damped_step(equations: ConstraintEquations, known: Sequence[int], damping: Scalar) -> list[Scalar]:
    """Return Newton's step x of all joints, with J x = r in the least-squares sense and zero for ``known`` dofs.

    With own joints y of each constraint, and the other joints z:

      (1)  A y + B z = r   for each constraint; orthogonal to the columns of A:   C z = s
      (2)  (sum of C^T C + damping) z = sum of C^T s
      (3)  A y = r - B z
    """
    n = equations.model.coordinates.nv
    blocks = list(_blocks(equations))
    users = {k: [b for b, (rows, _) in enumerate(blocks) if any(not is_zero(row[k]) for row in rows)] for k in range(n)}
    unknown = [k for k in range(n) if k not in known]
    others = [k for k in unknown if len(users[k]) != 1] or unknown
    M: list[list[Scalar]] = [[damping if i == j else 0 for j in others] for i in others]
    b: list[Scalar] = [0] * len(others)
    solvers: list[tuple[list[int], Solve]] = []
    for rows, r in blocks:
        own = [k for k in unknown if k not in others and any(not is_zero(row[k]) for row in rows)]
        across, solve = _eliminated(_columns(rows, own))
        *C, s = map(across, [*_columns(rows, others), r])  # (1)
        for i, column in enumerate(C):
            for j in range(i + 1):
                M[i][j] = M[i][j] + dot(column, C[j])  # (2)
            b[i] = b[i] + dot(column, s)
        solvers.append((own, solve))
    x = dict(zip(others, ldl.solve(*ldl.factor(M), b), strict=True))
    z = list(x.values())
    for (rows, r), (own, solve) in zip(blocks, solvers, strict=True):
        rest = [value - dot([row[k] for k in others], z) for row, value in zip(rows, r, strict=True)]
        x |= dict(zip(own, solve(rest), strict=True))  # (3)
    return [x.get(k, 0) for k in range(n)]


def _blocks(equations: ConstraintEquations) -> Iterator[tuple[list[list[Scalar]], list[Scalar]]]:
    """Yield rows and residual of each constraint."""
    start = 0
    for size in equations.block_sizes:
        part = slice(start, start + size)
        yield equations.J[part], equations.residual[part]
        start += size


def _columns(rows: Sequence[Sequence[Scalar]], chosen: Sequence[int]) -> list[list[Scalar]]:
    return [[row[k] for row in rows] for k in chosen]


def _eliminated(own: list[list[Scalar]]) -> tuple[Solve, Solve]:
    """Return two functions of a column: its part orthogonal to the columns ``own`` of A, and y with A y = column.

    For two columns in space the part is one number, along their normal, whose length does not matter.
    """
    if not own:
        return list, lambda _: []
    if len(own) == 2 and len(own[0]) == 3:
        a, b = (Vector(*column) for column in own)
        normal = a.cross(b)
        share, along = 1 / normal.dot(normal), (b.cross(normal), normal.cross(a))
        return (
            lambda column: [normal.dot(Vector(*column))],
            lambda column: [share * each.dot(Vector(*column)) for each in along],
        )
    orthogonal = Orthogonal(own)

    def across(column: list[Scalar]) -> list[Scalar]:
        for q, inverse in zip(orthogonal.Q, orthogonal.inverse, strict=True):
            column = minus_scaled(column, dot(q, column) * inverse, q)
        return column

    return across, orthogonal.solve
