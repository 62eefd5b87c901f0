"""A Fit by simulation: what is searched for in place of least squares, and its answer in the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, UnsupportedError
from ...options import IdentifyOptions
from ..convex.consistent_fit import divergences
from ..convex.entropic_prior import Prior
from ..logs.log import Log
from ..regression.least_squares import Solution, deviations_of, wls
from ..regression.observations import ROUNDED, Estimate, Observations
from ..regression.stacked_regressor import collect, frames_of
from ..regression.unknowns import Unknowns, listed, payload_of, unknowns_of, values_of
from .simulation_fit import SimulationFit, fit_simulation

if TYPE_CHECKING:
    from ...robot import Robot

ITERATIONS = 100  # at most
LINEAR = ("coulomb", "viscous", "offset", "stribeck")  # friction that regressors know, by name


def _searched_names(options: IdentifyOptions) -> dict[str, Any]:
    """The unknowns of a simulation that options of least squares ask for."""
    if options.payload is not None:
        return {"payload": options.payload}
    kinds = {"inertial": options.inertias, "rotor_inertia": options.rotors, "stiffness": options.springs}
    asked: dict[str, Any] = {name: None for name, wanted in kinds.items() if wanted}
    laws = options.friction if isinstance(options.friction, Mapping) else {None: options.friction or ()}
    for joint, own in laws.items():
        for law in listed(own):
            name = law if isinstance(law, str) else law.name
            if name not in LINEAR:
                raise UnsupportedError(
                    "simulations do not search for this law",
                    where="friction",
                    got=name,
                    expected=f"of {', '.join(LINEAR)}",
                    fix='give its numbers to the robot, or take method="wls"',
                )
            asked[name] = None if joint is None else [*(asked.get(name) or []), joint]
    return asked


def by_simulation(
    robot: Robot, logs: list[Log], held_out: list[Log], options: IdentifyOptions
) -> tuple[Observations, Estimate]:
    """The fit, and what it says of joint forces, where the recordings tell accelerations."""
    gamma = options.gamma or 1.0
    own: dict[str, Any] = {name: getattr(options, name) for name in ("controller", "gains", "prior")}
    own |= {"unknowns": _searched_names(options), "iterations": ITERATIONS, **(options.simulation or {})}
    own |= {"friction_width": options.width} if options.width is not None else {}
    asked = own.pop("unknowns")
    asked = dict(asked) if isinstance(asked, Mapping) else dict.fromkeys([asked] if isinstance(asked, str) else asked)
    progress, most = options.progress, own["iterations"]
    shown = None if progress is None else lambda done, cost: progress(done, most)
    found = fit_simulation(robot, logs, asked, gamma=gamma, progress=shown, **own)
    unknowns = _told_by(robot, found, asked, frames_of([*logs, *held_out]))
    notes = list(found.notes)
    try:
        logs, held_out = ([_with_rates(log) for log in each] for each in (logs, held_out))
        placed = [log.for_robot(found.robot) for log in logs]
    except LinkworkError as error:  # motors alone were measured, say, of elastic joints
        placed = []
        why = str(error).partition("\n")[0]
        notes.append(f"nothing is said of joint forces, since the recordings do not tell all positions: {why}")
    information = collect(unknowns, placed)
    held = collect(unknowns, [log.for_robot(found.robot) for log in held_out]) if held_out else None
    theta, spread = _values(unknowns, found)
    x = unknowns.matrix @ theta
    data = Observations(unknowns, logs, placed, information, held)
    linear = wls(data.without_noise(x), x)
    unseen = linear.unseen if placed else np.zeros((len(x), 0))
    held = _alone(unknowns.matrix, unseen)  # the search may have left them anywhere
    theta[held] = unknowns.prior[held]
    x = unknowns.matrix @ theta
    covariance = unknowns.matrix @ spread @ unknowns.matrix.T
    solution = Solution(x, covariance, deviations_of(information, x), unseen, linear.condition, None)
    left = "; ".join(f"{name} {np.sqrt(np.nanmean(rms**2)):.3g}" for name, rms in found.rms.items())
    notes.append(f"simulation: {len(found.history)} iterations, left of the outputs (rms): {left}")
    pull = {}
    if unknowns.prior.any():  # of a load, nothing is thought before
        pull = divergences(Prior.of(unknowns, unknowns.prior, np.abs(theta) + (theta == 0)), theta)
    return data, Estimate(solution, theta, spread, gamma, pull, tuple(notes), found)


def _alone(K: np.ndarray, unseen: np.ndarray) -> list[int]:
    """Standard parameters each of which is, by itself, one of the directions that the data do not show."""
    entries = np.abs(unseen) > ROUNDED * np.abs(unseen).max(axis=0, initial=0.0)
    rows = np.flatnonzero(entries[:, entries.sum(axis=0) == 1].any(axis=1))
    return [int(np.flatnonzero(K[row])[0]) for row in rows if np.count_nonzero(K[row]) == 1]


def _with_rates(log: Log) -> Log:
    """Smoothed where accelerations have to be differentiated: the simulation needs none, joint forces do."""
    if log.a is not None or log.passed is not None:
        return log
    smooth = log.smoothed()
    note = "the simulation took the positions as they were recorded; joint forces are judged by the smoothed ones"
    return replace(smooth, notes=(*smooth.notes, note))


def _told_by(robot: Robot, found: SimulationFit, asked: Mapping[str, Any], frames: Sequence[str]) -> Unknowns:
    """What was searched for and acts linearly, as unknowns of the robot that was found, the rest of which is known."""
    if asked.get("payload"):
        bare = found.robot.model.with_parameters(found.parameters.tolist())
        return payload_of(robot.with_model(bare), asked["payload"], frames)
    joints = found.robot.model.position_names
    laws: dict[str, list[Any]] = {}
    for name in LINEAR:
        if name in asked:
            for joint in joints if asked[name] is None else listed(asked[name]):
                own = next(body.joint for body in found.robot.model.bodies if body.joint.name == joint)
                law = next((each for each in own.laws if each.name == name), None)
                if own.driven and law is not None:
                    laws.setdefault(joint, []).append(law)
    return unknowns_of(
        found.robot,
        laws,
        inertias="inertial" in asked or not laws,
        rotors="rotor_inertia" in asked,
        springs="stiffness" in asked,
        prior=robot,
        frames=frames,
    )


def _values(unknowns: Unknowns, found: SimulationFit) -> tuple[np.ndarray, np.ndarray]:
    """Of the standard parameters, and their covariance; zero for what was not searched for."""
    place = {name: k for k, name in enumerate(found.names)}
    known = dict(zip(found.names, found.values.tolist(), strict=True))
    others = [name for name in unknowns.standard if name not in known]  # none of a payload, which is no link
    known |= dict(zip(others, values_of(found.robot.model, others).tolist(), strict=True))
    theta = np.array([known[name] for name in unknowns.standard])
    spread = np.zeros((len(theta),) * 2)
    pairs = [(k, place[name]) for k, name in enumerate(unknowns.standard) if name in place]
    own, other = (list(each) for each in zip(*pairs, strict=True)) if pairs else ([], [])
    spread[np.ix_(own, own)] = np.nan_to_num(found.covariance[np.ix_(other, other)], posinf=0.0)
    return theta, spread
