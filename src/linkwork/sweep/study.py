"""A study: the robots, how they are simulated, and the outputs of each motion."""

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

ARRAYS = {  # array of an output's statistic -> arrays that a rollout must record for it
    **{name: (name,) for name in ("q", "v", "a", "tau", "kinetic_energy", "potential_energy", "work", "momentum")},
    **{name: (name,) for name in ("center_of_mass", "loop_residual")},
    "energy": ("kinetic_energy", "potential_energy"),
    "error": ("q",),
}
STATISTICS = ("final", "peak", "rms", "mean")  # over time; the peak is the largest absolute value
DIVERGED = "diverged"


@dataclass(frozen=True)
class Controller:
    """A control law of ``linkwork.control``, and those of its gains that vary between rows."""

    label: str
    law: Any
    gains: Mapping[str, Vector]


@dataclass(frozen=True)
class Case:
    """One robot with at most one controller: rows that run in the same compiled program."""

    label: str
    robot: Robot
    q: Vector
    v: Vector
    controller: Controller | None
    reference: Reference | None
    vary: Mapping[str, Vector]  # "mass", "viscous", "coulomb", "gravity", "payload"
    payload: str  # the frame that carries the payload
    commands: Vector  # command inputs of force laws
    samples: int
    seed: int

    @cached_property
    def plan(self) -> Plan:
        gains = self.controller.gains.values() if self.controller else ()
        return Plan(variables_of([self.q, self.v, *gains, *self.vary.values(), self.commands]), self.samples, self.seed)


@dataclass(frozen=True)
class Study:
    """A study as ``read_study`` returns it: cases, each a robot with a controller, and what to compute of them.

    Args:
        name: Name of the study.
        text: Text of the file.
        seed: Seed of the random numbers.
        dt: Time step, s.
        steps: Number of steps of each motion.
        options: Options of the rollouts that are the same for all cases.
        chunk: Largest number of rows in a table.
        outputs: Names of the outputs, such as "final.q" and "peak.tau".
        cases: One robot and controller each.
        robots: Checksums of robot files by name, so that a study is not resumed with changed files.

    Example:
        >>> from pathlib import Path
        >>> text = "{robot: planar2r, simulation: {dt: 0.01, duration: 0.1}, outputs: [final.q]}"
        >>> _ = Path("study.yaml").write_text(text)
        >>> study = linkwork.sweep.read_study("study.yaml")
        >>> study.steps, study.outputs
        (10, ('final.q',))
    """

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
        """Row after the last one of each case."""
        return tuple(accumulate(case.plan.rows for case in self.cases))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.ends[-1]

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield the chunks; none has rows of two cases.

        Yields:
            First row, and row after the last one, of each chunk.
        """
        start = 0
        for end in self.ends:
            while start < end:
                stop = min(start + self.chunk, end)
                yield start, stop
                start = stop

    def case_of(self, row: int) -> tuple[int, int]:
        """Return the case of a row.

        Args:
            row: Number of the row.

        Returns:
            The number of its case, and the first row of that case.
        """
        case = next(k for k, end in enumerate(self.ends) if row < end)
        return case, self.ends[case - 1] if case else 0

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of the arrays that rollouts record for the outputs."""
        arrays = [name for output in self.outputs for name in ARRAYS[output.partition(".")[2]]]
        return tuple(dict.fromkeys(["q", "v", *arrays]))


def initial_coordinates(model: Model) -> Coordinates:
    """Return the coordinates of the joints whose initial positions a study gives; they determine the others."""
    independent = model.coordinates.of_freedoms(model.mobility.configuration).joints
    return Coordinates(tuple(joint for joint in model.coordinates.joints if joint.name in independent))


def closed(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the positions of all joints (rows, nq), with closed loops and unit quaternions."""
    coordinates = initial_coordinates(robot.model)
    if not all(q[:, at].any(axis=-1).all() for at in coordinates.quaternions):
        raise LinkworkError("a quaternion must not be zero", where=f"robot {robot.name!r}, initial.q")
    q = coordinates.normalised(q)
    if not robot.model.constrained:
        return q
    if robot.model.n_configuration == robot.nv:
        return robot.assemble(q).require()
    whole = np.tile(np.array(robot.home), (len(q), 1))  # wheels: some positions are given, the others are at home
    whole[:, robot.coordinates.places(coordinates.positions.joints)] = q
    joints = robot.coordinates.whole(robot.model.mobility.configuration).positions.joints
    return robot.assemble(whole[:, robot.coordinates.places(joints)], guess=whole).require()
