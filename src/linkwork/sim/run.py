"""One run of a simulation, of one motion or a batch: what is noted and warned of, and the Trajectory made of it."""

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
from .trajectory.diagnostics import CONTACT_CHECKS, findings
from .trajectory.observations import observations
from .trajectory.outputs import entries
from .trajectory.trajectory import Event, Trajectory

JUMPS = (
    "{method} takes arrays over time for samples of something smooth, and spreads jumps over {steps} steps;"
    " rk4 holds them over each step"
)


@dataclass
class Run:
    """A run by ``method`` in steps of ``dt``; integrators fill in what they computed.

    Attributes:
        model: The robot that the trajectory describes, by default the plant's.
        arrays: Times and recorded outputs, with an axis of samples first.
        closeness: That part of the last state, of robots with loops.
        fixed: Whether all steps are ``dt``.
        contact_checks: Diagnostics that apply to contacts on the ground.
        doubts: Warnings of the integrator that stand after the diagnostics.
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
    doubts: Sequence[Note] = ()
    events: Sequence[Event] = ()
    tape: Tape | None = None
    complete: bool = True

    def __post_init__(self):
        self.notes = list(self.setup.notes)

    def warn(self, note: Note) -> None:
        """Warn whoever called linkwork, and note it."""
        warn_caller(note.message, SimulationWarning)
        self.notes.append(note)

    def begin(self, check: bool = True) -> Note | None:
        """Warn if ``dt`` is too long for the first state (unless ``check`` is false), note inputs that the method
        smooths, and return the warning."""
        note = stability.warning(self.setup, self.method, self.dt) if check else None
        if note:
            self.warn(note)
        history = schemes()[self.method].history
        if history and set(self.setup.plant.held) - {REFERENCE}:  # samples of a reference are smooth
            self.notes.append(Note("jumps-spread", JUMPS.format(method=self.method, steps=history + 1)))
        return note

    def finish(self) -> Trajectory:
        """Warn of what casts doubt on the motion, note what else is worth knowing, and return the trajectory."""
        steps = {"method": self.method, "dt": self.dt} if self.fixed else {}
        plant = self.setup.plant
        judged = replace(self.model, soft_limits=plant.model.soft_limits) if self.model else plant.model
        for note in (*findings(judged, self.arrays, self.closeness, self.contact_checks, **steps), *self.doubts):
            self.warn(note)
        if not self.setup.batched:
            self.notes += observations(self.model or plant.model, self.arrays, self.options)
        trajectory = self.trajectory()
        if self.tape is not None:
            self.tape.attach(trajectory)
        return trajectory

    def trajectory(self) -> Trajectory:
        """What was recorded. A folder that it streamed into is described; memory that was lent becomes the result."""
        plant, options, arrays = self.setup.plant, self.options, self.arrays
        if not self.setup.batched:
            arrays = {name: array if name == "t" else array[0] for name, array in arrays.items()}
        trajectory = Trajectory(
            arrays,
            entries(self.model or plant.model, plant.memory),
            robot=plant.model.name,
            method=self.method,
            dt=self.dt,
            notes=self.notes,
            units=plant.units,
            events=self.events,
        )
        if options.to is not None:
            storage.describe(trajectory, Path(options.to))
        if options.out is not None:
            vars(options.out).update(vars(trajectory))
            return options.out
        return trajectory
