"""Fit: what was found of a robot, how surely, and how well it tells what was measured."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IdentificationWarning, ShapeError, UnknownNameError
from ..files import write_text
from ..formulations import drives_of
from ..model import ELEMENTS, body_of
from ..table import Column, Table, notebook
from .logs.log import Log
from .logs.signals import fastest_of
from .output_error.simulation_fit import SimulationFit
from .plots import fit_page, fit_plots
from .regression.friction_at_rest import (
    friction_at_rest,
    in_band,
    last_direction,
    limits_of,
    require_known,
    squares_of,
    standing,
)
from .regression.stacked_regressor import Block, blocks, relative
from .regression.unknowns import Unknowns, split

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
        arrays = self.values.tolist(), self.deviations.tolist(), self.prior.tolist()
        rows = list(zip(self.names, *arrays, self.told, strict=True))
        columns = [Column("value (SI)", digits=5), Column("deviation", digits=2), Column("before", digits=5)]
        return notebook(Table("", ["parameter", *columns, "told"], rows))


@dataclass(frozen=True, eq=False)
class Fit:
    """``robot`` has the new values. ``base``: the parameters that act each by itself; ``standard``: those of links,
    joints and motors. ``errors``: of the forces, |measured - predicted| / |measured|, by joint, on the data that were
    fitted and on data held out (each fifth of a recording predicted from the others, or recordings given for it); where
    joints with Coulomb friction stand still, also of moving and standing samples of the fitted data (``error_parts``);
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

    def torque(self, q: Any, v: Any, a: Any, direction: Any = None) -> np.ndarray:
        """Predicted joint forces, friction and offsets included.

        At rest the smooth friction vanishes, while a joint holds any force within its Coulomb friction.

        Args:
            q: positions, (..., nq).
            v: velocities, (..., nv).
            a: accelerations, (..., nv).
            direction: signs (..., nv) of the last motion of joints that stand still, whose friction is then all of
                their Coulomb friction in this direction; zero where they move or nothing is known. ``last_direction``
                finds them in a recording. Default: none.
        """
        found = self.robot.inverse_dynamics(q, v, a)
        self._flag(np.asarray(v, float))
        if direction is None:
            return found
        signs = np.asarray(direction, float)
        if signs.shape[-1:] != (self.robot.nv,) or not np.isin(signs, (-1, 0, 1)).all():
            expected = f"-1, 0 or 1, (..., {self.robot.nv})"
            raise ShapeError("these are no directions", where="direction", got=repr(direction)[:80], expected=expected)
        return found + friction_at_rest(self.robot.model, np.asarray(v, float), signs)

    def last_direction(self, log: Log) -> np.ndarray:
        """Signs (N, nv) of the last motion of joints that stand still in a recording; zero where they move, and before
        their first motion."""
        log = log.for_robot(self.robot)
        return last_direction(log, standing(log, self.fastest))

    def error(self, log: Log, at_rest: str = "smooth") -> np.ndarray:
        """|measured - predicted| / |measured| of each force of another recording, in its band.

        Friction at rest counts as error, with a warning where it is much of it: ``error_parts`` keeps it apart.

        Args:
            log: a recording.
            at_rest: prediction of friction while a joint stands still, "smooth" (default): as fitted, which is none at
                zero velocity, or "last motion": all of its Coulomb friction in the direction of its last motion.
        """
        left, power = np.zeros(len(self.forces)), np.zeros(len(self.forces))
        log = self._placed(log, at_rest)
        for block, held in self._blocks(log, at_rest):
            left += ((block.z - block.Y @ self.base.values - held) ** 2).sum(axis=0)
            power += block.power()
        squares = squares_of(self.unknowns, self.robot.model, self.base.values, [log], self.fastest)
        if at_rest == "smooth" and squares and (doubt := squares.doubt(self.forces, limits_of(self.robot.model))):
            fix = 'fit.error_parts(log) keeps it apart; at_rest="last motion" predicts it'
            warnings.warn(f"{doubt}; {fix}", IdentificationWarning, stacklevel=2)
        return relative(left, power)

    def error_parts(self, log: Log) -> dict[str, np.ndarray]:
        """Errors of another recording as of ``error``, by parts of its samples.

        Returns:
            "moving" and "standing": samples in which the joint of the force moves or stands still; "standing, beyond
            Coulomb": what is left at rest beyond any force that Coulomb friction can hold; "standing, last motion":
            with Coulomb friction in the direction of the last motion. NaN where a joint has no such samples; empty
            where no joint with Coulomb friction stands still.
        """
        log = self._placed(log, "smooth")
        squares = squares_of(self.unknowns, self.robot.model, self.base.values, [log], self.fastest)
        return squares.errors() if squares else {}

    def predictions(self, log: Log, at_rest: str = "smooth") -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Times, measured and predicted forces of a recording, in its band, block by block; ``at_rest``: as in
        ``error``."""
        for block, held in self._blocks(self._placed(log, at_rest), at_rest):
            yield block.t, block.tau, block.tau - block.z + block.Y @ self.base.values + held

    def _placed(self, log: Log, at_rest: str) -> Log:
        require_known(at_rest)
        log = log.for_robot(self.robot)
        self._flag(np.asarray(log.v), 4)
        return log

    def _blocks(self, log: Log, at_rest: str) -> Iterator[tuple[Block, Any]]:
        """Equations, and what friction at rest adds to the forces."""
        held = None
        if at_rest == "last motion":
            ways = last_direction(log, standing(log, self.fastest))
            held = in_band(log, friction_at_rest(self.robot.model, np.asarray(log.v), ways))
        for block in blocks(self.unknowns, [log]):
            yield block, 0.0 if held is None else held[np.searchsorted(log.t, block.t)]

    def report(self, path: str | Path | None = None) -> str:
        """All of it as one page of HTML, without script and network; ``path``: also write it there."""
        text = fit_page.report(self)
        if path is not None:
            write_text(path, text)
        return text

    def plot(
        self, what: str | Sequence[str] = ("torques", "parameters", "friction"), *, path: str | Path | None = None
    ) -> Figure:
        """A matplotlib Figure of "torques" (measured, predicted, and what is left), "parameters" with two deviations to
        either side, "friction" over velocity, or a list of these. ``path``: also write it there (png, svg, pdf)."""
        return fit_plots.plot(self, [what] if isinstance(what, str) else list(what), path)

    def _repr_html_(self) -> str:
        return fit_page.short(self)

    def _flag(self, v: np.ndarray, stacklevel: int = 3) -> None:
        fastest = fastest_of(v)
        beyond = fastest > BEYOND * self.fastest
        if beyond.any():
            names = self.unknowns.robot.coordinates.of_freedoms(self.robot.model.mobility.independent).names
            told = [f"{names[k]}: {fastest[k]:.3g}, fitted up to {self.fastest[k]:.3g}" for k in np.flatnonzero(beyond)]
            message = (
                f"these velocities are outside the range of the data, where friction may differ: {'; '.join(told)}"
            )
            warnings.warn(message, IdentificationWarning, stacklevel=stacklevel)

    def __repr__(self) -> str:
        shown = {kind: self.errors[kind] for kind in ("fitted", "moving", "standing") if kind in self.errors}
        largest = [f"{errors[k]:.3g} {kind} ({self.forces[k]})" for kind, errors in shown.items()
                   for k in [int(np.nanargmax(errors))]]  # fmt: skip
        told = f"largest relative error {', '.join(largest)}, " if largest else ""
        return (
            f"<linkwork Fit of {self.robot.name} by {self.method}: {len(self.base)} base parameters, {told}"
            f"{'physical' if self.is_physical else 'not physical'}>"
        )
