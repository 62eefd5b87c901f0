"""Mobility of a robot with constraints: closed positions, degrees of freedom, and independent joints.

It is computed from numbers at the home position and near it: the rank is found there, and the choice is kept for all
positions. Singular equations allow velocities without motion (a chain pulled straight between two points), so a degree
of freedom counts only if the loops can also be closed near home, in all directions that the velocities allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from ..errors import ModelError
from ..model import POINT, Constraint, Mobility, Model
from .equations import ConstraintEquations, Way, holding_positions, in_loops
from .independent_rows import NOTHING, closing_jacobian, constraint_jacobian, independent_rows, velocity_units
from .projection import closer, numbers, search, shortest

CLOSED = 1e-10  # metres and radians
OPEN = 1e-6  # metres and radians: gap due to rounded numbers in a file, which gives a warning
ALMOST = 1e-3  # metres and radians: a smaller gap is probably due to rounded numbers
STEPS = 200
RANK = 1e-5  # smaller singular values, relative to the largest, are zero; at a double root they are known to 1e-7
ALIKE = 1e-6  # relative: columns with a smaller difference are equally good
SLACK = 10  # times the residual at home
FLAT = 1e-6  # radians: a wheel whose axle is closer to the normal lies flat
ANOTHER_HOME = "choose another home position (`home` in a YAML file or a side file)"
NEARBY = 0.05, 0.006  # radians: distances from home, at one of which the loops must close


def with_mobility(model: Model, independent: Sequence[str] = (), redundant: bool = False) -> Model:
    """Return the robot with its loops closed at ``home``, which was a first guess, and with its mobility."""
    _require_upright(model)
    q = _closed_home(model, independent)
    _require_closed(model, q)
    model = replace(model, home=tuple(q.tolist()))
    J, holonomic = constraint_jacobian(model, q), closing_jacobian(model, q)
    rank, closing = _rank(J), _rank(holonomic)
    _require_moving(model, q, holonomic, closing)
    if len(holonomic) < len(J):
        _require_rolling(model, q, J, rank, holonomic)
    choice = _independent_by_name(model, independent, J, rank) if independent else _choose_independent(model, J, rank)
    mobility = _mobility(model, J, choice, redundant)
    others = [k for k in range(model.coordinates.nv) if k not in choice]
    configuration = _independent_by_groups(model, holonomic, closing, [others, choice])
    enough = len(mobility.motors) == len(configuration) and determines(model, mobility.motors)
    known = mobility.motors if enough else configuration
    rows = independent_rows(model, rank, closing)
    return replace(model, closed_mobility=replace(mobility, rows=rows, configuration=configuration, known=known))


def _closed_home(model: Model, independent: Sequence[str]) -> np.ndarray:
    """Return closed positions near home. If possible, the independent joints keep their positions, and modes stay zero;
    a rolling robot is set down as it is."""
    start, freedoms = np.array(model.home), list(_freedoms(model, independent))
    if not (freedoms or all(holding_positions(model))):
        freedoms = [k for k in range(model.coordinates.nv) if not model.coordinates.joint_of(k).kind.free]
    modes = [k for k in range(model.coordinates.nv) if model.coordinates.joint_of(k).kind.modes and k not in freedoms]
    for candidates in filter(None, ([*freedoms, *modes], freedoms, modes)):
        q = _closest_closed(model, start, np.delete(np.eye(model.coordinates.nv), candidates, axis=0))
        if _is_closed(model, q):
            return q
    return _closest_closed(model, start)


def _closest_closed(model: Model, q: np.ndarray, along: np.ndarray | None = None) -> np.ndarray:
    """Return the positions nearest to closed, from a guess; ``along``: allowed directions, default all."""
    along = np.eye(model.coordinates.nv) if along is None else along

    def step(at: np.ndarray, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        equations = ConstraintEquations.closing(model, at[0].tolist())
        solution = closer(equations, at[0].tolist(), shortest(along, float(damping[0, 0])))
        return np.array([solution]), np.array([equations.residual], float)

    return search(step, q[None], 0.01 * CLOSED, STEPS)[0][0]


def _is_closed(model: Model, q: np.ndarray, limit: float = CLOSED) -> bool:
    aligned = all(value > 0 for value in ConstraintEquations.at(model, q.tolist()).aligned)
    return aligned and bool(np.abs(_residual(model, q)).max(initial=0.0) < limit)


def _require_closed(model: Model, q: np.ndarray) -> None:
    if _is_closed(model, q, OPEN):
        return
    gaps, fix = [], "give `home` positions near a closed one, and check the frames of the loops"
    for loop in model.permanent:
        alone = model.with_permanent((loop,))
        gap = np.abs(_residual(alone, q)).max()
        if OPEN <= gap < ALMOST:
            fix = "write frames and axes that should be parallel with all digits, such as pi/2 and not 1.5708"
        if gap >= OPEN:
            message, special_fix = loop.kind.gap(_label(loop), gap)
            gaps.append(message)
            fix = special_fix or fix
        elif ConstraintEquations.at(alone, q.tolist()).aligned[0] <= 0:
            gaps.append(f"the frames of loop {loop.name!r} point in opposite directions")
            fix = "rotate one of the two frames by half a turn"
    raise ModelError(
        "the loops cannot be closed",
        where=f"robot {model.name!r}",
        got="; ".join(gaps),
        expected="a home position near which they close",
        fix=fix,
    )


def _label(loop: Constraint) -> str:
    """Return its kind and name, for messages."""
    return f"{loop.kind.word} {loop.name!r}"


def _require_upright(model: Model) -> None:
    """Raise ModelError for a wheel that lies flat, which has no rolling direction."""
    for loop, way in zip(model.permanent, ConstraintEquations.at(model, model.home).ways(), strict=True):
        axle = loop.kind.lean(way.end) if isinstance(way, Way) else None
        if axle and (lean := math.hypot(*map(float, axle))) < FLAT:
            raise ModelError(
                f"the {loop.kind.name} lies flat on its plane",
                where=f"robot {model.name!r}, {loop.kind.name} {loop.name!r}",
                got=f"an axle that leans out of the normal by {lean:.1g} rad",
                expected="z of its frame along the axle, z of the plane's frame along the normal",
                fix=f"turn one of the frames (rpy: [pi/2, 0, 0]), or {ANOTHER_HOME}",
            )


def _require_rolling(model: Model, q: np.ndarray, J: np.ndarray, rank: int, holonomic: np.ndarray) -> None:
    """Raise ModelError if wheels block each other, or if home is a singular position of the rolling constraints."""
    free = np.linalg.svd(J)[2][rank:]
    stalled = [k for k in _motors(model) if not np.abs(free[:, k]).max(initial=0.0) > NOTHING]
    if (stalled or not len(free)) and stand_still(model):
        others = ", ".join(_label(loop) for loop in model.permanent if not loop.kind.closes_loop)
        raise ModelError(
            "the wheels block each other: no allowed motion moves one of them",
            where=f"robot {model.name!r}",
            got=f"{len(free)} degrees of freedom, with {others}",
            expected="axles that are parallel or intersect above one point of the plane, and gears that let them turn",
            fix="turn a wheel's frame or let it steer; or let it slip across (kind: omni) or glide (kind: glide)",
        )
    ways = np.random.default_rng(0).normal(size=(3, model.coordinates.nv))
    ways -= (np.linalg.pinv(holonomic, rcond=RANK) @ (holonomic @ ways.T)).T
    ways *= NEARBY[0] * velocity_units(model, q)
    nearby = [_closest_closed(model, np.array(model.moved(q.tolist(), way.tolist()))) for way in ways]
    others = [constraint_jacobian(model, at) for at in nearby]
    general = max(map(_rank, others))
    if general == rank and max(_moved_by_motors(model, at) for at in others) > _moved_by_motors(model, J):
        raise ModelError(
            "home is a singular position: the motors do not determine how the robot rolls there",
            where=f"robot {model.name!r}",
            got=f"motors {', '.join(model.names_of(_motors(model)))}, which move together there and not near it",
            expected="axles that are not all parallel and do not intersect in one point",
            fix=ANOTHER_HOME,
        )
    if general > rank:
        raise ModelError(
            "home is a singular position of the rolling constraints",
            where=f"robot {model.name!r}",
            got=f"{model.coordinates.nv - rank} degrees of freedom there, {model.coordinates.nv - general} near it",
            fix=f"{ANOTHER_HOME}; or couple steering joints by gears, or let a wheel slip (kind: omni)",
        )


def stand_still(model: Model) -> bool:
    """Return whether no allowed motion at home moves a wheel along its plane."""
    wheels = [loop for loop in model.permanent if loop.kind.touches]
    points = tuple(Constraint(loop.name, POINT, loop.first, loop.second) for loop in wheels)
    J, units = constraint_jacobian(model, np.array(model.home)), velocity_units(model, np.array(model.home))
    centres = numbers(ConstraintEquations.at(model.with_permanent(points), model.home).J, model.coordinates.nv) * units
    directions = centres @ np.linalg.svd(J)[2][_rank(J) :].T
    return bool(wheels) and not np.abs(directions).max(initial=0.0) > NOTHING * np.abs(centres).max(initial=0.0)


def _motors(model: Model) -> tuple[int, ...]:
    return tuple(k for k in range(model.coordinates.nv) if model.coordinates.joint_of(k).driven)


def _moved_by_motors(model: Model, J: np.ndarray) -> int:
    """Return the number of independent motions of the motors, for velocities with J v = 0."""
    return _rank(np.linalg.svd(J)[2][_rank(J) :][:, list(_motors(model))])


def _couplings(model: Model, ways: int) -> Sequence[Constraint]:
    """Return the constraints without which the motors would have more independent motions; all, if it takes several."""
    couplings = []
    for loop in model.permanent:
        rest = model.with_permanent(other for other in model.permanent if other is not loop)
        if _moved_by_motors(model, constraint_jacobian(rest, np.array(model.home))) > ways:
            couplings.append(loop)
    return couplings or model.permanent


def determines(model: Model, freedoms: Sequence[int]) -> bool:
    """Return whether the positions of these non-mimic velocities determine all others, at home."""
    others = [k for k in range(model.coordinates.nv) if k not in freedoms]
    return _rank(closing_jacobian(model, np.array(model.home))[:, others]) == len(others)


def _residual(model: Model, q: np.ndarray) -> np.ndarray:
    return np.array(ConstraintEquations.closing(model, q.tolist()).residual, float)


def _rank(J: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(J, tol=RANK * np.linalg.norm(J, 2))) if J.any() else 0


def _require_moving(model: Model, q: np.ndarray, J: np.ndarray, rank: int) -> None:
    """Raise ModelError unless the loops can be closed near home in all directions that their velocities allow."""
    directions, units = np.linalg.svd(J)[2], velocity_units(model, q)
    constrained, free = directions[:rank] * units, directions[rank:]
    ways = np.random.default_rng(0).normal(size=(3 if len(free) else 0, len(free))) @ free
    ways *= units / np.abs(ways).max(axis=-1, keepdims=True)

    def near_home(size: float, way: np.ndarray, along: np.ndarray | None = None) -> np.ndarray:
        return _closest_closed(model, np.array(model.moved(q.tolist(), (size * way).tolist())), along)

    limit = max(CLOSED, SLACK * float(np.abs(_residual(model, q)).max(initial=0.0)))
    if all(any(_is_closed(model, near_home(size, way, constrained), limit) for size in NEARBY) for way in ways):
        return
    # with all directions allowed, they may close at home again, or at a regular position
    size = NEARBY[0]
    others = [at for at in (near_home(size, way) for way in ways) if _is_closed(model, at, limit)]
    others = [at for at in others if np.abs(model.coordinates.difference(q, at) / units).max() > 0.1 * size]
    general = max((_rank(closing_jacobian(model, at)) for at in others), default=rank)
    there = f"{len(free)} degrees of freedom there"
    if not others:
        raise ModelError(
            "the loops are rigid at home, which is a singular position",
            where=f"robot {model.name!r}",
            got=f"{there} by its velocities, but no closed positions near it, like a chain pulled taut",
            fix="change lengths or frames of the loops so that they can move, or make the joints fixed",
        )
    raise ModelError(
        "home is a singular position of the loops",
        where=f"robot {model.name!r}",
        got=f"{there}, {J.shape[1] - general} near it" if general > rank else f"{there}, not all of which can move",
        fix=ANOTHER_HOME,
    )


def _choose_independent(model: Model, J: np.ndarray, rank: int) -> tuple[int, ...]:
    """Return the independent velocities.

    The dependent ones are chosen first from floating bodies, then from passive, elastic and active joints, and within
    each role from joints with several degrees of freedom. A floating body is dependent or independent as a whole, if
    possible without replacing a motor: if there are fewer motors than degrees of freedom, all stay independent.
    """
    bodies: list[range] = []
    roles: dict[str, list[list[int]]] = {role: [[], []] for role in ("passive", "elastic", "active")}
    for joint, entries in zip(model.coordinates.joints, model.coordinates.velocity_ranges, strict=True):
        if joint.kind.free:
            bodies.append(entries)
        else:
            roles[joint.role][len(entries) == 1] += entries
    motors = {*_motors(model)}
    last: list[range] = []  # floating bodies that are chosen as dependent only at the end
    first = None
    while True:
        order = [*(body for body in bodies if body not in last), *chain.from_iterable(roles.values()), *last]
        independent = _independent_by_groups(model, J, rank, order)
        first = first or independent
        if len(motors) < len(independent) and motors <= {*first} and not motors <= {*independent}:
            return first
        split = [body for body in bodies if 0 < len({*body} & {*independent}) < len(body)]
        if not split:
            return independent
        if all(body in last for body in split):
            return first
        last += [body for body in split if body not in last]


def _independent_by_groups(model: Model, J: np.ndarray, rank: int, groups: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the independent velocities when dependent ones are chosen group by group, best determined first."""
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
    return tuple(k for k in range(model.coordinates.nv) if k not in dependent)


def _freedoms(model: Model, names: Sequence[str]) -> tuple[int, ...]:
    """Return the velocities of named joints, or entries of them, and of joints in no loop, such as a moving base."""
    within = in_loops(model)
    others = [joint.name for joint in model.coordinates.joints if joint.name not in within]
    return tuple(sorted({k for name in (*names, *others) for k in model.joint_freedoms(name)}))


def _independent_by_name(model: Model, names: Sequence[str], J: np.ndarray, rank: int) -> tuple[int, ...]:
    """Return the velocities that the description calls independent; raises ModelError if they are not."""
    independent = _freedoms(model, names)
    dependent = [k for k in range(model.coordinates.nv) if k not in independent]
    freedoms = J.shape[1] - rank
    if len(independent) != freedoms or _rank(J[:, dependent]) < len(dependent):
        within = in_loops(model)
        choice = [k for k in _choose_independent(model, J, rank) if model.coordinates.joint_of(k).name in within]
        suggestions = ", ".join(model.coordinates.of_freedoms(choice).names)
        raise ModelError(
            "these joints cannot be the independent ones",
            where=f"robot {model.name!r}",
            got=f"{', '.join(names)} ({len(independent)} degrees of freedom)",
            expected=f"{freedoms} degrees of freedom that determine all others",
            fix=f"for example: {suggestions}" if suggestions else "leave `independent` out",
        )
    return independent


def _mobility(model: Model, J: np.ndarray, independent: tuple[int, ...], redundant: bool) -> Mobility:
    dependent = [k for k in range(model.coordinates.nv) if k not in independent]
    G = np.zeros((model.coordinates.nv, len(independent)))
    G[list(independent)] = np.eye(len(independent))
    if dependent:
        G[dependent] = -np.linalg.lstsq(J[:, dependent], J[:, list(independent)], rcond=None)[0]
    joints = [model.coordinates.joint_of(k) for k in range(model.coordinates.nv)]
    motors = _motors(model)
    motion = np.abs(G[list(motors)]).max(axis=0, initial=0.0) > NOTHING * np.abs(G).max(initial=0.0)
    drivable = tuple(k for k, moves in zip(independent, motion, strict=True) if moves and joints[k].role != "elastic")
    got = f"{len(motors)} active joints ({', '.join(model.names_of(motors))}) for {len(independent)} degrees of freedom"
    ways = _rank(G[list(motors)])
    if ways < len(motors) and not redundant:
        many = len(motors) > len(independent)
        labels = ", ".join(map(_label, _couplings(model, ways)))
        raise ModelError(
            "there are more motors than degrees of freedom" if many else "the motors' velocities depend on each other",
            where=f"robot {model.name!r}",
            got=f"{got}; their velocities have rank {ways}, coupled by {labels}",
            expected="as many active joints as degrees of freedom" if many else "motors that nothing couples",
            fix="mark joints without a motor `role: passive`; or write `actuation: redundant` to share the work",
        )
    columns = [independent.index(k) for k in drivable]
    if _rank(G[np.ix_(motors, columns)]) < len(drivable):  # not all: then only those that have a motor themselves
        drivable = tuple(k for k in independent if joints[k].driven)
        if len(drivable) < ways:
            raise ModelError(
                "the motors cannot drive the independent joints, and some motors are not independent",
                where=f"robot {model.name!r}",
                got=got,
                expected="as many active joints as degrees of freedom, or only independent active joints",
                fix="mark more joints active, or let `independent` name the active joints first",
            )
    return Mobility(independent, motors, drivable, tuple(k for k in independent if k not in drivable))
