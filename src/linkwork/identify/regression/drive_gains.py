"""Gains of drives, from motor currents to joint forces, by recordings with and without a known load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compose import compile
from ...errors import LinkworkError, counted
from ...table import Column, Table, notebook
from ..logs.log import Log
from .stacked_regressor import Collector, blocks, frames_of, require_enough, thinning
from .unknowns import FRICTION, Friction, Unknowns, unknowns_of

if TYPE_CHECKING:
    from ...robot import Robot

MOST = 100  # largest number of steps
STEADY = 1e-12  # relative change of the cost that ends them
RANK = 1e-9
LARGEST = 0.9  # relative error of the currents beyond which the gains are not identified


@dataclass(frozen=True, eq=False)
class Gains:
    """Identified gains of drives, the result of ``drive_gains``.

    Attributes:
        forces: Names of the joint forces.
        values: Joint force per unit of what was recorded, such as N m/A, (forces,).
        deviations: Standard deviations of the gains, (forces,).
        errors: Relative errors |recorded - predicted| / |recorded| of the recorded values, (forces,).
        logs: The recordings with forces in N m (N), ready for ``Robot.identify``.

    Example:
        >>> log = linkwork.identify.Log([0.0, 0.1], np.zeros((2, 1)), np.ones((2, 1)))
        >>> linkwork.identify.Gains(("elbow",), np.array([0.5]), np.array([0.01]), np.array([0.02]), (log,))
        <linkwork Gains: elbow 0.5 +- 0.01>
    """

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
        rows = zip(self.forces, self.values, self.deviations, strict=True)
        return f"<linkwork Gains: {', '.join(f'{name} {x:.5g} +- {d:.2g}' for name, x, d in rows)}>"


def drive_gains(
    robot: Robot,
    logs: Sequence[Log],
    loads: Sequence[Mapping[str, Any] | None],
    *,
    friction: Friction = FRICTION,
    rotors: bool = True,
    width: float = 0.0,
) -> Gains:
    """Identify drive gains from recordings whose ``tau`` are currents, or forces in an unknown unit.

    All other parameters of the robot are unknown, too, and the same in all recordings. Gains k and parameters x are
    identified together by least squares of the currents, i = k (Y x + known) + noise, with Gauss-Newton steps from the
    linear problem Y x + known = i / k (Gautier & Briot 2014, "Global identification of joint drive gains and dynamic
    parameters of robots").

    Args:
        robot: The robot.
        logs: Recordings, of at least two different loads.
        loads: The payload of each recording, None or {frame: {"mass": , "center": , "inertia": }} as
            ``Robot.with_payload`` takes it.
        friction: Friction laws to identify, as in ``Robot.identify``. Default: Coulomb, viscous, offset.
        rotors: Whether rotor inertias are unknown. Default: True.
        width: Velocity in rad/s (m/s) within which friction goes smoothly through zero. Default: 0.

    Returns:
        The gains, and the recordings in N m (N).

    Raises:
        LinkworkError: If the loads do not differ, or the recordings do not identify the gains.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> load = {"tip": {"mass": 2.0, "center": [0.1, 0, 0], "inertia": np.zeros((3, 3))}}
        >>> t = np.arange(0, 4, 0.01)[:, None]
        >>> q, v, a = np.sin([2, 3] * t), [2, 3] * np.cos([2, 3] * t), -np.square([2, 3]) * np.sin([2, 3] * t)
        >>> currents = [each.inverse_dynamics(q, v, a) / [2.0, 3.0] for each in (arm, arm.with_payload(load))]
        >>> logs = [linkwork.identify.Log(t[:, 0], q, current, v, a) for current in currents]
        >>> linkwork.identify.drive_gains(arm, logs, [None, load], friction=None).values.round(6)
        array([2., 3.])
    """
    if wrong := [log for log in logs if not isinstance(log, Log)]:
        raise LinkworkError("this is not a recording", where="drive_gains", got=repr(wrong[0])[:80], expected="a Log")
    if len(logs) != len(loads):
        raise LinkworkError("one load for each recording", where="drive_gains", got=f"{len(logs)}, {len(loads)} loads")
    if len({repr(load) for load in loads}) < 2:
        raise LinkworkError(
            "gains need recordings with different loads",
            where="drive_gains",
            got=f"{counted(len(logs), 'recording')} of the same load",
            fix="record the motion with and without a load that was weighed",
        )
    unknowns = unknowns_of(robot, friction, rotors=rotors, width=width, frames=frames_of(logs))
    logs_in_order = [log.for_robot(unknowns.robot) for log in logs]
    collector = Collector(len(robot.model.mobility.forced), len(unknowns) + 2)
    for log, load in zip(logs_in_order, loads, strict=True):
        for block in blocks(_loaded(unknowns, robot, load), [log]):
            columns = [block.Y, (block.tau - block.z)[..., None], block.tau[..., None]]
            collector.add(np.concatenate(columns, axis=-1), block)
    information = collector.information(thinning(logs_in_order))
    require_enough(information, len(unknowns) + len(unknowns.forces), "drive_gains")
    R, count = information.by_force, information.count.sum(axis=0)
    p = len(unknowns)
    Y, known_forces, currents = R[..., :p], R[..., p], R[..., p + 1]
    if dead := [name for name, current in zip(unknowns.forces, currents, strict=True) if not current.any()]:
        raise LinkworkError("currents are always zero", where="drive_gains", got=", ".join(dead))
    gains, deviations, residual = _solve(Y, known_forces, currents, count)
    errors = np.sqrt(residual / np.maximum(np.einsum("jk,jk->j", currents, currents), np.finfo(float).tiny))
    if not ((errors < LARGEST) & (deviations < np.abs(gains))).all():
        raise LinkworkError(
            "the recordings do not identify the gains",
            where="drive_gains",
            got=", ".join(
                f"{name}: {x:.3g} +- {d:.2g}" for name, x, d in zip(unknowns.forces, gains, deviations, strict=True)
            ),
            expected="recordings that differ by the load's forces",
            fix="check that the load was carried and that each joint feels it",
        )
    note = f"joint forces are what was recorded times {', '.join(f'{gain:.5g}' for gain in gains)}"
    scaled_logs = tuple(
        replace(log, tau=np.asarray(log.tau) * gains, notes=(*log.notes, note)) for log in logs_in_order
    )
    return Gains(unknowns.forces, gains, deviations / np.sqrt(information.thin), errors, scaled_logs)


def _loaded(unknowns: Unknowns, robot: Robot, load: Mapping[str, Any] | None) -> Unknowns:
    """Return the unknowns with the load's forces among the known ones."""
    if load is None:
        return unknowns
    bare = compile(robot, "inverse_dynamics", parameters="standard")
    carrying = compile(robot.with_payload(load), "inverse_dynamics", parameters="standard")
    others = unknowns.known_forces

    def known_forces(q: np.ndarray, v: np.ndarray, a: np.ndarray, *wrenches: np.ndarray) -> np.ndarray:
        weight = carrying(q, v, a) - bare(q, v, a)
        return weight if others is None else weight + others(q, v, a, *wrenches)

    return replace(unknowns, known_forces=known_forces)


def _solve(
    Y: np.ndarray, known_forces: np.ndarray, currents: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gains, their deviations, and sums of squares by force, from the triangles of each force."""
    forces, rows, p = Y.shape
    index = np.arange(forces)

    def slopes(x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of the currents with respect to x and k, and the residuals."""
        force = Y @ x + known_forces
        J = np.zeros((forces, rows, p + forces))
        J[..., :p] = k[:, None, None] * Y
        J[index, :, p + index] = force
        return J, currents - k[:, None] * force

    linear = np.zeros((forces, rows, p + forces))
    linear[..., :p] = Y
    linear[index, :, p + index] = -currents
    first = _least_squares(linear.reshape(-1, p + forces), -known_forces.ravel())[0]
    x, k = first[:p], 1 / first[p:]
    sigma, last = np.ones(forces), np.inf
    for _ in range(MOST):
        J, residual = slopes(x, k)
        squares = np.einsum("jk,jk->j", residual, residual)
        sigma = np.sqrt(np.maximum(squares / np.maximum(count - (p + forces) / forces, 1), np.finfo(float).tiny))
        cost = float(np.log(sigma).sum())
        step, covariance = _least_squares(
            (J / sigma[:, None, None]).reshape(-1, p + forces), (residual / sigma[:, None]).ravel()
        )
        x, k = x + step[:p], k + step[p:]
        if abs(last - cost) <= STEADY * max(1.0, abs(cost)):
            break
        last = cost
    deviations = np.sqrt(np.diag(covariance)[p:]) / k**2  # of 1 / k
    return 1 / k, deviations, squares


def _least_squares(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least-squares solution with columns of length one, and the inverse of A^T A."""
    scale = np.linalg.norm(A, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    inverse = np.linalg.pinv(A / scale, rcond=RANK) / scale[:, None]
    return inverse @ b, inverse @ inverse.T
