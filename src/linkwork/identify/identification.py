"""identify: from recordings to a Fit. Options -> equations of the recordings -> a method's Estimate -> Fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IdentificationWarning, LinkworkError
from ..formulations import drives_of
from ..model import Model, describe, unphysical
from ..model.flexible.checks import LESS, less_than_beams
from ..model.structure_checks import check_values
from ..options import IdentifyOptions, one_of_names
from ..workspace import Workspace
from .convex.consistent_fit import consistent_fit, typical
from .convex.entropic_prior import Prior
from .convex.nearest_parameters import nearest
from .fit import Fit, Values
from .logs.log import Log
from .output_error.by_simulation import by_simulation
from .regression.friction_at_rest import limits_of, squares_of
from .regression.friction_smoothing import width_of
from .regression.instruments import instruments_of
from .regression.least_squares import Solution, irls, iv, ols, wls
from .regression.log_warnings import suspicions
from .regression.noise_floor import noise_doubts
from .regression.observations import ROUNDED, Estimate, Observations
from .regression.stacked_regressor import HELD, collect, frames_of, relative, require_enough
from .regression.unidentifiable import unseen_in_words
from .regression.unknowns import TEN, Unknowns, payload_of, unknowns_of

if TYPE_CHECKING:
    from ..robot import Robot

USERS = {"controller": ("iv", "simulation"), "simulation": ("simulation",)}  # option -> methods that use it
BEAR_NOISE = ("iv", "simulation")  # of accelerations

Method = Callable[["Robot", list[Log], list[Log], IdentifyOptions], tuple[Observations, Estimate]]


def identify(robot: Robot, logs: Log | Sequence[Log], method: str, options: IdentifyOptions) -> Fit:
    """See ``Robot.identify``."""
    one_of_names("method of identification", method, METHODS)
    given, held_out = _listed(logs, "logs"), _listed(options.held_out, "held_out")
    if not given:
        raise LinkworkError("there are no recordings", where="identify", fix="give a Log, or a list of them")
    if options.prior is not None and not isinstance(options.prior, Workspace):
        got = repr(options.prior)[:80]
        raise LinkworkError("the prior is a robot", where="prior", got=got, fix="linkwork.load(...)")
    for name, users in USERS.items():
        if getattr(options, name) is not None and method not in users:
            fix = f"method={' or '.join(map(repr, users))}"
            raise LinkworkError("this method does not use it", where=name, got=f"method={method!r}", fix=fix)
    return _fit(*METHODS[method](robot, given, held_out, options), method)


def _listed(logs: Log | Sequence[Log], where: str) -> list[Log]:
    found: list[Any] = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if wrong := [each for each in found if not isinstance(each, Log)]:
        fix = "linkwork.identify.Log.read(path), Log(t=, q=, tau=)"
        raise LinkworkError("this is no recording", where=where, got=repr(wrong[0])[:80], expected="a Log", fix=fix)
    return found


# -- methods ---------------------------------------------------------------------------------------------------------


def _regression(
    solve: Callable[[Observations, Solution, Prior, IdentifyOptions], Estimate],
    robot: Robot,
    logs: list[Log],
    held_out: list[Log],
    options: IdentifyOptions,
) -> tuple[Observations, Estimate]:
    """Observations of the recordings, and what ``solve`` makes of them, of weighted least squares and of the prior."""
    data, notes = _observed(robot, logs, held_out, options)
    unknowns = data.unknowns
    first = wls(data.excited, unknowns.base_prior)
    own = unknowns.prior.any()  # of a load, nothing is thought before
    thought = unknowns.prior if own else np.linalg.lstsq(unknowns.matrix, first.x, rcond=None)[0]
    found = solve(data, first, Prior.of(unknowns, thought, typical(unknowns, first.x)), options)
    return data, replace(found, notes=(*notes, *found.notes))


def _observed(
    robot: Robot, logs: list[Log], held_out: list[Log], options: IdentifyOptions
) -> tuple[Observations, list[str]]:
    frames, notes = frames_of([*logs, *held_out]), []
    if options.payload is not None:
        unknowns = payload_of(robot, options.payload, frames)
    else:
        asked = {name: getattr(options, name) for name in ("friction", "inertias", "rotors", "springs", "prior")}
        unknowns = unknowns_of(robot, **asked, width=options.width or 0.0, frames=frames)
    own = [log.for_robot(unknowns.robot) for log in logs]
    if options.payload is None and options.width is None and (smooth := width_of(unknowns, own)):
        unknowns = unknowns_of(robot, **asked, width=smooth, frames=frames)
        notes.append(f"friction goes smoothly through zero within {smooth:g} rad/s (m/s): chosen on spans held out")
    information = collect(unknowns, own, options.progress)
    require_enough(information, len(unknowns), "identify")
    others = [log.for_robot(unknowns.robot) for log in held_out]
    held = collect(unknowns, others) if others else None
    return Observations(unknowns, logs, own, information, held), notes


def _consistent(data: Observations, first: Solution, prior: Prior, options: IdentifyOptions) -> Estimate:
    return consistent_fit(data, first, prior, options.gamma)


def _wls(data: Observations, first: Solution, prior: Prior, options: IdentifyOptions) -> Estimate:
    return _nearest(data, first, prior, "wls")


def _ols(data: Observations, first: Solution, prior: Prior, options: IdentifyOptions) -> Estimate:
    return _nearest(data, ols(data.excited, data.unknowns.base_prior), prior, "ols")


def _irls(data: Observations, first: Solution, prior: Prior, options: IdentifyOptions) -> Estimate:
    found = irls(data.unknowns, data.logs, data.excited, data.noise, options.progress)
    return _nearest(data, found, prior, "irls")


def _iv(data: Observations, first: Solution, prior: Prior, options: IdentifyOptions) -> Estimate:
    unknowns = data.unknowns

    def changed(x: np.ndarray) -> Robot:
        return unknowns.changed(dict(zip(unknowns.standard, nearest(unknowns, prior, x)[0], strict=True)))

    motions = instruments_of(unknowns, data.given, changed, options.controller, options.gains)
    found = iv(unknowns, data.logs, data.excited, motions, data.noise, options.progress)
    return _nearest(data, found, prior, "iv")


def _nearest(data: Observations, found: Solution, prior: Prior, method: str) -> Estimate:
    """The standard parameters nearest to the prior that have these base parameters."""
    theta, slope = nearest(data.unknowns, prior, found.x)
    iterations = (f"{method}: {found.iterations} iterations",) if found.iterations > 1 else ()
    return Estimate(found, theta, slope @ found.covariance @ slope.T, notes=iterations)


METHODS: dict[str, Method] = {
    "consistent": partial(_regression, _consistent),
    "wls": partial(_regression, _wls),
    "ols": partial(_regression, _ols),
    "irls": partial(_regression, _irls),
    "iv": partial(_regression, _iv),
    "simulation": by_simulation,
}


# -- the fit ---------------------------------------------------------------------------------------------------------


def _fit(data: Observations, found: Estimate, method: str) -> Fit:
    """The Fit with its errors, notes and warnings."""
    unknowns, information, solution = data.unknowns, data.information, found.solution
    robot = found.robot(unknowns)
    squares = squares_of(unknowns, robot.model, solution.x, data.logs, data.fastest)
    unseen, never = unseen_in_words(unknowns, data.logs, solution.unseen)
    bears_noise = method in BEAR_NOISE
    noise = None if bears_noise else data.noise
    doubts = [*suspicions(unknowns, data.logs, solution.x, bears_noise)]
    doubts += [*noise_doubts(unknowns, data.logs, information, noise, solution.x), *found.doubts]
    if unseen:
        moved = solution.unseen.T @ (solution.x - unknowns.base_prior)
        anywhere = found.simulation is not None and not np.allclose(moved, 0.0)
        kept = "the search left some of these anywhere" if anywhere else "these stay as they were before"
        doubts.append(f"the data do not tell all parameters; {kept}: {'; '.join(unseen)}")
    if squares and (doubt := squares.doubt(unknowns.forces, limits_of(robot.model))):
        doubts.append(f"{doubt}; log.without_standstill(), on the command line the default, leaves it out of the fit")
    for text in doubts:
        warnings.warn(text, IdentificationWarning, stacklevel=4)
    told = [f"recording {k}: {note}" for k, log in enumerate(data.logs, 1) for note in log.notes]
    impossible = [f"{each.where}: {each.message}; robot files refuse it, method 'consistent' avoids it"
                  for drive in drives_of(robot.model) for each in check_values(drive.name, drive)]  # fmt: skip
    base, standard = _values(unknowns, found)
    return Fit(
        robot=robot,
        method=method,
        base=base,
        standard=standard,
        forces=unknowns.forces,
        errors=_errors(data, solution) | (squares.errors() if squares else {}),
        sigma=solution.sigma,
        covariance=solution.covariance,
        condition=solution.condition,
        unseen=(*unseen, *never),
        physical=_physical(unknowns, found.theta, robot.model),
        fastest=data.fastest,
        unknowns=unknowns,
        logs=tuple(data.given),
        gamma=found.gamma,
        pull=found.pull or {},
        notes=(*told, *found.notes, *impossible, *doubts),
        doubts=tuple(doubts),
        simulation=found.simulation,
    )


def _errors(data: Observations, solution: Solution) -> dict[str, np.ndarray]:
    """Relative errors of the fitted data, and of data held out."""
    information = data.information
    errors = {"fitted": information.error(solution.x)} if information.count.any() else {}
    if data.held is not None:
        errors["held out"] = data.held.error(solution.x)
    elif solution.refit is not None:
        left = sum(information.only(folds).squares(solution.refit(folds)) for folds in HELD)
        errors["held out"] = relative(np.asarray(left), information.power.sum(axis=0))
    return errors


def _values(unknowns: Unknowns, found: Estimate) -> tuple[Values, Values]:
    """Base and standard parameters, with deviations and how the data tell each."""
    solution = found.solution
    sizes = np.abs(solution.unseen)
    hidden = np.any(sizes > ROUNDED * sizes.max(axis=0, initial=0.0), axis=1)
    words = tuple("untold" if each else "alone" for each in hidden)
    base = Values(unknowns.names, solution.x, solution.deviations, unknowns.base_prior, words)
    told = _told(unknowns.matrix, hidden)
    deviations = np.sqrt(np.maximum(np.diag(found.spread), 0.0))
    for k in (k for k, word in enumerate(told) if word == "alone"):
        row = int(np.flatnonzero(unknowns.matrix[:, k])[0])
        deviations[k] = solution.deviations[row] / abs(unknowns.matrix[row, k])
    return base, Values(unknowns.standard, found.theta, deviations, unknowns.prior, tuple(told))


def _told(K: np.ndarray, hidden: np.ndarray) -> list[str]:
    """How the data tell each standard parameter: by itself, with others only, or not at all."""
    words = []
    for column in K.T:
        rows = np.flatnonzero(column)
        alone = len(rows) == 1 and np.count_nonzero(K[rows[0]]) == 1
        seen = len(rows) and not hidden[rows].all()
        words.append("untold" if not seen else "alone" if alone else "grouped")
    return words


def _physical(unknowns: Unknowns, theta: np.ndarray, fitted: Model) -> dict[str, str]:
    """Body -> what is physically impossible in it, empty if nothing."""
    less = dict.fromkeys(less_than_beams(describe(fitted)), LESS)
    return {name: unphysical(theta[at : at + TEN]) or less.get(name, "") for name, at in unknowns.bodies}
