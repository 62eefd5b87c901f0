"""Initial states: positions that close the loops, velocities of all joints, the memory of a controller."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...assembly import SINGULAR, numbers
from ...errors import LinkworkError, ShapeError, UnknownNameError, at_door
from ...model import Model
from ...workspace import Workspace
from .inputs import Shape, vector

OPEN = 1e-6  # metres and radians: loops further open than this are not those of an assembled robot


def given_memory(
    memory: Mapping[str, Shape], values: Mapping[str, Any], counts: Collection[int]
) -> dict[str, np.ndarray]:
    """Where states of a controller shall begin: in the shapes of its ``memory``, perhaps with an axis of samples first,
    of which there may be so many."""
    found = {}
    for name, value in values.items():
        if name not in memory:
            raise UnknownNameError("memory", name, memory, where="memory")
        found[name], shape = numbers(value, f"memory[{name!r}]"), memory[name]
        forms = dict.fromkeys([shape, *((count, *shape) for count in counts)])
        if found[name].shape not in forms:
            expected = " or ".join(map(str, forms))
            raise ShapeError("wrong shape", where=f"memory[{name!r}]", got=found[name].shape, expected=expected)
    return found


def initial(workspace: Workspace, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """q and the velocities of all joints, (samples, n), and the number of samples, None for a single motion."""
    model: Model = workspace.model
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
    for at in model.coordinates.quaternions:
        length = np.linalg.norm(q[:, at], axis=1)
        if not (np.abs(length - 1) < 1e-6).all():
            got = f"length {length[np.abs(length - 1).argmax()]:g}"
            fix = "divide it by its length; a turn by w (rad, about an axis u) is u sin(w/2), cos(w/2)"
            raise ShapeError("a quaternion is not of length one", where="q0", got=got, fix=fix)
        q[:, at] /= length[:, None]
    if model.constrained:
        residual = np.abs(workspace.function("loop_residual")(q)).max()
        if not residual < OPEN:
            raise LinkworkError(
                "the loops are not closed at q0",
                where=f"robot {model.name!r}",
                got=f"open by {residual:g} (m or rad)",
                fix=at_door(
                    "q0 = robot.assemble(positions of the independent joints).q, or robot.home",
                    "give --q of the independent joints alone, or leave it out to start at home",
                ),
            )
        v = _of_all_joints(workspace, q, v)
    return q, v, batch


def velocities(model: Model, v: Any, where: str) -> np.ndarray:
    """Of the independent joints, or of all where loops are closed."""
    if not model.constrained:
        return vector(model, "v", v, where)
    if isinstance(v, Mapping):
        return vector(model, "v_joints" if set(model.coordinates.velocities.joints) <= set(v) else "v", v, where)
    array = numbers(v, where)
    return vector(model, "v_joints" if array.shape[-1:] == (model.coordinates.nv,) else "v", array, where)


def _of_all_joints(workspace: Workspace, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities of all joints that keep the loops closed."""
    model = workspace.model
    if not v.any():
        return np.zeros((len(q), model.coordinates.nv))
    if v.shape[-1] == model.nv:
        if not (conditioning := workspace.function("conditioning")(q)).min() >= SINGULAR:
            raise LinkworkError(
                "the velocities of the independent joints do not tell those of the others at q0",
                where=f"robot {model.name!r}",
                got=f"conditioning {conditioning.min():.1e}",
                fix=f"give v0 of all {model.coordinates.nv} joints: {model.coordinates.velocities}",
            )
        return workspace.function("joint_velocities")(q, v)
    rates = np.abs(workspace.function("loop_rates")(q, v)).max()
    if not rates < OPEN * max(1.0, np.abs(v).max()):
        raise LinkworkError(
            "these velocities of all joints would open the loops",
            where="v0",
            got=f"at a rate of {rates:g} (m/s or rad/s)",
            fix=f"give those of the independent joints alone: {', '.join(model.joint_names)}",
        )
    return v


def zero(model: Model) -> np.ndarray:
    """Home of a robot with loops, else zero, and no rotation."""
    if model.home:
        return np.array(model.home)
    return model.coordinates.neutral()


def rest(model: Model) -> np.ndarray:
    """Where a motion starts if nothing is said: home; or zero, and the middle of its range for a joint that cannot be
    there."""
    q, lower, upper = zero(model), model.coordinates.lower, model.coordinates.upper
    for k in () if model.home else np.flatnonzero((q < lower) | (q > upper)):
        middle = 0.5 * (lower[k] + upper[k])
        q[k] = middle if np.isfinite(middle) else np.clip(0.0, lower[k], upper[k])
    return q
