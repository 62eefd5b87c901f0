"""States of a robot: names and units of the entries of vectors, and random states."""

from __future__ import annotations

import math

import numpy as np

from ..assembly import Assembler
from ..compose import compile
from ..formulations import VARIABLES, layouts, sizes
from ..model import Model
from ..robot import Robot
from ..sim import zero

SPREAD = 0.3  # rad and m, of random positions around home
BEYOND = 1e-2  # rad and m, from the guess of an assembly to its known positions
DAMPING = 0.1  # m and rad, of a pseudo-inverse
WELL = 1e-2  # least conditioning, so that methods can be compared
INERTIA, VISCOUS, STIFFNESS = (
    ("kg m^2", "kg"),
    ("N m s", "N s/m"),
    ("N m", "N/m"),
)  # of revolute and of prismatic joints


def entries(model: Model, vector: str) -> list[str]:
    """Return the names of the entries of a vector: q, v, a, tau, ...; a number has one entry, of its own name."""
    return [vector] if is_number(vector) else list(layouts(model)[vector].names)


def is_number(name: str) -> bool:
    """Return whether an input is one number instead of a vector."""
    return name in VARIABLES and not VARIABLES[name].shape


def neutral(model: Model, vector: str) -> np.ndarray:
    """Return the default of a vector: zeros, identity rotations, the home of a robot with loops, all contacts on, some
    damping."""
    if vector == "contacts":
        return np.ones(len(model.switched))
    if vector == "damping":
        return np.array([DAMPING])
    if vector == "positions":
        return zero(model)[_known_places(model)]
    return zero(model) if vector in ("q", "guess") else np.zeros(sizes(model)[vector])


def _known_places(model: Model) -> list[int]:
    """Return the indices in q of the positions that ``assemble`` takes."""
    return model.coordinates.places(layouts(model)["positions"].joints)


def unit(model: Model, units: str | tuple[str, str], *, base: bool = True) -> str:
    """Return the unit of a robot's joints, such as ``rad``; ``rad | m`` if it has both kinds.

    ``units``: one unit, or a pair for rotations and translations. ``base``: whether a floating base counts.
    """
    if isinstance(units, str):
        return units
    turning, sliding = units
    joints = [joint for joint in model.coordinates.joints if base or not joint.kind.free]
    turns = {turns for joint in joints for turns in joint.kind.turning}
    return f"{turning} | {sliding}" if len(turns) == 2 else sliding if turns == {False} else turning


def random_states(robot: Robot, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Return random states of a robot, with closed loops.

    Args:
        robot: The robot.
        count: Number of states.
        seed: Seed of the random numbers; the same seed gives the same states.

    Returns:
        {name: array (count, n)} for all vectors: q, v, a, tau, commands, contacts, ...

    Example:
        >>> linkwork.inspection.random_states(robot, 100)["q"].shape
        (100, 7)
    """
    model, rng = robot.model, np.random.default_rng(seed)
    if model.constrained:
        q = _assembled(model, count, rng)
    else:
        q = model.coordinates.normalised(rng.uniform(-math.pi, math.pi, (count, model.nq)))
    others = ("v", "v_joints", "a", "tau", "a_known", "tau_known", "commands", "v_ref", "a_ref")
    contacts = rng.integers(0, 2, (count, len(model.switched))).astype(float)
    states = {"q": q, "contacts": contacts, "restitution": 0.5 * contacts}
    states["damping"] = np.full(count, DAMPING)
    states |= {"positions": q[:, _known_places(model)] + BEYOND, "guess": q}
    return states | {name: rng.standard_normal((count, sizes(model)[name])) for name in others}


def _assembled(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return positions around home with closed loops that are well conditioned. Robots that roll start from other
    places, too, since the independent joints do not determine the position of their base."""
    assembler = Assembler(model)
    independent, rolls = list(assembler.known), model.n_configuration > model.nv
    conditioning = compile(model, "conditioning") if rolls else None
    positions, step = np.empty((0, model.nq)), np.zeros((2 * count, model.coordinates.nv))
    for width in (SPREAD / 2**k for k in range(20)):
        step[:, independent] = rng.uniform(-width, width, (2 * count, len(independent)))
        q = model.coordinates.integrate(np.array(model.home), step)
        assembly = assembler(q[:, assembler.places], guess=q if rolls else None)
        q = assembly.q[assembly.solved & (assembly.conditioning > WELL)]
        positions = np.concatenate([positions, q[conditioning(q) > WELL] if conditioning else q])
        if len(positions) >= count:
            break
    return positions[np.arange(count) % len(positions)]
