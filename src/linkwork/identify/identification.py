"""Identification from recordings: options -> equations of the recordings -> a method's Estimate -> Fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IdentificationWarning, LinkworkError
from ..formulations import drives_of
from ..model import Model, describe, unphysical
from ..model.flexible.checks import LESS, less_than_beams
from ..model.structure_checks import check_values
from ..notes import Note
from ..options import IdentifyOptions, one_of_names
from ..workspace import Workspace
from .convex.consistent_fit import Prior, consistent_fit, nearest_parameters, typical_sizes
from .fit import Fit, Values
from .logs.log import Log
from .output_error.by_simulation import by_simulation
from .regression.friction_at_rest import limits_of, squares_of
from .regression.friction_smoothing import best_width
from .regression.instruments import instruments_of
from .regression.least_squares import Solution, irls, iv, ols, wls
from .regression.log_warnings import log_warnings
from .regression.noise_floor import noise_warnings
from .regression.observations import ROUNDED, Estimate, Observations
from .regression.stacked_regressor import HELD, collect, frames_of, relative, require_enough
from .regression.unidentifiable import describe_unidentifiable
from .regression.unknowns import TEN, Unknowns, payload_of, unknowns_of

if TYPE_CHECKING:
    from ..robot import Robot

USERS = {"controller": ("iv", "simulation"), "simulation": ("simulation",)}  # option -> methods that use it
NOISE_TOLERANT = ("iv", "simulation")  # methods that noisy accelerations do not spoil

Method = Callable[["Robot", list[Log], list[Log], IdentifyOptions], tuple[Observations, Estimate]]


def identify(robot: Robot, logs: Log | Sequence[Log], method: str, options: IdentifyOptions) -> Fit:
    """Identify dynamic parameters from recordings; see ``Robot.identify``."""
    one_of_names("method of identification", method, METHODS)
    recordings, held_out = _listed(logs, "logs"), _listed(options.held_out, "held_out")
    if not recordings:
        raise LinkworkError("there are no recordings", where="identify", fix="pass a Log, or a list of them")
    if options.prior is not None and not isinstance(options.prior, Workspace):
        got = repr(options.prior)[:80]
        raise LinkworkError("the prior must be a robot", where="prior", got=got, fix="linkwork.load(...)")
    for name, users in USERS.items():
        if getattr(options, name) is not None and method not in users:
            fix = f"method={' or '.join(map(repr, users))}"
            raise LinkworkError("the method does not use this option", where=name, got=f"method={method!r}", fix=fix)
    return _fit(*METHODS[method](robot, recordings, held_out, options), method)


def _listed(logs: Log | Sequence[Log], where: str) -> list[Log]:
    sequence: list[Any] = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if wrong := [each for each in sequence if not isinstance(each, Log)]:
        fix = "linkwork.identify.Log.read(path), Log(t=, q=, tau=)"
        raise LinkworkError("this is not a recording", where=where, got=repr(wrong[0])[:80], expected="a Log", fix=fix)
    return sequence


# -- methods ---------------------------------------------------------------------------------------------------------


def _regression(
    solve: Callable[[Observations, Solution, Prior, IdentifyOptions], Estimate],
    robot: Robot,
    logs: list[Log],
    held_out: list[Log],
    options: IdentifyOptions,
) -> tuple[Observations, Estimate]:
    """Return the observations, and the estimate of ``solve`` from them, from weighted least squares and the prior."""
    data, notes = _observed(robot, logs, held_out, options)
    unknowns = data.unknowns
    first = wls(data.excited, unknowns.base_prior)
    values = unknowns.prior
    if not values.any():  # a payload has no prior
        values = np.linalg.lstsq(unknowns.matrix, first.x, rcond=None)[0]
    estimate = solve(data, first, Prior.of(unknowns, values, typical_sizes(unknowns, first.x)), options)
    return data, replace(estimate, notes=(*notes, *estimate.notes))


def _observed(
    robot: Robot, logs: list[Log], held_out: list[Log], options: IdentifyOptions
) -> tuple[Observations, list[Note]]:
    frames, notes = frames_of([*logs, *held_out]), []
    if options.payload is not None:
        unknowns = payload_of(robot, options.payload, frames)
    else:
        kinds = {name: getattr(options, name) for name in ("friction", "inertias", "rotors", "springs", "prior")}
        unknowns = unknowns_of(robot, **kinds, width=options.width or 0.0, frames=frames)
    logs_in_order = [log.for_robot(unknowns.robot) for log in logs]
    if options.payload is None and options.width is None and (width := best_width(unknowns, logs_in_order)):
        unknowns = unknowns_of(robot, **kinds, width=width, frames=frames)
        text = f"friction goes smoothly through zero within {width:g} rad/s (m/s): chosen on spans held out"
        notes.append(Note("friction-width", text, values={"width": width}))
    information = collect(unknowns, logs_in_order, options.progress)
    require_enough(information, len(unknowns), "identify")
    others = [log.for_robot(unknowns.robot) for log in held_out]
    validation = collect(unknowns, others) if others else None
    return Observations(unknowns, logs, logs_in_order, information, validation), notes


def _consistent(data: Observations, first: Solution, prior: Prior, options: IdentifyOptions) -> Estimate:
    return consistent_fit(data, first, prior, options.gamma)


def _least_squares(
    method: str, data: Observations, first: Solution, prior: Prior, options: IdentifyOptions
) -> Estimate:
    """Return the solution, with the standard parameters nearest to the prior that have its base parameters."""
    unknowns, solution = data.unknowns, first
    if method == "ols":
        solution = ols(data.excited, unknowns.base_prior)
    elif method == "irls":
        solution = irls(unknowns, data.logs, data.excited, data.noise, options.progress)
    elif method == "iv":

        def with_values(x: np.ndarray) -> Robot:
            return unknowns.robot_with(nearest_parameters(unknowns, prior, x)[0])

        motions = instruments_of(unknowns, data.recordings, with_values, options.controller, options.gains)
        solution = iv(unknowns, data.logs, data.excited, motions, data.noise, options.progress)
    theta, slope = nearest_parameters(unknowns, prior, solution.x)
    count = solution.iterations
    note = Note("iterations", f"{method}: {count} iterations", values={"iterations": count})
    return Estimate(solution, theta, slope @ solution.covariance @ slope.T, notes=(note,) if count > 1 else ())


METHODS: dict[str, Method] = {
    "consistent": partial(_regression, _consistent),
    **{name: partial(_regression, partial(_least_squares, name)) for name in ("wls", "ols", "irls", "iv")},
    "simulation": by_simulation,
}


# -- the fit ---------------------------------------------------------------------------------------------------------


def _fit(data: Observations, estimate: Estimate, method: str) -> Fit:
    """Return the Fit with its errors and notes, and issue its warnings."""
    unknowns, solution = data.unknowns, estimate.solution
    robot = unknowns.robot_with(estimate.theta)
    squares = squares_of(unknowns, robot.model, solution.x, data.logs, data.max_velocities)
    texts, never = describe_unidentifiable(unknowns, data.logs, solution.unseen)
    notes = [*_log_notes(data), *estimate.notes, *_drive_notes(robot.model)]
    notes += _warnings(data, estimate, method, texts)
    if squares and (at_rest := squares.warning(unknowns.forces, limits_of(robot.model))):
        fixes = "log.without_standstill() leaves it out of the fit", "leave --keep-standstill out"
        notes.append(replace(at_rest, text=f"{at_rest.text};", fix=fixes[0], command_fix=fixes[1]))
    base, standard = _values(unknowns, estimate)
    fit = Fit(
        robot=robot,
        method=method,
        base=base,
        standard=standard,
        forces=unknowns.forces,
        errors=_errors(data, solution) | (squares.errors() if squares else {}),
        sigma=solution.sigma,
        covariance=solution.covariance,
        condition=solution.condition,
        unidentifiable=(*texts, *never),
        physical=_physical(unknowns, estimate.theta, robot.model),
        max_velocities=data.max_velocities,
        unknowns=unknowns,
        logs=tuple(data.recordings),
        gamma=estimate.gamma,
        divergence=estimate.divergence or {},
        notes=tuple(notes),
        simulation=estimate.simulation,
    )
    for note in fit.warnings:
        warnings.warn(note.message, IdentificationWarning, stacklevel=4)
    return fit


def _log_notes(data: Observations) -> Iterator[Note]:
    for k, log in enumerate(data.logs, 1):
        yield from (Note("log", f"recording {k}: {note}", values={"recording": k}) for note in log.notes)


def _drive_notes(model: Model) -> Iterator[Note]:
    for drive in drives_of(model):
        for each in check_values(drive.name, drive):
            text = f"{each.where}: {each.message}, which robot files do not accept;"
            fixes = 'method="consistent" avoids it', "--method consistent avoids it"
            yield Note("impossible-drive", text, *fixes, values={"drive": drive.name})


def _warnings(data: Observations, estimate: Estimate, method: str, unidentifiable: Sequence[str]) -> Iterator[Note]:
    unknowns, solution = data.unknowns, estimate.solution
    tolerant = method in NOISE_TOLERANT
    yield from log_warnings(unknowns, data.logs, solution.x, tolerant)
    if not tolerant:
        yield from noise_warnings(unknowns, data.logs, data.information, data.noise, solution.x)
    if unidentifiable:
        change = solution.unseen.T @ (solution.x - unknowns.base_prior)
        anywhere = estimate.simulation is not None and not np.allclose(change, 0.0)
        consequence = "the search left some of these anywhere" if anywhere else "these keep their prior values"
        text = f"the data do not identify all parameters; {consequence}: {'; '.join(unidentifiable)}"
        yield Note("unidentifiable", text, severity="warning", values={"directions": tuple(unidentifiable)})


def _errors(data: Observations, solution: Solution) -> dict[str, np.ndarray]:
    """Return relative errors on the fitted data, and on data held out."""
    information = data.information
    errors = {"fitted": information.error(solution.x)} if information.count.any() else {}
    if data.validation is not None:
        errors["held out"] = data.validation.error(solution.x)
    elif solution.refit is not None:
        squares = sum(information.only(folds).squares(solution.refit(folds)) for folds in HELD)
        errors["held out"] = relative(np.asarray(squares), information.power.sum(axis=0))
    return errors


def _values(unknowns: Unknowns, estimate: Estimate) -> tuple[Values, Values]:
    """Return base and standard parameters, with standard deviations and how well the data identify each."""
    solution, K = estimate.solution, unknowns.matrix
    sizes = np.abs(solution.unseen)
    hidden = np.any(sizes > ROUNDED * sizes.max(axis=0, initial=0.0), axis=1)
    words = tuple("unidentifiable" if each else "alone" for each in hidden)
    base = Values(unknowns.names, solution.x, solution.deviations, unknowns.base_prior, words)
    deviations = np.sqrt(np.maximum(np.diag(estimate.covariance), 0.0))
    status = []
    for k, column in enumerate(K.T):
        rows = np.flatnonzero(column)
        if hidden[rows].all():
            status.append("unidentifiable")
        elif len(rows) == 1 and np.count_nonzero(K[rows[0]]) == 1:
            status.append("alone")
            deviations[k] = solution.deviations[rows[0]] / abs(column[rows[0]])
        else:
            status.append("grouped")
    return base, Values(unknowns.standard, estimate.theta, deviations, unknowns.prior, tuple(status))


def _physical(unknowns: Unknowns, theta: np.ndarray, model: Model) -> dict[str, str]:
    """Return what is physically impossible in each body, by name; empty if nothing."""
    less = dict.fromkeys(less_than_beams(describe(model)), LESS)
    return {name: unphysical(theta[at : at + TEN]) or less.get(name, "") for name, at in unknowns.bodies}
