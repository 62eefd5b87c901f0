"""Contact forces of wheels and feet, and where they would slip, lift off or tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...constraints import row_names
from ...constraints.equations import place_sizes
from ...constraints.independent_rows import leading_jacobian
from ...errors import ShapeError, UnsupportedError
from ...model import Constraint, Model
from ...model.coordinates import real_numbers
from ...workspace import Workspace
from ..plant.constrained import places_at
from ..plant.initial_state import velocities
from ..plant.inputs import torques

NOTHING = 1e-9  # of the largest load, and of a sole: less is none


@dataclass(frozen=True)
class ContactForces:
    """Forces of the ground on wheels, or on feet, arrays (..., contacts) in N, in the order of ``names``.

    Attributes:
        contacts: the constraints of the model that touch the ground: its feet, or what rolls if it has none.
        normal: the load, positive where the ground pushes; NaN where the model does not determine it, as in a plane.
        along: the part along the direction in which a wheel rolls; of a foot, along x of the world.
        across: the part across that direction; of a foot, along y of the world.
        centre: (..., contacts, 2), the centre of pressure in the axes of a sole in m; NaN of others and without load.

    Contacts are taken to hold: one that slips here goes on rolling, or standing, in the numbers. Where several share a
    load that none of them bears alone (two wheels on one axle, four legs of a table), the shares are those with the
    least sum of squares.
    """

    contacts: tuple[Any, ...]
    normal: np.ndarray
    along: np.ndarray
    across: np.ndarray
    centre: np.ndarray

    @classmethod
    def rolling(cls, model: Model, constraint_forces: Any) -> ContactForces:
        """Those of wheels, from forces (..., equations) as ``constraint_forces`` has them."""
        forces, rows = np.asarray(constraint_forces, float), row_names(model)
        contacts = _rolling(model)
        J = leading_jacobian(model, np.array(model.home))

        normal, along, across = np.zeros((3, *forces.shape[:-1], len(contacts)))
        for k, contact in enumerate(contacts):
            row = rows.index(f"{contact.name}.normal")
            normal[..., k] = forces[..., row] if J[row].any() else np.nan  # it says nothing of the load
            for name, parts in contact.kind.slip_directions.items():
                force = forces[..., rows.index(f"{contact.name}.{name}")]
                along[..., k] += parts[0] * force
                across[..., k] += parts[1] * force
        return cls(contacts, normal, along, across, np.full((*normal.shape, 2), np.nan))

    @classmethod
    def standing(cls, model: Model, q: Any, contact_forces: Any) -> ContactForces:
        """Those of feet, from forces (..., feet, 6) or (..., 6 feet) as ``contact_dynamics`` and trajectories have."""
        q, forces, n = real_numbers(q, "q"), real_numbers(contact_forces, "forces"), len(model.switched)
        if forces.shape[-1:] == (6 * n,) and forces.shape[-2:] != (n, 6):
            forces = forces.reshape(*forces.shape[:-1], n, 6)
        if forces.shape[-2:] != (n, 6) or forces.shape[:-2] != q.shape[:-1] or q.shape[-1:] != (model.nq,):
            raise ShapeError(
                "positions and forces on the feet do not fit",
                where="contact_forces",
                got=f"{q.shape} and {forces.shape}",
                expected=f"(..., {model.nq}) and (..., {n}, 6), with the same axes first",
            )
        places, ends = places_at(model, q), np.cumsum(place_sizes(model))
        centre, normal = np.full((*forces.shape[:-1], 2), np.nan), forces[..., 2]
        for k, contact in enumerate(model.switched):
            if contact.kind.holds_turns:
                R = places[..., ends[k] - 9 : ends[k]].reshape(*q.shape[:-1], 3, 3)
                moment = np.einsum("...ji,...j->...i", R, forces[..., k, 3:])
                push = np.where(normal[..., k] > 0, normal[..., k], np.nan)
                centre[..., k, 0], centre[..., k, 1] = -moment[..., 1] / push, moment[..., 0] / push
        return cls(model.switched, normal, forces[..., 0], forces[..., 1], centre)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(contact.name for contact in self.contacts)

    @property
    def friction(self) -> np.ndarray:
        """The coefficients that the contacts have, (contacts,)."""
        return np.array([contact.kind.friction for contact in self.contacts])

    @cached_property
    def tangential(self) -> np.ndarray:
        """The force along the ground."""
        return np.hypot(self.along, self.across)

    @cached_property
    def needed(self) -> np.ndarray:
        """The coefficient of friction that would just hold it; infinite under a force along the ground without load."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.tangential / self.normal
        return np.where(self.tangential == 0, 0.0, np.where(self.normal <= 0, np.inf, share))

    @cached_property
    def lifts(self) -> np.ndarray:
        """Would the ground have to pull? Then the contact lifts off."""
        return self.normal < -NOTHING * self._largest

    @cached_property
    def slips(self) -> np.ndarray:
        """Does what is pressed to the ground need more friction than it has? One that slides needs what it has."""
        outside = self.needed > (1 + NOTHING) * self.friction
        return outside & (self.tangential > NOTHING * self._largest) & ~self.lifts

    @cached_property
    def tips(self) -> np.ndarray:
        """Is the centre of pressure outside the sole?"""
        found = [contact.kind.tips(self.centre[..., k, :]) for k, contact in enumerate(self.contacts)]
        return np.stack(found, axis=-1)

    @property
    def _largest(self) -> float:
        return float(np.fmax.reduce(np.abs(self.normal), axis=None, initial=1e-300))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What would happen to each contact, over all states: the first that applies."""
        words = {"lifts off": self.lifts, "slips": self.slips, "tips": self.tips}
        words["load not known"] = np.isnan(self.normal)
        every = ([word for word, where in words.items() if where[..., k].any()] for k in range(len(self.contacts)))
        return tuple(first[0] if first else "holds" for first in every)

    def __str__(self) -> str:
        lines, least = [], " at least" if self.normal.ndim > 1 else ""
        for k, (name, verdict) in enumerate(zip(self.names, self.verdicts, strict=True)):
            load, needed = f"{np.min(self.normal[..., k]):.4g} N", f"{np.round(np.max(self.needed[..., k]), 6):.3g}"
            has = f" of {self.friction[k]:g}" if np.isfinite(self.friction[k]) else ""
            centre = self.centre[..., k, :]
            one = centre.ndim == 1 and np.isfinite(centre).all()
            where = f", centre of pressure {centre[0]:.4f}, {centre[1]:.4f} m" if one else ""
            lines.append(f"{name}: load {load}{least}, needs friction {needed}{has}{where}: {verdict}")
        return "\n".join(lines)


def _rolling(model: Model) -> tuple[Constraint, ...]:
    return tuple(contact for contact in model.permanent if contact.kind.touches)


def contact_forces(
    workspace: Workspace,
    q: Any,
    v: Any,
    tau: Any,
    contacts: Any,
    forces: Any,
    commands: Any,
    wrenches: Mapping[str, Any] | None,
) -> ContactForces:
    """See ``Robot.contact_forces``."""
    model = workspace.model
    where = f"contact_forces of robot {model.name!r}"
    if not (_rolling(model) or model.switched):
        raise UnsupportedError(
            "nothing of this robot touches a plane",
            where=f"robot {model.name!r}",
            fix="describe what rolls in `rolling`, and feet in `feet`",
        )
    if forces is not None:
        return ContactForces.standing(model, q, forces)
    if v is None or tau is None:
        raise ShapeError("velocities and joint forces are missing", where=where, fix="give v and tau, or forces=")
    if model.commands.size and commands is None:
        raise ShapeError(
            "commands are missing, and they change what the contacts bear",
            where=where,
            expected=f"commands ({model.commands.size},): {', '.join(model.commands.names)}",
            fix="give them, zeros too",
        )
    v, tau = velocities(model, v, "v"), torques(model, tau, "tau")
    options: dict[str, Any] = {"wrenches": wrenches} | ({} if commands is None else {"commands": commands})
    every = v.shape[-1] == model.n_leading > model.nv  # the joints
    if not model.switched:
        rates = v if every else workspace.function("joint_velocities")(q, v)
        return ContactForces.rolling(model, workspace.function("constraint_forces")(q, rates, tau, **options))
    on = np.ones(len(model.switched)) if contacts is None else contacts
    own = v[..., list(model.mobility.independent)] if every else v
    held = workspace.function("contact_dynamics")(q, own, tau, on, **options).forces
    return ContactForces.standing(model, np.broadcast_to(q, (*held.shape[:-2], model.nq)), held)
