"""One run of a simulation, of one motion or a batch: its notes and warnings, and its Trajectory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SimulationWarning, warn_caller
from ..model import Model
from ..notes import Note
from ..options import Options
from .derivatives.gradient import Tape
from .plant.instant import REFERENCE
from .plant.setup import Setup
from .schemes import stability
from .schemes.integrators import schemes
from .trajectory import storage
from .trajectory.diagnostics import CONTACT_CHECKS, diagnostics
from .trajectory.observations import observations
from .trajectory.outputs import entries
from .trajectory.trajectory import Event, Trajectory

JUMPS = (
    "{method} treats arrays over time as samples of smooth functions, and spreads jumps over {steps} steps;"
    " rk4 holds the values over each step"
)


@dataclass
class Run:
    """A run by ``method`` in steps of ``dt``; integrators fill in what they computed.

    Attributes:
        model: Robot that the trajectory describes. Default: the plant's.
        arrays: Times and recorded outputs, with an axis of samples first.
        closeness: Closeness to a singular position, a part of the final state of robots with loops.
        fixed: Whether all steps are ``dt``.
        contact_checks: Diagnostics that apply to contacts on the ground.
        last_warnings: Warnings of the integrator, given after the diagnostics.
        complete: False if the run was stopped.
    """

    setup: Setup
    method: str
    dt: float
    options: Options
    model: Model | None = None
    arrays: Mapping[str, Any] = field(default_factory=dict)
    closeness: np.ndarray | None = None
    fixed: bool = True
    contact_checks: Sequence[str] = CONTACT_CHECKS
    last_warnings: Sequence[Note] = ()
    events: Sequence[Event] = ()
    tape: Tape | None = None
    complete: bool = True

    def __post_init__(self):
        self.notes = list(self.setup.notes)
        plant, layout = self.setup.plant, self.setup.plant.model.commands
        commanded = "commands" in self.setup.inputs.shapes or plant.commands is not None or plant.controller_commands
        if layout.size and not commanded:
            text = f"no commands are given, so these are zero: {', '.join(layout.names)}"
            self.notes.append(Note("no-commands", text))

    def warn(self, note: Note) -> None:
        """Warn the caller of linkwork, and add the note."""
        warn_caller(note.message, SimulationWarning)
        self.notes.append(note)

    def begin(self, check: bool = True) -> Note | None:
        """Warn if ``dt`` is too long for the first state, note inputs that the method smooths; return the warning."""
        note = stability.warning(self.setup, self.method, self.dt) if check else None
        if note:
            self.warn(note)
        history = schemes()[self.method].history
        if history and set(self.setup.plant.held) - {REFERENCE}:  # samples of a reference are smooth
            self.notes.append(Note("jumps-spread", JUMPS.format(method=self.method, steps=history + 1)))
        return note

    def finish(self) -> Trajectory:
        """Add warnings and notes about the motion, and return its trajectory."""
        steps = {"method": self.method, "dt": self.dt} if self.fixed else {}
        plant = self.setup.plant
        model = replace(self.model, soft_limits=plant.model.soft_limits) if self.model else plant.model
        geometry = self.setup.geometry
        warnings = diagnostics(model, self.arrays, self.closeness, self.contact_checks, geometry=geometry, **steps)
        for note in (*warnings, *self.last_warnings):
            self.warn(note)
        if not self.setup.batched:
            self.notes += observations(self.model or plant.model, self.arrays, self.options)
        trajectory = self.trajectory()
        if self.tape is not None:
            self.tape.attach(trajectory)
        return trajectory

    def trajectory(self) -> Trajectory:
        """Return what was recorded: in the user's ``out``, or described in the folder ``to``."""
        plant, options, arrays = self.setup.plant, self.options, self.arrays
        if not self.setup.batched:
            arrays = {name: array if name == "t" else array[0] for name, array in arrays.items()}
        trajectory = Trajectory(
            arrays,
            {**plant.entries, **(entries(self.model, plant.memory) if self.model else {})},
            robot=plant.model.name,
            method=self.method,
            dt=self.dt,
            notes=self.notes,
            units=plant.units,
            events=self.events,
            shapes=plant.own_shapes,
        )
        if options.to is not None:
            storage.describe(trajectory, Path(options.to))
        if options.out is not None:
            vars(options.out).update(vars(trajectory))
            return options.out
        return trajectory
