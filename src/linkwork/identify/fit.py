"""Fit: identified parameters with their uncertainty and prediction errors."""

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
from ..notes import Note
from ..renamed import refuse
from ..table import Column, Table, notebook
from .logs.log import Log
from .logs.signals import max_speeds
from .plots import fit_page, fit_plots
from .regression.friction_at_rest import (
    filtered,
    friction_at_rest,
    last_direction,
    limits_of,
    require_prediction,
    squares_of,
    standing,
)
from .regression.stacked_regressor import Block, blocks, relative
from .regression.unknowns import Unknowns, split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..robot import Robot
    from .output_error.simulation_fit import SimulationFit

BEYOND = 1.05  # predictions at velocities above this share of the largest measured ones give a warning


@dataclass(frozen=True, eq=False)
class Values:
    """Named parameters with standard deviations, in SI units.

    Iterating yields the names; ``values[name]`` is one value.

    Attributes:
        names: Names of the parameters.
        values: Identified values, (n,).
        deviations: Standard deviations, (n,).
        prior: Values before the fit, (n,).
        status: For each parameter "alone" (the data identify it by itself), "grouped" (only in combination with
            others) or "unidentifiable".

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
        >>> fit = arm.identify(linkwork.identify.Log.from_trajectory(motion.trajectory))
        >>> values = fit.base
        >>> len(values) == len(values.names) == len(values.deviations)
        True
    """

    names: tuple[str, ...]
    values: np.ndarray
    deviations: np.ndarray
    prior: np.ndarray
    status: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise UnknownNameError("parameter", name, self.names)
        return float(self.values[self.names.index(name)])

    if not TYPE_CHECKING:  # type checkers are to report names that do not exist

        def __getattr__(self, name: str) -> Any:
            refuse("Values", name)

    @property
    def as_dict(self) -> dict[str, float]:
        """Values by name."""
        return dict(zip(self.names, self.values.tolist(), strict=True))

    @property
    def relative(self) -> np.ndarray:
        """Standard deviations relative to the sizes of the values, (n,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.deviations > 0, self.deviations / np.abs(self.values), 0.0)

    def _repr_html_(self) -> str:
        arrays = self.values.tolist(), self.deviations.tolist(), self.prior.tolist()
        rows = list(zip(self.names, *arrays, self.status, strict=True))
        columns = [Column("value (SI)", digits=5), Column("deviation", digits=2), Column("before", digits=5)]
        return notebook(Table("", ["parameter", *columns, "status"], rows))


@dataclass(frozen=True, eq=False)
class Fit:
    """Identified parameters of a robot, with their uncertainty and prediction errors: the result of ``Robot.identify``.

    Attributes:
        robot: The robot with the identified values.
        method: Method of identification.
        base: Base parameters, each of which acts on the joint forces by itself.
        standard: Standard parameters of links, joints and motors.
        forces: Names of the joint forces.
        errors: Relative errors |measured - predicted| / |measured| of each force: "fitted" on the fitted data and "held
            out" on others (each fifth of a recording predicted from the rest, or the recordings ``held_out``). Where
            joints with Coulomb friction stand still also the parts of ``error_parts``.
        sigma: Standard deviations of the residuals in N m (N), (forces,).
        covariance: Covariance of the base parameters.
        condition: Condition number of the weighted equations with columns of length one.
        unidentifiable: Descriptions of the combinations of parameters that the data do not identify.
        physical: What is physically impossible in each body, by name; empty where nothing is.
        max_velocities: Largest measured velocities in rad/s (m/s), (nv,).
        unknowns: What was to be identified, and how forces depend on it.
        logs: The recordings.
        gamma: Weight of the prior; None for methods without one.
        divergence: Entropic divergence of each body from its prior, by name; zero where the data changed nothing.
        notes: ``linkwork.notes.Note`` objects: what was done, and ``warnings``.
        simulation: Further results of the method "simulation", such as friction widths and delays.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
        >>> fit = arm.identify(linkwork.identify.Log.from_trajectory(motion.trajectory))
        >>> fit.is_physical
        True
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
    unidentifiable: tuple[str, ...]
    physical: Mapping[str, str]
    max_velocities: np.ndarray
    unknowns: Unknowns
    logs: tuple[Log, ...]
    gamma: float | None = None
    divergence: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    simulation: SimulationFit | None = None

    if not TYPE_CHECKING:  # type checkers are to report names that do not exist

        def __getattr__(self, name: str) -> Any:
            refuse("Fit", name)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """The notes that are warnings."""
        return tuple(note for note in self.notes if note.severity == "warning")

    @property
    def parameter_values(self) -> dict[str, float]:
        """Standard parameters by name, for ``Robot.with_parameters``."""
        return self.standard.as_dict

    @property
    def drives(self) -> dict[str, dict[str, Any]]:
        """Friction laws and widths by joint or motor, for ``Robot.with_parameters``."""
        names = {name for name, element in map(split, self.standard.names) if element not in ELEMENTS}
        drives = [drive for drive in drives_of(self.robot.model) if drive.name in names]
        return {each.name: {"friction": each.friction, "friction_width": each.friction_width} for each in drives}

    @property
    def payload(self) -> dict[str, dict[str, Any]]:
        """Mass, centre and inertia of an identified payload by frame, for ``Robot.with_payload``; else empty."""
        if set(self.unknowns.columns) != {(name, element) for name, _ in self.unknowns.bodies for element in ELEMENTS}:
            return {}
        ((frame, _),) = self.unknowns.bodies
        body = body_of(self.standard.values)
        return {frame: {"mass": body.mass, "center": body.center.tolist(), "inertia": body.central.tolist()}}

    @property
    def correlation(self) -> np.ndarray:
        """Correlation matrix of the errors of the base parameters."""
        scale = np.where(self.base.deviations > 0, self.base.deviations, 1.0)
        return self.covariance / scale / scale[:, None]

    @property
    def is_physical(self) -> bool:
        """Whether every identified body is physically possible."""
        return not any(self.physical.values())

    def torque(self, q: Any, v: Any, a: Any, direction: Any = None) -> np.ndarray:
        """Return predicted joint forces, friction and offsets included.

        At rest the smooth friction vanishes, while a joint holds any force within its Coulomb friction.

        Args:
            q: Positions, (..., nq).
            v: Velocities, (..., nv).
            a: Accelerations, (..., nv).
            direction: Signs (..., nv) of the last motion of joints that stand still, whose friction is then all of
                their Coulomb friction in this direction; zero where they move or nothing is known. ``last_direction``
                computes them for a recording. Default: none.

        Returns:
            Forces in N m (N), (..., forces).

        Raises:
            ShapeError: If the directions are not -1, 0 or 1 for each velocity.
            UnsupportedError: If directions are given for a robot with loops or mimic joints.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> fit.torque([0, 0], [0, 0], [0, 0]).shape
            (2,)
        """
        tau = self.robot.inverse_dynamics(q, v, a)
        self._flag(np.asarray(v, float))
        if direction is None:
            return tau
        signs = np.asarray(direction, float)
        if signs.shape[-1:] != (self.robot.nv,) or not np.isin(signs, (-1, 0, 1)).all():
            expected = f"-1, 0 or 1, (..., {self.robot.nv})"
            raise ShapeError("these are not directions", where="direction", got=repr(direction)[:80], expected=expected)
        return tau + friction_at_rest(self.robot.model, np.asarray(v, float), signs)

    def last_direction(self, log: Log) -> np.ndarray:
        """Return the signs of the last motion of joints that stand still in a recording.

        Args:
            log: A recording.

        Returns:
            Signs (N, nv); zero where a joint moves, and before its first motion.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> fit.last_direction(log).shape == log.v.shape
            True
        """
        log = log.for_robot(self.robot)
        return last_direction(log, standing(log, self.max_velocities))

    def error(self, log: Log, at_rest: str = "smooth") -> np.ndarray:
        """Return the relative error of each force of another recording, |measured - predicted| / |measured|.

        The error is that in the recording's band. Friction at rest counts as error, with a warning where it is much of
        it; ``error_parts`` separates it.

        Args:
            log: A recording.
            at_rest: Prediction of friction while a joint stands still. Default: "smooth", as fitted, which is none at
                zero velocity; or "last motion", all of its Coulomb friction in the direction of its last motion.

        Returns:
            Errors, (forces,).

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> bool(fit.error(log).max() < 1e-3)
            True
        """
        residual, power = np.zeros(len(self.forces)), np.zeros(len(self.forces))
        log = self._ordered(log, at_rest)
        for block, friction in self._blocks(log, at_rest):
            residual += ((block.z - block.Y @ self.base.values - friction) ** 2).sum(axis=0)
            power += block.power()
        squares = squares_of(self.unknowns, self.robot.model, self.base.values, [log], self.max_velocities)
        if at_rest == "smooth" and squares and (note := squares.warning(self.forces, limits_of(self.robot.model))):
            fix = 'fit.error_parts(log) separates it; at_rest="last motion" predicts it'
            warnings.warn(f"{note.text}; {fix}", IdentificationWarning, stacklevel=2)
        return relative(residual, power)

    def error_parts(self, log: Log) -> dict[str, np.ndarray]:
        """Return the relative errors of another recording separately for moving and standing samples.

        Args:
            log: A recording.

        Returns:
            Errors (forces,) by part: "moving" and "standing": samples in which the joint of the force moves or stands
            still; "standing, beyond Coulomb": what is left at rest beyond any force that Coulomb friction can hold;
            "standing, last motion": with Coulomb friction in the direction of the last motion. NaN where a joint has no
            such samples; empty where no joint with Coulomb friction stands still.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> fit.error_parts(log)
            {}
        """
        log = self._ordered(log, "smooth")
        squares = squares_of(self.unknowns, self.robot.model, self.base.values, [log], self.max_velocities)
        return squares.errors() if squares else {}

    def predictions(self, log: Log, at_rest: str = "smooth") -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield times, measured and predicted forces of a recording, in its band, block by block.

        Args:
            log: A recording.
            at_rest: Prediction of friction at rest, as in ``error``. Default: "smooth".

        Yields:
            Times (rows,), measured and predicted forces (rows, forces).

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> t, measured, predicted = next(fit.predictions(log))
            >>> measured.shape == predicted.shape
            True
        """
        for block, friction in self._blocks(self._ordered(log, at_rest), at_rest):
            yield block.t, block.tau, block.tau - block.z + block.Y @ self.base.values + friction

    def _ordered(self, log: Log, at_rest: str) -> Log:
        require_prediction(at_rest)
        log = log.for_robot(self.robot)
        self._flag(np.asarray(log.v), 4)
        return log

    def _blocks(self, log: Log, at_rest: str) -> Iterator[tuple[Block, Any]]:
        """Yield blocks of equations, and what friction at rest adds to the forces."""
        friction = None
        if at_rest == "last motion":
            directions = last_direction(log, standing(log, self.max_velocities))
            friction = filtered(log, friction_at_rest(self.robot.model, np.asarray(log.v), directions))
        for block in blocks(self.unknowns, [log]):
            yield block, 0.0 if friction is None else friction[np.searchsorted(log.t, block.t)]

    def report(self, path: str | Path | None = None) -> str:
        """Return the whole fit as one HTML page that needs no scripts and no network.

        Args:
            path: File to write it to as well. Default: none.

        Returns:
            The page.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> page = fit.report("fit.html")
        """
        text = fit_page.report(self)
        if path is not None:
            write_text(path, text)
        return text

    def plot(
        self, what: str | Sequence[str] = ("torques", "parameters", "friction"), *, path: str | Path | None = None
    ) -> Figure:
        """Draw the fit with matplotlib.

        Args:
            what: One or several of "torques" (measured, predicted and residual), "parameters" with two standard
                deviations to either side, and "friction" over velocity. Default: all.
            path: File to write it to as well: .png, .svg or .pdf. Default: none.

        Returns:
            A matplotlib Figure.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> motion = linkwork.identify.excite(arm, starts=1, harmonics=2, period=2)
            >>> log = linkwork.identify.Log.from_trajectory(motion.trajectory)
            >>> fit = arm.identify(log)
            >>> figure = fit.plot("parameters", path="fit.png")
        """
        return fit_plots.plot(self, [what] if isinstance(what, str) else list(what), path)

    def _repr_html_(self) -> str:
        return fit_page.short(self)

    def _flag(self, v: np.ndarray, stacklevel: int = 3) -> None:
        """Warn of velocities outside the range of the data."""
        speeds = max_speeds(v)
        beyond = np.flatnonzero(speeds > BEYOND * self.max_velocities)
        if len(beyond):
            names = self.unknowns.robot.coordinates.of_freedoms(self.robot.model.mobility.independent).names
            speeds_text = [f"{names[k]}: {speeds[k]:.3g}, fitted up to {self.max_velocities[k]:.3g}" for k in beyond]
            message = "these velocities are outside the range of the data, where friction may differ"
            warnings.warn(f"{message}: {'; '.join(speeds_text)}", IdentificationWarning, stacklevel=stacklevel)

    def __repr__(self) -> str:
        main_errors = {kind: self.errors[kind] for kind in ("fitted", "moving", "standing") if kind in self.errors}
        largest = [f"{errors[k]:.3g} {kind} ({self.forces[k]})" for kind, errors in main_errors.items()
                   for k in [int(np.nanargmax(errors))]]  # fmt: skip
        errors = f"largest relative error {', '.join(largest)}, " if largest else ""
        return (
            f"<linkwork Fit of {self.robot.name} by {self.method}: {len(self.base)} base parameters, {errors}"
            f"{'physical' if self.is_physical else 'not physical'}>"
        )
