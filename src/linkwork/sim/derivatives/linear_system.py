"""Linearisation of a robot at a state, in continuous or discrete time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...formulations import sizes
from ...function import Function
from ...model import Joint, Model
from ...options import Options, one_of_names, positive
from ...workspace import Workspace
from ..plant.setup import prepare
from ..schemes.integrators import schemes
from .step_jacobian import linear_step

TIME, STEP = np.array(0.0), 1e-3  # arbitrary time and step; the linear system does not depend on them


class LinearSystem(NamedTuple):
    """Linear system x' = A x + B u near a state, or x of the next step = A x + B u.

    x = (dq, dv, dm). dq is the change of positions along the tangent (``coordinates.difference``). It has nv entries,
    and more for a robot that rolls: one per direction in which positions can change. dv is the change of the nv
    velocities, dm that of the memory of a controller, if there is one. u is the change of tau, and then of the commands
    of a robot that takes some.

    Attributes:
        A: System matrix, (..., n, n).
        B: Input matrix, (..., n, inputs).

    Example:
        >>> A, B = robot.linearise(np.zeros(7), np.zeros(7), np.zeros(7))
        >>> A.shape, B.shape
        ((14, 14), (14, 7))
    """

    A: np.ndarray
    B: np.ndarray


def linear_steps(_: Workspace) -> dict[str, Function]:
    """Return the cache of compiled functions of ``linearise``, by integrator."""
    return {}


def linearise(
    workspace: Workspace, q: Any, v: Any, tau: Any, dt: float | None, method: str, commands: Any
) -> LinearSystem:
    """Return the linear system at states (..., n); with ``dt``, that of a step of the method."""
    size = sizes(workspace.model)
    zero_commands = np.zeros(size["commands"]) if size["commands"] else None
    actions = [tau] if zero_commands is None else [tau, zero_commands if commands is None else commands]
    if dt is None:
        return _continuous(workspace, q, v, actions)
    one_of_names("method with a fixed step", method, schemes())
    steps = workspace.derived(linear_steps)
    if method not in steps:
        options = Options(torque=np.zeros(size["tau"]), commands=zero_commands)
        plant = prepare(workspace, None, None, 1, STEP, options, ("q", "v")).plant
        steps[method] = linear_step(plant, schemes()[method], method)
    return LinearSystem(*steps[method](q, v, TIME, np.array(positive(dt, "dt")), *actions))


def _continuous(workspace: Workspace, q: Any, v: Any, actions: Sequence[Any]) -> LinearSystem:
    """Linear system in continuous time at states (..., n), from the derivatives of forward dynamics.

    A step dq from q along the tangent leads to a neighbouring motion. While both move, with v and v + dv, it changes by

      (1)  d/dt dq = dv - [v, dq]

    where [v, dq] = v x dq for a free body, in its own axes, and zero where velocities are the rates of positions. In a
    robot with loops, v and dq of all joints follow from the independent ones by G. In a robot that rolls, dq has more
    entries than v, and the velocities of all joints depend on dq:

      (2)  d/dt dq = G dv + d(G v)/dq dq - [v, dq]
    """
    model = workspace.model
    located, n = list(model.mobility.configuration), model.n_configuration
    _, da_dq, da_dv, *by_action = workspace.compiled("forward_dynamics_derivatives")(q, v, *actions)
    batch, rolls = da_dq.shape[:-2], n > model.nv
    A = np.zeros((*batch, n + model.nv, n + model.nv))
    A[..., :n, n:] = workspace.compiled("velocity_map")(q)[..., located, :] if rolls else np.eye(n)
    A[..., n:, :n], A[..., n:, n:] = da_dq, da_dv
    if not all(joint.kind.straight for joint in model.coordinates.joints):
        G = workspace.compiled("position_map")(q) if model.constrained else np.eye(n)
        brackets = _brackets(model, workspace.compiled("joint_velocities")(q, v))
        A[..., :n, :n] = -(brackets @ G)[..., located, :]  # (1)
    if rolls:
        A[..., :n, :n] += workspace.compiled("joint_velocities").derivative("q")(q, v)[..., located, :]  # (2)
    da_du = np.concatenate(by_action, axis=-1)
    return LinearSystem(A, np.concatenate([np.zeros((*batch, n, da_du.shape[-1])), da_du], axis=-2))


def _brackets(model: Model, v: np.ndarray) -> np.ndarray:
    """Matrix of dq -> [v, dq], over all joints that are not mimic joints."""
    matrix = np.zeros((*v.shape, v.shape[-1]))
    for joint, entries in zip(model.coordinates.joints, model.coordinates.velocity_ranges, strict=True):
        if not joint.kind.straight:
            block = slice(entries.start, entries.stop)
            matrix[..., block, block] = np.einsum("jkm,...j->...mk", _structure_constants(joint), v[..., block])
    return matrix


def _structure_constants(joint: Joint) -> np.ndarray:
    """Coefficients (j, k, m) of S_j x S_k as a sum of the S_m."""
    S = joint.kind.subspace(joint, joint.kind.neutral())
    crosses = np.array([[list(a.cross(b)) for b in S] for a in S], float)
    return crosses @ np.linalg.pinv(np.array([list(s) for s in S], float))
