"""Gains of drives, from motor currents to joint forces, by recordings with and without a known load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compose import compile
from ...errors import LinkworkError
from ...table import Column, Table, notebook
from ..logs.log import Log
from .stacked_regressor import Collector, blocks, frames_of, require_enough, thinning
from .unknowns import FRICTION, Friction, Unknowns, unknowns_of

if TYPE_CHECKING:
    from ...robot import Robot

MOST = 100  # steps
STEADY = 1e-12  # relative change of the squares that ends them
RANK = 1e-9
TOLD = 0.9  # relative error of the currents beyond which nothing was found


@dataclass(frozen=True, eq=False)
class Gains:
    """``values``: joint force per unit of what was recorded, N m/A say, with standard ``deviations``; ``errors``: of
    the recorded values, |recorded - predicted| / |recorded|. ``logs``: the recordings in N m (N), ready to be
    fitted."""

    forces: tuple[str, ...]
    values: np.ndarray
    deviations: np.ndarray
    errors: np.ndarray
    logs: tuple[Log, ...]

    def _repr_html_(self) -> str:
        arrays = (x.tolist() for x in (self.values, self.deviations, 100 * np.asarray(self.errors)))
        columns = [Column("gain", digits=5), Column("deviation", digits=2), Column("error", "%", digits=3)]
        return notebook(Table("", ["drive", *columns], list(zip(self.forces, *arrays, strict=True))))

    def __repr__(self) -> str:
        told = zip(self.forces, self.values, self.deviations, strict=True)
        return f"<linkwork Gains: {', '.join(f'{name} {x:.5g} +- {d:.2g}' for name, x, d in told)}>"


def drive_gains(
    robot: Robot,
    logs: Sequence[Log],
    loads: Sequence[Mapping[str, Any] | None],
    *,
    friction: Friction = FRICTION,
    rotors: bool = True,
    width: float = 0.0,
) -> Gains:
    """Gains from recordings whose ``tau`` are currents, or forces in an unknown unit (Gautier & Briot 2014, "Global
    identification of joint drive gains and dynamic parameters of robots").

    ``loads``: of each recording, none or what was carried, {frame: {"mass": , "center": , "inertia": }} as
    ``Robot.with_payload`` takes it. All other parameters of the robot are unknown, too, and the same in all recordings.
    Least squares of the currents: with i = k (Y x + known) + noise, k and x are found together, by steps of Gauss and
    Newton from the linear problem Y x + known = i / k.
    """
    if wrong := [log for log in logs if not isinstance(log, Log)]:
        raise LinkworkError("this is no recording", where="drive_gains", got=repr(wrong[0])[:80], expected="a Log")
    if len(logs) != len(loads):
        raise LinkworkError("one load for each recording", where="drive_gains", got=f"{len(logs)}, {len(loads)} loads")
    if len({repr(load) for load in loads}) < 2:
        raise LinkworkError(
            "recordings with different loads tell the gains",
            where="drive_gains",
            got=f"{len(logs)} recordings of the same load",
            fix="record the motion with and without a load that was weighed",
        )
    unknowns = unknowns_of(robot, friction, rotors=rotors, width=width, frames=frames_of(logs))
    own = [log.for_robot(unknowns.robot) for log in logs]
    collector = Collector(len(robot.model.mobility.forced), len(unknowns) + 2)
    for log, load in zip(own, loads, strict=True):
        for block in blocks(_loaded(unknowns, robot, load), [log]):
            columns = [block.Y, (block.tau - block.z)[..., None], block.tau[..., None]]
            collector.add(np.concatenate(columns, axis=-1), block)
    information = collector.information(thinning(own))
    require_enough(information, len(unknowns) + len(unknowns.forces), "drive_gains")
    R, count = information.by_force, information.count.sum(axis=0)
    p = len(unknowns)
    Y, known, currents = R[..., :p], R[..., p], R[..., p + 1]
    if dead := [name for name, own in zip(unknowns.forces, currents, strict=True) if not own.any()]:
        raise LinkworkError("currents are always zero", where="drive_gains", got=", ".join(dead))
    gains, deviations, left = _solved(Y, known, currents, count)
    errors = np.sqrt(left / np.maximum(np.einsum("jk,jk->j", currents, currents), np.finfo(float).tiny))
    lost = ~(errors < TOLD) | ~(deviations < np.abs(gains))
    if lost.any():
        raise LinkworkError(
            "the recordings do not tell the gains",
            where="drive_gains",
            got=", ".join(
                f"{name}: {x:.3g} +- {d:.2g}" for name, x, d in zip(unknowns.forces, gains, deviations, strict=True)
            ),
            expected="recordings that differ by the load's forces",
            fix="was the load carried, and does each joint feel it?",
        )
    scaled = tuple(replace(log, tau=np.asarray(log.tau) * gains, notes=(*log.notes, _told(gains))) for log in own)
    return Gains(unknowns.forces, gains, deviations / np.sqrt(information.thin), errors, scaled)


def _told(gains: np.ndarray) -> str:
    return f"joint forces are what was recorded times {', '.join(f'{gain:.5g}' for gain in gains)}"


def _loaded(unknowns: Unknowns, robot: Robot, load: Mapping[str, Any] | None) -> Unknowns:
    """With the load's forces among those that are known."""
    if load is None:
        return unknowns
    bare = compile(robot, "inverse_dynamics", parameters="standard")
    carrying = compile(robot.with_payload(load), "inverse_dynamics", parameters="standard")
    own = unknowns.known

    def known(q: np.ndarray, v: np.ndarray, a: np.ndarray, *wrenches: np.ndarray) -> np.ndarray:
        added = carrying(q, v, a) - bare(q, v, a)
        return added if own is None else added + own(q, v, a, *wrenches)

    return replace(unknowns, known=known)


def _solved(
    Y: np.ndarray, known: np.ndarray, currents: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains, their deviations, and sums of squares by force, from triangles of each force."""
    forces, rows, p = Y.shape
    each = np.arange(forces)

    def slopes(x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the currents by x and k, and what is left of them."""
        thought = Y @ x + known
        J = np.zeros((forces, rows, p + forces))
        J[..., :p] = k[:, None, None] * Y
        J[each, :, p + each] = thought
        return J, currents - k[:, None] * thought

    linear = np.zeros((forces, rows, p + forces))
    linear[..., :p] = Y
    linear[each, :, p + each] = -currents
    first = _least(linear.reshape(-1, p + forces), -known.ravel())[0]
    x, k = first[:p], 1 / first[p:]
    sigma, last = np.ones(forces), np.inf
    for _ in range(MOST):
        J, left = slopes(x, k)
        squares = np.einsum("jk,jk->j", left, left)
        sigma = np.sqrt(np.maximum(squares / np.maximum(count - (p + forces) / forces, 1), np.finfo(float).tiny))
        cost = float(np.log(sigma).sum())
        step, covariance = _least((J / sigma[:, None, None]).reshape(-1, p + forces), (left / sigma[:, None]).ravel())
        x, k = x + step[:p], k + step[p:]
        if abs(last - cost) <= STEADY * max(1.0, abs(cost)):
            break
        last = cost
    deviations = np.sqrt(np.diag(covariance)[p:]) / k**2  # of 1 / k
    return 1 / k, deviations, squares


def _least(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least squares with columns of length one, and the inverse of A^T A."""
    scale = np.linalg.norm(A, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    inverse = np.linalg.pinv(A / scale, rcond=RANK) / scale[:, None]
    return inverse @ b, inverse @ inverse.T
