"""A parallel robot in a Model: the platform, which moves by coordinates of its own, and the legs that hold it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Constraint, CutJoint, Frame, Model


@dataclass(frozen=True)
class Leg:
    """A serial chain on the ground; the loop ``name`` of a ``kind`` holds its ``tip`` to ``hold`` on the platform."""

    name: str
    kind: CutJoint
    bodies: tuple[int, ...]  # from the ground outward
    tip: Frame
    hold: Frame


@dataclass(frozen=True)
class Parallel:
    """``platform``: the bodies from the ground to the platform, itself the last; their joints are its coordinates."""

    platform: tuple[int, ...]
    legs: tuple[Leg, ...]


def platform_and_legs(model: Model) -> Parallel | str:
    """The parts of a parallel robot; or what keeps the robot from being one, told of a method ("it is for ...")."""
    if model.has_mimic:
        return "it does not work with mimic joints"
    if model.moving_base:
        return "it is for a fixed base, and the base floats"
    if other := [loop.name for loop in model.permanent if not loop.kind.closes_loop]:
        return f"it is for legs that joints hold to their platform, and {other[0]!r} is none"
    held = (
        set.intersection(*({loop.first.body, loop.second.body} for loop in model.permanent))
        if model.constrained
        else set()
    )
    if not held - {0}:
        return "it is for a platform on legs, and no link is held by all loops"
    chains = [
        chain for body in held - {0} if _freedoms(model, chain := _chain(model, body)) == model.mobility.independent
    ]
    if len(chains) != 1:
        return "it is for a platform whose own coordinates are the independent ones, and they are not"
    legs = tuple(_leg(model, loop, chains[0][-1]) for loop in model.permanent)
    used = [body for chain in (chains[0], *(leg.bodies for leg in legs)) for body in chain]
    if sorted(used) != list(range(1, model.n_bodies + 1)):
        return "it is for legs that stand on the ground, one for each loop, and there is something else"
    return Parallel(chains[0], legs)


def _chain(model: Model, body: int) -> tuple[int, ...]:
    return (*reversed([*model.ancestors(body)]), body) if body else ()


def _freedoms(model: Model, bodies: Iterable[int]) -> tuple[int, ...]:
    return tuple(k for i in bodies for k in model.freedoms(i))


def _leg(model: Model, loop: Constraint, platform: int) -> Leg:
    tip, hold = (loop.first, loop.second) if loop.second.body == platform else (loop.second, loop.first)
    assert isinstance(loop.kind, CutJoint)
    return Leg(loop.name, loop.kind, _chain(model, tip.body), tip, hold)
