"""Noise-free motions, for instrumental variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...control import Point, Sampled
from ...errors import LinkworkError, at_door, method_at_door
from ...sim import Options, simulate
from ...workspace import Workspace
from ..logs.log import Log
from .unknowns import Unknowns

STEP = 1e-3  # largest time step of simulations, in s


def instruments_of(
    unknowns: Unknowns,
    logs: Sequence[Log],
    with_values: Callable[[np.ndarray], Workspace],
    controller: Any = None,
    gains: Mapping[str, Any] | None = None,
) -> Callable[[np.ndarray], list[Log]]:
    """Return a function from unknowns to noise-free motions at the times of the recordings.

    Args:
        unknowns: What is to be identified.
        logs: Recordings as they were passed, with their references.
        with_values: Function from unknowns to the robot with these values.
        controller: If any, the motions are those of a simulated robot that follows the reference, else the reference.
        gains: Gains of the controller, by name.
    """
    for k, log in enumerate(logs, 1):
        if log.reference is None:
            raise LinkworkError(
                "instrumental variables need a motion without noise",
                where=f"recording {k}",
                got="no reference",
                expected="what was commanded: "
                + at_door("Log(..., reference=Point(q, v, a))", "columns reference.q.JOINT, reference.v.JOINT, ..."),
                fix=f"add it, or use {method_at_door('wls')}",
            )
    commanded = [_commanded(log).for_robot(unknowns.robot) for log in logs]
    if controller is None:
        return lambda x: commanded

    def simulated(x: np.ndarray) -> list[Log]:
        workspace = with_values(x)
        return [_simulate(workspace, log, controller, gains) for log in commanded]

    return simulated


def _commanded(log: Log) -> Log:
    q, v, a = log.reference or Point(log.q, log.v, log.a)
    return replace(log, q=q, v=v, a=a)


def _simulate(workspace: Workspace, log: Log, controller: Any, gains: Mapping[str, Any] | None) -> Log:
    every = max(1, int(np.ceil(1 / (log.rate * STEP) - 1e-9)))
    dt = 1 / (log.rate * every)
    t = np.asarray(log.t) - log.t[0]
    motors = workspace.model.motor_places()
    reference = Sampled(t, np.asarray(log.q)[:, motors])
    options = Options(torque=controller, reference=reference, gains=gains, method="rk4", every=every)
    trajectory = simulate(workspace, log.q[0], log.v[0], dt * every * (len(log) - 1), dt, options)
    return replace(log, q=trajectory.q, v=trajectory.v, a=trajectory.a)
