"""The robot near a state, as a linear system, in continuous time or from step to step."""

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

NOW, STEP = np.array(0.0), 1e-3  # on which nothing depends


class LinearSystem(NamedTuple):
    """x' = A x + B u near a state, or x of the next step = A x + B u: u is the change of tau, then of the commands of
    a robot that takes some; x = (dq, dv), nv of each (of dq more where something rolls: as many as there are directions
    in which positions can change): the step along the tangent from the undisturbed positions
    (``coordinates.difference``), and the change of the velocities; then that of the memory of a controller, if it has
    one."""

    A: np.ndarray
    B: np.ndarray


def linear_steps(_: Workspace) -> dict[str, Function]:
    """What ``linearise`` compiled, by method of integration."""
    return {}


def linearise(
    workspace: Workspace, q: Any, v: Any, tau: Any, dt: float | None, method: str, commands: Any
) -> LinearSystem:
    """At states (..., n); with ``dt`` from step to step of the method."""
    own = sizes(workspace.model)
    acting = [tau, *[np.zeros(own["commands"]) if commands is None else commands] * bool(own["commands"])]
    if dt is None:
        return _continuous(workspace, q, v, acting)
    one_of_names("method with steps of its own", method, schemes())
    steps = workspace.derived(linear_steps)
    if method not in steps:
        still = Options(torque=np.zeros(own["tau"]), commands=np.zeros(own["commands"]) if own["commands"] else None)
        plant = prepare(workspace, None, None, 1, STEP, still, ("q", "v")).plant
        steps[method] = linear_step(plant, schemes()[method], method)
    return LinearSystem(*steps[method](q, v, NOW, np.array(positive(dt, "dt")), *acting))


def _continuous(workspace: Workspace, q: Any, v: Any, acting: Sequence[Any]) -> LinearSystem:
    """Of the motion at states (..., n), from the slopes of forward dynamics.

    The step dq from q along the tangent leads to another motion, and changes as both go on, with v and v + dv:

      (1)  d/dt dq = dv - [v, dq]

    where [v, dq] = v x dq of a body that turns and shifts freely, whose own axes dq is in, and zero where velocities
    are the rates of positions. Where loops are closed, v and dq of all joints are those of the independent ones, by G.
    Where something rolls, dq has more entries than v has, and the velocities of all joints change with it:

      (2)  d/dt dq = G dv + d(G v)/dq dq - [v, dq]
    """
    model = workspace.model
    located, n = list(model.mobility.configuration), model.n_configuration
    _, da_dq, da_dv, *by_acting = workspace.function("forward_dynamics_derivatives")(q, v, *acting)
    batch, rolls = da_dq.shape[:-2], n > model.nv
    A = np.zeros((*batch, n + model.nv, n + model.nv))
    A[..., :n, n:] = workspace.function("velocity_map")(q)[..., located, :] if rolls else np.eye(n)
    A[..., n:, :n], A[..., n:, n:] = da_dq, da_dv
    if not all(joint.kind.straight for joint in model.coordinates.joints):
        G = workspace.function("position_map")(q) if model.constrained else np.eye(n)
        brackets = _brackets(model, workspace.function("joint_velocities")(q, v))
        A[..., :n, :n] = -(brackets @ G)[..., located, :]  # (1)
    if rolls:
        A[..., :n, :n] += workspace.function("joint_velocities").derivative("q")(q, v)[..., located, :]  # (2)
    da_du = np.concatenate(by_acting, axis=-1)
    return LinearSystem(A, np.concatenate([np.zeros((*batch, n, da_du.shape[-1])), da_du], axis=-2))


def _brackets(model: Model, v: np.ndarray) -> np.ndarray:
    """dq -> [v, dq], of all leading joints."""
    whole = np.zeros((*v.shape, v.shape[-1]))
    for joint, at in zip(model.coordinates.joints, model.coordinates.velocity_ranges, strict=True):
        if not joint.kind.straight:
            own = slice(at.start, at.stop)
            whole[..., own, own] = np.einsum("jkm,...j->...mk", _constants(joint), v[..., own])
    return whole


def _constants(joint: Joint) -> np.ndarray:
    """S_j x S_k as a sum of the S_m."""
    S = joint.kind.subspace(joint, joint.kind.neutral())
    crosses = np.array([[list(a.cross(b)) for b in S] for a in S], float)
    return crosses @ np.linalg.pinv(np.array([list(s) for s in S], float))
