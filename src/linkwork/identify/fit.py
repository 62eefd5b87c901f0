"""Fit: what was found of a robot, how surely, and how well it tells what was measured."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IdentificationWarning, UnknownNameError
from ..files import write_text
from ..formulations import drives_of
from ..model import ELEMENTS, body_of
from ..quoting import in_html
from .linear.equations import Block, blocks, relative
from .linear.unknowns import Unknowns, split
from .recordings.log import Log
from .recordings.signals import fastest_of
from .shown import page, plots
from .simulation.fit import SimulationFit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..robot import Robot

BEYOND = 1.05  # of the measured velocities: a prediction is flagged beyond


@dataclass(frozen=True, eq=False)
class Values:
    """Numbers with names: ``values``, their standard ``deviations``, what was thought before (``prior``), and in a word
    how the data tell each: "alone", "grouped" (with others only) or "untold"."""

    names: tuple[str, ...]
    values: np.ndarray
    deviations: np.ndarray
    prior: np.ndarray
    told: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise UnknownNameError("parameter", name, self.names)
        return float(self.values[self.names.index(name)])

    @property
    def as_dict(self) -> dict[str, float]:
        return dict(zip(self.names, self.values.tolist(), strict=True))

    @property
    def relative(self) -> np.ndarray:
        """Deviations over sizes of the values."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.deviations > 0, self.deviations / np.abs(self.values), 0.0)

    def _repr_html_(self) -> str:
        rows = zip(self.names, self.values, self.deviations, self.prior, self.told, strict=True)
        body = "".join(
            f"<tr><th>{in_html(name)}</th><td>{x:.5g}</td><td>{d:.2g}</td><td>{p:.5g}</td><td>{told}</td></tr>"
            for name, x, d, p, told in rows
        )
        head = "<tr><th>parameter</th><th>value (SI)</th><th>deviation</th><th>before</th><th>told</th></tr>"
        return f"<table>{head}{body}</table>"


@dataclass(frozen=True, eq=False)
class Fit:
    """``robot`` has the new values. ``base``: the parameters that act each by itself; ``standard``: those of links,
    joints and motors. ``errors``: of the forces, |measured - predicted| / |measured|, by joint, on the data that were
    fitted and on data held out (each fifth of a recording predicted from the others, or recordings given for it);
    ``sigma``: deviations of the residuals, N m or N. ``condition``: of the weighted equations with columns of length
    one. ``unseen``: what the data do not tell, in words. ``physical``: body -> what is wrong with it, empty if nothing.
    ``gamma``: weight of the prior, and ``pull``: body -> how far the data have moved it from the prior (a divergence,
    zero where nothing was learnt). ``notes``: what was done; ``doubts``: those of them that are warnings.
    ``simulation``: what a fit by simulation found beside, widths of friction and delays say.
    """

    robot: Robot
    method: str
    base: Values
    standard: Values
    forces: tuple[str, ...]
    errors: Mapping[str, np.ndarray]
    sigma: np.ndarray
    covariance: np.ndarray
    condition: float
    unseen: tuple[str, ...]
    physical: Mapping[str, str]
    fastest: np.ndarray  # largest measured velocities
    unknowns: Unknowns
    logs: tuple[Log, ...]
    gamma: float | None = None
    pull: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    simulation: SimulationFit | None = None

    @property
    def parameter_values(self) -> dict[str, float]:
        """Standard parameters by name, for ``Robot.with_parameters``."""
        return self.standard.as_dict

    @property
    def drives(self) -> dict[str, dict[str, Any]]:
        """Laws of friction and their widths by joint or motor, for ``Robot.with_parameters``."""
        names = {name for name, element in map(split, self.standard.names) if element not in ELEMENTS}
        own = [drive for drive in drives_of(self.robot.model) if drive.name in names]
        return {each.name: {"friction": each.friction, "friction_width": each.friction_width} for each in own}

    @property
    def payload(self) -> dict[str, dict[str, Any]]:
        """Frame -> mass, centre and inertia about it, of a fit of a payload, for ``Robot.with_payload``."""
        if set(self.unknowns.columns) != {(name, element) for name, _ in self.unknowns.bodies for element in ELEMENTS}:
            return {}
        ((frame, _),) = self.unknowns.bodies
        body = body_of(self.standard.values)
        return {frame: {"mass": body.mass, "center": body.center.tolist(), "inertia": body.central.tolist()}}

    @property
    def correlation(self) -> np.ndarray:
        """Of the base parameters' errors."""
        scale = np.where(self.base.deviations > 0, self.base.deviations, 1.0)
        return self.covariance / scale / scale[:, None]

    @property
    def is_physical(self) -> bool:
        return not any(self.physical.values())

    def torque(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """Predicted joint forces, friction and offsets included."""
        found = self.robot.inverse_dynamics(q, v, a)
        self._flag(np.asarray(v, float))
        return found

    def error(self, log: Log) -> np.ndarray:
        """|measured - predicted| / |measured| of each force of another recording, in its band."""
        left, power = np.zeros(len(self.forces)), np.zeros(len(self.forces))
        for block in self._blocks(log):
            left += ((block.z - block.Y @ self.base.values) ** 2).sum(axis=0)
            power += block.power()
        return relative(left, power)

    def predictions(self, log: Log) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Times, measured and predicted forces of a recording, in its band, block by block."""
        for block in self._blocks(log):
            yield block.t, block.tau, block.tau - block.z + block.Y @ self.base.values

    def _blocks(self, log: Log) -> Iterator[Block]:
        log = log.for_robot(self.robot)
        self._flag(np.asarray(log.v))
        return blocks(self.unknowns, [log])

    def report(self, path: str | Path | None = None) -> str:
        """All of it as one page of HTML, without script and network; ``path``: also write it there."""
        text = page.report(self)
        if path is not None:
            write_text(path, text)
        return text

    def plot(
        self, what: str | Sequence[str] = ("torques", "parameters", "friction"), *, path: str | Path | None = None
    ) -> Figure:
        """A matplotlib Figure of "torques" (measured, predicted, and what is left), "parameters" with two deviations to
        either side, "friction" over velocity, or a list of these. ``path``: also write it there (png, svg, pdf)."""
        return plots.plot(self, [what] if isinstance(what, str) else list(what), path)

    def _repr_html_(self) -> str:
        return page.short(self)

    def _flag(self, v: np.ndarray) -> None:
        fastest = fastest_of(v)
        beyond = fastest > BEYOND * self.fastest
        if beyond.any():
            names = self.unknowns.robot.coordinates.of_freedoms(self.robot.model.mobility.independent).names
            told = [f"{names[k]}: {fastest[k]:.3g}, fitted up to {self.fastest[k]:.3g}" for k in np.flatnonzero(beyond)]
            message = (
                f"these velocities are outside the range of the data, where friction may differ: {'; '.join(told)}"
            )
            warnings.warn(message, IdentificationWarning, stacklevel=3)

    def __repr__(self) -> str:
        errors = self.errors.get("fitted")
        told = "" if errors is None else f"largest relative error {errors.max():.3g} ({self.forces[errors.argmax()]}), "
        return (
            f"<linkwork Fit of {self.robot.name} by {self.method}: {len(self.base)} base parameters, {told}"
            f"{'physical' if self.is_physical else 'not physical'}>"
        )
