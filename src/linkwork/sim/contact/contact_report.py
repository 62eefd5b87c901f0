"""Contact forces between robot and ground, and which contacts would slip, lift off or tip."""

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
from ..plant.constrained import places
from ..plant.initial_state import velocities
from ..plant.inputs import torques

SMALL = 1e-9  # relative to the largest load: less is zero
ROTATIONS = ("rx", "ry", "rz")  # rows of contacts that hold rotations


@dataclass(frozen=True)
class ContactForces:
    """Forces of the ground on a robot, arrays (..., contacts) in N, in the order of ``names``.

    Attributes:
        contacts: Constraints of the model that touch the ground: wheels and the like, then contacts with a switch.
        normal: Load, positive where the ground pushes; NaN where the model does not determine it, as in a plane.
        along: Force along the rolling direction of a wheel; of a contact with a switch, along x of the world.
        across: Force across that direction; of a contact with a switch, along y of the world.
        centre: Centre of pressure in the axes of a sole in m, (..., contacts, 2); NaN for others and without load.

    The forces assume that all contacts hold, even those that would slip. Where contacts share a load in a way that the
    motion does not determine (two wheels on one axle, four legs of a table), the shares have the least sum of squares.

    Example:
        >>> disc = linkwork.load("rolling-disc")
        >>> disc.contact_forces(disc.home, np.zeros(disc.nv), np.zeros(disc.nv)).normal.shape
        (1,)
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
        """Return the report of contacts from their forces; contacts without forces are left out.

        Args:
            model: The robot.
            q: Positions (..., nq); required with ``contact_forces``.
            constraint_forces: Forces of constraints that are always on, (..., equations), as in the quantity of this
                name and in trajectories. Default: none.
            contact_forces: Forces of contacts with a switch, (..., contacts, 6) or (..., 6 contacts), as in
                ``contact_dynamics`` and in trajectories. Default: none.

        Returns:
            The report.

        Raises:
            ShapeError: Positions and contact forces do not fit each other.
        """
        batch: tuple[int, ...] = ()
        forces: list[tuple[Constraint, Mapping[str, Any]]] = []  # of each contact, by rows of the constraint
        if constraint_forces is not None:
            permanent = np.asarray(constraint_forces, float)
            batch, numbers = permanent.shape[:-1], {name: k for k, name in enumerate(row_names(model))}
            J = constraint_jacobian(model, np.array(model.home))
            for contact in (each for each in model.permanent if each.kind.touches):
                rows = {row: numbers[f"{contact.name}.{row}"] for row in contact.kind.rows}
                values = {row: permanent[..., k] for row, k in rows.items()}
                unknown = {} if J[rows[contact.kind.load]].any() else {contact.kind.load: np.nan}  # as in a plane
                forces.append((contact, values | unknown))
        rotations = {}
        if contact_forces is not None:
            q, switched = _checked(model, q, contact_forces)
            batch, rotations = switched.shape[:-2], _rotations(model, q)
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
            if contact.name in rotations:
                world = np.stack([rows[x] for x in ROTATIONS], axis=-1)
                moment = np.einsum("...ji,...j->...i", rotations[contact.name], world)
                push = np.where(normal[..., k] > 0, normal[..., k], np.nan)
                centre[..., k, 0], centre[..., k, 1] = -moment[..., 1] / push, moment[..., 0] / push
        return cls(tuple(contact for contact, _ in forces), normal, along, across, centre)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contacts."""
        return tuple(contact.name for contact in self.contacts)

    @property
    def friction(self) -> np.ndarray:
        """Friction coefficients of the contacts, (contacts,)."""
        return np.array([contact.kind.friction for contact in self.contacts])

    @cached_property
    def tangential(self) -> np.ndarray:
        """Tangential force in N, (..., contacts)."""
        return np.hypot(self.along, self.across)

    @cached_property
    def needed(self) -> np.ndarray:
        """Friction coefficient that each contact needs; infinite for a tangential force without load."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.tangential / self.normal
        return np.where(self.tangential == 0, 0.0, np.where(self.normal <= 0, np.inf, share))

    @cached_property
    def lifts(self) -> np.ndarray:
        """Whether the ground would have to pull, so that the contact lifts off."""
        return self.normal < -SMALL * self._largest

    @cached_property
    def slips(self) -> np.ndarray:
        """Whether a loaded contact needs more friction than it has; a sliding one needs exactly what it has."""
        outside = self.needed > (1 + SMALL) * self.friction
        return outside & (self.tangential > SMALL * self._largest) & ~self.lifts

    @cached_property
    def tips(self) -> np.ndarray:
        """Whether the centre of pressure is outside the sole."""
        outside = [contact.kind.tips(self.centre[..., k, :]) for k, contact in enumerate(self.contacts)]
        return np.stack(outside, axis=-1)

    @property
    def _largest(self) -> float:
        return float(np.fmax.reduce(np.abs(self.normal), axis=None, initial=1e-300))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One verdict per contact over all states: "lifts off", "slips", "tips", "load not known" or "holds"."""
        checks = {"lifts off": self.lifts, "slips": self.slips, "tips": self.tips}
        checks["load not known"] = np.isnan(self.normal)
        words = ([word for word, where in checks.items() if where[..., k].any()] for k in range(len(self.contacts)))
        return tuple(first[0] if first else "holds" for first in words)

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


def _checked(model: Model, q: Any, contact_forces: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions, and forces (..., contacts, 6) at them, checked."""
    q, forces, n = real_numbers(q, "q"), real_numbers(contact_forces, "forces"), len(model.switched)
    if forces.shape[-1:] == (6 * n,) and forces.shape[-2:] != (n, 6):
        forces = forces.reshape(*forces.shape[:-1], n, 6)
    if forces.shape[-2:] != (n, 6) or forces.shape[:-2] != q.shape[:-1] or q.shape[-1:] != (model.nq,):
        raise ShapeError(
            "positions and contact forces do not fit each other",
            where="contact_forces",
            got=f"{q.shape} and {forces.shape}",
            expected=f"(..., {model.nq}) and (..., {n}, 6), with the same axes first",
        )
    return q, forces


def _rotations(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Rotation matrices (..., 3, 3) of the frames of contacts with a switch that hold rotations, by name."""
    numbers, ends = places(model, model.expand([*np.moveaxis(q, -1, 0)])), np.cumsum(place_sizes(model))
    columns = [np.broadcast_to(x, q.shape[:-1]) for x in numbers]
    return {
        contact.name: np.stack(columns[end - 9 : end], axis=-1).reshape(*q.shape[:-1], 3, 3)
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
    """Return the contact forces at states; see ``Robot.contact_forces``."""
    model = workspace.model
    where = f"contact_forces of robot {model.name!r}"
    rolls = any(contact.kind.touches for contact in model.permanent)
    if not (rolls or model.switched):
        tables = dict.fromkeys(f"`{kind.section}`" for kind in ConstraintKind.known.values() if kind.touches)
        raise UnsupportedError(
            "this robot has no contacts with the ground",
            where=f"robot {model.name!r}",
            fix=f"describe its contacts in {' or '.join(tables)}",
        )
    if forces is not None and (v is None or tau is None):
        return ContactForces.of(model, q, contact_forces=forces)
    if v is None or tau is None:
        raise ShapeError("v and tau are missing", where=where, fix="give v and tau, or forces=")
    if model.commands.size and commands is None:
        raise ShapeError(
            "commands are missing, and contact forces depend on them",
            where=where,
            expected=f"commands ({model.commands.size},): {', '.join(model.commands.names)}",
            fix="give commands=, which may be zeros",
        )
    v, tau = velocities(model, v, "v"), torques(model, tau, "tau")
    options: dict[str, Any] = {"wrenches": wrenches} | ({} if commands is None else {"commands": commands})
    all_joints = v.shape[-1] == model.coordinates.nv > model.nv
    if model.switched:
        if forces is None:
            on = np.ones(len(model.switched)) if contacts is None else contacts
            independent = v[..., list(model.mobility.independent)] if all_joints else v
            forces = workspace.compiled("contact_dynamics")(q, independent, tau, on, **options).forces
        q = np.broadcast_to(q, (*np.shape(forces)[:-2], model.nq))
        q, forces = _checked(model, q, forces)
        frame_wrenches = dict(wrenches or {})
        for k, contact in enumerate(model.switched):
            name = contact.second.name
            inward = np.swapaxes(workspace.compiled("pose", frame=name)(q)[..., :3, :3], -1, -2)  # world to frame axes
            parts = [(inward @ forces[..., k, part, None])[..., 0] for part in (slice(0, 3), slice(3, 6))]
            frame_wrenches[name] = frame_wrenches.get(name, 0) + np.concatenate(parts, axis=-1)
        options["wrenches"] = frame_wrenches
    constraint_forces = None
    if rolls:  # the forces of contacts with a switch act as wrenches on their frames
        rates = v if all_joints else workspace.compiled("joint_velocities")(q, v)
        constraint_forces = workspace.compiled("constraint_forces")(q, rates, tau, **options)
    return ContactForces.of(model, q, constraint_forces=constraint_forces, contact_forces=forces)
