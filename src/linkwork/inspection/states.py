"""States of a robot: what the entries of vectors are called, their units, and random ones."""

from __future__ import annotations

import math

import numpy as np

from ..assembly import Assembler
from ..formulations import layouts, sizes
from ..model import Model
from ..pipeline import compile
from ..robot import Robot
from ..sim import zero

SPREAD = 0.3  # radians and metres, of random positions around home
WELL = 1e-2  # conditioned, so that methods can be compared
INERTIA, VISCOUS, STIFFNESS = ("kg m^2", "kg"), ("N m s", "N s/m"), ("N m", "N/m")  # of joints: turns, shifts


def entries(model: Model, vector: str) -> list[str]:
    """Names of the entries of a kind of vector: q, v, a, tau, ..."""
    return list(layouts(model)[vector].names)


def neutral(model: Model, vector: str) -> np.ndarray:
    """All zeros, and no rotation where a quaternion tells it; of a robot with loops the positions at home. All contacts
    are on."""
    if vector == "contacts":
        return np.ones(len(model.switched))
    return zero(model) if vector == "q" else np.zeros(sizes(model)[vector])


def unit(model: Model, own: str | tuple[str, str], *, base: bool = True) -> str:
    """Of a variable with this unit, or these of turns and of shifts (with those of a floating base): ``rad``, for
    example, or ``rad | m`` if there are both."""
    if isinstance(own, str):
        return own
    turning, sliding = own
    joints = [joint for joint in model.coordinates.joints if base or not joint.kind.free]
    turns = {turns for joint in joints for turns in joint.kind.turning}
    return f"{turning} | {sliding}" if len(turns) == 2 else sliding if turns == {False} else turning


def random_states(robot: Robot, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """All vectors of ``count`` states, the same ones each time; loops are closed."""
    model, rng = robot.model, np.random.default_rng(seed)
    if model.constrained:
        q = _assembled(model, count, rng)
    else:
        q = model.coordinates.normalised(rng.uniform(-math.pi, math.pi, (count, model.nq)))
    others = ("v", "v_joints", "a", "tau", "a_known", "tau_known", "commands")
    contacts = rng.integers(0, 2, (count, len(model.switched))).astype(float)
    given = {"q": q, "contacts": contacts, "restitution": 0.5 * contacts}
    return given | {name: rng.standard_normal((count, sizes(model)[name])) for name in others}


def _assembled(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Positions around home with closed loops, and well-conditioned velocities. What rolls starts from other places,
    too, since its base is known in part."""
    assembler = Assembler(model)
    known, rolls = list(assembler.known), model.n_configuration > model.nv
    conditioning = compile(model, "conditioning") if rolls else None
    found, step = np.empty((0, model.nq)), np.zeros((2 * count, model.coordinates.nv))
    for spread in (SPREAD / 2**k for k in range(20)):
        step[:, known] = rng.uniform(-spread, spread, (2 * count, len(known)))
        q = model.coordinates.integrate(np.array(model.home), step)
        assembly = assembler(q[:, assembler.places], guess=q if rolls else None)
        q = assembly.q[assembly.solved & (assembly.conditioning > WELL)]
        found = np.concatenate([found, q[conditioning(q) > WELL] if conditioning else q])
        if len(found) >= count:
            break
    return found[np.arange(count) % len(found)]
