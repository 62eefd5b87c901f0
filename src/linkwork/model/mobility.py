"""How a robot with loops can move: positions that close them, the number of freedoms, and which joints tell the others.

Numbers decide, at the home position and beside it: a rank is counted there and the choice is kept for all positions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from . import closure
from .model import Mobility, Model

CLOSED = 1e-10  # metres and radians
ALMOST = 1e-3  # open by so little, the equations of a loop contradict each other by rounded numbers
STEPS = 200
RANK = 1e-6  # of the largest singular value; loops that close by rounded numbers are open by less
TIE = 1e-6  # freedoms determined as well but for this are taken in their order, whatever rounding makes of them
BESIDE = 0.05  # radians or metres: how far beside home the rank is counted again


def with_mobility(model: Model, independent: Sequence[str] = (), redundant: bool = False) -> Model:
    """The robot with its loops closed at ``home`` (a first guess until now) and its freedoms told apart."""
    q = _settled(model, np.array(model.home))
    _require_closed(model, q)
    model = replace(model, home=tuple(q.tolist()))
    J = _jacobian(model, q)
    rank = _rank(J)
    general = max((_rank(_jacobian(model, beside)) for beside in _beside(model, q, J)), default=rank)
    if general > rank:
        raise ModelError(
            "home is a singular position of the loops",
            where=f"robot {model.name!r}",
            got=f"{J.shape[1] - rank} freedoms there, {J.shape[1] - general} beside it",
            fix="choose another home position",
        )
    chosen = _named(model, independent, J, rank) if independent else _choice(model, J, rank)
    return replace(model, closed_mobility=_mobility(model, J, chosen, redundant))


def _settled(model: Model, q: np.ndarray) -> np.ndarray:
    """The positions nearest to closed that are found from a guess.

    Levenberg and Marquardt's steps: as Newton's near the solution, and downhill far from it.
    """
    damping, r, n = 1e-3, _residual(model, q), model.n_leading
    for _ in range(STEPS):
        if np.abs(r).max(initial=0.0) < 0.01 * CLOSED:
            break
        damped = np.vstack([_jacobian(model, q), math.sqrt(damping) * np.eye(n)])
        step = np.linalg.lstsq(damped, np.append(-r, np.zeros(n)), rcond=None)[0]
        moved = np.array(model.moved(q.tolist(), step.tolist()))
        there = _residual(model, moved)
        if there @ there < r @ r:
            q, r, damping = moved, there, damping * 0.1
        else:
            damping = max(damping, 1e-12) * 10
            if damping > 1e12:
                break
    return q


def _is_closed(model: Model, q: np.ndarray) -> bool:
    right_way = all(value > 0 for value in closure.aligned(model, model.expand(q.tolist())))
    return right_way and bool(np.abs(_residual(model, q)).max(initial=0.0) < CLOSED)


def _require_closed(model: Model, q: np.ndarray) -> None:
    if _is_closed(model, q):
        return
    gaps, fix = [], "give `home` positions near a closed one, and check the frames of the loops"
    for loop in model.loops:
        alone = replace(model, loops=(loop,))
        gap = np.abs(_residual(alone, q)).max()
        if CLOSED <= gap < ALMOST:
            fix = "write frames and axes that are meant to be parallel with all digits, such as pi/2 and not 1.5708"
        if gap >= CLOSED:
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
    return _rank(_jacobian(model, np.array(model.home))[:, others]) == len(others)


def _residual(model: Model, q: np.ndarray) -> np.ndarray:
    return np.array(closure.residual(model, model.expand(q.tolist())), float)


def _jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    rows = model.collect_rows(closure.jacobian(model, model.expand(q.tolist())))
    return np.array(rows, float).reshape(len(rows), model.n_leading)


def _rank(J: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(J, tol=RANK * np.linalg.norm(J, 2))) if J.any() else 0


def _beside(model: Model, q: np.ndarray, J: np.ndarray) -> Iterator[np.ndarray]:
    """Closed positions a little beside ``q``, along directions in which the loops can move."""
    _, sizes, directions = np.linalg.svd(J)
    free = directions[int((sizes > RANK * sizes.max(initial=0.0)).sum()) :]
    random = np.random.default_rng(0)
    for _ in range(3 if len(free) else 0):
        direction = random.normal(size=len(free)) @ free
        step = BESIDE * direction / np.abs(direction).max()
        beside = _settled(model, np.array(model.moved(q.tolist(), step.tolist())))
        if _is_closed(model, beside):
            yield beside


def _choice(model: Model, J: np.ndarray, rank: int) -> tuple[int, ...]:
    """The independent freedoms that are left when the dependent ones are taken: those first that rather depend on
    others, which are passive joints, elastic ones, active ones, and a moving base last. A platform depends or leads as
    a whole."""
    groups: dict[str, list[int]] = {"passive": [], "elastic": [], "active": []}
    for joint in model.leading_joints:
        groups[joint.role].append(model.joint_index(joint.name))
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
            first = int((sizes >= (1 - TIE) * sizes.max()).argmax())
            best = candidates.pop(first)
            if sizes[first] <= RANK * np.linalg.norm(J, 2):
                break
            direction = rest[:, best] / sizes[first]
            rest -= np.outer(direction, direction @ rest)
            dependent.append(best)
    return tuple(k for k in range(model.n_leading) if k not in dependent)


def _named(model: Model, names: Sequence[str], J: np.ndarray, rank: int) -> tuple[int, ...]:
    """The freedoms the description calls independent, if they are so."""
    floating = {body.joint.name: tuple(range(6)) for body in model.bodies if body.joint.floating}
    given = [k for name in names for k in floating.get(name) or (model.joint_index(name),)]
    if model.moving_base:
        given += range(6)
    independent = tuple(sorted(set(given)))
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
    roles = {model.joint_index(joint.name): joint.role for joint in model.leading_joints}
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
