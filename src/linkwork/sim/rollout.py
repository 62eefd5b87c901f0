"""Batches of motions, the time loop compiled."""

from __future__ import annotations

from typing import Any

from ..errors import memory_reported
from ..options import Options, one_of_names, positive, whole
from ..workspace import Workspace
from .plant.setup import prepare
from .schemes.fixed_steps import run_steps
from .schemes.integrators import schemes
from .trajectory.trajectory import Trajectory


def rollout(workspace: Workspace, q0: Any, v0: Any, dt: float, steps: int, options: Options) -> Trajectory:
    """Motions from many states at once; see ``Robot.rollout``."""
    method = one_of_names("method of rollouts", options.method, schemes())
    dt, steps = positive(dt, "dt"), whole(steps, "steps")
    outputs = ("q", "v") if options.outputs is None else options.outputs
    with memory_reported("these samples", where="rollout", fix="roll out fewer samples at a time"):
        setup = prepare(workspace, q0, v0, steps, dt, options, outputs)
        return run_steps(setup, method, dt, steps, options).finish()
