"""Initial states: positions that close the loops, velocities of all joints, the memory of a controller."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...assembly import SINGULAR, finite_array
from ...errors import LinkworkError, ShapeError, UnknownNameError, at_door
from ...model import Model
from ...workspace import Workspace
from .inputs import Shape, vector

OPEN = 1e-6  # metres and radians: residual from which on loops count as open


def initial_memory(
    memory: Mapping[str, Shape], values: Mapping[str, Any], counts: Collection[int]
) -> dict[str, np.ndarray]:
    """Return initial values of a controller's states, checked.

    Each has the shape in ``memory``, or an axis of samples before it whose length is one of ``counts``.
    """
    arrays = {}
    for name, value in values.items():
        if name not in memory:
            raise UnknownNameError("memory", name, memory, where="memory")
        where, shape = f"memory[{name!r}]", memory[name]
        arrays[name] = finite_array(value, where)
        forms = dict.fromkeys([shape, *((count, *shape) for count in counts)])
        if arrays[name].shape not in forms:
            expected = " or ".join(map(str, forms))
            raise ShapeError("wrong shape", where=where, got=arrays[name].shape, expected=expected)
    return arrays


def initial(model: Model, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return q and v (samples, n), and the batch size, None for a single motion."""
    q = rest(model) if q0 is None else vector(model, "q", q0, "q0")
    v = np.zeros(model.nv) if v0 is None else velocities(model, v0, "v0")
    batches = {len(x) for x in (q, v) if x.ndim == 2}
    if len(batches) > 1:
        raise ShapeError("q0 and v0 have different numbers of samples", got=f"{q.shape} and {v.shape}")
    batch = batches.pop() if batches else None
    if batch == 0:
        raise ShapeError("there are no samples", where="q0", got=q.shape)
    q, v = (x if x.ndim == 2 else x[None].repeat(batch or 1, axis=0) for x in (q, v))
    if model.coordinates.quaternions:
        q = q.copy()
    for entries in model.coordinates.quaternions:
        length = np.linalg.norm(q[:, entries], axis=1)
        if not (np.abs(length - 1) < 1e-6).all():
            got = f"length {length[np.abs(length - 1).argmax()]:g}"
            fix = "divide it by its norm; a rotation by w (rad) about a unit axis u is (u sin(w/2), cos(w/2))"
            raise ShapeError("a quaternion has not unit length", where="q0", got=got, fix=fix)
        q[:, entries] /= length[:, None]
    return q, v, batch


def joint_velocities(workspace: Workspace, q: np.ndarray, v: np.ndarray, geometry: Mapping[str, Any]) -> np.ndarray:
    """Return the velocities of all joints (samples, n); raises if loops are open, or if velocities would open them.

    ``geometry``: values of those inputs on which the loops depend, (samples or 1, ...), by name.
    """
    model: Model = workspace.model
    if not model.constrained:
        return v
    residual = np.abs(workspace.compiled("loop_residual", inputs=[*geometry])(q, **geometry)).max()
    if not residual < OPEN:
        fix = at_door(
            "q0 = robot.assemble(positions of the independent joints).q, or robot.home",
            "give --q of the independent joints alone, or omit it to start at home",
        )
        if geometry:
            fix = f"give each sample a q0 that closes its loops, by robot.compile('assemble', inputs={[*geometry]})"
        raise LinkworkError(
            "the loops are not closed at q0",
            where=f"robot {model.name!r}" + (f", with vary={{{', '.join(map(repr, geometry))}}}" if geometry else ""),
            got=f"open by {residual:g} (m or rad)",
            fix=fix,
        )
    return _joint_velocities(workspace, q, v, geometry)


def velocities(model: Model, v: Any, where: str) -> np.ndarray:
    """Return velocities of the independent joints or, of a robot with loops, of all joints if all are passed."""
    if not model.constrained:
        return vector(model, "v", v, where)
    if isinstance(v, Mapping):
        return vector(model, "v_joints" if set(model.coordinates.velocities.joints) <= set(v) else "v", v, where)
    array = finite_array(v, where)
    return vector(model, "v_joints" if array.shape[-1:] == (model.coordinates.nv,) else "v", array, where)


def _joint_velocities(workspace: Workspace, q: np.ndarray, v: np.ndarray, geometry: Mapping[str, Any]) -> np.ndarray:
    """Velocities of all joints (samples, n) that keep the loops closed."""
    model, inputs = workspace.model, [*geometry]
    if not v.any():
        return np.zeros((len(q), model.coordinates.nv))
    if v.shape[-1] == model.nv:
        if not (conditioning := workspace.compiled("conditioning", inputs=inputs)(q, **geometry)).min() >= SINGULAR:
            raise LinkworkError(
                "velocities of the independent joints do not determine the others at q0",
                where=f"robot {model.name!r}",
                got=f"conditioning {conditioning.min():.1e}",
                fix=f"give v0 of all {model.coordinates.nv} joints: {model.coordinates.velocities}",
            )
        return workspace.compiled("joint_velocities", inputs=inputs)(q, v, **geometry)
    residual_rate = np.abs(workspace.compiled("loop_rates", inputs=inputs)(q, v, **geometry)).max()
    if not residual_rate < OPEN * max(1.0, np.abs(v).max()):
        raise LinkworkError(
            "velocities of all joints would open the loops",
            where="v0",
            got=f"a residual rate of {residual_rate:g} (m/s or rad/s)",
            fix=f"give v0 of the independent joints alone: {', '.join(model.joint_names)}",
        )
    return v


def zero(model: Model) -> np.ndarray:
    """Return home of a robot with loops; else zeros and identity rotations."""
    if model.home:
        return np.array(model.home)
    return model.coordinates.neutral()


def rest(model: Model) -> np.ndarray:
    """Return the default initial position: home, or zero.

    A joint whose range excludes zero starts in the middle of its range.
    """
    q, lower, upper = zero(model), model.coordinates.lower, model.coordinates.upper
    for k in () if model.home else np.flatnonzero((q < lower) | (q > upper)):
        middle = 0.5 * (lower[k] + upper[k])
        q[k] = middle if np.isfinite(middle) else np.clip(0.0, lower[k], upper[k])
    return q
