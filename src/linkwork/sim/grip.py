"""What contacts bear, and where they would slip: forces that hold rolling bodies on their planes beside friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import row_names
from ..constraints.independent_rows import leading_jacobian
from ..errors import ShapeError, UnsupportedError
from ..model import Contact, Model
from ..workspace import Workspace
from .plant.initial_state import velocities
from .plant.inputs import torques


@dataclass(frozen=True)
class Grip:
    """Forces of the plane on each of ``names``, (..., contacts), in N: ``normal``, which pushes, ``along`` the way it
    rolls and ``across`` it. ``friction``: the coefficients of the contacts.

    Rolling is taken as it is: a contact that slips here goes on rolling in the numbers. Where several contacts share a
    load that none of them bears alone (two wheels on one axle, four legs of a table), the shares are those with the
    least sum of squares. The load is not a number where the model does not know it, as in a plane.
    """

    names: tuple[str, ...]
    normal: np.ndarray
    along: np.ndarray
    across: np.ndarray
    friction: np.ndarray

    @classmethod
    def of(cls, model: Model, forces: Any) -> Grip:
        """From forces (..., equations), as ``constraint_forces`` has them."""
        forces, rows = np.asarray(forces, float), row_names(model)
        contacts = [loop for loop in model.loops if isinstance(loop.kind, Contact)]
        J = leading_jacobian(model, np.array(model.home))

        def part(name: str) -> np.ndarray:
            found = np.zeros((*forces.shape[:-1], len(contacts)))
            for k, loop in enumerate(contacts):
                if name in loop.kind.rows:
                    row = rows.index(f"{loop.name}.{name}")
                    silent = name == "normal" and not J[row].any()  # it says nothing of the load
                    found[..., k] = np.nan if silent else forces[..., row]
            return found

        friction = np.array([loop.kind.friction for loop in contacts])
        names = tuple(loop.name for loop in contacts)
        return cls(names, part("normal"), part("along"), part("across"), friction)

    @property
    def needed(self) -> np.ndarray:
        """The coefficient that would just do: forces along the plane over the load; infinite where it has no load."""
        tangential = np.hypot(self.along, self.across)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = tangential / self.normal
        return np.where(tangential == 0, 0.0, np.where(self.normal <= 0, np.inf, share))

    @property
    def lifts(self) -> np.ndarray:
        """Where the plane would have to pull."""
        return self.normal < 0

    @property
    def slips(self) -> np.ndarray:
        """Where it needs more friction than it has, though it is pressed to its plane."""
        return (self.needed > self.friction) & ~self.lifts

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Of each contact in a word or two, over all states."""
        found = {"lifts off": self.lifts, "slips": self.slips, "load not known": np.isnan(self.normal)}
        told = ([word for word, where in found.items() if where[..., k].any()] for k in range(len(self.names)))
        return tuple(words[0] if words else "holds" for words in told)

    def __str__(self) -> str:
        lines = []
        for k, (name, verdict) in enumerate(zip(self.names, self.verdicts, strict=True)):
            load, needed = f"{np.min(self.normal[..., k]):.4g} N", f"{np.max(self.needed[..., k]):.3g}"
            least = " at least" if self.normal.ndim > 1 else ""
            given = f" of {self.friction[k]:g}" if np.isfinite(self.friction[k]) else ""
            lines.append(f"{name}: load {load}{least}, needs friction {needed}{given}: {verdict}")
        return "\n".join(lines)


def grip(workspace: Workspace, q: Any, v: Any, tau: Any, commands: Any, wrenches: Mapping[str, Any] | None) -> Grip:
    """See ``Robot.grip``."""
    model: Model = workspace.model
    if not any(isinstance(loop.kind, Contact) for loop in model.loops):
        raise UnsupportedError(
            "nothing of this robot touches a plane", where=f"robot {model.name!r}", fix="describe contacts in `rolling`"
        )
    if model.commands.size and commands is None:
        raise ShapeError(
            "commands are missing, and they change what the contacts bear",
            where=f"grip of robot {model.name!r}",
            expected=f"commands ({model.commands.size},): {', '.join(model.commands.names)}",
            fix="give them, zeros too",
        )
    v = velocities(model, v, "v")
    every = v if v.shape[-1] == model.n_leading > model.nv else workspace.function("joint_velocities")(q, v)
    given = {} if commands is None else {"commands": commands}
    return Grip.of(
        model, workspace.function("constraint_forces")(q, every, torques(model, tau, "tau"), wrenches=wrenches, **given)
    )
