"""Contact forces of all that touches the ground, and where it would slip, lift off or tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...constraints import row_names
from ...constraints.equations import place_sizes
from ...constraints.independent_rows import constraint_jacobian
from ...errors import ShapeError, UnsupportedError
from ...model import Constraint, ConstraintKind, Model
from ...model.coordinates import real_numbers
from ...workspace import Workspace
from ..plant.constrained import places_at
from ..plant.initial_state import velocities
from ..plant.inputs import torques

NOTHING = 1e-9  # of the largest load: less is none
TURNS = ("rx", "ry", "rz")  # rows of contacts that hold turns


@dataclass(frozen=True)
class ContactForces:
    """Forces of the ground on a robot, arrays (..., contacts) in N, in the order of ``names``.

    Attributes:
        contacts: the constraints of the model that touch the ground: what rolls, then contacts with a switch.
        normal: the load, positive where the ground pushes; NaN where the model does not determine it, as in a plane.
        along: the part along the direction in which a wheel rolls; of a contact with a switch, along x of the world.
        across: the part across that direction; of a contact with a switch, along y of the world.
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
    def of(
        cls, model: Model, q: Any = None, *, constraint_forces: Any = None, contact_forces: Any = None
    ) -> ContactForces:
        """The report of contacts whose forces are given; others are left out.

        Args:
            model: the robot.
            q: positions (..., nq), for the ``contact_forces`` at them.
            constraint_forces: of constraints that are always on, (..., equations), as the quantity of this name and
                trajectories have them.
            contact_forces: of contacts with a switch, (..., contacts, 6) or (..., 6 contacts), as ``contact_dynamics``
                and trajectories have them.
        """
        batch: tuple[int, ...] = ()
        forces: list[tuple[Constraint, Mapping[str, Any]]] = []  # of each contact, by the rows of its kind
        if constraint_forces is not None:
            permanent = np.asarray(constraint_forces, float)
            batch, numbers = permanent.shape[:-1], {name: k for k, name in enumerate(row_names(model))}
            J = constraint_jacobian(model, np.array(model.home))
            for contact in (each for each in model.permanent if each.kind.touches):
                rows = {row: numbers[f"{contact.name}.{row}"] for row in contact.kind.rows}
                values = {row: permanent[..., k] for row, k in rows.items()}
                unknown = {} if J[rows[contact.kind.load]].any() else {contact.kind.load: np.nan}  # as in a plane
                forces.append((contact, values | unknown))
        turns = {}
        if contact_forces is not None:
            q, switched = _fitting(model, q, contact_forces)
            batch, turns = switched.shape[:-2], _turns(model, q)
            for k, contact in enumerate(model.switched):
                if contact.kind.touches:
                    forces.append((contact, {row: switched[..., k, j] for j, row in enumerate(contact.kind.rows)}))

        normal, along, across = np.zeros((3, *batch, len(forces)))
        centre = np.full((*normal.shape, 2), np.nan)
        for k, (contact, rows) in enumerate(forces):
            normal[..., k] = rows[contact.kind.load]
            for row, parts in contact.kind.slip_directions.items():
                along[..., k] += parts[0] * rows[row]
                across[..., k] += parts[1] * rows[row]
            if contact.name in turns:
                moment = np.einsum("...ji,...j->...i", turns[contact.name], np.stack([rows[x] for x in TURNS], axis=-1))
                push = np.where(normal[..., k] > 0, normal[..., k], np.nan)
                centre[..., k, 0], centre[..., k, 1] = -moment[..., 1] / push, moment[..., 0] / push
        return cls(tuple(contact for contact, _ in forces), normal, along, across, centre)

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


def _fitting(model: Model, q: Any, contact_forces: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions, and forces (..., contacts, 6) at them."""
    q, forces, n = real_numbers(q, "q"), real_numbers(contact_forces, "forces"), len(model.switched)
    if forces.shape[-1:] == (6 * n,) and forces.shape[-2:] != (n, 6):
        forces = forces.reshape(*forces.shape[:-1], n, 6)
    if forces.shape[-2:] != (n, 6) or forces.shape[:-2] != q.shape[:-1] or q.shape[-1:] != (model.nq,):
        raise ShapeError(
            "positions and contact forces do not fit",
            where="contact_forces",
            got=f"{q.shape} and {forces.shape}",
            expected=f"(..., {model.nq}) and (..., {n}, 6), with the same axes first",
        )
    return q, forces


def _turns(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Rotations (..., 3, 3) of the frames of contacts with a switch that hold turns, by name."""
    places, ends = places_at(model, q), np.cumsum(place_sizes(model))
    return {
        contact.name: places[..., end - 9 : end].reshape(*q.shape[:-1], 3, 3)
        for contact, end in zip(model.switched, ends, strict=True)
        if contact.kind.holds_turns
    }


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
    rolls = any(contact.kind.touches for contact in model.permanent)
    if not (rolls or model.switched):
        tables = dict.fromkeys(f"`{kind.section}`" for kind in ConstraintKind.known.values() if kind.touches)
        raise UnsupportedError(
            "nothing of this robot touches a plane",
            where=f"robot {model.name!r}",
            fix=f"describe its contacts in {' or '.join(tables)}",
        )
    if forces is not None and (v is None or tau is None):
        return ContactForces.of(model, q, contact_forces=forces)
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
    every = v.shape[-1] == model.coordinates.nv > model.nv  # the joints
    if model.switched:
        if forces is None:
            on = np.ones(len(model.switched)) if contacts is None else contacts
            independent = v[..., list(model.mobility.independent)] if every else v
            forces = workspace.function("contact_dynamics")(q, independent, tau, on, **options).forces
        q = np.broadcast_to(q, (*np.shape(forces)[:-2], model.nq))
        q, forces = _fitting(model, q, forces)
        pushes = dict(wrenches or {})
        for k, contact in enumerate(model.switched):
            pushes[contact.second.name] = pushes.get(contact.second.name, 0) + forces[..., k, :]
        options["wrenches"] = pushes
    held = None
    if rolls:  # under the forces of the others, which are wrenches to it
        rates = v if every else workspace.function("joint_velocities")(q, v)
        held = workspace.function("constraint_forces")(q, rates, tau, **options)
    return ContactForces.of(model, q, constraint_forces=held, contact_forces=forces)
