"""How a robot with loops can move: positions that close them, the number of freedoms, and which joints tell the others.

Numbers decide, at the home position and beside it: a rank is counted there and the choice is kept for all positions.
Where the equations are singular, they allow velocities that lead nowhere (a chain pulled straight between two points),
so a freedom counts only if the loops close beside home as well, on all ways that the velocities allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from . import closure
from .loop_rows import independent_rows, leading_jacobian
from .model import Mobility, Model

CLOSED = 1e-10  # metres and radians
OPEN = 1e-6  # rounded numbers in a file may leave the loops open by so much, with a warning
ALMOST = 1e-3  # open by so little, the equations of a loop contradict each other by rounded numbers
STEPS = 200
RANK = 1e-5  # of the largest singular value; at a double root, positions, and so the least one, are known to 1e-7
ALIKE = 1e-6  # relative: columns this alike are equally good, whatever their last bits say
SLACK = 10  # times the residual that is left at home
BESIDE = 0.05, 0.006  # radians or metres: how far beside home the loops must close, at one of them


def with_mobility(model: Model, independent: Sequence[str] = (), redundant: bool = False) -> Model:
    """The robot with its loops closed at ``home`` (a first guess until now) and its freedoms told apart."""
    q = _closed_home(model, independent)
    _require_closed(model, q)
    model = replace(model, home=tuple(q.tolist()))
    J = leading_jacobian(model, q)
    rank = _rank(J)
    _require_moving(model, q, J, rank)
    chosen = _named(model, independent, J, rank) if independent else _choice(model, J, rank)
    mobility = _mobility(model, J, chosen, redundant)
    return replace(model, closed_mobility=replace(mobility, rows=independent_rows(model, rank)))


def _closed_home(model: Model, independent: Sequence[str]) -> np.ndarray:
    """Closed positions near home: those the independent joints tell, if the others close the loops there."""
    start, named = np.array(model.home), _freedoms(model, independent)
    if named:
        held = _settled(model, start, np.delete(np.eye(model.n_leading), named, axis=0))
        if _is_closed(model, held):
            return held
    return _settled(model, start)


def _settled(model: Model, q: np.ndarray, along: np.ndarray | None = None) -> np.ndarray:
    """The positions nearest to closed that are found from a guess, moving by rows of ``along`` only, if given.

    Levenberg and Marquardt's steps: as Newton's near the solution, and downhill far from it.
    """
    along = np.eye(model.n_leading) if along is None else along
    damping, r, n = 1e-3, _residual(model, q), len(along)
    for _ in range(STEPS):
        if np.abs(r).max(initial=0.0) < 0.01 * CLOSED:
            break
        damped = np.vstack([leading_jacobian(model, q) @ along.T, math.sqrt(damping) * np.eye(n)])
        step = np.linalg.lstsq(damped, np.append(-r, np.zeros(n)), rcond=None)[0] @ along
        moved = np.array(model.moved(q.tolist(), step.tolist()))
        there = _residual(model, moved)
        if there @ there < r @ r:
            q, r, damping = moved, there, damping * 0.1
        else:
            damping = max(damping, 1e-12) * 10
            if damping > 1e12:
                break
    return q


def _is_closed(model: Model, q: np.ndarray, limit: float = CLOSED) -> bool:
    right_way = all(value > 0 for value in closure.aligned(model, model.expand(q.tolist())))
    return right_way and bool(np.abs(_residual(model, q)).max(initial=0.0) < limit)


def _require_closed(model: Model, q: np.ndarray) -> None:
    if _is_closed(model, q, OPEN):
        return
    gaps, fix = [], "give `home` positions near a closed one, and check the frames of the loops"
    for loop in model.loops:
        alone = replace(model, loops=(loop,))
        gap = np.abs(_residual(alone, q)).max()
        if OPEN <= gap < ALMOST:
            fix = "write frames and axes that are meant to be parallel with all digits, such as pi/2 and not 1.5708"
        if gap >= OPEN:
            gaps.append(f"loop {loop.name!r} stays open by {gap:.2g} at best")
        elif closure.aligned(alone, model.expand(q.tolist()))[0] <= 0:
            gaps.append(f"the frames of loop {loop.name!r} point in opposite directions")
            fix = "turn one of the two frames round"
    raise ModelError(
        "the loops cannot be closed",
        where=f"robot {model.name!r}",
        got="; ".join(gaps),
        expected="a home position near which they close",
        fix=fix,
    )


def determines(model: Model, known: Sequence[int]) -> bool:
    """Do these freedoms of the leading joints tell all others, at home?"""
    others = [k for k in range(model.n_leading) if k not in known]
    return _rank(leading_jacobian(model, np.array(model.home))[:, others]) == len(others)


def _residual(model: Model, q: np.ndarray) -> np.ndarray:
    return np.array(closure.residual(model, model.expand(q.tolist())), float)


def _rank(J: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(J, tol=RANK * np.linalg.norm(J, 2))) if J.any() else 0


def _require_moving(model: Model, q: np.ndarray, J: np.ndarray, rank: int) -> None:
    """The loops must close beside home wherever the velocities that they allow there lead."""
    directions = np.linalg.svd(J)[2]
    held, free = directions[:rank], directions[rank:]
    ways = np.random.default_rng(0).normal(size=(3 if len(free) else 0, len(free))) @ free
    ways /= np.abs(ways).max(axis=-1, keepdims=True)

    def beside(size: float, way: np.ndarray, along: np.ndarray | None = None) -> np.ndarray:
        return _settled(model, np.array(model.moved(q.tolist(), (size * way).tolist())), along)

    limit = max(CLOSED, SLACK * float(np.abs(_residual(model, q)).max(initial=0.0)))
    if all(any(_is_closed(model, beside(size, way, held), limit) for size in BESIDE) for way in ways):
        return
    # nothing held, they may close at home again, or where the equations are in general position
    size = BESIDE[0]
    others = [at for at in (beside(size, way) for way in ways) if _is_closed(model, at, limit)]
    others = [at for at in others if np.abs(at - q).max() > 0.1 * size]
    general = max((_rank(leading_jacobian(model, at)) for at in others), default=rank)
    first = f"{len(free)} freedoms there"
    if not others:
        raise ModelError(
            "the loops hold the robot fast at home, which is a singular position of theirs",
            where=f"robot {model.name!r}",
            got=f"{first} by its velocities, but no closed positions beside it: it is rigid, like a chain pulled taut",
            fix="change lengths or frames of the loops so that they can move, or make the joints fixed",
        )
    raise ModelError(
        "home is a singular position of the loops",
        where=f"robot {model.name!r}",
        got=f"{first}, {J.shape[1] - general} beside it" if general > rank else f"{first}, not all of which can move",
        fix="choose another home position",
    )


def _choice(model: Model, J: np.ndarray, rank: int) -> tuple[int, ...]:
    """The independent freedoms that are left when the dependent ones are taken: those first that rather depend on
    others, which are passive joints, elastic ones, active ones, and a moving base last. A platform depends or leads as
    a whole."""
    groups: dict[str, list[int]] = {"passive": [], "elastic": [], "active": []}
    for joint in model.leading_joints:
        groups[joint.role] += model.joint_freedoms(joint.name)
    body = [list(range(6))] if model.floating else []
    orders = [[*groups.values(), *body]]
    if model.floating and not model.moving_base:
        orders.insert(0, [*body, *groups.values()])
    for order in orders:
        independent = _left(model, J, rank, order)
        if len([k for k in independent if k < 6]) in (0, 6) or not model.floating:
            return independent
    raise ModelError(
        "loops hold the floating body so that only part of its six freedoms are independent",
        where=f"robot {model.name!r}",
        fix="name the `independent` joints; or replace the floating joint by single ones",
    )


def _left(model: Model, J: np.ndarray, rank: int, groups: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The freedoms left when the dependent ones are taken group by group, best determined first."""
    rest, dependent = J.copy(), []
    for group in groups:
        candidates = list(group)
        while candidates and len(dependent) < rank:
            sizes = np.linalg.norm(rest[:, candidates], axis=0)
            best = candidates.pop(int((sizes >= (1 - ALIKE) * sizes.max()).argmax()))
            if sizes.max() <= RANK * np.linalg.norm(J, 2):
                break
            direction = rest[:, best] / np.linalg.norm(rest[:, best])
            rest -= np.outer(direction, direction @ rest)
            dependent.append(best)
    return tuple(k for k in range(model.n_leading) if k not in dependent)


def _freedoms(model: Model, names: Sequence[str]) -> tuple[int, ...]:
    """Those of the named joints, and of a moving base."""
    given = [k for name in names for k in model.joint_freedoms(name)]
    return tuple(sorted({*given, *range(6 if model.moving_base else 0)}))


def _named(model: Model, names: Sequence[str], J: np.ndarray, rank: int) -> tuple[int, ...]:
    """The freedoms the description calls independent, if they are so."""
    independent = _freedoms(model, names)
    dependent = [k for k in range(model.n_leading) if k not in independent]
    freedoms = J.shape[1] - rank
    if len(independent) != freedoms or _rank(J[:, dependent]) < len(dependent):
        suited = ", ".join(model.names_of(_choice(model, J, rank)))
        raise ModelError(
            "these joints cannot be the independent ones",
            where=f"robot {model.name!r}",
            got=f"{', '.join(names)} ({len(independent)} freedoms)",
            expected=f"{freedoms} freedoms that determine all others",
            fix=f"for example: {suited}" if suited else "leave `independent` out",
        )
    return independent


def _mobility(model: Model, J: np.ndarray, independent: tuple[int, ...], redundant: bool) -> Mobility:
    dependent = [k for k in range(model.n_leading) if k not in independent]
    G = np.zeros((model.n_leading, len(independent)))
    G[list(independent)] = np.eye(len(independent))
    if dependent:
        G[dependent] = -np.linalg.lstsq(J[:, dependent], J[:, list(independent)], rcond=None)[0]
    roles = {k: joint.role for joint in model.leading_joints for k in model.joint_freedoms(joint.name)}
    motors = tuple(k for k, role in roles.items() if role == "active")
    base = set(range(6)) if model.moving_base else set()
    drivable = tuple(k for k in independent if k not in base and roles.get(k) != "elastic")
    got = f"{len(motors)} active joints ({', '.join(model.names_of(motors))}) for {len(independent)} freedoms"
    if _rank(G[list(motors)]) < len(motors) and not redundant:
        raise ModelError(
            "there are more motors than freedoms",
            where=f"robot {model.name!r}",
            got=got,
            expected="as many active joints as freedoms",
            fix="mark joints without a motor `role: passive`; or write `actuation: redundant` to share the work",
        )
    columns = [independent.index(k) for k in drivable]
    if _rank(G[np.ix_(motors, columns)]) < len(drivable):  # not all: then those with a motor of their own
        drivable = tuple(k for k in independent if roles.get(k) == "active")
        if len(drivable) < _rank(G[list(motors)]):
            raise ModelError(
                "the motors cannot drive the independent joints, and some are not among these",
                where=f"robot {model.name!r}",
                got=got,
                expected="as many active joints as freedoms, or all active joints among the independent ones",
                fix="mark more joints active, or let `independent` name the active joints first",
            )
    return Mobility(independent, motors, drivable, tuple(k for k in independent if k not in drivable))
