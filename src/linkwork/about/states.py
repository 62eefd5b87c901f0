"""States of a robot: what the entries of vectors are called, their units, and random ones."""

from __future__ import annotations

import math

import numpy as np

from ..assembly import Assembler
from ..formulations import Variable, sizes
from ..model import Model
from ..robot import Robot
from ..sim import entry_names, zero

SPREAD = 0.3  # radians and metres, of random positions around home
WELL = 1e-2  # conditioned, so that methods can be compared


def entries(model: Model, vector: str) -> list[str]:
    return list(entry_names(model, vector))


def neutral(model: Model, vector: str) -> np.ndarray:
    """All zeros, and no rotation where a quaternion tells it; of a robot with loops the positions at home."""
    return zero(model) if vector == "q" else np.zeros(sizes(model)[vector])


def unit(model: Model, variable: Variable, *, base: bool = True) -> str:
    """Of the entries of a variable (with those of a floating base), e.g. ``rad``, or ``rad | m`` if there are both."""
    if isinstance(variable.unit, str):
        return variable.unit
    turning, sliding = variable.unit
    joints = [joint for joint in model.coordinates.joints if base or not joint.kind.free]
    turns = {turns for joint in joints for turns in joint.kind.turning}
    return f"{turning} | {sliding}" if len(turns) == 2 else sliding if turns == {False} else turning


def random_states(robot: Robot, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """All vectors of ``count`` states, the same ones each time; loops are closed."""
    model, rng = robot.model, np.random.default_rng(seed)
    if model.loops:
        q = _assembled(model, count, rng)
    else:
        q = model.coordinates.normalised(rng.uniform(-math.pi, math.pi, (count, model.nq)))
    others = ("v", "v_joints", "a", "tau", "a_known", "tau_known")
    return {"q": q} | {name: rng.standard_normal((count, sizes(model)[name])) for name in others}


def _assembled(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Positions around home with closed loops."""
    assembler = Assembler(model)
    known = list(assembler.known)
    found, step = np.empty((0, model.nq)), np.zeros((2 * count, model.n_leading))
    for spread in (SPREAD / 2**k for k in range(20)):
        step[:, known] = rng.uniform(-spread, spread, (2 * count, len(known)))
        assembly = assembler(model.coordinates.integrate(np.array(model.home), step)[:, assembler.places])
        found = np.concatenate([found, assembly.q[assembly.solved & (assembly.conditioning > WELL)]])
        if len(found) >= count:
            break
    return found[np.arange(count) % len(found)]
