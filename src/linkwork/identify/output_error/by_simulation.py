"""The method "simulation" of ``Robot.identify``: a fit by simulation, expressed as an Estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, UnsupportedError, method_at_door
from ...notes import Note
from ...options import IdentifyOptions
from ..convex.consistent_fit import Prior, divergences
from ..logs.log import Log
from ..regression.least_squares import Solution, deviations_of, wls
from ..regression.observations import ROUNDED, Estimate, Observations
from ..regression.stacked_regressor import collect, frames_of
from ..regression.unknowns import Unknowns, listed, payload_of, unknowns_of, values_of
from .search_variables import named
from .simulation_fit import SimulationFit, fit_simulation

if TYPE_CHECKING:
    from ...robot import Robot

ITERATIONS = 100  # default limit
LINEAR = ("coulomb", "viscous", "offset", "stribeck")  # friction laws that are linear in their parameters


def _searched_names(options: IdentifyOptions) -> dict[str, Any]:
    """Return the unknowns of a simulation that the options of least squares ask for."""
    if options.payload is not None:
        return {"payload": options.payload}
    kinds = {"inertial": options.inertias, "rotor_inertia": options.rotors, "stiffness": options.springs}
    names: dict[str, Any] = {name: None for name, unknown in kinds.items() if unknown}
    laws_by_joint = options.friction if isinstance(options.friction, Mapping) else {None: options.friction or ()}
    for joint, laws in laws_by_joint.items():
        for law in listed(laws):
            name = law if isinstance(law, str) else law.name
            if name not in LINEAR:
                raise UnsupportedError(
                    "the method simulation does not identify this law",
                    where="friction",
                    got=name,
                    expected=f"of {', '.join(LINEAR)}",
                    fix=f"set its numbers in the robot, or use {method_at_door('wls')}",
                )
            names[name] = None if joint is None else [*(names.get(name) or []), joint]
    return names


def by_simulation(
    robot: Robot, logs: list[Log], held_out: list[Log], options: IdentifyOptions
) -> tuple[Observations, Estimate]:
    """Return the fit by simulation, with the joint forces it predicts where the recordings have accelerations."""
    gamma = options.gamma or 1.0
    arguments: dict[str, Any] = {name: getattr(options, name) for name in ("controller", "gains", "prior")}
    arguments |= {"unknowns": _searched_names(options), "iterations": ITERATIONS, **(options.simulation or {})}
    arguments |= {"friction_width": options.width} if options.width is not None else {}
    names = named(arguments.pop("unknowns"))
    progress, most = options.progress, arguments["iterations"]
    report = None if progress is None else lambda done, cost: progress(done, most)
    fit = fit_simulation(robot, logs, names, gamma=gamma, progress=report, **arguments)
    unknowns = _linear_unknowns(robot, fit, names, frames_of([*logs, *held_out]))
    notes = list(fit.notes)
    try:
        logs, held_out = ([_with_rates(log) for log in each] for each in (logs, held_out))
        logs_in_order = [log.for_robot(fit.robot) for log in logs]
    except LinkworkError as error:  # only the motors of elastic joints were measured, for example
        logs_in_order = []
        why = str(error).partition("\n")[0]
        notes.append(Note("no-forces", f"joint forces are not predicted, since some positions are missing: {why}"))
    information = collect(unknowns, logs_in_order)
    validation = collect(unknowns, [log.for_robot(fit.robot) for log in held_out]) if held_out else None
    theta, uncertainty = _values(unknowns, fit)
    x = unknowns.matrix @ theta
    data = Observations(unknowns, logs, logs_in_order, information, validation)
    linear = wls(data.without_noise(x), x)
    unseen = linear.unseen if logs_in_order else np.zeros((len(x), 0))
    single = _alone(unknowns.matrix, unseen)  # the search may have left them anywhere
    theta[single] = unknowns.prior[single]
    x = unknowns.matrix @ theta
    covariance = unknowns.matrix @ uncertainty @ unknowns.matrix.T
    solution = Solution(x, covariance, deviations_of(information, x), unseen, linear.condition, None)
    rms = {name: float(np.sqrt(np.nanmean(each**2))) for name, each in fit.rms.items()}
    errors, count = "; ".join(f"{name} {each:.3g}" for name, each in rms.items()), len(fit.history)
    text = f"simulation: {count} iterations, left of the outputs (rms): {errors}"
    notes.append(Note("iterations", text, values={"iterations": count, **rms}))
    divergence = {}
    if unknowns.prior.any():  # a payload has no prior
        divergence = divergences(Prior.of(unknowns, unknowns.prior, np.abs(theta) + (theta == 0)), theta)
    return data, Estimate(solution, theta, uncertainty, gamma, divergence, tuple(notes), fit)


def _alone(K: np.ndarray, unseen: np.ndarray) -> list[int]:
    """Return standard parameters each of which is, by itself, a direction that the data do not show."""
    entries = np.abs(unseen) > ROUNDED * np.abs(unseen).max(axis=0, initial=0.0)
    rows = np.flatnonzero(entries[:, entries.sum(axis=0) == 1].any(axis=1))
    return [int(np.flatnonzero(K[row])[0]) for row in rows if np.count_nonzero(K[row]) == 1]


def _with_rates(log: Log) -> Log:
    """Return the log, smoothed where accelerations have to be differentiated, which joint forces need."""
    if log.a is not None or log.passed is not None:
        return log
    smooth = log.smoothed()
    note = "the simulation used the positions as they were recorded; joint forces are computed from smoothed ones"
    return replace(smooth, notes=(*smooth.notes, note))


def _linear_unknowns(robot: Robot, fit: SimulationFit, names: Mapping[str, Any], frames: Sequence[str]) -> Unknowns:
    """Return what was searched for and acts linearly, as unknowns of the fitted robot, the rest of which is known."""
    if names.get("payload"):
        bare = fit.robot.model.with_parameters(fit.parameters.tolist())
        return payload_of(robot.with_model(bare), names["payload"], frames)
    joints = {body.joint.name: body.joint for body in fit.robot.model.bodies}
    laws: dict[str, list[Any]] = {}
    for name in LINEAR:
        if name in names:
            for joint in fit.robot.model.position_names if names[name] is None else listed(names[name]):
                law = next((each for each in joints[joint].laws if each.name == name), None)
                if joints[joint].driven and law is not None:
                    laws.setdefault(joint, []).append(law)
    return unknowns_of(
        fit.robot,
        laws,
        inertias="inertial" in names or not laws,
        rotors="rotor_inertia" in names,
        springs="stiffness" in names,
        prior=robot,
        frames=frames,
    )


def _values(unknowns: Unknowns, fit: SimulationFit) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard parameters and their covariance, zero for what was not searched for."""
    place = {name: k for k, name in enumerate(fit.names)}
    values = dict(zip(fit.names, fit.values.tolist(), strict=True))
    others = [name for name in unknowns.standard if name not in values]  # empty for a payload, which is no link
    values |= dict(zip(others, values_of(fit.robot.model, others).tolist(), strict=True))
    theta = np.array([values[name] for name in unknowns.standard])
    uncertainty = np.zeros((len(theta),) * 2)
    pairs = [(k, place[name]) for k, name in enumerate(unknowns.standard) if name in place]
    rows, columns = (list(each) for each in zip(*pairs, strict=True)) if pairs else ([], [])
    uncertainty[np.ix_(rows, rows)] = np.nan_to_num(fit.covariance[np.ix_(columns, columns)], posinf=0.0)
    return theta, uncertainty
