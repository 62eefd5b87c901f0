"""A study: which robots are simulated how, and what is kept of each motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from ..control import Reference
from ..errors import LinkworkError
from ..model import Coordinates, Model
from ..robot import Robot
from ..sim import Options
from .sampling import Plan, Vector, variables_of

ARRAYS = {  # what outputs are made of -> what a rollout records for it
    **{name: (name,) for name in ("q", "v", "a", "tau", "kinetic_energy", "potential_energy", "work", "momentum")},
    **{name: (name,) for name in ("center_of_mass", "loop_residual")},
    "energy": ("kinetic_energy", "potential_energy"),
    "error": ("q",),
}
STATISTICS = ("final", "peak", "rms", "mean")  # over time; the peak is the largest absolute value
DIVERGED = "diverged"


@dataclass(frozen=True)
class Controller:
    """A law of ``linkwork.control``, and those of its gains that vary from row to row."""

    label: str
    law: Any
    gains: Mapping[str, Vector]


@dataclass(frozen=True)
class Case:
    """One robot with one controller, or none: rows that run in the same compiled program."""

    label: str
    robot: Robot
    q: Vector
    v: Vector
    controller: Controller | None
    reference: Reference | None
    vary: Mapping[str, Vector]  # "mass", "viscous", "coulomb", "gravity", "payload"
    payload: str  # the frame that carries it
    commands: Vector  # of force laws
    samples: int
    seed: int

    @cached_property
    def plan(self) -> Plan:
        gains = self.controller.gains.values() if self.controller else ()
        return Plan(variables_of([self.q, self.v, *gains, *self.vary.values(), self.commands]), self.samples, self.seed)


@dataclass(frozen=True)
class Study:
    """``text`` is the file as it was read, ``robots`` tells robot files from their later versions."""

    name: str
    text: str
    seed: int
    dt: float
    steps: int
    options: Options  # those that are the same for all cases
    chunk: int
    outputs: tuple[str, ...]
    cases: tuple[Case, ...]
    robots: Mapping[str, str]

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Where each case ends among the rows."""
        return tuple(accumulate(case.plan.rows for case in self.cases))

    @property
    def rows(self) -> int:
        return self.ends[-1]

    def chunks(self) -> Iterator[tuple[int, int]]:
        """First row and end of each chunk; none holds rows of two cases."""
        start = 0
        for end in self.ends:
            while start < end:
                stop = min(start + self.chunk, end)
                yield start, stop
                start = stop

    def case_of(self, row: int) -> tuple[int, int]:
        """Which case a row belongs to, and the first row of that."""
        case = next(k for k, end in enumerate(self.ends) if row < end)
        return case, self.ends[case - 1] if case else 0

    @property
    def recorded(self) -> tuple[str, ...]:
        """What rollouts record for the outputs."""
        arrays = [name for output in self.outputs for name in ARRAYS[output.partition(".")[2]]]
        return tuple(dict.fromkeys(["q", "v", *arrays]))


def started(model: Model) -> Coordinates:
    """Of the joints whose positions a study gives: those that tell the others."""
    told = model.coordinates.of_freedoms(model.mobility.configuration).joints
    return Coordinates(tuple(joint for joint in model.coordinates.joints if joint.name in told))


def closed(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Positions of all joints (rows, nq): loops closed, quaternions of length one."""
    coordinates = started(robot.model)
    if not all(q[:, at].any(axis=-1).all() for at in coordinates.quaternions):
        raise LinkworkError("a quaternion of zeros is no orientation", where=f"robot {robot.name!r}, initial.q")
    q = coordinates.normalised(q)
    if not robot.model.constrained:
        return q
    if robot.model.n_configuration == robot.nv:
        return robot.assemble(q).require()
    whole = np.tile(np.array(robot.home), (len(q), 1))  # what rolls has a place, too, which is known in part
    whole[:, robot.coordinates.places(coordinates.positions.joints)] = q
    known = robot.coordinates.whole(robot.model.mobility.configuration).positions.joints
    return robot.assemble(whole[:, robot.coordinates.places(known)], guess=whole).require()
