"""Parallel robots: the platform, which has its own coordinates, and the legs that carry it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Constraint, CutJoint, Frame, Model


@dataclass(frozen=True)
class Leg:
    """A serial chain on the ground; the loop ``name`` of a ``kind`` joins its ``tip`` to ``hold`` on the platform."""

    name: str
    kind: CutJoint
    bodies: tuple[int, ...]  # from the ground outward
    tip: Frame
    hold: Frame


@dataclass(frozen=True)
class Parallel:
    """A platform on legs. ``platform``: the bodies from the ground to it; their joints are its coordinates."""

    platform: tuple[int, ...]
    legs: tuple[Leg, ...]


def platform_and_legs(model: Model) -> Parallel | str:
    """Return the parts of a parallel robot, or why it is not one, as a sentence about a method ("it is for ...")."""
    if model.has_mimic:
        return "it does not work with mimic joints"
    if model.moving_base:
        return "it is for a fixed base, and the base floats"
    if other := [loop.name for loop in model.permanent if not loop.kind.closes_loop]:
        return f"it is for legs with joints to the platform, and {other[0]!r} is not a joint"
    sides = [{loop.first.body, loop.second.body} for loop in model.permanent]
    common = set.intersection(*sides) - {0} if sides else set()
    if not common:
        return "it is for a platform on legs, and no link is in all loops"
    chains = [_chain(model, body) for body in common]
    chains = [chain for chain in chains if _freedoms(model, chain) == model.mobility.independent]
    if len(chains) != 1:
        return "it is for a platform whose coordinates are the independent ones, and they are not"
    legs = tuple(_leg(model, loop, chains[0][-1]) for loop in model.permanent)
    bodies = [body for chain in (chains[0], *(leg.bodies for leg in legs)) for body in chain]
    if sorted(bodies) != list(range(1, model.n_bodies + 1)):
        return "it is for legs on the ground, one for each loop, and there are other bodies"
    return Parallel(chains[0], legs)


def _chain(model: Model, body: int) -> tuple[int, ...]:
    return (*reversed([*model.ancestors(body)]), body) if body else ()


def _freedoms(model: Model, bodies: Iterable[int]) -> tuple[int, ...]:
    return tuple(k for i in bodies for k in model.freedoms(i))


def _leg(model: Model, loop: Constraint, platform: int) -> Leg:
    tip, hold = (loop.first, loop.second) if loop.second.body == platform else (loop.second, loop.first)
    assert isinstance(loop.kind, CutJoint)
    return Leg(loop.name, loop.kind, _chain(model, tip.body), tip, hold)
